//! `risk::register`.

use super::ways::{NamedWay, RADII, RADIUS, SEARCH, SEVERAL_SEARCHES, SPACE, ways};
use super::{DELTA, SIDES, TEST, protocol};
use crate::core::{Error, Value};
use crate::data::Dataset;
use crate::estimate::independence::order_seed;
use crate::estimate::registration::{Fixed, RegisteredWay, Registration, check_densities};
use crate::model::Model;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static REGISTER: Primitive = Primitive {
    path: "risk::register",
    purpose: "Writes down, before anything is scored, all that a test for overfitting depends on.",
    params: &[
        Param::new("f", Kind::Object("Model"), "the model"),
        Param::new("ds", Kind::Object("Dataset"), "the images"),
        Param::new("path", Kind::Path, "the .json file that is written"),
    ],
    options: &[
        RADIUS,
        SEARCH,
        SEVERAL_SEARCHES,
        RADII,
        SPACE,
        TEST,
        DELTA,
        SIDES,
        Param::new(
            "seed",
            Kind::Int,
            "of the draws of blind searches, which the call that makes the test then needs as well",
        )
        .or(Fallback::Absent("none, which other searches do not need")),
    ],
    returns: "a map: file, sha256, registered (the date), tests (how many), scored_before (what this run had already asked the model about the images, \
              or ())",
    notes: "The file holds name and hash of model and images, spaces, searches, the test that counts, `delta`, `sides`, the run's seed (which orders \
            the bets), viva's version and the date, and its own SHA-256. With `registered: \"file.json\"` risk::estimate and risk::report check that nothing \
            in it was changed and that the test is the registered one, refuse another one by what is another, and quote file, hash and date. Several \
            searches or radii are as many tests: each report then says what its p is at most when corrected for them, and risk::holm takes \
            all of them.\n\n\
            A file that is there already is not replaced: if it registers the same, it stands with its earlier date, else it is an error. What is \
            known of earlier scoring is what this run did: if it had asked the model about these images before, the registration says so, and so does every \
            report. Nothing else is claimed: the date is that of the machine's clock, and a file can be deleted and made anew. Who is to be convinced \
            needs the hash before the test is made.",
    source: "preregistration; risk::holm for several tests",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               risk::register(f, ds, \"registration.json\", #{ radius: 1, sides: 1 });\n\
               risk::estimate(f, ds, #{ radius: 1, sides: 1, registered: \"registration.json\" }).registered.tests",
        result: "1",
    }],
    run: |cx, args| {
        let (model, data) = (args.object::<Model>("f"), args.object::<Dataset>("ds"));
        let target = cx.writable(args.str("path"))?;
        if model.opaque() {
            return Err(Error::argument(format!(
                "{} can't be registered: its hash does not tell what it answers",
                model.name
            ))
            .hint("a closure may answer otherwise and keep its hash; layers with weights can't"));
        }
        if target.extension().is_none_or(|ending| ending != "json") {
            return Err(Error::argument(format!("`path` must end in .json, got {:?}", args.str("path"))));
        }
        let asked = ways(args, "risk::register")?;
        let mut ways = vec![];
        for NamedWay { space, search, .. } in &asked {
            check_densities(&data, &**space, &**search)?;
            ways.push(RegisteredWay::of(&**space, &**search));
        }
        let fixed = Fixed {
            model: (&model.name, crate::core::Object::digest(&*model)),
            data: &data,
            ways,
            protocol: protocol(args),
            order_seed: order_seed(cx),
            seed: args.optional_int("seed").map(|seed| seed as u64),
            rows: data.len(),
        };
        let (found, sha256) = Registration::of(cx, &fixed)?.write(cx, &target)?;
        if let Some(before) = &found.scored_before {
            cx.warn(format!("{before}, which the registration says"));
        }
        let text = |text: String| Value::Str(text);
        let entries = [
            ("file", text(args.str("path").into())),
            ("sha256", text(sha256)),
            ("registered", text(found.registered)),
            ("tests", Value::Int(found.tests.len() as i64)),
            ("scored_before", found.scored_before.map_or(Value::Unit, text)),
        ];
        Ok(Value::Map(entries.map(|(name, value)| (name.to_string(), value)).into()))
    },
};
