//! Settings that fill a space evenly: Sobol's sequence, scrambled after Owen (Burley, JCGT 2020).

use rand_pcg::Pcg64Mcg;

use crate::space::{Axis, Setting};

/// Points that a sequence has.
pub(super) const POINTS: u32 = 1 << 16;

/// The point at a place below `POINTS` of the sequence that this number scrambles, by its dimensions from `first` on, one for each axis.
/// What has no order is drawn.
pub(super) fn setting(axes: &[Axis], at: u32, first: u32, scramble: u32, rng: &mut Pcg64Mcg) -> Setting {
    axes.iter()
        .zip(first..)
        .map(|(axis, i)| {
            let dimensions = sobol_burley::NUM_DIMENSIONS;
            let share = f64::from(sobol_burley::sample(at, i % dimensions, scramble.wrapping_add(i / dimensions)));
            match *axis {
                Axis::Chance => axis.draw(rng),
                Axis::Choices(n) => ((share * n as f64) as usize).min(n - 1) as f64,
                Axis::Whole { min, max } => {
                    let many = f64::from(max) - f64::from(min) + 1.0;
                    f64::from(min) + (share * many).floor().min(many - 1.0)
                }
                _ => axis.at_share(share),
            }
        })
        .collect()
}
