//! Names that someone who comes from Python looks for, and what stands for them here.

pub(super) fn no_python(module: &str) -> String {
    let instead = match module {
        "torch" | "torchvision" | "tensorflow" | "jax" | "keras" => "tensor::, model:: and net:: are always there",
        "numpy" | "np" => "tensor:: and arrays are always there",
        "matplotlib" | "plt" | "seaborn" => "plot:: is always there",
        "math" => "sqrt, exp, ln, PI() and the like are always there",
        _ => "namespaces such as data:: and model:: are always there",
    };
    format!("{instead}; import \"std/zoo\" as zoo; imports a module of scripts")
}

/// How a name that is no variable is said here. `text` is the source, `at` the byte where the name stands.
pub fn in_variable(name: &str, text: &str, at: usize) -> Option<String> {
    let rest = text.get(at..)?.strip_prefix(name).unwrap_or("").trim_start();
    let before = text.get(..at)?.trim_end();
    if before.ends_with("import") {
        return Some(no_python(name));
    }
    let known = match name {
        "None" | "null" | "nil" | "undefined" | "none" => "the value that says there is none is ()",
        "True" | "TRUE" => "it is written true",
        "False" | "FALSE" => "it is written false",
        "NaN" | "nan" => "it is 0.0 / 0.0",
        "inf" | "Inf" | "Infinity" | "infinity" => "it is 1.0 / 0.0",
        "pi" | "PI" => "it is PI()",
        "self" => "functions have no self: they see their arguments",
        "pass" => "an empty block is { }",
        "np" | "numpy" | "torch" | "plt" | "math" | "nn" | "F" | "tf" | "pd" if rest.starts_with('.') => {
            return Some(match name {
                "nn" | "F" => "layers are net::conv(...), net::relu() and the like".into(),
                _ => no_python(name).split(';').next().unwrap_or_default().to_string(),
            });
        }
        "int" | "float" | "str" | "bool" | "list" | "dict" => "a value's type is type_of(value)",
        _ if rest.starts_with('=') && !rest.starts_with("==") => {
            let value = rest[1..].split([';', '\n']).next().unwrap_or("").trim();
            return Some(format!("a new variable begins with let: let {name} = {value}"));
        }
        _ => return None,
    };
    Some(known.into())
}

/// How a function that is not there is said here. `arguments` are their kinds.
pub fn in_function(name: &str, arguments: &[&str]) -> Option<String> {
    let first = arguments.first().copied().unwrap_or("");
    let known = match (name, first) {
        ("known_options" | "options", _) => {
            "a function's options are declared in the comment above it, with their kinds and defaults: help(\"options\") shows how"
        }
        ("range", _) if arguments.len() == 1 => "numbers below n are 0..n",
        ("append", _) => "an array grows by v.push(value)",
        ("extend", _) => "an array grows by v.append(other), or v += other",
        ("sorted", _) => "v.sort() sorts in place",
        ("reversed", _) => "v.reverse() turns round in place",
        ("enumerate", _) => "with places: for (value, place) in v { ... }",
        ("zip", _) => "go through both by place: for i in 0..a.len() { a[i]; b[i]; }",
        ("map" | "filter", "closure") => "the array comes first: v.map(|x| ...)",
        ("str" | "repr", _) => "x.to_string(), or in a text `${x}`",
        ("int", "string") => "parse_int(text)",
        ("int", _) => "x.to_int()",
        ("float", "string") => "parse_float(text)",
        ("float", _) => "x.to_float()",
        ("list" | "tuple", _) => "an array is written [1, 2]",
        ("dict", _) => "a map is written #{ a: 1 }",
        ("set", _) => "there are no sets: an array, or a map's keys()",
        ("isinstance" | "type", _) => "type_of(value) names a type",
        ("input", _) => "a script asks by arg(\"name\", default)",
        ("open", _) => "files are read by data::load and model::load, written by save(value, path)",
        ("format", "string") => "values stand in back-ticks: `x is ${x}`",
        ("print", _) if arguments.len() > 1 => "one text with the values in it: print(`${a} ${b}`)",
        ("log", "tensor") => "x.ln() is to base e, x.ln() / ln(10) to base 10",
        ("pow", _) => "a power is a ** b",
        ("round", _) if arguments.len() == 2 => "round(x * 100) / 100",
        ("cuda" | "to" | "cpu", _) => "device(\"cuda\") at the top sets where all work is done",
        ("backward" | "detach" | "requires_grad_", "tensor") => "gradients are taken by searches and by model::train",
        ("item", "tensor") => "a tensor of one number gives it by x[0], or by x.sum()",
        ("numpy" | "tolist", "tensor") => "x.values() gives an array",
        ("size", "tensor") => "x.shape() gives the sizes",
        ("view", "tensor") => "x.reshape([...])",
        ("isnan", _) => "x.is_nan()",
        ("sum", "array") => "tensor::from(v).sum(), or v.reduce(|a, b| a + b)",
        _ => return None,
    };
    Some(known.into())
}
