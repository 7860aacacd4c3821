//! Pages that were unpacked last, since rows that follow each other lie in one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::Result;

/// Bytes of pages that are kept, but for the one that was used last.
const KEPT: usize = 256 << 20;

/// A page that is unpacked by whoever asks for it first; others wait for that alone.
type PageSlot = Arc<Mutex<Option<Vec<u8>>>>;

struct KeptPage {
    number: u32,
    slot: PageSlot,
    /// Zero until it is unpacked.
    size: usize,
}

/// The newest last.
#[derive(Default)]
pub(super) struct Unpacked(Mutex<VecDeque<KeptPage>>);

impl Unpacked {
    /// What `of` makes of a page, unpacked if it is not held.
    pub(super) fn with<T>(
        &self,
        number: u32,
        unpack: impl FnOnce() -> Result<Vec<u8>>,
        of: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let slot = self.slot(number);
        // What panicked in it left it empty or whole.
        let mut page = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if page.is_none() {
            let bytes = page.insert(unpack()?);
            self.weigh(number, bytes.len());
        }
        Ok(of(page.as_deref().unwrap_or_default()))
    }

    fn slot(&self, number: u32) -> PageSlot {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|page| page.number == number).and_then(|at| kept.remove(at));
        let page = found.unwrap_or_else(|| KeptPage { number, slot: PageSlot::default(), size: 0 });
        let slot = page.slot.clone();
        kept.push_back(page);
        slot
    }

    /// Lets go of the oldest ones where all of them are too many bytes.
    fn weigh(&self, number: u32, size: usize) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(page) = kept.iter_mut().find(|page| page.number == number) {
            page.size = size;
        }
        let mut all: usize = kept.iter().map(|page| page.size).sum();
        while all > KEPT && kept.len() > 1 {
            all -= kept.pop_front().map_or(0, |page| page.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_unpacked_once_while_they_are_kept() {
        let unpacked = Unpacked::default();
        let mut asked = vec![];
        for number in [0, 1, 0, 1, 0] {
            let page = || {
                asked.push(number);
                Ok(vec![number as u8; 8])
            };
            assert_eq!(unpacked.with(number, page, |page| page[3]).expect("a page"), number as u8);
        }
        assert_eq!(asked, [0, 1]);
        let large = || Ok(vec![7; KEPT]);
        unpacked.with(2, large, |_| ()).expect("a page");
        let mut again = false;
        let page = || {
            again = true;
            Ok(vec![0])
        };
        unpacked.with(0, page, |_| ()).expect("a page");
        assert!(again, "what is too much is let go of");
    }
}
