//! Rules that hold for every primitive: each example runs and prints what it says, each name can be written in a script,
//! and the registry is the committed one.

use std::collections::HashSet;
use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::primitives::{Fallback, NAMESPACES, PRIMITIVES};
use viva::script::Session;

#[test]
fn every_example_gives_its_result() {
    let mut wrong = Vec::new();
    for primitive in PRIMITIVES {
        assert!(!primitive.examples.is_empty(), "{} has no example", primitive.path);
        for example in primitive.examples {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut cx = Cx::default();
            cx.set_folder(folder.path().to_path_buf());
            cx.set_output(Box::new(|_| {}));
            let mut session = Session::new(Rc::new(cx));
            match session.evaluate("example", example.code) {
                Ok(value) if example.result.is_empty() || value.summary() == example.result => {}
                Ok(value) => wrong.push(format!(
                    "{}: {} gave {}, not {}",
                    primitive.path,
                    example.code,
                    value.summary(),
                    example.result
                )),
                Err(error) => wrong.push(format!("{}: {}", primitive.path, error.render(false))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What one example does when the run is stopped at its n-th poll: whether it ended, and how many polls it made.
fn run_example(code: &str, stop_after: Option<u64>) -> (bool, u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    cx.set_output(Box::new(|_| {}));
    cx.stop_after(stop_after);
    let cx = Rc::new(cx);
    let outcome = Session::new(cx.clone()).evaluate("example", code);
    assert!(outcome.is_ok() || stop_after.is_some(), "{code}");
    (outcome.is_err_and(|error| error.is_interruption()), cx.polls())
}

#[test]
fn every_long_call_ends_where_it_is_stopped() {
    let mut long = 0;
    for example in PRIMITIVES.iter().flat_map(|primitive| primitive.examples) {
        let (_, polls) = run_example(example.code, None);
        if polls < 2 {
            continue;
        }
        long += 1;
        let (stopped, made) = run_example(example.code, Some(polls / 2));
        assert!(stopped, "{} went on to its end", example.code);
        assert!(made <= polls / 2 + 1, "{}: {made} polls where {} were enough", example.code, polls / 2 + 1);
    }
    assert!(long >= 5, "only {long} examples are long enough to be stopped half-way");
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
fn a_wrong_argument_of_any_primitive_is_an_error_that_names_it() {
    let cx = Cx::default();
    for primitive in PRIMITIVES {
        let too_many = vec![Value::Unit; 9];
        let error =
            primitive.call(&cx, too_many).err().unwrap_or_else(|| panic!("{} takes nine arguments", primitive.path));
        assert!(error.message.contains(primitive.path), "{}: {}", primitive.path, error.message);
        assert!(error.hint.is_some(), "{} gives no hint", primitive.path);
    }
}

#[test]
fn the_registry_is_the_committed_one() {
    let lines: Vec<String> = PRIMITIVES.iter().map(|p| format!("{}  ->  {}", p.signature(), p.returns)).collect();
    insta::assert_snapshot!("registry", lines.join("\n"));
}
