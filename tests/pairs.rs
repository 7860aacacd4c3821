//! Every kind of space with every search: what fits is examined, what does not is refused as a pair, and the tables of what goes over
//! what hold both. Then finite groups under searches that learn from losses, and the square attack.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::primitives::PRIMITIVES;
use viva::script::Session;
use viva::search::{SEARCHES, SPACES};

fn value(script: &str) -> Value {
    let mut session = Session::new(Rc::new(Cx::default()));
    session.evaluate("test", script).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[track_caller]
fn truths(script: &str) {
    truths::hold(&value(script));
}

#[track_caller]
fn refused(call: &str, words: &str) {
    let mut session = Session::new(Rc::new(Cx::default()));
    let given = "let ds = data::glyphs(#{ n: 2, size: 16, seed: 1 }); let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });";
    let error = session.evaluate("test", &format!("{given}\n{call}")).expect_err("refused").render(false);
    assert!(error.contains(words), "{error}");
}

/// A script that makes one of each.
const MADE: [(&str, &str); 40] = [
    ("translate", "space::translate(1)"),
    ("flip", "space::flip()"),
    ("turn", "space::turn()"),
    ("polarity", "space::polarity()"),
    ("rotate", "space::rotate(10)"),
    ("affine", "space::affine()"),
    ("corruptions", "space::corruptions(#{ kinds: [\"contrast\", \"shot_noise\"] })"),
    ("hue", "space::hue(60)"),
    ("noise", "space::noise()"),
    ("render", "space::render(#{ factors: [\"azimuth\"] })"),
    ("factors", "space::factors([#{ name: \"a\", min: 0.5, max: 1, identity: 1 }], |z, s| z * s.a)"),
    ("latent with `directions`", "space::latent(g, #{ layers: 0..1, samples: 20, radius: 1, directions: 2 })"),
    ("latent", "space::latent(g, #{ layers: 0..1, samples: 20, radius: 1 })"),
    ("pixels", "space::pixels(\"linf\", #{ radius: 0.1 })"),
    ("deform", "space::deform()"),
    ("strongest", "search::strongest(#{ grid: 2 })"),
    ("nearest", "search::nearest()"),
    ("average", "search::average()"),
    ("average_doubt", "search::average_doubt()"),
    ("blind", "search::blind()"),
    ("blind_or_stay", "search::blind_or_stay()"),
    ("random", "search::random(#{ questions: 2 })"),
    ("radial", "search::radial(#{ questions: 20 })"),
    ("counterfactual", "search::counterfactual(#{ random_questions: 4 })"),
    ("sweep", "search::sweep()"),
    ("bayes", "search::bayes(#{ questions: 3, first_questions: 2 })"),
    ("straddle", "search::straddle(#{ questions: 4 })"),
    ("policy", "search::policy(#{ questions: 2, batch: 2 })"),
    ("evolution", "search::evolution(#{ questions: 2 })"),
    ("square", "search::square(#{ questions: 2 })"),
    ("hopskipjump", "search::hopskipjump(#{ questions: 4 })"),
    ("bim", "search::bim(#{ steps: 1 })"),
    ("apgd", "search::apgd(#{ steps: 1, start: \"image\" })"),
    ("fmn", "search::fmn(#{ steps: 1 })"),
    ("ddn", "search::ddn(#{ steps: 1 })"),
    ("deepfool", "search::deepfool(#{ steps: 1 })"),
    ("carlini_wagner", "search::carlini_wagner(#{ steps: 2, rounds: 2 })"),
    ("adam", "search::adam(#{ steps: 1 })"),
    ("adef", "search::adef(#{ steps: 1 })"),
    ("worst", "search::worst([search::bim(#{ steps: 1 }), search::adam(#{ steps: 1 })])"),
];

const GIVEN: &str = r#"
    let ds = data::glyphs(#{ n: 2, size: 16, seed: 1 });
    let g = generator::train(data::glyphs(#{ n: 20, size: 16, seed: 1 }), #{ steps: 1, batch: 4, seed: 1, arch: #{
        generator: [[net::linear(8), net::relu()], [net::linear(256), net::reshape(1, 16, 16)]],
        discriminator: [net::flatten(), net::linear(8), net::leaky_relu(0.2)],
    } });
    let drawn = g.sample(#{ n: 2, seed: 1 });
    let views = data::objects(["mug", "lamp"], #{ n: 2, size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
"#;

fn made(name: &str) -> &'static str {
    MADE.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("nothing makes {name}")).1
}

#[test]
fn what_fits_is_examined_and_what_does_not_is_refused() {
    let mut pairs = String::new();
    for (space, _) in SPACES {
        let (model, data) = match space {
            "render" => ("seen", "views"),
            "hue" => ("seen", "coloured"),
            "corruptions" => ("large", "wide"),
            "latent" | "latent with `directions`" => ("f", "drawn"),
            _ => ("f", "ds"),
        };
        for (search, _) in SEARCHES {
            let made_space = match (space, search) {
                // It is of l2 alone.
                ("pixels", "carlini_wagner") => "space::pixels(\"l2\")",
                _ => made(space),
            };
            let made_search = made(search);
            pairs += &format!(
                "try {{ examine({model}, {data}, #{{ space: {made_space}, search: {made_search}, seed: 1 }}); \
                 said.push(\"\"); }} catch (e) {{ said.push(`${{e.kind}}: ${{e.message}}`); }}\n"
            );
        }
    }
    let views = "let wide = data::glyphs(#{ n: 2, size: 32, channels: 3, seed: 1 }); let large = model::train(wide, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }); let coloured = data::glyphs(#{ n: 2, size: 16, channels: 3, seed: 1 }); let seen = model::train(data::glyphs(#{ n: 20, size: 16, channels: 3, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });";
    let Value::Array(said) = value(&format!("{GIVEN}\n{views}\nlet said = [];\n{pairs}said")) else {
        panic!("no list")
    };
    let pairs = SPACES.iter().flat_map(|space| SEARCHES.iter().map(move |search| (space, search)));
    for (((space, has), (search, needs)), said) in pairs.zip(&said) {
        let said = said.summary();
        let fits = needs.iter().any(|need| has.contains(need));
        assert_eq!(said.contains("has none of"), !fits, "search::{search} over space::{space}: {said}");
        // Chance can't be gone through, steps over factors are not of l2, and what a factor of the space is, is the space's own affair.
        let examined = said.is_empty() || said.contains("is chance") || said.contains("in l2, not in linf");
        assert!(!fits || examined, "search::{search} over space::{space}: {said}");
    }
}

#[test]
fn the_tables_name_every_space_and_search() {
    let of = |namespace: &str| -> Vec<String> {
        PRIMITIVES.iter().filter_map(|primitive| primitive.path.strip_prefix(namespace).map(String::from)).collect()
    };
    let (mut searches, mut spaces) = (of("search::"), of("space::"));
    assert!(searches.len() > 9 && spaces.len() > 9, "{searches:?} {spaces:?}");
    searches.retain(|name| !SEARCHES.iter().any(|(known, _)| known == name));
    spaces.retain(|name| !SPACES.iter().any(|(known, _)| known == name));
    assert_eq!((searches, spaces), (vec![], vec![]));
}

/// Translations and symmetries as settings: the worst of all points is what trying them all finds, and where a point is, its image is.
#[test]
fn finite_groups_are_searched_by_losses() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 8, seed: 1 });
        let look = |space, search| examine(f, ds, #{ space: space, search: search, seed: 1 });
        // Every point at least once, but with probability 30 * 9 * exp(-500 / 9).
        let all = look.call(space::translate(1), search::strongest());
        let drawn = look.call(space::translate(1), search::random(#{ questions: 500 }));
        let target = examine(f, ds, #{ space: space::translate(1), search: search::strongest(), objective: objective::target(3) });
        let both = look.call(space::translate(1) * space::flip(), search::random(#{ questions: 50 }));
        let turned = look.call(space::turn(), search::bayes(#{ questions: 8, first_questions: 4 }));
        let best = turned.column("loss");
        let exact = look.call(space::turn(), search::strongest()).column("loss");
        let learned = look.call(space::translate(2), search::policy(#{ questions: 64, batch: 16 }));
        let wrong = 0;
        let seen = 0;
        let answers = f.predict(both.images());
        for i in 0..both.len() {
            if answers[i] == both[i].after { seen += 1; }
        }
        #{
            worst: all.filter(|row| !(row.before != row.label)).mean("loss") <= drawn.filter(|row| !(row.before != row.label)).mean("loss") + 1e-5,
            same: all.success_rate() == drawn.success_rate(),
            point: drawn[0].point.keys() == ["dx", "dy"],
            size: drawn.column("magnitude").filter(|size| size > 1.5).len() == 0,
            targets: target.len() == 30 && target[0].target == 3 && target[0].point.keys() == ["dx", "dy"],
            product: both[0].point.keys() == ["dx", "dy", "symmetry"],
            images: seen == 30,
            turns: best.len() == 30 && best[0] >= 0.0 && exact.len() == 30,
            questions: learned.questions("dy").shape == [30, 64],
        }"#,
    );
}

/// Networks and closures alike, levels, the ball and its bounds; and a network whose gradient says nothing.
#[test]
fn the_square_attack_needs_no_gradients() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 40, size: 16, channels: 3, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(32), net::relu(), net::linear(10)], epochs: 30, lr: 0.005, seed: 1 });
        let black = model::from(|x| f.logits(x), #{ classes: 10 });
        let look = |f, norm, radius| examine(f, ds, #{
            space: space::pixels(norm, #{ radius: radius, bounds: [0, 1] }), search: search::square(#{ questions: 200 }), seed: 1,
        });
        let linf = look.call(f, "linf", 0.2);
        let l2 = look.call(f, "l2", 3.0);
        let levels = examine(f, ds, #{
            space: space::pixels("linf", #{ bounds: [0, 1] }), search: search::square(#{ questions: 60 }), levels: [0.02, 0.1, 0.3], seed: 1,
        });
        let shares = [0.02, 0.1, 0.3].map(|level| levels.filter(|row| row.level == level).success_rate());
        let moved = (linf.images() - linf.images("before")).abs();
        let flat = model::from(|x| f.logits(x) * 300, #{ classes: 10 });
        let again = look.call(black, "linf", 0.2);
        #{
            finds: linf.success_rate() > 0.8 && l2.success_rate() > 0.5,
            within: moved.max() <= 0.2 + 1e-6 && linf.images().max() <= 1 && linf.images().min() >= 0,
            ball: l2.column("magnitude").filter(|size| size > 3.0 + 1e-4).len() == 0,
            answers: f.predict(linf.images()).values() == linf.column("after"),
            black: again.column("after") == linf.column("after") && again.column("queries") == linf.column("queries"),
            few: linf.filter(|row| row.fooled && row.queries > 201).len() == 0 && linf.mean("queries") < 100,
            ascending: shares[0] <= shares[1] && shares[1] <= shares[2] && shares[2] > shares[0],
            // Scores that are far apart do not hide a thing from it.
            scaled: look.call(flat, "linf", 0.2).column("after") == linf.column("after"),
            targets: examine(f, ds, #{
                space: space::pixels("linf", #{ radius: 0.3 }), search: search::square(#{ questions: 100 }), objective: objective::shift(1), seed: 1,
            }).success_rate() > 0.3,
        }"#,
    );
    refused("examine(f, ds, #{ space: space::pixels(\"linf\"), search: search::square() })", "no radius");
    refused(
        "examine(f, ds, #{ space: space::pixels(\"linf\", #{ radius: 0.1 }), search: search::square(), levels: [0.2] })",
        "beyond the radius",
    );
    refused(
        "examine(f, ds, #{ space: space::pixels(\"linf\", #{ radius: 0.1 }), search: search::square(), at_steps: [1] })",
        "steps",
    );
}

/// Scores, and a closure that tells nothing but a label; with and without a ball.
#[test]
fn hopskipjump_hears_nothing_but_whether_an_image_fails() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, position: "centred", margin: 0, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(16), net::relu(), net::linear(10)], epochs: 60, lr: 0.01, seed: 1 });
        let labels = model::from(|x| (f.logits(x) * 1000000).softmax(), #{ classes: 10 });
        let look = |f, norm, how, options| examine(f, ds, #{
            space: space::pixels(norm, #{ bounds: [0, 1] }), search: search::hopskipjump(how), seed: 1,
        } + options);
        let l2 = look.call(f, "l2", #{ questions: 400 }, #{});
        let linf = look.call(f, "linf", #{ questions: 400 }, #{});
        let more = look.call(f, "l2", #{ questions: 1500 }, #{});
        let told = look.call(labels, "l2", #{ questions: 400 }, #{});
        let alone = look.call(f, "l2", #{ questions: 400 }, #{ batch: 7 });
        let other = look.call(f, "l2", #{ questions: 400 }, #{ seed: 2 });
        let levels = [0.5, 1.0, 2.0, 4.0];
        let at = look.call(f, "l2", #{ questions: 400 }, #{ levels: levels });
        let free = examine(f, ds, #{ space: space::pixels("l2"), search: search::hopskipjump(#{ questions: 200 }), seed: 1 });
        let ball = examine(f, ds, #{ space: space::pixels("l2", #{ radius: 2, bounds: [0, 1] }), search: search::hopskipjump(#{ questions: 400 }), seed: 1 });
        let sure = look.call(f, "l2", #{ questions: 400 }, #{ objective: objective::misclassify().confident(0.5) });
        let target = look.call(f, "linf", #{ questions: 200 }, #{ objective: objective::target(l2[0].after) });
        let near = examine(f, ds, #{ space: space::pixels("l2", #{ bounds: [0, 1] }), search: search::deepfool(), seed: 1 });
        let failed = |t| t.filter(|row| row.after != row.label);
        let moved = l2.images() - l2.images("before");
        let sizes = (moved * moved).reshape([20, 256]).sum(1).sqrt();
        let standing = |t| t.filter(|row| row.after == row.label && row.magnitude != 0.0).len() == 0;
        #{
            finds: failed.call(l2).len() == 20 && failed.call(linf).len() == 20,
            within: linf.images().min() >= 0.0 && linf.images().max() <= 1.0 && l2.images().min() >= 0.0 && l2.images().max() <= 1.0,
            bounded: l2.filter(|row| row.queries > 401).len() == 0 && l2.mean("queries") > 350,
            measured: (sizes - tensor::from(l2.column("magnitude"))).abs().max() < 1e-4,
            nearer: more.mean("magnitude") < 0.9 * l2.mean("magnitude") && more.mean("magnitude") < 2.0 * near.mean("magnitude"),
            labels_do: told.column("magnitude") == l2.column("magnitude"),
            in_any_batch: alone.column("magnitude") == l2.column("magnitude"),
            drawn: other.column("magnitude") != l2.column("magnitude"),
            levels_follow: levels.map(|level| failed.call(at).filter(|row| row.level == level).len())
                == levels.map(|level| failed.call(l2).filter(|row| row.magnitude <= level).len()),
            inside: at.filter(|row| row.magnitude > row.level + 1e-5).len() == 0 && standing.call(at) && standing.call(ball),
            stops_inside: ball.mean("queries") < l2.mean("queries") && ball.column("after") == at.filter(|row| row.level == 2.0).column("after"),
            answers: f.predict(l2.images()).values() == l2.column("after"),
            without_bounds: failed.call(free).len() == 20,
            clearly: sure.filter(|row| row.magnitude > 0.0 && row.margin > 0.0).len() == 0 && sure.mean("magnitude") > l2.mean("magnitude"),
            or_stays: target.filter(|row| row.after != row.target && row.magnitude != 0.0).len() == 0,
        }"#,
    );
    refused(
        "examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::hopskipjump(), objective: objective::misclassify().loss(\"cross_entropy\") })",
        "does not look for",
    );
}

/// Projected gradient descent with random starts: inside the ball, the same for a seed, never worse for more starts.
#[test]
fn bim_begins_at_random_and_anew() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 30, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(32), net::relu(), net::linear(10)], epochs: 30, lr: 0.005, seed: 1 });
        let look = |norm, radius, how, seed| examine(f, ds, #{
            space: space::pixels(norm, #{ radius: radius, bounds: [0, 1] }), search: search::bim(how), seed: seed,
        });
        let plain = look.call("linf", 0.03, #{ steps: 3, step: 0.01 }, 1);
        let one = look.call("linf", 0.03, #{ steps: 3, step: 0.01, start: "random" }, 1);
        let same = look.call("linf", 0.03, #{ steps: 3, step: 0.01, start: "random" }, 1);
        let other = look.call("linf", 0.03, #{ steps: 3, step: 0.01, start: "random" }, 2);
        let five = look.call("linf", 0.03, #{ steps: 3, step: 0.01, start: "random", restarts: 5 }, 1);
        let l2 = look.call("l2", 0.5, #{ steps: 3, step: 0.1, start: "random", restarts: 2 }, 1);
        let levels = examine(f, ds, #{
            space: space::pixels("linf", #{ bounds: [0, 1] }), search: search::bim(#{ steps: 2, start: "random" }), levels: [0.01, 0.05],
            at_steps: "all", seed: 1,
        });
        let worse = 0;
        for i in 0..30 { if five[i].margin > one[i].margin + 1e-5 { worse += 1; } }
        let begun = levels.filter(|row| row.step == 0 && row.level == 0.05);
        #{
            within: one.column("magnitude").filter(|size| size > 0.03 + 1e-6).len() == 0 && l2.column("magnitude").filter(|size| size > 0.5 + 1e-5).len() == 0,
            elsewhere: one.column("margin") != plain.column("margin"),
            as_it_stands: one.column("before") == plain.column("before"),
            seed: one.column("margin") == same.column("margin") && one.column("margin") != other.column("margin"),
            never_worse: worse == 0 && five.column("margin") != one.column("margin"),
            asked: plain[0].queries == 4 && one[0].queries == 5 && five[0].queries == 21,
            images: f.predict(five.images()).values() == five.column("after"),
            a_curve: levels.len() == 180 && begun.mean("magnitude") > 0.04 && begun.mean("magnitude") <= 0.05 + 1e-6,
            evenly: (begun.images() - begun.images("before")).abs().mean() < 0.03,
        }"#,
    );
    refused("search::bim(#{ restarts: 3 })", "go one way");
    refused(
        "examine(f, ds, #{ space: space::pixels(\"l2\"), search: search::bim(#{ start: \"random\" }) })",
        "no ball",
    );
    refused(
        "examine(f, ds, #{ space: space::pixels(\"l2\", #{ radius: 1 }), search: search::bim(#{ start: \"random\", restarts: 2 }), at_steps: [1, 2] })",
        "one step alone",
    );
}
