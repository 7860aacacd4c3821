//! The activations of a generator while it draws: a_i = g_i(a_{i-1}) + sigma_i p_i at chosen layers i (Dunn's thesis, Section 5.1.3).
//! What stages take of the latent vector beside the activations, such as the conditions of BigGAN's batch norms, is of z + p_0.

use super::{Differentiable, Norm, Space};
use crate::core::{Cautions, Cx, Error, Object, Result, Tensor, on_device};
use crate::data::Dataset;
use crate::generator::{Generator, Site};

/// Points are the p_i of all layers in one row of numbers per image; their size is the Euclidean length of that row.
pub struct Latent {
    generator: Generator,
    /// In ascending order.
    sites: Vec<Site>,
    /// What arrives there for one image.
    shapes: Vec<Vec<i64>>,
    /// sigma_i.
    deviations: Vec<Tensor>,
    within: Option<f64>,
    /// How a script writes it, and how digests know it.
    said: [String; 2],
}

/// How the activations are changed.
#[derive(Debug, Clone)]
pub struct LatentOptions {
    /// 0 is the latent vector, i what stage i gives; ascending, each once.
    pub layers: Vec<usize>,
    pub before_activation: bool,
    /// Samples that sigma is measured on; `None`: sigma is 1.
    pub samples: Option<usize>,
    pub within: Option<f64>,
}

impl Latent {
    pub fn new(cx: &Cx, generator: &Generator, options: &LatentOptions) -> Result<Self> {
        let stages = generator.stages();
        let mut sites = vec![];
        for &layer in &options.layers {
            if layer > stages.len() {
                return Err(Error::argument(format!("{} has no layer {layer}", generator.name)).hint(format!(
                    "layers go from 0, the latent vector, to {}, the image: see g.layers",
                    stages.len()
                )));
            }
            let mut site = Site { layer, before_activation: options.before_activation };
            site.before_activation = generator.splits(site)?;
            sites.push(site);
        }
        if sites.is_empty() {
            return Err(
                Error::argument("`layers` is empty").hint("layers: 0..4 are the latent vector and three stages")
            );
        }
        if sites.windows(2).any(|pair| pair[0].layer >= pair[1].layer) {
            return Err(Error::argument("`layers` must ascend, each once").hint("layers: 0..4, or [1, 3]"));
        }
        if options.before_activation && !sites.iter().any(|site| site.before_activation) {
            return Err(Error::argument("`before_activation`: none of these layers ends in an activation function")
                .hint("leave it out, or choose other layers"));
        }
        let deviations = match options.samples {
            Some(samples) => generator.deviations(cx, &sites, samples)?,
            None => generator
                .deviations(cx, &sites, 2)?
                .iter()
                .map(Tensor::f_ones_like)
                .collect::<std::result::Result<_, _>>()?,
        };
        let shapes = deviations.iter().map(Tensor::size).collect();
        let mut said = vec![format!("layers: {:?}", options.layers)];
        said.extend(options.before_activation.then(|| "before_activation: true".into()));
        said.push(options.samples.map_or("scaled: false".into(), |samples| format!("samples: {samples}")));
        let said = ["radius", "within"].map(|word| {
            let radius = options.within.map(|radius| format!("{word}: {radius:?}"));
            let said: Vec<&str> = said.iter().chain(&radius).map(String::as_str).collect();
            format!("latent({} {}, #{{ {} }})", generator.name, generator.digest().short(), said.join(", "))
        });
        let (generator, within) = (generator.clone(), options.within);
        Ok(Self { generator, sites, shapes, deviations, within, said })
    }

    /// How many numbers a perturbation has.
    pub fn numbers(&self) -> usize {
        self.sizes().iter().sum::<i64>() as usize
    }

    fn sizes(&self) -> Vec<i64> {
        self.shapes.iter().map(|shape| shape.iter().product()).collect()
    }

    /// The length of every row, `N x 1`.
    fn measure(points: &Tensor) -> Result<Tensor> {
        let squares = points.f_square()?.f_sum_dim_intlist([1i64].as_slice(), true, points.kind())?;
        Ok(squares.f_sqrt()?)
    }
}

/// Numbers of a perturbation, one row per image, in the memory order of the activations that they change.
fn laid_out_as(x: &Tensor, rows: &Tensor, shape: &[i64]) -> Result<Tensor> {
    match *shape {
        [c, h, w] if c > 1 && x.stride()[1] == 1 => Ok(rows.f_reshape([-1, h, w, c])?.f_permute([0, 3, 1, 2])?),
        _ => Ok(rows.f_reshape([&[-1], shape].concat())?),
    }
}

impl Space for Latent {
    fn describe(&self) -> String {
        self.said[0].clone()
    }

    fn identity(&self) -> String {
        self.said[1].clone()
    }

    fn unit(&self) -> &'static str {
        "length of the perturbation, in standard deviations of activations"
    }

    fn differentiable(&self) -> Option<&dyn Differentiable> {
        Some(self)
    }

    fn redraws(&self) -> bool {
        self.generator.redraws()
    }

    fn cautions(&self, _at_levels: bool) -> Cautions {
        self.generator.cautions()
    }

    fn check(&self, data: &Dataset) -> Result<()> {
        let name = &self.generator.name;
        let Some(latents) = data.latents(&[]) else {
            return Err(Error::data(format!("{}: nothing says what {name} would draw these images of", data.name))
                .hint(
                    "examine what it drew, as it drew it: g.sample(#{ n: 100 }), without grey(), centre() and the like",
                ));
        };
        if latents.by != self.generator.digest() {
            return Err(Error::data(format!("{} was drawn by another generator than {name}", data.name))
                .hint("draw the images with the generator of the space"));
        }
        Ok(())
    }
}

impl Differentiable for Latent {
    fn norm(&self) -> Norm {
        Norm::L2
    }

    fn within(&self) -> Option<f64> {
        self.within
    }

    /// What arrives at the first layer that is changed, worked out once, the labels, and what the stages need of latent vectors and
    /// labels, where the vectors stay as they are.
    fn base(&self, data: &Dataset, rows: &[usize], images: &Tensor) -> Result<Vec<Tensor>> {
        let of = data.latents(rows).ok_or_else(|| Error::internal("images without latent vectors"))?;
        let device = images.device();
        let latents = Tensor::f_from_slice(&of.values)?.f_reshape([rows.len() as i64, of.width as i64])?;
        let latents = on_device(&latents, device)?.f_to_kind(self.generator.kind())?;
        let labels = on_device(&Tensor::f_from_slice(&of.labels)?, device)?;
        tch::no_grad(|| {
            let mut condition = self.generator.condition(&latents, Some(&labels))?;
            let first = self.sites[0];
            let mut x = latents;
            for layer in 1..first.layer {
                x = self.generator.arrive(Site { layer, before_activation: false }, &x, &condition)?;
                condition = self.generator.after(layer, &x, condition)?;
            }
            if first.layer > 0 {
                x = self.generator.arrive(first, &x, &condition)?;
            }
            let mut base = vec![x, labels];
            // Of changed vectors it is another at every point.
            if first.layer > 0 {
                base.extend(condition);
            }
            Ok(base)
        })
    }

    fn start(&self, base: &[Tensor]) -> Result<Tensor> {
        let rows = super::images(base)?;
        Ok(Tensor::f_zeros([rows.size()[0], self.sizes().iter().sum()], (rows.kind(), rows.device()))?)
    }

    fn stays_in_place(&self) -> bool {
        self.generator.is_of_layers()
    }

    fn draw(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        let [arrived, labels, condition @ ..] = base else {
            return Err(Error::internal("points without activations"));
        };
        let mut condition: Vec<Tensor> = condition.iter().map(Tensor::shallow_clone).collect();
        let parts = points.f_split_with_sizes(self.sizes(), 1)?;
        let mut changes = self.sites.iter().zip(&self.shapes).zip(&self.deviations).zip(&parts).peekable();
        let mut x = arrived.shallow_clone();
        for layer in self.sites[0].layer..=self.generator.stages().len() {
            let change = changes.next_if(|(((site, _), _), _)| site.layer == layer);
            let site = change.map_or(Site { layer, before_activation: false }, |(((site, _), _), _)| *site);
            if layer > self.sites[0].layer {
                x = self.generator.arrive(site, &x, &condition)?;
            }
            if let Some((((_, shape), deviation), part)) = change {
                x = x.f_addcmul(&laid_out_as(&x, part, shape)?, &deviation.f_unsqueeze(0)?)?;
            }
            // A change may lead images out of their range, of whichever layer it is: what is there is no image.
            if layer == self.generator.stages().len() {
                x = x.f_clamp(0.0, 1.0)?;
            }
            x = self.generator.leave(site, x)?;
            condition = match layer {
                0 => self.generator.condition(&x, Some(labels))?,
                _ => self.generator.after(layer, &x, condition)?,
            };
        }
        Ok(x)
    }

    fn keep(&self, _base: &[Tensor], points: &Tensor, radii: Option<&Tensor>) -> Result<Tensor> {
        let Some(radii) = radii else { return Ok(points.shallow_clone()) };
        // Where nothing has changed, the quotient is infinite and cut to 1.
        let shrink = radii.f_reshape([-1, 1])?.f_div(&Self::measure(points)?)?.f_clamp_max(1.0)?;
        Ok(points.f_mul(&shrink)?)
    }

    fn magnitude(&self, _base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        Ok(Self::measure(points)?.f_squeeze_dim(1)?)
    }
}
