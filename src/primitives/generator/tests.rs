//! Tests from a generator.

use super::oracle::{ORACLE, oracle};
use crate::core::{Cx, Error, Result, Value};
use crate::generator::Generator;
use crate::model::Model;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::{WantedTests, generated_tests};

/// Which tests are wanted: options of all that make some.
pub(super) const TARGET: Param = Param::new("target", Kind::Int, "the label that the classifier is to give")
    .or(Fallback::Absent("any but the intended one"))
    .range(0.0, 1e6);
pub(super) const LABELS: Param = Param::new("labels", Kind::Numbers, "what images are drawn as")
    .or(Fallback::Absent("every label but the target"))
    .range(0.0, 1e6);
pub(super) const SECONDS: Param =
    Param::new("seconds", Kind::Float, "time per label, at most; with it the result depends on the machine's speed")
        .or(Fallback::Absent("no limit"))
        .range(1e-3, 1e9)
        .unit("seconds");

pub static TESTS: Primitive = Primitive {
    path: "generator::tests",
    purpose: "Draws images and keeps those that a classifier gets wrong.",
    params: &[super::GENERATOR, Param::new("f", Kind::Object("Model"), "the classifier under test")],
    options: &[
        Param::new("n", Kind::Int, "tests of each label").or(Fallback::Int(200)).range(1.0, 1e7).unit("images"),
        TARGET,
        LABELS,
        Param::new("draws", Kind::Int, "images drawn per label, at most")
            .or(Fallback::Int(20_000))
            .range(1.0, 1e9)
            .unit("images"),
        SECONDS,
        ORACLE,
        SEED,
    ],
    returns: "GeneratedTests: `images` with the labels that they were drawn as, `predictions`, `tests` and `draws` per label, `kept` and `judged_by`, ...",
    notes: "Whether an image shows what it was drawn as, people must say or, in their place, the oracle: `kept_share` is the share of tests of which \
            it says so. A generator that is misread because it draws nothing that anybody can read makes no tests, so where nobody is \
            asked the summary says candidates. An oracle of the make of `f`, or one that learned from the same images, shares its mistakes \
            and says that less is kept than people would; the classifier under test itself is refused, and one that answers as it does in \
            another file is told, as one that reads far fewer draws is. `draws` counts up to the last test that was needed; \
            of such draws (tests - 1) / (draws - 1) is the share that is misread, with its exact interval at 95%; of draws that ended before, tests / draws with Wilson's. \
            `share` is the mean over labels, however many draws each took, with an interval made of theirs. Tests that are copies of others, or differ by less \
            than a tenth of how much pixels vary within images (root mean square both, 20 dB), are counted in `cautions`, of 10,000 tests at most: intervals are too \
            narrow for that.",
    source: "Dunn 2022, Section 4.2; Haldane 1945; Lui 1995; Zou and Donner 2008",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               generator::tests(g, f, #{ n: 3, labels: [2, 5], draws: 500, seed: 1 }).images.len()",
        result: "6",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let (generator, model) = (args.object::<Generator>("g"), args.object::<Model>("f"));
    let wanted = wanted(cx, args, &generator, &model)?;
    Ok(Value::object(generated_tests(cx, &generator, &model, &wanted)?))
}

/// The options that say which tests are wanted.
pub(super) fn wanted(cx: &Cx, args: &Args, generator: &Generator, model: &Model) -> Result<WantedTests> {
    super::check_pair(cx, generator, model)?;
    cx.record_input("model", &model.name, crate::core::Object::digest(model));
    let of_images = generator.encoded().map(|encoded| encoded.classes().len() as i64);
    let Some(classes) = generator.classes().or(of_images) else {
        return Err(Error::model(format!(
            "{} takes no labels, so nothing says what its images are to show",
            generator.name
        ))
        .hint("tests need a generator with labels"));
    };
    let known = model.classes().unwrap_or_default();
    let target = args.optional_int("target");
    if let Some(target) = target.filter(|target| *target >= known) {
        return Err(Error::argument(format!("`target` {target}: {} has {known} classes", model.name)));
    }
    let labels = match args.get("labels") {
        None => (0..classes).filter(|label| Some(*label) != target).collect(),
        Some(_) => {
            let given = args.numbers("labels");
            if let Some(odd) = given.iter().find(|x| x.fract() != 0.0 || **x >= classes as f64) {
                return Err(Error::argument(format!("`labels`: {} has no label {odd}", generator.name))
                    .hint(format!("labels go from 0 to {}", classes - 1)));
            }
            let labels: Vec<i64> = given.into_iter().map(|x| x as i64).collect();
            if target.is_some_and(|target| labels.contains(&target)) {
                return Err(Error::argument("`labels` has the target, which would be right about them"));
            }
            labels
        }
    };
    let mut different = labels.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() < labels.len() {
        return Err(Error::argument("`labels` has a label twice, which would give the same tests again"));
    }
    if labels.is_empty() {
        return Err(Error::argument("`labels` is empty"));
    }
    Ok(WantedTests {
        n: args.count("n"),
        target,
        labels,
        draws: args.count("draws"),
        seconds: args.optional_float("seconds"),
        oracle: oracle(cx, args, generator, model)?,
        seed: args.seed(),
    })
}
