//! The search of Song, Shu, Kushman and Ermon (2018) for latent vectors of a generator, which stays as it is, whose images a classifier
//! gets wrong while an auxiliary classifier still sees the intended label; objective and step as in the authors' published code.

use tch::{Device, Kind, Reduction, Tensor};

use super::generated::{FoundTests, GeneratedTests, LabelTurn, WantedTests};
use crate::core::{Cx, Error, Graph, Result, finite, gradients, no_gradient, on_device, whole_columns, with_stream};
use crate::generator::Generator;
use crate::model::Model;
use crate::space::Norm;

/// Scores of an auxiliary classifier for images that are drawn as these labels.
pub type Auxiliary<'a> = dyn Fn(&Tensor, &Tensor) -> Result<Tensor> + 'a;

#[derive(Debug, Clone, PartialEq)]
pub struct LatentSearch {
    /// Steps from every start, at most.
    pub steps: u64,
    pub lr: f64,
    /// lambda1: weight of latent numbers that leave the start.
    pub latent_weight: f64,
    /// eps_z: how far a latent number may move for nothing.
    pub latent_radius: f64,
    /// lambda2: weight of the auxiliary classifier's cross entropy.
    pub label_weight: f64,
    /// Largest noise that is searched for beside the latent vector, in units of pixel values.
    pub noise: Option<f64>,
}

/// Starts that are searched from at once; as in the authors' code, losses are means over so many, however many are left.
const BATCH: usize = 64;

/// Part of the stream that gradients' noise is drawn from.
const NOISE: u64 = 1 << 59;

/// The variance of the noise that is added to the gradient of step t, counted from 0, as in the authors' code.
fn noise_variance(t: u64) -> f64 {
    0.01 / (1.0 + t as f64).powf(0.55)
}

/// Searches from latent vectors of each label until there are enough tests; a draw is a start.
pub fn latent_search(
    cx: &Cx,
    generator: &Generator,
    model: &Model,
    auxiliary: &Auxiliary,
    wanted: &WantedTests,
    how: &LatentSearch,
) -> Result<GeneratedTests> {
    let classes = model.classes().ok_or_else(|| Error::internal("a model without classes"))? as usize;
    let task = cx.progress("searching latent vectors", Some((wanted.n * wanted.labels.len()) as u64));
    let mut found = FoundTests::none(wanted);
    for &label in &wanted.labels {
        let mut turn = LabelTurn::new(generator, label, classes);
        while let Some(count) = turn.next(wanted, BATCH) {
            let latents = wanted.latents(generator, &turn, count)?;
            let part = NOISE + (turn.of.draws / BATCH) as u64;
            let ends = with_stream(wanted.seed ^ (label as u64).rotate_left(32), part, || {
                let search = LatentBatch { cx, generator, model, auxiliary, wanted, how, label };
                search.run(&latents, &|| turn.late(wanted), &|tests| {
                    task.note(&format!("label {label}: {tests} of {count} starts"))
                })
            })?;
            let Ends { starts, images, read, answers, met } = ends;
            found.ask(&wanted.oracle, &starts, label, &read)?;
            task.advance(found.add(&mut turn, wanted, &images, (&answers, &read), |i| met[i])? as u64);
        }
        found.end(turn);
    }
    let hint = "allow more `steps` or `draws`, or weigh less: lambda2 is of the auxiliary classifier, lambda1 keeps near the start";
    found.tests(cx, (generator, model), wanted, (true, hint))
}

/// What became of every start: its image when it was first a test, or its last one.
struct Ends {
    /// What was drawn of the starts.
    starts: Tensor,
    images: Tensor,
    /// What the classifier answers to the starts.
    read: Vec<i64>,
    /// None where it was taken to where there are no finite scores.
    answers: Vec<Option<i64>>,
    met: Vec<bool>,
}

struct LatentBatch<'a> {
    cx: &'a Cx,
    generator: &'a Generator,
    model: &'a Model,
    auxiliary: &'a Auxiliary<'a>,
    wanted: &'a WantedTests,
    how: &'a LatentSearch,
    label: i64,
}

impl LatentBatch<'_> {
    fn run(&self, starts: &Tensor, late: &dyn Fn() -> bool, note: &dyn Fn(usize)) -> Result<Ends> {
        let [c, h, w] = self.generator.image_shape()?;
        let count = starts.size()[0];
        let images = Tensor::f_zeros([count, c, h, w], (Kind::Float, Device::Cpu))?;
        let mut ends = Ends {
            starts: images.shallow_clone(),
            images,
            read: vec![],
            answers: vec![None; count as usize],
            met: vec![false; count as usize],
        };
        let mut left: Vec<i64> = (0..count).collect();
        let (mut start, mut z) = (starts.shallow_clone(), starts.shallow_clone());
        let mut u = match self.how.noise {
            Some(_) => Some(Tensor::f_zeros([count, c, h, w], (starts.kind(), starts.device()))?),
            None => None,
        };
        for t in 0..=self.how.steps {
            self.cx.check()?;
            let leaf = z.f_detach()?.f_set_requires_grad(true)?;
            let noise = u.as_ref().map(|u| u.f_detach()?.f_set_requires_grad(true)).transpose()?;
            let labels = leaf.f_new_full([left.len() as i64], self.label, (Kind::Int64, leaf.device()))?;
            let drawn = self.generator.images(&leaf, Some(&labels))?;
            if !drawn.requires_grad() {
                return Err(no_gradient(&self.generator.name));
            }
            let seen = match (&noise, self.how.noise) {
                (Some(noise), Some(size)) => drawn.f_add(&noise.f_tanh()?.f_mul_scalar(size)?)?.f_clamp(0.0, 1.0)?,
                _ => drawn.shallow_clone(),
            };
            let (scores, read) = (self.model.logits(&seen)?, (self.auxiliary)(&drawn, &labels)?);
            let sound =
                scores.f_isfinite()?.f_all_dim(1, false)?.f_logical_and(&read.f_isfinite()?.f_all_dim(1, false)?)?;
            // The auxiliary is to read the picture as it is handed back, too.
            let read_there = match &noise {
                Some(_) => tch::no_grad(|| (self.auxiliary)(&seen, &labels))?.f_argmax(1, false)?,
                None => read.f_argmax(1, false)?,
            };
            let [found, kept, there, sound] =
                whole_columns([scores.f_argmax(1, false)?, read.f_argmax(1, false)?, read_there, sound])?;
            let sound: Vec<bool> = sound.iter().map(|sound| *sound == 1).collect();
            // A step that is too long can take a start to infinity, which is then given up; a start itself is read.
            if t == 0 && sound.contains(&false) {
                return Err(Error::model(format!(
                    "{} of {} images that {} draws as {} have scores that are no finite numbers (NaN or infinite)",
                    sound.iter().filter(|sound| !**sound).count(),
                    sound.len(),
                    self.generator.name,
                    self.label
                ))
                .hint("look at g.sample(): what it draws, or how a classifier answers, is broken"));
            }
            if t == 0 {
                (ends.starts, ends.read) = (drawn.f_detach()?, found.clone());
            }
            let intended = |i: usize| kept[i] == self.label && there[i] == self.label;
            let met = |i: usize| sound[i] && self.wanted.met(self.label, found[i]) && intended(i);
            let last = t == self.how.steps || late();
            let ended: Vec<bool> = (0..left.len()).map(|i| met(i) || !sound[i] || last).collect();
            let over: Vec<usize> = (0..left.len()).filter(|i| ended[*i]).collect();
            if !over.is_empty() {
                let places = over.iter().map(|&i| i as i64).collect::<Vec<_>>();
                let places = on_device(&Tensor::f_from_slice(&places)?, seen.device())?;
                let images = seen.f_detach()?.f_index_select(0, &places)?.f_to_device(Device::Cpu)?;
                for (place, &i) in over.iter().enumerate() {
                    let row = left[i];
                    ends.images.f_get(row)?.f_copy_(&images.f_get(place as i64)?)?;
                    (ends.answers[row as usize], ends.met[row as usize]) = (sound[i].then_some(found[i]), met(i));
                }
            }
            if ended.iter().all(|ended| *ended) {
                break;
            }
            let loss = self.loss(&scores, &read, &labels, &leaf, &start)?;
            let leaves: Vec<&Tensor> = [Some(&leaf), noise.as_ref()].into_iter().flatten().collect();
            let of = format!("{} on images of {}", self.model.name, self.generator.name);
            let gradients = gradients(&of, &loss, &leaves, Graph::Free)?;
            let gradients = gradients.into_iter().map(finite).collect::<Result<Vec<_>>>()?;
            let variance = noise_variance(t);
            let shake = on_device(&Tensor::f_randn(leaf.size(), (Kind::Float, Device::Cpu))?, leaf.device())?;
            let along = gradients[0].f_add(&shake.f_mul_scalar(variance.sqrt())?)?;
            z = leaf.f_detach()?.f_sub(&along.f_mul_scalar(self.how.lr)?)?;
            if let (Some(noise), Some(gradient)) = (&noise, gradients.get(1)) {
                let (direction, _) = Norm::L2.steepest(gradient)?;
                u = Some(noise.f_detach()?.f_sub(&direction.f_mul_scalar(self.how.lr)?)?);
            }
            // Starts that have come to an end leave the batch.
            if ended.contains(&true) {
                let stay: Vec<i64> = (0..left.len() as i64).filter(|&i| !ended[i as usize]).collect();
                left = stay.iter().map(|&i| left[i as usize]).collect();
                let stay = on_device(&Tensor::f_from_slice(&stay)?, z.device())?;
                (z, start) = (z.f_index_select(0, &stay)?, start.f_index_select(0, &stay)?);
                u = u.map(|u| u.f_index_select(0, &stay)).transpose()?;
                note(ends.met.iter().filter(|met| **met).count());
            }
        }
        Ok(ends)
    }

    /// J = min_{k != y} CE(f(x), k), or CE(f(x), t), + lambda1 mean_j max((z_j - z0_j)^2 - eps_z^2, 0) + lambda2 CE(c(g(z, y)), y), summed
    /// over images and divided by the size of a full batch.
    fn loss(&self, scores: &Tensor, read: &Tensor, labels: &Tensor, z: &Tensor, start: &Tensor) -> Result<Tensor> {
        let how = self.how;
        let log = scores.f_log_softmax(1, None)?;
        let wrong = match self.wanted.target {
            Some(target) => log.f_select(1, target)?,
            None => log.f_scatter_value(1, &labels.f_unsqueeze(1)?, f64::NEG_INFINITY)?.f_amax([1], false)?,
        };
        let kind = wrong.kind();
        let moved = z.f_sub(start)?.f_square()?.f_sub_scalar(how.latent_radius.powi(2))?.f_clamp_min(0.0)?;
        let moved = moved.f_mean_dim([1i64].as_slice(), false, kind)?.f_sum(kind)?;
        let kept = read.f_cross_entropy_loss(labels, None::<&Tensor>, Reduction::Sum, -100, 0.0)?;
        let loss = moved.f_mul_scalar(how.latent_weight)?.f_add(&kept.f_mul_scalar(how.label_weight)?)?;
        Ok(loss.f_sub(&wrong.f_sum(kind)?)?.f_div_scalar(BATCH as f64)?)
    }
}

#[cfg(test)]
mod tests {
    /// Neelakantan et al. 2015 with eta = 0.01 and gamma = 0.55, by hand.
    #[test]
    fn noise_fades_as_the_authors_have_it() {
        for (t, variance) in [(0, 0.01), (9, 0.002_818_382_9), (99, 0.000_794_328_2)] {
            assert!((super::noise_variance(t) - variance).abs() < 1e-9);
        }
    }
}
