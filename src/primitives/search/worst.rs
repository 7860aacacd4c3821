//! `search::worst`.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::core::{Error, Result, Value, suggestion};
use crate::objective::Objective;
use crate::primitives::{Example, Kind, Param, Primitive};
use crate::search::{AnySearch, Member, Worst};

pub static WORST: Primitive = Primitive {
    path: "search::worst",
    purpose: "Several searches one after another, each on the images that those before it left right: the worst of all counts.",
    params: &[Param::new(
        "members",
        Kind::Array,
        "Searches, or maps with a `search`, an `objective` of its own and a `name`",
    )],
    options: &[],
    returns: "a Search",
    notes: "A row is that of the first member that made the image fail; where none did, of the one that came nearest. Its column `by` says which \
            made it fail, `()` where none did. `t.members` says of each what it tried, made fail and left, and at how many of those that all of them left its gradient \
            vanished. `queries` are those of all members. With `levels` every level is handed on by itself, and a curve of them is the lower \
            envelope of the members' curves; a member that finds all levels in one way, as search::fmn, goes it once.\n\n\
            A member with an `objective` of its own, such as objective::each_wrong().loss(\"dlr\"), looks for any wrong answer its own way, and \
            has a say where the examination itself asks for any wrong answer. AutoAttack's standard ensemble is `attacks::standard(f)` of `std/attacks`.",
    source: "Croce and Hein 2020, Reliable evaluation of adversarial robustness with an ensemble of diverse parameter-free attacks, Section 5",
    examples: &[
        Example {
            code: "search::worst([search::bim(#{ steps: 10 }), search::square(#{ questions: 100 })])",
            result: "search worst([bim(#{ steps: 10 }), square(#{ questions: 100, share: 0.8 })])",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 40, size: 16, position: \"centred\", margin: 0, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, seed: 1 });\n\
                   let ball = space::pixels(\"linf\", #{ radius: 0.1, bounds: [0, 1] });\n\
                   let both = search::worst([search::bim(#{ steps: 1 }), #{ name: \"long\", search: search::bim(#{ steps: 40 }) }]);\n\
                   let t = examine(f, ds, #{ space: ball, search: both });\n\
                   t.members[0].left == t.members[1].tried && t.members[1].name == \"long\"",
            result: "true",
        },
    ],
    run: |_, args| {
        let Some(Value::Array(given)) = args.get("members") else {
            return Err(Error::internal("members that are no array"));
        };
        let members = given.iter().enumerate().map(|(place, value)| member(place, value)).collect::<Result<_>>()?;
        Ok(Value::object(AnySearch(Rc::new(Worst::new(members)?))))
    },
};

const KEYS: [&str; 3] = ["search", "objective", "name"];

fn member(place: usize, value: &Value) -> Result<Member> {
    let wrong = |what: String| Error::argument(format!("search::worst: member {place} {what}"));
    let one = BTreeMap::from([("search".to_string(), value.clone())]);
    let map = match value {
        Value::Map(map) => map,
        Value::Object(_) => &one,
        other => {
            return Err(wrong(format!("is {}", other.kind()))
                .hint("a Search, or a map: #{ search: search::apgd(), objective: objective::each_wrong() }"));
        }
    };
    if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(wrong(format!("has an unknown key `{key}`")).hint(suggestion(key, KEYS)));
    }
    let search = map.get("search").ok_or_else(|| wrong("has no `search`".into()))?;
    let search =
        search.downcast::<AnySearch>().ok_or_else(|| wrong(format!("has a {} as its `search`", search.kind())))?;
    let objective = match map.get("objective") {
        None | Some(Value::Unit) => None,
        Some(value) => Some(
            value.downcast::<Objective>().ok_or_else(|| wrong(format!("has a {} as its `objective`", value.kind())))?,
        ),
    };
    let name = match map.get("name") {
        None => search.0.describe().split('(').next().unwrap_or_default().to_string(),
        Some(Value::Str(name)) if !name.is_empty() => name.clone(),
        Some(other) => return Err(wrong(format!("has a `name` that is {}", other.summary()))),
    };
    Ok(Member { name, search: search.0.clone(), objective: objective.map(|objective| (*objective).clone()) })
}
