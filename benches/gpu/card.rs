//! How busy the GPU is and at which clocks, by `nvidia-smi`, while something runs.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const ASKED: &str = "--query-gpu=utilization.gpu,clocks.sm,clocks.mem,power.draw,memory.used";
/// Milliseconds from one look to the next.
const BETWEEN: u64 = 200;

/// The middle of what was seen: percent, MHz, MHz, W; of the memory the most, MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    pub busy: f64,
    pub clock: f64,
    pub memory_clock: f64,
    pub watts: f64,
    pub memory: f64,
}

/// `nvidia-smi`, which looks again and again: its start takes longer than much of what is measured.
pub struct Card {
    process: Child,
    seen: Receiver<(Instant, [f64; 5])>,
}

impl Card {
    /// Nothing is known where there is no `nvidia-smi`.
    pub fn watch() -> Option<Self> {
        let every = format!("--loop-ms={BETWEEN}");
        let mut process = Command::new("nvidia-smi")
            .args([ASKED, "--format=csv,noheader,nounits", "--id=0", &every])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(process.stdout.take()?).lines();
        let (tell, seen) = channel();
        std::thread::spawn(move || {
            for row in lines.map_while(Result::ok).filter_map(|line| numbers(&line)) {
                if tell.send((Instant::now(), row)).is_err() {
                    break;
                }
            }
        });
        Some(Self { process, seen })
    }

    /// What was seen since then, but for what the card says of the time before.
    fn since(&self, start: Instant) -> Option<Load> {
        let begin = start + Duration::from_millis(BETWEEN);
        load(self.seen.try_iter().filter(|(at, _)| *at > begin).map(|(_, row)| row).collect())
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the work, and looks at the card meanwhile. Nothing is known of what ends too soon.
pub fn watched<T>(card: Option<&Card>, work: impl FnOnce() -> T) -> (T, Option<Load>) {
    let start = Instant::now();
    let done = work();
    (done, card.and_then(|card| card.since(start)))
}

fn numbers(line: &str) -> Option<[f64; 5]> {
    let numbers: Option<Vec<f64>> = line.split(',').map(|word| word.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

fn load(seen: Vec<[f64; 5]>) -> Option<Load> {
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
