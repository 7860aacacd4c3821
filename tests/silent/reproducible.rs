//! The same seed gives the same bytes.
