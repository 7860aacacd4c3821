//! Values as JSON, written part by part: neither a long tensor nor the rows of a transcript stand in memory as a tree, or as a text.

use std::io::{BufWriter, Write};
use std::path::Path;

use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};

use super::value::{flat, numbers};
use super::{Error, LongRows, Object, Result, Tensor, Value};

/// Numbers of a tensor that are brought over at once.
const CHUNK: i64 = 1 << 16;

impl Value {
    /// Writes the same as `json`, with line breaks, and one at the end.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn write_json(&self, path: &Path) -> Result<()> {
        let failed = |error: std::io::Error| Error::file(path, error);
        let mut out = BufWriter::with_capacity(1 << 18, std::fs::File::create(path).map_err(failed)?);
        serde_json::to_writer_pretty(&mut out, &ValueWritten(self)).map_err(|error| failed(error.into()))?;
        out.write_all(b"\n").and_then(|()| out.flush()).map_err(failed)
    }
}

struct ValueWritten<'a>(&'a Value);

impl Serialize for ValueWritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(values) => serializer.collect_seq(values.iter().map(ValueWritten)),
            Value::Map(map) => serializer.collect_map(map.iter().map(|(name, value)| (name, ValueWritten(value)))),
            Value::Tensor(tensor) => match flat(tensor) {
                Ok(flat) => {
                    let mut map = serializer.serialize_map(Some(2))?;
                    map.serialize_entry("shape", &tensor.size())?;
                    map.serialize_entry("values", &NumbersWritten(&flat))?;
                    map.end()
                }
                Err(_) => self.0.json().serialize(serializer),
            },
            Value::Object(object) => match object.long_rows() {
                Some(rows) => written_rows(&**object, &rows, serializer),
                None => self.0.json().serialize(serializer),
            },
            other => other.json().serialize(serializer),
        }
    }
}

fn written_rows<S: Serializer>(
    object: &dyn Object,
    rows: &LongRows,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("type", object.kind())?;
    for (name, value) in rows.head.as_object().into_iter().flatten() {
        match name == rows.key {
            true => map.serialize_entry(name, &RowsWritten(rows))?,
            false => map.serialize_entry(name, value)?,
        }
    }
    map.end()
}

struct RowsWritten<'a>(&'a LongRows<'a>);

impl Serialize for RowsWritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0.len).map(|index| (self.0.row)(index)))
    }
}

struct NumbersWritten<'a>(&'a Tensor);

impl Serialize for NumbersWritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let n = self.0.numel() as i64;
        let mut seq = serializer.serialize_seq(Some(n as usize))?;
        for start in (0..n).step_by(CHUNK as usize) {
            let part = self.0.narrow(0, start, CHUNK.min(n - start));
            for number in numbers(&part).map_err(|error| S::Error::custom(error.message))? {
                seq.serialize_element(&number)?;
            }
        }
        seq.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_written_part_by_part_is_what_json_says() -> Result<()> {
        let long = Tensor::arange(CHUNK + 3, (tch::Kind::Float, tch::Device::Cpu)) / 3.0;
        let odd = Tensor::from_slice(&[1.5f32, f32::NAN, f32::NEG_INFINITY]).view([3, 1]);
        let tensors = [long, odd, Tensor::from_slice(&[1i64, -2]), Tensor::from_slice::<f32>(&[])];
        let mut map = BTreeMap::from([
            ("none".to_string(), Value::Unit),
            ("empty".to_string(), Value::Array(vec![])),
            ("text".to_string(), Value::Str("a \"word\"\n".into())),
        ]);
        map.insert("tensors".into(), Value::Array(tensors.into_iter().map(Value::tensor).collect()));
        let value = Value::Map(map);
        let folder = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
        let path = folder.path().join("value.json");
        value.write_json(&path)?;
        let written = std::fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        assert_eq!(written, serde_json::to_string_pretty(&value.json()).expect("a text") + "\n");
        Ok(())
    }
}
