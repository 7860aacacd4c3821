//! The kinds of values, in the words that scripts and people have for them.

use std::any::TypeId;

use rhai::{Dynamic, FnPtr, ImmutableString, Map};

use super::value::{ErrorHandle, Handle, TensorHandle};

pub(super) fn kind(value: &Dynamic) -> &'static str {
    if let Some(handle) = value.read_lock::<Handle>() {
        return handle.0.kind();
    }
    // A shared value names what it holds only while it is read.
    let of = value.type_id();
    match kind_of_type(&of) {
        "" => value.type_name(),
        known => known,
    }
}

pub(super) fn kind_of_type(of: &TypeId) -> &'static str {
    let known = [
        (TypeId::of::<()>(), "()"),
        (TypeId::of::<bool>(), "bool"),
        (TypeId::of::<i64>(), "int"),
        (TypeId::of::<f64>(), "float"),
        (TypeId::of::<ImmutableString>(), "string"),
        (TypeId::of::<String>(), "string"),
        (TypeId::of::<char>(), "string"),
        (TypeId::of::<rhai::Array>(), "array"),
        (TypeId::of::<Map>(), "map"),
        (TypeId::of::<TensorHandle>(), "tensor"),
        (TypeId::of::<FnPtr>(), "closure"),
        (TypeId::of::<ErrorHandle>(), "error"),
        (TypeId::of::<std::ops::Range<i64>>(), "range"),
        (TypeId::of::<std::ops::RangeInclusive<i64>>(), "range"),
    ];
    known.iter().find(|(id, _)| id == of).map_or("", |(_, name)| name)
}

/// "an int"
pub(super) fn article(kind: &str) -> String {
    match kind {
        "()" => "()".into(),
        _ if kind.starts_with(['a', 'e', 'i', 'o', 'u', 'O', 'I', 'E', 'A']) => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// A type of the interpreter's as a person at the prompt knows it.
pub(super) fn plain_kind(name: &str) -> &str {
    match name.trim() {
        "i64" => "int",
        "f64" => "float",
        "&str | ImmutableString | String" | "ImmutableString" | "String" | "char" => "string",
        "FnPtr" | "Fn" => "closure",
        "range=" => "range",
        other if other.contains("Range") => "range",
        other => other,
    }
}
