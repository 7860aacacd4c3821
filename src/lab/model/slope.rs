//! Whether a model's gradient is that of its scores, as differences see it: one that somebody wrote may be wrong or stand in for another.

use tch::{Device, Kind};

use super::Model;
use super::probe::OWN;
use crate::core::{Graph, Result, Tensor, gradients, significant, with_stream};

/// How far images are moved along a gradient in order to see whether scores change as it says, in their l2 norm; where most are as it says after
/// one of these, the others are not asked.
const MOVED: [f64; 3] = [0.01, 0.03, 0.1];
/// How far they are moved besides where scores do not change so: an honest gradient may hold no farther.
const BARELY_MOVED: [f64; 2] = [1e-3, 1e-4];
/// Of the largest score: smaller changes are told apart from rounding by no digit.
pub(super) const SEEN: f64 = 1e-4;
/// How far apart the changes there and back may be, as shares of what the gradient says.
const AGREE: f64 = 0.1;
/// How far from 1 the change may be, as such a share.
pub(super) const AS_SAID: f64 = 0.5;
/// How far all pixels are moved, up or down by chance, besides.
const ACROSS: [f64; 3] = [2e-3, 5e-4, 8e-3];
/// In how many such directions, each of blocks of pixels as a grid of so many makes them.
const DIRECTIONS: u64 = 3;
const GRID: i64 = 8;
/// Of the squares of what scores change there, the share that the gradient may leave out: more is no curvature.
const LEFT_OUT: f64 = 0.15;

/// The best score less the next one, of images as they are asked about.
pub(super) struct Lead {
    /// The two classes of each image, `N x 2`.
    pub best: Tensor,
    pub here: Vec<f64>,
    /// By pixels, in double precision.
    pub gradient: Tensor,
}

pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<f64>> {
    Ok(Vec::try_from(&tensor.f_to_device(Device::Cpu)?)?)
}

impl Model {
    /// Whether the best score less the next one changes along its gradient as the gradient says. Images are drawn inwards and shaken, so that
    /// no kink that many share (a clamp at 0, equal pixels below a maximum) lies where it is asked; lengths count whose two ways, there and
    /// back, agree, as they do along an honest gradient and along a wrong one, but neither at a kink nor where answers saturate.
    pub(super) fn slope_of_gradient(&self, images: &Tensor, answers: &Tensor) -> Result<Option<String>> {
        let within = images.f_min()?.f_double_value(&[])? >= 0.0 && images.f_max()?.f_double_value(&[])? <= 1.0;
        // Of what a mean of draws stands for that is asked by itself, unless it draws.
        let asked = self.network.stands_for().map_or(self.copies() > 1, |inner| !inner.draws());
        if answers.size()[1] < 2 || asked || !within {
            return Ok(None);
        }
        // Drawn on the CPU, so that every device asks the same.
        let shaken = with_stream(OWN, 1, || Tensor::f_rand(images.size(), (Kind::Float, Device::Cpu)))?;
        let shaken =
            shaken.f_sub_scalar(0.5)?.f_mul_scalar(0.04)?.f_to_device(images.device())?.f_to_kind(images.kind())?;
        let images = images.f_mul_scalar(0.7)?.f_add_scalar(0.15)?.f_add(&shaken)?;
        let told = self.lead_at(&images, answers.f_topk(2, 1, true, true)?.1).and_then(|lead| {
            let told = self.told_of_gradient(&images, answers, &lead)?;
            if told.is_some() {
                return Ok(told);
            }
            let told = self.told_across(&images, answers, &lead)?;
            if told.is_some() { Ok(told) } else { self.jumps_on_the_way(&images, answers) }
        });
        match told {
            Ok(told) => Ok(told),
            Err(error) if error.is_interrupted() || error.is_out_of_memory() => Err(error),
            // What has no gradient, or none that can be had, is refused by name where one is asked for.
            Err(_) => Ok(None),
        }
    }

    pub(super) fn lead_at(&self, images: &Tensor, best: Tensor) -> Result<Lead> {
        let leaf = images.f_detach_copy()?.f_set_requires_grad(true)?;
        let (here, gradient) = tch::with_grad(|| -> Result<(Tensor, Tensor)> {
            let here = self.leads(&leaf, &best)?;
            let found = gradients(&self.name, &here.f_sum(Kind::Double)?, &[&leaf], Graph::Free)?;
            Ok((here.f_detach()?, found[0].f_to_kind(Kind::Double)?))
        })?;
        Ok(Lead { best, here: numbers(&here)?, gradient })
    }

    fn leads(&self, images: &Tensor, best: &Tensor) -> Result<Tensor> {
        let scores = self.logits(images)?.f_to_kind(Kind::Double)?.f_gather(1, best, false)?;
        Ok(scores.f_select(1, 0)?.f_sub(&scores.f_select(1, 1)?)?)
    }

    /// The lead of the same classes at other images.
    pub(super) fn lead(&self, images: &Tensor, of: &Lead) -> Result<Vec<f64>> {
        tch::no_grad(|| numbers(&self.leads(images, &of.best)?))
    }

    /// Whether the scores change in directions that have nothing to do with the gradient as it says: of one that lacks a part, or is too short
    /// to be followed, all that lies along it may be right.
    fn told_across(&self, images: &Tensor, answers: &Tensor, lead: &Lead) -> Result<Option<String>> {
        let Lead { here, gradient, .. } = lead;
        let [_, _, height, width] = images.size()[..] else { return Ok(None) };
        let directions = (0..DIRECTIONS).map(|k| -> Result<Tensor> {
            let mut size = images.size();
            (size[2], size[3]) = (height.min(GRID), width.min(GRID));
            let signs = with_stream(OWN, 2 + k, || Tensor::f_rand(&size, (Kind::Float, Device::Cpu)))?;
            let signs = signs.f_sub_scalar(0.5)?.f_sign()?.f_upsample_nearest2d([height, width], None, None)?;
            Ok(signs.f_to_device(images.device())?.f_to_kind(images.kind())?)
        });
        let directions = directions.collect::<Result<Vec<_>>>()?;
        let largest = answers.f_abs()?.f_max()?.f_double_value(&[])?;
        let said = directions.iter().map(|direction| {
            numbers(&gradient.f_mul(direction)?.f_flatten(1, -1)?.f_sum_dim_intlist(
                [1i64].as_slice(),
                false,
                Kind::Double,
            )?)
        });
        let said = said.collect::<Result<Vec<_>>>()?;
        // Of images whose scores change by enough to be seen, and alike there and back, the share of it that the gradient leaves out; else NaN.
        let left_out = |by: f64| -> Result<Vec<f64>> {
            let mut sums = vec![[0.0; 3]; here.len()];
            for (direction, said) in directions.iter().zip(&said) {
                let shift = direction.f_mul_scalar(by)?;
                let (there, back) =
                    (self.lead(&images.f_add(&shift)?, lead)?, self.lead(&images.f_sub(&shift)?, lead)?);
                for (i, [changed, missing, bent]) in sums.iter_mut().enumerate() {
                    let change = (there[i] - back[i]) / 2.0;
                    *changed += change * change;
                    *missing += (change - by * said[i]).powi(2);
                    *bent += (there[i] + back[i] - 2.0 * here[i]).powi(2);
                }
            }
            let least = DIRECTIONS as f64 * (SEEN * largest).powi(2);
            let of = |[changed, missing, bent]: [f64; 3]| {
                if changed > least && bent <= AGREE * changed { missing / changed } else { f64::NAN }
            };
            Ok(sums.into_iter().map(of).collect())
        };
        let mut least = vec![f64::NAN; here.len()];
        for by in ACROSS {
            for (least, share) in least.iter_mut().zip(left_out(by)?) {
                *least = least.min(share);
            }
            if 2 * least.iter().filter(|share| **share <= LEFT_OUT).count() >= least.len() {
                return Ok(None);
            }
        }
        least.retain(|share| share.is_finite());
        let otherwise = least.iter().filter(|share| **share > LEFT_OUT).count();
        if 2 * least.len() < here.len() || 2 * otherwise <= least.len() {
            return Ok(None);
        }
        least.sort_by(f64::total_cmp);
        Ok(Some(format!(
            "scores of {} change across its gradient where it says that they don't ({otherwise} of {} images; it leaves out {}% of the change): a part of it is \
             missing, or it is too short, and where searches go along it what they leave right says nothing of what {} bears",
            self.name,
            least.len(),
            significant(100.0 * least[least.len() / 2], 2),
            self.name
        )))
    }

    fn told_of_gradient(&self, images: &Tensor, answers: &Tensor, lead: &Lead) -> Result<Option<String>> {
        let Lead { here, gradient, .. } = lead;
        let lengths = gradient
            .f_flatten(1, -1)?
            .f_square()?
            .f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?
            .f_sqrt()?;
        let shape: Vec<i64> = images.size().iter().enumerate().map(|(i, n)| if i == 0 { *n } else { 1 }).collect();
        let along = gradient.f_div(&lengths.f_clamp_min(f64::MIN_POSITIVE)?.f_reshape(&shape)?)?;
        let along = along.f_to_kind(images.kind())?;
        let largest = answers.f_abs()?.f_max()?.f_double_value(&[])?;
        let lengths = numbers(&lengths)?;
        // Of images whose scores change by enough to be seen, how much they change as a share of what the gradient says; else NaN.
        let shares = |by: f64| -> Result<Vec<f64>> {
            let shift = along.f_mul_scalar(by)?;
            let (there, back) = (self.lead(&images.f_add(&shift)?, lead)?, self.lead(&images.f_sub(&shift)?, lead)?);
            let of = |i: usize| {
                let said = by * lengths[i];
                let (there, back) = ((there[i] - here[i]) / said, (here[i] - back[i]) / said);
                let seen = said > SEEN * largest && (there - back).abs() <= AGREE;
                if seen { (there + back) / 2.0 } else { f64::NAN }
            };
            Ok((0..lengths.len()).map(of).collect())
        };
        let off = |share: f64| (share - 1.0).abs();
        let most_as_said =
            |shares: &[f64], of: usize| 2 * shares.iter().filter(|share| off(**share) <= AS_SAID).count() >= of;
        let mut nearest = vec![f64::NAN; lengths.len()];
        for by in MOVED {
            for (nearest, share) in nearest.iter_mut().zip(shares(by)?) {
                *nearest = if off(share) < off(*nearest) || nearest.is_nan() { share } else { *nearest };
            }
            if most_as_said(&nearest, lengths.len()) {
                return Ok(None);
            }
        }
        nearest.retain(|share| share.is_finite());
        let otherwise = nearest.iter().filter(|share| off(**share) > AS_SAID).count();
        if 2 * nearest.len() < lengths.len() || 2 * otherwise <= nearest.len() {
            return Ok(None);
        }
        let mut holds = None;
        for by in BARELY_MOVED {
            if holds.is_none() && most_as_said(&shares(by)?, lengths.len()) {
                holds = Some(by);
            }
        }
        nearest.sort_by(f64::total_cmp);
        let (name, asked) = (&self.name, nearest.len());
        let times = significant(nearest[asked / 2], 2);
        Ok(Some(match holds {
            None => format!(
                "scores of {name} do not change along its gradient as the gradient says, but {times} times as much ({otherwise} of {asked} images): \
                 it is wrong or stands in for another, and where searches go along it what they leave right says nothing of what {name} bears"
            ),
            Some(by) => format!(
                "scores of {name} change as its gradient says over {by:?} (in l2) and no farther, where they change {times} times as much \
                 ({otherwise} of {asked} images): searches along it soon leave the slopes that they go by, and what they leave right says little of \
                 what {name} bears"
            ),
        }))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Network;
    use super::*;
    use crate::core::Digest;

    /// A clamp, a convolution, a rectifier, a maximum and a linear layer, and what becomes of their scores.
    pub struct Net {
        pub weights: [Tensor; 2],
        pub end: fn(Tensor) -> Tensor,
    }

    impl Network for Net {
        fn forward(&self, images: &Tensor) -> Result<Tensor> {
            let weights = self.weights[0].to_kind(images.kind());
            let maps = images.clamp(0.0, 1.0).conv2d(&weights, None::<Tensor>, [1], [1], [1], 1).relu();
            let scores = maps.max_pool2d_default(2).flatten(1, -1).matmul(&self.weights[1].to_kind(images.kind()));
            Ok((self.end)(scores))
        }
    }

    fn told(end: fn(Tensor) -> Tensor, images: &Tensor, seed: i64) -> Option<String> {
        let draw = |shape: &[i64], scale: f64| Tensor::randn(shape, (Kind::Float, Device::Cpu)) * scale;
        let weights = with_stream(seed as u64, 0, || [draw(&[4, 1, 3, 3], 0.5), draw(&[4 * 16, 5], 1.0)]);
        let model = Model::new("net", Box::new(Net { weights, end }), Digest::of(b"net"));
        let answers = tch::no_grad(|| model.logits(images)).expect("scores").to_kind(Kind::Double);
        model.slope_of_gradient(images, &answers).expect("an answer")
    }

    /// Images of 0 and 1 and of all between; scores of any size, and probabilities that are sure.
    #[test]
    fn honest_gradients_are_believed_and_wrong_ones_are_not() {
        let honest: [fn(Tensor) -> Tensor; 4] = [
            |scores| scores,
            |scores| scores * 1e4,
            |scores| (scores * 20.0).softmax(1, Kind::Float),
            |scores| scores.log_softmax(1, Kind::Float),
        ];
        // Steps, with a weak slope that tells of another score or of the same.
        let stepped: [fn(Tensor) -> Tensor; 3] = [
            |scores| (&scores / 2.0).round() * 2.0 + scores.flip([1]) * 0.01,
            |scores| (&scores / 2.0).round() * 2.0 + scores * 0.01,
            |scores| scores.argmax(1, false).one_hot(5).to_kind(Kind::Float) * 5.0 + scores.flip([1]) * 0.01,
        ];
        // The same numbers, of which the gradient is turned, ten times as long, or a fiftieth.
        let wrong: [fn(Tensor) -> Tensor; 3] = [
            |scores| scores.detach() * 2.0 - scores,
            |scores| &scores * 10.0 - scores.detach() * 9.0,
            |scores| &scores * 0.02 + scores.detach() * 0.98,
        ];
        for seed in 0..20 {
            let grey = with_stream(seed as u64, 1, || Tensor::rand([8, 1, 8, 8], (Kind::Float, Device::Cpu)));
            for images in [grey.round(), grey] {
                for (i, end) in honest.into_iter().enumerate() {
                    let told = told(end, &images, seed);
                    assert!(told.is_none(), "{seed}, {i}: {told:?}");
                }
                for end in wrong {
                    assert!(told(end, &images, seed).is_some(), "{seed}");
                }
            }
        }
        // Of images that are unlike one another, so that scores change from one to the next.
        let spots =
            Tensor::eye(8, (Kind::Float, Device::Cpu)).view([8, 1, 2, 4]).upsample_nearest2d([8, 8], None, None);
        // Of some weights all images get one answer, which changes nowhere.
        for (i, end) in stepped.into_iter().enumerate() {
            let told =
                (0..10).filter(|seed| told(end, &spots, *seed).is_some_and(|told| told.contains("by jumps"))).count();
            assert!(told >= 6, "{i}: {told}");
        }
        for (seed, end) in (0..10).flat_map(|seed| honest.map(|end| (seed, end))) {
            let told = told(end, &spots, seed);
            assert!(told.is_none(), "{seed}: {told:?}");
        }
        // Where pixels are not in [0, 1] nothing is known of where they may be.
        let images = Tensor::ones([2, 1, 8, 8], (Kind::Float, Device::Cpu));
        assert!(told(wrong[0], &(images * 2.0), 1).is_none());
    }

    /// Of which one half of the pixels has no gradient.
    struct Masked(Net);

    impl Network for Masked {
        fn forward(&self, images: &Tensor) -> Result<Tensor> {
            let halves = [images.narrow(3, 0, 4), images.narrow(3, 4, 4).detach()];
            self.0.forward(&Tensor::cat(&halves, 3))
        }
    }

    #[test]
    fn a_gradient_that_lacks_half_of_the_pixels_is_told() {
        for seed in 0..20u64 {
            let draw = |shape: &[i64], scale: f64| Tensor::randn(shape, (Kind::Float, Device::Cpu)) * scale;
            let weights = with_stream(seed, 0, || [draw(&[4, 1, 3, 3], 0.5), draw(&[4 * 16, 5], 1.0)]);
            let net = Net { weights, end: |scores| scores };
            let model = Model::new("net", Box::new(Masked(net)), Digest::of(b"net"));
            let images = with_stream(seed, 1, || Tensor::rand([8, 1, 8, 8], (Kind::Float, Device::Cpu)));
            let answers = tch::no_grad(|| model.logits(&images)).expect("scores").to_kind(Kind::Double);
            let told = model.slope_of_gradient(&images, &answers).expect("an answer").unwrap_or_default();
            assert!(told.contains("a part of it is missing"), "{seed}: {told:?}");
        }
    }

    /// Two channels as a normalisation over them sees them: which is the larger, unless they are nearly equal.
    struct OfChannels;

    impl Network for OfChannels {
        fn forward(&self, images: &Tensor) -> Result<Tensor> {
            let difference = images.select(1, 0) - images.select(1, 1);
            let maps = &difference / (difference.square() + 1e-5).sqrt();
            Ok(maps.flatten(1, -1).narrow(1, 0, 60).reshape([-1, 12, 5]).sum_dim_intlist(
                [1i64].as_slice(),
                false,
                Kind::Float,
            ))
        }
    }

    #[test]
    fn honest_gradients_that_hold_no_farther_than_a_thousandth_are_not_called_wrong() {
        for seed in 0..20 {
            let draw = |shape: &[i64]| with_stream(seed, 0, || Tensor::randn(shape, (Kind::Float, Device::Cpu)));
            let model = Model::new("net", Box::new(OfChannels), Digest::of(b"net"));
            let images = draw(&[8, 1, 8, 8]).clamp(0.0, 1.0).repeat([1, 2, 1, 1]);
            let answers = tch::no_grad(|| model.logits(&images)).expect("scores").to_kind(Kind::Double);
            let told = model.slope_of_gradient(&images, &answers).expect("an answer").unwrap_or_default();
            assert!(told.contains("change as its gradient says over 0.001"), "{seed}: {told:?}");
        }
    }
}
