//! `viva data [list | fetch NAME]`

use super::Outcome;
use crate::core::Error;

pub fn main(_words: &[String]) -> Outcome {
    Err(Error::argument("viva data").into())
}
