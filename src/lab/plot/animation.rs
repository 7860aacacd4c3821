//! Figures one after another, as a moving picture.

use std::path::Path;

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, ImageBuffer};
use serde_json::json;

use super::{Figure, Picture};
use crate::core::{Cautions, Cx, Error, Object, Result, Value, number};

/// Frames of one size, shown over and over.
#[derive(Clone)]
pub struct Animation {
    pub frames: Vec<Figure>,
    /// How long each is shown.
    pub seconds: f64,
}

impl Animation {
    /// Refuses frames of several sizes, which could only be shown stretched or cut.
    pub fn new(frames: Vec<Figure>, seconds: f64) -> Result<Self> {
        let Some(first) = frames.first() else { return Err(Error::argument("an animation needs a figure")) };
        let size = first.dimensions();
        if let Some((i, other)) = frames.iter().enumerate().find(|(_, frame)| frame.dimensions() != size) {
            let [a, b] = [size, other.dimensions()].map(|(width, height)| format!("{width} x {height}"));
            return Err(Error::argument(format!("figure 0 is {a} and figure {i} {b}"))
                .hint("figure.size(width, height) gives all of them one size"));
        }
        Ok(Self { frames, seconds })
    }

    /// Those of its frames.
    fn cautions(&self) -> Cautions {
        let mut all = Cautions::default();
        self.frames.iter().for_each(|frame| all.extend(&frame.all_cautions()));
        all
    }

    /// The bytes of a GIF file; the same frames give the same bytes.
    pub fn gif(&self, cx: &Cx) -> Result<Vec<u8>> {
        let broken = |error: image::ImageError| Error::internal(format!("GIF: {error}"));
        let mut bytes = Vec::new();
        let mut encoder = GifEncoder::new_with_speed(&mut bytes, 10);
        encoder.set_repeat(Repeat::Infinite).map_err(broken)?;
        // Counted in hundredths by the format.
        let delay = Delay::from_numer_denom_ms((self.seconds * 100.0).round().max(1.0) as u32 * 10, 1);
        for figure in &self.frames {
            cx.check()?;
            let (width, height) = figure.dimensions();
            let Picture { width, height, rgb } = figure.raster(width, height)?;
            let opaque = rgb.chunks_exact(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
            let pixels = ImageBuffer::from_raw(width as u32, height as u32, opaque)
                .ok_or_else(|| Error::internal("a frame of another size"))?;
            encoder.encode_frame(Frame::from_parts(pixels, 0, 0, delay)).map_err(broken)?;
        }
        drop(encoder);
        Ok(bytes)
    }
}

impl Object for Animation {
    fn kind(&self) -> &'static str {
        "Animation"
    }

    fn summary(&self) -> String {
        let first = &self.frames[0];
        let title = if first.title.is_empty() { String::new() } else { format!(" {:?}", first.title) };
        let cautions = self.cautions().ending();
        format!("animation{title}: {} frames of {} s{cautions}", self.frames.len(), number(self.seconds))
    }

    fn fields(&self) -> &'static [&'static str] {
        &["frames", "seconds", "width", "height", "cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let (width, height) = self.frames[0].dimensions();
        Ok(Some(match name {
            "frames" => Value::Int(self.frames.len() as i64),
            "seconds" => Value::Float(self.seconds),
            "width" => Value::Int(i64::from(width)),
            "height" => Value::Int(i64::from(height)),
            "cautions" => self.cautions().value(),
            _ => return Ok(None),
        }))
    }

    fn element(&self, index: i64) -> Option<Result<Value>> {
        let n = self.frames.len() as i64;
        let place = if index < 0 { index + n } else { index };
        Some(match self.frames.get(usize::try_from(place).unwrap_or(usize::MAX)) {
            Some(frame) => Ok(Value::object(frame.clone())),
            None => Err(Error::argument(format!("there is no frame {index} among {n}"))),
        })
    }

    fn json(&self) -> serde_json::Value {
        let frames: Vec<_> = self.frames.iter().map(Object::json).collect();
        json!({ "seconds": self.seconds, "frames": frames })
    }

    fn digest(&self) -> crate::core::Digest {
        crate::core::Digest::of(self.json().to_string().as_bytes())
    }

    fn formats(&self) -> &'static [&'static str] {
        &["gif"]
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["gif"]
    }

    fn write(&self, cx: &Cx, path: &Path, _ending: &str) -> Result<()> {
        std::fs::write(path, self.gif(cx)?).map_err(|e| Error::file(path, e))
    }
}
