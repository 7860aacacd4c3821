//! Between the interpreter's values and the core's.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::{Rc, Weak};

use rhai::{Array, Dynamic, Engine, FnPtr, ImmutableString, Map, NativeCallContext};

use super::own_names::written;
use crate::core::{Callback, Error, ErrorKind, Object, Result, Tensor, Value, cut, device_name, quoted};

/// An object as the interpreter holds it.
#[derive(Clone)]
pub struct Handle(pub Rc<dyn Object>);

/// A tensor as the interpreter holds it.
#[derive(Clone)]
pub struct TensorHandle(pub Rc<Tensor>);

/// A core error as the interpreter carries it.
#[derive(Clone)]
pub struct ErrorHandle(pub Error);

/// The error of a script's closure while it travels through a primitive.
pub type Pending = Rc<RefCell<Option<Box<rhai::EvalAltResult>>>>;

/// What turns a script's closure into a core callback: the engine that runs it and the place to leave its error.
#[derive(Clone)]
pub struct Bridge {
    pub engine: Weak<Engine>,
    pub pending: Pending,
}

pub fn to_dynamic(value: Value) -> Dynamic {
    match value {
        Value::Unit => Dynamic::UNIT,
        Value::Bool(b) => b.into(),
        Value::Int(i) => i.into(),
        Value::Float(x) => x.into(),
        Value::Str(s) => s.into(),
        Value::Array(values) => Dynamic::from_array(values.into_iter().map(to_dynamic).collect()),
        Value::Map(map) => Dynamic::from_map(map.into_iter().map(|(k, v)| (k.into(), to_dynamic(v))).collect()),
        Value::Tensor(tensor) => Dynamic::from(TensorHandle(tensor)),
        Value::Object(object) => Dynamic::from(Handle(object)),
        // Only scripts make closures; one that comes back is the script's own value, which it still has.
        Value::Callback(_) => Dynamic::UNIT,
    }
}

impl Bridge {
    /// The core's form of a script's value. Closures need the context of the call they are passed to.
    pub fn to_value(&self, context: Option<&NativeCallContext>, dynamic: &Dynamic) -> Result<Value> {
        self.convert(context, dynamic, 0)
    }

    fn convert(&self, context: Option<&NativeCallContext>, dynamic: &Dynamic, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            return Err(Error::argument(format!("arrays and maps may hold each other {DEEPEST} deep at most")));
        }
        if dynamic.is_shared() {
            return self.convert(context, &dynamic.flatten_clone(), depth + 1);
        }
        if dynamic.is_unit() {
            return Ok(Value::Unit);
        }
        if let Ok(b) = dynamic.as_bool() {
            return Ok(Value::Bool(b));
        }
        if let Ok(i) = dynamic.as_int() {
            return Ok(Value::Int(i));
        }
        if let Ok(x) = dynamic.as_float() {
            return Ok(Value::Float(x));
        }
        if let Ok(s) = dynamic.as_immutable_string_ref() {
            return Ok(Value::Str(written(&s)));
        }
        if let Ok(c) = dynamic.as_char() {
            return Ok(Value::Str(c.to_string()));
        }
        if let Ok(array) = dynamic.as_array_ref() {
            return Ok(Value::Array(array.iter().map(|v| self.convert(context, v, depth + 1)).collect::<Result<_>>()?));
        }
        if let Ok(map) = dynamic.as_map_ref() {
            let entries = map.iter().map(|(key, v)| Ok((key.to_string(), self.convert(context, v, depth + 1)?)));
            return Ok(Value::Map(entries.collect::<Result<_>>()?));
        }
        if let Some(handle) = dynamic.read_lock::<Handle>() {
            return Ok(Value::Object(handle.0.clone()));
        }
        if let Some(handle) = dynamic.read_lock::<TensorHandle>() {
            return Ok(Value::Tensor(handle.0.clone()));
        }
        if let Some(range) = dynamic.read_lock::<std::ops::Range<i64>>() {
            return whole_numbers(range.start, range.end);
        }
        if let Some(range) = dynamic.read_lock::<std::ops::RangeInclusive<i64>>() {
            return whole_numbers(*range.start(), range.end().saturating_add(1));
        }
        if let Some(function) = dynamic.read_lock::<FnPtr>() {
            return Ok(Value::Callback(match context {
                Some(context) => self.callback(function.clone(), context),
                None => Callback::new(|_| Err(Error::internal("a closure was called after its script had ended"))),
            }));
        }
        if let Some(error) = dynamic.read_lock::<ErrorHandle>() {
            return Ok(error_map(error.0.kind.name(), &error.0.message, error.0.hint.as_deref()));
        }
        Err(Error::argument(format!("a {} can't be used here", dynamic.type_name())))
    }

    /// Kind, one line, and the memory of tensors; only the head of a large array is looked at.
    pub fn outline(&self, dynamic: &Dynamic) -> (&'static str, String, Option<usize>) {
        let bytes = match bytes(dynamic, 0) {
            0 => None,
            bytes => Some(bytes),
        };
        let kind = if dynamic.read_lock::<Array>().is_some() {
            "array"
        } else if dynamic.read_lock::<Map>().is_some() {
            "map"
        } else {
            self.to_value(None, dynamic).map_or("other", |value| value.kind())
        };
        (kind, self.brief(dynamic, 0), bytes)
    }

    fn brief(&self, dynamic: &Dynamic, depth: usize) -> String {
        const HEAD: usize = 6;
        let rest = |n: usize| if n > HEAD { format!(", … {n} in all") } else { String::new() };
        if let Some(array) = dynamic.read_lock::<Array>() {
            if depth > 1 {
                return format!("[… {} in all]", array.len());
            }
            let head: Vec<String> = array.iter().take(HEAD).map(|v| self.brief(v, depth + 1)).collect();
            return format!("[{}{}]", head.join(", "), rest(array.len()));
        }
        if let Some(map) = dynamic.read_lock::<Map>() {
            if depth > 1 {
                return format!("#{{… {} in all}}", map.len());
            }
            let head = map.iter().take(HEAD).map(|(key, v)| format!("{key}: {}", self.brief(v, depth + 1)));
            return format!("#{{{}{}}}", head.collect::<Vec<_>>().join(", "), rest(map.len()));
        }
        if let Some(text) = dynamic.read_lock::<ImmutableString>() {
            return quoted(&cut(text.get(..).unwrap_or_default(), 60));
        }
        match self.to_value(None, dynamic) {
            Ok(value) => value.summary(),
            Err(_) => dynamic.type_name().into(),
        }
    }

    #[allow(deprecated)] // The stored context is how Rhai lets a closure outlive the call it was passed to.
    fn callback(&self, function: FnPtr, context: &NativeCallContext) -> Callback {
        let stored = context.store_data();
        let bridge = self.clone();
        Callback::new(move |arguments| {
            let engine = bridge.engine.upgrade().ok_or_else(|| Error::internal("the interpreter is gone"))?;
            let context = stored.create_context(&engine);
            let arguments: Vec<Dynamic> = arguments.iter().cloned().map(to_dynamic).collect();
            let before = Callback::is_watched().then(|| captured(&function));
            // The function form, not the method form: the latter can fail with a data race on captured variables.
            let answered = function.call_raw(&context, None, arguments);
            if before.is_some_and(|before| captured(&function) != before) {
                Callback::note_change();
            }
            match answered {
                Ok(answer) => bridge.to_value(Some(&context), &answer),
                Err(error) => {
                    let stopped = matches!(error.unwrap_inner(), rhai::EvalAltResult::ErrorTerminated(..));
                    let message = written(&error.to_string());
                    bridge.pending.borrow_mut().replace(error);
                    let kind = if stopped { ErrorKind::Interrupted } else { ErrorKind::Callback };
                    Err(Error::new(kind, message))
                }
            }
        })
    }
}

/// What variables hold that a closure took from around it, and those that it calls, where they may change them; of large arrays and maps a part.
fn captured(function: &FnPtr) -> Vec<u64> {
    const LOOKED_AT: usize = 2000;
    function.curry().iter().filter(|value| value.is_shared()).map(|value| fingerprint_of(value, LOOKED_AT)).collect()
}

/// An error as a script reads it: `e.kind`, `e.message`, `e.hint`.
pub fn error_map(kind: &str, message: &str, hint: Option<&str>) -> Value {
    let entries = [("kind", kind), ("message", message), ("hint", hint.unwrap_or_default())];
    Value::Map(entries.map(|(key, text)| (key.to_string(), Value::Str(text.into()))).into())
}

/// The memory of the tensors inside.
fn bytes(dynamic: &Dynamic, depth: usize) -> usize {
    if depth > DEEPEST {
        return 0;
    }
    if let Some(handle) = dynamic.read_lock::<TensorHandle>() {
        return handle.0.numel() * handle.0.kind().elt_size_in_bytes();
    }
    if let Some(array) = dynamic.read_lock::<Array>() {
        return array.iter().map(|v| bytes(v, depth + 1)).sum();
    }
    dynamic.read_lock::<Map>().map_or(0, |map| map.values().map(|v| bytes(v, depth + 1)).sum())
}

/// Where the tensors inside lie, and those of models and generators.
pub fn devices(dynamic: &Dynamic) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    add_devices(dynamic, 0, &mut found);
    found
}

fn add_devices(dynamic: &Dynamic, depth: usize, found: &mut BTreeSet<String>) {
    if depth > DEEPEST {
        return;
    }
    if let Some(handle) = dynamic.read_lock::<TensorHandle>() {
        found.insert(device_name(handle.0.device()));
    } else if let Some(handle) = dynamic.read_lock::<Handle>() {
        found.extend(handle.0.device().map(device_name));
    } else if let Some(array) = dynamic.read_lock::<Array>() {
        array.iter().for_each(|v| add_devices(v, depth + 1, found));
    } else if let Some(map) = dynamic.read_lock::<Map>() {
        map.values().for_each(|v| add_devices(v, depth + 1, found));
    }
}

/// A number that changes when the value is changed or replaced by another; objects count as the same only if they are one, of closures what
/// they took from around them counts, and of large arrays, maps and strings a part is looked at.
pub fn fingerprint(dynamic: &Dynamic) -> u64 {
    fingerprint_of(dynamic, 10_000)
}

/// The same by so many elements at most.
fn fingerprint_of(dynamic: &Dynamic, elements: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(dynamic, &mut hasher, 0, &mut { elements });
    hasher.finish()
}

fn add(dynamic: &Dynamic, hasher: &mut DefaultHasher, depth: usize, left: &mut usize) {
    dynamic.type_name().hash(hasher);
    if depth > DEEPEST || *left == 0 {
        return;
    }
    *left -= 1;
    if let Some(array) = dynamic.read_lock::<Array>() {
        array.len().hash(hasher);
        array.iter().step_by(2 * array.len() / (*left + 1) + 1).for_each(|v| add(v, hasher, depth + 1, left));
    } else if let Some(map) = dynamic.read_lock::<Map>() {
        map.len().hash(hasher);
        for (key, v) in map.iter().take(*left / 2) {
            key.hash(hasher);
            add(v, hasher, depth + 1, left);
        }
    } else if let Some(handle) = dynamic.read_lock::<Handle>() {
        Rc::as_ptr(&handle.0).cast::<()>().hash(hasher);
    } else if let Some(handle) = dynamic.read_lock::<TensorHandle>() {
        Rc::as_ptr(&handle.0).hash(hasher);
    } else if let Some(function) = dynamic.read_lock::<FnPtr>() {
        written(function.fn_name()).hash(hasher);
        function.curry().iter().for_each(|value| add(value, hasher, depth + 1, left));
    } else if let Ok(x) = dynamic.as_float() {
        x.to_bits().hash(hasher);
    } else if let Some(text) = dynamic.read_lock::<ImmutableString>() {
        text.len().hash(hasher);
        text.as_bytes()[..text.len().min(*left)].hash(hasher);
    } else {
        dynamic.to_string().hash(hasher);
    }
}

/// Whether a copy of a value copies no more than so many elements; tensors, objects and strings are shared.
pub fn is_small(value: &Dynamic, elements: usize) -> bool {
    fits(value, &mut { elements }, 0)
}

fn fits(value: &Dynamic, left: &mut usize, depth: usize) -> bool {
    let here = if let Some(array) = value.read_lock::<Array>() {
        array.len()
    } else if let Some(map) = value.read_lock::<Map>() {
        map.len()
    } else if let Some(blob) = value.read_lock::<rhai::Blob>() {
        blob.len() / 16
    } else {
        0
    };
    match left.checked_sub(here + 1) {
        Some(rest) if depth <= DEEPEST => *left = rest,
        _ => return false,
    }
    if let Some(array) = value.read_lock::<Array>() {
        return array.iter().all(|inner| fits(inner, left, depth + 1));
    }
    value.read_lock::<Map>().is_none_or(|map| map.values().all(|inner| fits(inner, left, depth + 1)))
}

/// Deeper nesting is a script's mistake, and would use up the stack.
pub const DEEPEST: usize = 100;

/// Longer ranges are for loops, not for values.
const LONGEST_RANGE: i64 = 10_000_000;

fn whole_numbers(from: i64, to: i64) -> Result<Value> {
    if to.saturating_sub(from) > LONGEST_RANGE {
        return Err(Error::argument(format!("the range {from}..{to} has more than {LONGEST_RANGE} numbers")));
    }
    Ok(Value::ints(from..to))
}

/// How a value prints inside strings and by `print`.
pub fn text(value: &Value) -> ImmutableString {
    value.summary().into()
}
