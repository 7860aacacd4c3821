//! What shows of a model before anything is made of its answers: a few images are asked about, the first of the data.

use tch::Kind;

use super::Model;
use crate::core::{Cx, Result, Tensor, in_stream, with_stream};

/// Images that are asked about, at most.
const MOST: usize = 8;
/// Of the largest score: the same question has the same answer up to here.
const SAME: f64 = 1e-5;
/// Of the largest score: rounding, which depends on the size of a batch, stays below even in half precision.
const ROUNDED: f64 = 1e-2;
/// How far from 1 the sum of rounded probabilities may be.
const OF_ONE: f64 = 1e-3;

/// Seed of the draws of models that draw.
const OWN: u64 = u64::from_be_bytes(*b"__probe_");

impl Model {
    /// Asks about up to eight images, once for each model unless it has seen fewer, and keeps what it notices as cautions: answers that
    /// are probabilities, that change when the same is asked again, or that depend on what else stands in the batch. Logarithms of
    /// probabilities are scores like any others: every softmax of them is the same. Networks of layers answer the same whatever else is
    /// asked, so they are asked once; TorchScript is asked three times; closures and programs, which may cost something, are asked about
    /// these images and about the first one alone, and once more only where the two answers differ.
    pub(super) fn probe(&self, cx: &Cx, available: usize, images: &dyn Fn(usize) -> Result<Tensor>) -> Result<()> {
        let count = MOST.min(available);
        // Inside of a stream the draws of a model that draws would be missing.
        if count <= self.probed.get() || in_stream() {
            return Ok(());
        }
        let images = images(count)?;
        // A closure draws from streams of its own.
        let noticed = match self.opaque() {
            true => self.notable(&images),
            false => with_stream(OWN, 0, || self.notable(&images)),
        };
        let noticed = match noticed {
            // What is done with batches that are too large is for those who choose them.
            Err(error) if error.is_out_of_memory() => return Ok(()),
            noticed => noticed?,
        };
        self.probed.set(count);
        for caution in noticed {
            cx.warn(caution.as_str());
            self.notice(caution);
        }
        Ok(())
    }

    fn notable(&self, images: &Tensor) -> Result<Vec<String>> {
        let ask =
            |images: &Tensor| tch::no_grad(|| -> Result<Tensor> { Ok(self.logits(images)?.f_to_kind(Kind::Double)?) });
        let answers = ask(images)?;
        if answers.f_isfinite()?.f_all()?.f_int64_value(&[])? == 0 {
            return Ok(vec![]);
        }
        let mut noticed = vec![];
        if are_probabilities(&answers)? {
            noticed.push(format!(
                "{} answers probabilities where scores before the softmax are expected: losses, margins and gradients are those of a second \
                 softmax",
                self.name
            ));
        }
        if self.module().is_some() {
            return Ok(noticed);
        }
        let alone = apart(&answers.f_narrow(0, 0, 1)?, &ask(&images.f_narrow(0, 0, 1)?)?)?;
        let again = match self.opaque() && alone <= SAME {
            true => 0.0,
            false => apart(&answers, &ask(images)?)?,
        };
        if again > SAME {
            noticed.push(format!(
                "{} answers something else when it is asked the same again, as in training mode: outcomes are of one asking",
                self.name
            ));
        } else if alone > ROUNDED {
            noticed.push(format!(
                "what {} answers to an image depends on the others in its batch, as in training mode: outcomes are of these batches",
                self.name
            ));
        }
        Ok(noticed)
    }
}

fn are_probabilities(answers: &Tensor) -> Result<bool> {
    let sums = answers.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
    let off = sums.f_sub_scalar(1.0)?.f_abs()?.f_max()?.f_double_value(&[])?;
    // The one score of a single class is no distribution.
    Ok(answers.size()[1] > 1 && off <= OF_ONE && answers.f_min()?.f_double_value(&[])? >= 0.0)
}

/// The largest difference, as a share of the largest score.
fn apart(a: &Tensor, b: &Tensor) -> Result<f64> {
    let largest = a.f_abs()?.f_max()?.f_double_value(&[])?.max(f64::MIN_POSITIVE);
    let gap = a.f_sub(b)?.f_abs()?.f_max()?.f_double_value(&[])? / largest;
    Ok(if gap.is_nan() { f64::INFINITY } else { gap })
}
