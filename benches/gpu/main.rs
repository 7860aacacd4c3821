//! What a GPU is for: sweeps of all crops, tolerance curves, finetuning and latent search, BigGAN; viva beside PyTorch as a person tunes it
//! by hand (`gpu.py`), in turn and in one run, with how busy the GPU is. Both work out some answers of the same networks as well, which
//! must agree.
//!
//! `BENCH_DEVICE` (cuda), `BENCH_SMALL=1` for sizes that a CPU does in a minute, `BENCH_FAST=1` for TF32 on both sides; arguments choose
//! works by a part of their names. `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0 and torchvision; without it only viva is measured.
//! `BENCH_WAYS` chooses among the peer's ways by a part of their names, `BENCH_TURNS` (3) says how often, `BENCH_SECONDS` after how many of
//! them nothing more is begun, and `BENCH_OUT` names a folder for `bench.md` and `bench.jsonl`. The program runs where no cargo is, at the root of the sources: `cargo bench --bench gpu --no-run`.

mod card;
mod peer;
mod works;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Instant;

use card::{Card, Load, watched};
use peer::Peer;
use serde_json::{Value as Json, json};
use viva::core::{Cx, Tensor, Value, resolve_device, wait_for};
use viva::data::Dataset;
use viva::script::Session;
use works::Work;

/// How far answers of one network may be apart, as a share of the largest: single precision in another order, or TF32.
const APART: [f64; 2] = [1e-3, 5e-2];

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What one side does of a work in a second, and how busy the card was.
struct Side {
    way: String,
    /// Of a run.
    items: f64,
    /// In a turn.
    runs: u32,
    seconds: Vec<f64>,
    load: Option<Load>,
    /// The share of the items that were done twice.
    twice: Option<f64>,
}

impl Side {
    fn new(way: &str, items: f64) -> Self {
        Self { way: way.into(), items, runs: 1, seconds: vec![], load: None, twice: None }
    }

    fn add(&mut self, (seconds, load): (f64, Option<Load>)) {
        self.seconds.push(seconds);
        self.load = load.or(self.load);
    }

    fn rate(&self) -> f64 {
        self.items / median(self.seconds.clone())
    }

    fn json(&self) -> Json {
        let load = self.load.map(|load| {
            json!({ "busy_percent": load.busy, "sm_mhz": load.clock, "memory_mhz": load.memory_clock, "watts": load.watts, "memory_mib": load.memory })
        });
        json!({ "way": self.way, "per_second": self.rate(), "seconds": self.seconds, "load": load, "twice": self.twice })
    }
}

/// What came of a work.
struct Measured {
    own: Side,
    /// Scored in bfloat16 first.
    low: Option<Side>,
    rivals: Vec<Side>,
    /// Ways that the peer could not go, and why.
    failed: Vec<String>,
    /// How far the two sides' answers are apart, or why nobody knows.
    apart: Result<f64, String>,
}

struct Bench {
    device: tch::Device,
    /// Looks at the GPU, if there is one.
    card: Option<Card>,
    folder: PathBuf,
    peer: Result<Peer, String>,
    turns: usize,
    fast: bool,
}

impl Bench {
    fn on_gpu(&self) -> bool {
        self.device.is_cuda()
    }

    fn session(&self) -> Session {
        let mut cx = Cx::default();
        cx.set_folder(self.folder.clone());
        cx.set_output(Box::new(|_| {}));
        cx.set_device(self.device);
        Session::new(Rc::new(cx))
    }

    fn measured(&mut self, work: &Work) -> Result<Measured, String> {
        if let (true, Err(why)) = (work.needs_peer, &self.peer) {
            return Err(why.clone());
        }
        let mut session = self.session();
        if work.needs_peer {
            self.peer.as_mut().map_err(|why| why.clone())?.ask(&work.peer, json!({ "make": true }))?;
        }
        said(&mut session, &work.setup)?;
        if let Some((expression, file)) = &work.given {
            write_pixels(&said(&mut session, expression)?, Path::new(file))?;
        }
        let apart = self.apart(&mut session, work);
        let (mut rivals, failed) = self.rivals(work);
        let mut sides = vec![(Side::new("viva", work.items), work.once.clone())];
        if let Some(low) = &work.low {
            let told = said(&mut session, low)?;
            let Value::Array(told) = &told else { return Err("bfloat16 tells no numbers".into()) };
            let [Value::Int(items), Value::Int(twice)] = told[..] else {
                return Err("bfloat16 tells other numbers".into());
            };
            let mut side = Side::new("viva, bfloat16 first", items as f64);
            side.twice = Some(twice as f64 / items as f64);
            sides.push((side, low.clone()));
        }
        for (side, once) in &mut sides {
            self.own(&mut session, once, 1)?;
            side.runs = self.runs(self.own(&mut session, once, 1)?);
        }
        for _ in 0..self.turns {
            for (side, once) in &mut sides {
                let (seconds, load) = watched(self.card.as_ref(), || self.own(&mut session, once, side.runs));
                side.add((seconds?, load));
            }
            if let Ok(peer) = &mut self.peer {
                for rival in &mut rivals {
                    let asked = || peer.seconds(&work.peer, &rival.way, rival.runs);
                    let (seconds, load) = watched(self.card.as_ref(), asked);
                    rival.add((seconds?, load));
                }
            }
        }
        if let Ok(peer) = &mut self.peer {
            peer.ask(&work.peer, json!({ "forget": true }))?;
        }
        let mut sides = sides.into_iter().map(|(side, _)| side);
        let own = sides.next().ok_or("nothing was measured")?;
        Ok(Measured { own, low: sides.next(), rivals, failed, apart })
    }

    /// How many runs make a turn: on a GPU a second of them, which is what its driver takes to say how busy it is.
    fn runs(&self, seconds: f64) -> u32 {
        if self.on_gpu() { (1.0 / seconds).ceil().clamp(1.0, 100.0) as u32 } else { 1 }
    }

    /// Seconds of one run of viva's, the mean of so many, from an idle device to an idle device.
    fn own(&self, session: &mut Session, once: &str, runs: u32) -> Result<f64, String> {
        let wait = || wait_for(self.device).map_err(|error| error.to_string());
        wait()?;
        let start = Instant::now();
        for _ in 0..runs {
            said(session, once)?;
        }
        wait()?;
        Ok(start.elapsed().as_secs_f64() / f64::from(runs))
    }

    /// Every way is tried once; the two fastest in single precision and the fastest in half of it go through all turns.
    fn rivals(&mut self, work: &Work) -> (Vec<Side>, Vec<String>) {
        let Ok(peer) = &mut self.peer else { return (vec![], vec![]) };
        let chosen = setting("BENCH_WAYS");
        let mut tried = vec![];
        let mut failed = vec![];
        for way in peer.ways.clone() {
            if chosen.as_ref().is_some_and(|part| !way.contains(part.as_str())) {
                continue;
            }
            match peer.seconds(&work.peer, &way, 1) {
                Ok(seconds) => tried.push((seconds, way)),
                Err(why) => failed.push(format!("{way}: {why}")),
            }
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        let of = |kind: &str, most: usize| {
            let ways = tried.iter().filter(|(_, way)| way.contains(kind)).take(most);
            ways.map(|(seconds, way)| Side { runs: self.runs(*seconds), ..Side::new(way, work.items) })
                .collect::<Vec<_>>()
        };
        (of("float32", 2).into_iter().chain(of("bfloat16", 1)).collect(), failed)
    }

    /// How far the peer's answers are from viva's, as a share of the largest.
    fn apart(&mut self, session: &mut Session, work: &Work) -> Result<f64, String> {
        let Some(expression) = work.tells else { return Err("nothing is compared".into()) };
        let peer = self.peer.as_mut().map_err(|why| why.clone())?;
        let file = self.folder.join("told");
        peer.ask(&work.peer, json!({ "tell": file }))?;
        let theirs: Vec<f32> = std::fs::read(&file)
            .map_err(|error| error.to_string())?
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let Value::Tensor(own) = said(session, expression)? else { return Err("no tensor".into()) };
        let own = flat(&own)?;
        if own.len() != theirs.len() {
            return Ok(f64::INFINITY);
        }
        let largest = theirs.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let far = own.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
        Ok(f64::from(far / largest))
    }
}

/// The larger, and NaN where either is.
fn nan_max(a: f32, b: f32) -> f32 {
    if a.is_nan() || a >= b { a } else { b }
}

fn flat(tensor: &Tensor) -> Result<Vec<f32>, String> {
    let cpu = tensor.to_device(tch::Device::Cpu).to_kind(tch::Kind::Float).contiguous();
    Vec::<f32>::try_from(&cpu.reshape([-1])).map_err(|error| error.to_string())
}

/// A tensor, or the canvases of a data set, as raw numbers.
fn write_pixels(value: &Value, file: &Path) -> Result<(), String> {
    let numbers = match value {
        Value::Tensor(tensor) => flat(tensor)?,
        other => {
            let set = other.downcast::<Dataset>().ok_or("neither a tensor nor a data set")?;
            let canvases = set.canvases(&(0..set.len()).collect::<Vec<_>>(), tch::Device::Cpu);
            flat(&canvases.map_err(|error| error.to_string())?)?
        }
    };
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(file, bytes).map_err(|error| error.to_string())
}

fn said(session: &mut Session, text: &str) -> Result<Value, String> {
    session.evaluate("bench", text).map_err(|error| error.render(false))
}

/// A row of the table: rates and ratios above 1 where viva is faster.
fn row(work: &Work, measured: &Measured) -> String {
    let rival = |kind: &str| {
        let of = measured.rivals.iter().filter(|side| side.way.contains(kind));
        of.max_by(|a, b| a.rate().total_cmp(&b.rate()))
    };
    let told = |kind: &str, own: Option<&Side>| {
        let rate = own.map_or("-".into(), |own| match own.twice {
            Some(twice) => format!("{:.0} ({:.1}% twice)", own.rate(), 100.0 * twice),
            None => format!("{:.0}", own.rate()),
        });
        let (own, rival) = (own.map(Side::rate), rival(kind));
        let theirs = rival
            .map_or("-".into(), |side| format!("{:.0} ({})", side.rate(), side.way.replace(&format!(", {kind}"), "")));
        let ratio = own.zip(rival).map_or("-".into(), |(own, side)| format!("{:.2}", own / side.rate()));
        format!("{rate} | {theirs} | {ratio}")
    };
    let load = |side: Option<&Side>| match side.and_then(|side| side.load) {
        Some(load) => format!("{:.0}% at {:.0} MHz", load.busy, load.clock),
        None => "-".into(),
    };
    format!(
        "| {} ({} per second) | {} | {} | {} | {} |",
        work.name,
        work.unit,
        told("float32", Some(&measured.own)),
        told("bfloat16", measured.low.as_ref()),
        load(Some(&measured.own)),
        load(rival("float32"))
    )
}

fn head(fast: bool) -> String {
    let single = if fast { "TF32" } else { "float32" };
    format!(
        "| work | viva | PyTorch, {single} | ratio | viva, bfloat16 first | PyTorch, bfloat16 | ratio | GPU under viva | under PyTorch |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    )
}

/// A line of `bench.jsonl`.
fn note(out: Option<&Path>, line: &str) {
    use std::io::Write;
    println!("{line}");
    if let Some(folder) = out {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("bench.jsonl"));
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.unwrap_or_else(|error| panic!("{}: {error}", folder.join("bench.jsonl").display()));
    }
}

/// Measures a work and says what came of it; whether the two sides agree.
fn report(bench: &mut Bench, work: &Work, out: Option<&Path>) -> (String, bool) {
    let began = Instant::now();
    let measured = match bench.measured(work) {
        Ok(measured) => measured,
        Err(why) => {
            let why = why.lines().next().unwrap_or_default().to_string();
            note(out, &json!({ "work": work.name, "skipped": why }).to_string());
            // A work that only the peer can begin is skipped where there is no peer; what fails otherwise is a failure.
            let skipped = work.needs_peer && bench.peer.is_err();
            return (format!("{}: {}: {why}", if skipped { "skipped" } else { "FAILED" }, work.name), skipped);
        }
    };
    let agree = measured.apart.as_ref().map_or(true, |apart| *apart <= APART[usize::from(bench.fast)]);
    let line = json!({
        "work": work.name, "unit": work.unit, "viva": measured.own.json(), "low": measured.low.as_ref().map(Side::json),
        "peers": measured.rivals.iter().map(Side::json).collect::<Vec<_>>(), "failed": measured.failed,
        "apart": measured.apart.as_ref().ok(), "not_compared": measured.apart.as_ref().err(), "agree": agree,
        "took_seconds": began.elapsed().as_secs_f64(),
    });
    note(out, &line.to_string());
    measured.failed.iter().for_each(|failed| println!("  skipped: PyTorch, {failed}"));
    if !agree {
        println!("  DISAGREE: {} of the largest answer apart", measured.apart.as_ref().unwrap_or(&f64::NAN));
    }
    (row(work, &measured), agree)
}

/// The device that is asked for, or how the program ends without it.
fn device(name: &str) -> Result<tch::Device, ExitCode> {
    resolve_device(name).map_err(|error| {
        println!("gpu: skipped, {error} (BENCH_DEVICE=cpu measures the CPU)");
        if setting("BENCH_DEVICE").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    })
}

/// Measures what is chosen, and says it in a table; whether all of it went well.
fn measure(bench: &mut Bench, works: &[Work], about: String) -> bool {
    let out = setting("BENCH_OUT").map(PathBuf::from);
    let (began, most) = (Instant::now(), setting("BENCH_SECONDS").and_then(|text| text.parse().ok()));
    let (mut rows, mut well) = (vec![], true);
    for work in works {
        if most.is_some_and(|most: u64| began.elapsed().as_secs() > most) {
            rows.push(format!("skipped: {}: the time is up (BENCH_SECONDS)", work.name));
        } else {
            let (row, agree) = report(bench, work, out.as_deref());
            well &= agree;
            rows.push(row);
        }
        // Whole after every work: whoever ends the program early has what was measured.
        if let Some(file) = out.as_ref().map(|folder| folder.join("bench.md")) {
            std::fs::write(&file, table(bench.fast, &rows, &about) + "\n")
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
    }
    println!("{}", table(bench.fast, &rows, &about));
    well
}

/// Rows of works, then what it is of, then works that have no row.
fn table(fast: bool, rows: &[String], about: &str) -> String {
    let (works, others): (Vec<String>, Vec<String>) = rows.iter().cloned().partition(|row| row.starts_with('|'));
    [vec![head(fast)], works, vec![String::new(), about.into()], others].concat().join("\n")
}

fn main() -> ExitCode {
    viva::core::tune_allocator();
    let is_set = |name: &str| setting(name).is_some_and(|word| word == "1");
    let fast = is_set("BENCH_FAST");
    if fast {
        viva::core::set_fast();
    }
    let name = setting("BENCH_DEVICE").unwrap_or("cuda".into());
    let device = match device(&name) {
        Ok(device) => device,
        Err(status) => return status,
    };
    let folder = tempfile::tempdir().expect("a folder for weights");
    let peer = Peer::start(if device.is_cuda() { "cuda" } else { "cpu" });
    let turns = setting("BENCH_TURNS").and_then(|text| text.parse().ok()).unwrap_or(3);
    let about = match &peer {
        Ok(peer) => format!("viva beside {}, {name}, medians of {turns} turns", peer.versions),
        Err(why) => format!("viva alone ({why}), {name}, medians of {turns} turns"),
    };
    println!("{about}");
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut works = works::all(folder.path(), is_set("BENCH_SMALL"));
    works.retain(|work| chosen.is_empty() || chosen.iter().any(|part| work.name.contains(part.as_str())));
    let card = device.is_cuda().then(Card::watch).flatten();
    let mut bench = Bench { device, card, folder: folder.path().to_path_buf(), peer, turns, fast };
    if measure(&mut bench, &works, about) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
