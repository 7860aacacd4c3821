//! What is set once, at the top of a script.

use crate::core::{Cx, Result, Value, resolve_device, set_threads};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static SEED: Primitive = Primitive {
    path: "seed",
    purpose: "Sets the run's seed, from which every call draws its random numbers.",
    params: &[Param::new("n", Kind::Int, "the seed")],
    options: &[],
    returns: "()",
    notes: "A call's own stream is made from this seed, the call's name, its arguments and how often this identical call was \
            made: a loop draws fresh numbers each turn, and adding a line to a script does not change the numbers of the \
            others. `--seed` on the command line sets the seed before the script starts; a call of seed() in the script wins. The same \
            seed gives the same bytes on the CPU with the same build, the same number of threads and the same kind of processor: \
            another kind (AVX2 instead of AVX-512) rounds differently, and a training makes that grow. What runs on a GPU, external \
            programs, and limits in seconds have no such promise.",
    source: "",
    examples: &[Example { code: "seed(7)", result: "()" }],
    run: |cx: &Cx, args: &Args| {
        cx.set_seed(args.int("n") as u64);
        Ok(Value::Unit)
    },
};

pub static DEVICE: Primitive = Primitive {
    path: "device",
    purpose: "Chooses where models and images are computed on.",
    params: &[Param::new("name", Kind::Str, "\"cpu\", \"cuda\" or \"cuda:1\"")],
    options: &[],
    returns: "()",
    notes: "What was made, loaded or trained before stays where it lies: set the device first, or take it along by `.to`. What a call is \
            given must lie on one device; a data set is read to wherever it is used, and tensors that models, data sets and results answer lie there.",
    source: "",
    examples: &[Example { code: "device(\"cpu\")", result: "()" }],
    run: device,
};

fn device(cx: &Cx, args: &Args) -> Result<Value> {
    cx.set_device(resolve_device(args.str("name"))?);
    Ok(Value::Unit)
}

pub static THREADS: Primitive = Primitive {
    path: "threads",
    purpose: "Sets the number of CPU threads that one operation uses.",
    params: &[Param::new("n", Kind::Int, "threads").range(1.0, 256.0)],
    options: &[],
    returns: "()",
    notes: "Results are the same bytes only for the same number of threads, on the same kind of processor.",
    source: "",
    examples: &[Example { code: "threads(2)", result: "()" }],
    run: |_cx: &Cx, args: &Args| {
        set_threads(args.count("n"));
        Ok(Value::Unit)
    },
};
