//! Settings of factors as points that gradients lead over. How images change with each factor is told from images on both sides of a setting,
//! so that whatever can be drawn can be searched: rotations, colours, views of objects, closures of scripts, and products of these
//! (Engstrom et al. 2019 over rotations and shifts; Xiao et al. 2018).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tch::{Device, Kind};

use super::Examination;
use super::ground::{FactorGround, Ground, check_range};
use crate::core::{Cx, Error, ErrorKind, Result, Tensor, on_device, random};
use crate::data::Dataset;
use crate::space::{Axis, Differentiable, Factor, Norm, Originals, Setting, Space};

/// How far to both sides images are drawn, in shares of the way to a factor's ends.
const APART: f64 = 1.0 / 256.0;
/// How far pixels may lie from those of an image that stays as it is.
const ROUNDING: f64 = 1e-4;
/// Numbers of independent draws are kept in float32, where these are exact.
const DRAWS: u32 = 1 << 24;

/// Points `N x factors`. Of a factor with a range a number is how far it is from what leaves images as they are, or from the middle where that is
/// not known, on the way to its ends, which are as far as the largest level. Of others it is the number itself. Not a number: the image as it
/// stands.
pub(super) struct Slopes<'a> {
    cx: &'a Cx,
    data: &'a Dataset,
    space: &'a dyn Space,
    ground: FactorGround,
    axes: Vec<Axis>,
    /// Of every factor the share of its range where points are 0.
    centres: Vec<f64>,
    /// The largest level, or 1 where there are none.
    reach: f64,
    /// What leaves images as they are, where that is known.
    still: Option<Setting>,
    read: RefCell<VecDeque<HostCopy>>,
}

/// Numbers of a tensor that a device was waited for.
struct HostCopy {
    /// Kept, so that nothing else comes to lie there.
    of: Tensor,
    version: i64,
    numbers: Rc<Vec<f64>>,
}

/// Tensors whose numbers are kept: points and what they are changes of, radii, and points that they are compared with.
const KEPT: usize = 4;

/// How many numbers a point has, where an examination goes along gradients over settings of factors.
pub(super) fn width(plan: &Examination) -> usize {
    match (plan.space.differentiable(), plan.space.deform()) {
        (None, None) => plan.space.factored().map_or(0, |space| space.factors().len()),
        _ => 0,
    }
}

/// How far settings of factors may lie from what leaves images as they are, where no level says so.
pub(super) fn reach(plan: &Examination) -> Option<f64> {
    let ground = (width(plan) > 0).then(|| FactorGround::of(plan).ok().flatten()).flatten()?;
    [farthest(&ground, |(min, _)| min), farthest(&ground, |(_, max)| max)].into_iter().flatten().reduce(f64::max)
}

/// The magnitude of the setting that has an end of every factor.
fn farthest(ground: &FactorGround, end: fn((f64, f64)) -> f64) -> Option<f64> {
    let of = |factor: &Factor| match factor.axis() {
        Axis::Range { min, max } | Axis::Log { min, max } => end((min, max)),
        _ => 0.0,
    };
    let setting: Setting = ground.factors().iter().map(of).collect();
    ground.magnitude(&setting).filter(|reach| *reach > 0.0 && reach.is_finite())
}

/// Whether a space has a factor along which images may change little by little.
pub(super) fn has_slopes(space: &dyn Space) -> bool {
    space.factored().is_some_and(|space| space.factors().iter().any(|factor| slopes(factor.axis())))
}

/// Whether a space goes by factors of which one is chosen, so that no gradient leads to it.
pub(super) fn chooses(space: &dyn Space) -> bool {
    space.differentiable().is_none()
        && space
            .factored()
            .is_some_and(|space| space.factors().iter().any(|factor| factor.axis().varies() && !slopes(factor.axis())))
}

fn slopes(axis: Axis) -> bool {
    matches!(axis, Axis::Range { .. } | Axis::Log { .. }) && axis.varies()
}

/// Points that gradients lead over: the space's own, or settings of its factors.
pub(super) enum Ways<'a> {
    Own(&'a dyn Differentiable),
    Settings(Box<Slopes<'a>>),
}

impl<'a> Ways<'a> {
    /// `None` where a space has fields instead; refuses factors that gradients can't choose.
    pub fn of(cx: &'a Cx, plan: &'a Examination) -> Result<Option<Self>> {
        match (plan.space.differentiable(), width(plan)) {
            (Some(own), _) => Ok(Some(Self::Own(own))),
            (None, 0) => Ok(None),
            (None, _) => Ok(Some(Self::Settings(Box::new(Slopes::of(cx, plan)?)))),
        }
    }

    pub fn points(&self) -> &dyn Differentiable {
        match self {
            Self::Own(own) => *own,
            Self::Settings(slopes) => &**slopes,
        }
    }

    pub fn slopes(&self) -> Option<&Slopes<'a>> {
        match self {
            Self::Own(_) => None,
            Self::Settings(slopes) => Some(slopes),
        }
    }
}

impl<'a> Slopes<'a> {
    fn of(cx: &'a Cx, plan: &'a Examination) -> Result<Self> {
        let ground = FactorGround::of(plan)?.ok_or_else(|| Error::internal("slopes without settings"))?;
        let factors = ground.factors();
        let (search, space) = (plan.search.describe(), plan.space.describe());
        let chosen = |factor: &&Factor| factor.axis().varies() && !slopes(factor.axis());
        if let Some(factor) = factors.iter().find(chosen) {
            let (name, what) = match factor.axis() {
                Axis::Whole { .. } => (&factor.name, "goes from one whole number to the next"),
                _ => (&factor.name, "is chosen from a list"),
            };
            return Err(Error::new(
                ErrorKind::Pairing,
                format!("{search} follows gradients, and factor {name:?} of {space} {what}"),
            )
            .hint("give that factor one value, or look by losses: search::bayes, policy, random"));
        }
        check_range(plan.data, &ground)?;
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        let reach = farthest(&ground, |(_, max)| max).unwrap_or(1.0);
        let centres = vec![0.5; axes.len()];
        let mut own = Self {
            cx,
            data: plan.data,
            space: &*plan.space,
            ground,
            axes,
            centres,
            reach,
            still: None,
            read: RefCell::default(),
        };
        if let Some(still) = own.look_for_still()? {
            own.centres = own.axes.iter().zip(&still).map(|(axis, x)| axis.share(*x)).collect();
            own.still = Some(still);
        }
        Ok(own)
    }

    /// The setting of level 0, if the first image stays as it is there.
    fn look_for_still(&self) -> Result<Option<Setting>> {
        let Ok(Some(room)) = self.ground.room(Some(0.0)) else { return Ok(None) };
        let least = |factor: &Factor| match factor.axis() {
            Axis::Range { min, max } | Axis::Log { min, max } if min == max => Some(min),
            _ => None,
        };
        let still: Option<Setting> = room.iter().map(least).collect();
        let (Some(still), true) = (still, self.axes.iter().all(|axis| slopes(*axis))) else { return Ok(None) };
        let base = self.base(self.data, &[0], &self.data.images(&[0], Device::Cpu)?)?;
        let apart = self.drawn(&base, std::slice::from_ref(&still))?.f_sub(&base[0])?.f_abs()?.f_max()?;
        Ok((apart.f_double_value(&[])? <= ROUNDING).then_some(still))
    }

    pub fn ground(&self) -> FactorGround {
        self.ground.clone()
    }

    pub fn opaque(&self) -> bool {
        self.ground.opaque()
    }

    /// The setting at a point; not a number where the image stays as it stands.
    pub fn setting(&self, point: &[f32]) -> Setting {
        (0..self.axes.len()).map(|place| self.number(place, point[place].into())).collect()
    }

    fn number(&self, place: usize, x: f64) -> f64 {
        let (axis, centre) = (self.axes[place], self.centres[place]);
        match slopes(axis) {
            true if x.is_nan() => x,
            true => axis.at_share(centre + x / self.reach * if x < 0.0 { centre } else { 1.0 - centre }),
            false => x,
        }
    }

    fn point(&self, setting: &[f64]) -> Vec<f32> {
        let number = |((axis, x), centre): ((&Axis, &f64), &f64)| {
            let away = axis.share(*x) - centre;
            let side = if away < 0.0 { *centre } else { 1.0 - centre };
            match slopes(*axis) {
                true => (if away == 0.0 { 0.0 } else { self.reach * away / side }) as f32,
                false => *x as f32,
            }
        };
        self.axes.iter().zip(setting).zip(&self.centres).map(number).collect()
    }

    /// The numbers of a tensor. The same points are drawn, measured and moved, and a device is waited for once.
    fn numbers(&self, tensor: &Tensor) -> Result<Rc<Vec<f64>>> {
        let (place, version) = (tensor.data_ptr(), tensor.f_internal_version()?);
        let mut read = self.read.borrow_mut();
        let is = |copy: &HostCopy| {
            let of = &copy.of;
            (of.data_ptr(), copy.version) == (place, version)
                && of.kind() == tensor.kind()
                && of.size() == tensor.size()
        };
        let known = read.iter().position(|copy| is(copy) && tensor.is_contiguous());
        if let Some(known) = known.and_then(|place| read.remove(place)) {
            let numbers = known.numbers.clone();
            read.push_front(known);
            return Ok(numbers);
        }
        let of = tensor.f_detach()?;
        let numbers = of.f_to_device(Device::Cpu)?.f_to_kind(Kind::Double)?.f_reshape([-1])?;
        let numbers = Rc::new(Vec::<f64>::try_from(&numbers)?);
        read.truncate(KEPT - 1);
        read.push_front(HostCopy { of, version, numbers: numbers.clone() });
        Ok(numbers)
    }

    fn rows(&self, points: &Tensor) -> Result<Vec<Vec<f32>>> {
        let numbers = self.numbers(points)?;
        Ok(numbers.chunks(self.axes.len()).map(|row| row.iter().map(|x| *x as f32).collect()).collect())
    }

    fn tensor(&self, rows: &[Vec<f32>], device: Device) -> Result<Tensor> {
        let numbers = Tensor::f_from_slice(&rows.concat())?.f_reshape([-1, self.axes.len() as i64])?;
        on_device(&numbers, device)
    }

    /// The factors in balls of these radii.
    fn rooms(&self, radii: Option<&Tensor>, count: usize) -> Result<Vec<Cow<'_, [Factor]>>> {
        let Some(radii) = radii else {
            return Ok((0..count).map(|_| Cow::Borrowed(self.ground.factors())).collect());
        };
        let radii = self.numbers(radii)?;
        let mut last: Option<(u64, Vec<Factor>)> = None;
        let room = |radius: f64| -> Result<Cow<'_, [Factor]>> {
            if radius >= self.reach {
                return Ok(Cow::Borrowed(self.ground.factors()));
            }
            if last.as_ref().is_none_or(|(of, _)| *of != radius.to_bits()) {
                let found = self.ground.room(Some(radius))?.ok_or_else(|| {
                    Error::argument(format!("examine: {} has no `levels` and no balls", self.space.describe()))
                        .hint("space::factors has them where every factor has an `identity`")
                })?;
                last = Some((radius.to_bits(), found));
            }
            Ok(Cow::Owned(last.as_ref().map(|(_, room)| room.clone()).unwrap_or_default()))
        };
        radii.iter().copied().map(room).collect()
    }

    fn images(base: &[Tensor]) -> Result<(&Tensor, &Tensor)> {
        match base {
            [images, ids] => Ok((images, ids)),
            _ => Err(Error::internal("settings without images")),
        }
    }

    fn drawn(&self, base: &[Tensor], settings: &[Setting]) -> Result<Tensor> {
        let (images, ids) = Self::images(base)?;
        let ids: Vec<usize> = self.numbers(ids)?.iter().map(|id| *id as usize).collect();
        let rows: Vec<i64> = (0..ids.len() as i64).collect();
        let of = Originals { data: Some(self.data), ids: &ids, images, rows: &rows };
        tch::no_grad(|| self.ground.draw(self.cx, &of, &settings.iter().collect::<Vec<_>>()))
    }
}

impl Differentiable for Slopes<'_> {
    fn norm(&self) -> Norm {
        Norm::Linf
    }

    fn within(&self) -> Option<f64> {
        Some(self.reach)
    }

    fn stride(&self) -> f64 {
        self.reach
    }

    fn starts_at_image(&self) -> bool {
        self.still.is_some()
    }

    fn base(&self, _data: &Dataset, rows: &[usize], images: &Tensor) -> Result<Vec<Tensor>> {
        let ids: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
        Ok(vec![images.shallow_clone(), on_device(&Tensor::f_from_slice(&ids)?, images.device())?])
    }

    fn start(&self, base: &[Tensor]) -> Result<Tensor> {
        let (images, _) = Self::images(base)?;
        let point = match &self.still {
            Some(still) => self.point(still),
            None => vec![f32::NAN; self.axes.len()],
        };
        self.tensor(&vec![point; images.size()[0] as usize], images.device())
    }

    fn scatter(&self, base: &[Tensor], radii: &Tensor, streams: &[(u64, u64)]) -> Result<Option<Tensor>> {
        let (images, _) = Self::images(base)?;
        let draw = |(room, &(seed, part)): (Cow<'_, [Factor]>, &(u64, u64))| {
            let mut rng = random(seed, part ^ OWN);
            let number = |factor: &Factor| match factor.axis() {
                Axis::Chance => f64::from(factor.draw(&mut rng) as u32 % DRAWS),
                _ => factor.draw(&mut rng),
            };
            self.point(&room.iter().map(number).collect::<Setting>())
        };
        let rooms = self.rooms(Some(radii), streams.len())?;
        let rows: Vec<Vec<f32>> = rooms.into_iter().zip(streams).map(draw).collect();
        Ok(Some(self.tensor(&rows, images.device())?))
    }

    fn draw(&self, base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        let settings: Vec<Setting> = self.rows(points)?.iter().map(|row| self.setting(row)).collect();
        self.drawn(base, &settings)
    }

    fn flows(&self) -> bool {
        false
    }

    /// The quotient of how far images on both sides are apart along the gradient and how far the settings are.
    fn pull(&self, base: &[Tensor], points: &Tensor, of_images: &Tensor) -> Result<Tensor> {
        let rows = self.rows(points)?;
        let settings: Vec<Setting> = rows.iter().map(|row| self.setting(row)).collect();
        let mut of: Vec<Tensor> = vec![];
        for (place, &axis) in self.axes.iter().enumerate() {
            if !slopes(axis) {
                of.push(Tensor::f_zeros([settings.len() as i64], (Kind::Double, points.device()))?);
                continue;
            }
            let least = if self.centres[place] > 0.0 { -self.reach } else { 0.0 };
            let most = if self.centres[place] < 1.0 { self.reach } else { 0.0 };
            let side = |by: f64| -> Vec<f64> {
                rows.iter().map(|row| (f64::from(row[place]) + by * self.reach).clamp(least, most)).collect()
            };
            let (above, below) = (side(APART), side(-APART));
            let images = |there: &[f64]| -> Result<Tensor> {
                let mut moved = settings.clone();
                moved.iter_mut().zip(there).for_each(|(setting, x)| setting[place] = self.number(place, *x));
                self.drawn(base, &moved)
            };
            let change = images(&above)?.f_sub(&images(&below)?)?.f_to_kind(Kind::Double)?;
            let change = change.f_mul(of_images)?.f_flatten(1, -1)?;
            let change = change.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
            let apart: Vec<f64> = above.iter().zip(&below).map(|(above, below)| above - below).collect();
            of.push(change.f_div(&on_device(&Tensor::f_from_slice(&apart)?, points.device())?)?);
        }
        let still = points.f_isnan()?;
        Ok(Tensor::f_stack(&of, 1)?.f_to_kind(points.kind())?.f_masked_fill(&still, 0.0)?)
    }

    fn keep(&self, _base: &[Tensor], points: &Tensor, radii: Option<&Tensor>) -> Result<Tensor> {
        let rooms = self.rooms(radii, points.size()[0] as usize)?;
        let limits = |lower: bool| -> Result<Tensor> {
            let end = |factor: &Factor| match factor.axis() {
                Axis::Range { min, max } | Axis::Log { min, max } => {
                    if lower {
                        min
                    } else {
                        max
                    }
                }
                _ => f64::NAN,
            };
            let rows: Vec<_> =
                rooms.iter().map(|room| self.point(&room.iter().map(end).collect::<Setting>())).collect();
            let limits = self.tensor(&rows, points.device())?;
            // What has no range stays.
            Ok(points.f_where_self(&limits.f_isnan()?, &limits)?)
        };
        Ok(points.f_maximum(&limits(true)?)?.f_minimum(&limits(false)?)?)
    }

    fn magnitude(&self, _base: &[Tensor], points: &Tensor) -> Result<Tensor> {
        let size = |row: &Vec<f32>| match row.iter().any(|x| x.is_nan()) {
            true => 0.0,
            false => self.ground.magnitude(&self.setting(row)).unwrap_or(0.0) as f32,
        };
        let sizes: Vec<f32> = self.rows(points)?.iter().map(size).collect();
        on_device(&Tensor::f_from_slice(&sizes)?, points.device())
    }
}

/// Part of the streams that starts come from.
const OWN: u64 = 0x736c_6f70_6573;
