//! The entropy-coded data of a scan (T.81, annexes F and G).

use super::{Block, Component, JpegFrame, JpegResult, Tables, Unread, ZIGZAG, byte, damaged, inverse};

/// Codes of up to so many bits are looked up.
const QUICK: u32 = 9;

/// A Huffman code.
pub(super) struct HuffmanCode {
    /// Length and value by the next bits; length 0 where the code is longer.
    quick: Vec<(u8, u8)>,
    /// By length: one more than the last code, in 16 bits, and what to add to a code for its place among the values.
    ends: [u32; 17],
    offsets: [i32; 17],
    values: Vec<u8>,
}

impl HuffmanCode {
    pub fn new(counts: &[u8], values: &[u8]) -> JpegResult<Self> {
        let mut code =
            Self { quick: vec![(0, 0); 1 << QUICK], ends: [0; 17], offsets: [0; 17], values: values.to_vec() };
        let (mut next, mut place) = (0u32, 0usize);
        for length in 1..=16u32 {
            let count = u32::from(counts[length as usize - 1]);
            code.offsets[length as usize] = place as i32 - next as i32;
            for _ in 0..count {
                if next >= 1 << length {
                    return damaged("a table of codes");
                }
                if length <= QUICK {
                    let first = (next << (QUICK - length)) as usize;
                    code.quick[first..first + (1 << (QUICK - length))].fill((length as u8, values[place]));
                }
                (next, place) = (next + 1, place + 1);
            }
            code.ends[length as usize] = next << (16 - length);
            next <<= 1;
        }
        Ok(code)
    }
}

/// The bits of a scan, to the next marker that is not a restart.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u64,
    count: u32,
    /// Bits that were made up behind the last one, so that codes can be looked up.
    beyond: u32,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, held: 0, count: 0, beyond: 0 }
    }

    /// Holds 32 bits at least.
    #[inline]
    fn fill(&mut self) {
        // Most bytes are none of a marker.
        if self.count <= 32
            && let Some((four, _)) = self.bytes[self.at..].split_first_chunk::<4>()
            && !four.contains(&0xff)
        {
            self.held = self.held << 32 | u64::from(u32::from_be_bytes(*four));
            self.count += 32;
            self.at += 4;
            return;
        }
        while self.count <= 48 {
            let next = match self.bytes.get(self.at..self.at + 2) {
                Some(&[0xff, 0]) => {
                    self.at += 2;
                    0xff
                }
                Some(&[0xff, _]) | None => {
                    self.beyond += 8;
                    0
                }
                Some(two) => {
                    self.at += 1;
                    two[0]
                }
            };
            self.held = self.held << 8 | u64::from(next);
            self.count += 8;
        }
    }

    #[inline]
    fn peek(&self, n: u32) -> u32 {
        (self.held >> (self.count - n)) as u32 & ((1 << n) - 1)
    }

    #[inline]
    fn skip(&mut self, n: u32) -> JpegResult<()> {
        self.count -= n;
        if self.count < self.beyond {
            return damaged("the data of a scan end early");
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, n: u32) -> JpegResult<u32> {
        if n == 0 {
            return Ok(0);
        }
        if self.count < 32 {
            self.fill();
        }
        let bits = self.peek(n);
        self.skip(n)?;
        Ok(bits)
    }

    /// A number of `n` bits, those that begin with 0 standing for negative ones.
    #[inline]
    fn signed(&mut self, n: u32) -> JpegResult<i32> {
        if n == 0 {
            return Ok(0);
        }
        let bits = self.take(n)? as i32;
        Ok(if bits < 1 << (n - 1) { bits - (1 << n) + 1 } else { bits })
    }

    #[inline]
    fn symbol(&mut self, code: &HuffmanCode) -> JpegResult<u8> {
        if self.count < 32 {
            self.fill();
        }
        let (length, value) = code.quick[self.peek(QUICK) as usize];
        if length > 0 {
            self.skip(u32::from(length))?;
            return Ok(value);
        }
        let next = self.peek(16);
        for length in QUICK + 1..=16 {
            if next < code.ends[length as usize] {
                let place = (next >> (16 - length)) as i32 + code.offsets[length as usize];
                self.skip(length)?;
                return match code.values.get(place as usize) {
                    Some(&value) => Ok(value),
                    None => damaged("a code that is not in its table"),
                };
            }
        }
        damaged("a code that is not in its table")
    }

    /// To the next marker: less than a byte may be left before it.
    fn align(&mut self) -> JpegResult<()> {
        // What is held may be less than what is there.
        self.fill();
        if self.count - self.beyond >= 8 {
            return damaged("the data of a scan go on behind its last block");
        }
        (self.held, self.count, self.beyond) = (0, 0, 0);
        Ok(())
    }

    fn restart(&mut self, number: usize) -> JpegResult<()> {
        self.align()?;
        while self.bytes.get(self.at..self.at + 2) == Some(&[0xff, 0xff]) {
            self.at += 1;
        }
        match self.bytes.get(self.at..self.at + 2) {
            Some(&[0xff, marker]) if usize::from(marker) == 0xd0 + number % 8 => {
                self.at += 2;
                Ok(())
            }
            _ => damaged("a restart is missing"),
        }
    }

    /// Where the scan ends.
    pub fn end(mut self) -> JpegResult<usize> {
        self.align()?;
        Ok(self.at)
    }
}

/// What a scan holds: its components with their codes, and which part of the coefficients.
pub(super) struct Scan {
    parts: Vec<(usize, usize, usize)>,
    first: usize,
    last: usize,
    /// Binary places of the scan before, or 0 in the first, and of this one.
    high: u8,
    low: u8,
}

/// What goes from block to block.
struct ScanState {
    previous: [i32; 3],
    /// Blocks that are still to be left as they are.
    run: u32,
}

impl Scan {
    pub fn read(segment: &[u8], frame: &mut JpegFrame) -> JpegResult<Self> {
        let count = usize::from(byte(segment, 0)?);
        if !(1..=frame.components.len()).contains(&count) {
            return damaged("a scan of no components");
        }
        let mut parts: Vec<(usize, usize, usize)> = Vec::new();
        for place in 0..count {
            let (id, codes) = (byte(segment, 1 + 2 * place)?, byte(segment, 2 + 2 * place)?);
            let found = frame.components.iter().position(|component| component.id == id);
            let Some(component) = found.filter(|found| parts.iter().all(|(before, ..)| before != found)) else {
                return damaged("a scan of an unknown component");
            };
            if codes >> 4 > 3 || codes & 15 > 3 {
                return damaged("a scan with unknown codes");
            }
            parts.push((component, usize::from(codes >> 4), usize::from(codes & 15)));
        }
        let at = 1 + 2 * count;
        let (mut first, mut last) = (usize::from(byte(segment, at)?), usize::from(byte(segment, at + 1)?));
        let (mut high, mut low) = (byte(segment, at + 2)? >> 4, byte(segment, at + 2)? & 15);
        if !frame.progressive {
            (first, last, high, low) = (0, 63, 0, 0);
        }
        let fits = if first == 0 { last == 0 || !frame.progressive } else { last >= first && last < 64 && count == 1 };
        if !fits || low > 13 || (high != 0 && high != low + 1) {
            return damaged("a scan of coefficients that can't be");
        }
        for &(component, ..) in &parts {
            for missing in &mut frame.components[component].missing[first..=last] {
                let wanted = if high == 0 { 255 } else { high };
                if *missing != wanted {
                    return damaged("scans are missing or stand there twice");
                }
                *missing = low;
            }
        }
        Ok(Self { parts, first, last, high, low })
    }

    pub fn decode(&self, frame: &mut JpegFrame, tables: &Tables, bits: &mut Bits) -> JpegResult<()> {
        for &(component, ..) in &self.parts {
            let component = &mut frame.components[component];
            if component.quantum.is_none() {
                component.quantum = tables.quanta[component.table];
            }
            if component.quantum.is_none() {
                return damaged("a table of quanta is missing");
            }
        }
        // A single component comes block by block, without those that only fill groups.
        let single = self.parts.len() == 1;
        let sides = if single { frame.components[self.parts[0].0].blocks } else { frame.groups };
        let mut state = ScanState { previous: [0; 3], run: 0 };
        for group in 0..sides[0] * sides[1] {
            if tables.restart > 0 && group > 0 && group % tables.restart == 0 {
                if state.run > 0 {
                    return damaged("a run of blocks that goes too far");
                }
                bits.restart(group / tables.restart - 1)?;
                state = ScanState { previous: [0; 3], run: 0 };
            }
            let (across, down) = (group % sides[0], group / sides[0]);
            for (place, &(component, dc, ac)) in self.parts.iter().enumerate() {
                let component = &mut frame.components[component];
                let (h, v) = if single { (1, 1) } else { (component.h, component.v) };
                for inner in 0..h * v {
                    let at = [across * h + inner % h, down * v + inner / h];
                    let codes = (tables.dc[dc].as_ref(), tables.ac[ac].as_ref());
                    self.block(frame.progressive, component, at, codes, &mut state, place, bits)?;
                }
            }
        }
        if state.run > 0 {
            return damaged("a run of blocks that goes too far");
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    #[inline]
    fn block(
        &self,
        progressive: bool,
        component: &mut Component,
        [across, down]: [usize; 2],
        (dc, ac): (Option<&HuffmanCode>, Option<&HuffmanCode>),
        state: &mut ScanState,
        place: usize,
        bits: &mut Bits,
    ) -> JpegResult<()> {
        fn needed(code: Option<&HuffmanCode>) -> JpegResult<&HuffmanCode> {
            code.ok_or_else(|| Unread::Damaged("a table of codes is missing".into()))
        }
        if progressive {
            let block = &mut component.kept[down * component.padded[0] + across];
            return match (self.first, self.high) {
                (0, 0) => {
                    state.previous[place] = state.previous[place].wrapping_add(difference(bits, needed(dc)?)?);
                    block[0] = (state.previous[place] << self.low) as i16;
                    Ok(())
                }
                (0, _) => {
                    block[0] |= (bits.take(1)? << self.low) as i16;
                    Ok(())
                }
                (_, 0) => self.begin(block, needed(ac)?, state, bits),
                _ => self.refine(block, needed(ac)?, state, bits),
            };
        }
        let mut block = [0; 64];
        state.previous[place] = state.previous[place].wrapping_add(difference(bits, needed(dc)?)?);
        block[0] = state.previous[place] as i16;
        let ac = needed(ac)?;
        let mut k = 1;
        while k < 64 {
            let symbol = bits.symbol(ac)?;
            let (zeros, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 {
                if zeros < 15 {
                    break;
                }
                k += 16;
                continue;
            }
            k += zeros;
            if k > 63 {
                return damaged("a block of more than 64 coefficients");
            }
            block[usize::from(ZIGZAG[k])] = bits.signed(size)? as i16;
            k += 1;
        }
        if let Some(quantum) = &component.quantum {
            component.plane.put(across, down, &inverse(&block, quantum));
        }
        Ok(())
    }

    fn begin(&self, block: &mut Block, ac: &HuffmanCode, state: &mut ScanState, bits: &mut Bits) -> JpegResult<()> {
        if state.run > 0 {
            state.run -= 1;
            return Ok(());
        }
        let mut k = self.first;
        while k <= self.last {
            let symbol = bits.symbol(ac)?;
            let (zeros, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
            if size == 0 {
                if zeros < 15 {
                    state.run = (1 << zeros) - 1 + bits.take(zeros as u32)?;
                    break;
                }
                k += 16;
                continue;
            }
            k += zeros;
            if k > self.last {
                return damaged("a block of too many coefficients");
            }
            block[usize::from(ZIGZAG[k])] = (bits.signed(size)? << self.low) as i16;
            k += 1;
        }
        Ok(())
    }

    fn refine(&self, block: &mut Block, ac: &HuffmanCode, state: &mut ScanState, bits: &mut Bits) -> JpegResult<()> {
        let one = 1i16 << self.low;
        let more = |coefficient: &mut i16, bits: &mut Bits| -> JpegResult<()> {
            if bits.take(1)? == 1 && *coefficient & one == 0 {
                *coefficient += if *coefficient >= 0 { one } else { -one };
            }
            Ok(())
        };
        let mut k = self.first;
        while state.run == 0 && k <= self.last {
            let symbol = bits.symbol(ac)?;
            let (mut zeros, size) = (usize::from(symbol >> 4), symbol & 15);
            let new = match size {
                0 if zeros < 15 => {
                    state.run = (1 << zeros) + bits.take(zeros as u32)?;
                    break;
                }
                0 => 0,
                1 if bits.take(1)? == 1 => one,
                1 => -one,
                _ => return damaged("a coefficient that is refined by more than one place"),
            };
            while k <= self.last {
                let coefficient = &mut block[usize::from(ZIGZAG[k])];
                if *coefficient != 0 {
                    more(coefficient, bits)?;
                } else if zeros == 0 {
                    break;
                } else {
                    zeros -= 1;
                }
                k += 1;
            }
            if new != 0 {
                if k > self.last {
                    return damaged("a block of too many coefficients");
                }
                block[usize::from(ZIGZAG[k])] = new;
            }
            k += 1;
        }
        if state.run > 0 {
            while k <= self.last {
                let coefficient = &mut block[usize::from(ZIGZAG[k])];
                if *coefficient != 0 {
                    more(coefficient, bits)?;
                }
                k += 1;
            }
            state.run -= 1;
        }
        Ok(())
    }
}

/// How much the first coefficient differs from that of the block before.
fn difference(bits: &mut Bits, dc: &HuffmanCode) -> JpegResult<i32> {
    match bits.symbol(dc)? {
        size @ 0..=15 => bits.signed(u32::from(size)),
        _ => damaged("a first coefficient that is too large"),
    }
}
