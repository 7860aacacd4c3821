//! Pictures that are laid over objects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mesh::Texture;
use crate::core::{Error, Result};

/// What decodes the bytes of a picture, and says by a path where they lie.
pub type DecodePicture = fn(&Path, &[u8]) -> Result<image::DynamicImage>;

/// Textures that several objects share are read once.
pub struct Textures {
    decode: DecodePicture,
    /// By the file that is meant, however it is named.
    read: HashMap<PathBuf, Arc<Texture>>,
    pixels: u64,
}

/// Pixels of a texture, at most.
const TEXTURE_SIDE: u32 = 8192;
/// Pixels of all textures together, at most: 768 MiB.
const ALL_TEXTURES: u64 = 1 << 28;
/// Bytes of a picture, at most.
const FILE: u64 = 256 << 20;

impl Textures {
    pub fn new(decode: DecodePicture) -> Self {
        Self { decode, read: HashMap::new(), pixels: 0 }
    }

    /// The picture at `path`, which `file` asks for.
    pub(super) fn read(&mut self, file: &Path, path: &Path) -> Result<Arc<Texture>> {
        if !path.is_file() {
            return Err(Error::file(path, format!("no such texture, which {} asks for", file.display()))
                .hint("put the picture where the object's file says, or take it out of the materials"));
        }
        let path = path.canonicalize().map_err(|e| Error::file(path, e))?;
        if let Some(texture) = self.read.get(&path) {
            return Ok(texture.clone());
        }
        if std::fs::metadata(&path).map_err(|e| Error::file(&path, e))?.len() > FILE {
            return Err(Error::file(&path, "a texture larger than 256 MiB"));
        }
        let bytes = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
        let texture = self.decode(&path, &bytes)?;
        self.read.insert(path, texture.clone());
        Ok(texture)
    }

    /// A picture that lies inside of the file at `path`.
    pub(super) fn decode(&mut self, path: &Path, bytes: &[u8]) -> Result<Arc<Texture>> {
        let header = image::ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format();
        let size = header.map_err(image::ImageError::IoError).and_then(|header| header.into_dimensions());
        let (width, height) = size.map_err(|e| Error::file(path, format!("a texture that is no picture: {e}")))?;
        if width == 0 || height == 0 || width > TEXTURE_SIDE || height > TEXTURE_SIDE {
            return Err(Error::file(path, format!("a texture of {width} x {height} pixels, {TEXTURE_SIDE} at most")));
        }
        let pixels = self.pixels + u64::from(width) * u64::from(height);
        if pixels > ALL_TEXTURES {
            return Err(Error::file(path, format!("the textures come to {pixels} pixels, {ALL_TEXTURES} at most"))
                .hint("make them smaller: a picture of an object has few pixels"));
        }
        let picture = (self.decode)(path, bytes)?;
        let see_through = picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < u8::MAX);
        let picture = picture.to_rgb8();
        self.pixels = pixels;
        let pixels = picture.pixels().map(|pixel| pixel.0).collect();
        Ok(Arc::new(Texture { width: width as usize, height: height as usize, pixels, see_through }))
    }
}
