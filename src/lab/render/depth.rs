//! Which triangle is nearest at every place of a picture.

/// A vertex as it is seen: its place in samples, and one over its depth, which is linear across a triangle's picture.
#[derive(Clone, Copy)]
pub(super) struct Projected {
    pub x: f32,
    pub y: f32,
    pub nearness: f32,
}

/// A triangle's picture: for each corner a linear function of the place that is 1 there and 0 on the other two. Places are counted from
/// the first corner, since products of large coordinates would lose digits.
pub(super) struct TrianglePlane {
    origin: [f32; 2],
    /// Of the second and the third corner, along x and y; the first has the rest.
    weights: [[f32; 2]; 2],
    pub nearness: [f32; 3],
    /// First and last place that it may cover, along x and y.
    low: [f32; 2],
    high: [f32; 2],
}

impl TrianglePlane {
    /// `None` where it is seen from the side.
    pub fn of(corners: [Projected; 3]) -> Option<Self> {
        let [a, b, c] = corners;
        let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
        if area.abs() < 1e-9 || !area.is_finite() {
            return None;
        }
        let weights = [[(c.y - a.y) / area, (a.x - c.x) / area], [(a.y - b.y) / area, (b.x - a.x) / area]];
        let least = |f: fn(&Projected) -> f32| corners.iter().map(f).fold(f32::INFINITY, f32::min);
        let most = |f: fn(&Projected) -> f32| corners.iter().map(f).fold(f32::NEG_INFINITY, f32::max);
        Some(Self {
            origin: [a.x, a.y],
            weights,
            nearness: corners.map(|corner| corner.nearness),
            low: [least(|p| p.x), least(|p| p.y)],
            high: [most(|p| p.x), most(|p| p.y)],
        })
    }

    pub fn at(&self, x: f32, y: f32) -> [f32; 3] {
        let (x, y) = (x - self.origin[0], y - self.origin[1]);
        let [second, third] = self.weights.map(|[a, b]| a * x + b * y);
        [1.0 - second - third, second, third]
    }
}

pub(super) const NOTHING: u32 = u32::MAX;
/// How far beyond its sides a triangle is drawn, as a share of it.
const SLACK: f32 = 1e-4;

/// Which triangle is nearest at every sample.
pub(super) struct DepthBuffer {
    pub wide: usize,
    pub nearness: Vec<f32>,
    /// Empty where nobody asks which one it is.
    pub triangle: Vec<u32>,
}

impl DepthBuffer {
    pub fn new(wide: usize) -> Self {
        Self { triangle: vec![NOTHING; wide * wide], ..Self::of_depths(wide) }
    }

    /// How near the nearest triangle is, not which one it is.
    pub fn of_depths(wide: usize) -> Self {
        Self { wide, nearness: vec![0.0; wide * wide], triangle: vec![] }
    }

    pub fn cover(&mut self, number: u32, plane: &TrianglePlane) {
        let last = self.wide as f32;
        // The samples whose middles lie within, as whole numbers; casting cuts what lies outside of the picture.
        let from = |x: f32| (x - 0.5).ceil().clamp(0.0, last) as usize;
        let to = |x: f32| ((x - 0.5).floor() + 1.0).clamp(0.0, last) as usize;
        let (left, right) = (from(plane.low[0]), to(plane.high[0]));
        if left >= right {
            return;
        }
        let [[a1, b1], [a2, b2]] = plane.weights;
        let [n0, n1, n2] = plane.nearness;
        for row in from(plane.low[1])..to(plane.high[1]) {
            let y = row as f32 + 0.5 - plane.origin[1];
            let (start1, start2) = (b1 * y, b2 * y);
            let line = row * self.wide + left..row * self.wide + right;
            // No branches, so that several columns are worked out at once.
            let at = |place: usize, held: f32| {
                let x = (left as i32 + place as i32) as f32 + 0.5 - plane.origin[0];
                let (w1, w2) = (a1 * x + start1, a2 * x + start2);
                let w0 = 1.0 - w1 - w2;
                let nearness = w0 * n0 + w1 * n1 + w2 * n2;
                // Neighbours leave no gap between them where both round down.
                ((w0 >= -SLACK) & (w1 >= -SLACK) & (w2 >= -SLACK) & (nearness > held), nearness)
            };
            if self.triangle.is_empty() {
                for (place, held) in self.nearness[line].iter_mut().enumerate() {
                    let (nearer, nearness) = at(place, *held);
                    *held = if nearer { nearness } else { *held };
                }
            } else {
                let triangles = &mut self.triangle[line.clone()];
                for (place, (held, triangle)) in self.nearness[line].iter_mut().zip(triangles).enumerate() {
                    let (nearer, nearness) = at(place, *held);
                    *held = if nearer { nearness } else { *held };
                    *triangle = if nearer { number } else { *triangle };
                }
            }
        }
    }
}
