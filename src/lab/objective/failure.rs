//! A notion of failure: what is to become of an image's prediction.

use std::fmt::Debug;

use tch::Device;

use super::{Aim, Classes, Loss, Way};
use crate::core::Result;

/// Why an objective can't be met, and what to try.
pub struct Unfit {
    pub why: String,
    pub hint: String,
}

impl Unfit {
    pub fn new(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { why: why.into(), hint: hint.into() }
    }
}

/// What is to become of an image's prediction. One file each.
pub trait Failure: Debug {
    /// How a script writes it: `target(3)`.
    fn describe(&self) -> String;

    /// Refuses what can't come about among so many classes by so many images.
    fn check(&self, _classes: i64, _images: usize) -> std::result::Result<(), Unfit> {
        Ok(())
    }

    /// What is to become of the image in this row of the data, with this label: one aim, or one after the other.
    fn aims(&self, _row: usize, _label: i64, _classes: i64) -> Vec<Aim> {
        vec![Aim::Away]
    }

    /// How many aims every image has.
    fn aims_per_image(&self, _classes: i64) -> usize {
        1
    }

    /// Which way scores are to go: by default that of one class against the best other one.
    fn way(&self, labels: &[i64], aims: &[Aim], device: Device) -> Result<Box<dyn Way>> {
        Ok(Box::new(Classes::of(labels, aims, device)?))
    }

    /// What can be followed towards it.
    fn losses(&self) -> &'static [Loss] {
        const ALL: [Loss; 5] = [Loss::Lead, Loss::Margin, Loss::CrossEntropy, Loss::Dlr, Loss::Confidence];
        &ALL
    }

    /// Whether any wrong answer will do, which is what searches with densities look for.
    fn any_wrong(&self) -> bool {
        false
    }

    /// Of binary labels how many are to be absent.
    fn wanted_absent(&self) -> i32 {
        0
    }

    /// Whether scores are of classes of which one is right, and not of labels that each may hold.
    fn of_classes(&self) -> bool {
        true
    }

    /// Whether it turns on nothing but which class has the highest score.
    fn of_the_highest(&self) -> bool {
        self.of_classes()
    }

    /// What stands for an image's label in the row of a transcript, given what stands for its prediction as it stands.
    fn label(&self, label: i32, _before: i32) -> i32 {
        label
    }
}
