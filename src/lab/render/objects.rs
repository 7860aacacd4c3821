//! Objects that the program builds by itself: ten classes, each with shapes and colours without end.
//!
//! An object is a pure function of its class and of a stream of random numbers. Fronts face z, as azimuth 0 sees them; those of cars
//! and planes face x.

use glam::{Quat, Vec3};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::mesh::Mesh;
use super::shapes::Builder;
use crate::core::Result;

pub static CLASSES: [&str; 10] = ["bed", "bottle", "car", "chair", "lamp", "mug", "plane", "shelf", "sofa", "table"];

/// Builds an object of a class, by its place in [`CLASSES`].
pub fn object(class: usize, numbers: &mut Pcg64Mcg) -> Result<Mesh> {
    let mut of = ObjectMaker { build: Builder::default(), numbers };
    match CLASSES[class] {
        "bed" => of.bed(),
        "bottle" => of.bottle(),
        "car" => of.car(),
        "chair" => of.chair(),
        "lamp" => of.lamp(),
        "mug" => of.mug(),
        "plane" => of.plane(),
        "shelf" => of.shelf(),
        "sofa" => of.sofa(),
        _ => of.table(),
    }
    of.build.finish(CLASSES[class])
}

struct ObjectMaker<'a> {
    build: Builder,
    numbers: &'a mut Pcg64Mcg,
}

/// From hue in degrees, saturation and value.
fn hsv(hue: f32, saturation: f32, value: f32) -> Vec3 {
    Vec3::from([5.0, 3.0, 1.0].map(|n: f32| {
        let k = (n + hue / 60.0).rem_euclid(6.0);
        value - value * saturation * k.min(4.0 - k).clamp(0.0, 1.0)
    }))
}

const DARK: Vec3 = Vec3::new(0.16, 0.16, 0.18);

impl ObjectMaker<'_> {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.numbers.gen_range(low..high)
    }

    fn coin(&mut self) -> bool {
        self.numbers.gen_bool(0.5)
    }

    /// Any strong colour.
    fn paint(&mut self) -> Vec3 {
        hsv(self.between(0.0, 360.0), self.between(0.45, 0.9), self.between(0.55, 0.95))
    }

    /// Wood, or paint that one would find on furniture.
    fn timber(&mut self) -> Vec3 {
        match self.numbers.gen_bool(0.7) {
            true => hsv(self.between(22.0, 38.0), self.between(0.4, 0.7), self.between(0.4, 0.85)),
            false => self.paint(),
        }
    }

    fn metal(&mut self) -> Vec3 {
        Vec3::splat(self.between(0.25, 0.7))
    }

    /// Four legs under a rectangle, square or round.
    fn legs(&mut self, wide: f32, deep: f32, height: f32, thick: f32) {
        let round = self.coin();
        for (x, z) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
            let (x, z) = (x * (wide / 2.0 - thick), z * (deep / 2.0 - thick));
            match round {
                true => self.build.cylinder([x, 0.0, z], thick * 0.6, height, 12),
                false => self.build.block([x, height / 2.0, z], [thick, height, thick]),
            };
        }
    }

    fn bed(&mut self) {
        let (wide, long, leg) = (self.between(1.0, 1.5), self.between(1.9, 2.2), self.between(0.12, 0.25));
        let (frame, sheet, cover) = (self.timber(), hsv(40.0, 0.05, 0.95), self.paint());
        let (head, foot) = (self.between(0.5, 0.9), self.between(0.1, 0.4));
        self.build.colour(frame);
        self.legs(wide, long, leg, 0.12);
        self.build
            .block([0.0, leg + 0.1, 0.0], [wide, 0.2, long])
            .block([0.0, leg + head / 2.0, -long / 2.0], [wide, head, 0.08])
            .block([0.0, leg + foot / 2.0, long / 2.0], [wide, foot, 0.08]);
        self.build.colour(sheet).block([0.0, leg + 0.28, 0.0], [wide - 0.06, 0.18, long - 0.1]);
        let covered = self.between(0.5, 0.68) * long;
        let middle = long / 2.0 - covered / 2.0 - 0.04;
        self.build.colour(cover).block([0.0, leg + 0.31, middle], [wide - 0.01, 0.2, covered]);
        let pillow = if self.coin() { vec![0.0] } else { vec![-0.24, 0.24] };
        let breadth = if pillow.len() == 1 { 0.6 } else { 0.42 } * wide;
        self.build.colour(hsv(0.0, 0.0, 1.0));
        for x in pillow {
            let lean = Quat::from_rotation_x(-0.2);
            self.build.turned_block(
                Vec3::new(x * wide, leg + 0.44, -long / 2.0 + 0.3),
                Vec3::new(breadth, 0.13, 0.36),
                lean,
            );
        }
    }

    fn bottle(&mut self) {
        let (belly, neck) = (self.between(0.28, 0.4), self.between(0.1, 0.14));
        let (shoulder, height) = (self.between(0.85, 1.15), self.between(1.5, 1.9));
        let slope = self.between(0.15, 0.4);
        let (glass, label, cap) = (self.paint(), self.paint(), self.paint());
        let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
        let mut profile = vec![[0.0, 0.0], [belly * 0.95, 0.0], [belly, 0.05], [belly, shoulder]];
        for k in 1..=6 {
            let t = k as f32 / 6.0;
            profile.push([belly + (neck - belly) * smooth(t), shoulder + slope * t]);
        }
        profile.extend([[neck, height], [0.0, height]]);
        self.build.colour(glass).turned([0.0; 3], &profile, 32);
        let (from, to) = (self.between(0.2, 0.35), shoulder - self.between(0.08, 0.2));
        self.build.colour(label).turned([0.0; 3], &[[belly * 1.012, from], [belly * 1.012, to]], 32);
        self.build.colour(cap).cylinder([0.0, height - 0.05, 0.0], neck * 1.2, 0.14, 20);
    }

    fn car(&mut self) {
        let (long, wide) = (self.between(1.9, 2.3), self.between(0.85, 1.0));
        let (body, glass) = (self.paint(), hsv(210.0, 0.35, 0.35));
        let (belt, roof) = (self.between(0.5, 0.58), self.between(0.86, 1.02));
        let half = long / 2.0;
        // The front is at +x; a boot or none.
        let rear = if self.coin() { -half + 0.08 } else { -half * 0.62 };
        let bonnet = self.between(0.3, 0.45) * half;
        self.build.colour(body);
        let side = [
            [0.0, 0.2],
            [half, 0.2],
            [half, belt - 0.12],
            [half - 0.1, belt - 0.04],
            [bonnet + 0.2, belt],
            [-half + 0.03, belt],
            [-half, belt - 0.1],
            [-half, 0.2],
        ];
        self.build.slab(&side, -wide / 2.0, wide / 2.0);
        let inset = wide / 2.0 - 0.05;
        let cabin = [[rear, belt], [bonnet + 0.22, belt], [bonnet - 0.1, roof - 0.04], [rear + 0.16, roof - 0.04]];
        self.build.colour(glass).slab(&cabin, -inset, inset);
        self.build.colour(body);
        let top = [rear + 0.13, bonnet - 0.07];
        self.build.block([(top[0] + top[1]) / 2.0, roof - 0.02, 0.0], [top[1] - top[0], 0.05, 2.0 * inset + 0.02]);
        let pillar = (rear + bonnet) / 2.0;
        self.build.block([pillar, (belt + roof) / 2.0 - 0.02, 0.0], [0.07, roof - belt - 0.04, 2.0 * inset + 0.02]);
        let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        let wheel = self.between(0.2, 0.25);
        let rim = self.metal();
        for x in [-half * 0.6, half * 0.62] {
            for z in [-1.0, 1.0] {
                let middle = Vec3::new(x, wheel, z * (wide / 2.0 - 0.07) - 0.09);
                let tyre = [[0.0, 0.0], [wheel, 0.0], [wheel, 0.18], [0.0, 0.18]];
                self.build.colour(DARK).turned_about(middle, turn, &tyre, 22);
                let disc = [[0.0, -0.012], [wheel * 0.55, -0.012], [wheel * 0.55, 0.192], [0.0, 0.192]];
                self.build.colour(rim).turned_about(middle, turn, &disc, 14);
            }
        }
        for z in [-0.32, 0.32] {
            self.build.colour(hsv(50.0, 0.3, 1.0)).block([half, belt - 0.17, z * wide], [0.04, 0.1, 0.17]);
            self.build.colour(hsv(0.0, 0.85, 0.8)).block([-half, belt - 0.17, z * wide], [0.04, 0.1, 0.15]);
        }
    }

    fn chair(&mut self) {
        let (wide, deep, seat) = (self.between(0.75, 0.95), self.between(0.75, 0.95), self.between(0.75, 0.95));
        let (thick, back) = (self.between(0.08, 0.12), self.between(0.8, 1.1));
        let frame = self.timber();
        let cushion = if self.coin() { self.paint() } else { frame };
        self.build.colour(frame);
        self.legs(wide, deep, seat, thick);
        self.build.colour(cushion).block([0.0, seat, 0.0], [wide, 0.12, deep]);
        self.build.colour(frame);
        let z = -deep / 2.0 + thick / 2.0;
        let style = self.numbers.gen_range(0..3);
        if style == 0 {
            self.build.block([0.0, seat + back / 2.0 + 0.05, z], [wide, back, 0.08]);
            return;
        }
        for x in [-1.0, 1.0] {
            self.build.block([x * (wide - thick) / 2.0, seat + back / 2.0, z], [thick, back, thick]);
        }
        let bars = self.numbers.gen_range(2..5);
        for k in 0..bars {
            match style {
                1 => {
                    let y = seat + back * (k as f32 + 1.0) / bars as f32 - 0.06;
                    self.build.block([0.0, y, z], [wide - thick, 0.13, 0.06]);
                }
                _ => {
                    let x = (wide - thick) * ((k as f32 + 1.0) / (bars as f32 + 1.0) - 0.5);
                    self.build.block([x, seat + back / 2.0, z], [0.07, back, 0.05]);
                }
            }
        }
        self.build.block([0.0, seat + back - 0.03, z], [wide, 0.12, 0.08]);
    }

    fn lamp(&mut self) {
        let (height, foot) = (self.between(1.0, 1.5), self.between(0.28, 0.42));
        let (stand, shade) = (if self.coin() { self.metal() } else { self.timber() }, self.paint());
        let (low, high, tall) = (self.between(0.45, 0.62), self.between(0.2, 0.36), self.between(0.45, 0.65));
        self.build.colour(stand).turned(
            [0.0; 3],
            &[[0.0, 0.0], [foot, 0.0], [foot, 0.05], [0.06, 0.11], [0.0, 0.11]],
            28,
        );
        match self.coin() {
            true => self.build.cylinder([0.0, 0.05, 0.0], 0.04, height, 12),
            false => {
                let bulge = self.between(0.12, 0.24);
                let vase = [
                    [0.05, 0.08],
                    [bulge * 0.8, 0.2],
                    [bulge, 0.38],
                    [bulge * 0.7, 0.58],
                    [0.05, 0.72],
                    [0.04, height],
                ];
                self.build.turned([0.0; 3], &vase, 24)
            }
        };
        let from = height - 0.08;
        self.build.colour(shade).turned([0.0; 3], &[[low, from], [high, from + tall]], 32);
        self.build.colour(hsv(50.0, 0.25, 1.0)).ball([0.0, from + tall * 0.4, 0.0], 0.11, 14);
    }

    fn mug(&mut self) {
        let (wide, height) = (self.between(0.42, 0.55), self.between(0.85, 1.15));
        let (outside, taper) = (self.paint(), self.between(0.85, 1.0));
        let inside = if self.coin() { hsv(40.0, 0.08, 0.95) } else { outside };
        let wall = 0.06;
        self.build.colour(outside).turned(
            [0.0; 3],
            &[[0.0, 0.0], [wide * taper, 0.0], [wide, height], [wide - wall, height]],
            36,
        );
        let filled = self.between(0.55, 0.8) * height;
        self.build.colour(inside).turned([0.0; 3], &[[wide - wall, height], [wide * taper - wall, 0.1]], 36);
        self.build.colour(hsv(25.0, 0.65, 0.3)).turned([0.0; 3], &[[wide - wall, filled], [0.0, filled]], 36);
        let (reach, tall) = (self.between(0.3, 0.42), self.between(0.28, 0.36) * height);
        let way: Vec<Vec3> = (0..=14)
            .map(|k| (k as f32 / 14.0 - 0.5) * std::f32::consts::PI)
            .map(|t| Vec3::new(wide * 0.94 + reach * t.cos(), height / 2.0 + tall * t.sin(), 0.0))
            .collect();
        self.build.colour(outside).bar(&way, 0.07, 12);
    }

    fn plane(&mut self) {
        let (long, round) = (self.between(1.9, 2.3), self.between(0.15, 0.2));
        let (hull, wing) = (hsv(self.between(0.0, 360.0), self.between(0.0, 0.3), 0.92), self.paint());
        let half = long / 2.0;
        let nose = Quat::from_rotation_z(-std::f32::consts::FRAC_PI_2);
        let hulled = [
            [0.0, -half],
            [round * 0.35, -half * 0.93],
            [round * 0.75, -half * 0.55],
            [round, -half * 0.2],
            [round, half * 0.6],
            [round * 0.8, half * 0.84],
            [round * 0.4, half * 0.97],
            [0.0, half],
        ];
        self.build.colour(hull).turned_about(Vec3::ZERO, nose, &hulled, 24);
        let (span, swept, chord) = (self.between(0.9, 1.15), self.between(0.15, 0.5), self.between(0.3, 0.42));
        let fin = |build: &mut Builder, root: [f32; 2], reach: Vec3, chords: [f32; 2], lean: f32, thick: Vec3| {
            let base = Vec3::new(root[0], root[1], 0.0);
            let tip = base + reach - Vec3::X * lean;
            // Two roofs, of which one is upside down: thinner where the wing is narrower, so that all four faces are flat.
            let narrower = chords[1] / chords[0];
            for (edge, sign) in [(Vec3::X, -1.0), (Vec3::X, 1.0), (-Vec3::X, -1.0), (-Vec3::X, 1.0)] {
                let lift = thick * sign;
                build.plate(&[
                    base + edge * chords[0] / 2.0,
                    base + lift,
                    tip + lift * narrower,
                    tip + edge * chords[1] / 2.0,
                ]);
            }
        };
        self.build.colour(wing);
        let low = if self.coin() { -round * 0.5 } else { round * 0.6 };
        for side in [-1.0, 1.0] {
            let thick = Vec3::Y * 0.03;
            fin(&mut self.build, [0.08, low], Vec3::Z * side * span, [chord, chord * 0.5], swept, thick);
            fin(
                &mut self.build,
                [-half * 0.86, round * 0.3],
                Vec3::Z * side * span * 0.4,
                [chord * 0.6, chord * 0.35],
                swept * 0.4,
                thick * 0.6,
            );
            let engine = Vec3::new(0.16, low - 0.07, side * span * 0.42);
            let shell = [[0.05, -0.16], [0.075, 0.0], [0.075, 0.16], [0.0, 0.14]];
            self.build.turned_about(engine, nose, &shell, 14);
        }
        fin(
            &mut self.build,
            [-half * 0.84, round * 0.4],
            Vec3::Y * 0.42,
            [chord * 0.75, chord * 0.4],
            0.2,
            Vec3::Z * 0.02,
        );
        self.build.colour(hsv(210.0, 0.4, 0.3)).ball([half * 0.74, round * 0.52, 0.0], round * 0.58, 14);
    }

    fn shelf(&mut self) {
        let (wide, deep, tall) = (self.between(0.9, 1.3), self.between(0.3, 0.42), self.between(1.6, 2.1));
        let boards = self.numbers.gen_range(4..7);
        let wood = self.timber();
        self.build.colour(wood);
        for x in [-1.0, 1.0] {
            self.build.block([x * wide / 2.0, tall / 2.0, 0.0], [0.07, tall, deep]);
        }
        if self.coin() {
            self.build.block([0.0, tall / 2.0, -deep / 2.0 + 0.015], [wide, tall, 0.03]);
        }
        let step = (tall - 0.07) / (boards - 1) as f32;
        for k in 0..boards {
            self.build.block([0.0, 0.035 + k as f32 * step, 0.0], [wide, 0.06, deep]);
        }
        for k in 0..boards - 1 {
            let mut x = -wide / 2.0 + 0.06;
            let until = self.between(-0.1, 1.0) * wide / 2.0;
            while x < until - 0.12 {
                let (thick, high) = (self.between(0.05, 0.11), self.between(0.55, 0.82) * step);
                let cover = self.paint();
                self.build.colour(cover).block(
                    [x + thick / 2.0, 0.065 + k as f32 * step + high / 2.0, 0.0],
                    [thick * 0.94, high, deep * 0.75],
                );
                x += thick;
            }
        }
    }

    fn sofa(&mut self) {
        let (wide, deep) = (self.between(1.7, 2.3), self.between(0.8, 1.0));
        let (seat, back, arm) = (self.between(0.38, 0.48), self.between(0.45, 0.62), self.between(0.16, 0.28));
        let cloth = self.paint();
        let (lighter, feet) = (cloth.lerp(Vec3::ONE, 0.15), self.timber());
        self.build.colour(feet);
        self.legs(wide, deep, 0.14, 0.1);
        self.build
            .colour(cloth)
            .block([0.0, 0.14 + seat / 4.0, 0.0], [wide, seat / 2.0, deep])
            .block([0.0, 0.14 + (seat + back) / 2.0, -deep / 2.0 + 0.12], [wide, seat + back, 0.24]);
        for x in [-1.0, 1.0] {
            let high = seat + 0.2;
            self.build.block([x * (wide - arm) / 2.0, 0.14 + high / 2.0, 0.02], [arm, high, deep]);
        }
        let seats = self.numbers.gen_range(2..4);
        let each = (wide - 2.0 * arm) / seats as f32;
        self.build.colour(lighter);
        for k in 0..seats {
            let x = -wide / 2.0 + arm + each * (k as f32 + 0.5);
            self.build.block([x, 0.14 + seat * 0.72, 0.1], [each * 0.96, seat * 0.5, deep - 0.2]);
            self.build.turned_block(
                Vec3::new(x, 0.14 + seat + back * 0.42, -deep / 2.0 + 0.3),
                Vec3::new(each * 0.93, back * 0.85, 0.16),
                Quat::from_rotation_x(-0.14),
            );
        }
    }

    fn table(&mut self) {
        let height = self.between(0.7, 0.95);
        let wood = self.timber();
        let top = if self.coin() { self.timber() } else { wood };
        match self.numbers.gen_range(0..3) {
            0 => {
                let across = self.between(0.65, 0.9);
                self.build.colour(top).cylinder([0.0, height - 0.08, 0.0], across, 0.09, 40);
                let stem = self.between(0.06, 0.1);
                self.build.colour(wood).cylinder([0.0, 0.04, 0.0], stem, height - 0.1, 16).turned(
                    [0.0; 3],
                    &[[0.0, 0.0], [across * 0.55, 0.0], [across * 0.5, 0.05], [stem, 0.12]],
                    28,
                );
            }
            style => {
                let (wide, deep, thick) = (self.between(1.5, 2.1), self.between(0.8, 1.1), self.between(0.08, 0.13));
                self.build.colour(top).block([0.0, height - 0.045, 0.0], [wide, 0.09, deep]);
                self.build.colour(wood);
                self.legs(wide - 0.08, deep - 0.08, height - 0.09, thick);
                if style == 1 {
                    self.build.block([0.0, height - 0.17, 0.0], [wide - 0.2, 0.14, deep - 0.2]);
                }
            }
        }
    }
}
