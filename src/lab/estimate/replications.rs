//! One test on many samples, the rows of a matrix: for simulations of how often a test rejects.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::independence::{interval_test, pairwise_test, stakes};
use super::verdict::fields;
use crate::core::{Cx, Error, Result, Tensor, Value, in_parallel};
use crate::maths::bernstein::mean_variance;
use crate::maths::betting::Bets;

/// Values that are looked at between two questions whether to stop.
const PART: i64 = 1 << 21;

/// What a test says of every row, by name.
type TestColumns = BTreeMap<String, Value>;

/// `test` on every row, on all cores that viva may use.
fn each_row<T: Send>(
    cx: &Cx,
    name: &str,
    matrix: &Tensor,
    test: impl Fn(&[f64]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let &[rows, columns] = &matrix.size()[..] else {
        return Err(Error::argument(format!(
            "samples are the rows of a matrix, got a tensor of shape {:?}",
            matrix.size()
        )));
    };
    if rows * columns == 0 {
        return Err(Error::argument(format!("the tensor of {rows} x {columns} is empty")));
    }
    let part = (PART / columns).max(1);
    let task = cx.progress(name, Some(rows as u64));
    let mut found = Vec::new();
    for first in (0..rows).step_by(part as usize) {
        cx.check()?;
        let here = part.min(rows - first);
        let flat = matrix.f_narrow(0, first, here)?.f_to_device(tch::Device::Cpu)?.f_to_kind(tch::Kind::Double)?;
        let values: Vec<f64> = Vec::try_from(&flat.f_contiguous()?.f_reshape([-1])?)?;
        let tested: Vec<Result<T>> = in_parallel(|| values.par_chunks(columns as usize).map(&test).collect())?;
        for (i, outcome) in tested.into_iter().enumerate() {
            found.push(outcome.map_err(|error| error.during(&format!("row {}", first + i as i64)))?);
        }
        task.advance(here as u64);
    }
    Ok(found)
}

fn column<T>(rows: &[T], value: impl Fn(&T) -> f64) -> Result<Value> {
    let values: Vec<f64> = rows.iter().map(value).collect();
    Ok(Value::tensor(Tensor::f_from_slice(&values)?))
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// `pairwise_test` on every row.
pub fn pairwise_tests(cx: &Cx, samples: &Tensor, range: f64, delta: f64) -> Result<TestColumns> {
    let rows = each_row(cx, "pairwise tests", samples, |t| pairwise_test(t, range, delta))?;
    Ok(fields([
        ("m", Value::Int(samples.size()[1])),
        ("difference", column(&rows, |test| test.difference)?),
        ("sigma", column(&rows, |test| test.sigma)?),
        ("bound", column(&rows, |test| test.bound)?),
        ("p", column(&rows, |test| test.p)?),
        ("reject", column(&rows, |test| truth(test.reject))?),
    ]))
}

/// `interval_test` on every row of both.
pub fn interval_tests(cx: &Cx, losses: &Tensor, weighted: &Tensor, delta: f64) -> Result<TestColumns> {
    if losses.size() != weighted.size() {
        return Err(Error::argument(format!(
            "losses of shape {:?} but weighted losses of shape {:?}",
            losses.size(),
            weighted.size()
        )));
    }
    let pairs = Tensor::f_cat(&[losses, weighted], -1)?;
    let rows = each_row(cx, "interval tests", &pairs, |pair| {
        let (losses, weighted) = pair.split_at(pair.len() / 2);
        interval_test(losses, weighted, delta)
    })?;
    Ok(fields([
        ("m", Value::Int(losses.size()[1])),
        ("error", column(&rows, |test| test.error)?),
        ("weighted_error", column(&rows, |test| test.weighted_error)?),
        ("difference", column(&rows, |test| test.weighted_error - test.error)?),
        ("bound", column(&rows, |test| test.bound)?),
        ("p", column(&rows, |test| test.p)?),
        ("reject", column(&rows, |test| truth(test.reject))?),
    ]))
}

/// The betting test on every row. Without `ladder` a p-value is delta or 1.
pub fn betting_tests(cx: &Cx, samples: &Tensor, bets: Bets, ladder: bool) -> Result<TestColumns> {
    // Refining the p-value of one long row takes many passes.
    let stop = cx.stop_flag();
    let go_on = || if stop.load(Ordering::Relaxed) { Err(Error::interrupted()) } else { Ok(()) };
    let rows = each_row(cx, "betting tests", samples, |t| {
        let t = stakes(t, bets.range)?;
        let outcome = bets.play(&t);
        let p = match outcome.reject {
            true if ladder => bets.p(&t, &outcome, go_on)?,
            true => bets.delta,
            false => 1.0,
        };
        Ok((mean_variance(t.iter().copied()), outcome, p))
    })?;
    Ok(fields([
        ("m", Value::Int(samples.size()[1])),
        ("sides", Value::Int(bets.sides.count())),
        ("difference", column(&rows, |row| row.0.0)?),
        ("sigma", column(&rows, |row| row.0.1.sqrt())?),
        ("reject", column(&rows, |row| truth(row.1.reject))?),
        ("p", column(&rows, |row| row.2)?),
        ("log_wealth", column(&rows, |row| row.1.log_wealth)?),
        ("used", column(&rows, |row| row.1.used as f64)?),
    ]))
}
