//! What is offered while a person types: tables of texts in which `¦` marks the cursor.

use std::rc::Rc;

use viva::assist::{coloured, complete, signature};
use viva::core::{Cx, Value};
use viva::script::Session;
use viva::term::Paint;

const SETTING: &str = r#"
import "std/zoo" as zoo;
import "std/overfitting" as overfitting;
import "std/testgen" as testgen;
let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
let dream = 5;
let model_a = model::from(|x| tensor::zeros([x.len, 10]));
let report = risk::estimate(model_a, ds, #{ radius: 1 });
let m = #{ alpha: 1, beta: #{ inner: 2 }, "two words": 3 };
let rows = [#{ id: 1, label: 2 }];
let x = tensor::zeros([2, 3]);
let words = "some text";
fn mine(first, second) { first + second }
fn nothing() { 1 }
"#;

/// A session with these variables, in a folder with `images/`, `notes.txt`, `own.rhai`, and `mnist/` below the data folder.
fn session() -> (Session, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for inside in ["data/mnist", "data/minerals"] {
        std::fs::create_dir_all(folder.path().join(inside)).expect("a folder");
    }
    std::fs::write(folder.path().join("data/table.csv"), "").expect("a file");
    let mut cx = Cx::default();
    cx.set_data_folder(Some(folder.path().to_path_buf()));
    let mut session = Session::new(Rc::new(cx));
    session.evaluate("prompt", SETTING).unwrap_or_else(|error| panic!("{}", error.render(false)));
    (session, folder)
}

/// What the line becomes with each offer.
fn offers(session: &Session, marked: &str) -> Vec<String> {
    let (left, right) = marked.split_once('¦').expect("a cursor");
    let text = format!("{left}{right}");
    let (start, found) = complete(session, &["doc", "quit"], &text, left.len());
    assert!(start <= left.len() && text.is_char_boundary(start), "{marked}: starts at {start}");
    found.into_iter().map(|candidate| candidate.text).collect()
}

enum Want {
    /// Just these, in any order.
    Just(&'static [&'static str]),
    /// These among others.
    Has(&'static [&'static str]),
    /// Others, but none of these.
    Not(&'static [&'static str]),
    Nothing,
}
use Want::{Has, Just, Not, Nothing};

/// `¦` is the cursor.
const OFFERS: &[(&str, Want)] = &[
    // Names.
    ("d¦", Has(&["ds", "dream", "data::", "device("])),
    ("dre¦", Just(&["dream"])),
    ("let y = dre¦", Just(&["dream"])),
    ("mi¦", Has(&["mine("])),
    ("noth¦", Just(&["nothing()"])),
    ("mine¦(1, 2)", Just(&["mine"])),
    ("exam¦", Just(&["examine("])),
    ("data¦", Has(&["data::"])),
    ("data¦::load", Has(&["data"])),
    ("zo¦", Just(&["zoo::"])),
    ("sq¦", Has(&["sqrt("])),
    ("whi¦", Just(&["while"])),
    ("1 + whi¦", Nothing),
    ("pri¦", Just(&["print("])),
    ("¦", Has(&["ds", "examine(", "risk::", "mine("])),
    ("¦", Not(&["while", "sqrt("])),
    ("nosuchname¦", Nothing),
    ("let dr¦", Nothing),
    ("fn mi¦", Nothing),
    ("import \"std/zoo\" as d¦", Nothing),
    ("for d¦", Nothing),
    ("for i in d¦", Has(&["ds", "dream"])),
    ("|d¦", Nothing),
    ("ds.relabel(|d¦", Nothing),
    ("ds.relabel(|row| ro¦", Has(&["row", "rows"])),
    ("let fresh_one = 1;\nfre¦", Just(&["fresh_one"])),
    ("fn f(argument) {\n  arg¦", Has(&["argument", "arg("])),
    ("if true { dre¦", Just(&["dream"])),
    ("12¦", Nothing),
    ("`total ${dre¦", Just(&["dream"])),
    ("`total ${dream} dre¦", Nothing),
    // Namespaces.
    ("data::gl¦", Just(&["glyphs("])),
    ("data::¦", Has(&["glyphs(", "load(", "noise("])),
    ("data::¦", Not(&["ds", "data::"])),
    ("let t = data::l¦", Just(&["load("])),
    ("search::¦", Has(&["strongest(", "nearest()"])),
    ("zoo::ga¦", Just(&["galloway()"])),
    // What the comments of a module declare.
    ("overfitting::compare(model_a, m, #{ rad¦", Just(&["radius: "])),
    ("overfitting::compare(mod¦", Has(&["model_a", "model::"])),
    ("overfitting::generators(model_a, ds, #{ radius: 2, ¦", Not(&["radius: ", "search: "])),
    ("testgen::offline(m, #{ by: \"la¦", Just(&["latent\""])),
    ("?testgen::trans¦", Just(&["testgen::transfer"])),
    ("zoo::¦", Not(&["strided("])),
    ("import \"std/zoo\" as other; other::oval¦", Just(&["oval_cifar("])),
    ("nosuch::¦", Nothing),
    ("\"a\" + data::gl¦", Just(&["glyphs("])),
    // Members.
    ("ds.ta¦", Just(&["take("])),
    ("ds.¦", Has(&["classes", "labels", "take(", "len()", "grey()"])),
    ("ds.¦", Not(&["softmax()", "alpha"])),
    ("ds.take(2).sk¦", Just(&["skip("])),
    ("ds.take(2).shuffle(#{ seed: 2 }).on¦", Just(&["only("])),
    ("report.¦", Has(&["p", "verdict", "interval", "transcript"])),
    ("report.interval.¦", Just(&["bound", "counts", "p", "power", "reject", "verdict"])),
    ("report.betting.ot¦", Just(&["other_orders_rejecting"])),
    ("report.transcript.fi¦", Just(&["filter(", "fields()"])),
    ("m.¦", Just(&["alpha", "beta"])),
    ("m.beta.¦", Just(&["inner"])),
    ("m.ke¦", Just(&["keys()"])),
    ("m[\"beta\"].in¦", Has(&["inner"])),
    ("rows[0].¦", Just(&["id", "label"])),
    ("x.soft¦", Just(&["softmax()"])),
    ("words.to_u¦", Has(&["to_upper()"])),
    ("\"abc\".to_u¦", Has(&["to_upper()"])),
    ("rows.pu¦", Just(&["push("])),
    ("data::glyphs(#{ n: 5 }).ta¦", Just(&["take("])),
    ("data::noise().im¦", Just(&["images()"])),
    ("(ds).ta¦", Just(&["take("])),
    ("let half = ds.take(3); half.sk¦", Just(&["skip("])),
    ("let half = ds\n    .take(3)\n    .sk¦", Just(&["skip("])),
    ("unknown.softm¦", Just(&["softmax()"])),
    ("unknown.¦", Nothing),
    ("[1, ds.ta¦", Just(&["take("])),
    ("f(ds.ta¦", Just(&["take("])),
    ("examine(model_a, ds.ta¦, #{})", Just(&["take("])),
    // Keys of live maps.
    ("m[\"¦", Just(&["alpha\"", "beta\"", "two words\""])),
    ("m[\"al¦\"]", Just(&["alpha"])),
    ("m.beta[\"¦", Just(&["inner\""])),
    // Options.
    ("data::glyphs(#{ ¦", Has(&["n: ", "size: ", "polarity: "])),
    ("data::glyphs(#{ ¦", Not(&["ds", "radius: "])),
    ("data::glyphs(#{ po¦", Just(&["position: ", "polarity: "])),
    ("data::glyphs(#{ n: 5, ¦", Not(&["n: "])),
    ("data::glyphs(#{ n: 5, si¦", Just(&["size: "])),
    ("data::glyphs(#{ si¦, size: 3 })", Nothing),
    ("data::glyphs(#{ si¦: 3 })", Just(&["size"])),
    ("data::glyphs(#{\n  n: 5,\n  si¦", Just(&["size: "])),
    ("data::glyphs(#{ \"si¦", Just(&["size\": "])),
    ("examine(model_a, ds, #{ sp¦", Just(&["space: "])),
    ("examine(model_a, ds, #{ space: space::translate(1), se¦", Just(&["search: ", "seed: "])),
    ("risk::estimate(model_a, data::glyphs(#{ n: 5 }), #{ rad¦", Just(&["radius: ", "radii: "])),
    ("risk::estimate(model_a, data::glyphs(#{ siz¦", Just(&["size: "])),
    ("ds.shuffle(#{ se¦", Just(&["seed: "])),
    ("risk::curve(report, #{ ¦", Has(&["sizes: ", "repeats: "])),
    ("let r = [model::train(ds, #{ ep¦", Just(&["epochs: "])),
    ("data::glyphs(#{ n: (1 + [2, 3][0]), si¦", Just(&["size: "])),
    ("let broken = foo(1, [;\ndata::glyphs(#{ si¦", Just(&["size: "])),
    ("let m2 = #{ al¦", Nothing),
    ("mine(#{ al¦", Nothing),
    // Values of options.
    ("data::glyphs(#{ split: \"¦", Just(&["train\"", "validation\"", "test\""])),
    ("data::glyphs(#{ split: \"te¦\" })", Just(&["test"])),
    ("data::glyphs(#{ split: ¦", Has(&["\"train\"", "\"test\""])),
    ("risk::estimate(model_a, ds, #{ search: \"s¦", Just(&["strongest\""])),
    ("device(\"c¦", Has(&["cpu\"", "cuda\""])),
    ("model::load(\"f.pt\", #{ arch: \"resnet5¦", Just(&["resnet50\""])),
    ("net::conv(4, 3, #{ bias: ¦", Has(&["true", "false"])),
    ("model::train(¦", Has(&["ds"])),
    ("report.transcript.column(\"qu¦", Just(&["queries\""])),
    ("help(\"data::gl¦", Just(&["data::glyphs\""])),
    // Files.
    ("data::load(\"data/m¦", Just(&["data/mnist/", "data/minerals/"])),
    ("data::load(\"mn¦", Just(&["mnist\""])),
    ("data::load(\"data/t¦", Just(&["data/table.csv\""])),
    ("let path = \"data/t¦\"", Just(&["data/table.csv"])),
    ("let path = \"Cargo.t¦", Just(&["Cargo.toml\""])),
    ("import \"std/z¦", Just(&["std/zoo\""])),
    ("import \"std/zoo\" ¦", Just(&["as zoo;"])),
    ("import \"scripts/overfitting/dem¦", Just(&["scripts/overfitting/demo.rhai\""])),
    ("import \"Car¦", Nothing),
    // Comments.
    ("// dre¦", Nothing),
    ("1 /* dre¦", Nothing),
    ("1 /* done */ + dre¦", Just(&["dream"])),
    // The prompt's own commands.
    (":¦", Just(&[":doc", ":quit"])),
    (":d¦", Just(&[":doc"])),
    (":doc data::gl¦", Just(&["data::glyphs"])),
    ("?risk::e¦", Just(&["risk::estimate"])),
    ("?std/¦", Has(&["std/zoo"])),
    ("?Dataset.ta¦", Just(&["Dataset.take"])),
    ("?strong¦", Just(&["search::strongest"])),
];

#[test]
fn the_tab_key_offers_what_fits() {
    let (session, _folder) = session();
    let mut wrong = Vec::new();
    for (marked, want) in OFFERS {
        let found = offers(&session, marked);
        let has = |word: &&&str| found.iter().any(|text| text == **word);
        let (well, wanted) = match want {
            Just(words) => (words.iter().all(|w| has(&w)) && found.len() == words.len(), format!("just {words:?}")),
            Has(words) => (words.iter().all(|w| has(&w)), format!("{words:?} among others")),
            Not(words) => {
                (!found.is_empty() && !words.iter().any(|w| has(&w)), format!("others, and none of {words:?}"))
            }
            Nothing => (found.is_empty(), "nothing".into()),
        };
        if !well {
            let shown: Vec<&String> = found.iter().take(30).collect();
            wrong.push(format!("{marked}\n    offers {shown:?}\n    wanted {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), OFFERS.len(), wrong.join("\n"));
}

/// A typed text, the columns that are left, the signature shown, and the part of it that is being typed.
const HINTS: &[(&str, usize, &str, &str)] = &[
    ("examine(", 70, "examine(f, ds, #{ space, search, objective, levels, at_steps, … })", "f"),
    ("examine(model_a, ", 70, "examine(f, ds, #{ space, search, objective, levels, at_steps, … })", "ds"),
    (
        "examine(model_a, ds, ",
        50,
        "examine(f, ds, #{ space, search, objective, … })",
        "#{ space, search, objective, … }",
    ),
    ("examine(model_a, ds, #{ ", 40, "examine(f, ds, #{ space, search, … })", "#{ space, search, … }"),
    ("examine(", 26, "examine(f, ds, #{ … })", "f"),
    ("examine(", 20, "(f, ds, #{ … })", "f"),
    ("examine(", 12, "f: a Model", "f"),
    ("examine(", 8, "f", "f"),
    ("mine(", 60, "mine(first, second)", "first"),
    ("mine(1, ", 60, "mine(first, second)", "second"),
    ("mine(1, [2, 3], ", 60, "mine(first, second)", ""),
    ("zoo::oval_cifar(", 60, "zoo::oval_cifar(size)", "size"),
    ("import \"std/zoo\" as z; z::oval_cifar(", 60, "zoo::oval_cifar(size)", "size"),
    ("overfitting::compare(model_a, m, #{ radius: ", 60, "radius: an int, from 1 to 32, pixels, default 5", "radius"),
    ("ds.take(", 60, "take(n)", "n"),
    ("ds.split(0.5)[0].take(", 60, "take(n)", "n"),
    (
        "risk::curve(report, #{ ",
        60,
        "risk::curve(report, #{ sizes: 20, repeats: 5, seed })",
        "#{ sizes: 20, repeats: 5, seed }",
    ),
    ("ds.relabel(|row, i| row + ", 60, "relabel(rule, #{ classes })", "rule"),
    ("data::glyphs(#{ split: ", 90, "split: \"train\" | \"validation\" | \"test\", default \"train\"", "split"),
    ("data::glyphs(#{ n: 5, size: ", 60, "size: an int, from 16 to 256, pixels, default 32", "size"),
    (
        "risk::estimate(model_a, ds, #{ search: ",
        100,
        "\"strongest\" | \"nearest\" | \"blind\" | \"blind_or_stay\" | \"average\" | \"average_doubt\" or a Search",
        "",
    ),
    ("risk::estimate(model_a, ds, #{ search: ", 38, "search", "search"),
    ("space::translate(mine(1, 2)", 60, "space::translate(radius, #{ fill, spacing: 1 })", "radius"),
    (
        "model::train(ds, #{ arch: [net::conv(",
        80,
        "net::conv(out, size, #{ stride: 1, pad: 0, dilation: 1, groups: 1, bias: true })",
        "out",
    ),
    ("model::train(ds, #{ arch: [net::conv(3, 4), ", 80, "arch: a string or an array", "arch"),
    ("net::leaky_relu(", 60, "net::leaky_relu([slope])", "[slope]"),
    ("fn f(a, b) { a }\nf(", 60, "f(a, b)", "a"),
    ("examine(model_a, \"", 70, "examine(f, ds, #{ space, search, objective, levels, at_steps, … })", "ds"),
    ("1 + 2", 60, "", ""),
    ("nosuch(", 60, "", ""),
    ("if (", 60, "", ""),
    ("examine(model_a, ds)", 60, "", ""),
    ("let f = |x| { ", 60, "", ""),
    ("fn examine(", 60, "", ""),
    ("// examine(", 60, "", ""),
    ("ds.relabel(|row| { ", 60, "", ""),
];

#[test]
fn a_call_shows_what_it_takes() {
    let (session, _folder) = session();
    let mut wrong = Vec::new();
    for (text, columns, wanted, current) in HINTS {
        let found = signature(&session, text, *columns);
        let shown = found.as_ref().map_or("", |hint| hint.text.as_str());
        let part = found.as_ref().map_or("", |hint| &hint.text[hint.current.clone()]);
        if !shown.starts_with(wanted) || wanted.is_empty() != shown.is_empty() || part != *current {
            wrong.push(format!(
                "{text} in {columns} columns\n    shows {shown:?}, at {part:?}\n    wanted {wanted:?}, at {current:?}"
            ));
        }
        if shown.chars().count() > *columns {
            wrong.push(format!("{text}: {shown:?} is wider than {columns}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), HINTS.len(), wrong.join("\n"));
}

#[test]
fn members_that_are_promised_are_there() {
    let (mut session, _folder) = session();
    let value = session.evaluate("prompt", "report.interval").unwrap_or_else(|e| panic!("{}", e.render(false)));
    let Value::Map(map) = value else { panic!("interval is no map") };
    let mut keys: Vec<String> = map.into_keys().collect();
    keys.sort();
    assert_eq!(offers(&session, "report.interval.¦"), keys);
}

#[test]
fn what_is_huge_is_answered_and_bounded() {
    let (mut session, folder) = session();
    for n in 0..2_000 {
        std::fs::write(folder.path().join(format!("data/file{n}")), "").expect("a file");
    }
    session.evaluate("prompt", "let big = #{}; for i in 0..3000 { big[`key${i}`] = i; }").expect("a big map");
    for (marked, at_most) in [("data::load(\"data/f¦", 300), ("big.k¦", 310), ("big[\"k¦", 300)] {
        let found = offers(&session, marked);
        assert!(!found.is_empty() && found.len() <= at_most, "{marked}: {}", found.len());
    }
    let long = "f(g[#{ a: `${".repeat(10_000);
    assert_eq!(complete(&session, &[], &long, long.len()).1, vec![]);
    assert_eq!(signature(&session, &long, 80), None);
    assert_eq!(coloured(&long, Some(3), Paint::new(true)), long);
    for unit in ["(", "f(", "a.b(", ")", "|a,", "let a = a;", "`${", "#{a:", "fn f(a){", "m.", "import \"a\" as a;"] {
        let text = unit.repeat(40_000 / unit.len());
        complete(&session, &[], &text, text.len());
        signature(&session, &text, 80);
        coloured(&text, Some(text.len()), Paint::new(true));
    }
}
