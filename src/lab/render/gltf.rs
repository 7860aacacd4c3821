//! glTF 2.0, as text and in binary (Khronos Group, glTF 2.0 Specification, ISO/IEC 12113). The crate of that name tells the types of numbers
//! apart only where it is built without optimisation, so that a wrong one would be read as something else.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine;
use glam::{DVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use serde_json::Value;

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
    let (buffers, surfaces, frames, parents, skins) = Default::default();
    let mut gltf = Gltf { file, root: &root, blob, budget: &budget, buffers, surfaces, frames, parents, skins };
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

/// Where each joint of a skeleton takes what hangs on it, and how far off the frames are that this goes through.
struct Skin {
    joints: Vec<Mat4>,
    far: f32,
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
    /// From a node's own frame to the file's, of those that a skeleton asked for; the node that each hangs on; and skeletons that were asked for.
    frames: RefCell<HashMap<u64, Mat4>>,
    parents: OnceCell<HashMap<u64, u64>>,
    skins: RefCell<HashMap<u64, Rc<Skin>>>,
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

    /// From a node's own frame to the file's.
    fn frame_of(&self, node: u64) -> Result<Mat4> {
        let none = vec![];
        let nodes = self.root["nodes"].as_array().unwrap_or(&none);
        if self.parents.get().is_none() {
            let mut parents = HashMap::new();
            for (parent, node) in nodes.iter().enumerate() {
                for child in self.places(node, "children")? {
                    self.budget.step()?;
                    parents.entry(child).or_insert(parent as u64);
                }
            }
            let _ = self.parents.set(parents);
        }
        let parents = self.parents.get().expect("they were just found");
        let mut frames = self.frames.borrow_mut();
        let (mut above, mut at) = (vec![], Some(node));
        while let Some(node) = at.filter(|node| !frames.contains_key(node)) {
            self.budget.step()?;
            if above.len() > nodes.len() {
                return Err(self.bad(format!("node {node} hangs in itself")));
            }
            above.push(node);
            at = parents.get(&node).copied();
        }
        let mut frame = at.map_or(Mat4::IDENTITY, |node| frames[&node]);
        for node in above.into_iter().rev() {
            frame *= self.frame(self.item("nodes", node)?)?;
            frames.insert(node, frame);
        }
        Ok(frame)
    }

    /// A skeleton as its nodes stand in the file.
    fn skin(&self, number: u64) -> Result<Rc<Skin>> {
        if let Some(known) = self.skins.borrow().get(&number) {
            return Ok(known.clone());
        }
        let skin = self.item("skins", number)?;
        let joints = self.places(skin, "joints")?;
        self.budget.items::<[Mat4; 2]>(joints.len(), "its joints")?;
        let back: Vec<Mat4> = match skin.get("inverseBindMatrices") {
            None => vec![Mat4::IDENTITY; joints.len()],
            Some(number) => {
                let (numbers, _) = self.numbers(number, "inverseBindMatrices", &["MAT4"])?;
                let matrix = |own: &[f64; 16]| Mat4::from_cols_array(&own.map(|x| x as f32));
                numbers.as_chunks::<16>().0.iter().take(joints.len()).map(matrix).collect()
            }
        };
        if back.len() < joints.len() {
            return Err(self.bad(format!("{} `inverseBindMatrices` for {} joints", back.len(), joints.len())));
        }
        if back.iter().any(|back| !back.is_finite()) {
            return Err(self.bad("`inverseBindMatrices` that are not finite"));
        }
        let mut far = 0f32;
        let mut placed = Vec::with_capacity(joints.len());
        for (&joint, back) in joints.iter().zip(&back) {
            let frame = self.frame_of(joint)?;
            for frame in [&frame, back] {
                far = far.max(frame.w_axis.truncate().abs().max_element());
            }
            placed.push(frame * *back);
        }
        let skin = Rc::new(Skin { joints: placed, far });
        self.skins.borrow_mut().insert(number, skin.clone());
        Ok(skin)
    }

    /// What takes each vertex of a primitive to its place: what its joints say, each by its weight.
    fn placed_by(&self, attributes: &Value, skin: &Skin, count: usize, parts: &mut Parts) -> Result<Vec<Mat4>> {
        let given = |name: &str| {
            let number = attributes.get(name).ok_or_else(|| self.bad(format!("a skeleton without `{name}`")))?;
            self.vectors(number, name)
        };
        let (joints, weights) = (given("JOINTS_0")?, given("WEIGHTS_0")?);
        if joints.len() != count || weights.len() != count {
            return Err(self.bad(format!(
                "{} joints and {} weights for {count} vertices",
                joints.len(),
                weights.len()
            )));
        }
        if attributes.get("JOINTS_1").is_some() {
            parts.remark("of the joints of its skeleton four are kept for each vertex");
        }
        self.budget.items::<Mat4>(count, "its vertices")?;
        let mut loose = false;
        let mut of = |(joints, weights): (&Vec4, &Vec4)| {
            self.budget.step()?;
            let mut sum = Mat4::ZERO;
            for (joint, weight) in joints.to_array().into_iter().zip(weights.to_array()) {
                if weight != 0.0 {
                    let joint = skin.joints.get(joint as usize);
                    sum += *joint.ok_or_else(|| self.bad("a vertex hangs on a joint that is not there"))? * weight;
                }
            }
            let all = weights.element_sum();
            if all == 0.0 {
                loose = true;
                return Ok(Mat4::IDENTITY);
            }
            match sum * all.recip() {
                placed if all > 0.0 && placed.is_finite() => Ok(placed),
                _ => Err(self.bad(format!("a vertex whose joints have the weights {weights}"))),
            }
        };
        let placed = joints.iter().zip(&weights).map(&mut of).collect();
        if loose {
            parts.remark("vertices that hang on no joint of its skeleton stand where its file has them");
        }
        placed
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
    fn numbers(&self, number: &Value, name: &str, types: &[&str]) -> Result<(Vec<f64>, usize)> {
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

/// What turns normals where positions go through `frame`: the transpose of the inverse but for its length, and defined where there is none.
fn of_normals(frame: &Mat4) -> Mat3 {
    let linear = Mat3::from_mat4(*frame);
    let side = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
    let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
    Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * side
}
