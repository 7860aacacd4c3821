//! What the losses of its training say of a model.

use super::Model;
use crate::core::significant;

impl Model {
    /// The mean loss of each epoch of its training, and what they say against it.
    pub fn with_history(mut self, losses: Vec<f64>) -> Self {
        let doubt = self.classes().and_then(|classes| learned_nothing(&self.name, &losses, classes as usize));
        doubt.into_iter().for_each(|doubt| self.notice(doubt));
        self.history = losses;
        self
    }
}

/// What is to be said of a training whose last epoch lost more than a network loses that gives all classes alike, ln K. The losses of a first epoch
/// begin at that or somewhat above.
fn learned_nothing(name: &str, losses: &[f64], classes: usize) -> Option<String> {
    let guessing = (classes as f64).ln();
    let most = if losses.len() > 1 { guessing } else { 2.0 * guessing };
    let last = *losses.last()?;
    (last > most).then(|| {
        format!(
            "the training of {name} did not converge: in its last epoch the mean loss was {}, and {} is lost by who gives all {classes} classes alike",
            significant(last, 3),
            significant(guessing, 3)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::learned_nothing;

    /// ln 10 is 2.303, and twice that 4.605.
    #[test]
    fn what_lost_more_than_guessing_did_not_converge() {
        let told = |losses: &[f64]| learned_nothing("f", losses, 10).is_some();
        assert!(told(&[5.0, 2.31]) && told(&[4.61]));
        assert!(!told(&[5.0, 2.30]) && !told(&[4.60]) && !told(&[]));
    }
}
