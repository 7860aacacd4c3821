//! A kernel that is trusted where it came to what it stands for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tch::Kind;

use crate::core::{Result, Tensor, numbers_of, works_fast};

/// What does the work of some layers, or the layers themselves, on the same inputs, and the weights behind them.
pub type OnInputs<'a> = &'a dyn Fn(&[&Tensor]) -> Result<Tensor>;

/// Sizes, strides and alignment: by these, libraries choose one of their programs.
type InputLayout = Vec<(Vec<i64>, Vec<i64>, usize)>;

type KnownKernels = Rc<RefCell<HashMap<InputLayout, bool>>>;

/// Whether a kernel is as good as its layers, by the layout of what it takes.
#[derive(Default)]
pub struct TriedKernel(KnownKernels);

thread_local! {
    /// By what a kernel does: whoever does the same with weights of the same layout goes by the same trials.
    static OF_ALL: RefCell<HashMap<String, KnownKernels>> = RefCell::default();
}

impl TriedKernel {
    /// What it does beside its numbers, and the weights that it will be given, of which layout and device count.
    pub fn of(what: &str, weights: &[&Tensor]) -> Self {
        let layouts: Vec<String> = weights
            .iter()
            .map(|w| format!("{:?}", (w.size(), w.stride(), w.kind(), w.device(), w.data_ptr() as usize % 16)))
            .collect();
        Self(OF_ALL.with_borrow_mut(|all| all.entry(format!("{what}; {}", layouts.join("; "))).or_default().clone()))
    }

    /// What the kernel gives of large inputs, or else what the layers give. With every new layout both work on the same made-up numbers first,
    /// weights among them. The layers work from then on where the kernel has no program for it, isn't near them, gives other bits each time, lets
    /// NaN get lost, or reads the memory that it writes to. So which of them works follows from layouts, not from what came before.
    pub fn run(&self, inputs: &[&Tensor], weights: &[&Tensor], kernel: OnInputs, layers: OnInputs) -> Result<Tensor> {
        let all = [inputs, weights].concat();
        if !inputs.iter().all(|input| is_large(input)) {
            return layers(&all);
        }
        let align = |input: &Tensor| input.data_ptr() as usize % 16;
        let layout: InputLayout = inputs.iter().map(|input| (input.size(), input.stride(), align(input))).collect();
        let known = self.0.borrow().get(&layout).copied();
        let trusted = match known {
            Some(trusted) => trusted,
            None => {
                let trusted = match is_as_good(inputs, weights, kernel, layers) {
                    // A batch of half the size is tried anew; that no program is found is told in the words of a lack of memory.
                    Err(error) if error.is_out_of_memory() && !error.message.contains("engine") => return Err(error),
                    outcome => outcome.unwrap_or(false),
                };
                self.0.borrow_mut().insert(layout, trusted);
                trusted
            }
        };
        if trusted { kernel(&all) } else { layers(&all) }
    }
}

/// Whether there is enough to do that a trial pays: the last batches of a search have any size.
fn is_large(input: &Tensor) -> bool {
    input.size().first().is_some_and(|rows| *rows >= 64) || input.numel() >= 1 << 24
}

/// How far a kernel may be from its layers: at most, as a share of the largest number, and on average, as a share of the root mean square.
/// Sums in another order, rounded to what a number has of bits: on an H100 kernels of 12 shapes were at most 0 and 0.0074 of the
/// largest apart in float32 and bfloat16.
fn allowed(kind: Kind) -> [f64; 2] {
    match kind {
        Kind::Float if works_fast() => [1e-2, 5e-3],
        Kind::Float => [1e-4, 1e-5],
        _ => [3e-2, 1e-2],
    }
}

/// Numbers that are compared at once: larger batches are compared part by part, which takes less memory.
const AT_ONCE: i64 = 1 << 24;

/// How often a kernel must give the same bits.
const TIMES: usize = 4;

fn is_as_good(inputs: &[&Tensor], weights: &[&Tensor], kernel: OnInputs, layers: OnInputs) -> Result<bool> {
    let made = inputs.iter().enumerate().map(|(i, input)| made_up(input, i as f64));
    let made = made.collect::<Result<Vec<_>>>()?;
    if made.iter().zip(inputs).any(|(made, input)| made.stride() != input.stride()) {
        return Ok(false);
    }
    let made_weights = weights.iter().map(|weight| made_up_weight(weight)).collect::<Result<Vec<_>>>()?;
    let made: Vec<Tensor> = made.into_iter().chain(made_weights).collect();
    let made: Vec<&Tensor> = made.iter().collect();
    let given = layers(&made)?;
    let once = || {
        // What is let go of here is as a rule what the kernel's result gets.
        drop(given.f_full_like(f64::NAN)?);
        kernel(&made)
    };
    let first = once()?;
    if first.size() != given.size() || first.kind() != given.kind() {
        return Ok(false);
    }
    let [most, mean] = allowed(given.kind());
    let mut told = compared(&first, &given)?;
    for _ in 1..if works_fast() { 1 } else { TIMES } {
        told.push(differ(&once()?, &first)?);
    }
    let told = numbers_of(&told)?;
    let [numbers, apart, largest, squares_apart, squares, ref others @ ..] = told[..] else { return Ok(false) };
    let near = apart <= most * largest && squares_apart <= mean.powi(2) * squares;
    Ok(numbers == 0.0 && largest > 0.0 && near && others.iter().all(|other| *other == 0.0))
}

/// Numbers from -1 to 1 in the layout of others. Of three rows each one place holds none: at the beginning of what lies side by side there, and a
/// third and two thirds on.
fn made_up(like: &Tensor, phase: f64) -> Result<Tensor> {
    let options = (Kind::Float, like.device());
    let waves = Tensor::f_arange(like.numel() as i64, options)?.f_mul_scalar_(0.7)?.f_add_scalar_(phase)?.f_sin_()?;
    let mut made = like.f_empty_like()?;
    made.f_copy_(&waves.f_reshape(like.size())?)?;
    let size = like.size();
    let (rows, across) = (size.first().copied().unwrap_or(1), size.last().copied().unwrap_or(1));
    for row in 0..rows.min(3) {
        let mut place = made.shallow_clone();
        for dim in 0..size.len() {
            let at = match dim {
                0 => row,
                _ if dim + 1 == size.len() => row * across / 3,
                _ => 0,
            };
            place = place.f_narrow(dim as i64, at, 1)?;
        }
        let _ = place.f_fill_(f64::NAN)?;
    }
    Ok(made)
}

/// Weights without an order that sums could show, as large as those of layers before they learn.
fn made_up_weight(like: &Tensor) -> Result<Tensor> {
    let mut waves =
        Tensor::f_arange(like.numel() as i64, (Kind::Float, like.device()))?.f_mul_scalar_(12.9898)?.f_sin_()?;
    let mut numbers = waves.f_mul_scalar_(43_758.547)?.f_frac_()?;
    let summed: i64 = like.size().iter().skip(1).product();
    let mut made = like.f_empty_like()?;
    made.f_copy_(&numbers.f_mul_scalar_((summed.max(1) as f64).powf(-0.5))?.f_reshape(like.size())?)?;
    Ok(made)
}

/// Of two batches: how many places are a number in one alone; the largest difference and the largest number; and the sums of their squares.
fn compared(got: &Tensor, wanted: &Tensor) -> Result<Vec<Tensor>> {
    let mut of: [Vec<Tensor>; 5] = Default::default();
    for (got, wanted) in parts(got)?.iter().zip(parts(wanted)?) {
        let numbers = [got, &wanted].map(|part| part.f_isfinite());
        let [here, there] = numbers;
        of[0].push(here?.f_ne_tensor(&there?)?.f_sum(Kind::Double)?);
        let number = |part: &Tensor| part.f_to_kind(Kind::Float)?.f_nan_to_num(0.0, 0.0, 0.0);
        let (got, wanted) = (number(got)?, number(&wanted)?);
        let apart = got.f_sub(&wanted)?;
        for (at, of_part) in [(1, &apart), (2, &wanted)] {
            of[at].push(of_part.f_abs()?.f_max()?.f_to_kind(Kind::Double)?);
            of[at + 2].push(of_part.f_square()?.f_sum(Kind::Double)?);
        }
    }
    let [numbers, apart, largest, squares_apart, squares] = of.map(|of| Tensor::f_stack(&of, 0));
    let sum = |of: Tensor| of.f_sum(Kind::Double);
    Ok(vec![sum(numbers?)?, apart?.f_max()?, largest?.f_max()?, sum(squares_apart?)?, sum(squares?)?])
}

/// How many places of two batches have other numbers.
fn differ(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let of_part = |(a, b): (&Tensor, Tensor)| -> Result<Tensor> {
        let same = a.f_eq_tensor(&b)?.f_logical_or(&a.f_isnan()?.f_logical_and(&b.f_isnan()?)?)?;
        Ok(same.f_logical_not()?.f_sum(Kind::Double)?)
    };
    let of = parts(a)?.iter().zip(parts(b)?).map(of_part).collect::<Result<Vec<_>>>()?;
    Ok(Tensor::f_stack(&of, 0)?.f_sum(Kind::Double)?)
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
    use crate::core::{Error, ErrorKind};

    const CPU: (Kind, Device) = (Kind::Float, Device::Cpu);

    fn doubled(inputs: &[&Tensor]) -> Result<Tensor> {
        Ok(inputs[0].f_mul_scalar(2.0)?)
    }

    /// Which of the two gives answers, and how often the kernel was asked for them.
    fn asked(kernel: impl Fn(&[&Tensor], i32) -> Result<Tensor>, inputs: &[Tensor]) -> Result<Vec<(Tensor, i32)>> {
        let (tried, calls) = (TriedKernel::default(), Cell::new(0));
        let counted = |inputs: &[&Tensor]| {
            calls.set(calls.get() + 1);
            kernel(inputs, calls.get())
        };
        inputs.iter().map(|x| Ok((tried.run(&[x], &[], &counted, &doubled)?, calls.get()))).collect()
    }

    type CountedKernel<'a> = &'a dyn Fn(&[&Tensor], i32) -> Result<Tensor>;

    #[test]
    fn a_kernel_works_where_it_is_as_good_as_its_layers_and_nowhere_else() -> Result<()> {
        let x = Tensor::f_rand([80, 3], CPU)?;
        let more = |by: f64| move |inputs: &[&Tensor], _: i32| Ok(inputs[0].f_mul_scalar(2.0 + by)?);
        let (good, far) = (more(1e-6), more(1e-3));
        let moving = |inputs: &[&Tensor], call: i32| Ok(inputs[0].f_mul_scalar(2.0 + 1e-6 * f64::from(call % 3))?);
        let nan_is_lost = |inputs: &[&Tensor], _: i32| Ok(doubled(inputs)?.f_nan_to_num(0.0, None, None)?);
        // Kept in one row alone, as a kernel might that sees what it is for only there.
        let kept_in_one_row = |inputs: &[&Tensor], _: i32| {
            let given = doubled(inputs)?;
            let _ = given.f_narrow(0, 1, 79)?.f_nan_to_num_(0.0, None, None)?;
            Ok(given)
        };
        let no_number = |inputs: &[&Tensor], _: i32| Ok(inputs[0].f_full_like(f64::NAN)?);
        let nothing = |inputs: &[&Tensor], _: i32| Ok(inputs[0].f_zeros_like()?);
        let one_row_is_wrong = |inputs: &[&Tensor], _: i32| {
            let given = doubled(inputs)?;
            let _ = given.f_get(70)?.f_mul_scalar_(1.01)?;
            Ok(given)
        };
        let other_shape = |inputs: &[&Tensor], _: i32| Ok(doubled(inputs)?.f_narrow(0, 0, 1)?);
        let fails = |_: &[&Tensor], _: i32| Err(Error::internal("no such kernel"));
        let bad: [CountedKernel; 9] = [
            &far,
            &moving,
            &nan_is_lost,
            &kept_in_one_row,
            &no_number,
            &nothing,
            &one_row_is_wrong,
            &other_shape,
            &fails,
        ];
        for (i, kernel) in bad.into_iter().enumerate() {
            for (answer, calls) in asked(kernel, &[x.shallow_clone(), x.shallow_clone()])? {
                assert!(answer == doubled(&[&x])? && calls <= TIMES as i32, "case {i}: {calls} calls");
            }
        }
        for (k, (answer, calls)) in asked(good, &[x.shallow_clone(), x.shallow_clone()])?.into_iter().enumerate() {
            assert_eq!((answer == good(&[&x], 0)?, calls), (true, (TIMES + 1 + k) as i32));
        }
        Ok(())
    }

    #[test]
    fn which_of_them_works_follows_from_layouts_and_not_from_numbers() -> Result<()> {
        let near = |inputs: &[&Tensor], _: i32| Ok(inputs[0].f_mul_scalar(2.0 + 1e-6)?);
        let (small, blank) = (Tensor::f_rand([63, 3], CPU)?, Tensor::f_zeros([64, 3], CPU)?);
        let infinite = Tensor::f_full([64, 3], f64::INFINITY, CPU)?;
        let turned = Tensor::f_rand([3, 64], CPU)?.f_transpose(0, 1)?;
        let tried = TIMES as i32;
        let told = asked(near, &[small, infinite, blank, turned.shallow_clone(), turned])?;
        let calls: Vec<i32> = told.iter().map(|(_, calls)| *calls).collect();
        assert_eq!(calls, [0, tried + 1, tried + 2, 2 * tried + 3, 2 * tried + 4]);
        Ok(())
    }

    /// Another network's kernel of the same layouts is not tried again, and weights that are no numbers have no say.
    #[test]
    fn trials_are_of_layouts_whosever_weights_they_have() -> Result<()> {
        let calls = Cell::new(0);
        let by_weight = |inputs: &[&Tensor]| Ok(inputs[0].f_mul(inputs[1])?);
        let counted = |inputs: &[&Tensor]| {
            calls.set(calls.get() + 1);
            by_weight(inputs)
        };
        let (x, none) = (Tensor::f_rand([64, 3], CPU)?, Tensor::f_full([3], f64::NAN, CPU)?);
        let mut after = vec![];
        for weight in [&none, &Tensor::f_rand([3], CPU)?, &Tensor::f_rand([1, 3], CPU)?] {
            drop(TriedKernel::of("a product", &[weight]).run(&[&x], &[weight], &counted, &by_weight)?);
            after.push(calls.get());
        }
        assert_eq!(after, [TIMES + 1, TIMES + 2, 2 * TIMES + 3]);
        Ok(())
    }

    #[test]
    fn want_of_memory_is_told_and_a_lack_of_programs_is_not() -> Result<()> {
        let x = Tensor::f_rand([64, 2], CPU)?;
        let full = |_: &[&Tensor]| Err(Error::new(ErrorKind::Memory, "CUDA out of memory"));
        assert!(TriedKernel::default().run(&[&x], &[], &full, &doubled).is_err_and(|error| error.is_out_of_memory()));
        let none =
            |_: &[&Tensor]| Err(Error::new(ErrorKind::Memory, "unable to find an engine to execute this computation"));
        assert!(TriedKernel::default().run(&[&x], &[], &none, &doubled)? == doubled(&[&x])?);
        Ok(())
    }
}
