//! What a training reads from.

use tch::{Device, Tensor};

use crate::core::{Cx, Result, on_device};
use crate::data::Dataset;

/// Data sets up to this many bytes of floats are read once and kept.
const KEEP: usize = 256 << 20;

/// Reads batches of a data set in any order, from memory if it fits.
pub struct TrainingImages<'a> {
    set: &'a Dataset,
    kept: Option<Tensor>,
}

impl<'a> TrainingImages<'a> {
    pub fn new(cx: &Cx, set: &'a Dataset) -> Result<Self> {
        let bytes = set.canvas_shape().iter().product::<usize>().saturating_mul(4).saturating_mul(set.len());
        if bytes > KEEP {
            return Ok(Self { set, kept: None });
        }
        let task = cx.progress(&format!("reading {}", set.name), Some(set.len() as u64));
        let mut kept: Option<Tensor> = None;
        let mut filled = 0;
        for part in set.stream(cx, 256) {
            cx.check()?;
            let part = part?;
            let images = set.centre(&part.canvases)?;
            let count = images.size()[0];
            if kept.is_none() {
                let mut size = images.size();
                size[0] = set.len() as i64;
                kept = Some(Tensor::f_empty(size, (images.kind(), images.device()))?);
            }
            if let Some(kept) = &kept {
                kept.f_narrow(0, filled, count)?.f_copy_(&images)?;
            }
            filled += count;
            task.advance(count as u64);
        }
        Ok(Self { set, kept })
    }

    /// Calls `see` with the rows and images of each batch.
    pub fn each(
        &self,
        cx: &Cx,
        order: &[usize],
        batch: usize,
        see: &mut dyn FnMut(&[usize], &Tensor) -> Result<()>,
    ) -> Result<()> {
        match &self.kept {
            Some(all) => {
                for rows in order.chunks(batch) {
                    see(rows, &all.f_index_select(0, &index(rows, all.device())?)?)?;
                }
            }
            None => {
                for part in self.set.stream_of(cx, order.to_vec(), batch) {
                    let part = part?;
                    see(&part.rows, &self.set.centre(&part.canvases)?)?;
                }
            }
        }
        Ok(())
    }

    /// The images of these rows.
    pub fn of(&self, rows: &[usize], device: Device) -> Result<Tensor> {
        match &self.kept {
            Some(all) => Ok(all.f_index_select(0, &index(rows, all.device())?)?),
            None => self.set.centre(&self.set.images(rows, device)?),
        }
    }
}

/// Rows as a tensor that picks them.
pub fn index(rows: &[usize], device: Device) -> Result<Tensor> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    on_device(&Tensor::f_from_slice(&rows)?, device)
}
