//! How errors read: code, words of the message or hint, and what is underlined.

use std::rc::Rc;

use viva::core::Cx;
use viva::script::Session;

/// What the cases find when they run.
const SETTING: &str = "let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 });\nlet v = [1, 2, 3];\nlet m = #{ a: 1 };\n\
                       let t = tensor::zeros([2]);\nlet double = |x| 2 * x;\nfn triple(x) { 3 * x }\nlet n = 1;\n";

/// Code, what is underlined, words of message and hint.
const CASES: &[(&str, &str, &[&str])] = &[
    // Python's values and operators.
    ("None", "None", &["no variable `None`", "is ()"]),
    ("let x = None;", "None", &["is ()"]),
    ("if n != None { 1 }", "None", &["is ()"]),
    ("null", "null", &["write ()"]),
    ("True", "True", &["written true"]),
    ("let x = False;", "False", &["written false"]),
    ("if true and false { 1 }", "and", &["write &&"]),
    ("if true or false { 1 }", "or", &["write ||"]),
    ("if not true { 1 }", "not", &["write !true"]),
    ("1 not in [1]", "not in", &["write !(1 in ["]),
    ("n is None", "is", &["write n == ()"]),
    ("n is not None", "is not", &["write n != ()"]),
    ("1 <> 2", "<>", &["write !="]),
    ("n++", "++", &["write n += 1"]),
    ("let x := 5", ":=", &["write let x ="]),
    ("let a = 1 if true else 2;", "if", &["write if true { 1 } else { 2 }"]),
    ("let a = n > 1 ? 2 : 3;", "?", &["write if ... { 2 } else { 3 }"]),
    ("NaN", "NaN", &["0.0 / 0.0"]),
    ("pi", "pi", &["PI()"]),
    // Functions, closures, arguments.
    ("def f(x): return x", "def", &["fn f(x) { ... }"]),
    ("def f(x, y):\n    return x", "def", &["fn f(x, y) { ... }"]),
    ("function f() {}", "function", &["fn f() { ... }"]),
    ("let f = lambda x: x + 1;", "lambda x: x + 1", &["|x| x + 1"]),
    ("let f = (a, b) => a + b;", "(a, b) => a + b", &["|a, b| a + b"]),
    ("data::glyphs(n=5)", "n=", &["data::glyphs(#{ n: 5 })"]),
    ("data::glyphs(n=5, size=16)", "n=", &["data::glyphs(#{ n: 5, size: 16 })"]),
    ("risk::estimate(ds, ds, radius=3, delta=None)", "radius=", &["risk::estimate(ds, ds, #{ radius: 3, delta: () })"]),
    ("data::glyphs(n: 5)", "n:", &["data::glyphs(#{ n: 5 })"]),
    ("triple(**m)", "**m", &["pass m itself"]),
    ("fn f(x: int) -> int { x }", ": int", &["types are not written"]),
    ("double(2)", "double", &["double.call(...)"]),
    ("n(2)", "n", &["`n` is a variable, an int"]),
    ("triple(1, 2)", "triple", &["call it as triple(x)"]),
    ("double.call(1, 2)", "call", &["does not take 2"]),
    ("examine", "examine", &["is a function", "examine(f, ds"]),
    ("print \"a\"", "print \"a\"", &["print(\"a\")"]),
    ("print(1, 2)", "print", &["`${a} ${b}`"]),
    ("self.x", "self", &["no self"]),
    // Blocks and statements.
    ("let x = .5", ".5", &["0.5"]),
    ("if n > 2 { 1 } elif n > 1 { 2 }", "elif", &["else if"]),
    ("for x in range(3): print(x)", ":", &["for x in 0..3 { print(x) }"]),
    ("for x in range(3) { x }", "range", &["0..n"]),
    ("while n < 3: n += 1", ":", &["while n < 3 { n += 1 }"]),
    ("try: 1", ":", &["try { 1 }"]),
    ("for i, x in v { i }", "i, x", &["for (i, x)", "the value first"]),
    ("class A: pass", "class", &["no classes"]),
    ("let (a, b) = v;", "(", &["one name at a time"]),
    ("a, b = 1, 2", "a, b", &["one name at a time"]),
    ("fresh = 5", "fresh", &["let fresh = 5"]),
    ("var x = 5", "var", &["write let x"]),
    ("let default = 1;", "default", &["choose another name"]),
    ("let a = 1\nlet b = 2", "1", &["put ; at the end of line 1"]),
    ("print(n)\nprint(n)", ")", &["put ; at the end of line 1"]),
    ("let x = [1,\n 2]\nx", "]", &["put ; at the end of line 2"]),
    ("# a comment", "# a comment", &["begins with //"]),
    ("n # a comment", "# a comment", &["begins with //"]),
    ("[1, 2", "[", &["never closed", "close it with ]"]),
    ("fn f(x) { x", "{", &["never closed", "close it with }"]),
    ("let s = \"abc", "\"abc", &["has no end"]),
    ("/* abc", "/*", &["has no end", "*/"]),
    // Strings, arrays, maps.
    ("data::load('mnist')", "'mnist'", &["write \"mnist\""]),
    ("print(f\"n = {n}\")", "f\"n = {n}\"", &["`n = ${n}`"]),
    ("\"%d\" % n", "%", &["`x is ${x}`"]),
    ("v[1:3]", "[1:3]", &["v.extract(1..3)", "v.pick(1..3)", "v.skip(1).take(3 - 1)"]),
    ("f.predict(v)[0:3]", "[0:3]", &["x.extract(0..3)", "x.take(3)"]),
    ("data::load('C:\\new\\x')", "'C:\\new\\x'", &["write \"C:/new/x\""]),
    ("v[1:]", "[1:]", &["v.extract(1..v.len())"]),
    ("\"abc\"[:2]", "[:2]", &["\"abc\".sub_string(0..2)"]),
    ("v[1..3]", "1..3", &["v.extract(1..3)"]),
    ("[2 * x for x in v]", "for x in v", &["v.map(|x| 2 * x)"]),
    ("[x for x in v if x > 1]", "for x in v if x > 1", &["v.filter(|x| x > 1).map(|x| x)"]),
    ("[x for x in range(3)]", "for x in range(3)", &["for x in 0..3 { made.push(x); }"]),
    ("let d = {\"a\": 1};", "{", &["#{\"a\": 1}"]),
    ("data::glyphs({ n: 5 })", "{", &["#{ n: 5"]),
    ("let d = {a: 1\n, b: 2};", "{", &["#{a: 1"]),
    ("#{ a = 1 }", "a =", &["write a: 1"]),
    ("#{ n }", "n", &["write n: n"]),
    ("v.append(2, 3)", "append", &["push"]),
    ("v.length", "length", &["an array has no `length`", ".len"]),
    ("sorted(v)", "sorted", &["v.sort()"]),
    ("sum(v)", "sum", &["tensor::from(v).sum()"]),
    ("v * 2", "*", &["tensor::from"]),
    ("m.nosuch", "nosuch", &["there is no key `nosuch`", "known: a"]),
    ("m.nosuch.deeper", "nosuch", &["there is no key `nosuch`"]),
    ("m[\"nosuch\"]", "\"nosuch\"", &["there is no key `nosuch`"]),
    ("m?.nosuch.deeper", "deeper", &["() has no `deeper`", "`?.` asked for"]),
    ("m?.nosuch + 1", "+", &["one side is ()"]),
    ("fn deep(o) { o.a.b }\ndeep(#{ a: #{ c: 1 } })", "b", &["there is no key `b`"]),
    ("v.map(|x| x + v.nosuch())", "nosuch", &["no function `nosuch`"]),
    ("v.sort(|a, b| nosuch(a))", "nosuch", &["no function `nosuch`"]),
    ("m.fresh = nosuch(1)", "nosuch", &["no function `nosuch`"]),
    ("2 ^ 3", "^", &["a ** b", "xor(a, b)"]),
    ("let p = 2;\np ^= 3;", "^=", &["a ** b"]),
    ("2.5 ^ 3", "^", &["a ** b"]),
    ("log(10)", "log", &["ln(x)", "log10(x)", "log2(x)", "log(x, base)"]),
    ("t.log()", "log", &["x.ln()"]),
    ("fn count() { ds.len() }\ncount()", "ds", &["inside the function `count`", "fn count(ds) { ... }", "arg(...)"]),
    ("fn add(a) { a + n }\nadd(2)", "n", &["fn add(a, n) { ... }", "let add = |a| ..."]),
    ("fn all(xs) { xs.map(|x| x + n) }\nall(v)", "n", &["inside the function `all`"]),
    ("str(n)", "str", &["to_string()"]),
    ("int(\"5\")", "int", &["parse_int"]),
    ("type(n)", "type", &["type_of"]),
    ("v.pusj(1)", "pusj", &["did you mean `push`?"]),
    ("m.keyz()", "keyz", &["did you mean `keys`?"]),
    // Modules and namespaces.
    ("import torch", "torch", &["tensor::", "import \"std/zoo\" as zoo;"]),
    ("import numpy as np", "numpy", &["tensor::"]),
    ("from torch import nn", "from torch import nn", &["tensor::"]),
    ("torch.zeros(2)", "torch", &["tensor::"]),
    ("plt.plot(v)", "plt", &["plot::"]),
    ("data.load(\"mnist\")", "data", &["data::"]),
    ("data:load(\"mnist\")", "data:load", &["data::load"]),
    ("glyphs()", "glyphs", &["`data::glyphs`"]),
    ("data::glpyhs()", "data::glpyhs", &["`data::glyphs`"]),
    ("ds::take(1)", "ds::take", &["ds.name(...)"]),
    ("t.cuda()", "cuda", &["device(\"cuda\")"]),
    ("t.size()", "size", &["x.shape()"]),
    ("t.nosuchmethod()", "nosuchmethod", &["a tensor has shape"]),
    ("t.nosuchfield", "nosuchfield", &["a tensor has no `nosuchfield`"]),
    ("ds.clases", "clases", &["did you mean `classes`?"]),
    ("ds.classes(1)", "classes", &["`classes` of a Dataset takes no arguments", "write .classes alone"]),
    ("zoo::galloway()", "zoo::galloway", &["import \"std/zoo\" as zoo;"]),
    ("ds.name = 3", "name", &["`name` can't be set"]),
    ("ds.tkae(1)", "tkae", &["a Dataset has no `tkae`", "did you mean `take`?"]),
    ("ds.take(1).shufle(1)", "shufle", &["this object has no `shufle`", "did you mean `shuffle`?"]),
    ("dss", "dss", &["did you mean `ds`?"]),
    // The argument that is meant.
    ("data::glyphs(#{ n: 3, size: \"big\" })", "\"big\"", &["`size` must be an int"]),
    ("data::glyphs(#{ n: 3, sise: 20 })", "sise", &["did you mean `size`?"]),
    ("data::glyphs(#{ position: \"tours\" })", "\"tours\"", &["did you mean `torus`?"]),
    ("ds.take(\"one\")", "\"one\"", &["`n` must be an int"]),
    ("robustness::weaknesses(ds)", "ds", &["`transcript` must be a Transcript", "comes from examine"]),
    ("risk::bernstein(10, n + n, \"x\", 1.5)", "\"x\"", &["`delta` must be a number"]),
];

#[test]
fn errors_say_the_way_out_and_underline_the_place() {
    let mut session = Session::new(Rc::new(Cx::default()));
    session.evaluate("prompt", SETTING).unwrap_or_else(|error| panic!("{}", error.render(false)));
    let mut wrong = Vec::new();
    for (code, underlined, words) in CASES {
        let error = match session.evaluate("prompt", code) {
            Ok(value) => {
                wrong.push(format!("{code}\n    gave {}", value.summary()));
                continue;
            }
            Err(error) => error,
        };
        let said = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
        let meant = error.place.as_ref().and_then(|place| {
            let line = place.text.lines().nth(place.line - 1)?;
            Some(line.chars().skip(place.column - 1).take(place.length).collect::<String>())
        });
        if words.iter().any(|word| !said.contains(word)) || meant.as_deref() != Some(*underlined) {
            wrong.push(format!(
                "{code}\n    says {said}\n    at {meant:?}\n    wanted {words:?}\n    at {underlined:?}"
            ));
        }
        let shown = error.render(false);
        if !shown.contains(&error.message) || shown.contains("i64") || shown.contains("Expecting") {
            wrong.push(format!("{code}\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

/// What a refusal names to try instead is not refused over the same space.
#[test]
fn searches_that_a_refusal_names_go_over_the_space() {
    let evaluate =
        |code: &str| Session::new(Rc::new(Cx::default())).evaluate("hint", code).map_err(|e| e.render(false));
    let setting = "let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let gain = #{ name: \"gain\", min: 0.9, max: 1.0, identity: 1.0 };\n\
                   let mode = #{ name: \"mode\", choices: [\"a\", \"b\"] };\n\
                   let k = #{ name: \"k\", min: 1, max: 3, whole: true, when: #{ mode: \"b\" } };\n";
    for (space, refused) in [
        ("space::rotate(8)", "square"),
        ("space::rotate(8) * space::factors([gain, mode, k], |z, s| z * s.gain)", "square"),
        ("space::rotate(8) * space::factors([gain], |z, s| z * s.gain)", "nearest"),
        ("space::translate(1)", "bim"),
        ("space::pixels(\"linf\", #{ radius: 0.1 })", "bayes"),
        ("space::pixels(\"l2\", #{ radius: 0.1 })", "bayes"),
    ] {
        let examined = |search: &str| {
            let options = match search {
                // Of a range it has to be said how many values.
                "strongest" => "#{ grid: 2 }",
                "carlini_wagner" => "#{ steps: 10 }",
                "random" | "bayes" | "straddle" | "policy" | "evolution" | "radial" | "square" | "hopskipjump" => {
                    "#{ questions: 40 }"
                }
                "counterfactual" => "#{ random_questions: 20 }",
                _ => "",
            };
            evaluate(&format!("{setting}examine(f, ds, #{{ space: {space}, search: search::{search}({options}) }})"))
        };
        let said = examined(refused).err().unwrap_or_else(|| panic!("{refused} over {space}"));
        let hint = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, named) = hint.split_once("over this space go search::").unwrap_or_else(|| panic!("{hint}"));
        // These take other searches.
        for search in named.split(", ").map(str::trim).filter(|search| !["worst", "average_doubt"].contains(search)) {
            if let Err(said) = examined(search) {
                panic!("{search} over {space}: {said}");
            }
        }
    }
}
