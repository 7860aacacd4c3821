//! Whether a model has seen its test set: the error weighted by the density of adversarial examples against the plain
//! error, after Werpachowski, György and Szepesvári (2019), "Detecting Overfitting via Adversarial Examples".

use std::collections::BTreeMap;
use std::rc::Rc;

use rand::seq::index::sample;
use serde_json::json;

use super::independence::{
    Betting, Interval, Pairwise, Verdict, bets, betting_test, interval_test, most_telling, order, order_seed,
    pairwise_test,
};
use crate::core::{Cx, Digest, Error, Object, Result, Table, Value, number, random, significant, wrapped};
use crate::maths::bernstein::{bernstein, mean_variance, pairwise_p};
use crate::maths::betting::Sides;
use crate::search::{Density, Row, Transcript};

/// The confidence of the intervals around single risks: two of them hold together with probability 95% (Figure 5).
const INTERVAL_DELTA: f64 = 0.025;

/// Other orders in which the betting test is repeated to see how much hangs on the one that counts.
const ORDERS: u64 = 20;

/// Apart from what else is drawn by the same seed.
const CURVE: u64 = u64::from_be_bytes(*b"_curves_");

/// A mean in [0, 1] with its empirical Bernstein interval.
#[derive(Debug, Clone, Copy)]
pub struct Risk {
    pub mean: f64,
    pub variance: f64,
}

impl Risk {
    fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let (mean, variance) = mean_variance(values);
        Self { mean, variance }
    }

    /// Half the width of the interval that holds with probability 1 - delta.
    pub fn bound(&self, m: usize, delta: f64) -> f64 {
        bernstein(m, self.variance, delta, 1.0)
    }
}

/// Both estimates of the error of one model on one data set, and the tests of their difference.
pub struct RiskReport {
    /// R_S, the share of images that are misclassified as they stand.
    pub error: Risk,
    /// R_g, the mean of L(g(x)) h_g(g(x)) (Eq. 2).
    pub weighted: Risk,
    /// R_S', the share that is misclassified where the search left it.
    pub adversarial_error: f64,
    pub test: Pairwise,
    pub interval: Interval,
    /// On the T_i in the order that `order_seed` fixes.
    pub betting: Betting,
    /// Fixed by the run's seed alone, so that no repetition of a call draws another order.
    pub order_seed: u64,
    /// The share of other orders in which the betting test rejects: a diagnostic of luck, no p-value.
    pub other_orders: f64,
    pub delta: f64,
    pub density: Density,
    /// T_i = L(g(x_i)) h_g(g(x_i)) - L(x_i) (Eq. 5), in the order of the transcript.
    pub t: Vec<f64>,
    /// Points scored in all.
    pub scored: u64,
    pub transcript: Rc<Transcript>,
}

/// L(x) and L(g(x)) h_g(g(x)).
fn losses(row: &Row) -> Option<(f64, f64)> {
    let weighted = if row.wrong_after() { row.weight? } else { 0.0 };
    Some((f64::from(u8::from(row.wrong_before())), weighted))
}

/// The report on a transcript with densities, at level `delta`. `sides` are the betting test's.
pub fn report(cx: &Cx, transcript: Rc<Transcript>, delta: f64, sides: Sides) -> Result<RiskReport> {
    if transcript.is_empty() {
        return Err(Error::data("a transcript without rows tells nothing about a risk"));
    }
    let of = &transcript.of;
    let Some(density) = of.density.clone() else {
        return Err(Error::data(format!("this transcript carries no densities ({} over {})", of.search, of.space))
            .hint(
                "they come with finite spaces: over space::translate with a smaller epsilon, 3 epsilon at most the images' margin, or with images \
                 loaded with a smaller crop",
            ));
    };
    let pairs: Option<Vec<(f64, f64)>> = transcript.rows.iter().map(losses).collect();
    let pairs = pairs.ok_or_else(|| Error::internal("an outcome that is misclassified carries no density"))?;
    let t: Vec<f64> = pairs.iter().map(|(plain, weighted)| weighted - plain).collect();
    let wrong_after = transcript.rows.iter().filter(|row| row.wrong_after()).count();
    let error = Risk::of(pairs.iter().map(|pair| pair.0));
    let adversarial_error = wrong_after as f64 / t.len() as f64;
    // What T could have been had the model seen the images, which makes R_S too small and T positive: every adversarial
    // example at its largest weight, no error at less than its full one.
    let largest = (adversarial_error - error.mean) * density.hi;
    let test = Pairwise { largest, ..pairwise_test(&t, density.hi - density.lo, delta)? };
    let (losses, weighted): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let interval = Interval { largest, ..interval_test(&losses, &weighted, delta)? };
    let order_seed = order_seed(cx);
    let bets = bets((density.lo, density.hi), delta, sides)?;
    let ordered = |values: &[f64], part| -> Vec<f64> {
        order(values.len(), order_seed, part).into_iter().map(|i| values[i]).collect()
    };
    let betting = betting_test(cx, &ordered(&t, 0), &ordered(&most_telling(&t, density.hi), 0), bets, true)?;
    let mut rejecting = 0;
    for part in 1..=ORDERS {
        cx.check()?;
        rejecting += u64::from(bets.rejects(&ordered(&t, part)));
    }
    Ok(RiskReport {
        error,
        weighted: Risk::of(weighted.iter().copied()),
        adversarial_error,
        test,
        interval,
        betting,
        order_seed,
        other_orders: rejecting as f64 / ORDERS as f64,
        delta,
        density,
        t,
        scored: transcript.rows.iter().map(|row| u64::from(row.queries)).sum(),
        transcript,
    })
}

impl RiskReport {
    /// All three tests in words.
    fn verdicts(&self) -> [(&'static str, String); 3] {
        [
            ("pairwise test", self.test.verdict_text()),
            ("interval test", self.interval.verdict_text()),
            ("betting test", self.betting.verdict_text()),
        ]
    }

    fn diagnostic(&self) -> String {
        format!("a diagnostic, no p-value: {}% of {ORDERS} other orders reject", (self.other_orders * 100.0).round())
    }

    /// p and both risks on random parts of the sample, as in Figure 5: `sizes` evenly spaced sizes up to all images, each
    /// drawn `repeats` times uniformly without replacement. p is the mean over repeats with its smallest and largest
    /// value, and so is the betting test's on the same images in the order drawn; the risks are means over repeats with
    /// 97.5% two-sided Bernstein intervals of that size.
    pub fn curve(&self, cx: &Cx, sizes: usize, repeats: usize, seed: u64) -> Result<Vec<BTreeMap<String, Value>>> {
        let (m, range, bets) = (self.test.m, self.density.hi - self.density.lo, self.betting.bets);
        let pairs: Vec<(f64, f64)> = self.transcript.rows.iter().filter_map(losses).collect();
        let mut counts: Vec<usize> = (1..=sizes).map(|k| (m * k).div_ceil(sizes)).collect();
        counts.dedup();
        let task = cx.progress("curve", Some(counts.len() as u64));
        let mut points = Vec::new();
        for (k, &n) in counts.iter().enumerate() {
            let repeats = if n == m { 1 } else { repeats };
            let mut sums = [0.0; 6];
            let mut spread = [(f64::INFINITY, f64::NEG_INFINITY); 2];
            for repeat in 0..repeats {
                cx.check()?;
                let chosen = sample(&mut random(seed ^ CURVE, ((k as u64) << 32) | repeat as u64), m, n).into_vec();
                let plain = Risk::of(chosen.iter().map(|&i| pairs[i].0));
                let weighted = Risk::of(chosen.iter().map(|&i| pairs[i].1));
                let (difference, variance) = mean_variance(chosen.iter().map(|&i| self.t[i]));
                let p = pairwise_p(n, variance, difference, range);
                let betting_p = if n == m {
                    self.betting.p
                } else {
                    let t: Vec<f64> = chosen.iter().map(|&i| self.t[i]).collect();
                    bets.p(&t, &bets.play(&t), || cx.check())?
                };
                for (spread, p) in spread.iter_mut().zip([p, betting_p]) {
                    *spread = (spread.0.min(p), spread.1.max(p));
                }
                let bounds = [plain.bound(n, INTERVAL_DELTA), weighted.bound(n, INTERVAL_DELTA)];
                for (sum, x) in sums.iter_mut().zip([p, betting_p, plain.mean, bounds[0], weighted.mean, bounds[1]]) {
                    *sum += x / repeats as f64;
                }
            }
            let [p, betting_p, error, error_bound, weighted, weighted_bound] = sums;
            let numbers = [
                ("p", p),
                ("p_lo", spread[0].0),
                ("p_hi", spread[0].1),
                ("betting_p", betting_p),
                ("betting_p_lo", spread[1].0),
                ("betting_p_hi", spread[1].1),
                ("error", error),
                ("error_lo", (error - error_bound).max(0.0)),
                ("error_hi", (error + error_bound).min(1.0)),
                ("weighted_error", weighted),
                ("weighted_error_lo", (weighted - weighted_bound).max(0.0)),
                ("weighted_error_hi", (weighted + weighted_bound).min(1.0)),
            ];
            let mut point: BTreeMap<String, Value> =
                numbers.into_iter().map(|(name, x)| (name.to_string(), Value::Float(x))).collect();
            point.insert("m".into(), Value::Int(n as i64));
            points.push(point);
            task.advance(1);
        }
        Ok(points)
    }
}

const FIELDS: [&str; 19] = [
    "m",
    "error",
    "weighted_error",
    "adversarial_error",
    "difference",
    "sigma",
    "lo",
    "hi",
    "p",
    "reject",
    "delta",
    "bound",
    "interval_test",
    "betting",
    "verdict",
    "scored",
    "assumption",
    "t",
    "transcript",
];

const INTERVAL_TEST: [&str; 4] = ["bound", "p", "reject", "verdict"];

const BETTING: [&str; 8] = ["log_wealth", "other_orders_rejecting", "p", "reject", "seed", "sides", "used", "verdict"];

/// What of a test the report does not say elsewhere.
fn part(mut map: BTreeMap<String, Value>, names: &[&str]) -> Value {
    map.retain(|name, _| names.contains(&name.as_str()));
    Value::Map(map)
}

impl Object for RiskReport {
    fn kind(&self) -> &'static str {
        "RiskReport"
    }

    fn summary(&self) -> String {
        let word = match self.test.verdict() {
            Verdict::Rejected => "independence rejected",
            _ if self.betting.outcome.reject => "independence rejected by the betting test alone",
            Verdict::NotRejected => "independence not rejected",
            Verdict::NoPower => "no power at this size",
        };
        format!(
            "risk report: {} images, error {}, weighted {}, p {}: {word}",
            self.test.m,
            number(self.error.mean),
            number(self.weighted.mean),
            number(self.test.p)
        )
    }

    fn details(&self, width: usize) -> String {
        let short = |x: f64| significant(x, 4);
        let (of, test, m) = (&self.transcript.of, &self.test, self.test.m);
        let interval = |risk: &Risk| {
            let bound = risk.bound(m, INTERVAL_DELTA);
            format!("{}  97.5% interval ± {}", short(risk.mean), short(bound))
        };
        let rows = [
            ("images", "m", m.to_string()),
            ("error", "R_S", interval(&self.error)),
            ("weighted error", "R_g", interval(&self.weighted)),
            ("adversarial error", "R_S'", short(self.adversarial_error)),
            ("difference", "T = R_g - R_S", short(test.difference)),
            ("deviation of T_i", "sigma", short(test.sigma)),
            ("range of T_i", "U", format!("[{}, {}]", short(self.density.lo), short(self.density.hi))),
            ("|T| needed", "B", format!("{} to reject at {}", short(test.bound), short(self.delta))),
            ("p, pairwise test", "Eq. 7", short(test.p)),
            ("p, interval test", "Section 3.1", short(self.interval.p)),
            ("p, betting test", "by powers of 10", short(self.betting.p)),
            ("", "could stop after", self.betting.used_text()),
            ("", "in order of seed", format!("{} ({})", self.order_seed, self.diagnostic())),
            ("points scored", "", format!("{} ({} per image)", self.scored, short(self.scored as f64 / m as f64))),
        ];
        let mut lines = vec![
            format!("model {}, images {}: {} over {}", of.model.0, of.data.name, of.search, of.space),
            String::new(),
        ];
        lines.extend(rows.iter().map(|(name, symbol, text)| format!("  {name:<18} {symbol:<16} {text}")));
        lines.push(String::new());
        lines.extend(self.verdicts().iter().map(|(name, text)| format!("  {name:<15}{text}")));
        lines.push("Which of these tests counts is to be decided before looking at them.".into());
        lines.push(String::new());
        lines.push("This rests on:".into());
        lines.push(
            "  null hypothesis: the model is independent of these images, drawn independently of each other".into(),
        );
        lines.push(format!("  density: {}", self.density.assumption));
        for caution in &self.density.cautions {
            lines.push(format!("  but here {caution}: a rejection may come from that alone"));
        }
        lines.push("  labels: each image has one true label, and the labels given are right".into());
        if m < of.data.len() {
            lines.push(format!(
                "  choice: {m} of {} rows; valid only if they were chosen without a look at the outcomes",
                of.data.len()
            ));
        }
        wrapped(&lines.join("\n"), width)
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let test = &self.test;
        Ok(Some(match name {
            "m" => Value::Int(test.m as i64),
            "error" => Value::Float(self.error.mean),
            "weighted_error" => Value::Float(self.weighted.mean),
            "adversarial_error" => Value::Float(self.adversarial_error),
            "difference" => Value::Float(test.difference),
            "sigma" => Value::Float(test.sigma),
            "lo" => Value::Float(self.density.lo),
            "hi" => Value::Float(self.density.hi),
            "p" => Value::Float(test.p),
            "reject" => Value::Bool(test.reject),
            "delta" => Value::Float(self.delta),
            "bound" => Value::Float(test.bound),
            "interval_test" => part(self.interval.map(), &INTERVAL_TEST),
            "betting" => {
                let mut map = self.betting.map();
                map.insert("seed".into(), Value::Int(self.order_seed as i64));
                map.insert("other_orders_rejecting".into(), Value::Float(self.other_orders));
                part(map, &BETTING)
            }
            "verdict" => Value::Str(self.test.verdict_text()),
            "scored" => Value::Int(self.scored as i64),
            "assumption" => Value::Str(self.density.assumption.clone()),
            "t" => Value::floats(self.t.iter().copied()),
            "transcript" => Value::Object(self.transcript.clone()),
            _ => return Ok(None),
        }))
    }

    fn members(&self, field: &str) -> &'static [&'static str] {
        match field {
            "interval_test" => &INTERVAL_TEST,
            "betting" => &BETTING,
            _ => &[],
        }
    }

    fn digest(&self) -> Digest {
        let (delta, order) = (self.delta.to_le_bytes(), self.order_seed.to_le_bytes());
        Digest::of_parts(&[&self.transcript.digest().0, &delta, &order, &[self.betting.bets.sides as u8]])
    }

    /// The summary with its provenance; the T_i are in the table.
    fn json(&self) -> serde_json::Value {
        let of = &self.transcript.of;
        let mut map = serde_json::Map::new();
        for name in FIELDS.iter().filter(|name| !["t", "transcript"].contains(name)) {
            if let Ok(Some(value)) = self.field(name) {
                map.insert((*name).into(), value.json());
            }
        }
        let from = [
            ("model", json!(of.model.0)),
            ("model_hash", json!(of.model.1.hex())),
            ("data", of.data.json()),
            ("space", json!(of.space)),
            ("search", json!(of.search)),
            ("seed", json!(of.seed)),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        map.extend(from.map(|(name, value)| (name.to_string(), value)));
        serde_json::Value::Object(map)
    }

    /// One row per image.
    fn table(&self) -> Option<Table> {
        let rows = &self.transcript.rows;
        let mut places = vec![0; rows.len()];
        for (place, i) in order(rows.len(), self.order_seed, 0).into_iter().enumerate() {
            places[i] = place as i64;
        }
        let table = Table::default()
            .column("id", rows.iter().map(|row| Value::Int(row.id.into())).collect())
            .column("label", rows.iter().map(|row| Value::Int(row.label.into())).collect())
            .column("loss", rows.iter().map(|row| Value::Int(row.wrong_before().into())).collect())
            .column("adversarial_loss", rows.iter().map(|row| Value::Int(row.wrong_after().into())).collect())
            .column("weight", rows.iter().map(|row| row.weight.map_or(Value::Unit, Value::Float)).collect())
            .column("t", self.t.iter().copied().map(Value::Float).collect())
            .column("betting_order", places.into_iter().map(Value::Int).collect());
        Some(table)
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
