//! `risk::betting_test`.

use super::{DELTA, RiskSamples, SAMPLES, SIDES, sides};
use crate::core::Value;
use crate::estimate::independence::{bets, betting_test, order};
use crate::estimate::replications::betting_tests;
use crate::estimate::verdict::Judged;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static BETTING_TEST: Primitive = Primitive {
    path: "risk::betting_test",
    purpose: "Tests from the differences T_i whether a model is independent of the images, by betting against it image by image.",
    params: &[Param::new(
        "t",
        SAMPLES,
        "T_i = L(g(x_i)) h_g(g(x_i)) - L(x_i), one per image, in an order that was fixed before looking at them; or a tensor \
         whose rows are many samples",
    )],
    options: &[
        Param::new(
            "lo",
            Kind::Float,
            "the smallest value that a T_i can take, whether one does or not: a report's `lo`",
        )
        .range(-1e12, -1e-12)
        .or(Fallback::Float(-1.0)),
        Param::new(
            "hi",
            Kind::Float,
            "the largest value that a T_i can take, whether one does or not: a report's `hi`",
        )
        .range(1e-12, 1e12)
        .or(Fallback::Float(0.5)),
        DELTA,
        SIDES,
        Param::new(
            "shuffle",
            Kind::Int,
            "puts the values in the order of this seed first, as a report's `betting.seed` does",
        )
        .or(Fallback::Absent("the order as given")),
        Param::new(
            "ladder",
            Kind::Bool,
            "whether p is refined below delta; without, it is delta or 1 and takes less time",
        )
        .or(Fallback::Bool(true)),
    ],
    returns: "a map: m, difference (their mean T), sigma (their biased deviation), sides, reject, p, log_wealth (the highest \
              weighted log wealth), used (images until it could stop; all if it does not reject), power (the gap that it could have \
              seen with 80% power, and images needed for others, as a report's), verdict; for a matrix, tensors with one number per \
              row (reject is 0 or 1), and neither power nor verdict",
    notes: "A stake of 1 is bet on the T_i one after the other. If they have mean 0, the wealth reaches 1/delta with probability \
            delta at most, at any sample size; the test rejects at delta if log_wealth reaches ln(1/delta). p is the last of \
            the levels delta, delta/10, delta/100, ... up to which it rejects at every one, or 1; no finer p is claimed. It needs about \
            half of the images that the pairwise test needs where samples are large, a third where errors are rare. Which test \
            counts is to be decided before looking at either.",
    source: "after Waudby-Smith and Ramdas 2024, and Voráček and Orabona 2025 (betting); fixed sample size",
    examples: &[Example {
        code: "risk::betting_test(tensor::from([0, 0, 0.5, 0, 0.25, 0.5, 0, 0.5, 0.5, 0.5]), #{ lo: -1, hi: 0.5 }).p",
        result: "1.0",
    }],
    run: |cx, args| {
        let range = (args.float("lo"), args.float("hi"));
        let bets = bets(range, args.float("delta"), sides(args))?;
        let shuffled = |n: usize| args.optional_int("shuffle").map(|seed| order(n, seed as u64, 0));
        Ok(Value::Map(match RiskSamples::of(args, "t")? {
            RiskSamples::One(mut t) => {
                if let Some(places) = shuffled(t.len()) {
                    t = places.into_iter().map(|i| t[i]).collect();
                }
                Judged::of_t(betting_test(cx, &t, bets, args.bool("ladder"))?, &t, range.1).map()
            }
            RiskSamples::Rows(mut t) => {
                if let (Some(places), 2) = (shuffled(*t.size().get(1).unwrap_or(&0) as usize), t.dim()) {
                    let places: Vec<i64> = places.into_iter().map(|i| i as i64).collect();
                    let places = crate::core::Tensor::f_from_slice(&places)?.f_to_device(t.device())?;
                    t = std::rc::Rc::new(t.f_index_select(1, &places)?);
                }
                betting_tests(cx, &t, bets, args.bool("ladder"))?
            }
        }))
    },
};
