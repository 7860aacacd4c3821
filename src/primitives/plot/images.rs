use super::common::*;
use crate::core::{Cx, Error, Result, Value};
use crate::data::Dataset;
use crate::plot::{Layer, Picture, Tiles};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static IMAGES: Primitive = Primitive {
    path: "plot::images",
    purpose: "Lays out images side by side, enlarged by whole factors, with captions.",
    params: &[Param::new(
        "images",
        Kind::Either(&[Kind::Object("Dataset"), Kind::Tensor]),
        "a data set, or a tensor N x C x H x W (or C x H x W) in [0, 1] with 1 or 3 channels",
    )],
    options: &[
        Param::new("n", Kind::Int, "how many, from the first on").or(Fallback::Int(64)).range(1.0, 4096.0),
        Param::new("columns", Kind::Int, "images in a row")
            .or(Fallback::Absent("as many as make the sheet about square"))
            .range(1.0, 256.0),
        Param::new(
            "captions",
            Kind::Either(&[Kind::Bool, Kind::Array]),
            "one text per image, \\n begins a line; or `false` for none",
        )
        .or(Fallback::Absent("the class names of a data set")),
        TITLE,
    ],
    returns: "Figure",
    notes: "Values outside [0, 1] are clipped.",
    source: "",
    examples: &[Example {
        code: "plot::images(data::glyphs(#{ n: 6, seed: 1 }), #{ columns: 3 })",
        result: "figure: 1 image sheet",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let n = args.count("n");
    let (images, names_of_set) = match args.optional_object::<Dataset>("images") {
        Some(set) => {
            let rows: Vec<usize> = (0..set.len().min(n)).collect();
            let class = |row: usize| set.labels().get(row).and_then(|l| set.classes().get(*l as usize));
            let captions: Vec<String> = rows.iter().map(|&row| class(row).cloned().unwrap_or_default()).collect();
            (Picture::of_tensor(&set.images(&rows, tch::Device::Cpu)?)?, captions)
        }
        None => {
            let tensor = args.tensor("images");
            let batch = if tensor.dim() == 3 { tensor.f_unsqueeze(0)? } else { tensor.shallow_clone() };
            let first = if batch.dim() == 4 { batch.f_narrow(0, 0, batch.size()[0].min(n as i64))? } else { batch };
            (Picture::of_tensor(&first)?, vec![])
        }
    };
    if images.is_empty() {
        return Err(Error::data("there are no images to show"));
    }
    let captions = match args.get("captions") {
        Some(Value::Array(_)) => {
            let mut given = names(args, "captions")?;
            if given.len() < images.len() {
                return Err(Error::argument(format!("{} captions for {} images", given.len(), images.len())));
            }
            given.truncate(images.len());
            given
        }
        Some(Value::Bool(false)) => vec![],
        _ => names_of_set,
    };
    let square = (images.len() as f64).sqrt().ceil() as usize;
    let columns = args.optional_int("columns").map_or(square, |c| c as usize).clamp(1, images.len());
    let mut panel = panel(args)?;
    panel.layers = vec![Layer::Tiles(Tiles { images, captions, columns })];
    finish(cx, args, panel)
}
