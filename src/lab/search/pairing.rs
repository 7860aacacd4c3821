//! Which searches go over which spaces. A search says what it needs of points, a space what its points are; whether they fit follows.

use super::ball::PixelBall;
use super::exhaustive::Exhaustive;
use super::gradient::GradientSearch;
use super::proposals::Proposing;
use super::slopes::has_slopes;
use super::{Examination, Need, Search};
use crate::core::{Error, ErrorKind, Result};
use crate::objective::Objective;
use crate::space::Norm;

/// How a search goes about it.
pub enum Approach<'a> {
    /// Over the elements of a finite group: the density of what it chooses can be worked out.
    Elements(&'a dyn Exhaustive),
    /// By losses, over settings of factors.
    Settings(&'a dyn Proposing),
    /// By losses, over changes of single pixels.
    Changes(&'a dyn Proposing<PixelBall>),
    /// Along gradients.
    Gradients(&'a dyn GradientSearch),
}

impl Approach<'_> {
    pub fn need(&self) -> Need {
        match self {
            Self::Elements(_) => Need::Elements,
            Self::Settings(_) => Need::Settings,
            Self::Changes(_) => Need::Changes,
            Self::Gradients(search) => search.need(),
        }
    }

    /// Whether it can look for that.
    fn looks_for(&self, objective: &Objective) -> bool {
        match self {
            Self::Elements(_) => objective.plain(),
            Self::Settings(search) => search.looks_for(objective),
            Self::Changes(search) => search.looks_for(objective),
            Self::Gradients(search) => search.looks_for(objective),
        }
    }
}

/// The kinds of spaces, as scripts call them, and what their points are.
pub const SPACES: [(&str, &[Need]); 15] = [
    ("translate", &[Need::Elements, Need::Settings]),
    ("flip", &[Need::Elements, Need::Settings]),
    ("turn", &[Need::Elements, Need::Settings]),
    ("polarity", &[Need::Elements, Need::Settings]),
    ("rotate", &[Need::Settings, Need::Gradients]),
    ("affine", &[Need::Settings, Need::Gradients]),
    ("corruptions", &[Need::Settings]),
    ("hue", &[Need::Settings, Need::Gradients]),
    ("noise", &[Need::Settings]),
    ("render", &[Need::Settings, Need::Gradients]),
    ("factors", &[Need::Settings, Need::Gradients]),
    ("latent with `directions`", &[Need::Settings, Need::Gradients]),
    ("latent", &[Need::Gradients]),
    ("pixels", &[Need::Gradients, Need::Changes]),
    ("deform", &[Need::Fields]),
];

/// The searches, as scripts call them, and what they go over: any one of these.
pub const SEARCHES: [(&str, &[Need]); 25] = [
    ("strongest", &[Need::Elements, Need::Settings]),
    ("nearest", &[Need::Elements]),
    ("average", &[Need::Elements]),
    ("average_doubt", &[Need::Elements]),
    ("blind", &[Need::Elements]),
    ("blind_or_stay", &[Need::Elements]),
    ("random", &[Need::Settings]),
    ("radial", &[Need::Settings]),
    ("counterfactual", &[Need::Settings]),
    ("sweep", &[Need::Settings]),
    ("bayes", &[Need::Settings]),
    ("straddle", &[Need::Settings]),
    ("policy", &[Need::Settings]),
    ("evolution", &[Need::Settings]),
    ("square", &[Need::Changes]),
    ("hopskipjump", &[Need::Changes]),
    ("bim", &[Need::Gradients]),
    ("apgd", &[Need::Gradients]),
    ("fmn", &[Need::Gradients]),
    ("ddn", &[Need::Gradients]),
    ("deepfool", &[Need::Gradients]),
    ("carlini_wagner", &[Need::Gradients]),
    ("adam", &[Need::Gradients]),
    ("adef", &[Need::Fields]),
    // What its members go over.
    ("worst", &[Need::Gradients]),
];

/// The names in a table with one of these needs.
fn names(table: &[(&str, &[Need])], needs: &[Need]) -> String {
    let fit = |(_, of): &&(&str, &[Need])| of.iter().any(|need| needs.contains(need));
    table.iter().filter(fit).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// How the search of an examination goes about it: the first of its ways that the space has points for and that can look for the
/// objective.
pub(super) fn way<'a>(plan: &'a Examination) -> Result<Approach<'a>> {
    let (search, space) = (plan.search.describe(), plan.space.describe());
    let mut ways = plan.search.approaches();
    let needs: Vec<Need> = ways.iter().map(Approach::need).collect();
    ways.retain(|way| way.need().met_by(&*plan.space));
    if ways.is_empty() {
        let words: Vec<&str> = needs.iter().map(|need| need.words()).collect();
        let has: Vec<Need> = SPACES
            .iter()
            .flat_map(|(_, needs)| needs.iter().copied())
            .filter(|need| need.met_by(&*plan.space))
            .collect();
        return Err(Error::new(
            ErrorKind::Pairing,
            format!("{search} goes over {}, which {space} has none of", words.join(" or ")),
        )
        .hint(format!(
            "it goes over space::{}; over this space go search::{}",
            names(&SPACES, &needs),
            names(&SEARCHES, &has)
        )));
    }
    // A step over factors is a sign for each.
    let norm = plan
        .space
        .differentiable()
        .map_or_else(|| has_slopes(&*plan.space).then_some(Norm::Linf), |own| Some(own.norm()));
    if let (Some(Approach::Gradients(way)), Some(norm)) = (ways.first(), norm)
        && !way.norms().contains(&norm)
    {
        return Err(not_in(norm, &search, way.norms()));
    }
    match ways.into_iter().find(|way| way.looks_for(&plan.objective)) {
        Some(way) => Ok(way),
        None => Err(Error::new(
            ErrorKind::Pairing,
            format!("{search} over {space} does not look for objective::{}", plan.objective.describe()),
        )
        .hint(
            "searches that follow a loss look for any objective, by any: random, bayes, policy, radial, square, bim, apgd, ddn, adam; fmn, \
             carlini_wagner, hopskipjump and counterfactual by a lead, \"margin\" or \"dlr\"; deepfool and adef go to where another class has the highest score, exhaustive ones with densities to any wrong label",
        )),
    }
}

/// A search over pixels that has no steps in this norm, and those in which it has.
pub(super) fn not_in(norm: Norm, search: &str, has: &[Norm]) -> Error {
    let words: Vec<&str> = has.iter().map(|norm| norm.word()).collect();
    Error::new(
        ErrorKind::Pairing,
        format!("{search} goes over points in {}, not in {}", words.join(" and "), norm.word()),
    )
    .hint(format!("in {} go search::bim, apgd and fmn", norm.word()))
}

/// The search along gradients that a search is, if it is one.
pub fn gradient_search(search: &dyn Search) -> Option<&dyn GradientSearch> {
    search.approaches().into_iter().find_map(|way| match way {
        Approach::Gradients(search) => Some(search),
        _ => None,
    })
}
