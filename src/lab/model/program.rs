//! Models that are programs: images go in and scores come out over pipes.
//!
//! For every batch the program reads one line of JSON, `{"images": N, "shape": [C, H, W]}`, and then N x C x H x W float32 numbers, little
//! end first; it answers one line of JSON, an array of N arrays of K scores.

use std::cell::RefCell;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tch::{Device, Kind};

use super::Network;
use crate::core::process::{Introduction, Process};
use crate::core::{ErrorKind, Result, Tensor, cut, on_device};

/// A command that is started when it is asked for the first time, and again when it was stopped.
pub struct Program {
    command: String,
    /// What starts it.
    words: Vec<String>,
    /// How long an answer may take.
    patience: Duration,
    stop: Arc<AtomicBool>,
    running: RefCell<Option<Process>>,
}

impl Program {
    pub fn new(command: &str, words: Vec<String>, patience: Duration, stop: Arc<AtomicBool>) -> Self {
        Self { command: command.into(), words, patience, stop, running: RefCell::new(None) }
    }

    fn start(&self) -> Result<Process> {
        let mut shell = Command::new(self.words.first().map_or("sh", String::as_str));
        shell.args(self.words.iter().skip(1));
        let introduction = Introduction {
            name: format!("the program {:?}", cut(&self.command, 100)),
            kind: ErrorKind::Model,
            how: "for every batch it must answer one line of JSON, an array with an array of scores per image, and nothing else: \
                  see ?model::program",
            late: "`seconds` is how long an answer may take; does it flush its output after every line?",
        };
        Process::start(shell, introduction)
    }

    fn scores(running: &Process, line: &[u8], images: usize) -> Result<Tensor> {
        const HOW: &str = "an array with an array of finite scores per image, as in [[0.1, 2.5], [1.3, -0.2]]";
        let shown = || cut(&String::from_utf8_lossy(line), 60);
        let rows: Vec<Vec<f64>> = serde_json::from_slice::<serde_json::Value>(line)
            .ok()
            .and_then(|value| {
                let row = |row: &serde_json::Value| row.as_array()?.iter().map(serde_json::Value::as_f64).collect();
                value.as_array()?.iter().map(row).collect()
            })
            .ok_or_else(|| running.failed(format!("answered {:?}", shown().trim_end())).hint(HOW))?;
        if rows.len() != images {
            return Err(running
                .failed(format!("answered {} rows of scores for {images} images", rows.len()))
                .hint(HOW));
        }
        let classes = rows.first().map_or(0, Vec::len);
        if let Some(other) = rows.iter().find(|row| row.len() != classes) {
            let what = format!("answered {classes} scores for one image and {} for another", other.len());
            return Err(running.failed(what).hint(HOW));
        }
        let numbers: Vec<f32> = rows.iter().flatten().map(|&score| score as f32).collect();
        if let Some(score) = rows.iter().flatten().find(|score| !(**score as f32).is_finite()) {
            return Err(running.failed(format!("answered the score {score:e}, too large for float32")).hint(HOW));
        }
        Ok(Tensor::f_from_slice(&numbers)?.f_reshape([images as i64, classes as i64])?)
    }
}

impl Network for Program {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let size = images.size();
        let (count, shape) = (size[0] as usize, &size[1..]);
        let flat = images.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
        let numbers: Vec<f32> = Vec::try_from(&flat.f_reshape([-1])?)?;
        let mut question = format!("{}\n", serde_json::json!({ "images": count, "shape": shape })).into_bytes();
        numbers.iter().for_each(|x| question.extend(x.to_le_bytes()));
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let line = running.ask(question, self.patience, &self.stop)?;
        let scores = Self::scores(&running, &line, count)?;
        // One that failed is not asked again: the next question starts it anew.
        self.running.replace(Some(running));
        on_device(&scores, images.device())
    }

    fn differentiable(&self) -> bool {
        false
    }

    fn foreign(&self) -> bool {
        true
    }

    fn opaque(&self) -> bool {
        true
    }
}
