//! Input-fault tolerance (Galloway, Golubeva and Taylor, "Adversarial Examples as an Input-Fault Tolerance Problem", 2018): how much a
//! model's predictions tell of the labels, and how often they are right, as a fault grows.

mod stuck;
mod summary;

pub use stuck::percent;
pub use summary::Summary;

use std::collections::BTreeMap;

use rand::Rng;
use rayon::prelude::*;
use serde_json::json;

use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, in_parallel, number, random};
use crate::maths::information::Plugin;
use crate::search::{Row, Transcript};

/// How a curve is estimated.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub plugin: Plugin,
    /// Samples of the bootstrap.
    pub replicates: usize,
    /// Intervals hold what they are of with probability 1 - delta.
    pub delta: f64,
    pub seed: u64,
}

/// An estimate with its bootstrap interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interval {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

/// What a curve's points are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Level,
    Step,
}

impl Axis {
    fn name(self) -> &'static str {
        if self == Self::Level { "level" } else { "step" }
    }
}

/// The measures of Section 2 at one strength of the fault.
#[derive(Clone)]
pub struct Point {
    /// The level, or the number of steps.
    pub at: f64,
    /// Mean over the changes that are not 0, in dB; infinite if all are, NaN where it was not measured.
    pub snr: f64,
    /// Mean size of the changes in the space's unit.
    pub magnitude: f64,
    /// I(T; Y) in bits.
    pub information: Interval,
    pub accuracy: Interval,
    /// Mean of the highest softmax probability minus the second highest; NaN where it was not measured.
    pub margin: Interval,
    /// H(T) of the predictions, in bits.
    pub entropy: f64,
    pub rows: usize,
    /// The share of rows that the search could not move on, where gradients vanished: that they are right says nothing of the model.
    pub stuck: f64,
    /// How often each label (row) comes with each prediction (column).
    pub counts: Vec<u32>,
}

/// A tolerance curve, the weakest fault first.
#[derive(Clone)]
pub struct Curve {
    pub points: Vec<Point>,
    pub axis: Axis,
    /// What the levels are, with their unit.
    pub unit: &'static str,
    /// Whether faults are added to the image, so that their strength is best told in dB.
    pub additive: bool,
    /// H(Y) in bits: no curve is higher.
    pub bound: f64,
    pub images: usize,
    /// Numbers of the classes that rows and columns of the counts stand for.
    pub classes: Vec<i32>,
    pub settings: Settings,
    /// Why it may not mean what it seems to.
    pub cautions: Cautions,
    /// Model, data, space, search and objective, for those who read the results later.
    of: [String; 5],
    digest: Digest,
}

/// The rows of one point.
struct Group<'a> {
    at: f64,
    rows: Vec<&'a Row>,
    /// Whether the predictions before are meant, of images as they stand.
    before: bool,
}

/// The curve of a transcript: one point per level, or per step of a search along gradients. Where the weakest fault is above
/// 0, the images as they stand come first.
pub fn curve(cx: &Cx, transcript: &Transcript, settings: Settings) -> Result<Curve> {
    if transcript.is_empty() {
        return Err(Error::data("a transcript without rows has no curve"));
    }
    let (axis, groups) = groups(transcript)?;
    let mut classes: Vec<i32> = transcript.rows.iter().flat_map(|row| [row.label, row.before, row.after]).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut ids: Vec<u32> = transcript.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let samples: Vec<Sample> = groups.iter().map(|group| Sample::of(group, &ids, &classes)).collect();
    let k = classes.len();
    let task = cx.progress("bootstrap", Some(settings.replicates as u64));
    let mut replicates: Vec<Vec<Measures>> = vec![];
    // A few at a time, so that it can be stopped.
    const TOGETHER: usize = 20;
    for first in (0..settings.replicates).step_by(TOGETHER) {
        cx.check()?;
        let last = (first + TOGETHER).min(settings.replicates);
        let one = |replicate: usize| -> Vec<Measures> {
            let mut rng = random(settings.seed, replicate as u64);
            let mut weights = vec![0u32; ids.len()];
            (0..ids.len()).for_each(|_| weights[rng.gen_range(0..ids.len())] += 1);
            samples.iter().map(|sample| sample.measures(settings.plugin, k, &weights).0).collect()
        };
        replicates.extend(in_parallel(|| (first..last).into_par_iter().map(one).collect::<Vec<_>>())?);
        task.advance((last - first) as u64);
    }
    let ones = vec![1; ids.len()];
    let mut bound: f64 = 0.0;
    let points = groups.iter().zip(&samples).enumerate().map(|(place, (group, sample))| {
        let (found, counts) = sample.measures(settings.plugin, k, &ones);
        let labels = |label: usize| counts[label * k..(label + 1) * k].iter().map(|&n| u64::from(n)).sum::<u64>();
        let label_entropy = settings.plugin.entropy((0..k).map(labels));
        bound = bound.max(label_entropy);
        let interval = |value: f64, which: usize, most: f64| {
            let of: Vec<f64> = replicates.iter().map(|replicate| replicate[place][which]).collect();
            interval(value, of, settings.delta, most)
        };
        let mean = |of: &dyn Fn(&Row) -> f32, keep: &dyn Fn(f32) -> bool| {
            let values: Vec<f64> = group.rows.iter().map(|row| of(row)).filter(|x| keep(*x)).map(f64::from).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let snr = mean(&|row| row.snr, &|x| x.is_finite());
        let measured = group.rows.iter().any(|row| !row.snr.is_nan());
        let predictions = |class: usize| (0..k).map(|label| u64::from(counts[label * k + class])).sum::<u64>();
        Point {
            at: group.at,
            snr: if (snr.is_nan() && measured) || group.before { f64::INFINITY } else { snr },
            magnitude: if group.before { 0.0 } else { mean(&|row| row.magnitude, &|x| x.is_finite()) },
            information: interval(found[0], 0, label_entropy),
            accuracy: interval(found[1], 1, 1.0),
            margin: if group.before { nowhere() } else { interval(found[2], 2, 1.0) },
            entropy: settings.plugin.entropy((0..k).map(predictions)),
            rows: group.rows.len(),
            stuck: if group.before { 0.0 } else { stuck::share(&group.rows) },
            counts,
        }
    });
    let points: Vec<Point> = points.collect();
    let of = &transcript.of;
    let mut cautions = of.cautions.clone();
    stuck::caution(&points, axis).into_iter().for_each(|caution| cautions.add(caution));
    Ok(Curve {
        points,
        axis,
        unit: if axis == Axis::Step { "steps" } else { of.unit },
        additive: of.additive,
        bound,
        images: ids.len(),
        classes,
        settings,
        cautions,
        of: [of.model.0.clone(), of.data.name.clone(), of.space.clone(), of.search.clone(), of.objective.describe()],
        digest: transcript.digest(),
    })
}

fn nowhere() -> Interval {
    Interval { value: f64::NAN, lo: f64::NAN, hi: f64::NAN }
}

/// The rows of every point, the weakest fault first.
fn groups(transcript: &Transcript) -> Result<(Axis, Vec<Group<'_>>)> {
    let several = |mut values: Vec<u64>| {
        values.sort_unstable();
        values.dedup();
        values.len() > 1
    };
    let rows = &transcript.rows;
    let step = |row: &Row| f64::from(row.step.unwrap_or_default());
    let in_common = transcript.of.steps_in_common;
    let levels = several(rows.iter().filter_map(|row| row.level).map(f64::to_bits).collect());
    if levels && in_common && several(rows.iter().map(|row| step(row).to_bits()).collect()) {
        return Err(Error::argument("tolerance::curve: the transcript has several levels and several steps")
            .hint("a curve has one axis: keep one level, `t.filter(|row| row.level == 0.3)`, or one step"));
    }
    let axis = match (in_common && !levels, rows[0].level) {
        (true, _) => Axis::Step,
        (false, Some(_)) => Axis::Level,
        (false, None) => {
            return Err(Error::argument("tolerance::curve: the transcript has no levels and no steps")
                .hint("a curve needs them: examine(f, ds, #{ .., levels: [0.1, 0.2] })"));
        }
    };
    let mut points: BTreeMap<u64, Group> = BTreeMap::new();
    for row in rows {
        let at = if axis == Axis::Step { step(row) } else { row.level.unwrap_or_default() };
        // Levels are not negative, so their bits are in their order.
        points.entry(at.to_bits()).or_insert_with(|| Group { at, rows: vec![], before: false }).rows.push(row);
    }
    let mut groups: Vec<Group> = points.into_values().collect();
    if groups[0].at != 0.0 {
        let rows = groups[0].rows.clone();
        groups.insert(0, Group { at: 0.0, rows, before: true });
    }
    Ok((axis, groups))
}

/// Information, accuracy and mean margin.
type Measures = [f64; 3];

/// The rows of a point in the form that is resampled.
struct Sample {
    /// Place of the image, label and prediction.
    rows: Vec<(u32, u16, u16)>,
    margins: Vec<f32>,
}

impl Sample {
    fn of(group: &Group, ids: &[u32], classes: &[i32]) -> Self {
        let place = |class: i32| classes.binary_search(&class).unwrap_or_default() as u16;
        let row = |row: &&Row| {
            let image = ids.binary_search(&row.id).unwrap_or_default() as u32;
            (image, place(row.label), place(if group.before { row.before } else { row.after }))
        };
        Self {
            rows: group.rows.iter().map(row).collect(),
            margins: group.rows.iter().map(|row| row.softmax_margin).collect(),
        }
    }

    /// The measures where image i counts `weights[i]` times, and the counts of label and prediction.
    fn measures(&self, plugin: Plugin, k: usize, weights: &[u32]) -> (Measures, Vec<u32>) {
        let mut counts = vec![0u32; k * k];
        let (mut margin, mut total) = (0.0, 0u64);
        for (&(image, label, predicted), &of) in self.rows.iter().zip(&self.margins) {
            let weight = weights[image as usize];
            counts[label as usize * k + predicted as usize] += weight;
            margin += f64::from(of) * f64::from(weight);
            total += u64::from(weight);
        }
        let right: u64 = (0..k).map(|class| u64::from(counts[class * (k + 1)])).sum();
        let information = plugin.information_of(&counts, k);
        ([information, right as f64 / total as f64, margin / total as f64], counts)
    }
}

/// The basic bootstrap interval: the estimate is as far from the truth as its replicates are from it, bias included, so
/// that the interval may end below a plug-in estimate of information, which is too large on small samples.
fn interval(value: f64, mut replicates: Vec<f64>, delta: f64, most: f64) -> Interval {
    replicates.retain(|x| x.is_finite());
    if value.is_nan() || replicates.is_empty() {
        return Interval { value, ..nowhere() };
    }
    replicates.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let at = q * (replicates.len() - 1) as f64;
        let (below, above) = (replicates[at.floor() as usize], replicates[at.ceil() as usize]);
        below + (above - below) * at.fract()
    };
    let end = |q: f64| (2.0 * value - quantile(q)).clamp(0.0, most.max(0.0));
    Interval { value, lo: end(1.0 - delta / 2.0), hi: end(delta / 2.0) }
}

impl Curve {
    /// Where the points stand on the axis: in dB, or at their levels or steps. From weak to strong, without those that have no place.
    pub fn places(&self, in_db: bool) -> Vec<(f64, &Point)> {
        let place = |point: &Point| if in_db { point.snr } else { point.at };
        self.points.iter().map(|point| (place(point), point)).filter(|(at, _)| at.is_finite()).collect()
    }

    /// The ends of the axis: the weakest and the strongest fault.
    pub fn ends(&self, in_db: bool) -> Option<(f64, f64)> {
        let places = self.places(in_db);
        Some((places.first()?.0, places.last()?.0))
    }

    /// p(Y | T): row t holds how the labels are distributed among the images that are taken for class t; a row of NaN where none is.
    pub fn given_prediction(&self, at: f64) -> Result<Tensor> {
        let Some(point) = self.points.iter().find(|point| point.at == at) else {
            let known: Vec<String> = self.points.iter().map(|point| number(point.at)).collect();
            return Err(Error::argument(format!("the curve has no point at {}", number(at))).hint(format!(
                "its {}s: {}",
                self.axis.name(),
                crate::core::cut(&known.join(", "), 200)
            )));
        };
        let k = self.classes.len();
        let share = |t: usize| {
            let column: Vec<f64> = (0..k).map(|y| f64::from(point.counts[y * k + t])).collect();
            let total: f64 = column.iter().sum();
            column.into_iter().map(move |count| if total > 0.0 { count / total } else { f64::NAN })
        };
        let all: Vec<f64> = (0..k).flat_map(share).collect();
        Ok(Tensor::f_from_slice(&all)?.f_reshape([k as i64, k as i64])?)
    }

    fn column(&self, name: &str) -> Option<Vec<f64>> {
        let of: fn(&Point) -> f64 = match name {
            "levels" | "level" | "step" => |p| p.at,
            "snr_db" => |p| p.snr,
            "magnitude" => |p| p.magnitude,
            "mi" => |p| p.information.value,
            "mi_lo" => |p| p.information.lo,
            "mi_hi" => |p| p.information.hi,
            "accuracy" => |p| p.accuracy.value,
            "accuracy_lo" => |p| p.accuracy.lo,
            "accuracy_hi" => |p| p.accuracy.hi,
            "margin" => |p| p.margin.value,
            "margin_lo" => |p| p.margin.lo,
            "margin_hi" => |p| p.margin.hi,
            "entropy" => |p| p.entropy,
            "rows" => |p| p.rows as f64,
            "stuck" => |p| p.stuck,
            _ => return None,
        };
        Some(self.points.iter().map(of).collect())
    }

    fn rows(&self) -> Table {
        let names = [self.axis.name()].into_iter().chain(COLUMNS.into_iter().skip(1));
        names.fold(Table::default(), |table, name| {
            let number = |x: f64| match name {
                "step" | "rows" => Value::Int(x as i64),
                _ if x.is_nan() => Value::Unit,
                _ => Value::Float(x),
            };
            table.column(name, self.column(name).unwrap_or_default().into_iter().map(number).collect())
        })
    }
}

const COLUMNS: [&str; 15] = [
    "levels",
    "snr_db",
    "mi",
    "mi_lo",
    "mi_hi",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "margin",
    "margin_lo",
    "margin_hi",
    "entropy",
    "magnitude",
    "rows",
    "stuck",
];

const FIELDS: [&str; 20] = [
    "levels",
    "snr_db",
    "mi",
    "mi_lo",
    "mi_hi",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "margin",
    "margin_lo",
    "margin_hi",
    "entropy",
    "magnitude",
    "stuck",
    "bound",
    "axis",
    "unit",
    "images",
    "classes",
    "cautions",
];

impl Object for Curve {
    fn kind(&self) -> &'static str {
        "ToleranceCurve"
    }

    fn summary(&self) -> String {
        let places = self.points.len();
        let first = &self.points[0];
        let last = &self.points[places - 1];
        format!(
            "tolerance of {} to {}: {} bits to {} of {} over {places} {}s, accuracy {} to {}, {} images{}",
            self.of[0],
            self.of[2],
            number(first.information.value),
            number(last.information.value),
            number(self.bound),
            self.axis.name(),
            number(first.accuracy.value),
            number(last.accuracy.value),
            self.images,
            self.cautions.ending()
        )
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 24;
        let what = format!("{} on {}: {} over {}, {}", self.of[0], self.of[1], self.of[3], self.of[2], self.of[4]);
        let bound = format!("H(Y) = {} bits; {}", number(self.bound), self.unit);
        format!("{}\n{what}\n{bound}\n{}", self.summary(), self.rows().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "bound" => Value::Float(self.bound),
            "axis" => Value::Str(self.axis.name().into()),
            "unit" => Value::Str(self.unit.into()),
            "images" => Value::Int(self.images as i64),
            "cautions" => self.cautions.value(),
            "classes" => Value::ints(self.classes.iter().map(|&class| i64::from(class))),
            other if FIELDS.contains(&other) => Value::floats(self.column(other).unwrap_or_default()),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.digest.0, format!("{:?}", self.settings).as_bytes()])
    }

    fn json(&self) -> serde_json::Value {
        let [model, data, space, search, objective] = &self.of;
        let mut map = serde_json::Map::new();
        let from = [("model", model), ("data", data), ("space", space), ("search", search), ("objective", objective)];
        map.extend(from.map(|(name, value)| (name.to_string(), json!(value))));
        for name in FIELDS {
            if let Ok(Some(value)) = self.field(name) {
                map.insert(name.into(), value.json());
            }
        }
        serde_json::Value::Object(map)
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels uniform among 4 classes, predictions right with probability 0.6 and uniform among the others otherwise: I = 2 - H(0.6,
    /// 0.4/3, 0.4/3, 0.4/3) = 0.3951 bits. Of 300 samples of 150 images, intervals at 95% hold it about as often as they say.
    #[test]
    fn intervals_hold_the_truth() {
        const K: usize = 4;
        let truth = 2.0 + 0.6 * 0.6f64.log2() + 0.4 * (0.4f64 / 3.0).log2();
        assert!((truth - 0.3951).abs() < 1e-4);
        let (mut information, mut accuracy, mut above) = (0, 0, 0);
        for sample in 0..300 {
            let mut rng = random(sample, 1);
            let rows: Vec<(u32, u16, u16)> = (0..150)
                .map(|image| {
                    let label = rng.gen_range(0..K as u16);
                    let predicted =
                        if rng.gen_bool(0.6) { label } else { (label + rng.gen_range(1..K as u16)) % K as u16 };
                    (image, label, predicted)
                })
                .collect();
            let sample = Sample { margins: vec![0.0; rows.len()], rows };
            let plugin = Plugin::Exact;
            let (found, _) = sample.measures(plugin, K, &[1; 150]);
            let replicates: Vec<Measures> = (0..200)
                .map(|_| {
                    let mut weights = vec![0u32; 150];
                    (0..150).for_each(|_| weights[rng.gen_range(0..150)] += 1);
                    sample.measures(plugin, K, &weights).0
                })
                .collect();
            let of = |which: usize, most| {
                interval(found[which], replicates.iter().map(|replicate| replicate[which]).collect(), 0.05, most)
            };
            let holds = |interval: Interval, truth: f64| u32::from((interval.lo..=interval.hi).contains(&truth));
            information += holds(of(0, 2.0), truth);
            accuracy += holds(of(1, 1.0), 0.6);
            above += u32::from(found[0] > truth);
        }
        // 285 are expected, with a standard deviation of 4; the bootstrap on 150 images loses some of them.
        assert!(information >= 260 && accuracy >= 268, "{information} and {accuracy} of 300");
        // The plug-in estimate is too large, by (K - 1)^2 / (2 n ln 2) = 0.043 bits on average.
        assert!(above > 200, "{above} of 300");
    }
}
