//! Models that live in a Python.

use crate::core::Value;
use crate::model::{PythonOptions, python};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, from_python};

pub static PYTHON: Primitive = Primitive {
    path: "model::python",
    purpose: "A model that lives in Python: any torch.nn.Module with its gradients, or anything that answers scores to images.",
    params: &[Param::new(
        "place",
        Kind::Str,
        "FILE.py:NAME, a function that makes the model, or the model itself: \"my_models.py:load\"",
    )],
    options: &[
        from_python::ARGS,
        super::CLASSES,
        super::INPUT,
        Param::new("mean", Kind::Numbers, "an array, per channel or of one for all, subtracted from images in [0, 1]")
            .or(Fallback::Absent("what the model came with, else 0")),
        Param::new("std", Kind::Numbers, "an array, per channel or of one for all, that images are then divided by")
            .or(Fallback::Absent("what the model came with, else 1")),
        Param::new("device", Kind::Str, "where Python computes, in torch's words: \"cpu\", \"cuda:1\", \"mps\"")
            .or(Fallback::Absent("viva's device, where Python has it, else \"cpu\"")),
        from_python::SECONDS,
        from_python::INTERPRETER,
    ],
    returns: "Model",
    notes: "A Python file is a program, so this is refused unless viva was started with `--allow-run`, or with `--allow-run=python3` for that \
            interpreter alone; it is held as scripts are (`viva doc safety`): it writes where scripts may write, reads what they may read \
            (`--allow-read=$HOME/.cache/huggingface`), and reaches no network without `--allow-net`. Workers of a DataLoader talk through sockets and `/dev/shm`, which these flags are for: \
            `--allow-net --allow-write=/dev/shm`, or `num_workers=0`.\n\n\
            The function answers a torch.nn.Module that maps N x C x H x W images to N x K scores, or to something with `logits`: torchvision, timm, \
            Hugging Face or a checkout of your own. Call `.eval()` in it. `return model, processor` hands over what Hugging Face's processor, or \
            timm.data.resolve_model_data_config(model), says of mean, std and size, and of other scales of pixels; one that turns channels round, pads or does more is refused by what it does. Resizing \
            itself is the data's business. All searches go over it: \
            gradients are torch's own, with respect to the images; gradients of gradients are refused.\n\n\
            Anything else that can be called gets an array of numpy (a view of memory where there is no numpy) and answers an array, \
            N x K: `lambda x: session.run(None, {\"input\": x})[0]` of ONNX Runtime, `lambda x: forest.predict_proba(x.reshape(len(x), -1))` \
            of scikit-learn. An object with a method `vjp(x, v)` beside `__call__(x)` gives gradients as well, such as \
            `jax.vjp(f, x)[1](v)[0]`: the gradient of the sum of v times the scores, N x C x H x W. One without is refused by searches that go along gradients.\n\n\
            Images and answers lie in memory that both processes see; Python is started once and asked batch by batch, with as many threads as \
            viva has. What your file prints is shown where it fails. The model's hash is that of its parameters and buffers, of the \
            function's name and `args`, of the files that `args` name and of all files of your own that were imported or read as it was made (beside a module's parameters those of \
            up to 64 MiB; models of ONNX Runtime too), not of files that other libraries open for themselves, which `args` can name, nor of what is \
            installed, whose versions are in the manifest. Where that can't be said of a model, its parameters are not part of the hash. One \
            that was stopped or ended is started again when it is next asked, and refused if another model comes of it.",
    source: "",
    examples: &[Example {
        code: "let kind = \"\";\ntry { model::python(\"my_models.py:load\"); } catch (e) { kind = e.kind; }\nkind",
        result: "permission",
    }],
    run: |cx, args| {
        let (interpreter, offer) = from_python::asked_for(cx, args)?;
        let numbers = |name: &str| args.get(name).map(|_| args.numbers(name));
        let options = PythonOptions {
            classes: args.optional_int("classes"),
            input: super::input(args)?,
            mean: numbers("mean"),
            std: numbers("std"),
            device: args.optional_str("device").map(String::from),
        };
        Ok(Value::object(python(cx, offer, interpreter, options)?))
    },
};
