//! How busy the GPU is and at which clocks, by `nvidia-smi`, while something runs.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const ASKED: &str = "--query-gpu=utilization.gpu,clocks.sm,clocks.mem,power.draw,memory.used";
const BETWEEN: Duration = Duration::from_millis(250);

/// The middle of what was seen: percent, MHz, MHz, W; of the memory the most, MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub busy: f64,
    pub clock: f64,
    pub memory_clock: f64,
    pub watts: f64,
    pub memory: f64,
}

/// Runs the work, and looks at the card meanwhile. Nothing is known where there is no `nvidia-smi`, and of what ends too soon.
pub fn watched<T>(on_gpu: bool, work: impl FnOnce() -> T) -> (T, Option<Load>) {
    if !on_gpu {
        return (work(), None);
    }
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut seen = vec![];
            while !ended.load(Ordering::Relaxed) {
                // What the card says is of the time before.
                std::thread::sleep(BETWEEN);
                match look() {
                    Some(row) => seen.push(row),
                    None => break,
                }
            }
            seen
        });
        let done = work();
        ended.store(true, Ordering::Relaxed);
        (done, watch.join().ok().and_then(load))
    })
}

fn look() -> Option<[f64; 5]> {
    let output = Command::new("nvidia-smi").args([ASKED, "--format=csv,noheader,nounits", "--id=0"]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let numbers: Option<Vec<f64>> = text.lines().next()?.split(',').map(|word| word.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

fn load(mut seen: Vec<[f64; 5]>) -> Option<Load> {
    // The last look may be at an idle card.
    if seen.len() > 1 {
        seen.pop();
    }
    let column = |i: usize| seen.iter().map(|row| row[i]).collect::<Vec<f64>>();
    let middle = |i: usize| super::median(column(i));
    let memory = column(4).into_iter().fold(0.0, f64::max);
    (!seen.is_empty()).then(|| Load {
        busy: middle(0),
        clock: middle(1),
        memory_clock: middle(2),
        watts: middle(3),
        memory,
    })
}
