//! The marks that lowered scripts carry in front of names.

/// Before a key that is written, and before one that need not be there: letters that no one types.
pub const WRITTEN: &str = "ːˑ";
pub const ASKED: &str = "ˀˑ";

/// A name or key as it was typed.
pub fn typed(name: &str) -> &str {
    name.strip_prefix(WRITTEN).or_else(|| name.strip_prefix(ASKED)).unwrap_or(name)
}
