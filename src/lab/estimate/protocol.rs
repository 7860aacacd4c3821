//! Three tests of one hypothesis on one sample, of which one counts: which one is fixed before looking.

use std::collections::BTreeMap;

use super::clusters::Clusters;
use super::independence::{
    Betting, IntervalTest, Pairwise, bets, betting_test, interval_test, order, order_seed, pairwise_test,
};
use super::verdict::{Judged, Power, Test, Verdict};
use crate::core::{Cautions, Cx, Digest, Result, Value, number, significant};
use crate::maths::betting::{Bets, Sides};
use crate::model::BY_HEART;

/// Other orders in which the betting test is repeated to see how much hangs on the one that it is committed to.
const ORDERS: u64 = 20;

/// A test by the word that scripts use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Betting,
    Pairwise,
    Interval,
}

impl Which {
    pub const ALL: [Self; 3] = [Self::Betting, Self::Pairwise, Self::Interval];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Betting => "betting",
            Self::Pairwise => "pairwise",
            Self::Interval => "interval",
        }
    }
}

/// What is decided before looking at the outcomes.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    /// The test that counts.
    pub test: Which,
    pub delta: f64,
    /// The betting test's.
    pub sides: Sides,
}

impl Protocol {
    pub fn digest(&self) -> Digest {
        Digest::of_parts(&[self.test.word().as_bytes(), &self.delta.to_le_bytes(), &[self.sides as u8]])
    }
}

/// What the tests say of one sample.
pub struct TestOutcomes {
    pub protocol: Protocol,
    pub pairwise: Judged<Pairwise>,
    pub interval: Judged<IntervalTest>,
    /// On the T_i in the order that `order_seed` fixes.
    pub betting: Judged<Betting>,
    /// Fixed by the run's seed alone, so that no repetition of a call draws another order.
    pub order_seed: u64,
    /// The share of other orders in which the betting test rejects: a diagnostic of luck, no p-value. None where it stopped early: what
    /// was seen then depends on the order.
    pub other_orders: Option<f64>,
    /// The places of the T_i in the order of the bets.
    pub order: Vec<usize>,
    /// Why a rejection, or none, may mean something else.
    pub cautions: Cautions,
    /// T, the mean of the T_i of all images.
    pub difference: f64,
    /// How many clusters the images lie in, where they are not independent.
    pub clusters: Option<usize>,
    /// The T_i in the order of the bets.
    ordered: Vec<f64>,
}

/// What was seen of every image.
pub struct SeenImages<'a> {
    pub losses: &'a [f64],
    pub weighted: &'a [f64],
    /// T_i, and what it would be had the image spoken most for overfitting.
    pub t: &'a [f64],
    pub best: &'a [f64],
    /// The smallest and largest value that a T_i can take.
    pub range: (f64, f64),
    /// How many there were to be, where they stand in the order of the bets and end as soon as these reject.
    pub planned: Option<usize>,
    /// Of images that are not independent, which lie in one cluster: tests see their means.
    pub clusters: Option<&'a Clusters>,
}

impl TestOutcomes {
    pub fn of(cx: &Cx, seen: &SeenImages, protocol: Protocol, cautions: Cautions) -> Result<Self> {
        if let Some(clusters) = seen.clusters {
            let mut cautions = cautions;
            cautions.add(format!(
                "the {} images lie in {} clusters, each of which tests see once, by its mean: deviation, power and how many are needed are those of clusters",
                seen.t.len(),
                clusters.count()
            ));
            let [losses, weighted, t, best] =
                [seen.losses, seen.weighted, seen.t, seen.best].map(|numbers| clusters.means(numbers));
            let means =
                SeenImages { losses: &losses, weighted: &weighted, t: &t, best: &best, clusters: None, ..*seen };
            let tests = Self::of(cx, &means, protocol, cautions)?;
            let difference = seen.t.iter().sum::<f64>() / seen.t.len() as f64;
            return Ok(Self {
                difference,
                clusters: Some(clusters.count()),
                pairwise: tests.pairwise.of_clusters(),
                interval: tests.interval.of_clusters(),
                betting: tests.betting.of_clusters(),
                ..tests
            });
        }
        let Protocol { delta, sides, .. } = protocol;
        let (lo, hi) = seen.range;
        let pairwise = pairwise_test(seen.t, hi - lo, delta)?;
        let interval = interval_test(seen.losses, seen.weighted, delta)?;
        let order_seed = order_seed(cx);
        let bets = Bets { planned: seen.planned, ..bets(seen.range, delta, sides)? };
        let n = seen.t.len();
        let placed = |order: &[usize]| -> Vec<f64> { order.iter().map(|&i| seen.t[i]).collect() };
        let own = if seen.planned.is_some() { (0..n).collect() } else { order(n, order_seed, 0) };
        let ordered = placed(&own);
        let betting = betting_test(cx, &ordered, bets, true)?;
        let other_orders = match seen.planned {
            Some(_) => None,
            None => {
                let mut rejecting = 0;
                for part in 1..=ORDERS {
                    cx.check()?;
                    rejecting += u64::from(bets.rejects(&placed(&order(n, order_seed, part))));
                }
                Some(rejecting as f64 / ORDERS as f64)
            }
        };
        let (losses, weighted, best) = (seen.losses, seen.weighted, seen.best);
        let found = Self {
            protocol,
            difference: pairwise.difference,
            clusters: None,
            pairwise: Judged::of(pairwise, losses, weighted, best),
            interval: Judged::of(interval, losses, weighted, best),
            betting: Judged::of(betting, losses, weighted, best),
            order_seed,
            other_orders,
            cautions,
            order: own,
            ordered,
        };
        // That the model saw these images is what a rejection says, and no caution against it.
        let cautions = match found.reject() {
            true => found.cautions.iter().filter(|caution| !caution.contains(BY_HEART)).collect(),
            false => found.cautions,
        };
        Ok(Self { cautions, ..found })
    }

    /// The same of the mean over several models.
    pub fn of_models(self) -> Self {
        Self {
            pairwise: self.pairwise.of_models(),
            interval: self.interval.of_models(),
            betting: self.betting.of_models(),
            ..self
        }
    }

    /// What a rejection means.
    pub fn rejection(&self) -> &'static str {
        self.pairwise.rejection()
    }

    fn test(&self, which: Which) -> &dyn Said {
        match which {
            Which::Betting => &self.betting,
            Which::Pairwise => &self.pairwise,
            Which::Interval => &self.interval,
        }
    }

    fn counting(&self) -> &dyn Said {
        self.test(self.protocol.test)
    }

    /// The p-value of a test.
    pub fn p_of(&self, which: Which) -> f64 {
        self.test(which).p()
    }

    /// The p-value of the test that counts.
    pub fn p(&self) -> f64 {
        self.counting().p()
    }

    /// Whether the test that counts rejects.
    pub fn reject(&self) -> bool {
        self.counting().rejects()
    }

    /// The p-value of a test, as fine as Holm's correction over `tests` tests can ask for.
    pub fn p_among(&self, cx: &Cx, which: Which, tests: usize, delta: f64) -> Result<f64> {
        match which {
            Which::Betting => {
                let bets = Bets { delta, ..self.betting.bets };
                bets.p_among(&self.ordered, tests, || cx.check())
            }
            Which::Pairwise | Which::Interval => Ok(self.p_of(which)),
        }
    }

    /// Whether the test that counts could not have seen even the largest gap there could have been.
    pub fn no_power(&self) -> bool {
        matches!(self.counting().decided(), Verdict::NoPower)
    }

    /// What the test that counts could have seen, were it asked alone.
    pub fn could_see(&self) -> String {
        self.counting().could_see()
    }

    fn cautioned(&self, words: String) -> String {
        match self.cautions.is_empty() {
            true => words,
            false => format!("{}; {words}", self.cautions.lines().join("; ")),
        }
    }

    /// What a test says, beginning with the cautions and with whether it counts.
    fn verdict_of(&self, which: Which) -> String {
        let text = self.test(which).text();
        self.cautioned(if which == self.protocol.test { text } else { format!("{NOT_COUNTING}{text}") })
    }

    /// What the test that counts says.
    pub fn verdict(&self) -> String {
        self.verdict_of(self.protocol.test)
    }

    /// p and the verdict of the test that counts, for a line, of which the end may be cut off: not that nothing could be seen.
    pub fn summary(&self) -> String {
        let (which, p, short) = (self.protocol.test.word(), number(self.p()), self.counting().short());
        match self.no_power() {
            true => [vec![short, format!("{which} test, p {p}")], self.cautions.lines()].concat().join("; "),
            false => self.cautioned(format!("{which} test, p {p}: {short}")),
        }
    }

    /// A line for every row of a report: what, its symbol, and its value.
    pub fn rows(&self) -> Vec<(&'static str, &'static str, String)> {
        let short = |x: f64| significant(x, 4);
        let orders = self.other_orders.map_or("it stopped early".into(), |share| {
            format!("a diagnostic, no p-value: {}% of {ORDERS} other orders reject", (share * 100.0).round())
        });
        vec![
            (
                "|T| needed",
                "B, Eq. 6",
                format!("{} to reject at {}", short(self.pairwise.bound), short(self.protocol.delta)),
            ),
            ("p, betting test", "by powers of 10", self.marked(Which::Betting)),
            ("", "could stop after", self.betting.used_text(self.betting.power.unit)),
            ("", "in order of seed", format!("{} ({orders})", self.order_seed)),
            ("p, pairwise test", "Eq. 7", self.marked(Which::Pairwise)),
            ("p, interval test", "Section 3.1", self.marked(Which::Interval)),
        ]
    }

    fn marked(&self, which: Which) -> String {
        let mark = if which == self.protocol.test { "  the test that counts" } else { "" };
        format!("{}{mark}", significant(self.p_of(which), 4))
    }

    /// The verdict, what could have been seen, and then the tests that do not count.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.cautions.lines().into_iter().map(|caution| format!("  {caution}")).collect();
        let counting = self.counting();
        lines.push(format!("  {} test, which counts: {}", self.protocol.test.word(), counting.text()));
        if counting.rejects() {
            lines.push(format!("  what it could have seen: {}", counting.could_see()));
        }
        for which in Which::ALL.into_iter().filter(|which| *which != self.protocol.test) {
            lines.push(format!("  {} test, which does not count: {}", which.word(), self.test(which).text()));
        }
        lines.push(
            "Which test counts was decided by the option `test`, to be set before looking at any of them.".into(),
        );
        lines
    }

    pub fn field(&self, name: &str) -> Option<Value> {
        Some(match name {
            "test" => Value::Str(self.protocol.test.word().into()),
            "p" => Value::Float(self.p()),
            "reject" => Value::Bool(self.reject()),
            "verdict" => Value::Str(self.verdict()),
            "delta" => Value::Float(self.protocol.delta),
            "power" => self.counting().power().map(),
            "cautions" => self.cautions.value(),
            "pairwise" => self.part(Which::Pairwise),
            "interval" => self.part(Which::Interval),
            "betting" => self.part(Which::Betting),
            _ => return None,
        })
    }

    /// What of a test the report does not say elsewhere.
    fn part(&self, which: Which) -> Value {
        let mut map = self.test(which).map();
        map.insert("verdict".into(), Value::Str(self.verdict_of(which)));
        map.insert("counts".into(), Value::Bool(which == self.protocol.test));
        map.insert("seed".into(), Value::Int(self.order_seed as i64));
        map.insert("other_orders_rejecting".into(), self.other_orders.map_or(Value::Unit, Value::Float));
        let names = members(which.word());
        map.retain(|name, _| names.contains(&name.as_str()));
        Value::Map(map)
    }
}

/// Before the verdict of a test that does not count.
pub const NOT_COUNTING: &str = "not the test that counts; ";

/// The names in a field of a report.
pub fn members(field: &str) -> &'static [&'static str] {
    match field {
        "pairwise" | "interval" => &["bound", "counts", "p", "power", "reject", "verdict"],
        "betting" => &[
            "counts",
            "log_wealth",
            "other_orders_rejecting",
            "p",
            "power",
            "reject",
            "seed",
            "sides",
            "used",
            "verdict",
        ],
        "power" => &["gap", "largest_gap", "needed", "simulated"],
        "registered" => &["adjusted_p", "file", "registered", "scored_before", "sha256", "tests"],
        _ => &[],
    }
}

/// A test of any kind with its words.
trait Said {
    fn p(&self) -> f64;
    fn rejects(&self) -> bool;
    fn short(&self) -> String;
    fn text(&self) -> String;
    fn decided(&self) -> Verdict;
    fn could_see(&self) -> String;
    fn power(&self) -> &Power;
    fn map(&self) -> BTreeMap<String, Value>;
}

impl<T: Test> Said for Judged<T> {
    fn p(&self) -> f64 {
        self.test.p()
    }

    fn rejects(&self) -> bool {
        self.test.rejects()
    }

    fn short(&self) -> String {
        self.short()
    }

    fn text(&self) -> String {
        self.text()
    }

    fn decided(&self) -> Verdict {
        self.verdict()
    }

    fn could_see(&self) -> String {
        self.could_see()
    }

    fn power(&self) -> &Power {
        &self.power
    }

    fn map(&self) -> BTreeMap<String, Value> {
        self.map()
    }
}
