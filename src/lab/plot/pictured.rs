//! The figures that stand for a value where pictures can be seen: at a terminal, in a notebook.

use super::{Animation, Figure, Layer, Panel, Picture, Tiles};
use crate::core::{Result, Value};
use crate::data::Dataset;

/// Images of a data set that its sheet shows, at most.
const IMAGES: usize = 32;

/// Figures of an array or a map that are shown as pictures.
const FIGURES: usize = 4;

/// A figure that is shown for a value.
pub struct Pictured {
    pub figure: Figure,
    /// The name that a map gives it.
    pub name: Option<String>,
    /// How many images there are, of a sheet of the first ones.
    pub total: Option<usize>,
}

/// What there is to see of a value: of figures themselves, of a moving picture its last frame, of a data set its first images.
pub fn pictured(value: &Value) -> Result<Vec<Pictured>> {
    let alone = |figure: Figure| Pictured { figure, name: None, total: None };
    if let Some(figure) = value.downcast::<Figure>() {
        return Ok(vec![alone((*figure).clone())]);
    }
    if let Some(animation) = value.downcast::<Animation>() {
        return Ok(animation.frames.last().cloned().map(alone).into_iter().collect());
    }
    if let Some(set) = value.downcast::<Dataset>() {
        return Ok(vec![Pictured { total: Some(set.len()), ..alone(sample(&set)?) }]);
    }
    match value {
        Value::Array(values) if values.len() <= FIGURES => {
            let figures: Option<Vec<_>> = values.iter().map(Value::downcast::<Figure>).collect();
            Ok(figures.into_iter().flatten().map(|figure| alone((*figure).clone())).collect())
        }
        // An element of a data set.
        Value::Map(map) => match (map.get("image"), map.get("class")) {
            (Some(Value::Tensor(image)), Some(Value::Str(class))) if image.dim() == 3 => {
                let images = Picture::of_tensor(&image.f_unsqueeze(0)?)?;
                Ok(vec![alone(tiles(images, vec![class.clone()]))])
            }
            // The results of a script.
            _ => {
                let named = map.iter().filter_map(|(name, value)| Some((name, value.downcast::<Figure>()?)));
                let shown = named
                    .take(FIGURES)
                    .map(|(name, figure)| Pictured { name: Some(name.clone()), ..alone((*figure).clone()) });
                Ok(shown.collect())
            }
        },
        _ => Ok(vec![]),
    }
}

/// The first images of a data set with their classes.
fn sample(set: &Dataset) -> Result<Figure> {
    let rows: Vec<usize> = (0..set.len().min(IMAGES)).collect();
    let captions = rows.iter().map(|&row| set.classes()[set.labels()[row] as usize].clone()).collect();
    let images = set.images(&rows, tch::Device::Cpu)?;
    Ok(tiles(Picture::of_tensor(&images)?, captions))
}

fn tiles(images: Vec<Picture>, captions: Vec<String>) -> Figure {
    let columns = images.len().clamp(1, 8);
    let panel =
        Panel { layers: vec![Layer::Tiles(Tiles { images, captions, arrows: vec![], columns })], ..Panel::default() };
    Figure::of(vec![panel], 1)
}
