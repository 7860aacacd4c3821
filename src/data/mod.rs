//! Images and labels: a data set and the formats and drawings it can come from, one file each.

mod choose;
mod cifar;
mod dataset;
mod drawn;
pub mod fetch;
mod folder;
mod glyphs;
mod idx;
mod join;
mod layout;
mod load;
mod look;
mod mat;
mod memory;
mod nearest;
mod noise;
mod npz;
mod object;
mod scenes;
mod scenes_faults;
mod stream;
mod strokes;
mod window;

pub use dataset::{Dataset, Edge, PixelScale, Preprocessing, Source};
pub use drawn::{Latents, drawn};
pub use glyphs::{Glyphs, Polarity, Position, Split};
pub use load::{Load, load};
pub use look::Look;
pub use memory::from_tensor;
pub use nearest::{NORMS, Nearest, nearest};
pub use noise::Noise;
pub use scenes::Scenes;
pub use scenes_faults::{Shown, TELLING, Telling};
pub use stream::{Batch, Stream};
pub use window::View;
