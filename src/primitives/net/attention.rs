//! Self-attention.

use crate::core::Value;
use crate::model::{Layer, Names};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};

static NAMES: Words<Names, 2> = Words::new(Names::WORDS);

pub static ATTENTION: Primitive = Primitive {
    path: "net::attention",
    purpose: "Every token becomes a mean over all tokens, weighted by how well they answer it, in several heads side by side.",
    params: &[Param::new("heads", Kind::Int, "parts that tokens are split into, which must divide their numbers")
        .range(1.0, 65536.0)],
    options: &[Param::new("names", NAMES.kind(), "whose names the tensors have").or(Fallback::Str("torch"))],
    returns: "Layer",
    notes: "softmax(Q K' / sqrt(d)) V in every head, d its width, with a linear layer before and after. Tensors `N.in_proj_weight`, `N.in_proj_bias`, `N.out_proj.weight`, `N.out_proj.bias`, or timm's `N.qkv.weight`, `N.qkv.bias`, `N.proj.weight`, `N.proj.bias`.",
    source: "Vaswani et al. 2017, Section 3.2; torch.nn.MultiheadAttention",
    examples: &[
        Example { code: "net::attention(3)", result: "net::attention(3)" },
        Example { code: "net::attention(3, #{ names: \"timm\" })", result: "net::attention(3, #{ names: \"timm\" })" },
    ],
    run: |_cx, args| Ok(Value::object(Layer::attention(args.int("heads"), NAMES.of(args, "names")))),
};
