//! The verb of the lab: pairs a model, a data set, a space, a search and an objective.

use super::ground::FactorGround;
use super::measure::{self};
use super::pairing::{self, Approach};
use super::transcript::Transcript;
use super::{Densities, Examination, over_elements};
use crate::core::{Cx, Division, Error, ErrorKind, Result};

/// Examines every image of the data set. One row per image in the data set's order, and of each one per aim, level and step.
pub fn examine(cx: &Cx, plan: &Examination) -> Result<Transcript> {
    check_levels(&plan.levels)?;
    check_steps(&plan.steps)?;
    measure::check(&plan.measures, &plan.objective, plan.model.classes())?;
    cx.begin_to_draw();
    let found = match plan.search.members() {
        Some(members) => {
            let _in_whole = in_whole(cx, &plan.search.describe());
            super::worst::examine_all(cx, plan, members, &examine_one)?.noted(cx)
        }
        None => examine_one(cx, plan)?,
    };
    let found = found.told_of_flat_softmax(cx, plan).told_of_preparation(cx, plan)?.told_of_nearer(cx, plan)?;
    Ok(found.asked_again(cx, plan))
}

/// Has every shard work out what follows: of searches one after another each is given the images that those before it left.
#[must_use]
pub(crate) fn in_whole<'a>(cx: &'a Cx, what: &str) -> impl Drop + 'a {
    if let Division::Shard(shard) = cx.division() {
        cx.warn(format!("shard {shard}: {what} is not divided, every shard works it out in whole"));
    }
    cx.undivided()
}

pub(super) fn examine_one(cx: &Cx, plan: &Examination) -> Result<Transcript> {
    let way = pairing::way(plan)?;
    plan.space.check(plan.data)?;
    super::scale::check(cx, plan)?;
    let along = matches!(way, Approach::Gradients(_));
    if !plan.steps.is_empty() && !along {
        let search = plan.search.describe();
        return Err(Error::argument(format!(
            "examine: `at_steps` belongs to searches along gradients, not to {search}"
        ))
        .hint("search::bim and adam note their way at the `at_steps` that you name"));
    }
    if plan.densities == Densities::Required && !matches!(way, Approach::Elements(_)) {
        let (search, space) = (plan.search.describe(), plan.space.describe());
        return Err(Error::new(ErrorKind::Pairing, format!("the outcomes of {search} over {space} have no densities"))
            .hint("those of search::strongest, nearest, blind, blind_or_stay, average and average_doubt over space::translate, flip, turn, polarity and their products have"));
    }
    match way {
        Approach::Elements(exhaustive) => {
            let found = over_elements::examine(cx, std::slice::from_ref(plan), &[exhaustive], None, None)?;
            found.into_iter().next().ok_or_else(|| Error::internal("an examination without a transcript"))
        }
        Approach::Settings(search) => {
            let settings = FactorGround::of(plan)?.ok_or_else(|| Error::internal("a space without settings"))?;
            super::propose::examine(cx, plan, settings, search)
        }
        Approach::Changes(search) => super::over_pixels::examine(cx, plan, search),
        Approach::Gradients(search) => super::along::examine(cx, plan, search),
    }
}

/// Refuses levels that are not finite, below 0, or not in ascending order.
fn check_levels(levels: &[f64]) -> Result<()> {
    if let Some(bad) = levels.iter().find(|level| !(level.is_finite() && **level >= 0.0)) {
        return Err(Error::argument(format!("examine: `levels` are finite numbers from 0 up, got {bad}")));
    }
    match levels.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(Error::argument(format!("examine: `levels` must ascend, got {} before {}", pair[0], pair[1]))
                .hint("sort them, each once: a curve is read from weak to strong"))
        }
        None => Ok(()),
    }
}

fn check_steps(steps: &[u32]) -> Result<()> {
    match steps.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(Error::argument(format!("examine: `at_steps` must ascend, got {} before {}", pair[0], pair[1])))
        }
        None => Ok(()),
    }
}
