//! A network as a tree of layers: what a script writes down and what the zoo builds. A description only; [`super::Module`]
//! adds the tensors. Meanings and defaults are PyTorch's (`torch.nn`).

use serde_json::{Value as Json, json};

use crate::core::{Digest, Error, Object, Result};

#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    Conv {
        out: i64,
        size: i64,
        stride: i64,
        pad: i64,
        dilation: i64,
        groups: i64,
        bias: bool,
    },
    /// The way back of a convolution: every pixel is spread by the kernel. `extra` pixels are added at the right and bottom.
    ConvTranspose {
        out: i64,
        size: i64,
        stride: i64,
        pad: i64,
        extra: i64,
        bias: bool,
    },
    Linear {
        out: i64,
        bias: bool,
    },
    BatchNorm {
        eps: f64,
        momentum: f64,
    },
    /// Subtracts `mean` and divides by `std`, one number per channel or one for all.
    Normalize {
        mean: Vec<f64>,
        std: Vec<f64>,
    },
    Relu,
    LeakyRelu {
        slope: f64,
    },
    /// Cut to 0 ... 6.
    Relu6,
    /// `x * sigmoid(x)`, also called swish.
    Silu,
    Sigmoid,
    Tanh,
    MaxPool {
        size: i64,
        stride: i64,
        pad: i64,
        ceil: bool,
    },
    AvgPool {
        size: i64,
        stride: i64,
        pad: i64,
        ceil: bool,
    },
    /// Average pooling to this height and width, whatever comes in.
    AdaptiveAvgPool {
        size: [i64; 2],
    },
    Dropout {
        p: f64,
    },
    /// In training, sets all that comes of an image to 0 with probability `p`, and scales the others up.
    StochasticDepth {
        p: f64,
    },
    Flatten,
    /// Flat numbers as channels of this height and width.
    Reshape {
        size: [i64; 3],
    },
    /// Every pixel repeated so many times in both directions.
    Upsample {
        factor: i64,
    },
    /// Divides every pixel's channels, or flat numbers, by their root mean square (Karras et al. 2018).
    PixelNorm,
    /// Bilinear, `align_corners=False`.
    Resize {
        size: [i64; 2],
    },
    /// Adds a constant: left, right, top, bottom.
    Pad {
        sides: [i64; 4],
        value: f64,
    },
    /// Every `stride`-th pixel, with channels of zeros before and after up to `channels`: the shortcut without parameters
    /// (option A) of He et al. 2016.
    Subsample {
        stride: i64,
        channels: i64,
    },
    /// One after the other. A part named `""` adds nothing to the names of the tensors inside.
    Sequence(Vec<(String, Layer)>),
    /// `body(x) + shortcut(x)`, or `+ x` without a shortcut.
    Residual {
        body: Vec<(String, Layer)>,
        shortcut: Vec<(String, Layer)>,
    },
    /// The channels of every branch, side by side.
    Concat(Vec<(String, Layer)>),
    /// `x` times what the parts give of it, one factor per channel: squeeze and excitation.
    Gate(Vec<(String, Layer)>),
}

/// What flows between layers; sizes are unknown where a network is loaded without saying its input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Image { channels: Option<i64>, height: Option<i64>, width: Option<i64> },
    Flat(Option<i64>),
}

impl Shape {
    pub fn image([c, h, w]: [i64; 3]) -> Self {
        Self::Image { channels: Some(c), height: Some(h), width: Some(w) }
    }

    pub const UNKNOWN: Self = Self::Image { channels: None, height: None, width: None };

    pub fn describe(self) -> String {
        let show = |n: Option<i64>| n.map_or("?".into(), |n| n.to_string());
        match self {
            Self::Image { channels, height, width } => {
                format!("{} x {} x {}", show(channels), show(height), show(width))
            }
            Self::Flat(n) => show(n),
        }
    }
}

/// Images that layers enlarge are at most so wide and high.
const WIDEST: i64 = 1 << 14;

/// The name of a part inside a container.
pub fn join(prefix: &str, name: &str) -> String {
    match (prefix, name) {
        ("", name) => name.into(),
        (prefix, "") => prefix.into(),
        (prefix, name) => format!("{prefix}.{name}"),
    }
}

impl Layer {
    pub fn conv(out: i64, size: i64, stride: i64, pad: i64) -> Self {
        Self::Conv { out, size, stride, pad, dilation: 1, groups: 1, bias: true }
    }

    /// As `conv`, for a batch norm behind it.
    pub fn conv_bare(out: i64, size: i64, stride: i64, pad: i64) -> Self {
        Self::Conv { out, size, stride, pad, dilation: 1, groups: 1, bias: false }
    }

    /// One kernel per channel, for a batch norm behind it.
    pub fn conv_depthwise(channels: i64, size: i64, stride: i64, pad: i64) -> Self {
        Self::Conv { out: channels, size, stride, pad, dilation: 1, groups: channels, bias: false }
    }

    pub fn linear(out: i64) -> Self {
        Self::Linear { out, bias: true }
    }

    pub fn batch_norm() -> Self {
        Self::BatchNorm { eps: 1e-5, momentum: 0.1 }
    }

    pub fn max_pool(size: i64, stride: i64) -> Self {
        Self::MaxPool { size, stride, pad: 0, ceil: false }
    }

    /// Parts named by their position, as in PyTorch's `Sequential`.
    pub fn sequence(layers: impl IntoIterator<Item = Layer>) -> Self {
        Self::Sequence(layers.into_iter().enumerate().map(|(i, layer)| (i.to_string(), layer)).collect())
    }

    pub fn named<'a>(parts: impl IntoIterator<Item = (&'a str, Layer)>) -> Self {
        Self::Sequence(own(parts))
    }

    /// The layers but for the last one, if that is linear, and its name.
    pub fn without_last(&self) -> Option<(Self, String)> {
        let Self::Sequence(parts) = self else { return None };
        let (name, last) = parts.last()?;
        let mut rest = parts[..parts.len() - 1].to_vec();
        let last = match last {
            Self::Linear { .. } => name.clone(),
            Self::Sequence(_) => {
                let (inner, last) = last.without_last()?;
                rest.push((name.clone(), inner));
                join(name, &last)
            }
            _ => return None,
        };
        Some((Self::Sequence(rest), last))
    }

    /// What comes out when `shape` goes in; `at` names the layer in errors. Containers are walked by whoever asks.
    pub fn output(&self, shape: Shape, at: &str) -> Result<Shape> {
        let image = |what: &str| match shape {
            Shape::Image { channels, height, width } => Ok((channels, height, width)),
            Shape::Flat(_) => Err(Error::model(format!("layer {at}: {what} wants images, but its input is flat"))
                .hint("put it before net::flatten()")),
        };
        let slide = |n: Option<i64>, size: i64, stride: i64, pad: i64, ceil: bool, what: &str| match n {
            None => Ok(None),
            Some(n) => window(n, size, stride, pad, ceil).map(Some).ok_or_else(|| {
                Error::model(format!("layer {at}: {what} of size {size} does not fit its input {}", shape.describe()))
                    .hint("make it smaller, or pad")
            }),
        };
        let windows = |what: &str, size: i64, stride: i64, pad: i64, ceil: bool| {
            let (channels, height, width) = image(what)?;
            let (height, width) =
                (slide(height, size, stride, pad, ceil, what)?, slide(width, size, stride, pad, ceil, what)?);
            Ok(Shape::Image { channels, height, width })
        };
        let too_wide = |n: i64| {
            Error::model(format!("layer {at}: images {n} pixels wide are more than memory holds")).hint("enlarge less")
        };
        match self {
            Self::Conv { out, size, stride, pad, dilation, groups, .. } => {
                let (channels, ..) = image("conv")?;
                if channels.is_some_and(|c| c % groups != 0) || out % groups != 0 {
                    return Err(Error::model(format!("layer {at}: {groups} groups do not divide its channels")));
                }
                match windows("conv", dilation * (size - 1) + 1, *stride, *pad, false)? {
                    Shape::Image { height, width, .. } => Ok(Shape::Image { channels: Some(*out), height, width }),
                    flat => Ok(flat),
                }
            }
            Self::ConvTranspose { out, size, stride, pad, extra, .. } => {
                let (_, height, width) = image("conv_transpose")?;
                let spread = |n: Option<i64>| match n.map(|n| (n - 1) * stride - 2 * pad + size + extra) {
                    Some(n) if n > WIDEST => Err(too_wide(n)),
                    Some(n) if n < 1 => Err(Error::model(format!(
                        "layer {at}: conv_transpose of size {size} leaves nothing of its input {}",
                        shape.describe()
                    ))
                    .hint("pad less")),
                    n => Ok(n),
                };
                Ok(Shape::Image { channels: Some(*out), height: spread(height)?, width: spread(width)? })
            }
            Self::Reshape { size: [c, h, w] } => match shape {
                Shape::Flat(Some(n)) if n != c * h * w => Err(Error::model(format!(
                    "layer {at}: reshape to {c} x {h} x {w} wants {} numbers, got {n}",
                    c * h * w
                ))),
                Shape::Flat(_) => Ok(Shape::image([*c, *h, *w])),
                Shape::Image { .. } => Err(Error::model(format!("layer {at}: reshape wants a flat input, got images"))),
            },
            Self::Upsample { factor } => {
                let (channels, height, width) = image("upsample")?;
                let more = |n: Option<i64>| match n.map(|n| n * factor) {
                    Some(n) if n > WIDEST => Err(too_wide(n)),
                    n => Ok(n),
                };
                Ok(Shape::Image { channels, height: more(height)?, width: more(width)? })
            }
            Self::Linear { out, .. } => match shape {
                Shape::Flat(_) => Ok(Shape::Flat(Some(*out))),
                Shape::Image { .. } => Err(Error::model(format!("layer {at}: linear wants a flat input, got images"))
                    .hint("put net::flatten() before it")),
            },
            Self::MaxPool { size, stride, pad, ceil } => windows("max_pool", *size, *stride, *pad, *ceil),
            Self::AvgPool { size, stride, pad, ceil } => windows("avg_pool", *size, *stride, *pad, *ceil),
            Self::AdaptiveAvgPool { size: [h, w] } => {
                image("avg_pool").map(|(channels, ..)| Shape::Image { channels, height: Some(*h), width: Some(*w) })
            }
            Self::Resize { size: [h, w] } => {
                image("resize").map(|(channels, ..)| Shape::Image { channels, height: Some(*h), width: Some(*w) })
            }
            Self::Pad { sides: [left, right, top, bottom], .. } => {
                let (channels, height, width) = image("pad")?;
                let (height, width) = (height.map(|h| h + top + bottom), width.map(|w| w + left + right));
                if height.is_some_and(|h| h < 1) || width.is_some_and(|w| w < 1) {
                    return Err(Error::model(format!(
                        "layer {at}: pad cuts off all of its input {}",
                        shape.describe()
                    )));
                }
                Ok(Shape::Image { channels, height, width })
            }
            Self::Normalize { mean, std } => {
                let (channels, ..) = image("normalize")?;
                if let Some(c) = channels
                    && [mean, std].iter().any(|numbers| numbers.len() != 1 && numbers.len() as i64 != c)
                {
                    return Err(Error::model(format!(
                        "layer {at}: normalize has {} means and {} deviations for {c} channels",
                        mean.len(),
                        std.len()
                    )));
                }
                Ok(shape)
            }
            Self::Subsample { stride, channels } => {
                let (before, height, width) = image("subsample")?;
                if before.is_some_and(|c| c > *channels || (channels - c) % 2 != 0) {
                    return Err(Error::model(format!(
                        "layer {at}: subsample can't pad {} to {channels} channels evenly",
                        shape.describe()
                    )));
                }
                let fewer = |n: Option<i64>| n.map(|n| (n + stride - 1) / stride);
                Ok(Shape::Image { channels: Some(*channels), height: fewer(height), width: fewer(width) })
            }
            Self::Flatten => Ok(Shape::Flat(match shape {
                Shape::Image { channels, height, width } => {
                    channels.zip(height).zip(width).map(|((c, h), w)| c * h * w)
                }
                Shape::Flat(n) => n,
            })),
            _ => Ok(shape),
        }
    }

    /// The names of the tensors that a network of this description has, in order.
    pub fn tensor_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.collect_names("", &mut names);
        names
    }

    fn collect_names(&self, prefix: &str, names: &mut Vec<String>) {
        let mut own = |parts: &[&str]| names.extend(parts.iter().map(|part| join(prefix, part)));
        match self {
            Self::Conv { bias: true, .. }
            | Self::ConvTranspose { bias: true, .. }
            | Self::Linear { bias: true, .. } => {
                own(&["weight", "bias"]);
            }
            Self::Conv { .. } | Self::ConvTranspose { .. } | Self::Linear { .. } => own(&["weight"]),
            Self::BatchNorm { .. } => own(&["weight", "bias", "running_mean", "running_var"]),
            _ => self.parts().for_each(|(name, layer)| layer.collect_names(&join(prefix, name), names)),
        }
    }

    /// The parts of a container.
    fn parts(&self) -> impl Iterator<Item = &(String, Layer)> {
        let (first, second): (&[_], &[_]) = match self {
            Self::Sequence(parts) | Self::Concat(parts) | Self::Gate(parts) => (parts, &[]),
            Self::Residual { body, shortcut } => (body, shortcut),
            _ => (&[], &[]),
        };
        first.iter().chain(second)
    }

    pub fn has_batch_norm(&self) -> bool {
        matches!(self, Self::BatchNorm { .. }) || self.parts().any(|(_, layer)| layer.has_batch_norm())
    }

    /// As a script writes it: `net::conv(32, 3, #{ pad: 1 })`.
    pub fn script(&self) -> String {
        let options = |given: &[(&str, String, bool)]| {
            let said: Vec<String> =
                given.iter().filter(|(.., said)| *said).map(|(name, value, _)| format!("{name}: {value}")).collect();
            if said.is_empty() { String::new() } else { format!(", #{{ {} }}", said.join(", ")) }
        };
        let list = |parts: &[(String, Layer)]| {
            parts.iter().map(|(name, layer)| format!("{name}: {}", layer.script())).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Conv { out, size, stride, pad, dilation, groups, bias } => {
                let more = options(&[
                    ("stride", stride.to_string(), *stride != 1),
                    ("pad", pad.to_string(), *pad != 0),
                    ("dilation", dilation.to_string(), *dilation != 1),
                    ("groups", groups.to_string(), *groups != 1),
                    ("bias", "false".into(), !bias),
                ]);
                format!("net::conv({out}, {size}{more})")
            }
            Self::ConvTranspose { out, size, stride, pad, extra, bias } => {
                let more = options(&[
                    ("stride", stride.to_string(), *stride != 1),
                    ("pad", pad.to_string(), *pad != 0),
                    ("extra", extra.to_string(), *extra != 0),
                    ("bias", "false".into(), !bias),
                ]);
                format!("net::conv_transpose({out}, {size}{more})")
            }
            Self::Reshape { size: [c, h, w] } => format!("net::reshape({c}, {h}, {w})"),
            Self::Upsample { factor } => format!("net::upsample({factor})"),
            Self::PixelNorm => "net::pixel_norm()".into(),
            Self::Linear { out, bias } => format!("net::linear({out}{})", options(&[("bias", "false".into(), !bias)])),
            Self::BatchNorm { eps, momentum } => {
                let given =
                    [("eps", eps.to_string(), *eps != 1e-5), ("momentum", momentum.to_string(), *momentum != 0.1)];
                format!("net::batch_norm({})", options(&given).trim_start_matches(", "))
            }
            Self::Normalize { mean, std } => format!("net::normalize({mean:?}, {std:?})"),
            Self::Relu => "net::relu()".into(),
            Self::LeakyRelu { slope } => format!("net::leaky_relu({slope})"),
            Self::Relu6 => "net::relu6()".into(),
            Self::Silu => "net::silu()".into(),
            Self::Sigmoid => "net::sigmoid()".into(),
            Self::Tanh => "net::tanh()".into(),
            Self::MaxPool { size, stride, pad, ceil } | Self::AvgPool { size, stride, pad, ceil } => {
                let name = if matches!(self, Self::MaxPool { .. }) { "max_pool" } else { "avg_pool" };
                let more = options(&[
                    ("stride", stride.to_string(), stride != size),
                    ("pad", pad.to_string(), *pad != 0),
                    ("ceil", "true".into(), *ceil),
                ]);
                format!("net::{name}({size}{more})")
            }
            Self::AdaptiveAvgPool { size: [1, 1] } => "net::avg_pool()".into(),
            Self::AdaptiveAvgPool { size: [h, w] } => format!("adaptive_avg_pool({h}, {w})"),
            Self::Dropout { p } => format!("net::dropout({p})"),
            Self::StochasticDepth { p } => format!("stochastic_depth({p})"),
            Self::Flatten => "net::flatten()".into(),
            Self::Resize { size: [h, w] } => format!("net::resize({h}, {w})"),
            Self::Pad { sides, value } => {
                format!("net::pad({sides:?}{})", options(&[("value", value.to_string(), *value != 0.0)]))
            }
            Self::Subsample { stride, channels } => format!("subsample({stride}, {channels})"),
            Self::Sequence(parts) => format!("[{}]", list(parts)),
            Self::Residual { body, shortcut } if shortcut.is_empty() => format!("residual[{}]", list(body)),
            Self::Residual { body, shortcut } => format!("residual[{} | {}]", list(body), list(shortcut)),
            Self::Concat(parts) => format!("concat[{}]", list(parts)),
            Self::Gate(parts) => format!("gate[{}]", list(parts)),
        }
    }

    /// The description as JSON, which [`Layer::from_json`] reads: kept in saved models, so that they can be loaded by name.
    pub fn to_json(&self) -> Json {
        let list =
            |parts: &[(String, Layer)]| parts.iter().map(|(name, l)| json!([name, l.to_json()])).collect::<Json>();
        match self {
            Self::Conv { out, size, stride, pad, dilation, groups, bias } => {
                json!(["conv", out, size, stride, pad, dilation, groups, bias])
            }
            Self::Linear { out, bias } => json!(["linear", out, bias]),
            Self::BatchNorm { eps, momentum } => json!(["batch_norm", eps, momentum]),
            Self::Normalize { mean, std } => json!(["normalize", mean, std]),
            Self::ConvTranspose { out, size, stride, pad, extra, bias } => {
                json!(["conv_transpose", out, size, stride, pad, extra, bias])
            }
            Self::Reshape { size: [c, h, w] } => json!(["reshape", c, h, w]),
            Self::Upsample { factor } => json!(["upsample", factor]),
            Self::PixelNorm => json!(["pixel_norm"]),
            Self::Relu => json!(["relu"]),
            Self::LeakyRelu { slope } => json!(["leaky_relu", slope]),
            Self::Relu6 => json!(["relu6"]),
            Self::Silu => json!(["silu"]),
            Self::Sigmoid => json!(["sigmoid"]),
            Self::Tanh => json!(["tanh"]),
            Self::MaxPool { size, stride, pad, ceil } => json!(["max_pool", size, stride, pad, ceil]),
            Self::AvgPool { size, stride, pad, ceil } => json!(["avg_pool", size, stride, pad, ceil]),
            Self::AdaptiveAvgPool { size: [h, w] } => json!(["adaptive_avg_pool", h, w]),
            Self::Dropout { p } => json!(["dropout", p]),
            Self::StochasticDepth { p } => json!(["stochastic_depth", p]),
            Self::Flatten => json!(["flatten"]),
            Self::Resize { size: [h, w] } => json!(["resize", h, w]),
            Self::Pad { sides: [a, b, c, d], value } => json!(["pad", a, b, c, d, value]),
            Self::Subsample { stride, channels } => json!(["subsample", stride, channels]),
            Self::Sequence(parts) => json!(["sequence", list(parts)]),
            Self::Residual { body, shortcut } => json!(["residual", list(body), list(shortcut)]),
            Self::Concat(parts) => json!(["concat", list(parts)]),
            Self::Gate(parts) => json!(["gate", list(parts)]),
        }
    }

    pub fn from_json(json: &Json) -> Option<Self> {
        let int = |i: usize| json.get(i)?.as_i64().filter(|n| n.abs() <= 1 << 20);
        let count = |i: usize| int(i).filter(|&n| n >= 1);
        let size = |i: usize| int(i).filter(|&n| n >= 0);
        let float = |i: usize| json.get(i)?.as_f64();
        let flag = |i: usize| json.get(i)?.as_bool();
        let numbers = |i: usize| -> Option<Vec<f64>> { json.get(i)?.as_array()?.iter().map(Json::as_f64).collect() };
        let list = |i: usize| -> Option<Vec<(String, Layer)>> {
            let parts = json.get(i)?.as_array()?;
            parts
                .iter()
                .map(|part| Some((part.get(0)?.as_str()?.to_string(), Layer::from_json(part.get(1)?)?)))
                .collect()
        };
        Some(match json.get(0)?.as_str()? {
            "conv" => Self::Conv {
                out: count(1)?,
                size: count(2)?,
                stride: count(3)?,
                pad: size(4)?,
                dilation: count(5)?,
                groups: count(6)?,
                bias: flag(7)?,
            },
            "conv_transpose" => Self::ConvTranspose {
                out: count(1)?,
                size: count(2)?,
                stride: count(3)?,
                pad: size(4)?,
                extra: size(5)?,
                bias: flag(6)?,
            },
            "reshape" => Self::Reshape { size: [count(1)?, count(2)?, count(3)?] },
            "upsample" => Self::Upsample { factor: count(1)? },
            "pixel_norm" => Self::PixelNorm,
            "linear" => Self::Linear { out: count(1)?, bias: flag(2)? },
            "batch_norm" => Self::BatchNorm { eps: float(1)?, momentum: float(2)? },
            "normalize" => Self::Normalize { mean: numbers(1)?, std: numbers(2)? },
            "relu" => Self::Relu,
            "leaky_relu" => Self::LeakyRelu { slope: float(1)? },
            "relu6" => Self::Relu6,
            "silu" => Self::Silu,
            "sigmoid" => Self::Sigmoid,
            "tanh" => Self::Tanh,
            "max_pool" => Self::MaxPool { size: count(1)?, stride: count(2)?, pad: size(3)?, ceil: flag(4)? },
            "avg_pool" => Self::AvgPool { size: count(1)?, stride: count(2)?, pad: size(3)?, ceil: flag(4)? },
            "adaptive_avg_pool" => Self::AdaptiveAvgPool { size: [count(1)?, count(2)?] },
            "dropout" => Self::Dropout { p: float(1)? },
            "stochastic_depth" => Self::StochasticDepth { p: float(1)? },
            "flatten" => Self::Flatten,
            "resize" => Self::Resize { size: [count(1)?, count(2)?] },
            "pad" => Self::Pad { sides: [int(1)?, int(2)?, int(3)?, int(4)?], value: float(5)? },
            "subsample" => Self::Subsample { stride: count(1)?, channels: count(2)? },
            "sequence" => Self::Sequence(list(1)?),
            "residual" => Self::Residual { body: list(1)?, shortcut: list(2)? },
            "concat" => Self::Concat(list(1)?),
            "gate" => Self::Gate(list(1)?),
            _ => return None,
        })
    }
}

/// Parts with names of their own.
pub fn own<'a>(parts: impl IntoIterator<Item = (&'a str, Layer)>) -> Vec<(String, Layer)> {
    parts.into_iter().map(|(name, layer)| (name.to_string(), layer)).collect()
}

/// How many windows fit, by PyTorch's rules; the last window of `ceil` must begin inside the input or its left padding.
fn window(n: i64, size: i64, stride: i64, pad: i64, ceil: bool) -> Option<i64> {
    let span = n + 2 * pad - size;
    if span < 0 {
        return None;
    }
    let mut count = if ceil { (span + stride - 1) / stride + 1 } else { span / stride + 1 };
    if ceil && (count - 1) * stride >= n + pad {
        count -= 1;
    }
    Some(count)
}

impl Object for Layer {
    fn kind(&self) -> &'static str {
        "Layer"
    }

    fn summary(&self) -> String {
        self.script()
    }

    fn digest(&self) -> Digest {
        Digest::of(self.script().as_bytes())
    }

    fn json(&self) -> Json {
        self.to_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_as_pytorch_does() {
        // torch.nn.functional.max_pool2d(torch.zeros(1, 1, n, n), size, stride, pad, ceil_mode=ceil).shape[-1], torch 2.11
        assert_eq!(window(28, 2, 2, 0, false), Some(14));
        assert_eq!(window(111, 3, 2, 0, false), Some(55));
        assert_eq!(window(112, 3, 2, 0, true), Some(56));
        assert_eq!(window(5, 2, 2, 1, true), Some(3));
        assert_eq!(window(7, 1, 3, 0, true), Some(3));
        assert_eq!(window(2, 3, 1, 0, false), None);
    }

    #[test]
    fn a_layer_prints_as_it_is_written() {
        assert_eq!(Layer::conv(32, 3, 1, 1).script(), "net::conv(32, 3, #{ pad: 1 })");
        assert_eq!(Layer::max_pool(2, 2).script(), "net::max_pool(2)");
    }

    #[test]
    fn json_keeps_every_layer() {
        let layers = Layer::sequence([
            Layer::Normalize { mean: vec![0.5], std: vec![0.25] },
            Layer::conv(4, 3, 2, 1),
            Layer::Residual { body: own([("a", Layer::batch_norm())]), shortcut: vec![] },
            Layer::Concat(own([("x", Layer::Relu), ("y", Layer::LeakyRelu { slope: 0.1 })])),
            Layer::AvgPool { size: 2, stride: 2, pad: 0, ceil: true },
            Layer::Pad { sides: [0, -1, 2, 0], value: 1.5 },
            Layer::Resize { size: [4, 5] },
            Layer::Subsample { stride: 2, channels: 8 },
            Layer::AdaptiveAvgPool { size: [1, 1] },
            Layer::Gate(own([("fc1", Layer::conv(8, 1, 1, 0)), ("", Layer::Sigmoid)])),
            Layer::StochasticDepth { p: 0.25 },
            Layer::Relu6,
            Layer::Silu,
            Layer::Tanh,
            Layer::Flatten,
            Layer::Reshape { size: [4, 2, 2] },
            Layer::ConvTranspose { out: 8, size: 4, stride: 2, pad: 1, extra: 1, bias: false },
            Layer::Upsample { factor: 2 },
            Layer::PixelNorm,
            Layer::Dropout { p: 0.5 },
            Layer::linear(3),
        ]);
        assert_eq!(Layer::from_json(&layers.to_json()), Some(layers));
    }
}
