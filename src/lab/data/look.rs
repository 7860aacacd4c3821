//! Whether images look centred on what they show, or decided by a coin that is not fair: what tests that rest on a density
//! being kept must not be trusted with.

use std::collections::HashMap;

use tch::{Device, Kind};

use super::Dataset;
use crate::core::{Cx, Result, Tensor};
use crate::maths::means::as_many_alike;

/// Images that are looked at, at most, evenly spaced over the set.
const SAMPLE: usize = 256;

/// Images read at a time.
const PART: usize = 32;

/// Cells along each side in which images are set beside their mirror images.
const CELLS: i64 = 8;

/// Neighbours that are taken for alike.
const BLOCK: usize = 16;

/// What is added to the diagonal of a covariance of cells, as a share of its mean.
const RIDGE: f64 = 0.1;

/// Sets that score more than this look centred, if they are large enough for it not to be chance.
const CENTRED: f64 = 0.15;

/// Standard deviations that chance is allowed: exceeded once in 100,000 sets that are not centred, or fairly drawn.
const CHANCE: f64 = 4.3;

/// What a sample of a data set looks like.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub images: usize,
    /// How many of them are independent of each other.
    pub independent: f64,
    /// How close to the middle the contrast of an image lies: the cosine of the phase of the first Fourier coefficient of
    /// |x - median| along each axis, averaged over axes and images. 1 where all of it is in the middle; 0 on average where
    /// images were rolled by uniform offsets, as the phase is uniform then; below 0 where borders are busier.
    pub centred: f64,
    /// The shares of images that are brighter than 1/2 on average, on their right half, and in their upper half.
    pub bright: f64,
    pub right: f64,
    pub upper: f64,
    /// The share of images that a linear rule of where contrast lies, learned on others, tells from their mirror images.
    pub told_from_mirrored: f64,
}

impl Dataset {
    /// Looks at a sample of the images with their margins.
    pub fn look(&self, cx: &Cx) -> Result<Look> {
        let n = self.len().min(SAMPLE);
        let rows: Vec<usize> = (0..n).map(|i| i * self.len() / n).collect();
        let mut sums = [0.0; 4];
        let mut cells = vec![];
        for part in rows.chunks(PART) {
            cx.check()?;
            let (seen, beside) = tch::no_grad(|| look_at(&self.canvases(part, Device::Cpu)?))?;
            sums.iter_mut().zip(seen).for_each(|(sum, x)| *sum += x);
            cells.extend(beside);
        }
        let [centred, bright, right, upper] = sums.map(|sum| sum / n as f64);
        // Images that say much the same are in one fold: those of a cluster, and neighbours.
        let clusters = self.clusters();
        let fold = |(place, row): (usize, &usize)| match &clusters {
            Some(clusters) => clusters[*row].is_multiple_of(2),
            None => (place / BLOCK).is_multiple_of(2),
        };
        let folds: Vec<bool> = rows.iter().enumerate().map(fold).collect();
        let told_from_mirrored = tch::no_grad(|| told_from_mirrored(&Tensor::f_cat(&cells, 0)?, &folds))?;
        // Where a few clusters hold most images these are as many as if all were as large.
        let independent = clusters.map_or(n as f64, |clusters| {
            let mut sizes: HashMap<u32, f64> = HashMap::new();
            rows.iter().for_each(|&row| *sizes.entry(clusters[row]).or_default() += 1.0);
            as_many_alike(sizes.values().copied())
        });
        Ok(Look { images: n, independent, centred, bright, right, upper, told_from_mirrored })
    }
}

/// The share of images that are told from their mirror images by how their cells differ from those, `N x D`: with the discriminant that those of the other
/// fold give. A fair coin decides where both are as likely; ties count half.
fn told_from_mirrored(beside: &Tensor, folds: &[bool]) -> Result<f64> {
    let (n, d) = beside.size2()?;
    let mut right = 0.0;
    for fold in [true, false] {
        let rows = |of: bool| -> Vec<i64> { (0..n).filter(|row| folds[*row as usize] == of).collect() };
        let of = |rows: &[i64]| beside.f_index_select(0, &Tensor::from_slice(rows));
        let (own, others) = (of(&rows(fold))?, of(&rows(!fold))?);
        let covariance = others.f_transpose(0, 1)?.f_matmul(&others)?.f_div_scalar(others.size()[0].max(1))?;
        let ridge = covariance.f_trace()?.f_double_value(&[])? / d as f64 * RIDGE;
        // Images without contrast have no covariance.
        let ridge = Tensor::f_eye(d, (Kind::Double, Device::Cpu))?.f_mul_scalar(ridge.max(1e-12))?;
        let mean = others.f_sum_dim_intlist([0i64].as_slice(), false, Kind::Double)?;
        let weights = Tensor::f_linalg_solve(&covariance.f_add(&ridge)?, &mean.f_unsqueeze(1)?, true)?;
        right += own.f_matmul(&weights)?.f_sign()?.f_sum(Kind::Double)?.f_double_value(&[])?;
    }
    Ok((right / n as f64 + 1.0) / 2.0)
}

/// Sums over images, in the order of the fields of `Look`; and of every image how much more contrast its cells on the left have than those that a
/// mirror puts there.
fn look_at(images: &Tensor) -> Result<([f64; 4], Option<Tensor>)> {
    let [n, c, h, w] = images.size()[..] else { return Ok(([0.0; 4], None)) };
    let flat = images.f_reshape([n, c, h * w])?;
    let (median, _) = flat.f_median_dim(2, true)?;
    let contrast = flat.f_sub(&median)?.f_abs()?.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
    let contrast = contrast.f_reshape([n, h, w])?;
    let (high, wide) = (CELLS.min(h), CELLS.min(w));
    let cells = contrast.f_unsqueeze(1)?.f_adaptive_avg_pool2d([high, wide])?;
    let beside = cells.f_sub(&cells.f_flip([3i64])?)?.f_narrow(3, 0, wide / 2)?.f_flatten(1, -1)?;
    // A mean that is added up from its other end is rounded otherwise.
    let beside = beside.f_masked_fill(&beside.f_abs()?.f_lt(1e-9)?, 0.0)?;
    let light = flat.f_mean_dim([1i64].as_slice(), false, Kind::Double)?.f_reshape([n, h, w])?;
    let mut cosines = Tensor::f_zeros([n], (Kind::Double, Device::Cpu))?;
    let mut halves = Vec::new();
    for (side, other) in [(w, 1i64), (h, 2)] {
        // From -1/2 to 1/2 over the image.
        let at: Vec<f64> = (0..side).map(|i| (i as f64 + 0.5) / side as f64 - 0.5).collect();
        let along = |image: &Tensor, weight: &dyn Fn(f64) -> f64| -> Result<Tensor> {
            let weights: Vec<f64> = at.iter().map(|&t| weight(t)).collect();
            let profile = image.f_sum_dim_intlist([other].as_slice(), false, Kind::Double)?;
            Ok(profile.f_matmul(&Tensor::f_from_slice(&weights)?)?)
        };
        let real = along(&contrast, &|t| (std::f64::consts::TAU * t).cos())?;
        let imaginary = along(&contrast, &|t| (std::f64::consts::TAU * t).sin())?;
        cosines += real.f_div(&real.f_hypot(&imaginary)?.f_clamp_min(1e-9)?)? / 2.0;
        // The middle of an odd side belongs to neither half.
        halves.push(along(&light, &|t| (t * 2.0 * side as f64).round().clamp(-1.0, 1.0))?);
    }
    // Exact ties count half.
    let share =
        |x: &Tensor| -> Result<f64> { Ok((x.f_sign()?.f_sum(Kind::Double)?.f_double_value(&[])? + n as f64) / 2.0) };
    let bright = light.f_mean_dim([1i64, 2].as_slice(), false, Kind::Double)? - 0.5;
    let sums =
        [cosines.f_sum(Kind::Double)?.f_double_value(&[])?, share(&bright)?, share(&halves[0])?, share(&-&halves[1])?];
    Ok((sums, Some(beside)))
}

impl Look {
    /// What speaks against a change of `space::` keeping label and density here.
    pub fn caution(&self, change: &str) -> Option<String> {
        let n = self.independent;
        // A share that a fair coin decides in every image.
        let unfair = |share: f64| (2.0 * share - 1.0).abs() * n.sqrt() > CHANCE;
        let percent = |share: f64| format!("{:.0}% of {} images", 100.0 * share, self.images);
        // The cosines of both axes have variance 1/2 where phases are uniform.
        let chance = CENTRED.max(CHANCE / (4.0 * n).sqrt());
        match change {
            "translate" if self.centred > chance => Some(format!(
                "the images look centred on what they show (score {:.2}, where images cut out anywhere, independently of each other, have about 0 and \
                 stay below {chance:.2}): moved ones are less likely",
                self.centred
            )),
            "polarity" if unfair(self.bright) => {
                Some(format!("{} are bright: inverted ones are not as likely", percent(self.bright)))
            }
            "flip" if unfair(self.right) => {
                Some(format!("{} are brighter on the right: mirrored ones are not as likely", percent(self.right)))
            }
            "flip" if (2.0 * self.told_from_mirrored - 1.0) * n.sqrt() > CHANCE => Some(format!(
                "a rule that is learned on others tells {} from their mirror images: mirrored ones are not as likely",
                percent(self.told_from_mirrored)
            )),
            "turn" if unfair(self.upper) || unfair(self.right) => Some(format!(
                "{} are brighter above and {} on the right: turned ones are not as likely",
                percent(self.upper),
                percent(self.right)
            )),
            _ => None,
        }
    }
}
