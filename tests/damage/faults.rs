//! Every n-th call to the disk fails, or the process ends at it; memory runs out; the clock goes backwards.

use super::*;

/// A run without faults: its files, and how many calls it makes.
pub fn whole(home: &Path) -> (Files, usize) {
    let (run, count) = (home.join("whole"), home.join("count"));
    let mut command = shimmed(begin(home, &run), &run);
    well({
        command.env("VIVA_COUNT", &count);
        command
    });
    let all = std::fs::read_to_string(count).unwrap().parse().unwrap();
    (files(&run), all)
}

/// A run that meets a fault, and is gone on with if it did not end well.
fn meet(home: &Path, whole: &Files, fault: &str, at: usize) -> (bool, usize) {
    let what = format!("{fault} at call {at}");
    let run = home.join(format!("{fault}-{at}"));
    let mut command = shimmed(begin(home, &run), &run);
    let output = command.env("VIVA_FAULT", fault).env("VIVA_AT", at.to_string()).output().unwrap();
    let killed = output.status.code() == Some(137) && ["kill", "torn"].contains(&fault);
    let done = !killed && ended(&output, &what);
    if !done {
        let told = said(&output);
        assert!(!told.contains("go on with") || run.join("manifest.json").exists(), "{what}: {told}");
        assert!(!told.contains("is removed") || !run.exists(), "{what}: {told}");
        assert!(run.exists() || !told.contains("--resume") && !told.contains("is kept"), "{what}: {told}");
        let output = resume(home, &run).output().unwrap();
        assert!(ended(&output, &what), "{what}: {}", said(&output));
    }
    if run.join("progress").exists() {
        // What could not be removed does no harm, and is removed by whoever asks for the run again.
        well(resume(home, &run));
    }
    let bytes = same(whole, &run, &what);
    std::fs::remove_dir_all(&run).unwrap();
    (!done, bytes)
}

#[test]
fn a_fault_at_any_call_to_the_disk_ends_in_an_error_or_in_the_same_bytes() {
    let home = home();
    let (whole, all) = whole(home.path());
    assert!(all > 100, "{all} calls");
    let mut cases = vec![];
    for (i, fault) in ["fail", "full", "kill", "torn"].into_iter().enumerate() {
        // Each fault at other calls.
        cases.extend(points(5, all).into_iter().map(|at| (fault, 1 + (at - 1 + i * all / 20) % all)));
    }
    let counted = std::sync::Mutex::new([0usize; 3]);
    side_by_side(&cases, |(fault, at)| {
        let (resumed, bytes) = meet(home.path(), &whole, fault, *at);
        let mut counted = counted.lock().unwrap();
        counted[0] += 1;
        counted[1] += usize::from(resumed);
        counted[2] += bytes;
    });
    let [faults, resumed, bytes] = counted.into_inner().unwrap();
    println!(
        "{faults} faults among {all} calls, half of them kills: {resumed} runs gone on with, {bytes} bytes compared"
    );
    assert!(resumed * 2 > faults, "{resumed} of {faults}");
}

#[test]
fn a_clock_that_goes_backwards_changes_nothing() {
    let home = home();
    let (whole, _) = whole(home.path());
    let run = home.path().join("back");
    let mut command = shimmed(begin(home.path(), &run), &run);
    well({
        command.env("VIVA_CLOCK", "back");
        command
    });
    same(&whole, &run, "backwards");
}

/// libtorch's memory for tensors; an allocation of the program's own that fails ends it, as in every Rust program.
#[test]
fn a_tensor_that_finds_no_memory_is_an_error() {
    let home = home();
    let script = "let ds = data::glyphs(#{ n: 100, size: 32, seed: 1 });\n\
                  let f = model::train(ds, #{ arch: [net::conv(4, 3), net::flatten(), net::linear(10)], epochs: 1, batch: 50 });\n\
                  let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest(), batch: 50 });\n\
                  [f.hash, t.mean(\"after\")]";
    std::fs::write(home.path().join("script.rhai"), script).unwrap();
    let (whole, _) = whole(home.path());
    let (usual, failed) = (points(4, 102), std::sync::atomic::AtomicUsize::new(0));
    side_by_side(&usual, |which| {
        let run = home.path().join(format!("memory-{which}"));
        let mut command = shimmed(begin(home.path(), &run), &run);
        let output = command.env("VIVA_MEMORY", which.to_string()).output().unwrap();
        let what = format!("allocation {which}");
        if !ended(&output, &what) {
            let told = said(&output);
            assert!(told.contains("memory"), "{what}: {told}");
            failed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            well(resume(home.path(), &run));
        }
        // Whoever had too little memory may have gone on with smaller batches, and says so.
        let warned = json(&run.join("manifest.json"))["warnings"].to_string().contains("out of memory");
        let kept = files(&run);
        assert!(warned || kept == whole, "{what}");
    });
    println!("{} allocations failed, {} of them ended the run", usual.len(), failed.into_inner());
}
