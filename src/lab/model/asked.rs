//! Which models a closure asks: only that tells what it is made of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::Model;
use super::learned::LearnedImages;
use crate::core::{Digest, Object};

/// What models learned from, by their digests; of those that are known to have learned from something.
pub type Asked = BTreeMap<Digest, LearnedImages>;

thread_local! {
    /// Of each closure that is being asked, the outermost first.
    static WATCHED: RefCell<Vec<Asked>> = const { RefCell::new(vec![]) };
}

/// What `run` answers, and the models that were asked meanwhile.
pub(super) fn watched<T>(run: impl FnOnce() -> T) -> (T, Asked) {
    /// Ends the watch where `run` panics as well.
    struct Watch(usize);

    impl Drop for Watch {
        fn drop(&mut self) {
            WATCHED.with_borrow_mut(|watched| watched.truncate(self.0));
        }
    }

    let watch = Watch(WATCHED.with_borrow_mut(|watched| {
        watched.push(Asked::new());
        watched.len() - 1
    }));
    let answered = run();
    let asked = WATCHED.with_borrow_mut(|watched| watched.get_mut(watch.0).map(std::mem::take)).unwrap_or_default();
    (answered, asked)
}

/// Notes that a model is asked.
pub(super) fn asked(model: &Model) {
    let Some(learned) = model.learned_from() else { return };
    WATCHED.with_borrow_mut(|watched| {
        for asked in watched {
            asked.entry(Object::digest(model)).or_insert_with(|| learned.clone());
        }
    });
}
