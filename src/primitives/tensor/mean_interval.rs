//! `Tensor.mean_interval`.

use std::collections::BTreeMap;

use super::SELF;
use crate::core::{Cautions, Error, Value};
use crate::maths::means::{skewed, student_at};
use crate::maths::shares::few_groups;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static MEAN_INTERVAL: Primitive = Primitive {
    path: "Tensor.mean_interval",
    purpose: "The mean of numbers that are drawn independently of each other, with Student's interval.",
    params: &[SELF],
    options: &[Param::new("delta", Kind::Float, "the interval is at the level 1 - delta")
        .range(1e-6, 0.5)
        .or(Fallback::Float(0.05))],
    returns: "a map: `mean, lo, hi, n, cautions`; `lo` and `hi` are () of one number, or where one is not finite",
    notes: "One number for each object, image or seed. Of two models on the same images the differences image by image, `a - b`, tell more than two intervals do. \
            `cautions` tell where numbers are few, all the same, or so uneven that the interval is mostly too narrow.",
    source: "Student, \"The probable error of a mean\", Biometrika 6, 1908; Cochran, Sampling Techniques, 1977, Section 2.15",
    examples: &[Example {
        // scipy.stats.t.interval
        code: "let found = tensor::from([1, 2, 3, 4]).mean_interval();\n[found.mean, abs(found.lo - 0.44574) < 1e-5, abs(found.hi - 4.55426) < 1e-5]",
        result: "[2.5, true, true]",
    }],
    run: |_, args| {
        let x = args.tensor("x").f_to_kind(tch::Kind::Double)?.f_reshape([-1])?;
        let numbers = Vec::<f64>::try_from(x)?;
        if numbers.is_empty() {
            return Err(Error::argument("the tensor is empty"));
        }
        let (mean, lo, hi) = student_at(&numbers, args.float("delta"));
        let end = |end: f64| if end.is_finite() { Value::Float(end) } else { Value::Unit };
        let mut cautions = Cautions::default();
        let told = [few_groups(numbers.len(), "numbers"), skewed(&numbers, "numbers")];
        told.into_iter().flatten().for_each(|told| cautions.add(told));
        if numbers.len() == 1 {
            cautions.add("of one number no interval is known");
        }
        let endless = numbers.iter().filter(|x| !x.is_finite()).count();
        if endless > 0 {
            cautions.add(format!("{endless} of {} numbers are not finite: no interval is known", numbers.len()));
        }
        Ok(Value::Map(BTreeMap::from([
            ("mean".to_string(), Value::Float(mean)),
            ("lo".to_string(), end(lo)),
            ("hi".to_string(), end(hi)),
            ("n".to_string(), Value::Int(numbers.len() as i64)),
            ("cautions".to_string(), cautions.value()),
        ])))
    },
};
