//! A user's photographs and objects as what stands behind and in front of the object that is looked at.

use tch::{Device, Kind};

use super::Dataset;
use super::resample::{Filter, resampling};
use crate::core::{Cx, Error, Result, Tensor};
use crate::render::{Photograph, Scenery};

/// Photographs and occluders, at most: all are held in memory, a photograph in some 0.3 MB.
const MOST: usize = 256;

/// `backgrounds`: images in one or three channels, of which the square in the middle is seen. `occluders`: objects.
pub fn scenery(cx: &Cx, backgrounds: Option<&Dataset>, occluders: Option<&Dataset>) -> Result<Scenery> {
    let mut scenery = Scenery::default();
    for (option, data) in [("backgrounds", backgrounds), ("occluders", occluders)] {
        let Some(data) = data else { continue };
        if data.is_empty() || data.len() > MOST {
            return Err(Error::argument(format!(
                "`{option}` takes 1 to {MOST} of a kind, {} has {}",
                data.name,
                data.len()
            ))
            .hint("ds.shuffle(#{ seed: 1 }).take(64)"));
        }
        scenery.about += &format!(", {option}: {} ({})", data.name, data.digest.short());
    }
    if let Some(images) = backgrounds {
        scenery.photographs = photographs(cx, images)?;
    }
    if let Some(objects) = occluders {
        let rows: Vec<usize> = (0..objects.len()).collect();
        scenery.occluders = objects.objects(&rows).ok_or_else(|| {
            Error::data(format!("{}: no objects that could stand in front", objects.name))
                .hint("`occluders` takes data::objects(..), as they are")
        })??;
        scenery.noticed = objects.departures();
        number_twins(&mut scenery);
    }
    Ok(scenery)
}

/// Objects of one name are told apart by their numbers.
fn number_twins(scenery: &mut Scenery) {
    let names: Vec<String> = scenery.occluders.iter().map(|object| object.name.clone()).collect();
    for (number, name) in names.iter().enumerate() {
        let twins = names.iter().filter(|other| *other == name).count();
        scenery.names.push(if twins > 1 { format!("{name} {number}") } else { name.clone() });
    }
}

fn photographs(cx: &Cx, images: &Dataset) -> Result<Vec<Photograph>> {
    let [channels, height, width] = images.shape();
    if images.leaves_unit_range() || !matches!(channels, 1 | 3) {
        return Err(Error::data(format!("{}: not pictures of 1 or 3 channels in [0, 1]", images.name))
            .hint("`backgrounds` takes images as data::load reads them"));
    }
    if images.shows_objects() {
        return Err(Error::data(format!("{}: objects, not photographs", images.name))
            .hint("`backgrounds` takes images; `occluders` takes objects"));
    }
    let side = height.min(width);
    let [largest, smallest] = Photograph::SIDES;
    let shrink = resampling(Filter::Bilinear, side, largest)?;
    let task = cx.progress("reading backgrounds", Some(images.len() as u64));
    let mut all = vec![];
    for row in 0..images.len() {
        cx.check()?;
        let image = images.images(&[row], Device::Cpu)?.f_to_kind(Kind::Float)?;
        let [top, left] = [(height - side) / 2, (width - side) / 2].map(|skipped| skipped as i64);
        let square = image.f_narrow(2, top, side as i64)?.f_narrow(3, left, side as i64)?;
        let mut picture = shrink.f_matmul(&square)?.f_matmul(&shrink.f_transpose(0, 1)?)?;
        let (mut sizes, mut now) = (vec![], largest);
        loop {
            sizes.push((now, bytes(&picture, channels)?));
            now /= 2;
            if now < smallest {
                break;
            }
            picture = picture.f_avg_pool2d([2, 2], [2, 2], [0, 0], false, true, None)?;
        }
        all.push(Photograph::new(sizes));
        task.advance(1);
    }
    Ok(all)
}

fn bytes(picture: &Tensor, channels: usize) -> Result<Vec<[u8; 3]>> {
    let spread = if channels == 1 { picture.f_repeat([1, 3, 1, 1])? } else { picture.shallow_clone() };
    let levels = spread.f_mul_scalar(255.0)?.f_round()?.f_clamp(0.0, 255.0)?.f_to_kind(Kind::Uint8)?;
    let flat = Vec::<u8>::try_from(&levels.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_view([-1i64])?)?;
    Ok(flat.as_chunks::<3>().0.to_vec())
}
