//! The numbers of accessors, from the parts of buffers where they lie.

use std::sync::Arc;

use glam::Vec4;
use serde_json::Value;

use super::Gltf;
use crate::core::{Error, Result};

/// A buffer, from where to where in it, and the bytes from one item to the next where that is said.
type BufferPart = (Arc<Vec<u8>>, usize, usize, Option<usize>);

impl Gltf<'_> {
    fn buffer(&self, number: u64) -> Result<Arc<Vec<u8>>> {
        if let Some(known) = self.buffers.borrow().get(&number) {
            return Ok(known.clone());
        }
        let buffer = self.item("buffers", number)?;
        let length = self.whole(buffer, "byteLength", None)?;
        let bytes = match buffer["uri"].as_str() {
            Some(uri) if uri.starts_with("data:") => self.inline(uri)?,
            Some(uri) => {
                let path = self.beside(uri)?;
                let size = std::fs::metadata(&path).map_err(|e| Error::file(&path, e))?;
                match size.is_file() && size.len() <= 256 << 20 {
                    true => std::fs::read(&path).map_err(|e| Error::file(&path, e))?,
                    false => return Err(Error::file(&path, "no file, or larger than 256 MiB")),
                }
            }
            None => {
                let blob = self.blob.filter(|_| number == 0);
                let blob = blob.ok_or_else(|| self.bad(format!("buffer {number} is not there")))?;
                self.budget.take(blob.len() as u64, "its buffer")?;
                blob.to_vec()
            }
        };
        if (bytes.len() as u64) < length {
            let what = format!("buffer {number} has {} bytes of the {length} that it says", bytes.len());
            return Err(self.bad(what).hint("the file is cut off or damaged"));
        }
        let bytes = Arc::new(bytes);
        self.buffers.borrow_mut().insert(number, bytes.clone());
        Ok(bytes)
    }

    /// A part of a buffer: from where to where, and the bytes from one item to the next, where that is said.
    pub(super) fn view(&self, number: u64) -> Result<BufferPart> {
        let view = self.item("bufferViews", number)?;
        let buffer = self.buffer(self.whole(view, "buffer", None)?)?;
        let from = self.whole(view, "byteOffset", Some(0))?;
        let length = self.whole(view, "byteLength", None)?;
        let to = from.checked_add(length).filter(|&to| to <= buffer.len() as u64);
        let to = to.ok_or_else(|| self.bad(format!("`bufferViews` {number} leaves its buffer")))?;
        let stride = match view.get("byteStride") {
            Some(_) => Some(self.whole(view, "byteStride", None)? as usize),
            None => None,
        };
        Ok((buffer, from as usize, to as usize, stride))
    }

    pub(super) fn vectors(&self, number: &Value, name: &str) -> Result<Vec<Vec4>> {
        let types: &[&str] = match name {
            "POSITION" | "NORMAL" => &["VEC3"],
            "COLOR_0" => &["VEC3", "VEC4"],
            "JOINTS_0" | "WEIGHTS_0" => &["VEC4"],
            _ => &["VEC2"],
        };
        // What says nothing of how far one can see through is opaque.
        let rest = if name == "COLOR_0" { 1.0 } else { 0.0 };
        let (numbers, width) = self.numbers(number, name, types)?;
        self.budget.items::<Vec4>(numbers.len() / width, "its vertices")?;
        let vector = |own: &[f64]| Vec4::from([0, 1, 2, 3].map(|i| own.get(i).map_or(rest, |&x| x as f32)));
        Ok(numbers.chunks_exact(width).map(vector).collect())
    }

    /// All numbers of an accessor, and how many belong together.
    pub(super) fn numbers(&self, number: &Value, name: &str, types: &[&str]) -> Result<(Vec<f64>, usize)> {
        let number = number.as_u64().ok_or_else(|| self.bad(format!("`{name}` must be the number of an accessor")))?;
        let accessor = self.item("accessors", number)?;
        let kind = accessor["type"].as_str().unwrap_or("");
        if !types.contains(&kind) {
            return Err(self.bad(format!("`{name}` is of type {kind:?}, not {}", types.join(" or "))));
        }
        let width = match kind {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => 1,
        };
        let component = self.whole(accessor, "componentType", None)?;
        let count = self.whole(accessor, "count", None)?;
        let total = count.saturating_mul(width as u64);
        self.budget.take(total.saturating_mul(size_of::<f64>() as u64), "its numbers")?;
        if name == "indices" && !matches!(component, 5121 | 5123 | 5125) {
            return Err(self.bad("`indices` must be whole numbers without a sign"));
        }
        if name == "JOINTS_0" && (!matches!(component, 5121 | 5123) || accessor["normalized"].as_bool() == Some(true)) {
            return Err(self.bad("`JOINTS_0` must be whole numbers without a sign"));
        }
        // A colour of 255 instead of 1 would be drawn as light.
        let of_one = matches!(name, "COLOR_0" | "WEIGHTS_0");
        if of_one && component != 5126 && accessor["normalized"].as_bool() != Some(true) {
            return Err(self
                .bad(format!("`{name}` is of whole numbers that are not `normalized`, so their 1 can't be known"))
                .hint("glTF wants \"normalized\": true in this accessor, whose numbers then reach from 0 to 1"));
        }
        let sparse = accessor.get("sparse");
        let mut numbers = match accessor.get("bufferView") {
            Some(_) => {
                let (view, offset) =
                    (self.whole(accessor, "bufferView", None)?, self.whole(accessor, "byteOffset", Some(0))?);
                self.items(view, offset, count, width, component)?
            }
            None if sparse.is_none() => {
                return Err(self
                    .bad(format!("`{name}` has no numbers"))
                    .hint("compressed meshes (Draco, meshopt) can't be read: save it uncompressed"));
            }
            None => vec![0.0; total as usize],
        };
        if let Some(sparse) = sparse {
            let changed = self.whole(sparse, "count", None)?;
            self.budget.take(changed.saturating_mul(8 * (width as u64 + 1)), "its numbers")?;
            let (at, values) = (&sparse["indices"], &sparse["values"]);
            if !matches!(self.whole(at, "componentType", None)?, 5121 | 5123 | 5125) {
                return Err(self.bad(format!("`{name}`: sparse `indices` must be whole numbers without a sign")));
            }
            let places = self.items(
                self.whole(at, "bufferView", None)?,
                self.whole(at, "byteOffset", Some(0))?,
                changed,
                1,
                self.whole(at, "componentType", None)?,
            )?;
            let (view, offset) = (self.whole(values, "bufferView", None)?, self.whole(values, "byteOffset", Some(0))?);
            let values = self.items(view, offset, changed, width, component)?;
            for (place, own) in places.iter().zip(values.chunks_exact(width)) {
                let from = *place as usize * width;
                let goal = numbers.get_mut(from..from.saturating_add(width));
                goal.ok_or_else(|| self.bad(format!("`{name}`: a sparse value for item {place} of {count}")))?
                    .copy_from_slice(own);
            }
        }
        if accessor["normalized"].as_bool() == Some(true) {
            let most = match component {
                5120 => 127.0,
                5121 => 255.0,
                5122 => 32767.0,
                5123 => 65535.0,
                _ => 1.0,
            };
            numbers.iter_mut().for_each(|x| *x = (*x / most).max(-1.0));
        }
        Ok((numbers, width))
    }

    fn items(&self, view: u64, offset: u64, count: u64, width: usize, component: u64) -> Result<Vec<f64>> {
        let size = match component {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            other => return Err(self.bad(format!("no type of numbers: {other}"))),
        };
        let (buffer, from, to, stride) = self.view(view)?;
        let own = size * width;
        let stride = stride.unwrap_or(own);
        let view = &buffer[from..to];
        let needed = count.saturating_sub(1).checked_mul(stride as u64).and_then(|n| n.checked_add(own as u64));
        let end = needed.and_then(|needed| needed.checked_add(offset)).filter(|&end| end <= view.len() as u64);
        if end.is_none() || stride < own || count == 0 {
            let what = format!("it asks for {count} items at byte {offset} of {}, each {stride} bytes on", view.len());
            return Err(self.bad(what).hint("the file is cut off or damaged"));
        }
        let mut numbers = Vec::with_capacity(count as usize * width);
        for item in 0..count as usize {
            self.budget.step()?;
            let at = offset as usize + item * stride;
            for bytes in view[at..at + own].chunks_exact(size) {
                numbers.push(match (component, bytes) {
                    (5120, &[a]) => f64::from(a as i8),
                    (5121, &[a]) => f64::from(a),
                    (5122, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
                    (5123, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
                    (5125, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
                    (_, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
                    _ => 0.0,
                });
            }
        }
        Ok(numbers)
    }
}
