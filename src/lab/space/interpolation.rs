//! Pixels between pixels: bilinear interpolation, and a named fill for what lies beyond the border.

use rayon::prelude::*;
use tch::{Device, Kind};

use crate::core::{Result, Tensor, in_parallel};

/// What stands beyond the border.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// Pixels of this value.
    Value(f64),
    /// The nearest pixel of the border.
    Edge,
    /// The image once more, mirrored.
    Reflect,
    /// The image once more.
    Wrap,
}

/// A row or column of an image, and whether it is the one that was asked for.
struct Neighbour {
    at: usize,
    known: bool,
}

impl Fill {
    /// The rows or columns before and behind a place among so many, and which share of the way lies before it.
    #[inline]
    fn between(self, at: f64, side: i64) -> ([Neighbour; 2], f32) {
        // What is larger has no fraction, and floor() is a call of its own on a processor that is not known to have it.
        let cut = if at.abs() < 1e15 { at as i64 as f64 } else { at };
        let low = if cut > at { cut - 1.0 } else { cut };
        let place = |at: i64| Neighbour { at: self.place(at, side) as usize, known: (0..side).contains(&at) };
        ([place(low as i64), place((low as i64).saturating_add(1))], (at - low) as f32)
    }

    /// For `Value` a place that is there to be read.
    #[inline]
    fn place(self, at: i64, side: i64) -> i64 {
        match self {
            Self::Wrap => at.rem_euclid(side),
            Self::Reflect => {
                let period = Self::period(side);
                let within = at.rem_euclid(period);
                within.min(period - within).clamp(0, side - 1)
            }
            Self::Value(_) | Self::Edge => at.clamp(0, side - 1),
        }
    }

    /// Mirrored about the middle of the border's pixels.
    fn period(side: i64) -> i64 {
        (2 * (side - 1)).max(1)
    }

    pub fn describe(self) -> String {
        match self {
            Self::Value(x) => format!("{x:?}"),
            Self::Edge => "\"edge\"".into(),
            Self::Reflect => "\"reflect\"".into(),
            Self::Wrap => "\"wrap\"".into(),
        }
    }
}

/// What [`bilinear`] comes to, to the bit, in one go: of the image `of[i]` for each `i`, at the row and column that `at(i, y, x)` names. `None` where
/// tensors have to do it, on other devices, of other kinds and for gradients.
pub fn by_pixel(
    images: &Tensor,
    of: &[i64],
    fill: Fill,
    at: impl Fn(usize, usize, usize) -> [f64; 2] + Sync,
) -> Result<Option<Tensor>> {
    if images.device() != Device::Cpu || images.kind() != Kind::Float || images.requires_grad() {
        return Ok(None);
    }
    let (_, channels, height, width) = images.size4()?;
    let area = (height * width) as usize;
    let length = channels as usize * area;
    if length == 0 || of.is_empty() {
        return Ok(None);
    }
    // Of a few among many no others are copied.
    if (of.len() as i64) < images.size()[0] {
        let chosen = images.f_index_select(0, &Tensor::f_from_slice(of)?)?;
        return by_pixel(&chosen, &(0..of.len() as i64).collect::<Vec<_>>(), fill, at);
    }
    let pixels = Vec::<f32>::try_from(&images.f_contiguous()?.f_reshape([-1])?)?;
    let mut drawn = vec![0.0f32; of.len() * length];
    let (beyond, fills) = match fill {
        Fill::Value(value) => (value as f32, true),
        _ => (0.0, false),
    };
    let one = |(i, (drawn, &image)): (usize, (&mut [f32], &i64))| {
        let image = &pixels[image as usize * length..][..length];
        let mut place = 0;
        for y in 0..height as usize {
            for x in 0..width as usize {
                let [row, column] = at(i, y, x);
                let ([top, bottom], down) = fill.between(row, height);
                let ([left, beside], right) = fill.between(column, width);
                for plane in (0..length).step_by(area) {
                    let pixel = |row: &Neighbour, column: &Neighbour| match fills && !(row.known && column.known) {
                        true => beyond,
                        false => image[plane + row.at * width as usize + column.at],
                    };
                    let (a, c) = (pixel(&top, &left), pixel(&bottom, &left));
                    let upper = a + (pixel(&top, &beside) - a) * right;
                    let lower = c + (pixel(&bottom, &beside) - c) * right;
                    drawn[plane + place] = upper + (lower - upper) * down;
                }
                place += 1;
            }
        }
    };
    in_parallel(|| drawn.par_chunks_mut(length).zip(of).enumerate().for_each(one))?;
    Ok(Some(Tensor::f_from_slice(&drawn)?.f_reshape([of.len() as i64, channels, height, width])?))
}

/// The values of images `N x C x H x W` between pixels, at rows and columns `N x H x W` counted from the middle of the upper left
/// pixel: bilinear interpolation.
pub fn bilinear(images: &Tensor, rows: &Tensor, columns: &Tensor, fill: Fill) -> Result<Tensor> {
    if rows.device() == Device::Cpu && !rows.requires_grad() && !columns.requires_grad() {
        let [rows, columns] = [rows, columns].map(|at| at.f_to_kind(Kind::Double)?.f_contiguous()?.f_reshape([-1]));
        let [rows, columns] = [Vec::<f64>::try_from(&rows?)?, Vec::<f64>::try_from(&columns?)?];
        let (n, _, height, width) = images.size4()?;
        let all: Vec<i64> = (0..n).collect();
        let at = |image: usize, y: usize, x: usize| {
            let place = (image * height as usize + y) * width as usize + x;
            [rows[place], columns[place]]
        };
        if let Some(drawn) = by_pixel(images, &all, fill, at)? {
            return Ok(drawn);
        }
    }
    by_tensors(images, rows, columns, fill)
}

fn by_tensors(images: &Tensor, rows: &Tensor, columns: &Tensor, fill: Fill) -> Result<Tensor> {
    let (n, c, height, width) = images.size4()?;
    let flat = images.f_flatten(2, 3)?;
    let (top, left) = (rows.f_floor()?, columns.f_floor()?);
    let (down, right) = (rows.f_sub(&top)?.f_to_kind(images.kind())?, columns.f_sub(&left)?.f_to_kind(images.kind())?);
    let place = |at: &Tensor, side: i64| -> Result<Tensor> {
        let at = at.f_to_kind(Kind::Int64)?;
        Ok(match fill {
            Fill::Wrap => at.f_remainder(side)?,
            Fill::Reflect => {
                let period = Fill::period(side);
                let within = at.f_remainder(period)?;
                within.f_minimum(&within.f_rsub_scalar(period)?)?.f_clamp(0, side - 1)?
            }
            Fill::Value(_) | Fill::Edge => at.f_clamp(0, side - 1)?,
        })
    };
    let inside =
        |at: &Tensor, side: i64| -> Result<Tensor> { Ok(at.f_ge(0.0)?.f_logical_and(&at.f_le((side - 1) as f64)?)?) };
    let corner = |row: &Tensor, column: &Tensor| -> Result<Tensor> {
        let index = place(row, height)?.f_mul_scalar(width)?.f_add(&place(column, width)?)?;
        let index = index.f_reshape([n, 1, -1])?.f_expand([n, c, height * width], false)?;
        let pixels = flat.f_gather(2, &index, false)?.f_reshape([n, c, height, width])?;
        match fill {
            Fill::Value(value) => {
                let known = inside(row, height)?.f_logical_and(&inside(column, width)?)?.f_unsqueeze(1)?;
                Ok(pixels.f_where_scalarother(&known, value)?)
            }
            _ => Ok(pixels),
        }
    };
    let (bottom, beside) = (top.f_add_scalar(1.0)?, left.f_add_scalar(1.0)?);
    let between = |a: Tensor, b: Tensor, share: &Tensor| -> Result<Tensor> {
        Ok(a.f_add(&b.f_sub(&a)?.f_mul(&share.f_unsqueeze(1)?)?)?)
    };
    let upper = between(corner(&top, &left)?, corner(&top, &beside)?, &right)?;
    let lower = between(corner(&bottom, &left)?, corner(&bottom, &beside)?, &right)?;
    between(upper, lower, &down)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inside, on pixels, on the border and far beyond it, of images that lie apart in memory, some taken twice, and of a few among more.
    #[test]
    fn pixels_one_by_one_have_the_bits_of_tensors() -> Result<()> {
        let cpu = Device::Cpu;
        let bits = |images: &Tensor| images.f_contiguous()?.f_view_dtype(Kind::Int);
        for (height, width) in [(5, 7), (1, 4), (3, 1)] {
            let images =
                Tensor::f_rand([2, 3, height, width], (Kind::Float, cpu))?.f_sub_scalar(0.5)?.f_transpose(0, 1)?;
            for of in [vec![2i64, 0, 2, 1], vec![1, 1]] {
                let n = of.len() as i64;
                let chosen = images.f_index_select(0, &Tensor::f_from_slice(&of)?)?;
                let drawn = Tensor::f_rand([2, n, height, width], (Kind::Double, cpu))?;
                let drawn = drawn.f_mul_scalar(30.0)?.f_sub_scalar(12.0)?;
                let places =
                    Tensor::f_concat(&[drawn.f_narrow(1, 0, n - 1)?, drawn.f_narrow(1, n - 1, 1)?.f_round()?], 1)?;
                let (rows, columns) = (places.f_get(0)?.f_contiguous()?, places.f_get(1)?.f_contiguous()?);
                let [y_of, x_of] =
                    [&rows, &columns].map(|at| Vec::<f64>::try_from(&at.flatten(0, -1)).unwrap_or_default());
                for fill in [Fill::Value(0.3), Fill::Edge, Fill::Reflect, Fill::Wrap] {
                    let at = |image: usize, y: usize, x: usize| {
                        let place = (image * height as usize + y) * width as usize + x;
                        [y_of[place], x_of[place]]
                    };
                    let of_tensors = bits(&by_tensors(&chosen, &rows, &columns, fill)?)?;
                    for one_by_one in
                        [by_pixel(&images, &of, fill, at)?, Some(bilinear(&chosen, &rows, &columns, fill)?)]
                    {
                        let one_by_one = one_by_one.as_ref().map(bits).transpose()?;
                        assert!(one_by_one.is_some_and(|own| own.equal(&of_tensors)), "{fill:?} {height} x {width}");
                    }
                }
            }
        }
        Ok(())
    }
}
