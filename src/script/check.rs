//! What can be told about a script without running it: names, option names, and the arguments that it reads.

use std::collections::BTreeSet;

use rhai::{AST, ASTNode, Expr, FnCallExpr, Position, Stmt};

use super::code::{Code, no_outer_variable};
use super::keys::unknown_keys;
use super::remarks::slashes;
use super::session::Session;
use crate::core::{nearest, suggestion};
use crate::primitives::{NAMESPACES, PRIMITIVES, Primitive};

/// Something in a script that will not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub line: usize,
    pub column: usize,
    pub message: String,
}

/// One `arg("name", default)` of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptArgument {
    pub name: String,
    pub default: String,
}

/// Unknown functions, namespaces and option names, and calls with too many arguments.
pub fn check(session: &Session, ast: &AST, text: &str) -> Vec<Finding> {
    let mut aliases: BTreeSet<String> = BTreeSet::new();
    let mut own: BTreeSet<String> = ast.iter_functions().map(|f| f.name.to_string()).collect();
    let known = session.engine().collect_fn_metadata(None, |info| Some(info.metadata.name.to_string()), true);
    own.extend(known);
    let mut variables: BTreeSet<String> = BTreeSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last() {
            aliases.insert(import.1.as_str().to_string());
        }
        if let Some(ASTNode::Stmt(Stmt::Var(var, ..))) = path.last() {
            variables.insert(var.0.as_str().to_string());
        }
        true
    });
    let mut findings = Vec::new();
    ast.walk(&mut |path| {
        let found = match path.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => {
                check_call(call, *position, &aliases, &own, &variables)
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => check_method(call, *position, &own, session),
            _ => None,
        };
        if let Some(finding) = found
            && !findings.contains(&finding)
        {
            findings.push(finding);
        }
        true
    });
    findings.extend(outer_variables(text));
    findings.extend(unknown_keys(text));
    findings.extend(slashes(text, std::iter::empty()).into_iter().map(|remark| {
        let start = text[..remark.at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[..remark.at].matches('\n').count() + 1;
        Finding { line, column: text[start..remark.at].chars().count() + 1, message: remark.message }
    }));
    findings.sort_by_key(|finding| (finding.line, finding.column));
    findings
}

/// Variables from outside that functions read.
fn outer_variables(text: &str) -> Vec<Finding> {
    let code = Code::new(text);
    let functions = code.functions();
    let outer = code.outer_names(&functions);
    let mut findings = Vec::new();
    for function in &functions {
        let own = code.names(function.body.clone());
        let given: Vec<&str> = function.parameters.clone().filter_map(|token| code.word(token)).collect();
        for token in function.body.clone() {
            let Some(name) = code.variable(token) else { continue };
            if outer.contains(&name) && !own.contains(&name) && !given.contains(&name) {
                let (line, column) = code.position(token);
                let of = code.word(function.name).unwrap_or_default();
                let hint = no_outer_variable(&code, function, name);
                let message = format!("there is no variable `{name}` inside the function `{of}`; {hint}");
                findings.push(Finding { line, column, message });
            }
        }
    }
    findings
}

fn at(position: Position, message: String) -> Option<Finding> {
    Some(Finding { line: position.line().unwrap_or(1), column: position.position().unwrap_or(1), message })
}

fn check_call(
    call: &FnCallExpr,
    position: Position,
    aliases: &BTreeSet<String>,
    own: &BTreeSet<String>,
    variables: &BTreeSet<String>,
) -> Option<Finding> {
    let name = call.name.as_str();
    let namespace: Vec<&str> = call.namespace.path.iter().map(|ident| ident.as_str()).collect();
    if let [namespace] = namespace[..] {
        if aliases.contains(namespace) {
            return None;
        }
        if !NAMESPACES.iter().any(|(known, _)| *known == namespace) {
            let known = NAMESPACES.iter().map(|(name, _)| *name).filter(|n| !n.is_empty());
            return at(position, format!("there is no namespace `{namespace}`; {}", suggestion(namespace, known)));
        }
        let functions: Vec<&'static Primitive> =
            PRIMITIVES.iter().copied().filter(|p| p.namespace() == Some(namespace)).collect();
        return match functions.iter().find(|p| p.name() == name) {
            Some(primitive) => check_arguments(primitive, &call.args, 0, position),
            None => {
                let hint = suggestion(name, functions.iter().map(|p| p.name()));
                at(position, format!("there is no `{namespace}::{name}`; {hint}"))
            }
        };
    }
    if !namespace.is_empty() || call.op_token.is_some() {
        return None;
    }
    if let Some(primitive) = PRIMITIVES.iter().find(|p| p.path == name) {
        return check_arguments(primitive, &call.args, 0, position);
    }
    if own.contains(name) || variables.contains(name) || is_keyword(name) {
        return None;
    }
    let near =
        nearest(name, own.iter().map(String::as_str)).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    at(position, format!("there is no function `{name}`{near}"))
}

fn check_method(call: &FnCallExpr, position: Position, own: &BTreeSet<String>, session: &Session) -> Option<Finding> {
    let name = call.name.as_str();
    let methods: Vec<&&Primitive> = PRIMITIVES.iter().filter(|p| p.receiver().is_some() && p.name() == name).collect();
    // Arrays may have a method of that name which takes more.
    if let [primitive] = methods[..]
        && !session.built_ins().iter().any(|f| f.name == name)
    {
        return check_arguments(primitive, &call.args, 1, position);
    }
    if !methods.is_empty() || own.contains(name) || is_keyword(name) {
        return None;
    }
    let near =
        nearest(name, own.iter().map(String::as_str)).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    at(position, format!("no type has a method `{name}`{near}"))
}

/// Rhai resolves these by itself; they are no functions of the engine.
fn is_keyword(name: &str) -> bool {
    ["call", "curry", "print", "debug", "eval", "type_of", "is_shared", "is_def_var", "is_def_fn", "Fn", "throw"]
        .contains(&name)
}

fn check_arguments(primitive: &Primitive, arguments: &[Expr], receiver: usize, position: Position) -> Option<Finding> {
    let most =
        primitive.params.len() - receiver.min(primitive.params.len()) + usize::from(!primitive.options.is_empty());
    if arguments.len() > most {
        return at(
            position,
            format!("{}: got {} arguments; call it as {}", primitive.path, arguments.len(), primitive.signature()),
        );
    }
    let Some(Expr::Map(map, map_position)) = arguments.last() else { return None };
    if primitive.options.is_empty() {
        return None;
    }
    let taken_as_parameter = primitive
        .params
        .get(arguments.len() - 1 + receiver)
        .is_some_and(|param| matches!(param.kind, crate::primitives::Kind::Map | crate::primitives::Kind::Any));
    if taken_as_parameter {
        return None;
    }
    map.0.iter().find(|(key, _)| !primitive.option_names().any(|name| name == key.name.as_str())).and_then(
        |(key, _)| {
            let hint = suggestion(&key.name, primitive.option_names());
            let position = if key.pos.is_none() { *map_position } else { key.pos };
            at(position, format!("{}: unknown option `{}`; {hint}", primitive.path, key.name))
        },
    )
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
            let default = default.get_literal_value(None).map_or("…".into(), |value| value.to_string());
            found.push(ScriptArgument { name: name.to_string(), default });
        }
        true
    });
    found
}
