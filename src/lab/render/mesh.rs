//! Triangles with colours: an object as the rasteriser reads it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::{Vec2, Vec3};

use crate::core::{Digest, Error, Result};

#[derive(Debug, Clone, Copy)]
pub struct Vertex {
    pub position: Vec3,
    /// Of length 1.
    pub normal: Vec3,
    /// Where in the texture, (0, 0) the lower left corner and (1, 1) the upper right one, as in OBJ files.
    pub texture: Vec2,
    /// Red, green and blue in [0, 1] that the surface's colour is multiplied by: light, where products are of light.
    pub colour: Vec3,
}

#[derive(Debug, Clone, Copy)]
pub struct Triangle {
    pub corners: [u32; 3],
    pub surface: u32,
}

/// What a part of an object looks like: a colour, times a texture if there is one, times the colours of vertices.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Red, green and blue in [0, 1].
    pub colour: Vec3,
    pub texture: Option<Arc<Texture>>,
    /// How the texture goes on beyond its left and right borders, and its lower and upper ones.
    pub beyond: [TextureBorder; 2],
    /// Whether products of colours are of light, and not of the numbers that screens are told.
    pub of_light: bool,
}

impl Surface {
    /// A colour alone.
    pub fn plain(colour: Vec3) -> Self {
        Self { colour, texture: None, beyond: [TextureBorder::Repeat; 2], of_light: false }
    }

    /// Its colour where the texture is at `place` and vertices have this colour.
    pub fn at(&self, place: Vec2, of_vertices: Vec3) -> Vec3 {
        let of_texture = self.texture.as_ref().map_or(Vec3::ONE, |texture| texture.at(place, self.beyond));
        // Shares of the corners are rounded.
        let uncoloured = (of_vertices - Vec3::ONE).abs().max_element() < 1e-6;
        let alone = uncoloured && (self.colour == Vec3::ONE || self.texture.is_none());
        match self.of_light && !alone {
            true => as_seen(as_light(self.colour) * as_light(of_texture) * of_vertices),
            false => self.colour * of_texture * of_vertices,
        }
    }
}

/// How a picture goes on beyond its borders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextureBorder {
    Repeat,
    Mirror,
    /// With the colours at the border.
    Last,
}

impl TextureBorder {
    /// The place in [0, 1] that shows what is to be seen at `x`.
    fn within(self, x: f32) -> f32 {
        match self {
            Self::Repeat => x.rem_euclid(1.0),
            Self::Mirror => 1.0 - (x.rem_euclid(2.0) - 1.0).abs(),
            Self::Last => x.clamp(0.0, 1.0),
        }
    }
}

/// A colour that is proportional to light, as screens are told it (IEC 61966-2-1, sRGB): pictures that are laid over objects are such.
pub(super) fn as_seen(linear: Vec3) -> Vec3 {
    let coded = |x: f32| if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    Vec3::from(linear.to_array().map(|x| coded(x.clamp(0.0, 1.0))))
}

/// The inverse.
pub(super) fn as_light(seen: Vec3) -> Vec3 {
    Vec3::from(seen.to_array().map(|x| if x <= 0.040_45 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }))
}

/// A picture that is laid over triangles.
#[derive(Debug)]
pub struct Texture {
    pub width: usize,
    pub height: usize,
    /// Row by row from the top.
    pub pixels: Vec<[u8; 3]>,
    /// Whether the picture says that one can see through parts of it, which are drawn opaque.
    pub see_through: bool,
}

impl Texture {
    /// The nearest pixel.
    pub fn at(&self, place: Vec2, beyond: [TextureBorder; 2]) -> Vec3 {
        let index = |x: f32, n: usize, beyond: TextureBorder| ((beyond.within(x) * n as f32) as usize).min(n - 1);
        // Rows count from the top, v from the bottom.
        let (column, row) = (index(place.x, self.width, beyond[0]), index(1.0 - place.y, self.height, beyond[1]));
        Vec3::from(self.pixels[row * self.width + column].map(f32::from)) / 255.0
    }
}

/// An object in a box around the origin whose farthest vertex is 1 away: y points up, z to the front.
#[derive(Debug)]
pub struct Mesh {
    pub name: String,
    vertices: Vec<Vertex>,
    triangles: Vec<Triangle>,
    surfaces: Vec<Surface>,
    radius: f32,
    remarks: Vec<String>,
    /// How many of them, the first ones, say what is drawn otherwise than the file says.
    departures: usize,
    number: u64,
}

fn next_number() -> u64 {
    static MADE: AtomicU64 = AtomicU64::new(0);
    MADE.fetch_add(1, Ordering::Relaxed)
}

impl Mesh {
    /// Checks the parts, and moves and scales them so that the middle of their box is the origin and the farthest vertex is at
    /// distance 1.
    pub fn new(
        name: impl Into<String>,
        mut vertices: Vec<Vertex>,
        triangles: Vec<Triangle>,
        surfaces: Vec<Surface>,
    ) -> Result<Self> {
        let name = name.into();
        if triangles.is_empty() {
            return Err(
                Error::data(format!("{name}: no faces")).hint("an object needs at least one triangle to be seen")
            );
        }
        if vertices.len() > u32::MAX as usize {
            return Err(Error::data(format!("{name}: {} vertices are more than can be numbered", vertices.len())));
        }
        if let Some(bad) = vertices.iter().position(|v| !(v.position.is_finite() && v.texture.is_finite())) {
            return Err(Error::data(format!("{name}: vertex {bad} is not made of finite numbers")));
        }
        for (number, triangle) in triangles.iter().enumerate() {
            if let Some(bad) = triangle.corners.iter().find(|&&corner| corner as usize >= vertices.len()) {
                let has = vertices.len();
                return Err(Error::data(format!("{name}: triangle {number} asks for vertex {bad} of {has}")));
            }
            if triangle.surface as usize >= surfaces.len() {
                return Err(Error::data(format!("{name}: triangle {number} has no surface {}", triangle.surface)));
            }
        }
        let used = || triangles.iter().flat_map(|t| t.corners).map(|corner| corner as usize);
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for corner in used() {
            low = low.min(vertices[corner].position);
            high = high.max(vertices[corner].position);
        }
        // Halves first: the sum of two large numbers may leave float32.
        let middle = low * 0.5 + high * 0.5;
        let radius = used().map(|corner| (vertices[corner].position - middle).length()).fold(0.0, f32::max);
        if !(radius > 1e-12 && radius.is_finite()) {
            return Err(Error::data(format!("{name}: all vertices lie in one point, or too far apart"))
                .hint("an object needs a size between 1e-12 and 1e19"));
        }
        for vertex in &mut vertices {
            vertex.position = (vertex.position - middle) / radius;
            vertex.normal = vertex.normal.normalize_or(Vec3::Y);
        }
        Ok(Self { name, vertices, triangles, surfaces, radius, remarks: vec![], departures: 0, number: next_number() })
    }

    /// The same object with what a reader has to say of it: its size in the file, what is drawn otherwise than that says, and what else was put
    /// right.
    pub(super) fn read_as(self, radius: f32, departures: Vec<String>, others: Vec<String>) -> Self {
        Self { radius, departures: departures.len(), remarks: [departures, others].concat(), ..self }
    }

    /// What was put right, or is drawn otherwise than its file says; empty where nothing is known to be.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Those of its remarks that say what is drawn otherwise than its file says.
    pub fn departures(&self) -> &[String] {
        &self.remarks[..self.departures]
    }

    /// The same object elsewhere, in a ball of this radius.
    pub(super) fn placed(&self, middle: Vec3, radius: f32) -> Self {
        let moved = |vertex: &Vertex| Vertex { position: middle + vertex.position * radius, ..*vertex };
        Self {
            name: self.name.clone(),
            vertices: self.vertices.iter().map(moved).collect(),
            triangles: self.triangles.clone(),
            surfaces: self.surfaces.clone(),
            radius: self.radius,
            remarks: vec![],
            departures: 0,
            number: next_number(),
        }
    }

    /// How far its farthest vertex was from the middle of its box before it was scaled, in units of its own.
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Its own among all meshes of the process.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn area(&self, triangle: &Triangle) -> f32 {
        let [a, b, c] = triangle.corners.map(|corner| self.vertices[corner as usize].position);
        (b - a).cross(c - a).length() / 2.0
    }

    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    pub fn surface(&self, number: u32) -> &Surface {
        &self.surfaces[number as usize]
    }

    /// Bytes that it takes, textures aside.
    pub fn bytes(&self) -> u64 {
        let surfaces = self.surfaces.len() * size_of::<Surface>();
        (size_of_val(&*self.vertices) + size_of_val(&*self.triangles) + surfaces) as u64
    }

    /// The identity of everything that is seen of it.
    pub fn digest(&self) -> Digest {
        let counts = [self.vertices.len(), self.triangles.len(), self.surfaces.len()];
        let mut bytes: Vec<u8> = counts.iter().flat_map(|count| (*count as u64).to_le_bytes()).collect();
        for vertex in &self.vertices {
            let numbers = [vertex.position.to_array(), vertex.normal.to_array()].concat();
            numbers.iter().chain(&vertex.texture.to_array()).for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        for triangle in &self.triangles {
            triangle.corners.iter().chain([&triangle.surface]).for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        let mut seen: Vec<*const Texture> = vec![];
        for surface in &self.surfaces {
            surface.colour.to_array().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            bytes.push(surface.texture.is_some().into());
            if let Some(texture) = &surface.texture {
                // One that several surfaces share goes in once: with its pixels the first time, by its number from then on.
                if let Some(number) = seen.iter().position(|before| *before == Arc::as_ptr(texture)) {
                    bytes.extend((number as u64).to_le_bytes());
                    continue;
                }
                seen.push(Arc::as_ptr(texture));
                bytes.extend(
                    [texture.width, texture.height].map(|side| side as u64).iter().flat_map(|side| side.to_le_bytes()),
                );
                bytes.extend(texture.pixels.as_flattened());
            }
        }
        if self.vertices.iter().any(|vertex| vertex.colour != Vec3::ONE) {
            let colours = self.vertices.iter().flat_map(|vertex| vertex.colour.to_array());
            colours.for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        if self.surfaces.iter().any(|surface| surface.of_light || surface.beyond != [TextureBorder::Repeat; 2]) {
            let how = |surface: &Surface| [surface.of_light.into(), surface.beyond[0] as u8, surface.beyond[1] as u8];
            bytes.extend(self.surfaces.iter().flat_map(how));
        }
        Digest::of(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::TextureBorder;

    #[test]
    fn pictures_go_on_beyond_their_borders() {
        let at = |beyond: TextureBorder| [-0.25f32, 0.25, 1.25, 2.25].map(|x| beyond.within(x));
        assert_eq!(at(TextureBorder::Repeat), [0.75, 0.25, 0.25, 0.25]);
        assert_eq!(at(TextureBorder::Mirror), [0.25, 0.25, 0.75, 0.25]);
        assert_eq!(at(TextureBorder::Last), [0.0, 0.25, 1.0, 1.0]);
    }
}
