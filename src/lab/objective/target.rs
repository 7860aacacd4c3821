//! One class for all images, or one for each.

use std::rc::Rc;

use super::Aim;
use super::failure::{Failure, Unfit};

/// This class.
#[derive(Debug)]
pub struct Target(pub i64);

/// A class for every image.
#[derive(Debug)]
pub struct Targets(pub Rc<[i64]>);

impl Failure for Target {
    fn describe(&self) -> String {
        format!("target({})", self.0)
    }

    fn check(&self, classes: i64, _: usize) -> Result<(), Unfit> {
        match (0..classes).contains(&self.0) {
            true => Ok(()),
            false => Err(Unfit::new(format!("the model has the classes 0 to {}", classes - 1), "classes count from 0")),
        }
    }

    fn aims(&self, _: usize, _: i64, _: i64) -> Vec<Aim> {
        vec![Aim::To(self.0 as i32)]
    }
}

impl Failure for Targets {
    fn describe(&self) -> String {
        format!("target({:?})", self.0)
    }

    fn check(&self, classes: i64, images: usize) -> Result<(), Unfit> {
        if self.0.len() != images {
            let why = format!("{} targets for {images} images", self.0.len());
            return Err(Unfit::new(why, "give one for each, or one for all"));
        }
        match self.0.iter().find(|class| !(0..classes).contains(*class)) {
            Some(class) => {
                let why = format!("class {class} of a model that has 0 to {}", classes - 1);
                Err(Unfit::new(why, "classes count from 0"))
            }
            None => Ok(()),
        }
    }

    fn aims(&self, row: usize, _: i64, _: i64) -> Vec<Aim> {
        vec![self.0.get(row).map_or(Aim::Away, |class| Aim::To(*class as i32))]
    }
}
