//! The networks that `arch` can name.

use crate::core::Value;
use crate::model::zoo;
use crate::primitives::{Example, Primitive};

pub static ARCHS: Primitive = Primitive {
    path: "model::archs",
    purpose: "The names of published networks that `arch` takes in model::load and model::train.",
    params: &[],
    options: &[],
    returns: "an array of strings",
    notes: "Tensors carry torchvision's names, so that weights published by torchvision load as they are; those of vit_*_patch16_224 and of \
            tf_efficientnet_b*_ns (EfficientNet as TensorFlow has it, by Noisy Student; timm's tf_efficientnet_b4.ns_jft_in1k is \
            tf_efficientnet_b4_ns here) carry timm's, those of cifar_resnet* \
            the names of github.com/akamaster/pytorch_resnet_cifar10. Files of convnext_* may carry timm's names or those \
            of its authors, files of tf_efficientnet_b*_ns those of lukemelas/EfficientNet-PyTorch, files of efficientnet_b0 to b4 those of timm, which are the \
            same as TensorFlow's. A file whose names are those of one of these networks is recognised without `arch`; where they are those of two, it must be called after one. Networks that are a plain sequence of layers are in std/zoo.",
    source: "",
    examples: &[Example { code: "model::archs().contains(\"resnet50\")", result: "true" }],
    run: |_cx, _args| Ok(Value::Array(zoo::archs().map(|name| Value::Str(name.into())).collect())),
};
