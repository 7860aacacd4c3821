//! What the questions of an examination say of one factor, whatever the others were.

use std::collections::{BTreeMap, BTreeSet};

use super::factor_parts::{ends, part_of, parts, uniform};
use super::population::left_out;
use crate::core::{Cautions, Error, Result, Value, suggestion};
use crate::maths::shares::{CountedShare, few_groups, one_group};
use crate::search::Transcript;
use crate::space::Axis;

/// The questions of all rows by the value of a factor: of ranges in `bins` parts as wide as each other (of logarithmic ones in the
/// logarithm), of choices one by one. A map for each: `from`, `to` or `value`; `questions`; `share` of all questions and that under uniform
/// sampling, `uniform`; mean `loss`; `wrong`, the share that made their object fail, with its interval at 95% over objects; `cautions`, those of the
/// examination and that settings were not drawn from the space, where there are any.
pub fn marginal(transcript: &Transcript, name: &str, bins: usize) -> Result<Vec<Value>> {
    let (questions, asked) = transcript.questions()?;
    let names = || questions.names.iter().map(String::as_str);
    let place = names()
        .position(|known| known == name)
        .ok_or_else(|| Error::argument(format!("no factor {name:?}")).hint(suggestion(name, names())))?;
    let axis = questions.axes[place];
    let parts = parts(axis, bins)
        .ok_or_else(|| Error::argument(format!("factor {name:?} is chance, which has no order to show")))?;
    let width = questions.names.len();
    let (mut counts, mut losses) = (vec![0u64; parts], vec![0.0; parts]);
    // Of each part, what was asked of each object.
    let mut wrong: Vec<BTreeMap<u32, (u64, u64)>> = vec![BTreeMap::new(); parts];
    for (row, asked) in transcript.rows.iter().zip(&asked) {
        // Where the factor does not count there is nothing to say of it.
        for (i, setting) in asked.settings.chunks_exact(width).enumerate().filter(|(_, of)| !of[place].is_nan()) {
            let part = part_of(axis, parts, setting[place]);
            counts[part] += 1;
            losses[part] += f64::from(asked.losses[i]);
            let (yes, of) = wrong[part].entry(row.id).or_default();
            *yes += u64::from(asked.failed[i]);
            *of += 1;
        }
    }
    let levels = transcript.rows.iter().any(|row| row.level.is_some());
    let objects = transcript.rows.iter().map(|row| row.id).collect::<BTreeSet<_>>().len();
    let cautions = transcript.of.cautions.iter().map(String::from).chain(left_out(transcript));
    let cautions = cautions.chain(no_draws(transcript, &questions.axes));
    let cautions: Cautions =
        cautions.chain(few_groups(objects, "objects")).chain(one_group(objects, "objects")).collect();
    let total: u64 = counts.iter().sum();
    let mean = |sum: f64, n: u64| if n > 0 { Value::Float(sum / n as f64) } else { Value::Unit };
    Ok((0..parts)
        .map(|part| {
            let n = counts[part];
            let mut row = BTreeMap::new();
            match axis {
                Axis::Choices(_) => {
                    row.insert("value".to_string(), transcript.choice(place, part));
                }
                _ => {
                    let [from, to] = ends(axis, parts, part);
                    row.insert("from".into(), Value::Float(from));
                    row.insert("to".into(), Value::Float(to));
                }
            }
            row.insert("questions".into(), Value::Int(n as i64));
            row.insert("share".into(), mean(n as f64, total));
            // Levels leave other settings to be drawn than the whole space has.
            row.insert("uniform".into(), if levels { Value::Unit } else { Value::Float(uniform(axis, parts, part)) });
            row.insert("loss".into(), mean(losses[part], n));
            let mut of_objects: Vec<(u64, u64)> = wrong[part].values().copied().collect();
            // Others were not asked here; and what one object is asked at several levels are the same draws, scaled.
            let groups = if levels { 2 } else { objects.min(2) };
            of_objects.resize(of_objects.len().max(groups), (0, 0));
            let wrong = CountedShare::of_groups(&of_objects);
            row.insert("wrong".into(), mean(wrong.value * n as f64, n));
            if n > 0 {
                row.insert("wrong_lo".into(), Value::Float(wrong.lo));
                row.insert("wrong_hi".into(), Value::Float(wrong.hi));
            }
            if !cautions.is_empty() {
                row.insert("cautions".into(), cautions.value());
            }
            Value::Map(row)
        })
        .collect())
}

/// What is said where settings are not drawn from the whole space: where a search chose them, or went over a grid, or where they are of several
/// levels.
fn no_draws(transcript: &Transcript, axes: &[Axis]) -> Option<String> {
    let search = &transcript.of.search;
    let levels: BTreeSet<u64> = transcript.rows.iter().filter_map(|row| row.level.map(f64::to_bits)).collect();
    if levels.len() > 1 {
        let advice = "t.group(\"level\") has one transcript for each";
        return Some(format!(
            "settings are of {} levels, and inner values of a factor mostly of small ones, where the others are as small: {advice}",
            levels.len()
        ));
    }
    let finite = axes.iter().all(|axis| matches!(axis, Axis::Choices(_) | Axis::Whole { .. }));
    // Of radial questions each is drawn uniformly, if not by itself; without a grid every combination is gone through.
    if transcript.asks_at_random() || search.starts_with("radial(") || search == "strongest()" && finite {
        return None;
    }
    let (went, of) = match search.split_once('(') {
        Some(("strongest", _)) => ("went over a grid", "points"),
        Some(("sweep", _)) => ("went to ends of the space", "points"),
        _ => ("chose where to ask", "questions"),
    };
    Some(format!(
        "{search} {went}: losses and shares that are wrong are those of its {of}, and not of settings drawn from the space; search::random draws \
         them so"
    ))
}
