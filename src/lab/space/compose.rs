//! Products of finite spaces: `a * b` does what a point of b does and then what a point of a does.
//!
//! Nothing is assumed of how the parts go together. Each symmetry is applied to a random probe image, again and again, until
//! no new image comes out; two products are the same element if they leave the same image, up to a translation. From
//! these come the table of products, inverses, and where a symmetry carries a translation: mirroring carries a step to the
//! right over into a step to the left, so that translating after mirroring is not mirroring after translating.
//!
//! Every element is written in one way, as a symmetry and then a translation. Order of candidates, which decides ties: those
//! without a symmetry first, as Appendix B of Werpachowski et al. (2019) orders translations, then those with one symmetry
//! (in the order of the parts, and of the changes of a part), then those with two, and so on; with the same symmetry by
//! translation, top to bottom and left to right. How the product was written does not matter.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::probe::Probe;
use super::translate::MAX_EPSILON;
use super::{Coordinates, Domain, Element, Finite, Group, ProductPart, Space, Symmetry, Windows};
use crate::core::{Error, Result, Tensor, Value, on_device};
use crate::data::{Dataset, Edge};

/// Different images that symmetries alone may make of one: each is kept for every image under examination.
const MOST_SYMMETRIES: usize = 32;

/// As many points as the largest translations have.
const MOST_CANDIDATES: usize = (2 * MAX_EPSILON + 1) * (2 * MAX_EPSILON + 1) - 1;

/// A product of finite spaces.
pub struct Composed {
    parts: Vec<ProductPart>,
}

impl Composed {
    /// `after * before`. Refuses what is not made of translations and symmetries, and two kinds of translations.
    pub fn new(after: &dyn Space, before: &dyn Space) -> Result<Self> {
        let mut parts: Vec<ProductPart> = Vec::new();
        for space in [after, before] {
            let more = space.finite().map_or(vec![], |finite| finite.parts());
            if more.is_empty() {
                let other = if std::ptr::addr_eq(space, after) { before } else { after };
                return Err(Error::argument(format!(
                    "`*`: {} can't be composed with {}",
                    space.describe(),
                    other.describe()
                ))
                .hint("space::translate, flip, turn and polarity go with each other, and spaces of factors with each other"));
            }
            parts.extend(more);
        }
        if parts.iter().filter(|part| matches!(part, ProductPart::Shifts(_))).count() > 1 {
            let all: Vec<String> = parts.iter().map(ProductPart::describe).collect();
            return Err(Error::argument(format!("`*`: {} translates twice", all.join(" * ")))
                .hint("translations add up: one space::translate with the sum of both radii reaches as far"));
        }
        Ok(Self { parts })
    }
}

impl Space for Composed {
    fn describe(&self) -> String {
        self.parts.iter().map(ProductPart::describe).collect::<Vec<_>>().join(" * ")
    }

    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Finite for Composed {
    fn on(&self, set: &Dataset, reach: usize) -> Result<Rc<dyn Group>> {
        Ok(Rc::new(Products::of(&self.parts, set, reach)?))
    }

    fn parts(&self) -> Vec<ProductPart> {
        self.parts.clone()
    }
}

/// A symmetry is a product of one part.
impl<S: Symmetry + Clone + 'static> Finite for S {
    fn on(&self, set: &Dataset, reach: usize) -> Result<Rc<dyn Group>> {
        Ok(Rc::new(Products::of(&self.parts(), set, reach)?))
    }

    fn parts(&self) -> Vec<ProductPart> {
        vec![ProductPart::Symmetry(Rc::new(self.clone()))]
    }
}

/// A translation by [dy, dx] after the variant of this number.
type SymmetryProduct = ([i64; 2], usize);

/// What a sequence of symmetries makes of an image.
struct Variant {
    /// `turn 90 after flip`; empty for the identity.
    words: Vec<String>,
    /// The variant before the last change, and which change that is among all.
    last: (usize, usize),
    /// What it does to the probe.
    probe: Probe,
    /// Where it carries steps of one pixel down and to the right.
    steps: [[i64; 2]; 2],
}

/// One change of one symmetry.
struct SymmetryChange {
    symmetry: Rc<dyn Symmetry>,
    place: usize,
    steps: [[i64; 2]; 2],
    /// This change after each variant.
    after: Vec<SymmetryProduct>,
}

impl SymmetryChange {
    fn name(&self) -> String {
        self.symmetry.moves().swap_remove(self.place)
    }

    fn on(&self, probe: &Probe) -> Result<Probe> {
        probe.changed(&|images| self.symmetry.apply(self.place, images)).map_err(|e| e.during(&self.name()))
    }
}

/// The group of a product on the images of one data set. Elements are `[dy, dx, variant]`.
struct Products {
    shifts: Option<Rc<dyn Group>>,
    assumptions: Vec<String>,
    /// Cuts what models see out of canvases, where there are no translations to do so.
    set: Dataset,
    changes: Vec<SymmetryChange>,
    variants: Vec<Variant>,
    /// `table[a][b]`: variant a after variant b.
    table: Vec<Vec<SymmetryProduct>>,
    candidates: Vec<Element>,
}

const NOWHERE: [i64; 2] = [0, 0];
const STEPS: [[i64; 2]; 2] = [[1, 0], [0, 1]];

impl Products {
    fn of(parts: &[ProductPart], set: &Dataset, reach: usize) -> Result<Self> {
        let name =
            || format!("{} on {}", parts.iter().map(ProductPart::describe).collect::<Vec<_>>().join(" * "), set.name);
        let mut group = Self {
            shifts: None,
            assumptions: vec![],
            set: set.clone(),
            changes: vec![],
            variants: vec![],
            table: vec![],
            candidates: vec![],
        };
        for part in parts {
            match part {
                ProductPart::Shifts(space) => {
                    let finite = space.finite().ok_or_else(|| Error::internal("translations that are not finite"))?;
                    let shifts = finite.on(set, reach)?;
                    group.assumptions.push(shifts.assumption());
                    group.shifts = Some(shifts);
                }
                ProductPart::Symmetry(symmetry) => {
                    symmetry.check(set)?;
                    group.assumptions.push(symmetry.assumption());
                    let change =
                        |place| SymmetryChange { symmetry: symmetry.clone(), place, steps: STEPS, after: vec![] };
                    group.changes.extend((0..symmetry.moves().len()).map(change));
                }
            }
        }
        group.work_out().map_err(|error| error.during(&name()))?;
        group.collect(parts).map_err(|error| error.during(&name()))?;
        Ok(group)
    }

    /// Finds all variants and how they multiply.
    fn work_out(&mut self) -> Result<()> {
        let [c, h, w] = if self.shifts.is_some() { self.set.canvas_shape() } else { self.set.shape() };
        let (torus, margin) = match self.set.edge() {
            Edge::Wrap => (self.shifts.is_some(), false),
            edge => (false, edge != Edge::None),
        };
        let probe = Probe::random([c, h, w]);
        if self.shifts.is_some() {
            for change in &mut self.changes {
                check_window(change, &self.set)?;
                change.steps = steps(change, &probe, margin)?;
            }
        }
        self.variants.push(Variant { words: vec![], last: (0, 0), probe, steps: STEPS });
        let mut next = 0;
        while next < self.variants.len() {
            for change in 0..self.changes.len() {
                let made = self.changes[change].on(&self.variants[next].probe)?;
                let known = self.variants.iter().enumerate().find_map(|(number, variant)| {
                    let offset = if torus { made.offset_from(&variant.probe) } else { made.same_as(&variant.probe) };
                    Some((offset?, number))
                });
                let product = known.unwrap_or((NOWHERE, self.variants.len()));
                if known.is_none() {
                    self.variants.push(self.variant(next, change, made));
                }
                if self.variants.len() > MOST_SYMMETRIES {
                    return Err(Error::argument(format!(
                        "together these symmetries make more than {MOST_SYMMETRIES} different images of one"
                    ))
                    .hint("leave one of them out"));
                }
                self.changes[change].after.push(product);
            }
            next += 1;
        }
        let numbers = 0..self.variants.len();
        self.table = numbers.clone().map(|a| numbers.clone().map(|b| self.after(a, b)).collect()).collect();
        let lost = numbers.clone().find(|&number| self.table.iter().all(|row| row[number].1 != 0));
        match lost {
            Some(number) => Err(Error::argument(format!("nothing undoes {}", self.words(number)))),
            None => Ok(()),
        }
    }

    fn variant(&self, before: usize, change: usize, probe: Probe) -> Variant {
        let earlier = &self.variants[before];
        let change_of = &self.changes[change];
        let mut words = vec![change_of.name()];
        words.extend(earlier.words.iter().cloned());
        Variant { words, last: (before, change), probe, steps: earlier.steps.map(|step| carry(&change_of.steps, step)) }
    }

    /// Variant a after variant b: the changes of a one by one.
    fn after(&self, a: usize, b: usize) -> SymmetryProduct {
        if a == 0 {
            return (NOWHERE, b);
        }
        let (earlier, change) = self.variants[a].last;
        let change = &self.changes[change];
        let (offset, number) = self.after(earlier, b);
        let (more, number) = change.after[number];
        (add(carry(&change.steps, offset), more), number)
    }

    fn words(&self, number: usize) -> String {
        match self.variants[number].words.join(" after ") {
            words if words.is_empty() => "none".into(),
            words => words,
        }
    }

    fn element(&self, ([dy, dx], number): SymmetryProduct) -> Element {
        match &self.shifts {
            None => Element([0, 0, number as i16, 0, 0, 0, 0, 0]),
            // Brings the translation into the one form that its group gives it.
            Some(shifts) => {
                let [_, h, w] = self.set.shape();
                let within = |by: i64, side: usize| match self.set.edge() {
                    Edge::Wrap => by.rem_euclid(side as i64) as i16,
                    _ => by as i16,
                };
                let mut element =
                    shifts.compose(Element([within(dy, h), within(dx, w), 0, 0, 0, 0, 0, 0]), Element::IDENTITY);
                element.0[2] = number as i16;
                element
            }
        }
    }

    /// The products of one point or none of each part.
    fn collect(&mut self, parts: &[ProductPart]) -> Result<()> {
        let mut at = self.changes.len();
        let mut points = BTreeMap::from([(key(Element::IDENTITY), Element::IDENTITY)]);
        for part in parts.iter().rev() {
            let moves: Vec<Element> = match part {
                ProductPart::Shifts(_) => self.shifts.as_ref().map_or(vec![], |shifts| shifts.candidates().to_vec()),
                ProductPart::Symmetry(symmetry) => {
                    let n = symmetry.moves().len();
                    at -= n;
                    // A change of the identity is a variant, or a translation of one.
                    self.changes[at..at + n].iter().map(|change| self.element(change.after[0])).collect()
                }
            };
            for before in points.clone().into_values() {
                for &after in &moves {
                    let product = self.compose(after, before);
                    points.insert(key(product), product);
                }
                if points.len() > MOST_CANDIDATES + 1 {
                    let error = Error::argument(format!("more than {MOST_CANDIDATES} points can't be gone through"));
                    return Err(error.hint("use a smaller radius, or fewer symmetries"));
                }
            }
        }
        points.remove(&key(Element::IDENTITY));
        if points.is_empty() {
            return Err(Error::data("no point of this space changes these images"));
        }
        self.candidates = points.into_values().collect();
        Ok(())
    }
}

/// Orders elements as the candidates stand.
fn key(element: Element) -> [i16; 3] {
    let [dy, dx, number, ..] = element.0;
    [number, dy, dx]
}

fn add(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// Where steps down and to the right that are carried to `steps` carry `by`.
fn carry(steps: &[[i64; 2]; 2], by: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|axis| steps[0][axis] * by[0] + steps[1][axis] * by[1])
}

/// Where a change carries steps of one pixel down and to the right.
fn steps(change: &SymmetryChange, probe: &Probe, margin: bool) -> Result<[[i64; 2]; 2]> {
    let once = change.on(probe)?;
    let mut carried = STEPS;
    for step in &mut carried {
        *step = change.on(&probe.rolled(*step))?.offset_from(&once).ok_or_else(|| {
            Error::argument(format!("{} does not carry translations over into translations", change.name()))
        })?;
        if margin && step.iter().map(|d| d.abs()).sum::<i64>() != 1 {
            return Err(Error::argument(format!("{} makes steps of one pixel longer", change.name())));
        }
    }
    Ok(carried)
}

/// Translations of images with a margin move a window over the canvas, so what stands in the window must stay in it.
fn check_window(change: &SymmetryChange, set: &Dataset) -> Result<()> {
    let Edge::Margin(margin) = set.edge() else { return Ok(()) };
    let ([c, h, w], [_, height, width], margin) = (set.canvas_shape(), set.shape(), margin);
    let inside = |i: usize| {
        let (y, x) = (i / w % h, i % w);
        (margin..margin + height).contains(&y) && (margin..margin + width).contains(&x)
    };
    let marks: Vec<f32> = (0..c * h * w).map(|i| if inside(i) { 1.0 } else { 0.0 }).collect();
    let probe = change.on(&Probe { pixels: marks, shape: [1, c, h, w] })?;
    let first = |keep: bool| (0..c * h * w).find(|&i| inside(i) == keep).map(|i| probe.pixels[i]);
    let ends = [first(false), first(true)];
    let stays = (0..c * h * w).all(|i| ends[usize::from(inside(i))] == Some(probe.pixels[i]));
    match stays && ends[0] != ends[1] {
        true => Ok(()),
        false => Err(Error::argument(format!(
            "{} moves pixels between the images of {} and their margin",
            change.name(),
            set.name
        ))),
    }
}

impl Group for Products {
    fn candidates(&self) -> &[Element] {
        &self.candidates
    }

    fn compose(&self, after: Element, before: Element) -> Element {
        let read = |element: Element| {
            let [dy, dx, number, ..] = element.0;
            ([i64::from(dy), i64::from(dx)], number as usize)
        };
        let ((late, a), (early, b)) = (read(after), read(before));
        let (offset, number) = self.table[a][b];
        self.element((add(add(late, carry(&self.variants[a].steps, early)), offset), number))
    }

    fn inverse(&self, element: Element) -> Element {
        let [dy, dx, number, ..] = element.0;
        let undoing = self.table.iter().position(|row| row[number as usize].1 == 0).unwrap_or(0);
        let offset =
            add(self.table[undoing][number as usize].0, carry(&self.variants[undoing].steps, [dy.into(), dx.into()]));
        self.element((offset.map(|d| -d), undoing))
    }

    /// The length of the translation in pixels; of a space without translations, how many changes are made.
    fn magnitude(&self, element: Element) -> f64 {
        let [dy, dx, number, ..] = element.0;
        match self.shifts {
            Some(_) => f64::from(dy).hypot(f64::from(dx)),
            None => self.variants[number as usize].words.len() as f64,
        }
    }

    fn value(&self, element: Element) -> Value {
        let [dy, dx, number, ..] = element.0;
        let symmetry = Value::Str(self.words(number as usize));
        match self.shifts {
            None => symmetry,
            Some(_) => Value::Map(BTreeMap::from([
                ("symmetry".into(), symmetry),
                ("translate".into(), Value::ints([dy.into(), dx.into()])),
            ])),
        }
    }

    /// By symmetry and translation where every symmetry comes with the same rectangle of translations, else a list.
    fn coordinates(&self) -> Coordinates {
        let mut all: Vec<Element> = std::iter::once(Element::IDENTITY).chain(self.candidates.iter().copied()).collect();
        all.sort_by_key(|element| key(*element));
        let keys: Vec<[i16; 3]> = all.iter().map(|element| key(*element)).collect();
        let axis = |place: usize| {
            let mut values: Vec<i16> = keys.iter().map(|key| key[place]).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let [numbers, dy, dx] = [0, 1, 2].map(axis);
        let whole = |values: &[i16]| values.windows(2).all(|pair| pair[1] == pair[0] + 1);
        if numbers.len() * dy.len() * dx.len() != all.len() || !whole(&dy) || !whole(&dx) {
            return Coordinates::of_list("change", all.iter().map(|&element| (self.value(element), element)).collect());
        }
        let mut factors = vec![];
        if numbers.len() > 1 {
            let words = numbers.iter().map(|&number| Value::Str(self.words(number as usize))).collect();
            factors.push(("symmetry", Domain::Choices(words)));
        }
        if self.shifts.is_some() {
            let range = |values: &[i16]| Domain::Whole { min: values[0].into(), max: values[values.len() - 1].into() };
            factors.extend([("dy", range(&dy)), ("dx", range(&dx))]);
        }
        Coordinates::of_factors(factors, all)
    }

    /// Every variant of each canvas, `N x V x ...`.
    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        let first = if self.shifts.is_some() { canvases.shallow_clone() } else { self.set.centre(canvases)? };
        let mut variants = vec![first];
        for variant in &self.variants[1..] {
            let (earlier, change) = variant.last;
            let change = &self.changes[change];
            variants.push(change.symmetry.apply(change.place, &variants[earlier])?);
        }
        let all = Tensor::f_stack(&variants, 1)?;
        let Some(shifts) = &self.shifts else { return Ok(all) };
        let prepared = shifts.prepare(&all.f_flatten(0, 1)?)?;
        Ok(prepared.f_unflatten(0, [canvases.size()[0], variants.len() as i64])?)
    }

    /// As many indexed copies as the translations need, or one.
    fn draw(&self, prepared: &Tensor, rows: &[i64], elements: &[Element]) -> Result<Tensor> {
        let all = prepared.f_flatten(0, 1)?;
        let n = self.variants.len() as i64;
        let rows: Vec<i64> =
            rows.iter().zip(elements).map(|(row, element)| row * n + i64::from(element.0[2])).collect();
        match &self.shifts {
            Some(shifts) => shifts.draw(&all, &rows, elements),
            None => Ok(all.f_index_select(0, &on_device(&Tensor::f_from_slice(&rows)?, prepared.device())?)?),
        }
    }

    fn assumption(&self) -> String {
        self.assumptions.join("; ")
    }

    fn windows(&self) -> Option<&dyn Windows> {
        self.shifts.as_ref()?.windows().map(|_| self as &dyn Windows)
    }
}

/// A canvas per variant, of which the translations see windows.
impl Windows for Products {
    fn window(&self, element: Element) -> (i64, [i64; 2]) {
        let windows = self.shifts.as_ref().and_then(|shifts| shifts.windows());
        let [dy, dx, number, ..] = element.0;
        let shift = Element([dy, dx, 0, 0, 0, 0, 0, 0]);
        (number.into(), windows.map_or(NOWHERE, |windows| windows.window(shift).1))
    }

    fn canvas(&self, prepared: &Tensor, row: i64, number: i64) -> Result<Tensor> {
        Ok(prepared.f_select(0, row)?.f_narrow(0, number, 1)?)
    }
}
