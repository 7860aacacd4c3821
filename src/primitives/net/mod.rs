//! The layers of a network written down in a script.

pub mod adaptive_avg_pool;
pub mod add;
pub mod attention;
pub mod avg_pool;
pub mod batch_norm;
pub mod class_token;
pub mod concat;
pub mod conv;
pub mod conv_transpose;
pub mod dropout;
pub mod first_token;
pub mod flatten;
pub mod gate;
pub mod gelu;
pub mod layer_norm;
pub mod layer_scale;
pub mod leaky_relu;
pub mod linear;
pub mod max_pool;
pub mod normalize;
pub mod pad;
pub mod patches;
pub mod pixel_linear;
pub mod pixel_norm;
pub mod positions;
pub mod relu;
pub mod relu6;
pub mod reshape;
pub mod residual;
pub mod resize;
pub mod same_pad;
pub mod sigmoid;
pub mod silu;
pub mod stochastic_depth;
pub mod subsample;
pub mod tanh;
pub mod upsample;

use super::Kind;
use crate::core::{Error, Result, Value};
use crate::model::{Layer, Part};

/// What [`parts`] reads.
const LAYERS: Kind = Kind::Either(&[Kind::Array, Kind::Object("Layer")]);

/// Layers with their names: an array of a Layer, an array of layers, or `["name", either]` each; or a single Layer. Those without a
/// name are called by `prefix` and their position; `what` names the array in errors.
pub fn parts(what: &str, value: &Value, prefix: &str) -> Result<Vec<Part>> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let part = |(i, item): (usize, &Value)| {
        let pair = match item {
            Value::Array(pair) => pair.as_slice(),
            _ => &[],
        };
        match pair {
            [Value::Str(name), given] => Ok((name.clone(), layer(what, i, given)?)),
            _ => Ok((format!("{prefix}{i}"), layer(what, i, item)?)),
        }
    };
    items.iter().enumerate().map(part).collect()
}

fn layer(what: &str, i: usize, value: &Value) -> Result<Layer> {
    match value {
        Value::Array(_) => Ok(Layer::of_parts(parts(&format!("{what}: in layer {i}"), value, "")?)),
        given => match given.downcast::<Layer>() {
            Some(layer) => Ok(layer.as_ref().clone()),
            None => Err(Error::argument(format!(
                "{what}: layer {i} must be a Layer, got {} {}",
                given.kind(),
                given.summary()
            ))
            .hint("layers are made by net::conv, net::relu, net::linear, ...; [\"name\", layer] gives one a name")),
        },
    }
}

/// The branches of `what`, at least one.
fn branches(what: &str, value: &Value) -> Result<Vec<Part>> {
    match parts(&format!("{what}: `branches`"), value, "")? {
        none if none.is_empty() => {
            Err(Error::argument(format!("{what}: `branches` must hold at least one")).hint("an empty branch is `[]`"))
        }
        some => Ok(some),
    }
}
