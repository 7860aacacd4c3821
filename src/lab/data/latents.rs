//! What generated images were drawn of.

use std::sync::Arc;

use crate::core::{Cautions, Digest};

/// What images were drawn of.
#[derive(Clone)]
pub struct Latents {
    /// The generator's identity.
    pub by: Digest,
    /// Numbers of a latent vector.
    pub width: usize,
    /// One latent vector after the other.
    pub values: Arc<[f32]>,
    /// The labels that the generator was asked for, whatever they are called later.
    pub labels: Arc<[i64]>,
    /// What was noticed of the generator's images.
    pub cautions: Cautions,
}
