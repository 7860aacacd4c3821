//! Models and searches that mislead: gradients that vanish, bounds, probabilities, graphs that are not there.
