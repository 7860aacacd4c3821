//! Methods of arrays and maps that ask a closure something. Rhai takes an answer that is no bool for `false`, and a comparison that
//! fails or gives a float for "equal": here the one is refused and the other is what it says.

use std::cmp::Ordering;

use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, FuncRegistration, Map, NativeCallContext, Position};

use super::value::ErrorHandle;
use crate::core::Error;

pub(super) type EvalResult<T> = Result<T, Box<EvalAltResult>>;

pub fn register(engine: &mut Engine) {
    let pure = |name: &str| FuncRegistration::new(name).with_purity(true);
    // A constant is not changed.
    let changing = |name: &str| FuncRegistration::new(name).with_purity(false);
    pure("filter").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<Array> {
            Ok(parted(&asks, "filter", array.clone(), &f)?.0)
        },
    );
    pure("some").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<bool> {
            Ok(first(&asks, "some", array, &f, 0, true)?.is_some())
        },
    );
    pure("all").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<bool> {
            Ok(first(&asks, "all", array, &f, 0, false)?.is_none())
        },
    );
    let found = |asks: NativeCallContext, array: &mut Array, f: FnPtr, start: i64| -> EvalResult<Dynamic> {
        let place = first(&asks, "find", array, &f, start, true)?;
        Ok(place.map_or(Dynamic::UNIT, |place| array[place].clone()))
    };
    let place = |asks: NativeCallContext, array: &mut Array, f: FnPtr, start: i64| -> EvalResult<i64> {
        Ok(first(&asks, "index_of", array, &f, start, true)?.map_or(-1, |place| place as i64))
    };
    pure("find").register_into_engine(engine, found);
    pure("index_of").register_into_engine(engine, place);
    pure("find").register_into_engine(engine, move |asks: NativeCallContext, array: &mut Array, f: FnPtr| {
        found(asks, array, f, 0)
    });
    pure("index_of").register_into_engine(engine, move |asks: NativeCallContext, array: &mut Array, f: FnPtr| {
        place(asks, array, f, 0)
    });
    changing("drain").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<Array> {
            let (drained, left) = parted(&asks, "drain", array.clone(), &f)?;
            *array = left;
            Ok(drained)
        },
    );
    changing("retain").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<Array> {
            let (kept, removed) = parted(&asks, "retain", array.clone(), &f)?;
            *array = kept;
            Ok(removed)
        },
    );
    pure("filter").register_into_engine(
        engine,
        |asks: NativeCallContext, map: &mut Map, f: FnPtr| -> EvalResult<Map> {
            Ok(parted_map(&asks, "filter", map, &f)?.0)
        },
    );
    changing("drain").register_into_engine(
        engine,
        |asks: NativeCallContext, map: &mut Map, f: FnPtr| -> EvalResult<Map> {
            let (drained, left) = parted_map(&asks, "drain", map, &f)?;
            *map = left;
            Ok(drained)
        },
    );
    changing("retain").register_into_engine(
        engine,
        |asks: NativeCallContext, map: &mut Map, f: FnPtr| -> EvalResult<Map> {
            let (kept, removed) = parted_map(&asks, "retain", map, &f)?;
            *map = kept;
            Ok(removed)
        },
    );
    for name in ["sort", "sort_by"] {
        changing(name).register_into_engine(
            engine,
            |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<()> {
                *array = sorted(&asks, array.clone(), &f)?;
                Ok(())
            },
        );
    }
    for name in ["order", "order_by"] {
        pure(name).register_into_engine(engine, |asks: NativeCallContext, array: &mut Array, f: FnPtr| {
            sorted(&asks, array.clone(), &f)
        });
    }
    changing("dedup").register_into_engine(
        engine,
        |asks: NativeCallContext, array: &mut Array, f: FnPtr| -> EvalResult<()> {
            let mut kept = Array::new();
            for item in array.iter() {
                let same = match kept.last() {
                    None => false,
                    Some(last) => truth("dedup", f.call_raw(&asks, None, [Dynamic::clone(last), item.clone()])?)?,
                };
                if !same {
                    kept.push(item.clone());
                }
            }
            *array = kept;
            Ok(())
        },
    );
}

fn refused<T>(message: String, hint: &str) -> EvalResult<T> {
    let error = Error::argument(message).hint(hint);
    Err(EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
}

fn truth(name: &str, answer: Dynamic) -> EvalResult<bool> {
    let kind = super::kinds::kind(&answer);
    answer.as_bool().or_else(|_| {
        refused(
            format!("{name}: the closure must answer true or false, got {}", super::kinds::article(kind)),
            "compare: x > 0",
        )
    })
}

fn asked(asks: &NativeCallContext, name: &str, f: &FnPtr, item: &mut Dynamic, place: usize) -> EvalResult<bool> {
    let place = [Dynamic::from_int(place as i64)];
    truth(name, f.call_raw_with_extra_args(name, asks, Some(item), [], place, Some(0))?)
}

/// The place of the first element from `start` on for which the closure answers `wanted`.
fn first(
    asks: &NativeCallContext,
    name: &str,
    array: &mut Array,
    f: &FnPtr,
    start: i64,
    wanted: bool,
) -> EvalResult<Option<usize>> {
    let from_end = array.len().saturating_sub(start.unsigned_abs() as usize);
    let start = if start < 0 { from_end } else { start as usize };
    for (place, item) in array.iter_mut().enumerate().skip(start) {
        if asked(asks, name, f, item, place)? == wanted {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// The elements for which the closure answers true, and the others.
fn parted(asks: &NativeCallContext, name: &str, array: Array, f: &FnPtr) -> EvalResult<(Array, Array)> {
    let (mut yes, mut no) = (Array::new(), Array::new());
    for (place, mut item) in array.into_iter().enumerate() {
        let to = if asked(asks, name, f, &mut item, place)? { &mut yes } else { &mut no };
        to.push(item);
    }
    Ok((yes, no))
}

fn parted_map(asks: &NativeCallContext, name: &str, map: &Map, f: &FnPtr) -> EvalResult<(Map, Map)> {
    let (mut yes, mut no) = (Map::new(), Map::new());
    for (key, value) in map {
        let mut value = value.clone();
        let answer = f.call_raw_with_extra_args(name, asks, Some(&mut value), [key.clone().into()], [], Some(1))?;
        let to = if truth(name, answer)? { &mut yes } else { &mut no };
        to.insert(key.clone(), value);
    }
    Ok((yes, no))
}

/// Equal elements stay in their order.
fn sorted(asks: &NativeCallContext, mut array: Array, f: &FnPtr) -> EvalResult<Array> {
    if array.len() < 2 {
        return Ok(array);
    }
    let right = array.split_off(array.len() / 2);
    let (left, right) = (sorted(asks, array, f)?, sorted(asks, right, f)?);
    let mut merged = Array::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let asked = |a: &Dynamic, b: &Dynamic| f.call_raw(asks, None, [a.clone(), b.clone()]);
        let answer = asked(a, b)?;
        // A bool says no difference between later and equal, which are where neither comes first.
        let greater = match answer.as_bool() {
            Ok(before) => !before && asked(b, a)?.as_bool().unwrap_or(false),
            Err(_) => compared(answer)? == Ordering::Greater,
        };
        let next = if greater { &mut right } else { &mut left };
        merged.extend(next.next());
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// A comparison's answer: its sign, or whether the first comes first.
fn compared(answer: Dynamic) -> EvalResult<Ordering> {
    let known = match (answer.as_int(), answer.as_float(), answer.as_bool()) {
        (Ok(number), ..) => Some(number.cmp(&0)),
        (_, Ok(number), _) => number.partial_cmp(&0.0),
        (.., Ok(before)) => Some(if before { Ordering::Less } else { Ordering::Greater }),
        _ => None,
    };
    match known {
        Some(known) => Ok(known),
        None => refused(
            format!(
                "sort: the closure must answer a number, below 0 if the first comes first, or a bool, got {answer}"
            ),
            "v.sort(|a, b| a.loss - b.loss)",
        ),
    }
}
