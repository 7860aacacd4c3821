//! Batches of a data set in a given order, read ahead by worker threads so that the model never waits for a decoder.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use tch::Device;

use super::Dataset;
use crate::core::{Cx, Error, Result, Tensor};

/// Consecutive rows of a stream's order.
pub struct Batch {
    /// Rows of the data set.
    pub rows: Vec<usize>,
    /// `N x C x H x W` in [0, 1], margin included.
    pub canvases: Tensor,
}

pub struct Stream<'a> {
    set: &'a Dataset,
    device: Device,
    batches: Vec<Vec<usize>>,
    next: usize,
    waiting: BTreeMap<usize, Result<Vec<f32>>>,
    ready: Receiver<(usize, Result<Vec<f32>>)>,
    /// Number of the first batch that workers may not read yet.
    horizon: Arc<(std::sync::Mutex<usize>, std::sync::Condvar)>,
}

impl Dataset {
    /// Batches of all rows in order.
    pub fn stream(&self, cx: &Cx, batch: usize) -> Stream<'_> {
        self.stream_of(cx, (0..self.len()).collect(), batch)
    }

    /// Batches of these rows in this order. Memory is bounded by a few batches.
    pub fn stream_of(&self, cx: &Cx, order: Vec<usize>, batch: usize) -> Stream<'_> {
        let batches: Vec<Vec<usize>> = order.chunks(batch.max(1)).map(<[usize]>::to_vec).collect();
        let workers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(batches.len().max(1));
        let (send, ready) = sync_channel(workers);
        let horizon = Arc::new((std::sync::Mutex::new(2 * workers), std::sync::Condvar::new()));
        let taken = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(batches.clone());
        for _ in 0..workers {
            let (send, taken, shared, horizon, set) =
                (send.clone(), taken.clone(), shared.clone(), horizon.clone(), self.clone());
            std::thread::spawn(move || {
                loop {
                    let number = taken.fetch_add(1, Ordering::Relaxed);
                    let Some(rows) = shared.get(number) else { return };
                    let (limit, changed) = &*horizon;
                    let Ok(guard) = limit.lock() else { return };
                    // Reading far ahead of the consumer would let memory grow with the data set.
                    let Ok(guard) = changed.wait_while(guard, |limit| number >= *limit) else { return };
                    drop(guard);
                    if send.send((number, set.read(rows))).is_err() {
                        return;
                    }
                }
            });
        }
        Stream { set: self, device: cx.device(), batches, next: 0, waiting: BTreeMap::new(), ready, horizon }
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.batches.get(self.next)?.clone();
        let pixels = loop {
            if let Some(pixels) = self.waiting.remove(&self.next) {
                break pixels;
            }
            match self.ready.recv() {
                Ok((number, pixels)) => {
                    self.waiting.insert(number, pixels);
                }
                Err(_) => break Err(Error::internal("a thread that reads images died")),
            }
        };
        self.next += 1;
        let (limit, changed) = &*self.horizon;
        if let Ok(mut limit) = limit.lock() {
            *limit += 1;
            changed.notify_all();
        }
        Some(pixels.and_then(|pixels| {
            let canvases = self.set.tensor(&pixels, rows.len(), self.device)?;
            Ok(Batch { rows, canvases })
        }))
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // Lets workers that wait for the consumer run into the closed channel and end.
        if let Ok(mut limit) = self.horizon.0.lock() {
            *limit = usize::MAX;
        }
        self.horizon.1.notify_all();
    }
}
