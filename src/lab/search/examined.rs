//! What every way of examining does alike: how its work is known again in the journal, parts that shrink where memory is short, models
//! that can't be examined.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::Examination;
use crate::core::{Cx, Error, ErrorKind, LongCall, Object, Result, device_name};
use crate::model::Model;

/// The examination as the journal knows it: everything that its rows depend on. `beside`: what is asked beside its space and search; `batch`: how many points or cases go together;
/// `opaque`: whether closures that are no part of the plan's identity have a say.
pub(super) fn long_call<'a>(
    cx: &'a Cx,
    plan: &Examination,
    beside: &[String],
    batch: usize,
    opaque: bool,
) -> LongCall<'a> {
    let (densities, device) = (plan.densities.identity(), cx.device());
    let settings = format!("{densities} {:?} {:?} {batch} {} {device:?}", plan.levels, plan.steps, plan.seed);
    let (space, search, objective) = (plan.space.identity(), plan.search.identity(), plan.objective.identity());
    let words = [&space, &search, &objective, &settings].map(|word| word.as_bytes());
    let digests = [plan.model.digest(), plan.data.digest()];
    let measures = plan.measures.iter().map(|measure| measure.name.as_bytes());
    let beside = beside.iter().map(|asked| asked.as_bytes());
    let depends: Vec<&[u8]> =
        digests.iter().map(|digest| &digest.0[..]).chain(words).chain(measures).chain(beside).collect();
    cx.long_call("examine", &depends, opaque)
}

/// What an examination depends on, as manifests of shards tell it.
pub(super) fn note(cx: &Cx, plan: &Examination, beside: &[String], batch: usize) -> Json {
    let (model, data) = (plan.model, plan.data);
    json!({
        "model": model.name, "hash of the model": model.digest().hex(), "data": data.name, "hash of the data": data.digest().hex(),
        "images": data.len(), "space": plan.space.describe(), "search": plan.search.describe(), "beside": beside,
        "objective": plan.objective.describe(), "levels": plan.levels, "seed": plan.seed, "batch": batch,
        "device": device_name(cx.device()),
    })
}

/// Where a shard has not made the examination that a run is to be put together from.
pub(super) fn other_examination(cx: &Cx, shard: usize, number: usize, here: &Json) -> Error {
    let (name, differs) = cx.recorded_shard(shard).map_or(("?".into(), String::new()), |recorded| {
        (recorded.folder.display().to_string(), recorded.differs(number, here))
    });
    Error::data(format!("shard {} in {name} has other outcomes than this run asks for: {differs}", shard + 1))
        .hint("all shards are of one script with the same models, data and options, and no examination may follow from another's images")
}

/// Where what a shard recorded ends before its rows do.
pub(super) fn unfinished_shard(cx: &Cx, shard: usize, row: usize) -> Error {
    let name = cx.recorded_shard(shard).map_or("?".into(), |recorded| recorded.folder.display().to_string());
    Error::data(format!("shard {} in {name} is not whole: what it recorded ends at image {row}", shard + 1))
        .hint(format!("go on with it: viva run --resume {name}"))
}

/// Columns as a record of the journal.
pub(super) fn written(columns: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_extend(columns, Vec::new())
        .map_err(|e| Error::internal(format!("a record that can't be written: {e}")))
}

/// What `written` wrote; `None` where these bytes are of something else.
pub(super) fn read_back<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::take_from_bytes(bytes).ok().filter(|(_, rest)| rest.is_empty()).map(|(columns, _)| columns)
}

/// Half of a batch that found no memory.
pub(super) fn halved(cx: &Cx, size: usize) -> usize {
    let half = size.div_ceil(2);
    cx.warn(format!("examine: out of memory with a batch of {size}; going on with {half}"));
    half
}

/// How many images go together where gradients come from.
pub(super) fn batch_with_gradients(cx: &Cx, plan: &Examination) -> usize {
    let own = || Model::batch_size_with_gradients(cx, plan.data.shape()) / plan.model.copies();
    plan.batch.unwrap_or_else(own).max(1)
}

/// Refuses models that answer without gradients.
pub(super) fn check_differentiable(plan: &Examination) -> Result<()> {
    if plan.model.differentiable() {
        return Ok(());
    }
    let (search, model) = (plan.search.describe(), &plan.model.name);
    Err(Error::new(ErrorKind::Pairing, format!("{search} needs gradients, which {model} has none of")).hint(
        "a closure is a black box: search::random, sweep, strongest, square and hopskipjump need no more than scores",
    ))
}

/// A model that answered NaN or infinity to the image in a row; `at` says where that was.
pub(super) fn not_finite(plan: &Examination, row: usize, at: &str, hint: &str) -> Error {
    let (model, data) = (&plan.model.name, &plan.data.name);
    Error::model(format!("{model} answered scores that are not finite for image {row} of {data} {at}"))
        .hint(format!("a model that answers NaN or infinity can't be examined{hint}"))
}

/// What else to try, where the search itself may have brought it about.
pub(super) const TOO_LARGE: &str = "; steps that are too large can bring it there";
pub(super) const UNSOUND: &str = ": check its weights and its normalisation";
