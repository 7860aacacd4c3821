//! Objects in three dimensions and pictures of them: what the Adversarial Examiner (Shu, Liu, Qiu and Yuille, AAAI 2020) calls
//! the underlying form z and the function g(z, s) that draws it.

mod backdrop;
mod camera;
mod depth;
mod files;
mod gltf;
mod local;
mod mesh;
mod obj;
mod objects;
mod parts;
mod ply;
mod polygon;
mod raster;
mod scenery;
mod shadow;
mod shapes;
mod stl;
mod surroundings;
mod texture;
mod view;

pub use backdrop::BACKDROPS;
pub use files::{ENDINGS, read_object};
pub use mesh::{Mesh, Surface, Texture, Triangle, Vertex};
pub use objects::{CLASSES, object};
pub use parts::Up;
pub use raster::{draw, draw_without, is_beside};
pub use scenery::{Photograph, Scenery};
pub use texture::Textures;
pub use view::{Background, Light, Material, Span, VIEW_FACTORS, View, ViewFactor, ViewNumbers};
