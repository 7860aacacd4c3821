//! Calls of functions whose comments declare what they take: checked before the function's own lines, as calls of primitives are.

use std::any::TypeId;

use rhai::{Array, Dynamic, Engine, EvalAltResult, Map, NativeCallContext};

use super::bind::to_rhai;
use super::kinds::{article, kind};
use super::own_names::MARK;
use super::value::{Bridge, to_dynamic};
use crate::core::{Error, Result};
use crate::primitives::declared::{self, Declaration, Declared};
use crate::primitives::{Fallback, Kind, Param, Primitive, find, former};

const CHECKED: &str = "checked";

/// What stands before a function's own lines: checks what it was called with and fills in the defaults.
pub fn prologue(function: &Declared) -> Option<String> {
    let declaration = function.declaration;
    if !declaration.checks {
        return None;
    }
    // What may be anything is not looked at.
    let looked_at = |(name, param): (&String, &Param)| if param.kind == Kind::Any { "()".into() } else { name.clone() };
    let values: Vec<String> = declaration.positional.iter().zip(declaration.function.params).map(looked_at).collect();
    let call = |options: &str| format!("{CHECKED}{MARK}({}, [{}], {options});", function.index, values.join(", "));
    Some(match function.arity > declaration.positional.len() {
        true => format!(" options = {}", call("options")),
        false => format!(" {}", call("()")),
    })
}

/// Whether the interpreter's text goes on with a check of a call at this byte.
pub fn is_prologue(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(&format!("{CHECKED}{MARK}(")))
}

/// Before the first program.
pub fn register(engine: &mut Engine, bridge: &Bridge) {
    let dynamic = TypeId::of::<Dynamic>();
    let checks = bridge.clone();
    engine.register_raw_fn(format!("{CHECKED}{MARK}"), [dynamic; 3], move |context, values| {
        let outcome = values[0]
            .as_int()
            .ok()
            .and_then(|index| declared::at(index as usize))
            .ok_or_else(|| Error::internal("a function lost its declaration"))
            .and_then(|declaration| {
                positional(declaration, &checks, &context, values[1])?;
                options(declaration, &checks, &context, values[2])
            });
        outcome.map(Dynamic::from_map).map_err(|error| to_rhai(error, context.call_position(), &checks.pending))
    });
    let handing_on = bridge.clone();
    let only_of =
        move |context: NativeCallContext, options: Map, path: &str| -> std::result::Result<Map, Box<EvalAltResult>> {
            let found: Option<&Primitive> = find(path)
                .or_else(|| declared::of_path(path).map(|declaration| &declaration.function))
                .or_else(|| declared::of_stdlib(path).map(|declaration| &declaration.function));
            let Some(function) = found else {
                let error = Error::argument(format!("only_of: there is no function {path:?}"))
                    .hint("options.only_of(\"generator::perturb\") gives those options that generator::perturb takes");
                return Err(to_rhai(error, context.call_position(), &handing_on.pending));
            };
            let mut only = options;
            only.retain(|name, value| !value.is_unit() && function.option_names().any(|known| known == name.as_str()));
            Ok(only)
        };
    engine.register_fn("only_of", only_of);
}

fn positional(declaration: &Declaration, bridge: &Bridge, context: &NativeCallContext, values: &Dynamic) -> Result<()> {
    let values = values.read_lock::<Array>();
    for (param, value) in declaration.function.params.iter().zip(values.iter().flat_map(|values| values.iter())) {
        let left_out = value.is_unit() && param.fallback != Fallback::Required;
        if !left_out {
            let _ = checked(declaration, param, bridge, context, value)?;
        }
    }
    Ok(())
}

/// Every option with what the caller gave, else its default, else ().
fn options(declaration: &Declaration, bridge: &Bridge, context: &NativeCallContext, given: &Dynamic) -> Result<Map> {
    let (function, path) = (&declaration.function, declaration.function.path);
    let given = match given.read_lock::<Map>() {
        Some(map) => map.clone(),
        None if given.is_unit() => Map::new(),
        None => {
            let wrong = format!("{path}: `options` must be a map, got {} {}", article(kind(given)), given);
            return Err(Error::argument(wrong).hint(format!("call it as {}", function.signature())));
        }
    };
    if let Some(unknown) = given.keys().find(|name| !function.option_names().any(|known| known == name.as_str())) {
        return Err(Error::argument(format!("{path}: unknown option `{unknown}`")).hint(former::option_or(
            path,
            unknown,
            function.option_names(),
        )));
    }
    let mut all = Map::new();
    for option in function.options {
        let value = match given.get(option.name).filter(|value| !value.is_unit()) {
            Some(value) => checked(declaration, option, bridge, context, value)?,
            None if declaration.needs(option) => {
                return Err(Error::argument(format!("{path}: the option `{}` is needed", option.name))
                    .hint(format!("{}: {}", option.name, option.doc)));
            }
            None => declaration.default_of(option).map_or(Dynamic::UNIT, to_dynamic),
        };
        all.insert(option.name.into(), value);
    }
    Ok(all)
}

/// The value as the function is to see it: as it was given, but that a whole float where an int is wanted becomes one.
fn checked(
    declaration: &Declaration,
    param: &Param,
    bridge: &Bridge,
    context: &NativeCallContext,
    value: &Dynamic,
) -> Result<Dynamic> {
    // What is large is not converted only to see that it is an array.
    let fits = match param.kind {
        Kind::Any => true,
        Kind::Array => kind(value) == "array",
        Kind::Map => kind(value) == "map",
        Kind::Callback => kind(value) == "closure",
        _ => false,
    };
    if fits {
        return Ok(value.clone());
    }
    let accepted = param.check(declaration.function.path, &bridge.to_value(Some(context), value)?)?;
    let whole = param.kind == Kind::Int && value.is_float();
    Ok(if whole { to_dynamic(accepted) } else { value.clone() })
}
