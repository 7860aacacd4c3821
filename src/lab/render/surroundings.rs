//! How much of the light that comes from everywhere reaches a place of an object: ambient occlusion (Zhukov, Iones and Kronin, EGWR 1998), the
//! share of the half ball above a face, weighted by the cosine, that the object leaves open. It is looked up in depth maps of the object, seen
//! from as many sides as there are.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use glam::Vec3;

use super::mesh::Mesh;
use super::shadow::ShadowMap;

/// Sides that an object is seen from: spread evenly over the ball.
const SIDES: usize = 64;
/// Places along either side of a map.
const PLACES: usize = 128;
/// Objects whose maps are held, those that were asked for last: 4 MB each.
const HELD: usize = 64;

/// By the number of the mesh.
type HeldSurroundings = (u64, Arc<OnceLock<Surroundings>>);

static LAST: Mutex<VecDeque<HeldSurroundings>> = Mutex::new(VecDeque::new());

pub(super) struct Surroundings {
    sides: Vec<(Vec3, ShadowMap)>,
}

/// Of an object: worked out once, while two views of it are drawn at once too, and held for the next ones.
pub(super) fn surroundings(mesh: &Mesh) -> Arc<OnceLock<Surroundings>> {
    let held = {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.iter().position(|(number, _)| *number == mesh.number()).and_then(|place| last.remove(place));
        let (number, held) = known.unwrap_or_else(|| (mesh.number(), Arc::default()));
        if last.len() == HELD {
            last.pop_front();
        }
        last.push_back((number, Arc::clone(&held)));
        held
    };
    held.get_or_init(|| Surroundings::of(mesh));
    held
}

impl Surroundings {
    fn of(mesh: &Mesh) -> Self {
        let sides = (0..SIDES).map(side).map(|towards| (towards, ShadowMap::of_sun(mesh, towards, PLACES))).collect();
        Self { sides }
    }

    /// From 0 to 1, at a place of a face whose own normal is `across` and whose shaded one is `normal`.
    pub fn open(&self, position: Vec3, across: Vec3, normal: Vec3) -> f32 {
        let (mut open, mut all) = (0.0, 0.0);
        for (towards, map) in &self.sides {
            let weight = normal.dot(*towards);
            if weight > 0.0 {
                open += if map.reaches(position, across) { weight } else { 0.0 };
                all += weight;
            }
        }
        if all > 0.0 { open / all } else { 1.0 }
    }
}

/// One of the directions of a spiral whose turns are a golden angle apart (Swinbank and Purser, Quarterly Journal of the Royal Meteorological
/// Society 2006).
fn side(number: usize) -> Vec3 {
    let up = 1.0 - (2 * number + 1) as f32 / SIDES as f32;
    let angle = number as f32 * std::f32::consts::PI * (3.0 - 5f32.sqrt());
    let level = (1.0 - up * up).sqrt();
    Vec3::new(level * angle.cos(), up, level * angle.sin())
}
