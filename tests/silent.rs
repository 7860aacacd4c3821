//! Nothing is silently wrong: one case for everything that once gave a wrong or misleading answer without a word.
#![allow(clippy::unwrap_used)]

use crate::truths;
use std::path::Path;
use std::rc::Rc;

use tch::{Device, Kind, Tensor};
use viva::core::{Cx, Value};
use viva::script::Session;

mod aims;
mod batches;
mod clusters;
mod doubts;
mod figures;
mod given_up;
mod gradients;
mod inputs;
mod intervals;
mod language;
mod learned;
mod marks;
mod measures;
mod models;
mod pictures;
mod provenance;
mod recipes;
mod reproducible;
mod selected;
mod tables;
mod verdicts;
mod witnesses;

/// A network of tests/golden/misleading.py.
fn golden(name: &str) -> String {
    format!("{}/tests/golden/{name}.pt", env!("CARGO_MANIFEST_DIR"))
}

/// A script about it, `f`, and a few images, `ds`.
fn with_golden(name: &str, script: &str) -> String {
    let path = golden(name);
    format!(
        r#"let ds = data::glyphs(#{{ n: 12, size: 16, seed: 1 }});
           let f = model::load("{path}", #{{ input: [1, 16, 16] }});
           {script}"#
    )
}

/// A program of its own for images 1 x 16 x 16, three classes: what `end` makes of a linear layer's scores and the images.
fn traced(folder: &Path, name: &str, end: fn(&Tensor, &Tensor) -> Tensor) {
    let weights = (Tensor::arange(256 * 3, (Kind::Float, Device::Cpu)) * 0.7).sin().reshape([256, 3]);
    let mut forward = |given: &[Tensor]| vec![end(&given[0].flatten(1, -1).matmul(&weights), &given[0])];
    let example = Tensor::rand([4, 1, 16, 16], (Kind::Float, Device::Cpu));
    let program = tch::CModule::create_by_tracing(name, "forward", &[example], &mut forward).unwrap();
    program.save(folder.join(name).with_extension("pt")).unwrap();
}

/// What a script gives in a folder, or the error that its user reads.
fn run_in(folder: &Path, script: &str) -> Result<Value, String> {
    let mut cx = Cx::default();
    cx.set_folder(folder.to_path_buf());
    Session::new(Rc::new(cx)).run(&folder.join("script.rhai"), script).map_err(|error| error.render(false))
}

fn run(script: &str) -> Result<Value, String> {
    run_in(tempfile::tempdir().unwrap().path(), script)
}

/// What a script warns of.
fn warnings(script: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    let cx = Rc::new(cx);
    let ran = Session::new(cx.clone()).run(&folder.path().join("script.rhai"), script);
    ran.unwrap_or_else(|error| panic!("{}", error.render(false)));
    cx.warnings()
}

/// Runs a script that answers a map of truths.
#[track_caller]
fn truths(script: &str) {
    truths::hold(&run(script).unwrap_or_else(|error| panic!("{error}")));
}

/// The script is refused, in these words.
#[track_caller]
fn refused(script: &str, words: &str) {
    let error = run(script).map(|value| value.summary()).expect_err(script);
    assert!(error.contains(words), "{script}: {error}");
}
