//! A primitive: one function that scripts can call, described well enough that its checks, its help, its completion, its
//! reference page and its tests all come from the description.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;

use super::former;
use crate::core::{Callback, Cx, Digest, Error, Object, Result, Value, failed_call};

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
            Self::Object(name) => format!("a {name}"),
            Self::Any => "any value".into(),
            Self::Either(kinds) => kinds.iter().map(|k| k.describe()).collect::<Vec<_>>().join(" or "),
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

/// The seed option that every call with randomness offers.
/// Of methods that take what they are called on to a device.
pub const DEVICE_NAME: Param = Param::new("device", Kind::Str, "\"cpu\", \"cuda\" or \"cuda:1\"");

pub const SEED: Param =
    Param::new("seed", Kind::Int, "fixes this call's random numbers whatever the run's seed and the calls before it")
        .or(Fallback::Absent("from the run's seed, this call's arguments and how often it was made"));

#[derive(Debug, Clone, Copy)]
pub struct Example {
    pub code: &'static str,
    /// How the value prints. Empty: anything, so long as it runs.
    pub result: &'static str,
}

/// One function that scripts can call.
pub struct Primitive {
    /// `risk::estimate`, or `Dataset.take` for a method of a type, or `examine` at the top level.
    pub path: &'static str,
    /// One sentence.
    pub purpose: &'static str,
    /// Given by position; for a method the first one is the receiver.
    pub params: &'static [Param],
    /// Given by name in the trailing map.
    pub options: &'static [Param],
    pub returns: &'static str,
    /// More to know: formulas, errors, limits.
    pub notes: &'static str,
    /// The paper and equation, where there is one.
    pub source: &'static str,
    pub examples: &'static [Example],
    pub run: fn(&Cx, &Args) -> Result<Value>,
}

/// Checked arguments of one call.
pub struct Args {
    path: &'static str,
    values: HashMap<&'static str, Value>,
    given: BTreeMap<&'static str, Value>,
    seeded: Option<u64>,
}

impl Primitive {
    /// The type that this is a method of.
    pub fn receiver(&self) -> Option<&'static str> {
        self.path.split_once('.').map(|(kind, _)| kind)
    }

    /// The last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit([':', '.']).next().unwrap_or(self.path)
    }

    pub fn namespace(&self) -> Option<&'static str> {
        self.path.split_once("::").map(|(namespace, _)| namespace)
    }

    pub fn option_names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.options.iter().map(|option| option.name)
    }

    /// `risk::estimate(f, ds, #{ radius: 5, search: "strongest" })`
    pub fn signature(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let params = if self.receiver().is_some() { self.params.get(1..).unwrap_or(&[]) } else { self.params };
        for param in params {
            parts.push(match param.fallback {
                Fallback::Required => param.name.into(),
                _ => match param.fallback_text() {
                    Some(text) => format!("[{} = {text}]", param.name),
                    None => format!("[{}]", param.name),
                },
            });
        }
        if !self.options.is_empty() {
            let options: Vec<String> = self
                .options
                .iter()
                .map(|option| match option.fallback_text() {
                    Some(text) => format!("{}: {text}", option.name),
                    None => option.name.into(),
                })
                .collect();
            parts.push(format!("#{{ {} }}", options.join(", ")));
        }
        let name = match self.receiver() {
            Some(kind) => format!("{}.{}", kind.to_lowercase(), self.name()),
            None => self.path.to_string(),
        };
        format!("{name}({})", parts.join(", "))
    }

    /// What was learned here is known to later draws by this call, and not by its bits.
    fn made(&self, args: &Args, value: Value) -> Result<Value> {
        let Value::Object(object) = &value else { return Ok(value) };
        let learned = args.seeded.is_some() || args.given.values().any(Value::is_made);
        if !learned || object.made_by().is_some() {
            return Ok(value);
        }
        let (given, seed) = (args.digest(self.options)?, args.seeded.unwrap_or_default().to_le_bytes());
        let call = Digest::of_parts(&[b"made by", former::first_path(self.path).as_bytes(), &given.0, &seed]);
        Ok(object.as_made_by(call).map_or(value, Value::Object))
    }

    /// Checks the arguments, then works. A panic below is caught and reported as a mistake in viva.
    pub fn call(&self, cx: &Cx, arguments: Vec<Value>) -> Result<Value> {
        let args = self.check(cx, arguments)?;
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.made(&args, (self.run)(cx, &args)?))) {
            Ok(result) => result.map_err(|error| {
                let named = error.message.starts_with(self.path) || error.is_interrupted();
                if named || error.kind == crate::core::ErrorKind::Callback { error } else { error.during(self.path) }
            }),
            Err(panic) => {
                if let Some(error) = failed_call(&*panic) {
                    return Err(error.during(self.path));
                }
                let text = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                    .unwrap_or_default();
                let line = text.lines().next().unwrap_or_default().to_string();
                Err(Error::internal(format!("{}: {line}", self.path))
                    .hint("this is a mistake in viva; please report it"))
            }
        }
    }

    fn check(&self, cx: &Cx, mut arguments: Vec<Value>) -> Result<Args> {
        let path = self.path;
        let mut given = BTreeMap::new();
        let mut values = HashMap::new();
        let mut options = BTreeMap::new();
        let required = self.params.iter().filter(|p| p.fallback == Fallback::Required).count();
        if !self.options.is_empty() && arguments.len() > required && matches!(arguments.last(), Some(Value::Map(_))) {
            let takes_map = arguments.len() <= self.params.len()
                && self.params[arguments.len() - 1].kind.accept(&arguments[arguments.len() - 1]).is_some();
            if !takes_map && let Some(Value::Map(map)) = arguments.pop() {
                options = map;
            }
        }
        if arguments.len() < required || arguments.len() > self.params.len() {
            let count = if self.receiver().is_some() { arguments.len().saturating_sub(1) } else { arguments.len() };
            let plural = if count == 1 { "argument" } else { "arguments" };
            return Err(Error::argument(format!("{path}: got {count} {plural}"))
                .hint(format!("call it as {}", self.signature())));
        }
        for (param, value) in self.params.iter().zip(&arguments) {
            given.insert(param.name, param.check(path, value)?);
        }
        for (name, value) in &options {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(Error::argument(format!("{path}: unknown option `{name}`")).hint(former::option_or(
                    path,
                    name,
                    self.option_names(),
                )));
            };
            // `()` stands for an option left out, so that scripts can pass one on.
            if !matches!(value, Value::Unit) {
                given.insert(option.name, option.check(path, value)?);
            }
        }
        for param in self.params.iter().chain(self.options) {
            match given.get(param.name).cloned().or_else(|| param.default_value()) {
                Some(value) => {
                    values.insert(param.name, value);
                }
                None if param.fallback == Fallback::Required => {
                    return Err(Error::argument(format!("{path}: the option `{}` is needed", param.name))
                        .hint(format!("{}: {}", param.name, param.doc)));
                }
                None => {}
            }
        }
        let mut args = Args { path, values, given, seeded: None };
        if self.option_names().any(|name| name == SEED.name) {
            args.seeded = Some(match args.optional_int("seed") {
                Some(seed) => seed as u64,
                None => cx.call_seed(former::first_path(path), args.digest(self.options)?),
            });
        }
        Ok(args)
    }
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
    fn digest(&self, options: &[Param]) -> Result<Digest> {
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

/// A value short enough for an error message.
fn brief(value: &Value) -> String {
    let text = value.summary().replace('\n', " ");
    if text.chars().count() > 60 { text.chars().take(57).collect::<String>() + "…" } else { text }
}
