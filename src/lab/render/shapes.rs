//! What objects are built of: boxes, turned profiles, tubes and plates.

use std::f32::consts::TAU;

use glam::{Quat, Vec2, Vec3};

use super::mesh::{Mesh, Surface, Triangle, Vertex};
use crate::core::Result;

/// An object under construction.
#[derive(Default)]
pub struct Builder {
    vertices: Vec<Vertex>,
    triangles: Vec<Triangle>,
    surfaces: Vec<Surface>,
}

/// Profiles whose directions differ by less than this are turned into one smooth surface.
const SMOOTH: f32 = 0.8;

impl Builder {
    /// What is built next has this colour, red, green and blue.
    pub fn colour(&mut self, colour: Vec3) -> &mut Self {
        self.surfaces.push(Surface::plain(colour));
        self
    }

    pub fn finish(self, name: impl Into<String>) -> Result<Mesh> {
        Mesh::new(name, self.vertices, self.triangles, self.surfaces)
    }

    fn triangle(&mut self, corners: [u32; 3]) {
        let surface = self.surfaces.len().saturating_sub(1) as u32;
        self.triangles.push(Triangle { corners, surface });
    }

    fn vertex(&mut self, position: Vec3, normal: Vec3) -> u32 {
        self.vertices.push(Vertex { position, normal, texture: Vec2::ZERO, colour: Vec3::ONE });
        self.vertices.len() as u32 - 1
    }

    /// A flat polygon that bulges nowhere inwards.
    pub fn plate(&mut self, corners: &[Vec3]) -> &mut Self {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(Vec3::Y);
        let numbers: Vec<u32> = corners.iter().map(|&corner| self.vertex(corner, normal)).collect();
        for pair in numbers[1..].windows(2) {
            self.triangle([numbers[0], pair[0], pair[1]]);
        }
        self
    }

    /// A box of this middle and these sides, turned about its middle.
    pub fn turned_block(&mut self, middle: Vec3, sides: Vec3, turn: Quat) -> &mut Self {
        let half = sides / 2.0;
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let corner = |a: f32, b: f32| {
                    let mut at = Vec3::ZERO;
                    at[axis] = sign * half[axis];
                    at[u] = a * half[u] * sign;
                    at[v] = b * half[v];
                    middle + turn * at
                };
                self.plate(&[corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]);
            }
        }
        self
    }

    pub fn block(&mut self, middle: [f32; 3], sides: [f32; 3]) -> &mut Self {
        self.turned_block(middle.into(), sides.into(), Quat::IDENTITY)
    }

    /// A profile of (radius, height), from below upwards outside, turned about the vertical through `foot`, in `around` pieces.
    pub fn turned(&mut self, foot: [f32; 3], profile: &[[f32; 2]], around: usize) -> &mut Self {
        self.turned_about(foot.into(), Quat::IDENTITY, profile, around)
    }

    /// As [`Builder::turned`] about an axis that `turn` takes the vertical to.
    pub fn turned_about(&mut self, foot: Vec3, turn: Quat, profile: &[[f32; 2]], around: usize) -> &mut Self {
        let lines: Vec<(Vec2, Vec2)> = profile
            .windows(2)
            .map(|pair| (Vec2::from(pair[0]), Vec2::from(pair[1])))
            .filter(|(a, b)| a.distance(*b) > 1e-6)
            .collect();
        // Outwards, to the right of the way up.
        let outward = |(a, b): (Vec2, Vec2)| Vec2::new(b.y - a.y, a.x - b.x).normalize_or(Vec2::X);
        let normals: Vec<Vec2> = lines.iter().map(|&line| outward(line)).collect();
        let shared = |i: usize, j: usize| match normals[i].angle_to(normals[j]).abs() < SMOOTH {
            true => (normals[i] + normals[j]).normalize_or(normals[i]),
            false => normals[i],
        };
        for (i, &(low, high)) in lines.iter().enumerate() {
            let below = if i > 0 { shared(i, i - 1) } else { normals[i] };
            let above = if i + 1 < lines.len() { shared(i, i + 1) } else { normals[i] };
            let ring = |build: &mut Self, point: Vec2, normal: Vec2| -> Vec<u32> {
                (0..around)
                    .map(|k| {
                        let (sin, cos) = (k as f32 / around as f32 * TAU).sin_cos();
                        let spin = |p: Vec2| turn * Vec3::new(p.x * sin, p.y, p.x * cos);
                        build.vertex(foot + spin(point), spin(normal))
                    })
                    .collect()
            };
            let (from, to) = (ring(self, low, below), ring(self, high, above));
            for k in 0..around {
                let next = (k + 1) % around;
                if low.x > 1e-6 {
                    self.triangle([from[k], from[next], to[next]]);
                }
                if high.x > 1e-6 {
                    self.triangle([from[k], to[next], to[k]]);
                }
            }
        }
        self
    }

    /// A closed cylinder.
    pub fn cylinder(&mut self, foot: [f32; 3], radius: f32, height: f32, around: usize) -> &mut Self {
        self.turned(foot, &[[0.0, 0.0], [radius, 0.0], [radius, height], [0.0, height]], around)
    }

    pub fn ball(&mut self, middle: [f32; 3], radius: f32, around: usize) -> &mut Self {
        let half = around.div_ceil(2);
        let profile: Vec<[f32; 2]> = (0..=half)
            .map(|k| (k as f32 / half as f32 * TAU / 2.0).sin_cos())
            .map(|(sin, cos)| [radius * sin.max(0.0), -radius * cos])
            .collect();
        self.turned(middle, &profile, around)
    }

    /// A round bar along a way, open at its ends.
    pub fn bar(&mut self, way: &[Vec3], radius: f32, around: usize) -> &mut Self {
        let along = |i: usize| (way[(i + 1).min(way.len() - 1)] - way[i.saturating_sub(1)]).normalize_or(Vec3::Y);
        // A side that is carried along the way, so that rings do not twist.
        let mut side = along(0).any_orthonormal_vector();
        let mut before: Option<Vec<u32>> = None;
        for (i, &point) in way.iter().enumerate() {
            let forward = along(i);
            side = (side - forward * side.dot(forward)).normalize_or(forward.any_orthonormal_vector());
            let other = forward.cross(side);
            let ring: Vec<u32> = (0..around)
                .map(|k| {
                    let (sin, cos) = (k as f32 / around as f32 * TAU).sin_cos();
                    let normal = side * cos + other * sin;
                    self.vertex(point + normal * radius, normal)
                })
                .collect();
            if let Some(from) = before {
                for k in 0..around {
                    let next = (k + 1) % around;
                    self.triangle([from[k], from[next], ring[next]]);
                    self.triangle([from[k], ring[next], ring[k]]);
                }
            }
            before = Some(ring);
        }
        self
    }

    /// A side view (x, y), any polygon that its first corner sees all of, between two depths along z.
    pub fn slab(&mut self, outline: &[[f32; 2]], back: f32, front: f32) -> &mut Self {
        let at = |[x, y]: [f32; 2], z: f32| Vec3::new(x, y, z);
        let face = |z: f32| outline.iter().map(|&p| at(p, z)).collect::<Vec<_>>();
        self.plate(&face(front)).plate(&face(back));
        for k in 0..outline.len() {
            let (p, q) = (outline[k], outline[(k + 1) % outline.len()]);
            self.plate(&[at(p, back), at(p, front), at(q, front), at(q, back)]);
        }
        self
    }
}
