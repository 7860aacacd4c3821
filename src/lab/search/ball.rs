//! Changes of single pixels within a ball as the ground of searches that learn from losses: models need no gradients.

use std::cell::RefCell;
use std::rc::Rc;

use super::ground::{Ground, Room, chosen};
use crate::core::{Cx, Error, Result, Tensor, on_device};
use crate::data::Dataset;
use crate::space::{self, Bounds, Differentiable, Factor, Norm, Space};

/// What a search over pixels is told: which changes it may make, and of what.
#[derive(Clone)]
pub struct PixelBall {
    /// Channels, height, width.
    pub shape: [usize; 3],
    pub norm: Norm,
    /// Infinite where none is said.
    pub radius: f64,
    pub bounds: Option<Bounds>,
    originals: Rc<dyn PixelSource>,
}

impl PixelBall {
    pub fn new(shape: [usize; 3], norm: Norm, radius: f64, originals: Rc<dyn PixelSource>) -> Self {
        Self { shape, norm, radius, bounds: None, originals }
    }

    /// The pixels of the image in this row as it stands.
    pub fn pixels(&self, row: usize) -> Result<PixelChange> {
        self.originals.pixels(row)
    }
}

/// Where images are read from.
pub trait PixelSource {
    /// The pixels of one image, in their order.
    fn pixels(&self, row: usize) -> Result<PixelChange>;
}

/// The images of a data set, the last of which is kept: each is asked for once per aim and level.
struct PixelsOfData {
    data: Dataset,
    last: RefCell<Option<(usize, PixelChange)>>,
}

impl PixelSource for PixelsOfData {
    fn pixels(&self, row: usize) -> Result<PixelChange> {
        if let Some((known, pixels)) = &*self.last.borrow()
            && *known == row
        {
            return Ok(pixels.clone());
        }
        let image = self.data.images(&[row], tch::Device::Cpu)?.f_contiguous()?;
        let pixels = PixelChange::from(Vec::<f32>::try_from(&image.f_reshape([-1])?)?);
        *self.last.borrow_mut() = Some((row, pixels.clone()));
        Ok(pixels)
    }
}

impl Room for PixelBall {
    type Point = PixelChange;
}

/// What is added to the pixels of an image, in their order; handing it on costs nothing.
pub type PixelChange = std::sync::Arc<[f32]>;

/// The changes that a space allows.
#[derive(Clone)]
pub(super) struct PixelGround {
    space: Rc<dyn Space>,
    shape: [usize; 3],
    originals: Rc<dyn PixelSource>,
}

impl PixelGround {
    pub fn of(space: Rc<dyn Space>, data: &Dataset) -> Self {
        let originals = Rc::new(PixelsOfData { data: data.clone(), last: RefCell::new(None) });
        Self { space, shape: data.shape(), originals }
    }

    /// Images with changes, and how large these are, `N`, as adding them has rounded them.
    pub fn measured(&self, originals: &Tensor, changes: &[&PixelChange]) -> Result<Tensor> {
        let changed = self.apply(originals, changes)?;
        self.differentiable()?.magnitude(&[originals.shallow_clone()], &changed)
    }

    fn differentiable(&self) -> Result<&dyn Differentiable> {
        self.space.differentiable().ok_or_else(|| Error::internal("a space without points"))
    }

    /// Originals with changes added and kept within bounds.
    fn apply(&self, originals: &Tensor, changes: &[&PixelChange]) -> Result<Tensor> {
        let flat: Vec<f32> = changes.iter().flat_map(|change| change.iter().copied()).collect();
        let size = originals.size();
        let changes = on_device(&Tensor::f_from_slice(&flat)?.f_reshape(&size)?, originals.device())?;
        let space = self.differentiable()?;
        let base = [originals.shallow_clone()];
        space.keep(&base, &originals.f_add(&changes)?, None)
    }

    /// The images of these rows of the data with these changes.
    pub fn images(&self, data: &Dataset, ids: &[usize], changes: &[&PixelChange], cx: &Cx) -> Result<Tensor> {
        self.apply(&data.images(ids, cx.device())?, changes)
    }
}

impl Ground for PixelGround {
    type Room = PixelBall;
    type Owned = PixelBall;

    fn room(&self, level: Option<f64>) -> Result<Option<PixelBall>> {
        let space = self.differentiable()?;
        let (shape, norm, within) = (self.shape, space.norm(), space.within());
        let radius = match (level, within) {
            (Some(level), _) if level <= 0.0 => {
                return Err(Error::argument("examine: a level is the radius of a ball and must be larger than 0"));
            }
            (Some(level), Some(within)) if level > within => {
                return Err(Error::argument(format!(
                    "examine: level {level} is beyond the radius of {}, {within}",
                    self.space.describe()
                )));
            }
            (Some(radius), _) | (None, Some(radius)) => radius,
            (None, None) => f64::INFINITY,
        };
        let originals = self.originals.clone();
        Ok(Some(PixelBall { shape, norm, radius, bounds: self.space.bounds(), originals }))
    }

    fn factors(&self) -> &[Factor] {
        &[]
    }

    fn numbers<'p>(&self, _point: &'p PixelChange) -> &'p [f64] {
        &[]
    }

    fn shown(&self, _point: &PixelChange) -> String {
        "a change of its pixels".into()
    }

    fn magnitude(&self, _point: &PixelChange) -> Option<f64> {
        None
    }

    fn takes_any_range(&self) -> bool {
        true
    }

    fn opaque(&self) -> bool {
        false
    }

    fn prepare(&self, data: &Dataset, canvases: &Tensor) -> Result<Tensor> {
        data.centre(canvases)
    }

    fn standing(&self, prepared: &Tensor, rows: &[i64]) -> Result<Tensor> {
        chosen(prepared, rows)
    }

    fn draw(&self, _cx: &Cx, of: &space::Originals, points: &[&PixelChange]) -> Result<Tensor> {
        self.apply(&of.chosen()?, points)
    }
}
