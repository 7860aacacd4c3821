//! Binds every primitive under each arity with untyped parameters, so that a wrong call is answered by the primitive's own
//! check ("`n` must be an int, got a string") and never by "function not found".

use std::any::TypeId;
use std::collections::BTreeMap;
use std::rc::Rc;

use rhai::{
    Dynamic, Engine, EvalAltResult, FnNamespace, FuncRegistration, Module, NativeCallContext, Position, Shared,
};

use tch::Device;

use super::kinds::article;
use super::marks::{ASKED, typed};
use super::timer::timed;
use super::value::{Bridge, ErrorHandle, Handle, Pending, TensorHandle, text, to_dynamic};
use crate::core::{Cx, Error, ErrorKind, Result, Value, is_whole, memory, on_device};
use crate::primitives::{PRIMITIVES, Primitive, former};

/// More arguments than any primitive takes, so that one too many is explained as well.
const MOST_ARGUMENTS: usize = 6;

/// The primitives of each namespace.
pub type Namespaces = BTreeMap<&'static str, Shared<Module>>;

type CallResult = std::result::Result<Dynamic, Box<EvalAltResult>>;

/// Binds all primitives, and answers the namespaces.
pub fn register(engine: &mut Engine, cx: &Rc<Cx>, bridge: &Bridge) -> Namespaces {
    let mut namespaces: BTreeMap<&'static str, Module> = BTreeMap::new();
    let mut methods: BTreeMap<&str, Vec<&'static Primitive>> = BTreeMap::new();
    for primitive in PRIMITIVES.iter().copied() {
        if primitive.receiver().is_some() {
            methods.entry(primitive.name()).or_default().push(primitive);
        } else if let Some(namespace) = primitive.namespace() {
            let module = namespaces.entry(namespace).or_default();
            for arity in 0..=MOST_ARGUMENTS {
                let (cx, bridge) = (cx.clone(), bridge.clone());
                bind(module, primitive.name(), FnNamespace::Internal, arity, move |context, arguments| {
                    call(&cx, &bridge, &context, primitive, arguments)
                });
            }
        } else {
            methods.entry(primitive.name()).or_default().push(primitive);
        }
    }
    let namespaces: Namespaces = namespaces.into_iter().map(|(name, module)| (name, module.into())).collect();
    for (name, module) in &namespaces {
        engine.register_static_module(*name, module.clone());
    }
    let mut global = Module::new();
    for (name, choices) in methods {
        let choices: Rc<[&'static Primitive]> = choices.into();
        for arity in 0..=MOST_ARGUMENTS {
            let (cx, bridge, choices) = (cx.clone(), bridge.clone(), choices.clone());
            bind(&mut global, name, FnNamespace::Global, arity, move |context, arguments| {
                let primitive = method(&choices, arguments.first().map(|v| &**v), &bridge, &context)?;
                call(&cx, &bridge, &context, primitive, arguments)
            });
        }
    }
    engine.register_global_module(global.into());
    register_objects(engine, cx, bridge);
    namespaces
}

fn bind(
    module: &mut Module,
    name: &str,
    visible: FnNamespace,
    arity: usize,
    call: impl Fn(NativeCallContext, &mut [&mut Dynamic]) -> CallResult + 'static,
) {
    FuncRegistration::new(name).with_namespace(visible).set_into_module_raw(
        module,
        vec![TypeId::of::<Dynamic>(); arity],
        rhai::RhaiFunc::Pure {
            func: Rc::new(move |context: Option<NativeCallContext>, arguments: &mut [&mut Dynamic]| match context {
                Some(context) => call(context, arguments),
                None => Err("a primitive was called without its context".into()),
            }),
            has_context: true,
            is_pure: true,
            is_volatile: true,
        },
    );
}

/// The method of this name for the receiver's type.
fn method(
    choices: &[&'static Primitive],
    receiver: Option<&Dynamic>,
    bridge: &Bridge,
    context: &NativeCallContext,
) -> std::result::Result<&'static Primitive, Box<EvalAltResult>> {
    if let Some(free) = choices.iter().find(|primitive| primitive.receiver().is_none()) {
        return Ok(free);
    }
    let name = choices[0].name();
    let raise = |error: Error| Err(to_rhai(error, context.call_position(), &bridge.pending));
    let Some(receiver) = receiver else {
        return raise(
            Error::argument(format!("{name}: got no arguments")).hint(format!("call it as {}", choices[0].signature())),
        );
    };
    let value = match bridge.to_value(Some(context), receiver) {
        Ok(value) => value,
        Err(error) => return raise(error),
    };
    if let Some(found) =
        choices.iter().find(|p| p.receiver().is_some_and(|kind| kind.eq_ignore_ascii_case(value.kind())))
    {
        return Ok(found);
    }
    if let Value::Object(object) = &value
        && object.fields().contains(&name)
    {
        let what = format!("`{name}` of {} takes no arguments", article(value.kind()));
        return raise(Error::argument(what).hint(format!("write .{name} alone")));
    }
    let owners: Vec<&str> = choices.iter().filter_map(|p| p.receiver()).collect();
    let own = methods_of(value.kind());
    // A range is converted to the array that it stands for.
    let came = super::kinds::kind(receiver);
    let mut error =
        Error::argument(format!("{name}: {} has no `{name}`; it is for a {}", article(came), owners.join(", ")));
    if came == "range" {
        error = error
            .hint("`for i in 0..3` goes over a range; an array of it: let all = []; for i in 0..3 { all.push(i); }");
    } else if let Some(hint) = former::function(&format!("{}.{name}", value.kind())) {
        error = error.hint(hint);
    } else if let Some(hint) = super::borrowed_names::in_function(name, &[value.kind()]) {
        error = error.hint(hint);
    } else if value.kind() == "array" && owners.contains(&"Tensor") {
        error = error.hint(format!("tensor::from(values).{name}(...) takes an array of numbers"));
    } else if !own.is_empty() {
        error = error.hint(format!("{} has {}", article(value.kind()), own.join(", ")));
    }
    raise(error)
}

/// Names of the methods of a type.
pub fn methods_of(kind: &str) -> Vec<&'static str> {
    PRIMITIVES
        .iter()
        .filter(|p| p.receiver().is_some_and(|receiver| receiver.eq_ignore_ascii_case(kind)))
        .map(|p| p.name())
        .collect()
}

fn call(
    cx: &Rc<Cx>,
    bridge: &Bridge,
    context: &NativeCallContext,
    primitive: &'static Primitive,
    arguments: &mut [&mut Dynamic],
) -> CallResult {
    let position = context.call_position();
    // What is made of the arguments is gone when the call ends: counted where it is made alone, it would count for ever.
    let work = || {
        let values = arguments.iter().map(|argument| bridge.to_value(Some(context), argument));
        answered(cx, primitive, values.collect::<Result<_>>()?)
    };
    let answer = memory::apart(|| timed(primitive.path, cx.device(), work));
    answer
        .and_then(|answer| memory::check_closely().map(|()| answer))
        .map(to_dynamic)
        .map_err(|error| to_rhai(error, position, &bridge.pending))
}

fn answered(cx: &Cx, primitive: &'static Primitive, arguments: Vec<Value>) -> Result<Value> {
    let answer = primitive.call(cx, arguments)?;
    // What is made of tensors alone lies where they lie.
    let of_tensors = primitive.receiver() == Some("Tensor") || primitive.namespace() == Some("tensor");
    if of_tensors { Ok(answer) } else { where_the_run_works(cx, answer) }
}

/// Tensors of an answer that lie on the CPU, where counts and labels are made, are brought to where the others are: what models, data and results
/// answer fits together on every device.
fn where_the_run_works(cx: &Cx, answer: Value) -> Result<Value> {
    if cx.device() == Device::Cpu {
        return Ok(answer);
    }
    Ok(match answer {
        Value::Tensor(tensor) if tensor.device() == Device::Cpu => Value::tensor(on_device(&tensor, cx.device())?),
        Value::Array(values) => {
            Value::Array(values.into_iter().map(|value| where_the_run_works(cx, value)).collect::<Result<_>>()?)
        }
        Value::Map(entries) => {
            let brought = |(key, value)| Ok((key, where_the_run_works(cx, value)?));
            Value::Map(entries.into_iter().map(brought).collect::<Result<_>>()?)
        }
        other => other,
    })
}

/// A core error in the interpreter's terms: one that scripts can catch, except for an interruption.
pub fn to_rhai(error: Error, position: Position, pending: &Pending) -> Box<EvalAltResult> {
    if matches!(error.kind, ErrorKind::Callback | ErrorKind::Interrupted)
        && let Some(original) = pending.borrow_mut().take()
    {
        return original;
    }
    if error.is_interrupted() {
        return EvalAltResult::ErrorTerminated(Dynamic::UNIT, position).into();
    }
    // A script that caught it would go on as if nothing were lost.
    if error.kind == ErrorKind::Journal {
        return EvalAltResult::ErrorTerminated(Dynamic::from(ErrorHandle(error)), position).into();
    }
    EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), position).into()
}

fn register_objects(engine: &mut Engine, cx: &Rc<Cx>, bridge: &Bridge) {
    engine.register_type_with_name::<Handle>("object");
    engine.register_type_with_name::<TensorHandle>("tensor");
    engine.register_type_with_name::<ErrorHandle>("error");
    engine.register_fn("to_string", |handle: &mut Handle| text(&Value::Object(handle.0.clone())));
    engine.register_fn("to_debug", |handle: &mut Handle| text(&Value::Object(handle.0.clone())));
    engine.register_fn("to_string", |handle: &mut TensorHandle| text(&Value::Tensor(handle.0.clone())));
    engine.register_fn("to_debug", |handle: &mut TensorHandle| text(&Value::Tensor(handle.0.clone())));
    engine.register_fn("to_string", |error: &mut ErrorHandle| error.0.message.clone());
    engine.register_fn("to_debug", |error: &mut ErrorHandle| error.0.message.clone());
    for mark in ["", ASKED] {
        let name = |field: &str| format!("{mark}{field}");
        engine.register_get(name("kind"), |error: &mut ErrorHandle| error.0.kind.name().to_string());
        engine.register_get(name("message"), |error: &mut ErrorHandle| error.0.message.clone());
        engine.register_get(name("hint"), |error: &mut ErrorHandle| error.0.hint.clone().unwrap_or_default());
    }

    let (reader_cx, reader) = (cx.clone(), bridge.clone());
    engine.register_indexer_get(move |context: NativeCallContext, handle: &mut Handle, name: &str| {
        field(&reader_cx, &Value::Object(handle.0.clone()), typed(name))
            .map_err(|error| to_rhai(error, context.call_position(), &reader.pending))
    });
    let (reader_cx, reader) = (cx.clone(), bridge.clone());
    engine.register_indexer_get(move |context: NativeCallContext, handle: &mut TensorHandle, name: &str| {
        field(&reader_cx, &Value::Tensor(handle.0.clone()), typed(name))
            .map_err(|error| to_rhai(error, context.call_position(), &reader.pending))
    });
    let (reader_cx, reader) = (cx.clone(), bridge.clone());
    engine.register_indexer_get(move |context: NativeCallContext, handle: &mut Handle, index: i64| {
        let found = handle
            .0
            .element(index)
            .unwrap_or_else(|| Err(Error::argument(format!("a {} has no elements to index", handle.0.kind()))))
            .and_then(|element| where_the_run_works(&reader_cx, element));
        found.map(to_dynamic).map_err(|error| to_rhai(error, context.call_position(), &reader.pending))
    });
    let reader = bridge.clone();
    engine.register_indexer_get(move |context: NativeCallContext, handle: &mut TensorHandle, index: i64| {
        tensor_element(&handle.0, index)
            .map(to_dynamic)
            .map_err(|error| to_rhai(error, context.call_position(), &reader.pending))
    });
}

fn tensor_element(tensor: &crate::core::Tensor, index: i64) -> Result<Value> {
    let size = tensor.size();
    let Some(&n) = size.first() else {
        return Err(Error::argument("a tensor without dimensions has no elements to index"));
    };
    if index >= n || index < -n {
        return Err(Error::argument(format!("index {index} is outside a tensor of {n} rows")));
    }
    let row = tensor.f_get(if index < 0 { index + n } else { index })?;
    if !row.size().is_empty() {
        return Ok(Value::tensor(row));
    }
    Ok(if is_whole(row.kind()) { Value::Int(row.f_int64_value(&[])?) } else { Value::Float(row.f_double_value(&[])?) })
}

/// `value.name`: a field, or a method that needs no arguments, so that `.len` and `.len()` both answer.
fn field(cx: &Cx, value: &Value, name: &str) -> Result<Dynamic> {
    let known = match value {
        Value::Object(object) => {
            if let Some(found) = object.field(name)? {
                return Ok(to_dynamic(where_the_run_works(cx, found)?));
            }
            object.fields()
        }
        _ => &[],
    };
    let methods = methods_of(value.kind());
    if methods.contains(&name) {
        let path = PRIMITIVES
            .iter()
            .find(|p| p.name() == name && p.receiver().is_some_and(|kind| kind.eq_ignore_ascii_case(value.kind())));
        if let Some(primitive) = path {
            let call = || answered(cx, primitive, vec![value.clone()]);
            return timed(primitive.path, cx.device(), call).map(to_dynamic);
        }
    }
    let all: Vec<&str> = known.iter().copied().chain(methods).collect();
    let hint = former::function_or(&format!("{}.{name}", value.kind()), name, all);
    Err(Error::argument(format!("a {} has no `{name}`", value.kind())).hint(hint))
}
