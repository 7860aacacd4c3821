//! Objects in three dimensions and pictures of them: what the Adversarial Examiner (Shu, Liu, Qiu and Yuille, AAAI 2020) calls
//! the underlying form z and the function g(z, s) that draws it.

mod backdrop;
mod mesh;
mod obj;
mod objects;
mod raster;
mod shapes;
mod view;

pub use backdrop::BACKDROPS;
pub use mesh::{Mesh, Surface, Texture, Triangle, Vertex};
pub use obj::{Textures, read_obj};
pub use objects::{CLASSES, object};
pub use raster::draw;
pub use view::{Background, Light, Material, Span, VIEW_FACTORS, View, ViewFactor};
