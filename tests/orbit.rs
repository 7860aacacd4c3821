//! The exact test of the density: over all rolls of one image on a torus, the weighted losses sum to the plain ones.
//!
//! g moves the orbit into itself, and h_g is the share of a misclassified point's probability that it had before, so the sum
//! of L(g(x)) h_g(g(x)) over the orbit is the sum of L(x), whatever the model. Any error in g, h_g, ties or the border
//! breaks this.
#![allow(clippy::unwrap_used)]

use crate::toys;
use std::rc::Rc;

use crate::toys::{Conv, Linear, gaussian, integers, model, run, set};
use rand::Rng;
use viva::core::Cx;
use viva::data::{Dataset, Edge};
use viva::maths::betting::{Bets, Sides};
use viva::model::Model;
use viva::search::{Average, AverageDoubt, Nearest, Search, Strongest, Transcript};

/// Every roll of one `h x w` image.
fn orbit(h: usize, w: usize, image: &[f32], label: i64, classes: usize) -> Dataset {
    let mut images = Vec::new();
    for dy in 0..h {
        for dx in 0..w {
            let at = |i: usize| image[(i / w + h - dy) % h * w + (i % w + w - dx) % w];
            images.push((0..h * w).map(at).collect());
        }
    }
    let labels = vec![label; h * w];
    set([1, h, w], images, labels, classes, Edge::Wrap)
}

/// Checks the identity; answers how many images were fooled and how many densities were below 1/2.
fn check(transcript: &Transcript) -> (usize, usize) {
    let (mut plain, mut weighted, mut squared, mut fooled, mut shared) = (0.0, 0.0, 0.0, 0, 0);
    for row in &transcript.rows {
        let h = row.weight.unwrap();
        assert!(h > 0.0 && h <= 1.0);
        plain += f64::from(u8::from(row.wrong_before()));
        let loss = if row.wrong_after() { h } else { 0.0 };
        weighted += loss;
        squared += loss * loss;
        fooled += usize::from(row.fooled());
        shared += usize::from(row.wrong_after() && h < 0.5);
        if row.fooled() {
            assert!(h <= 0.5, "something was moved there");
        } else {
            assert_eq!(row.magnitude, 0.0);
        }
    }
    // At most 144 terms near 1, each rounded once.
    assert!((plain - weighted).abs() < 1e-11, "{plain} plain, {weighted} weighted");
    assert!(squared <= weighted + 1e-12);
    (fooled, shared)
}

fn all(network: impl Fn(i64, i64, u64) -> Model) {
    let cx = Cx::default();
    let searches: [Rc<dyn Search>; 2] = [Rc::new(Strongest::default()), Rc::new(Nearest)];
    let (mut fooled, mut shared, mut orbits) = (0, 0, 0);
    for seed in 0..4 {
        for (h, w) in [(8, 8), (9, 12), (11, 10), (12, 12)] {
            for eps in [1, 2] {
                let f = network(h, w, seed);
                let image: Vec<f32> = Vec::try_from(gaussian(&[h * w], 100 + seed).sigmoid()).unwrap();
                for label in 0..3 {
                    let data = orbit(h as usize, w as usize, &image, label, 3);
                    for search in &searches {
                        let (f, s) = check(&run(&cx, &f, &data, eps, search.clone(), 300));
                        fooled += f;
                        shared += s;
                        orbits += 1;
                    }
                }
            }
        }
    }
    println!("{orbits} orbits, {fooled} fooled, {shared} densities below 1/2");
    assert!(fooled > 1000 && shared > 1000, "too little happened to test anything");
}

#[test]
fn linear_models() {
    all(|h, w, seed| model(Linear { weights: gaussian(&[h * w, 3], seed), quantum: 0.0 }));
}

#[test]
fn convolutional_models() {
    all(|h, w, seed| {
        let head = Linear { weights: gaussian(&[4 * (h - 2) * (w - 2), 3], seed), quantum: 0.0 };
        model(Conv { kernel: gaussian(&[4, 1, 3, 3], seed + 50), head })
    });
}

/// Ties everywhere: integer weights, coarse scores, images of five grey levels.
#[test]
fn tied_scores() {
    let cx = Cx::default();
    let searches: [Rc<dyn Search>; 2] = [Rc::new(Strongest::default()), Rc::new(Nearest)];
    let mut fooled = 0;
    for seed in 0..8 {
        let f = model(Linear { weights: integers(&[81, 3], 2, seed), quantum: 4.0 });
        let image = toys::noise(1, 81, 30 + seed).remove(0);
        for label in 0..3 {
            let data = orbit(9, 9, &image, label, 3);
            for search in &searches {
                fooled += check(&run(&cx, &f, &data, 2, search.clone(), 64)).0;
            }
        }
    }
    assert!(fooled > 300, "{fooled}");
}

/// The window may be as large as the torus itself.
#[test]
fn the_largest_epsilon() {
    let cx = Cx::default();
    let f = model(Linear { weights: gaussian(&[81, 3], 5), quantum: 0.0 });
    let image: Vec<f32> = Vec::try_from(gaussian(&[81], 6).sigmoid()).unwrap();
    for label in 0..3 {
        check(&run(&cx, &f, &orbit(9, 9, &image, label, 3), 4, Rc::new(Strongest::default()), 64));
    }
}

/// Images at places of their orbits that are drawn without a look at the model are rejected no more often than the level says; those that
/// stand where the model is surest of them are rejected.
#[test]
fn averages_reject_as_often_as_they_may() {
    const REPEATS: usize = 2000;
    let cx = Cx::default();
    let f = model(Linear { weights: gaussian(&[110, 3], 2), quantum: 0.0 });
    let searches: [Rc<dyn Search>; 2] = [Rc::new(Average), Rc::new(AverageDoubt)];
    for search in &searches {
        let (mut pool, mut surest) = (vec![], vec![]);
        for seed in 0..12 {
            let image: Vec<f32> = Vec::try_from(gaussian(&[110], 200 + seed).sigmoid()).unwrap();
            let transcript = run(&cx, &f, &orbit(11, 10, &image, seed as i64 % 3, 3), 2, search.clone(), 300);
            let compared = transcript.of.density.as_ref().unwrap().compared;
            let t = |row: &viva::search::Row| compared.losses(row).map(|(plain, weighted)| weighted - plain).unwrap();
            pool.extend(transcript.rows.iter().map(t));
            surest.push(transcript.rows.iter().max_by(|a, b| a.margin.total_cmp(&b.margin)).map(t).unwrap());
        }
        assert!(pool.iter().sum::<f64>().abs() < 1e-9, "T has mean 0 over whole orbits");
        let bets = Bets { range: (-1.0, 1.0), delta: 0.05, sides: Sides::Two, planned: None };
        let mut draws = viva::core::random(7, 0);
        let mut rate = |pool: &[f64], m: usize| {
            let drawn = |rng: &mut _| (0..m).map(|_| pool[Rng::gen_range(rng, 0..pool.len())]).collect::<Vec<f64>>();
            (0..REPEATS).filter(|_| bets.rejects(&drawn(&mut draws))).count() as f64 / REPEATS as f64
        };
        let limit = 0.05 + 3.5 * (0.05f64 * 0.95 / REPEATS as f64).sqrt();
        let null = rate(&pool, 200);
        assert!(null > 0.01 && null < limit, "{} rejects {null} of the independent samples", search.describe());
        assert!(rate(&surest, 200) > 0.8, "{} does not see what it is there for", search.describe());
    }
}
