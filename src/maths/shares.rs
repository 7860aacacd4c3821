//! Whether one share is larger than another.

use statrs::distribution::{DiscreteCDF, Hypergeometric};

/// Fisher's exact test, one-sided: the probability, if `k1` of `n1` and `k2` of `n2` are equally likely, of `k1` or more given
/// `k1 + k2` in all. None if a count exceeds its total.
pub fn fisher(k1: u64, n1: u64, k2: u64, n2: u64) -> Option<f64> {
    if k1 > n1 || k2 > n2 {
        return None;
    }
    let law = Hypergeometric::new(n1.checked_add(n2)?, k1.checked_add(k2)?, n1).ok()?;
    Some(k1.checked_sub(1).map_or(1.0, |below| law.sf(below).clamp(0.0, 1.0)))
}
