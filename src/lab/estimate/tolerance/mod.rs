//! Input-fault tolerance (Galloway, Golubeva and Taylor, "Adversarial Examples as an Input-Fault Tolerance Problem", 2018): how much a
//! model's predictions tell of the labels, and how often they are right, as a fault grows.

mod difference;
mod interval;
mod numbered;
mod population;
pub(super) mod stuck;
mod summary;

pub use difference::{Difference, Resampling, difference};
pub use interval::{Interval, OF_MARGINS};
pub use population::populations;
pub use stuck::percent;
pub use summary::Summary;

use std::collections::BTreeMap;

use super::clusters::{Clusters, without_clusters};
use super::population::{Population, left_out};
use super::subject::{Subject, named, subject};
use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, json_of_fields, number, significant,
};
use crate::maths::information::Estimator;
use crate::search::{Row, Transcript};
use interval::MeasuredPoint;
use numbered::ResampledRows;

/// How a curve is estimated.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub estimator: Estimator,
    /// Samples of the bootstrap, and how often labels are shuffled.
    pub replicates: usize,
    /// Intervals hold what they are of with probability 1 - delta.
    pub delta: f64,
    pub seed: u64,
}

impl Settings {
    /// How digests know it, which stays when types and fields get better names.
    fn identity(&self) -> String {
        let Self { estimator, replicates, delta, seed } = self;
        let estimator = estimator.identity();
        format!("Settings {{ estimator: {estimator}, replicates: {replicates}, delta: {delta:?}, seed: {seed} }}")
    }
}

/// What a curve's points are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveAxis {
    Level,
    Step,
}

impl CurveAxis {
    fn name(self) -> &'static str {
        if self == Self::Level { "level" } else { "step" }
    }
}

/// The measures of Section 2 at one strength of the fault.
#[derive(Clone)]
pub struct CurvePoint {
    /// The level, or the number of steps.
    pub at: f64,
    /// Mean over the changes that are not 0, in dB; infinite if all are, NaN where it was not measured.
    pub snr: f64,
    /// The share of images that are not changed at all, which have no place in dB.
    pub unchanged: f64,
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
    /// The share of rows that the search could not move on, where gradients vanished or nothing to begin at was found: that they are right says nothing of the model.
    pub stuck: f64,
    /// How often each label (row) comes with each prediction (column).
    pub counts: Vec<u32>,
}

/// A tolerance curve, the weakest fault first.
#[derive(Clone)]
pub struct Curve {
    pub points: Vec<CurvePoint>,
    pub axis: CurveAxis,
    /// What the levels are, with their unit.
    pub unit: &'static str,
    /// Whether faults are added to the image, so that their strength is best told in dB.
    pub additive: bool,
    /// H(Y) in bits: no curve is higher.
    pub bound: f64,
    pub images: usize,
    /// Of images that are not independent, which lie in one cluster.
    clusters: Option<Clusters>,
    /// How many labels there may be.
    pub labels: usize,
    /// Numbers of the classes that rows and columns of the counts stand for.
    pub classes: Vec<i32>,
    pub settings: Settings,
    /// How `information` was estimated.
    pub estimator: &'static str,
    /// Why it may not mean what it seems to.
    pub cautions: Cautions,
    /// Which images, with which labels.
    pub population: Population,
    /// Model, data, space, search and objective, for those who read the results later.
    of: Subject,
    /// Whether only closures know what the fault is.
    closures: bool,
    /// The rows of every point, for those who compare curves image by image.
    samples: Vec<ResampledRows>,
    digest: Digest,
    made_by: Digest,
}

/// The rows of one point.
struct PointRows<'a> {
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
    transcript.check_predictions("tolerance::curve")?;
    let (axis, groups) = groups(transcript)?;
    let mut classes: Vec<i32> = transcript.rows.iter().flat_map(|row| [row.label, row.before, row.after]).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut ids: Vec<u32> = transcript.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let samples: Vec<ResampledRows> = groups.iter().map(|group| ResampledRows::of(group, &ids, &classes)).collect();
    // Labels are of the data's classes, whether all of them occur or not.
    let known = transcript.of.data.classes().len();
    let clusters = Clusters::among(&transcript.of.data, ids.iter().copied());
    let found = interval::measures(cx, &samples, (ids.len(), clusters.as_ref()), (classes.len(), known), settings)?;
    let several = samples.iter().any(|sample| sample.rows.len() > ids.len());
    let points: Vec<CurvePoint> = groups
        .iter()
        .zip(&samples)
        .zip(&found)
        .map(|((group, sample), found)| point(group, sample, found, classes.len()))
        .collect();
    let mut cautions = without_clusters(&transcript.of.cautions, &transcript.of.data);
    left_out(transcript).into_iter().for_each(|caution| cautions.add(caution));
    let independent = clusters.as_ref().map_or(ids.len(), Clusters::count);
    if let Some(clusters) = clusters.as_ref().filter(|clusters| clusters.alike() < clusters.count() as f64 / 2.0) {
        cautions.add(format!(
            "a few of the {} clusters hold most images: numbers are known as well as of {} that are as large",
            clusters.count(),
            significant(clusters.alike(), 2)
        ));
    }
    let counted = format!("{independent} {}", if clusters.is_some() { "clusters of images" } else { "images" });
    if let Some(caution) = interval::too_few(&found, &counted) {
        cautions.add(caution);
    }
    if let Some(caution) = interval::uneven(&found, &counted) {
        cautions.add(caution);
    }
    if let Some(caution) = interval::few_differ(&found, &counted) {
        cautions.add(caution);
    }
    const FEW: usize = 10;
    if clusters.as_ref().map_or(ids.len() as f64, Clusters::alike) < FEW as f64 {
        cautions
            .add(format!("{counted} say next to nothing of I(T; Y), nor of its intervals: take {FEW} at the least"));
    }
    stuck::caution(&points, axis, &transcript.of.search).into_iter().for_each(|caution| cautions.add(caution));
    let bound = found.iter().map(|found| found.labels).fold(0.0, f64::max);
    // Of few images, or of one class; by a little most intervals do.
    if points.iter().any(|point| point.information.hi > bound + 0.1 * bound.max(0.1)) {
        cautions.add(format!(
            "intervals reach above H(Y), which is estimated at {} bits from the labels of these {} images and may be higher",
            significant(bound, 3),
            ids.len()
        ));
    }
    let of = &transcript.of;
    Ok(Curve {
        points,
        axis,
        unit: if axis == CurveAxis::Step { "steps" } else { of.unit },
        additive: of.additive,
        bound,
        labels: known,
        images: ids.len(),
        clusters,
        classes,
        settings,
        estimator: settings.estimator.name(several),
        cautions,
        population: Population::of(transcript),
        of: subject(transcript),
        closures: transcript.opaque(),
        samples,
        digest: transcript.digest(),
        made_by: transcript.made_by().unwrap_or_else(|| transcript.digest()),
    })
}

/// The measures of a group's rows.
fn point(group: &PointRows, sample: &ResampledRows, found: &MeasuredPoint, k: usize) -> CurvePoint {
    let mean = |of: &dyn Fn(&Row) -> f32| {
        let values: Vec<f64> = group.rows.iter().map(|row| of(row)).filter(|x| x.is_finite()).map(f64::from).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let snr = mean(&|row| row.snr);
    let measured = group.rows.iter().any(|row| !row.snr.is_nan());
    CurvePoint {
        at: group.at,
        snr: if (snr.is_nan() && measured) || group.before { f64::INFINITY } else { snr },
        unchanged: group.rows.iter().filter(|row| row.snr == f32::INFINITY).count() as f64 / group.rows.len() as f64,
        magnitude: if group.before { 0.0 } else { mean(&|row| row.magnitude) },
        information: found.information,
        accuracy: found.accuracy,
        margin: if group.before { Interval::NOWHERE } else { found.margin },
        entropy: found.entropy,
        rows: group.rows.len(),
        stuck: if group.before { 0.0 } else { stuck::share(&group.rows) },
        counts: sample.counts(k),
    }
}

/// The rows of every point, the weakest fault first.
fn groups(transcript: &Transcript) -> Result<(CurveAxis, Vec<PointRows<'_>>)> {
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
        (true, _) => CurveAxis::Step,
        (false, Some(_)) => CurveAxis::Level,
        (false, None) => {
            return Err(Error::argument("a curve needs levels or steps, and there are none")
                .hint("say how strong faults are: `levels: [0.1, 0.2]`, of tolerance::measure as of examine"));
        }
    };
    let mut points: BTreeMap<u64, PointRows> = BTreeMap::new();
    for row in rows {
        let at = if axis == CurveAxis::Step { step(row) } else { row.level.unwrap_or_default() };
        // Levels are not negative, so their bits are in their order.
        points.entry(at.to_bits()).or_insert_with(|| PointRows { at, rows: vec![], before: false }).rows.push(row);
    }
    let mut groups: Vec<PointRows> = points.into_values().collect();
    if groups[0].at != 0.0 {
        let rows = groups[0].rows.clone();
        groups.insert(0, PointRows { at: 0.0, rows, before: true });
    }
    Ok((axis, groups))
}

impl Curve {
    /// Where the points stand on the axis: in dB, or at their levels or steps. From weak to strong, without those that have no place.
    pub fn places(&self, in_db: bool) -> Vec<(f64, &CurvePoint)> {
        let place = |point: &CurvePoint| if in_db { point.snr } else { point.at };
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
        let of: fn(&CurvePoint) -> f64 = match name {
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

    /// What it shows, without cautions.
    fn headline(&self) -> String {
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
            self.clusters.as_ref().map_or(String::new(), Clusters::ending)
        )
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

const FIELDS: [&str; 21] = [
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
    "information",
    "cautions",
];

impl Object for Curve {
    fn kind(&self) -> &'static str {
        "ToleranceCurve"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.headline(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 24;
        let what = format!("{} on {}: {} over {}, {}", self.of[0], self.of[1], self.of[3], self.of[2], self.of[4]);
        let bound = format!("H(Y) = {} bits, information by {}; {}", number(self.bound), self.estimator, self.unit);
        let lines: Vec<String> = [self.headline(), what, bound].into_iter().chain(self.cautions.lines()).collect();
        format!("{}\n{}", lines.join("\n"), self.rows().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "bound" => Value::Float(self.bound),
            "axis" => Value::Str(self.axis.name().into()),
            "unit" => Value::Str(self.unit.into()),
            "information" => Value::Str(self.estimator.into()),
            "images" => Value::Int(self.images as i64),
            "cautions" => self.cautions.value(),
            "classes" => Value::ints(self.classes.iter().map(|&class| i64::from(class))),
            other if FIELDS.contains(&other) => Value::floats(self.column(other).unwrap_or_default()),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.digest.0, self.settings.identity().as_bytes()])
    }

    fn is_made(&self) -> bool {
        true
    }

    fn made_by(&self) -> Option<Digest> {
        Some(Digest::of_parts(&[b"curve", &self.made_by.0, self.settings.identity().as_bytes()]))
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
