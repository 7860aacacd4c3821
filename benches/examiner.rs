//! `search::bayes` on nine factors, 32 objects at once, beside Gaussian process optimisation by others (`examiner.py`), in turn and in one run,
//! with the same refitting and as many candidates.
//!
//! `VIVA_PEERS_PYTHON` names a Python with scikit-learn, BoTorch and Ax; without it only viva is measured. `BENCH_PEERS` chooses among
//! `scikit-learn,botorch,botorch-25,ax`; `BENCH_THREADS` (2), `BENCH_STEPS` (100) and `BENCH_TURNS` (1) change the rest.

use std::process::Command;
use std::time::Instant;

use rayon::prelude::*;
use viva::core::in_parallel;
use viva::maths::gaussian_process::Kernel;
use viva::search::{Bayes, Examinee, Explore, Lengthscales, Proposals, Proposing};
use viva::space::{Domain, Factor};

const OBJECTS: u64 = 32;
const FACTORS: usize = 9;

fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Seconds per object, and the mean of the largest losses.
fn examined(how: &Bayes) -> (f64, f64) {
    let factors: Vec<Factor> =
        (0..FACTORS).map(|i| Factor::new(format!("x{i}"), Domain::Range { min: 0.0, max: 1.0 })).collect();
    // The top of examiner.py's objective, to four digits.
    let top = [0.0763, 0.7799, 0.4384, 0.7235, 0.9780, 0.5385, 0.5011, 0.0721, 0.2684];
    let loss = |x: &Vec<f64>| {
        let far: f64 = x.iter().zip(top).map(|(a, b)| (a - b).powi(2)).sum();
        ((-0.8 * far).exp() + 0.15 * (7.0 * x[0]).sin() * (5.0 * x[1]).cos()) as f32
    };
    let begun = Instant::now();
    let mut all: Vec<(Box<dyn Proposals>, f32)> = (0..OBJECTS)
        .map(|object| (how.begin(&factors, Examinee { seed: 1, row: object, label: 0 }).expect("begins"), f32::MIN))
        .collect();
    // Every object is asked one question after the other, all of them side by side, as an examination asks them.
    for _ in 0..how.steps - 1 {
        in_parallel(|| {
            all.par_iter_mut().for_each(|(proposals, most)| {
                let settings = proposals.propose().expect("settings");
                let losses: Vec<f32> = settings.iter().map(loss).collect();
                *most = losses.iter().fold(*most, |most, &loss| most.max(loss));
                proposals.update(&losses).expect("learns");
            });
        })
        .expect("threads");
    }
    let seconds = begun.elapsed().as_secs_f64() / OBJECTS as f64;
    (seconds, all.iter().map(|(_, most)| f64::from(*most)).sum::<f64>() / OBJECTS as f64)
}

fn peer(which: &str, steps: usize, threads: usize) -> Option<(f64, String)> {
    let output = Command::new(std::env::var_os("VIVA_PEERS_PYTHON")?)
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/benches/examiner.py"), which])
        .args([steps, threads].map(|n| n.to_string()))
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the peer's Python starts");
    assert!(output.status.success(), "examiner.py: {}", String::from_utf8_lossy(&output.stderr));
    let last = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_string();
    let said: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    let words = format!("{which} {}, best {:.3}", said["version"].as_str().unwrap_or(""), said["best"].as_f64()?);
    Some((said["seconds"].as_f64()?, words))
}

fn main() {
    let threads = setting("BENCH_THREADS", 2);
    viva::core::set_threads(threads);
    println!("{threads} threads");
    let steps = setting("BENCH_STEPS", 100);
    let like = |refit: usize, candidates: usize, lengthscales: Lengthscales| Bayes {
        start: Some(2),
        kernel: Some(Kernel::Matern52),
        explore: Explore::Fixed(2.576 * 2.576),
        noise: Some(1e-6),
        candidates,
        refit: Some(refit),
        lengthscales,
        random_share: 0.0,
        ..Bayes::asking(steps + 2)
    };
    let asked = std::env::var("BENCH_PEERS").unwrap_or_else(|_| "scikit-learn,botorch,botorch-25,ax".into());
    for _ in 0..setting("BENCH_TURNS", 1) {
        for which in asked.split(',') {
            let how = match which {
                "scikit-learn" => like(1, 10_000, Lengthscales::One),
                "botorch-25" => like(25, 512, Lengthscales::Each),
                _ => like(1, 512, Lengthscales::Each),
            };
            let (own, best) = examined(&how);
            print!("bayes as {which}: {own:.3} s per object and {steps} questions, best {best:.3} on average");
            match peer(which, steps, threads) {
                Some((seconds, words)) => println!("; {words}: {seconds:.2} s, {:.1} times as long", seconds / own),
                None => println!(),
            }
        }
    }
}
