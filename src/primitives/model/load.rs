//! Models from files.

use std::collections::BTreeMap;

use crate::core::{Error, Result, Value};
use crate::model::{Options, load};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static LOAD: Primitive = Primitive {
    path: "model::load",
    purpose: "Loads a classifier: TorchScript, safetensors, or a PyTorch state dict.",
    params: &[Param::new("path", Kind::Path, "the file; also looked for below the data folder")],
    options: &[
        Param::new(
            "arch",
            super::ARCH,
            "a name from model::archs(), or net:: layers: an array of a layer, an array of layers, or [\"name\", either] each",
        )
        .or(Fallback::Absent("said by the file, or recognised by the tensors' names")),
        super::CLASSES,
        super::INPUT,
        Param::new("mean", Kind::Numbers, "an array, per channel or of one for all, subtracted from images in [0, 1]")
            .or(Fallback::Absent("0")),
        Param::new("std", Kind::Numbers, "an array, per channel or of one for all, that images are then divided by")
            .or(Fallback::Absent("1")),
        Param::new("names", Kind::Map, "name in the file: position or name of the layer, such as #{ \"conv1\": 0 }")
            .or(Fallback::Absent("the names agree")),
        Param::new(
            "published",
            Kind::Bool,
            "whether `input`, `mean` and `std` are those of the published weights of a network of model::archs(), where neither you nor the file say them",
        )
        .or(Fallback::Bool(false)),
        Param::new("ignore", Kind::Array, "names of tensors or layers in the file that the network does not have")
            .or(Fallback::Absent("none")),
    ],
    returns: "Model",
    notes: "A TorchScript file is a program: it does what it likes when it is loaded and asked. One that takes one image and no two, as many exported ones do, is asked about each by itself. Before anything is made of its answers it is asked \
            what shows whether they are scores, the same each time and whatever else is in the batch, with gradients that are right: about as long as 150 images take. On Linux the kernel holds it to what scripts may \
            touch, and where nothing holds it, it is refused unless viva was started with `--allow-native` (`viva doc safety`). Weights are no program.\n\n\
            The content decides what a file is, not its ending. State dicts are read without running code: tensors, containers \
            and numbers only, both formats of torch.save, also inside {\"state_dict\": ...} or behind `module.`. What a file asks to be run \
            beside them, such as arguments and schedules of a training, is not made; a tensor that only running code would make is refused. Of \
            a checkpoint of the robustness library the classifier is taken, and `mean` and `std` from its normaliser; an attacker's copy that \
            differs from it is refused. Layers written \
            down are named by position, as in PyTorch's Sequential: `0.weight`. A tensor that is missing, unused or of another \
            shape is an error. What a file that was saved here says of its layers, input, mean and std counts where the caller says \
            nothing; what the caller says takes its place, and is refused where the tensors do not fit it. float64, float16 and bfloat16 become float32. A network of model::archs() for ImageNet that is given neither \
            `mean` nor `std` by you or the file carries a caution, since its published weights want both: `published: true` has them, and its input. `hash` depends on the layers, tensors and \
            normalisation, not on the file's format. TorchScript is a program that libtorch runs. What it draws at random follows from \
            the images that it is given: the same batch has the same answers, another division into batches others, and transcripts \
            say of such a model that it answers something else when it is asked again. Ctrl-C waits for a call of a program to end; \
            one that never ends is ended by the third Ctrl-C, together with viva and what only variables hold.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.save(\"f.safetensors\");\n\
               model::load(\"f.safetensors\").hash == f.hash",
        result: "true",
    }],
    run: |cx, args| {
        let path = cx.find(args.str("path"))?;
        let numbers = |name: &str| args.get(name).map(|_| args.numbers(name));
        let options = Options {
            arch: super::arch(args)?,
            classes: args.optional_int("classes"),
            input: super::input(args)?,
            mean: numbers("mean"),
            std: numbers("std"),
            names: names(args)?,
            ignore: ignore(args)?,
            published: args.bool("published"),
        };
        Ok(Value::object(load(cx, &path, options)?))
    },
};

fn names(args: &Args) -> Result<BTreeMap<String, String>> {
    let Some(Value::Map(map)) = args.get("names") else { return Ok(BTreeMap::new()) };
    let entry = |(from, to): (&String, &Value)| match to {
        Value::Int(position) => Ok((from.clone(), position.to_string())),
        Value::Str(name) => Ok((from.clone(), name.clone())),
        other => {
            Err(Error::argument(format!("`names`: {from} must be a layer's position or name, got {}", other.summary())))
        }
    };
    map.iter().map(entry).collect()
}

fn ignore(args: &Args) -> Result<Vec<String>> {
    let Some(Value::Array(names)) = args.get("ignore") else { return Ok(vec![]) };
    let entry = |name: &Value| match name {
        Value::Str(name) => Ok(name.clone()),
        other => Err(Error::argument(format!("`ignore` takes names, got {}", other.summary()))),
    };
    names.iter().map(entry).collect()
}
