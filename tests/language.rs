//! The rules of the language, through the interpreter.

use std::rc::Rc;

use viva::core::{Cx, Value};
use viva::script::{Diagnostic, Session, check, check_files, script_arguments};

fn session() -> Session {
    Session::new(Rc::new(Cx::default()))
}

fn value(text: &str) -> Value {
    session().evaluate("test", text).unwrap_or_else(|error| panic!("{text}: {}", error.render(false)))
}

fn error(text: &str) -> Box<Diagnostic> {
    match session().evaluate("test", text) {
        Ok(value) => panic!("{text} gave {}", value.summary()),
        Err(error) => error,
    }
}

#[test]
fn numbers_behave_as_researchers_expect() {
    for (text, expected) in [
        ("8/255", "0.0313725"),
        ("7 / 2 * 2", "7.0"),
        ("1e-20 > 0.0", "true"),
        ("0.1 + 0.2 == 0.3", "false"),
        ("1 == 1.0 && 1 < 1.5 && 2.5 >= 2", "true"),
        ("div(7, 2)", "3"),
        ("7 % 4", "3"),
        ("let x = 3; x /= 2; x", "1.5"),
        ("let a = [5]; a[0] /= 2; a[0]", "2.5"),
        ("sqrt(4) + log2(8)", "5.0"),
        ("2 ** 10", "1024"),
        ("2 ** -1", "0.5"),
        ("min(1, 2.5) + max(1, 0.5)", "2.0"),
        ("0/0 == 0/0", "false"),
        ("const K = 8/255; K", "0.0313725"),
        ("let a = [3, 1.5, 2]; a.sort(); a", "[1.5, 2, 3]"),
        ("[\"b\", \"a\", \"c\"].order_desc()", "[c, b, a]"),
        ("min(0.0/0, 1.0).is_nan() && max(2, 0.0/0).is_nan()", "true"),
        ("(-2.7).to_int() + 2.7.to_int()", "0"),
        ("(-9223372036854775808.0).to_int() < 0", "true"),
        (
            "let a = []; for i in 0..60 { a.push(9007199254740993 + i % 7); a.push(9007199254740992.0 + i % 5 * 2); } a.sort(); a[0] == 9007199254740992.0 && a[119] == 9007199254741000.0",
            "true",
        ),
        ("let a = [2, 1.5, -1, 1.5e300, -2.5]; a.sort_desc(); a", "[1.5e300, 2, 1.5, -1, -2.5]"),
    ] {
        assert_eq!(value(text).summary(), expected, "{text}");
    }
}

/// What Rhai's own functions answer without a word.
#[test]
fn what_has_no_order_or_is_no_int_is_refused() {
    for (text, words) in [
        ("[3.0, 0.0/0, 1.0].order()", "element 1 is NaN, which has no order"),
        ("let a = [1, \"a\"]; a.sort()", "sort: an int and a string have no order"),
        ("[#{ a: 1 }, #{ a: 2 }].order_desc()", "two of map have no order"),
        ("(0.0/0).to_int()", "NaN is no int"),
        ("1e300.to_int()", "1e300 is no int"),
        ("sleep(0.0/0)", "NaN is no number of seconds"),
        ("sleep(\"a\")", "there is no function `sleep` for string"),
        ("const V = [2, 1]; V.sort()", "constant"),
        ("tensor::permutation(3) * 9223372036854775807", "beyond what 64 bits hold"),
        ("let p = tensor::permutation(3) * 4611686018427387904; p + p", "beyond what 64 bits hold"),
        ("(0..3).filter(|i| i > 0)", "a range has no `filter`"),
    ] {
        let error = error(text);
        assert!(error.message.contains(words), "{text}: {}", error.message);
        let hint = error.hint.unwrap_or_default();
        assert!(!hint.contains("did you mean `sleep`"), "{text}: {hint}");
    }
}

#[test]
fn tensors_add_up() {
    assert_eq!(value("(tensor::permutation(16777218) + 2).max().to_int()").summary(), "16777219");
    assert_eq!(value("let p = tensor::permutation(3); (1 - p).values().len() + (p * 2).max()").summary(), "7.0");
    assert_eq!(value("let x = tensor::from([[1, 2], [3, 4]]); (x * 2 + x - 1 / x).sum()").summary(), "27.9167");
    assert_eq!(value("(1 - tensor::from([3]))[0]").summary(), "-2.0");
    assert_eq!(value("let x = tensor::from([4, 5]); x.len + x.len()").summary(), "4");
    assert_eq!(value("tensor::from([1, 2, 3])[-1]").summary(), "3.0");
    assert_eq!(value("(tensor::from([1, 3]) > 2).values()").summary(), "[0, 1]", "comparisons go element by element");
    assert_eq!(value("tensor::from([1.0/0, 0.0/0, 2])").summary(), "tensor float [3], 2.0 to inf, 1 NaN, 1 infinite");
    let wrong = error("tensor::zeros([2]) + tensor::zeros([3])");
    assert!(wrong.message.contains("[2]") && wrong.message.contains("[3]"), "{}", wrong.message);
}

#[test]
fn errors_name_the_place_and_a_way_out() {
    let unknown = error("let a = 1;\nlet b = tensr::zeros([2]);");
    let place = unknown.place.clone().expect("a place");
    assert_eq!((place.line, unknown.hint.as_deref()), (2, Some("did you mean `tensor`?")));
    assert!(unknown.render(false).contains("let b = tensr::zeros([2]);"), "the line is shown");
    assert_eq!(error("tensor::zeroes([2])").hint.as_deref(), Some("did you mean `tensor::zeros`?"));
    for text in ["let v = [1]; v.push(1, 2)", "let v = [1]; push(v, 1, 2)", "print(1, 2)"] {
        let hint = error(text).hint.unwrap_or_default();
        assert!(
            hint.contains("another number of them") || hint.contains("one text with the values in it"),
            "{text}: {hint}"
        );
    }
    assert_eq!(error("zeros([2])").hint.as_deref(), Some("did you mean `tensor::zeros`?"));
    assert_eq!(error("seed(\"a\")").message, "seed: `n` must be an int, got string a");
    assert!(error("seed(1/2)").hint.expect("a hint").contains("div(a, b)"));
    assert_eq!(value("seed(4/2)").summary(), "()", "a whole float is an int");
    assert!(error("tensor::zeros()").hint.expect("a hint").contains("tensor::zeros(shape)"));
    assert!(error("\"a\" - 2").message.contains("string, int"));
    assert_eq!(error("lenght").message, "there is no variable `lenght`");
    assert_eq!(
        error("let a = 1;\n/* open\na").place.map(|place| place.line),
        Some(2),
        "an open comment is no end of script"
    );
    assert_eq!(
        value("\"/* no comment\" + `/*` /* a /* nested */ one */ // and /* this\n").summary(),
        "/* no comment/*"
    );
    assert!(error("let f = |x, y| x; f.call(1)").message.contains("a closure does not take 1 argument"));
    assert!(
        error("import \"std/zoo\" as zoo; zoo::lenet5()").message.contains("std/zoo has no function `zoo::lenet5`")
    );
    assert!(
        error("import \"std/zoo\" as zoo; zoo::galloway(1)").hint.is_some_and(|hint| hint.contains("zoo::galloway()"))
    );
    for unfinished in ["/* more", "1 +", "let a = [1,\n", "fn f(a) {\n  a", "`two", "x.", "#{ a: 1"] {
        assert!(error(unfinished).incomplete, "{unfinished}");
    }
    for wrong in ["1 + + 2)", "\"two", "let 3 = 4", "(1; 2)"] {
        assert!(!error(wrong).incomplete, "{wrong}");
    }
}

#[test]
fn scripts_catch_errors_and_read_their_parts() {
    let caught = value("let e = (); try { seed(\"a\") } catch (x) { e = [x.kind, x.message, x.hint] } e");
    assert_eq!(caught.summary(), "[argument, seed: `n` must be an int, got string a, ]");
    assert_eq!(error("throw \"oops\"").message, "oops");
}

#[test]
fn what_a_line_defines_stays_for_the_next() {
    let mut session = session();
    for line in [
        "import \"std/overfitting\" as std_module;",
        "fn twice(x) { x * 2 }",
        "const LIMIT = 5;",
        "let add = |x| x + LIMIT;",
        "let x = twice(4);",
    ] {
        session.evaluate("line", line).unwrap_or_else(|error| panic!("{line}: {}", error.render(false)));
    }
    assert_eq!(session.evaluate("line", "add.call(twice(x))").expect("runs").summary(), "21");
    for i in 0..10 {
        session.evaluate("line", &format!("let big = tensor::zeros([{i}]);")).expect("runs");
    }
    assert_eq!(session.evaluate("line", "big.len").expect("runs").summary(), "9", "the newest counts");
    session.evaluate("line", "let LIMIT = 6;").expect("a variable may take a constant's name");
    assert_eq!(session.evaluate("line", "LIMIT").expect("runs").summary(), "6");
    let names: Vec<String> = session.variables().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.last().map(String::as_str), Some("LIMIT"), "newest last");
    assert_eq!(session.variables().iter().filter(|(name, _)| name == "big").count(), 1);
    assert!(session.evaluate("line", "let y = 1; y.nothing()").is_err());
    assert_eq!(session.evaluate("line", "x").expect("variables survive an error").summary(), "8");
}

#[test]
fn an_error_in_an_imported_module_names_the_module_and_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let module = "// a module\n\nfn fine() {\n    1\n}\nfn broken() {\n    tensor::zeros(\"x\")\n}\n";
    std::fs::create_dir(folder.path().join("parts")).expect("a folder");
    std::fs::write(folder.path().join("parts/shapes.rhai"), module).expect("a module");
    let script = folder.path().join("main.rhai");
    let text = "import \"parts/shapes\" as shapes;\nlet a = shapes::fine();\nshapes::broken()\n";
    let error = session().run(&script, text).expect_err("the module is broken");
    let place = error.place.clone().expect("a place");
    assert!(place.source.ends_with("shapes.rhai") && place.line == 7, "{}", error.render(false));
    assert!(error.calls[0].contains("broken") && error.calls[0].contains("main.rhai:3"), "{:?}", error.calls);

    std::fs::write(folder.path().join("parts/bad.rhai"), "let a = 1;\nlet b = (2;\n").expect("a module");
    let error = session().run(&script, "import \"parts/bad\" as bad;").expect_err("can't be parsed");
    assert_eq!(error.place.map(|p| (p.line, p.source.ends_with("bad.rhai"))), Some((2, true)));
    let error = session().run(&script, "import \"parts/none\" as none;").expect_err("no such file");
    assert!(error.message.contains("none.rhai"), "{}", error.message);
    std::fs::write(folder.path().join("circle.rhai"), "import \"circle\" as c;").expect("a module");
    let error = session().run(&script, "import \"circle\" as c;").expect_err("imports itself");
    assert!(error.message.contains("imports itself"), "{}", error.message);
    let error = session().run(&script, "import \"std/overfiting\" as o;").expect_err("misspelt");
    assert_eq!(error.hint.as_deref(), Some("did you mean `std/overfitting`?"));
}

#[test]
fn arguments_take_the_type_of_their_default() {
    let with = |name: &str, given: &str, text: &str| {
        let mut cx = Cx::default();
        cx.set_arguments([(name.to_string(), given.to_string())].into());
        Session::new(Rc::new(cx)).evaluate("test", text)
    };
    assert_eq!(with("n", "12", "fn f() { arg(\"n\", 5) + 1 } f()").expect("an int").summary(), "13");
    assert_eq!(with("x", "2", "arg(\"x\", 0.5)").expect("a float").summary(), "2.0");
    assert_eq!(with("full", "", "arg(\"full\", false)").expect("a flag").summary(), "true");
    let error = with("n", "many", "arg(\"n\", 5)").expect_err("not a number");
    assert!(error.message.contains("--n") && error.message.contains("many"));
}

#[test]
fn a_script_writes_only_where_it_may() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run");
    std::fs::create_dir(&run).expect("a folder");
    std::os::unix::fs::symlink(folder.path(), run.join("out")).expect("a link");
    let outside = folder.path().join("outside.json");
    let mut cx = Cx::default();
    cx.set_folder(run.clone());
    let mut session = Session::new(Rc::new(cx));
    session.evaluate("test", "[1, 2.5].save(\"deep/er/numbers.json\")").expect("below the run folder");
    assert_eq!(std::fs::read_to_string(run.join("deep/er/numbers.json")).expect("written"), "[\n  1,\n  2.5\n]\n");
    for path in ["../outside.json", "out/outside.json", "deep/../../outside.json", &outside.display().to_string()] {
        let error = session.evaluate("test", &format!("[1].save({path:?})")).expect_err(path);
        assert_eq!(error.kind, "permission", "{path}");
        assert!(error.hint.expect("a hint").contains("--allow-write"));
    }
    assert!(!outside.exists());
    let error = session.evaluate("test", "[1].save(\"numbers.xyz\")").expect_err("no such format");
    assert!(error.hint.expect("a hint").contains("json"));

    let mut cx = Cx::default();
    cx.set_folder(run);
    cx.allow_write(folder.path().to_path_buf());
    let mut session = Session::new(Rc::new(cx));
    session.evaluate("test", &format!("[1].save({:?})", outside.display().to_string())).expect("allowed");
    assert!(outside.exists());
}

#[test]
fn an_interruption_ends_a_script_and_can_not_be_caught() {
    let cx = Rc::new(Cx::default());
    cx.stop_flag().store(true, std::sync::atomic::Ordering::SeqCst);
    let mut session = Session::new(cx);
    let error = session.evaluate("test", "try { loop { } } catch { 1 }").expect_err("stopped");
    assert!(error.is_interruption(), "{}", error.message);
}

#[test]
fn check_finds_mistakes_without_running() {
    let session = session();
    let text = "import \"std/overfitting\" as o;\n\
                let x = tensor::zeroes([2]);\n\
                fn f(a) { prnt(a) }\n\
                f(1); o::anything(2);\n\
                seed(1, 2);\n\
                x.softmx();\n\
                let g = |y| y + 1; g.call(2); print(1);\n\
                for law in if x.len > 1 { [x] } else { [] } { print(law + laww); }\n\
                space::pixels(#{ radius: 0.1 });\n\
                f(1, 2);\n\
                let s = space::pixels(\"l2\", #{ radius: 0.1 }); s.save(\"s.json\");\n\
                let c = |x| |a, b| a + b + x; fn int.twice(k) { this * k } c.call(1).call(2, 3.twice(2));\n";
    let ast = session.compile("test", text).expect("parses");
    let found: Vec<(usize, String)> = check(&session, &ast, text).into_iter().map(|f| (f.line, f.message)).collect();
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 8, 9, 10], "{found:?}");
    assert!(found[5].1.contains("no variable `laww`; did you mean `law`"), "{found:?}");
    assert!(found[6].1.contains("`norm` is missing") && found[7].1.contains("call it as f(a)"), "{found:?}");
    assert!(found[0].1.contains("tensor::zeros") || found[0].1.contains("`zeros`"), "{found:?}");
    assert!(found[1].1.contains("`print`"), "{found:?}");
}

#[test]
fn the_arguments_of_a_script_are_read_from_its_text() {
    let session = session();
    let ast = session
        .compile("test", "let e = arg(\"epsilon\", 5); fn f() { arg(\"full\", false) } arg(\"epsilon\", 5)")
        .expect("parses");
    let found: Vec<(String, String)> = script_arguments(&ast).into_iter().map(|a| (a.name, a.default)).collect();
    assert_eq!(found, [("epsilon".into(), "5".into()), ("full".into(), "false".into())]);
}

#[test]
fn calls_draw_fresh_numbers_that_other_calls_do_not_change() {
    let draw = |text: &str| value(&format!("seed(3); {text}")).summary();
    let twice = "let a = []; for i in 0..2 { a.push(data::glyphs(#{ n: 3 }).hash); } a";
    assert_eq!(draw(twice), draw(twice), "the same script gives the same numbers");
    let hashes = draw(twice);
    let (first, second) = hashes.trim_matches(['[', ']']).split_once(", ").expect("two hashes");
    assert_ne!(first, second, "a loop draws fresh numbers each turn");
    assert_eq!(draw("data::glyphs(#{ n: 4 }); data::noise(#{ n: 3 }); data::glyphs(#{ n: 3 }).hash"), first);
    assert_ne!(draw("seed(4); data::glyphs(#{ n: 3 }).hash"), first);
    let fixed = "data::glyphs(#{ n: 3, seed: 9 }).hash";
    assert_eq!(draw(fixed), draw(&format!("seed(4); {fixed}; {fixed}")), "an explicit seed wins");
}

/// Runs a script beside a module `parts.rhai`.
fn beside(module: &str, text: &str) -> Result<Value, Box<Diagnostic>> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("parts.rhai"), module).expect("a module");
    session().run(&folder.path().join("main.rhai"), text)
}

#[test]
fn functions_of_a_module_stay_among_themselves() {
    let module = "const TWICE = 2;
        private fn mean(values) { values.len() * global::TWICE }
        private fn quantile(values) { 0 }
        fn lowest(values) { quantile(values) + quantile(values) }
        private fn doubled() { this * 2 }
        fn walk(values) { mean(values) + mean(values) }
        fn each(values, f) { let all = []; for v in values { all.push(f.call(v)); } all }
        fn own(values) { values.map(mean) }
        fn named(values) { Fn(\"mean\").call(values) }
        fn larger(x) { x.doubled() }
        fn over(values) { values.map(|v| mean([v, v])) }
        fn quantile(q, r) { this + q + r }
        fn captured(values, mean) { values.filter(|v| v > mean) }
        fn caught() { try { captured(1, 2) } catch (e) { return `${e}` } }
        fn table(x) { `module ${x}` }
        fn fails(x) { let table = mean(x); throw `no ${table}` }";
    let head = "import \"parts\" as parts; fn mean(x) { `mine ${x}` } fn table(x) { `own ${x}` }\n";
    let gives = |text: &str| match beside(module, &format!("{head}{text}")) {
        Ok(value) => value.summary(),
        Err(error) => panic!("{text}: {}", error.render(false)),
    };
    assert_eq!(gives("[parts::walk([1, 2, 3]), mean(5), parts::walk([1])]"), "[12, mine 5, 4]");
    assert_eq!(gives("parts::each([1, 2], |v| mean(v))"), "[mine 1, mine 2]");
    assert_eq!(gives("parts::table(1) + table(1) + parts::table(2)"), "module 1own 1module 2");
    assert_eq!(gives("[parts::own([[1], [2, 3]]), parts::named([1]), parts::larger(4)]"), "[[2, 4], 2, 8]");
    assert_eq!(gives("parts::over([1, 2])"), "[4, 4]");
    assert_eq!(gives("`half longˑ, ${parts::walk([1])}`"), "half longˑ, 4");
    let middle = "let t = tensor::from([1.0, 3.0, 9.0]); parts::lowest([t]); t.quantile(0.5)";
    assert_eq!(gives(middle), "3.0");
    let error = beside(module, &format!("{head}parts::fails([1])")).expect_err("throws");
    assert!(error.message.contains("no 2"), "{}", error.message);
    assert!(error.calls.iter().any(|call| call.contains("in fails, called from")), "{:?}", error.calls);
    assert_eq!(error.place.as_ref().map(|place| place.line), Some(16));
    let error =
        beside(module, &format!("{head}\n\nparts::each([1], |v| {{ throw `no ${{v}}` }})")).expect_err("throws");
    let place = error.place.expect("a place");
    assert!(place.source.ends_with("main.rhai") && place.line == 4, "{} {}", place.source, place.line);
    assert_eq!(gives("parts::captured([1, 5], 3)"), "[5]");
    assert!(!gives("parts::caught()").contains('ˑ'), "{}", gives("parts::caught()"));
}

/// A module whose functions declare what they take.
const DECLARED: &str = r##"/// What is left of a number. Or less.
///
/// arguments
///   x: the number (a number)
/// options
///   by: what is taken off (a number, from 0 to 9, apples, default 1)
///   times: how often (an int, from 1 up, default 2)
///   how: in which way ("at once" | "slowly", default "slowly")
///   f: what is done to it (a closure, default: nothing)
/// options of data::glyphs: size, noise
///
/// returns a number
fn left(x, options) {
    let y = x - options.by * options.times;
    if options.f == () { y } else { options.f.call(y) }
}

/// As many as are wanted.
///
/// options
///   n: how many (an int, from 1 up)
/// options of left
fn outer(options) { [options.n, left(10, options.only_of("parts::left")), options.only_of("data::glyphs")] }

fn wrongly() { left(1, #{ by: 11 }) }
"##;

/// A run is refused only by what it ends at: closures in maps, guarded reads, functions of other files however they are written.
#[test]
fn what_may_run_is_not_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let module = "fn wide(\n  a,\n  b /* one, two */\n) { a + b }\n  fn indented(x) { x } fn beside() { 1 }\nfn never() { nowhere() }\nfn maker() { #{ tick: || 5 } }\n";
    for (name, text) in
        [("own", module), ("other", "fn fb() { 2 }\n"), ("broken", "fn ok( { 1 }\n"), ("bad", "fn f() { nowhere() }\n")]
    {
        std::fs::write(folder.path().join(format!("{name}.rhai")), text).expect("a module");
    }
    let script = folder.path().join("script.rhai").display().to_string();
    let failing = |text: &str| {
        let session = Session::new(Rc::new(Cx::default()));
        let found =
            check_files(&session, &script, text).unwrap_or_else(|said| panic!("{text}: {}", said.render(false)));
        found.into_iter().filter(|one| one.finding.fails).map(|one| one.finding.message).collect::<Vec<_>>()
    };
    for text in [
        "let c = #{ n: 0, inc: || { this.n += 1; this.n } }; c.inc()",
        "let c = #{}; c.inc = |x| x + 1; c.inc(2)",
        "import \"own\" as own; own::wide(1, 2) + own::indented(3) + own::beside()",
        "import \"own\" as own; let m = own::maker(); m.tick()",
        "{ import \"own\" as m; m::beside(); } { import \"other\" as m; m::fb(); }",
        "fn add_b() { this.b = 2; } let m = #{ a: 1 }; m.add_b(); m.b",
        "let m = #{ a: 1 }; if \"b\" in m { m.b } else { 0 }",
        "let m = #{ a: 1 }; if m.contains(\"b\") { m.b } else { 0 }",
        "let ds = data::glyphs(#{ n: 2 }); ds.relabel(|row| [#{ foo: 1 }].map(|row| row.foo)[0])",
        "let ds = data::glyphs(#{ n: 2 }); ds.relabel(|row| { row.extra = 1; row.extra })",
        "fn examine(a) { a } examine(1)",
        "fn accuracy(a, b, c, d, e) { this + e } 1.accuracy(1, 2, 3, 4, 5)",
        "fn bad() { nothere() } fn worse() { bad() } try { worse() } catch { 1 }",
        "try { import \"broken\" as b; } catch { 1 }",
        "try { import \"bad\" as b; b::f() } catch { 1 }",
        "fn unused() { nothere() } 1",
        "let x = 5; fn f() { if is_def_var(\"x\") { x } else { 1 } } f()",
        "let x = 5; fn adder(n) { if n < 0 { throw 1; } |x| x + n } adder(3).call(x)",
        "let job = || nothere(1); try { job.call() } catch { 2 }",
        "{ import \"own\" as plot; plot::beside(); } plot::line([1], [1])",
        "let m = #{}; for n in [\"foo\"] { m[n] = |x| x + 1; } m.foo(1)",
        "fn later() { import \"broken\" as b; } 1",
    ] {
        assert_eq!(failing(text), Vec::<String>::new(), "{text}");
    }
    for (text, said) in [
        ("fn used() { nothere() } used()", "no function `nothere`"),
        ("import \"bad\" as b; b::f()", "no function `nowhere`"),
        ("import \"broken\" as b;", "can't be read as a script"),
        ("import \"own\" as own; own::wide(1)", "got 1 argument"),
        ("import \"own\" as own; own::narrow(1)", "no `own::narrow`"),
        ("try { 1 } catch { nothere() }", "no function `nothere`"),
        ("[1].pish(2)", "no type has a method `pish`"),
    ] {
        let found = failing(text);
        assert!(found.len() == 1 && found[0].contains(said), "{text}: {found:?}");
    }
}

#[test]
fn options_that_a_comment_declares_are_checked_and_filled_in() {
    let run = |text: &str| beside(DECLARED, &format!("import \"parts\" as parts;\n{text}"));
    let gives = |text: &str| run(text).map_or_else(|error| panic!("{}", error.render(false)), |value| value.summary());
    assert_eq!(gives("parts::left(10, #{})"), "8");
    assert_eq!(gives("parts::left(10)"), "8");
    assert_eq!(gives("parts::left(10, #{ by: 3, times: 1.0, f: |x| x * 2 })"), "14");
    assert_eq!(gives("parts::left(10, #{ by: (), how: \"slowly\" })"), "8");
    assert_eq!(gives("parts::outer(#{ n: 3, times: 3, noise: 0.5 })"), "[3, 7, #{n: 3, noise: 0.5}]");
    assert_eq!(
        gives("let m = 0; try { parts::left(1, #{ bye: 1 }) } catch (e) { m = e.message; } m"),
        "parts::left: unknown option `bye`"
    );
    let fails = |text: &str, words: &[&str]| {
        let error = run(&format!("let z = 1;\n{text}")).expect_err(text);
        let said = error.render(false);
        assert!(words.iter().all(|word| said.contains(word)), "{text}: {said}");
        error.place.map(|place| (place.source.ends_with("main.rhai"), place.line, place.length))
    };
    assert_eq!(
        fails("parts::left(1, #{ bye: 1 })", &["parts::left: unknown option `bye`", "`by`"]),
        Some((true, 3, 3))
    );
    let five = "parts::left: `by` must be a number, got string five";
    assert_eq!(fails("parts::left(1, #{ by: \"five\" })", &[five]), Some((true, 3, 6)));
    fails("parts::left(1, #{ by: 10 })", &["`by` must be from 0 to 9 apples, got 10"]);
    fails("parts::left(1, #{ how: \"slow\" })", &["did you mean `slowly`?"]);
    fails("parts::left(1, #{ noise: 3 })", &["parts::left: `noise` must be"]);
    fails("parts::left(\"one\", #{})", &["parts::left: `x` must be a number"]);
    fails("parts::left(1, 2)", &["parts::left: `options` must be a map, got an int 2"]);
    fails("parts::outer(#{ n: 1, times: 0 })", &["parts::outer: `times` must be from 1 up, got 0"]);
    fails("parts::outer(#{})", &["parts::outer: the option `n` is needed", "how many"]);
    // A mistake of the module's own is its own.
    assert_eq!(fails("parts::wrongly()", &["`by` must be from 0 to 9"]), Some((false, 25, 2)));
}

#[test]
fn functions_of_a_script_declare_their_options_as_well() {
    let function =
        "/// Twice.\n///\n/// options\n///   n: a number (an int, default 2)\nfn twice(options) { options.n * 2 }\n";
    let mut session = session();
    let mut run = |text: &str| session.evaluate("prompt", text).map(|value| value.summary()).map_err(|e| e.message);
    assert_eq!(run(&format!("{function}twice(#{{}})")).as_deref(), Ok("4"));
    assert_eq!(run("twice(#{ n: 4 })").as_deref(), Ok("8"));
    assert_eq!(run("twice(#{ m: 4 })"), Err("twice: unknown option `m`".into()));
    for (wrong, words) in [
        ("(a whole, default 2)", "there is no kind"),
        ("(an int, default two)", "the default \"two\""),
        ("(an int, from 3 up, default 2)", "its default does not fit"),
        ("", "its kind is missing"),
    ] {
        let text = function.replace("(an int, default 2)", wrong);
        let said = run(&text).expect_err(wrong);
        assert!(said.contains("the comment above twice") && said.contains(words), "{said}");
    }
}

/// Findings by line, and what each of them says somewhere.
fn told(found: &[(usize, String)], want: &[(usize, &str)]) {
    assert_eq!(found.len(), want.len(), "{found:#?}");
    for ((line, message), (wanted, words)) in found.iter().zip(want) {
        assert!(line == wanted && message.contains(words), "line {line}: {message}, not {words}");
    }
}

/// What the interpreter brings along is called as it can be; a script's own functions, and closures in maps, are its own.
#[test]
fn check_counts_the_arguments_of_built_in_functions() {
    let session = session();
    let said = |text: &str| -> Vec<(usize, String)> {
        let found = check(&session, &session.compile("script", text).expect("a script"), text);
        found.into_iter().map(|finding| (finding.line, finding.message)).collect()
    };
    let wrong =
        said("let v = [1];\nprint(\"a\", v);\nv.push(1, 2, 3);\nv.insert(1);\nparse_int();\nprint(\"a\".to_upper(1))");
    let want = [
        (2, "print: got 2 arguments; it takes 0 or 1; one text with the values in it"),
        (3, "push: got 3 arguments; it takes 1"),
        (4, "insert: got 1 argument; it takes 2"),
        (5, "parse_int: got 0 arguments; it takes 1 or 2"),
        (6, "to_upper: got 1 argument; it takes 0"),
    ];
    told(&wrong, &want);
    for right in [
        "fn push(a, b, c) { a + b + c } push(1, 2, 3)",
        "fn push(a, b, c) { this + a + b + c } let x = 1; x.push(1, 2, 3)",
        "let m = #{ push: |a, b, c| a + b + c }; m.push(1, 2, 3)",
        "let v = [1, 2]; v.push(3); v.insert(0, 4); v.sort(|a, b| a - b); v.reduce(|a, b| a + b, 0); v.len() + len(v)",
        "let t = \"a b\"; t.split(); t.split(\" \"); t.sub_string(0, 1); t.index_of(\"b\"); range(0, 4); range(0, 4, 2); print(); print(t)",
        "data::glyphs(#{ n: 2 }).len() + [1, 2].map(|x| x).filter(|x| x > 1).len()",
    ] {
        assert!(said(right).is_empty(), "{right}: {:?}", said(right));
    }
}

#[test]
fn check_knows_what_functions_of_modules_and_scripts_declare() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("parts.rhai"), DECLARED).expect("a module");
    let text = "import \"parts\" as parts;\nimport \"std/overfitting\" as overfitting;\nimport \"std/tolerance\" as tolerance;\n\
                let f = 1; let sets = []; parts::left(1);\nparts::left(1, #{ bye: 2 });\nparts::left(1, #{ by: \"x\" });\nparts::rigth(1);\nparts::left(1, 2, 3);\n\
                overfitting::compare(f, sets, #{ radios: 3 });\noverfitting::figure5(f);\ntolerance::summary(#{});\n\
                parts::outer(#{ n: 1, times: 2 });\n\
                /// Once.\n///\n/// options\n///   n: a number (an int, default 2)\nfn once(options) { options.m }\nonce(#{ k: 1 });\n\
                data::glyphs(#{ n: \"many\" });\nknown_options(#{}, []);\n";
    let session = session();
    let path = folder.path().join("main.rhai");
    let found = check(&session, &session.compile(path.to_str().expect("UTF-8"), text).expect("a script"), text);
    let said: Vec<(usize, String)> = found.into_iter().map(|f| (f.line, f.message)).collect();
    let want = [
        (5, "parts::left: unknown option `bye`"),
        (6, "`by` must be a number"),
        (7, "there is no `parts::rigth`"),
        (8, "parts::left: got 3 arguments"),
        (9, "did you mean `radius`?"),
        (10, "there is no `overfitting::figure5`"),
        (17, "there is no key `m` in `options`"),
        (18, "once: unknown option `k`"),
        (19, "data::glyphs: `n` must be an int"),
        (20, "declared in the comment above it"),
    ];
    told(&said, &want);
}
