//! `meta.mat` of the development kit of ILSVRC 2012: which WordNet id each of its numbers from 1 to 1000 stands for, which are not in the
//! order of the ids. Russakovsky et al. 2015, "ImageNet Large Scale Visual Recognition Challenge", appendix A; format as in `mat.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use super::super::mat::{
    COMPRESSED, HEADER, INT8, INT32, MATRIX, MatReader, UINT8, UINT32, damaged, header, number, truncated,
};
use super::super::numbering::imagenet_number;
use crate::core::{Budget, Cx, Error, Result};

/// What the kit's file may unpack to; it has 60 kB.
const MOST: u64 = 64 << 20;

/// Classes of the challenge.
pub(super) const CLASSES: usize = 1000;

const CLASS_STRUCT: u32 = 2;
const UINT16: u32 = 4;
const UTF8: u32 = 16;
const UTF16: u32 = 17;

/// The numbers from 0 in the order of WordNet ids, in the order of the kit's numbers from 1.
pub(super) fn read(cx: &Cx, path: &Path) -> Result<Vec<i64>> {
    let at = |error: Error| error.at(path);
    let budget = Budget::of(cx, path, Budget::DEFLATE)?.at_most(MOST);
    let file = budget.file(path)?;
    let wnids = synsets(&file, &budget).map_err(at)?;
    let mut numbers = vec![];
    for id in 1..=CLASSES as i64 {
        let wnid = wnids.get(&id).ok_or_else(|| at(Error::data(format!("`synsets` has no ILSVRC2012_ID {id}"))))?;
        let number = imagenet_number(wnid).filter(|number| wnid.len() == 9 && !numbers.contains(number));
        numbers.push(number.ok_or_else(|| {
            at(Error::data(format!(
                "ILSVRC2012_ID {id} is {wnid:?}, no class of ImageNet-1k or one that stands there twice"
            )))
        })?);
    }
    Ok(numbers)
}

fn synsets(file: &[u8], budget: &Budget) -> Result<BTreeMap<i64, String>> {
    let mut bytes = file;
    let big = header(&mut bytes)?;
    let mut at = HEADER as usize;
    while at < file.len() {
        budget.check()?;
        let mut element = MatReader { inner: file.get(at..).unwrap_or_default(), big };
        let (kind, length) = (element.word()?, element.word()? as usize);
        let body = at.checked_add(8 + length).and_then(|end| file.get(at + 8..end));
        let body = body.ok_or_else(|| Error::data("the file is truncated"))?;
        let unpacked;
        let body = match kind {
            COMPRESSED => {
                unpacked = budget.read(ZlibDecoder::new(body), MOST, "a variable", truncated)?;
                let mut inner = MatReader { inner: &unpacked[..], big };
                (inner.word()? == MATRIX).then_some(unpacked.get(8..).unwrap_or_default())
            }
            MATRIX => Some(body),
            _ => None,
        };
        if let Some(found) = body.map(|body| variable(MatReader { inner: body, big }, budget)).transpose()?.flatten() {
            return Ok(found);
        }
        at += 8 + if kind == COMPRESSED { length } else { length.next_multiple_of(8) };
    }
    Err(Error::data("no variable `synsets`").hint("wanted is data/meta.mat of ILSVRC2012_devkit_t12"))
}

/// WordNet ids by ILSVRC2012_ID, if it is the variable that has them.
fn variable(mut reader: MatReader<&[u8]>, budget: &Budget) -> Result<Option<BTreeMap<i64, String>>> {
    let flags = reader.small(UINT32, "flags")?;
    let class = reader.words(&flags).first().copied().unwrap_or_default() & 0xff;
    let sizes = reader.small(INT32, "sizes")?;
    let count = reader.words(&sizes).into_iter().try_fold(1usize, |all, size| all.checked_mul(size as usize));
    if reader.small(INT8, "name")? != b"synsets" || class != CLASS_STRUCT {
        return Ok(None);
    }
    let width = reader.small(INT32, "lengths of names")?;
    let width = reader.words(&width).first().copied().unwrap_or_default() as usize;
    let names = body(&mut reader)?.1;
    if width == 0 || names.len() % width != 0 {
        return Err(damaged("`synsets` has fields without names"));
    }
    let names: Vec<&[u8]> =
        names.chunks_exact(width).map(|name| name.split(|&byte| byte == 0).next().unwrap_or_default()).collect();
    let mut found = BTreeMap::new();
    for _ in 0..count.ok_or_else(|| damaged("`synsets` has no size"))? {
        budget.step()?;
        let (mut id, mut wnid) = (None, None);
        for name in &names {
            let (kind, cell) = body(&mut reader)?;
            let cell = MatReader { inner: cell, big: reader.big };
            match (*name, kind) {
                (b"ILSVRC2012_ID", MATRIX) => id = values(cell)?.first().map(|&x| x as i64),
                (b"WNID", MATRIX) => {
                    wnid = Some(values(cell)?.iter().map(|&x| char::from(x as u8)).collect::<String>());
                }
                _ => {}
            }
        }
        let (Some(id), Some(wnid)) = (id, wnid) else {
            return Err(damaged("`synsets` has no fields ILSVRC2012_ID and WNID"));
        };
        budget.take(128, "its synsets")?;
        if let Some(other) = found.insert(id, wnid) {
            return Err(Error::data(format!("ILSVRC2012_ID {id} stands there twice, as {other} too")));
        }
    }
    Ok(Some(found))
}

/// The next element's kind and bytes.
fn body<'a>(reader: &mut MatReader<&'a [u8]>) -> Result<(u32, &'a [u8])> {
    let head = reader.head()?;
    let (length, all) = (head.length as usize, (head.length + head.padding) as usize);
    let bytes = reader.inner;
    // The last one may end without what fills its last word.
    let found = bytes.get(..length).ok_or_else(|| Error::data("the file is truncated"))?;
    reader.inner = bytes.get(all..).unwrap_or_default();
    Ok((head.kind, found))
}

/// The numbers of a matrix, those of letters for text.
fn values(mut reader: MatReader<&[u8]>) -> Result<Vec<f64>> {
    reader.small(UINT32, "flags")?;
    reader.small(INT32, "sizes")?;
    reader.small(INT8, "name")?;
    let big = reader.big;
    let (kind, bytes) = body(&mut reader)?;
    let kind = match kind {
        UTF8 => UINT8,
        UTF16 => UINT16,
        kind => kind,
    };
    let (width, decode) = number(kind).ok_or_else(|| damaged("`synsets` holds values of an unknown kind"))?;
    if bytes.len() > 1 << 12 {
        return Err(damaged("`synsets` has an id that is too long"));
    }
    let value = |item: &[u8]| {
        let mut word = [0u8; 8];
        word[..width].copy_from_slice(item);
        if big {
            word[..width].reverse();
        }
        decode(word)
    };
    Ok(bytes.chunks_exact(width).map(value).collect())
}
