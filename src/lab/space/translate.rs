//! Translations by whole pixels, as in Section 5.1 of Werpachowski et al. (2019): V_eps = {v != 0 : |v|_inf <= eps}.

use std::rc::Rc;

use super::{Coordinates, Domain, Element, Finite, Group, ProductPart, Space, Windows};
use crate::core::{Error, Result, Tensor, Value, on_device};
use crate::data::{Dataset, Edge};

/// The largest eps that is accepted: 4,224 translations per image, and 16,641 scored for a density.
pub const MAX_EPSILON: usize = 32;

/// Moves the content of an image by v = (dy, dx), |dy| and |dx| at most `epsilon` pixels and multiples of `spacing`. Nothing is made up at the
/// border: a torus rolls, and an image with a margin moves its crop window by -v.
#[derive(Clone)]
pub struct Translate {
    epsilon: usize,
    spacing: usize,
}

impl Translate {
    /// `epsilon` in pixels, from 1 to `MAX_EPSILON`.
    pub fn new(epsilon: usize) -> Result<Self> {
        if (1..=MAX_EPSILON).contains(&epsilon) {
            return Ok(Self { epsilon, spacing: 1 });
        }
        Err(Error::argument(format!("translations reach from 1 to {MAX_EPSILON} pixels, got {epsilon}")))
    }

    /// Those of them that are multiples of `spacing` pixels, which must divide `epsilon`.
    pub fn spaced(self, spacing: usize) -> Result<Self> {
        match spacing > 0 && self.epsilon.is_multiple_of(spacing) {
            true => Ok(Self { spacing, ..self }),
            false => Err(Error::argument(format!("`spacing` must divide the radius {}, got {spacing}", self.epsilon))
                .hint("such as the radius itself: the eight translations to the corners and sides")),
        }
    }
}

impl Space for Translate {
    fn describe(&self) -> String {
        match self.spacing {
            1 => format!("translate({})", self.epsilon),
            spacing => format!("translate({}, #{{ spacing: {spacing} }})", self.epsilon),
        }
    }

    fn finite(&self) -> Option<&dyn Finite> {
        Some(self)
    }
}

impl Finite for Translate {
    fn on(&self, set: &Dataset, reach: usize) -> Result<Rc<dyn Group>> {
        let eps = self.epsilon;
        let [_, height, width] = set.shape();
        let largest = |limit: usize| match limit {
            0 => "no translation fits these images".to_string(),
            n => format!("the largest radius that fits is {n}"),
        };
        let side = height.min(width);
        if i16::try_from(2 * height.max(width)).is_err() {
            return Err(Error::data(format!("{}: images of {height} x {width} are too large to translate", set.name)));
        }
        match set.edge() {
            Edge::Wrap if 2 * eps + 1 > side => Err(Error::argument(format!(
                "translate({eps}) on {}: 2 radius + 1 = {} exceeds the torus's side of {side} pixels",
                set.name,
                2 * eps + 1
            ))
            .hint(largest(side.saturating_sub(1) / 2))),
            Edge::Margin(_) if set.depends_on_whole_image() => Err(Error::data(format!(
                "translate({eps}) on {}: the images are centred or standardised by what stood in the unmoved crop",
                set.name
            ))
            .hint("translate the plain images; a model's own `mean` and `std` do the normalising")),
            Edge::Margin(margin) if reach * eps > margin => {
                let why = if reach > 1 { " (the density of an outcome depends on that many)" } else { "" };
                Err(Error::argument(format!(
                    "translate({eps}) on {}: needs {} pixels around the image{why}, the margin has {margin}",
                    set.name,
                    reach * eps
                ))
                .hint(largest(margin / reach)))
            }
            Edge::None => Err(Error::data(format!(
                "translate({eps}) on {}: nothing is known beyond the image's border",
                set.name
            ))
            .hint(match side.checked_sub(2 * reach * eps).filter(|&crop| crop >= 8) {
                Some(crop) => format!(
                    "load the data with `crop: {crop}` (and a model that takes such crops), so that {} pixels remain around \
                     it, or use images on a torus, as data::glyphs are by default",
                    reach * eps
                ),
                None => format!(
                    "of images of {side} pixels no crop leaves {} pixels around it: use a smaller radius with a smaller \
                     `crop` (and a model that takes it), or images on a torus, as data::glyphs are by default",
                    reach * eps
                ),
            })),
            edge => Ok(Rc::new(Translations::new((eps, self.spacing), reach, edge, [height, width]))),
        }
    }

    fn parts(&self) -> Vec<ProductPart> {
        vec![ProductPart::Shifts(Rc::new(self.clone()))]
    }
}

struct Translations {
    epsilon: i16,
    spacing: usize,
    /// How far products of translations may go, in pixels.
    reach: usize,
    edge: Edge,
    /// Height and width of what models see.
    sides: [i16; 2],
    candidates: Vec<Element>,
}

impl Translations {
    fn new((epsilon, spacing): (usize, usize), reach: usize, edge: Edge, sides: [usize; 2]) -> Self {
        let eps = epsilon as i16;
        let steps = || (-eps..=eps).step_by(spacing);
        let rows = steps().flat_map(|dy| steps().map(move |dx| by(dy, dx)));
        let candidates = rows.filter(|v| *v != Element::IDENTITY).collect();
        Self { epsilon: eps, spacing, reach: reach * epsilon, edge, sides: sides.map(|s| s as i16), candidates }
    }

    /// On a torus, the representative that lies around 0.
    fn reduce(&self, dy: i16, dx: i16) -> Element {
        match self.edge {
            Edge::Wrap => {
                let [h, w] = self.sides;
                by((dy + h / 2).rem_euclid(h) - h / 2, (dx + w / 2).rem_euclid(w) - w / 2)
            }
            _ => by(dy, dx),
        }
    }

    /// Where the window of a translation begins.
    fn start(&self, element: Element) -> [i64; 2] {
        [0, 1].map(|axis| match self.edge {
            Edge::Margin(n) => n as i64 - i64::from(element.0[axis]),
            // Half a side in, so that small translations in all directions lie side by side.
            _ => {
                let side = i64::from(self.sides[axis]);
                (side / 2 - i64::from(element.0[axis])).rem_euclid(side)
            }
        })
    }
}

fn by(dy: i16, dx: i16) -> Element {
    Element([dy, dx, 0, 0, 0, 0, 0, 0])
}

impl Group for Translations {
    fn candidates(&self) -> &[Element] {
        &self.candidates
    }

    fn compose(&self, after: Element, before: Element) -> Element {
        self.reduce(after.0[0] + before.0[0], after.0[1] + before.0[1])
    }

    fn inverse(&self, element: Element) -> Element {
        self.reduce(-element.0[0], -element.0[1])
    }

    /// Euclidean length in pixels.
    fn magnitude(&self, element: Element) -> f64 {
        f64::from(element.0[0]).hypot(f64::from(element.0[1]))
    }

    fn value(&self, element: Element) -> Value {
        Value::ints(element.0[..2].iter().map(|&d| i64::from(d)))
    }

    fn coordinates(&self) -> Coordinates {
        if self.spacing != 1 {
            let all = std::iter::once(&Element::IDENTITY).chain(&self.candidates);
            return Coordinates::of_list("change", all.map(|&v| (self.value(v), v)).collect());
        }
        let eps = self.epsilon;
        let by = (-eps..=eps).flat_map(|dy| (-eps..=eps).map(move |dx| by(dy, dx)));
        let side = || Domain::Whole { min: (-eps).into(), max: eps.into() };
        Coordinates::of_factors(vec![("dy", side()), ("dx", side())], by.collect())
    }

    /// A torus is continued by what its windows reach beyond the border, so that every translation is a window.
    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        let [h, w] = self.sides.map(i64::from);
        match self.edge {
            Edge::Wrap => {
                let rolled = canvases.f_roll([h / 2, w / 2], [2, 3])?;
                let tall = Tensor::f_cat(&[&rolled, &rolled.f_narrow(2, 0, h - 1)?], 2)?;
                Ok(Tensor::f_cat(&[&tall, &tall.f_narrow(3, 0, w - 1)?], 3)?)
            }
            _ => Ok(canvases.f_contiguous()?),
        }
    }

    /// One indexed copy of whole windows: no work per pixel beyond the copy, on the device of `prepared`.
    fn draw(&self, prepared: &Tensor, rows: &[i64], elements: &[Element]) -> Result<Tensor> {
        let device = prepared.device();
        let [h, w] = self.sides.map(i64::from);
        let start = |axis: usize| -> Vec<i64> { elements.iter().map(|&e| self.start(e)[axis]).collect() };
        // One transfer for the three lists of indices.
        let lists = [rows.to_vec(), start(0), start(1)].concat();
        let index = on_device(&Tensor::f_from_slice(&lists)?.f_reshape([3, rows.len() as i64])?, device)?;
        let windows = prepared.f_unfold(2, h, 1)?.f_unfold(3, w, 1)?;
        let [row, y, x] = [0, 1, 2].map(|i| index.f_get(i));
        Ok(windows.f_index(&[Some(row?), None, Some(y?), Some(x?)])?)
    }

    fn assumption(&self) -> String {
        let reach = self.reach;
        match self.edge {
            Edge::Wrap => format!(
                "rolling an image by up to {reach} pixels keeps its label and its probability: exact where images were rolled by a \
                 uniform offset when they were made"
            ),
            _ => format!(
                "moving the crop window by up to {reach} pixels keeps an image's label and its probability density: not so for \
                 images that were centred on their objects"
            ),
        }
    }

    fn windows(&self) -> Option<&dyn Windows> {
        Some(self)
    }
}

impl Windows for Translations {
    fn window(&self, element: Element) -> (i64, [i64; 2]) {
        (0, self.start(element))
    }

    fn canvas(&self, prepared: &Tensor, row: i64, _number: i64) -> Result<Tensor> {
        Ok(prepared.f_narrow(0, row, 1)?)
    }
}
