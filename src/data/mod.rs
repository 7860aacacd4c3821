//! Images and labels: a data set and the formats and drawings it can come from, one file each.

mod dataset;
mod stream;

pub use dataset::{Dataset, Edge, Preprocessing, Source};
pub use stream::{Batch, Stream};
