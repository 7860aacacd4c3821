//! What may be asked of a search again, to see whether it found all that it could.

use crate::space::Norm;

/// How a search is to differ from itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variation {
    /// This many times as many steps, or questions.
    Longer(u32),
    /// From points drawn from the ball, so often, of which the best end counts.
    Restarted(u32),
    /// With steps for a ball in this norm that is this many times as large.
    Farther(f64, Norm),
}
