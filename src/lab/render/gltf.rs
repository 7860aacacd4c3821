//! glTF 2.0, as text and in binary (Khronos Group, glTF 2.0 Specification, ISO/IEC 12113). The crate of that name tells the types of numbers
//! apart only where it is built without optimisation, so that a wrong one would be read as something else.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use glam::{DVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use serde_json::Value;

use super::mesh::{Surface, Texture};
use super::parts::{MOST, PLAIN, Parts, Piece, whole};
use super::texture::Textures;
use crate::core::{Budget, Cx, Error, Result};

/// Extensions that a file may require: of others the picture would be wrong.
const KNOWN: [&str; 2] = ["KHR_mesh_quantization", "KHR_lights_punctual"];

pub(super) fn read(cx: &Cx, file: &Path, textures: &mut Textures, parts: &mut Parts) -> Result<()> {
    let (bytes, budget) = whole(cx, file)?;
    let (text, blob) = split(file, &bytes)?;
    budget.json(text)?;
    let root: Value =
        serde_json::from_slice(text).map_err(|e| Error::file(file, format!("its JSON is damaged: {e}")))?;
    let (buffers, surfaces) = Default::default();
    let mut gltf = Gltf { file, root: &root, blob, budget: &budget, buffers, surfaces };
    // What lies beside it counts as its own.
    let named = root["buffers"].as_array().into_iter().flatten().flat_map(|buffer| buffer["uri"].as_str());
    let mut size = bytes.len() as u64;
    for uri in named.filter(|uri| !uri.starts_with("data:")) {
        let path = gltf.beside(uri)?;
        size += std::fs::metadata(&path).map_err(|e| Error::file(&path, e))?.len();
    }
    let budget = Budget::new(cx, size, Budget::TEXT).at_most(MOST);
    budget.json(text)?;
    gltf.budget = &budget;
    gltf.put(textures, parts).map_err(|error| error.at(file))
}

/// The JSON of a file, and the buffer that lies behind it in a binary one.
fn split<'a>(file: &Path, bytes: &'a [u8]) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes, None));
    }
    let bad = |what: &str| Error::file(file, what).hint("the file is cut off or damaged");
    let number = |at: usize| -> Result<usize> {
        let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
        Ok(u32::from_le_bytes(four.ok_or_else(|| bad("its header is cut off"))?) as usize)
    };
    if number(4)? != 2 {
        return Err(bad(&format!("version {} of binary glTF; wanted is 2", number(4)?)));
    }
    let length = number(8)?;
    if length > bytes.len() {
        return Err(bad(&format!("it says that it has {length} bytes, of which {} are there", bytes.len())));
    }
    let (mut at, mut text, mut blob) = (12, None, None);
    while at + 8 <= length {
        let (size, kind) = (number(at)?, number(at + 4)?);
        let chunk = bytes[..length].get(at + 8..at + 8 + size).ok_or_else(|| bad("a part of it is cut off"))?;
        match kind {
            0x4E4F_534A if text.is_none() => text = Some(chunk),
            0x004E_4942 if blob.is_none() => blob = Some(chunk),
            _ => {}
        }
        at += 8 + size;
    }
    Ok((text.ok_or_else(|| bad("it has no JSON"))?, blob))
}

/// A buffer, from where to where in it, and the bytes from one item to the next where that is said.
type BufferPart = (Arc<Vec<u8>>, usize, usize, Option<usize>);

struct Gltf<'a> {
    file: &'a Path,
    root: &'a Value,
    blob: Option<&'a [u8]>,
    budget: &'a Budget<'a>,
    /// Those that were read.
    buffers: RefCell<HashMap<u64, Arc<Vec<u8>>>>,
    /// By material, the number in `Parts`.
    surfaces: RefCell<HashMap<Option<u64>, u32>>,
}

impl<'a> Gltf<'a> {
    fn bad(&self, what: impl std::fmt::Display) -> Error {
        Error::file(self.file, what)
    }

    /// Item `number` of one of the file's lists.
    fn item(&self, list: &str, number: u64) -> Result<&'a Value> {
        let found = self.root[list].as_array().and_then(|all| all.get(number as usize));
        found.ok_or_else(|| self.bad(format!("it asks for number {number} of its `{list}`, which is not there")))
    }

    /// A whole number of an item, or what it is by default.
    fn whole(&self, of: &Value, name: &str, default: Option<u64>) -> Result<u64> {
        match (&of[name], default) {
            (Value::Null, Some(default)) => Ok(default),
            (value, _) => {
                value.as_u64().ok_or_else(|| self.bad(format!("`{name}` must be a whole number, got {value}")))
            }
        }
    }

    /// Places in another of the file's lists; none where nothing is said.
    fn places(&self, of: &Value, name: &str) -> Result<Vec<u64>> {
        let places = match &of[name] {
            Value::Null => Some(vec![]),
            value => value.as_array().and_then(|all| all.iter().map(Value::as_u64).collect()),
        };
        places.ok_or_else(|| self.bad(format!("`{name}` must be an array of whole numbers, got {}", of[name])))
    }

    fn floats<const N: usize>(&self, of: &Value, name: &str) -> Result<Option<[f32; N]>> {
        let Some(value) = of.get(name) else { return Ok(None) };
        let numbers: Option<Vec<f32>> =
            value.as_array().and_then(|all| all.iter().map(|x| x.as_f64().map(|x| x as f32)).collect());
        match numbers.and_then(|numbers| <[f32; N]>::try_from(numbers).ok()) {
            Some(numbers) if numbers.iter().all(|x| x.is_finite()) => Ok(Some(numbers)),
            _ => Err(self.bad(format!("`{name}` must be {N} finite numbers, got {value}"))),
        }
    }

    fn put(&self, textures: &mut Textures, parts: &mut Parts) -> Result<()> {
        match self.root["asset"]["version"].as_str() {
            Some(version) if version.starts_with("2.") => {}
            _ => return Err(self.bad("not glTF 2.0: `asset` has no `version` that begins with 2")),
        }
        let required = self.root["extensionsRequired"].as_array().into_iter().flatten();
        let unknown: Vec<&str> = required.flat_map(Value::as_str).filter(|name| !KNOWN.contains(name)).collect();
        if !unknown.is_empty() {
            return Err(self
                .bad(format!("it can't be read without {}", unknown.join(", ")))
                .hint("export it again without: meshes uncompressed, textures as PNG or JPEG"));
        }
        let no_node = vec![];
        let nodes = self.root["nodes"].as_array().unwrap_or(&no_node);
        let roots: Vec<u64> = match self.root["scenes"].as_array() {
            Some(_) => {
                let scene = self.item("scenes", self.whole(self.root, "scene", Some(0))?)?;
                self.places(scene, "nodes")?
            }
            None => {
                let children = nodes.iter().map(|node| self.places(node, "children"));
                let children: HashSet<u64> = children.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
                (0..nodes.len() as u64).filter(|node| !children.contains(node)).collect()
            }
        };
        let mut seen = vec![false; nodes.len()];
        // How far off the frames are that positions go through, as each rounds them.
        let mut open: Vec<(u64, Mat4, f32)> = roots.into_iter().rev().map(|node| (node, Mat4::IDENTITY, 0.0)).collect();
        while let Some((number, above, far)) = open.pop() {
            self.budget.step()?;
            let node = self.item("nodes", number)?;
            if std::mem::replace(&mut seen[number as usize], true) {
                return Err(self.bad(format!("node {number} hangs in two places, or in itself")));
            }
            let frame = above * self.frame(node)?;
            let far = far.max(frame.w_axis.truncate().abs().max_element());
            if let Some(mesh) = node["mesh"].as_u64() {
                let frame = if node.get("skin").is_some() {
                    parts.remark("its skeleton is left out: it is drawn at rest");
                    Mat4::IDENTITY
                } else {
                    parts.rounds(far.into());
                    frame
                };
                self.mesh(self.item("meshes", mesh)?, frame, textures, parts)?;
            }
            open.extend(self.places(node, "children")?.into_iter().rev().map(|child| (child, frame, far)));
        }
        Ok(())
    }

    fn frame(&self, node: &Value) -> Result<Mat4> {
        if let Some(matrix) = self.floats::<16>(node, "matrix")? {
            return Ok(Mat4::from_cols_array(&matrix));
        }
        let scale = self.floats(node, "scale")?.map_or(Vec3::ONE, Vec3::from);
        let rotation = self.floats(node, "rotation")?.map_or(Quat::IDENTITY, Quat::from_array).normalize();
        let translation = self.floats(node, "translation")?.map_or(Vec3::ZERO, Vec3::from);
        match rotation.is_finite() {
            true => Ok(Mat4::from_scale_rotation_translation(scale, rotation, translation)),
            false => Err(self.bad("a `rotation` of length 0")),
        }
    }

    fn mesh(&self, mesh: &'a Value, frame: Mat4, textures: &mut Textures, parts: &mut Parts) -> Result<()> {
        for primitive in mesh["primitives"].as_array().into_iter().flatten() {
            let mode = self.whole(primitive, "mode", Some(4))?;
            if !(4..=6).contains(&mode) {
                parts.remark("its points and lines are left out");
                continue;
            }
            if primitive.get("targets").is_some() {
                parts.remark("its morph targets are left out");
            }
            let attributes = &primitive["attributes"];
            let vectors = |name: &str| -> Result<Option<Vec<Vec4>>> {
                attributes.get(name).map(|number| self.vectors(number, name)).transpose()
            };
            let positions = vectors("POSITION")?.ok_or_else(|| self.bad("a primitive without `POSITION`"))?;
            let count = positions.len();
            let given = |name: &str| -> Result<Option<Vec<Vec4>>> {
                match vectors(name)? {
                    Some(vectors) if vectors.len() != count => {
                        Err(self.bad(format!("{} of `{name}` for {count} vertices", vectors.len())))
                    }
                    other => Ok(other),
                }
            };
            let positions: Vec<DVec3> =
                positions.iter().map(|p| frame.transform_point3(p.truncate()).as_dvec3()).collect();
            let linear = Mat3::from_mat4(frame);
            let mirrored = linear.determinant() < 0.0;
            // The transpose of the inverse but for its length, and defined where there is no inverse.
            let of_normals = Mat3::from_cols(
                linear.y_axis.cross(linear.z_axis),
                linear.z_axis.cross(linear.x_axis),
                linear.x_axis.cross(linear.y_axis),
            ) * if mirrored { -1.0 } else { 1.0 };
            let normals: Option<Vec<Vec3>> =
                given("NORMAL")?.map(|all| all.iter().map(|normal| of_normals * normal.truncate()).collect());
            let material = match &primitive["material"] {
                Value::Null => None,
                _ => Some(self.whole(primitive, "material", None)?),
            };
            let (surface, set) = self.surface(material, textures, parts)?;
            let texture: Option<Vec<Vec2>> = given(&format!("TEXCOORD_{set}"))?
                .map(|all| all.iter().map(|at| Vec2::new(at.x, 1.0 - at.y)).collect());
            let colours: Option<Vec<Vec3>> =
                given("COLOR_0")?.map(|all| all.iter().map(|colour| as_seen(colour.truncate())).collect());
            if colours.iter().flatten().any(|colour| !colour.is_finite()) {
                return Err(self.bad("colours of its vertices that are not finite"));
            }
            let indices: Vec<u32> = match primitive.get("indices") {
                Some(number) => self.numbers(number, "indices", &["SCALAR"])?.0.into_iter().map(|x| x as u32).collect(),
                None => (0..count as u32).collect(),
            };
            self.budget.items::<[u32; 3]>(indices.len(), "its faces")?;
            let mut corners: Vec<[u32; 3]> = match mode {
                4 if !indices.len().is_multiple_of(3) => {
                    return Err(self.bad(format!("{} corners, which make no triangles", indices.len())));
                }
                4 => indices.as_chunks::<3>().0.to_vec(),
                5 => {
                    let strip = indices.windows(3).enumerate();
                    strip.map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] }).collect()
                }
                _ => indices.get(1..).unwrap_or(&[]).windows(2).map(|two| [indices[0], two[0], two[1]]).collect(),
            };
            if mirrored {
                corners.iter_mut().for_each(|corners| corners.swap(1, 2));
            }
            let piece = Piece {
                positions: &positions,
                float32: true,
                normals: normals.as_deref(),
                texture: texture.as_deref(),
                colours: colours.as_deref(),
                corners: &corners,
                surface,
            };
            parts.add(self.file, self.budget, &piece)?;
        }
        Ok(())
    }

    /// The surface of a material, and which texture coordinates it uses.
    fn surface(&self, material: Option<u64>, textures: &mut Textures, parts: &mut Parts) -> Result<(u32, u64)> {
        let of = match material {
            Some(number) => self.item("materials", number)?,
            None => &Value::Null,
        };
        let of_colour = &of["pbrMetallicRoughness"];
        let named = &of_colour["baseColorTexture"];
        let set = self.whole(named, "texCoord", Some(0))?;
        if let Some(&known) = self.surfaces.borrow().get(&material) {
            return Ok((known, set));
        }
        if material.is_some() && matches!(of["alphaMode"].as_str(), Some("BLEND" | "MASK")) {
            parts.remark("its transparent parts are drawn opaque");
        }
        if self.floats::<3>(of, "emissiveFactor")?.is_some_and(|glow| glow.iter().any(|&x| x > 0.0)) {
            parts.remark("its glow is left out");
        }
        if named["extensions"].get("KHR_texture_transform").is_some() {
            parts.remark("its textures are not moved as KHR_texture_transform says");
        }
        if of["extensions"].get("KHR_materials_pbrSpecularGlossiness").is_some()
            && of.get("pbrMetallicRoughness").is_none()
        {
            parts.remark("its colours are left out: they are those of KHR_materials_pbrSpecularGlossiness");
        }
        let colour = match self.floats::<4>(of_colour, "baseColorFactor")? {
            Some(colour) if colour.iter().any(|x| !(0.0..=1.0).contains(x)) => {
                return Err(self.bad(format!("`baseColorFactor` {colour:?} leaves [0, 1]")));
            }
            Some([red, green, blue, _]) => as_seen(Vec3::new(red, green, blue)),
            None if material.is_none() => PLAIN,
            None => Vec3::ONE,
        };
        let texture = match named {
            Value::Null => None,
            _ => Some(self.texture(self.whole(named, "index", None)?, textures)?),
        };
        let own = parts.surface(Surface { colour, texture });
        self.surfaces.borrow_mut().insert(material, own);
        Ok((own, set))
    }

    fn texture(&self, number: u64, textures: &mut Textures) -> Result<Arc<Texture>> {
        let texture = self.item("textures", number)?;
        let image = self.item("images", self.whole(texture, "source", None)?)?;
        match image["uri"].as_str() {
            Some(uri) if uri.starts_with("data:") => textures.decode(self.file, &self.inline(uri)?),
            Some(uri) => textures.read(self.file, &self.beside(uri)?),
            None => {
                let (buffer, from, to, _) = self.view(self.whole(image, "bufferView", None)?)?;
                textures.decode(self.file, &buffer[from..to])
            }
        }
    }

    /// The bytes of a `data:` address.
    fn inline(&self, uri: &str) -> Result<Vec<u8>> {
        let coded = uri.split_once(";base64,").map(|(_, coded)| coded);
        let coded = coded.ok_or_else(|| self.bad("a `data:` address that is not in base64"))?;
        self.budget.take(coded.len() as u64, "a `data:` address")?;
        base64::engine::general_purpose::STANDARD
            .decode(coded)
            .map_err(|e| self.bad(format!("a `data:` address that is damaged: {e}")))
    }

    /// A file in the same folder, or below it.
    fn beside(&self, uri: &str) -> Result<PathBuf> {
        let mut bytes = vec![];
        let mut left = uri.as_bytes();
        while let Some((&first, rest)) = left.split_first() {
            let coded = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
            let coded = coded.and_then(|two| u8::from_str_radix(two, 16).ok());
            (left, _) = match coded.filter(|_| first == b'%') {
                Some(byte) => (&rest[2..], bytes.push(byte)),
                None => (rest, bytes.push(first)),
            };
        }
        let named = String::from_utf8(bytes).map_err(|_| self.bad(format!("no address: {uri:?}")))?;
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let path = folder.join(&named);
        let home = |path: &Path| path.canonicalize().map_err(|e| Error::file(path, e));
        let own = if folder.as_os_str().is_empty() { home(Path::new("."))? } else { home(folder)? };
        if named.contains("://") {
            return Err(self.bad(format!("it asks for {uri:?}: nothing is fetched")));
        }
        let found = home(&path).map_err(|error| self.bad(format!("it asks for {uri:?}: {}", error.message)))?;
        match found.starts_with(own) {
            true => Ok(path),
            false => Err(self
                .bad(format!("it asks for {uri:?}, which lies outside of its folder"))
                .hint("put what belongs to it into its folder, or save it as one .glb file")),
        }
    }

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
    fn view(&self, number: u64) -> Result<BufferPart> {
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

    fn vectors(&self, number: &Value, name: &str) -> Result<Vec<Vec4>> {
        let types: &[&str] = match name {
            "POSITION" | "NORMAL" => &["VEC3"],
            "COLOR_0" => &["VEC3", "VEC4"],
            _ => &["VEC2"],
        };
        let (numbers, width) = self.numbers(number, name, types)?;
        self.budget.items::<Vec4>(numbers.len() / width, "its vertices")?;
        let vector = |own: &[f64]| Vec4::from([0, 1, 2, 3].map(|i| own.get(i).map_or(0.0, |&x| x as f32)));
        Ok(numbers.chunks_exact(width).map(vector).collect())
    }

    /// All numbers of an accessor, and how many belong together.
    fn numbers(&self, number: &Value, name: &str, types: &[&str]) -> Result<(Vec<f64>, usize)> {
        let number = number.as_u64().ok_or_else(|| self.bad(format!("`{name}` must be the number of an accessor")))?;
        let accessor = self.item("accessors", number)?;
        let kind = accessor["type"].as_str().unwrap_or("");
        if !types.contains(&kind) {
            return Err(self.bad(format!("`{name}` is of type {kind:?}, not {}", types.join(" or "))));
        }
        let width = ["SCALAR", "VEC2", "VEC3", "VEC4"].iter().position(|known| *known == kind).unwrap_or(0) + 1;
        let component = self.whole(accessor, "componentType", None)?;
        let count = self.whole(accessor, "count", None)?;
        let total = count.saturating_mul(width as u64);
        self.budget.take(total.saturating_mul(size_of::<f64>() as u64), "its numbers")?;
        if name == "indices" && !matches!(component, 5121 | 5123 | 5125) {
            return Err(self.bad("`indices` must be whole numbers without a sign"));
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
        let needed = count.checked_sub(1).and_then(|n| n.checked_mul(stride as u64)).map(|n| n + own as u64);
        let end = needed.unwrap_or(0).checked_add(offset).filter(|&end| end <= view.len() as u64);
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

/// A colour that is proportional to light, as screens are told it (IEC 61966-2-1, sRGB): pictures that are laid over objects are such.
fn as_seen(linear: Vec3) -> Vec3 {
    let coded = |x: f32| if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    Vec3::from(linear.to_array().map(|x| coded(x.clamp(0.0, 1.0))))
}
