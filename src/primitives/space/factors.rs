//! `space::factors`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::{Error, Result, Value, suggestion};
use crate::primitives::{Example, Kind, Param, Primitive};
use crate::space::{AnySpace, Domain, Factor, Factors, When};

pub static FACTORS: Primitive = Primitive {
    path: "space::factors",
    purpose: "A space of your own: named factors, and a closure that changes an image as they say.",
    params: &[
        Param::new(
            "factors",
            Kind::Array,
            "maps `#{ name, min, max }` for any number in between (with `log: true` even in its logarithm, with `whole: true` whole ones alone), or `#{ name, choices }` for a list of numbers, strings or bools; `identity` is the number at which images stay as they are, and `when: #{ lamp: \"spot\" }` lets a factor count only where an earlier one has that choice, or one of an array",
        ),
        Param::new(
            "apply",
            Kind::Callback,
            "is given the image, a tensor C x H x W in [0, 1] unless what comes before it in a product took it out, and a map from factor to value; answers the changed image",
        ),
    ],
    options: &[],
    returns: "a Space",
    notes: "The closure is called once for every point of every image that is scored, once more about the first, whose answer must be the same unless it draws random numbers (which results say, and `.images(\"after\")` draws others), and again by `.images(\"after\")`: work on \
            whole tensors, not on pixels. What it answers must follow from the image and the factors alone, and have the \
            image's shape. Pixels that are not finite or lie outside [0, 1] are refused (within 0.0001 they are moved to the \
            bound): end with `.clamp(0, 1)` where cutting off is meant. In a transcript `point` is a map from factor to value, \
            `magnitude` () (but see below) and `weight` unknown. search::random works on any factors, search::strongest where all have \
            choices, search::apgd where all have ranges: it tells gradients by differences, and bim, fmn and adam begin at the images where every factor has \
            an `identity`. Where every factor that has no choices has an `identity`, the space has levels, and so tolerance curves: a level, from 0 \
            to 1, is the share of the way from there to `min` and `max` (of their logarithms, with `log`) that factors may go, and \
            `magnitude` the largest share that one went; choices are free at every level, which the results say. What has an order but no numbers is a whole number that picks from a list of one's own. \
            Where a factor does not count (`when`), the closure and `point` have `()` for it; settings that differ in it alone are one setting, \
            which search::strongest asks once and search::bayes not again; what is said of it (robustness::marginal, weaknesses) is said of \
            settings where it counts, maps over it are refused. Without choices the identity \
            is tried on the first image. The closure's text is not part of the space's identity. A run that is resumed does not call it again \
            for what was scored before: variables that it changes elsewhere are not restored.",
    source: "",
    examples: &[
        Example {
            code: "space::factors([#{ name: \"light\", min: 0.5, max: 1 }], |z, s| z * s.light)",
            result: "space factors([#{ name: \"light\", min: 0.5, max: 1.0 }], closure)",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 10, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let dim = space::factors([#{ name: \"light\", min: 0, max: 1, identity: 1 }], |z, s| z * s.light);\n\
                   let how = #{ space: dim, search: search::random(#{ questions: 5 }), levels: [0, 0.5, 1], seed: 1 };\n\
                   examine(f, ds, how).filter(|row| row.magnitude > row.level).len()",
            result: "0",
        },
        Example {
            code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
                   let ds = data::from(tensor::zeros([1, 1, 4, 4]) + 0.8, [0]);\n\
                   let dim = space::factors([#{ name: \"lamps\", min: 0, max: 4, whole: true }], |z, s| z * s.lamps / 4);\n\
                   examine(f, ds, #{ space: dim, search: search::bayes(#{ questions: 5 }), seed: 1 })[0].point",
            result: "#{lamps: 0}",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 10, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let shade = [#{ name: \"light\", min: 0, max: 1 }, #{ name: \"ink\", choices: [\"dark\", \"light\"] }];\n\
                   let space = space::factors(shade, |z, s| if s.ink == \"dark\" { z * s.light } else { 1 - z });\n\
                   let t = examine(f, ds, #{ space: space, search: search::random(#{ questions: 5 }) });\n\
                   t[0].point.keys()",
            result: "[ink, light]",
        },
        Example {
            code: "let ds = data::from(tensor::zeros([1, 1, 4, 4]), [0]);\n\
                   let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
                   let lamps = [#{ name: \"lamp\", choices: [\"none\", \"spot\"] }, #{ name: \"width\", min: 1, max: 4, whole: true, when: #{ lamp: \"spot\" } }];\n\
                   let space = space::factors(lamps, |z, s| if s.lamp == \"none\" { z } else { z + s.width * 0.1 });\n\
                   examine(f, ds, #{ space: space, search: search::strongest() })[0].queries",
            result: "6",
        },
    ],
    run: |_, args| {
        let mut factors: Vec<Factor> = vec![];
        for (i, value) in args.array("factors").iter().enumerate() {
            let own = factor((i, value))?;
            let when = conditions(value, &own.name, &factors)?;
            factors.push(Factor { when, ..own });
        }
        Ok(Value::object(AnySpace(Rc::new(Factors::new(factors, args.callback("apply"))?))))
    },
};

const KEYS: [&str; 8] = ["name", "min", "max", "log", "whole", "choices", "identity", "when"];

/// What `when` of a factor says, of factors before it.
fn conditions(value: &Value, name: &str, earlier: &[Factor]) -> Result<Vec<When>> {
    let problem = |text: String| {
        Error::argument(format!("factor {name:?}: {text}"))
            .hint("write `when: #{ lamp: \"spot\" }` or `when: #{ lamp: [\"spot\", \"flash\"] }`")
    };
    let Value::Map(map) = value else { return Ok(vec![]) };
    let conditions = match map.get("when") {
        None => return Ok(vec![]),
        Some(Value::Map(conditions)) if !conditions.is_empty() => conditions,
        Some(other) => {
            return Err(problem(format!("`when` must be a map from factor to choice, got {}", other.summary())));
        }
    };
    let condition = |(of, wanted): (&String, &Value)| {
        let names = || earlier.iter().map(|factor| factor.name.as_str());
        let place = names().position(|known| known == of).ok_or_else(|| {
            Error::argument(format!("factor {name:?}: `when` speaks of {of:?}, and no factor before it is called so"))
                .hint(if earlier.is_empty() {
                    "put the factor that decides before it".into()
                } else {
                    suggestion(of, names())
                })
        })?;
        let Domain::Choices(choices) = &earlier[place].domain else {
            return Err(problem(format!("`when` speaks of {of:?}, which has no list of choices")));
        };
        let one = |wanted: &Value| {
            choices
                .iter()
                .position(|choice| choice.kind() == wanted.kind() && choice.summary() == wanted.summary())
                .ok_or_else(|| {
                    let known: Vec<String> = choices.iter().map(Value::summary).collect();
                    Error::argument(format!("factor {name:?}: `when`: {:?} is no choice of {of:?}", wanted.summary()))
                        .hint(format!("its choices are {}", known.join(", ")))
                })
        };
        let mut chosen = match wanted {
            Value::Array(all) => all.iter().map(one).collect::<Result<Vec<_>>>()?,
            single => vec![one(single)?],
        };
        chosen.sort_unstable();
        chosen.dedup();
        Ok(When { factor: place, choices: chosen })
    };
    conditions.iter().map(condition).collect()
}

fn factor((i, value): (usize, &Value)) -> Result<Factor> {
    const HOW: &str = "#{ name: \"angle\", min: -30, max: 30 } or #{ name: \"ink\", choices: [\"dark\", \"light\"] }";
    let problem = |text: String| Error::argument(format!("factor {i}: {text}")).hint(format!("write {HOW}"));
    let Value::Map(map) = value else {
        return Err(problem(format!("wanted a map, got {} {}", value.kind(), value.summary())));
    };
    if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(Error::argument(format!("factor {i}: unknown key `{key}`")).hint(suggestion(key, KEYS)));
    }
    let Some(Value::Str(name)) = map.get("name") else {
        return Err(problem("`name` must be a string".into()));
    };
    let domain = match (map.get("choices"), map.get("min"), map.get("max")) {
        (Some(Value::Array(choices)), None, None) => Domain::Choices(choices.clone()),
        (Some(other), None, None) => return Err(problem(format!("`choices` must be an array, got {}", other.kind()))),
        (None, Some(_), Some(_)) => {
            let (min, max) = (number(map, "min", &problem)?, number(map, "max", &problem)?);
            let said = |key: &str| match map.get(key) {
                None | Some(Value::Bool(false)) => Ok(false),
                Some(Value::Bool(true)) => Ok(true),
                Some(other) => Err(problem(format!("`{key}` must be a bool, got {}", other.kind()))),
            };
            match (said("log")?, said("whole")?) {
                (false, false) => Domain::Range { min, max },
                (true, false) => Domain::Log { min, max },
                (false, true) if min >= max => {
                    return Err(problem(format!("`min` must be below `max`, got {min:?} and {max:?}")));
                }
                (false, true) => Domain::Whole { min: whole(min, &problem)?, max: whole(max, &problem)? },
                (true, true) => return Err(problem("`log` and `whole` do not go together".into())),
            }
        }
        _ => return Err(problem(format!("{name:?} needs `min` and `max`, or `choices`"))),
    };
    let still = map.contains_key("identity").then(|| number(map, "identity", &problem)).transpose()?;
    Ok(Factor { still, ..Factor::new(name.clone(), domain) })
}

fn whole(x: f64, problem: &dyn Fn(String) -> Error) -> Result<i32> {
    match x.fract() == 0.0 && x.abs() <= LARGEST {
        true => Ok(x as i32),
        false => Err(problem(format!("with `whole`, `min` and `max` are whole numbers up to a million, got {x:?}"))),
    }
}

/// Of whole numbers.
const LARGEST: f64 = 1e6;

fn number(map: &BTreeMap<String, Value>, key: &str, problem: &dyn Fn(String) -> Error) -> Result<f64> {
    match map.get(key).and_then(|value| Kind::Float.accept(value)) {
        Some(Value::Float(x)) => Ok(x),
        _ => Err(problem(format!("`{key}` must be a number"))),
    }
}
