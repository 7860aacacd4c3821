//! The choice and its density on images with a margin, against a slow enumeration of every pre-image; and what is scored.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use crate::toys::{Conv, Counting, Linear, Seen, gaussian, integers, labels, model, noise, run, set};
use tch::{Device, Tensor};
use viva::core::Cx;
use viva::data::{Dataset, Edge};
use viva::model::{Model, Network};
use viva::search::{Nearest, Row, Search, Strongest};
use viva::space::Point;

type Offset = (i64, i64);

/// Everything about one image by brute force: all scores first, then the definitions word by word.
struct Reference {
    eps: i64,
    reach: i64,
    /// (wrong, l_exc) by offset, row-major over [-reach, reach]^2.
    scores: Vec<(bool, f32)>,
    nearest: bool,
}

impl Reference {
    fn new(model: &Model, canvas: &Tensor, side: i64, margin: i64, label: i64, eps: i64, nearest: bool) -> Self {
        let reach = 3 * eps;
        let span = || -reach..=reach;
        let windows: Vec<Tensor> = span()
            .flat_map(|dy| span().map(move |dx| (dy, dx)))
            // Moving the content by (dy, dx) moves the window by the opposite.
            .map(|(dy, dx)| canvas.narrow(1, margin - dy, side).narrow(2, margin - dx, side))
            .collect();
        let scores = model.logits(&Tensor::stack(&windows, 0)).unwrap();
        let scores = (0..windows.len() as i64)
            .map(|i| {
                let row = Vec::<f32>::try_from(scores.get(i)).unwrap();
                let best = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let predicted = row.iter().position(|&s| s == best).unwrap() as i64;
                (predicted != label, best - row[label as usize])
            })
            .collect();
        Self { eps, reach, scores, nearest }
    }

    fn at(&self, (y, x): Offset) -> (bool, f32) {
        self.scores[((y + self.reach) * (2 * self.reach + 1) + x + self.reach) as usize]
    }

    /// V_eps, top to bottom and left to right.
    fn translations(&self) -> Vec<Offset> {
        let span = || -self.eps..=self.eps;
        span().flat_map(|dy| span().map(move |dx| (dy, dx))).filter(|&v| v != (0, 0)).collect()
    }

    fn g(&self, (y, x): Offset) -> Offset {
        if self.at((y, x)).0 {
            return (y, x);
        }
        let mut best: Option<(Offset, f64)> = None;
        for (dy, dx) in self.translations() {
            let (wrong, excess) = self.at((y + dy, x + dx));
            let worth = if self.nearest { -((dy * dy + dx * dx) as f64) } else { f64::from(excess) };
            // The first of equal ones stays.
            if wrong && best.is_none_or(|(_, most)| worth > most) {
                best = Some(((y + dy, x + dx), worth));
            }
        }
        best.map_or((y, x), |(point, _)| point)
    }

    fn h(&self, (y, x): Offset) -> f64 {
        let movers = self.translations().into_iter().filter(|(dy, dx)| self.g((y - dy, x - dx)) == (y, x)).count();
        1.0 / (1.0 + movers as f64)
    }
}

const SIDE: i64 = 8;

fn compare(make: impl Fn(u64) -> Box<dyn Network>, eps: i64, n: usize, seeds: u64) {
    let cx = Cx::default();
    let margin = 3 * eps;
    let canvas = (SIDE + 2 * margin) as usize;
    let (mut fooled, mut wrong, mut shared, mut scored) = (0, 0, 0, 0);
    for seed in 0..seeds {
        for nearest in [false, true] {
            let images = noise(n, canvas * canvas, 10 + seed);
            let shape = [1, canvas, canvas];
            let plain = Model::new("plain", make(seed), viva::core::Digest::of(b"plain"));
            let edge = Edge::Margin(margin as usize);
            let unlabelled = set(shape, images.clone(), vec![0; n], 4, edge);
            let data = set(shape, images, labels(&plain, &unlabelled, 4, 0.7, seed), 4, edge);
            let seen = Rc::new(Seen::default());
            let f = model(Counting { network: make(seed), seen: seen.clone() }).with_classes(4);
            seen.after_first_look(&f, &data);
            let search: Rc<dyn Search> = if nearest { Rc::new(Nearest) } else { Rc::new(Strongest::default()) };
            let transcript = run(&cx, &f, &data, eps as usize, search, 97);
            for (i, row) in transcript.rows.iter().enumerate() {
                let reference = Reference::new(
                    &plain,
                    &data.canvases(&[i], Device::Cpu).unwrap().get(0),
                    SIDE,
                    margin,
                    data.labels()[i],
                    eps,
                    nearest,
                );
                let after = reference.g((0, 0));
                let Point::Element(element) = row.point else { panic!("a translation") };
                assert_eq!((i64::from(element.0[0]), i64::from(element.0[1])), after, "image {i}");
                assert_eq!(row.wrong_before(), reference.at((0, 0)).0);
                assert_eq!(row.wrong_after(), reference.at(after).0);
                assert_eq!(row.loss, reference.at(after).1);
                assert_eq!(row.weight, Some(reference.h(after)), "image {i}");
                let choices = (2 * eps as u32 + 1).pow(2);
                assert!(row.queries >= choices && row.queries <= (4 * eps as u32 + 1).pow(2), "{}", row.queries);
                if !row.wrong_after() {
                    assert_eq!((row.queries, row.weight), (choices, Some(1.0)));
                }
                fooled += usize::from(row.fooled());
                wrong += usize::from(row.wrong_before());
                shared += usize::from(row.wrong_after() && row.weight < Some(0.5));
                scored += row.queries as usize;
            }
            // The images are noise, so no two windows are alike: what was scored was scored once.
            let asked: u32 = transcript.rows.iter().map(|row| row.queries).sum();
            let otherwise = seen.images.get() - asked as usize;
            assert_eq!(seen.repeated.get(), 0);
            assert!(
                [0, 4 * 40].contains(&otherwise),
                "{otherwise}: 40 images in four other preparations, where few are right"
            );
        }
    }
    println!("eps {eps}: {fooled} fooled, {wrong} wrong, {shared} shared, {scored} scored");
    assert!(fooled > 5 && wrong > 5 && shared > 5, "too little happened to test anything");
}

fn linear(quantum: f64, most: i64) -> impl Fn(u64) -> Box<dyn Network> {
    move |seed| Box::new(Linear { weights: integers(&[SIDE * SIDE, 4], most, seed), quantum })
}

#[test]
fn every_pre_image_eps_1() {
    compare(linear(0.0, 9), 1, 40, 4);
}

#[test]
fn every_pre_image_eps_2() {
    compare(linear(0.0, 9), 2, 40, 3);
}

#[test]
fn every_pre_image_eps_5() {
    compare(linear(0.0, 9), 5, 12, 1);
}

#[test]
fn every_pre_image_with_ties() {
    compare(linear(8.0, 2), 1, 40, 4);
    compare(linear(8.0, 2), 2, 40, 3);
}

#[test]
fn every_pre_image_of_a_convolution() {
    let conv = |seed| -> Box<dyn Network> {
        let head = Linear { weights: integers(&[3 * 6 * 6, 4], 2, seed), quantum: 0.0 };
        Box::new(Conv { kernel: integers(&[3, 1, 3, 3], 2, seed + 9), head })
    };
    compare(conv, 2, 40, 3);
}

/// Smooth images of a margin, as photographs are: neighbouring offsets score alike.
fn smooth(n: usize, eps: usize, seed: u64) -> (Model, Dataset, Rc<Seen>) {
    let side = 24 + 6 * eps;
    let small = gaussian(&[n as i64, 1, side as i64 / 4, side as i64 / 4], seed);
    let large = small.upsample_bilinear2d([side as i64, side as i64], false, None, None).sigmoid();
    let images = (0..n as i64).map(|i| Vec::try_from(large.get(i).reshape([-1])).unwrap()).collect::<Vec<Vec<f32>>>();
    let network = || Conv {
        kernel: gaussian(&[8, 1, 3, 3], seed),
        head: Linear { weights: gaussian(&[8 * 22 * 22, 10], seed), quantum: 0.0 },
    };
    let shape = [1, side, side];
    let edge = Edge::Margin(3 * eps);
    let unlabelled = set(shape, images.clone(), vec![0; n], 10, edge);
    let labels = labels(&model(network()), &unlabelled, 10, 0.8, seed);
    let seen = Rc::new(Seen::default());
    let f = model(Counting { network: Box::new(network()), seen: seen.clone() }).with_classes(10);
    (f, set(shape, images, labels, 10, edge), seen)
}

#[test]
fn few_points_are_scored_and_batches_are_full() {
    let (f, data, seen) = smooth(200, 5, 3);
    seen.after_first_look(&f, &data);
    let transcript = run(&Cx::default(), &f, &data, 5, Rc::new(Strongest::default()), 256);
    let mean = |keep: &dyn Fn(&Row) -> bool| {
        let of: Vec<u32> = transcript.rows.iter().filter(|r| keep(r)).map(|r| r.queries).collect();
        (of.len(), of.iter().sum::<u32>() as f64 / of.len() as f64)
    };
    let scored = seen.images.get();
    println!("wrong {:?}, fooled {:?}, all {:?}", mean(&Row::wrong_before), mean(&Row::fooled), mean(&|_| true));
    println!("{scored} scored in {} calls", seen.calls.get());
    assert_eq!(seen.repeated.get(), 0);
    for row in &transcript.rows {
        assert!(row.queries <= 441 && (row.wrong_after() || row.queries == 121));
    }
    // All batches but those of the last few images of each block of 32 are full.
    assert!(seen.calls.get() <= scored.div_ceil(256) + 30 * data.len().div_ceil(32));
    assert!(mean(&Row::fooled).1 < 400.0, "doubt is dispelled before everything is scored");
}

#[test]
fn the_outcome_does_not_depend_on_the_batch() {
    let n = 30;
    let images = noise(n, 14 * 14, 5);
    let make = || Linear { weights: integers(&[64, 4], 9, 5), quantum: 2.0 };
    let unlabelled = set([1, 14, 14], images.clone(), vec![0; n], 4, Edge::Margin(3));
    let data = set([1, 14, 14], images, labels(&model(make()), &unlabelled, 4, 0.7, 5), 4, Edge::Margin(3));
    let rows = |batch| {
        format!("{:?}", run(&Cx::default(), &model(make()), &data, 1, Rc::new(Strongest::default()), batch).rows)
    };
    let once = rows(1);
    for batch in [2, 7, 64, 1000] {
        assert_eq!(rows(batch), once);
    }
}

/// 14 rolls of a torus give the images that `roll` of libtorch gives: content moves by v.
#[test]
fn translations_move_the_content() {
    let data = set([2, 6, 7], noise(3, 84, 1), vec![0; 3], 2, Edge::Wrap);
    let space = viva::space::Translate::new(2).unwrap();
    let group = viva::space::Finite::on(&space, &data, 3).unwrap();
    let canvases = data.canvases(&[0, 1, 2], Device::Cpu).unwrap();
    let prepared = group.prepare(&canvases).unwrap();
    let bytes = |t: &Tensor| Vec::<f32>::try_from(t.contiguous().reshape([-1])).unwrap();
    for &v in group.candidates() {
        for row in 0..3 {
            let moved = group.draw(&prepared, &[row], &[v]).unwrap();
            let rolled = canvases.narrow(0, row, 1).roll([i64::from(v.0[0]), i64::from(v.0[1])], [2, 3]);
            assert_eq!(bytes(&moved), bytes(&rolled), "{v:?}");
            let back = group.compose(group.inverse(v), v);
            assert_eq!(back, viva::space::Element::IDENTITY);
        }
    }
}
