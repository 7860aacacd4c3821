//! The same seed gives the same bytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A training whose products are sums of many terms, which would be split over the threads.
const LINEAR: &str = r#"
    let ds = data::glyphs(#{ n: 200, size: 28, seed: 1 });
    model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 }).hash
"#;

/// The first product of a process is another one in each: of a linear network, a convolution, an attack, a generator, a Gaussian process.
const FIRST: [(&str, &str); 5] = [
    ("a linear network", LINEAR),
    (
        "a convolution",
        r#"
        let ds = data::glyphs(#{ n: 64, size: 16, seed: 1 });
        let layers = [net::conv(8, 3, #{ pad: 1 }), net::batch_norm(), net::relu(), net::flatten(), net::linear(10)];
        model::train(ds, #{ arch: layers, epochs: 1, batch: 32, seed: 1 }).hash
        "#,
    ),
    (
        "an attack",
        r#"
        let ds = data::glyphs(#{ n: 24, size: 28, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(16), net::relu(), net::linear(10)], epochs: 1, seed: 1 });
        let t = examine(f, ds, #{ space: space::pixels("l2"), search: search::bim(#{ steps: 5 }), at_steps: "all" });
        [t.column("loss"), t.column("magnitude"), t.column("after")]
        "#,
    ),
    (
        "a generator",
        r#"
        let ds = data::glyphs(#{ n: 64, size: 16, position: "centred", margin: 0, seed: 1 });
        let g = generator::train(ds, #{ steps: 2, batch: 16, critic_steps: 1, seed: 1 });
        [g.hash, g.sample(#{ n: 4, seed: 1 }).images.sum()]
        "#,
    ),
    (
        "a Gaussian process",
        r#"
        let ds = data::glyphs(#{ n: 6, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        let light = space::factors([#{ name: "gain", min: 0.2, max: 1.0 }, #{ name: "fog", min: 0, max: 0.5 }], |z, s| z * s.gain * (1 - s.fog) + s.fog);
        let t = examine(f, ds, #{ space: light, search: search::bayes(#{ questions: 8, candidates: 60 }), seed: 1 });
        [t.questions("gain"), t.questions("fog"), t.column("loss")]
        "#,
    ),
];

fn viva(folder: &Path, script: &str, threads: usize) -> Command {
    let path = folder.join("script.rhai");
    std::fs::write(&path, script).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.env_remove("MKL_CBWR").current_dir(folder);
    command.args(["run", "script.rhai", "--json", "--device", "cpu", "--threads", &threads.to_string()]);
    command
}

fn said(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Keeps both cores busy while it lives.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Twenty processes, or as many as VIVA_PROCESSES says, beside two busy loops.
#[test]
fn the_first_results_of_fresh_processes_are_the_same_bytes() {
    let processes =
        std::env::var("VIVA_PROCESSES").map_or(10, |n| n.parse::<usize>().expect("VIVA_PROCESSES is a number"));
    let folder = tempfile::tempdir().unwrap();
    let mut seen: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _busy = Busy(&done);
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for process in 0..processes {
            let (name, script) = FIRST[process % FIRST.len()];
            let own = folder.path().join(process.to_string());
            std::fs::create_dir(&own).unwrap();
            *seen.entry(name).or_default().entry(said(viva(&own, script, 2))).or_default() += 1;
            std::fs::remove_dir_all(own).unwrap();
        }
    });
    for (name, results) in &seen {
        println!("{name}: {:?}", results.values().collect::<Vec<_>>());
    }
    let differing: Vec<_> = seen.iter().filter(|(_, results)| results.len() > 1).collect();
    assert!(differing.is_empty(), "{differing:?}");
}

/// Stands before MKL's own function, notes the processor as that does, first by the number of another table, and takes its time between the
/// two: every thread that comes meanwhile takes the wrong kernel.
const SLOW: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
static volatile int noted = -1;
int mkl_vml_serv_cpu_detect(void) {
    if (noted == -1) {
        int (*of_the_processor)(void) = dlsym(RTLD_NEXT, "mkl_serv_vml_cpu_detect");
        int (*own)(void) = dlsym(RTLD_NEXT, "mkl_vml_serv_cpu_detect");
        int index = own();
        noted = of_the_processor();
        usleep(100000);
        noted = index;
        fprintf(stderr, "noted %d\n", index);
    }
    return noted;
}
"#;

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn no_thread_takes_a_kernel_of_mkl_before_the_processor_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("slow.c"), folder.path().join("slow.so"));
    std::fs::write(&source, SLOW).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).arg("-ldl").status();
    assert!(built.unwrap().success());
    let usual = said(viva(folder.path(), LINEAR, 2));
    let mut slow = viva(folder.path(), LINEAR, 2);
    let output = slow.env("LD_PRELOAD", &library).args(["--out", "slow"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("noted").count(), 1, "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), usual);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn products_are_added_up_as_mkl_promises_it_unless_asked_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let verbose = |mode: Option<&str>| {
        let mut command = viva(folder.path(), LINEAR, 2);
        command.env("MKL_VERBOSE", "1").envs(mode.map(|mode| ("MKL_CBWR", mode)));
        let text = said(command);
        let products: Vec<&str> = text.lines().filter(|line| line.contains("SGEMM(")).collect();
        assert!(!products.is_empty(), "{text}");
        let words = |line: &&str| line.split_whitespace().find(|word| word.starts_with("CNR:")).map(String::from);
        let mut modes: Vec<_> = products.iter().filter_map(words).collect();
        modes.dedup();
        modes
    };
    assert_eq!(verbose(None), ["CNR:AUTO"]);
    assert_eq!(verbose(Some("COMPATIBLE")), ["CNR:COMPATIBLE"], "a user's own wins");
}

/// An archive of images does not say when it was written.
#[test]
fn saved_images_are_the_same_bytes_at_any_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = r#"
        let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 });
        ds.save("images.npz");
        let back = data::load("images.npz");
        #{ images: (back.images() - ds.images()).abs().max() == 0, labels: (back.labels - ds.labels).abs().max() == 0 }"#;
    match super::run_in(folder.path(), script) {
        Ok(viva::core::Value::Map(said)) => {
            assert!(said.values().all(|value| matches!(value, viva::core::Value::Bool(true))))
        }
        other => panic!("{:?}", other.map(|value| value.summary())),
    }
    let bytes = std::fs::read(folder.path().join("images.npz")).expect("an archive");
    // Time and date of the first file in it: midnight before 1980.
    assert_eq!(bytes[10..14], [0, 0, 0x21, 0]);
}
