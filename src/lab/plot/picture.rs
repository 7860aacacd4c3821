//! A small image of bytes: a tile of an image sheet, or a drawn figure.

use crate::core::{Error, Result, Tensor};

#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    /// Three bytes per pixel, row by row.
    pub rgb: Vec<u8>,
}

impl Picture {
    pub fn new(width: usize, height: usize, rgb: Vec<u8>) -> Result<Self> {
        if width == 0 || height == 0 || rgb.len() != 3 * width * height {
            return Err(Error::data(format!("{} bytes are no picture of {width} x {height} pixels", rgb.len())));
        }
        Ok(Self { width, height, rgb })
    }

    /// The images of a tensor `N x C x H x W` in [0, 1] with one or three channels; values outside are clipped.
    pub fn of_tensor(images: &Tensor) -> Result<Vec<Self>> {
        let size = images.size();
        let [n, c, h, w] = size[..] else {
            return Err(Error::data(format!("images must be a tensor N x C x H x W, got {size:?}")));
        };
        if !(c == 1 || c == 3) || h == 0 || w == 0 {
            return Err(Error::data(format!("images must have 1 or 3 channels and some pixels, got {size:?}")));
        }
        let bytes = images
            .f_to_device(tch::Device::Cpu)?
            .f_to_kind(tch::Kind::Float)?
            .f_nan_to_num(0.0, 1.0, 0.0)?
            .f_clamp(0.0, 1.0)?
            .f_mul_scalar(255.0)?
            .f_round()?
            .f_expand([n, 3, h, w], false)?
            .f_permute([0, 2, 3, 1])?
            .f_to_kind(tch::Kind::Uint8)?
            .f_contiguous()?;
        let mut all = vec![0u8; bytes.numel()];
        bytes.f_copy_data_u8(&mut all, bytes.numel())?;
        let (width, height) = (w as usize, h as usize);
        Ok(all.chunks_exact(3 * width * height).map(|rgb| Self { width, height, rgb: rgb.to_vec() }).collect())
    }

    /// Another size: whole pixels repeated when it grows, averaged when it shrinks.
    pub fn resized(&self, width: usize, height: usize) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let span = |i: usize, new: usize, old: usize| {
            let from = i * old / new;
            (from, ((i + 1) * old / new).max(from + 1))
        };
        let mut rgb = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            let (top, bottom) = span(y, height, self.height);
            for x in 0..width {
                let (left, right) = span(x, width, self.width);
                for channel in 0..3 {
                    let mut sum = 0usize;
                    for row in top..bottom {
                        for column in left..right {
                            sum += usize::from(self.rgb[3 * (row * self.width + column) + channel]);
                        }
                    }
                    let count = (bottom - top) * (right - left);
                    rgb.push(((sum + count / 2) / count) as u8);
                }
            }
        }
        Self { width, height, rgb }
    }

    /// The bytes of a PNG file; the same picture gives the same bytes.
    pub fn png(&self) -> Result<Vec<u8>> {
        use image::ImageEncoder;
        let mut bytes = Vec::new();
        image::codecs::png::PngEncoder::new(&mut bytes)
            .write_image(&self.rgb, self.width as u32, self.height as u32, image::ExtendedColorType::Rgb8)
            .map_err(|e| Error::internal(format!("PNG: {e}")))?;
        Ok(bytes)
    }
}
