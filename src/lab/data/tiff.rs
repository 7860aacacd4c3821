//! What a TIFF file says of its picture, of which those are read that Pillow's `convert("RGB")` gives the same bytes of: one page of
//! grey or RGB in 8 bits. Format: TIFF revision 6.0, sections 2, 3, 8, 14 and 15.

/// Pixels that a byte of LZW's codes can stand for.
pub(super) const MOST_PER_BYTE: u64 = 1 << 12;

/// Why a file is not read.
#[derive(Debug, PartialEq)]
pub(super) enum TiffUnfit {
    Damaged(&'static str),
    /// Whole, for all that is known, and of a sort that is not read.
    Other(String),
}

#[derive(Debug, PartialEq)]
pub(super) struct TiffPage {
    pub wide: u64,
    pub high: u64,
    pub samples: u64,
}

const CUT: TiffUnfit = TiffUnfit::Damaged("the file is cut short");

struct TiffBytes<'a> {
    bytes: &'a [u8],
    big: bool,
}

/// Numbers of an entry, of which a page has at most so many: strips or tiles.
const MOST_NUMBERS: usize = 1 << 24;

impl TiffBytes<'_> {
    fn short(&self, at: usize) -> Option<u64> {
        let two = [*self.bytes.get(at)?, *self.bytes.get(at.checked_add(1)?)?];
        Some(if self.big { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) }.into())
    }

    fn long(&self, at: usize) -> Option<u64> {
        let (first, second) = (self.short(at)?, self.short(at.checked_add(2)?)?);
        Some(if self.big { first << 16 | second } else { second << 16 | first })
    }

    /// The numbers of the entry at this byte, of bytes, shorts and longs.
    fn numbers(&self, entry: usize) -> Option<Vec<u64>> {
        let (kind, count) = (self.short(entry + 2)?, self.long(entry + 4)? as usize);
        let size = match kind {
            1 => 1,
            3 => 2,
            4 => 4,
            _ => return Some(vec![]),
        };
        let all = count.checked_mul(size).filter(|_| count <= MOST_NUMBERS)?;
        let begin = if all <= 4 { entry + 8 } else { self.long(entry + 8)? as usize };
        self.bytes.get(begin..begin.checked_add(all)?)?;
        let number = |i: usize| match size {
            1 => self.bytes.get(begin + i).map(|&byte| byte.into()),
            2 => self.short(begin + 2 * i),
            _ => self.long(begin + 4 * i),
        };
        (0..count).map(number).collect()
    }
}

/// Looks at the first page.
pub(super) fn look(bytes: &[u8]) -> Result<TiffPage, TiffUnfit> {
    let file = TiffBytes { bytes, big: bytes.starts_with(b"MM") };
    let directory = file.long(4).ok_or(CUT)? as usize;
    let count = file.short(directory).ok_or(CUT)? as usize;
    let entries: Vec<usize> = (0..count).map(|i| directory + 2 + 12 * i).collect();
    let next = file.long(directory + 2 + 12 * count).ok_or(CUT)?;
    let other = |what: &str| TiffUnfit::Other(format!("a TIFF {what}"));
    if next != 0 {
        return Err(other("of several pages"));
    }
    let numbers = |tag: u64| -> Result<Option<Vec<u64>>, TiffUnfit> {
        let mut found = entries.iter().filter(|&&entry| file.short(entry) == Some(tag));
        let first = found.next();
        if found.next().is_some() {
            return Err(TiffUnfit::Damaged("an entry stands there twice"));
        }
        first.map(|&entry| file.numbers(entry).ok_or(CUT)).transpose()
    };
    let one = |tag: u64, without: u64| Ok(numbers(tag)?.and_then(|all| all.first().copied()).unwrap_or(without));
    let (wide, high) = (one(256, 0)?, one(257, 0)?);
    if wide == 0 || high == 0 {
        return Err(TiffUnfit::Damaged("it has no size"));
    }
    let samples = one(277, 1)?;
    let bits = numbers(258)?.unwrap_or_else(|| vec![1]);
    if bits.iter().any(|&bits| bits != 8) || (bits.len() as u64 != samples && bits.len() != 1) {
        let said: Vec<String> = bits.iter().take(8).map(u64::to_string).collect();
        return Err(other(&format!("with {} bits", said.join(", "))));
    }
    if numbers(339)?.is_some_and(|formats| formats.iter().any(|&format| format != 1)) {
        return Err(other("of signed numbers or floats"));
    }
    let extra = numbers(338)?.unwrap_or_default();
    match (one(262, u64::MAX)?, samples, &extra[..]) {
        (0 | 1, 1, []) | (2, 3, []) | (2, 4, [2]) => {}
        (3, ..) => return Err(other("with a palette")),
        (5, ..) => return Err(other("in CMYK")),
        (6, ..) => return Err(other("in YCbCr")),
        (8..=10, ..) => return Err(other("in Lab")),
        (0..=2, _, extra) if extra != [2] && !extra.is_empty() => {
            return Err(other("whose colours are multiplied by its alpha, or with samples of an unknown kind"));
        }
        (meaning, samples, _) => return Err(other(&format!("of {samples} samples of kind {meaning}"))),
    }
    let packing = one(259, 1)?;
    if ![1, 5, 8, 32_773, 32_946].contains(&packing) {
        return Err(other(&format!("packed by method {packing}; read are none, LZW, deflate and PackBits")));
    }
    if ![1, 2].contains(&one(317, 1)?) {
        return Err(other("with a predictor for floats"));
    }
    if one(274, 1)? != 1 {
        return Err(other("that is to be turned before it is shown"));
    }
    if one(266, 1)? != 1 {
        return Err(other("whose bits are in the order of a fax"));
    }
    if samples > 1 && one(284, 1)? != 1 {
        return Err(other("with a plane for each colour"));
    }
    let (at, sizes) = match (numbers(273)?, numbers(279)?, numbers(324)?, numbers(325)?) {
        (Some(at), Some(sizes), None, None) | (None, None, Some(at), Some(sizes)) => (at, sizes),
        _ => return Err(TiffUnfit::Damaged("it does not say where its strips or tiles lie")),
    };
    if at.is_empty() || at.len() != sizes.len() {
        return Err(TiffUnfit::Damaged("its strips or tiles have no size"));
    }
    let inside = |(at, size): (&u64, &u64)| at.checked_add(*size).is_some_and(|end| end <= bytes.len() as u64);
    if !at.iter().zip(&sizes).all(inside) {
        return Err(CUT);
    }
    let stored = sizes.iter().fold(0u64, |all, size| all.saturating_add(*size));
    if packing == 1 && stored < wide.saturating_mul(high).saturating_mul(samples) {
        return Err(CUT);
    }
    Ok(TiffPage { wide, high, samples })
}
