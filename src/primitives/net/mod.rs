//! The layers of a network written down in a script.

pub mod avg_pool;
pub mod batch_norm;
pub mod conv;
pub mod conv_transpose;
pub mod dropout;
pub mod flatten;
pub mod leaky_relu;
pub mod linear;
pub mod max_pool;
pub mod normalize;
pub mod pad;
pub mod pixel_norm;
pub mod relu;
pub mod relu6;
pub mod reshape;
pub mod resize;
pub mod sigmoid;
pub mod silu;
pub mod tanh;
pub mod upsample;
