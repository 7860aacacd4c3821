//! Pictures of objects from views that are drawn at random: what a classifier of objects learns from.

use std::sync::Arc;

use super::Objects;
use super::jpeg::compressed;
use super::{Dataset, Edge, Source};
use crate::core::{Digest, Error, Result, Value};
use crate::render::{Mesh, Scenery, Span, VIEW_FACTORS, View, ViewNumbers, draw, draw_without};

/// Draws an object into `3 x size x size` pixels, as the view says that the picture is saved.
pub fn photograph(mesh: &Mesh, view: &View, scenery: &Scenery, size: usize, pixels: &mut [f32]) {
    draw(mesh, view, scenery, size, pixels);
    save(view, size, pixels);
}

/// The same picture without the object.
pub fn photograph_without(view: &View, scenery: &Scenery, size: usize, pixels: &mut [f32]) {
    draw_without(view, scenery, size, pixels);
    save(view, size, pixels);
}

/// Makes pixels those that are read back, where the view says that the picture is saved as JPEG.
fn save(view: &View, size: usize, pixels: &mut [f32]) {
    let Some(quality) = view.jpeg else { return };
    let area = size * size;
    let byte = |i: usize, channel: usize| (pixels[channel * area + i] * 255.0).round() as u8;
    let bytes: Vec<u8> = (0..area).flat_map(|i| [0, 1, 2].map(|channel| byte(i, channel))).collect();
    for (i, pixel) in compressed(&bytes, [size, size], quality.into()).as_chunks::<3>().0.iter().enumerate() {
        pixel.iter().enumerate().for_each(|(channel, &byte)| pixels[channel * area + i] = f32::from(byte) / 255.0);
    }
}

/// Views of every object, each as one number per factor.
struct Views {
    objects: Arc<dyn Objects>,
    /// The object of each picture, and the number that equal objects have in common.
    of: Vec<usize>,
    likenesses: Vec<u64>,
    views: Vec<ViewNumbers>,
    scenery: Arc<Scenery>,
    /// Of each factor, whether it is other than canonical in any of the views.
    asked: [bool; VIEW_FACTORS.len()],
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
        let object = self.objects.object(self.of[index])?;
        photograph(&object, &View::of(&self.views[index]), &self.scenery, self.size, pixels);
        Ok(())
    }

    fn likeness_of_object(&self, index: usize) -> Option<u64> {
        self.likenesses.get(index).copied()
    }

    fn object_from_file(&self, index: usize) -> Option<Arc<Mesh>> {
        self.objects.are_from_files().then(|| self.objects.object(self.of[index]).ok()).flatten()
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let value = |(factor, &x): (&crate::render::ViewFactor, &f64)| {
            let value = match factor.span {
                Span::Choices(_) => {
                    Value::Str(self.scenery.choices(factor).get(x as usize).cloned().unwrap_or_default())
                }
                _ if factor.is_without(x) => Value::Unit,
                _ => Value::Float(x),
            };
            (factor.name, value)
        };
        let known = VIEW_FACTORS.iter().zip(&self.views[index]).enumerate();
        known.filter(|(place, (factor, _))| !factor.asked || self.asked[*place]).map(|(_, of)| value(of)).collect()
    }
}

impl Dataset {
    /// A data set of `each` pictures of every object of this one amid a scenery, object by object, from views that `draw` gives: one number
    /// per factor for a picture's number. `about` tells those views apart from others.
    pub fn views(
        &self,
        each: usize,
        scenery: &Arc<Scenery>,
        about: &str,
        mut draw: impl FnMut(usize) -> Result<ViewNumbers>,
    ) -> Result<Self> {
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
        let likenesses = rows.iter().flat_map(|&row| vec![self.likeness(row); each]).collect();
        let labels = self.labels().iter().flat_map(|&label| vec![label; each]).collect();
        let views = (0..of.len()).map(&mut draw).collect::<Result<Vec<_>>>()?;
        let size = self.shape()[1];
        let name = format!("views of {}", self.name);
        let digest = Digest::of_parts(&[&self.digest.0, format!("views 1 {each} {about}").as_bytes()]);
        let canonical = View::canonical();
        let asked = std::array::from_fn(|place| views.iter().any(|view| view[place] != canonical[place]));
        let source = Views { asked, objects: objects.clone(), of, likenesses, views, scenery: scenery.clone(), size };
        let set = Self::new(name, Arc::new(source), labels, self.classes().to_vec(), Edge::None, digest)?;
        Ok(set.with_skipped(self.skipped().to_vec()).with_noticed(self.told()).cut_from(self.cut_from))
    }
}
