//! The class with the lowest score of the image as it stands, the first of equal ones.

use super::Aim;
use super::failure::{Failure, Unfit};

#[derive(Debug)]
pub struct LeastLikely;

impl Failure for LeastLikely {
    fn describe(&self) -> String {
        "least_likely()".into()
    }

    fn check(&self, classes: i64, _: usize) -> Result<(), Unfit> {
        match classes {
            2 => Err(Unfit::new(
                "of two classes the less likely one is the only other one, and the label itself where the model is wrong",
                "objective::misclassify() is what two classes allow",
            )),
            _ => Ok(()),
        }
    }

    fn aims(&self, _: usize, _: i64, _: i64) -> Vec<Aim> {
        vec![Aim::ToLeast]
    }
}
