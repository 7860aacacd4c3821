//! The class so many after the label, counted in a circle: "one-tgt" of Galloway et al. (2018) with 1.

use super::Aim;
use super::failure::{Failure, Unfit};

#[derive(Debug)]
pub struct Shift(pub i64);

impl Failure for Shift {
    fn describe(&self) -> String {
        format!("shift({})", self.0)
    }

    fn check(&self, classes: i64, _: usize) -> Result<(), Unfit> {
        if self.0 % classes == 0 {
            let why = format!("{} classes on from a label, among {classes}, is the label itself", self.0);
            return Err(Unfit::new(why, "shift(1) aims at the next class"));
        }
        Ok(())
    }

    fn aims(&self, _: usize, label: i64, classes: i64) -> Vec<Aim> {
        vec![Aim::To((label + self.0).rem_euclid(classes) as i32)]
    }
}
