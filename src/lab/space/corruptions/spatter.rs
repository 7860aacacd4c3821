//! How light falls on drops of water: edges, how far each pixel is from them, and a relief of that, in OpenCV's whole numbers.

use super::filters::{Beyond, Values};

/// Bytes row by row.
#[derive(Clone)]
struct Bytes {
    height: usize,
    width: usize,
    bytes: Vec<u8>,
}

impl Bytes {
    /// A byte; beyond the border as it says.
    fn at(&self, y: i64, x: i64, beyond: Beyond) -> i32 {
        i32::from(self.bytes[beyond.place(y, self.height) * self.width + beyond.place(x, self.width)])
    }

    /// Every place's byte from its own row and column.
    fn each(&self, mut byte: impl FnMut(i64, i64) -> u8) -> Self {
        let places = (0..self.height as i64).flat_map(|y| (0..self.width as i64).map(move |x| (y, x)));
        Self { bytes: places.map(|(y, x)| byte(y, x)).collect(), ..*self }
    }

    /// Weighed with the 3 x 3 bytes around each place.
    fn weighed(&self, y: i64, x: i64, weight: impl Fn(usize, usize) -> i32) -> i32 {
        let around = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        around.map(|(i, j)| weight(i, j) * self.at(y + i as i64 - 1, x + j as i64 - 1, Beyond::Mirror)).sum()
    }
}

/// How strongly each pixel shines, from 0 to 1; `None` where there is no drop, of which the reference makes a division of 0 by 0.
pub(super) fn drops(liquid: &Values) -> Option<Vec<f32>> {
    // As numpy turns floats into bytes: beyond 255 it begins anew.
    let bytes = liquid.values.iter().map(|&x| (x * 255.0) as i64 as u8).collect();
    let liquid = Bytes { height: liquid.height, width: liquid.width, bytes };
    let near = distances(&edges(&liquid), [liquid.height, liquid.width]);
    let mean = |y: i64, x: i64| {
        let (height, width) = (liquid.height, liquid.width);
        let rows = (y - 1..=y + 1).map(|y| Beyond::Mirror.place(y, height));
        let sum: f64 = rows
            .flat_map(|y| (x - 1..=x + 1).map(move |x| y * width + Beyond::Mirror.place(x, width)))
            .map(|place| f64::from(near[place].min(20.0)))
            .sum();
        (sum * (1.0 / 9.0)) as f32 as u8
    };
    let near = equalised(&liquid.each(mean));
    const RELIEF: [[i32; 3]; 3] = [[-2, -1, 0], [-1, 1, 1], [0, 1, 2]];
    let relief = near.each(|y, x| near.weighed(y, x, |i, j| RELIEF[i][j]).clamp(0, 255) as u8);
    let relief = relief.each(|y, x| ((2 * relief.weighed(y, x, |_, _| 1) + 9) / 18) as u8);
    let shine: Vec<f32> = liquid.bytes.iter().zip(&relief.bytes).map(|(&a, &b)| f32::from(a) * f32::from(b)).collect();
    let largest = shine.iter().copied().fold(0.0, f32::max);
    (largest > 0.0).then(|| shine.iter().map(|x| x / largest).collect())
}

/// Edges after Canny (1986) between 50 and 150, with OpenCV's gradient and its ties.
fn edges(of: &Bytes) -> Vec<bool> {
    const LEAST: i32 = 50;
    const SURE: i32 = 150;
    let (height, width) = (of.height as i64, of.width as i64);
    let gradient = |y: i64, x: i64| {
        let at = |dy: i64, dx: i64| of.at(y + dy, x + dx, Beyond::Nearest);
        let across = at(-1, 1) - at(-1, -1) + 2 * (at(0, 1) - at(0, -1)) + at(1, 1) - at(1, -1);
        let down = at(1, -1) - at(-1, -1) + 2 * (at(1, 0) - at(-1, 0)) + at(1, 1) - at(-1, 1);
        (across, down)
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
    let gradients: Vec<(i32, i32)> = places.clone().map(|(y, x)| gradient(y, x)).collect();
    let inside = |y: i64, x: i64| (0..height).contains(&y) && (0..width).contains(&x);
    let size = |y: i64, x: i64| match inside(y, x) {
        true => {
            let (across, down) = gradients[(y * width + x) as usize];
            across.abs() + down.abs()
        }
        false => 0,
    };
    let crest = |(y, x): (i64, i64)| {
        let (own, (across, down)) = (size(y, x), gradients[(y * width + x) as usize]);
        if own <= LEAST {
            return false;
        }
        // The tangents of 22.5 and 67.5 degrees, in 15 binary places.
        let (flat, steep) = (i64::from(across.abs()) * 13573, i64::from(down.abs()) << 15);
        if steep < flat {
            own > size(y, x - 1) && own >= size(y, x + 1)
        } else if steep > flat + (i64::from(across.abs()) << 16) {
            own > size(y - 1, x) && own >= size(y + 1, x)
        } else {
            let s = if (across ^ down) < 0 { -1 } else { 1 };
            own > size(y - 1, x - s) && own > size(y + 1, x + s)
        }
    };
    let crests: Vec<bool> = places.clone().map(crest).collect();
    // Sure ones, and what hangs together with them.
    let mut edge = vec![false; crests.len()];
    let mut next: Vec<(i64, i64)> =
        places.filter(|&(y, x)| crests[(y * width + x) as usize] && size(y, x) > SURE).collect();
    while let Some((y, x)) = next.pop() {
        let place = (y * width + x) as usize;
        if std::mem::replace(&mut edge[place], true) {
            continue;
        }
        let around = (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (y, x)));
        next.extend(
            around
                .filter(|&(y, x)| inside(y, x) && crests[(y * width + x) as usize] && !edge[(y * width + x) as usize]),
        );
    }
    edge
}

/// How far each pixel is from an edge, by steps of 1, 1.4 and 2.1969 (Borgefors 1986), in 16 binary places.
fn distances(edges: &[bool], [height, width]: [usize; 2]) -> Vec<f32> {
    const FAR: i32 = i32::MAX >> 2;
    const NEXT: i32 = 65536;
    const DIAGONAL: i32 = 91750;
    const LEAP: i32 = 143_976;
    const STEPS: [(i64, i64, i32); 8] = [
        (-2, -1, LEAP),
        (-2, 1, LEAP),
        (-1, -2, LEAP),
        (-1, -1, DIAGONAL),
        (-1, 0, NEXT),
        (-1, 1, DIAGONAL),
        (-1, 2, LEAP),
        (0, -1, NEXT),
    ];
    let mut far: Vec<i32> = edges.iter().map(|&edge| if edge { 0 } else { FAR }).collect();
    let (rows, columns) = (height as i64, width as i64);
    let nearest = |far: &[i32], y: i64, x: i64, turn: i64| {
        let steps = STEPS.iter().map(|&(dy, dx, length)| (y + turn * dy, x + turn * dx, length));
        let inside = steps.filter(|&(y, x, _)| (0..rows).contains(&y) && (0..columns).contains(&x));
        inside.map(|(y, x, length)| far[(y * columns + x) as usize] + length).min().unwrap_or(FAR)
    };
    for turn in [1, -1] {
        for i in 0..rows * columns {
            let place = if turn == 1 { i } else { rows * columns - 1 - i };
            let near = nearest(&far, place / columns, place % columns, turn);
            far[place as usize] = far[place as usize].min(near);
        }
    }
    far.into_iter().map(|x| x as f32 / 65536.0).collect()
}

/// Spread so that all bytes become about as frequent.
fn equalised(of: &Bytes) -> Bytes {
    let mut counts = [0usize; 256];
    of.bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let least = of.bytes.iter().copied().min().map_or(0, usize::from);
    let others = of.bytes.len() - counts[least];
    if others == 0 {
        return of.clone();
    }
    let scale = 255.0 / others as f32;
    let mut table = [0u8; 256];
    let mut sum = 0;
    for byte in least + 1..256 {
        sum += counts[byte];
        table[byte] = (sum as f32 * scale).round_ties_even() as u8;
    }
    Bytes { bytes: of.bytes.iter().map(|&byte| table[usize::from(byte)]).collect(), ..*of }
}
