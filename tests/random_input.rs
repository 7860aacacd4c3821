//! Whatever is typed, nothing panics, hangs or loses a variable: random edits of every example, module and script, and made-up
//! statements over live values, go into one session and into what happens while they are typed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use viva::assist::{coloured, complete, signature};
use viva::core::{Cx, Value};
use viva::dialogue::commands;
use viva::primitives::PRIMITIVES;
use viva::script::Session;
use viva::term::Paint;

const SETTING: &str = r#"
import "std/zoo" as zoo;
let ds = data::glyphs(#{ n: 4, size: 16, seed: 1 });
let f = model::from(|x| tensor::zeros([x.len, 10]));
let t = tensor::from([[1, 2], [3, 4]]);
let transcript = examine(f, ds, #{ space: space::translate(1), search: search::strongest() });
let report = risk::report(transcript);
let v = [1, 2.5, "three", ()];
let m = #{ a: 1, b: [2, 3], "two words": "x" };
let s = "täxt";
let g = |x| x + 1;
let i = 7;
let x = 0.5;
fn mine(a, b) { a + b }
"#;

/// Set at the start, and never named by what is tried.
const SENTINELS: &str = "let kept_number = 42; let kept_text = \"stays\"; let kept_array = [1, #{ a: 2 }];";

/// Words whose calls may take long or reach out of the session, whatever their arguments.
const LEFT_OUT: [&str; 13] = [
    "kept_",
    "sleep",
    "eval",
    "threads",
    "device",
    "train",
    "data::load",
    "model::load",
    "save",
    "people::task",
    "exit",
    "imagenet",
    "arg(",
];

/// Numbers above this make work.
const LARGEST: f64 = 40.0;

/// Every statement of the examples, the modules and the scripts, and pieces of them.
fn corpus() -> Vec<String> {
    let mut texts: Vec<String> = PRIMITIVES.iter().flat_map(|p| p.examples).map(|e| e.code.to_string()).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("stdlib"), root.join("scripts")];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<_> =
            std::fs::read_dir(&folder).expect("a folder of scripts").flatten().map(|entry| entry.path()).collect();
        // The order of a folder is the file system's, and what a seed tries must not be.
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rhai") {
                texts.push(std::fs::read_to_string(path).expect("a script"));
            }
        }
    }
    let mut pieces = Vec::new();
    for text in texts {
        pieces.extend(text.split_inclusive(';').filter(|piece| piece.len() < 600).map(String::from));
        pieces.extend(text.lines().map(String::from));
    }
    pieces
}

const VALUES: [&str; 34] = [
    "ds",
    "f",
    "t",
    "transcript",
    "report",
    "v",
    "m",
    "s",
    "g",
    "i",
    "x",
    "mine",
    "0",
    "1",
    "-1",
    "3",
    "1e400",
    "-0.0",
    "9223372036854775807",
    "()",
    "true",
    "\"\"",
    "\"a\\n\"",
    "`a${i}`",
    "'c'",
    "[]",
    "[1, 2]",
    "#{}",
    "#{ a: 1 }",
    "|x| x",
    "0..3",
    "0..=2",
    "(0.0/0.0)",
    "space::translate(1)",
];

const OPERATORS: [&str; 24] = [
    "+", "-", "*", "/", "%", "**", "==", "!=", "<", ">=", "&&", "||", "??", "in", "|", "&", "^", "<<", ">>", "..", "=",
    "+=", "=>", "?.",
];

fn pick<'a>(random: &mut StdRng, from: &'a [&'a str]) -> &'a str {
    from.choose(random).copied().unwrap_or("")
}

/// An expression over the live values.
fn expression(random: &mut StdRng, depth: usize) -> String {
    let value = |random: &mut StdRng| pick(random, &VALUES).to_string();
    if depth == 0 {
        return value(random);
    }
    let inner = |random: &mut StdRng| expression(random, depth - 1);
    match random.gen_range(0..12) {
        0 => format!("{} {} {}", inner(random), pick(random, &OPERATORS), inner(random)),
        1 => format!("[{}, {}]", inner(random), inner(random)),
        2 => format!("#{{ a: {}, b: {} }}", inner(random), inner(random)),
        3 => format!("({})[{}]", inner(random), inner(random)),
        4 => format!("if {} {{ {} }} else {{ {} }}", inner(random), inner(random), inner(random)),
        5 => format!("|x| {}", inner(random)),
        6 => format!("`{} ${{{}}}`", value(random), inner(random)),
        7 => format!(
            "{}({}, {})",
            pick(random, &["mine", "g", "print", "type_of", "Fn", "range"]),
            inner(random),
            inner(random)
        ),
        _ => {
            let primitive = PRIMITIVES.choose(random).expect("primitives");
            let mut arguments: Vec<String> = Vec::new();
            let receiver = usize::from(primitive.receiver().is_some());
            for _ in receiver..primitive.params.len() + usize::from(random.gen_bool(0.05)) {
                arguments.push(inner(random));
            }
            if random.gen_bool(0.6) {
                let options: Vec<String> = primitive
                    .options
                    .iter()
                    .filter(|_| random.gen_bool(0.4))
                    .map(|o| o.name)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|name| format!("{name}: {}", inner(random)))
                    .collect();
                arguments.push(format!("#{{ {} }}", options.join(", ")));
            }
            let arguments = arguments.join(", ");
            match primitive.receiver() {
                Some(_) => format!("{}.{}({arguments})", value(random), primitive.name()),
                None => format!("{}({arguments})", primitive.path),
            }
        }
    }
}

fn statement(random: &mut StdRng) -> String {
    let depth = random.gen_range(0..4);
    let inner = expression(random, depth);
    match random.gen_range(0..12) {
        0 => format!("let {} = {inner};", pick(random, &["i", "x", "v", "m", "fresh", "ds"])),
        1 => format!("for k in {inner} {{ {} }}", expression(random, 1)),
        2 => format!("while {inner} {{ i += 1 }}"),
        3 if random.gen_bool(0.2) => "loop { }".into(),
        4 => format!("try {{ {inner} }} catch (e) {{ e.kind }}"),
        5 => format!("fn {}(a) {{ {inner} }}", pick(random, &["own", "mine", "deep"])),
        6 if random.gen_bool(0.2) => "fn deep(a) { deep(a + 1) } deep(1)".into(),
        7 => format!("{} = {inner};", pick(random, &["v[0]", "m.a", "m[\"c\"]", "t[0]", "ds.name", "i", "v[-9]"])),
        8 => format!("throw {inner};"),
        _ => inner,
    }
}

/// Inserts, deletes, swaps, doubles or cuts characters or words.
fn edit(random: &mut StdRng, text: &str) -> String {
    let by_word = random.gen_bool(0.5);
    let mut parts: Vec<String> = if by_word {
        let mut words: Vec<String> = Vec::new();
        for c in text.chars() {
            match words.last_mut() {
                Some(last) if c.is_alphanumeric() && last.chars().all(char::is_alphanumeric) => last.push(c),
                _ => words.push(c.to_string()),
            }
        }
        words
    } else {
        text.chars().map(String::from).collect()
    };
    const STRANGE: [&str; 30] = [
        "(", ")", "[", "]", "{", "}", "#{", "\"", "`", "'", "${", "//", "/*", "*/", ";", ",", ":", "::", ".", "..",
        "|", "\\", "\n", "é", "🙂", "\u{301}", "\u{0}", "0x", "1e", "#",
    ];
    for _ in 0..random.gen_range(1..4) {
        let len = parts.len();
        let at = random.gen_range(0..=len);
        match random.gen_range(0..6) {
            0 => parts.insert(at, pick(random, &STRANGE).into()),
            1 if at < len => drop(parts.remove(at)),
            2 if at + 1 < len => parts.swap(at, at + 1),
            3 if at < len => parts.insert(at, parts[at].clone()),
            4 => parts.truncate(at),
            _ => parts.insert(at, pick(random, &VALUES).into()),
        }
    }
    parts.concat()
}

/// Whether a text is left out: it would train, read or write files, wait, or work on large numbers.
fn too_much(text: &str) -> bool {
    let number =
        |word: &str| word.parse::<f64>().is_ok_and(|x| x > LARGEST && x < 1e300 && word != "9223372036854775807");
    LEFT_OUT.iter().any(|word| text.contains(word))
        || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').any(number)
        || text.contains("glyphs()")
        || text.contains("scenes()")
        || text.contains("noise()")
}

/// Raises the stop flag of a session whose statement takes too long.
struct Guard {
    begun: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
}

/// How long a statement may run before it is stopped as Ctrl-C would.
const STOPPED_AFTER: Duration = Duration::from_millis(40);

impl Guard {
    fn new(stop: Arc<AtomicBool>) -> Self {
        let guard = Self { begun: Arc::default(), over: Arc::default() };
        let (begun, over) = (guard.begun.clone(), guard.over.clone());
        std::thread::spawn(move || {
            let mut last = 0;
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(STOPPED_AFTER);
                let now = begun.load(Ordering::Relaxed);
                // The same statement as a while ago.
                if now != 0 && now == last {
                    stop.store(true, Ordering::Relaxed);
                }
                last = now;
            }
        });
        guard
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// What went wrong with so many random inputs of this seed, on as much stack as the program gives scripts at least.
fn tried(seed: u64, many: u64) -> Vec<String> {
    let thread = std::thread::Builder::new().stack_size(32 << 20).spawn(move || tried_here(seed, many));
    thread.expect("a thread").join().expect("an end")
}

fn tried_here(seed: u64, many: u64) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    cx.set_data_folder(None);
    cx.set_output(Box::new(|_| {}));
    let stop = cx.stop_flag();
    let cx = Rc::new(cx);
    let mut session = Session::new(cx.clone());
    for text in [SETTING, SENTINELS] {
        session.evaluate("prompt", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    }
    let guard = Guard::new(stop.clone());
    let corpus = corpus();
    let mut random = StdRng::seed_from_u64(seed);
    let mut wrong: Vec<String> = Vec::new();
    for n in 1..=many {
        let base = match random.gen_range(0..5) {
            0 | 1 => statement(&mut random),
            _ => corpus.choose(&mut random).cloned().unwrap_or_default(),
        };
        let text = if random.gen_bool(0.7) { edit(&mut random, &base) } else { base };
        let cursor = random.gen_range(0..=text.len());
        let columns = random.gen_range(0..120);
        let typing = catch_unwind(AssertUnwindSafe(|| {
            let (start, offers) = complete(&session, commands::names(), &text, cursor);
            assert!(text.is_char_boundary(start) && start <= text.len() && offers.len() <= 300);
            let left = text.get(..cursor).unwrap_or(&text);
            signature(&session, left, columns);
            coloured(&text, Some(cursor), Paint::new(true));
        }));
        if typing.is_err() {
            wrong.push(format!("typing {text:?} with the cursor at {cursor} panics"));
        }
        if too_much(&text) {
            continue;
        }
        guard.begun.store(n, Ordering::Relaxed);
        let answer = catch_unwind(AssertUnwindSafe(|| match session.evaluate("prompt", &text) {
            Ok(value) => {
                value.details(80);
                None
            }
            Err(error) => {
                let shown = error.render(true);
                (error.kind == "internal").then_some(shown)
            }
        }));
        guard.begun.store(0, Ordering::Relaxed);
        stop.store(false, Ordering::Relaxed);
        match answer {
            Ok(None) => {}
            Ok(Some(shown)) => wrong.push(format!("{text:?} is a mistake in viva:\n{shown}")),
            Err(_) => wrong.push(format!("{text:?} panics")),
        }
        if n % 50 == 0 || n == many {
            let lost = lost(&mut session);
            if !lost.is_empty() {
                wrong.push(format!("after {text:?}: {lost} changed"));
                break;
            }
            // What was overwritten comes back, so that later statements have something to work on.
            if session.evaluate("prompt", SETTING).is_err() {
                wrong.push(format!("after {text:?} the session can't go on"));
                break;
            }
        }
        if wrong.len() > 20 {
            break;
        }
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.path()).collect();
    if !left.is_empty() {
        wrong.push(format!("files were left: {left:?}"));
    }
    wrong
}

/// The sentinels that do not have their values any more.
fn lost(session: &mut Session) -> String {
    let mut lost = String::new();
    let wanted = [("kept_number", "42"), ("kept_text", "stays"), ("kept_array", "[1, #{a: 2}]")];
    for (name, value) in wanted {
        if session.evaluate("prompt", name).map(|found: Value| found.summary()).ok().as_deref() != Some(value) {
            lost += name;
        }
    }
    lost
}

/// What the variable says, or a default.
fn said(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_input_breaks_nothing() {
    let wrong = tried(said("VIVA_SEED", 1), 2_500);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// `VIVA_SEED=7 cargo test --test all random_input::many -- --ignored`
#[test]
#[ignore = "a hundred thousand inputs take minutes"]
fn many_random_inputs_break_nothing() {
    let wrong = tried(said("VIVA_SEED", 2), said("VIVA_INPUTS", 100_000));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
