//! Which models a closure asks: only that tells what it is made of.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::Model;
use crate::core::{Digest, Object};

/// Models by their digests.
pub(super) type Asked = BTreeMap<Digest, Model>;

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
    WATCHED.with_borrow_mut(|watched| {
        for asked in watched {
            asked.entry(Object::digest(model)).or_insert_with(|| model.clone());
        }
    });
}
