//! Where the rows of a transcript went, and how their images are drawn again.

use std::rc::Rc;

use crate::core::{Cx, Digest, Result, Tensor, Value, on_device};
use crate::data::Dataset;
use crate::search::ball::{PixelChange, PixelGround};
use crate::search::ground::{FactorGround, Ground};
use crate::search::parts::Parts;
use crate::search::questions::Questions;
use crate::search::replay::{Replay, ReplayOutput};
use crate::search::row::Row;
use crate::space::{Element, Group, Point, Render};

/// What the points of the rows mean, and how their images are drawn again.
pub(super) enum Points {
    Elements(Rc<dyn Group>),
    /// One number per factor for every setting, kept beside the rows so that these stay small.
    Settings {
        of: FactorGround,
        numbers: Vec<f64>,
        /// Where searches ask some.
        questions: Option<Questions>,
    },
    /// What was added to the images' pixels.
    Changes {
        of: PixelGround,
        changes: Vec<PixelChange>,
    },
    /// The image of every row, where finding it again would take as long as finding it.
    Images(Vec<Tensor>),
    /// Those of several searches.
    Parts(Parts),
    /// Nothing is kept of where a search along gradients went.
    Trajectory(Box<Replay>),
}

impl Points {
    /// The numbers of a setting.
    pub(super) fn setting(&self, point: Point) -> &[f64] {
        match (self, point) {
            (Self::Settings { of, numbers, .. }, Point::Setting(place)) => {
                let width = of.factors().len();
                &numbers[place as usize * width..][..width]
            }
            _ => &[],
        }
    }

    /// The view that a point is, with the space of it, where it is one.
    pub(super) fn view(&self, point: Point) -> Option<(&Render, &[f64])> {
        match self {
            Self::Settings { of: FactorGround::Factors(space), .. } => {
                let setting = self.setting(point);
                // An image that was not moved is as it stands.
                let moved = setting.iter().any(|x| !x.is_nan());
                Some((space.render()?, setting)).filter(|_| moved)
            }
            Self::Parts(parts) => parts.view(point),
            _ => None,
        }
    }

    /// Whether the search has to go its way again to bring an image back.
    pub(super) fn goes_again(&self, point: Point) -> bool {
        match self {
            Self::Trajectory(_) => true,
            Self::Parts(parts) => parts.goes_again(point),
            _ => false,
        }
    }

    /// A point as scripts and tables show it.
    pub(super) fn value(&self, point: Point) -> Value {
        match (self, point) {
            (Self::Elements(group), Point::Element(element)) => group.value(element),
            (Self::Settings { of, .. }, _) => of.value(self.setting(point)),
            (Self::Parts(parts), _) => parts.shown(point),
            _ => Value::Unit,
        }
    }

    /// The images of these rows where the search left them.
    pub(super) fn draw(&self, cx: &Cx, data: &Dataset, rows: &[Row]) -> Result<Tensor> {
        let ids: Vec<usize> = rows.iter().map(|row| row.id as usize).collect();
        let places: Vec<i64> = (0..ids.len() as i64).collect();
        match self {
            Self::Elements(group) => {
                let element =
                    |row: &Row| if let Point::Element(element) = row.point { element } else { Element::IDENTITY };
                let elements: Vec<Element> = rows.iter().map(element).collect();
                group.draw(&group.prepare(&data.canvases(&ids, cx.device())?)?, &places, &elements)
            }
            Self::Settings { of, .. } => {
                let settings: Vec<&[f64]> = rows.iter().map(|row| self.setting(row.point)).collect();
                of.images(cx, data, &ids, &settings)
            }
            Self::Changes { of, changes } => {
                let own: Vec<&PixelChange> = rows.iter().filter_map(|row| changes.get(row.point.place()?)).collect();
                of.images(data, &ids, &own, cx)
            }
            Self::Images(images) => {
                let chosen = rows.iter().filter_map(|row| match row.point {
                    Point::Setting(place) => images.get(place as usize),
                    _ => None,
                });
                on_device(&Tensor::f_stack(&chosen.collect::<Vec<_>>(), 0)?, cx.device())
            }
            Self::Parts(parts) => parts.images(cx, rows),
            Self::Trajectory(replay) => replay.bring(cx, data, rows, ReplayOutput::Images),
        }
    }

    pub(super) fn digest(&self) -> Digest {
        let mut digest = Digest::of(&[]);
        if let Self::Settings { numbers, .. } = self {
            for part in numbers.chunks(4096) {
                let bytes: Vec<u8> = part.iter().flat_map(|x| x.to_le_bytes()).collect();
                digest = Digest::of_parts(&[&digest.0, &bytes]);
            }
        }
        if let Self::Parts(parts) = self {
            digest = parts.digest();
        }
        digest
    }
}
