//! Along one axis: what the feature maps of neighbouring crops of one canvas have in common.
//!
//! In the middle of its map, a crop that starts `stride` pixels after another one sees what the other sees one position
//! further on: crops whose starts agree modulo the stride form a class that has one map in common. At either end a
//! crop sees the padding beyond its own border, and these positions are its own.

/// A window that slides over a map: a convolution's or a pooling's.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub size: i64,
    pub stride: i64,
    pub pad: i64,
    pub dilation: i64,
    /// Whether a last window that only partly fits counts too.
    pub ceil: bool,
}

impl Window {
    /// Looks at one position.
    pub const POINT: Self = Self { size: 1, stride: 1, pad: 0, dilation: 1, ceil: false };

    /// From a window's first position to its last.
    pub fn reach(&self) -> i64 {
        self.dilation * (self.size - 1) + 1
    }

    /// How many windows fit `n` positions, by PyTorch's rules; the last window of `ceil` must begin inside the input or its left
    /// padding.
    pub fn count(&self, n: i64) -> Option<i64> {
        let Self { stride, pad, ceil, .. } = *self;
        let room = n + 2 * pad - self.reach();
        if room < 0 {
            return None;
        }
        let count = if ceil { up(room, stride) + 1 } else { room / stride + 1 };
        Some(if ceil && (count - 1) * stride >= n + pad { count - 1 } else { count })
    }
}

/// A feature map of crops along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CropAxis {
    /// How many crops there are, one pixel apart.
    pub crops: i64,
    /// As `crops`, rounded up to a multiple of every stride to come.
    pub span: i64,
    /// Pixels from one position to the next.
    pub stride: i64,
    /// Positions in the map of one crop.
    pub len: i64,
    /// How many of them see beyond the crop's start.
    pub lo: i64,
    /// How many see beyond its end.
    pub hi: i64,
}

/// Where along an axis: a crop's own first or last positions, or the middle that a class has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisPart {
    Lo,
    Mid,
    Hi,
}

impl AxisPart {
    pub const ALL: [Self; 3] = [Self::Lo, Self::Mid, Self::Hi];
}

/// A copy along one axis, of the positions `from .. from + len` of some pieces to `at` on in others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Move {
    pub part: AxisPart,
    /// The first piece that is written; those read begin with the first.
    pub piece: i64,
    pub pieces: i64,
    pub from: i64,
    pub at: i64,
    pub len: i64,
}

/// What a window reads in order to write one part: positions per piece, and where they come from. What no move writes lies
/// beyond the crop.
pub(super) struct Reads {
    pub pieces: i64,
    pub len: i64,
    pub moves: Vec<Move>,
}

impl CropAxis {
    /// The pixels of `crops` crops of `len` pixels. `stride`: the largest that comes.
    pub fn of_pixels(len: i64, crops: i64, stride: i64) -> Self {
        Self { crops, span: up(crops, stride) * stride, stride: 1, len, lo: 0, hi: 0 }
    }

    /// Crops of one class.
    fn starts(&self) -> i64 {
        self.span / self.stride
    }

    /// How many pieces a part has: one per crop, or one per class.
    pub fn pieces(&self, part: AxisPart) -> i64 {
        match part {
            AxisPart::Mid => self.stride,
            _ => self.crops,
        }
    }

    /// Positions in a piece.
    pub fn part_len(&self, part: AxisPart) -> i64 {
        match part {
            AxisPart::Lo => self.lo,
            AxisPart::Mid => self.len - self.lo - self.hi + self.starts() - 1,
            AxisPart::Hi => self.hi,
        }
    }

    /// Positions in all pieces.
    pub fn positions(&self) -> i64 {
        AxisPart::ALL.iter().map(|&part| self.pieces(part) * self.part_len(part)).sum()
    }

    /// The map that a window makes of this one; `None` where the crops have nothing left in common.
    pub fn after(&self, window: &Window) -> Option<Self> {
        let Window { stride, pad, .. } = *window;
        let len = window.count(self.len)?;
        if self.span % (self.stride * stride) != 0 {
            return None;
        }
        let lo = up(self.lo + pad, stride);
        let last = (self.len - self.hi + pad - window.reach()).div_euclid(stride);
        (last >= lo).then_some(Self { stride: self.stride * stride, len, lo, hi: len - 1 - last, ..*self })
    }

    /// One map cut into parts that suit all of several, with the widest ends among them; `None` where the maps differ.
    pub fn widest(axes: impl Iterator<Item = Self>) -> Option<Self> {
        let widest = axes.map(Some).reduce(|a, b| {
            let (a, b) = (a?, b?);
            let wide = Self { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi), ..a };
            (wide == Self { lo: wide.lo, hi: wide.hi, ..b } && wide.lo + wide.hi < wide.len).then_some(wide)
        });
        widest.flatten()
    }

    /// What `window` reads of this map in order to write a part of `out`.
    pub fn reads(&self, out: &Self, window: &Window, part: AxisPart) -> Reads {
        let Window { stride, pad, .. } = *window;
        let over = |first: i64, count: i64| (first * stride - pad, (first + count - 1) * stride - pad + window.reach());
        let (from, to) = match part {
            AxisPart::Lo => over(0, out.lo),
            AxisPart::Hi => over(out.len - out.hi, out.hi),
            AxisPart::Mid => {
                let len = (out.part_len(AxisPart::Mid) - 1) * stride + window.reach();
                let begin = out.lo * stride - pad - self.lo;
                let class = |j: i64| Move {
                    part: AxisPart::Mid,
                    piece: j * self.stride,
                    pieces: self.stride,
                    from: begin + j,
                    at: 0,
                    len,
                };
                return Reads { pieces: out.stride, len, moves: (0..stride).map(class).collect() };
            }
        };
        Reads { pieces: self.crops, len: to - from, moves: self.moves(from, to) }
    }

    /// The positions `from .. to` of every crop's map, some of which may lie beyond it.
    fn moves(&self, from: i64, to: i64) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut take = |part: AxisPart, begin: i64, end: i64| {
            let (first, last) = (from.max(begin), to.min(end));
            let (at, len) = (first - from, last - first);
            if len <= 0 {
                return;
            }
            match part {
                AxisPart::Mid => moves.extend((0..self.starts()).filter_map(|start| {
                    let piece = start * self.stride;
                    let pieces = self.stride.min(self.crops - piece);
                    (pieces > 0).then_some(Move { part, piece, pieces, from: start + first - begin, at, len })
                })),
                _ => moves.push(Move { part, piece: 0, pieces: self.crops, from: first - begin, at, len }),
            }
        };
        take(AxisPart::Lo, 0, self.lo);
        take(AxisPart::Mid, self.lo, self.len - self.hi);
        take(AxisPart::Hi, self.len - self.hi, self.len);
        moves
    }

    /// Where the map of one crop lies: the part, the piece in it, the first position there, where it goes, how many.
    pub fn of_crop(&self, crop: i64) -> [(AxisPart, i64, i64, i64, i64); 3] {
        let mid = self.len - self.lo - self.hi;
        [
            (AxisPart::Lo, crop, 0, 0, self.lo),
            (AxisPart::Mid, crop % self.stride, crop / self.stride, self.lo, mid),
            (AxisPart::Hi, crop, 0, self.lo + mid, self.hi),
        ]
    }
}

/// `a / b` rounded up, of numbers that are not negative.
fn up(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_as_pytorch_does() {
        // torch.nn.functional.max_pool2d(torch.zeros(1, 1, n, n), size, stride, pad, ceil_mode=ceil).shape[-1], torch 2.11
        let count = |n, size, stride, pad, ceil| Window { size, stride, pad, dilation: 1, ceil }.count(n);
        assert_eq!(count(28, 2, 2, 0, false), Some(14));
        assert_eq!(count(111, 3, 2, 0, false), Some(55));
        assert_eq!(count(112, 3, 2, 0, true), Some(56));
        assert_eq!(count(5, 2, 2, 1, true), Some(3));
        assert_eq!(count(7, 1, 3, 0, true), Some(3));
        assert_eq!(count(2, 3, 1, 0, false), None);
    }
}
