//! Composed spaces: products, inverses and equality of elements against what they do to pixels; the exact test of the density
//! over whole orbits for all four searches; and what is refused.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::toys::{Conv, Linear, call, gaussian, integers, model, noise, options, run_over, set};
use tch::{Device, Tensor};
use viva::core::{Cx, ErrorKind, Result, Value};
use viva::data::{Dataset, Edge, Glyphs, Preprocessing};
use viva::model::Model;
use viva::search::{Average, AverageDoubt, Ball, Blind, BlindOrStay, Nearest, Search, Strongest, Transcript};
use viva::space::{AnySpace, Composed, Element, Finite, Flip, Group, Polarity, Space, Symmetry, Translate, Turn};

fn times(a: Rc<dyn Space>, b: Rc<dyn Space>) -> Rc<dyn Space> {
    Rc::new(Composed::new(&*a, &*b).unwrap())
}

fn translate(eps: usize) -> Rc<dyn Space> {
    Rc::new(Translate::new(eps).unwrap())
}

/// Channel c + 1 takes the place of channel c: a symmetry as a newcomer writes one, of order 3.
#[derive(Clone)]
struct Cycle;

impl Space for Cycle {
    fn describe(&self) -> String {
        "cycle()".into()
    }
    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Symmetry for Cycle {
    fn name(&self) -> &'static str {
        "cycle"
    }
    /// One change of two: the other follows from it.
    fn moves(&self) -> Vec<String> {
        vec!["cycle".into()]
    }
    fn apply(&self, _place: usize, canvases: &Tensor) -> Result<Tensor> {
        Ok(canvases.f_roll([1], [1])?)
    }
    fn assumption(&self) -> String {
        "colours are exchangeable".into()
    }
}

/// A change of whole images that is given as a function.
#[derive(Clone)]
struct Given(&'static str, fn(&Tensor) -> Tensor);

impl Space for Given {
    fn describe(&self) -> String {
        format!("{}()", self.0)
    }
    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Symmetry for Given {
    fn name(&self) -> &'static str {
        self.0
    }
    fn moves(&self) -> Vec<String> {
        vec![self.0.into()]
    }
    fn apply(&self, _place: usize, canvases: &Tensor) -> Result<Tensor> {
        Ok(self.1(canvases))
    }
    fn assumption(&self) -> String {
        String::new()
    }
}

/// Rolls by half the sides: a symmetry that is a translation as well.
fn half() -> Rc<dyn Space> {
    Rc::new(Given("half", |x| x.roll([x.size()[2] / 2, x.size()[3] / 2], [2, 3])))
}

fn bytes(tensor: &Tensor) -> Vec<u32> {
    Vec::<f32>::try_from(tensor.contiguous().reshape([-1])).unwrap().into_iter().map(f32::to_bits).collect()
}

/// A group and an image that its elements are applied to.
struct Drawn {
    group: Rc<dyn Group>,
    prepared: Tensor,
}

impl Drawn {
    fn image(&self, element: Element) -> Vec<u32> {
        bytes(&self.group.draw(&self.prepared, &[0], &[element]).unwrap())
    }
}

/// Every space here, with the number of its points and of all elements on a torus of 6 x 6.
fn spaces() -> Vec<(Rc<dyn Space>, usize, usize)> {
    let (flip, turn, polarity): (Rc<dyn Space>, Rc<dyn Space>, Rc<dyn Space>) =
        (Rc::new(Flip), Rc::new(Turn), Rc::new(Polarity));
    let both = times(flip.clone(), turn.clone());
    vec![
        (flip.clone(), 1, 2),
        (polarity.clone(), 1, 2),
        (turn.clone(), 3, 4),
        (both.clone(), 7, 8),
        (times(both.clone(), polarity.clone()), 15, 16),
        (times(translate(1), polarity.clone()), 17, 72),
        (times(translate(1), flip.clone()), 17, 72),
        (times(flip.clone(), translate(1)), 17, 72),
        (times(translate(1), turn.clone()), 35, 144),
        (times(times(translate(1), flip.clone()), polarity.clone()), 35, 144),
        (times(times(polarity, turn), times(translate(1), flip)), 143, 576),
        (times(translate(1), Rc::new(Cycle)), 17, 108),
        (times(translate(1), half()), 17, 36),
        (Rc::new(Cycle), 1, 3),
        (half(), 1, 2),
    ]
}

/// All elements that products of a group's points give.
fn all(group: &dyn Group) -> Vec<Element> {
    let mut known = HashSet::from([Element::IDENTITY]);
    let mut list = vec![Element::IDENTITY];
    let mut next = 0;
    while next < list.len() {
        for &candidate in group.candidates() {
            let product = group.compose(candidate, list[next]);
            if known.insert(product) {
                list.push(product);
            }
        }
        next += 1;
    }
    list
}

/// On a torus: two elements are equal if and only if they do the same, a product does what its factors do one after the
/// other, and an inverse undoes.
#[test]
fn elements_are_what_they_do_on_a_torus() {
    let data = set([3, 6, 6], noise(1, 108, 4), vec![0], 2, Edge::Wrap);
    for (space, points, elements) in spaces() {
        let finite = space.finite().unwrap();
        let group = finite.on(&data, 3).unwrap();
        assert_eq!(group.candidates().len(), points, "{}", space.describe());
        let known = all(&*group);
        assert_eq!(known.len(), elements, "{}", space.describe());
        let canvases = data.canvases(&[0], Device::Cpu).unwrap();
        let drawn = |image: &Tensor| Drawn { group: group.clone(), prepared: group.prepare(image).unwrap() };
        let first = drawn(&canvases);
        let images: HashSet<Vec<u32>> = known.iter().map(|&element| first.image(element)).collect();
        assert_eq!(images.len(), elements, "{}: two elements do the same", space.describe());
        for (i, &before) in known.iter().enumerate() {
            assert_eq!(group.compose(group.inverse(before), before), Element::IDENTITY);
            assert_eq!(group.compose(before, group.inverse(before)), Element::IDENTITY);
            let changed = group.draw(&first.prepared, &[0], &[before]).unwrap();
            let second = drawn(&changed);
            for &after in known.iter().skip(i % 5).step_by(if elements > 100 { 31 } else { 1 }) {
                let both = group.compose(after, before);
                assert!(second.image(after) == first.image(both), "{}: {after:?} {before:?}", space.describe());
            }
        }
    }
}

/// With a margin, odd and even sides: the whole canvas is changed, and the window moves over it.
#[test]
fn elements_are_what_they_do_with_a_margin() {
    for (side, margin) in [(5, 3), (6, 3), (5, 4), (6, 4)] {
        let canvas = side + 2 * margin;
        let data = set([3, canvas, canvas], noise(1, 3 * canvas * canvas, 4), vec![0], 2, Edge::Margin(margin));
        let canvases = data.canvases(&[0], Device::Cpu).unwrap();
        for (space, points, _) in spaces() {
            if space.describe().contains("half") {
                continue;
            }
            let group = space.finite().unwrap().on(&data, 3).unwrap();
            assert_eq!(group.candidates().len(), points);
            let prepared = group.prepare(&canvases).unwrap();
            let rows = vec![0; points];
            let drawn = group.draw(&prepared, &rows, group.candidates()).unwrap();
            for (i, &element) in group.candidates().iter().enumerate() {
                let expected = data.centre(&by_hand(&*group, element, &canvases)).unwrap();
                assert_eq!(bytes(&drawn.get(i as i64)), bytes(&expected), "{} {element:?}", space.describe());
            }
            // Two steps one after the other, on the canvas, are the product; the ball is all that a density asks for.
            let ball = Ball::new(group.clone(), 3);
            for number in (0..ball.len() as u32).step_by(7) {
                let element = ball.element(number);
                let image = group.draw(&prepared, &[0], &[element]).unwrap();
                let expected = data.centre(&by_hand(&*group, element, &canvases)).unwrap();
                assert_eq!(bytes(&image), bytes(&expected));
            }
            for &a in group.candidates().iter().step_by(3) {
                for &b in group.candidates().iter().step_by(2) {
                    let one = by_hand(&*group, a, &by_hand(&*group, b, &canvases));
                    let both = by_hand(&*group, group.compose(a, b), &canvases);
                    assert_eq!(bytes(&one), bytes(&both), "{} {a:?} {b:?}", space.describe());
                }
            }
        }
    }
}

/// What an element says that it does, done to the canvas as a torus by libtorch's own functions.
fn by_hand(group: &dyn Group, element: Element, canvas: &Tensor) -> Tensor {
    let (symmetry, [dy, dx]) = match group.value(element) {
        Value::Str(symmetry) => (symmetry, [0, 0]),
        Value::Map(map) => {
            let Value::Array(by) = &map["translate"] else { panic!("no translation") };
            let by: Vec<i64> = by.iter().map(|d| if let Value::Int(d) = d { *d } else { panic!("no int") }).collect();
            (map["symmetry"].summary(), [by[0], by[1]])
        }
        other => panic!("{}", other.summary()),
    };
    let mut image = canvas.copy();
    for word in symmetry.split(" after ").collect::<Vec<_>>().into_iter().rev() {
        image = match word {
            "none" => image,
            "flip" => image.flip([3]),
            "turn 90" => image.transpose(2, 3).flip([2]),
            "turn 180" => image.flip([2, 3]),
            "turn 270" => image.transpose(2, 3).flip([3]),
            "polarity" => image.neg() + 1.0,
            "cycle" => image.index_select(1, &Tensor::from_slice(&[2i64, 0, 1])),
            other => panic!("{other}"),
        };
    }
    image.roll([dy, dx], [2, 3])
}

/// Translating after mirroring is not mirroring after translating; and however a product is written, its points stand in
/// one order.
#[test]
fn the_order_of_the_points() {
    let data = set([1, 7, 7], noise(1, 49, 4), vec![0], 2, Edge::Wrap);
    let group = |space: Rc<dyn Space>| space.finite().unwrap().on(&data, 3).unwrap();
    let one = group(times(translate(1), Rc::new(Flip)));
    let other = group(times(Rc::new(Flip), translate(1)));
    assert_eq!(one.candidates(), other.candidates());
    let plain = group(translate(1));
    assert_eq!(one.candidates()[..8], *plain.candidates(), "Appendix B's order comes first");
    let right = one.candidates()[4];
    let flip = one.candidates()[12];
    assert_eq!(one.value(right).summary(), "#{symmetry: none, translate: [0, 1]}");
    assert_eq!(one.value(flip).summary(), "#{symmetry: flip, translate: [0, 0]}");
    assert_eq!(one.value(one.compose(right, flip)).summary(), "#{symmetry: flip, translate: [0, 1]}");
    assert_eq!(one.value(one.compose(flip, right)).summary(), "#{symmetry: flip, translate: [0, -1]}");
    assert_eq!((one.magnitude(flip), one.magnitude(one.candidates()[8])), (0.0, 2f64.sqrt()));
    let square = group(times(Rc::new(Flip), Rc::new(Turn)));
    let words: Vec<String> = square.candidates().iter().map(|&e| square.value(e).summary()).collect();
    assert_eq!(words[..4], ["flip", "turn 90", "turn 180", "turn 270"]);
    let sizes: Vec<f64> = square.candidates().iter().map(|&e| square.magnitude(e)).collect();
    assert_eq!(sizes, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
}

/// All images that rolls and the named symmetries make of one of `side x side` pixels.
fn orbit(side: usize, image: &[f32], symmetries: &[&str], label: i64) -> Dataset {
    let mut whole = vec![image.to_vec()];
    let at = |from: &[f32], f: &dyn Fn(usize, usize) -> (usize, usize)| -> Vec<f32> {
        (0..side * side).map(|i| f(i / side, i % side)).map(|(y, x)| from[y * side + x]).collect()
    };
    for name in symmetries {
        for image in whole.clone() {
            match *name {
                "flip" => whole.push(at(&image, &|y, x| (y, side - 1 - x))),
                "polarity" => whole.push(image.iter().map(|x| 1.0 - x).collect()),
                "turn" => {
                    let quarter = |from: &[f32]| at(from, &|y, x| (x, side - 1 - y));
                    let (once, twice) = (quarter(&image), quarter(&quarter(&image)));
                    whole.extend([quarter(&twice), twice, once]);
                }
                "translate" => {
                    for by in 1..side * side {
                        let (dy, dx) = (by / side, by % side);
                        whole.push(at(&image, &|y, x| ((y + dy) % side, (x + dx) % side)));
                    }
                }
                other => panic!("{other}"),
            }
        }
    }
    let labels = vec![label; whole.len()];
    set([1, side, side], whole, labels, 3, Edge::Wrap)
}

/// Sums over an orbit: L(x), L(g(x)) h_g(g(x)) and its square, and how many were fooled.
#[derive(Default)]
struct Sums {
    plain: f64,
    weighted: f64,
    squared: f64,
    fooled: usize,
}

impl Sums {
    fn check(&self, what: &str) {
        assert!((self.plain - self.weighted).abs() < 1e-10, "{what}: {} plain, {} weighted", self.plain, self.weighted);
        assert!(self.squared <= self.weighted + 1e-12, "{what}");
    }
}

fn sums(transcript: &Transcript) -> Sums {
    let density = transcript.of.density.as_ref().unwrap();
    let mut sums = Sums::default();
    for row in &transcript.rows {
        let (plain, weighted) = density.compared.losses(row).unwrap();
        let t = weighted - plain;
        assert!((density.lo..=density.hi).contains(&t), "{t} is not in [{}, {}]", density.lo, density.hi);
        sums.plain += plain;
        sums.weighted += weighted;
        sums.squared += weighted * weighted;
        sums.fooled += usize::from(row.fooled());
    }
    sums
}

/// Products with the symmetries that make their orbits, and the side of the torus.
fn products() -> Vec<(Rc<dyn Space>, Vec<&'static str>, usize)> {
    vec![
        (Rc::new(Flip), vec!["flip"], 5),
        (Rc::new(Turn), vec!["turn"], 6),
        (times(translate(1), Rc::new(Polarity)), vec!["polarity", "translate"], 5),
        (times(translate(2), Rc::new(Flip)), vec!["flip", "translate"], 6),
        (times(Rc::new(Flip), translate(1)), vec!["flip", "translate"], 7),
        (times(translate(1), Rc::new(Turn)), vec!["turn", "translate"], 5),
        (times(times(translate(1), Rc::new(Flip)), Rc::new(Polarity)), vec!["flip", "polarity", "translate"], 6),
        (times(times(Rc::new(Turn), translate(1)), Rc::new(Flip)), vec!["turn", "flip", "translate"], 5),
    ]
}

fn toy(kind: usize, side: usize, seed: u64) -> Model {
    let side = side as i64;
    match kind {
        0 => model(Linear { weights: gaussian(&[side * side, 3], seed), quantum: 0.0 }),
        // Ties everywhere: integer weights, coarse scores.
        1 => model(Linear { weights: integers(&[side * side, 3], 2, seed), quantum: 4.0 }),
        _ => {
            let head = Linear { weights: integers(&[4 * (side - 2) * (side - 2), 3], 3, seed), quantum: 0.0 };
            model(Conv { kernel: integers(&[4, 1, 3, 3], 2, seed + 50), head })
        }
    }
}

/// sum L(g(x)) h_g(g(x)) = sum L(x) over every orbit, exactly: any wrong product, inverse or tie breaks it.
#[test]
fn the_density_is_exact_over_whole_orbits() {
    let cx = Cx::default();
    let searches: [Rc<dyn Search>; 4] =
        [Rc::new(Strongest::default()), Rc::new(Nearest), Rc::new(Average), Rc::new(AverageDoubt)];
    for (space, symmetries, side) in products() {
        let mut fooled = 0;
        for kind in 0..3 {
            for seed in 0..if symmetries.len() == 1 { 60 } else { 3 } {
                let image = noise(1, side * side, 100 + seed).remove(0);
                let data = orbit(side, &image, &symmetries, seed as i64 % 3);
                // Averages know nothing of ties and preferences.
                for search in &searches[..if seed == 0 { 4 } else { 2 }] {
                    let f = toy(kind, side, seed);
                    let sums = sums(&run_over(&cx, &f, &data, space.clone(), search.clone(), 256).unwrap());
                    sums.check(&format!("{} {} kind {kind} seed {seed}", space.describe(), search.describe()));
                    fooled += sums.fooled;
                }
            }
        }
        println!("{}: {fooled} fooled", space.describe());
        assert!(fooled > 20, "{}: too little happened to test anything", space.describe());
    }
}

/// The random searches, in expectation over every possible draw; each draw is met often, and equally often.
#[test]
fn the_density_of_random_searches_is_exact_in_expectation() {
    const TIMES: usize = 400;
    let cx = Cx::default();
    let cases: [(Rc<dyn Space>, Vec<&str>, usize); 4] = [
        (translate(1), vec!["translate"], 4),
        (Rc::new(Turn), vec!["turn"], 5),
        (times(translate(1), Rc::new(Flip)), vec!["flip", "translate"], 4),
        (times(times(Rc::new(Turn), Rc::new(Flip)), Rc::new(Polarity)), vec!["turn", "flip", "polarity"], 5),
    ];
    for (space, symmetries, side) in cases {
        for kind in 0..2 {
            let f = toy(kind, side, 3);
            let orbits = noise(20, side * side, 7).into_iter().map(|image| orbit(side, &image, &symmetries, 0));
            let data = orbits.max_by_key(|data| sharing(&f, data)).unwrap();
            let n = data.len();
            let rows: Vec<usize> = (0..n * TIMES).map(|i| i % n).collect();
            let data = data.select(&rows).unwrap();
            let points = space.finite().unwrap().on(&data, 2).unwrap().candidates().len();
            for stays in [false, true] {
                let search: Rc<dyn Search> = if stays { Rc::new(BlindOrStay) } else { Rc::new(Blind) };
                let transcript = run_over(&cx, &f, &data, space.clone(), search.clone(), 4096).unwrap();
                sums(&transcript);
                let mut expected = Sums::default();
                for x in 0..n {
                    let draws: Vec<_> = (0..TIMES).map(|time| transcript.rows[time * n + x]).collect();
                    let wrong = draws[0].wrong_before();
                    let mut outcomes: HashMap<String, (usize, f64)> = HashMap::new();
                    for row in &draws {
                        let loss = if row.wrong_after() { row.weight.unwrap() } else { 0.0 };
                        let entry = outcomes.entry(format!("{:?}", row.point)).or_insert((0, loss));
                        assert_eq!(entry.1, loss, "one point, one density");
                        entry.0 += 1;
                    }
                    let choices = if wrong { 1 } else { points + usize::from(stays) };
                    assert_eq!(outcomes.len(), choices, "{} {}", space.describe(), search.describe());
                    let share = TIMES as f64 / choices as f64;
                    // Six standard deviations of a binomial count.
                    let spread = 6.0 * (share * (1.0 - 1.0 / choices as f64)).sqrt();
                    assert!(outcomes.values().all(|(times, _)| (*times as f64 - share).abs() <= spread));
                    expected.plain += f64::from(u8::from(wrong));
                    expected.weighted += outcomes.values().map(|(_, loss)| loss / choices as f64).sum::<f64>();
                    expected.squared += outcomes.values().map(|(_, loss)| loss * loss / choices as f64).sum::<f64>();
                    expected.fooled += draws.iter().filter(|row| row.fooled()).count();
                    // The image, where it went, and the pre-images of that.
                    assert!(draws.iter().all(|row| row.queries as usize <= points + 2));
                }
                expected.check(&format!("{} {} kind {kind}", space.describe(), search.describe()));
                assert!(expected.fooled > 100, "{} {} {}", space.describe(), search.describe(), expected.fooled);
            }
        }
    }
}

/// How far from all right and all wrong an orbit is.
fn sharing(f: &Model, data: &Dataset) -> usize {
    let rows: Vec<usize> = (0..data.len()).collect();
    let scores = f.logits(&data.images(&rows, Device::Cpu).unwrap()).unwrap();
    let predicted = Vec::<i64>::try_from(scores.argmax(1, false)).unwrap();
    let wrong = predicted.iter().filter(|&&p| p != data.labels()[0]).count();
    wrong.min(data.len() - wrong)
}

/// The bounds of T_i are met by models that are wrong at one point alone or right at one point alone.
#[test]
fn the_ranges_are_tight() {
    let cx = Cx::default();
    type Range = fn(f64) -> (f64, f64);
    let searches: [(&str, Range); 5] = [
        ("average", |_| (-1.0, 1.0)),
        ("strongest", |v| (-v / (v + 1.0), 0.5)),
        ("nearest", |v| (-v / (v + 1.0), 0.5)),
        ("blind", |v| (-0.5, v / (v + 1.0))),
        ("blind_or_stay", |v| (-v / (2.0 * v + 1.0), (v + 1.0) / (v + 2.0))),
    ];
    for (space, symmetries, side) in products() {
        // No two images of the orbit are alike.
        let image = noise(1, side * side, 3).remove(0);
        let data = orbit(side, &image, &symmetries, 0);
        let v = space.finite().unwrap().on(&data, 3).unwrap().candidates().len() as f64;
        for (name, range) in searches {
            let search = call(&cx, &format!("search::{name}"), vec![]).unwrap();
            let search = search.downcast::<viva::search::AnySearch>().unwrap().0.clone();
            let (lo, hi) = range(v);
            let mut met = [false; 2];
            for wrong in [true, false] {
                let f = model(Single { image: Tensor::from_slice(&image), wrong });
                // Many copies, so that the random ones draw every point.
                let rows: Vec<usize> = (0..data.len() * 40).map(|i| i % data.len()).collect();
                let data = if name.starts_with("blind") { data.select(&rows).unwrap() } else { data.clone() };
                let transcript = run_over(&cx, &f, &data, space.clone(), search.clone(), 1024).unwrap();
                let density = transcript.of.density.clone().unwrap();
                assert!((density.lo - lo).abs() < 1e-12 && (density.hi - hi).abs() < 1e-12, "{name}");
                for row in &transcript.rows {
                    let (plain, weighted) = density.compared.losses(row).unwrap();
                    let t = weighted - plain;
                    met[0] |= (t - lo).abs() < 1e-12;
                    met[1] |= (t - hi).abs() < 1e-12;
                    assert!(t >= lo - 1e-12 && t <= hi + 1e-12);
                }
            }
            assert_eq!(met, [true; 2], "{name} over {} reaches neither or one of {lo} and {hi}", space.describe());
        }
    }
}

/// Wrong at one image alone, or right at it alone.
struct Single {
    image: Tensor,
    wrong: bool,
}

impl viva::model::Network for Single {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let far = (images.f_flatten(1, -1)? - &self.image).f_abs()?.f_amax([1], false)?;
        let there = far.f_eq(0.0)?.f_to_kind(tch::Kind::Float)?;
        let wrong = if self.wrong { there } else { 1.0 - there };
        Ok(Tensor::f_stack(&[&(1.0 - &wrong), &wrong, &(&wrong * 0.0 - 1.0)], 1)?)
    }
}

fn refused<T>(result: Result<T>, kind: ErrorKind, words: &[&str]) {
    let error = result.err().expect("must be refused");
    let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
    assert_eq!(error.kind, kind, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} not in: {text}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_reason() {
    let torus = |h: usize, w: usize| set([1, h, w], noise(1, h * w, 1), vec![0], 2, Edge::Wrap);
    let margin = set([1, 12, 12], noise(1, 144, 1), vec![0], 2, Edge::Margin(3));
    let on = |space: Rc<dyn Space>, data: &Dataset| space.finite().unwrap().on(data, 3).map(|_| ());
    refused(on(Rc::new(Turn), &torus(6, 8)), ErrorKind::Argument, &["6 x 8", "square"]);
    refused(on(times(translate(1), Rc::new(Turn)), &torus(8, 6)), ErrorKind::Argument, &["8 x 6"]);
    refused(on(times(translate(2), Rc::new(Flip)), &margin), ErrorKind::Argument, &["needs 6 pixels", "fits is 1"]);
    refused(on(times(translate(32), Rc::new(Flip)), &torus(80, 80)), ErrorKind::Argument, &["4224", "radius"]);
    let centred = torus(6, 6).with(Preprocessing::Centre).unwrap();
    refused(on(Rc::new(Polarity), &centred), ErrorKind::Data, &["centred", "plain images"]);
    let twice = Composed::new(&*times(translate(1), Rc::new(Flip)), &*translate(2)).map(|_| ());
    refused(twice, ErrorKind::Argument, &["translate(1) * flip() * translate(2)", "twice", "sum of both"]);
    let swap = Given("swap", |x| {
        let (first, rest) = (x.narrow(3, 0, 2).flip([3]), x.narrow(3, 2, x.size()[3] - 2));
        Tensor::cat(&[first, rest], 3)
    });
    assert!(on(Rc::new(swap.clone()), &torus(6, 6)).is_ok());
    assert!(on(times(Rc::new(swap.clone()), Rc::new(Polarity)), &torus(6, 6)).is_ok());
    refused(on(times(translate(1), Rc::new(swap)), &torus(6, 6)), ErrorKind::Argument, &["swap", "translations"]);
    refused(on(times(translate(1), half()), &margin), ErrorKind::Argument, &["half", "margin"]);
    let blur = Given("blur", |x| (x + x.roll([1], [3])) / 2.0);
    refused(on(Rc::new(blur), &torus(6, 6)), ErrorKind::Argument, &["blur() on toy", "more than 32"]);
    let flat = Given("flat", |x| x * 0.0);
    refused(on(Rc::new(flat), &torus(6, 6)), ErrorKind::Argument, &["nothing undoes flat"]);
    let same = Given("same", |x| x.copy());
    refused(on(Rc::new(same), &torus(6, 6)), ErrorKind::Data, &["no point"]);
    let small = Given("small", |x| x.narrow(2, 0, 3));
    refused(on(Rc::new(small), &torus(6, 6)), ErrorKind::Argument, &["small: makes"]);
    // A flip needs no border.
    let bare = set([1, 5, 6], noise(1, 30, 1), vec![0], 2, Edge::None);
    assert!(on(Rc::new(Flip), &bare).is_ok());
    refused(on(times(Rc::new(Flip), translate(1)), &bare), ErrorKind::Data, &["border"]);
}

/// Inverting twice changes nothing, to the last bit, and the inverse of a byte is a byte.
#[test]
fn polarity_is_exact_on_bytes() {
    let all: Vec<f32> = (0..=255u8).map(|byte| f32::from(byte) / 255.0).collect();
    let once = Polarity.apply(0, &Tensor::from_slice(&all).reshape([1, 1, 16, 16])).unwrap();
    let twice = Polarity.apply(0, &once).unwrap();
    let reversed: Vec<u32> = all.iter().rev().map(|x| x.to_bits()).collect();
    assert_eq!(bytes(&once), reversed);
    assert_eq!(bytes(&twice), all.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
}

/// The report names what every part assumes, and what is known to break it.
#[test]
fn assumptions_and_cautions() {
    let cx = Cx::default();
    let glyphs = |polarity| Glyphs { n: 3, size: 16, polarity, ..Glyphs::default() }.dataset().unwrap();
    let f = || model(Linear { weights: gaussian(&[256, 10], 1), quantum: 0.0 });
    let space = times(times(translate(1), Rc::new(Polarity)), Rc::new(Flip));
    let dark =
        run_over(&cx, &f(), &glyphs(viva::data::Polarity::Dark), space, Rc::new(Strongest::default()), 64).unwrap();
    let density = dark.of.density.clone().unwrap();
    for part in ["rolling an image by up to 3 pixels", "inverting", "mirroring"] {
        assert!(density.assumption.contains(part), "{}", density.assumption);
    }
    assert_eq!(density.candidates, 35);
    assert_eq!(density.cautions.len(), 2, "{:?}", density.cautions);
    assert_eq!(cx.warnings().len(), 1);
    assert!(cx.warnings()[0].contains("never drawn") && cx.warnings()[0].contains("mirrored digit"));
    let fair = times(translate(1), Rc::new(Polarity));
    let fair = run_over(&cx, &f(), &glyphs(viva::data::Polarity::Random), fair, Rc::new(Blind), 64).unwrap();
    assert!(fair.of.density.clone().unwrap().cautions.is_empty());
    assert_eq!(cx.warnings().len(), 1);
}

/// As a script writes it, to the report: all names, and points and images of a composed space.
#[test]
fn from_a_script() {
    let cx = Cx::default();
    let space = Value::object(AnySpace(times(translate(1), Rc::new(Polarity))));
    let data = Glyphs { n: 60, size: 16, polarity: viva::data::Polarity::Random, ..Glyphs::default() };
    let data = Value::object(data.dataset().unwrap());
    let f = Value::object(model(Linear { weights: gaussian(&[256, 10], 1), quantum: 0.0 }));
    for search in ["strongest", "nearest", "blind", "blind_or_stay", "average", "average_doubt"] {
        let given = options(&[("space", space.clone()), ("search", Value::Str(search.into()))]);
        let report = call(&cx, "risk::estimate", vec![f.clone(), data.clone(), given]).unwrap();
        let report = report.downcast::<viva::estimate::risk::RiskReport>().unwrap();
        assert_eq!(report.transcript.of.search, format!("{search}()"));
        assert_eq!(report.transcript.of.space, "translate(1) * polarity()");
        assert_eq!(report.density.candidates, 17);
        // What was drawn again is what the model was shown.
        let after = report.transcript.images(&cx, true).unwrap();
        let f = f.downcast::<Model>().unwrap();
        let predicted = Vec::<i64>::try_from(f.logits(&after).unwrap().argmax(1, false)).unwrap();
        assert!(report.transcript.rows.iter().zip(predicted).all(|(row, p)| i64::from(row.after) == p));
    }
    let written: BTreeMap<&str, &str> = BTreeMap::from([
        ("space::flip() * space::turn() * space::translate(2)", "space flip() * turn() * translate(2)"),
        ("space::translate(2) * (space::flip() * space::polarity())", "space translate(2) * flip() * polarity()"),
    ]);
    let mut session = viva::script::Session::new(Rc::new(Cx::default()));
    for (text, printed) in written {
        assert_eq!(session.evaluate("product", text).unwrap().summary(), printed);
    }
    for (text, words) in [
        ("space::flip() * search::blind()", "composes spaces, got a Search"),
        ("space::flip() * space::factors([#{ name: \"a\", min: 0, max: 1 }], |z, s| z)", "can't be composed"),
    ] {
        let error = session.evaluate("product", text).err().unwrap().render(false);
        assert!(error.contains(words), "{error}");
    }
}

/// What is known or looks so is said once, and stands in the report; sets that are as they should be are left alone.
#[test]
fn a_set_that_looks_centred_or_unfair_is_warned_of() {
    let cautions = |data: &Dataset, space: Rc<dyn Space>| {
        let [c, h, w] = data.shape();
        let f = model(Linear { weights: gaussian(&[(c * h * w) as i64, 10], 1), quantum: 0.0 });
        let transcript = run_over(&Cx::default(), &f, data, space, Rc::new(Blind), 4096).unwrap();
        transcript.of.density.clone().unwrap().cautions
    };
    let glyphs = |position, seed| {
        let glyphs = Glyphs { n: 100, size: 16, margin: 6, position, seed, ..Glyphs::default() };
        let rows: Vec<usize> = (0..100).collect();
        let drawn = Glyphs { polarity: viva::data::Polarity::Random, ..glyphs }.dataset().unwrap();
        let canvases = drawn.canvases(&rows, Device::Cpu).unwrap();
        let images = (0..100).map(|i| Vec::try_from(canvases.get(i).reshape([-1])).unwrap()).collect();
        // The same pixels without what glyphs know of themselves.
        set(drawn.canvas_shape(), images, drawn.labels().to_vec(), 10, drawn.edge())
    };
    use viva::data::Position::{Centred, Margin, Torus};
    for seed in 0..30 {
        let plain = cautions(&glyphs(Torus, seed), times(translate(1), Rc::new(Polarity)));
        assert!(plain.is_empty(), "{plain:?}");
        let scenes = viva::data::Scenes {
            n: 60,
            size: 16,
            torus: true,
            split: viva::data::Split::Train,
            seed,
            shown: viva::data::Shown::All,
        };
        let scenes = cautions(&scenes.dataset().unwrap(), times(translate(1), Rc::new(Flip)));
        assert!(scenes.is_empty(), "{scenes:?}");
    }
    for position in [Centred, Margin] {
        let found = cautions(&glyphs(position, 1), translate(1));
        assert!(found.len() == 1 && found[0].contains("look centred"), "{found:?}");
    }
    let dark = set(
        [1, 9, 9],
        noise(40, 81, 1).into_iter().map(|x| x.iter().map(|x| x * 0.7).collect()).collect(),
        vec![0; 40],
        2,
        Edge::Wrap,
    );
    let found = cautions(&dark, times(Rc::new(Polarity), Rc::new(Flip)));
    assert!(found.len() == 1 && found[0].contains("0% of 40 images are bright"), "{found:?}");
}
