//! `plot::certified`.

use std::rc::Rc;

use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::estimate::certificate::{Attack, Certificate};
use crate::plot;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::Transcript;

pub static CERTIFIED: Primitive = Primitive {
    path: "plot::certified",
    purpose: "Draws certified accuracy by the l2 radius, and over it the accuracy that attacks leave.",
    params: &[Param::new("certificates", Kind::Any, "a Certificate, an array of them, or a map from a name to one, or pairs `[name, certificate]`, whose order is kept")],
    options: &[
        Param::new(
            "attack",
            Kind::Any,
            "a Certificate of a transcript, a Transcript over space::pixels(\"l2\"), an array of these, or a map from a name to one",
        )
        .or(Fallback::Absent("none")),
        TITLE,
    ],
    returns: "Figure",
    notes: "The certified line is a lower bound on the accuracy of the smoothed classifier against every change, up to each row's probability of \
            error. The line of a Certificate of a transcript is an upper bound on the accuracy of the same classifier: what it certainly gets wrong \
            within a radius. The truth is between these two. An attack that ends where classes meet, such as search::fmn's, leaves images on which \
            nothing is certain, and a line that says little: search::apgd goes on. A Transcript's line is of the model that was attacked, which is not that classifier: \
            nothing lies between, and the figure says so. A vertical line stands where the samples, and not the classifier, end a certified line. \
            Lines are exact steps; bands are Wilson's intervals at 95% over images.",
    source: "Cohen, Rosenfeld and Kolter 2019, Figures 1 and 6",
    examples: &[Example {
        code: "let glyphs = |seed| data::glyphs(#{ n: 30, size: 16, position: \"centred\", margin: 0, seed: seed });\n\
               let ds = glyphs.call(2);\n\
               let f = model::train(glyphs.call(1), #{ arch: [net::flatten(), net::linear(10)], epochs: 30, lr: 0.01, seed: 1 });\n\
               let how = #{ sigma: 0.2, samples: 200, seed: 1 };\n\
               let t = examine(f.smoothed(#{ sigma: 0.2, seed: 1 }), ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::adam(#{ steps: 9 }), batch: 30 });\n\
               let figure = plot::certified(robustness::certify(f, ds, how), #{ attack: robustness::certify(f, t, how) });\n\
               figure.cautions",
        result: "[answers and radii are of trained smoothed by Gaussian noise of sigma 0.2, not of trained itself, and each is wrong with probability 0.001 at most]",
    }],
    run,
};

/// Values by name: one, an array of them, or named ones.
fn named(value: &Value) -> Vec<(String, &Value)> {
    match (value.named(), value) {
        (Some(named), _) => named,
        (None, Value::Array(values)) => values.iter().enumerate().map(|(i, value)| (i.to_string(), value)).collect(),
        (None, one) => vec![(String::new(), one)],
    }
}

enum Attacked {
    Votes(Rc<Certificate>),
    Search(Rc<Transcript>),
}

impl Attacked {
    fn of(value: &Value) -> Result<Self> {
        let votes = value.downcast::<Certificate>().map(Self::Votes);
        votes.or_else(|| value.downcast::<Transcript>().map(Self::Search)).ok_or_else(|| {
            Error::argument(format!("`attack` must be a Certificate or a Transcript, got {}", value.kind()))
                .hint("robustness::certify(f, t, ..) of the attack's transcript t; or t itself")
        })
    }

    fn borrowed(&self) -> Attack<'_> {
        match self {
            Self::Votes(votes) => Attack::Votes(votes),
            Self::Search(transcript) => Attack::Search(transcript),
        }
    }
}

fn run(_cx: &Cx, args: &Args) -> Result<Value> {
    let one = |value: &Value| -> Result<Rc<Certificate>> {
        let certificate = value.downcast::<Certificate>().ok_or_else(|| {
            Error::argument(format!("`certificates` must hold Certificates, got {}", value.kind()))
                .hint("robustness::certify(f, ds, #{ sigma: 0.25 }) gives one")
        })?;
        match &certificate.moved_by {
            None => Ok(certificate),
            Some(moved) => Err(Error::argument(format!("`certificates` holds one of images that {moved} left"))
                .hint("that is the option `attack`; what is certified are the images as they stand")),
        }
    };
    let found: Vec<(String, Rc<Certificate>)> = named(args.value("certificates"))
        .into_iter()
        .map(|(name, value)| Ok((name, one(value)?)))
        .collect::<Result<_>>()?;
    if found.is_empty() {
        return Err(Error::argument("no certificates").hint("#{ \"a name\": robustness::certify(f, ds, ..), .. }"));
    }
    let attacks = args.get("attack").map(named).unwrap_or_default();
    let attacks: Vec<(String, Attacked)> =
        attacks.into_iter().map(|(name, value)| Ok((name, Attacked::of(value)?))).collect::<Result<_>>()?;
    let certificates: Vec<(String, &Certificate)> = found.iter().map(|(name, one)| (name.clone(), &**one)).collect();
    let attacks: Vec<(String, Attack)> = attacks.iter().map(|(name, one)| (name.clone(), one.borrowed())).collect();
    Ok(Value::object(plot::certified(&certificates, &attacks)?.titled(args.str("title"))))
}
