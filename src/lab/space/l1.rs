//! What is nearest within an l1 ball and the bounds of pixels (Croce and Hein, "Mind the Box: l1-APGD for Sparse Adversarial Attacks on Image
//! Classifiers", ICML 2021, Proposition 2.1). Cutting to the ball first and to the bounds then would give up a part of the ball.

use tch::Kind;

use crate::core::{Result, Tensor};

/// The nearest changes `N x D` that are no larger in l1 than `radii`, `N x 1`, with every number between 0 and `most`, which has the signs of
/// the changes; `None`: of any size.
///
/// Every number loses the same in size, as far as it has that much, from what it is beyond `most` first. How much that is is read off where
/// the sum of what is left, piece by piece a line, meets the radius.
pub(super) fn nearest(changes: &Tensor, most: Option<&Tensor>, radii: &Tensor) -> Result<Tensor> {
    let sizes = changes.f_abs()?.f_to_kind(Kind::Double)?;
    let most = match most {
        Some(most) => sizes.f_minimum(&most.f_abs()?.f_to_kind(Kind::Double)?)?,
        None => sizes.shallow_clone(),
    };
    let radii = radii.f_to_kind(Kind::Double)?;
    let total = most.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Double)?;
    // Where numbers begin to lose, and where nothing is left of them.
    let (places, order) = Tensor::f_cat(&[sizes.f_sub(&most)?, sizes.shallow_clone()], 1)?.f_sort(1, false)?;
    let begins = order.f_lt(sizes.size()[1])?.f_to_kind(Kind::Double)?;
    let losing = begins.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?.f_cumsum(1, Kind::Double)?;
    let count = places.size()[1];
    let gaps = places.f_narrow(1, 1, count - 1)?.f_sub(&places.f_narrow(1, 0, count - 1)?)?;
    let lost = losing.f_narrow(1, 0, count - 1)?.f_mul(&gaps)?.f_cumsum(1, Kind::Double)?;
    let left = Tensor::f_cat(&[total.shallow_clone(), total.f_sub(&lost)?], 1)?;
    // The last place where more is left than may be.
    let last = left.f_ge_tensor(&radii)?.f_to_kind(Kind::Int64)?.f_sum_dim_intlist([1i64].as_slice(), true, None)?;
    let last = last.f_sub_scalar(1)?.f_clamp_min(0)?;
    let of = |t: &Tensor| t.f_gather(1, &last, false);
    let further = of(&left)?.f_sub(&radii)?.f_div(&of(&losing)?.f_clamp_min(1.0)?)?;
    let less = of(&places)?.f_add(&further)?.f_where_scalarother(&total.f_gt_tensor(&radii)?, 0.0)?;
    let kept = sizes.f_sub(&less)?.f_clamp_min(0.0)?.f_minimum(&most)?;
    Ok(kept.f_to_kind(changes.kind())?.f_mul(&changes.f_sign()?)?)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    /// By halving: what every number loses, so that what is left has the size that it may have.
    fn halved(changes: &[f64], most: &[f64], radius: f64) -> Vec<f64> {
        let left = |less: f64| -> Vec<f64> {
            changes.iter().zip(most).map(|(x, most)| (x.abs() - less).clamp(0.0, most.abs()) * x.signum()).collect()
        };
        let size = |of: &[f64]| of.iter().map(|x| x.abs()).sum::<f64>();
        if size(&left(0.0)) <= radius {
            return left(0.0);
        }
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            *if size(&left(middle)) > radius { &mut low } else { &mut high } = middle;
        }
        left(high)
    }

    fn found(changes: &[f64], most: Option<&[f64]>, radius: f64) -> Vec<f64> {
        let row = |of: &[f64]| Tensor::from_slice(of).reshape([1, -1]);
        let found = nearest(&row(changes), most.map(row).as_ref(), &row(&[radius])).expect("changes");
        Vec::try_from(found.reshape([-1])).expect("numbers")
    }

    fn apart(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn it_is_what_halving_finds() {
        let mut rng = random(1, 2);
        for round in 0..300 {
            let count = 1 + round % 40;
            let changes: Vec<f64> = (0..count).map(|_| rng.gen_range(-2.0..2.0)).collect();
            // Some can't move at all, some anywhere.
            let most: Vec<f64> = changes
                .iter()
                .map(|x: &f64| x.signum() * [0.0, rng.gen_range(0.0..1.0), 5.0][rng.gen_range(0..3)])
                .collect();
            let radius = rng.gen_range(0.001..0.5) * count as f64;
            let wanted = halved(&changes, &most, radius);
            assert!(apart(&found(&changes, Some(&most), radius), &wanted) < 1e-9, "{changes:?} {most:?} {radius}");
            let free = halved(&changes, &vec![1e9; count], radius);
            assert!(apart(&found(&changes, None, radius), &free) < 1e-9, "{changes:?} {radius}");
        }
    }

    /// scipy 1.17.1's `minimize(method="SLSQP")` of the distance from (0.9, -0.4, 0.3, 0.05) with bounds (0, 0.5), (-1, 0), (0, 1), (0, 0)
    /// and a sum of sizes of at most 0.8: (0.5, -0.2, 0.1, 0).
    #[test]
    fn it_is_what_an_optimiser_finds() {
        let changes = [0.9, -0.4, 0.3, 0.05];
        assert!(apart(&found(&changes, Some(&[0.5, -1.0, 1.0, 0.0]), 0.8), &[0.5, -0.2, 0.1, 0.0]) < 1e-12);
        // Cut to the ball first and to the bounds then, a part of the ball would be given up.
        assert!(apart(&found(&changes, None, 0.8), &[1.9 / 3.0, -0.4 / 3.0, 0.1 / 3.0, 0.0]) < 1e-12);
        // A ball that holds all, and one of no size to speak of.
        assert_eq!(found(&changes, Some(&[0.5, -1.0, 1.0, 0.0]), f64::INFINITY), [0.5, -0.4, 0.3, 0.0]);
        assert_eq!(found(&changes, None, f64::INFINITY), changes);
        assert!(found(&changes, None, 0.0).iter().all(|x| *x == 0.0));
    }
}
