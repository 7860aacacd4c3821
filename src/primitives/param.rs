//! A parameter of a primitive: what it accepts, what it is without being given, and its check.

use super::former;
use crate::core::{Error, Result, Value};

/// What a parameter accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Bool,
    Int,
    /// An int is accepted where a float is wanted.
    Float,
    Str,
    /// A string that names a file or folder.
    Path,
    /// One of these words.
    Choice(&'static [&'static str]),
    Array,
    /// An array of these words.
    Several(&'static [&'static str]),
    /// An array or tensor of numbers.
    Numbers,
    Map,
    Tensor,
    Callback,
    /// An object of this type.
    Object(&'static str),
    Any,
    /// The first of several kinds that fits.
    Either(&'static [Kind]),
}

impl Kind {
    /// Whether a map is one of these, so that one in its place is no map of options.
    pub fn may_be_map(self) -> bool {
        match self {
            Self::Map | Self::Any => true,
            Self::Either(kinds) => kinds.iter().any(|kind| kind.may_be_map()),
            _ => false,
        }
    }

    /// Whether a closure is among what it accepts.
    pub fn may_be_called(self) -> bool {
        match self {
            Self::Callback | Self::Any => true,
            Self::Either(kinds) => kinds.iter().any(|kind| kind.may_be_called()),
            _ => false,
        }
    }

    pub fn describe(self) -> String {
        match self {
            Self::Bool => "a bool".into(),
            Self::Int => "an int".into(),
            Self::Float => "a number".into(),
            Self::Str => "a string".into(),
            Self::Path => "a path".into(),
            Self::Choice(words) => words.iter().map(|w| format!("{w:?}")).collect::<Vec<_>>().join(" | "),
            Self::Array => "an array".into(),
            Self::Several(words) => format!("an array of {}", Self::Choice(words).describe()),
            Self::Numbers => "an array or tensor of numbers".into(),
            Self::Map => "a map".into(),
            Self::Tensor => "a tensor".into(),
            Self::Callback => "a closure".into(),
            Self::Object(name) if name.starts_with(['A', 'E', 'I', 'O', 'U']) => format!("an {name}"),
            Self::Object(name) => format!("a {name}"),
            Self::Any => "any value".into(),
            Self::Either(kinds) => kinds.iter().map(|k| k.describe()).collect::<Vec<_>>().join(" or "),
        }
    }

    /// What answers such objects: "a Transcript comes from examine".
    fn given_by(self) -> Option<String> {
        match self {
            Self::Object(wanted) => given_by(wanted).map(|from| format!("{} comes from {from}", self.describe())),
            Self::Either(kinds) => {
                let from: Vec<String> = kinds.iter().filter_map(|kind| kind.given_by()).collect();
                (!from.is_empty()).then(|| from.join(", "))
            }
            _ => None,
        }
    }

    /// The words that fit, if some do.
    pub fn choices(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Choice(words) | Self::Several(words) => Some(words),
            Self::Either(kinds) => kinds.iter().find_map(|kind| kind.choices()),
            _ => None,
        }
    }

    /// The value in the form that this kind promises, if it fits.
    pub fn accept(self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::Any, value) => Some(value.clone()),
            (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Int(_))
            | (Self::Float, Value::Float(_))
            | (Self::Str | Self::Path, Value::Str(_))
            | (Self::Array, Value::Array(_))
            | (Self::Map, Value::Map(_))
            | (Self::Tensor, Value::Tensor(_))
            | (Self::Callback, Value::Callback(_)) => Some(value.clone()),
            // Division gives floats, so whole ones count as integers.
            (Self::Int, Value::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => Some(Value::Int(*x as i64)),
            (Self::Float, Value::Int(i)) => Some(Value::Float(*i as f64)),
            (Self::Choice(words), Value::Str(s)) if words.contains(&s.as_str()) => Some(value.clone()),
            (Self::Several(words), Value::Array(values)) => {
                let known = |value: &Value| Self::Choice(words).accept(value).is_some();
                values.iter().all(known).then(|| value.clone())
            }
            (Self::Object(name), Value::Object(object)) if object.kind() == name => Some(value.clone()),
            (Self::Numbers, Value::Array(values)) => {
                let numbers: Option<Vec<Value>> = values.iter().map(|v| Self::Float.accept(v)).collect();
                numbers.map(Value::Array)
            }
            (Self::Numbers, Value::Tensor(tensor)) => {
                let flat = tensor.f_to_kind(tch::Kind::Double).and_then(|t| t.f_reshape([-1])).ok()?;
                Some(Value::floats(Vec::<f64>::try_from(&flat).ok()?))
            }
            (Self::Either(kinds), value) => {
                // What fits as it is comes before what must be converted: 2.0 is a float where ints and floats fit.
                let fits = || kinds.iter().filter_map(|kind| kind.accept(value));
                fits().find(|fit| fit.kind() == value.kind()).or_else(|| fits().next())
            }
            _ => None,
        }
    }
}

/// What a parameter is when the caller leaves it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fallback {
    Required,
    /// May be left out; the text says what then happens.
    Absent(&'static str),
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub fallback: Fallback,
    /// Inclusive bounds of a number.
    pub range: Option<(f64, f64)>,
    pub unit: &'static str,
    pub doc: &'static str,
    /// Whether it says no more than what is noted, so that a call's random numbers are the same with and without it.
    pub observes: bool,
}

impl Param {
    /// A parameter that must be given.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, fallback: Fallback::Required, range: None, unit: "", doc, observes: false }
    }

    pub const fn or(mut self, fallback: Fallback) -> Self {
        self.fallback = fallback;
        self
    }

    pub const fn range(mut self, lo: f64, hi: f64) -> Self {
        self.range = Some((lo, hi));
        self
    }

    pub const fn at_least(self, lo: f64) -> Self {
        self.range(lo, f64::INFINITY)
    }

    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    pub const fn observing(mut self) -> Self {
        self.observes = true;
        self
    }

    /// The bounds in words: "from 1 up".
    pub fn bounds(&self) -> Option<String> {
        let show = |x: f64| match self.kind {
            Kind::Int => format!("{}", x as i64),
            _ if x != 0.0 && x.abs() < 1e-4 => crate::core::number(x),
            _ if x.abs() >= 1e9 => format!("{x:e}"),
            _ => format!("{x}"),
        };
        self.range.map(|(lo, hi)| match (lo.is_finite(), hi.is_finite()) {
            (true, true) => format!("from {} to {}", show(lo), show(hi)),
            (true, false) => format!("from {} up", show(lo)),
            (false, true) => format!("up to {}", show(hi)),
            (false, false) => "any finite number".into(),
        })
    }

    pub fn fallback_text(&self) -> Option<String> {
        match self.fallback {
            Fallback::Required => None,
            Fallback::Absent(_) => None,
            Fallback::Bool(b) => Some(b.to_string()),
            Fallback::Int(i) => Some(i.to_string()),
            Fallback::Float(x) => Some(crate::core::number(x)),
            Fallback::Str(s) => Some(format!("{s:?}")),
        }
    }

    /// The value in the form that the kind promises, or what is wrong with it for the function of this path.
    pub fn check(&self, path: &str, value: &Value) -> Result<Value> {
        let problem = |message: String| Error::argument(format!("{path}: `{}` must be {message}", self.name));
        let Some(accepted) = self.kind.accept(value) else {
            if let (Some(words), Value::Str(given)) = (self.kind.choices(), value) {
                return Err(problem(format!("{}, got {given:?}", self.kind.describe())).hint(former::word_or(
                    path,
                    self.name,
                    given,
                    words.iter().copied(),
                )));
            }
            if let (Kind::Several(words), Value::Array(values)) = (self.kind, value)
                && let Some(Value::Str(given)) = values.iter().find(|value| Kind::Choice(words).accept(value).is_none())
            {
                return Err(problem(format!("{}, got {given:?}", self.kind.describe())).hint(former::word_or(
                    path,
                    self.name,
                    given,
                    words.iter().copied(),
                )));
            }
            if matches!(value, Value::Unit) {
                return Err(problem(format!("{}, got ()", self.kind.describe()))
                    .hint("() is what calls return that only change what stands before the dot: push, pad, sort"));
            }
            let mut error = problem(format!("{}, got {} {}", self.kind.describe(), value.kind(), brief(value)));
            if self.kind == Kind::Int && matches!(value, Value::Float(_)) {
                error = error.hint("`/` gives a float; `div(a, b)` divides integers");
            } else if let Some(hint) = self.kind.given_by() {
                error = error.hint(hint);
            }
            return Err(error);
        };
        let numbers: Vec<f64> = match &accepted {
            Value::Int(i) => vec![*i as f64],
            Value::Float(x) => vec![*x],
            Value::Array(values) if self.range.is_some() => {
                values.iter().filter_map(|v| if let Value::Float(x) = v { Some(*x) } else { None }).collect()
            }
            _ => vec![],
        };
        if let (Some((lo, hi)), Some(bounds)) = (self.range, self.bounds()) {
            if numbers.iter().any(|x| !(lo <= *x && *x <= hi) || x.is_infinite()) {
                let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
                return Err(problem(format!("{bounds}{unit}, got {}", brief(&accepted))));
            }
        } else if self.kind != Kind::Any
            && let Some(bad) = numbers.iter().find(|x| !x.is_finite())
        {
            return Err(problem(format!("a finite number, got {bad}")));
        }
        Ok(accepted)
    }

    pub fn default_value(&self) -> Option<Value> {
        match self.fallback {
            Fallback::Required | Fallback::Absent(_) => None,
            Fallback::Bool(b) => Some(Value::Bool(b)),
            Fallback::Int(i) => Some(Value::Int(i)),
            Fallback::Float(x) => Some(Value::Float(x)),
            Fallback::Str(s) => Some(Value::Str(s.into())),
        }
    }
}

/// Of methods that take what they are called on to a device.
pub const DEVICE_NAME: Param = Param::new("device", Kind::Str, "\"cpu\", \"cuda\" or \"cuda:1\"");

/// The seed option that every call with randomness offers.
pub const SEED: Param =
    Param::new("seed", Kind::Int, "fixes this call's random numbers whatever the run's seed and the calls before it")
        .or(Fallback::Absent("from the run's seed, this call's arguments and how often it was made"));

/// What functions answer an object of this type, where some do; of many their namespaces.
fn given_by(wanted: &str) -> Option<String> {
    const MANY: usize = 4;
    let answers = |returns: &str| {
        let what = returns.trim_start_matches("an ").trim_start_matches("a ").trim_start_matches('`');
        what.strip_prefix(wanted).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    let mut from: Vec<String> = super::PRIMITIVES
        .iter()
        .filter(|primitive| primitive.receiver() != Some(wanted) && answers(primitive.returns))
        .map(|primitive| primitive.path.to_owned())
        .collect();
    if from.len() > MANY {
        from = from
            .iter()
            .map(|path| path.split_once("::").map_or(path.clone(), |(names, _)| format!("{names}::…")))
            .collect();
        from.sort();
        from.dedup();
        from.truncate(MANY);
    }
    (!from.is_empty()).then(|| from.join(" or "))
}

/// A value short enough for an error message.
fn brief(value: &Value) -> String {
    let text = value.summary().replace('\n', " ");
    if text.chars().count() > 60 { text.chars().take(57).collect::<String>() + "…" } else { text }
}
