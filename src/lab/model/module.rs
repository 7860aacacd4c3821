//! A network with its tensors: built from a description by one walk that either initialises or loads them, run forward for
//! training or frozen for evaluation, and visited by name.

use tch::Device;

use super::layer::{Layer, Mode, Node, Shape, Sharing, Site, join};
use super::memory_format::channels_last;
use super::supply::{Fresh, Loaded, Supply, UnitNorm, check_names};
use super::weights::Weights;
use crate::core::{Digest, Error, Result, Tensor, copied, on_device};

/// How the weights of a fresh network are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// As PyTorch does it.
    #[default]
    Pytorch,
    /// Every convolution filter, and every linear layer's matrix, of length 1.
    UnitNorm,
}

impl Start {
    /// How digests know it, which stays when it gets a better name.
    pub fn identity(self) -> &'static str {
        match self {
            Self::Pytorch => "Pytorch",
            Self::UnitNorm => "UnitNorm",
        }
    }
}

/// A network: its description, its tensors by PyTorch's names, and how to run it forward.
pub struct Module {
    pub layers: Layer,
    pub(super) root: Node,
    /// `[C, H, W]`, as far as it is known.
    pub input: Option<[i64; 3]>,
    /// Channels of the input, where the first layer tells.
    pub channels: Option<i64>,
    /// Numbers that a classifier gives per image; 0 where other things come out.
    pub classes: i64,
    /// Kernels lie channels-last, and so must images.
    pub(super) channels_last: bool,
    /// The root for evaluations without gradients, where a GPU has fewer kernels for them.
    pub(super) fused: Option<Node>,
}

impl Module {
    /// A classifier with tensors from `supply`, which must be known to fit `input` or else tell its sizes themselves.
    pub fn build(layers: &Layer, input: Option<[i64; 3]>, device: Device, supply: &mut dyn Supply) -> Result<Self> {
        let (module, after) = Self::assemble(layers, "", input.map_or(Shape::UNKNOWN, Shape::image), device, supply)?;
        let Shape::Flat(Some(classes)) = after else {
            return Err(Error::model(format!(
                "the last layer must give one number per class, not {}",
                after.describe()
            ))
            .hint("end with net::flatten(), net::linear(classes)"));
        };
        Ok(Self { input, classes, ..module })
    }

    /// Layers that give anything, whose tensors are called as if they lay inside `prefix`, and what comes out of them.
    pub fn assemble(
        layers: &Layer,
        prefix: &str,
        input: Shape,
        device: Device,
        supply: &mut dyn Supply,
    ) -> Result<(Self, Shape)> {
        let mut names = layers.tensor_names();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = &pair[0];
            return Err(Error::model(format!("two layers have a tensor called {name}"))
                .hint("give one of them another name: [\"name\", layer]"));
        }
        let channels = if let Shape::Image { channels, .. } = input { channels } else { None };
        let mut site = Site::new(supply, device, channels, prefix);
        let (root, after) = layers.build(&mut site, input)?;
        let channels = site.channels;
        Ok((
            Self { layers: layers.clone(), root, input: None, channels, classes: 0, channels_last: false, fused: None },
            after,
        ))
    }

    /// Fresh tensors as PyTorch initialises them, the same ones for the same seed on every device.
    pub fn fresh(layers: &Layer, input: [i64; 3], seed: u64, device: Device) -> Result<Self> {
        Self::drawn(layers, input, seed, device, Start::Pytorch)
    }

    /// Fresh tensors, the same ones for the same seed on every device.
    pub fn drawn(layers: &Layer, input: [i64; 3], seed: u64, device: Device, start: Start) -> Result<Self> {
        let mut supply: Box<dyn Supply> = match start {
            Start::Pytorch => Box::new(Fresh { device }),
            Start::UnitNorm => Box::new(UnitNorm { device }),
        };
        crate::core::with_stream(seed, INIT, || Self::build(layers, Some(input), device, &mut *supply))
    }

    /// Tensors of a file, already renamed.
    pub fn load(layers: &Layer, input: Option<[i64; 3]>, weights: Weights, device: Device) -> Result<Self> {
        check_names(layers, &weights)?;
        Self::build(layers, input, device, &mut Loaded::new(weights, device))
    }

    /// The same network on tensors of its own.
    pub fn copy(&self) -> Result<Self> {
        self.copy_on(self.device())
    }

    /// Where its tensors lie; one without any lies anywhere.
    pub fn device(&self) -> Device {
        self.state().first().map_or(Device::Cpu, |(_, tensor)| tensor.device())
    }

    /// The same network on tensors of its own, on a device.
    pub fn copy_on(&self, device: Device) -> Result<Self> {
        let mut weights = Weights::new();
        for (name, tensor) in self.state() {
            weights.insert(name, on_device(&copied(&tensor)?, device)?);
        }
        Self::build(&self.layers, self.input, device, &mut Loaded::new(weights, device))
    }

    /// The network without its last layer, which must be linear: what it gives is flat numbers.
    pub fn without_last(&self) -> Result<Self> {
        let none = || {
            Error::model("the last layer is not linear, or the only one, so there are no features before it")
                .hint("model::from(|x| ..) makes a model of any features")
        };
        let (layers, last) = self.layers.without_last().ok_or_else(none)?;
        let (mut weights, mut device) = (Weights::new(), Device::Cpu);
        for (name, tensor) in self.state() {
            device = tensor.device();
            weights.insert(name, tensor);
        }
        let classes = weights.get(&join(&last, "weight")).map(|weight| weight.size()[1]).ok_or_else(none)?;
        let shape = self.input.map_or(Shape::UNKNOWN, Shape::image);
        let (module, after) = Self::assemble(&layers, "", shape, device, &mut Loaded::new(weights, device))?;
        match after {
            Shape::Flat(_) => Ok(Self { input: self.input, classes, ..module }),
            _ => Err(none()),
        }
    }

    /// Scores of images. In training mode gradients flow to the parameters and batch norm updates its statistics.
    pub fn forward(&self, images: &Tensor, mode: Mode) -> Result<Tensor> {
        let root = self.fused.as_ref().filter(|_| !images.requires_grad()).unwrap_or(&self.root);
        if self.channels_last && images.dim() == 4 {
            return root.forward(&channels_last(images)?, mode);
        }
        root.forward(images, mode)
    }

    /// What goes into the last activation function at the top, in evaluation; `None` without one, or with weights after it.
    pub fn before_activation(&self, x: &Tensor) -> Result<Option<Tensor>> {
        let steps = steps(&self.root);
        let Some(at) = activation(&steps) else { return Ok(None) };
        let x = if self.channels_last && x.dim() == 4 { channels_last(x)? } else { x.shallow_clone() };
        steps[..at].iter().try_fold(x, |x, node| node.forward(&x, Mode::Evaluate)).map(Some)
    }

    /// The last activation function at the top, and what comes after it; `x` may be overwritten.
    pub fn activate(&self, x: &Tensor) -> Result<Tensor> {
        let steps = steps(&self.root);
        let at = activation(&steps).ok_or_else(|| Error::internal("layers without an activation function"))?;
        steps[at..].iter().try_fold(x.shallow_clone(), |x, node| node.forward(&x, Mode::Evaluate))
    }

    /// Every tensor of the state dict by its PyTorch name, and whether training changes it by gradients.
    pub fn visit(&self, see: &mut dyn FnMut(String, &Tensor, bool)) {
        self.root.visit("", see);
    }

    /// The state dict.
    pub fn state(&self) -> Vec<(String, Tensor)> {
        let mut state = Vec::new();
        self.visit(&mut |name, tensor, _| state.push((name, tensor.shallow_clone())));
        state
    }

    /// The parameters that an optimiser changes.
    pub fn parameters(&self) -> Vec<Tensor> {
        self.tensors(true)
    }

    /// What a forward pass in training changes: the statistics of batch norm.
    pub fn statistics(&self) -> Vec<Tensor> {
        self.tensors(false)
    }

    /// Those that gradients change, or the others.
    fn tensors(&self, learning: bool) -> Vec<Tensor> {
        let mut tensors = Vec::new();
        self.visit(&mut |_, tensor, learns| tensors.extend((learns == learning).then(|| tensor.shallow_clone())));
        tensors
    }

    /// The sizes of all tensors, in order.
    pub fn sizes(&self) -> Vec<Vec<i64>> {
        let mut sizes = Vec::new();
        self.visit(&mut |_, tensor, _| sizes.push(tensor.size()));
        sizes
    }

    pub fn parameter_count(&self) -> usize {
        self.parameters().iter().map(Tensor::numel).sum()
    }

    /// Asks for gradients of the parameters, or for none.
    pub fn set_trainable(&self, trainable: bool) -> Result<()> {
        for tensor in self.parameters() {
            let _ = tensor.f_set_requires_grad(trainable)?;
        }
        Ok(())
    }

    /// The identity of the network: its layers and tensors, whatever file they came from.
    pub fn digest(&self) -> Result<Digest> {
        let mut parts = vec![Digest::of(self.layers.identity().as_bytes())];
        for (name, tensor) in self.state() {
            parts.push(Digest::of(name.as_bytes()));
            parts.push(Digest::of_tensor(&tensor)?);
        }
        Ok(Digest::of_parts(&parts.iter().map(|d| &d.0[..]).collect::<Vec<_>>()))
    }
}

/// The place of the last activation function, if nothing that learns comes after it.
fn activation(steps: &[&Node]) -> Option<usize> {
    let at = steps.iter().rposition(|node| node.activates())?;
    steps[at + 1..].iter().all(|node| !node.weighs()).then_some(at)
}

/// Part of the stream that initialises networks; steps of training use the small parts.
const INIT: u64 = 1 << 62;

/// The steps that follow one another at the top of a node.
pub fn steps(node: &Node) -> Vec<&Node> {
    match node.sharing() {
        Sharing::Sequence(parts) => parts.iter().flat_map(|(_, node)| steps(node)).collect(),
        _ => vec![node],
    }
}
