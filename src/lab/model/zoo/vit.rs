//! Vision transformers: Dosovitskiy et al. 2021, "An image is worth 16x16 words" (arXiv 2010.11929), with the names of torchvision
//! (`vit_b_16`) and of timm (`vit_base_patch16_224`). The tiny and small ones are those of Touvron et al. 2021, "Training
//! data-efficient image transformers" (arXiv 2012.12877).

use super::Spelling;

use super::super::layer::{Layer, Names, own};

/// Table 1: numbers of a token, blocks, heads.
type VitSize = (i64, usize, i64);

const TINY: VitSize = (192, 12, 3);
const SMALL: VitSize = (384, 12, 6);
const BASE: VitSize = (768, 12, 12);
const LARGE: VitSize = (1024, 24, 16);

/// What both libraries add to variances.
const EPS: f64 = 1e-6;

pub fn vit_b_16(classes: i64) -> Layer {
    torchvision(16, BASE, classes)
}

pub fn vit_b_32(classes: i64) -> Layer {
    torchvision(32, BASE, classes)
}

pub fn vit_l_16(classes: i64) -> Layer {
    torchvision(16, LARGE, classes)
}

pub fn vit_l_32(classes: i64) -> Layer {
    torchvision(32, LARGE, classes)
}

pub fn vit_tiny_patch16_224(classes: i64) -> Layer {
    timm(TINY, classes)
}

pub fn vit_small_patch16_224(classes: i64) -> Layer {
    timm(SMALL, classes)
}

pub fn vit_base_patch16_224(classes: i64) -> Layer {
    timm(BASE, classes)
}

pub fn vit_large_patch16_224(classes: i64) -> Layer {
    timm(LARGE, classes)
}

fn torchvision(patch: i64, (width, depth, heads): VitSize, classes: i64) -> Layer {
    let blocks = (0..depth).map(|i| {
        let mlp = Layer::named([("0", Layer::linear(4 * width)), ("1", Layer::gelu()), ("3", Layer::linear(width))]);
        let attention = Layer::attention(heads, Names::Torch);
        (format!("encoder_layer_{i}"), block([("ln_1", "self_attention"), ("ln_2", "mlp")], attention, mlp))
    });
    let encoder = Layer::named([
        ("pos_embedding", Layer::positions()),
        ("layers", Layer::of_parts(blocks.collect())),
        ("ln", Layer::layer_norm(EPS)),
    ]);
    Layer::named([
        ("conv_proj", Layer::patches(width, patch)),
        ("class_token", Layer::class_token()),
        ("encoder", encoder),
        ("first", Layer::first_token()),
        ("heads", Layer::named([("head", Layer::linear(classes))])),
    ])
}

fn timm((width, depth, heads): VitSize, classes: i64) -> Layer {
    let blocks = (0..depth).map(|_| {
        let mlp =
            Layer::named([("fc1", Layer::linear(4 * width)), ("act", Layer::gelu()), ("fc2", Layer::linear(width))]);
        block([("norm1", "attn"), ("norm2", "mlp")], Layer::attention(heads, Names::Timm), mlp)
    });
    Layer::named([
        ("patch_embed", Layer::named([("proj", Layer::patches(width, 16))])),
        ("cls_token", Layer::class_token()),
        ("pos_embed", Layer::positions()),
        ("blocks", Layer::sequence(blocks)),
        ("norm", Layer::layer_norm(EPS)),
        ("first", Layer::first_token()),
        ("head", Layer::linear(classes)),
    ])
}

/// Equations 2 and 3.
fn block([mix, think]: [(&str, &str); 2], attention: Layer, mlp: Layer) -> Layer {
    let added = |(norm, name): (&str, &str), layer: Layer| {
        let body = own([(norm, Layer::layer_norm(EPS)), (name, layer)]);
        ("", Layer::residual(body, vec![]))
    };
    Layer::named([added(mix, attention), added(think, mlp)])
}

/// The names in files of torchvision's first release of them, which are the ones it still offers.
fn older(layers: Layer) -> Vec<Spelling> {
    let then = |name: &String| name.replace(".mlp.0.", ".mlp.linear_1.").replace(".mlp.3.", ".mlp.linear_2.");
    vec![layers.tensor_names().into_iter().map(|name| (then(&name), name)).collect()]
}

pub fn older_base() -> Vec<Spelling> {
    older(vit_b_16(1))
}

pub fn older_large() -> Vec<Spelling> {
    older(vit_l_16(1))
}
