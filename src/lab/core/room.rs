//! How much room a GPU has for batches, beside the one that their sizes are made for.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tch::Device;

use super::{Cx, device_name, memory_in_use};

/// Bytes that batches of the usual size are sure to find enough.
const USUAL: f64 = 12.0 * (1u64 << 30) as f64;

/// By how much larger a device's batches may be than on a GPU of 12 to 24 GiB: a power of two, by the memory that it has as a whole, so that a
/// run on it makes the same ones again. Where others use most of it when it is first asked, it counts as one of which no more than half is in
/// use, and that is said, since sums over other batches round otherwise. 1 where nothing tells.
pub fn room(cx: &Cx) -> f64 {
    static ROOMS: Mutex<Option<HashMap<usize, f64>>> = Mutex::new(None);
    let device = cx.device();
    let Device::Cuda(number) = device else { return 1.0 };
    let mut rooms = ROOMS.lock().unwrap_or_else(PoisonError::into_inner);
    *rooms.get_or_insert_default().entry(number).or_insert_with(|| {
        let Some((used, total)) = memory_in_use(device) else { return 1.0 };
        let (free, shares) = (total.saturating_sub(used), shares(used, total));
        if shares > 0 {
            let (free, total) = [free, total].map(|bytes| bytes as f64 / f64::from(1 << 30)).into();
            cx.warn(format!(
                "{}: {free:.1} of {total:.1} GiB are free, so batches are smaller than this GPU's usual ones, and sums over them round otherwise",
                device_name(device)
            ));
        }
        larger(total >> shares)
    })
}

/// How often a device's memory has to be halved until half of what is left is free.
fn shares(used: usize, total: usize) -> u32 {
    let free = total.saturating_sub(used);
    (0..total.max(1).ilog2()).find(|halvings| free >= (total >> halvings) / 2).unwrap_or_default()
}

fn larger(bytes: usize) -> f64 {
    (bytes as f64 / USUAL).max(f64::MIN_POSITIVE).log2().floor().exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_has_room_by_its_memory_and_less_where_others_use_most_of_it() {
        const GIB: usize = 1 << 30;
        for (total, room) in [(6, 0.5), (12, 1.0), (16, 1.0), (23, 1.0), (24, 2.0), (47, 2.0), (79, 4.0), (140, 8.0)] {
            assert_eq!((shares(total * GIB / 3, total * GIB), larger(total * GIB)), (0, room), "{total}");
        }
        assert_eq!([8, 9, 12, 13, 15].map(|used| shares(used * GIB, 16 * GIB)), [0, 1, 1, 2, 3]);
        assert_eq!(shares(16 * GIB, 16 * GIB), 0);
    }
}
