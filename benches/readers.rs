//! How many pictures a second the readers give, decoded, resized to 256, cropped to 224, as batches of floats on the CPU, and what
//! processor time a picture takes: a folder, WebDataset shards and Parquet as Hugging Face's datasets writes it, each beside what
//! reads it elsewhere with as many processes (`readers.py`): torchvision's ImageFolder, webdataset and datasets. In turn: viva, then its
//! peer, form by form, turn by turn.
//!
//! `VIVA_DATA` names the folder of `data/imagenet_sample`, whose photographs are repeated to `BENCH_IMAGES` rows (3000).
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0, torchvision, webdataset and datasets; without it only viva is measured.
//! `BENCH_TURNS` changes the rest, `BENCH_SHUFFLED=1` reads in a random order. Threads: as many as there are processors; give it two by
//! `taskset -c 0,1`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use viva::core::Cx;
use viva::data::{Dataset, Load, View, load};

const BATCH: usize = 64;
const CLASSES: usize = 10;
const ROWS_OF_A_GROUP: usize = 100;
const ROWS_OF_A_SHARD: usize = 500;

fn setting(name: &str, without: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(without)
}

fn parquet(path: &Path, pictures: &[(String, usize, Vec<u8>)]) {
    let schema = "message schema { optional group image { optional binary bytes; optional binary path (UTF8); } optional int64 label; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_dictionary_enabled(false).build();
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let file = File::create(path).expect("a file");
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    for rows in pictures.chunks(ROWS_OF_A_GROUP) {
        let mut group = writer.next_row_group().expect("a group");
        let there = vec![2; rows.len()];
        let texts: [Vec<ByteArray>; 2] = [
            rows.iter().map(|(_, _, bytes)| bytes.clone().into()).collect(),
            rows.iter().map(|(name, ..)| name.as_str().into()).collect(),
        ];
        for values in texts {
            let mut column = group.next_column().expect("a column").expect("one more");
            column.typed::<ByteArrayType>().write_batch(&values, Some(&there), None).expect("written");
            column.close().expect("closed");
        }
        let labels: Vec<i64> = rows.iter().map(|(_, label, _)| *label as i64).collect();
        let mut column = group.next_column().expect("a column").expect("one more");
        column.typed::<Int64Type>().write_batch(&labels, Some(&vec![1; rows.len()]), None).expect("written");
        column.close().expect("closed");
        group.close().expect("closed");
    }
    writer.close().expect("closed");
}

/// The same rows in every form.
fn make(root: &Path, count: usize) {
    let data = PathBuf::from(std::env::var_os("VIVA_DATA").expect("VIVA_DATA names a folder"));
    let folder = data.join("data/imagenet_sample/images");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).expect("photographs").flatten().map(|entry| entry.path()).collect();
    files.sort();
    let of = |row: usize| {
        let bytes = std::fs::read(&files[row % files.len()]).expect("a photograph");
        (format!("{row:06}.jpg"), row * CLASSES / count, bytes)
    };
    let pictures: Vec<(String, usize, Vec<u8>)> = (0..count).map(of).collect();
    for (name, label, bytes) in &pictures {
        let class = root.join(format!("folder/c{label}"));
        std::fs::create_dir_all(&class).expect("a folder");
        std::fs::write(class.join(name), bytes).expect("a picture");
    }
    std::fs::create_dir_all(root.join("shards")).expect("a folder");
    for (number, rows) in pictures.chunks(ROWS_OF_A_SHARD).enumerate() {
        let file = File::create(root.join(format!("shards/s-{number:05}.tar"))).expect("a shard");
        let mut tar = tar::Builder::new(file);
        for (name, label, bytes) in rows {
            let mut add = |name: &str, bytes: &[u8]| {
                let mut header = tar::Header::new_gnu();
                header.set_size(bytes.len() as u64);
                header.set_mode(0o644);
                tar.append_data(&mut header, name, bytes).expect("an entry");
            };
            add(name, bytes);
            add(&name.replace("jpg", "cls"), label.to_string().as_bytes());
        }
        tar.finish().expect("a shard");
    }
    parquet(&root.join("parquet/train-00000-of-00001.parquet"), &pictures);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds of processor time that this process has taken.
fn processor() -> f64 {
    // SAFETY: the structure is plain numbers, which the call fills.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |of: libc::timeval| of.tv_sec as f64 + of.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Rows a second of one pass, and milliseconds of processor time per row.
fn pass(cx: &Cx, set: &Dataset, order: Vec<usize>) -> [f64; 2] {
    let (count, start, busy) = (order.len(), Instant::now(), processor());
    let mut seen = 0;
    for batch in set.stream_of(cx, order, BATCH) {
        seen += batch.expect("a batch").canvases.size()[0] as usize;
    }
    assert_eq!(seen, count, "all rows are given");
    [count as f64 / start.elapsed().as_secs_f64(), 1e3 * (processor() - busy) / count as f64]
}

/// The same of the peer of a form, and the versions of what it is made of.
fn peer(python: &OsStr, root: &Path, form: &str, threads: usize, shuffled: bool, count: usize) -> ([f64; 2], String) {
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/readers.py"))
        .arg(root)
        .arg(form)
        .args([BATCH, threads, usize::from(shuffled)].map(|n| n.to_string()))
        .env_remove("GOMP_SPINCOUNT")
        .output()
        .expect("the peers' Python starts");
    assert!(output.status.success(), "readers.py: {}", String::from_utf8_lossy(&output.stderr));
    let of: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(of["rows"].as_u64(), Some(count as u64), "all rows are given: {of}");
    let number = |name: &str| of[name].as_f64().expect("a number");
    ([number("speed"), number("busy")], of["versions"].as_str().expect("a text").to_string())
}

fn main() {
    let (count, turns) = (setting("BENCH_IMAGES", 3000), setting("BENCH_TURNS", 3));
    let shuffled = setting("BENCH_SHUFFLED", 0) == 1;
    let root = tempfile::tempdir().expect("a folder");
    make(root.path(), count);
    let view = View { resize: Some(256), crop: Some(224), margin: Some(0), ..View::default() };
    let cx = Cx::default();
    let mut sets = vec![];
    for form in ["folder", "shards", "parquet"] {
        let start = Instant::now();
        let path = root.path().join(form).display().to_string();
        let set = load(&cx, &path, &Load { view, ..Load::default() }).expect("a data set");
        println!("viva, {form}: opened and hashed in {:.2} s", start.elapsed().as_secs_f64());
        sets.push((form, set));
    }
    let order: Vec<usize> = (0..count).map(|row| if shuffled { row * 7919 % count } else { row }).collect();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let python = std::env::var_os("VIVA_PEERS_PYTHON");
    let mut seen: BTreeMap<(&str, &str), Vec<[f64; 2]>> = BTreeMap::new();
    for turn in 0..turns {
        for (form, set) in &sets {
            let mut add = |of, measured: [f64; 2]| {
                println!("turn {turn}, {form}, {of}: {:.2} rows a second, {:.2} ms", measured[0], measured[1]);
                seen.entry((*form, of)).or_default().push(measured);
            };
            add("viva", pass(&cx, set, order.clone()));
            if let Some(python) = &python {
                let (measured, versions) = peer(python, root.path(), form, threads, shuffled, count);
                add("peer", measured);
                if turn == 0 {
                    println!("{form}: beside {versions}");
                }
            }
        }
    }
    println!("{count} rows, {threads} threads or processes, {turns} turns: median (all)");
    for ((form, of), measured) in seen {
        let told = |part: usize| {
            let values: Vec<f64> = measured.iter().map(|pair| pair[part]).collect();
            let all: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
            format!("{:.2} ({})", median(values), all.join(", "))
        };
        println!("{form}, {of}: {} rows a second, {} ms of processor time per row", told(0), told(1));
    }
}
