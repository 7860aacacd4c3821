//! What the tests of independence look through and how: the options that they have in common.

use std::rc::Rc;

use crate::core::{Error, Result};
use crate::primitives::{Args, Fallback, Kind, Param, Words};
use crate::search::{AnySearch, Average, AverageDoubt, Blind, BlindOrStay, Nearest, Search, Strongest};
use crate::space::{AnySpace, MAX_EPSILON, Space, Translate};

static SEARCHES: Words<fn() -> Rc<dyn Search>, 6> = Words::new([
    ("strongest", || Rc::new(Strongest::default())),
    ("nearest", || Rc::new(Nearest)),
    ("blind", || Rc::new(Blind)),
    ("blind_or_stay", || Rc::new(BlindOrStay)),
    ("average", || Rc::new(Average)),
    ("average_doubt", || Rc::new(AverageDoubt)),
]);

pub(super) const RADIUS: Param = Param::new("radius", Kind::Int, "translations by up to so much along either axis")
    .range(1.0, MAX_EPSILON as f64)
    .unit("pixels")
    .or(Fallback::Int(5));

pub(super) const SEARCH: Param = Param::new(
    "search",
    Kind::Either(const { &[SEARCHES.kind(), Kind::Object("Search")] }),
    "how the adversarial example is chosen; \"average\" and \"average_doubt\" choose none and compare with the mean over all changes",
)
.or(Fallback::Str("strongest"));

pub(super) const SPACE: Param =
    Param::new("space", Kind::Object("Space"), "another finite space in place of the translations")
        .or(Fallback::Absent("space::translate(radius)"));

pub(super) const SEVERAL_SEARCHES: Param = Param::new(
    "searches",
    SEARCHES.several(),
    "several ways to choose it, in place of `search`, which share one pass over the images",
)
.or(Fallback::Absent("the one of `search`"));

pub(super) const RADII: Param =
    Param::new("radii", Kind::Numbers, "several radii, in place of `radius`, which share one pass over the images")
        .or(Fallback::Absent("the one of `radius`"))
        .unit("pixels");

/// A space and a search over it.
pub(super) struct NamedWay {
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    /// The search, and of several radii `_` and the radius.
    pub name: String,
}

/// The ways that the options of `call` name, at least one, those over the largest radius first: what they score serves the smaller ones.
pub(super) fn ways(args: &Args, call: &str) -> Result<Vec<NamedWay>> {
    let not_both = |a: &str, b: &str| Error::argument(format!("{call}: give `{a}` or `{b}`, not both"));
    for (a, b) in [("search", "searches"), ("radius", "radii"), ("radius", "space"), ("radii", "space")] {
        if args.given(a) && args.given(b) {
            return Err(not_both(a, b));
        }
    }
    let searches: Vec<Rc<dyn Search>> = match SEARCHES.several_given(args, "searches") {
        Some(named) => named.into_iter().map(|search| search()).collect(),
        None => vec![match args.optional_object::<AnySearch>("search") {
            Some(search) => search.0.clone(),
            None => SEARCHES.of(args, "search")(),
        }],
    };
    let spaces: Vec<(String, Rc<dyn Space>)> = match args.optional_object::<AnySpace>("space") {
        Some(space) => vec![(String::new(), space.0.clone())],
        None => {
            let radii = radii(args, call)?;
            let ending = |radius: usize| if radii.len() > 1 { format!("_{radius}") } else { String::new() };
            let translate = |&radius: &usize| Ok((ending(radius), Rc::new(Translate::new(radius)?) as Rc<dyn Space>));
            radii.iter().map(translate).collect::<Result<_>>()?
        }
    };
    let mut ways: Vec<NamedWay> = Vec::new();
    for (ending, space) in &spaces {
        for search in &searches {
            let written = search.describe();
            let name = format!("{}{ending}", written.split('(').next().unwrap_or_default());
            if ways.iter().any(|way| way.name == name) {
                return Err(Error::argument(format!("{call}: {name} is asked for twice")));
            }
            ways.push(NamedWay { space: space.clone(), search: search.clone(), name });
        }
    }
    match ways.is_empty() {
        true => Err(Error::argument(format!("{call}: `searches` and `radii` must not be empty"))),
        false => Ok(ways),
    }
}

fn radii(args: &Args, call: &str) -> Result<Vec<usize>> {
    if !args.given("radii") {
        return Ok(vec![args.count("radius")]);
    }
    let whole = |x: f64| match x.fract() == 0.0 && (1.0..=MAX_EPSILON as f64).contains(&x) {
        true => Ok(x as usize),
        false => Err(Error::argument(format!("{call}: `radii` are whole numbers from 1 to {MAX_EPSILON}, got {x}"))),
    };
    let mut radii = args.numbers("radii").into_iter().map(whole).collect::<Result<Vec<usize>>>()?;
    radii.sort_unstable_by_key(|radius| std::cmp::Reverse(*radius));
    Ok(radii)
}
