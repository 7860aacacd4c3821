//! What scripts may make: of a size that there is memory for, and no deeper than can be walked.

use std::rc::Rc;

use rhai::{
    Array, Blob, Dynamic, Engine, EvalAltResult, FuncRegistration, ImmutableString, Map, NativeCallContext, Position,
};

use super::value::{DEEPEST, ErrorHandle};
use crate::core::{Cx, Error, ErrorKind, Result, memory};

type BoundedResult<T> = std::result::Result<T, Box<EvalAltResult>>;

/// Refuses the next step of a script where memory or stack would not suffice for it.
#[inline]
pub fn check() -> Result<()> {
    memory::check()?;
    match memory::is_deep() {
        false => Ok(()),
        true => Err(Error::new(ErrorKind::Memory, "calls are nested so deep that they would use up the stack")
            .hint("a function, closure or `eval` that calls itself must come to an end")),
    }
}

pub fn register(engine: &mut Engine, cx: &Rc<Cx>) {
    sizes(engine, cx);
    depths(engine);
}

/// Scripts can't catch it, nor an interruption: they would go on as if there were room.
fn stopped(error: Error) -> Box<EvalAltResult> {
    let payload = if error.is_interrupted() { Dynamic::UNIT } else { Dynamic::from(ErrorHandle(error)) };
    EvalAltResult::ErrorTerminated(payload, Position::NONE).into()
}

fn refused(error: Error) -> Box<EvalAltResult> {
    EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into()
}

/// Refuses to make `n` of something of so many bytes.
fn room(n: usize, bytes: usize, what: &str) -> BoundedResult<()> {
    memory::check_room(n as u128 * bytes as u128, what).map_err(refused)
}

/// How long something is to be that has `now`; `None` if it is long enough.
fn wanted(len: i64, now: usize) -> Option<usize> {
    usize::try_from(len).ok().filter(|&len| len > now)
}

/// Rhai's own make all of it at once, however much that is.
fn sizes(engine: &mut Engine, cx: &Rc<Cx>) {
    const PART: usize = 1 << 12;
    let polls = cx.clone();
    engine.register_fn("pad", move |array: &mut Array, len: i64, item: Dynamic| -> BoundedResult<()> {
        let Some(len) = wanted(len, array.len()) else { return Ok(()) };
        room(len, size_of::<Dynamic>(), &format!("pad: an array of {len}"))?;
        array.reserve_exact(len - array.len());
        while array.len() < len {
            array.push(item.clone());
            if array.len().is_multiple_of(PART) || !item.is_int() {
                polls.check().and_then(|()| memory::check()).map_err(stopped)?;
            }
        }
        Ok(())
    });
    engine.register_fn("pad", |blob: &mut Blob, len: i64, byte: i64| -> BoundedResult<()> {
        let Some(len) = wanted(len, blob.len()) else { return Ok(()) };
        room(len, 1, &format!("pad: a blob of {len} bytes"))?;
        blob.resize(len, (byte & 0xff) as u8);
        Ok(())
    });
    let polls = cx.clone();
    let padded = move |text: &mut ImmutableString, len: i64, by: &str| -> BoundedResult<()> {
        let now = text.chars().count();
        let Some(len) = wanted(len, now).filter(|_| !by.is_empty()) else { return Ok(()) };
        room(len, by.len().div_ceil(by.chars().count()), &format!("pad: a string of {len} letters"))?;
        let own = text.make_mut();
        for (at, letter) in by.chars().cycle().take(len - now).enumerate() {
            own.push(letter);
            if at.is_multiple_of(PART) {
                polls.check().map_err(stopped)?;
            }
        }
        Ok(())
    };
    let by_letter = padded.clone();
    engine.register_fn("pad", move |text: &mut ImmutableString, len: i64, by: char| {
        by_letter(text, len, by.encode_utf8(&mut [0; 4]))
    });
    engine.register_fn("pad", move |text: &mut ImmutableString, len: i64, by: &str| padded(text, len, by));
    let blob = |len: i64, byte: i64| -> BoundedResult<Blob> {
        let len = wanted(len, 0).unwrap_or(0);
        room(len, 1, &format!("blob: {len} bytes"))?;
        Ok(vec![(byte & 0xff) as u8; len])
    };
    engine.register_fn("blob", move |len: i64| blob(len, 0));
    engine.register_fn("blob", blob);
    engine.register_fn("replace", |text: &mut ImmutableString, from: &str, to: &str| -> BoundedResult<()> {
        let found = text.matches(from).count();
        room(text.len() + found * to.len(), 1, "replace: the string")?;
        *text = text.replace(from, to).into();
        Ok(())
    });
}

/// Rhai's own call themselves for what an array holds, as deep as that goes.
fn depths(engine: &mut Engine) {
    let pure = |name: &str| FuncRegistration::new(name).with_purity(true);
    for name in ["print", "to_string", "debug", "to_debug"] {
        pure(name).register_into_engine(engine, |asks: NativeCallContext, array: &mut Array| -> ImmutableString {
            let mut text = String::new();
            write_array(&mut text, Some(&asks), array, 1);
            text.into()
        });
        pure(name).register_into_engine(engine, |asks: NativeCallContext, map: &mut Map| -> ImmutableString {
            let mut text = String::new();
            write_map(&mut text, Some(&asks), map, 1);
            text.into()
        });
    }
    pure("==").register_into_engine(engine, |asks: NativeCallContext, a: &mut Array, mut b: Array| {
        equal_arrays(&asks, a, &mut b, 1)
    });
    pure("!=").register_into_engine(engine, |asks: NativeCallContext, a: &mut Array, mut b: Array| {
        equal_arrays(&asks, a, &mut b, 1).map(|equal| !equal)
    });
    pure("==").register_into_engine(engine, |asks: NativeCallContext, a: &mut Map, mut b: Map| {
        equal_maps(&asks, a, &mut b, 1)
    });
    pure("!=").register_into_engine(engine, |asks: NativeCallContext, a: &mut Map, mut b: Map| {
        equal_maps(&asks, a, &mut b, 1).map(|equal| !equal)
    });
}

/// A value as text where no script asks.
pub fn text(value: &Dynamic) -> String {
    let mut text = String::new();
    write(&mut text, None, &mut value.clone(), 0);
    text
}

fn write(text: &mut String, asks: Option<&NativeCallContext>, value: &mut Dynamic, depth: usize) {
    if let Some(mut array) = value.write_lock::<Array>() {
        return write_array(text, asks, &mut array, depth + 1);
    }
    if let Some(mut map) = value.write_lock::<Map>() {
        return write_map(text, asks, &mut map, depth + 1);
    }
    let own = asks.and_then(|asks| asks.call_native_fn_raw("to_debug", true, &mut [value]).ok());
    match own.and_then(|own| own.into_immutable_string().ok()) {
        Some(own) => *text += &own,
        None => *text += &format!("{value:?}"),
    }
}

fn write_array(text: &mut String, asks: Option<&NativeCallContext>, array: &mut Array, depth: usize) {
    text.push('[');
    for (place, item) in array.iter_mut().enumerate() {
        *text += if place > 0 { ", " } else { "" };
        match depth < DEEPEST {
            true => write(text, asks, item, depth),
            false => text.push('…'),
        }
    }
    text.push(']');
}

fn write_map(text: &mut String, asks: Option<&NativeCallContext>, map: &mut Map, depth: usize) {
    *text += "#{";
    for (place, (key, item)) in map.iter_mut().enumerate() {
        *text += if place > 0 { ", " } else { "" };
        *text += &format!("{key:?}: ");
        match depth < DEEPEST {
            true => write(text, asks, item, depth),
            false => text.push('…'),
        }
    }
    text.push('}');
}

fn equal(asks: &NativeCallContext, a: &mut Dynamic, b: &mut Dynamic, depth: usize) -> BoundedResult<bool> {
    if depth > DEEPEST {
        let what = format!("`==`: arrays and maps that hold each other more than {DEEPEST} deep can't be compared");
        return Err(refused(Error::argument(what)));
    }
    if let (Some(mut a), Some(mut b)) = (a.write_lock::<Array>(), b.write_lock::<Array>()) {
        return equal_arrays(asks, &mut a, &mut b, depth + 1);
    }
    if let (Some(mut a), Some(mut b)) = (a.write_lock::<Map>(), b.write_lock::<Map>()) {
        return equal_maps(asks, &mut a, &mut b, depth + 1);
    }
    match asks.call_native_fn_raw("==", true, &mut [a, b]) {
        Ok(answer) => Ok(answer.as_bool().unwrap_or(false)),
        Err(error) => match *error {
            EvalAltResult::ErrorFunctionNotFound(..) if a.type_id() != b.type_id() => Ok(false),
            _ => Err(error),
        },
    }
}

fn equal_arrays(asks: &NativeCallContext, a: &mut Array, b: &mut Array, depth: usize) -> BoundedResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter_mut().zip(b) {
        if !equal(asks, a, b, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn equal_maps(asks: &NativeCallContext, a: &mut Map, b: &mut Map, depth: usize) -> BoundedResult<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, a) in a {
        let Some(b) = b.get_mut(key) else { return Ok(false) };
        if !equal(asks, a, b, depth)? {
            return Ok(false);
        }
    }
    Ok(true)
}
