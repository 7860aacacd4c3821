//! PLY files, as text and in binary (Turk, The PLY Polygon File PlyFormat, 1994). Crates that read them take the memory that a header claims, and
//! hold every number of a vertex under its name.

use std::path::Path;

use glam::{DVec3, Vec2, Vec3};

use super::local::LocalFrame;
use super::mesh::Surface;
use super::parts::{PLAIN, Parts, Piece, whole};
use super::polygon::{Cutter, UNCUT};
use crate::core::{Budget, Cx, Error, Result};

#[derive(Clone, Copy, PartialEq)]
enum PlyFormat {
    Text,
    LittleEndian,
    BigEndian,
}

#[derive(Clone, Copy, PartialEq)]
enum NumberType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

struct PlyProperty {
    name: String,
    kind: NumberType,
    /// What the length of a list is written as.
    list: Option<NumberType>,
}

struct PlyElement {
    name: String,
    count: u64,
    properties: Vec<PlyProperty>,
}

pub(super) fn read(cx: &Cx, file: &Path, parts: &mut Parts) -> Result<()> {
    let (bytes, budget) = whole(cx, file)?;
    put(file, &bytes, &budget, parts).map_err(|error| error.at(file))
}

fn put(file: &Path, bytes: &[u8], budget: &Budget, parts: &mut Parts) -> Result<()> {
    let (format, elements, body) = header(file, bytes)?;
    let said = bytes.len() - body.len();
    if bytes[..said].windows(11).any(|words| words == b"TextureFile") {
        parts.remark("its texture is left out");
    }
    let mut numbers = PlyNumbers { file, format, left: body };
    let mut vertices = Vertices::default();
    let (mut corners, mut faces) = (vec![], vec![]);
    for element in &elements {
        // A number takes at least one byte, and as text a space.
        if element.count > numbers.left.len() as u64 {
            let (n, name, has) = (element.count, &element.name, numbers.left.len());
            let what = format!("it says that it has {n} of `{name}`, of which only {has} bytes are there");
            return Err(Error::file(file, what).hint("the file is cut off or damaged"));
        }
        let of = |names: &[&str]| element.properties.iter().position(|p| names.contains(&p.name.as_str()));
        match element.name.as_str() {
            "vertex" => {
                vertices = Vertices::read(&mut numbers, element, budget)?;
                if vertices.see_through {
                    parts.remark("its transparent parts are drawn opaque");
                }
                if vertices.colours.is_empty() && ["r", "g", "b"].iter().all(|name| of(&[name]).is_some()) {
                    parts.remark("its properties r, g and b are left out; colours are red, green and blue");
                }
            }
            "face" => {
                if of(&["red", "diffuse_red"]).is_some() {
                    parts.remark("colours of its faces are left out");
                }
                let place = of(&["vertex_indices", "vertex_index"])
                    .ok_or_else(|| Error::file(file, "its faces have no list `vertex_indices`"))?;
                for _ in 0..element.count {
                    budget.step()?;
                    let row = numbers.row(element, budget)?;
                    let face = &row[place];
                    budget.items::<[u32; 3]>(face.len(), "its faces")?;
                    corners.extend(face.iter().copied().map(place_of));
                    faces.push(face.len());
                }
            }
            other => {
                if other == "material" && element.count > 0 {
                    parts.remark("its materials are left out");
                }
                for _ in 0..element.count {
                    budget.step()?;
                    numbers.row(element, budget)?;
                }
            }
        }
    }
    let mut cutter = Cutter::default();
    // Of places that faces use: others are not drawn.
    let frame = LocalFrame::of(corners.iter().filter_map(|&corner| vertices.positions.get(corner as usize).copied()));
    let positions: Vec<Vec3> = vertices.positions.iter().map(|&place| frame.at(place)).collect();
    let mut left = &corners[..];
    for corners in faces {
        budget.step()?;
        let (face, rest) = left.split_at(corners);
        cutter.cut(&positions, face);
        left = rest;
    }
    if cutter.uncut > 0 {
        parts.remark(UNCUT);
    }
    if cutter.bent > 0 {
        parts.folds();
    }
    let colour = if vertices.colours.is_empty() { PLAIN } else { Vec3::ONE };
    let surface = parts.surface(Surface::plain(colour));
    fn given<T>(values: &[T]) -> Option<&[T]> {
        (!values.is_empty()).then_some(values)
    }
    let piece = Piece {
        positions: &vertices.positions,
        float32: vertices.float32,
        normals: given(&vertices.normals),
        texture: None::<&[Vec2]>,
        colours: given(&vertices.colours),
        corners: &cutter.triangles,
        surface,
    };
    parts.add(file, budget, &piece)
}

/// A vertex's number; what is none is beyond all vertices.
fn place_of(x: f64) -> u32 {
    if x >= 0.0 && x.fract() == 0.0 { x as u32 } else { u32::MAX }
}

#[derive(Default)]
struct Vertices {
    positions: Vec<DVec3>,
    normals: Vec<Vec3>,
    colours: Vec<Vec3>,
    /// Whether the file has positions as float32 numbers.
    float32: bool,
    /// Whether one is said to let light through.
    see_through: bool,
}

impl Vertices {
    fn read(numbers: &mut PlyNumbers, element: &PlyElement, budget: &Budget) -> Result<Self> {
        let place = |name: &str| element.properties.iter().position(|p| p.name == name && p.list.is_none());
        let three = |names: [&str; 3]| {
            let [a, b, c] = names.map(place);
            Some([a?, b?, c?])
        };
        let at = three(["x", "y", "z"])
            .ok_or_else(|| Error::file(numbers.file, "its vertices have no properties `x`, `y` and `z`"))?;
        let colours = [["red", "green", "blue"], ["diffuse_red", "diffuse_green", "diffuse_blue"]];
        let (normal, colour) = (three(["nx", "ny", "nz"]), colours.into_iter().find_map(three));
        let largest = |place: usize| match element.properties[place].kind {
            NumberType::U8 => 255.0,
            NumberType::U16 => 65535.0,
            _ => 1.0,
        };
        let most = colour.map_or(1.0, |colour| largest(colour[0]));
        let alpha = place("alpha").or(place("diffuse_alpha"));
        let mut vertices = Self::default();
        for number in 0..element.count {
            budget.step()?;
            budget.items::<(DVec3, [Vec3; 3])>(1, "its vertices")?;
            let row = numbers.row(element, budget)?;
            let vector = |places: [usize; 3]| Vec3::from(places.map(|place| row[place][0] as f32));
            vertices.positions.push(DVec3::from(at.map(|place| row[place][0])));
            normal.into_iter().for_each(|places| vertices.normals.push(vector(places)));
            vertices.see_through |= alpha.is_some_and(|place| row[place][0] < f64::from(largest(place)));
            if let Some(places) = colour {
                let colour = vector(places) / most;
                if !(colour.is_finite() && colour.min_element() >= 0.0 && colour.max_element() <= 1.0) {
                    let what = format!("vertex {number} has the colour {:?}", vector(places).to_array());
                    return Err(Error::file(numbers.file, what)
                        .hint("colours are whole numbers (uchar, ushort) up to their largest, or floats in [0, 1]"));
                }
                vertices.colours.push(colour);
            }
        }
        let is_float32 = |&place: &usize| element.properties[place].kind == NumberType::F32;
        vertices.float32 = numbers.format != PlyFormat::Text && at.iter().any(is_float32);
        Ok(vertices)
    }
}

fn header<'a>(file: &Path, bytes: &'a [u8]) -> Result<(PlyFormat, Vec<PlyElement>, &'a [u8])> {
    let bad = |what: String| Error::file(file, what).hint("wanted is a PLY file: lines `ply`, `format ascii 1.0`, ...");
    let (mut format, mut elements, mut left) = (None, Vec::<PlyElement>::new(), bytes);
    for number in 0.. {
        let end = left.iter().position(|&byte| byte == b'\n').ok_or_else(|| bad("its header has no end".into()))?;
        let line = std::str::from_utf8(&left[..end]).map_err(|_| bad("its header is no text".into()))?;
        left = &left[end + 1..];
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let unknown = || bad(format!("a line of its header that nobody knows: {:?}", line.trim_end()));
        match words[..] {
            ["ply"] if number == 0 => {}
            _ if number == 0 => return Err(bad("it does not begin with `ply`".into())),
            ["format", kind, "1.0"] => {
                format = Some(match kind {
                    "ascii" => PlyFormat::Text,
                    "binary_little_endian" => PlyFormat::LittleEndian,
                    "binary_big_endian" => PlyFormat::BigEndian,
                    _ => return Err(unknown()),
                });
            }
            ["comment" | "obj_info", ..] | [] => {}
            ["element", name, count] => {
                let count = count.parse().map_err(|_| unknown())?;
                elements.push(PlyElement { name: name.into(), count, properties: vec![] });
            }
            ["property", ref kind @ .., name] => {
                let element = elements.last_mut().ok_or_else(unknown)?;
                let (kind, list) = match kind[..] {
                    ["list", length, kind] => (NumberType::of(kind), Some(NumberType::of(length).ok_or_else(unknown)?)),
                    [kind] => (NumberType::of(kind), None),
                    _ => return Err(unknown()),
                };
                let kind = kind.ok_or_else(unknown)?;
                element.properties.push(PlyProperty { name: name.into(), kind, list });
            }
            ["end_header"] => break,
            _ => return Err(unknown()),
        }
    }
    if let Some(empty) = elements.iter().find(|element| element.properties.is_empty() && element.count > 0) {
        return Err(bad(format!("`{}` has no properties", empty.name)));
    }
    Ok((format.ok_or_else(|| bad("it does not say its format".into()))?, elements, left))
}

impl NumberType {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// The numbers of a body, from first to last.
struct PlyNumbers<'a> {
    file: &'a Path,
    format: PlyFormat,
    left: &'a [u8],
}

impl PlyNumbers<'_> {
    fn next(&mut self, kind: NumberType) -> Result<f64> {
        let cut = || Error::file(self.file, "it ends before all of its numbers").hint("the file is cut off");
        if self.format == PlyFormat::Text {
            let text = self.left.trim_ascii_start();
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            if word.is_empty() {
                return Err(cut());
            }
            self.left = rest;
            return std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).ok_or_else(|| {
                Error::file(self.file, format!("{:?} where a number is wanted", String::from_utf8_lossy(word)))
            });
        }
        let (bytes, rest) = self.left.split_at_checked(kind.size()).ok_or_else(cut)?;
        self.left = rest;
        let mut own = [0u8; 8];
        own[..bytes.len()].copy_from_slice(bytes);
        if self.format == PlyFormat::BigEndian {
            own[..bytes.len()].reverse();
        }
        let [a, b, c, d, ..] = own;
        Ok(match kind {
            NumberType::I8 => f64::from(a as i8),
            NumberType::U8 => f64::from(a),
            NumberType::I16 => f64::from(i16::from_le_bytes([a, b])),
            NumberType::U16 => f64::from(u16::from_le_bytes([a, b])),
            NumberType::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            NumberType::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            NumberType::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            NumberType::F64 => f64::from_le_bytes(own),
        })
    }

    /// One of an element: for every property its numbers.
    fn row(&mut self, element: &PlyElement, budget: &Budget) -> Result<Vec<Vec<f64>>> {
        let mut row = Vec::with_capacity(element.properties.len());
        for property in &element.properties {
            let length = match property.list {
                None => 1,
                Some(kind) => match self.next(kind)? {
                    n if n >= 0.0 && n <= self.left.len() as f64 => n as usize,
                    n => return Err(Error::file(self.file, format!("a list of {n} numbers in `{}`", element.name))),
                },
            };
            budget.would_take((length * size_of::<f64>()) as u64, "a list")?;
            row.push((0..length).map(|_| self.next(property.kind)).collect::<Result<_>>()?);
        }
        Ok(row)
    }
}
