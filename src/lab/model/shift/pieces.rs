//! A feature map of many crops of one canvas, every value of it once.

use super::axis::{AxisPart, CropAxis, Move, Reads, Window};
use crate::core::{Error, Result, Tensor};

/// The parts along both axes: up to nine tensors of pieces, each `pieces along y x pieces along x x H x W x C`.
pub(super) struct Pieces {
    pub y: CropAxis,
    pub x: CropAxis,
    /// By the parts along y and x; `None` where a part is empty.
    parts: [[Option<Tensor>; 3]; 3],
}

/// What an operation needs to know of the borders of its input: the values beyond them.
#[derive(Clone, Copy)]
pub struct Sliding {
    pub window: Window,
    pub beyond: f64,
}

impl Clone for Pieces {
    fn clone(&self) -> Self {
        let parts =
            self.parts.each_ref().map(|row| row.each_ref().map(|part| part.as_ref().map(Tensor::shallow_clone)));
        Self { parts, ..*self }
    }
}

impl Pieces {
    /// The pixels of crops of `canvas` (`1 x C x H x W`) that begin at `first`.
    pub fn of_canvas(canvas: &Tensor, first: [i64; 2], y: CropAxis, x: CropAxis) -> Result<Self> {
        let mut seen = canvas.f_permute([0, 2, 3, 1])?;
        for (dim, axis, first) in [(1, y, first[0]), (2, x, first[1])] {
            let (wanted, there) = (axis.part_len(AxisPart::Mid), seen.size()[dim as usize] - first);
            seen = seen.f_narrow(dim, first, wanted.min(there))?;
            if there < wanted {
                // No crop reaches these pixels, only the span that is rounded up.
                let more = wanted - there;
                let sides = if dim == 1 { [0, 0, 0, 0, 0, more] } else { [0, 0, 0, more, 0, 0] };
                seen = seen.f_pad(sides, "constant", 0.0)?;
            }
        }
        let mut parts: [[Option<Tensor>; 3]; 3] = Default::default();
        parts[AxisPart::Mid as usize][AxisPart::Mid as usize] = Some(seen.f_unsqueeze(0)?.f_contiguous()?);
        Ok(Self { y, x, parts })
    }

    fn part(&self, y: AxisPart, x: AxisPart) -> Result<&Tensor> {
        self.parts[y as usize][x as usize].as_ref().ok_or_else(|| Error::internal("a part of a shared map is missing"))
    }

    /// What a pointwise operation on `N x C x H x W` makes of it.
    pub fn map(&self, apply: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        self.each(self.y, self.x, |y, x| on_images(self.part(y, x)?, apply))
    }

    /// What an operation of two pointwise operands makes of this map and another one with the same parts.
    pub fn zip(&self, other: &Self, apply: &dyn Fn(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Self> {
        if (self.y, self.x) != (other.y, other.x) {
            return Err(Error::internal("shared maps of different parts"));
        }
        self.each(self.y, self.x, |y, x| apply(self.part(y, x)?, other.part(y, x)?))
    }

    /// The channels of several maps with the same parts, side by side.
    pub fn concat(maps: &[Self]) -> Result<Self> {
        let first = maps.first().ok_or_else(|| Error::internal("no branches"))?;
        first.each(first.y, first.x, |y, x| {
            let parts: Vec<&Tensor> = maps.iter().map(|map| map.part(y, x)).collect::<Result<_>>()?;
            Ok(Tensor::f_cat(&parts, 4)?)
        })
    }

    /// Maps of the same crops, cut into the same parts.
    pub fn level(maps: &[Self]) -> Result<Vec<Self>> {
        let different = || Error::internal("shared maps of different sizes");
        let y = CropAxis::widest(maps.iter().map(|map| map.y)).ok_or_else(different)?;
        let x = CropAxis::widest(maps.iter().map(|map| map.x)).ok_or_else(different)?;
        let point = Sliding { window: Window::POINT, beyond: 0.0 };
        let recut = |map: &Self| match (map.y, map.x) == (y, x) {
            true => Ok(map.clone()),
            false => map.slide_to(y, x, point, &|part| Ok(part.shallow_clone())),
        };
        maps.iter().map(recut).collect()
    }

    /// What an operation with a sliding window makes of it. `apply` is handed images that are padded already, and must not pad.
    pub fn slide(&self, sliding: Sliding, apply: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Self> {
        let after =
            |axis: CropAxis| axis.after(&sliding.window).ok_or_else(|| Error::internal("crops with nothing in common"));
        self.slide_to(after(self.y)?, after(self.x)?, sliding, apply)
    }

    fn slide_to(
        &self,
        y: CropAxis,
        x: CropAxis,
        sliding: Sliding,
        apply: &dyn Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Self> {
        let along_y = AxisPart::ALL.map(|part| self.y.reads(&y, &sliding.window, part));
        let along_x = AxisPart::ALL.map(|part| self.x.reads(&x, &sliding.window, part));
        self.each(y, x, |py, px| {
            on_images(&self.block(&along_y[py as usize], &along_x[px as usize], sliding.beyond)?, apply)
        })
    }

    /// The input of one part of a result.
    fn block(&self, y: &Reads, x: &Reads, beyond: f64) -> Result<Tensor> {
        let narrow = |part: &Tensor, y: &Move, x: &Move| -> Result<Tensor> {
            let seen = part.f_narrow(0, 0, y.pieces)?.f_narrow(1, 0, x.pieces)?;
            Ok(seen.f_narrow(2, y.from, y.len)?.f_narrow(3, x.from, x.len)?)
        };
        let whole = |reads: &Reads| match reads.moves[..] {
            [only] => (only.pieces == reads.pieces && only.len == reads.len).then_some(only),
            _ => None,
        };
        if let (Some(y), Some(x)) = (whole(y), whole(x)) {
            return narrow(self.part(y.part, x.part)?, &y, &x);
        }
        let any = self.part(AxisPart::Mid, AxisPart::Mid)?;
        let size = [y.pieces, x.pieces, y.len, x.len, any.size()[4]];
        let covered = |reads: &Reads| {
            reads.moves.iter().map(|step| step.pieces * step.len).sum::<i64>() == reads.pieces * reads.len
        };
        let kind = (any.kind(), any.device());
        let block = match covered(y) && covered(x) {
            true => Tensor::f_empty(size, kind)?,
            false => Tensor::f_full(size, beyond, kind)?,
        };
        for y in &y.moves {
            for x in &x.moves {
                let place = block.f_narrow(0, y.piece, y.pieces)?.f_narrow(1, x.piece, x.pieces)?;
                place.f_narrow(2, y.at, y.len)?.f_narrow(3, x.at, x.len)?.f_copy_(&narrow(
                    self.part(y.part, x.part)?,
                    y,
                    x,
                )?)?;
            }
        }
        Ok(block)
    }

    fn each(
        &self,
        y: CropAxis,
        x: CropAxis,
        mut make: impl FnMut(AxisPart, AxisPart) -> Result<Tensor>,
    ) -> Result<Self> {
        let mut parts: [[Option<Tensor>; 3]; 3] = Default::default();
        for py in AxisPart::ALL.into_iter().filter(|&part| y.part_len(part) > 0) {
            for px in AxisPart::ALL.into_iter().filter(|&part| x.part_len(part) > 0) {
                parts[py as usize][px as usize] = Some(make(py, px)?);
            }
        }
        Ok(Self { y, x, parts })
    }

    /// The maps of single crops, by their numbers along y and x: `N x C x H x W`, channels last in memory.
    pub fn crops(&self, crops: &[[i64; 2]]) -> Result<Tensor> {
        let any = self.part(AxisPart::Mid, AxisPart::Mid)?;
        let size = [crops.len() as i64, self.y.len, self.x.len, any.size()[4]];
        let maps = Tensor::f_empty(size, (any.kind(), any.device()))?;
        for (i, &[row, column]) in crops.iter().enumerate() {
            let map = maps.f_get(i as i64)?;
            for (py, piece_y, from_y, at_y, height) in self.y.of_crop(row) {
                for (px, piece_x, from_x, at_x, width) in self.x.of_crop(column) {
                    if height > 0 && width > 0 {
                        let piece = self.part(py, px)?.f_get(piece_y)?.f_get(piece_x)?;
                        map.f_narrow(0, at_y, height)?
                            .f_narrow(1, at_x, width)?
                            .f_copy_(&piece.f_narrow(0, from_y, height)?.f_narrow(1, from_x, width)?)?;
                    }
                }
            }
        }
        Ok(maps.f_permute([0, 3, 1, 2])?)
    }
}

/// Applies what works on `N x C x H x W` to a part.
fn on_images(part: &Tensor, apply: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let [rows, columns, height, width, channels] = part.size()[..] else {
        return Err(Error::internal("a part of a shared map has five dimensions"));
    };
    let images = part.f_contiguous()?.f_reshape([rows * columns, height, width, channels])?;
    let after = apply(&images.f_permute([0, 3, 1, 2])?)?.f_permute([0, 2, 3, 1])?.f_contiguous()?;
    let [_, height, width, channels] = after.size()[..] else {
        return Err(Error::internal("a shared map must stay a map"));
    };
    Ok(after.f_reshape([rows, columns, height, width, channels])?)
}
