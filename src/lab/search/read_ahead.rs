//! Images in the order of an examination's cases: while the model works on some, other threads decode the next.

use super::Examination;
use crate::core::{Cx, Error, Result, Tensor};
use crate::data::{Batch, Dataset, Stream};

pub(super) struct ReadAhead<'a> {
    data: &'a Dataset,
    /// All that will be asked for, in ascending order.
    rows: Vec<usize>,
    /// Images that are read together; as many again, and a few per thread, are read ahead at most.
    at_once: usize,
    stream: Option<Stream<'a>>,
    /// The place of the row that comes next in the stream.
    next: usize,
    held: Option<Batch>,
}

impl<'a> ReadAhead<'a> {
    pub fn new(plan: &Examination<'a>, rows: Vec<usize>, at_once: usize) -> Self {
        Self { data: plan.data, rows, at_once, stream: None, next: 0, held: None }
    }

    /// Goes on with fewer at once.
    pub fn read_fewer(&mut self, at_once: usize) {
        (self.at_once, self.stream, self.held) = (at_once, None, None);
    }

    /// The images of these rows, in ascending order, as models see them.
    pub fn images(&mut self, cx: &Cx, rows: &[usize]) -> Result<Tensor> {
        let (mut parts, mut wanted) = (vec![], rows);
        while let Some(&first) = wanted.first() {
            let held = self.holding(cx, first)?;
            let place = held.rows.iter().position(|&row| row == first).ok_or_else(no_row)?;
            let count = wanted.iter().zip(&held.rows[place..]).take_while(|(wanted, held)| wanted == held).count();
            parts.push(held.canvases.f_narrow(0, place as i64, count as i64)?);
            wanted = &wanted[count..];
        }
        let canvases = if parts.len() == 1 { parts.remove(0) } else { Tensor::f_cat(&parts, 0)? };
        self.data.centre(&canvases)
    }

    /// Rows that are read together, with this one among them.
    fn holding(&mut self, cx: &Cx, row: usize) -> Result<&Batch> {
        let holds = |held: &Option<Batch>| held.as_ref().is_some_and(|held| held.rows.contains(&row));
        while !holds(&self.held) {
            let place = self.rows.binary_search(&row).map_err(|_| no_row())?;
            // Cases that go back, or leave many out, have the stream begin anew.
            if self.stream.is_none() || place < self.next || place >= self.next + self.at_once {
                (self.held, self.stream) = (None, None);
                self.stream = Some(self.data.stream_of(cx, self.rows[place..].to_vec(), self.at_once));
                self.next = place;
            }
            let batch = self.stream.as_mut().and_then(Iterator::next).ok_or_else(no_row)?;
            let batch = batch.inspect_err(|_| self.stream = None)?;
            self.next += batch.rows.len();
            self.held = Some(batch);
        }
        self.held.as_ref().ok_or_else(no_row)
    }
}

fn no_row() -> Error {
    Error::internal("a row that nobody meant to read")
}
