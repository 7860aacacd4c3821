//! Files of weights: safetensors, and both formats of `torch.save` (a zip since PyTorch 1.6, five pickles in a row before).
//! The content decides which one a file is, not its ending.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use tch::Kind;

use crate::core::pickle::{Id, Pickle, PickleValue, Storage, TensorView, refused};
use crate::core::{Budget, Cx, Error, ErrorKind, Packed, Result, Tensor, cut, strict_json};

/// Tensors by the names that the file gives them; numbers of other widths than 32 bits are already float32.
pub type Weights = BTreeMap<String, Tensor>;

/// What a file turned out to hold.
pub enum Contents {
    Weights(Weights),
    /// A program with its weights, which libtorch runs itself.
    TorchScript {
        /// Whether it was saved in training mode and does otherwise in evaluation mode.
        saved_in_training: bool,
    },
}

/// What is said of a program that was saved in training mode.
pub const TAKEN_OUT_OF_TRAINING: &str = "was saved in training mode and is asked in evaluation mode, as after .eval(): what it would drop, draw \
    or measure of a batch in training, it does not here; saved after .eval() it needs no such word";

/// Keys under which training programs keep the weights beside other things.
const WRAPPERS: &[&str] = &["state_dict", "model_state_dict", "model", "net", "params", "weights"];

const KERAS: &str = "model::python(\"loader.py:net\") runs it, where loader.py has `def net(): return lambda x: model(x.transpose(0, 2, 3, 1), training=False).numpy()` of the model that \
                     keras.models.load_model reads: images come as N x C x H x W";

fn bad(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::File, problem)
}

/// Reads a file of weights. Nothing in it is run, unless it is TorchScript, which is left to libtorch.
pub fn read(cx: &Cx, path: &Path) -> Result<Contents> {
    let budget = Budget::of(cx, path, Budget::PLAIN)?;
    let bytes = budget.file(path)?;
    parse(&bytes, &budget).map_err(|error| error.at(path))
}

/// As [`read`], of bytes in memory.
pub fn parse(bytes: &[u8], budget: &Budget) -> Result<Contents> {
    match bytes {
        [] => Err(bad("the file is empty")),
        [b'P', b'K', ..] => zipped(bytes, budget),
        // Before pickles: the length that comes first may look like the start of one.
        [_, _, _, _, _, _, _, _, b'{', ..] => safetensors(bytes, budget).map(Contents::Weights),
        [0x80, 2..=5, ..] => legacy(bytes, budget).map(Contents::Weights),
        [0x89, b'H', b'D', b'F', ..] => Err(bad("an HDF5 file, as Keras saves models and weights").hint(KERAS)),
        _ => Err(bad("neither safetensors, nor a PyTorch state dict, nor TorchScript")
            .hint("in Python: torch.save(model.state_dict(), path), or safetensors.torch.save_file; model::python runs what Python loads, such as ONNX")),
    }
}

fn element_size(kind: Kind) -> usize {
    kind.elt_size_in_bytes()
}

/// A tensor over bytes whose number was checked against the shape.
fn tensor(bytes: &[u8], size: &[i64], kind: Kind) -> Result<Tensor> {
    let count = size.iter().try_fold(1usize, |n, &d| usize::try_from(d).ok().and_then(|d| n.checked_mul(d)));
    if count.and_then(|n| n.checked_mul(element_size(kind))) != Some(bytes.len()) {
        return Err(bad(format!("a tensor of shape {size:?} does not fit its {} bytes", bytes.len())));
    }
    if bytes.is_empty() {
        return Ok(Tensor::f_zeros(size, (kind, tch::Device::Cpu))?);
    }
    Ok(Tensor::f_from_data_size(bytes, size, kind)?)
}

/// Models compute in float32, whatever their weights were stored in.
fn as_float(tensor: Tensor) -> Result<Tensor> {
    match tensor.kind() {
        Kind::Double | Kind::Half | Kind::BFloat16 => Ok(tensor.f_to_kind(Kind::Float)?),
        _ => Ok(tensor),
    }
}

/// Format: 8 bytes length of the header, the header in JSON, the numbers. <https://github.com/huggingface/safetensors>
fn safetensors(bytes: &[u8], budget: &Budget) -> Result<Weights> {
    let broken = |what: String| bad(format!("the safetensors file is truncated or corrupted: {}", cut(&what, 300)));
    let (length, rest) = bytes.split_at(8);
    let length = length.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
    let header = usize::try_from(length)
        .ok()
        .and_then(|n| rest.get(..n))
        .ok_or_else(|| broken(format!("its header should take {length} bytes, the file has {}", rest.len())))?;
    let data = &rest[header.len()..];
    let parsed = strict_json(header, budget, |e| broken(format!("its header is no JSON ({e})")))?;
    let entries = parsed.as_object().ok_or_else(|| broken("its header is no table".into()))?;

    struct TensorEntry<'a> {
        name: &'a str,
        kind: Kind,
        size: Vec<i64>,
        bytes: &'a [u8],
        start: u64,
    }
    let mut checked = Vec::new();
    for (name, entry) in entries.iter().filter(|(name, _)| *name != "__metadata__") {
        budget.step()?;
        let dtype = entry["dtype"].as_str().unwrap_or("");
        let kind = match dtype {
            "F64" => Kind::Double,
            "F32" => Kind::Float,
            "F16" => Kind::Half,
            "BF16" => Kind::BFloat16,
            "I64" => Kind::Int64,
            "I32" => Kind::Int,
            "I16" => Kind::Int16,
            "I8" => Kind::Int8,
            "U8" => Kind::Uint8,
            "BOOL" => Kind::Bool,
            "F4" | "F6_E2M3" | "F6_E3M2" | "F8_E5M2" | "F8_E4M3" | "F8_E8M0" | "I4" | "U16" | "U32" | "U64" | "C64" => {
                return Err(bad(format!(
                    "tensor {:?} has numbers of the type {dtype}, which is not read",
                    cut(name, 60)
                ))
                .hint("save the model as float32 in PyTorch: numbers of few bits have scales of their own"));
            }
            _ => return Err(broken(format!("tensor {name:?} has the type {dtype:?}"))),
        };
        let numbers = |value: &serde_json::Value| -> Option<Vec<u64>> {
            value.as_array()?.iter().map(serde_json::Value::as_u64).collect()
        };
        let size = numbers(&entry["shape"])
            .filter(|s| s.len() <= 8)
            .ok_or_else(|| broken(format!("tensor {name:?} has no shape")))?;
        let place = numbers(&entry["data_offsets"]).unwrap_or_default();
        let [start, end] = place[..] else { return Err(broken(format!("tensor {name:?} has no place"))) };
        let count = size.iter().try_fold(element_size(kind) as u64, |n, &d| n.checked_mul(d));
        let bytes = usize::try_from(start).ok().zip(usize::try_from(end).ok()).and_then(|(a, b)| data.get(a..b));
        match bytes {
            Some(bytes) if count == Some(bytes.len() as u64) => {
                let size = size.iter().map(|&d| d as i64).collect();
                checked.push(TensorEntry { name, kind, size, bytes, start });
            }
            Some(bytes) => {
                return Err(broken(format!("tensor {name:?} of shape {size:?} has {} bytes", bytes.len())));
            }
            None => {
                return Err(broken(format!(
                    "tensor {name:?} ends at byte {end} of the numbers, the file has {}",
                    data.len()
                )));
            }
        }
    }
    // Numbers belong to one tensor: a file of few could hold any number of tensors else.
    checked.sort_by_key(|entry| (entry.start, entry.bytes.len()));
    for pair in checked.windows(2) {
        let [before, entry] = pair else { continue };
        if entry.start < before.start + before.bytes.len() as u64 {
            return Err(broken(format!("tensors {:?} and {:?} overlap", cut(before.name, 80), cut(entry.name, 80))));
        }
    }
    let mut weights = Weights::new();
    for entry in checked {
        budget.step()?;
        let name = format!("tensor {:?}", cut(entry.name, 80));
        // As it is stored and, unless that is as float32, as such.
        budget.take(2 * entry.bytes.len() as u64, &name)?;
        weights.insert(entry.name.into(), as_float(tensor(entry.bytes, &entry.size, entry.kind)?)?);
    }
    Ok(weights)
}

/// Writes tensors as safetensors, whose header also says `about` what they are.
pub fn write_safetensors(path: &Path, tensors: &[(String, Tensor)], about: &[(&str, String)]) -> Result<()> {
    use std::io::Write;
    let mut header = serde_json::Map::new();
    let about = about.iter().map(|(key, value)| ((*key).to_string(), serde_json::json!(value))).collect();
    header.insert("__metadata__".into(), serde_json::Value::Object(about));
    let mut blocks = Vec::new();
    let mut at = 0;
    for (name, tensor) in tensors {
        let tensor = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
        let mut bytes = vec![0u8; tensor.numel() * 4];
        tensor.f_copy_data_u8(&mut bytes, tensor.numel())?;
        let end = at + bytes.len();
        header.insert(
            name.clone(),
            serde_json::json!({ "dtype": "F32", "shape": tensor.size(), "data_offsets": [at, end] }),
        );
        at = end;
        blocks.push(bytes);
    }
    let mut text = serde_json::Value::Object(header).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).map_err(|e| Error::file(path, e))?);
    let mut write = |bytes: &[u8]| file.write_all(bytes).map_err(|e| Error::file(path, e));
    write(&(text.len() as u64).to_le_bytes())?;
    write(&text)?;
    for block in &blocks {
        write(block)?;
    }
    file.flush().map_err(|e| Error::file(path, e))
}

/// The text that a safetensors file says about itself under `key`; none in other files.
pub fn about(cx: &Cx, path: &Path, key: &str) -> Result<Option<String>> {
    let budget = Budget::of(cx, path, Budget::PLAIN)?;
    let mut file = std::fs::File::open(path).map_err(|e| Error::file(path, e))?;
    let mut start = [0u8; 8];
    if file.read_exact(&mut start).is_err() {
        return Ok(None);
    }
    // No header of this format is longer than its file.
    if u64::from_le_bytes(start) > budget.size() {
        return Ok(None);
    }
    let header = budget.read(file, u64::from_le_bytes(start), "its header", |e| Error::file(path, e))?;
    match strict_json(&header, &budget, bad) {
        Ok(parsed) => Ok(parsed["__metadata__"][key].as_str().map(String::from)),
        Err(error) if error.is_interrupted() => Err(error),
        // Of another format.
        Err(_) => Ok(None),
    }
}

fn zipped(bytes: &[u8], budget: &Budget) -> Result<Contents> {
    let mut archive = Packed::new(Cursor::new(bytes), budget)?;
    let names = archive.names().to_vec();
    let root = |part: &str| {
        names
            .iter()
            .find_map(|n| n.strip_suffix(part).filter(|root| root.matches('/').count() == 1 && root.ends_with('/')))
    };
    if names.iter().any(|n| n.split('/').nth(1) == Some("code")) {
        archive.check_all()?;
        return Ok(Contents::TorchScript { saved_in_training: saved_in_training(&mut archive, &names, budget)? });
    }
    let Some(folder) = root("data.pkl").map(String::from) else {
        if names.iter().any(|name| name.ends_with("model.weights.h5")) {
            return Err(bad("a model of Keras").hint(KERAS));
        }
        let exported = names.iter().any(|name| name.split('/').nth(1) == Some("models"));
        return Err(match exported {
            true => bad("a program of torch.export, which libtorch does not run").hint(
                "model::python(\"loader.py:net\") runs it, where loader.py says `net = torch.export.load(path).module()`; or save its state_dict",
            ),
            false => bad("the zip file holds no PyTorch state dict (no data.pkl)"),
        });
    };
    let order = format!("{folder}byteorder");
    if names.contains(&order) && archive.read(&order)? != b"little" {
        return Err(
            bad("the weights were saved on a big-endian machine").hint("load and save them again on another one")
        );
    }
    let pickle = Pickle::read(&archive.read(&format!("{folder}data.pkl"))?, budget)?;
    let mut fetch = |storage: &Storage| archive.read(&format!("{folder}data/{}", storage.key));
    state_dict(&pickle, budget, &mut fetch).map(Contents::Weights)
}

/// Whether a module of a TorchScript program keeps `training` as true and is of a class that reads it: a traced one may keep it, but has done
/// with it. False where its objects or its code can't be read here, which is for libtorch to refuse.
fn saved_in_training(archive: &mut Packed, names: &[String], budget: &Budget) -> Result<bool> {
    match classes_that_read_training(archive, names, budget).and_then(|classes| {
        let objects = names.iter().find(|name| name.matches('/').count() == 1 && name.ends_with("/data.pkl"));
        let Some(objects) = objects.filter(|_| !classes.is_empty()) else { return Ok(false) };
        let objects = Pickle::read(&archive.read(objects)?, budget)?;
        Ok(objects.with_true("training").any(|class| classes.contains(class)))
    }) {
        Err(error) if !error.is_interrupted() => Ok(false),
        found => found,
    }
}

/// Full names, as `__torch__.torch.nn.modules.dropout.Dropout`.
fn classes_that_read_training(archive: &mut Packed, names: &[String], budget: &Budget) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in names.iter().filter(|name| name.split('/').nth(1) == Some("code")) {
        let Some(module) = name.strip_suffix(".py").and_then(|name| name.splitn(3, '/').nth(2)) else { continue };
        budget.step()?;
        let (code, module) = (archive.read(name)?, module.replace('/', "."));
        let code = String::from_utf8_lossy(&code);
        let classes = code.split("\nclass ").map(|class| class.strip_prefix("class ").unwrap_or(class));
        for class in classes.filter(|class| reads_training(class)) {
            let name = class.split(['(', ':']).next().unwrap_or_default();
            found.insert(format!("{module}.{name}"));
        }
    }
    Ok(found)
}

/// Whether `self.training`, or another module's, stands in code; a file of that name may too.
fn reads_training(code: &str) -> bool {
    const READ: &str = ".training";
    code.match_indices(READ).any(|(at, _)| {
        let next = code[at + READ.len()..].chars().next();
        !next.is_some_and(|next| next.is_alphanumeric() || next == '_' || next == '.')
    })
}

/// Five pickles in a row (magic number, version, machine, object, storage keys), then each storage behind its length.
fn legacy(bytes: &[u8], budget: &Budget) -> Result<Weights> {
    const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
    let mut rest = bytes;
    let mut next = || -> Result<Pickle> {
        let pickle = Pickle::read(rest, budget)?;
        rest = &rest[pickle.len..];
        Ok(pickle)
    };
    let magic = next()?;
    if !matches!(magic.node(magic.root), PickleValue::Long(n) if *n == MAGIC) {
        return Err(bare(&magic));
    }
    let version = next()?;
    if *version.node(version.root) != PickleValue::Int(1001) {
        return Err(bad("a version of torch.save that is not known"));
    }
    let _machine = next()?;
    let object = next()?;
    let keys = next()?;
    let (PickleValue::List(order) | PickleValue::Tuple(order)) = keys.node(keys.root) else {
        return Err(bad("the list of storages is missing"));
    };
    // The lengths of storages count numbers, whose width only the object's own references tell.
    let mut widths = HashMap::new();
    for id in 0..object.nodes() {
        if let PickleValue::Storage(storage) = object.node(id) {
            widths.insert(storage.key.clone(), element_size(storage.kind));
        }
    }
    let truncated = || bad("the file is truncated: its tensors end too early");
    let mut storages: HashMap<Rc<str>, &[u8]> = HashMap::new();
    for &id in order {
        budget.step()?;
        let key: Rc<str> = match keys.node(id) {
            PickleValue::Str(key) => key.clone(),
            PickleValue::Int(key) => key.to_string().into(),
            _ => return Err(bad("the list of storages is broken")),
        };
        let Some((length, after)) = rest.split_at_checked(8) else { return Err(truncated()) };
        let count = length.iter().rev().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let width = *widths.get(&key).ok_or_else(|| bad("the file holds a storage that no tensor uses"))?;
        let size = usize::try_from(count).ok().and_then(|n| n.checked_mul(width)).ok_or_else(truncated)?;
        let (block, after) = after.split_at_checked(size).ok_or_else(truncated)?;
        if storages.insert(key.clone(), block).is_some() {
            return Err(bad(format!("the file holds the storage {:?} twice", cut(&key, 80))));
        }
        rest = after;
    }
    state_dict(&object, budget, &mut |storage| {
        let block = storages.get(&storage.key).ok_or_else(truncated)?;
        budget.take(block.len() as u64, "its storage")?;
        Ok(block.to_vec())
    })
}

/// What is wrong with a pickle that torch.save did not write.
fn bare(pickle: &Pickle) -> Error {
    const NVIDIA: &str = "in Python, in a checkout of its code, where you trust the file: import pickle, torch; \
                          torch.save(pickle.load(open(\"network.pkl\", \"rb\"))[\"G_ema\"].state_dict(), \"network.pth\")";
    const OLDER: &str = "it is of TensorFlow's time: legacy.py of stylegan2-ada-pytorch makes one for PyTorch of it, and in Python \
                         torch.save(network[\"G_ema\"].state_dict(), \"network.pth\") keeps that one's weights";
    match pickle.unmade().next() {
        // Saying what it asks for is more use than saying that it isn't PyTorch's.
        Some(name) if name.starts_with("torch_utils.persistence.") => {
            bad(format!("a pickle of NVIDIA's, which asks to run `{name}`; viva reads tensors and runs no code"))
                .hint(NVIDIA)
        }
        Some(name) if name.starts_with("dnnlib.tflib.") => {
            bad(format!("a pickle of NVIDIA's, which asks to run `{name}`; viva reads tensors and runs no code"))
                .hint(OLDER)
        }
        Some(name) => refused(name),
        None => bad("a pickle, but not one that torch.save wrote"),
    }
}

/// Finds the state dict among the wrappers that training programs put around it.
fn state_dict(pickle: &Pickle, budget: &Budget, fetch: &mut dyn FnMut(&Storage) -> Result<Vec<u8>>) -> Result<Weights> {
    let none = || match pickle.unmade().next() {
        Some(name) => refused(name),
        None => bad("the file holds no state dict").hint("in Python: torch.save(model.state_dict(), path)"),
    };
    // Once per dict: one that stands in another many times would be gone through each time.
    let mut with_tensors = vec![false; pickle.nodes()];
    for (id, has) in with_tensors.iter_mut().enumerate() {
        budget.step()?;
        if let PickleValue::Dict(pairs) = pickle.node(id) {
            *has = pairs.iter().any(|&(_, value)| matches!(pickle.node(value), PickleValue::Tensor(_)));
        }
    }
    let has_tensors = |id: Id| with_tensors[id];
    let mut id = pickle.root;
    for _depth in 0..8 {
        if has_tensors(id) {
            let PickleValue::Dict(pairs) = pickle.node(id) else { return Err(none()) };
            let entries = pickle.entries(pairs);
            // A best accuracy that is a tensor stands beside the weights, not among them.
            let inside = |name: &&str| entries.iter().find(|(key, value)| &**key == *name && has_tensors(*value));
            match WRAPPERS.iter().find_map(inside) {
                Some(&(_, inside)) => id = alone(pickle, &has_tensors, inside, &entries)?,
                None => return tensors(pickle, &entries, budget, fetch),
            }
            continue;
        }
        id = match pickle.node(id) {
            PickleValue::List(items) | PickleValue::Tuple(items) => match items[..] {
                [one] => one,
                // Beside what was noted of a training.
                _ if items.iter().filter(|item| has_tensors(**item)).count() == 1 => {
                    *items.iter().find(|item| has_tensors(**item)).ok_or_else(none)?
                }
                _ => {
                    return Err(bad(format!("the file holds a list of {} networks, one is wanted", items.len()))
                        .hint("in Python, save the one to examine: torch.save(states[0], path)"));
                }
            },
            PickleValue::Dict(pairs) => {
                let entries = pickle.entries(pairs);
                let wrapper = WRAPPERS.iter().find_map(|name| entries.iter().find(|(key, _)| &**key == *name));
                let inner: Vec<&(Rc<str>, Id)> = entries.iter().filter(|(_, value)| has_tensors(*value)).collect();
                match (wrapper, &inner[..]) {
                    (Some(&(_, inside)), _) => alone(pickle, &has_tensors, inside, &entries)?,
                    (None, [(_, inside)]) => alone(pickle, &has_tensors, *inside, &entries)?,
                    (None, []) => return Err(none()),
                    (None, several) => {
                        let names: Vec<&str> = several.iter().take(20).map(|(name, _)| &**name).collect();
                        return Err(bad(format!("the file holds several networks: {}", cut(&names.join(", "), 300)))
                            .hint("in Python, save the one to examine: torch.save(states[name], path)"));
                    }
                }
            }
            _ => return Err(none()),
        };
    }
    Err(none())
}

/// These weights, unless others of the same network stand beside them, such as averages over its training, under names of their own or within
/// something else.
fn alone(pickle: &Pickle, has_tensors: &dyn Fn(Id) -> bool, inside: Id, beside: &[(Rc<str>, Id)]) -> Result<Id> {
    let names = |id: Id| -> BTreeSet<String> {
        let PickleValue::Dict(pairs) = pickle.node(id) else { return BTreeSet::new() };
        let bare = |mut name: &str| {
            while let Some(rest) = WRAPPED.iter().find_map(|wrap| name.strip_prefix(wrap)) {
                name = rest;
            }
            name.to_string()
        };
        pickle.entries(pairs).iter().map(|(name, _)| bare(name)).collect()
    };
    let own = names(inside);
    let is_twin = |id: Id| id != inside && has_tensors(id) && 2 * names(id).intersection(&own).count() > own.len();
    let within = |id: Id| -> Vec<(Rc<str>, Id)> {
        match pickle.node(id) {
            PickleValue::Dict(pairs) if id != inside => pickle.entries(pairs),
            _ => vec![],
        }
    };
    let twin = beside.iter().find_map(|(name, id)| {
        let deeper = within(*id).into_iter().find(|(_, id)| is_twin(*id)).map(|(deeper, _)| vec![name.clone(), deeper]);
        if is_twin(*id) { Some(vec![name.clone()]) } else { deeper }
    });
    let Some(twin) = twin else { return Ok(inside) };
    let of = beside.iter().find(|(_, value)| *value == inside).map_or("", |(name, _)| name);
    let place: String = twin.iter().map(|name| format!("[{name:?}]")).collect();
    Err(bad(format!("the file holds weights of one network twice, as {of:?} and as {:?}", twin.join(".")))
        .hint(format!("in Python, save those to examine: torch.save(torch.load(path)[{of:?}], path), or of torch.load(path){place}")))
}

/// What stands before all names of a network that another one holds.
const WRAPPED: [&str; 3] = ["module.", "_orig_mod.", "model."];

/// A view by its storage, offset, sizes and strides.
type ViewKey<'a> = (Rc<str>, i64, &'a [i64], &'a [i64]);

fn tensors(
    pickle: &Pickle,
    entries: &[(Rc<str>, Id)],
    budget: &Budget,
    fetch: &mut dyn FnMut(&Storage) -> Result<Vec<u8>>,
) -> Result<Weights> {
    let mut whole: HashMap<Rc<str>, Tensor> = HashMap::new();
    // Layers may share their weights: what is the same view is one tensor.
    let mut made: HashMap<ViewKey, Tensor> = HashMap::new();
    let mut weights = Weights::new();
    for (name, id) in entries {
        budget.step()?;
        let what = || format!("tensor {:?}", cut(name, 80));
        let view = match pickle.node(*id) {
            PickleValue::Tensor(view) => view,
            // It may be a tensor of another make, which the network would lack.
            PickleValue::Unmade(of) => return Err(refused(&of.name).during(&what())),
            // Numbers beside the tensors, such as an epoch, are no weights.
            _ => continue,
        };
        let TensorView { size, stride, offset, storage } = &**view;
        if !whole.contains_key(&storage.key) {
            let bytes = fetch(storage)?;
            budget.take(bytes.len() as u64, "its storage")?;
            whole.insert(storage.key.clone(), tensor(&bytes, &[storage.len as i64], storage.kind)?);
        }
        let base = &whole[&storage.key];
        if base.kind() != storage.kind || base.numel() != storage.len {
            return Err(bad(format!("{} reads its numbers in two ways", what())));
        }
        let key = (storage.key.clone(), *offset, size.as_slice(), stride.as_slice());
        let made = match made.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let count: i64 = size.iter().product();
                // A copy of what lies apart, and one as float32.
                budget.take(2 * count as u64 * element_size(storage.kind).max(4) as u64, &what())?;
                let dense = match base.numel() {
                    0 => Tensor::f_zeros(size.as_slice(), (storage.kind, tch::Device::Cpu))?,
                    _ => base.f_as_strided(size.as_slice(), stride.as_slice(), *offset)?.f_contiguous()?,
                };
                entry.insert(as_float(dense)?)
            }
        };
        if weights.insert(name.to_string(), made.shallow_clone()).is_some() {
            return Err(bad(format!("the state dict holds {} twice", what())));
        }
    }
    // nn.DataParallel puts this before every name.
    if weights.keys().all(|name| name.starts_with("module.")) {
        weights = weights.into_iter().map(|(name, tensor)| (name["module.".len()..].to_string(), tensor)).collect();
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Contents> {
        super::parse(bytes, &Budget::unwatched(bytes.len() as u64, Budget::PLAIN))
    }

    fn weights(bytes: &[u8]) -> Result<Weights> {
        match parse(bytes)? {
            Contents::Weights(weights) => Ok(weights),
            Contents::TorchScript { .. } => Err(bad("TorchScript")),
        }
    }

    /// Neither a cut nor a flipped byte anywhere may do worse than give an error or other numbers.
    fn survives(bytes: &[u8]) {
        let step = (bytes.len() / 1500).max(1);
        for end in (0..bytes.len()).step_by(step) {
            let _ = parse(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(step).chain(0..bytes.len().min(1200)) {
            for flip in [0x01, 0x80, 0xff] {
                let mut broken = bytes.to_vec();
                broken[at] ^= flip;
                let _ = parse(&broken);
            }
        }
    }

    // Each made with torch 2.11: torch.save({"state_dict": {"module.a": torch.arange(6.).reshape(2, 3).t(),
    // "module.b": torch.tensor([1.5, -2.0], dtype=torch.float64)}, "epoch": 3}, path), the legacy one with
    // _use_new_zipfile_serialization=False.
    #[test]
    fn both_pytorch_formats_give_the_same_tensors() -> Result<()> {
        for bytes in [&include_bytes!("testdata/wrapped_zip.pt")[..], include_bytes!("testdata/wrapped_legacy.pt")] {
            let weights = weights(bytes)?;
            assert_eq!(weights.keys().map(String::as_str).collect::<Vec<_>>(), ["a", "b"]);
            assert_eq!(weights["a"].size(), [3, 2]);
            assert_eq!(Vec::<f32>::try_from(&weights["a"].reshape([-1]))?, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
            assert_eq!(weights["b"].kind(), Kind::Float);
            assert_eq!(Vec::<f32>::try_from(&weights["b"])?, [1.5, -2.0]);
            survives(bytes);
        }
        Ok(())
    }

    // torch.save({"weight": torch.tensor([[1 + 2j, 3 - 1j]]).conj().imag, "bias": torch.zeros(1)}, path): numbers that are the negatives of those that
    // lie in the file.
    #[test]
    fn tensors_that_are_negatives_of_what_is_stored_are_refused() {
        let error = parse(include_bytes!("testdata/negated.pt")).err();
        assert!(error.is_some_and(|error| error.message.contains("that it is the negative")));
    }

    #[test]
    fn numbers_of_types_that_are_not_read_are_no_damage() {
        let eight_bits = br#"{"weight":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}}"#;
        let file = [&(eight_bits.len() as u64).to_le_bytes()[..], eight_bits, &[0; 4]].concat();
        let error = parse(&file).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("tensor \"weight\" has numbers of the type F8_E4M3, which is not read"));

        // torch.save of a tensor of float8_e4m3fn, as far as its storage.
        let eight_bits = b"\x80\x02ctorch._utils\n_rebuild_tensor_v3\n((X\x07\x00\x00\x00storagectorch.storage\nUntypedStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ";
        let error =
            Pickle::read(eight_bits, &Budget::unwatched(99, Budget::PLAIN)).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("a type that is not read, as torch.storage.UntypedStorage")));
    }

    // torch.save(torch.nn.Linear(2, 1), path): a whole module, whose class would have to be run.
    #[test]
    fn a_pickled_module_is_refused_by_name() {
        let error = parse(include_bytes!("testdata/whole_module.pt")).err();
        assert!(error.is_some_and(|e| e.message.contains("torch.nn.modules.linear.Linear")));
    }

    #[test]
    fn safetensors_written_are_read_back_and_damage_is_an_error() -> Result<()> {
        let folder = tempfile::tempdir().map_err(|e| bad(e.to_string()))?;
        let path = folder.path().join("w.safetensors");
        let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0]);
        write_safetensors(&path, &[("w".into(), tensor)], &[("viva", "layers".into())])?;
        let bytes = std::fs::read(&path).map_err(|e| Error::file(&path, e))?;
        assert_eq!(Vec::<f32>::try_from(&weights(&bytes)?["w"])?, [1.0, 2.0, 3.0]);
        assert_eq!(about(&Cx::default(), &path, "viva")?.as_deref(), Some("layers"));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err(), "cut at {end}");
        }
        survives(&bytes);
        Ok(())
    }
}
