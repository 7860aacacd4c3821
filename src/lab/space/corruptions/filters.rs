//! What the reference takes from scipy and OpenCV: blurs, enlargement and motion of values that stand row by row, sums in the same
//! order.

/// Several values per pixel, row by row.
#[derive(Clone)]
pub(super) struct Values {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub values: Vec<f64>,
}

impl Values {
    pub fn new([height, width, channels]: [usize; 3], values: Vec<f64>) -> Self {
        Self { height, width, channels, values }
    }

    pub fn map(mut self, change: impl Fn(f64) -> f64) -> Self {
        self.values.iter_mut().for_each(|x| *x = change(*x));
        self
    }

    fn row(&self, y: usize) -> &[f64] {
        &self.values[y * self.width * self.channels..][..self.width * self.channels]
    }

    pub fn pixel(&self, y: usize, x: usize) -> &[f64] {
        &self.values[(y * self.width + x) * self.channels..][..self.channels]
    }

    /// A part of it, which may reach beyond its lower and right border: there stands 0.
    pub fn part(&self, [top, left]: [usize; 2], [height, width]: [usize; 2]) -> Self {
        let mut values = Vec::with_capacity(height * width * self.channels);
        for y in top..top + height {
            for x in left..left + width {
                match y < self.height && x < self.width {
                    true => values.extend_from_slice(self.pixel(y, x)),
                    false => values.extend(std::iter::repeat_n(0.0, self.channels)),
                }
            }
        }
        Self { height, width, values, ..*self }
    }
}

/// How values go on beyond the border.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The last one again and again.
    Nearest,
    /// Mirrored, the last one twice.
    Reflect,
    /// Mirrored at the last one.
    Mirror,
}

impl Beyond {
    /// Where the value of a place is found.
    pub fn place(self, at: i64, side: usize) -> usize {
        let side = side as i64;
        match self {
            Self::Nearest => at.clamp(0, side - 1) as usize,
            Self::Reflect => {
                let at = at.rem_euclid(2 * side);
                (if at < side { at } else { 2 * side - 1 - at }) as usize
            }
            Self::Mirror => {
                let at = at.rem_euclid(2 * (side - 1));
                at.min(2 * (side - 1) - at) as usize
            }
        }
    }
}

/// One half of a Gaussian that sums to 1 as a whole, the largest weight first (scipy's `_gaussian_kernel1d`).
fn gaussian_weights(sigma: f64, deviations: f64) -> Vec<f64> {
    let radius = (deviations * sigma + 0.5) as i64;
    let weight = |x: i64| (-0.5 / (sigma * sigma) * (x * x) as f64).exp();
    let all: Vec<f64> = (-radius..=radius).map(weight).collect();
    let sum = sum(&all);
    all[radius as usize..].iter().map(|weight| weight / sum).collect()
}

/// As numpy sums up to 128 numbers: eight sums side by side.
pub(super) fn sum(all: &[f64]) -> f64 {
    if all.len() < 8 {
        return all.iter().sum();
    }
    let (eights, rest) = all.as_chunks::<8>();
    let mut sums = eights[0];
    for more in &eights[1..] {
        sums.iter_mut().zip(more).for_each(|(sum, x)| *sum += x);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, x| sum + x)
}

/// Blurred by a Gaussian that is cut off so many deviations away, along columns and then along rows (scipy's `gaussian_filter`).
pub(super) fn gaussian(of: &Values, sigmas: [f64; 2], deviations: f64, beyond: Beyond) -> Values {
    let mut out = of.clone();
    if sigmas[0] > 1e-15 {
        let weights = gaussian_weights(sigmas[0], deviations);
        for (y, into) in out.values.chunks_mut(of.width * of.channels).enumerate() {
            weigh(into, &weights, |by, x| of.row(beyond.place(y as i64 + by, of.height))[x]);
        }
    }
    if sigmas[1] > 1e-15 {
        let weights = gaussian_weights(sigmas[1], deviations);
        let mut line = vec![];
        for into in out.values.chunks_mut(of.width * of.channels) {
            let reach = weights.len() as i64 - 1;
            line.clear();
            for x in -reach..of.width as i64 + reach {
                line.extend_from_slice(&into[beyond.place(x, of.width) * of.channels..][..of.channels]);
            }
            weigh(into, &weights, |by, x| line[(by + reach) as usize * of.channels + x]);
        }
    }
    out
}

/// Each value from those that are some places away, weights being the same on both sides: the middle first, then from the ends inwards.
fn weigh(into: &mut [f64], weights: &[f64], value: impl Fn(i64, usize) -> f64) {
    for (x, to) in into.iter_mut().enumerate() {
        *to = value(0, x) * weights[0];
    }
    for (by, weight) in weights.iter().enumerate().skip(1).rev() {
        let by = by as i64;
        for (x, to) in into.iter_mut().enumerate() {
            *to += (value(-by, x) + value(by, x)) * weight;
        }
    }
}

/// Enlarged with bilinear interpolation, corners staying corners (scipy's `zoom` of order 1); what falls beyond the last pixel by
/// rounding is 0, as it is there.
pub(super) fn zoomed(of: &Values, factor: f64) -> Values {
    struct Tap {
        first: usize,
        second: usize,
        weights: [f64; 2],
    }
    let taps = |side: usize| -> Vec<Option<Tap>> {
        let wide = (side as f64 * factor).round_ties_even() as usize;
        let step = if wide > 1 { (side as f64 - 1.0) / (wide as f64 - 1.0) } else { 1.0 };
        let tap = |to: usize| {
            let at = to as f64 * step;
            let first = at.floor() as usize;
            let share = 1.0 - (at - at.floor());
            let within = at <= side as f64 - 1.0;
            within.then(|| Tap { first, second: (first + 1).min(side - 1), weights: [share, 1.0 - share] })
        };
        (0..wide).map(tap).collect()
    };
    let (down, across) = (taps(of.height), taps(of.width));
    let mut values = Vec::with_capacity(down.len() * across.len() * of.channels);
    for y in &down {
        for x in &across {
            let (Some(y), Some(x)) = (y, x) else {
                values.extend(std::iter::repeat_n(0.0, of.channels));
                continue;
            };
            let corners = [
                (y.first, x.first, 0, 0),
                (y.first, x.second, 0, 1),
                (y.second, x.first, 1, 0),
                (y.second, x.second, 1, 1),
            ];
            let corners = corners.map(|(row, column, i, j)| (of.pixel(row, column), y.weights[i], x.weights[j]));
            values.extend(
                (0..of.channels).map(|c| corners.iter().fold(0.0, |sum, (pixel, a, b)| sum + pixel[c] * a * b)),
            );
        }
    }
    Values { height: down.len(), width: across.len(), values, ..*of }
}

/// Blurred along a line that begins at each pixel, by half a Gaussian (ImageMagick's `MotionBlurImage`); beyond the border stands its nearest
/// pixel, and a line ends where it is longer than a side.
pub(super) fn motion(of: &Values, radius: usize, sigma: f64, degrees: f64) -> Values {
    let width = 2 * radius + 1;
    let weight = |i: usize| {
        let i = i as f64;
        (-(i * i) / (2.0 * (sigma * sigma))).exp() / ((2.0 * std::f64::consts::PI).sqrt() * sigma)
    };
    let weights: Vec<f64> = (0..width).map(weight).collect();
    let sum = sum(&weights);
    let (sin, cos) = (degrees * (std::f64::consts::PI / 180.0)).sin_cos();
    let (down, across) = (width as f64 * sin, width as f64 * cos);
    let length = down.hypot(across);
    let mut out = Values { values: vec![0.0; of.values.len()], ..*of };
    for (i, weight) in weights.iter().enumerate() {
        let by = |part: f64| (i as f64 * part / length - 0.5).ceil() as i64;
        let (dy, dx) = (by(down), by(across));
        if dy.unsigned_abs() as usize >= of.height || dx.unsigned_abs() as usize >= of.width {
            break;
        }
        let weight = weight / sum;
        for y in 0..of.height {
            let from = of.row(Beyond::Nearest.place(y as i64 + dy, of.height));
            let into = &mut out.values[y * of.width * of.channels..][..of.width * of.channels];
            for (x, into) in into.chunks_mut(of.channels).enumerate() {
                let from = &from[Beyond::Nearest.place(x as i64 + dx, of.width) * of.channels..];
                into.iter_mut().zip(from).for_each(|(to, from)| *to += weight * from);
            }
        }
    }
    out
}
