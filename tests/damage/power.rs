//! Power cuts: what a run did to its folder is noted step by step, and done again up to some point with steps left out that a disk may
//! leave out. A file system with a journal keeps names in order up to its last commit, which any sync brings about; contents that
//! were not synced may be missing.

use std::collections::HashMap;

use super::*;

#[derive(Debug, Clone)]
pub struct Step {
    kind: u8,
    a: String,
    b: String,
    bytes: Vec<u8>,
    fd: i64,
    more: i64,
}

impl Step {
    /// The file that this makes, if it makes one.
    pub fn made(&self) -> Option<String> {
        (self.kind == b'O' && self.more & i64::from(libc::O_CREAT | libc::O_TRUNC) != 0).then(|| self.a.clone())
    }

    /// Whether it was refused if anything had that name.
    pub fn is_anew(&self) -> bool {
        let wanted = i64::from(libc::O_CREAT | libc::O_EXCL);
        self.more & wanted == wanted
    }

    fn is_sync(&self) -> bool {
        self.kind == b'S'
    }
}

pub fn read_log(path: &Path) -> Vec<Step> {
    let bytes = std::fs::read(path).unwrap();
    let (mut at, mut steps) = (0, vec![]);
    let number = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    while at < bytes.len() {
        let (kind, fd, more) = (bytes[at], number(at + 1), number(at + 9));
        let first = at + 25..at + 25 + number(at + 17) as usize;
        let second = first.end + 8..first.end + 8 + number(first.end) as usize;
        let text = |range: std::ops::Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
        let contents = if kind == b'W' { bytes[first.clone()].to_vec() } else { vec![] };
        steps.push(Step { kind, a: text(first), b: text(second.clone()), bytes: contents, fd, more });
        at = second.end;
    }
    steps
}

/// What becomes of contents that were not synced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lost {
    Nothing,
    /// The files have their lengths, and zeros in them.
    Zeros,
    /// The files end where they were synced last.
    Ends,
    /// The last but one of what was written to each is zeros: it was on the disk after what followed.
    Hole,
}

#[derive(Default, Clone)]
struct Inode {
    now: Vec<u8>,
    synced: Vec<u8>,
    /// Where was written since.
    unsynced: Vec<(usize, usize)>,
}

/// The folder after `contents` steps, of which names took part up to `names`.
pub fn replay(steps: &[Step], contents: usize, names: usize, lost: Lost, root: &str, to: &Path) {
    let mut inodes: Vec<Inode> = vec![];
    let mut open: HashMap<i64, usize> = HashMap::new();
    let mut tree: BTreeMap<String, Option<usize>> = BTreeMap::new();
    // Names at the time of the last step that counts, and those that contents go by.
    let mut kept = None;
    for (i, step) in steps[..contents].iter().enumerate() {
        if i == names {
            kept = Some(tree.clone());
        }
        match step.kind {
            b'O' => {
                let file = match tree.get(&step.a) {
                    Some(Some(file)) => Some(*file),
                    None if step.made().is_some() => {
                        inodes.push(Inode::default());
                        tree.insert(step.a.clone(), Some(inodes.len() - 1));
                        Some(inodes.len() - 1)
                    }
                    _ => None,
                };
                open.remove(&step.fd);
                if let Some(file) = file {
                    open.insert(step.fd, file);
                    if step.more & i64::from(libc::O_TRUNC) != 0 {
                        inodes[file].now.clear();
                    }
                }
            }
            b'C' => drop(open.remove(&step.fd)),
            b'W' => {
                let (file, at) = (&mut inodes[open[&step.fd]], step.more as usize);
                let end = at + step.bytes.len();
                file.now.resize(file.now.len().max(end), 0);
                file.now[at..end].copy_from_slice(&step.bytes);
                file.unsynced.push((at, end));
            }
            b'T' => inodes[open[&step.fd]].now.resize(step.more as usize, 0),
            b'S' => {
                if let Some(file) = open.get(&step.fd) {
                    let file = &mut inodes[*file];
                    file.synced = file.now.clone();
                    file.unsynced.clear();
                }
            }
            b'R' => {
                let from: Vec<String> = tree.keys().filter(|name| **name == step.a).cloned().collect();
                for name in from {
                    let file = tree.remove(&name).unwrap();
                    tree.insert(step.b.clone(), file);
                }
            }
            b'U' => drop(tree.remove(&step.a)),
            b'M' => drop(tree.insert(step.a.clone(), None)),
            other => panic!("a step {other}"),
        }
    }
    let tree = kept.unwrap_or(tree);
    std::fs::create_dir_all(to).unwrap();
    for (name, file) in tree {
        let place = to.join(name.strip_prefix(root).unwrap().trim_start_matches('/'));
        let Some(file) = file else {
            std::fs::create_dir_all(place).unwrap();
            continue;
        };
        let file = &inodes[file];
        let mut bytes = file.now.clone();
        match lost {
            Lost::Nothing => {}
            Lost::Ends => bytes = file.synced.clone(),
            Lost::Zeros => file.unsynced.iter().for_each(|(from, to)| fill(&mut bytes, *from, *to)),
            Lost::Hole => {
                if let [.., (from, to), _] = file.unsynced[..] {
                    fill(&mut bytes, from, to);
                }
            }
        }
        std::fs::write(place, bytes).unwrap();
    }
}

fn fill(bytes: &mut [u8], from: usize, to: usize) {
    let n = bytes.len();
    bytes[from.min(n)..to.min(n)].fill(0);
}

#[test]
fn after_a_power_cut_a_run_goes_on_or_says_that_it_can_not() {
    let home = home();
    let (run, log) = (home.path().join("run"), home.path().join("log"));
    let mut command = shimmed(begin(home.path(), &run), &run);
    well({
        command.env("VIVA_LOG", &log);
        command
    });
    let (whole, steps, root) = (files(&run), read_log(&log), run.display().to_string());
    assert!(steps.len() > 100, "{} steps", steps.len());
    let mut cases = vec![];
    for (i, at) in points(9, steps.len()).into_iter().enumerate() {
        let lost = [Lost::Zeros, Lost::Ends, Lost::Hole, Lost::Nothing][i % 4];
        let committed = steps[..at].iter().rposition(Step::is_sync).map_or(0, |sync| sync + 1);
        cases.push((at, if i % 3 == 0 { at } else { committed + (at - committed) / 2 }, lost));
    }
    let counted = std::sync::Mutex::new([0usize; 4]);
    side_by_side(&cases, |(at, names, lost)| {
        let what = format!("step {at}, names to {names}, lost {lost:?}");
        let own = tempfile::tempdir().unwrap();
        let cut = own.path().join("run");
        replay(&steps, *at, *names, *lost, &root, &cut);
        let output = resume(home.path(), &cut).output().unwrap();
        let done = ended(&output, &what);
        let told = said(&output);
        if told.contains("a power cut took") {
            // Which the report says too.
            let report = std::fs::read_to_string(cut.join("report.md")).unwrap();
            let (report, warning) =
                report.split_once("\nwarning: ").unwrap_or_else(|| panic!("{what}: {told}\n{report}"));
            assert!(warning.contains("a power cut took"), "{what}: {warning}");
            std::fs::write(cut.join("report.md"), report).unwrap();
        }
        let bytes = if done { same(&whole, &cut, &what) } else { 0 };
        // Where anything was begun its names were synced, so only a hole can be in the way.
        assert!(done || told.contains("damaged") || told.contains("not empty"), "{what}: {told}");
        let mut counted = counted.lock().unwrap();
        counted[0] += 1;
        counted[if done { 1 } else { 2 }] += 1;
        counted[3] += bytes;
        if !done {
            println!("{what}: {told}");
        }
    });
    let [all, done, refused, bytes] = counted.into_inner().unwrap();
    println!("{all} power cuts: {done} runs went on, {refused} were refused; {bytes} bytes compared");
    assert!(refused * 4 <= all, "{refused} of {all} were refused");
}
