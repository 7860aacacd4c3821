//! The blocks of an examination: images next to one another that are examined together, and the shard whose they are where a run is divided.

use std::ops::Range;

use super::{Examination, examined};
use crate::core::{Cx, Division, LongCall, Object, Result, owners};

pub(super) struct Block {
    /// Places in the order in which images are examined.
    pub rows: Range<usize>,
    pub owner: usize,
}

/// The blocks of so many images that this run works out, or puts together.
pub(super) fn divided(cx: &Cx, plan: &Examination, images: usize) -> Vec<Block> {
    let n = plan.data.len();
    let all = |owners: Vec<usize>| -> Vec<Block> {
        let block =
            |(number, owner): (usize, usize)| Block { rows: number * images..((number + 1) * images).min(n), owner };
        owners.into_iter().enumerate().map(block).collect()
    };
    let count = n.div_ceil(images);
    let dealt = |of: usize| all(owners(plan.data.digest(), count, of));
    let shard = match cx.division() {
        Division::Whole => return all(vec![0; count]),
        Division::Merged(of) => return dealt(of),
        Division::Shard(shard) => shard,
    };
    let mut own: Vec<Block> = dealt(shard.of);
    own.retain(|block| block.owner == shard.number - 1);
    let rows: usize = own.iter().map(|block| block.rows.len()).sum();
    let name = &plan.data.name;
    if own.is_empty() {
        // What the script makes of no rows would be an error.
        own = all(vec![shard.number - 1]);
        cx.warn(format!(
            "shard {shard} of the examination of {name}: {n} images in blocks of {images}, none of which is this shard's; it examines the first all the \
             same, so that the script goes on: a smaller `batch` may make more blocks"
        ));
    } else if rows < n {
        cx.warn(format!(
            "shard {shard} of the examination of {name}: {rows} of {n} images, and what follows is of these alone"
        ));
    }
    own
}

/// Notes what an examination depends on where a run is divided, and refuses shards with other outcomes than those that are put together.
pub(super) fn check_shards(
    cx: &Cx,
    plan: &Examination,
    (beside, batch): (&[String], usize),
    (blocks, call): (&[Block], &LongCall),
) -> Result<()> {
    if cx.division() == Division::Whole {
        return Ok(());
    }
    let here = examined::note(cx, plan, beside, batch);
    let number = cx.note_examination(here.clone());
    let wanted = |shard: &usize| blocks.iter().any(|block| block.owner == *shard);
    match call.missing_shards().into_iter().find(wanted) {
        Some(shard) => Err(examined::other_examination(cx, shard, number, &here)),
        None => Ok(()),
    }
}
