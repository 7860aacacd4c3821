//! Rules that hold for every primitive: each example runs and prints what it says, each name can be written in a script,
//! and the registry is the committed one.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::LazyLock;

use viva::core::{Cx, Value};
use viva::primitives::declared::declared;
use viva::primitives::stdlib::{stdlib_names, stdlib_text};
use viva::primitives::{
    Example, Fallback, NAMESPACES, PRIMITIVES, Primitive, declared as declarations, find, former, glossary, types,
};
use viva::script::Session;
use viva::script::check;

/// A session in a folder of its own, which goes with it.
fn session() -> (Session, Rc<Cx>, tempfile::TempDir) {
    // An example sets another number, and threads that wait for work take the cores of tests beside this one.
    viva::core::set_threads(1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    cx.set_output(Box::new(|_| {}));
    let cx = Rc::new(cx);
    (Session::new(cx.clone()), cx, folder)
}

/// An example of a primitive that was run.
struct Ran {
    path: &'static str,
    code: &'static str,
    result: &'static str,
    /// The summary of what came of it, or the error.
    gave: Result<String, String>,
    polls: u64,
}

/// All examples, run once for all tests.
static EXAMPLES: LazyLock<Vec<Ran>> = LazyLock::new(|| {
    let run = |path, example: &'static Example| {
        let (mut session, cx, _folder) = session();
        let value = session.evaluate("example", example.code);
        let gave = value.map(|value| value.summary()).map_err(|error| error.render(false));
        Ran { path, code: example.code, result: example.result, gave, polls: cx.polls() }
    };
    PRIMITIVES.iter().flat_map(|primitive| primitive.examples.iter().map(|e| run(primitive.path, e))).collect()
});

#[test]
fn no_example_is_refused_before_it_runs() {
    let (session, _cx, _folder) = session();
    for primitive in PRIMITIVES {
        for example in primitive.examples {
            let ast = session.compile("example", example.code).expect("an example that can be read");
            let found: Vec<String> = check(&session, &ast, example.code).into_iter().map(|of| of.message).collect();
            assert!(found.is_empty(), "{}: {}: {found:?}", primitive.path, example.code);
        }
    }
}

#[test]
fn every_example_gives_its_result() {
    for primitive in PRIMITIVES {
        assert!(!primitive.examples.is_empty(), "{} has no example", primitive.path);
    }
    let mut wrong = Vec::new();
    for Ran { path, code, result, gave, .. } in EXAMPLES.iter() {
        match gave {
            Ok(summary) if result.is_empty() || summary == result => {}
            Ok(summary) => wrong.push(format!("{path}: {code} gave {summary}, not {result}")),
            Err(error) => wrong.push(format!("{path}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_of_std_is_described_and_its_example_gives_its_result() {
    let mut wrong = Vec::new();
    for name in stdlib_names() {
        let module = name.trim_start_matches("std/");
        let functions =
            declared(module, stdlib_text(&name).expect("a text")).unwrap_or_else(|e| panic!("{}", e.message));
        for declared in functions.iter().filter(|f| f.public) {
            let (declaration, function) = (declared.declaration, &declared.declaration.function);
            let path = function.path;
            let takes = declared.arity > 0;
            for (bad, what) in [
                (!function.purpose.ends_with('.'), "its purpose is no sentence"),
                (function.returns.is_empty(), "does not say what it returns"),
                (function.examples.is_empty(), "has no example"),
                (takes && !declaration.checks, "does not declare what it takes"),
                (function.params.iter().any(|p| p.doc.is_empty()), "has an argument without a meaning"),
                (declared.arity > function.params.len() && function.options.is_empty(), "has no options"),
            ] {
                if bad {
                    wrong.push(format!("{path}: {what}"));
                }
            }
            for example in function.examples.iter().filter(|_| declaration.not_run.is_empty()) {
                let (mut session, _cx, _folder) = session();
                let import = |name: &str| format!("import \"std/{name}\" as {name};\n");
                let code = format!("{}{}", import(module), example.code);
                let begun = std::time::Instant::now();
                match session.evaluate("example", &code) {
                    Ok(value) if value.summary() == example.result => {}
                    Ok(value) => wrong.push(format!("{path} gave {}, not {}", value.summary(), example.result)),
                    Err(error) => wrong.push(format!("{path}: {}", error.render(false))),
                }
                println!("{path}: {:.1} s", begun.elapsed().as_secs_f64());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_long_call_ends_where_it_is_stopped() {
    let mut long = Vec::new();
    // The last statement of each is stopped at the poll in its middle.
    for Ran { path, code, polls, gave, .. } in EXAMPLES.iter().filter(|ran| ran.polls >= 2) {
        assert!(gave.is_ok(), "{code}");
        let (mut session, cx, _folder) = session();
        let (before, last) = code.rsplit_once(";\n").unwrap_or(("", code));
        session.evaluate("example", before).unwrap_or_else(|error| panic!("{before}: {}", error.render(false)));
        let begun = cx.polls();
        let polls = polls - begun;
        if polls < 2 {
            continue;
        }
        long.push(*path);
        cx.stop_after(Some(polls / 2));
        let stopped = session.evaluate("example", last).is_err_and(|error| error.is_interruption());
        let made = cx.polls() - begun;
        assert!(stopped, "{code} went on to its end");
        assert!(made <= polls / 2 + 1, "{code}: {made} polls where {} were enough", polls / 2 + 1);
    }
    for wanted in ["model::train", "model::train_linear", "examine", "risk::estimate", "risk::curve"] {
        assert!(long.contains(&wanted), "{wanted} was not stopped half-way; only {long:?} were");
    }
}

/// A value of another kind than the first parameter's, for every primitive that does not take just anything.
#[test]
fn a_wrong_kind_is_answered_with_the_name_of_the_argument() {
    let cx = Cx::default();
    let values = || vec![Value::Bool(true), Value::Str("words".into()), Value::Int(3), Value::Map(Default::default())];
    let mut checked = 0;
    for primitive in PRIMITIVES {
        let needed = primitive.params.iter().filter(|p| p.fallback == Fallback::Required).count().max(1);
        let Some(first) = primitive.params.first() else { continue };
        let Some(wrong) = values().into_iter().find(|value| first.kind.accept(value).is_none()) else { continue };
        if needed == 1 && matches!(wrong, Value::Map(_)) {
            continue;
        }
        let error =
            primitive.call(&cx, vec![wrong; needed]).err().unwrap_or_else(|| panic!("{} takes it", primitive.path));
        let named = error.message.contains(&format!("`{}` must be", first.name));
        assert!(named && error.message.starts_with(primitive.path), "{}: {}", primitive.path, error.message);
        checked += 1;
    }
    assert!(checked > PRIMITIVES.len() / 2, "only {checked} were checked");
}

#[test]
fn every_name_can_be_written_in_a_script() {
    let session = Session::new(Rc::new(Cx::default()));
    for primitive in PRIMITIVES {
        let call = match primitive.receiver() {
            Some(_) => format!("x.{}()", primitive.name()),
            None => format!("{}()", primitive.path),
        };
        let options: Vec<String> = primitive.options.iter().map(|option| format!("{}: 1", option.name)).collect();
        for text in [call, format!("#{{ {} }}", options.join(", "))] {
            assert!(session.compile("name", &text).is_ok(), "{text} does not parse");
        }
    }
}

#[test]
fn descriptions_are_complete_and_consistent() {
    let mut paths = HashSet::new();
    for primitive in PRIMITIVES {
        let path = primitive.path;
        assert!(paths.insert(path), "{path} is listed twice");
        if let Some(namespace) = primitive.namespace() {
            assert!(NAMESPACES.iter().any(|(name, _)| *name == namespace), "{namespace} has no line in NAMESPACES");
        }
        assert!(primitive.purpose.ends_with('.'), "{path}: the purpose is a sentence");
        assert!(!primitive.returns.is_empty(), "{path} does not say what it returns");
        let mut names = HashSet::new();
        for param in primitive.params.iter().chain(primitive.options) {
            assert!(names.insert(param.name), "{path}: {} twice", param.name);
            assert!(!param.doc.is_empty(), "{path}: {} is not explained", param.name);
        }
        let after = primitive.params.iter().skip_while(|p| p.fallback == Fallback::Required);
        assert!(
            after.clone().all(|p| p.fallback != Fallback::Required),
            "{path}: a needed argument follows one that is not"
        );
        if primitive.receiver().is_some() {
            assert!(!primitive.params.is_empty(), "{path}: a method needs its receiver");
        }
    }
}

#[test]
fn too_many_arguments_of_any_primitive_are_answered_with_how_to_call_it() {
    let cx = Cx::default();
    for primitive in PRIMITIVES {
        let too_many = vec![Value::Unit; 9];
        let error =
            primitive.call(&cx, too_many).err().unwrap_or_else(|| panic!("{} takes nine arguments", primitive.path));
        assert!(error.message.contains(primitive.path), "{}: {}", primitive.path, error.message);
        assert!(error.hint.is_some(), "{} gives no hint", primitive.path);
    }
}

/// A value of every type that has fields.
const VALUES: [&str; 28] = [
    "space::rotate(20)",
    "robustness::worst(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }) }))",
    "data::glyphs(#{ n: 3 })",
    "model::from(|x| tensor::zeros([x.shape[0], 10]))",
    "examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::translate(1), search: search::strongest() })",
    "risk::estimate(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), #{ radius: 1 })",
    "risk::n_model_test([risk::estimate(model::from(|x| tensor::zeros([x.shape[0], 10])), \
     data::glyphs(#{ n: 3, size: 16, seed: 1 }), #{ radius: 1 })])",
    "let f = model::train(data::glyphs(#{ n: 9 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
     tolerance::measure(f, data::glyphs(#{ n: 3 }), #{ space: space::noise(), levels: [1] })",
    "calibration::measure(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::noise(), search: search::sweep(), levels: [0], measures: [\"confidence\"] }))",
    "let f = model::train(data::glyphs(#{ n: 9 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
     let c = tolerance::measure(f, data::glyphs(#{ n: 3 }), #{ space: space::noise(), levels: [1] });
     tolerance::difference(c, c)",
    "let ds = data::glyphs(#{ n: 9, seed: 1 });
     let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 50, seed: 1 });
     tolerance::audit(f, ds, #{ space: space::pixels(\"linf\", #{ radius: 0.1 }), search: search::square(), questions: 1 })",
    "robustness::certify(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), #{ sigma: 0.1, samples: 20 })",
    "risk::plan([0.5, 0.0, 0.0, 0.0], #{ gap: 0.1, repeats: 50 })",
    "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
     let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 3, seed: 1 });
     risk::calibrate(f, ds, #{ radius: 1, equivalence_margin: 0.1 })",
    "let ds = data::glyphs(#{ n: 9 });
     generator::fid(ds, ds, model::train(ds, #{ arch: [net::flatten(), net::linear(2), net::linear(10)], epochs: 1 }))",
    "plot::line([1, 2], [3, 4])",
    "plot::animation([plot::line([1, 2], [3, 4])])",
    "generator::train(data::glyphs(#{ n: 9 }), #{ steps: 1, batch: 4 })",
    "let ds = data::glyphs(#{ n: 9 });
     let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
     generator::tests(generator::train(ds, #{ steps: 1, batch: 4 }), f, #{ n: 1 })",
    "let ds = data::glyphs(#{ n: 9 });
     let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
     generator::perturb(generator::train(ds, #{ steps: 1, batch: 4 }), f, #{ n: 1, steps: 2, layers: [1], samples: 9 })",
    "robustness::weaknesses(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::rotate(20), search: search::random(#{ questions: 30 }) }))",
    "robustness::level_set(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 1 }], |z, s| z), search: search::random(#{ questions: 3 }) }), [\"a\", \"b\"])",
    "robustness::boundary(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 1 }], |z, s| z), search: search::random(#{ questions: 3 }) }), [\"a\", \"b\"], #{ places: 4 })",
    "robustness::counterfactual(examine(model::from(|x| tensor::zeros([x.shape[0], 10])), data::glyphs(#{ n: 3, size: 16 }), \
     #{ space: space::rotate(20), search: search::counterfactual(#{ random_questions: 3 }) }))",
    "let f = model::train(data::glyphs(#{ n: 9, size: 16 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
     robustness::sensitivity(examine(f, data::glyphs(#{ n: 3, size: 16 }), #{ space: space::rotate(20), search: search::radial() }))",
    "people::judgements([#{ worker: 1, item: 2, answer: 3 }])",
    "people::task(data::glyphs(#{ n: 3, size: 16 }), #{ kind: \"realism\" })",
    "let t = people::task(data::glyphs(#{ n: 3, size: 16 }), #{ kind: \"realism\" });
     people::answers(t, t.asked(0).map(|q| #{ worker: 1, slot: 0, question: q.question, choice: 0 }))",
];

#[test]
fn types_list_the_fields_that_their_values_answer() {
    let mut seen = HashSet::new();
    for text in VALUES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut cx = Cx::default();
        cx.set_folder(folder.path().to_path_buf());
        let value = Session::new(Rc::new(cx)).evaluate("value", text).expect("a value");
        let Value::Object(object) = &value else { panic!("{text} is a {}", value.kind()) };
        let kind = types::find(object.kind()).unwrap_or_else(|| panic!("{} has no line in TYPES", object.kind()));
        let listed: Vec<&str> = kind.fields.iter().map(|field| field.name).collect();
        assert_eq!(listed, object.fields(), "{}", kind.name);
        seen.insert(kind.name);
    }
    for kind in types::TYPES {
        assert!(kind.fields.is_empty() || seen.contains(kind.name), "no value of {} was looked at", kind.name);
    }
    for receiver in PRIMITIVES.iter().filter_map(|p| p.receiver()) {
        assert!(types::find(receiver).is_some(), "{receiver} has no line in TYPES");
    }
}

/// A word has one meaning, or the glossary says which it has where.
#[test]
fn the_glossary_says_what_every_option_means() {
    let problems = glossary::problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(glossary::entries().len() > 150);
}

fn function_of(path: &str) -> Option<&'static Primitive> {
    find(path).or_else(|| declarations::of_stdlib(path).map(|declaration| &declaration.function))
}

#[test]
fn former_spellings_are_refused_with_the_present_ones() {
    let session = Session::new(Rc::new(Cx::default()));
    let said = |text: &str| {
        let ast = session.compile("former", text).unwrap_or_else(|_| panic!("{text}"));
        let found = check(&session, &ast, text);
        found.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("\n")
    };
    for (calls, was, now) in former::options() {
        for call in calls.iter().filter(|call| **call != former::ADVERSARIAL) {
            let function = function_of(call).unwrap_or_else(|| panic!("there is no {call}"));
            let has = |name: &str| function.params.iter().chain(function.options).any(|param| param.name == name);
            assert!(has(now) && !has(was), "{call}: {was} is {now}");
            assert_ne!(now, was);
            if function.option_names().any(|name| name == now) {
                let module = call.split("::").next().filter(|_| find(call).is_none());
                let import = module.map_or(String::new(), |name| format!("import \"std/{name}\" as {name}; "));
                let values = vec!["1"; function.params.len()].join(", ");
                let comma = if values.is_empty() { "" } else { ", " };
                let message = said(&format!("{import}{call}({values}{comma}#{{ {was}: 1 }})"));
                assert!(message.contains(&format!("`{was}` is called `{now}` now")), "{call}: {message}");
            }
        }
    }
    for (was, now) in former::functions() {
        assert!(find(was).is_none() && (now.starts_with('.') || find(now).is_some()), "{was} is {now}");
        let call = was.split_once('.').map_or(format!("{was}()"), |(_, method)| format!("let t = 1; t.{method}()"));
        assert!(said(&call).contains(&format!("`{now}")), "{call}: {}", said(&call));
    }
    let run = |text: &str| Session::new(Rc::new(Cx::default())).evaluate("former", text).err().and_then(|e| e.hint);
    for (text, hint) in [
        ("search::sample(#{ n: 3 })", "`search::sample` is called `search::random` now"),
        ("search::random(#{ n: 3 })", "`n` is called `questions` now"),
        ("space::pixels(\"l2\", #{ within: 1 })", "`within` is called `radius` now"),
        ("space::pixels(\"l2\", #{ eps: 1 })", "the size of the ball is its `radius`"),
        ("search::pgd()", "projected gradient descent is search::bim(#{ start: \"random\" })"),
        ("search::apgd(#{ loss: \"dlr\" })", "an objective has the loss: objective::misclassify().loss(\"dlr\")"),
        ("search::bim(#{ start: \"random\" })", ""),
        ("objective::misclassify().loss(\"dlr\")", ""),
        ("data::glyphs(#{ n: 2 }).standardize()", "`standardize` is spelt `standardise` here"),
        ("import \"std/testgen\" as t; t::subject(#{ robust: 0.1 })", "`robust` is called `radius` now"),
        (
            "let t = model::from(|x| tensor::zeros([x.shape[0], 10])); risk::estimate(t, data::glyphs(#{ n: 2 }), #{ search: \"random\" })",
            "\"random\" is called \"blind\" now",
        ),
    ] {
        // What is advised runs.
        assert_eq!(run(text).unwrap_or_default(), hint, "{text}");
    }
}

/// What was made under another name is the same: digests, from which random streams are made, go by the first spelling.
#[test]
fn a_better_name_changes_no_digest() {
    use viva::core::Digest;
    let latent = "let g = generator::train(data::glyphs(#{ n: 9, seed: 1 }), #{ steps: 1, batch: 4, seed: 1 }); ";
    let mut seen = 0;
    for (text, first) in [
        (
            "space::pixels(\"linf\", #{ radius: 0.3, bounds: [0, 1] })",
            "space pixels(\"linf\", #{ within: 0.3, bounds: [0.0, 1.0] })",
        ),
        ("space::deform(#{ radius: 3 })", "space deform(#{ within: 3.0 })"),
        ("space::noise(0.1) * space::rotate(3)", "space noise(0.1) * rotate(3.0, #{ fill: 0.0 })"),
        ("search::random(#{ questions: 7 })", "search sample(#{ n: 7 })"),
        ("search::blind()", "search random()"),
        ("search::blind_or_stay()", "search random2()"),
        ("search::square()", "search square(#{ n: 1000, share: 0.8 })"),
        (
            "search::bayes()",
            "search bayes(#{ steps: 100, candidates: 600, lengthscales: \"each\", random_share: 0.1, batch: 1 })",
        ),
        (
            "search::policy(#{ questions: 9 })",
            "search policy(#{ steps: 9, batch: 16, bins: 100, hidden: 64, lr: 0.01, baseline: 0.9, random_share: 0.25 })",
        ),
        (
            "search::adam(#{ first_radius: 1, growth: 1.03 })",
            "search adam(#{ lr: 0.01, steps: 1000, bound: 1.0, factor: 1.03 })",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut cx = Cx::default();
        cx.set_folder(folder.path().to_path_buf());
        let value = Session::new(Rc::new(cx)).evaluate("value", text).expect("a value");
        let Value::Object(object) = &value else { panic!("{text} is a {}", value.kind()) };
        assert_eq!(object.digest(), Digest::of(first.as_bytes()), "{text}");
        seen += 1;
    }
    assert_eq!(seen, 10);
    let space = |options: &str| {
        let text = format!("{latent}space::latent(g, #{{ layers: 0..2, samples: 9{options} }})");
        let value = Session::new(Rc::new(Cx::default())).evaluate("value", &text).expect("a space");
        let Value::Object(object) = &value else { panic!("{} is no space", value.kind()) };
        // What is said of the generator's labels is no part of the space.
        (object.digest(), object.summary().split("; caution").next().unwrap_or_default().to_string())
    };
    for options in [", radius: 5", ", radius: 5, directions: 2, seed: 3"] {
        let (digest, summary) = space(options);
        assert!(summary.contains("radius: 5.0"), "{summary}");
        assert_eq!(digest, Digest::of(summary.replace("radius:", "within:").as_bytes()), "{summary}");
    }
    // What a call draws that has no seed of its own follows from its name and its arguments, as they were first called.
    for (path, name, first) in [
        ("examine", "at_steps", "steps"),
        ("risk::estimate", "radius", "epsilon"),
        ("info::interval", "replicates", "shuffles"),
        ("generator::finetune", "combine", "loss"),
        ("generator::perturb", "first_radius", "bound"),
        ("examine", "levels", "levels"),
    ] {
        assert_eq!(former::first_name(path, name), first);
    }
    assert_eq!(former::first_path("risk::curve"), "RiskReport.curve");
    assert_eq!(former::first_word("risk::estimate", "search", "blind"), "random");
}

#[test]
fn the_registry_is_the_committed_one() {
    let lines: Vec<String> = PRIMITIVES.iter().map(|p| format!("{}  ->  {}", p.signature(), p.returns)).collect();
    insta::assert_snapshot!("registry", lines.join("\n"));
}
