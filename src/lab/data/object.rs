//! A data set as a value of scripts: how it prints, its fields and its elements.

use std::collections::BTreeMap;
use std::path::Path;

use tch::Device;

use super::npz::AboutImages;
use super::{Dataset, Skipped};
use crate::core::{Cx, Digest, Error, Object, Result, Table, Tensor, Value};

impl Dataset {
    /// How many classes occur, where images are so many that others would be expected.
    fn absent(&self) -> String {
        let (classes, occur) = (self.classes().len(), self.counts().iter().filter(|n| **n > 0).count());
        let told = occur < classes && self.len() >= 3 * classes;
        if told { format!(" of which {occur} occur{}", if occur == 1 { "s" } else { "" }) } else { String::new() }
    }
}

impl Object for Dataset {
    fn kind(&self) -> &'static str {
        "Dataset"
    }

    fn summary(&self) -> String {
        let [c, h, w] = self.shape();
        let counted = |count: usize, what: &str| if count == 0 { String::new() } else { format!(", {count} {what}") };
        format!(
            "data {}: {} images{} {c} x {h} x {w}, {} classes{}{}{}, edge {}{}{}{}",
            self.name,
            self.len(),
            self.cluster_count().map_or(String::new(), |n| format!(" in {n} clusters,")),
            self.classes().len(),
            self.absent(),
            self.numbering().map_or(String::new(), |how| format!(" numbered {how}")),
            if self.has_arbitrary_labels() { ", labels arbitrary" } else { "" },
            self.edge().name(),
            counted(self.skipped().len(), "skipped"),
            counted(self.unturned(), "not turned as EXIF says"),
            counted(self.seen_through(), "see-through in parts, which is left out")
        )
    }

    fn details(&self, width: usize) -> String {
        let counts = self.counts();
        let present = || counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let table = Table::default()
            .column("label", present().map(|(label, _)| Value::Int(label as i64)).collect())
            .column("class", present().map(|(label, _)| Value::Str(self.classes()[label].clone())).collect())
            .column("images", present().map(|(_, n)| Value::Int(*n as i64)).collect());
        format!("{}\n{}", self.summary(), table.text(width, 20))
    }

    fn element(&self, index: i64) -> Option<Result<Value>> {
        let n = self.len() as i64;
        let row = if index < 0 { index + n } else { index };
        if !(0..n).contains(&row) {
            let error = Error::argument(format!("no image {index} among {n}"));
            return Some(Err(error.hint(format!("images count from 0 to {}, or from -1 backwards", n - 1))));
        }
        let row = row as usize;
        let label = self.labels()[row];
        Some(self.images(&[row], Device::Cpu).and_then(|image| {
            let mut map = BTreeMap::from([
                ("image".into(), Value::tensor(image.f_squeeze_dim(0)?)),
                ("label".into(), Value::Int(label)),
                ("class".into(), Value::Str(self.classes()[label as usize].clone())),
            ]);
            let attributes = self.attributes(row);
            if !attributes.is_empty() {
                let attributes = attributes.into_iter().map(|(name, value)| (name.to_string(), value));
                map.insert("attributes".into(), Value::Map(attributes.collect()));
            }
            Ok(Value::Map(map))
        }))
    }

    fn fields(&self) -> &'static [&'static str] {
        &["name", "classes", "shape", "labels", "numbered", "hash", "edge", "skipped", "clusters"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "name" => Value::Str(self.name.clone()),
            "classes" => Value::Array(self.classes().iter().cloned().map(Value::Str).collect()),
            "shape" => Value::ints(self.shape().map(|d| d as i64)),
            "labels" => Value::tensor(Tensor::f_from_slice(self.labels())?),
            "numbered" => self.numbering().map_or(Value::Unit, |how| Value::Str(how.into())),
            "hash" => Value::Str(self.digest.short()),
            "edge" => Value::Str(self.edge().name()),
            "clusters" => match self.clusters() {
                Some(clusters) => Value::ints(clusters.into_iter().map(i64::from)),
                None => Value::Unit,
            },
            "skipped" => {
                let map = |one: &Skipped| {
                    let pairs = [("name", &one.name), ("why", &one.why)];
                    Value::Map(pairs.map(|(key, value)| (key.into(), Value::Str(value.clone()))).into())
                };
                Value::Array(self.skipped().iter().map(map).collect())
            }
            _ => return Ok(None),
        }))
    }

    fn json(&self) -> serde_json::Value {
        let mut json = serde_json::json!({
            "name": self.name, "images": self.len(), "shape": self.shape(), "classes": self.classes().len(),
            "edge": self.edge().name(), "hash": self.digest.hex(),
        });
        if let Some(how) = self.numbering() {
            json["numbered"] = how.into();
        }
        if self.has_arbitrary_labels() {
            json["labels"] = "arbitrary".into();
        }
        if !self.skipped().is_empty() {
            let each = self.skipped().iter().map(|one| serde_json::json!({ "name": one.name, "why": one.why }));
            json["skipped"] = each.collect();
        }
        if let Some(n) = self.cluster_count() {
            json["clusters"] = n.into();
        }
        let unturned = self.unturned();
        if unturned > 0 {
            json["not_turned"] = unturned.into();
        }
        let seen_through = self.seen_through();
        if seen_through > 0 {
            json["see_through"] = seen_through.into();
        }
        json
    }

    fn formats(&self) -> &'static [&'static str] {
        &["npz"]
    }

    /// The arrays `images` and `labels`, as `data::load` reads them, and what classes are called; without the margin.
    fn write(&self, cx: &Cx, path: &Path, _ending: &str) -> Result<()> {
        if self.leaves_unit_range() {
            return Err(Error::data(format!(
                "images of {} leave [0, 1], which an .npz of images can't hold",
                self.name
            ))
            .hint(
                "save them before they are centred, standardised or scaled; a tensor is saved as it is: ds.images()",
            ));
        }
        let images = self.all_images(cx)?.f_to_device(Device::Cpu)?;
        let cautions = [self.noticed(), self.drawn_by()];
        let noticed = cautions.iter().flat_map(|all| all.iter().map(String::from)).collect();
        let changes = self.cautions.iter().map(|(change, why)| (change.to_string(), why.to_string())).collect();
        let relabelling = self.relabelling.iter().map(|change| change.to_string()).collect();
        let about = AboutImages { classes: self.classes().to_vec(), noticed, changes, relabelling };
        super::npz::write(cx, path, &images, self.labels(), &about)
    }

    fn digest(&self) -> Digest {
        self.digest
    }
}
