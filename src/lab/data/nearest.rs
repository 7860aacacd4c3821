//! How far images are from the nearest one of a data set.

use super::Dataset;
use crate::core::{Cx, Error, Result, Tensor, numbers_of};

/// Two pixels differ if their values do by more than half a step of 1/255.
const STEP: f64 = 0.5 / 255.0;

/// In which norms distances are measured.
pub const NORMS: [&str; 4] = ["l0", "l1", "l2", "linf"];

/// Of one norm: for every image the smallest distance, and the row of the image that is so near.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NearestImages {
    pub distance: Vec<f64>,
    pub row: Vec<usize>,
}

/// Images whose distances are measured in one pass over the others.
const AT_ONCE: usize = 256;

/// The nearest images of `among`, in each of [`NORMS`], to every image of `images`; the first of equally near ones. l0 counts values that
/// differ by more than 1/510. Memory is bounded by a batch of either.
pub fn nearest(cx: &Cx, images: &Dataset, among: &Dataset) -> Result<[NearestImages; 4]> {
    if images.shape() != among.shape() {
        let [a, b] = [images, among].map(|set| set.shape().map(|side| side.to_string()).join(" x "));
        return Err(Error::data(format!("{} has images of {a}, {} of {b}", images.name, among.name)));
    }
    let mut all: [NearestImages; 4] = std::array::from_fn(|_| NearestImages::default());
    let task = cx.progress("measuring distances", Some(images.len() as u64 * among.len() as u64));
    let size = images.shape().iter().product::<usize>() as i64;
    let batch = (1 << 20) / size.max(1) as usize + 1;
    let mut call = cx.long_call("nearest", &[&images.digest.0, &among.digest.0], false);
    while let Some(record) = call.replay()? {
        replay(&mut all, &record).ok_or_else(|| call.unfit())?;
    }
    let from = all[0].row.len();
    task.found_done(from as u64 * among.len() as u64);
    for of in images.stream_of(cx, (from..images.len()).collect(), AT_ONCE) {
        let of = of?;
        let flat = images.centre(&of.canvases)?.f_reshape([-1, size])?;
        let n = of.rows.len();
        let mut best: [NearestImages; 4] =
            std::array::from_fn(|_| NearestImages { distance: vec![f64::INFINITY; n], row: vec![0; n] });
        for part in among.stream(cx, batch) {
            let part = part?;
            let others = among.centre(&part.canvases)?.f_reshape([-1, size])?;
            // The smallest distance and its place, for every image and norm.
            let mut found = Vec::with_capacity(2 * NORMS.len() * n);
            for i in 0..n {
                cx.check()?;
                let change = others.f_sub(&flat.f_narrow(0, i as i64, 1)?)?.f_abs()?;
                for measured in distances(&change)? {
                    found.extend(<[Tensor; 2]>::from(measured.f_min_dim(0, false)?));
                }
            }
            for (place, found) in numbers_of(&found)?.chunks(2).enumerate() {
                let (i, best) = (place / NORMS.len(), &mut best[place % NORMS.len()]);
                if found[0] < best.distance[i] {
                    best.distance[i] = found[0];
                    best.row[i] = part.rows[found[1] as usize];
                }
            }
            task.advance((part.rows.len() * n) as u64);
        }
        call.append(&record(&best))?;
        for (all, best) in all.iter_mut().zip(best) {
            all.distance.extend(best.distance);
            all.row.extend(best.row);
        }
    }
    Ok(all)
}

/// Sizes of changes `N x D` that are 0 or above, in each of [`NORMS`].
fn distances(change: &Tensor) -> Result<[Tensor; 4]> {
    let (along, kind) = ([1i64], change.kind());
    Ok([
        change.f_gt(STEP)?.f_sum_dim_intlist(along.as_slice(), false, tch::Kind::Int64)?,
        change.f_sum_dim_intlist(along.as_slice(), false, kind)?,
        change.f_square()?.f_sum_dim_intlist(along.as_slice(), false, kind)?.f_sqrt()?,
        change.f_amax(along, false)?,
    ])
}

/// As the journal keeps it: every norm's distances and then its rows.
fn record(of: &[NearestImages; 4]) -> Vec<u8> {
    let bytes = |of: &NearestImages| {
        let distances = of.distance.iter().flat_map(|distance| distance.to_le_bytes());
        distances.chain(of.row.iter().flat_map(|&row| (row as u64).to_le_bytes())).collect::<Vec<u8>>()
    };
    of.iter().flat_map(bytes).collect()
}

/// Adds what `record` wrote.
fn replay(all: &mut [NearestImages; 4], bytes: &[u8]) -> Option<()> {
    let (words, []) = bytes.as_chunks::<8>() else { return None };
    let n = words.len() / 8;
    if n == 0 || n * 8 != words.len() {
        return None;
    }
    for (all, words) in all.iter_mut().zip(words.chunks(2 * n)) {
        all.distance.extend(words[..n].iter().map(|word| f64::from_le_bytes(*word)));
        all.row.extend(words[n..].iter().map(|word| u64::from_le_bytes(*word) as usize));
    }
    Some(())
}
