//! Why the outcomes of an examination may not mean what they seem to, as far as the examination itself can tell.

use std::collections::{BTreeMap, BTreeSet};

use tch::Device;

use super::cube::Cube;
use super::{Examination, Row, gradient_search, slopes};
use crate::core::{Cautions, significant};
use crate::objective::Loss;
use crate::space::{Axis, Differentiable, Domain, Factor};

/// What is noticed of the model, the data, and how both agree.
pub(super) fn cautions(plan: &Examination, rows: &[Row]) -> Cautions {
    let mut cautions = plan.model.cautions();
    cautions.extend(&plan.space.cautions(!plan.levels.is_empty()));
    other_labels(plan).into_iter().for_each(|caution| cautions.add(caution));
    cautions.extend(&plan.data.drawn_by());
    cautions.extend(&plan.data.noticed());
    plan.search.caution(slopes::width(plan)).into_iter().for_each(|caution| cautions.add(caution));
    plan.search.caution_about(plan.data, plan.model).into_iter().for_each(|caution| cautions.add(caution));
    plan.model.known_doubts(plan.data).for_each(|caution| cautions.add(caution));
    let noticed = [
        agreement(plan, rows),
        stuck(plan, rows),
        short(plan, rows),
        free_and_right(plan, rows),
        half_free_and_right(plan, rows),
        if plan.objective.failure.of_classes() { towards_own_labels(rows) } else { None },
        missed_within_more(plan, rows),
        never_failed(plan, rows),
        within_rounding(plan, rows),
        finer_than_files(plan, rows),
        unbounded(plan),
        plan.data.other_lengths("levels, radii and magnitudes").filter(|_| plan.space.additive()),
        as_wanted_throughout(plan, rows),
    ];
    noticed.into_iter().flatten().for_each(|caution| cautions.add(caution));
    cautions
}

/// What of the space is known to change what the images show.
fn other_labels(plan: &Examination) -> Vec<String> {
    /// Degrees from which a turn is one as `turn()` makes.
    const TURNED: f64 = 90.0;
    let parts = plan.space.finite().map_or(vec![], |finite| finite.parts());
    let mut changes: Vec<(&str, String)> = parts.iter().map(|part| (part.name(), part.describe())).collect();
    let factors = plan.space.factored().map_or(&[][..], |factored| factored.factors());
    let angle = factors.iter().find(|factor| factor.name == "angle").map(|factor| &factor.domain);
    let most = if let Some(Domain::Range { min, max }) = angle { min.abs().max(max.abs()) } else { 0.0 };
    let asked = plan.levels.iter().copied().fold(0.0, f64::max);
    let by_level = !plan.levels.is_empty() && plan.space.unit() == "degrees";
    if (if by_level { most.min(asked) } else { most }) >= TURNED {
        changes.push(("turn", plan.space.describe()));
    }
    let said = |(change, how): (&str, String)| {
        let why = plan.data.other_labels(change)?;
        Some(format!("{how} changes labels of {}, and right answers may count as wrong: {why}", plan.data.name))
    };
    changes.into_iter().filter_map(said).collect()
}

/// Whether what fails does so by no more than rounding, as where a search ends on the boundary between two classes.
fn within_rounding(plan: &Examination, rows: &[Row]) -> Option<String> {
    /// Of the rows that fail.
    const SHARE: f64 = 0.01;
    let rounding = plan.model.rounding();
    let fooled = rows.iter().filter(|row| row.fooled());
    let all = fooled.clone().count();
    let near = fooled.filter(|row| f64::from(row.margin.abs()) <= rounding).count();
    (near as f64 > SHARE * all as f64).then(|| {
        format!(
            "{near} of the {all} rows that fail do so by no more than scores are rounded by ({} or less): asked again in other batches, or in double \
             precision, some of them may be right",
            significant(rounding, 1)
        )
    })
}

/// Whether what fails differs from its image by less than a file of 8 bits can hold, where images came from such files: no pixel changes by
/// more than the whole change is long, in any norm.
fn finer_than_files(plan: &Examination, rows: &[Row]) -> Option<String> {
    /// Half of what is between two values of a pixel.
    const HALF_A_LEVEL: f32 = 0.5 / 255.0;
    /// Images that are looked at.
    const MOST: usize = 16;
    // What magnitudes are norms of changes of.
    plan.space.ball(1.0)?;
    let fooled = rows.iter().filter(|row| row.fooled());
    let fine: Vec<usize> =
        fooled.clone().filter(|row| row.magnitude < HALF_A_LEVEL).map(|row| row.id as usize).collect();
    let images: BTreeSet<usize> = fine.iter().copied().collect();
    let some: Vec<usize> = images.into_iter().take(MOST).collect();
    if some.is_empty() {
        return None;
    }
    // What is known without it is kept whatever happens here.
    let levels = plan.data.images(&some, Device::Cpu).and_then(|images| Ok(images.f_mul_scalar(255.0)?)).ok()?;
    let off = levels.f_sub(&levels.f_round().ok()?).ok()?.f_abs().ok()?.f_max().ok()?.f_double_value(&[]).ok()?;
    (off < 1e-3).then(|| {
        format!(
            "{} of the {} rows that fail changed no pixel by as much as half a grey level (1/510): files and pictures of 8 bits, as these images came \
             from, show them as they were",
            fine.len(),
            fooled.count()
        )
    })
}

/// How far an image was moved that was left right, and how far it might have been, where that is more than twice as far: what goes along the
/// surface of a ball ends on it. `within`: the radius of the space. An image that stands as it stood was looked at there, or is left so by what looks
/// for the least change.
pub(super) fn moved_too_little(row: &Row, within: Option<f64>) -> Option<(f64, f64)> {
    let radius = row.level.or(within).filter(|radius| radius.is_finite())?;
    let moved = f64::from(row.magnitude);
    let still = row.may_be_fooled() && !row.fooled() && !row.stuck();
    (still && moved > 0.0 && 2.0 * moved < radius).then_some((moved, radius))
}

/// The share of cases from which on something is said of them.
pub(super) const TOLD: f64 = 0.05;

/// How far a search along gradients may go where no level says so: the radius of the space, or the ends of its factors.
pub(super) fn radius(plan: &Examination) -> Option<f64> {
    plan.space.differentiable().and_then(|points| points.within()).or_else(|| slopes::reach(plan))
}

/// Whether steps were too few or too short for the balls that images might be moved in.
fn short(plan: &Examination, rows: &[Row]) -> Option<String> {
    gradient_search(&*plan.search).filter(|_| plan.space.deform().is_none())?;
    let within = radius(plan);
    let mut last = BTreeMap::new();
    for row in rows {
        last.insert((row.id, row.target, row.level.map(f64::to_bits)), row);
    }
    let near: Vec<(f64, f64)> = last.values().filter_map(|row| moved_too_little(row, within)).collect();
    if near.len() as f64 <= TOLD * last.len() as f64 {
        return None;
    }
    let most = near.iter().map(|(_, radius)| *radius).fold(0.0, f64::max);
    let farthest = near.iter().filter(|(_, radius)| *radius == most).map(|(moved, _)| *moved).fold(0.0, f64::max);
    let mut images: Vec<u32> = last.keys().map(|(id, ..)| *id).collect();
    images.dedup();
    Some(format!(
        "{} of {} {} were left right where they had been moved by less than half of what they might be, by {} of {} at most: with more or longer \
         steps{} {} may fail at them",
        near.len(),
        last.len(),
        if images.len() == last.len() { "images" } else { "cases" },
        significant(farthest, 3),
        significant(most, 3),
        if slopes::width(plan) > 0 {
            ", or under search::random or search::strongest with a grid, which look everywhere,"
        } else {
            ""
        },
        plan.model.name
    ))
}

/// What a search is known to miss, where it left images right. Of settings that are few all may have been asked.
fn never_failed(plan: &Examination, rows: &[Row]) -> Option<String> {
    let misses = plan.search.misses(slopes::width(plan))?;
    let factors = plan.space.factored()?.factors();
    if Cube::of(factors).every().is_some() && factors.iter().all(|factor| factor.axis() != Axis::Chance) {
        return None;
    }
    let ids = |of: &dyn Fn(&&Row) -> bool| rows.iter().filter(of).map(|row| row.id).collect::<BTreeSet<_>>();
    let asked = ids(&|row| row.may_be_fooled());
    let left = asked.difference(&ids(&|row| row.fooled())).count();
    (left > 0).then(|| format!("{left} of {} images never failed, and {misses}", asked.len()))
}

/// Whether images that fail within a level are left right within a larger one, which holds the change that they fail by. What was asked about
/// one change of each image looks for no failures, unless it goes along gradients.
fn missed_within_more(plan: &Examination, rows: &[Row]) -> Option<String> {
    if !levels_nest(plan) {
        return None;
    }
    let mut last = BTreeMap::new();
    for row in rows.iter().filter(|row| row.may_be_fooled()) {
        last.extend(row.level.map(|level| ((row.id, row.target, level.to_bits()), row)));
    }
    let mut levels: BTreeMap<_, Vec<(f64, &Row)>> = BTreeMap::new();
    for ((id, target, level), row) in last {
        levels.entry((id, target)).or_default().push((f64::from_bits(level), row));
    }
    if gradient_search(&*plan.search).is_none() {
        levels.retain(|_, levels| levels.iter().any(|(_, row)| row.queries > 2));
    }
    let missed = |levels: &Vec<(f64, &Row)>| {
        let least = levels.iter().filter(|(_, row)| row.fooled()).map(|(level, _)| *level).reduce(f64::min);
        least.is_some_and(|least| levels.iter().any(|(level, row)| *level > least && !row.fooled()))
    };
    let count = levels.values().filter(|levels| missed(levels)).count();
    (count as f64 > TOLD * levels.len() as f64).then(|| {
        format!(
            "{count} of {} cases fail within a level and were left right within a larger one, which holds that change too: {} missed it there, \
             and {} bears less at larger levels than is said",
            levels.len(),
            plan.search.describe(),
            plan.model.name
        )
    })
}

/// Whether all changes within a level lie within a larger one: not where a level is how strong a noise or a corruption is.
fn levels_nest(plan: &Examination) -> bool {
    let Some(space) = plan.space.factored() else { return true };
    let rooms = plan.levels.iter().map(|level| space.at(*level).ok().flatten().unwrap_or_default());
    let rooms: Vec<Vec<Axis>> = rooms.map(|room| room.iter().map(Factor::axis).collect()).collect();
    let inside = |(small, large): (&Axis, &Axis)| match (*small, *large) {
        (Axis::Range { min, max }, Axis::Range { min: lower, max: upper })
        | (Axis::Log { min, max }, Axis::Log { min: lower, max: upper }) => lower <= min && max <= upper,
        (Axis::Whole { min, max }, Axis::Whole { min: lower, max: upper }) => lower <= min && max <= upper,
        (small, large) => small == large,
    };
    rooms.windows(2).all(|pair| pair[0].len() == pair[1].len() && pair[0].iter().zip(&pair[1]).all(inside))
}

/// Whether images are to become what they are labelled as, by targets that are given one for each, or all of them.
fn towards_own_labels(rows: &[Row]) -> Option<String> {
    let mut aims: BTreeMap<u32, BTreeSet<i32>> = BTreeMap::new();
    rows.iter().for_each(|row| aims.entry(row.id).or_default().extend(row.target));
    if !aims.values().all(|aims| aims.len() == 1) {
        return None;
    }
    let own: BTreeSet<u32> = rows.iter().filter(|row| row.target == Some(row.label)).map(|row| row.id).collect();
    let one_for_all = aims.values().flatten().collect::<BTreeSet<_>>().len() == 1;
    (!own.is_empty() && (!one_for_all || own.len() == aims.len())).then(|| {
        format!(
            "{} of {} images have their own label as target, which is no failure: no change makes these fail, and those that are right as they stand count as right wherever they end",
            own.len(),
            aims.len()
        )
    })
}

/// How far apart any two images within the bounds can be, where what is changed are pixels and what is aimed at any other answer, or a class.
fn anywhere<'a>(plan: &'a Examination) -> Option<(&'a dyn Differentiable, f64)> {
    // Of other aims it is not known that any image meets them.
    let misled = plan.objective.failure.of_the_highest() && plan.objective.lead == 0.0;
    let space = plan.space.differentiable().filter(|_| misled && plan.space.additive())?;
    let apart = plan.space.bounds().map_or(f64::INFINITY, |bounds| {
        space.norm().farthest(bounds.width(), plan.data.shape().iter().product::<usize>() as f64)
    });
    Some((space, apart))
}

/// Whether images of several labels are left right that the search could all turn into the one in the middle of the bounds, which has one answer.
fn half_free_and_right(plan: &Examination, rows: &[Row]) -> Option<String> {
    let (space, anywhere) = anywhere(plan)?;
    let mut last = BTreeMap::new();
    for row in rows.iter().filter(|row| row.target.is_none() && row.may_be_fooled()) {
        let radius = row.level.or(space.within()).unwrap_or(0.0);
        if (0.5 * anywhere..anywhere).contains(&radius) {
            let right = !row.fooled() && !row.stuck();
            last.insert((row.level.map(f64::to_bits), row.id), (row.label, right));
        }
    }
    let mut left: BTreeMap<_, BTreeMap<i32, usize>> = BTreeMap::new();
    for ((level, _), (label, right)) in &last {
        *left.entry(level).or_default().entry(*label).or_default() += usize::from(*right);
    }
    let of_level = |counts: &BTreeMap<i32, usize>| counts.values().sum::<usize>() - counts.values().max().unwrap_or(&0);
    let failed: usize = left.values().map(of_level).sum();
    (failed > 0).then(|| {
        format!(
            "at least {failed} of {} cases were not made to fail by {} though some change within their bound does: the image in the middle of the bounds is within \
             reach of all of them, and has one answer: the search failed, which says nothing of what {} bears; more steps or another search may do better",
            last.len(),
            plan.search.describe(),
            plan.model.name
        )
    })
}

/// Whether images are left right that the search could turn into any others, and so into those of another class.
fn free_and_right(plan: &Examination, rows: &[Row]) -> Option<String> {
    let bounds = plan.space.bounds();
    let (space, anywhere) = anywhere(plan)?;
    let free = |row: &Row| match row.level.or(space.within()) {
        Some(radius) => radius >= anywhere,
        None => plan.search.finds_least(),
    };
    let answer = rows.first()?.before;
    if rows.iter().all(|row| row.before == answer && row.after == answer) {
        return None;
    }
    let mut last = BTreeMap::new();
    let answered: BTreeSet<i32> = rows.iter().flat_map(|row| [row.before, row.after]).collect();
    let known = |row: &Row| row.target.is_none_or(|target| answered.contains(&target));
    for row in rows.iter().filter(|row| row.may_be_fooled() && free(row) && known(row)) {
        last.insert((row.id, row.target, row.level.map(f64::to_bits)), !row.fooled() && !row.stuck());
    }
    let left = last.values().filter(|left| **left).count();
    (left > 0).then(|| {
        format!(
            "{left} of {} cases were not made to fail by {}, though nothing{} limited their changes: the search failed, \
             which says nothing of what {} bears; more steps or another search may do better",
            last.len(),
            plan.search.describe(),
            if bounds.is_some() { " but the bounds of pixels" } else { "" },
            plan.model.name
        )
    })
}

/// Whether least changes, or those within a ball, may make images of pixels that none has. How much noise of any size is borne is another question.
fn unbounded(plan: &Examination) -> Option<String> {
    let space = plan.space.differentiable().filter(|_| plan.space.additive())?;
    let along_gradients = gradient_search(&*plan.search).is_some();
    let limited = plan.search.finds_least() || along_gradients || !plan.levels.is_empty() || space.within().is_some();
    (limited && plan.space.bounds().is_none() && !plan.data.leaves_unit_range()).then(|| {
        "changes may leave the range of pixels, from 0 to 1, and be smaller than any that stay in it: `bounds: [0, 1]` of the space keeps them there"
            .into()
    })
}

/// Whether all images are as an objective of binary labels wants them before anything is looked for, as of scores of which none is below 0.
fn as_wanted_throughout(plan: &Examination, rows: &[Row]) -> Option<String> {
    if plan.objective.failure.of_classes() || rows.is_empty() {
        return None;
    }
    if rows.iter().all(|row| row.target == Some(row.before)) {
        return Some(format!(
            "all images are as wanted as they stand, and nothing was looked for: where {} answers probabilities, of which none is below 0, every label counts as there",
            plan.model.name
        ));
    }
    // Scores that are never above 0 are as wanted where a label is to be absent, and nowhere else.
    let first = rows[0].before;
    let none = rows.iter().all(|row| row.before == first && row.after == first);
    (none && first == plan.objective.failure.wanted_absent()).then(|| {
        format!(
            "no score of these labels was above 0, before or after: where {} answers logarithms of probabilities, none of which is, no label ever counts as there",
            plan.model.name
        )
    })
}

/// Whether images are as they are because the search could not move them: of each aim and level the last step counts.
pub(super) fn stuck<'a>(plan: &Examination, rows: impl IntoIterator<Item = &'a Row>) -> Option<String> {
    let mut last = BTreeMap::new();
    for row in rows {
        last.insert((row.id, row.target, row.level.map(f64::to_bits)), row.stuck());
    }
    let stuck = last.values().filter(|stuck| **stuck).count();
    if stuck == 0 {
        return None;
    }
    let mut images: Vec<u32> = last.keys().map(|(id, ..)| *id).collect();
    images.dedup();
    let of = if images.len() == last.len() { "images" } else { "cases" };
    let named = plan.search.describe();
    if named.starts_with("hopskipjump(") {
        let began = if named.contains(", starts: ") { "no start and no noise" } else { "no noise" };
        let other = if last.keys().any(|(_, target, _)| target.is_some()) { "the target's" } else { "another" };
        return Some(format!(
            "{named} found {began} that fails, at which it begins, for {stuck} of {} {of}: nothing was looked for there, which says nothing of what {} \
             bears; `starts` gives it images of {other} class to begin at, each of which is a question, and search::fmn begins at the image itself and needs gradients",
            last.len(),
            plan.model.name
        ));
    }
    let (search, hint) = gradient_search(&*plan.search)?.stuck();
    let hint = if plan.objective.loss.is_some_and(Loss::of_scores) { "" } else { hint };
    // Of two classes there is no difference of logits ratio.
    let two = plan.model.classes().is_some_and(|classes| classes < 3);
    let hint = &if two { hint.replace("\"dlr\"", "\"lead\"") } else { hint.to_string() };
    let blind = match slopes::width(plan) > 0 {
        true => "search::random, and search::strongest with a grid, need no gradient",
        false if plan.space.additive() => "search::square needs no gradient",
        false => "",
    };
    let advice: String = [hint, blind].iter().filter(|said| !said.is_empty()).map(|said| format!("; {said}")).collect();
    Some(format!(
        "the gradient of {stuck} of {} {of} vanished or was no number: {search} could not move them on, which says nothing of what {} bears{advice}",
        last.len(),
        plan.model.name
    ))
}

/// Whether model and data seem to number their classes differently, or the model to tell none apart.
fn agreement(plan: &Examination, rows: &[Row]) -> Option<String> {
    // Scores of several labels are no answers that the images' one label could be beside.
    if !plan.objective.failure.of_classes() {
        return None;
    }
    let read: BTreeMap<u32, (i64, i64)> =
        rows.iter().map(|row| (row.id, (i64::from(row.label), i64::from(row.before)))).collect();
    plan.model.doubts(plan.data, &read.into_values().collect::<Vec<_>>())
}
