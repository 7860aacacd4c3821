//! Whether scores change by jumps, of which a gradient says nothing.

use tch::{Device, Kind};

use super::Model;
use super::slope::{AS_SAID, Lead, SEEN, numbers};
use crate::core::{Result, Tensor};

/// Images from which the way to another one is followed, at most, and the stretches that it is first divided into.
const WAYS: usize = 3;
const STRETCHES: usize = 4;
/// How often the stretch where scores change most is halved, at most: changes that are left are too small to be seen then, or sudden.
const HALVED: usize = 12;
/// Of these the first, by which networks with many kinks have agreed with their gradients.
const SURELY: usize = 5;

/// Of the way from one image to another the part where the lead changes most.
struct QuietStretch {
    from: f64,
    length: f64,
    /// At its ends.
    leads: [f64; 2],
    /// How often a change that can be seen was set beside the gradient.
    asked: usize,
    /// Whether one was as it says.
    agrees: bool,
}

impl QuietStretch {
    fn change(&self) -> f64 {
        self.leads[1] - self.leads[0]
    }

    /// Whether the change is too small to be seen, or is no number.
    fn ended(&self, seen: f64) -> bool {
        let change = self.change().abs();
        change <= seen || change.is_nan()
    }

    /// Sets the change beside what the gradient in the middle says of the whole way, and goes on with the half where more changes.
    fn halve(&mut self, middle: f64, said: f64, seen: f64) {
        if self.agrees || self.ended(seen) || !said.is_finite() {
            return;
        }
        self.asked += 1;
        self.agrees = (said * self.length / self.change() - 1.0).abs() <= AS_SAID;
        let first = (middle - self.leads[0]).abs() >= (self.leads[1] - middle).abs();
        self.length /= 2.0;
        if first {
            self.leads[1] = middle;
        } else {
            self.from += self.length;
            self.leads[0] = middle;
        }
    }
}

impl Model {
    /// Whether scores change by jumps on the way from one image to another, which no gradient tells of: the stretch where they change most is halved until
    /// they change there as the gradient in its middle says. Steps under a weak slope agree with it wherever there is no step.
    pub(super) fn jumps_on_the_way(&self, images: &Tensor, answers: &Tensor) -> Result<Option<String>> {
        let largest = answers.f_abs()?.f_max()?.f_double_value(&[])?;
        // To the next image with another answer, and where there is none to the same upside down.
        let of = Vec::<i64>::try_from(&answers.f_argmax(1, false)?.f_to_device(Device::Cpu)?)?;
        let (n, ways) = (of.len(), of.len().min(WAYS));
        let row = |i: usize| -> Result<Tensor> {
            Ok(match (1..n).map(|k| (i + k) % n).find(|&j| of[j] != of[i]) {
                Some(j) => images.f_get(j as i64)?,
                None => images.f_get(i as i64)?.f_flip([1i64, 2].as_slice())?,
            })
        };
        let ends = Tensor::f_stack(&(0..ways).map(row).collect::<Result<Vec<_>>>()?, 0)?;
        let begins = images.f_narrow(0, 0, ways as i64)?;
        let way = ends.f_sub(&begins)?;
        let at = |shares: &[f64]| -> Result<Tensor> {
            let shares = Tensor::f_from_slice(shares)?.f_to_device(images.device())?.f_to_kind(images.kind())?;
            Ok(begins.f_add(&way.f_mul(&shares.f_reshape([-1, 1, 1, 1])?)?)?)
        };
        let scores = |k: usize| -> Result<Tensor> {
            let images = at(&vec![k as f64 / STRETCHES as f64; ways])?;
            tch::no_grad(|| Ok(self.logits(&images)?.f_to_kind(Kind::Double)?))
        };
        let stops = (0..=STRETCHES).map(scores).collect::<Result<Vec<_>>>()?;
        // The class at one end less that at the other, or the best less the next one where it is the same.
        let (two, there) = (stops[0].f_topk(2, 1, true, true)?.1, stops[STRETCHES].f_argmax(1, true)?);
        let (first, second) = (two.f_narrow(1, 0, 1)?, two.f_narrow(1, 1, 1)?);
        let best = Tensor::f_cat(&[&first, &there.f_where_self(&there.f_ne_tensor(&first)?, &second)?], 1)?;
        let lead = |scores: &Tensor| -> Result<Vec<f64>> {
            let two = scores.f_gather(1, &best, false)?;
            numbers(&two.f_select(1, 0)?.f_sub(&two.f_select(1, 1)?)?)
        };
        let stops = stops.iter().map(lead).collect::<Result<Vec<_>>>()?;
        let seen = SEEN * largest;
        let along_way = |lead: &Lead| -> Result<Vec<f64>> {
            let products = lead.gradient.f_mul(&way)?.f_flatten(1, -1)?;
            numbers(&products.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?)
        };
        let mut stretches: Vec<QuietStretch> = (0..ways)
            .map(|i| {
                let change = |k: &usize| (stops[k + 1][i] - stops[*k][i]).abs();
                let k = (0..STRETCHES).max_by(|a, b| change(a).total_cmp(&change(b))).unwrap_or_default();
                let from = k as f64 / STRETCHES as f64;
                QuietStretch {
                    from,
                    length: 1.0 / STRETCHES as f64,
                    leads: [stops[k][i], stops[k + 1][i]],
                    asked: 0,
                    agrees: false,
                }
            })
            .collect();
        for _ in 0..HALVED {
            let middles: Vec<f64> = stretches.iter().map(|s| s.from + s.length / 2.0).collect();
            let middle = self.lead_at(&at(&middles)?, best.shallow_clone())?;
            let said = along_way(&middle)?;
            for (i, stretch) in stretches.iter_mut().enumerate() {
                stretch.halve(middle.here[i], said[i], seen);
            }
            if 2 * stretches.iter().filter(|s| s.agrees || s.ended(seen)).count() >= stretches.len() {
                break;
            }
        }
        let asked = stretches.iter().filter(|s| s.agrees || s.asked >= SURELY).count();
        let mut sudden: Vec<usize> =
            (0..ways).filter(|&i| !stretches[i].agrees && stretches[i].asked >= SURELY).collect();
        if 2 * sudden.len() > ways {
            // Steps whose gradient stands for a line through them, as of rounding that is trained through, come to that line on the whole way.
            let mut said = vec![0.0; ways];
            for k in 0..2 * STRETCHES {
                let share = (k as f64 + 0.5) / (2 * STRETCHES) as f64;
                let along = along_way(&self.lead_at(&at(&vec![share; ways])?, best.shallow_clone())?)?;
                said.iter_mut().zip(along).for_each(|(said, along)| *said += along / (2 * STRETCHES) as f64);
            }
            sudden.retain(|&i| {
                let change = stops[STRETCHES][i] - stops[0][i];
                change.abs() <= seen || (said[i] / change - 1.0).abs() > AS_SAID
            });
        }
        let sudden = sudden.len();
        Ok((2 * sudden > stretches.len()).then(|| {
            format!(
                "scores of {} change by jumps that its gradient says nothing of (on the way between {sudden} of {asked} pairs of images): searches along it go by \
                 what is left between the jumps, and what they leave right says little of what {} bears",
                self.name, self.name
            )
        }))
    }
}
