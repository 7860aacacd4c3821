//! Any label but the right one.

use super::Failure;

#[derive(Debug)]
pub struct Misclassify;

impl Failure for Misclassify {
    fn describe(&self) -> String {
        "misclassify()".into()
    }

    fn any_wrong(&self) -> bool {
        true
    }
}
