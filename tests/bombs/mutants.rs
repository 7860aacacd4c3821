//! Mutants of small files, of which nothing may panic, take much memory, or be read in two ways. The files are in `tests/corpus`, one
//! folder per reader, and begin with bombs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use viva::assist::complete;
use viva::core::record::Manifest;
use viva::core::{Budget, Cx, Digest, Journal, Object, Result, Value, strict_json};
use viva::data::{Load, load, picture};
use viva::dialogue::commands;
use viva::model::weights::{Contents, parse};
use viva::script::{Session, check};

use super::made;

/// Counts what each thread takes.
struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

fn grown(by: usize) {
    let taken = TAKEN.get().wrapping_add(by);
    TAKEN.set(taken);
    // What another thread took may be given back here.
    if taken < usize::MAX / 2 {
        MOST.set(MOST.get().max(taken));
    }
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.set(TAKEN.get().wrapping_sub(layout.size()));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grown(size.wrapping_sub(layout.size()));
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that reading one of these files may take: the room that every file has, and what vectors take that grow to it.
const MOST_TAKEN: usize = 160 << 20;

/// Larger mutants are cut.
const LARGEST: usize = 64 << 10;

/// What readers need that stays from file to file.
struct Desk {
    folder: PathBuf,
    cx: Rc<Cx>,
    session: Session,
}

/// What a file was read as, of what was accepted.
type Answer = Result<String>;

struct Target {
    /// The folder of the corpus.
    name: &'static str,
    /// Checksums and lengths are made to fit, so that what lies behind them is reached.
    mend: fn(&mut [u8]),
    read: fn(&mut Desk, &[u8]) -> Answer,
}

fn as_they_are(_: &mut [u8]) {}

/// Of a PNG's chunks.
fn mend_png(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(word) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes(word.try_into().unwrap()) as usize;
        let Some(named) = bytes.get(at + 4..(at + 8).saturating_add(length)) else { return };
        let sum = crc32fast::hash(named).to_be_bytes();
        let Some(place) = bytes.get_mut(at + 8 + length..at + 12 + length) else { return };
        place.copy_from_slice(&sum);
        at += 12 + length;
    }
}

/// Of a journal's records.
fn mend_journal(bytes: &mut [u8]) {
    let mut at = 16;
    while let Some(word) = bytes.get(at..at + 4) {
        let length = u32::from_le_bytes(word.try_into().unwrap()) as usize;
        let Some(body) = bytes.get(at + 8..(at + 8).saturating_add(length)) else { return };
        let sum = crc32fast::hash(body).to_le_bytes();
        bytes[at + 4..at + 8].copy_from_slice(&sum);
        at += 8 + length;
    }
}

/// A manifest with the digest of what it says now, so that what stands behind the digest is read too.
fn sealed_again(bytes: &[u8]) -> Vec<u8> {
    let Some(said) = std::str::from_utf8(bytes).ok().and_then(|text| text.trim_end().strip_suffix('}')) else {
        return bytes.to_vec();
    };
    format!("{said},\n  \"sha256\": \"{}\"\n}}\n", Digest::of(said.as_bytes()).hex()).into_bytes()
}

impl Desk {
    fn new(folder: &Path) -> Self {
        let mut cx = Cx::default();
        cx.set_folder(folder.to_path_buf());
        cx.set_data_folder(None);
        cx.set_output(Box::new(|_| {}));
        let cx = Rc::new(cx);
        Self { folder: folder.to_path_buf(), session: Session::new(cx.clone()), cx }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn load(&self, path: &Path) -> Answer {
        let set = load(&self.cx, path.to_str().unwrap(), &Load::default())?;
        let rows: Vec<usize> = (0..set.len().min(3)).collect();
        let pixels = Digest::of_tensor(&set.canvases(&rows, tch::Device::Cpu)?)?;
        Ok(format!("{} {pixels:?} {:?}", Object::digest(&set).hex(), set.labels().iter().take(10).collect::<Vec<_>>()))
    }

    fn evaluate(&mut self, text: &str) -> Answer {
        let said = |value: Value| value.json().to_string();
        self.session.evaluate("mutants", text).map(said).map_err(|error| {
            assert_ne!(error.kind, "internal", "{}", error.render(false));
            viva::core::Error::data(error.kind)
        })
    }
}

fn weights(bytes: &[u8]) -> Answer {
    let cx = Cx::default();
    Ok(match parse(bytes, &Budget::new(&cx, bytes.len() as u64, Budget::PLAIN))? {
        Contents::TorchScript { .. } => "a program".into(),
        Contents::Weights(weights) => {
            let parts = weights.iter().map(|(name, tensor)| Ok(format!("{name} {:?}", Digest::of_tensor(tensor)?)));
            parts.collect::<Result<Vec<_>>>()?.join("\n")
        }
    })
}

fn journal(desk: &mut Desk, bytes: &[u8]) -> Answer {
    desk.put("progress/journal", bytes);
    let mut cx = Cx::default();
    cx.set_output(Box::new(|_| {}));
    cx.set_journal(Journal::open(&desk.folder.join("progress"))?);
    let mut said = vec![];
    let mut call = cx.long_call("call", &[], false);
    while let Some(record) = call.replay()? {
        said.push(Digest::of(&record).short());
    }
    Ok(said.join(" ") + cx.printed().as_str())
}

const TARGETS: [Target; 27] = [
    Target { name: "safetensors", mend: as_they_are, read: |_, bytes| weights(bytes) },
    Target { name: "torch_zip", mend: as_they_are, read: |_, bytes| weights(bytes) },
    Target { name: "torch_legacy", mend: as_they_are, read: |_, bytes| weights(bytes) },
    Target {
        name: "pickle",
        mend: as_they_are,
        read: |_, bytes| weights(&made::stored(&[("w/data.pkl", bytes), ("w/data/0", &[7; 64])])),
    },
    Target { name: "npz", mend: as_they_are, read: |desk, bytes| desk.load(&desk.put("d.npz", bytes)) },
    Target {
        name: "npy",
        mend: as_they_are,
        read: |desk, bytes| {
            let labels = made::npy(1, b"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", 58, &[0, 1]);
            desk.load(&desk.put("y.npz", &made::stored(&[("labels.npy", &labels), ("images.npy", bytes)])))
        },
    },
    Target {
        name: "csv",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("t.csv", bytes);
            desk.evaluate(r#"data::csv("t.csv")"#)
        },
    },
    Target {
        name: "classes_csv",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("listed/a.png", &made::png(4, 4, &[0; 20]));
            desk.put("listed/classes.csv", bytes);
            desk.load(&desk.folder.join("listed"))
        },
    },
    Target {
        name: "labels_json",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("labelled/a.png", &made::png(4, 4, &[0; 20]));
            desk.put("labelled/labels.json", bytes);
            desk.load(&desk.folder.join("labelled"))
        },
    },
    Target { name: "png", mend: mend_png, read: |desk, bytes| picture_of(&desk.put("p.png", bytes)) },
    Target { name: "gif", mend: as_they_are, read: |desk, bytes| picture_of(&desk.put("p.gif", bytes)) },
    Target { name: "jpeg", mend: as_they_are, read: |desk, bytes| picture_of(&desk.put("p.jpg", bytes)) },
    Target { name: "webp", mend: as_they_are, read: |desk, bytes| picture_of(&desk.put("p.webp", bytes)) },
    Target { name: "tiff", mend: as_they_are, read: |desk, bytes| picture_of(&desk.put("p.tif", bytes)) },
    Target { name: "parquet", mend: as_they_are, read: |desk, bytes| desk.load(&desk.put("p.parquet", bytes)) },
    Target {
        name: "synsets",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("flat/ILSVRC2012_val_00000001.png", &made::png(4, 4, &[0; 20]));
            desk.put("ILSVRC2012_validation_ground_truth.txt", b"7");
            desk.put("meta.mat", bytes);
            desk.load(&desk.folder.join("flat"))
        },
    },
    Target {
        name: "obj",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("o/m.mtl", b"newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 1 0\n");
            object(desk, &desk.put("o/o.obj", bytes))
        },
    },
    Target { name: "stl", mend: as_they_are, read: |desk, bytes| object(desk, &desk.put("o/o.stl", bytes)) },
    Target { name: "ply", mend: as_they_are, read: |desk, bytes| object(desk, &desk.put("o/o.ply", bytes)) },
    Target { name: "glb", mend: as_they_are, read: |desk, bytes| object(desk, &desk.put("o/o.glb", bytes)) },
    Target {
        name: "mtl",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("m/t.png", &made::png(4, 4, &[0; 20]));
            desk.put("m/m.mtl", bytes);
            object(desk, &desk.put("m/o.obj", b"mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n"))
        },
    },
    Target {
        name: "idx",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("labels-idx1", b"\0\0\x08\x01\0\0\0\x02\0\x01");
            desk.load(&desk.put("images-idx3", bytes))
        },
    },
    Target { name: "cifar", mend: as_they_are, read: |desk, bytes| desk.load(&desk.put("c.bin", bytes)) },
    Target { name: "cifar_pickle", mend: as_they_are, read: |desk, bytes| desk.load(&desk.put("c", bytes)) },
    Target { name: "mat", mend: as_they_are, read: |desk, bytes| desk.load(&desk.put("d.mat", bytes)) },
    Target { name: "journal", mend: mend_journal, read: journal },
    Target {
        name: "manifest",
        mend: as_they_are,
        read: |desk, bytes| {
            desk.put("run/manifest.json", &sealed_again(bytes));
            let budget = Budget::unwatched(bytes.len() as u64, Budget::PLAIN);
            let json = strict_json(bytes, &budget, viva::core::Error::data).map(|json| json.to_string().len());
            let begun = Manifest::read(&desk.folder.join("run"))?;
            Ok(format!("{} {:?} {:?} {json:?}", begun.script, begun.arguments, begun.inputs))
        },
    },
];

/// Texts are changed as bytes and given as what they say.
const TEXTS: [Target; 2] = [
    Target {
        name: "script",
        mend: as_they_are,
        read: |desk, bytes| {
            let text = String::from_utf8_lossy(bytes);
            let ast = desk.session.compile("mutant.rhai", &text).map_err(|e| viva::core::Error::data(e.kind))?;
            Ok(check(&desk.session, &ast, &text)
                .iter()
                .map(|found| found.message.clone())
                .collect::<Vec<_>>()
                .join("\n"))
        },
    },
    Target {
        name: "completer",
        mend: as_they_are,
        read: |desk, bytes| {
            let text = String::from_utf8_lossy(bytes);
            let mut cursor = text.len() * usize::from(*bytes.first().unwrap_or(&0)) / 255;
            while !text.is_char_boundary(cursor) {
                cursor -= 1;
            }
            let (start, offers) = complete(&desk.session, commands::names(), &text, cursor);
            assert!(text.is_char_boundary(start) && start <= text.len());
            Ok(format!("{start} {}", offers.len()))
        },
    },
];

fn picture_of(path: &Path) -> Answer {
    let picture = picture::read(path)?;
    Ok(format!("{} {} {:?}", picture.width(), picture.height(), Digest::of(picture.as_bytes())))
}

fn object(desk: &Desk, path: &Path) -> Answer {
    let mesh = viva::render::read_object(
        &desk.cx,
        "o",
        &[path.into()],
        viva::render::Up::Y,
        &mut viva::render::Textures::new(viva::data::picture::decode),
    )?;
    Ok(format!("{:?} {}", mesh.digest(), mesh.triangles().len()))
}

/// Numbers at which readers go wrong.
const NUMBERS: [u64; 14] = [
    0,
    1,
    7,
    255,
    256,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 40,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

fn mutant(random: &mut Pcg64Mcg, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus.choose(random).unwrap().clone();
    for _ in 0..random.gen_range(0..6) {
        let len = bytes.len();
        if len == 0 {
            return bytes;
        }
        // Heads are where sizes are.
        let at = if random.gen_bool(0.4) { random.gen_range(0..len.min(128)) } else { random.gen_range(0..len) };
        let span = random.gen_range(0..=(len - at).min(64));
        match random.gen_range(0..12) {
            0 => bytes[at] ^= 1 << random.gen_range(0..8),
            1 => bytes[at] = random.next_u32() as u8,
            2 => bytes[at] = bytes[at].wrapping_add(if random.gen_bool(0.5) { 1 } else { 255 }),
            3 => drop(bytes.drain(at..at + span)),
            4 => bytes.truncate(at),
            5 => {
                let part = bytes[at..at + span].repeat(random.gen_range(1..40));
                drop(bytes.splice(at..at, part));
            }
            6 => {
                let other = corpus.choose(random).unwrap();
                let from = random.gen_range(0..=other.len());
                let part = other[from..(from + random.gen_range(0..200)).min(other.len())].to_vec();
                drop(bytes.splice(at..at + span, part));
            }
            7 | 8 => {
                let width = [1, 2, 4, 8][random.gen_range(0..4)].min(len - at);
                let number = NUMBERS.choose(random).unwrap().wrapping_add(random.gen_range(0..3)).wrapping_sub(1);
                let word = if random.gen_bool(0.5) { number.to_le_bytes() } else { number.to_be_bytes() };
                let word = if random.gen_bool(0.5) { &word[..width] } else { &word[8 - width..] };
                bytes[at..at + width].copy_from_slice(word);
            }
            9 => {
                // A number that is written out.
                let digits = |byte: &u8| byte.is_ascii_digit();
                if let Some(first) = bytes[at..].iter().position(digits).map(|from| at + from) {
                    let end = bytes[first..].iter().position(|byte| !digits(byte)).map_or(len, |n| first + n);
                    let text = NUMBERS.choose(random).unwrap().to_string().into_bytes();
                    drop(bytes.splice(first..end, text));
                }
            }
            10 => bytes.insert(at, *b"\0\n\"'()[]{},:;-.0 \xff/#".choose(random).unwrap()),
            _ => bytes.swap(at, random.gen_range(0..len)),
        }
        bytes.truncate(LARGEST);
    }
    bytes
}

/// Reads a file twice; whether it was accepted, or what is wrong with that.
fn problem(target: &Target, desk: &mut Desk, bytes: &[u8]) -> std::result::Result<bool, String> {
    TAKEN.set(0);
    MOST.set(0);
    let read = |desk: &mut Desk| catch_unwind(AssertUnwindSafe(|| (target.read)(desk, bytes)));
    let Ok(first) = read(desk) else { return Err("it panics".into()) };
    let taken = MOST.get();
    if taken > MOST_TAKEN {
        return Err(format!("{} bytes take {taken}", bytes.len()));
    }
    match &first {
        Err(error) if error.message.is_empty() || error.message.len() > 3000 => {
            return Err(format!("its error has {} bytes", error.message.len()));
        }
        Err(_) => return Ok(false),
        Ok(_) => {}
    }
    match read(desk) {
        Ok(second) if second.as_ref().ok() == first.as_ref().ok() => Ok(true),
        Ok(second) => Err(format!("it is read as {first:?} and as {second:?}")),
        Err(_) => Err("it panics the second time".into()),
    }
}

struct Tally {
    inputs: u64,
    accepted: u64,
    wrong: Vec<String>,
}

fn tried(targets: &[Target], seed: u64, many: u64, kept: Option<&Path>) -> BTreeMap<&'static str, Tally> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut tallies = BTreeMap::new();
    for (place, target) in targets.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let mut desk = Desk::new(folder.path());
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(root.join(target.name)).expect(target.name).flatten().map(|e| e.path()).collect();
        files.sort();
        let corpus: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ (place as u64) << 32);
        let mut tally = Tally { inputs: 0, accepted: 0, wrong: vec![] };
        for n in 0..many + corpus.len() as u64 {
            let mut bytes = corpus.get(n as usize).cloned().unwrap_or_else(|| mutant(&mut random, &corpus));
            if random.gen_bool(0.8) {
                (target.mend)(&mut bytes);
            }
            // What ends the process is found in the file.
            if let Some(kept) = kept {
                std::fs::write(kept.join(target.name), &bytes).unwrap();
            }
            tally.inputs += 1;
            match problem(target, &mut desk, &bytes) {
                Ok(accepted) => tally.accepted += u64::from(accepted),
                Err(what) => {
                    if let Some(kept) = kept {
                        std::fs::write(kept.join(format!("{}.{}", target.name, tally.wrong.len())), &bytes).unwrap();
                    }
                    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
                    tally.wrong.push(format!("{} {n}: {what}: {text:?}", target.name));
                    if tally.wrong.len() >= 20 {
                        break;
                    }
                }
            }
        }
        tallies.insert(target.name, tally);
    }
    tallies
}

fn nothing_wrong(tallies: BTreeMap<&'static str, Tally>) {
    let wrong: Vec<&String> = tallies.values().flat_map(|tally| &tally.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A reader that refuses everything was not tried.
    let refused: Vec<&str> = tallies.iter().filter(|(_, tally)| tally.accepted == 0).map(|(name, _)| *name).collect();
    assert!(refused.is_empty(), "nothing of these was accepted: {refused:?}");
}

#[test]
fn mutants_of_files_do_no_harm() {
    nothing_wrong(tried(&TARGETS, 1, 250, None));
}

#[test]
fn mutants_of_scripts_do_no_harm() {
    nothing_wrong(tried(&TEXTS, 1, 200, None));
}

/// `VIVA_SEED=7 VIVA_INPUTS=100000 VIVA_TARGETS=png,gif VIVA_KEPT=/tmp cargo test --test bombs many -- --ignored --nocapture`
#[test]
#[ignore = "for campaigns of hours"]
fn many_mutants_do_no_harm() {
    let said = |name: &str| std::env::var(name).ok();
    let number = |name: &str, default: u64| said(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let kept = said("VIVA_KEPT").map(PathBuf::from);
    let names = said("VIVA_TARGETS");
    let wanted = |target: &Target| names.as_ref().is_none_or(|names| names.split(',').any(|name| name == target.name));
    let targets: Vec<Target> = TARGETS.into_iter().chain(TEXTS).filter(wanted).collect();
    let tallies = tried(&targets, number("VIVA_SEED", 2), number("VIVA_INPUTS", 100_000), kept.as_deref());
    for (name, Tally { inputs, accepted, wrong }) in &tallies {
        println!("{name}: {inputs} inputs, {accepted} accepted, {} wrong", wrong.len());
    }
    nothing_wrong(tallies);
}
