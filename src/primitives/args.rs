//! The arguments of one call of a primitive, once they are checked.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::{Param, former};
use crate::core::{Callback, Digest, Object, Result, Value};

/// Checked arguments of one call.
pub struct Args {
    pub(super) path: &'static str,
    pub(super) values: HashMap<&'static str, Value>,
    pub(super) given: BTreeMap<&'static str, Value>,
    pub(super) seeded: Option<u64>,
}

impl Args {
    pub(super) fn want<T>(&self, name: &str, found: Option<T>) -> T {
        found.unwrap_or_else(|| panic!("{} reads `{name}` as something its description does not promise", self.path))
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Whether the caller said it, rather than its default.
    pub fn given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    pub fn value(&self, name: &str) -> &Value {
        self.want(name, self.get(name))
    }

    pub fn bool(&self, name: &str) -> bool {
        self.want(name, if let Some(Value::Bool(b)) = self.get(name) { Some(*b) } else { None })
    }

    pub fn optional_int(&self, name: &str) -> Option<i64> {
        if let Some(Value::Int(i)) = self.get(name) { Some(*i) } else { None }
    }

    pub fn int(&self, name: &str) -> i64 {
        self.want(name, self.optional_int(name))
    }

    /// An int that its range keeps from being negative.
    pub fn count(&self, name: &str) -> usize {
        self.want(name, usize::try_from(self.int(name)).ok())
    }

    pub fn optional_float(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Float(x)) => Some(*x),
            Some(Value::Int(i)) => Some(*i as f64),
            _ => None,
        }
    }

    pub fn float(&self, name: &str) -> f64 {
        self.want(name, self.optional_float(name))
    }

    /// A text of the caller's own; what one of several words stands for is asked of their `Words`.
    pub fn optional_str(&self, name: &str) -> Option<&str> {
        let params =
            super::find(self.path).into_iter().flat_map(|primitive| primitive.params.iter().chain(primitive.options));
        let chosen = params.clone().any(|param| param.name == name && param.kind.choices().is_some());
        assert!(!chosen, "{} reads `{name}`, which is one of several words, as a text", self.path);
        self.word(name)
    }

    pub(super) fn word(&self, name: &str) -> Option<&str> {
        if let Some(Value::Str(s)) = self.get(name) { Some(s) } else { None }
    }

    pub fn str(&self, name: &str) -> &str {
        self.want(name, self.optional_str(name))
    }

    pub fn array(&self, name: &str) -> &[Value] {
        self.want(name, if let Some(Value::Array(values)) = self.get(name) { Some(values.as_slice()) } else { None })
    }

    /// The numbers of a `Kind::Numbers` parameter.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.array(name).iter().filter_map(|v| if let Value::Float(x) = v { Some(*x) } else { None }).collect()
    }

    pub fn map(&self, name: &str) -> &BTreeMap<String, Value> {
        self.want(name, if let Some(Value::Map(map)) = self.get(name) { Some(map) } else { None })
    }

    pub fn tensor(&self, name: &str) -> Rc<crate::core::Tensor> {
        self.want(name, if let Some(Value::Tensor(tensor)) = self.get(name) { Some(tensor.clone()) } else { None })
    }

    pub fn callback(&self, name: &str) -> Callback {
        self.want(
            name,
            if let Some(Value::Callback(callback)) = self.get(name) { Some(callback.clone()) } else { None },
        )
    }

    pub fn optional_object<T: Object>(&self, name: &str) -> Option<Rc<T>> {
        self.get(name).and_then(Value::downcast)
    }

    pub fn object<T: Object>(&self, name: &str) -> Rc<T> {
        self.want(name, self.optional_object(name))
    }

    /// The seed of this call's random numbers: the one piece of code that reads the option `seed`.
    pub fn seed(&self) -> u64 {
        self.want("seed", self.seeded)
    }

    /// Of all that was given and that random numbers go by.
    pub(super) fn digest(&self, options: &[Param]) -> Result<Digest> {
        let observes = |name: &str| options.iter().any(|option| option.name == name && option.observes);
        let named = |(name, value): (&&'static str, &Value)| {
            let value = match value {
                Value::Str(word) => Value::Str(former::first_word(self.path, name, word).into()).digest()?,
                Value::Map(map) => {
                    let key = |(key, value): (&String, &Value)| {
                        (former::first_name(&format!("`{name}`"), key).to_string(), value.clone())
                    };
                    Value::Map(map.iter().map(key).collect()).digest()?
                }
                value => value.digest()?,
            };
            Ok((former::first_name(self.path, name), value))
        };
        let by_name: BTreeMap<&str, Digest> =
            self.given.iter().filter(|(name, _)| !observes(name)).map(named).collect::<Result<_>>()?;
        let parts: Vec<Digest> =
            by_name.into_iter().flat_map(|(name, value)| [Digest::of(name.as_bytes()), value]).collect();
        Ok(Digest::of_parts(&parts.iter().map(|d| &d.0[..]).collect::<Vec<_>>()))
    }
}
