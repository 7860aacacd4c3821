//! What searches that learn from losses move on: settings of factors, which spaces with factors and finite groups have, and changes
//! of single pixels (`ball.rs`).

use std::borrow::Borrow;
use std::rc::Rc;

use tch::Device;

use super::Examination;
use crate::core::{Cx, Error, Result, Tensor, Value, on_device};
use crate::data::Dataset;
use crate::space::{Coordinates, Element, Factor, Factored, Group, Originals, Setting, Space, factor};

/// All that a search is told of where it may go.
pub trait Room {
    type Point: Clone + Send;
}

impl Room for [Factor] {
    type Point = Setting;
}

/// A point of a ground.
pub(super) type PointOf<G> = <<G as Ground>::Room as Room>::Point;

/// Points, and how images are made of them.
pub(super) trait Ground {
    type Room: Room + ?Sized;
    type Owned: Borrow<Self::Room>;

    /// Where a search may go, as strong as the level allows; `None` where there are no levels.
    fn room(&self, level: Option<f64>) -> Result<Option<Self::Owned>>;

    /// What the numbers of a point are, where they have names.
    fn factors(&self) -> &[Factor];

    /// A point in the numbers of the factors.
    fn numbers<'p>(&self, point: &'p PointOf<Self>) -> &'p [f64];

    /// Leaves out of a point what does not count there.
    fn leave_out(&self, _point: &mut PointOf<Self>) {}

    /// A point as an error says where it is.
    fn shown(&self, point: &PointOf<Self>) -> String;

    /// How large a change is, where that is known of a point alone.
    fn magnitude(&self, point: &PointOf<Self>) -> Option<f64>;

    /// Whether images need not lie in [0, 1], and are not moved into it.
    fn takes_any_range(&self) -> bool;

    /// Whether what it does can't be told from how it is written.
    fn opaque(&self) -> bool;

    /// Canvases in the form that `draw` reads. Row i of the result depends on row i alone.
    fn prepare(&self, data: &Dataset, canvases: &Tensor) -> Result<Tensor>;

    /// The images in these rows of what `prepare` made, as they stand.
    fn standing(&self, prepared: &Tensor, rows: &[i64]) -> Result<Tensor>;

    /// Image i is `points[i]` applied to the i-th of the originals.
    fn draw(&self, cx: &Cx, of: &Originals, points: &[&PointOf<Self>]) -> Result<Tensor>;
}

/// Settings of factors: of a space that has them, or of a finite group by its coordinates.
#[derive(Clone)]
pub(super) enum FactorGround {
    Factors(Rc<dyn Space>),
    Group { group: Rc<dyn Group>, coordinates: Rc<Coordinates> },
}

impl FactorGround {
    /// Those of the examination's space, if it has any; a space that is finite on other data is refused.
    pub fn of(plan: &Examination) -> Result<Option<Self>> {
        match (plan.space.factored(), plan.space.finite()) {
            (Some(_), _) => Ok(Some(Self::Factors(plan.space.clone()))),
            (None, Some(finite)) => {
                let group = finite.on(plan.data, 1)?;
                let coordinates = Rc::new(group.coordinates());
                Ok(Some(Self::Group { group, coordinates }))
            }
            (None, None) => Ok(None),
        }
    }

    fn factored(space: &dyn Space) -> Result<&dyn Factored> {
        space.factored().ok_or_else(|| Error::internal("settings of a space without factors"))
    }

    /// A setting as scripts and tables show it.
    pub fn value(&self, setting: &[f64]) -> Value {
        factor::value(self.factors(), setting)
    }

    /// What the numbers of a factor are in; empty where they have no unit.
    pub fn unit_of(&self, factor: usize) -> &'static str {
        match self {
            Self::Factors(space) => space.factored().map_or("", |of| of.unit_of(factor)),
            Self::Group { .. } => "",
        }
    }

    /// The images of these rows of the data at one setting each.
    pub fn images(&self, cx: &Cx, data: &Dataset, ids: &[usize], settings: &[&[f64]]) -> Result<Tensor> {
        let prepared = self.prepare(data, &data.canvases(ids, cx.device())?)?;
        let rows: Vec<i64> = (0..ids.len() as i64).collect();
        self.at(cx, &Originals { data: Some(data), ids, images: &prepared, rows: &rows }, settings)
    }

    /// Images at settings; where none of these is a number, as they stand.
    fn at(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        let moved: Vec<usize> = (0..settings.len()).filter(|&i| !settings[i].iter().all(|x| x.is_nan())).collect();
        if moved.len() == settings.len() {
            return self.drawn(cx, of, settings);
        }
        let all = of.chosen()?;
        if moved.is_empty() {
            return Ok(all);
        }
        let ids: Vec<usize> = moved.iter().map(|&i| of.ids[i]).collect();
        let rows: Vec<i64> = moved.iter().map(|&i| of.rows[i]).collect();
        let points: Vec<&[f64]> = moved.iter().map(|&i| settings[i]).collect();
        let drawn = self.drawn(cx, &Originals { ids: &ids, rows: &rows, ..*of }, &points)?;
        let places: Vec<i64> = moved.iter().map(|&i| i as i64).collect();
        let places = on_device(&Tensor::f_from_slice(&places)?, all.device())?;
        Ok(all.f_index_copy(0, &places, &drawn.f_to_kind(all.kind())?)?)
    }

    fn drawn(&self, cx: &Cx, of: &Originals, settings: &[&[f64]]) -> Result<Tensor> {
        match self {
            Self::Factors(space) => Self::factored(&**space)?.draw(cx, of, settings),
            Self::Group { group, coordinates } => {
                let elements = settings.iter().map(|setting| coordinates.element(setting));
                group.draw(of.images, of.rows, &elements.collect::<Result<Vec<_>>>()?)
            }
        }
    }
}

impl Ground for FactorGround {
    type Room = [Factor];
    type Owned = Vec<Factor>;

    fn room(&self, level: Option<f64>) -> Result<Option<Vec<Factor>>> {
        match (self, level) {
            (_, None) => Ok(Some(self.factors().to_vec())),
            (Self::Factors(space), Some(level)) => Self::factored(&**space)?.at(level),
            (Self::Group { .. }, Some(_)) => Ok(None),
        }
    }

    fn factors(&self) -> &[Factor] {
        match self {
            Self::Factors(space) => space.factored().map_or(&[], Factored::factors),
            Self::Group { coordinates, .. } => coordinates.factors(),
        }
    }

    fn numbers<'p>(&self, point: &'p Setting) -> &'p [f64] {
        point
    }

    fn leave_out(&self, point: &mut Setting) {
        factor::leave_out(&factor::conditions(self.factors()), point);
    }

    fn shown(&self, point: &Setting) -> String {
        self.value(point).summary()
    }

    fn magnitude(&self, point: &Setting) -> Option<f64> {
        match self {
            Self::Factors(space) => space.factored()?.magnitude(point),
            Self::Group { group, coordinates } => Some(group.magnitude(coordinates.element(point).ok()?)),
        }
    }

    fn takes_any_range(&self) -> bool {
        match self {
            Self::Factors(space) => space.factored().is_some_and(Factored::takes_any_range),
            // Pixels change places, or the symmetry has refused the data.
            Self::Group { .. } => true,
        }
    }

    fn opaque(&self) -> bool {
        match self {
            Self::Factors(space) => space.factored().is_some_and(Factored::opaque),
            Self::Group { .. } => false,
        }
    }

    fn prepare(&self, data: &Dataset, canvases: &Tensor) -> Result<Tensor> {
        match self {
            Self::Factors(_) => data.centre(canvases),
            Self::Group { group, .. } => group.prepare(canvases),
        }
    }

    fn standing(&self, prepared: &Tensor, rows: &[i64]) -> Result<Tensor> {
        match self {
            Self::Factors(_) => chosen(prepared, rows),
            Self::Group { group, .. } => group.draw(prepared, rows, &vec![Element::IDENTITY; rows.len()]),
        }
    }

    fn draw(&self, cx: &Cx, of: &Originals, points: &[&Setting]) -> Result<Tensor> {
        let settings: Vec<&[f64]> = points.iter().map(|point| point.as_slice()).collect();
        self.at(cx, of, &settings)
    }
}

/// Refuses images outside [0, 1] where points act on those within alone.
pub(super) fn check_range(data: &Dataset, ground: &impl Ground) -> Result<()> {
    if !data.leaves_unit_range() || ground.takes_any_range() {
        return Ok(());
    }
    Err(Error::data(format!(
        "{}: the images leave [0, 1], where these factors act, as centred or standardised ones do",
        data.name
    ))
    .hint("examine the plain images; a model's own `mean` and `std` do the normalising"))
}

/// Some rows of a tensor.
pub(super) fn chosen(images: &Tensor, rows: &[i64]) -> Result<Tensor> {
    let device: Device = images.device();
    Ok(images.f_index_select(0, &on_device(&Tensor::f_from_slice(rows)?, device)?)?)
}
