//! Where the images of a data set come from, and the objects that they show.

use std::sync::Arc;

use super::Latents;
use crate::core::{Cautions, Result, Value};
use crate::render::Mesh;

/// Where images come from. Reading is called from worker threads, so a source holds paths and bytes, no tensors.
pub trait Source: Send + Sync {
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `[C, H, W]` of what `read` gives: the canvas, its margin included.
    fn shape(&self) -> [usize; 3];

    /// Writes image `index` as `C x H x W` finite floats in [0, 1]; the source makes sure of both.
    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()>;

    /// How many sources it is put together of, one inside the other.
    fn depth(&self) -> usize {
        0
    }

    /// A number that equal images have in common, where that is known without drawing or decoding them.
    fn likeness(&self, _index: usize) -> Option<u64> {
        None
    }

    /// Whether images that are stored alike are alike, and others are not: of files of one folder, and of one array.
    fn compares_stored(&self) -> bool {
        false
    }

    /// Whether pixels are read as they are stored, and not at another size.
    fn reads_as_stored(&self) -> bool {
        false
    }

    /// Whether a file says that image `index` is to be turned or mirrored, which `read` does not.
    fn is_to_be_turned(&self, _index: usize) -> bool {
        false
    }

    /// Whether anything of image `index` is stored as see-through, which `read` leaves out.
    fn is_see_through(&self, _index: usize) -> bool {
        false
    }

    /// Whether the numbers of image `index` stand for other colours than those of sRGB, as which they are read.
    fn has_foreign_colours(&self, _index: usize) -> bool {
        false
    }

    /// Of a view of an object, the number that equal objects have in common.
    fn likeness_of_object(&self, _index: usize) -> Option<u64> {
        None
    }

    /// The object from a file that image `index` shows, where it shows one.
    fn object_from_file(&self, _index: usize) -> Option<Arc<Mesh>> {
        None
    }

    /// What image `index` was drawn to show, by name, where that is known.
    fn attributes(&self, _index: usize) -> Vec<(&'static str, Value)> {
        vec![]
    }

    /// What was noticed of the generator that drew the images, where one did.
    fn noticed(&self) -> Cautions {
        self.latents().map_or(Cautions::default(), |latents| latents.cautions.clone())
    }

    /// What a generator drew the images of, where one did.
    fn latents(&self) -> Option<&Latents> {
        None
    }

    /// The objects that images show, image by image, where each shows one.
    fn objects(&self) -> Option<&Arc<dyn Objects>> {
        None
    }
}

/// Objects by their numbers, each the same whenever it is asked for.
pub trait Objects: Send + Sync {
    fn count(&self) -> usize;

    fn object(&self, index: usize) -> Result<Arc<Mesh>>;

    /// Whether they have a size of their own, and what a reader says of them.
    fn are_from_files(&self) -> bool {
        false
    }

    /// A number that objects have in common which look alike from everywhere, where that is known without building them.
    fn likeness(&self, _index: usize) -> Option<u64> {
        None
    }
}
