//! Settings of factors as points of a unit cube, in which a Gaussian process learns.

use std::collections::BTreeSet;

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use crate::space::{Axis, Factor, Setting, When, factor};

/// The half of a diagonal, so that two choices of one factor are at distance 1.
const CHOSEN: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Points are counted out where there are no more.
const COUNTED: usize = 2048;

/// Ranges by their shares, and every choice a coordinate of its own, so that two choices are as far apart as the ends of a range.
pub(super) struct Cube {
    pub axes: Vec<Axis>,
    /// When each axis counts, if some do not always; coordinates of those that do not are in the middle, or the first choice.
    conditions: Vec<Vec<When>>,
    /// The axis of each group of coordinates: those of ranges come first, then whole numbers, then choices.
    order: Vec<usize>,
    /// Coordinates of ranges.
    pub free: usize,
}

impl Cube {
    pub fn new(axes: Vec<Axis>) -> Self {
        let kind = |axis: &Axis| match axis {
            Axis::Range { .. } | Axis::Log { .. } => 0,
            Axis::Whole { .. } => 1,
            Axis::Choices(_) => 2,
            Axis::Chance => 3,
        };
        let mut order: Vec<usize> = (0..axes.len()).filter(|&i| kind(&axes[i]) < 3).collect();
        order.sort_by_key(|&i| kind(&axes[i]));
        let free = order.iter().filter(|&&i| kind(&axes[i]) == 0).count();
        Self { axes, conditions: vec![], order, free }
    }

    pub fn of(factors: &[Factor]) -> Self {
        let axes = factors.iter().map(Factor::axis).collect();
        Self { conditions: factor::conditions(factors), ..Self::new(axes) }
    }

    /// Leaves out of a setting what does not count there.
    pub fn leave_out(&self, setting: &mut [f64]) {
        factor::leave_out(&self.conditions, setting);
    }

    /// The point with the coordinates of what does not count where they always are.
    pub fn settled(&self, mut point: Vec<f64>) -> Vec<f64> {
        if self.conditions.is_empty() {
            return point;
        }
        let mut setting = self.numbers(&point);
        self.leave_out(&mut setting);
        let mut first = 0;
        for &i in &self.order {
            if setting[i].is_nan() {
                match self.axes[i] {
                    Axis::Choices(n) => {
                        point[first..first + n].fill(0.0);
                        point[first] = CHOSEN;
                    }
                    _ => point[first] = 0.5,
                }
            }
            first += self.width(i);
        }
        point
    }

    /// To which factor each coordinate belongs, from 0.
    pub fn groups(&self) -> Vec<usize> {
        let width = |(group, &i): (usize, &usize)| vec![group; self.width(i)];
        self.order.iter().enumerate().flat_map(width).collect()
    }

    /// Coordinates of an axis.
    fn width(&self, axis: usize) -> usize {
        if let Axis::Choices(n) = self.axes[axis] { n } else { 1 }
    }

    /// Factors that have coordinates.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn has_choices(&self) -> bool {
        self.axes.iter().any(|axis| matches!(axis, Axis::Choices(n) if *n > 1))
    }

    /// How many factors there are to choose, at least 1.
    pub fn varying(&self) -> usize {
        self.axes.iter().filter(|axis| axis.varies()).count().max(1)
    }

    pub fn draw(&self, rng: &mut Pcg64Mcg) -> Setting {
        let mut setting: Setting = self.axes.iter().map(|axis| axis.draw(rng)).collect();
        self.leave_out(&mut setting);
        setting
    }

    pub fn point(&self, setting: &[f64]) -> Vec<f64> {
        // Of what does not count, the number is NaN: the first choice, and half-way.
        let mut point = vec![];
        for &i in &self.order {
            match self.axes[i] {
                Axis::Choices(n) => {
                    point.extend((0..n).map(|choice| if choice == setting[i] as usize { CHOSEN } else { 0.0 }));
                }
                axis => point.push(axis.share(setting[i])),
            }
        }
        point
    }

    /// The numbers that a point stands for, those of chance 0.
    fn numbers(&self, point: &[f64]) -> Setting {
        let mut setting: Setting = vec![0.0; self.axes.len()];
        let mut first = 0;
        for &i in &self.order {
            setting[i] = match self.axes[i] {
                Axis::Choices(n) => point[first..first + n].iter().position(|&x| x > 0.0).unwrap_or(0) as f64,
                axis => axis.at_share(point[first]),
            };
            first += self.width(i);
        }
        setting
    }

    /// The setting that a point stands for; chance is drawn.
    pub fn setting(&self, point: &[f64], rng: &mut Pcg64Mcg) -> Setting {
        let mut setting = self.numbers(point);
        for (x, axis) in setting.iter_mut().zip(&self.axes) {
            if *axis == Axis::Chance {
                *x = axis.draw(rng);
            }
        }
        self.leave_out(&mut setting);
        setting
    }

    /// Whether two points are so near in every range, and the same in all else.
    pub fn alike(&self, a: &[f64], b: &[f64], near: f64) -> bool {
        let (ranges, rest) = a.split_at(self.free);
        ranges.iter().zip(b).all(|(a, b)| (a - b).abs() < near)
            && rest.iter().zip(&b[self.free..]).all(|(a, b)| (a - b).abs() < 1e-9)
    }

    /// A point near another: some of its factors are moved, at most about `around`, few of them far.
    pub fn beside(&self, at: &[f64], around: f64, rng: &mut Pcg64Mcg) -> Vec<f64> {
        let mut point = at.to_vec();
        let chance = (3.0 / self.varying() as f64).clamp(0.15, 1.0).min(if rng.r#gen() { 1.0 } else { 0.5 });
        let surely = rng.gen_range(0..self.order.len());
        let far = around * 0.02f64.powf(rng.r#gen());
        let mut first = 0;
        for (k, &i) in self.order.iter().enumerate() {
            let axis = self.axes[i];
            if axis.varies() && (k == surely || rng.gen_bool(chance)) {
                match axis {
                    Axis::Choices(n) => {
                        if k == surely || rng.gen_bool(0.3) {
                            point[first..first + n].fill(0.0);
                            point[first + rng.gen_range(0..n)] = CHOSEN;
                        }
                    }
                    Axis::Whole { min, max } => {
                        let many = f64::from(max) - f64::from(min);
                        let moved = (normal(rng) * far * many).abs().max(1.0).round();
                        let moved = if rng.r#gen() { moved } else { -moved };
                        point[first] = ((point[first] * many).round() + moved).clamp(0.0, many) / many;
                    }
                    _ => {
                        // What would lie outside is turned back.
                        let x = point[first] + far * normal(rng);
                        point[first] = if x < 0.0 {
                            -x
                        } else if x > 1.0 {
                            2.0 - x
                        } else {
                            x
                        }
                        .clamp(0.0, 1.0);
                    }
                }
            }
            first += self.width(i);
        }
        self.settled(point)
    }

    /// The point with every other choice of its k-th factor, or with the whole numbers next to its own.
    pub fn neighbours(&self, point: &[f64], k: usize) -> Vec<Vec<f64>> {
        let first: usize = self.order[..k].iter().map(|&i| self.width(i)).sum();
        let with = |change: &dyn Fn(&mut [f64])| {
            let mut other = point.to_vec();
            change(&mut other[first..]);
            self.settled(other)
        };
        match self.axes[self.order[k]] {
            Axis::Choices(n) => (0..n)
                .map(|choice| {
                    with(&|own| {
                        own[..n].fill(0.0);
                        own[choice] = CHOSEN;
                    })
                })
                .collect(),
            Axis::Whole { min, max } if min < max => {
                let step = 1.0 / (f64::from(max) - f64::from(min));
                [-step, step].map(|moved| with(&|own| own[0] = (own[0] + moved).clamp(0.0, 1.0))).into()
            }
            _ => vec![],
        }
    }

    /// Every point, if they can be counted and are few.
    pub fn every(&self) -> Option<Vec<Vec<f64>>> {
        let mut all: Vec<Vec<f64>> = vec![vec![]];
        for &i in &self.order {
            let own: Vec<Vec<f64>> = match self.axes[i] {
                Axis::Choices(n) => {
                    (0..n).map(|k| (0..n).map(|j| if j == k { CHOSEN } else { 0.0 }).collect()).collect()
                }
                axis @ Axis::Whole { min, max } if i64::from(max) - i64::from(min) < COUNTED as i64 => {
                    (min..=max).map(|x| vec![axis.share(x.into())]).collect()
                }
                _ => return None,
            };
            if all.len() * own.len() > COUNTED {
                return None;
            }
            all = all.iter().flat_map(|point| own.iter().map(|more| [&point[..], more].concat())).collect();
        }
        if !self.conditions.is_empty() {
            all = all.into_iter().map(|point| self.settled(point)).collect();
            let mut seen = BTreeSet::new();
            all.retain(|point| seen.insert(point.iter().map(|x| x.to_bits()).collect::<Vec<_>>()));
        }
        Some(all)
    }
}

/// Nearly normal: a sum of uniform numbers.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    (0..6).map(|_| rng.gen_range(-0.5..0.5)).sum::<f64>() * std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random;

    #[test]
    fn a_setting_survives_its_way_through_the_cube() {
        let axes = vec![
            Axis::Log { min: 0.2, max: 3.0 },
            Axis::Choices(4),
            Axis::Whole { min: -3, max: 5 },
            Axis::Chance,
            Axis::Range { min: 2.0, max: 2.0 },
            Axis::Choices(1),
        ];
        let cube = Cube::new(axes);
        let setting = vec![0.7, 2.0, -1.0, 17.0, 2.0, 0.0];
        let again = cube.setting(&cube.point(&setting), &mut random(1, 1));
        for (i, (a, b)) in setting.iter().zip(&again).enumerate().filter(|(i, _)| *i != 3) {
            assert!((a - b).abs() < 1e-12, "factor {i}: {a} became {b}");
        }
    }

    #[test]
    fn neighbours_differ_in_one_factor() {
        let cube =
            Cube::new(vec![Axis::Choices(3), Axis::Whole { min: 1, max: 5 }, Axis::Range { min: 0.0, max: 1.0 }]);
        let point = cube.point(&[2.0, 3.0, 0.25]);
        assert_eq!(point, [0.25, 0.5, 0.0, 0.0, CHOSEN]);
        assert!(cube.neighbours(&point, 0).is_empty());
        let settings = |k: usize| -> Vec<Setting> {
            cube.neighbours(&point, k).iter().map(|point| cube.setting(point, &mut random(1, 1))).collect()
        };
        assert_eq!(settings(1), [[2.0, 2.0, 0.25], [2.0, 4.0, 0.25]]);
        assert_eq!(settings(2), [[0.0, 3.0, 0.25], [1.0, 3.0, 0.25], [2.0, 3.0, 0.25]]);
    }
}
