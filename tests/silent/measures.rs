//! Information, populations, and means over a part.
