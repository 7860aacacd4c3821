//! Batches of a data set in a given order, read ahead by worker threads so that the model never waits for a decoder.
//!
//! Workers read pieces of a batch, so that the first large batch is read by all of them together and memory stays
//! bounded: one batch and two pieces per worker are read ahead at most. A stream that is dropped ends its threads
//! before it is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tch::{Device, Kind};

use super::Dataset;
use crate::core::{Cx, Error, Result, Tensor, parallel_threads};

/// Images that one worker reads at a time.
const PIECE: usize = 32;

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
    work: Arc<SharedWork>,
    next: usize,
    workers: Vec<JoinHandle<()>>,
}

/// What the consumer and the workers share.
struct SharedWork {
    order: Vec<usize>,
    batch: usize,
    /// Pieces that may be read and not yet consumed.
    ahead: usize,
    stop: AtomicBool,
    /// Set where the call that reads is to end.
    interrupted: Arc<AtomicBool>,
    state: Mutex<StreamState>,
    changed: Condvar,
}

#[derive(Default)]
struct StreamState {
    /// The next piece that a worker takes.
    taken: usize,
    consumed: usize,
    ready: HashMap<usize, Result<Vec<f32>>>,
}

impl SharedWork {
    fn pieces_per_batch(&self) -> usize {
        self.batch.div_ceil(PIECE)
    }

    fn batches(&self) -> usize {
        self.order.len().div_ceil(self.batch)
    }

    fn rows_of_batch(&self, number: usize) -> &[usize] {
        let start = (number * self.batch).min(self.order.len());
        &self.order[start..(start + self.batch).min(self.order.len())]
    }

    /// The rows of a piece; empty for the missing pieces of a short last batch.
    fn rows_of_piece(&self, piece: usize) -> &[usize] {
        let rows = self.rows_of_batch(piece / self.pieces_per_batch());
        let start = (piece % self.pieces_per_batch() * PIECE).min(rows.len());
        &rows[start..(start + PIECE).min(rows.len())]
    }

    /// A worker can't poison the state: it holds the lock for bookkeeping alone.
    fn lock(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, StreamState>) -> MutexGuard<'a, StreamState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn read_pieces(&self, set: &Dataset) {
        let total = self.batches() * self.pieces_per_batch();
        loop {
            let mut state = self.lock();
            while state.taken < total
                && state.taken >= state.consumed + self.ahead
                && !self.stop.load(Ordering::Relaxed)
            {
                state = self.wait(state);
            }
            if state.taken >= total || self.stop.load(Ordering::Relaxed) {
                return;
            }
            let piece = state.taken;
            state.taken += 1;
            drop(state);
            let pixels = set.read(self.rows_of_piece(piece), &[&self.stop, &self.interrupted]);
            self.lock().ready.insert(piece, pixels);
            self.changed.notify_all();
        }
    }
}

impl Dataset {
    /// Batches of all rows in order.
    pub fn stream(&self, cx: &Cx, batch: usize) -> Stream<'_> {
        self.stream_of(cx, (0..self.len()).collect(), batch)
    }

    /// Batches of these rows in this order. Memory is bounded: see the head of this file. Ends after the first error.
    pub fn stream_of(&self, cx: &Cx, order: Vec<usize>, batch: usize) -> Stream<'_> {
        let threads = parallel_threads().min(order.len().div_ceil(PIECE));
        let mut work = SharedWork {
            order,
            batch: batch.max(1),
            ahead: 0,
            stop: AtomicBool::new(false),
            interrupted: cx.stop_flag(),
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        work.ahead = work.pieces_per_batch() + 2 * threads;
        let work = Arc::new(work);
        let workers = (0..threads)
            .map_while(|_| {
                let (work, set) = (work.clone(), self.clone());
                std::thread::Builder::new().name("viva reader".into()).spawn(move || work.read_pieces(&set)).ok()
            })
            .collect();
        Stream { set: self, device: cx.device(), work, next: 0, workers }
    }
}

impl Stream<'_> {
    fn batch(&mut self, number: usize) -> Result<Batch> {
        let pieces = self.work.pieces_per_batch();
        let rows = self.work.rows_of_batch(number).to_vec();
        let mut pixels = Vec::new();
        for piece in number * pieces..(number + 1) * pieces {
            let read = if self.workers.is_empty() {
                // The system gave no thread.
                self.set.read(self.work.rows_of_piece(piece), &[&self.work.stop, &self.work.interrupted])
            } else {
                let mut state = self.work.lock();
                loop {
                    match state.ready.remove(&piece) {
                        Some(read) => {
                            state.consumed += 1;
                            break read;
                        }
                        None => state = self.work.wait(state),
                    }
                }
            };
            self.work.changed.notify_all();
            let read = read?;
            if pieces == 1 {
                pixels = read;
            } else {
                pixels.reserve_exact(if pixels.is_empty() {
                    rows.len() * read.len() / PIECE.min(rows.len())
                } else {
                    0
                });
                pixels.extend_from_slice(&read);
            }
        }
        if rows.is_empty() {
            return Err(Error::internal("a batch without rows"));
        }
        let canvases = self.set.tensor(&pixels, rows.len(), self.device)?;
        Ok(Batch { rows, canvases })
    }
}

/// Numbers of a batch that is read where nothing else says how large it is.
const NUMBERS_AT_ONCE: usize = 1 << 26;

/// More than this at once is a mistake, or needs another way.
const LIMIT: usize = 2 << 30;

impl Dataset {
    /// All images at once, `N x C x H x W` as models see them. More than 2 GiB is refused.
    pub fn all_images(&self, cx: &Cx) -> Result<Tensor> {
        let bytes = self.shape().iter().product::<usize>().saturating_mul(4).saturating_mul(self.len());
        if bytes > LIMIT {
            let gib = bytes as f64 / (1u64 << 30) as f64;
            return Err(Error::data(format!("{} images take {gib:.1} GiB, more than 2 at once", self.len()))
                .hint("`ds.take(n)` makes it smaller; models and examinations read data sets batch by batch"));
        }
        let task = cx.progress("reading images", Some(self.len() as u64));
        let size: Vec<i64> = [self.len()].into_iter().chain(self.shape()).map(|side| side as i64).collect();
        let all = Tensor::f_empty(&size, (Kind::Float, cx.device()))?;
        // Of large pictures few, so that what is read shows.
        let at_once = (NUMBERS_AT_ONCE / self.canvas_shape().iter().product::<usize>().max(1)).clamp(1, 256);
        let mut read = 0;
        for batch in self.stream(cx, at_once) {
            cx.check()?;
            let batch = batch?;
            let n = batch.rows.len();
            task.advance(n as u64);
            all.f_narrow(0, read, n as i64)?.f_copy_(&self.centre(&batch.canvases)?)?;
            read += n as i64;
        }
        Ok(all)
    }
}

impl Iterator for Stream<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.work.batches() {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let batch = self.batch(number);
        if batch.is_err() {
            self.next = self.work.batches();
        }
        Some(batch)
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        self.work.stop.store(true, Ordering::Relaxed);
        // Through the lock, so that no worker can miss it between its check and its wait.
        drop(self.work.lock());
        self.work.changed.notify_all();
        for worker in self.workers.drain(..) {
            // A worker's panic was reported where its piece was read.
            let _ = worker.join();
        }
    }
}
