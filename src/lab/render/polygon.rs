//! Faces of more than three corners, cut into triangles.

use earcut::Earcut;
use earcut::utils3d::project3d_to_2d;
use glam::Vec3;

/// Cutting takes longer than a user would wait where a face has more corners than any that was drawn by hand.
const MOST_CORNERS: usize = 4096;
/// How much a face's parts may miss of its area and still be all of it.
const MISSED: f64 = 1e-3;

/// What is to be said of an object that has faces that could not be cut.
pub(super) const UNCUT: &str =
    "faces that cross themselves or lie in no plane are drawn as seen from their first corner";

/// How far apart the corners of a face may lie across it and still be in one plane, where the object's radius is 1 to 2.
const BENT: f32 = 0.01;

/// Cuts faces, which have so many corners each, into triangles that turn as they do.
#[derive(Default)]
pub(super) struct Cutter {
    pub triangles: Vec<[u32; 3]>,
    earcut: Earcut<f64>,
    /// Faces that cross themselves, lie in no plane or have too many corners.
    pub uncut: usize,
    /// Faces that lie in no plane, by more than would be overlooked.
    pub bent: usize,
}

impl Cutter {
    /// `positions`: in the object's [`LocalFrame`](super::local::LocalFrame). Faces that bend nowhere inwards as seen from their first corner are cut from there, as most programs do.
    pub fn cut(&mut self, positions: &[Vec3], face: &[u32]) {
        if face.len() < 3 {
            return;
        }
        let at = |corner: &u32| positions.get(*corner as usize).copied().filter(|place| place.is_finite());
        let places: Option<Vec<Vec3>> = face.iter().map(at).collect();
        let Some(places) = places.filter(|_| face.len() > 3) else { return self.fan(face) };
        let places: Vec<Vec3> = places.iter().map(|place| place - places[0]).collect();
        let next = places.iter().cycle().skip(1);
        let normal: Vec3 = places.iter().zip(next).map(|(a, b)| a.cross(*b)).sum();
        let turn = |corners: [usize; 3]| {
            let [a, b, c] = corners.map(|corner| places[corner]);
            (b - a).cross(c - a).dot(normal)
        };
        // Where it has no normal its parts turn against each other, unless they have no area either.
        let area: f32 = places.windows(2).map(|two| two[0].cross(two[1]).length()).sum();
        let turned = normal.length() > 1e-6 * area || area == 0.0;
        let across = normal.normalize_or_zero();
        let heights = places.iter().map(|place| place.dot(across));
        let [low, high] = [heights.clone().fold(0.0, f32::min), heights.fold(0.0, f32::max)];
        self.bent += usize::from(high - low > BENT);
        if turned && (2..face.len()).all(|third| turn([0, third - 1, third]) >= 0.0) {
            return self.fan(face);
        }
        match self.cut_inwards(&places, turn) {
            Some(parts) => self.triangles.extend(parts.iter().map(|part| part.map(|corner| face[corner]))),
            None => {
                self.uncut += 1;
                self.fan(face);
            }
        }
    }

    fn fan(&mut self, face: &[u32]) {
        self.triangles.extend(face[1..].windows(2).map(|two| [face[0], two[0], two[1]]));
    }

    /// Which corners the parts of a face have, where together they are all of it.
    fn cut_inwards(&mut self, places: &[Vec3], turn: impl Fn([usize; 3]) -> f32) -> Option<Vec<[usize; 3]>> {
        let outline: Vec<[f64; 3]> = places.iter().map(|place| place.to_array().map(f64::from)).collect();
        let mut flat = vec![];
        if places.len() > MOST_CORNERS || !project3d_to_2d(&outline, outline.len(), &mut flat) {
            return None;
        }
        let mut corners: Vec<usize> = vec![];
        self.earcut.earcut(flat.iter().copied(), &[], &mut corners);
        let all = !corners.is_empty() && earcut::deviation(flat, &[], &corners) < MISSED;
        let turned = |[a, b, c]: [usize; 3]| if turn([a, b, c]) < 0.0 { [a, c, b] } else { [a, b, c] };
        all.then(|| corners.as_chunks::<3>().0.iter().copied().map(turned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(cutter: &Cutter, positions: &[Vec3]) -> (f32, Vec3) {
        let of = |corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|corner| positions[corner as usize]);
            (b - a).cross(c - a) / 2.0
        };
        let turned: Vec<Vec3> = cutter.triangles.iter().map(of).collect();
        (turned.iter().map(|area| area.length()).sum(), turned.iter().sum())
    }

    /// An arrow of area 1 whose notch is before corner `first`, which lies in a plane that faces no axis.
    #[test]
    fn a_face_that_bends_inwards_is_covered_once_whichever_corner_is_first() {
        let outline = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [1.0, 1.0]];
        let (right, up) = (Vec3::new(2.0, 1.0, 2.0) / 3.0, Vec3::new(-2.0, 2.0, 1.0) / 3.0);
        let positions = outline.map(|[x, y]: [f32; 2]| Vec3::splat(5.0) + right * x + up * y);
        for first in 0..4 {
            for backwards in [false, true] {
                let mut face: Vec<u32> = (0..4).map(|corner| (corner + first) % 4).collect();
                if backwards {
                    face.reverse();
                }
                let mut cutter = Cutter::default();
                cutter.cut(&positions, &face);
                let (all, turned) = area(&cutter, &positions);
                let faces = right.cross(up) * if backwards { -1.0 } else { 1.0 };
                assert!((all - 1.0).abs() < 1e-5 && (turned - faces).length() < 1e-5, "{face:?}: {all} {turned}");
                assert_eq!((cutter.triangles.len(), cutter.uncut), (2, 0));
            }
        }
    }

    #[test]
    fn what_bends_nowhere_is_cut_from_its_first_corner_and_what_crosses_itself_is_counted() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]: [f32; 2]| Vec3::new(x, y, 0.0));
        let mut cutter = Cutter::default();
        cutter.cut(&square, &[0, 1, 2, 3]);
        assert_eq!((cutter.triangles.as_slice(), cutter.uncut), (&[[0, 1, 2], [0, 2, 3]][..], 0));
        let star: Vec<Vec3> = (0..5)
            .map(|k| (k as f32 * 4.0 * std::f32::consts::PI / 5.0).sin_cos())
            .map(|(x, y)| Vec3::new(x, y, 0.0))
            .collect();
        let mut cutter = Cutter::default();
        cutter.cut(&star, &[0, 1, 2, 3, 4]);
        cutter.cut(&star, &[0, 1, 9, 3, 4]);
        assert_eq!((cutter.triangles.len(), cutter.uncut), (6, 1));
        // A bow tie, and a face without area.
        cutter.cut(&square, &[0, 2, 1, 3]);
        cutter.cut(&square, &[0, 0, 0, 0]);
        assert_eq!((cutter.triangles.len(), cutter.uncut), (10, 2));
    }
}
