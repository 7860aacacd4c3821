//! The layers that networks are made of, one file each: how a layer is written down, what comes out of it, its tensors, what it
//! does with them, and what the crops of one canvas can share of it. Meanings and defaults are PyTorch's (`torch.nn`).

mod adaptive_avg_pool;
mod add;
mod attention;
mod avg_pool;
mod batch_norm;
mod class_token;
mod concat;
mod conv;
mod conv_transpose;
mod convolution;
mod dropout;
mod first_token;
mod flatten;
mod gate;
mod gelu;
mod layer_norm;
mod layer_scale;
mod leaky_relu;
mod linear;
mod max_pool;
mod normalize;
mod pad;
mod patches;
mod pixel_linear;
mod pixel_norm;
mod positions;
pub mod rectified;
mod relu;
mod relu6;
mod reshape;
mod residual;
mod resize;
mod same_pad;
mod separable;
pub mod sequence;
mod sigmoid;
mod silu;
mod stochastic_depth;
mod subsample;
mod tanh;
mod tried_kernel;
mod upsample;

pub mod cast;
pub mod fold;
mod folded_norm;
mod shape;
mod site;
mod step;
mod text;

use std::rc::Rc;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

pub use attention::Names;
pub use avg_pool::AvgPool;
pub use conv::Conv;
pub use conv_transpose::ConvTranspose;
pub use linear::Linear;
pub use max_pool::MaxPool;
pub use shape::Shape;
pub use site::Site;
pub use step::{Branch, Mode, Node, Sharing};

use crate::core::{Digest, Object, Result};
use text::{Word, Written};

/// Lists every kind of layer by the word that its JSON begins with.
macro_rules! kinds {
    ($($word:literal => $kind:ty,)*) => {
        $(impl Word for $kind {
            const WORD: &'static str = $word;
        })*

        const WORDS: &[&str] = &[$($word),*];

        /// A layer of the kind that a word stands for, from its parameters.
        fn read<'de, A: SeqAccess<'de>>(word: &str, parameters: A) -> std::result::Result<Layer, A::Error> {
            let parameters = SeqAccessDeserializer::new(parameters);
            match word {
                $($word => <$kind>::deserialize(parameters).map(Layer::from),)*
                other => Err(A::Error::unknown_variant(other, WORDS)),
            }
        }
    };
}

kinds! {
    "adaptive_avg_pool" => adaptive_avg_pool::AdaptiveAvgPool,
    "add" => add::Add,
    "attention" => attention::Attention,
    "avg_pool" => avg_pool::AvgPool,
    "batch_norm" => batch_norm::BatchNorm,
    "class_token" => class_token::ClassToken,
    "concat" => concat::Concat,
    "conv" => conv::Conv,
    "conv_transpose" => conv_transpose::ConvTranspose,
    "dropout" => dropout::Dropout,
    "first_token" => first_token::FirstToken,
    "flatten" => flatten::Flatten,
    "gate" => gate::Gate,
    "gelu" => gelu::Gelu,
    "layer_norm" => layer_norm::LayerNorm,
    "layer_scale" => layer_scale::LayerScale,
    "leaky_relu" => leaky_relu::LeakyRelu,
    "linear" => linear::Linear,
    "max_pool" => max_pool::MaxPool,
    "normalize" => normalize::Normalize,
    "pad" => pad::Pad,
    "patches" => patches::Patches,
    "pixel_linear" => pixel_linear::PixelLinear,
    "pixel_norm" => pixel_norm::PixelNorm,
    "positions" => positions::Positions,
    "relu" => relu::Relu,
    "relu6" => relu6::Relu6,
    "reshape" => reshape::Reshape,
    "residual" => residual::Residual,
    "resize" => resize::Resize,
    "same_pad" => same_pad::SamePad,
    "sequence" => sequence::Sequence,
    "sigmoid" => sigmoid::Sigmoid,
    "silu" => silu::Silu,
    "stochastic_depth" => stochastic_depth::StochasticDepth,
    "subsample" => subsample::Subsample,
    "tanh" => tanh::Tanh,
    "upsample" => upsample::Upsample,
}

/// A part of a container. One named `""` adds nothing to the names of the tensors inside.
pub type Part = (String, Layer);

/// A kind of layer as it is written down, without tensors.
pub trait Kind: Written + 'static {
    /// As a script writes it: `net::conv(32, 3, #{ pad: 1 })`.
    fn script(&self) -> String;

    /// What stands for it in the digests of networks, which must not change when the way of writing does.
    fn identity(&self) -> String {
        self.script()
    }

    /// The names of its own tensors, in order; `""` is called as the layer itself.
    fn tensors(&self) -> Vec<&'static str> {
        vec![]
    }

    /// The layers inside.
    fn parts(&self) -> Vec<&Part> {
        vec![]
    }

    /// The layer with its tensors, and what comes out when `shape` goes in.
    fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)>;

    fn is_batch_norm(&self) -> bool {
        false
    }

    /// Whether what goes in is the features that scores are made of.
    fn is_linear(&self) -> bool {
        false
    }

    /// The parts, if they just follow one another.
    fn sequence(&self) -> Option<&[Part]> {
        None
    }
}

/// A layer, or a network as a tree of layers: what a script writes down and what the zoo builds. A description only;
/// [`super::Module`] adds the tensors.
#[derive(Clone)]
pub struct Layer(Rc<dyn Kind>);

impl<K: Kind> From<K> for Layer {
    fn from(kind: K) -> Self {
        Self(Rc::new(kind))
    }
}

impl Serialize for Layer {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Layer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_seq(LayerVisitor)
    }
}

struct LayerVisitor;

impl<'de> Visitor<'de> for LayerVisitor {
    type Value = Layer;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a layer: its word and its parameters")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut layer: A) -> std::result::Result<Layer, A::Error> {
        let word: String = layer.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        read(&word, layer)
    }
}

impl PartialEq for Layer {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.script())
    }
}

/// The name of a part inside a container.
pub fn join(prefix: &str, name: &str) -> String {
    match (prefix, name) {
        ("", name) => name.into(),
        (prefix, "") => prefix.into(),
        (prefix, name) => format!("{prefix}.{name}"),
    }
}

/// Parts with names of their own.
pub fn own<'a>(parts: impl IntoIterator<Item = (&'a str, Layer)>) -> Vec<Part> {
    parts.into_iter().map(|(name, layer)| (name.to_string(), layer)).collect()
}

impl Layer {
    /// As a script writes it, which can be pasted back.
    pub fn script(&self) -> String {
        self.0.script()
    }

    /// What stands for it in digests.
    pub fn identity(&self) -> String {
        self.0.identity()
    }

    /// The description as JSON, which [`Layer::from_json`] reads: kept in saved models, so that they can be loaded by name.
    pub fn to_json(&self) -> Json {
        self.0.json()
    }

    pub fn from_json(json: &Json) -> Option<Self> {
        Self::deserialize(json).ok()
    }

    /// The words that the JSON of layers begins with, one for every kind.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().copied()
    }

    /// The layer with its tensors, and what comes out when `shape` goes in.
    pub fn build(&self, site: &mut Site, shape: Shape) -> Result<(Node, Shape)> {
        self.0.build(site, shape)
    }

    /// The parts, if they just follow one another.
    pub fn as_sequence(&self) -> Option<&[Part]> {
        self.0.sequence()
    }

    /// The layers but for the last one, if that is linear, and its name.
    pub fn without_last(&self) -> Option<(Self, String)> {
        let (rest, last) = self.as_sequence()?.split_at_checked(self.as_sequence()?.len().checked_sub(1)?)?;
        let mut rest = rest.to_vec();
        let [(name, last)] = last else { return None };
        let last = match last.0.is_linear() {
            true => name.clone(),
            false => {
                let (inner, last) = last.without_last()?;
                rest.push((name.clone(), inner));
                join(name, &last)
            }
        };
        Some((Self::of_parts(rest), last))
    }

    /// The names of the tensors that a network of this description has, in order.
    pub fn tensor_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.collect_names("", &mut names);
        names
    }

    fn collect_names(&self, prefix: &str, names: &mut Vec<String>) {
        names.extend(self.0.tensors().iter().map(|part| join(prefix, part)));
        self.0.parts().iter().for_each(|(name, layer)| layer.collect_names(&join(prefix, name), names));
    }

    pub fn has_batch_norm(&self) -> bool {
        self.0.is_batch_norm() || self.0.parts().iter().any(|(_, layer)| layer.has_batch_norm())
    }
}

impl Object for Layer {
    fn kind(&self) -> &'static str {
        "Layer"
    }

    fn summary(&self) -> String {
        self.script()
    }

    fn digest(&self) -> Digest {
        Digest::of(self.identity().as_bytes())
    }

    fn json(&self) -> Json {
        self.to_json()
    }
}
