//! What primitives take and give: a small dynamic value that knows nothing of the scripting language.

use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use serde_json::json;

use super::{Cx, Digest, Error, LongTable, Result, Table, Tensor, number};

type CallbackFn = dyn Fn(&[Value]) -> Result<Value>;

/// A function of the caller's, such as a script's closure.
#[derive(Clone)]
pub struct Callback(Rc<CallbackFn>);

impl Callback {
    pub fn new(call: impl Fn(&[Value]) -> Result<Value> + 'static) -> Self {
        Self(Rc::new(call))
    }

    pub fn call(&self, arguments: &[Value]) -> Result<Value> {
        (self.0)(arguments)
    }

    /// Whether somebody asks what closures change.
    pub fn is_watched() -> bool {
        WATCHED.get()
    }

    pub(super) fn watch(asked: bool) {
        WATCHED.set(asked);
    }

    /// Notes that a closure changed variables of the script that are not its own: a call that is not made again leaves them as they are.
    pub fn note_change() {
        CHANGED.set(true);
    }

    /// Whether one did since this was asked last.
    pub(super) fn take_change() -> bool {
        CHANGED.take()
    }
}

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static CHANGED: Cell<bool> = const { Cell::new(false) };
}

/// What primitives take and give.
#[derive(Clone)]
pub enum Value {
    Unit,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Array(Vec<Value>),
    Map(BTreeMap<String, Value>),
    Tensor(Rc<Tensor>),
    Object(Rc<dyn Object>),
    Callback(Callback),
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind(), self.summary())
    }
}

/// A value with a type of its own: a model, a data set, a transcript, a figure.
pub trait Object: Any {
    /// The type's name as documentation and errors write it: `Dataset`.
    fn kind(&self) -> &'static str;

    /// One line that says what it is.
    fn summary(&self) -> String;

    /// The long form, `width` columns wide.
    fn details(&self, _width: usize) -> String {
        self.summary()
    }

    /// Names that `field` answers.
    fn fields(&self) -> &'static [&'static str] {
        &[]
    }

    fn field(&self, _name: &str) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Names inside a field that is a map, known without computing it.
    fn members(&self, _field: &str) -> &'static [&'static str] {
        &[]
    }

    /// The keys of its elements, where these are maps that all have the same.
    fn element_keys(&self) -> Vec<&'static str> {
        vec![]
    }

    /// `object[i]`; `None` if the type has no elements. Negative indices count from the end.
    fn element(&self, _index: i64) -> Option<Result<Value>> {
        None
    }

    /// Where its tensors lie, if it has any.
    fn device(&self) -> Option<tch::Device> {
        None
    }

    /// What it is, for journals and manifests.
    fn digest(&self) -> Digest {
        Digest::of(format!("{}:{}", self.kind(), self.summary()).as_bytes())
    }

    /// The call that made it, of what was learned here: what random numbers go by, since what is learned on another device or processor has
    /// other bits.
    fn made_by(&self) -> Option<Digest> {
        None
    }

    /// Whether there is such a call.
    fn is_made(&self) -> bool {
        self.made_by().is_some()
    }

    /// The same, made by a call; `None` of what goes by its digest.
    fn as_made_by(&self, _call: Digest) -> Option<Rc<dyn Object>> {
        None
    }

    fn json(&self) -> serde_json::Value {
        let mut map = serde_json::Map::new();
        for name in self.fields() {
            if let Ok(Some(value)) = self.field(name) {
                map.insert((*name).into(), value.json());
            }
        }
        serde_json::Value::Object(map)
    }

    /// What of its `json` may be long, for it to be written row by row.
    fn long_rows(&self) -> Option<LongRows<'_>> {
        None
    }

    /// The object as a table, if it is one.
    fn table(&self) -> Option<Table> {
        self.long_table().map(<dyn LongTable>::whole)
    }

    /// The same part by part, if it may be long.
    fn long_table(&self) -> Option<&dyn LongTable> {
        None
    }

    /// File endings that `save` can write besides `json` and, for tables, `csv`, `tex` and `parquet`.
    fn formats(&self) -> &'static [&'static str] {
        &[]
    }

    /// Writes the object in one of its own `formats`.
    fn write(&self, _cx: &Cx, path: &Path, ending: &str) -> Result<()> {
        Err(Error::file(path, format!("a {} can't be written as .{ending}", self.kind())))
    }

    /// The endings under which a run's result is kept without being asked.
    fn kept_as(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What an object has under a key of its `json`, row by row.
pub struct LongRows<'a> {
    /// All of the object, with `null` under the key.
    pub head: serde_json::Value,
    pub key: &'static str,
    pub len: usize,
    pub row: Box<dyn Fn(usize) -> serde_json::Value + 'a>,
}

impl LongRows<'_> {
    /// The object as a whole.
    pub fn whole(self) -> serde_json::Value {
        let mut all = self.head;
        all[self.key] = (0..self.len).map(self.row).collect();
        all
    }
}

/// What stands before, by name, and every field that is known: how results write themselves.
pub fn json_of_fields(
    object: &dyn Object,
    before: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
) -> serde_json::Value {
    let fields = object.fields().iter().filter_map(|name| Some((*name, object.field(name).ok()??.json())));
    serde_json::Value::Object(before.into_iter().chain(fields).map(|(name, value)| (name.to_string(), value)).collect())
}

impl Value {
    /// Values by name: of a map, by their names' order, or of an array of pairs `[name, value]`, in theirs.
    pub fn named(&self) -> Option<Vec<(String, &Value)>> {
        let pair = |value: &'_ Value| match value {
            Self::Array(both) => match &both[..] {
                [Self::Str(name), _] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        match self {
            Self::Map(map) => Some(map.iter().map(|(name, value)| (name.clone(), value)).collect()),
            Self::Array(pairs) if !pairs.is_empty() => {
                let names: Option<Vec<String>> = pairs.iter().map(pair).collect();
                let values = pairs.iter().filter_map(|pair| match pair {
                    Self::Array(both) => both.get(1),
                    _ => None,
                });
                Some(names?.into_iter().zip(values).collect())
            }
            _ => None,
        }
    }

    pub fn object(object: impl Object) -> Self {
        Self::Object(Rc::new(object))
    }

    pub fn tensor(tensor: Tensor) -> Self {
        Self::Tensor(Rc::new(tensor))
    }

    pub fn floats(values: impl IntoIterator<Item = f64>) -> Self {
        Self::Array(values.into_iter().map(Self::Float).collect())
    }

    pub fn ints(values: impl IntoIterator<Item = i64>) -> Self {
        Self::Array(values.into_iter().map(Self::Int).collect())
    }

    /// The type's name as a person at the prompt knows it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unit => "()",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "string",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Tensor(_) => "tensor",
            Self::Object(object) => object.kind(),
            Self::Callback(_) => "closure",
        }
    }

    /// The object of type `T` inside, if that is what it holds.
    pub fn downcast<T: Object>(&self) -> Option<Rc<T>> {
        match self {
            Self::Object(object) => (object.clone() as Rc<dyn Any>).downcast::<T>().ok(),
            _ => None,
        }
    }

    /// One line for a person.
    pub fn summary(&self) -> String {
        match self {
            Self::Unit => "()".into(),
            Self::Bool(b) => b.to_string(),
            Self::Int(i) => i.to_string(),
            Self::Float(x) => number(*x),
            Self::Str(s) => s.clone(),
            Self::Array(values) => {
                let shown: Vec<String> = values.iter().take(8).map(Value::summary).collect();
                let rest = if values.len() > 8 { format!(", … {} in all", values.len()) } else { String::new() };
                format!("[{}{rest}]", shown.join(", "))
            }
            Self::Map(map) => {
                let shown: Vec<String> = map.iter().map(|(key, value)| format!("{key}: {}", value.summary())).collect();
                format!("#{{{}}}", shown.join(", "))
            }
            Self::Tensor(tensor) => tensor_summary(tensor),
            Self::Object(object) => object.summary(),
            Self::Callback(_) => "closure".into(),
        }
    }

    /// The long form: what `show` prints, with nothing in it that a terminal would obey.
    pub fn details(&self, width: usize) -> String {
        super::visible(&super::long::of(self, width)).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Unit | Self::Callback(_) => serde_json::Value::Null,
            Self::Bool(b) => json!(b),
            Self::Int(i) => json!(i),
            // JSON has no words for these three; strings keep them readable.
            Self::Float(x) if x.is_nan() => json!("nan"),
            Self::Float(x) if x.is_infinite() => json!(if *x > 0.0 { "inf" } else { "-inf" }),
            Self::Float(x) => json!(x),
            Self::Str(s) => json!(s),
            Self::Array(values) => values.iter().map(Value::json).collect(),
            Self::Map(map) => serde_json::Value::Object(map.iter().map(|(k, v)| (k.clone(), v.json())).collect()),
            Self::Tensor(tensor) => tensor_json(tensor),
            Self::Object(object) => {
                let mut value = object.json();
                if let serde_json::Value::Object(map) = &mut value {
                    map.shift_insert(0, "type".into(), json!(object.kind()));
                }
                value
            }
        }
    }

    /// Whether a call that is known made it, or what it holds.
    pub fn is_made(&self) -> bool {
        match self {
            Self::Object(object) => object.is_made(),
            Self::Array(values) => values.iter().any(Self::is_made),
            Self::Map(map) => map.values().any(Self::is_made),
            _ => false,
        }
    }

    /// The identity of a value, for seeds.
    pub fn digest(&self) -> Result<Digest> {
        Ok(match self {
            Self::Tensor(tensor) => Digest::of_tensor(tensor)?,
            Self::Object(object) => object.made_by().unwrap_or_else(|| object.digest()),
            // A closure's text can't be told from here; its place in the call is what counts.
            Self::Callback(_) => Digest::of(b"closure"),
            Self::Array(values) => {
                let parts = values.iter().map(Value::digest).collect::<Result<Vec<_>>>()?;
                Digest::of_parts(&parts.iter().map(|d| &d.0[..]).collect::<Vec<_>>())
            }
            Self::Map(map) => {
                let mut parts = Vec::new();
                for (key, value) in map {
                    parts.push(Digest::of(key.as_bytes()));
                    parts.push(value.digest()?);
                }
                Digest::of_parts(&parts.iter().map(|d| &d.0[..]).collect::<Vec<_>>())
            }
            Self::Float(x) => Digest::of_parts(&[b"float", &x.to_bits().to_le_bytes()]),
            other => Digest::of_parts(&[other.kind().as_bytes(), other.summary().as_bytes()]),
        })
    }

    /// Writes the value; the path's ending picks the format. Of a table these columns in this order, or all where none is named.
    pub fn save(&self, cx: &Cx, path: &str, columns: &[String]) -> Result<()> {
        let target = cx.writable(path)?;
        let ending = target.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
        let made = match self {
            Self::Object(object) if object.long_table().is_none() => object.table(),
            Self::Array(_) => Table::from_rows(self),
            _ => None,
        };
        let table = match self {
            Self::Object(object) => object.long_table(),
            _ => None,
        };
        let table = table.or(made.as_ref().map(|table| table as &dyn LongTable));
        match table {
            Some(table) if !columns.is_empty() => drop(table.part(0..0).only(columns)?),
            None if !columns.is_empty() => {
                return Err(Error::argument(format!("`column_order` names columns of a table, got {}", self.kind())));
            }
            _ => {}
        }
        let mut known = vec!["json", "txt"];
        if table.is_some() {
            known.extend(TABLES);
        }
        if let Self::Object(object) = self {
            known.extend(object.formats());
        }
        if let Self::Tensor(_) = self {
            known.extend(["npy", "safetensors"]);
        }
        if !columns.is_empty() && !TABLES.contains(&ending.as_str()) {
            let told = format!("`column_order` chooses columns in .csv, .tex and .parquet, not in .{ending}");
            return Err(Error::argument(told));
        }
        if !known.contains(&ending.as_str()) {
            return Err(Error::file(&target, format!("a {} can't be written as `.{ending}`", self.kind()))
                .hint(format!("endings that work: {}", known.join(", "))));
        }
        cx.write_with(&target, |temporary| match (self, ending.as_str(), table) {
            (Self::Object(object), ending, _) if object.formats().contains(&ending) => {
                object.write(cx, temporary, ending)
            }
            (Self::Tensor(tensor), "npy", _) => Ok(tensor.write_npy(temporary)?),
            (Self::Tensor(tensor), "safetensors", _) => {
                Ok(Tensor::write_safetensors(&[("tensor", tensor.as_ref())], temporary)?)
            }
            (_, "csv", Some(table)) => table.write_csv(temporary, columns),
            (_, "tex", Some(table)) if columns.is_empty() => write_text(temporary, &table.whole().latex()),
            (_, "tex", Some(table)) => write_text(temporary, &table.whole().only(columns)?.latex()),
            (_, "parquet", Some(table)) => {
                table.write_parquet(temporary, columns, &[("viva", self.said_of().to_string())])
            }
            (_, "txt", _) => write_text(temporary, &(self.details(100) + "\n")),
            _ => self.write_json(temporary),
        })
    }
}

/// The endings that tables are written under.
const TABLES: [&str; 3] = ["csv", "tex", "parquet"];

impl Value {
    /// What a file of a table says of the result that it is of: its kind, its summary, its cautions.
    fn said_of(&self) -> serde_json::Value {
        let cautions = match self {
            Self::Object(object) => object.field("cautions").ok().flatten().map(|cautions| cautions.json()),
            _ => None,
        };
        let summary = if let Self::Object(object) = self { object.summary() } else { String::new() };
        json!({ "type": self.kind(), "summary": summary, "cautions": cautions.unwrap_or_else(|| json!([])) })
    }
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::file(path, e))
}

fn tensor_summary(tensor: &Tensor) -> String {
    let shape = tensor.size().iter().map(i64::to_string).collect::<Vec<_>>().join(" x ");
    let kind = format!("{:?}", tensor.kind()).to_lowercase();
    if tensor.numel() == 0 {
        return format!("tensor {kind} [{shape}], empty");
    }
    // A summary that does not fit in memory is no reason to lose the session.
    let range = tensor_range(tensor).unwrap_or_else(|_| "too large to look at".into());
    if tensor.size().is_empty() {
        format!("tensor {kind}, {range}")
    } else {
        format!("tensor {kind} [{shape}], {range}")
    }
}

/// "0.0 to 1.0, 3 NaN, 1 infinite"
fn tensor_range(tensor: &Tensor) -> Result<String> {
    let whole = is_whole(tensor.kind());
    let (lo, hi, nan, infinite) = if whole {
        let values = tensor.f_to_kind(tch::Kind::Int64)?;
        (values.f_min()?, values.f_max()?, 0, 0)
    } else {
        let count = |which: Tensor| which.f_sum(tch::Kind::Int64)?.f_int64_value(&[]);
        let (nan, infinite) = (count(tensor.f_isnan()?)?, count(tensor.f_isinf()?)?);
        let without = |x: f64| tensor.f_nan_to_num(x, f64::INFINITY, f64::NEG_INFINITY);
        (without(f64::INFINITY)?.f_min()?, without(f64::NEG_INFINITY)?.f_max()?, nan, infinite)
    };
    if nan as usize == tensor.numel() {
        return Ok("all NaN".into());
    }
    if whole {
        let (lo, hi) = (lo.f_int64_value(&[])?, hi.f_int64_value(&[])?);
        return Ok(if tensor.numel() == 1 { lo.to_string() } else { format!("{lo} to {hi}") });
    }
    let (lo, hi) = (lo.f_double_value(&[])?, hi.f_double_value(&[])?);
    if tensor.numel() == 1 {
        return Ok(number(lo));
    }
    let mut text = format!("{} to {}", number(lo), number(hi));
    for (count, word) in [(nan, "NaN"), (infinite, "infinite")].into_iter().filter(|(count, _)| *count > 0) {
        text += &format!(", {count} {word}");
    }
    Ok(text)
}

fn tensor_json(tensor: &Tensor) -> serde_json::Value {
    match numbers(tensor) {
        Ok(values) => json!({ "shape": tensor.size(), "values": values }),
        // A result that says so is more than a process that ends.
        Err(error) => json!({ "shape": tensor.size(), "values": null, "error": error.message }),
    }
}

/// All numbers in a row, on the CPU.
pub(super) fn flat(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.f_to_device(tch::Device::Cpu)?.f_detach()?.f_reshape([-1])?)
}

/// The numbers of a tensor in its order.
pub(super) fn numbers(tensor: &Tensor) -> Result<Vec<serde_json::Value>> {
    let flat = |kind| flat(tensor)?.f_to_kind(kind).map_err(Error::from);
    Ok(match is_whole(tensor.kind()) {
        true => Vec::<i64>::try_from(&flat(tch::Kind::Int64)?)?.into_iter().map(|x| json!(x)).collect(),
        false => Vec::<f64>::try_from(&flat(tch::Kind::Double)?)?.into_iter().map(|x| Value::Float(x).json()).collect(),
    })
}

/// Whether a tensor of this kind holds whole numbers, or truths.
pub fn is_whole(kind: tch::Kind) -> bool {
    use tch::Kind;
    matches!(kind, Kind::Int64 | Kind::Int | Kind::Int16 | Kind::Int8 | Kind::Uint8 | Kind::Bool)
}
