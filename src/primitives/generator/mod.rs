//! Generators as scripts see them.

pub mod archs;
pub mod device;
pub mod encode;
pub mod fid;
pub mod finetune;
pub mod images;
pub mod inception_score;
pub mod judged;
pub mod latent_search;
pub mod load;
mod oracle;
pub mod perturb;
pub mod sample;
pub mod tests;
pub mod train;

use super::{Args, Fallback, Kind, Param};
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::data::Dataset;
use crate::generator::Generator;
use crate::model::Model;

const GENERATOR: Param = Param::new("g", Kind::Object("Generator"), "the generator");

const AVERAGE: Param = Param::new(
    "average",
    Kind::Float,
    "d of the running average d e + (1 - d) w of the generator's weights, which is what is answered; in step t, from 0, at most (1 + t) / (10 + t); 0 for the last weights",
)
.range(0.0, 0.999_999);

const NOTE: Param = Param::new("note", Kind::Int, "every so many steps, losses are noted in `history`")
    .or(Fallback::Int(20))
    .range(1.0, 1e9)
    .unit("steps");

const EVERY: Param =
    Param::new("every", Kind::Int, "how often `watch` is called").or(Fallback::Int(500)).range(1.0, 1e9).unit("steps");

const WATCH: Param = Param::new(
    "watch",
    Kind::Callback,
    "is called with the generator as it is and the number of steps, such as |g, step| show(plot::images(g.sample(#{ n: 20, seed: 1 }))); a training that is watched does not go on where it was stopped",
)
.or(Fallback::Absent("nobody"));

/// Refuses data whose pixels no generator draws.
fn check_pixels(set: &Dataset) -> Result<()> {
    match set.leaves_unit_range() {
        true => Err(Error::data(format!("{} has pixels outside [0, 1], which generators draw in", set.name))
            .hint("take the images before centre(), standardise() or scale_pixels()")),
        false => Ok(()),
    }
}

/// Refuses a classifier that can't look at what a generator draws.
fn check_pair(cx: &Cx, generator: &Generator, model: &Model) -> Result<()> {
    let drawn = generator.image_shape()?;
    if let Some(wanted) = model.input().filter(|wanted| *wanted != drawn) {
        return Err(Error::model(format!(
            "{} draws images {drawn:?}, {} takes {wanted:?}",
            generator.name, model.name
        ))
        .hint("classifier and generator must be for images of one size"));
    }
    if model.classes().is_none() {
        let black = Tensor::f_zeros([1, drawn[0], drawn[1], drawn[2]], (tch::Kind::Float, cx.device()))?;
        tch::no_grad(|| model.logits(&black)).map(drop)?;
    }
    let of_images = generator.encoded().map(|encoded| encoded.classes().len() as i64);
    if let (Some(labels), Some(classes)) = (generator.classes().or(of_images), model.classes())
        && labels > classes
    {
        return Err(Error::model(format!("{} draws {labels} labels, {} knows {classes}", generator.name, model.name)));
    }
    Ok(())
}

/// Labels for `n` images: those that are given, one for all, or each in turn. `None` where the generator takes none.
fn labels(args: &Args, name: &str, generator: &Generator, n: usize) -> Result<Option<Vec<i64>>> {
    let given = match args.get(name) {
        None => None,
        Some(Value::Int(label)) => Some(vec![*label; n]),
        Some(_) => {
            let numbers = args.numbers(name);
            if let Some(odd) = numbers.iter().find(|x| x.fract() != 0.0) {
                return Err(Error::argument(format!("`{name}`: a label must be a whole number, got {odd}")));
            }
            Some(numbers.into_iter().map(|x| x as i64).collect())
        }
    };
    let Some(classes) = generator.classes() else {
        return match given {
            None => Ok(None),
            Some(_) => Err(Error::argument(format!("{} takes no labels", generator.name))
                .hint(format!("leave out `{name}`, or use a generator whose .classes is not ()"))),
        };
    };
    let labels = given.unwrap_or_else(|| (0..n as i64).map(|i| i % classes).collect());
    if labels.len() != n {
        return Err(Error::argument(format!("`{name}` has {} labels for {n} images", labels.len())));
    }
    match labels.iter().find(|label| !(0..classes).contains(*label)) {
        Some(label) => Err(Error::argument(format!("`{name}`: {} has no label {label}", generator.name))
            .hint(format!("labels go from 0 to {}", classes - 1))),
        None => Ok(Some(labels)),
    }
}

fn label_tensor(labels: Option<&[i64]>, generator: &Generator) -> Result<Option<Tensor>> {
    match labels {
        None => Ok(None),
        Some(labels) => Ok(Some(Tensor::f_from_slice(labels)?.f_to_device(generator.device())?)),
    }
}
