//! Whether a model has seen its test set: the error weighted by the density of adversarial examples against the plain
//! error, after Werpachowski, György and Szepesvári (2019), "Detecting Overfitting via Adversarial Examples".

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use rand::seq::index::sample;
use serde_json::json;

use super::backing::Backing;
use super::clusters::{Clusters, without_clusters};
use super::independence::most_telling;
use super::methods::Described;
use super::plan::Pilot;
use super::protocol::{Protocol, SeenImages, TestOutcomes, Which, members};
use crate::core::{
    Cautions, Cx, Digest, Error, LongTable, Object, Result, Table, Value, number, random, significant, wrapped,
};
use crate::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};
use crate::maths::betting::Bets;
use crate::search::{Contrast, Density, Guarded, Row, Transcript};

/// The confidence of the intervals around single risks: two of them hold together with probability 95% (Figure 5).
const INTERVAL_DELTA: f64 = 0.025;

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

    /// The same, whose interval is of clusters.
    fn in_clusters(values: &[f64], clusters: Option<&Clusters>) -> Self {
        match clusters {
            Some(clusters) => Self::of(clusters.linearised(values).into_iter()),
            None => Self::of(values.iter().copied()),
        }
    }

    /// Half the width of the interval of `m` numbers from 0 to `range` that holds with probability 1 - delta.
    fn bound(&self, m: usize, range: f64, delta: f64) -> f64 {
        bernstein(m, self.variance, delta, range)
    }
}

/// Both estimates of the error of one model on one data set, and the tests of their difference.
pub struct RiskReport {
    /// R_S, the mean loss of the images as they stand: the share that is misclassified, or of a search that compares doubts their mean.
    pub plain: Risk,
    /// R_g, the mean of L(g(x)) h_g(g(x)) (Eq. 2).
    pub weighted: Risk,
    /// The share of images that are misclassified as they stand.
    pub error: f64,
    /// R_S', the share that is misclassified where the search left it; `None` where doubts are compared.
    pub adversarial_error: Option<f64>,
    /// What the tests of their difference say.
    pub tests: TestOutcomes,
    pub density: Density,
    /// T_i = L(g(x_i)) h_g(g(x_i)) - L(x_i) (Eq. 5), in the order of the transcript.
    pub t: Vec<f64>,
    /// L(x_i), and what T_i would be had the image spoken most for overfitting.
    pub(super) losses: Vec<f64>,
    pub(super) best: Vec<f64>,
    /// Of images that are not independent, which lie in one cluster.
    pub clusters: Option<Clusters>,
    /// Points scored in all.
    pub scored: u64,
    pub transcript: Rc<Transcript>,
    /// The spaces and searches of the tests that were asked for in one call, this among them; empty where it was the only one.
    pub together: Vec<String>,
    /// That it was registered, and what is known of its changes.
    pub backing: Backing,
}

/// The report on a transcript with densities.
pub fn report(cx: &Cx, transcript: Rc<Transcript>, protocol: Protocol) -> Result<RiskReport> {
    report_of(cx, transcript, protocol, None)
}

/// The report on a transcript whose rows stand in the order of the bets and end as soon as these reject, of `planned` images.
pub fn report_until(cx: &Cx, transcript: Rc<Transcript>, protocol: Protocol, planned: usize) -> Result<RiskReport> {
    report_of(cx, transcript, protocol, Some(planned))
}

fn report_of(cx: &Cx, transcript: Rc<Transcript>, protocol: Protocol, planned: Option<usize>) -> Result<RiskReport> {
    if transcript.is_empty() {
        return Err(Error::data("a transcript without rows tells nothing about a risk"));
    }
    let of = &transcript.of;
    let Some(density) = of.density.clone() else {
        return Err(Error::data(format!("this transcript carries no densities ({} over {})", of.search, of.space))
            .hint(
                "they come with finite spaces: over space::translate with a smaller radius, a third of the images' margin at most, or with images \
                 loaded with a smaller crop",
            ));
    };
    if let Some(images) = of.stopped.filter(|_| planned.is_none()) {
        return Err(Error::data(format!(
            "this examination was stopped after {} of {images} images, as its bets rejected: another order of the bets, or another test, may not be \
             asked of them",
            of.rows
        ))
        .hint("its report is the one that risk::estimate gave"));
    }
    let compared = density.compared;
    let pairs: Option<Vec<(f64, f64)>> = transcript.rows.iter().map(|row| compared.losses(row)).collect();
    let pairs = pairs.ok_or_else(|| Error::internal("an outcome that is misclassified carries no density"))?;
    let t: Vec<f64> = pairs.iter().map(|(plain, weighted)| weighted - plain).collect();
    let share = |wrong: usize| wrong as f64 / t.len() as f64;
    let wrong = share(transcript.rows.iter().filter(|row| row.wrong_before()).count());
    let wrong_after = share(transcript.rows.iter().filter(|row| row.wrong_after()).count());
    let (losses, weighted): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    // What T could have been had the model seen the images, which makes R_S too small and T positive: every adversarial
    // example at its largest weight, no error at less than its full one; what lies around an image is what it is.
    let best = match compared {
        Contrast::Outcome => most_telling(&t, density.hi),
        Contrast::Errors | Contrast::Doubts => weighted.clone(),
    };
    let clusters = Clusters::among(&of.data, transcript.rows.iter().map(|row| row.id));
    if clusters.is_some() && planned.is_some() {
        return Err(Error::internal("bets on images that lie in clusters were stopped"));
    }
    let seen = SeenImages {
        losses: &losses,
        weighted: &weighted,
        t: &t,
        best: &best,
        range: (density.lo, density.hi),
        planned,
        clusters: clusters.as_ref(),
    };
    let tests = TestOutcomes::of(cx, &seen, protocol, cautions(&transcript, &density))?;
    let [plain, weighted] = [&losses, &weighted].map(|values| Risk::in_clusters(values, clusters.as_ref()));
    Ok(RiskReport {
        adversarial_error: match compared {
            Contrast::Outcome => Some(wrong_after),
            Contrast::Errors => Some(weighted.mean),
            Contrast::Doubts => None,
        },
        plain,
        weighted,
        error: wrong,
        tests,
        density,
        t,
        losses,
        best,
        clusters,
        scored: transcript.rows.iter().map(|row| u64::from(row.queries)).sum(),
        transcript,
        together: vec![],
        backing: Backing::default(),
    })
}

fn one_of(together: usize) -> String {
    format!(
        "one of {together} tests of one call: alone it counts only if it was named beforehand, and risk::holm corrects all of them"
    )
}

/// Why these outcomes may say something else than they seem to.
fn cautions(transcript: &Transcript, density: &Density) -> Cautions {
    let of = &transcript.of;
    let mut cautions: Cautions = density.cautions.iter().map(String::as_str).collect();
    cautions.extend(&without_clusters(&of.cautions, &of.data));
    if of.stopped.is_none() && transcript.len() < of.data.len() {
        cautions.add(format!(
            "{} of {} rows, which holds only if they were chosen without a look at the outcomes",
            transcript.len(),
            of.data.len()
        ));
    }
    cautions
}

impl RiskReport {
    /// This report as one of those that were asked for together, by space and search.
    pub fn one_of(mut self, together: &[String]) -> Self {
        if together.len() > 1 {
            self.tests.cautions.add(one_of(together.len()));
        }
        Self { together: together.to_vec(), ..self }
    }

    /// What reports that were asked for together have in common: model and images.
    pub fn asked_of(&self) -> Digest {
        let of = &self.transcript.of;
        Digest::of_parts(&[&of.model.1.0, &of.data.digest().0])
    }

    /// The cautions where tests that asked about the same in these ways are corrected together.
    pub fn cautions_among(&self, ways: &BTreeSet<String>) -> Cautions {
        let whole = self.together.iter().all(|way| ways.contains(way));
        let corrected = whole.then(|| one_of(self.together.len()));
        self.tests.cautions.iter().filter(|caution| Some(*caution) != corrected.as_deref()).collect()
    }

    /// The same report, with what stands behind it.
    pub fn backed(mut self, cx: &Cx, mut backing: Backing) -> Result<Self> {
        backing.caution(cx, &mut self.tests, &self.transcript.of.model.1)?;
        let (rows, of) = (self.transcript.len(), &self.transcript.of);
        if backing.registered.is_some() && of.stopped.is_none() && rows < of.data.len() {
            self.tests.cautions.add(format!(
                "a part of the registered test, {rows} of its {} images: that test is made when the parts are put together",
                of.data.len()
            ));
        }
        Ok(Self { backing, ..self })
    }

    /// How points were scored in lower precision, if they were.
    fn guarded(&self) -> Option<&Guarded> {
        self.transcript.of.guarded.as_ref()
    }

    /// The loss of every image as it stands, and what it is compared with.
    fn pairs(&self) -> Vec<(f64, f64)> {
        self.transcript.rows.iter().filter_map(|row| self.density.compared.losses(row)).collect()
    }

    /// Of each image whether what the search found is misclassified, R_S' in the mean, where that is told.
    fn adversarial_losses(&self) -> Option<Vec<f64>> {
        let rows = self.transcript.rows.iter();
        match self.density.compared {
            Contrast::Outcome => Some(rows.map(|row| f64::from(u8::from(row.wrong_after()))).collect()),
            Contrast::Errors => Some(self.pairs().into_iter().map(|(_, weighted)| weighted).collect()),
            Contrast::Doubts => None,
        }
    }

    /// What scripts call the two risks.
    fn names(&self) -> [&'static str; 2] {
        match self.density.compared {
            Contrast::Doubts => ["doubt", "weighted_doubt"],
            Contrast::Outcome | Contrast::Errors => ["error", "weighted_error"],
        }
    }

    /// Half the width of the interval around a risk.
    fn reach(&self, risk: &Risk) -> f64 {
        match &self.clusters {
            Some(clusters) => risk.bound(clusters.count(), clusters.stretch(), INTERVAL_DELTA),
            None => risk.bound(self.t.len(), 1.0, INTERVAL_DELTA),
        }
    }

    /// An end of the interval around the error or the weighted one, where these are what is compared.
    fn end(&self, name: &str) -> Value {
        if self.density.compared == Contrast::Doubts {
            return Value::Unit;
        }
        let risk = if name.starts_with("weighted") { &self.weighted } else { &self.plain };
        let reach = self.reach(risk);
        Value::Float(match name.ends_with("_lo") {
            true => (risk.mean - reach).max(0.0),
            false => (risk.mean + reach).min(1.0),
        })
    }

    /// Numbers of images, or of their clusters the means, as tests see them.
    fn as_tested(&self, numbers: Vec<f64>) -> Vec<f64> {
        self.clusters.as_ref().map_or(numbers.clone(), |clusters| clusters.means(&numbers))
    }

    fn described(&self) -> Described<'_> {
        Described {
            transcript: &self.transcript,
            tests: &self.tests,
            risks: (self.plain.mean, self.weighted.mean),
            compared: self.density.compared,
            assumption: &self.density.assumption,
            registered: self.backing.registered.as_ref(),
            calibrated: self.backing.calibrated.as_deref(),
        }
    }

    /// These images as what a larger sample is planned by.
    pub fn pilot(&self) -> Pilot {
        let (losses, weighted): (Vec<f64>, Vec<f64>) = self.pairs().into_iter().unzip();
        let [losses, weighted] = [losses, weighted].map(|numbers| self.as_tested(numbers));
        let of = &self.transcript.of;
        let what = format!("the pilot's T_i ({} over {}, model {}, {})", of.search, of.space, of.model.0, of.data.name);
        let pilot =
            Pilot::seen(&losses, &weighted, (self.density.lo, self.density.hi), what, self.tests.cautions.clone());
        if self.clusters.is_some() { pilot.of_clusters() } else { pilot }
    }

    /// p and both risks on random parts of the sample, as in Figure 5: `sizes` evenly spaced sizes up to all images, each
    /// drawn `repeats` times uniformly without replacement. p-values are means over repeats with their smallest and largest
    /// value, the betting test's on the images in the order drawn; `p` is that of the test that counts. The risks are means over
    /// repeats with 97.5% two-sided Bernstein intervals of that size.
    pub fn curve(&self, cx: &Cx, sizes: usize, repeats: usize, seed: u64) -> Result<Vec<BTreeMap<String, Value>>> {
        let (range, tests) = (self.density.hi - self.density.lo, &self.tests);
        let bets = Bets { planned: None, ..tests.betting.bets };
        let (plain, weighted): (Vec<f64>, Vec<f64>) = self.pairs().into_iter().unzip();
        let [tested, tested_weighted, all_t] =
            [&plain, &weighted, &self.t].map(|numbers| self.as_tested(numbers.clone()));
        let adversarial = self.adversarial_losses();
        // Images of each cluster, or each by itself.
        let mut images = vec![vec![]; all_t.len()];
        for i in 0..self.t.len() {
            images[self.clusters.as_ref().map_or(i, |clusters| clusters.of()[i] as usize)].push(i);
        }
        let m = all_t.len();
        let of = |chosen: &[usize], numbers: &[f64]| {
            let numbers: Vec<f64> = chosen.iter().map(|&i| numbers[i]).collect();
            Risk::of(numbers.into_iter())
        };
        let mut counts: Vec<usize> = (1..=sizes).map(|k| (m * k).div_ceil(sizes)).collect();
        counts.dedup();
        let task = cx.progress("curve", Some(counts.len() as u64));
        let mut points = Vec::new();
        for (k, &n) in counts.iter().enumerate() {
            let repeats = if n == m { 1 } else { repeats };
            let mut sums = [0.0; 9];
            let mut counted = 0;
            let mut spread = [(f64::INFINITY, f64::NEG_INFINITY); 3];
            for repeat in 0..repeats {
                cx.check()?;
                let chosen = sample(&mut random(seed ^ CURVE, ((k as u64) << 32) | repeat as u64), m, n).into_vec();
                let (seen, seen_weighted) = (of(&chosen, &tested), of(&chosen, &tested_weighted));
                let (difference, variance) = mean_variance(chosen.iter().map(|&i| all_t[i]));
                let betting = if n == m {
                    tests.betting.p
                } else {
                    let t: Vec<f64> = chosen.iter().map(|&i| all_t[i]).collect();
                    bets.p(&t, &bets.play(&t), || cx.check())?
                };
                let pairwise = pairwise_p(n, variance, difference, range);
                let interval = interval_p(n, seen.variance, seen_weighted.variance, difference);
                let p = Which::ALL.map(|which| match which {
                    Which::Betting => betting,
                    Which::Pairwise => pairwise,
                    Which::Interval => interval,
                });
                for (spread, p) in spread.iter_mut().zip(p) {
                    *spread = (spread.0.min(p), spread.1.max(p));
                }
                // Risks are means of images, whatever clusters these lie in.
                let own: Vec<usize> = chosen.iter().flat_map(|&cluster| images[cluster].iter().copied()).collect();
                counted += own.len();
                let clusters = self.clusters.as_ref().map(|clusters| clusters.only(own.iter().copied()));
                let range = clusters.as_ref().map_or(1.0, Clusters::stretch);
                let risk = |all: &[f64]| {
                    let numbers: Vec<f64> = own.iter().map(|&i| all[i]).collect();
                    let risk = Risk::in_clusters(&numbers, clusters.as_ref());
                    [risk.mean, risk.bound(n, range, INTERVAL_DELTA)]
                };
                let ([plain, plain_bound], [weighted, weighted_bound]) = (risk(&plain), risk(&weighted));
                let [found, found_bound] = adversarial.as_ref().map_or([0.0; 2], |all| risk(all));
                let risks = [plain, plain_bound, weighted, weighted_bound, found, found_bound];
                for (sum, x) in sums.iter_mut().zip(p.into_iter().chain(risks)) {
                    *sum += x / repeats as f64;
                }
            }
            let [p @ .., error, error_bound, weighted, weighted_bound, found, found_bound] = sums;
            let mut point: BTreeMap<String, Value> = BTreeMap::new();
            let [plain, reweighted] = self.names();
            let risks = [
                (plain, error, error_bound),
                (reweighted, weighted, weighted_bound),
                ("adversarial_error", found, found_bound),
            ];
            for (name, risk, bound) in risks.into_iter().take(if adversarial.is_some() { 3 } else { 2 }) {
                point.insert(name.into(), Value::Float(risk.min(1.0)));
                point.insert(format!("{name}_lo"), Value::Float((risk - bound).max(0.0)));
                point.insert(format!("{name}_hi"), Value::Float((risk + bound).min(1.0)));
            }
            for ((which, p), (lo, hi)) in Which::ALL.into_iter().zip(p).zip(spread) {
                let name = format!("{}_p", which.word());
                let mut names = vec![name];
                if which == tests.protocol.test {
                    names.push("p".into());
                }
                for name in names {
                    point.insert(format!("{name}_lo"), Value::Float(lo));
                    point.insert(format!("{name}_hi"), Value::Float(hi));
                    point.insert(name, Value::Float(p.min(1.0)));
                }
            }
            // Of parts with as many clusters as many images as there are on average.
            point.insert("m".into(), Value::Int((counted as f64 / repeats as f64).round() as i64));
            if self.clusters.is_some() {
                point.insert("clusters".into(), Value::Int(n as i64));
            }
            point.insert("test".into(), Value::Str(tests.protocol.test.word().into()));
            if !tests.cautions.is_empty() {
                point.insert("cautions".into(), Value::Str(tests.cautions.text()));
            }
            points.push(point);
            task.advance(1);
        }
        Ok(points)
    }
}

const FIELDS: [&str; 36] = [
    "m",
    "clusters",
    "compared",
    "error",
    "error_lo",
    "error_hi",
    "weighted_error",
    "weighted_error_lo",
    "weighted_error_hi",
    "adversarial_error",
    "doubt",
    "weighted_doubt",
    "difference",
    "sigma",
    "lo",
    "hi",
    "test",
    "p",
    "reject",
    "verdict",
    "delta",
    "power",
    "cautions",
    "betting",
    "pairwise",
    "interval",
    "scored",
    "precision",
    "guarded",
    "assumption",
    "registered",
    "calibrated",
    "methods",
    "bibtex",
    "t",
    "transcript",
];

/// One row per image.
impl LongTable for RiskReport {
    fn rows(&self) -> usize {
        self.t.len()
    }

    fn part(&self, part: Range<usize>) -> Table {
        let rows = &self.transcript.rows[part.clone()];
        let mut place_of = vec![0; self.tests.order.len()];
        self.tests.order.iter().enumerate().for_each(|(place, i)| place_of[*i] = place as i64);
        let tested = |i: usize| self.clusters.as_ref().map_or(i, |clusters| clusters.of()[i] as usize);
        let places: Vec<i64> = part.clone().map(|i| place_of[tested(i)]).collect();
        let compared = self.density.compared;
        let loss = |row: &Row| match (compared, compared.losses(row)) {
            (Contrast::Doubts, Some((doubt, _))) => Value::Float(doubt),
            _ => Value::Int(row.wrong_before().into()),
        };
        let mut table = Table::default()
            .column("id", rows.iter().map(|row| Value::Int(row.id.into())).collect())
            .column("label", rows.iter().map(|row| Value::Int(row.label.into())).collect())
            .column(if compared == Contrast::Doubts { "doubt" } else { "loss" }, rows.iter().map(loss).collect());
        // An average leaves an image nowhere.
        if compared == Contrast::Outcome {
            let adversarial = rows.iter().map(|row| Value::Int(row.wrong_after().into()));
            table = table.column("adversarial_loss", adversarial.collect());
        }
        let table = table
            .column("weight", rows.iter().map(|row| row.weight.map_or(Value::Unit, Value::Float)).collect())
            .column("t", self.t[part].iter().copied().map(Value::Float).collect())
            .column("betting_order", places.into_iter().map(Value::Int).collect());
        self.tests.cautions.beside(table)
    }
}

impl Object for RiskReport {
    fn kind(&self) -> &'static str {
        "RiskReport"
    }

    fn summary(&self) -> String {
        let (plain, weighted) = (number(self.plain.mean), number(self.weighted.mean));
        let risks = match self.density.compared {
            Contrast::Outcome => format!("error {plain}, weighted {weighted}"),
            Contrast::Errors => format!("error {plain}, around the images {weighted}"),
            Contrast::Doubts => format!("error {}, doubt {plain}, around the images {weighted}", number(self.error)),
        };
        format!(
            "risk report: {} images{}, {risks}{}; {}{}",
            self.t.len(),
            self.clusters.as_ref().map_or(String::new(), Clusters::ending),
            self.guarded().map_or(String::new(), |guarded| format!(", {}", guarded.short())),
            self.tests.summary(),
            self.backing.ending()
        )
    }

    fn details(&self, width: usize) -> String {
        let short = |x: f64| significant(x, 4);
        let (of, tests, m) = (&self.transcript.of, &self.tests, self.t.len());
        let interval = |risk: &Risk| {
            let bound = self.reach(risk);
            format!("{}  97.5% interval ± {}", short(risk.mean), short(bound))
        };
        let mut rows = vec![("images", "m", m.to_string())];
        rows.extend(self.clusters.as_ref().map(|clusters| ("clusters", "", clusters.count().to_string())));
        rows.extend(match self.density.compared {
            Contrast::Outcome => {
                vec![("error", "R_S", interval(&self.plain)), ("weighted error", "R_g", interval(&self.weighted))]
            }
            Contrast::Errors => {
                vec![("error", "R_S", interval(&self.plain)), ("error around", "R_g", interval(&self.weighted))]
            }
            Contrast::Doubts => vec![
                ("error", "", short(self.error)),
                ("doubt", "R_S", interval(&self.plain)),
                ("doubt around", "R_g", interval(&self.weighted)),
            ],
        });
        if self.density.compared == Contrast::Outcome {
            rows.extend(self.adversarial_error.map(|error| ("adversarial error", "R_S'", short(error))));
        }
        rows.extend([
            ("difference", "T = R_g - R_S", short(tests.difference)),
            ("deviation of T_i", "sigma", short(tests.pairwise.sigma)),
            ("range of T_i", "U", format!("[{}, {}]", short(self.density.lo), short(self.density.hi))),
        ]);
        rows.extend(tests.rows());
        rows.push((
            "points scored",
            "",
            format!("{} ({} per image)", self.scored, short(self.scored as f64 / m as f64)),
        ));
        if let Some(guarded) = self.guarded() {
            let again = significant(100.0 * guarded.share_again(), 3);
            rows.push(("precision", "", format!("bfloat16, and float32 for {again} % of its points")));
            rows.push(("checked", "", guarded.checks()));
        }
        let mut lines = vec![
            format!("model {}, images {}: {} over {}", of.model.0, of.data.name, of.search, of.space),
            String::new(),
        ];
        lines.extend(rows.iter().map(|(name, symbol, text)| format!("  {name:<18} {symbol:<16} {text}")));
        lines.push(String::new());
        lines.extend(tests.lines());
        lines.extend(self.backing.lines());
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
        if let Some(what) = self.density.compared.what() {
            lines.push(format!("What is compared: {what}"));
        }
        wrapped(&lines.join("\n"), width)
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "m" => Value::Int(self.t.len() as i64),
            "clusters" => self.tests.clusters.map_or(Value::Unit, |n| Value::Int(n as i64)),
            "compared" => Value::Str(self.density.compared.word().into()),
            "error" => Value::Float(self.error),
            "error_lo" | "error_hi" | "weighted_error_lo" | "weighted_error_hi" => self.end(name),
            "weighted_error" | "weighted_doubt" if self.names()[1] != name => Value::Unit,
            "weighted_error" | "weighted_doubt" => Value::Float(self.weighted.mean),
            "doubt" if self.names()[0] != name => Value::Unit,
            "doubt" => Value::Float(self.plain.mean),
            "adversarial_error" => self.adversarial_error.map_or(Value::Unit, Value::Float),
            "difference" => Value::Float(self.tests.difference),
            "sigma" => Value::Float(self.tests.pairwise.sigma),
            "lo" => Value::Float(self.density.lo),
            "hi" => Value::Float(self.density.hi),
            "scored" => Value::Int(self.scored as i64),
            "precision" => Value::Str(if self.guarded().is_some() { "bfloat16" } else { "float32" }.into()),
            "guarded" => self.guarded().map_or(Value::Unit, Guarded::value),
            "assumption" => Value::Str(self.density.assumption.clone()),
            "t" => Value::floats(self.t.iter().copied()),
            "registered" => self.backing.registered(),
            "calibrated" => self.backing.calibrated.clone().map_or(Value::Unit, |calibrated| Value::Object(calibrated)),
            "methods" => Value::Str(self.described().methods()),
            "bibtex" => Value::Str(self.described().bibtex()),
            "transcript" => Value::Object(self.transcript.clone()),
            of_tests => return Ok(self.tests.field(of_tests)),
        }))
    }

    fn members(&self, field: &str) -> &'static [&'static str] {
        members(field)
    }

    fn digest(&self) -> Digest {
        let order = self.tests.order_seed.to_le_bytes();
        let plain = Digest::of_parts(&[&self.transcript.digest().0, &self.tests.protocol.digest().0, &order]);
        self.backing.digest().map_or(plain, |backing| Digest::of_parts(&[&plain.0, &backing.0]))
    }

    /// The summary with its provenance; the T_i are in the table.
    fn json(&self) -> serde_json::Value {
        let of = &self.transcript.of;
        let mut map = serde_json::Map::new();
        for name in FIELDS.iter().filter(|name| !["t", "transcript"].contains(name)) {
            // What nobody asked for stands in no file.
            let asked = match *name {
                "registered" | "methods" | "bibtex" => self.backing.registered.is_some(),
                "calibrated" => self.backing.calibrated.is_some(),
                "precision" | "guarded" => self.guarded().is_some(),
                "compared" => self.density.compared != Contrast::Outcome,
                "clusters" => self.clusters.is_some(),
                "doubt" | "weighted_doubt" => self.names().contains(name),
                "error_lo" | "error_hi" | "weighted_error_lo" | "weighted_error_hi" => {
                    self.density.compared != Contrast::Doubts
                }
                "weighted_error" | "adversarial_error" => self.density.compared != Contrast::Doubts,
                _ => true,
            };
            if let (true, Ok(Some(value))) = (asked, self.field(name)) {
                map.insert((*name).into(), value.json());
            }
        }
        let from = [
            ("model", json!(of.model.0)),
            ("model_hash", json!(of.model.1.hex())),
            ("data", of.data.json()),
            ("space", json!(of.space)),
            ("search", json!(of.search)),
            ("seed", json!(of.seed as i64)),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        map.extend(from.map(|(name, value)| (name.to_string(), value)));
        serde_json::Value::Object(map)
    }

    fn long_table(&self) -> Option<&dyn LongTable> {
        Some(self)
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
