//! Which searches go over which spaces. A search says what it needs of points, a space what its points are; whether they fit follows.

use super::ball::PixelBall;
use super::exhaustive::Exhaustive;
use super::gradient::GradientSearch;
use super::proposals::Proposing;
use super::slopes::{chooses, has_slopes};
use super::{Examination, Need, Search};
use crate::core::{Error, ErrorKind, Result};
use crate::objective::Objective;
use crate::space::{Norm, Space};

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

/// Of the searches along gradients those that have steps in l2 alone.
const IN_L2_ALONE: [&str; 2] = ["ddn", "carlini_wagner"];

/// In which norm searches along gradients go; a step over factors is a sign for each.
fn norm(space: &dyn Space) -> Option<Norm> {
    space.differentiable().map_or_else(|| has_slopes(space).then_some(Norm::Linf), |own| Some(own.norm()))
}

/// Whether some factor counts only `when` others are so.
fn counts_when(space: &dyn Space) -> bool {
    space.factored().is_some_and(|space| space.factors().iter().any(|factor| !factor.when.is_empty()))
}

/// The names in a table with one of these needs.
fn names(table: &[(&str, &[Need])], needs: &[Need], also: impl Fn(&str) -> bool) -> String {
    let fit = |(name, of): &&(&str, &[Need])| also(name) && of.iter().any(|need| needs.contains(need));
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
        let chosen = chooses(&*plan.space);
        let has: Vec<Need> = SPACES
            .iter()
            .flat_map(|(_, needs)| needs.iter().copied())
            .filter(|need| need.met_by(&*plan.space) && !(chosen && *need == Need::Gradients))
            .collect();
        return Err(Error::new(
            ErrorKind::Pairing,
            format!("{search} goes over {}, which {space} has none of", words.join(" or ")),
        )
        .hint(format!(
            "it goes over space::{}; over this space go search::{}",
            // With a fill there are places between pixels.
            names(&SPACES, &needs, |_| true).replace(
                "translate",
                if space.starts_with("translate(") { "translate without `fill`" } else { "translate" }
            ),
            names(&SEARCHES, &has, |search| !(norm(&*plan.space) != Some(Norm::L2) && IN_L2_ALONE.contains(&search)
                || search == "counterfactual" && counts_when(&*plan.space)))
        )));
    }
    // Factors that no gradient chooses are told of where the search meets them.
    if let (Some(Approach::Gradients(way)), Some(norm)) = (ways.first(), norm(&*plan.space))
        && !way.norms().contains(&norm)
        && !chooses(&*plan.space)
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
