//! Formulas on plain numbers, each with its paper and equation; no tensors.
