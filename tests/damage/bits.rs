//! One flipped bit, in every file that is read back.

use std::path::Path;
use std::rc::Rc;

use viva::core::{Cx, Journal};
use viva::script::Session;

use super::*;

fn flip(path: &Path, bit: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    let bit = bit % (bytes.len() * 8);
    bytes[bit / 8] ^= 1 << (bit % 8);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_file_of_an_interrupted_run_is_refused_by_name() {
    let home = home();
    let run = home.path().join("run");
    let (killed, whole) = interrupted();
    copied(killed, &run);
    let state = std::fs::read_dir(run.join("progress")).unwrap().map(|entry| entry.unwrap().path());
    let state =
        state.filter(|path| path.extension().is_some()).find(|path| path.to_str().unwrap().ends_with(".safetensors"));
    let state = state.unwrap().strip_prefix(&run).unwrap().display().to_string();
    let cases: Vec<(&str, usize)> = vec![
        ("manifest.json", 3001),
        ("progress/journal", 1234),
        ("progress/journal", 5000),
        (&state, 70),
        (&state, 9999),
        (&state, usize::MAX),
        ("inner.json", 3),
    ];
    side_by_side(&cases, |(name, bit)| {
        let copy = home.path().join(format!("{}-{bit}", name.replace('/', "-")));
        copied(&run, &copy);
        flip(&copy.join(name), *bit);
        let told = badly(resume(home.path(), &copy));
        assert!(told.contains("damaged") && told.contains(name), "{name}, bit {bit}: {told}");
        assert!(!copy.join("results.json").exists(), "{name}");
    });
    // What is whole goes on.
    well(resume(home.path(), &run));
    same(whole, &run, "resumed");
}

#[test]
fn no_bit_of_a_journal_can_be_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut cx = Cx::default();
    cx.set_journal(Journal::open(folder.path()).unwrap());
    let script = "let ds = data::glyphs(#{ n: 4, size: 16, seed: 1 });\n\
                  model::from(|x| x.reshape([x.len(), 256]).matmul(tensor::zeros([256, 10])), #{ classes: 10 }).predict(ds)";
    let ran = Session::new(Rc::new(cx)).run(Path::new("script.rhai"), script);
    ran.unwrap_or_else(|error| panic!("{}", error.render(false)));
    let path = folder.path().join("journal");
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() > 100, "{} bytes", bytes.len());
    for bit in 0..bytes.len() * 8 {
        flip(&path, bit);
        let error = Journal::open(folder.path()).map(drop).expect_err("refused").to_string();
        assert!(error.contains("damaged") && error.contains("journal"), "bit {bit}: {error}");
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(Journal::open(folder.path()).is_ok());
}

#[test]
fn a_damaged_file_of_a_finished_run_is_named_on_its_page_and_in_a_comparison() {
    let home = home();
    let run = home.path().join("run");
    well(begin(home.path(), &run));
    assert!(well(viva(home.path(), &["run", "run", "--verify", "--out", "again"])).contains("the results are equal"));
    well(viva(home.path(), &["report", "run"]));
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(!page.contains("Damaged, or not known"), "nothing is");
    let names = ["results.json", "printed.txt", "report.md", "tables/early.csv", "f.safetensors", "inner.json"];
    for name in names {
        flip(&run.join(name), 8);
    }
    well(viva(home.path(), &["report", "run"]));
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let told = badly(viva(home.path(), &["run", "run", "--verify", "--out", "more"]));
    for name in names {
        assert!(page.contains(&format!("{name}: damaged: not what the run wrote")), "{name}: {page}");
        assert!(told.contains(&format!("{name}: damaged")), "{name}: {told}");
    }
    let copy = home.path().join("copy");
    for name in ["script.rhai", "modules/part.rhai", "manifest.json"] {
        copied(&run, &copy);
        flip(&copy.join(name), 400);
        let told = badly(viva(home.path(), &["run", "copy"]));
        assert!(told.contains("damaged") && told.contains(name), "{name}: {told}");
        std::fs::remove_dir_all(&copy).unwrap();
    }
}
