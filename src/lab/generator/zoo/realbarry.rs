//! A conditional generator of digits, whose label is a plane beside the maps: github.com/realBarry123/pytorch-conditional-gan.

use std::rc::Rc;

use tch::Device;

use super::{Asked, GeneratorArchitecture, Maker, as_they_are, by_name, nothing};
use crate::core::{Result, Tensor};
use crate::generator::{Condition, Judge, Judgement, Network, NetworkVisitor, Sense, Squash, copies};
use crate::model::{ConvTranspose, Init, Layer, Loaded, Mode, Module, Shape, Supply};

pub static REALBARRY: GeneratorArchitecture = GeneratorArchitecture {
    name: NAME,
    about: "28 x 28 digits, grey, labelled; realBarry123/pytorch-conditional-gan",
    make: Maker::Published { generator, discriminator: Some(discriminator) },
    infer: nothing,
    respell: as_they_are,
};

const NAME: &str = "realbarry";
const LATENT: i64 = 100;
const CLASSES: i64 = 10;

/// A plane of `side x side` numbers for every label.
struct LabelPlane {
    embedding: Tensor,
    embedding_name: &'static str,
    linear: Module,
    side: i64,
}

impl LabelPlane {
    /// `embedding`: the name of its tensor; `linear`: that of the layer behind it.
    fn build(embedding: &'static str, linear: &str, side: i64, supply: &mut Loaded) -> Result<Self> {
        let table = supply.tensor(embedding, &[Some(CLASSES), Some(50)], None, Init::Constant(0.0))?;
        let layers = Layer::named([(linear, Layer::linear(side * side))]);
        let (linear, _) = Module::assemble(&layers, "", Shape::Flat(Some(50)), supply.device, supply)?;
        Ok(Self { embedding: table, embedding_name: embedding, linear, side })
    }

    fn of(&self, labels: &Tensor, mode: Mode) -> Result<Tensor> {
        let rows = self.embedding.f_index_select(0, labels)?;
        Ok(self.linear.forward(&rows, mode)?.f_reshape([-1, 1, self.side, self.side])?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(self.embedding_name.into(), &self.embedding, true);
        self.linear.visit(see);
    }
}

/// Four stages: maps of the latent vector, two transposed convolutions of them and the label's plane, a convolution to pixels.
struct RealBarry {
    maps: Module,
    label: LabelPlane,
    stages: Vec<Module>,
}

/// Maps of the linear layer, in whose numbers channels come last.
fn laid_out(x: &Tensor) -> Result<Tensor> {
    Ok(x.f_reshape([-1, 7, 7, 128])?.f_permute([0, 3, 1, 2])?)
}

fn generator(_: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let device = supply.device;
    let maps = Layer::named([("latent.0", Layer::linear(6272)), ("relu", Layer::relu())]);
    let (maps, _) = Module::assemble(&maps, "", Shape::Flat(Some(LATENT)), device, supply)?;
    let label = LabelPlane::build("label.1.weight", "label.2", 7, supply)?;
    let up = |name: &str| {
        let spread = ConvTranspose { out: 128, size: 3, stride: 2, pad: 1, extra: 1, bias: true }.into();
        Layer::of_parts(vec![(name.into(), spread), ("relu".into(), Layer::relu())])
    };
    let pixels = Layer::named([("upscale.4", Layer::conv(1, 1, 1, 0))]);
    let mut shape = Shape::image([129, 7, 7]);
    let mut stages = vec![];
    for layers in [up("upscale.0"), up("upscale.2"), pixels] {
        let (module, after) = Module::assemble(&layers, "", shape, device, supply)?;
        stages.push(module);
        shape = after;
    }
    Ok(Rc::new(RealBarry { maps, label, stages }))
}

impl Network for RealBarry {
    fn latent(&self) -> i64 {
        LATENT
    }

    fn classes(&self) -> Option<i64> {
        Some(CLASSES)
    }

    fn stages(&self) -> Vec<String> {
        ["maps", "up1", "up2", "pixels", "image"].map(String::from).into()
    }

    fn condition(&self, _: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        labels.map(|labels| self.label.of(labels, Mode::Evaluate)).into_iter().collect()
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, mode: Mode) -> Result<Tensor> {
        match (i, condition.first()) {
            (0, _) => laid_out(&self.maps.forward(x, mode)?),
            (1, Some(label)) => self.stages[0].forward(&Tensor::f_cat(&[x, label], 1)?, mode),
            (2 | 3, _) => self.stages[i - 1].forward(x, mode),
            _ => Squash::Cut.apply(x),
        }
    }

    fn saved_as(&self) -> Option<serde_json::Value> {
        by_name(NAME, &Asked::default())
    }

    fn before_activation(&self, i: usize, x: &Tensor, condition: &Condition) -> Result<Option<Tensor>> {
        match (i, condition.first()) {
            (0, _) => self.maps.before_activation(x)?.map(|x| laid_out(&x)).transpose(),
            (1, Some(label)) => self.stages[0].before_activation(&Tensor::f_cat(&[x, label], 1)?),
            (2, _) => self.stages[1].before_activation(x),
            _ => Ok(None),
        }
    }

    fn activate(&self, _: usize, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_relu()?)
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        generator(&Asked::default(), &mut Loaded::new(tensors, device))
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.maps.visit(see);
        self.label.visit(see);
        self.stages.iter().for_each(|module| module.visit(see));
    }
}

/// The label's plane as a second channel.
struct RealBarryJudge {
    label: LabelPlane,
    judge: Module,
}

fn discriminator(_: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Judge>> {
    let label = LabelPlane::build("label.0.weight", "label.1", 28, supply)?;
    let slope = || Layer::leaky_relu(0.01);
    let layers = Layer::named([
        ("discriminate.0", Layer::conv(64, 3, 2, 1)),
        ("discriminate.1", slope()),
        ("discriminate.2", Layer::conv(128, 3, 2, 1)),
        ("discriminate.3", slope()),
        ("discriminate.4", Layer::max_pool(3, 2)),
        ("discriminate.5", Layer::flatten()),
        ("discriminate.6", Layer::dropout(0.5)),
        ("discriminate.7", Layer::linear(1)),
    ]);
    let (judge, _) = Module::assemble(&layers, "", Shape::image([2, 28, 28]), supply.device, supply)?;
    Ok(Rc::new(RealBarryJudge { label, judge }))
}

impl Judge for RealBarryJudge {
    fn judge(&self, images: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Judgement> {
        let n = images.size()[0];
        let plane = match labels {
            Some(labels) => self.label.of(labels, mode)?,
            None => images.f_new_zeros([n, 1, 28, 28], (images.kind(), images.device()))?,
        };
        let real = self.judge.forward(&Tensor::f_cat(&[images, &plane], 1)?, mode)?;
        Ok(Judgement { real: real.f_reshape([-1])?, classes: None })
    }

    fn sense(&self) -> Sense {
        Sense::LogOdds
    }

    fn saved_as(&self) -> Option<serde_json::Value> {
        by_name(NAME, &Asked::default())
    }

    fn has_batch_norm(&self) -> bool {
        false
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Judge>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        discriminator(&Asked::default(), &mut Loaded::new(tensors, device))
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.label.visit(see);
        self.judge.visit(see);
    }
}
