//! Pictures of objects from views that are drawn at random: what a classifier of objects learns from.

use std::sync::Arc;

use super::Objects;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, Value};
use crate::render::{Span, VIEW_FACTORS, View, draw};

/// Views of every object, each as one number per factor.
struct Views {
    objects: Arc<dyn Objects>,
    /// The object of each picture.
    of: Vec<usize>,
    views: Vec<[f64; 12]>,
    size: usize,
}

impl Source for Views {
    fn len(&self) -> usize {
        self.of.len()
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.size, self.size]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        draw(&*self.objects.object(self.of[index])?, &View::of(&self.views[index]), self.size, pixels);
        Ok(())
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let value = |(factor, &x): (&crate::render::ViewFactor, &f64)| {
            let value = match factor.span {
                Span::Choices(choices) => Value::Str(choices.get(x as usize).copied().unwrap_or("").into()),
                _ => Value::Float(x),
            };
            (factor.name, value)
        };
        VIEW_FACTORS.iter().zip(&self.views[index]).map(value).collect()
    }
}

impl Dataset {
    /// A data set of `each` pictures of every object of this one, object by object, from views that `draw` gives: one number per
    /// factor for a picture's number. `about` tells those views apart from others.
    pub fn views(&self, each: usize, about: &str, mut draw: impl FnMut(usize) -> Result<[f64; 12]>) -> Result<Self> {
        let Some(objects) = self.source_objects() else {
            return Err(Error::data(format!("{}: no objects to look at", self.name))
                .hint("data::objects(..) are, as they are: without grey(), centre() and the like"));
        };
        const MOST: usize = 10_000_000;
        if self.len().saturating_mul(each) > MOST {
            return Err(Error::argument(format!("{each} pictures of {} objects are more than {MOST}", self.len())));
        }
        let rows: Vec<usize> = (0..self.len()).collect();
        let of: Vec<usize> = self.source_rows(&rows).into_iter().flat_map(|index| vec![index; each]).collect();
        let labels = self.labels().iter().flat_map(|&label| vec![label; each]).collect();
        let views = (0..of.len()).map(&mut draw).collect::<Result<Vec<_>>>()?;
        let size = self.shape()[1];
        let name = format!("views of {}", self.name);
        let digest = Digest::of_parts(&[&self.digest.0, format!("views 1 {each} {about}").as_bytes()]);
        let source = Views { objects: objects.clone(), of, views, size };
        Self::new(name, Arc::new(source), labels, self.classes().to_vec(), Edge::None, digest)
    }
}
