//! Baseline and progressive JPEG, decoded to the bytes that libjpeg-turbo gives, and with it Pillow and torchvision: its accurate integer
//! transform (`jidctint.c`), its smooth enlargement of halved colours (`jdsample.c`) and its table of colours (`jdcolor.c`). Damaged data
//! is an error, where libjpeg goes on with grey. Format: ITU-T T.81.

mod lossy;
mod pixels;
mod scan;

pub(crate) use lossy::compressed;

use pixels::{Plane, inverse, to_rgb};
use scan::{Bits, HuffmanCode, Scan};

pub(super) struct DecodedJpeg {
    pub width: usize,
    pub height: usize,
    /// 1 or 3 values per pixel.
    pub channels: usize,
    pub bytes: Vec<u8>,
}

/// Why there is no picture.
#[derive(Debug)]
pub(super) enum Unread {
    Damaged(String),
    /// Of a kind that is left to others: CMYK, lossless, arithmetic codes, twelve bits.
    Foreign,
}

type JpegResult<T> = std::result::Result<T, Unread>;

fn damaged<T>(what: impl Into<String>) -> JpegResult<T> {
    Err(Unread::Damaged(what.into()))
}

/// More pixels than a picture of a data set has.
const MOST_PIXELS: usize = 1 << 28;

/// More than a byte of a file can hold, by far: what a header promises beyond gets no memory.
pub(super) const MOST_PER_BYTE: usize = 1 << 14;

/// Where the coefficients of a block, in the order in which they are stored, lie in it.
const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

type Block = [i16; 64];

struct Component {
    id: u8,
    /// Samples per group of pixels, across and down.
    h: usize,
    v: usize,
    table: usize,
    /// Latched when its first scan begins.
    quantum: Option<[u16; 64]>,
    /// Blocks that hold pixels, and those of whole groups.
    blocks: [usize; 2],
    padded: [usize; 2],
    plane: Plane,
    /// All coefficients, where several scans make them.
    kept: Vec<Block>,
    /// Binary places of each coefficient that are still missing; 255 before its first scan.
    missing: [u8; 64],
}

#[derive(Default)]
struct Tables {
    quanta: [Option<[u16; 64]>; 4],
    dc: [Option<HuffmanCode>; 4],
    ac: [Option<HuffmanCode>; 4],
    restart: usize,
    jfif: bool,
    /// The transform that Adobe's segment names.
    adobe: Option<u8>,
}

struct JpegFrame {
    width: usize,
    height: usize,
    progressive: bool,
    components: Vec<Component>,
    /// The largest samples per group.
    h: usize,
    v: usize,
    /// Groups across and down.
    groups: [usize; 2],
}

/// The picture of a file whose segments are whole: all lengths have been checked.
pub(super) fn decode(bytes: &[u8]) -> JpegResult<DecodedJpeg> {
    let mut tables = Tables::default();
    let mut frame: Option<JpegFrame> = None;
    let mut at = 2;
    loop {
        let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == 0xff)) else {
            return damaged("the file is cut short");
        };
        at += found + 1;
        let marker = match bytes.get(at) {
            None => return damaged("the file is cut short"),
            Some(0xff) => continue,
            Some(&marker) => marker,
        };
        if marker <= 1 || (0xd0..=0xd8).contains(&marker) {
            at += 1;
            continue;
        }
        if marker == 0xd9 {
            break;
        }
        let length = bytes.get(at + 1..at + 3).map_or(0, |word| usize::from(word[0]) << 8 | usize::from(word[1]));
        let Some(segment) = bytes.get(at + 3..at + 1 + length) else { return damaged("the file is cut short") };
        at += 1 + length;
        match marker {
            0xdb => tables.read_quanta(segment)?,
            0xc4 => tables.read_codes(segment)?,
            0xdd => tables.restart = word(segment, 0)?,
            0xe0 if segment.starts_with(b"JFIF\0") => tables.jfif = true,
            0xee if segment.starts_with(b"Adobe") && segment.len() >= 12 => tables.adobe = Some(segment[11]),
            0xc0..=0xc2 if frame.is_some() => return damaged("it has two frames"),
            0xc0..=0xc2 => frame = Some(JpegFrame::read(segment, marker == 0xc2, bytes.len())?),
            0xc3 | 0xc5..=0xcf => return Err(Unread::Foreign),
            0xda => {
                let Some(frame) = &mut frame else { return damaged("a scan before its frame") };
                let scan = Scan::read(segment, frame)?;
                let mut bits = Bits::new(bytes, at);
                scan.decode(frame, &tables, &mut bits)?;
                at = bits.end()?;
            }
            // Lines that are counted only after their scan.
            0xdc => return Err(Unread::Foreign),
            _ => {}
        }
    }
    match frame {
        Some(frame) => frame.finish(&tables),
        None => damaged("it holds no picture"),
    }
}

fn byte(segment: &[u8], at: usize) -> JpegResult<u8> {
    segment.get(at).copied().ok_or_else(|| Unread::Damaged("a segment is too short".into()))
}

fn word(segment: &[u8], at: usize) -> JpegResult<usize> {
    Ok(usize::from(byte(segment, at)?) << 8 | usize::from(byte(segment, at + 1)?))
}

impl Tables {
    fn read_quanta(&mut self, mut segment: &[u8]) -> JpegResult<()> {
        while let Some((&head, rest)) = segment.split_first() {
            let (wide, place) = (usize::from(head >> 4) + 1, usize::from(head & 15));
            if wide > 2 || place > 3 || rest.len() < 64 * wide {
                return damaged("a table of quanta");
            }
            let mut quanta = [0; 64];
            for (item, &to) in rest.chunks(wide).zip(&ZIGZAG) {
                quanta[usize::from(to)] = item.iter().fold(0, |all, &byte| all << 8 | u16::from(byte));
            }
            self.quanta[place] = Some(quanta);
            segment = &rest[64 * wide..];
        }
        Ok(())
    }

    fn read_codes(&mut self, mut segment: &[u8]) -> JpegResult<()> {
        while !segment.is_empty() {
            let head = segment[0];
            let counts = segment.get(1..17).ok_or_else(|| Unread::Damaged("a table of codes".into()))?;
            let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
            let (Some(values), true, place) = (segment.get(17..17 + total), head < 0x20, usize::from(head & 15)) else {
                return damaged("a table of codes");
            };
            if place > 3 {
                return damaged("a table of codes");
            }
            let code = HuffmanCode::new(counts, values)?;
            let of_kind = if head < 0x10 { &mut self.dc } else { &mut self.ac };
            of_kind[place] = Some(code);
            segment = &segment[17 + total..];
        }
        Ok(())
    }
}

impl JpegFrame {
    fn read(segment: &[u8], progressive: bool, bytes: usize) -> JpegResult<Self> {
        let (height, width, count) = (word(segment, 1)?, word(segment, 3)?, usize::from(byte(segment, 5)?));
        if byte(segment, 0)? != 8 || height == 0 || !matches!(count, 1 | 3) {
            return Err(Unread::Foreign);
        }
        if width == 0 || width * height > MOST_PIXELS.min(bytes.saturating_mul(MOST_PER_BYTE)) {
            return damaged(format!("{width} x {height} pixels"));
        }
        let mut samples = Vec::new();
        for place in 0..count {
            let (id, sides, table) =
                (byte(segment, 6 + 3 * place)?, byte(segment, 7 + 3 * place)?, byte(segment, 8 + 3 * place)?);
            let (h, v) = (usize::from(sides >> 4), usize::from(sides & 15));
            if !(1..=4).contains(&h) || !(1..=4).contains(&v) || table > 3 {
                return damaged("samples that can't be");
            }
            samples.push((id, h, v, usize::from(table)));
        }
        let most = |side: fn(&(u8, usize, usize, usize)) -> usize| samples.iter().map(side).max().unwrap_or(1);
        let (h, v) = (most(|sample| sample.1), most(|sample| sample.2));
        let groups = [width.div_ceil(8 * h), height.div_ceil(8 * v)];
        let component = |&(id, own_h, own_v, table): &(u8, usize, usize, usize)| {
            let (w, rows) = ((width * own_h).div_ceil(h), (height * own_v).div_ceil(v));
            let padded = [groups[0] * own_h, groups[1] * own_v];
            Component {
                id,
                h: own_h,
                v: own_v,
                table,
                quantum: None,
                blocks: [w.div_ceil(8), rows.div_ceil(8)],
                padded,
                plane: Plane::new(w, rows, 8 * padded[0], 8 * padded[1]),
                kept: if progressive { vec![[0; 64]; padded[0] * padded[1]] } else { vec![] },
                missing: [255; 64],
            }
        };
        let components = samples.iter().map(component).collect();
        Ok(Self { width, height, progressive, components, h, v, groups })
    }

    fn finish(mut self, tables: &Tables) -> JpegResult<DecodedJpeg> {
        if self.components.iter().any(|component| component.missing.iter().any(|&places| places > 0)) {
            return damaged("scans are missing");
        }
        for component in &mut self.components {
            let Some(quantum) = component.quantum else { return damaged("scans are missing") };
            let across = component.padded[0];
            for (place, block) in component.kept.iter().enumerate() {
                component.plane.put(place % across, place / across, &inverse(block, &quantum));
            }
            component.kept = vec![];
        }
        let (width, height) = (self.width, self.height);
        let samples = |component: &Component| [self.h, self.v, component.h, component.v];
        let ids: Vec<u8> = self.components.iter().map(|component| component.id).collect();
        let mut whole = Vec::new();
        for component in &self.components {
            let [h, v, own_h, own_v] = samples(component);
            if h % own_h != 0 || v % own_v != 0 {
                return Err(Unread::Foreign);
            }
            whole.push(component.plane.enlarged(h / own_h, v / own_v, width, height));
        }
        let [y, cb, cr] = &whole[..] else {
            return Ok(DecodedJpeg { width, height, channels: 1, bytes: whole.swap_remove(0) });
        };
        let plain = match (tables.jfif, tables.adobe) {
            (true, _) => false,
            (false, Some(transform)) => transform == 0,
            (false, None) => ids == *b"RGB",
        };
        Ok(DecodedJpeg { width, height, channels: 3, bytes: to_rgb(y, cb, cr, plain) })
    }
}
