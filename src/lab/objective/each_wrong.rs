//! Every wrong class in turn, in ascending order: "all-tgt" of Galloway et al. (2018).

use super::{Aim, Failure};

#[derive(Debug)]
pub struct EachWrong;

impl Failure for EachWrong {
    fn describe(&self) -> String {
        "each_wrong()".into()
    }

    fn aims(&self, _: usize, label: i64, classes: i64) -> Vec<Aim> {
        (0..classes).filter(|&class| class != label).map(|class| Aim::To(class as i32)).collect()
    }

    fn aims_per_image(&self, classes: i64) -> usize {
        (classes - 1).max(1) as usize
    }
}
