//! What a report of overfitting says.
