//! Pages of a column: where one stands, what it says of itself, and its bytes unpacked, none of which may ask for more memory than its
//! bytes can hold. Format: parquet-format 2.11, "Data Pages", headers in Thrift's compact protocol.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::Page;

use crate::core::{Budget, Error, Result};

/// How pages are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagePacking {
    Stored,
    Snappy,
    Gzip,
    Zstd,
}

impl PagePacking {
    pub(super) fn of(how: Compression) -> std::result::Result<Self, String> {
        match how {
            Compression::UNCOMPRESSED => Ok(Self::Stored),
            Compression::SNAPPY => Ok(Self::Snappy),
            Compression::GZIP(_) => Ok(Self::Gzip),
            Compression::ZSTD(_) => Ok(Self::Zstd),
            Compression::BROTLI(_) => Err("Brotli".into()),
            Compression::LZ4 | Compression::LZ4_RAW => Err("LZ4".into()),
            Compression::LZO => Err("LZO".into()),
        }
    }
}

/// Where the body of a page lies in a file, and what unpacks it.
#[derive(Debug, Clone)]
pub(super) struct StoredPage {
    /// Which of the files.
    pub file: usize,
    pub at: u64,
    pub packed: usize,
    pub unpacked: usize,
    /// Bytes at its beginning that are never packed: the levels of a page of version 2.
    plain: usize,
    pub packing: PagePacking,
    sum: Option<u32>,
    /// Where Snappy begins anew: how many bytes are unpacked before, and packed. The last one is the end.
    restarts: Vec<(u32, u32)>,
}

/// What a page is, as far as reading it asks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PageSort {
    Dictionary { values: u32, encoding: Encoding },
    Data { values: u32, encoding: Encoding, levels: Encoding, repeats: Encoding },
    Data2 { values: u32, nulls: u32, rows: u32, encoding: Encoding, levels: u32, repeats: u32, packed: bool },
    Other,
}

/// A header has few bytes, but for the least and the largest value, which may be pictures.
const FIRST_LOOK: usize = 1 << 10;
const LONGEST_HEADER: usize = 1 << 26;

/// The page of `file` that begins at `at` and ends before `end`; its header is followed by its body.
pub(super) struct FoundPage {
    pub page: StoredPage,
    sort: PageSort,
}

impl FoundPage {
    pub(super) fn next(&self) -> u64 {
        self.page.at + self.page.packed as u64
    }

    pub(super) fn is_dictionary(&self) -> bool {
        matches!(self.sort, PageSort::Dictionary { .. })
    }

    /// Values of a data page, nulls included.
    pub(super) fn values(&self) -> Option<usize> {
        match self.sort {
            PageSort::Data { values, .. } | PageSort::Data2 { values, .. } => Some(values as usize),
            _ => None,
        }
    }

    /// As the decoder of levels and values takes it.
    pub(super) fn with(&self, buf: Bytes) -> Option<Page> {
        Some(match self.sort {
            PageSort::Dictionary { values, encoding } => {
                Page::DictionaryPage { buf, num_values: values, encoding, is_sorted: false }
            }
            PageSort::Data { values, encoding, levels, repeats } => Page::DataPage {
                buf,
                num_values: values,
                encoding,
                def_level_encoding: levels,
                rep_level_encoding: repeats,
                statistics: None,
            },
            PageSort::Data2 { values, nulls, rows, encoding, levels, repeats, packed } => Page::DataPageV2 {
                buf,
                num_values: values,
                encoding,
                num_nulls: nulls,
                num_rows: rows,
                def_levels_byte_len: levels,
                rep_levels_byte_len: repeats,
                is_compressed: packed,
                statistics: None,
            },
            PageSort::Other => return None,
        })
    }
}

/// Reads the header that stands at this byte.
pub(super) fn header(
    path: &Path,
    from: &mut File,
    file: usize,
    at: u64,
    end: u64,
    packing: PagePacking,
) -> Result<FoundPage> {
    let failed = |e| Error::file(path, e);
    let (mut bytes, mut look) = (vec![], FIRST_LOOK);
    let (said, length) = loop {
        let room = usize::try_from(end - at).unwrap_or(usize::MAX).min(look);
        from.seek(SeekFrom::Start(at)).map_err(failed)?;
        bytes.clear();
        from.by_ref().take(room as u64).read_to_end(&mut bytes).map_err(failed)?;
        let mut compact = CompactThrift { bytes: &bytes, at: 0 };
        match page_header(&mut compact) {
            Some(said) => break (said, compact.at),
            None if bytes.len() == room && room == look && look < LONGEST_HEADER => look *= 8,
            None => return Err(damaged(path, at, "its header can't be read")),
        }
    };
    let begins = at + length as u64;
    let (Ok(packed), Ok(unpacked)) = (usize::try_from(said.packed), usize::try_from(said.unpacked)) else {
        return Err(damaged(path, at, "it has no size"));
    };
    if packed as u64 > end - begins {
        return Err(damaged(path, at, "it is longer than its column"));
    }
    let sort = said.sort().ok_or_else(|| damaged(path, at, "its header is not whole"))?;
    let (plain, is_packed) = match sort {
        PageSort::Data2 { levels, repeats, packed, .. } => (levels as usize + repeats as usize, packed),
        _ => (0, true),
    };
    let packing = if is_packed { packing } else { PagePacking::Stored };
    if plain > packed || plain > unpacked || (packing == PagePacking::Stored && packed != unpacked) {
        return Err(damaged(path, at, "its sizes contradict each other"));
    }
    if let PageSort::Dictionary { values, .. } = sort
        && values as usize > unpacked / 4
    {
        return Err(damaged(path, at, "its dictionary has more values than bytes for them"));
    }
    let budget = Budget::unwatched(packed as u64, Budget::DEFLATE);
    budget.take(unpacked as u64, "a page").map_err(|error| error.at(path))?;
    let sum = said.sum;
    let page = StoredPage { file, at: begins, packed, unpacked, plain, packing, sum, restarts: vec![] };
    Ok(FoundPage { page, sort })
}

pub(super) fn damaged(path: &Path, at: u64, what: &str) -> Error {
    Error::file(path, format!("the page at byte {at} is damaged: {what}")).hint("fetch it once more")
}

impl StoredPage {
    /// Its bytes, unpacked.
    pub(super) fn read(&self, path: &Path, from: &mut File) -> Result<Vec<u8>> {
        let bytes = self.part(path, from, 0, self.packed)?;
        if self.sum.is_some_and(|sum| crc32fast::hash(&bytes) != sum) {
            return Err(damaged(path, self.at, "its checksum differs"));
        }
        if self.packing == PagePacking::Stored {
            return Ok(bytes);
        }
        let (plain, packed) = bytes.split_at(self.plain);
        let left = self.unpacked - self.plain;
        let mut whole = vec![];
        whole.try_reserve_exact(self.unpacked).map_err(|_| {
            Error::new(crate::core::ErrorKind::Memory, format!("{}: a page of {} bytes", path.display(), self.unpacked))
        })?;
        whole.extend_from_slice(plain);
        let unpacked = match self.packing {
            PagePacking::Snappy => unpack_snappy(packed, left, &mut whole),
            PagePacking::Gzip => flow(flate2::bufread::MultiGzDecoder::new(packed), left, &mut whole),
            PagePacking::Zstd => zstd::stream::read::Decoder::with_buffer(packed)
                .map_err(|e| e.to_string())
                .and_then(|reader| flow(reader, left, &mut whole)),
            // No bytes for no values.
            PagePacking::Stored => Ok(()),
        };
        match unpacked {
            Ok(()) if whole.len() == self.unpacked => Ok(whole),
            Ok(()) => Err(damaged(path, self.at, "it does not unpack to the size that it says")),
            Err(why) => Err(damaged(path, self.at, &why)),
        }
    }

    /// The same, and notes where parts of it can be unpacked by themselves.
    pub(super) fn read_first(&mut self, path: &Path, from: &mut File) -> Result<Vec<u8>> {
        let whole = self.read(path, from)?;
        if self.packing == PagePacking::Snappy && self.unpacked > WORTH {
            let packed = self.part(path, from, self.plain, self.packed - self.plain)?;
            self.restarts = restarts(&packed).unwrap_or_default();
        }
        Ok(whole)
    }

    /// Unpacks no more of it than these bytes are in, where that is possible.
    pub(super) fn inside(&self, path: &Path, from: &mut File, at: usize, size: usize) -> Option<Result<Vec<u8>>> {
        if self.packing == PagePacking::Stored {
            return Some(self.part(path, from, at, size));
        }
        let (start, end) = (at.checked_sub(self.plain)?, at + size - self.plain);
        let first = self.restarts.partition_point(|(before, _)| *before as usize <= start).checked_sub(1)?;
        let last = self.restarts.partition_point(|(before, _)| (*before as usize) < end);
        let ((begin, packed), (until, packed_until)) = (*self.restarts.get(first)?, *self.restarts.get(last)?);
        let (begin, length) = (begin as usize, (until - begin) as usize);
        let mut unpack = || {
            let part = self.part(path, from, self.plain + packed as usize, (packed_until - packed) as usize)?;
            // A stream of its own begins with its length.
            let mut stream = vec![];
            let mut left = length;
            while left > 0x7f {
                stream.push(left as u8 | 0x80);
                left >>= 7;
            }
            stream.push(left as u8);
            stream.extend(part);
            let mut whole = vec![];
            unpack_snappy(&stream, length, &mut whole).map_err(|why| damaged(path, self.at, &why))?;
            whole.drain(..start - begin);
            whole.truncate(size);
            Ok(whole)
        };
        Some(unpack())
    }

    /// Bytes of it as they are stored.
    pub(super) fn part(&self, path: &Path, from: &mut File, start: usize, size: usize) -> Result<Vec<u8>> {
        let failed = |e| Error::file(path, e);
        let mut bytes = vec![0; size];
        from.seek(SeekFrom::Start(self.at + start as u64)).map_err(failed)?;
        from.read_exact(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// No more than `most` bytes and one.
fn flow(from: impl Read, most: usize, into: &mut Vec<u8>) -> std::result::Result<(), String> {
    // Where all values are null there may be nothing to unpack.
    if most == 0 {
        return Ok(());
    }
    from.take(most as u64 + 1).read_to_end(into).map(drop).map_err(|e| e.to_string())
}

fn unpack_snappy(packed: &[u8], most: usize, into: &mut Vec<u8>) -> std::result::Result<(), String> {
    if most == 0 {
        return Ok(());
    }
    let says = snap::raw::decompress_len(packed).map_err(|e| e.to_string())?;
    if says != most {
        return Err(format!("it unpacks to {says} bytes, not to the {most} that its header says"));
    }
    let start = into.len();
    into.resize(start + most, 0);
    snap::raw::Decoder::new().decompress(packed, &mut into[start..]).map(drop).map_err(|e| e.to_string())
}

/// Of smaller pages all is unpacked.
const WORTH: usize = 4 * BLOCK;

/// Snappy packs blocks of this size apart from each other.
const BLOCK: usize = 1 << 16;

/// The beginnings of blocks and the end; `None` where a block copies from one before. Format: Snappy's `format_description.txt`.
fn restarts(packed: &[u8]) -> Option<Vec<(u32, u32)>> {
    let mut at = packed.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (mut out, mut begun) = (0usize, 0usize);
    let mut found = vec![(0, at as u32)];
    while at < packed.len() {
        if out.is_multiple_of(BLOCK) && out > begun {
            begun = out;
            found.push((u32::try_from(out).ok()?, at as u32));
        }
        let tag = packed[at];
        let number = |bytes: usize| -> Option<usize> {
            let bytes = packed.get(at + 1..at + 1 + bytes)?;
            Some(bytes.iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte)))
        };
        let long = usize::from(tag >> 2);
        let (length, back, skipped) = match tag & 3 {
            0 if long < 60 => (long + 1, 0, long + 2),
            0 => {
                let length = number(long - 59)? + 1;
                (length, 0, 1 + long - 59 + length)
            }
            1 => (4 + (long & 7), usize::from(tag >> 5) << 8 | number(1)?, 2),
            2 => (long + 1, number(2)?, 3),
            _ => (long + 1, number(4)?, 5),
        };
        if back > out - begun {
            return None;
        }
        (at, out) = (at.checked_add(skipped)?, out.checked_add(length)?);
    }
    found.push((u32::try_from(out).ok()?, at as u32));
    (at == packed.len()).then_some(found)
}

/// Thrift's compact protocol, as far as headers and schemas need it.
pub(super) struct CompactThrift<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

/// Structures inside of each other, at most.
const DEEPEST: usize = 32;

impl CompactThrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    fn varint(&mut self) -> Option<u64> {
        let mut all = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            all |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Some(all);
            }
        }
        None
    }

    pub(super) fn number(&mut self) -> Option<i64> {
        let word = self.varint()?;
        Some((word >> 1) as i64 ^ -((word & 1) as i64))
    }

    /// The next field of a structure, its number and kind; an inner `None` where it ends.
    pub(super) fn field(&mut self, last: &mut i64) -> Option<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *last = match head >> 4 {
            0 => self.number()?,
            more => last.checked_add(more.into())?,
        };
        Some(Some((*last, head & 15)))
    }

    /// The kind and number of a list's elements.
    pub(super) fn list(&mut self) -> Option<(u8, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            few => few.into(),
        };
        (count <= self.bytes.len().saturating_sub(self.at)).then_some((head & 15, count))
    }

    pub(super) fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            // Bools of fields lie in the kind.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.at = self.at.checked_add(8)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            9 | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    // In a list a bool is a byte.
                    self.skip(if kind <= 2 { 3 } else { kind }, depth + 1)?;
                }
            }
            12 => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }
}

/// A header's fields by the numbers that parquet.thrift gives them.
#[derive(Default)]
struct PageFields {
    kind: i64,
    unpacked: i64,
    packed: i64,
    sum: Option<u32>,
    /// Of the structure for its kind.
    inner: [Option<i64>; 8],
}

fn page_header(compact: &mut CompactThrift) -> Option<PageFields> {
    let mut said = PageFields { kind: -1, unpacked: -1, packed: -1, ..PageFields::default() };
    let mut last = 0;
    while let Some((field, kind)) = compact.field(&mut last)? {
        match (field, kind) {
            (1, 5) => said.kind = compact.number()?,
            (2, 5) => said.unpacked = compact.number()?,
            (3, 5) => said.packed = compact.number()?,
            (4, 5) => said.sum = Some(compact.number()? as u32),
            (5 | 7 | 8, 12) => {
                let mut last = 0;
                while let Some((field, kind)) = compact.field(&mut last)? {
                    let place = usize::try_from(field).ok().filter(|&place| place < said.inner.len());
                    match (place, kind) {
                        (Some(place), 1 | 2) => said.inner[place] = Some(i64::from(kind == 1)),
                        (Some(place), 5) => said.inner[place] = Some(compact.number()?),
                        _ => compact.skip(kind, 0)?,
                    }
                }
            }
            _ => compact.skip(kind, 0)?,
        }
    }
    Some(said)
}

impl PageFields {
    fn sort(&self) -> Option<PageSort> {
        let count = |place: usize| self.inner[place].and_then(|number| u32::try_from(number).ok());
        let encoding = |place: usize| encoding(self.inner[place]?);
        Some(match self.kind {
            0 => PageSort::Data {
                values: count(1)?,
                encoding: encoding(2)?,
                levels: encoding(3)?,
                repeats: encoding(4)?,
            },
            2 => PageSort::Dictionary { values: count(1)?, encoding: encoding(2)? },
            3 => PageSort::Data2 {
                values: count(1)?,
                nulls: count(2)?,
                rows: count(3)?,
                encoding: encoding(4)?,
                levels: count(5)?,
                repeats: count(6)?,
                packed: self.inner[7] != Some(0),
            },
            _ => PageSort::Other,
        })
    }
}

#[expect(deprecated, reason = "what older writers say of levels that are not there")]
fn encoding(number: i64) -> Option<Encoding> {
    Some(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_page_are_unpacked_by_themselves() {
        let mut word = 7u32;
        let mut noise = || {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (word >> 24) as u8
        };
        // Stretches that pack well and stretches that don't.
        let whole: Vec<u8> = (0..400_000).map(|i| if i / 3000 % 3 == 0 { (i % 7) as u8 } else { noise() }).collect();
        let packed = snap::raw::Encoder::new().compress_vec(&whole).expect("packed");
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), [&[9; 5][..], &[1, 2, 3], &packed].concat()).expect("written");
        let mut page = StoredPage {
            file: 0,
            at: 5,
            packed: packed.len() + 3,
            unpacked: whole.len() + 3,
            plain: 3,
            packing: PagePacking::Snappy,
            sum: None,
            restarts: vec![],
        };
        let mut from = File::open(file.path()).expect("opened");
        assert!(page.inside(file.path(), &mut from, 3, 1).is_none(), "nothing is known of it yet");
        let all = page.read_first(file.path(), &mut from).expect("a page");
        assert!(all[3..] == whole && page.restarts.len() == whole.len().div_ceil(BLOCK) + 1);
        for (at, size) in
            [(0, 1), (65_535, 1), (65_536, 1), (65_000, 70_000), (131_072, 65_536), (399_999, 1), (0, 400_000)]
        {
            let part = page.inside(file.path(), &mut from, at + 3, size).expect("known").expect("unpacked");
            assert!(part == whole[at..at + size], "{size} bytes at {at}");
        }
    }
}
