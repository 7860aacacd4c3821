//! A kernel that is trusted once it came to what it stands for.

use std::cell::RefCell;
use std::collections::HashMap;

use tch::Kind;

use crate::core::{Result, Tensor, numbers_of, works_fast};

/// How far a kernel may be from its layers, as a share of their largest number: sums in another order, rounded to what a number has of bits.
fn allowed(kind: Kind) -> f64 {
    match kind {
        Kind::Float if works_fast() => 1e-2,
        Kind::Float => 1e-4,
        _ => 3e-2,
    }
}

/// Numbers that are compared at once: a larger batch is compared part by part, which takes less memory.
const AT_ONCE: i64 = 1 << 24;

/// Whether a kernel is as good as its layers, by the shapes that it takes: libraries choose another program for each.
#[derive(Default)]
pub struct TriedKernel(RefCell<HashMap<Vec<Vec<i64>>, bool>>);

impl TriedKernel {
    /// What the kernel gives of these inputs, or else what the layers give. With inputs of new shapes both are worked out: the kernel must be
    /// near the layers, give the same bits twice, and read nothing of the memory that it writes to. Where it fails, for want of memory or
    /// of a program for such inputs, or isn't as good, the layers work from then on.
    pub fn run(
        &self,
        inputs: &[&Tensor],
        kernel: &dyn Fn() -> Result<Tensor>,
        layers: &dyn Fn() -> Result<Tensor>,
    ) -> Result<Tensor> {
        let shapes: Vec<Vec<i64>> = inputs.iter().map(|input| input.size()).collect();
        let known = self.0.borrow().get(&shapes).copied();
        match known {
            Some(true) => kernel(),
            Some(false) => layers(),
            None => {
                let given = layers()?;
                // What is no number is near nothing: such a batch tells nothing of the kernel.
                if numbers_of(&[given.f_isfinite()?.f_all()?])? == [0.0] {
                    return Ok(given);
                }
                let found = tried(&given, kernel).unwrap_or(None);
                self.0.borrow_mut().insert(shapes, found.is_some());
                Ok(found.unwrap_or(given))
            }
        }
    }
}

/// What the kernel gives, if it is as good as what was given.
fn tried(given: &Tensor, kernel: &dyn Fn() -> Result<Tensor>) -> Result<Option<Tensor>> {
    // Memory that was let go of is what the next tensor of that size gets.
    let once = || -> Result<Option<Tensor>> {
        drop(given.f_full_like(f64::NAN)?);
        Ok(Some(kernel()?).filter(|got| got.size() == given.size() && got.kind() == given.kind()))
    };
    let Some(first) = once()? else { return Ok(None) };
    let (mut apart, mut largest, mut others) = (vec![], vec![], vec![]);
    for (got, wanted) in parts(&first)?.iter().zip(parts(given)?) {
        apart.push(got.f_sub(&wanted)?.f_abs()?.f_max()?);
        largest.push(wanted.f_abs()?.f_max()?);
    }
    let Some(again) = once()? else { return Ok(None) };
    for (got, wanted) in parts(&again)?.iter().zip(parts(&first)?) {
        others.push(got.f_ne_tensor(&wanted)?.f_any()?);
    }
    let most = |of: &[Tensor]| -> Result<Tensor> { Ok(Tensor::f_stack(of, 0)?.f_max()?) };
    let [apart, largest, others] =
        numbers_of(&[most(&apart)?, most(&largest)?, Tensor::f_stack(&others, 0)?.f_any()?])?[..]
    else {
        return Ok(None);
    };
    // NaN is near nothing.
    Ok((apart <= allowed(given.kind()) * largest && others == 0.0).then_some(first))
}

fn parts(batch: &Tensor) -> Result<Vec<Tensor>> {
    let rows = batch.size().first().copied().unwrap_or_default();
    let parts = (batch.numel() as i64 / AT_ONCE).clamp(1, rows.max(1));
    Ok(batch.f_chunk(parts, 0)?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tch::Device;

    use super::*;
    use crate::core::Error;

    #[test]
    fn a_kernel_works_where_it_is_as_good_as_its_layers_and_nowhere_else() -> Result<()> {
        let cpu = (Kind::Float, Device::Cpu);
        let x = Tensor::f_rand([40, 3], cpu)?;
        let layers = || Ok(x.f_mul_scalar(2.0)?);
        let calls = Cell::new(0);
        let kernel = |result: &dyn Fn(i32) -> Result<Tensor>| {
            calls.set(calls.get() + 1);
            result(calls.get())
        };
        let good = |_: i32| Ok(x.f_mul_scalar(2.0 + 1e-6)?);
        let far = |_: i32| Ok(x.f_mul_scalar(2.001)?);
        let moving = |call: i32| Ok(x.f_mul_scalar(2.0 + 1e-6 * f64::from(call))?);
        let no_number = |_: i32| Ok(x.f_full_like(f64::NAN)?);
        let other_shape = |_: i32| Ok(x.f_narrow(0, 0, 1)?.f_mul_scalar(2.0)?);
        let fails = |_: i32| Err(Error::internal("no such kernel"));
        let results: [&dyn Fn(i32) -> Result<Tensor>; 6] = [&good, &far, &moving, &no_number, &other_shape, &fails];
        for (i, result) in results.into_iter().enumerate() {
            let trusted = i == 0;
            let tried = TriedKernel::default();
            calls.set(0);
            let answers = (0..3).map(|_| tried.run(&[&x], &|| kernel(result), &layers)).collect::<Result<Vec<_>>>()?;
            let wanted = if trusted { good(0)? } else { layers()? };
            assert!(answers.iter().all(|answer| *answer == wanted), "case {i}");
            // Twice to try it, then only where it is trusted; of what failed at once there is no second time.
            let most = if trusted { 4 } else { 2 };
            assert!(calls.get() <= most && (calls.get() == 4) == trusted, "case {i}: {} calls", calls.get());
        }
        Ok(())
    }

    #[test]
    fn other_shapes_are_tried_anew_and_what_is_no_number_tells_nothing() -> Result<()> {
        let cpu = (Kind::Float, Device::Cpu);
        let tried = TriedKernel::default();
        let calls = Cell::new(0);
        let run = |x: &Tensor| {
            let kernel = || {
                calls.set(calls.get() + 1);
                Ok(x.f_mul_scalar(2.0)?)
            };
            tried.run(&[x], &kernel, &|| Ok(x.f_mul_scalar(2.0)?))
        };
        let infinite = Tensor::f_full([4, 2], f64::INFINITY, cpu)?;
        assert!(run(&infinite)? == infinite && calls.get() == 0);
        for (rows, told) in [(4, 2), (4, 3), (5, 5), (5, 6), (4, 7)] {
            drop(run(&Tensor::f_rand([rows, 2], cpu)?)?);
            assert_eq!(calls.get(), told);
        }
        // Trusted, it is asked where numbers are none as well.
        assert!(run(&infinite)? == infinite && calls.get() == 8);
        Ok(())
    }
}
