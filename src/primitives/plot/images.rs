use super::common::*;
use crate::core::{Cautions, Cx, Error, Result, Tensor, Value};
use crate::data::Dataset;
use crate::plot::{Figure, Layer, Picture, Tiles};
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
        Param::new("stretch", Kind::Bool, "each image from black, its least value, to white, its largest")
            .or(Fallback::Bool(false)),
        Param::new(
            "fields",
            Kind::Tensor,
            "vector fields N x H x W x 2 in pixels, drawn as arrows from each pixel to where it is taken from",
        )
        .or(Fallback::Absent("none")),
        TITLE,
    ],
    returns: "Figure",
    notes: "Values outside [0, 1] are clipped, and a caution says how many, unless `stretch` is set: centred and standardised images, and noise, need it. Arrows \
            shorter than a tenth of a pixel are left out.",
    source: "",
    examples: &[Example {
        code: "plot::images(data::glyphs(#{ n: 6, seed: 1 }), #{ columns: 3 })",
        result: "figure: 1 image sheet",
    }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let n = args.count("n");
    let mut cautions = Cautions::default();
    let mut of = |there: usize, images: &Tensor| -> Result<()> {
        if there > n && !args.given("n") {
            cautions.add(format!("the first {n} of {there} images"));
        }
        let missing = images.f_isfinite()?.f_logical_not()?.f_sum(tch::Kind::Int64)?;
        match missing.int64_value(&[]) {
            0 => {}
            n => cautions.add(format!("{n} of {} values are not finite numbers", images.numel())),
        }
        if !args.bool("stretch") {
            // Up to rounding.
            let outside = images.f_lt(-1e-4)?.f_logical_or(&images.f_gt(1.0 + 1e-4)?)?.f_sum(tch::Kind::Int64)?;
            match outside.int64_value(&[]) {
                0 => {}
                n => cautions.add(format!("{n} of {} values lie outside [0, 1] and are clipped", images.numel())),
            }
        }
        Ok(())
    };
    let (images, names_of_set) = match args.optional_object::<Dataset>("images") {
        Some(set) => {
            let rows: Vec<usize> = (0..set.len().min(n)).collect();
            let class = |row: usize| set.labels().get(row).and_then(|l| set.classes().get(*l as usize));
            let captions: Vec<String> = rows.iter().map(|&row| class(row).cloned().unwrap_or_default()).collect();
            let images = set.images(&rows, tch::Device::Cpu)?;
            of(set.len(), &images)?;
            (shown(&images, args)?, captions)
        }
        None => {
            let tensor = args.tensor("images");
            let batch = if tensor.dim() == 3 { tensor.f_unsqueeze(0)? } else { tensor.shallow_clone() };
            let first = if batch.dim() == 4 { batch.f_narrow(0, 0, batch.size()[0].min(n as i64))? } else { batch };
            of(if tensor.dim() == 4 { tensor.size()[0] as usize } else { 1 }, &first)?;
            (shown(&first, args)?, vec![])
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
    let arrows = arrows(args, &images)?;
    panel.layers = vec![Layer::Tiles(Tiles { images, captions, arrows, columns })];
    Ok(Value::object(Figure::new(panel)?.titled(args.str("title")).cautioned(&cautions)))
}

/// Images as pictures, as they are or stretched.
fn shown(images: &Tensor, args: &Args) -> Result<Vec<Picture>> {
    if !args.bool("stretch") || images.dim() != 4 || images.numel() == 0 {
        return Picture::of_tensor(images);
    }
    let flat = images.f_flatten(1, -1)?;
    let end = |x: Tensor| x.f_reshape([-1, 1, 1, 1]);
    let (least, largest) = (end(flat.f_amin([1], false)?)?, end(flat.f_amax([1], false)?)?);
    // Of one value only: black.
    let width = largest.f_sub(&least)?.f_clamp_min(1e-12)?;
    Picture::of_tensor(&images.f_sub(&least)?.f_div(&width)?)
}

/// Arrows of the option `fields`, those of the images that are shown.
fn arrows(args: &Args, images: &[Picture]) -> Result<Vec<Vec<[f64; 4]>>> {
    if !args.given("fields") {
        return Ok(vec![]);
    }
    let fields = args.tensor("fields");
    let size = fields.size();
    let wanted = |picture: &Picture| size[1..] == [picture.height as i64, picture.width as i64, 2];
    if size.len() != 4 || size[0] < images.len() as i64 || !images.iter().all(wanted) {
        return Err(Error::argument(format!("`fields` is {size:?} for {} images", images.len()))
            .hint("N x H x W x 2 with the images' height and width, as `transcript.fields()` gives them"));
    }
    let first =
        fields.f_narrow(0, 0, images.len() as i64)?.f_to_device(tch::Device::Cpu)?.f_to_kind(tch::Kind::Double)?;
    let numbers = Vec::<f64>::try_from(&first.f_contiguous()?.f_reshape([-1])?)?;
    let (height, width) = (size[1] as usize, size[2] as usize);
    let of = |field: &[f64]| {
        let vectors = field.as_chunks::<2>().0.iter().enumerate().filter(|(_, [dx, dy])| dx.hypot(*dy) >= 0.1);
        let arrow = |(i, [dx, dy]): (usize, &[f64; 2])| {
            let (x, y) = ((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
            [x, y, x + dx, y + dy]
        };
        vectors.map(arrow).collect()
    };
    Ok(numbers.chunks(2 * height * width).map(of).collect())
}
