//! Searches over all points of a finite space, and the exact density of what they choose: Appendix B of Werpachowski,
//! György and Szepesvári (2019).
//!
//! g(x) = x if x is misclassified, or if no candidate is; else the preferred one among the misclassified candidates. The
//! density of a misclassified x' is h_g(x') = 1 / (1 + n(x')), where n counts the other points that g moves to x' (Eq. 8).

use super::Row;
use super::grid::{Ball, GridView};

/// One image under examination: all that a search may look at.
pub struct Case<'a> {
    pub ball: &'a Ball,
    pub grid: GridView<'a>,
    /// Whether the density of the outcome is wanted.
    pub densities: bool,
    /// The random stream of searches that draw: the call's seed and the image's row.
    pub stream: (u64, u64),
}

/// What a search does next for one image.
pub enum ExhaustiveStep {
    /// Score the points `now`, none of them scored before; those of `later` may be asked for next.
    Score {
        now: Vec<u32>,
        later: Vec<u32>,
    },
    /// Score these points exactly, all of which have provisional scores or none.
    ScoreExactly(Vec<u32>),
    Done(ExhaustiveOutcome),
}

impl ExhaustiveStep {
    /// Score these points, which are all that is wanted.
    pub fn score(now: Vec<u32>) -> Self {
        Self::Score { now, later: vec![] }
    }
}

pub struct ExhaustiveOutcome {
    /// Where the image went.
    pub after: u32,
    /// h_g there, if it was wanted; of a search that averages, the mean loss of the candidates.
    pub weight: Option<f64>,
}

/// What T_i compares with the loss of the image as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrast {
    /// The error of the outcome, weighted by its density: L(g(x)) h_g(g(x)) with L(x).
    Outcome,
    /// The share of the candidates that are misclassified, with L(x).
    Errors,
    /// The mean doubt of the candidates with the image's own.
    Doubts,
}

impl Contrast {
    /// As scripts read it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Outcome => "adversarial errors",
            Self::Errors => "errors around",
            Self::Doubts => "doubts around",
        }
    }

    /// What it is, where it is not what the paper compares.
    pub const fn what(self) -> Option<&'static str> {
        match self {
            Self::Outcome => None,
            Self::Errors => Some("the error of an image with the mean error of all its changes, without an adversary"),
            Self::Doubts => Some(
                "the doubt of an image with the mean doubt of all its changes, not errors: 1 / (1 + exp(-l)), l the best score of another class minus \
                 the label's; so it is tested whether scores are independent of these images, and gaps R_g - R_S are gaps of doubts",
            ),
        }
    }

    /// 1 / (1 + exp(-l)) for l the best score among the other classes minus the label's: how softmax divides between the two; above 1/2
    /// where the image is misclassified.
    pub fn doubt(excess: f32) -> f64 {
        1.0 / (1.0 + (-f64::from(excess)).exp())
    }

    /// The loss of an image as it stands and what it is compared with, whose difference is T_i; `None` where the density is not known.
    pub fn losses(self, row: &Row) -> Option<(f64, f64)> {
        let error = f64::from(u8::from(row.wrong_before()));
        match self {
            Self::Outcome if row.wrong_after() => Some((error, row.weight?)),
            Self::Outcome => Some((error, 0.0)),
            Self::Errors => Some((error, row.weight?)),
            // The image stays where it is, so that the margin is its own.
            Self::Doubts => Some((Self::doubt(-row.margin), row.weight?)),
        }
    }
}

/// A search over a finite space.
pub trait Exhaustive {
    /// The next step: a pure function of what is scored so far, so that images can share batches in any way.
    fn step(&self, case: &Case) -> ExhaustiveStep;

    /// Whether it can tell what is certain from scores that are provisional (`GridView::certain`, `losses`): it then answers `Done` only
    /// with what exact scores would lead to as well, and asks for those it needs by `ScoreExactly`. Any other search is
    /// refused lower precision. The scores of the image itself always are exact.
    fn tells_provisional(&self) -> bool {
        false
    }

    /// How many steps from the image an outcome's density depends on: the outcome, its pre-images, and what these might
    /// have moved to instead.
    fn reach(&self) -> usize {
        3
    }

    /// What T_i compares.
    fn compared(&self) -> Contrast {
        Contrast::Outcome
    }

    /// The smallest and largest value of T_i = L(g(x)) h_g(g(x)) - L(x) over a space of so many candidates.
    fn range(&self, candidates: usize) -> (f64, f64);
}

/// A candidate of some point: its place in the tie order, and the point that it leads to.
#[derive(Clone, Copy)]
pub struct PointCandidate {
    pub order: usize,
    pub point: u32,
}

/// Which of two misclassified candidates a search moves to. No two are equal: the order of the candidates decides ties.
pub trait Preference {
    fn prefers(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> bool;

    /// Whether `a`, not yet scored, would be preferred to `b` under some scores.
    fn may_prefer(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> bool;

    /// What `prefers` says of candidates with exact scores, where provisional ones leave no doubt. A preference by other scores than those of the two candidates
    /// must not say so.
    fn surely_prefers(&self, _case: &Case, _a: PointCandidate, _b: PointCandidate) -> Option<bool> {
        None
    }

    /// Whether `surely_prefers` answers.
    fn tells_provisional(&self) -> bool {
        false
    }
}

impl<P: Preference> Exhaustive for P {
    fn step(&self, case: &Case) -> ExhaustiveStep {
        step_by_preference(case, self)
    }

    fn tells_provisional(&self) -> bool {
        Preference::tells_provisional(self)
    }

    /// h_g is at least 1 / (|V| + 1), and at most 1/2 at a point that something was moved to.
    fn range(&self, candidates: usize) -> (f64, f64) {
        let v = candidates as f64;
        (-v / (v + 1.0), 0.5)
    }
}

/// The next step of a search that moves every correct image to its preferred misclassified candidate.
fn step_by_preference(case: &Case, preference: &dyn Preference) -> ExhaustiveStep {
    let (ball, grid) = (case.ball, case.grid);
    let missing: Vec<u32> =
        std::iter::once(&0).chain(ball.around(0)).copied().filter(|&point| !grid.known(point)).collect();
    if !missing.is_empty() {
        return ExhaustiveStep::score(missing);
    }
    let chosen = if grid.fails(0) { None } else { choice(case, preference) };
    if grid.guarded() && !grid.fails(0) {
        let doubts = doubts_of_choice(case, preference, chosen);
        if !doubts.is_empty() {
            return ExhaustiveStep::ScoreExactly(doubts);
        }
    }
    let after = chosen.map_or(0, |chosen| chosen.point);
    let weight = match (case.densities, grid.fails(after)) {
        (false, _) => None,
        // Nothing moves to a correct point, and this one stayed.
        (true, false) => Some(1.0),
        (true, true) => match movers(case, preference, after) {
            Ok(n) => {
                let doubts = if grid.guarded() { doubts_of_movers(case, preference, after) } else { vec![] };
                if !doubts.is_empty() {
                    return ExhaustiveStep::ScoreExactly(doubts);
                }
                Some(1.0 / (1.0 + n as f64))
            }
            Err(mut now) => {
                let request = ball.group.candidates().len().div_ceil(REQUEST);
                let later = now.split_off(now.len().min(request));
                return ExhaustiveStep::Score { now, later };
            }
        },
    };
    ExhaustiveStep::Done(ExhaustiveOutcome { after, weight })
}

/// The preferred misclassified candidate of the image itself.
fn choice(case: &Case, preference: &dyn Preference) -> Option<PointCandidate> {
    candidates(case, 0)
        .filter(|candidate| case.grid.fails(candidate.point))
        .reduce(|best, next| if preference.prefers(case, next, best) { next } else { best })
}

fn candidates<'a>(case: &'a Case, of: u32) -> impl Iterator<Item = PointCandidate> + 'a {
    case.ball.around(of).iter().enumerate().map(|(order, &point)| PointCandidate { order, point })
}

/// The candidates whose exact scores could make another choice. What was chosen comes first: with its exact scores fewer are in doubt.
fn doubts_of_choice(case: &Case, preference: &dyn Preference, chosen: Option<PointCandidate>) -> Vec<u32> {
    let grid = case.grid;
    if let Some(chosen) = chosen.filter(|chosen| !grid.exact(chosen.point)) {
        return vec![chosen.point];
    }
    let could_win = |rival: &PointCandidate| match chosen {
        _ if grid.exact(rival.point) || (grid.certain(rival.point) && !grid.fails(rival.point)) => false,
        Some(chosen) => preference.surely_prefers(case, *rival, chosen) != Some(false),
        None => true,
    };
    candidates(case, 0).filter(could_win).map(|rival| rival.point).collect()
}

/// The share of the candidates that one request asks for, about: few points that turn out needless against few rounds.
const REQUEST: usize = 5;

/// n(x'), or the points that may have to be scored in order to know it, the most telling first.
///
/// A point q moves to x' unless q is misclassified or one of its candidates is preferred to x'. So only points that may
/// still bring such a candidate to light are scored; those that lie around most of the undecided q come first, as one
/// preferred candidate among them rules out all of those q at once.
fn movers(case: &Case, preference: &dyn Preference, target: u32) -> Result<usize, Vec<u32>> {
    let (ball, grid) = (case.ball, case.grid);
    let mut movers = 0;
    let mut gain: Vec<(u32, u32)> = Vec::new();
    let mut place: Vec<u32> = vec![u32::MAX; ball.len()];
    let mut unknown: Vec<u32> = Vec::new();
    for (order, &q) in ball.origins(target).iter().enumerate() {
        if grid.fails(q) {
            continue;
        }
        unknown.clear();
        if !grid.known(q) {
            unknown.push(q);
        }
        let moved = PointCandidate { order, point: target };
        let mut preferred = false;
        for (order, &point) in ball.around(q).iter().enumerate() {
            let rival = PointCandidate { order, point };
            if !grid.known(point) {
                if preference.may_prefer(case, rival, moved) {
                    unknown.push(point);
                }
            } else if grid.fails(point) && point != target && preference.prefers(case, rival, moved) {
                preferred = true;
                break;
            }
        }
        if preferred {
            continue;
        }
        if unknown.is_empty() {
            movers += 1;
        }
        for &point in &unknown {
            let at = &mut place[point as usize];
            if *at == u32::MAX {
                *at = gain.len() as u32;
                gain.push((0, point));
            }
            gain[*at as usize].0 += 1;
        }
    }
    if gain.is_empty() {
        return Ok(movers);
    }
    gain.sort_unstable_by_key(|&(covered, point)| (std::cmp::Reverse(covered), point));
    Err(gain.into_iter().map(|(_, point)| point).collect())
}

/// Points whose exact scores tell whether n(x') is what provisional ones say; none once that is certain. x' itself has exact scores.
///
/// A point that counts must be correct, and none of its candidates preferred, for certain. For one that does not count a single certain
/// reason is enough; of several the one that serves most points is asked for.
fn doubts_of_movers(case: &Case, preference: &dyn Preference, target: u32) -> Vec<u32> {
    let (ball, grid) = (case.ball, case.grid);
    let mut asked = vec![false; ball.len()];
    let mut reasons: Vec<Vec<u32>> = Vec::new();
    'origins: for (order, &q) in ball.origins(target).iter().enumerate() {
        if grid.fails(q) && grid.certain(q) {
            continue;
        }
        let moved = PointCandidate { order, point: target };
        let (mut likely, mut unlikely) = (Vec::new(), Vec::new());
        for rival in candidates(case, q).filter(|rival| rival.point != target && grid.known(rival.point)) {
            let (fails, certain) = (grid.fails(rival.point), grid.certain(rival.point));
            if certain && !fails {
                continue;
            }
            match preference.surely_prefers(case, rival, moved) {
                Some(false) => {}
                Some(true) if certain => continue 'origins,
                sure if fails && sure.unwrap_or_else(|| preference.prefers(case, rival, moved)) => {
                    likely.push(rival.point);
                }
                _ => unlikely.push(rival.point),
            }
        }
        if grid.fails(q) {
            likely.push(q);
        } else if !grid.certain(q) {
            unlikely.push(q);
        }
        match likely.is_empty() {
            true => unlikely.into_iter().for_each(|point| asked[point as usize] = true),
            false => reasons.push(likely),
        }
    }
    let mut serves = vec![0u32; ball.len()];
    reasons.iter().flatten().for_each(|&point| serves[point as usize] += 1);
    for reason in reasons {
        if !reason.iter().any(|&point| asked[point as usize]) {
            let best = reason.into_iter().max_by_key(|&point| (serves[point as usize], std::cmp::Reverse(point)));
            best.into_iter().for_each(|point| asked[point as usize] = true);
        }
    }
    (0..ball.len() as u32).filter(|&point| asked[point as usize] && !grid.exact(point)).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::core::{Result, Tensor, Value};
    use crate::objective::ScoreVerdict;
    use crate::search::Strongest;
    use crate::space::{Element, Group};

    /// Sixteen points on a ring; g looks one and two points to the left.
    struct Ring([Element; 2]);

    fn at(i: i16) -> Element {
        Element([i.rem_euclid(16), 0, 0, 0, 0, 0, 0, 0])
    }

    impl Group for Ring {
        fn candidates(&self) -> &[Element] {
            &self.0
        }
        fn compose(&self, after: Element, before: Element) -> Element {
            at(after.0[0] + before.0[0])
        }
        fn inverse(&self, element: Element) -> Element {
            at(-element.0[0])
        }
        fn magnitude(&self, element: Element) -> f64 {
            f64::from(element.0[0].min(16 - element.0[0]))
        }
        fn value(&self, element: Element) -> Value {
            Value::Int(element.0[0].into())
        }
        fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
            Ok(canvases.shallow_clone())
        }
        fn draw(&self, prepared: &Tensor, _rows: &[i64], _elements: &[Element]) -> Result<Tensor> {
            Ok(prepared.shallow_clone())
        }
        fn assumption(&self) -> String {
            String::new()
        }
    }

    /// Goes through the search from point `start` of the ring, where the points in `errors` are wrong.
    fn outcome(start: i16, errors: &[i16]) -> (i16, f64) {
        let ball = Ball::new(Rc::new(Ring([at(-1), at(-2)])), 3);
        let mut grid = crate::search::grid::Grid::new(&ball, 0);
        loop {
            match Strongest::default().step(&Case {
                ball: &ball,
                grid: GridView::of(&grid, None),
                densities: true,
                stream: (0, 0),
            }) {
                ExhaustiveStep::Score { now: points, .. } | ExhaustiveStep::ScoreExactly(points) => {
                    for point in points {
                        assert!(!grid.known(point));
                        let wrong = errors.contains(&(start + ball.element(point).0[0]).rem_euclid(16));
                        let (excess, predicted) = if wrong { (1.0, 1) } else { (-1.0, 0) };
                        grid.set(
                            point,
                            &ScoreVerdict {
                                excess,
                                predicted,
                                softmax_margin: 0.0,
                                least: 0,
                                snr: f32::NAN,
                                followed: excess,
                            },
                        );
                    }
                }
                ExhaustiveStep::Done(ExhaustiveOutcome { after, weight }) => {
                    return ((start + ball.element(after).0[0]).rem_euclid(16), weight.unwrap_or(f64::NAN));
                }
            }
        }
    }

    /// Figure 3 of the paper: of 16 equally likely points the leftmost error ends with 3/16, its own and that of the two
    /// correct points beside it, so h = 1/3.
    #[test]
    fn figure_3() {
        let errors = [4];
        assert_eq!(outcome(4, &errors), (4, 1.0 / 3.0));
        assert_eq!(outcome(5, &errors), (4, 1.0 / 3.0));
        assert_eq!(outcome(6, &errors), (4, 1.0 / 3.0));
        assert_eq!(outcome(3, &errors), (3, 1.0));
        assert_eq!(outcome(7, &errors), (7, 1.0));
        // Two errors side by side share the movers: 6 goes to 5, the nearer in the order; 7 to 5 as well.
        let errors = [4, 5];
        assert_eq!(outcome(6, &errors), (5, 1.0 / 3.0));
        assert_eq!(outcome(7, &errors), (5, 1.0 / 3.0));
        assert_eq!(outcome(4, &errors), (4, 1.0));
    }
}
