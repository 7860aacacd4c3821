//! What the caller of a script may give it: the arguments that it reads.

use std::collections::BTreeMap;

use rhai::{AST, ASTNode, Expr, Stmt};

use crate::core::{Error, Result, Value, suggestion};
use crate::primitives::top::arg;

/// One `arg("name", default)` of a script.
#[derive(Debug, Clone)]
pub struct ScriptArgument {
    pub name: String,
    pub default: String,
    /// A value of its type, where one is written down.
    like: Option<Value>,
    range: (Option<f64>, Option<f64>),
    choices: Option<Vec<String>>,
}

impl ScriptArgument {
    /// Refuses what `arg` would refuse, as far as its default, bounds and choices are written down as such.
    pub fn check(&self, text: &str) -> Result<()> {
        let value = match &self.like {
            Some(like) => arg::read(&self.name, text, like)?,
            None if self.choices.is_some() => Value::Str(text.into()),
            // Bounds are of numbers, of which type ever.
            None if self.range != (None, None) => arg::read(&self.name, text, &Value::Float(1.0))?,
            None => return Ok(()),
        };
        arg::within(&self.name, text, value, self.range, self.choices.as_deref()).map(|_| ())
    }
}

/// What an expression is, or may be: of an `if` the first branch.
fn literal(expression: &Expr) -> Option<Value> {
    if let Expr::Stmt(block) = expression
        && let [Stmt::If(flow, _)] = block.statements()
        && let Some(Stmt::Expr(first)) = flow.body.statements().last()
    {
        return literal(first);
    }
    let value = expression.get_literal_value(None)?;
    let number = value.as_int().ok().map(Value::Int).or_else(|| value.as_float().ok().map(Value::Float));
    let word = value.as_bool().ok().map(Value::Bool).or_else(|| value.clone().into_string().ok().map(Value::Str));
    number.or(word)
}

/// The arguments that a script reads with `arg("name", default, ...)`, in the order of its text.
pub fn script_arguments(ast: &AST) -> Vec<ScriptArgument> {
    let mut found: Vec<ScriptArgument> = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Expr(Expr::FnCall(call, _))) = path.last()
            && call.name == "arg"
            && let [Expr::StringConstant(name, _), default, ..] = &call.args[..]
            && !found.iter().any(|argument| argument.name == name.as_str())
        {
            let option = |wanted: &str| match call.args.get(2) {
                Some(Expr::Map(map, _)) => {
                    map.0.iter().find(|(name, _)| name.as_str() == wanted).map(|(_, value)| value)
                }
                _ => None,
            };
            let bound = |wanted: &str| match literal(option(wanted)?)? {
                Value::Int(n) => Some(n as f64),
                Value::Float(x) => Some(x),
                _ => None,
            };
            let choices = match option("choices") {
                Some(Expr::Array(all, _)) => all.iter().map(|one| literal(one).map(|one| one.summary())).collect(),
                _ => None,
            };
            found.push(ScriptArgument {
                name: name.to_string(),
                default: default.get_literal_value(None).map_or("…".into(), |value| value.to_string()),
                like: literal(default),
                range: (bound("min"), bound("max")),
                choices,
            });
        }
        true
    });
    found
}

/// The words behind a script, `--name value` or `--name=value`: `take` says of each whether it is its caller's own.
pub fn given<'w>(
    who: &str,
    words: impl Iterator<Item = &'w str>,
    mut take: impl FnMut(&str, Option<&str>) -> Result<bool>,
) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").ok_or_else(|| too_many(who, word))?;
        let (name, inline) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        let value = inline.or_else(|| words.next_if(|next| !next.starts_with("--")));
        if take(name, value)? {
            continue;
        }
        if found.insert(name.to_string(), value.unwrap_or_default().to_string()).is_some() {
            return Err(twice(who, name));
        }
    }
    Ok(found)
}

pub fn too_many(who: &str, word: &str) -> Error {
    Error::argument(format!("{who}: {word:?} is one thing too many"))
        .hint("a script's own arguments are written --name value")
}

pub fn twice(who: &str, name: &str) -> Error {
    Error::argument(format!("{who}: --{name} is given twice"))
}

/// Refuses arguments that a script does not have or would refuse, and a script that reads one which is its caller's own.
pub fn check_given(given: &BTreeMap<String, String>, known: &[ScriptArgument], own: &[&str]) -> Result<()> {
    if let Some(taken) = known.iter().find(|argument| own.contains(&argument.name.as_str())) {
        return Err(Error::argument(format!(
            "the script reads arg({:?}), but --{} is viva's own",
            taken.name, taken.name
        ))
        .hint("give the script's argument another name"));
    }
    for (name, text) in given {
        match known.iter().find(|argument| argument.name == *name) {
            Some(argument) => argument.check(text)?,
            None => {
                let names = known.iter().map(|argument| argument.name.as_str()).chain(own.iter().copied());
                return Err(
                    Error::argument(format!("the script has no argument --{name}")).hint(suggestion(name, names))
                );
            }
        }
    }
    Ok(())
}
