//! What may change in an input. A space turns images and points into changed images and says what it can do; a search
//! that needs more than that is refused.

mod affine;
mod averaged;
mod compose;
mod coordinates;
mod corruptions;
mod deform;
pub mod factor;
mod factors;
mod flip;
mod hue;
mod interpolation;
mod l1;
mod latent;
mod latent_directions;
mod noise;
mod pixels;
mod polarity;
mod probe;
mod product;
mod render;
mod translate;
mod turn;

use std::rc::Rc;

use crate::core::{Cautions, Digest, Error, Object, Result, Tensor, Value, number};
use crate::data::Dataset;

pub use affine::{About, Affine};
pub use averaged::averaged;
pub use compose::Composed;
pub use coordinates::Coordinates;
pub use corruptions::{CORRUPTIONS, Corruptions, Frost, Scale};
pub use deform::Deform;
pub use factor::{Axis, Domain, End, Factor, Factored, Originals, Setting, When};
pub use factors::Factors;
pub use flip::Flip;
pub use hue::Hue;
pub use interpolation::Fill;
pub use latent::{Latent, LatentOptions};
pub use latent_directions::LatentDirections;
pub use noise::Noise;
pub use pixels::{Norm, Pixels};
pub use polarity::Polarity;
pub use product::{Product, composed};
pub use render::{FactorChange, Render};
pub use translate::{MAX_EPSILON, Translate};
pub use turn::Turn;

/// A kind of change.
pub trait Space {
    /// How a script writes it: `translate(5)`.
    fn describe(&self) -> String;

    /// The same where levels stand in place of what the space itself says of the size of its changes.
    fn describe_at_levels(&self) -> String {
        self.describe()
    }

    /// How digests and random streams know it: as `describe` said it first, so that a better name changes no result.
    fn identity(&self) -> String {
        self.describe()
    }

    /// What its levels are, with their unit; empty if it has none.
    fn unit(&self) -> &'static str {
        ""
    }

    /// Whether changes are added to the image, so that their strength is best told as a signal-to-noise ratio.
    fn additive(&self) -> bool {
        false
    }

    /// The space as a finite set of group elements, if it is one: what exhaustive searches and exact densities need.
    fn finite(&self) -> Option<&dyn Finite> {
        None
    }

    /// The space as settings of named factors, if that is what its points are: what searches by losses need.
    fn factored(&self) -> Option<&dyn Factored> {
        None
    }

    /// What pixels are kept in, if they are.
    fn bounds(&self) -> Option<Bounds> {
        None
    }

    /// The space as points that gradients flow to, if they do: what searches along gradients need.
    fn differentiable(&self) -> Option<&dyn Differentiable> {
        None
    }

    /// The same space in a ball of this radius around each image; `None` where it has none.
    fn ball(&self, _radius: f64) -> Option<Rc<dyn Space>> {
        None
    }

    /// Whether it draws an image anew, and otherwise, each time that it is asked for it unchanged.
    fn redraws(&self) -> bool {
        false
    }

    /// What must be said beside results of it, at levels or without: where it is not what its name says.
    fn cautions(&self, _at_levels: bool) -> Cautions {
        Cautions::default()
    }

    /// Refuses data whose images it can't change.
    fn check(&self, _data: &Dataset) -> Result<()> {
        Ok(())
    }

    /// Whether it draws images anew from what they are of, so that nothing can be done to them before.
    fn needs_originals(&self) -> bool {
        false
    }

    /// The space of views, if it is that one.
    fn render(&self) -> Option<&Render> {
        None
    }

    /// The space of deformations, if it is that one.
    fn deform(&self) -> Option<&Deform> {
        None
    }
}

/// A space whose points are tensors, one per image in the first dimension, that images depend on smoothly.
pub trait Differentiable {
    /// In which norm a step is as large as a search says.
    fn norm(&self) -> Norm;

    /// The radius of the ball that points stay in, if they do.
    fn within(&self) -> Option<f64>;

    /// What points are changes of, for these rows of the data and their images as models see them: tensors with one row per image, on the
    /// images' device. By default the images.
    fn base(&self, _data: &Dataset, _rows: &[usize], images: &Tensor) -> Result<Vec<Tensor>> {
        Ok(vec![images.shallow_clone()])
    }

    /// The points that leave images as they are.
    fn start(&self, base: &[Tensor]) -> Result<Tensor>;

    /// Points drawn evenly from the ball of each image, `N` radii, each from a stream of its own; `None` where the space draws none.
    fn scatter(&self, _base: &[Tensor], _radii: &Tensor, _streams: &[(u64, u64)]) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The images `N x C x H x W` at these points, from which gradients flow back to the points.
    fn draw(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor>;

    /// The nearest points that are allowed; `radii`, `N`, is of the ball around each image.
    fn keep(&self, base: &[Tensor], points: &Tensor, radii: Option<&Tensor>) -> Result<Tensor>;

    /// A step of projected gradient ascent: this long in a direction of length 1, and back to the nearest points that are allowed.
    fn stepped(
        &self,
        base: &[Tensor],
        points: &Tensor,
        (direction, length): (&Tensor, f64),
        radii: Option<&Tensor>,
    ) -> Result<Tensor> {
        self.keep(base, &points.f_detach()?.f_add(&direction.f_mul_scalar(length)?)?, radii)
    }

    /// How large the change of each image is, `N`.
    fn magnitude(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor>;

    /// Whether gradients flow through `draw`; where they do not, `pull` tells them.
    fn flows(&self) -> bool {
        true
    }

    /// Whether what `draw` reads but for its arguments lies where it lay as long as there is the space.
    fn stays_in_place(&self) -> bool {
        false
    }

    /// The gradient at these points of what has this one at the images there.
    fn pull(&self, _base: &[Tensor], _points: &Tensor, _of_images: &Tensor) -> Result<Tensor> {
        Err(Error::internal("a gradient that flows by itself"))
    }

    /// Whether `start` is known to be where images stand; if not, searches have to set out elsewhere.
    fn starts_at_image(&self) -> bool {
        true
    }

    /// How many times as long steps are that a search takes where it was told no length, or one in shares of all that there is to go.
    fn stride(&self) -> f64 {
        1.0
    }
}

/// The only tensor that the points of a space of images are changes of.
fn images(base: &[Tensor]) -> Result<&Tensor> {
    base.first().ok_or_else(|| Error::internal("points without images"))
}

/// The least and the largest value that pixels are kept in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    least: f64,
    largest: f64,
}

impl Bounds {
    pub fn new(least: f64, largest: f64) -> Result<Self> {
        if least < largest && (largest - least).is_finite() {
            return Ok(Self { least, largest });
        }
        Err(Error::argument(format!("bounds must be two numbers, the smaller one first, got {least} and {largest}")))
    }

    pub fn describe(self) -> String {
        format!("[{:?}, {:?}]", self.least, self.largest)
    }

    /// Whether all of [0, 1] lies within.
    pub fn hold_unit(self) -> bool {
        self.least <= 0.0 && self.largest >= 1.0
    }

    /// Whether it lies within [0, 1].
    pub fn within_unit(self) -> bool {
        self.least >= 0.0 && self.largest <= 1.0
    }

    pub fn middle(self) -> f64 {
        (self.least + self.largest) / 2.0
    }

    pub fn width(self) -> f64 {
        self.largest - self.least
    }

    /// The nearest value within.
    pub fn nearest(self, x: f32) -> f32 {
        x.clamp(self.least as f32, self.largest as f32)
    }

    /// Images with every pixel moved to the nearest value within.
    pub fn clamp(self, images: &Tensor) -> Result<Tensor> {
        Ok(images.f_clamp(self.least, self.largest)?)
    }

    /// Refuses images that lie outside as they stand, since clamping would change them before any search does.
    pub fn check(self, images: &Tensor, name: &str) -> Result<()> {
        // Room for the last digit of a float32 computation.
        const SLACK: f64 = 1e-6;
        let (least, largest) = (images.f_min()?.f_double_value(&[])?, images.f_max()?.f_double_value(&[])?);
        if least >= self.least - SLACK && largest <= self.largest + SLACK {
            return Ok(());
        }
        Err(Error::data(format!(
            "{name}: pixels from {} to {} lie outside the space's bounds {}",
            number(least),
            number(largest),
            self.describe()
        ))
        .hint("centred and standardised images leave [0, 1]: leave `bounds` out, or examine the plain images"))
    }
}

/// A space whose points are a finite part of a group that acts on images.
pub trait Finite {
    /// The group on the images of `set`, where products of up to `reach` points are asked for: 1 to look at every point,
    /// 3 to find the pre-images of the outcome as well. Refuses a set whose images do not hold what that needs.
    fn on(&self, set: &Dataset, reach: usize) -> Result<Rc<dyn Group>>;

    /// What `*` composes it of; empty where it can't be a part of a product.
    fn parts(&self) -> Vec<ProductPart> {
        vec![]
    }
}

/// A space as a part of a product.
#[derive(Clone)]
pub enum ProductPart {
    /// Translations by whole pixels: the elements of its groups are `[dy, dx]`, and composing adds them.
    Shifts(Rc<dyn Space>),
    Symmetry(Rc<dyn Symmetry>),
}

impl ProductPart {
    /// How a script writes it.
    pub fn describe(&self) -> String {
        match self {
            Self::Shifts(space) => space.describe(),
            Self::Symmetry(symmetry) => format!("{}()", symmetry.name()),
        }
    }

    /// What a data set's cautions call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Shifts(_) => "translate",
            Self::Symmetry(symmetry) => symmetry.name(),
        }
    }
}

/// A few invertible changes of a whole image that keep its shape, such as mirroring it. Which of them undo each other, what
/// they do to translations, and what they give together with other symmetries is worked out from what they do.
pub trait Symmetry {
    /// The script's function that makes it: `flip`.
    fn name(&self) -> &'static str;

    /// What each change is called, the identity left out, in the order that decides ties.
    fn moves(&self) -> Vec<String>;

    /// The change of this place in `moves` applied to canvases `N x C x H x W`, each by itself.
    fn apply(&self, place: usize, canvases: &Tensor) -> Result<Tensor>;

    /// Refuses images that it has no meaning on.
    fn check(&self, _set: &Dataset) -> Result<()> {
        Ok(())
    }

    /// What must hold for it to keep label and density.
    fn assumption(&self) -> String;
}

/// An element of a space's group, in numbers that the group alone interprets. Two elements of one group that do the same
/// have the same numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Element(pub [i16; 8]);

impl Element {
    /// What leaves every image as it is, in every group.
    pub const IDENTITY: Self = Self([0; 8]);
}

/// Where a search left an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    Element(Element),
    /// A setting of factors, by its place among those that the transcript keeps.
    Setting(u32),
    /// Where a search along gradients was at the row's step; it goes there again when the image is asked for.
    Trajectory,
}

impl Point {
    /// How digests know it, which stays when types get better names.
    pub fn identity(self) -> String {
        match self {
            Self::Element(Element(numbers)) => format!("Element(Element({numbers:?}))"),
            Self::Setting(place) => format!("Setting({place})"),
            Self::Trajectory => "Trajectory".into(),
        }
    }

    /// The place of a setting.
    pub fn place(self) -> Option<usize> {
        match self {
            Self::Setting(place) => Some(place as usize),
            _ => None,
        }
    }
}

impl Default for Point {
    fn default() -> Self {
        Self::Element(Element::IDENTITY)
    }
}

impl From<Element> for Point {
    fn from(element: Element) -> Self {
        Self::Element(element)
    }
}

/// A finite space on the images of one data set.
pub trait Group {
    /// The points of the space without the identity, in the order that decides ties.
    fn candidates(&self) -> &[Element];

    /// First `before`, then `after`.
    fn compose(&self, after: Element, before: Element) -> Element;

    fn inverse(&self, element: Element) -> Element;

    /// How large a change is, in the space's own unit.
    fn magnitude(&self, element: Element) -> f64;

    /// A point as scripts and tables show it.
    fn value(&self, element: Element) -> Value;

    /// The points, the identity among them, as settings of factors. By default a list.
    fn coordinates(&self) -> Coordinates {
        let all = std::iter::once(&Element::IDENTITY).chain(self.candidates());
        Coordinates::of_list("change", all.map(|&element| (self.value(element), element)).collect())
    }

    /// Canvases `N x C x H x W` in the form that `draw` reads. Row i of the result depends on row i alone.
    fn prepare(&self, canvases: &Tensor) -> Result<Tensor>;

    /// The images, as models see them, of elements applied to prepared canvases: image i is `elements[i]` applied to row
    /// `rows[i]` of `prepared`.
    fn draw(&self, prepared: &Tensor, rows: &[i64], elements: &[Element]) -> Result<Tensor>;

    /// What must hold for the space to keep label and density on this data; reports print it.
    fn assumption(&self) -> String;

    /// The elements as windows, where every image that `draw` makes is one of a few canvases seen through a window.
    fn windows(&self) -> Option<&dyn Windows> {
        None
    }
}

/// Elements of a group as windows on canvases, from which networks can tell what neighbouring crops have in common.
pub trait Windows {
    /// The number of a canvas, and where the window begins: row and column.
    fn window(&self, element: Element) -> (i64, [i64; 2]);

    /// The canvas `1 x C x H x W` of this number, of one row of what `prepare` gave.
    fn canvas(&self, prepared: &Tensor, row: i64, number: i64) -> Result<Tensor>;
}

/// A space as a value of scripts.
#[derive(Clone)]
pub struct AnySpace(pub Rc<dyn Space>);

impl Object for AnySpace {
    fn kind(&self) -> &'static str {
        "Space"
    }

    fn summary(&self) -> String {
        format!("space {}{}", self.0.describe(), self.0.cautions(true).ending())
    }

    fn fields(&self) -> &'static [&'static str] {
        &["cautions"]
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok((name == "cautions").then(|| self.0.cautions(true).value()))
    }

    fn digest(&self) -> Digest {
        Digest::of(format!("space {}", self.0.identity()).as_bytes())
    }
}
