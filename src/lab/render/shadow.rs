//! Where a light does not reach: its own picture of the object, by which is told what is nearest to it (Williams, SIGGRAPH 1978), with
//! the share of the four places around that is lit (Reeves, Salesin and Cook, SIGGRAPH 1987).

use glam::{Mat3, Vec3};

use super::depth::{DepthBuffer, Projected, TrianglePlane};
use super::mesh::Mesh;

/// Places along either side, at least and at most.
const SIDE: [usize; 2] = [128, 1024];
/// How far the sun is imagined from the middle, in radii.
const SUN: f32 = 2.0;
/// The picture goes a little beyond the ball around the object.
const MARGIN: f32 = 1.02;

pub(super) struct ShadowMap {
    position: Vec3,
    axes: Mat3,
    /// Places per unit of length at the sun, per unit of x / z at lamps.
    scale: f32,
    parallel: bool,
    buffer: DepthBuffer,
    /// The width of a place at the object's middle.
    place: f32,
}

impl ShadowMap {
    pub fn of_sun(mesh: &Mesh, towards: Vec3, side: usize) -> Self {
        Self::of(mesh, towards * SUN, true, side)
    }

    pub fn of_lamp(mesh: &Mesh, lamp: Vec3, side: usize) -> Self {
        Self::of(mesh, lamp, false, side)
    }

    fn of(mesh: &Mesh, position: Vec3, parallel: bool, side: usize) -> Self {
        let side = side.clamp(SIDE[0], SIDE[1]);
        let (right, up) = position.normalize().any_orthonormal_pair();
        let axes = Mat3::from_cols(right, up, -position.normalize()).transpose();
        // The ball of radius 1 around the middle fills the picture.
        let fills = if parallel { 1.0 } else { (position.length_squared() - 1.0).sqrt() };
        let scale = side as f32 / 2.0 * fills / MARGIN;
        let place = if parallel { 1.0 / scale } else { position.length() / scale };
        let mut map = Self { position, axes, scale, parallel, buffer: DepthBuffer::of_depths(side), place };
        let projected: Vec<Projected> = mesh.vertices().iter().map(|vertex| map.project(vertex.position)).collect();
        for (number, triangle) in mesh.triangles().iter().enumerate() {
            if let Some(plane) = TrianglePlane::of(triangle.corners.map(|corner| projected[corner as usize])) {
                map.buffer.cover(number as u32, &plane);
            }
        }
        map
    }

    fn project(&self, position: Vec3) -> Projected {
        let seen = self.axes * (position - self.position);
        let middle = self.buffer.wide as f32 / 2.0;
        let (nearness, scale) = match self.parallel {
            // Above 0, and linear in the picture as one over the depth is at lamps.
            true => (2.0 * SUN - seen.z, self.scale),
            false => (1.0 / seen.z, self.scale / seen.z),
        };
        Projected { x: middle + seen.x * scale, y: middle - seen.y * scale, nearness }
    }

    /// Whether light reaches a place of a face whose normal is `across`, by the one place of the map that it is seen at.
    pub fn reaches(&self, position: Vec3, across: Vec3) -> bool {
        let (seen, slack) = self.off_the_face(position, across);
        let last = self.buffer.wide - 1;
        let (column, row) = ((seen.x.max(0.0) as usize).min(last), (seen.y.max(0.0) as usize).min(last));
        self.buffer.nearness[row * self.buffer.wide + column] <= seen.nearness + slack
    }

    /// The share of light that reaches a place of a face whose normal is `across`.
    pub fn lit(&self, position: Vec3, across: Vec3) -> f32 {
        let (seen, slack) = self.off_the_face(position, across);
        let (x, y) = (seen.x - 0.5, seen.y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (along, down) = (x - left, y - top);
        let last = (self.buffer.wide - 1) as f32;
        let at = |dx: f32, dy: f32| {
            let (column, row) = ((left + dx).clamp(0.0, last) as usize, (top + dy).clamp(0.0, last) as usize);
            f32::from(self.buffer.nearness[row * self.buffer.wide + column] <= seen.nearness + slack)
        };
        let above = at(0.0, 0.0) * (1.0 - along) + at(1.0, 0.0) * along;
        let below = at(0.0, 1.0) * (1.0 - along) + at(1.0, 1.0) * along;
        above * (1.0 - down) + below * down
    }

    /// A place's depth is that of its middle: what is looked up stands off the face by more than it may be wrong.
    fn off_the_face(&self, position: Vec3, across: Vec3) -> (Projected, f32) {
        let seen = self.project(position + across * (1.5 * self.place));
        (seen, 0.5 * self.place * if self.parallel { 1.0 } else { seen.nearness * seen.nearness })
    }
}
