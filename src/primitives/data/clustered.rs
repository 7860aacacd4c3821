//! `Dataset.clustered`

use std::collections::BTreeMap;

use super::DATASET;
use crate::core::{Cx, Error, Result, Value};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static CLUSTERED: Primitive = Primitive {
    path: "Dataset.clustered",
    purpose: "The same images, of which some say much the same: frames of one film, cells of one patient, crops of one picture.",
    params: &[
        DATASET,
        Param::new(
            "by",
            Kind::Either(&[Kind::Array, Kind::Callback]),
            "a string or int per image that those of its cluster have in common, or a closure that is given `#{ index, label, attributes }` of each \
             image and answers it; `()` of an image that stands alone",
        ),
    ],
    options: &[],
    returns: "a `Dataset`",
    notes: "How well a number is known depends on how many clusters there are, not on how many images. The tests of `risk::` see each cluster once, by \
            the mean of its T_i; intervals of `risk::estimate`, `tolerance::curve` and `tolerance::difference` are those of samples of clusters. \
            Every other result whose intervals take all images for independent says so. `attributes` holds the `file` of a picture that was read from a \
            folder, and what is known of images that were drawn. Views of objects (`data::views`) lie in clusters without being asked, those of one object in \
            one. Parts, orders and joined sets keep their clusters, and one key means one cluster in both of two joined sets.",
    source: "Cochran (1977), Sampling Techniques, Sections 9.2 and 9A; Korn and Graubard (1998)",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 6, seed: 1 }).clustered([\"p1\", \"p1\", \"p2\", (), \"p2\", \"p2\"]);\n\
               [ds.clusters, ds.skip(3).clusters]",
        result: "[[0, 0, 1, 2, 1, 1], [0, 1, 1]]",
    }],
    run,
};

fn key(value: &Value, index: usize) -> Result<Option<String>> {
    Ok(Some(match value {
        Value::Unit => return Ok(None),
        Value::Str(text) => format!("text {text}"),
        Value::Int(number) => format!("number {number}"),
        other => {
            let came = format!("{} {}", other.kind(), other.summary());
            let error = Error::argument(format!(
                "Dataset.clustered: a cluster is known by a string or an int, got {came} for image {index}"
            ));
            return Err(match other {
                Value::Float(_) => error.hint("div(a, b) divides whole numbers and leaves the rest out"),
                _ => error,
            });
        }
    }))
}

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    let keys = match args.get("by") {
        Some(Value::Array(keys)) if keys.len() != set.len() => {
            return Err(Error::argument(format!(
                "Dataset.clustered: {} keys for the {} images of {}",
                keys.len(),
                set.len(),
                set.name
            ))
            .hint("an array has one key per image, in the order of the images"));
        }
        Some(Value::Array(keys)) => keys.iter().enumerate().map(|(index, value)| key(value, index)).collect(),
        _ => {
            let rule = args.callback("by");
            let one = |index: usize| {
                if index.is_multiple_of(1000) {
                    cx.check()?;
                }
                let attributes = set.attributes(index).into_iter().map(|(name, value)| (name.to_string(), value));
                let row = BTreeMap::from([
                    ("index".to_string(), Value::Int(index as i64)),
                    ("label".to_string(), Value::Int(set.labels()[index])),
                    ("attributes".to_string(), Value::Map(attributes.collect())),
                ]);
                key(&rule.call(&[Value::Map(row)])?, index)
            };
            (0..set.len()).map(one).collect::<Result<Vec<_>>>()
        }
    }?;
    set.clustered(&keys).map(Value::object)
}
