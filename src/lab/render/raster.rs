//! A picture of an object: perspective, a depth buffer, Lambert and Blinn-Phong light with shadows, and four samples per pixel.

use std::sync::{Arc, OnceLock};

use glam::{Mat3, Vec2, Vec3};

use super::camera;
use super::depth::{DepthBuffer, NOTHING, Projected, TrianglePlane};
use super::mesh::{Mesh, Triangle, Vertex, as_light, as_seen};
use super::scenery::Scenery;
use super::shadow::ShadowMap;
use super::surroundings::{Surroundings, surroundings};
use super::view::{Light, Material, View};

/// Samples along either side of a pixel.
pub(super) const SAMPLES: usize = 2;
/// The tangent of half the angle of vision, 50 degrees.
const HALF_ANGLE: f32 = 0.466_307_66;
/// The share of light that comes from everywhere.
const AMBIENT: f32 = 0.35;
/// How far the lamps of point and area lights are from the object's middle, in radii.
const LAMP: f32 = 3.0;

/// Draws an object amid its scenery into `3 x size x size` pixels: each a whole multiple of 1/255 in [0, 1], so that a saved picture is the
/// one that was drawn. A pure function of what it is given.
pub fn draw(mesh: &Mesh, view: &View, scenery: &Scenery, size: usize, pixels: &mut [f32]) {
    picture(Some(mesh), view, scenery, size, pixels);
}

/// The same picture without the object.
pub fn draw_without(view: &View, scenery: &Scenery, size: usize, pixels: &mut [f32]) {
    picture(None, view, scenery, size, pixels);
}

/// Whether the ball around an object lies beside the picture, seen from so many radii and moved by this share of the picture's side.
pub fn is_beside(distance: f64, shift: f64) -> bool {
    let radius = 0.5 / f64::from(HALF_ANGLE) / (distance * distance - 1.0).sqrt();
    shift.abs() >= 0.5 + radius
}

fn picture(mesh: Option<&Mesh>, view: &View, scenery: &Scenery, size: usize, pixels: &mut [f32]) {
    let wide = size * SAMPLES;
    let camera = Camera::of(view, wide);
    let before = scenery.occluder(view).map(|mesh| camera.before(mesh, view));
    let object = mesh.map(|mesh| Shader::of(mesh, view, size, &camera));
    // What stands in front is itself, whatever the object is made of, and lamps may be nearer to it than they are meant to be.
    let plain = View {
        material: Material::Matte,
        light: Light::Sun,
        shadows: false,
        ambient_occlusion: false,
        hue: 0.0,
        roughness: None,
        ..*view
    };
    let occluder = before.as_ref().map(|mesh| Shader::of(mesh, &plain, size, &camera));
    let own = mesh.map_or(0, |mesh| mesh.triangles().len() as u32);
    let mut samples = DepthBuffer::new(wide);
    for (part, first) in [(&object, 0), (&occluder, own)] {
        let Some(part) = part else { continue };
        for (number, triangle) in part.mesh.triangles().iter().enumerate() {
            if let Some(plane) = TrianglePlane::of(triangle.corners.map(|corner| part.projected[corner as usize])) {
                samples.cover(first + number as u32, &plane);
            }
        }
    }
    let gain = view.exposure.exp2();
    let mut last: Option<(u32, &Shader, ShadedTriangle)> = None;
    for row in 0..size {
        for column in 0..size {
            let mut sum = Vec3::ZERO;
            // The light from everywhere changes little within a pixel.
            let mut open: Option<(u32, f32)> = None;
            for place in 0..SAMPLES * SAMPLES {
                let (x, y) = (column * SAMPLES + place % SAMPLES, row * SAMPLES + place / SAMPLES);
                let (u, v) = ((x as f32 + 0.5), (y as f32 + 0.5));
                let number = samples.triangle[y * wide + x];
                sum += match number {
                    NOTHING => exposed(scenery.backdrop(view, u / wide as f32, v / wide as f32, size), gain),
                    _ => {
                        if last.as_ref().is_none_or(|(held, ..)| *held != number) {
                            let (part, first) = if number < own { (&object, 0) } else { (&occluder, own) };
                            last = part.as_ref().and_then(|part| Some((number, part, part.face(number - first)?)));
                        }
                        let colour = last.as_ref().map_or(Vec3::ZERO, |(_, part, face)| {
                            let place = part.place(face, u, v);
                            if open.is_none_or(|(held, _)| held != number) {
                                open = Some((number, part.open(face, &place)));
                            }
                            part.colour(face, &place, open.map_or(1.0, |(_, share)| share))
                        });
                        exposed(colour, gain)
                    }
                };
            }
            let mean = sum / (SAMPLES * SAMPLES) as f32;
            for (channel, value) in mean.to_array().into_iter().enumerate() {
                pixels[(channel * size + row) * size + column] = value;
            }
        }
    }
    camera::develop(view, size, pixels);
}

/// A colour as screens are told it where its light is `gain` times as strong.
fn exposed(colour: Vec3, gain: f32) -> Vec3 {
    if gain == 1.0 { colour.min(Vec3::ONE) } else { as_seen(as_light(colour.max(Vec3::ZERO)) * gain) }
}

/// A direction from azimuth and elevation in degrees.
pub(super) fn direction(azimuth: f32, elevation: f32) -> Vec3 {
    let (sin, cos) = azimuth.to_radians().sin_cos();
    let (up, level) = elevation.to_radians().sin_cos();
    Vec3::new(sin * level, up, cos * level)
}

struct Camera {
    position: Vec3,
    /// Rows: to the right, up and away from the camera.
    axes: Mat3,
    /// Samples per unit of x / z.
    scale: f32,
    /// Where the object's middle is seen, in samples.
    middle: Vec2,
}

impl Camera {
    fn of(view: &View, wide: usize) -> Self {
        let towards = direction(view.azimuth, view.elevation);
        // From azimuth alone, so that looking straight down has a right side too.
        let right = direction(view.azimuth + 90.0, 0.0);
        let up = towards.cross(right);
        let (sin, cos) = view.roll.to_radians().sin_cos();
        let axes = Mat3::from_cols(right * cos + up * sin, up * cos - right * sin, -towards).transpose();
        let wide = wide as f32;
        let middle = Vec2::new(0.5 + view.shift_x, 0.5 + view.shift_y) * wide;
        Self { position: towards * view.distance, axes, scale: wide / 2.0 / HALF_ANGLE, middle }
    }

    /// An object where it hides a part of the one that is looked at.
    fn before(&self, mesh: &Mesh, view: &View) -> Mesh {
        let depth = (view.distance - 1.0) / 2.0;
        let [right, up] = [view.occluder_x - view.shift_x, view.shift_y - view.occluder_y]
            .map(|share| 2.0 * HALF_ANGLE * share * depth);
        let middle = self.position + self.axes.transpose() * Vec3::new(right, up, depth);
        mesh.placed(middle, view.occluder_size * HALF_ANGLE * depth)
    }

    fn project(&self, position: Vec3) -> Projected {
        let seen = self.axes * (position - self.position);
        let nearness = 1.0 / seen.z;
        let scale = self.scale * nearness;
        Projected { x: self.middle.x + seen.x * scale, y: self.middle.y - seen.y * scale, nearness }
    }
}

/// A triangle that is about to be coloured.
struct ShadedTriangle {
    plane: TrianglePlane,
    corners: [Vertex; 3],
    surface: u32,
    /// -1 where it is seen from behind, and its normals are turned round.
    side: f32,
    /// Of length 1, to the side that is seen.
    across: Vec3,
}

struct ShadedPlace {
    /// Of the three corners.
    shares: Vec3,
    position: Vec3,
    /// Of length 1.
    normal: Vec3,
}

struct Shader<'a> {
    mesh: &'a Mesh,
    eye: Vec3,
    projected: Vec<Projected>,
    view: &'a View,
    towards_light: Vec3,
    /// Where the lamps are, with their share of the light.
    lamps: Vec<Vec3>,
    /// One of the sun, or of each lamp; none where shadows are not cast.
    shadows: Vec<ShadowMap>,
    /// None where the light from everywhere reaches every place.
    surroundings: Option<Arc<OnceLock<Surroundings>>>,
    hue: Option<Mat3>,
    /// The exponent of highlights, where it is not the material's own.
    exponent: Option<f32>,
}

impl<'a> Shader<'a> {
    fn of(mesh: &'a Mesh, view: &'a View, size: usize, camera: &Camera) -> Self {
        let projected = mesh.vertices().iter().map(|vertex| camera.project(vertex.position)).collect();
        let towards_light = direction(view.light_azimuth, view.light_elevation);
        let lamps = match view.light {
            Light::Sun => vec![],
            Light::Point => vec![towards_light * LAMP],
            Light::Area => {
                let right = direction(view.light_azimuth + 90.0, 0.0);
                let up = towards_light.cross(right);
                let place = |i: usize| (2 * i + 1) as f32 * 2.0 / view.lamps as f32 - 2.0;
                let lamp = |i: usize| towards_light * LAMP + right * place(i / view.lamps) + up * place(i % view.lamps);
                (0..view.lamps * view.lamps).map(lamp).collect()
            }
        };
        let shadows = match (view.shadows, &lamps[..]) {
            (false, _) => vec![],
            (true, []) => vec![ShadowMap::of_sun(mesh, towards_light, 2 * SAMPLES * size)],
            (true, [lamp]) => vec![ShadowMap::of_lamp(mesh, *lamp, 2 * SAMPLES * size)],
            // Edges of many are soft together.
            (true, lamps) => lamps.iter().map(|&lamp| ShadowMap::of_lamp(mesh, lamp, SAMPLES * size)).collect(),
        };
        let hue = (view.hue != 0.0).then(|| Mat3::from_axis_angle(Vec3::ONE.normalize(), view.hue.to_radians()));
        let exponent = view.roughness.map(|roughness| 2.0 / roughness.powi(4) - 2.0);
        let surroundings = view.ambient_occlusion.then(|| surroundings(mesh));
        Self { mesh, eye: camera.position, projected, view, towards_light, lamps, shadows, surroundings, hue, exponent }
    }

    fn face(&self, number: u32) -> Option<ShadedTriangle> {
        let Triangle { corners, surface } = self.mesh.triangles()[number as usize];
        let plane = TrianglePlane::of(corners.map(|corner| self.projected[corner as usize]))?;
        let corners = corners.map(|corner| self.mesh.vertices()[corner as usize]);
        let [a, b, c] = corners.map(|corner| corner.position);
        let across = (b - a).cross(c - a);
        // The side that the normals say is the outer one, whatever order the corners come in.
        let outer = across * across.dot(corners[0].normal + corners[1].normal + corners[2].normal).signum();
        let side = if outer.dot(self.eye - a) < 0.0 { -1.0 } else { 1.0 };
        let across = outer.normalize_or_zero() * side;
        Some(ShadedTriangle { plane, corners, surface, side, across })
    }

    /// What of a face is seen at a place of the picture.
    fn place(&self, face: &ShadedTriangle, x: f32, y: f32) -> ShadedPlace {
        let weights = face.plane.at(x, y);
        let mut shares = Vec3::from(weights) * Vec3::from(face.plane.nearness);
        shares /= shares.element_sum();
        let [a, b, c] = &face.corners;
        let blend = |f: fn(&Vertex) -> Vec3| f(a) * shares.x + f(b) * shares.y + f(c) * shares.z;
        let normal = blend(|vertex| vertex.normal).normalize_or(a.normal) * face.side;
        ShadedPlace { shares, position: blend(|vertex| vertex.position), normal }
    }

    /// The share of the light from everywhere that reaches it.
    fn open(&self, face: &ShadedTriangle, place: &ShadedPlace) -> f32 {
        let held = self.surroundings.as_ref().and_then(|held| held.get());
        held.map_or(1.0, |all| all.open(place.position, face.across, place.normal))
    }

    /// Its colour, where this share of the light from everywhere reaches it.
    fn colour(&self, face: &ShadedTriangle, place: &ShadedPlace, open: f32) -> Vec3 {
        let [a, b, c] = &face.corners;
        let ShadedPlace { shares, position, normal } = *place;
        let on_texture = a.texture * shares.x + b.texture * shares.y + c.texture * shares.z;
        let of_vertices = a.colour * shares.x + b.colour * shares.y + c.colour * shares.z;
        let mut own = self.mesh.surface(face.surface).at(on_texture, of_vertices);
        if let Some(hue) = self.hue {
            own = (hue * own).clamp(Vec3::ZERO, Vec3::ONE);
        }
        let away = (self.eye - position).normalize_or(Vec3::Y);
        let (mut diffuse, mut highlight) = (0.0, 0.0);
        let mut lit = |light: usize, towards: Vec3, mut strength: f32| {
            let facing = normal.dot(towards);
            if facing <= 0.0 {
                return;
            }
            if let Some(shadow) = self.shadows.get(light) {
                strength *= shadow.lit(position, face.across);
            }
            diffuse += facing * strength;
            let exponent = match self.view.material {
                Material::Matte => return,
                Material::Glossy => 48,
                Material::Metal => 12,
            };
            let half = normal.dot((towards + away).normalize_or(normal)).max(0.0);
            highlight += strength * self.exponent.map_or_else(|| half.powi(exponent), |exponent| half.powf(exponent));
        };
        for (number, &lamp) in self.lamps.iter().enumerate() {
            let ray = lamp - position;
            let square = ray.length_squared().max(1e-6);
            lit(number, ray / square.sqrt(), LAMP * LAMP / square / self.lamps.len() as f32);
        }
        if self.lamps.is_empty() {
            lit(0, self.towards_light, 1.0);
        }
        let shade = AMBIENT * open + (1.0 - AMBIENT) * diffuse;
        self.view.light_energy
            * match self.view.material {
                Material::Matte => own * shade,
                Material::Glossy => own * shade + Vec3::splat(0.6 * highlight),
                Material::Metal => own * (0.45 * shade + 0.9 * highlight),
            }
    }
}
