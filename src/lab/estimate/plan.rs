//! How many images a test of independence needs before it notices a gap R_g - R_S: the tests on samples that are drawn from what
//! a pilot showed, or from assumed risks, under a law that has the gap.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::protocol::Which;
use super::verdict::{about, fields, percent};
use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Value, in_parallel, number, random, significant, wrapped,
};
use crate::maths::betting::{Bets, Sides};
use crate::maths::power::{ImageKind, Law, Planned};
use crate::maths::simulated_power::{Crossing, PowerCurve, Rate, SimulatedTest, resampled};

/// Apart from what else is drawn by the same seed.
const PLANS: u64 = u64::from_be_bytes(*b"_plans__");

/// Sizes that a curve begins with.
const SIZES: usize = 7;

/// More drawn images than this a sample does not have: what takes more is told by the normal approximation.
const MOST_DRAWN: f64 = 5e5;

/// Images drawn between two questions whether to stop.
const PART: f64 = 4e6;

/// How far from two sizes on both sides of a power it may be reached, as a factor: rates are of samples.
const NEXT: f64 = 1.1;

/// Pilots that are drawn from the pilot.
const BOOTSTRAPS: u64 = 200;

/// Fewer images of a pilot with T_i above 0 than this are said to be few.
const FEW: usize = 30;

/// The power that is spoken of first.
const SPOKEN: f64 = 0.8;

/// What images are like, and where that is known from.
pub struct Pilot {
    law: Law,
    /// The smallest and largest value that a T_i can take.
    range: (f64, f64),
    /// How many images it was; of assumed risks none.
    images: Option<usize>,
    /// How many of them have T_i above 0.
    positive: usize,
    /// Whether L and L h are known apart, which the interval test needs.
    apart: bool,
    what: String,
    cautions: Cautions,
    /// What tests see once each: "images", or "clusters" of these.
    unit: &'static str,
}

impl Pilot {
    /// Images that were seen: L(x), L(g(x)) h_g(g(x)), and the range of T_i.
    pub fn seen(losses: &[f64], weighted: &[f64], range: (f64, f64), what: String, cautions: Cautions) -> Self {
        let positive = losses.iter().zip(weighted).filter(|(loss, weighted)| weighted > loss).count();
        Self {
            law: Law::of(losses, weighted),
            range,
            images: Some(losses.len()),
            positive,
            apart: true,
            what,
            cautions,
            unit: "images",
        }
    }

    /// The same, whose numbers are means of clusters of images.
    pub fn of_clusters(self) -> Self {
        Self { unit: "clusters", ..self }
    }

    /// T_i alone.
    pub fn of_t(t: &[f64], range: (f64, f64)) -> Self {
        let (losses, weighted): (Vec<f64>, Vec<f64>) =
            t.iter().map(|&t| if t < 0.0 { (1.0, 1.0 + t) } else { (0.0, t) }).unzip();
        let mut cautions = Cautions::default();
        cautions.add("the interval test is left out: T_i alone do not say L(x) and L(g(x)) h_g(g(x))");
        Self { apart: false, ..Self::seen(&losses, &weighted, range, "T_i".into(), cautions) }
    }

    /// Risks that are assumed of a model which is independent of the images: a share `error` is misclassified, `adversarial` with the
    /// search's changes. Every adversarial example has the density `weight`, and of the errors as many have lost their mass
    /// to the others as makes both estimates of the error agree. T_i vary most at the largest density that allows, which is
    /// what is taken where none is given.
    pub fn assumed(error: f64, adversarial: f64, weight: Option<f64>, candidates: usize) -> Result<Self> {
        let fooled = adversarial - error;
        if error <= 0.0 || fooled <= 0.0 || adversarial > 1.0 {
            return Err(Error::argument(format!(
                "`adversarial_error` must lie above `error` and that above 0, got {} and {}",
                number(adversarial),
                number(error)
            ))
            .hint("without adversarial examples there is nothing to test with: a larger radius, or a search that finds more errors"));
        }
        let largest = (error / adversarial).min(0.5);
        let h = weight.unwrap_or(largest);
        let least = 1.0 / (1.0 + candidates as f64);
        if least > largest {
            return Err(Error::argument(format!(
                "an adversarial error of {} is more than errors of {} allow: at most {candidates} images are moved to the place of one",
                number(adversarial),
                number(error)
            ))
            .hint("the two estimates of the error would differ in a model that has not seen the images"));
        }
        if !(least..=largest * (1.0 + 1e-12)).contains(&h) {
            return Err(Error::argument(format!(
                "`weight` must lie from {} to {}, got {}",
                significant(least, 3),
                significant(largest, 3),
                number(h)
            ))
            .hint(
                "the density of an adversarial example is 1 / (1 + n), n the images moved to its place, at most `candidates`; with larger ones \
                 the weighted error exceeds the error in models that are independent of the images",
            ));
        }
        let reached = fooled * h / (error * (1.0 - h));
        let kind = |loss, weighted, share| ImageKind { loss, weighted, share };
        let kinds = vec![
            kind(0.0, 0.0, 1.0 - adversarial),
            kind(1.0, 1.0, error * (1.0 - reached)),
            kind(1.0, h, error * reached),
            kind(0.0, h, fooled),
        ];
        let what = format!(
            "assumed risks: error {}, adversarial error {}, density of adversarial examples {}",
            number(error),
            number(adversarial),
            significant(h, 3)
        );
        Ok(Self::known(kinds, (least - 1.0, 0.5), what))
    }

    /// Kinds of images whose shares are known, and add up to 1.
    pub fn known(kinds: Vec<ImageKind>, range: (f64, f64), what: String) -> Self {
        Self {
            law: Law::written(kinds),
            range,
            images: None,
            positive: usize::MAX,
            apart: true,
            what,
            cautions: Cautions::default(),
            unit: "images",
        }
    }
}

/// What is asked for.
pub struct PlanSettings {
    /// R_g - R_S.
    pub gap: f64,
    pub powers: Vec<f64>,
    /// The test that is spoken of first.
    pub test: Which,
    pub delta: f64,
    pub sides: Sides,
    /// Samples of each size.
    pub repeats: u64,
    pub seed: u64,
}

/// How many images a test needs for a power.
struct PlannedSize {
    test: Which,
    power: f64,
    /// `None` where images like these do not reach it.
    images: Option<f64>,
    /// The interval of the simulation alone; none where it is the normal approximation.
    simulated: Option<(f64, f64)>,
    /// The interval with what the pilot leaves open; nothing above where it leaves that open.
    lo: Option<f64>,
    hi: Option<f64>,
    approximation: Option<u64>,
}

/// How many images the tests of independence need to notice a gap.
pub struct RiskPlan {
    settings: PlanSettings,
    pilot: Pilot,
    sizes: Vec<PlannedSize>,
    /// Simulated rates of each test, in the order of their sizes.
    curves: Vec<(Which, Vec<Rate>)>,
    /// The gap that each test notices at the pilot's size with power 80%.
    noticed: Vec<(Which, Option<Crossing>)>,
    cautions: Cautions,
}

/// The share of samples that a test rejects.
struct Simulation<'a> {
    cx: &'a Cx,
    settings: &'a PlanSettings,
    /// How many rates were simulated: each has random numbers of its own.
    done: AtomicU64,
}

impl Simulation<'_> {
    fn rate(&self, test: &SimulatedTest, images: usize, at: f64, samples: u64) -> Result<Rate> {
        let number = self.done.fetch_add(1, Ordering::Relaxed);
        let part = ((PART / test.drawn(images).max(1.0)) as u64).clamp(1, 4096);
        let mut rejected = 0;
        for first in (0..samples).step_by(part as usize) {
            self.cx.check()?;
            let one =
                |sample: u64| test.rejects(images, &mut random(self.settings.seed ^ PLANS, (number << 32) | sample));
            let last = samples.min(first + part);
            rejected += in_parallel(|| (first..last).into_par_iter().map(one).filter(|rejects| *rejects).count())?;
        }
        Ok(Rate { at, rejected: rejected as u64, samples })
    }

    /// Rates at sizes around those that the normal approximation gives for the powers, until they lie on both sides of all of them.
    fn around(&self, test: &SimulatedTest, (from, to): (f64, f64)) -> Result<Vec<Rate>> {
        let (least, most) = self.settings.powers.iter().fold((1.0f64, 0.0f64), |(lo, hi), &p| (lo.min(p), hi.max(p)));
        let (from, to) = (0.8 * from, 1.25 * to);
        let task = self.cx.progress("planning", None);
        let mut rates: BTreeMap<usize, Rate> = BTreeMap::new();
        let look = |rates: &mut BTreeMap<usize, Rate>, images: f64, samples: u64| -> Result<Rate> {
            let images = images.round().max(2.0) as usize;
            let new = self.rate(test, images, images as f64, samples)?;
            task.advance(1);
            let all = rates.entry(images).or_insert(Rate { rejected: 0, samples: 0, ..new });
            all.rejected += new.rejected;
            all.samples += new.samples;
            Ok(*all)
        };
        let samples = self.settings.repeats;
        for k in 0..SIZES {
            look(&mut rates, from * (to / from).powf(k as f64 / (SIZES - 1) as f64), samples)?;
        }
        for _ in 0..20 {
            let (Some(first), Some(last)) = (rates.values().next().copied(), rates.values().last().copied()) else {
                break;
            };
            match (first.share() > least && first.at > 2.0, last.share() < most) {
                (false, false) => break,
                (true, _) => look(&mut rates, first.at / 1.5, samples)?,
                (_, true) if test.drawn((last.at * 1.5) as usize) <= MOST_DRAWN => {
                    look(&mut rates, last.at * 1.5, samples)?
                }
                _ => break,
            };
        }
        // Then where the powers seem to be reached.
        let found: Vec<Rate> = rates.values().copied().collect();
        if let Some(curve) = PowerCurve::of(&found) {
            for &power in &self.settings.powers {
                if let Some(crossing) = crossing(&curve, &found, power, 1.0) {
                    look(&mut rates, crossing.at, 2 * samples)?;
                }
            }
        }
        Ok(rates.into_values().collect())
    }
}

/// Where a power is reached, by the curve through all rates or, where that bends away from them, through those next to it. `beyond`: how far
/// outside of what was simulated.
fn crossing(curve: &PowerCurve, rates: &[Rate], power: f64, beyond: f64) -> Option<Crossing> {
    let (first, last) = (rates.first()?, rates.last()?);
    let below = rates.iter().rposition(|rate| rate.share() < power);
    let beside = below.filter(|&below| below + 1 < rates.len()).map(|below| (below, below + 1));
    let fits = |crossing: &Crossing| {
        // What the nearest sizes say of themselves the curve must not contradict.
        beside
            .is_none_or(|(below, above)| crossing.hi >= rates[below].at / NEXT && crossing.lo <= rates[above].at * NEXT)
    };
    curve.crossing(power, (first.at / beyond, last.at * beyond)).filter(fits).or_else(|| {
        let (below, above) = beside?;
        let near = &rates[below.saturating_sub(1)..(above + 2).min(rates.len())];
        PowerCurve::of(near)?.crossing(power, (rates[below].at / NEXT, rates[above].at * NEXT))
    })
}

/// The numbers of images that the tests need.
pub fn plan(cx: &Cx, pilot: Pilot, settings: PlanSettings) -> Result<RiskPlan> {
    let mut cautions = pilot.cautions.clone();
    if pilot.positive == 0 {
        return Err(Error::data(format!(
            "none of the pilot's {} {} has a T_i above 0, so nothing is known of what adversarial examples would show",
            pilot.images.unwrap_or_default(),
            pilot.unit
        ))
        .hint("a larger radius, a search that finds more errors, or a larger pilot; or assume the risks: #{ error: 0.05, adversarial_error: 0.1 }"));
    }
    let Some(law) = pilot.law.tilted(settings.gap) else {
        let (least, largest) = (significant(pilot.law.least(), 3), significant(pilot.law.largest(), 3));
        let end =
            if settings.gap < pilot.law.largest() { format!("{least} at least") } else { format!("{largest} at most") };
        return Err(Error::argument(format!(
            "T_i of such images are {end}, so their mean can't be {}",
            number(settings.gap)
        ))
        .hint("`gap` is R_g - R_S, how much too small the error on seen images is: a share of all images"));
    };
    let (lo, hi) = pilot.range;
    let planned = |which: Which| match which {
        Which::Betting => {
            Planned::Betting(Bets { range: pilot.range, delta: settings.delta, sides: settings.sides, planned: None })
        }
        Which::Pairwise => Planned::Pairwise { range: hi - lo, delta: settings.delta },
        Which::Interval => Planned::Interval { delta: settings.delta },
    };
    if let Some(images) = pilot.images.filter(|_| pilot.positive < FEW) {
        cautions.add(format!(
            "only {} of the pilot's {images} {} have T_i above 0: what others are like is hardly known",
            pilot.positive, pilot.unit
        ));
    }
    let simulation = Simulation { cx, settings: &settings, done: AtomicU64::new(0) };
    let tests: Vec<Which> = Which::ALL.into_iter().filter(|which| pilot.apart || *which != Which::Interval).collect();
    let others = other_pilots(cx, &pilot, &settings)?;
    let (mut sizes, mut curves, mut noticed) = (vec![], vec![], vec![]);
    for &which in &tests {
        let test = planned(which);
        let simulated = SimulatedTest::of(test, &law)?;
        let approximations: Vec<Option<u64>> =
            settings.powers.iter().map(|&power| test.needed_for(&law, power)).collect();
        let known: Vec<f64> = approximations.iter().flatten().map(|&m| m as f64).collect();
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        let most = known.iter().copied().fold(0.0, f64::max);
        let small = most > 0.0 && simulated.drawn(most as usize) <= MOST_DRAWN;
        let rates = if small { simulation.around(&simulated, (least, most))? } else { vec![] };
        let curve = PowerCurve::of(&rates).filter(|_| !rates.is_empty());
        // One power tells how far pilots differ: at others they do so by the same factor, nearly.
        let spoken = nearest(&settings.powers);
        let open = test.needed_for(&law, spoken).filter(|_| !others.is_empty());
        let ratios = open.map(|images| ratios(&others, test, spoken, images as f64));
        for (&power, &approximation) in settings.powers.iter().zip(&approximations) {
            let crossing = curve.as_ref().and_then(|curve| crossing(curve, &rates, power, 1.5));
            if crossing.is_none() && approximation.is_some() {
                let word = which.word();
                cautions.add(match small {
                    false => format!(
                        "the {word} test's numbers are a normal approximation, not simulated: samples would be too large"
                    ),
                    true => format!(
                        "the {word} test's number for {} power is a normal approximation: simulated samples did not tell where that is reached, which \
                         may be far from there",
                        percent(power)
                    ),
                });
            }
            let images = crossing.map(|crossing| crossing.at).or(approximation.map(|m| m as f64));
            let (mut lo, mut hi) = match crossing {
                Some(crossing) => (Some(crossing.lo), Some(crossing.hi)),
                None => (images, images),
            };
            if let (Some(images), Some(ratios)) = (images, ratios) {
                let widen = |end: Option<f64>, ratio: f64| {
                    let simulation = end.map_or(0.0, |end| (end / images).ln());
                    let total = simulation.hypot(ratio.ln());
                    images * if ratio < 1.0 || simulation < 0.0 { (-total).exp() } else { total.exp() }
                };
                // Both as other pilots differ from this one and as it differs from them: either alone holds skewed needs in 75 to 85 of 100 pilots.
                let (below, above) = (ratios.0.min(1.0), ratios.1.max(1.0));
                lo = Some(widen(lo, if above.is_finite() { below.min(1.0 / above) } else { below }));
                hi = Some(widen(hi, above.max(1.0 / below))).filter(|_| above.is_finite());
            }
            let simulated = crossing.map(|crossing| (crossing.lo, crossing.hi));
            sizes.push(PlannedSize { test: which, power, images, simulated, lo, hi, approximation });
        }
        if let Some(images) = pilot.images {
            noticed.push((which, gap_noticed(&simulation, &pilot.law, test, images)?));
        }
        curves.push((which, rates));
    }
    Ok(RiskPlan { settings, pilot, sizes, curves, noticed, cautions })
}

/// Of several powers the one nearest to 80%.
fn nearest(powers: &[f64]) -> f64 {
    let apart = |p: f64| (p - SPOKEN).abs();
    powers.iter().copied().min_by(|a, b| apart(*a).total_cmp(&apart(*b))).unwrap_or(SPOKEN)
}

/// Laws that have the gap, of pilots that could have been in the place of the pilot.
fn other_pilots(cx: &Cx, pilot: &Pilot, settings: &PlanSettings) -> Result<Vec<Option<Law>>> {
    let Some(images) = pilot.images else { return Ok(vec![]) };
    (0..BOOTSTRAPS)
        .map(|k| {
            cx.check()?;
            let mut random = random(settings.seed ^ PLANS, u64::MAX - k);
            Ok(resampled(&pilot.law, images, &mut random)?.tilted(settings.gap))
        })
        .collect()
}

/// Between which shares of a number of images 95% of such pilots lie; infinite where they don't show the gap.
fn ratios(others: &[Option<Law>], test: Planned, power: f64, images: f64) -> (f64, f64) {
    let needed = |law: &Option<Law>| law.as_ref().and_then(|law| test.needed_for(law, power));
    let mut all: Vec<f64> = others.iter().map(|law| needed(law).map_or(f64::INFINITY, |m| m as f64 / images)).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
    (at(0.025), at(0.975))
}

/// The gap that a test notices among so many images with power 80%, by simulation around the normal approximation.
fn gap_noticed(simulation: &Simulation, law: &Law, test: Planned, images: usize) -> Result<Option<Crossing>> {
    let Some(start) = test.noticed(law, images as f64) else { return Ok(None) };
    let mut rates = vec![];
    for share in [0.7, 0.85, 1.0, 1.2, 1.4] {
        let gap = share * start;
        let Some(tilted) = law.tilted(gap) else { continue };
        let simulated = SimulatedTest::of(test, &tilted)?;
        if simulated.drawn(images) > MOST_DRAWN {
            return Ok(None);
        }
        rates.push(simulation.rate(&simulated, images, gap, simulation.settings.repeats)?);
    }
    Ok(PowerCurve::of(&rates).and_then(|curve| curve.crossing(SPOKEN, (0.4 * start, 2.0 * start))))
}

impl RiskPlan {
    fn size(&self, which: Which, power: f64) -> Option<&PlannedSize> {
        self.sizes.iter().find(|size| size.test == which && size.power == power)
    }

    /// The power that sentences are about: 80%, or the one nearest to it.
    fn spoken(&self) -> f64 {
        nearest(&self.settings.powers)
    }

    pub fn cautions(&self) -> &Cautions {
        &self.cautions
    }

    pub fn powers(&self) -> &[f64] {
        &self.settings.powers
    }

    /// What sizes are numbers of: "images", or "clusters" of these.
    pub fn unit(&self) -> &'static str {
        self.pilot.unit
    }

    fn heading(&self) -> &'static str {
        if self.unit() == "clusters" { "Clusters" } else { "Images" }
    }

    /// By test the shares of samples that it rejects, in the order of their sizes.
    pub fn rates(&self) -> impl Iterator<Item = (&'static str, &[Rate])> {
        self.curves.iter().map(|(which, rates)| (which.word(), &rates[..]))
    }

    fn sentence(&self) -> String {
        let (which, power) = (self.settings.test, self.spoken());
        let (gap, word, unit) = (number(self.settings.gap), which.word(), self.unit());
        let mut parts = vec![];
        if let Some(images) = self.pilot.images {
            let noticed = self.noticed.iter().find(|(test, _)| *test == which).and_then(|(_, gap)| *gap);
            parts.push(match noticed {
                Some(seen) => format!(
                    "the pilot's {images} {unit} would see gaps of {} with {} power by the {word} test",
                    significant(seen.at, 2),
                    percent(SPOKEN)
                ),
                None => format!(
                    "{unit} like the pilot's {images} do not tell which gap would have been seen with {} power by the {word} test",
                    percent(SPOKEN)
                ),
            });
        }
        parts.push(match self.size(which, power) {
            Some(size) => match size.images {
                Some(_) => {
                    format!(
                        "a gap of {gap} needs {} with {} power by the {word} test",
                        size.words(unit),
                        percent(power)
                    )
                }
                None => format!("a gap of {gap} is more than such {unit} can show by the {word} test"),
            },
            None => format!("the {word} test can't be planned from this"),
        });
        for (other, _) in self.curves.iter().filter(|(other, _)| *other != which) {
            if let Some(images) = self.size(*other, power).and_then(|size| size.images) {
                parts.push(format!("{} by the {} test", about(images.round() as u64), other.word()));
            }
        }
        parts.join("; ")
    }

    fn verdict(&self) -> String {
        self.cautions.lines().into_iter().chain([self.sentence()]).collect::<Vec<_>>().join("; ")
    }

    /// How the gap came into what was seen.
    fn planted(&self) -> String {
        format!(
            "samples are drawn from the law nearest (in relative entropy) to {} under which T has mean {}: kinds of {} are exp(c T) times \
             as frequent",
            self.pilot.what,
            number(self.settings.gap),
            self.unit()
        )
    }

    fn rows(&self) -> Vec<BTreeMap<String, Value>> {
        let whole = |x: Option<f64>| x.map_or(Value::Unit, |x| Value::Int(x.round() as i64));
        self.sizes
            .iter()
            .map(|size| {
                fields([
                    ("test", Value::Str(size.test.word().into())),
                    ("power", Value::Float(size.power)),
                    (self.unit(), whole(size.images)),
                    ("lo", whole(size.lo)),
                    ("hi", whole(size.hi)),
                    ("simulated_lo", whole(size.simulated.map(|ends| ends.0))),
                    ("simulated_hi", whole(size.simulated.map(|ends| ends.1))),
                    ("approximation", whole(size.approximation.map(|m| m as f64))),
                ])
            })
            .collect()
    }

    fn curve(&self) -> Vec<BTreeMap<String, Value>> {
        let row = |test: &str, rate: &Rate| {
            let (lo, hi) = rate.interval();
            fields([
                ("test", Value::Str(test.into())),
                (self.unit(), Value::Int(rate.at as i64)),
                ("power", Value::Float(rate.share())),
                ("lo", Value::Float(lo)),
                ("hi", Value::Float(hi)),
            ])
        };
        self.rates().flat_map(|(test, rates)| rates.iter().map(move |rate| row(test, rate))).collect()
    }
}

impl PlannedSize {
    /// About how many images or clusters, with the interval.
    fn words(&self, unit: &str) -> String {
        let about = |x: f64| about(x.round() as u64);
        let Some(images) = self.images else { return format!("more than such {unit} can show") };
        match (self.lo, self.hi) {
            (Some(lo), Some(hi)) if lo < hi => {
                format!("about {} {unit} ({} to {})", about(images), about(lo), about(hi))
            }
            (Some(lo), None) => format!("about {} {unit} ({} to no known limit)", about(images), about(lo)),
            _ => format!("about {} {unit}", about(images)),
        }
    }
}

const FIELDS: [&str; 12] = [
    "gap",
    "test",
    "delta",
    "sides",
    "unit",
    "pilot_size",
    "noticed",
    "verdict",
    "planted",
    "cautions",
    "table",
    "curve",
];

impl Object for RiskPlan {
    fn kind(&self) -> &'static str {
        "RiskPlan"
    }

    fn summary(&self) -> String {
        format!("plan: {}", self.verdict())
    }

    fn details(&self, width: usize) -> String {
        let settings = &self.settings;
        let mut lines = vec![
            format!(
                "{} needed to notice a gap R_g - R_S of {} at {}, betting on {}",
                self.heading(),
                number(settings.gap),
                significant(settings.delta, 4),
                if settings.sides == Sides::One { "one side" } else { "two sides" }
            ),
            String::new(),
        ];
        for size in &self.sizes {
            let power = percent(size.power);
            let mark = if size.test == settings.test { "  the test that counts" } else { "" };
            lines.push(format!("  {:<9} {power:>5}  {}{mark}", size.test.word(), size.words(self.unit())));
        }
        lines.push(String::new());
        lines.extend(self.cautions.lines());
        lines.push(self.sentence());
        lines.push(String::new());
        lines.push(self.planted());
        let pilot = if self.pilot.images.is_some() { "and of pilots like this one (bootstrap)" } else { "alone" };
        lines.push(format!(
            "Intervals are at 95%, of {} samples of each size {pilot}. {} needed rest on {} like these: other ones may need more or fewer.",
            settings.repeats,
            self.heading(),
            self.unit()
        ));
        wrapped(&lines.join("\n"), width)
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let settings = &self.settings;
        let maps = |rows: Vec<BTreeMap<String, Value>>| Value::Array(rows.into_iter().map(Value::Map).collect());
        Ok(Some(match name {
            "gap" => Value::Float(settings.gap),
            "test" => Value::Str(settings.test.word().into()),
            "delta" => Value::Float(settings.delta),
            "sides" => Value::Int(settings.sides.count()),
            "unit" => Value::Str(self.unit().into()),
            "pilot_size" => self.pilot.images.map_or(Value::Unit, |n| Value::Int(n as i64)),
            "noticed" => Value::Map(
                self.noticed
                    .iter()
                    .map(|(which, gap)| (which.word().into(), gap.map_or(Value::Unit, |gap| Value::Float(gap.at))))
                    .collect(),
            ),
            "verdict" => Value::Str(self.verdict()),
            "planted" => Value::Str(self.planted()),
            "cautions" => self.cautions.value(),
            "table" => self.cautions.beside_each(maps(self.rows())),
            "curve" => self.cautions.beside_each(maps(self.curve())),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of(self.json().to_string().as_bytes())
    }

    fn json(&self) -> serde_json::Value {
        let settings = &self.settings;
        let mut json = crate::core::json_of_fields(self, []);
        if let serde_json::Value::Object(map) = &mut json {
            map.insert("samples".into(), settings.repeats.into());
            map.insert("seed".into(), (settings.seed as i64).into());
            map.insert("pilot".into(), self.pilot.what.as_str().into());
            map.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        }
        json
    }

    /// One row per test and power.
    fn table(&self) -> Option<Table> {
        let rows = Value::Array(self.rows().into_iter().map(Value::Map).collect());
        Some(self.cautions.beside(Table::from_rows(&rows)?))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
