//! Cases of a descent that came to their end, or to a step that was asked for, and how the journal keeps them.

use serde::{Deserialize, Serialize};

use super::examined::{read_back, written};
use super::row::{Noted, Row};
use crate::core::{Result, Tensor};

/// The rows of one case, each with its image.
pub(super) type Ended = Vec<(Noted, Tensor)>;

/// Rows and images of a case, column by column.
#[derive(Serialize, Deserialize)]
struct CaseColumns {
    case: u64,
    id: Vec<u32>,
    label: Vec<i32>,
    target: Vec<Option<i32>>,
    before: Vec<i32>,
    after: Vec<i32>,
    loss: Vec<f32>,
    margin: Vec<f32>,
    magnitude: Vec<f32>,
    queries: Vec<u32>,
    step: Vec<u32>,
    snr: Vec<f32>,
    softmax_margin: Vec<f32>,
    vanished: Vec<bool>,
    /// By row.
    measured: Vec<Vec<f32>>,
    /// The size of an image, and the numbers of all.
    shape: Vec<i64>,
    pixels: Vec<f32>,
}

/// One case, or one on its way, as a record.
pub(super) fn record(case: usize, ended: &Ended) -> Result<Vec<u8>> {
    fn all<T>(ended: &Ended, of: impl Fn(&Row) -> T) -> Vec<T> {
        ended.iter().map(|(noted, _)| of(&noted.row)).collect()
    }
    let images = ended.iter().map(|(_, image)| Ok(Vec::<f32>::try_from(&image.f_reshape([-1])?)?));
    written(&CaseColumns {
        case: case as u64,
        id: all(ended, |row| row.id),
        label: all(ended, |row| row.label),
        target: all(ended, |row| row.target),
        before: all(ended, |row| row.before),
        after: all(ended, |row| row.after),
        loss: all(ended, |row| row.loss),
        margin: all(ended, |row| row.margin),
        magnitude: all(ended, |row| row.magnitude),
        queries: all(ended, |row| row.queries),
        step: all(ended, |row| row.step.unwrap_or_default()),
        snr: all(ended, |row| row.snr),
        softmax_margin: all(ended, |row| row.softmax_margin),
        vanished: all(ended, |row| row.vanished),
        measured: ended.iter().map(|(noted, _)| noted.measured.clone()).collect(),
        shape: ended.first().map_or(vec![], |(_, image)| image.size()),
        pixels: images.collect::<Result<Vec<_>>>()?.concat(),
    })
}

/// What `record` wrote, if it can be of an examination with so many measures.
pub(super) fn from_record(bytes: &[u8], measures: usize) -> Option<(usize, Ended)> {
    let kept: CaseColumns = read_back(bytes)?;
    let size = kept.shape.iter().try_fold(1usize, |all, side| all.checked_mul(usize::try_from(*side).ok()?))?;
    let n = kept.id.len();
    let lengths = [
        kept.label.len(),
        kept.target.len(),
        kept.before.len(),
        kept.after.len(),
        kept.loss.len(),
        kept.margin.len(),
        kept.magnitude.len(),
        kept.queries.len(),
        kept.step.len(),
        kept.snr.len(),
        kept.softmax_margin.len(),
        kept.vanished.len(),
        kept.measured.len(),
    ];
    let whole = lengths.iter().all(|length| *length == n)
        && kept.measured.iter().all(|row| row.len() == measures)
        && kept.pixels.len() == n.checked_mul(size)?;
    if !whole || n > 0 && size == 0 {
        return None;
    }
    let case = |i: usize| {
        let row = Row {
            id: kept.id[i],
            label: kept.label[i],
            target: kept.target[i],
            before: kept.before[i],
            after: kept.after[i],
            loss: kept.loss[i],
            margin: kept.margin[i],
            magnitude: kept.magnitude[i],
            queries: kept.queries[i],
            step: Some(kept.step[i]),
            snr: kept.snr[i],
            softmax_margin: kept.softmax_margin[i],
            vanished: kept.vanished[i],
            ..Row::default()
        };
        let image = Tensor::f_from_slice(&kept.pixels[i * size..][..size]).ok()?.f_reshape(&kept.shape).ok()?;
        Some((Noted { row, measured: kept.measured[i].clone() }, image))
    };
    Some((kept.case as usize, (0..n).map(case).collect::<Option<_>>()?))
}
