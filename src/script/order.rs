//! Arrays in order. Rhai's own leaves arrays with NaN where they are, and sorts no ints among floats.

use std::cmp::Ordering;

use rhai::{Array, Dynamic, Engine, FuncRegistration, ImmutableString};

use super::answers::EvalResult;
use super::arithmetic::{BEYOND_INTS, refused};
use super::kinds::{article, kind};

type ElementOrder = fn(&Dynamic, &Dynamic) -> Ordering;

pub fn register(engine: &mut Engine) {
    for (sort, order, descending) in [("sort", "order", false), ("sort_desc", "order_desc", true)] {
        FuncRegistration::new(sort)
            .with_purity(false)
            .register_into_engine(engine, move |array: &mut Array| -> EvalResult<()> {
                sorted(sort, array, descending)
            });
        FuncRegistration::new(order).with_purity(true).register_into_engine(
            engine,
            move |array: &mut Array| -> EvalResult<Array> {
                let mut array = array.clone();
                sorted(order, &mut array, descending)?;
                Ok(array)
            },
        );
    }
}

/// Equal elements stay in their order.
fn sorted(name: &str, array: &mut Array, descending: bool) -> EvalResult<()> {
    if array.len() < 2 {
        return Ok(());
    }
    let compare = comparison(name, array)?;
    array.sort_by(|a, b| if descending { compare(b, a) } else { compare(a, b) });
    Ok(())
}

/// How the elements of an array are compared; refused where some have no order.
fn comparison(name: &str, array: &Array) -> EvalResult<ElementOrder> {
    let is_number = |x: &Dynamic| x.is_int() || x.is_float();
    let is_text = |x: &Dynamic| x.is_string() || x.is_char();
    if let Some(place) = array.iter().position(|x| x.as_float().is_ok_and(f64::is_nan)) {
        return refused(
            &format!("{name}: element {place} is NaN, which has no order"),
            "leave such out: v.filter(|x| !x.is_nan())",
        );
    }
    if array.iter().all(is_number) {
        return Ok(of_numbers);
    }
    if array.iter().all(is_text) {
        return Ok(|a, b| text_of(a).cmp(&text_of(b)));
    }
    if array.iter().all(Dynamic::is_bool) {
        return Ok(|a, b| a.as_bool().unwrap_or_default().cmp(&b.as_bool().unwrap_or_default()));
    }
    let named = |x: &Dynamic| article(kind(x));
    let first = named(&array[0]);
    let what = match array.iter().map(named).find(|other| *other != first) {
        Some(other) => format!("{name}: {first} and {other} have no order"),
        None => format!("{name}: two of {} have no order", kind(&array[0])),
    };
    refused(&what, "say which comes first: v.sort(|a, b| a.loss - b.loss)")
}

fn text_of(x: &Dynamic) -> ImmutableString {
    match x.as_immutable_string_ref() {
        Ok(text) => (*text).clone(),
        Err(_) => x.to_string().into(),
    }
}

fn of_numbers(a: &Dynamic, b: &Dynamic) -> Ordering {
    match (a.as_int(), b.as_int(), a.as_float(), b.as_float()) {
        (Ok(a), Ok(b), ..) => a.cmp(&b),
        (Ok(a), _, _, Ok(b)) => beside(a, b),
        (_, Ok(b), Ok(a), _) => beside(b, a).reverse(),
        (.., Ok(a), Ok(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        _ => Ordering::Equal,
    }
}

/// An int beside a float that is a number: exactly, as not every int is a float.
fn beside(int: i64, float: f64) -> Ordering {
    if float >= BEYOND_INTS {
        return Ordering::Less;
    }
    if float < -BEYOND_INTS {
        return Ordering::Greater;
    }
    let fraction = float.fract().partial_cmp(&0.0).unwrap_or(Ordering::Equal);
    int.cmp(&(float.trunc() as i64)).then(fraction.reverse())
}
