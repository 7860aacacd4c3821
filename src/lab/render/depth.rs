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
    pub triangle: Vec<u32>,
}

impl DepthBuffer {
    pub fn new(wide: usize) -> Self {
        Self { wide, nearness: vec![0.0; wide * wide], triangle: vec![NOTHING; wide * wide] }
    }

    pub fn cover(&mut self, number: u32, plane: &TrianglePlane) {
        let last = self.wide as f32;
        // The samples whose middles lie within, as whole numbers; casting cuts what lies outside of the picture.
        let from = |x: f32| (x - 0.5).ceil().clamp(0.0, last) as usize;
        let to = |x: f32| ((x - 0.5).floor() + 1.0).clamp(0.0, last) as usize;
        let (left, right) = (from(plane.low[0]), to(plane.high[0]));
        let (n0, n1, n2) = (plane.nearness[0], plane.nearness[1], plane.nearness[2]);
        for row in from(plane.low[1])..to(plane.high[1]) {
            let y = row as f32 + 0.5 - plane.origin[1];
            let starts = plane.weights.map(|[_, b]| b * y);
            let line = row * self.wide;
            for column in left..right {
                let x = column as f32 + 0.5 - plane.origin[0];
                let w1 = plane.weights[0][0] * x + starts[0];
                let w2 = plane.weights[1][0] * x + starts[1];
                let w0 = 1.0 - w1 - w2;
                // Neighbours leave no gap between them where both round down.
                if w0 < -SLACK || w1 < -SLACK || w2 < -SLACK {
                    continue;
                }
                let nearness = w0 * n0 + w1 * n1 + w2 * n2;
                if nearness > self.nearness[line + column] {
                    self.nearness[line + column] = nearness;
                    self.triangle[line + column] = number;
                }
            }
        }
    }
}
