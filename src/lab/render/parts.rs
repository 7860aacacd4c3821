//! What readers of mesh files put together: triangles as they stand in a file, whose normals may be missing.

use std::path::Path;

use glam::{DVec3, Vec2, Vec3};

use super::local::LocalFrame;
use super::mesh::{Mesh, Surface, Triangle, Vertex};
use crate::core::{Budget, Cx, Error, Result};

/// Which way is up in a file. Objects are drawn with y up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Up {
    Y,
    Z,
}

/// The colour of what has no material.
pub(super) const PLAIN: Vec3 = Vec3::splat(0.7);

/// The parts of one object, from one file or several.
#[derive(Default)]
pub(super) struct Parts {
    /// Their positions are in `places` until all are known.
    vertices: Vec<Vertex>,
    /// Where each of `vertices` is in the file.
    places: Vec<DVec3>,
    triangles: Vec<Triangle>,
    surfaces: Vec<Surface>,
    /// The first vertices of triangles that get the normal of their face, as the file gives none or none of a direction.
    flat: Vec<u32>,
    remarks: Vec<String>,
    /// Whether faces of four or more corners lie in no plane.
    folded: bool,
    /// The largest coordinate that is rounded to float32 before it is known where the object lies.
    rounded: f64,
}

/// Triangles in one frame, of one surface. What is given per vertex has as many entries as `positions`.
pub(super) struct Piece<'a> {
    pub positions: &'a [DVec3],
    /// Whether these are float32 numbers in the file.
    pub float32: bool,
    pub normals: Option<&'a [Vec3]>,
    pub texture: Option<&'a [Vec2]>,
    /// Red, green and blue in [0, 1] that the surface's colour is multiplied by.
    pub colours: Option<&'a [Vec3]>,
    pub corners: &'a [[u32; 3]],
    pub surface: u32,
}

impl Parts {
    pub fn surface(&mut self, surface: Surface) -> u32 {
        self.surfaces.push(surface);
        self.surfaces.len() as u32 - 1
    }

    pub fn is_textured(&self, surface: u32) -> bool {
        self.surfaces[surface as usize].texture.is_some()
    }

    /// Notes that coordinates as large as this are float32 numbers, which have some seven digits.
    pub fn rounds(&mut self, coordinate: f64) {
        self.rounded = self.rounded.max(coordinate.abs());
    }

    /// What is drawn otherwise than the file says: once, however often it is met.
    pub fn remark(&mut self, remark: impl Into<String>) {
        let remark = remark.into();
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// Notes faces of four or more corners that lie in no plane.
    pub fn folds(&mut self) {
        self.folded = true;
    }

    pub fn add(&mut self, file: &Path, budget: &Budget, piece: &Piece) -> Result<()> {
        let count = piece.positions.len();
        if let Some(bad) = piece.corners.as_flattened().iter().find(|&&index| index as usize >= count) {
            return Err(Error::file(file, format!("a face asks for vertex {bad} of {count}"))
                .hint("the file may be cut off, or damaged"));
        }
        let vertex = |i: usize, normal: Vec3| Vertex {
            position: Vec3::ZERO,
            normal,
            texture: piece.texture.map_or(Vec2::ZERO, |texture| texture[i]),
            colour: piece.colours.map_or(Vec3::ONE, |colours| colours[i]),
        };
        let first = self.vertices.len() as u32;
        if let Some(normals) = piece.normals {
            budget.items::<(Vertex, DVec3)>(count, "its vertices")?;
            self.places.extend(piece.positions);
            self.vertices.extend(normals.iter().enumerate().map(|(i, &normal)| vertex(i, normal)));
        }
        budget.items::<Triangle>(piece.corners.len(), "its triangles")?;
        for &corners in piece.corners {
            budget.step()?;
            if piece.float32 {
                corners.iter().for_each(|&corner| self.rounds(piece.positions[corner as usize].abs().max_element()));
            }
            let surface = piece.surface;
            let is_direction =
                |&corner: &u32| piece.normals.is_some_and(|normals| normals[corner as usize].try_normalize().is_some());
            if corners.iter().all(is_direction) {
                self.triangles.push(Triangle { corners: corners.map(|corner| first + corner), surface });
                continue;
            }
            budget.items::<(Vertex, DVec3)>(3, "its vertices")?;
            let own = self.vertices.len() as u32;
            self.places.extend(corners.map(|corner| piece.positions[corner as usize]));
            self.vertices.extend(corners.map(|corner| vertex(corner as usize, Vec3::Y)));
            self.triangles.push(Triangle { corners: [own, own + 1, own + 2], surface });
            self.flat.push(own);
        }
        Ok(())
    }

    pub fn finish(mut self, name: &str, up: Up) -> Result<Mesh> {
        let frame = LocalFrame::of(self.triangles.iter().flat_map(|t| t.corners).map(|i| self.places[i as usize]));
        for (vertex, &place) in self.vertices.iter_mut().zip(&self.places) {
            vertex.position = frame.at(place);
        }
        drop(self.places);
        for &first in &self.flat {
            let corners = &mut self.vertices[first as usize..][..3];
            let [a, b, c] = [0, 1, 2].map(|corner| corners[corner].position);
            let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
            corners.iter_mut().for_each(|vertex| vertex.normal = normal);
        }
        if up == Up::Z {
            let turned = |v: Vec3| Vec3::new(v.x, v.z, -v.y);
            for vertex in &mut self.vertices {
                vertex.position = turned(vertex.position);
                vertex.normal = turned(vertex.normal);
            }
        }
        let all = self.triangles.len();
        let mesh = Mesh::new(name, self.vertices, self.triangles, self.surfaces)?;
        let radius = frame.length(mesh.radius());
        if !SIZES.contains(&radius) {
            return Err(Error::data(format!(
                "{name}: all vertices lie in one point, or too far apart: {radius:.1e} from their middle"
            ))
            .hint("an object needs a size between 1e-12 and 1e19"));
        }
        let step = self.rounded * f64::from(f32::EPSILON);
        if step > COARSEST * radius {
            let what = format!(
                "{name}: its coordinates are float32 numbers up to {:e}, of which one is {step:.0e} from the next, and its radius is {radius:.1e}: its shape \
                 is rounded away",
                self.rounded
            );
            return Err(Error::data(what).hint("move it to the origin in the program that made it, and save it again"));
        }
        let mut others: Vec<String> = self.folded.then(|| FOLDED.into()).into_iter().collect();
        match self.flat.len() {
            0 => {}
            flat if flat == all => others.push("without normals: its faces are flat".into()),
            flat => others.push(format!("{flat} of {all} triangles have no normals: these are flat")),
        }
        match mesh.triangles().iter().filter(|triangle| mesh.area(triangle) == 0.0).count() {
            0 => {}
            unseen if unseen == all => {
                return Err(Error::data(format!(
                    "{name}: none of its {all} triangles has an area: nothing of it is seen"
                ))
                .hint("the corners of each lie on one line or in one point: was the file rounded as it was written?"));
            }
            unseen => others.push(format!("{unseen} of {all} triangles have no area and are not seen")),
        }
        Ok(mesh.read_as(radius as f32, self.remarks, others))
    }
}

/// Said of objects that have faces which lie in no plane.
const FOLDED: &str = "faces of four or more corners that lie in no plane are folded from corner to corner, of which its file does not say where";
/// Radii of objects, in units of their own.
const SIZES: std::ops::RangeInclusive<f64> = 1e-12..=1e19;
/// How far apart neighbouring float32 numbers may be where an object lies, in its radii: a hundredth of a pixel.
const COARSEST: f64 = 1e-4;

/// Bytes of a file, at most: 256 MiB.
pub(super) const FILE: u64 = 256 << 20;
/// What a mesh may take, however large its file.
pub(super) const MOST: u64 = 2 << 30;

/// All of a file, and what reading it may take.
pub(super) fn whole<'a>(cx: &'a Cx, file: &Path) -> Result<(Vec<u8>, Budget<'a>)> {
    let budget = Budget::of(cx, file, Budget::TEXT)?.at_most(MOST);
    if budget.size() > FILE {
        return Err(Error::file(file, "larger than 256 MiB").hint("make the mesh coarser: a picture has few pixels"));
    }
    Ok((budget.file(file)?, budget))
}
