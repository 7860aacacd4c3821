//! Numbers as researchers expect them: `8/255` is a fraction, and comparisons are IEEE's.

use std::rc::Rc;

use rhai::{Dynamic, Engine, EvalAltResult, Position};

use super::kinds::{article, kind};
use super::value::{ErrorHandle, Handle, TensorHandle};
use crate::core::{Error, Tensor, Value, attempt, cut, is_whole};
use crate::space::{AnySpace, composed};

pub fn register(engine: &mut Engine) {
    engine.set_fast_operators(false);
    comparisons(engine);
    division(engine);
    functions(engine);
    tensors(engine);
    engine.register_fn("*", product);
}

/// `a * b` of two spaces: a point of b and then one of a.
fn product(a: Handle, b: Handle) -> Result<Handle, Box<EvalAltResult>> {
    let space = |handle: &Handle| {
        Value::Object(handle.0.clone()).downcast::<AnySpace>().ok_or_else(|| {
            Error::argument(format!("`*`: composes spaces, got a {}", handle.0.kind()))
                .hint("space::translate(3) * space::flip() mirrors and then translates")
        })
    };
    space(&a)
        .and_then(|a| composed(&a.0, &space(&b)?.0))
        .map(|composed| Handle(Rc::new(AnySpace(composed))))
        .map_err(|error| EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
}

fn comparisons(engine: &mut Engine) {
    macro_rules! compare {
        ($($operator:tt),*) => {$(
            engine.register_fn(stringify!($operator), |a: f64, b: f64| a $operator b);
            engine.register_fn(stringify!($operator), |a: i64, b: f64| (a as f64) $operator b);
            engine.register_fn(stringify!($operator), |a: f64, b: i64| a $operator (b as f64));
        )*};
    }
    compare!(==, !=, <, <=, >, >=);
    // A function of anything stands before those that Rhai has built in, and comes after these.
    macro_rules! order {
        ($($operator:tt),*) => {$(
            engine.register_fn(stringify!($operator), |a: i64, b: i64| a $operator b);
            engine.register_fn(stringify!($operator), |a: bool, b: bool| a $operator b);
            engine.register_fn(stringify!($operator), |a: char, b: char| a $operator b);
            engine.register_fn(stringify!($operator), |a: &str, b: &str| a $operator b);
            engine.register_fn(stringify!($operator), |a: char, b: &str| *a.encode_utf8(&mut [0; 4]) $operator *b);
            engine.register_fn(stringify!($operator), |a: &str, b: char| *a $operator *b.encode_utf8(&mut [0; 4]));
            engine.register_fn(stringify!($operator), |a: Dynamic, b: Dynamic| {
                not_in_order(stringify!($operator), &a, &b)
            });
        )*};
    }
    order!(<, <=, >, >=);
}

/// Rhai answers `false` to what has no order, such as a table's text beside a number, so that a filter leaves everything out.
fn not_in_order(operator: &str, a: &Dynamic, b: &Dynamic) -> Result<bool, Box<EvalAltResult>> {
    let is_text = |x: &Dynamic| x.is_string() || x.is_char();
    let hint = if a.is_unit() || b.is_unit() {
        "() stands for what is not there: ask `x != ()` first, or give what counts in its place, `x ?? 0`"
    } else if is_text(a) != is_text(b) {
        "parse_float(text) is the number that a text stands for"
    } else {
        "numbers are compared with numbers, texts with texts"
    };
    refused(&format!("`{operator}`: {} and {} have no order", told(a), told(b)), hint)
}

/// A value as a message names it.
fn told(value: &Dynamic) -> String {
    match value.is_unit() {
        true => "()".into(),
        false if value.is_string() => format!("the string {:?}", cut(&value.to_string(), 40)),
        false => article(kind(value)),
    }
}

fn division(engine: &mut Engine) {
    engine.register_fn("/", |a: i64, b: i64| a as f64 / b as f64);
    engine.register_fn("/", |a: i64, b: f64| a as f64 / b);
    engine.register_fn("/", |a: f64, b: i64| a / b as f64);
    engine.register_fn("/", |a: f64, b: f64| a / b);
    let int = std::any::TypeId::of::<i64>();
    let float = std::any::TypeId::of::<f64>();
    for types in [[int, int], [int, float], [float, int], [float, float]] {
        engine.register_raw_fn("/=", types, |_, arguments| {
            let number = |d: &Dynamic| d.as_float().or_else(|_| d.as_int().map(|i| i as f64)).unwrap_or(f64::NAN);
            *arguments[0] = Dynamic::from_float(number(arguments[0]) / number(arguments[1]));
            Ok(())
        });
    }
    engine.register_fn("div", |a: i64, b: i64| -> Result<i64, Box<EvalAltResult>> {
        a.checked_div(b).ok_or_else(|| {
            EvalAltResult::ErrorArithmetic(format!("div({a}, {b}): no such integer"), Position::NONE).into()
        })
    });
    engine.register_fn("**", |a: i64, b: i64| -> Dynamic {
        match u32::try_from(b).ok().and_then(|b| a.checked_pow(b)) {
            Some(power) => power.into(),
            None => (a as f64).powf(b as f64).into(),
        }
    });
}

fn functions(engine: &mut Engine) {
    macro_rules! on_integers {
        ($($name:literal: $function:expr),*) => {$(
            engine.register_fn($name, |a: i64| { let function: fn(f64) -> f64 = $function; function(a as f64) });
        )*};
    }
    on_integers!(
        "sqrt": f64::sqrt, "exp": f64::exp, "ln": f64::ln, "log10": f64::log10, "sin": f64::sin, "cos": f64::cos,
        "tan": f64::tan, "tanh": f64::tanh, "floor": |x| x, "ceiling": |x| x, "round": |x| x, "log2": f64::log2
    );
    engine.register_fn("log2", f64::log2);
    engine.register_fn("log10", f64::log10);
    logarithms(engine);
    powers(engine);
    macro_rules! passing_nan_on {
        ($($name:literal: $of_two:expr),*) => {$(
            let of_two = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { $of_two(a, b) };
            engine.register_fn($name, of_two);
            engine.register_fn($name, move |a: i64, b: f64| of_two(a as f64, b));
            engine.register_fn($name, move |a: f64, b: i64| of_two(a, b as f64));
        )*};
    }
    passing_nan_on!("min": f64::min, "max": f64::max);
    engine.register_fn("to_int", |x: f64| match !(-BEYOND_INTS..BEYOND_INTS).contains(&x) {
        true if x.is_nan() => refused("to_int: NaN is no int", "x.is_nan() asks first"),
        true => refused(&format!("to_int: {x:?} is no int"), "ints lie between -2^63 and 2^63"),
        false => Ok(x.trunc() as i64),
    });
}

/// 2^63, from which on a float is no int.
pub(super) const BEYOND_INTS: f64 = 9_223_372_036_854_775_808.0;

pub(super) fn refused<T>(what: &str, hint: &str) -> Result<T, Box<EvalAltResult>> {
    let error = Error::argument(what).hint(hint);
    Err(EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
}

/// `log(x)` is the natural logarithm to some and that to base 10 to others.
fn logarithms(engine: &mut Engine) {
    fn unclear<T>(_: T) -> Result<f64, Box<EvalAltResult>> {
        refused(
            "`log` does not say to which base",
            "ln(x) to base e, log10(x) to base 10, log2(x) to base 2, log(x, base) to any",
        )
    }
    engine.register_fn("log", unclear::<i64>);
    engine.register_fn("log", unclear::<f64>);
    engine.register_fn("log", |a: i64, base: i64| (a as f64).log(base as f64));
    engine.register_fn("log", |a: i64, base: f64| (a as f64).log(base));
    engine.register_fn("log", |a: f64, base: i64| a.log(base as f64));
    engine.register_fn("log", f64::log);
}

/// `2 ^ 3` is 8 to most and 1 to some.
fn powers(engine: &mut Engine) {
    const WHAT: &str = "`^` is a power to some and combines bits to others";
    const HINT: &str = "a power is a ** b; xor(a, b) combines bits";
    engine.register_fn("^", |_: i64, _: i64| refused::<i64>(WHAT, HINT));
    engine.register_fn("^=", |_: &mut i64, _: i64| refused::<()>(WHAT, HINT));
    engine.register_fn("xor", |a: i64, b: i64| a ^ b);
    engine.register_fn("xor", |a: bool, b: bool| a ^ b);
}

/// `+ - * /` and comparisons between tensors, and between a tensor and a number; `& | !` of masks.
fn tensors(engine: &mut Engine) {
    macro_rules! operator {
        ($operator:literal, $between:ident, $scalar:ident, $reversed:expr) => {
            engine.register_fn($operator, |a: TensorHandle, b: TensorHandle| {
                within($operator, &a.0, range_of(&b.0))?;
                handle($operator, &a.0, &b.0.size(), || counting(&a).and_then(|a| a.$between(&*counting(&b)?)))
            });
            engine.register_fn($operator, |a: TensorHandle, b: f64| {
                handle($operator, &a.0, &[], || counting(&a).and_then(|a| a.$scalar(b)))
            });
            engine.register_fn($operator, |a: TensorHandle, b: i64| {
                within($operator, &a.0, Some((b, b)))?;
                handle($operator, &a.0, &[], || counting(&a).and_then(|a| a.$scalar(b)))
            });
            engine.register_fn($operator, |a: f64, b: TensorHandle| {
                handle($operator, &b.0, &[], || counting(&b).and_then(|b| $reversed(&b, a)))
            });
            engine.register_fn($operator, |a: i64, b: TensorHandle| {
                within($operator, &b.0, Some((a, a)))?;
                handle($operator, &b.0, &[], || counting(&b).and_then(|b| $reversed(&b, a)))
            });
        };
    }
    // An int beside a tensor of ints is one of them: beyond 2^24 a float is another number.
    operator!("+", f_add, f_add_scalar, |b: &Tensor, a| b.f_add_scalar(a));
    operator!("-", f_sub, f_sub_scalar, |b: &Tensor, a| b.f_neg()?.f_add_scalar(a));
    operator!("*", f_mul, f_mul_scalar, |b: &Tensor, a| b.f_mul_scalar(a));
    operator!("/", f_div, f_div_scalar, |b: &Tensor, a| b.f_reciprocal()?.f_mul_scalar(a));
    engine.register_fn("-", |a: TensorHandle| handle("-", &a.0, &[], || counting(&a).and_then(|a| a.f_neg())));
    engine.register_fn("&", |a: TensorHandle, b: TensorHandle| mask("&", &[&a.0, &b.0], || a.0.f_logical_and(&b.0)));
    engine.register_fn("|", |a: TensorHandle, b: TensorHandle| mask("|", &[&a.0, &b.0], || a.0.f_logical_or(&b.0)));
    engine.register_fn("!", |a: TensorHandle| mask("!", &[&a.0], || a.0.f_logical_not()));
    macro_rules! comparison {
        ($operator:literal, $between:ident, $scalar:ident, $reversed:ident) => {
            engine.register_fn($operator, |a: TensorHandle, b: TensorHandle| {
                handle($operator, &a.0, &b.0.size(), || a.0.$between(&b.0))
            });
            engine.register_fn($operator, |a: TensorHandle, b: f64| handle($operator, &a.0, &[], || a.0.$scalar(b)));
            engine.register_fn($operator, |a: TensorHandle, b: i64| handle($operator, &a.0, &[], || a.0.$scalar(b)));
            engine.register_fn($operator, |a: f64, b: TensorHandle| handle($operator, &b.0, &[], || b.0.$reversed(a)));
            engine.register_fn($operator, |a: i64, b: TensorHandle| handle($operator, &b.0, &[], || b.0.$reversed(a)));
        };
    }
    // Element by element, as in PyTorch; Rhai would answer one `false` for values of different types.
    comparison!("==", f_eq_tensor, f_eq, f_eq);
    comparison!("!=", f_ne_tensor, f_ne, f_ne);
    comparison!("<", f_lt_tensor, f_lt, f_gt);
    comparison!("<=", f_le_tensor, f_le, f_ge);
    comparison!(">", f_gt_tensor, f_gt, f_lt);
    comparison!(">=", f_ge_tensor, f_ge, f_le);
}

/// The least and the largest of a tensor of whole numbers.
fn range_of(tensor: &Tensor) -> Option<(i64, i64)> {
    if !is_whole(tensor.kind()) || tensor.kind() == tch::Kind::Bool || tensor.numel() == 0 {
        return None;
    }
    let whole = tensor.f_to_kind(tch::Kind::Int64).ok()?;
    Some((whole.f_min().ok()?.f_int64_value(&[]).ok()?, whole.f_max().ok()?.f_int64_value(&[]).ok()?))
}

/// Refuses whole numbers that 64 bits might not hold, where a tensor would begin at the other end.
fn within(operator: &str, a: &Tensor, b: Option<(i64, i64)>) -> Result<(), Box<EvalAltResult>> {
    let (Some(a), Some(b)) = (range_of(a), b) else { return Ok(()) };
    let fits = [a.0, a.1].into_iter().flat_map(|a| [(a, b.0), (a, b.1)]).all(|(a, b)| match operator {
        "+" => a.checked_add(b).is_some(),
        "-" => a.checked_sub(b).is_some() && b.checked_sub(a).is_some(),
        "*" => a.checked_mul(b).is_some(),
        _ => true,
    });
    match fits {
        true => Ok(()),
        false => refused(
            &format!("`{operator}`: whole numbers beyond what 64 bits hold"),
            "a float makes floats of them: x * 2.0",
        ),
    }
}

/// The numbers that a tensor stands for in arithmetic: a mask counts as 0 and 1, and whole numbers have 64 bits.
fn counting(tensor: &TensorHandle) -> Result<Rc<Tensor>, tch::TchError> {
    match tensor.0.kind() {
        tch::Kind::Bool => Ok(tensor.0.f_to_kind(tch::Kind::Float)?.into()),
        kind if is_whole(kind) => Ok(tensor.0.f_to_kind(tch::Kind::Int64)?.into()),
        _ => Ok(tensor.0.clone()),
    }
}

/// What combines masks, and nothing else.
fn mask(
    operator: &str,
    tensors: &[&Tensor],
    combine: impl FnOnce() -> Result<Tensor, tch::TchError>,
) -> Result<TensorHandle, Box<EvalAltResult>> {
    match tensors.iter().find(|tensor| tensor.kind() != tch::Kind::Bool) {
        None => handle(operator, tensors[0], &tensors[tensors.len() - 1].size(), combine),
        Some(other) => {
            let what = format!("`{operator}` is for masks, such as `x > 0`; got a tensor of {:?}", other.kind());
            let error = Error::argument(what);
            Err(EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
        }
    }
}

fn handle(
    operator: &str,
    a: &Tensor,
    b: &[i64],
    answer: impl FnOnce() -> Result<Tensor, tch::TchError>,
) -> Result<TensorHandle, Box<EvalAltResult>> {
    attempt(|| Ok(answer()?)).map(|tensor| TensorHandle(tensor.into())).map_err(|error| {
        let error = error.unless_of_shapes(&format!("`{operator}`"), || {
            Error::argument(format!("`{operator}`: tensors of shapes {:?} and {b:?} do not fit", a.size()))
        });
        EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into()
    })
}
