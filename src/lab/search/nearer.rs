//! Whether a search for the least change went by gradients that led it far around.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::row::Row;
use super::{Apgd, BimStart, Ddn, Examination, Search, Transcript, gradient_search};
use crate::core::{Cx, Division, Result, significant};
use crate::objective::Objective;
use crate::space::Norm;

/// Images that are asked about once more, at most, and of how many one is.
const MOST: usize = 16;
const OF: usize = 8;
/// Fewer that fail may be single mistakes.
const FEW: usize = 2;
/// Steps about each. Of forty DDN came no nearer than DeepFool on a network that was trained against attacks, and of a hundred to a third.
const STEPS: u32 = 100;
/// Of what was found, how far others may go. A search that came near the least change is hardly ever twice as far from it.
const PART: f64 = 0.5;
/// How far single precision may put what stands at the edge of a ball.
const ROUNDED: f64 = 1e-4;

impl Transcript {
    /// Of a search along gradients for the least change of pixels: says where a few steps of another one, which small gradients don't shorten, make images fail
    /// by half as much, or as near as nothing was found. Where scores hardly change around an image, as of rounded pixels, its own steps go astray (Athalye, Carlini and
    /// Wagner, ICML 2018).
    pub(super) fn told_of_nearer(self, cx: &Cx, plan: &Examination) -> Result<Self> {
        let some_least = plan.search.members().into_iter().flatten().any(|member| finds_least(&*member.search));
        let goes = (finds_least(&*plan.search) || some_least) && plan.steps.is_empty();
        let opaque = plan.model.draws() || plan.model.opaque();
        if !goes || opaque || !plan.objective.any_wrong() || matches!(cx.division(), Division::Shard(_)) {
            return Ok(self);
        }
        match self.nearer(cx, plan) {
            Err(error) if error.is_interrupted() => Err(error),
            Ok(Some(caution)) => Ok(self.with_word(cx, caution)),
            Ok(None) => Ok(self),
            // What is known without it is kept whatever happens here.
            Err(error) => {
                let caution = format!("whether far smaller changes fail could not be looked for: {}", error.message);
                Ok(self.with_word(cx, caution))
            }
        }
    }

    /// Whether what made an image fail looks for the least change.
    fn is_of_least(&self, plan: &Examination, row: &Row) -> bool {
        let Some(members) = plan.search.members() else { return true };
        self.member_of(row).and_then(|by| members.get(by)).is_some_and(|member| finds_least(&*member.search))
    }

    fn nearer(&self, cx: &Cx, plan: &Examination) -> Result<Option<String>> {
        // By image, the least change that fails, if one was found.
        let mut found: BTreeMap<usize, Option<f64>> = BTreeMap::new();
        let mut by_others = BTreeSet::new();
        for row in self.rows.iter().filter(|row| row.may_be_fooled() && !row.stuck()) {
            let least = found.entry(row.id as usize).or_default();
            if row.fooled() && self.is_of_least(plan, row) {
                let size = f64::from(row.magnitude);
                *least = Some(least.map_or(size, |least| least.min(size)));
            } else if row.fooled() {
                by_others.insert(row.id as usize);
            }
        }
        // What a member found that goes to the edge of a ball says nothing of sizes.
        found.retain(|id, size| size.is_some() || !by_others.contains(id));
        let mut sizes: Vec<f64> = found.values().flatten().copied().collect();
        sizes.sort_by(f64::total_cmp);
        let (mut told, mut of) = (vec![], vec![]);
        if let (Some(&middle), Some(&largest)) = (sizes.get(sizes.len() / 2), sizes.last()) {
            // What shrinks comes to each image's own size; of one ball only those tell that were moved by twice as much.
            let shrinks = shrinks(plan);
            let images: Vec<(usize, f64)> = found
                .iter()
                .filter_map(|(id, size)| size.filter(|size| shrinks || *size >= middle).map(|size| (*id, PART * size)))
                .collect();
            let radius = PART * if shrinks { largest } else { middle };
            if let Some((failed, asked)) = failing(cx, plan, &images, (PART * PART * middle, radius))? {
                of.push("sizes, and of accuracies within smaller ones");
                told.push(format!(
                    "{failed} of {asked} images fail by half of what it moved them by or less (the median of what it found is {})",
                    significant(middle, 3)
                ));
            }
        }
        let within = plan.levels.last().copied().or(plan.space.differentiable().and_then(|space| space.within()));
        if let Some(radius) = within {
            let left: Vec<(usize, f64)> =
                found.iter().filter(|(_, size)| size.is_none()).map(|(id, _)| (*id, f64::INFINITY)).collect();
            if let Some((failed, asked)) = failing(cx, plan, &left, (radius, radius))? {
                of.push("accuracies");
                told.push(format!(
                    "{failed} of {asked} images that it left right fail within {}",
                    significant(radius, 3)
                ));
            }
        }
        Ok((!told.is_empty()).then(|| {
            format!(
                "{} missed far smaller changes: by {STEPS} steps of another search {}; what is said of {}, is of a search that went \
                 astray (tolerance::audit, or search::apgd, bim and square on the same images, tell more)",
                plan.search.describe(),
                told.join(", and "),
                of.join(", and of ")
            )
        }))
    }
}

/// Whether it goes along gradients to the least change.
fn finds_least(search: &dyn Search) -> bool {
    search.finds_least() && gradient_search(search).is_some()
}

/// In l2, where one step at the edge of a large ball leads out of all that tells, a search is asked whose ball shrinks.
fn shrinks(plan: &Examination) -> bool {
    plan.space.differentiable().is_some_and(|space| space.norm() == Norm::L2)
        && !plan.search.describe().starts_with("ddn(")
}

/// Of some of these images how many fail by no more than is said of each, within a ball, and of how many, if that is more than a few; `first`: where a ball
/// that shrinks begins.
fn failing(
    cx: &Cx,
    plan: &Examination,
    images: &[(usize, f64)],
    (first, radius): (f64, f64),
) -> Result<Option<(usize, usize)>> {
    let asked = images.len().min(MOST.min((plan.data.len() / OF).max(FEW)));
    let Some(space) = plan.space.ball(radius).filter(|_| asked >= FEW && radius > 0.0) else { return Ok(None) };
    let some: Vec<(usize, f64)> = (0..asked).map(|i| images[i * images.len() / asked]).collect();
    let data = plan.data.select(&some.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
    let search: Rc<dyn Search> = match shrinks(plan) {
        true => Rc::new(Ddn { steps: STEPS, step: 1.0, gamma: 0.05, ball: first }),
        false => Rc::new(Apgd { steps: STEPS, start: BimStart::Image, restarts: 1 }),
    };
    // Every process works it out in whole.
    let _whole = cx.undivided();
    let own = Examination {
        data: &data,
        space,
        search,
        objective: Objective { loss: None, ..plan.objective.clone() },
        measures: vec![],
        levels: vec![],
        steps: vec![],
        ..*plan
    };
    let tried = super::examine::examine_one(cx, &own)?;
    let within = |row: &Row| f64::from(row.magnitude) <= some[row.id as usize].1 * (1.0 + ROUNDED);
    let failed = tried.rows.iter().filter(|row| row.fooled() && within(row)).count();
    Ok((failed >= FEW).then_some((failed, asked)))
}
