//! A model that answers the mean of another one over draws: expectation over transformation (Athalye, Engstrom, Ilyas and Kwok, ICML 2018,
//! "Synthesizing Robust Adversarial Examples"), and over what a model itself draws (Athalye, Carlini and Wagner, ICML 2018).

use std::rc::Rc;

use tch::{Device, Kind};

use super::factor::{self, Factor, Factored, Originals, Setting};
use super::{Axis, Space};
use crate::core::{Cx, Digest, Error, ErrorKind, Object, Result, Tensor, random, with_stream};
use crate::model::{Asked, Model, Network};

/// The logarithm of (1/m) sum_k softmax(f(t_k(x))), over draws that are the same for every image.
struct Averaged {
    model: Model,
    over: Option<Rc<dyn Space>>,
    /// Of every draw.
    settings: Vec<Setting>,
    seed: u64,
    cx: Cx,
}

/// A context for draws, which stop when the run does.
fn stopped_with(cx: &Cx) -> Cx {
    let mut own = Cx::default();
    own.stop_with(cx);
    own
}

/// Part of the streams that settings come from, and that a model's own draws do.
const OWN: u64 = 0x6176_6572_6167;

fn factored(over: &dyn Space) -> Result<&dyn Factored> {
    // What a search makes of images may lie outside [0, 1], and what a closure answers is checked by itself.
    let takes = |space: &&dyn Factored| space.takes_any_range() || space.opaque();
    over.factored().filter(|_| !over.needs_originals()).filter(takes).ok_or_else(|| {
        Error::new(
            ErrorKind::Pairing,
            format!("f.averaged: {} can't be drawn from any image and a setting alone", over.describe()),
        )
        .hint("space::noise, rotate, translate with a fill, affine and factors can, and products of these")
    })
}

impl Network for Averaged {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let n = images.size()[0];
        let (ids, rows): (Vec<usize>, Vec<i64>) = ((0..n as usize).collect(), (0..n).collect());
        let changed = |setting: &Setting| -> Result<Tensor> {
            self.cx.check()?;
            let Some(over) = &self.over else { return Ok(images.shallow_clone()) };
            let of = Originals { data: None, ids: &ids, images, rows: &rows };
            factored(&**over)?.draw(&self.cx, &of, &vec![&setting[..]; n as usize])
        };
        let several = self.model.copies_at_once(&images.size()) as usize;
        let some = |(part, settings): (usize, &[Setting])| -> Result<Tensor> {
            let changed = Tensor::f_cat(&settings.iter().map(changed).collect::<Result<Vec<_>>>()?, 0)?;
            let scores = with_stream(self.seed, OWN + (part * several) as u64, || self.model.logits(&changed))?;
            Ok(scores.f_log_softmax(1, None::<Kind>)?.f_view([-1, n, scores.size()[1]])?)
        };
        let all = self.settings.chunks(several).enumerate().map(some).collect::<Result<Vec<_>>>()?;
        let sum = Tensor::f_cat(&all, 0)?.f_logsumexp([0i64].as_slice(), false)?;
        Ok(sum.f_sub_scalar((self.settings.len() as f64).ln())?)
    }

    fn asked(&self) -> Option<Asked> {
        self.model.asked()
    }

    fn differentiable(&self) -> bool {
        self.model.differentiable()
    }

    fn opaque(&self) -> bool {
        self.model.opaque() || self.over.as_ref().is_some_and(|over| over.factored().is_some_and(Factored::opaque))
    }

    fn stands_for(&self) -> Option<&Model> {
        Some(&self.model)
    }

    fn copies(&self) -> usize {
        self.settings.len() * self.model.copies()
    }

    fn device(&self) -> Option<Device> {
        self.model.device()
    }

    fn on(&self, device: Device) -> Result<Option<Rc<dyn Network>>> {
        let Self { over, settings, seed, .. } = self;
        let (over, settings) = (over.clone(), settings.clone());
        let cx = stopped_with(&self.cx);
        Ok(Some(Rc::new(Self { model: self.model.to(device)?, over, settings, seed: *seed, cx })))
    }
}

/// The mean over `draws` fixed draws of what the model itself draws, and of changes of images where a space is given: differentiable
/// where the model and the changes are.
pub fn averaged(cx: &Cx, of: &Model, over: Option<Rc<dyn Space>>, draws: u32, seed: u64) -> Result<Model> {
    of.check_of_classes("an averaged model")?;
    let mut settings = vec![vec![]; draws as usize];
    if let Some(over) = &over {
        let factors = factored(&**over)?.factors();
        for (draw, setting) in settings.iter_mut().enumerate() {
            let mut rng = random(seed, OWN ^ draw as u64);
            *setting = factor::draw(factors, &mut rng);
        }
        let still = |factor: &Factor| !matches!(factor.axis(), Axis::Chance) && !factor.axis().varies();
        if factors.iter().all(still) {
            return Err(Error::argument(format!("f.averaged: every draw of {} is the same", over.describe())));
        }
    }
    let said = over.as_ref().map_or("its own draws".to_string(), |over| over.describe());
    let identity = over.as_ref().map_or(String::new(), |over| over.identity());
    let digest = Digest::of_parts(&[
        b"averaged",
        &Object::digest(of).0,
        identity.as_bytes(),
        format!("{draws} {seed}").as_bytes(),
    ]);
    let name = format!("{} averaged (over {said}, mean of {draws} draws)", of.name);
    let network = Averaged { model: of.clone(), over, settings, seed, cx: stopped_with(cx) };
    let model = Model::new(name, Box::new(network), digest).with_input(of.input()).that_asks(of);
    of.cautions().iter().for_each(|caution| model.notice(caution));
    model.notice(format!(
        "the mean of {draws} fixed draws over {said} stands in for {}: what fails here fails on average, and on some draws need not, as what is right here may fail on some",
        of.name
    ));
    Ok(match of.classes() {
        Some(classes) => model.with_classes(classes),
        None => model,
    })
}
