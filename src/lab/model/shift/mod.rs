//! Sharing between the crops of one canvas. Crops that lie a few pixels apart have most of what a convolutional network
//! computes in its first layers in common; here every value of these layers is computed once, as the same sum over the same
//! numbers as in a crop of its own.

mod axis;
mod course;
mod pieces;

use tch::Device;

use super::Model;
use super::layer::{Branch, Mode, Node, Sharing};
use super::memory_format::channels_last;
use super::module::{Module, steps};
use crate::core::{Error, Result, Tensor};
use axis::CropAxis;
use course::Course;
use pieces::Pieces;

pub use axis::Window;
pub use pieces::Sliding;

/// How the crops of a canvas go through a network: together up to a cut, one by one after it.
pub struct ShiftPlan<'a> {
    model: &'a Model,
    module: &'a Module,
    /// Height and width of a crop.
    crop: [i64; 2],
    channels: i64,
    /// How many of the network's steps are shared.
    cut: usize,
    /// Pixels between two positions of the map at the cut.
    stride: i64,
}

/// What the crops of one canvas have in common.
pub struct Shared(Pieces);

/// What it takes to start the calls of a shared step, in multiplications with addition: about a millisecond.
const STEP: f64 = 1e8;

impl Model {
    /// How `crops` crops along y and x, one pixel apart and of height and width `crop`, best share what the network computes;
    /// `None` where that saves nothing.
    pub fn shift_plan(&self, crop: [i64; 2], crops: [i64; 2]) -> Option<ShiftPlan<'_>> {
        // On a GPU, which takes whole crops in batches, it costs time: an H100 took 0.45 (resnet50) to 0.79 (VGG16) times as many a second.
        let module =
            self.network.frozen().filter(|module| module.channels_last && module.lies_on().0 == Device::Cpu)?;
        let channels = module.channels?;
        let steps = steps(&module.root);
        let mut best: Option<(f64, ShiftPlan)> = None;
        let mut stride = 1;
        for cut in 1..=steps.len() {
            stride *= stride_of(steps[cut - 1]);
            let plan = ShiftPlan { model: self, module, crop, channels, cut, stride };
            let Some(course) = plan.course(crops) else { break };
            // What changes its input goes with what made it.
            if steps.get(cut).is_some_and(|step| step.overwrites()) {
                continue;
            }
            let saving = course.plain * (crops[0] * crops[1]) as f64 - course.shared - STEP * cut as f64;
            if saving > best.as_ref().map_or(0.0, |(saving, _)| *saving) {
                best = Some((saving, plan));
            }
        }
        best.map(|(_, plan)| plan)
    }
}

impl ShiftPlan<'_> {
    fn course(&self, crops: [i64; 2]) -> Option<Course> {
        let mut course = Course::of_pixels(self.crop, crops, self.channels, self.stride);
        steps(&self.module.root)[..self.cut].iter().try_for_each(|step| course.through(step))?;
        Some(course)
    }

    /// Whether it pays to share when `wanted` of so many crops along y and x will be asked for.
    pub fn pays(&self, crops: [i64; 2], wanted: usize) -> bool {
        self.course(crops).is_some_and(|course| course.plain * wanted as f64 > course.shared + STEP * self.cut as f64)
    }

    /// What `crops` crops along y and x of `canvas` (`1 x C x H x W` in [0, 1]) share, the first of which begins at `first`.
    pub fn share(&self, canvas: &Tensor, first: [i64; 2], crops: [i64; 2]) -> Result<Shared> {
        let [y, x] = [0, 1].map(|i| CropAxis::of_pixels(self.crop[i], crops[i], self.stride));
        let mut pieces = Pieces::of_canvas(&self.model.normalise(canvas)?, first, y, x)?;
        for step in &steps(&self.module.root)[..self.cut] {
            pieces = through(step, &pieces)?;
        }
        Ok(Shared(pieces))
    }

    /// The maps of single crops at the cut, by their numbers along y and x.
    pub fn crops(&self, shared: &Shared, crops: &[[i64; 2]]) -> Result<Tensor> {
        shared.0.crops(crops)
    }

    /// As `crops`, of images `N x C x H x W` in [0, 1] that share nothing.
    pub fn maps(&self, images: &Tensor) -> Result<Tensor> {
        run(&steps(&self.module.root)[..self.cut], &channels_last(&self.model.normalise(images)?)?)
    }

    /// Scores `N x K` of maps at the cut.
    pub fn scores(&self, maps: &Tensor) -> Result<Tensor> {
        run(&steps(&self.module.root)[self.cut..], maps)
    }
}

fn run(steps: &[&Node], x: &Tensor) -> Result<Tensor> {
    steps.iter().try_fold(x.shallow_clone(), |x, step| step.forward(&x, Mode::Evaluate))
}

/// By how much a node thins out positions.
fn stride_of(node: &Node) -> i64 {
    let row = |parts: Branch| parts.iter().map(|(_, node)| stride_of(node)).product();
    match node.sharing() {
        Sharing::Nothing | Sharing::Point(_) => 1,
        Sharing::Sequence(parts) => row(parts),
        Sharing::Sum(branches) | Sharing::Concat(branches) => branches.first().map_or(1, |parts| row(parts)),
        Sharing::Window(sliding, _) => sliding.window.stride,
    }
}

fn through(node: &Node, pieces: &Pieces) -> Result<Pieces> {
    let row = |parts: &Branch| parts.iter().try_fold(pieces.clone(), |map, (_, node)| through(node, &map));
    let level = |branches: &[Branch]| -> Result<Vec<Pieces>> {
        Pieces::level(&branches.iter().map(row).collect::<Result<Vec<_>>>()?)
    };
    match node.sharing() {
        Sharing::Nothing => Err(Error::internal("a step that crops can't share")),
        Sharing::Sequence(parts) => row(&parts),
        Sharing::Sum(branches) => {
            let sum = |a: Pieces, b: &Pieces| a.zip(b, &|a, b| Ok(a.f_add(b)?));
            match &level(&branches)?[..] {
                [first, rest @ ..] => rest.iter().try_fold(first.clone(), sum),
                [] => Err(Error::internal("a sum of no branches")),
            }
        }
        Sharing::Concat(branches) => Pieces::concat(&level(&branches)?),
        Sharing::Point(_) => pieces.map(&|x| node.forward(x, Mode::Evaluate)),
        Sharing::Window(sliding, _) => pieces.slide(sliding, &|x| node.unpadded(x)),
    }
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;
    use crate::model::{AvgPool, Conv, Layer, MaxPool, zoo};

    fn conv(out: i64, size: i64, stride: i64, pad: i64, dilation: i64, groups: i64) -> Layer {
        Conv { out, size, stride, pad, dilation, groups, bias: true }.into()
    }

    fn named(layers: impl IntoIterator<Item = Layer>) -> Vec<(String, Layer)> {
        layers.into_iter().enumerate().map(|(i, layer)| (i.to_string(), layer)).collect()
    }

    /// Networks for crops of 32 x 36 pixels, with every kind of step that crops can share.
    fn networks() -> Result<Vec<Layer>> {
        let pool = |size, stride, pad, ceil| MaxPool { size, stride, pad, ceil }.into();
        let end = || [Layer::flatten(), Layer::linear(5)];
        let plain = [
            conv(8, 5, 1, 2, 1, 1),
            Layer::batch_norm(),
            Layer::relu(),
            pool(3, 2, 1, false),
            conv(8, 3, 1, 2, 2, 4),
            Layer::leaky_relu(0.1),
            AvgPool { size: 3, stride: 2, pad: 1, ceil: false }.into(),
            conv(6, 1, 1, 1, 1, 1),
            pool(3, 2, 0, true),
        ];
        let smooth = [
            conv(8, 3, 2, 1, 1, 1),
            Layer::relu6(),
            conv(8, 3, 1, 1, 1, 8),
            Layer::silu(),
            Layer::stochastic_depth(0.2),
            conv(8, 3, 1, 1, 1, 1),
            Layer::tanh(),
            conv(8, 1, 1, 0, 1, 1),
            Layer::sigmoid(),
        ];
        let block = [
            conv(8, 7, 1, 3, 1, 8),
            Layer::layer_norm(1e-6),
            Layer::pixel_linear(16),
            Layer::gelu(),
            Layer::pixel_linear(8),
            Layer::layer_scale(0.1),
        ];
        let branches = [Layer::sequence([conv(8, 3, 1, 1, 1, 1)]), Layer::sequence([conv(8, 5, 1, 2, 1, 1)])];
        let newer = [
            conv(8, 4, 4, 0, 1, 1),
            Layer::layer_norm(1e-6),
            Layer::residual(named(block), vec![]),
            Layer::add(named(branches)),
        ];
        let branched = [
            Layer::normalize(vec![0.5], vec![0.25]),
            conv(8, 3, 2, 0, 1, 1),
            Layer::concat(vec![
                ("a".into(), Layer::sequence([conv(4, 1, 1, 0, 1, 1), Layer::relu()])),
                ("b".into(), Layer::sequence([conv(4, 3, 1, 1, 1, 1), Layer::relu()])),
            ]),
            Layer::residual(named([conv(8, 3, 1, 1, 1, 1), Layer::relu(), conv(8, 3, 1, 1, 1, 1)]), vec![]),
            Layer::relu(),
            Layer::dropout(0.5),
            Layer::residual(
                named([conv(12, 3, 2, 1, 1, 1), Layer::batch_norm(), Layer::relu(), conv(12, 3, 1, 1, 1, 1)]),
                vec![("s".into(), Layer::sequence([conv(12, 1, 2, 0, 1, 1), Layer::batch_norm()]))],
            ),
            Layer::relu(),
        ];
        let resnet = zoo::find("cifar_resnet20")?;
        Ok(vec![
            Layer::sequence(plain.into_iter().chain(end())),
            Layer::sequence(smooth.into_iter().chain(end())),
            Layer::sequence(newer.into_iter().chain(end())),
            Layer::sequence(branched.into_iter().chain(end())),
            (resnet.layers)(5),
        ])
    }

    /// Every value is the same sum, so that maps agree to the bit wherever the kernels add up in one order, and to rounding
    /// anywhere.
    #[test]
    fn crops_that_share_have_the_maps_they_would_have_alone() -> Result<()> {
        let draw =
            |shape: [i64; 4]| crate::core::with_stream(3, 1, || Tensor::f_rand(shape, (Kind::Float, Device::Cpu)));
        let (crop, crops, first) = ([32, 36], [7, 5], [2, 1]);
        let canvas = draw([1, 3, 32 + 9, 36 + 6])?;
        let numbers: Vec<[i64; 2]> = (0..crops[0]).flat_map(|y| (0..crops[1]).map(move |x| [y, x])).collect();
        let mut cuts = 0;
        for (i, layers) in networks()?.iter().enumerate() {
            let module = Module::fresh(layers, [3, crop[0], crop[1]], 5, Device::Cpu)?;
            let model = Model::of_module("toy", module)?.with_normalisation(&[0.4], &[0.3], Device::Cpu)?;
            let module = model.network.frozen().ok_or_else(|| Error::internal("layers"))?;
            let images: Vec<Tensor> = numbers
                .iter()
                .map(|[y, x]| Ok(canvas.f_narrow(2, first[0] + y, crop[0])?.f_narrow(3, first[1] + x, crop[1])?))
                .collect::<Result<_>>()?;
            let images = Tensor::f_cat(&images, 0)?;
            let alone = model.logits(&images)?;
            let steps = steps(&module.root);
            let mut stride = 1;
            for cut in 1..=steps.len() {
                stride *= stride_of(steps[cut - 1]);
                let plan = ShiftPlan { model: &model, module, crop, channels: 3, cut, stride };
                if plan.course(crops).is_none() {
                    break;
                }
                cuts += 1;
                let shared = plan.share(&canvas, first, crops)?;
                let (maps, own) = (plan.crops(&shared, &numbers)?, plan.maps(&images)?);
                assert_eq!(maps.size(), own.size(), "network {i}, cut {cut}");
                let apart = maps.f_sub(&own)?.f_abs()?.f_max()?.f_double_value(&[])?;
                assert!(apart < 1e-5, "network {i}, cut {cut}: maps differ by {apart}");
                let apart = plan.scores(&maps)?.f_sub(&alone)?.f_abs()?.f_max()?.f_double_value(&[])?;
                assert!(apart < 1e-5, "network {i}, cut {cut}: scores differ by {apart}");
            }
        }
        assert!(cuts > 20, "only {cuts} cuts were looked at");
        Ok(())
    }

    #[test]
    fn sharing_pays_for_large_crops_and_many_of_them() -> Result<()> {
        let plan = |crop: i64, crops: i64| -> Result<bool> {
            let layers = Layer::sequence([
                conv(64, 3, 2, 0, 1, 1),
                Layer::relu(),
                Layer::max_pool(3, 2),
                Layer::flatten(),
                Layer::linear(2),
            ]);
            let model = Model::of_module("toy", Module::fresh(&layers, [3, crop, crop], 0, Device::Cpu)?)?;
            Ok(model.shift_plan([crop, crop], [crops, crops]).is_some())
        };
        assert!(plan(224, 11)? && !plan(224, 1)? && !plan(16, 3)?);
        Ok(())
    }

    #[test]
    fn tokens_are_not_shared() -> Result<()> {
        let tokens = Layer::sequence([Layer::patches(64, 16), Layer::first_token(), Layer::linear(2)]);
        let plan = |before: Vec<Layer>| -> Result<Option<usize>> {
            let layers = Layer::sequence(before.into_iter().chain([tokens.clone()]));
            let model = Model::of_module("toy", Module::fresh(&layers, [3, 224, 224], 0, Device::Cpu)?)?;
            Ok(model.shift_plan([224, 224], [11, 11]).map(|plan| plan.cut))
        };
        assert_eq!(plan(vec![])?, None);
        assert_eq!(plan(vec![conv(64, 3, 1, 1, 1, 1), Layer::gelu()])?, Some(2));
        Ok(())
    }
}
