//! The part of an image that is read: a crop that models see and the margin around it.

use super::Edge;
use super::resample::Filter;
use crate::core::{Error, Result};

/// A window in images, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PixelWindow {
    pub top: usize,
    pub left: usize,
    pub height: usize,
    pub width: usize,
}

/// What models see in the middle of images, `[height, width]`, and the pixels around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CropAndMargin {
    pub crop: [usize; 2],
    pub margin: usize,
}

/// What the caller asked to see.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    /// The short side after resizing, in pixels.
    pub resize: Option<usize>,
    /// How pixels are weighed in resizing.
    pub filter: Filter,
    /// The side of the square that models see; all of the image without it.
    pub crop: Option<usize>,
    /// Pixels that translations may bring in; by default all the image has beyond the crop.
    pub margin: Option<usize>,
}

impl View {
    /// What is seen of images of this size, or, where there is a crop, of no smaller ones; `None` if all is.
    pub(super) fn canvas(&self, height: usize, width: usize) -> Result<Option<CropAndMargin>> {
        let short = height.min(width);
        let crop = match (self.crop, self.margin) {
            (None, None | Some(0)) => return Ok(None),
            (Some(crop), _) => [crop; 2],
            (None, Some(margin)) if 2 * margin < short => [height, width].map(|side| side - 2 * margin),
            (None, Some(margin)) => {
                return Err(Error::argument(format!("a margin of {margin} leaves nothing of {short} pixels")));
            }
        };
        let side = crop[0].min(crop[1]);
        if side > short {
            return Err(Error::argument(format!("a crop of {side} does not fit images whose short side is {short}"))
                .hint("give a smaller `crop` or a larger `resize`"));
        }
        let room = (short - side) / 2;
        match self.margin {
            Some(margin) if margin > room => Err(Error::argument(format!(
                "a margin of {margin} needs images of {} pixels, the short side is {short}",
                side + 2 * margin
            ))
            .hint(format!("around a crop of {side} there are {room}"))),
            margin => Ok(Some(CropAndMargin { crop, margin: margin.unwrap_or(room) })),
        }
    }

    /// What of the view counts for a data set's identity.
    pub(super) fn seen(&self, canvas: Option<CropAndMargin>) -> String {
        let canvas = match canvas {
            None => "None".into(),
            Some(CropAndMargin { crop: [height, width], margin }) if height == width => {
                format!("Some(({height}, {margin}))")
            }
            Some(CropAndMargin { crop, margin }) => format!("Some(({crop:?}, {margin}))"),
        };
        match self.resize {
            None => format!("None {canvas}"),
            side => format!("{side:?} {} {canvas}", self.filter.name()),
        }
    }

    /// The edge of a data set that is seen so.
    pub(super) fn edge(canvas: Option<CropAndMargin>) -> Edge {
        match canvas {
            Some(CropAndMargin { margin, .. }) if margin > 0 => Edge::Margin(margin),
            _ => Edge::None,
        }
    }
}

impl PixelWindow {
    pub(super) fn whole(height: usize, width: usize) -> Self {
        Self { top: 0, left: 0, height, width }
    }

    /// A crop and its margin in the middle of an image that is large enough: the crop lies where torchvision's `CenterCrop`
    /// puts it.
    pub(super) fn centred(height: usize, width: usize, canvas: Option<CropAndMargin>) -> Self {
        let Some(CropAndMargin { crop, margin }) = canvas else { return Self::whole(height, width) };
        // Python's round: halves go to the even side.
        let start = |side: usize, crop: usize| ((side - crop) as f64 / 2.0).round_ties_even() as usize - margin;
        let [height_seen, width_seen] = crop.map(|side| side + 2 * margin);
        Self { top: start(height, crop[0]), left: start(width, crop[1]), height: height_seen, width: width_seen }
    }

    /// Copies the window out of planes `C x H x W`.
    pub(super) fn copy<T: Copy>(&self, image: &[T], [_, h, w]: [usize; 3], out: &mut [f32], value: impl Fn(T) -> f32) {
        let planes = image.chunks(h * w).zip(out.chunks_mut(self.height * self.width));
        for (from, to) in planes {
            if self.width == w {
                let whole_rows = &from[self.top * w..(self.top + self.height) * w];
                to.iter_mut().zip(whole_rows).for_each(|(x, &pixel)| *x = value(pixel));
                continue;
            }
            let rows = from.chunks(w).skip(self.top).zip(to.chunks_mut(self.width));
            for (from, to) in rows {
                for (x, &pixel) in to.iter_mut().zip(&from[self.left..self.left + self.width]) {
                    *x = value(pixel);
                }
            }
        }
    }
}

/// Height and width after the short side was resized to `side`, the long side rounded down as torchvision's `Resize`
/// does.
pub(super) fn resized_side(height: usize, width: usize, side: usize) -> (usize, usize) {
    let (short, long) = (height.min(width), height.max(width));
    let new_long = (side * long / short.max(1)).max(1);
    if height <= width { (side, new_long) } else { (new_long, side) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crop_lies_where_torchvision_puts_it() {
        // torchvision.transforms.functional.center_crop: int(round((side - crop) / 2.0)) -> 58, 2, 2, 0
        for (side, crop, top) in [(341, 224, 58), (27, 24, 2), (29, 24, 2), (25, 24, 0)] {
            let square = |margin| Some(CropAndMargin { crop: [crop; 2], margin });
            let window = PixelWindow::centred(side, side, square(0));
            assert_eq!((window.top, window.height), (top, crop));
            let room = (side - crop) / 2;
            let canvas = PixelWindow::centred(side, side, square(room));
            assert!(canvas.top + canvas.height <= side);
            assert_eq!(canvas.top + room, top);
        }
        assert_eq!(resized_side(375, 500, 256), (256, 341));
        assert_eq!(resized_side(500, 375, 256), (341, 256));
    }
}
