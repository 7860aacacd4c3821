//! `info::`: what a prediction tells of the label, and how loud a fault is.

pub mod entropy;
pub mod mutual_information;
pub mod snr;
pub mod softmax_margin;

use crate::core::{Error, Result, number};
use crate::maths::information::Plugin;
use crate::primitives::{Args, Fallback, Param, Words};

static PLUGINS: Words<Plugin, 2> = Words::new([("exact", Plugin::Exact), ("galloway", Plugin::Galloway)]);

pub const PLUGIN: Param = Param::new(
    "plugin",
    PLUGINS.kind(),
    "how logarithms are taken: of p, or of p + 1e-4 as in the published code of Galloway et al., about 0.001 bits less",
)
.or(Fallback::Str("exact"));

pub fn plugin(args: &Args) -> Plugin {
    PLUGINS.of(args, "plugin")
}

/// Labels: whole numbers, at least one.
pub(super) fn labels(args: &Args, name: &str) -> Result<Vec<i64>> {
    let numbers = args.numbers(name);
    if numbers.is_empty() {
        return Err(Error::data(format!("`{name}` must hold at least one label")));
    }
    match numbers.iter().find(|x| x.fract() != 0.0 || x.abs() > 9e15) {
        Some(x) => Err(Error::data(format!("`{name}` must hold labels, which are whole numbers, got {}", number(*x)))
            .hint("`f.predict(x)` gives the labels that a model answers")),
        None => Ok(numbers.into_iter().map(|x| x as i64).collect()),
    }
}
