//! glTF 2.0, as text and in binary (Khronos Group, glTF 2.0 Specification, ISO/IEC 12113). The crate of that name tells the types of numbers
//! apart only where it is built without optimisation, so that a wrong one would be read as something else.

mod accessor;
mod skeleton;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use glam::{DVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use serde_json::Value;

use self::skeleton::{Skeletons, Skin};
use super::mesh::{Surface, Texture, TextureBorder, as_seen};
use super::parts::{MOST, Parts, Piece, whole};
use super::texture::Textures;
use crate::core::{Budget, Cx, Error, Result};

/// Extensions that a file may require: of others the picture would be wrong.
const KNOWN: [&str; 3] = ["KHR_mesh_quantization", "KHR_lights_punctual", "KHR_node_visibility"];
/// Beginnings of the names of those that it may use without a word: of how surfaces shine, which is the view's, of what stands there without them
/// as well, or of what remarks are made of elsewhere.
const HARMLESS: [&str; 16] = [
    "KHR_materials_specular",
    "KHR_materials_ior",
    "KHR_materials_clearcoat",
    "KHR_materials_sheen",
    "KHR_materials_iridescence",
    "KHR_materials_anisotropy",
    "KHR_materials_emissive_strength",
    "KHR_materials_dispersion",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_xmp",
];

pub(super) fn read(cx: &Cx, file: &Path, textures: &mut Textures, parts: &mut Parts) -> Result<()> {
    let (bytes, budget) = whole(cx, file)?;
    let (text, blob) = split(file, &bytes)?;
    budget.json(text)?;
    let root: Value =
        serde_json::from_slice(text).map_err(|e| Error::file(file, format!("its JSON is damaged: {e}")))?;
    let (buffers, surfaces, skeletons) = Default::default();
    let mut gltf = Gltf { file, root: &root, blob, budget: &budget, buffers, surfaces, skeletons };
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

struct Gltf<'a> {
    file: &'a Path,
    root: &'a Value,
    blob: Option<&'a [u8]>,
    budget: &'a Budget<'a>,
    /// Those that were read.
    buffers: RefCell<HashMap<u64, Arc<Vec<u8>>>>,
    /// By material, the number in `Parts`.
    surfaces: RefCell<HashMap<Option<u64>, u32>>,
    skeletons: Skeletons,
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
        let used = self.root["extensionsUsed"].as_array().into_iter().flatten().flat_map(Value::as_str);
        for name in used.filter(|name| !KNOWN.contains(name) && !HARMLESS.iter().any(|known| name.starts_with(known))) {
            parts.remark(match name {
                "EXT_mesh_gpu_instancing" => {
                    "its copies (EXT_mesh_gpu_instancing) are left out: one of each is drawn".into()
                }
                "KHR_materials_transmission" => "its transparent parts are drawn opaque".into(),
                "KHR_materials_unlit" => {
                    "its own light (KHR_materials_unlit) is left out: it is lit as all else".into()
                }
                other => format!("what {other} says is left out"),
            });
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
            if node["extensions"]["KHR_node_visibility"]["visible"].as_bool() == Some(false) {
                continue;
            }
            let frame = above * self.frame(node)?;
            let far = far.max(frame.w_axis.truncate().abs().max_element());
            if let Some(mesh) = node["mesh"].as_u64() {
                let skin = match node.get("skin") {
                    Some(_) => Some(self.skin(self.whole(node, "skin", None)?)?),
                    None => None,
                };
                parts.rounds(skin.as_ref().map_or(far, |skin| skin.far).into());
                self.mesh(self.item("meshes", mesh)?, frame, skin.as_deref(), textures, parts)?;
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

    fn mesh(
        &self,
        mesh: &'a Value,
        frame: Mat4,
        skin: Option<&Skin>,
        textures: &mut Textures,
        parts: &mut Parts,
    ) -> Result<()> {
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
            // Of each vertex, where a skeleton says, or of all.
            let frames = match skin {
                Some(skin) => self.placed_by(attributes, skin, count, parts)?,
                None => vec![frame],
            };
            let frame_of = |vertex: usize| if frames.len() == 1 { &frames[0] } else { &frames[vertex] };
            let placed = |(vertex, p): (usize, &Vec4)| frame_of(vertex).transform_point3(p.truncate()).as_dvec3();
            let positions: Vec<DVec3> = positions.iter().enumerate().map(placed).collect();
            let mirrored = frames[0].determinant() < 0.0;
            let turned = |(vertex, normal): (usize, &Vec4)| of_normals(frame_of(vertex)) * normal.truncate();
            let normals: Option<Vec<Vec3>> = given("NORMAL")?.map(|all| all.iter().enumerate().map(turned).collect());
            let material = match &primitive["material"] {
                Value::Null => None,
                _ => Some(self.whole(primitive, "material", None)?),
            };
            let (surface, set) = self.surface(material, textures, parts)?;
            let texture: Option<Vec<Vec2>> = given(&format!("TEXCOORD_{set}"))?
                .map(|all| all.iter().map(|at| Vec2::new(at.x, 1.0 - at.y)).collect());
            if texture.is_none() && parts.is_textured(surface) {
                parts.remark(format!(
                    "faces without a place on their texture (TEXCOORD_{set}) have the colour of its corner"
                ));
            }
            let colours = given("COLOR_0")?;
            if colours.iter().flatten().any(|colour| !colour.is_finite()) {
                return Err(self.bad("colours of its vertices that are not finite"));
            }
            if colours.iter().flatten().any(|colour| colour.w < 1.0) {
                parts.remark("its transparent parts are drawn opaque");
            }
            let colours: Option<Vec<Vec3>> = colours.map(|all| all.iter().map(|colour| colour.truncate()).collect());
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
        if let Some(moved) = named["extensions"].get("KHR_texture_transform") {
            parts.remark("its textures are not moved as KHR_texture_transform says");
            if moved.get("texCoord").is_some() {
                parts.remark(
                    "its textures lie where they do without KHR_texture_transform, which names other places (texCoord)",
                );
            }
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
            None => Vec3::ONE,
        };
        let (texture, beyond) = match named {
            Value::Null => (None, [TextureBorder::Repeat; 2]),
            _ => {
                let number = self.whole(named, "index", None)?;
                (Some(self.texture(number, textures)?), self.beyond(number)?)
            }
        };
        let own = parts.surface(Surface { colour, texture, beyond, of_light: true });
        self.surfaces.borrow_mut().insert(material, own);
        Ok((own, set))
    }

    fn texture(&self, number: u64, textures: &mut Textures) -> Result<Arc<Texture>> {
        let texture = self.item("textures", number)?;
        if texture.get("source").is_none() {
            let others = texture["extensions"].as_object().into_iter().flat_map(|all| all.keys());
            let others: Vec<&str> = others.map(String::as_str).collect();
            let what =
                if others.is_empty() { String::new() } else { format!(" but what {} brings along", others.join(", ")) };
            let error = self.bad(format!("texture {number} has no picture{what}"));
            return Err(error.hint("export it again with textures as PNG or JPEG"));
        }
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

    /// How a texture goes on beyond its borders, as its sampler says.
    fn beyond(&self, number: u64) -> Result<[TextureBorder; 2]> {
        let texture = self.item("textures", number)?;
        let sampler = match texture.get("sampler") {
            Some(_) => self.item("samplers", self.whole(texture, "sampler", None)?)?,
            None => &Value::Null,
        };
        let of = |name: &str| match self.whole(sampler, name, Some(10497))? {
            10497 => Ok(TextureBorder::Repeat),
            33648 => Ok(TextureBorder::Mirror),
            33071 => Ok(TextureBorder::Last),
            other => Err(self.bad(format!("`{name}` {other}; known are 10497, 33648 and 33071"))),
        };
        Ok([of("wrapS")?, of("wrapT")?])
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
}

/// What turns normals where positions go through `frame`: the transpose of the inverse but for its length, and defined where there is none.
fn of_normals(frame: &Mat4) -> Mat3 {
    let linear = Mat3::from_mat4(*frame);
    let side = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
    let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
    Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * side
}
