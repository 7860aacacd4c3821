//! Process start to first result, beside the import of torch in Python (the peers' floor), in turn and in one run.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0; without it only viva is measured.

use std::process::{Command, Stdio};
use std::time::Instant;

const TURNS: usize = 7;

fn seconds(command: &mut Command) -> f64 {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the command starts");
    assert!(status.success(), "{command:?} failed");
    start.elapsed().as_secs_f64()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let mut viva = Command::new(env!("CARGO_BIN_EXE_viva"));
    viva.args(["-e", "tensor::from([1, 2]).sum()"]);
    let mut peer = std::env::var_os("VIVA_PEERS_PYTHON").map(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import torch; print(torch.tensor([1., 2.]).sum())"]);
        command
    });
    seconds(&mut viva);
    peer.as_mut().map(seconds);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        own.push(seconds(&mut viva));
        other.extend(peer.as_mut().map(seconds));
    }
    let own = median(own);
    println!("viva -e: {own:.3} s to the first result (median of {TURNS})");
    if !other.is_empty() {
        let other = median(other);
        println!("python, import torch: {other:.3} s; ratio {:.2}", other / own);
    }
}
