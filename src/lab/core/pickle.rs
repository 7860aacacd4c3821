//! A reader of pickles, as `torch.save` writes them and as CIFAR's Python versions are. It runs no code: it knows the few constructors that tensors,
//! containers and numbers are made of. What every other one would make is not made: only its name and its state are kept, to be refused
//! where weights were wanted.
//!
//! Opcodes: Python's `pickletools`. Constructors: `torch/_utils.py` and `torch/serialization.py`.

use std::rc::Rc;

use tch::Kind;

use super::{Budget, Error, ErrorKind, Result, cut};

/// Index of a node in its pickle. Nodes refer to each other by index, so that shared and circular ones do no harm.
pub type Id = usize;

#[derive(Debug, Clone, PartialEq)]
pub enum PickleValue {
    None,
    Bool(bool),
    Int(i64),
    /// An integer of more than 64 bits, little-endian.
    Long(Vec<u8>),
    Float(f64),
    Str(Rc<str>),
    Bytes(Vec<u8>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A constructor by its Python name.
    Global(Rc<str>),
    Storage(Rc<Storage>),
    Tensor(Rc<TensorView>),
    /// What a constructor, which is not run, would have made.
    Unmade(Unmade),
}

/// A constructor's name, and what it would have been given: arguments, and a state.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmade {
    pub name: Rc<str>,
    pub arguments: Option<Id>,
    pub state: Option<Id>,
}

/// What a value takes: its node, and its place on the stack, which a container takes over.
const VALUE: u64 = (size_of::<PickleValue>() + 2 * size_of::<Id>()) as u64;
/// What a place on the stack or in a container takes.
const PLACE: u64 = 2 * size_of::<Id>() as u64;
/// What a place in the memo takes.
const MEMO: u64 = 3 * VALUE / 2;

/// Deeper tensors than any network has.
const MOST_SIZES: usize = 8;

const WHAT: &str = "its pickle";

/// A run of numbers that the file holds beside the pickle.
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    pub kind: Kind,
    pub key: Rc<str>,
    /// Numbers in it.
    pub len: usize,
}

/// A tensor as a view of a storage; sizes and strides are checked to lie within it.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorView {
    pub storage: Rc<Storage>,
    pub offset: i64,
    pub size: Vec<i64>,
    pub stride: Vec<i64>,
}

/// The nodes of one pickle.
pub struct Pickle {
    nodes: Vec<PickleValue>,
    pub root: Id,
    /// Bytes read.
    pub len: usize,
}

impl Pickle {
    pub fn node(&self, id: Id) -> &PickleValue {
        &self.nodes[id]
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The constructors that it asks to run, in its order.
    pub fn unmade(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter_map(|node| if let PickleValue::Unmade(of) = node { Some(&*of.name) } else { None })
    }

    /// The constructors of objects whose state has this key with the value true.
    pub fn with_true<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let holds = move |&(name, value): &(Id, Id)| {
            matches!(self.node(name), PickleValue::Str(name) if **name == *key)
                && *self.node(value) == PickleValue::Bool(true)
        };
        self.nodes.iter().filter_map(move |node| match node {
            PickleValue::Unmade(Unmade { name, state: Some(state), .. }) => match self.node(*state) {
                PickleValue::Dict(pairs) if pairs.iter().any(holds) => Some(&**name),
                _ => None,
            },
            _ => None,
        })
    }

    /// The pairs of a dict whose keys are strings or integers.
    pub fn entries(&self, pairs: &[(Id, Id)]) -> Vec<(Rc<str>, Id)> {
        pairs
            .iter()
            .filter_map(|&(key, value)| match self.node(key) {
                PickleValue::Str(name) => Some((name.clone(), value)),
                PickleValue::Int(i) => Some((i.to_string().into(), value)),
                _ => None,
            })
            .collect()
    }

    /// Reads the pickle at the start of `bytes`.
    pub fn read(bytes: &[u8], budget: &Budget) -> Result<Self> {
        let (nodes, stack, marks, memo) = Default::default();
        let mut reader = PickleReader { budget, bytes, at: 0, nodes, stack, marks, memo };
        let root = reader.run()?;
        Ok(Self { nodes: reader.nodes, root, len: reader.at })
    }
}

struct PickleReader<'a> {
    budget: &'a Budget<'a>,
    bytes: &'a [u8],
    at: usize,
    nodes: Vec<PickleValue>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: std::collections::HashMap<u64, Id>,
}

fn bad(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::File, problem)
}

pub fn refused(name: &str) -> Error {
    let name = cut(name, 200);
    bad(format!("the pickle asks to run `{name}`; viva reads tensors and runs no code"))
        .hint("in Python, save the weights alone: torch.save(model.state_dict(), path)")
}

impl<'a> PickleReader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.bytes.len());
        let part = end.map(|end| &self.bytes[self.at..end]);
        self.at = end.unwrap_or(self.at);
        part.ok_or_else(|| bad("the pickle breaks off in the middle"))
    }

    fn unsigned(&mut self, width: usize) -> Result<u64> {
        Ok(self.take(width)?.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
    }

    fn line(&mut self) -> Result<Rc<str>> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').ok_or_else(|| bad("the pickle breaks off in the middle"))?;
        self.at += end + 1;
        self.string(&rest[..end])
    }

    fn counted(&mut self, width: usize) -> Result<&'a [u8]> {
        let n = self.unsigned(width)?;
        self.take(usize::try_from(n).map_err(|_| bad("the pickle breaks off in the middle"))?)
    }

    fn string(&self, bytes: &[u8]) -> Result<Rc<str>> {
        // A byte that is no text becomes three.
        self.budget.take(3 * bytes.len() as u64, WHAT)?;
        Ok(String::from_utf8_lossy(bytes).into())
    }

    fn text(&mut self, width: usize) -> Result<PickleValue> {
        let bytes = self.counted(width)?;
        self.string(bytes).map(PickleValue::Str)
    }

    /// A string of Python 2, which held bytes as well as text.
    fn text_or_bytes(&mut self, width: usize) -> Result<PickleValue> {
        let bytes = self.counted(width)?;
        self.budget.take(bytes.len() as u64, WHAT)?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => PickleValue::Str(text.into()),
            Err(_) => PickleValue::Bytes(bytes.to_vec()),
        })
    }

    fn held(&mut self, width: usize) -> Result<PickleValue> {
        let bytes = self.counted(width)?;
        self.budget.take(bytes.len() as u64, WHAT)?;
        Ok(PickleValue::Bytes(bytes.to_vec()))
    }

    fn push(&mut self, node: PickleValue) -> Result<()> {
        self.budget.take(VALUE, WHAT)?;
        self.nodes.push(node);
        self.stack.push(self.nodes.len() - 1);
        Ok(())
    }

    fn again(&mut self, id: Id) -> Result<()> {
        self.budget.take(PLACE, WHAT)?;
        self.stack.push(id);
        Ok(())
    }

    fn pop(&mut self) -> Result<Id> {
        // What lies below a mark belongs to the container outside it.
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(bad("the pickle takes more values than it has"));
        }
        self.stack.pop().ok_or_else(|| bad("the pickle takes more values than it has"))
    }

    fn top(&self) -> Result<Id> {
        self.stack.last().copied().ok_or_else(|| bad("the pickle takes more values than it has"))
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| bad("the pickle ends a container that it never began"))?;
        if mark > self.stack.len() {
            return Err(bad("the pickle takes more values than it has"));
        }
        Ok(self.stack.split_off(mark))
    }

    fn get(&mut self, key: u64) -> Result<()> {
        let id = *self.memo.get(&key).ok_or_else(|| bad("the pickle refers to a value that it never stored"))?;
        self.again(id)
    }

    fn put(&mut self, key: u64) -> Result<()> {
        let id = self.top()?;
        if self.memo.insert(key, id).is_none() {
            self.budget.take(MEMO, WHAT)?;
        }
        Ok(())
    }

    fn long(bytes: &[u8]) -> PickleValue {
        if bytes.len() > 8 {
            return PickleValue::Long(bytes.to_vec());
        }
        let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
        let mut wide = [fill; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        PickleValue::Int(i64::from_le_bytes(wide))
    }

    fn append(&mut self, list: Id, items: Vec<Id>) -> Result<()> {
        self.budget.items::<Id>(items.len(), WHAT)?;
        match &mut self.nodes[list] {
            PickleValue::List(values) => values.extend(items),
            PickleValue::Unmade(..) => {}
            _ => return Err(bad("the pickle appends to something that is no list")),
        }
        Ok(())
    }

    fn set(&mut self, dict: Id, items: &[Id]) -> Result<()> {
        self.budget.items::<Id>(items.len(), WHAT)?;
        match &mut self.nodes[dict] {
            PickleValue::Dict(pairs) if items.len().is_multiple_of(2) => {
                pairs.extend(items.chunks(2).map(|pair| (pair[0], pair[1])))
            }
            PickleValue::Unmade(..) => {}
            _ => return Err(bad("the pickle sets keys of something that is no dict")),
        }
        Ok(())
    }

    fn run(&mut self) -> Result<Id> {
        loop {
            self.budget.step()?;
            match self.take(1)?[0] {
                0x80 => drop(self.take(1)?),
                0x95 => drop(self.take(8)?),
                b'.' => return self.pop(),
                b'(' => {
                    self.budget.take(PLACE, WHAT)?;
                    self.marks.push(self.stack.len());
                }
                b'0' => drop(self.pop()?),
                b'1' => drop(self.pop_to_mark()?),
                b'2' => {
                    let id = self.top()?;
                    self.again(id)?;
                }
                b'N' => self.push(PickleValue::None)?,
                0x88 => self.push(PickleValue::Bool(true))?,
                0x89 => self.push(PickleValue::Bool(false))?,
                b'J' => {
                    let n = self.unsigned(4)? as u32 as i32;
                    self.push(PickleValue::Int(i64::from(n)))?;
                }
                b'K' => {
                    let n = self.unsigned(1)?;
                    self.push(PickleValue::Int(n as i64))?;
                }
                b'M' => {
                    let n = self.unsigned(2)?;
                    self.push(PickleValue::Int(n as i64))?;
                }
                0x8a => {
                    let node = Self::long(self.counted(1)?);
                    self.push(node)?;
                }
                0x8b => {
                    let bytes = self.counted(4)?;
                    self.budget.take(bytes.len() as u64, WHAT)?;
                    let node = Self::long(bytes);
                    self.push(node)?;
                }
                b'I' => {
                    let node = match self.line()?.trim() {
                        "00" => PickleValue::Bool(false),
                        "01" => PickleValue::Bool(true),
                        text => PickleValue::Int(text.parse().map_err(|_| bad("the pickle holds a broken number"))?),
                    };
                    self.push(node)?;
                }
                b'L' => {
                    let text = self.line()?;
                    let n =
                        text.trim().trim_end_matches('L').parse().map_err(|_| bad("the pickle holds a broken number"));
                    self.push(PickleValue::Int(n?))?;
                }
                b'F' => {
                    let x = self.line()?.trim().parse().map_err(|_| bad("the pickle holds a broken number"))?;
                    self.push(PickleValue::Float(x))?;
                }
                b'G' => {
                    let mut wide = [0u8; 8];
                    wide.copy_from_slice(self.take(8)?);
                    self.push(PickleValue::Float(f64::from_be_bytes(wide)))?;
                }
                b'X' => {
                    let node = self.text(4)?;
                    self.push(node)?;
                }
                0x8c => {
                    let node = self.text(1)?;
                    self.push(node)?;
                }
                b'U' => {
                    let node = self.text_or_bytes(1)?;
                    self.push(node)?;
                }
                0x8d => {
                    let node = self.text(8)?;
                    self.push(node)?;
                }
                b'T' => {
                    let node = self.text_or_bytes(4)?;
                    self.push(node)?;
                }
                b'V' => {
                    let node = PickleValue::Str(self.line()?);
                    self.push(node)?;
                }
                b'S' => {
                    let text = self.line()?;
                    self.push(PickleValue::Str(text.trim_matches(['\'', '"']).into()))?;
                }
                b'C' => {
                    let node = self.held(1)?;
                    self.push(node)?;
                }
                b'B' => {
                    let node = self.held(4)?;
                    self.push(node)?;
                }
                0x8e | 0x96 => {
                    let node = self.held(8)?;
                    self.push(node)?;
                }
                b'}' => self.push(PickleValue::Dict(vec![]))?,
                b']' | 0x8f => self.push(PickleValue::List(vec![]))?,
                b')' => self.push(PickleValue::Tuple(vec![]))?,
                b't' => {
                    let items = self.pop_to_mark()?;
                    self.push(PickleValue::Tuple(items))?;
                }
                code @ 0x85..=0x87 => {
                    let mut items = Vec::with_capacity(3);
                    for _ in 0..=(code - 0x85) {
                        items.push(self.pop()?);
                    }
                    items.reverse();
                    self.push(PickleValue::Tuple(items))?;
                }
                b'l' | 0x91 => {
                    let items = self.pop_to_mark()?;
                    self.push(PickleValue::List(items))?;
                }
                b'd' => {
                    let items = self.pop_to_mark()?;
                    self.push(PickleValue::Dict(vec![]))?;
                    self.set(self.nodes.len() - 1, &items)?;
                }
                b'a' => {
                    let item = self.pop()?;
                    self.append(self.top()?, vec![item])?;
                }
                b'e' | 0x90 => {
                    let items = self.pop_to_mark()?;
                    self.append(self.top()?, items)?;
                }
                b's' => {
                    let value = self.pop()?;
                    let key = self.pop()?;
                    self.set(self.top()?, &[key, value])?;
                }
                b'u' => {
                    let items = self.pop_to_mark()?;
                    self.set(self.top()?, &items)?;
                }
                b'q' => {
                    let key = self.unsigned(1)?;
                    self.put(key)?;
                }
                b'r' => {
                    let key = self.unsigned(4)?;
                    self.put(key)?;
                }
                0x94 => self.put(self.memo.len() as u64)?,
                b'p' => {
                    let key = self.line()?.trim().parse().map_err(|_| bad("the pickle holds a broken number"))?;
                    self.put(key)?;
                }
                b'h' => {
                    let key = self.unsigned(1)?;
                    self.get(key)?;
                }
                b'j' => {
                    let key = self.unsigned(4)?;
                    self.get(key)?;
                }
                b'g' => {
                    let key = self.line()?.trim().parse().map_err(|_| bad("the pickle holds a broken number"))?;
                    self.get(key)?;
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.global(&module, &name)?;
                }
                0x93 => {
                    let (name, module) = (self.pop()?, self.pop()?);
                    match (&self.nodes[module], &self.nodes[name]) {
                        (PickleValue::Str(module), PickleValue::Str(name)) => {
                            let (module, name) = (module.clone(), name.clone());
                            self.global(&module, &name)?;
                        }
                        _ => return Err(bad("the pickle names a constructor by something that is no string")),
                    }
                }
                b'Q' => {
                    let id = self.pop()?;
                    let storage = self.storage(id)?;
                    self.push(PickleValue::Storage(Rc::new(storage)))?;
                }
                b'R' | 0x81 => {
                    let (arguments, constructor) = (self.pop()?, self.pop()?);
                    let node = self.construct(constructor, arguments)?;
                    self.push(node)?;
                }
                b'b' => {
                    let (given, top) = (self.pop()?, self.top()?);
                    match &mut self.nodes[top] {
                        // The state of an ordered dict is only its `_metadata`.
                        PickleValue::Dict(_) | PickleValue::Tensor(_) => {}
                        PickleValue::Unmade(of) => of.state = Some(given),
                        _ => return Err(bad("the pickle sets the state of something that is no dict")),
                    }
                }
                b'i' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.pop_to_mark()?;
                    self.unmade(&called(&module, &name))?;
                }
                b'o' => {
                    let items = self.pop_to_mark()?;
                    let class = *items.first().ok_or_else(|| bad("the pickle makes an object of no class"))?;
                    self.unmade(&self.class(class)?)?;
                }
                0x92 => {
                    let (_named, _arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                    self.unmade(&self.class(class)?)?;
                }
                code => {
                    return Err(bad(format!(
                        "a pickle with what is not read here: opcode 0x{code:02x} at byte {}",
                        self.at - 1
                    )));
                }
            }
        }
    }

    fn global(&mut self, module: &str, name: &str) -> Result<()> {
        let name = called(module, name);
        let known = matches!(
            name.as_str(),
            "collections.OrderedDict"
                | "torch._utils._rebuild_tensor"
                | "torch._utils._rebuild_tensor_v2"
                | "torch._utils._rebuild_parameter"
                | "torch.Size"
        ) || storage_kind(&name).is_some();
        if !known {
            return self.unmade(&name);
        }
        self.push(PickleValue::Global(name.into()))
    }

    fn unmade(&mut self, name: &str) -> Result<()> {
        self.budget.take(name.len() as u64, WHAT)?;
        self.push(PickleValue::Unmade(Unmade { name: name.into(), arguments: None, state: None }))
    }

    /// The name of a constructor.
    fn class(&self, id: Id) -> Result<Rc<str>> {
        match &self.nodes[id] {
            PickleValue::Global(name) | PickleValue::Unmade(Unmade { name, .. }) => Ok(name.clone()),
            _ => Err(bad("the pickle makes an object of something that is no class")),
        }
    }

    fn tuple(&self, id: Id) -> Result<&[Id]> {
        match &self.nodes[id] {
            PickleValue::Tuple(items) => Ok(items),
            _ => Err(bad("the pickle calls a constructor with something that is no tuple")),
        }
    }

    /// `("storage", torch.FloatStorage, key, location, len)`
    fn storage(&self, id: Id) -> Result<Storage> {
        let broken = || bad("the pickle describes a storage in a way that PyTorch does not");
        let items = self.tuple(id)?;
        let node = |i: usize| items.get(i).map(|&id| &self.nodes[id]).ok_or_else(broken);
        let kind = match (node(0)?, node(1)?) {
            (PickleValue::Str(word), PickleValue::Global(name)) if &**word == "storage" => {
                storage_kind(name).ok_or_else(broken)?
            }
            (PickleValue::Str(word), PickleValue::Unmade(Unmade { name, .. }))
                if &**word == "storage" && name.starts_with("torch.") && name.ends_with("Storage") =>
            {
                return Err(bad(format!("the pickle holds numbers of a type that is not read, as {}", cut(name, 60)))
                    .hint(
                        "quantised and 8-bit weights have scales of their own: save the model as float32 in PyTorch",
                    ));
            }
            _ => return Err(broken()),
        };
        let key = match node(2)? {
            PickleValue::Str(key) => key.clone(),
            PickleValue::Int(key) => key.to_string().into(),
            _ => return Err(broken()),
        };
        self.budget.take(size_of::<Storage>() as u64, WHAT)?;
        match node(4)? {
            PickleValue::Int(len) => Ok(Storage { kind, key, len: usize::try_from(*len).map_err(|_| broken())? }),
            _ => Err(broken()),
        }
    }

    fn integers(&self, id: Id) -> Result<Vec<i64>> {
        match &self.nodes[id] {
            PickleValue::Tuple(items) | PickleValue::List(items) if items.len() > MOST_SIZES => Err(bad(format!(
                "the pickle holds a tensor of {} dimensions, {MOST_SIZES} at most are read",
                items.len()
            ))),
            PickleValue::Tuple(items) | PickleValue::List(items) => items
                .iter()
                .map(|&id| match self.nodes[id] {
                    PickleValue::Int(n) if n >= 0 => Ok(n),
                    _ => Err(bad("the pickle holds a tensor whose shape is not made of counts")),
                })
                .collect(),
            _ => Err(bad("the pickle holds a tensor without a shape")),
        }
    }

    fn construct(&self, constructor: Id, arguments: Id) -> Result<PickleValue> {
        if let PickleValue::Unmade(of) = &self.nodes[constructor] {
            return Ok(PickleValue::Unmade(Unmade { arguments: Some(arguments), state: None, name: of.name.clone() }));
        }
        let PickleValue::Global(name) = &self.nodes[constructor] else {
            return Err(bad("the pickle calls something that is no constructor"));
        };
        let items = self.tuple(arguments)?;
        let item =
            |i: usize| items.get(i).copied().ok_or_else(|| bad(format!("the pickle calls `{name}` with too little")));
        match &**name {
            "collections.OrderedDict" => match items.first().map(|&id| &self.nodes[id]) {
                None => Ok(PickleValue::Dict(vec![])),
                Some(PickleValue::List(pairs)) => {
                    let pair = |id: &Id| match &self.nodes[*id] {
                        PickleValue::Tuple(two) | PickleValue::List(two) if two.len() == 2 => Ok((two[0], two[1])),
                        _ => Err(bad("the pickle holds a broken OrderedDict")),
                    };
                    self.budget.items::<(Id, Id)>(pairs.len(), WHAT)?;
                    Ok(PickleValue::Dict(pairs.iter().map(pair).collect::<Result<_>>()?))
                }
                Some(_) => Err(bad("the pickle holds a broken OrderedDict")),
            },
            "torch.Size" => match &self.nodes[item(0)?] {
                PickleValue::Tuple(sizes) if sizes.len() <= MOST_SIZES => Ok(PickleValue::Tuple(sizes.clone())),
                _ => Err(bad("the pickle holds a broken torch.Size")),
            },
            "torch._utils._rebuild_parameter" => match &self.nodes[item(0)?] {
                PickleValue::Tensor(view) => Ok(PickleValue::Tensor(view.clone())),
                _ => Err(bad("the pickle holds a parameter that is no tensor")),
            },
            "torch._utils._rebuild_tensor" | "torch._utils._rebuild_tensor_v2" => {
                let PickleValue::Storage(storage) = &self.nodes[item(0)?] else {
                    return Err(bad("the pickle holds a tensor without a storage"));
                };
                let PickleValue::Int(offset) = self.nodes[item(1)?] else {
                    return Err(bad("the pickle holds a tensor without an offset"));
                };
                // What else is said of a tensor stands last, as that it is the negative of what is stored.
                if let Ok(more) = item(6)
                    && !matches!(&self.nodes[more], PickleValue::None)
                {
                    return Err(bad("the pickle says more of a tensor than its numbers, as that it is the negative or the conjugate of what is stored")
                        .hint("save `tensor.resolve_conj().resolve_neg().clone()` of each"));
                }
                let (size, stride) = (self.integers(item(2)?)?, self.integers(item(3)?)?);
                self.budget.take(size_of::<TensorView>() as u64 + 2 * (MOST_SIZES * size_of::<i64>()) as u64, WHAT)?;
                let view = TensorView { storage: storage.clone(), offset, size, stride };
                view.checked().map(|view| PickleValue::Tensor(Rc::new(view)))
            }
            other => Err(refused(other)),
        }
    }
}

/// A constructor's name; none that is known is long.
fn called(module: &str, name: &str) -> String {
    format!("{}.{}", cut(module, 100), cut(name, 100))
}

impl TensorView {
    /// Refuses a view that reaches beyond its storage or repeats parts of it, as no saved tensor does.
    fn checked(self) -> Result<Self> {
        let outside = || bad("the pickle holds a tensor that reaches beyond its storage");
        if self.size.len() != self.stride.len() || self.size.len() > MOST_SIZES || self.offset < 0 {
            return Err(bad("the pickle holds a tensor whose shape and strides do not fit"));
        }
        let count = self.size.iter().try_fold(1i64, |n, &d| n.checked_mul(d)).ok_or_else(outside)?;
        if count > 0 {
            let last =
                self.size.iter().zip(&self.stride).try_fold(self.offset, |last, (&d, &s)| {
                    (d - 1).checked_mul(s).and_then(|step| last.checked_add(step))
                });
            let last = last.and_then(|last| usize::try_from(last).ok()).ok_or_else(outside)?;
            if last >= self.storage.len || count as u64 > self.storage.len as u64 {
                return Err(outside());
            }
        }
        Ok(self)
    }
}

fn storage_kind(name: &str) -> Option<Kind> {
    let name = name.strip_prefix("torch.")?;
    let name = name.strip_prefix("cuda.").unwrap_or(name);
    Some(match name {
        "FloatStorage" => Kind::Float,
        "DoubleStorage" => Kind::Double,
        "HalfStorage" => Kind::Half,
        "BFloat16Storage" => Kind::BFloat16,
        "LongStorage" => Kind::Int64,
        "IntStorage" => Kind::Int,
        "ShortStorage" => Kind::Int16,
        "CharStorage" => Kind::Int8,
        "ByteStorage" => Kind::Uint8,
        "BoolStorage" => Kind::Bool,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Pickle> {
        Pickle::read(bytes, &Budget::unwatched(bytes.len() as u64, Budget::PLAIN))
    }

    // python3 -c "import pickle; print(pickle.dumps({'a': [1, 2.5, None, True], 'b': (300, -1)}, 2))"
    #[test]
    fn plain_values_are_read() -> Result<()> {
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88eX\x01\x00\x00\x00bq\x03M,\x01J\xff\xff\xff\xff\x86q\x04u.";
        let pickle = read(bytes)?;
        let PickleValue::Dict(pairs) = pickle.node(pickle.root) else { panic!("not a dict") };
        let entries = pickle.entries(pairs);
        let values = |id: Id| match pickle.node(id) {
            PickleValue::List(items) | PickleValue::Tuple(items) => {
                items.iter().map(|&i| pickle.node(i).clone()).collect()
            }
            _ => vec![],
        };
        assert_eq!(
            values(entries[0].1),
            [PickleValue::Int(1), PickleValue::Float(2.5), PickleValue::None, PickleValue::Bool(true)]
        );
        assert_eq!(values(entries[1].1), [PickleValue::Int(300), PickleValue::Int(-1)]);
        Ok(())
    }

    // python3 -c "import pickle, os; print(pickle.dumps(os.system, 2))": what a malicious file calls.
    #[test]
    fn what_other_constructors_would_make_is_only_a_name() -> Result<()> {
        let pickle = read(b"\x80\x02cposix\nsystem\nq\x00X\x02\x00\x00\x00lsq\x01\x85R.")?;
        let PickleValue::Unmade(of) = pickle.node(pickle.root) else { panic!("made") };
        assert_eq!(&*of.name, "posix.system");
        Ok(())
    }

    // pickletools.dis of each: protocol 0 and 1 instances, copyreg.__newobj_ex__, and a dict of a class of its own.
    #[test]
    fn objects_of_every_protocol_are_only_names() -> Result<()> {
        for bytes in [
            &b"(iargparse\nNamespace\n(dVlr\nF0.1\nsb."[..],
            b"(cargparse\nNamespace\no}(X\x02\x00\x00\x00lrK\x01ub.",
            b"\x80\x04\x8c\x08argparse\x8c\tNamespace\x93)}\x92.",
            b"\x80\x02cargparse\nNamespace\n)\x81(X\x01\x00\x00\x00aK\x01u.",
        ] {
            let pickle = read(bytes)?;
            let PickleValue::Unmade(of) = pickle.node(pickle.root) else { panic!("{bytes:?}") };
            assert_eq!(&*of.name, "argparse.Namespace");
            assert_eq!(pickle.unmade().next(), Some("argparse.Namespace"));
        }
        Ok(())
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88eu.";
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
