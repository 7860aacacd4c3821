//! What can be told about a script without running it: names, option names, and the arguments of its calls.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use rhai::{AST, ASTNode, Expr, FnAccess, FnCallExpr, Position, Stmt};

use super::bindings::{BindingKind, Bindings};
use super::code::{Code, no_outer_variable};
use super::finding::{CalledName, Finding};
use super::keys::unknown_keys;
use super::modules::{file_of, module_name};
use super::remarks::slashes;
use super::session::Session;
use crate::core::{Error, Result, Value, nearest, suggestion};
use crate::primitives::declared::{Declared, declared};
use crate::primitives::stdlib::{stdlib_names, stdlib_text};
use crate::primitives::{Fallback, NAMESPACES, PRIMITIVES, Primitive, former};

/// Unknown functions, variables, namespaces and option names, options written down with a value that does not fit, and calls with
/// too many arguments or too few.
pub fn check(session: &Session, ast: &AST, text: &str) -> Vec<Finding> {
    let mut findings = check_cell(session, ast, text);
    let elsewhere = |one: &Finding| findings.iter().all(|known| (known.line, known.column) != (one.line, one.column));
    let undeclared: Vec<Finding> = undeclared_variables(session, text).into_iter().filter(elsewhere).collect();
    findings.extend(undeclared);
    findings.sort_by_key(|finding| (finding.line, finding.column));
    findings
}

/// The same of a part of a session, whose variables may have been declared before.
pub fn check_cell(session: &Session, ast: &AST, text: &str) -> Vec<Finding> {
    let mut aliases: BTreeMap<String, Option<ImportedModule>> = BTreeMap::new();
    let scripts: BTreeSet<String> = ast.iter_functions().map(|f| f.name.to_string()).collect();
    let brought = session.engine().collect_fn_metadata(
        None,
        |info| Some((info.metadata.name.to_string(), info.metadata.num_params, info.namespace.is_empty())),
        true,
    );
    let mut takes: Arities = BTreeMap::new();
    for (name, params, _) in brought.iter().filter(|(.., free)| *free) {
        takes.entry(name.clone()).or_default().insert(*params);
    }
    let known: BTreeSet<String> = brought.into_iter().filter(|(.., free)| *free).map(|(name, ..)| name).collect();
    let mut signatures: BTreeMap<String, Vec<Vec<&str>>> = BTreeMap::new();
    for function in ast.iter_functions().filter(|function| !known.contains(function.name)) {
        signatures.entry(function.name.into()).or_default().push(function.params.clone());
    }
    let own: BTreeSet<String> = scripts.union(&known).cloned().collect();
    let functions = ast.iter_functions().map(|function| (function.name.to_string(), function.params.len())).collect();
    let code = Code::new(text);
    let mut variables: BTreeSet<String> = BTreeSet::new();
    let mut findings = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(import, _))) = path.last() {
            let path = match &import.0 {
                Expr::StringConstant(path, _) => Some(path.as_str()),
                _ => None,
            };
            let module = match path.and_then(|path| module(session, ast.source(), path)).transpose() {
                Ok(module) => module,
                Err(error) => {
                    let hint = error.hint.map_or(String::new(), |hint| format!("; {hint}"));
                    findings.extend(at(import.0.position(), format!("{}{hint}", error.message)));
                    None
                }
            };
            // Of one name for two modules each block has its own.
            let alias = import.1.as_str().to_string();
            let module = if aliases.contains_key(&alias) { None } else { module };
            aliases.insert(alias, module);
        }
        if let Some(ASTNode::Stmt(Stmt::Var(var, ..))) = path.last() {
            variables.insert(var.0.as_str().to_string());
        }
        true
    });
    let declared = declared("", text).unwrap_or_else(|error| {
        let hint = error.hint.map_or(String::new(), |hint| format!("; {hint}"));
        findings.push(Finding::failing((1, 1), format!("{}{hint}", error.message)));
        Default::default()
    });
    ast.walk(&mut |path| {
        let found = match path.last() {
            Some(ASTNode::Expr(Expr::FnCall(call, position))) => {
                let script = Script {
                    aliases: &aliases,
                    own: &own,
                    signatures: &signatures,
                    variables: &variables,
                    declared: &declared,
                    functions: &functions,
                    takes: &takes,
                };
                check_call(call, *position, &script)
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, position))) => {
                let gone = former::method(&call.name).filter(|_| !scripts.contains(call.name.as_str()));
                let own_method = scripts.contains(call.name.as_str()) || may_be_key(&code, &call.name);
                if own_method { None } else { check_method(call, *position, (&own, &takes), gone, session) }
            }
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
        Finding::doubtful((line, text[start..remark.at].chars().count() + 1), remark.message)
    }));
    findings.sort_by_key(|finding| (finding.line, finding.column));
    findings
}

/// Variables that nothing declares, neither the text nor the session.
fn undeclared_variables(session: &Session, text: &str) -> Vec<Finding> {
    let bindings = Bindings::of(text);
    let code = &bindings.code;
    if declares_unseen(code) {
        return vec![];
    }
    let mut known: BTreeSet<&str> = bindings.all.iter().map(|binding| binding.name.as_str()).collect();
    known.extend(given(code, 0..code.tokens.len()));
    let unknown =
        |token: &usize| code.variable(*token).filter(|name| session.variable(name).is_none() && !known.contains(name));
    let finding = |token: &usize| {
        let name = unknown(token)?;
        let near =
            nearest(name, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Some(Finding::failing(code.position(*token), format!("there is no variable `{name}`{near}")))
    };
    let mut findings: Vec<Finding> = bindings.undeclared.iter().filter_map(finding).collect();
    findings.extend(out_of_scope(session, &bindings));
    findings
}

/// The first variable that is declared only in a block that has ended, or further on. The interpreter's own strictness has to agree.
fn out_of_scope(session: &Session, bindings: &Bindings) -> Option<Finding> {
    let code = &bindings.code;
    let given = given(code, 0..code.tokens.len());
    let elsewhere =
        |name: &str| bindings.all.iter().find(|binding| binding.kind == BindingKind::Variable && binding.name == name);
    let candidate = |token: usize| {
        let name = code.variable(token).filter(|name| session.variable(name).is_none() && !given.contains(name))?;
        Some((token, name, elsewhere(name)?))
    };
    let candidates: Vec<_> = bindings.undeclared.iter().filter_map(|token| candidate(*token)).collect();
    if candidates.is_empty() {
        return None;
    }
    let mut strict = rhai::Engine::new();
    strict.set_strict_variables(true).set_max_expr_depths(0, 0);
    for (namespace, _) in NAMESPACES.iter().filter(|(name, _)| !name.is_empty()) {
        strict.register_static_module(*namespace, rhai::Module::new().into());
    }
    let mut scope = rhai::Scope::new();
    for name in bindings.undeclared.iter().filter_map(|token| code.variable(*token)) {
        if session.variable(name).is_some() {
            scope.push(name, ());
        }
    }
    let error = strict.compile_with_scope(&scope, code.text).err()?;
    let refused = (error.position().line()?, error.position().position()?);
    let (token, name, binding) = candidates.into_iter().find(|(token, ..)| code.position(*token) == refused)?;
    let declared = binding.declared[0];
    let line = code.position(declared).0;
    let why = match declared < token {
        true if bindings.within_declaration(declared, token) => {
            "it is not known yet where it is declared, and a closure can't call itself".into()
        }
        true => format!("that of line {line} is known only within its block: declare it before the block"),
        false => format!("it is declared further on only, in line {line}"),
    };
    Some(Finding::failing(refused, format!("there is no variable `{name}` here; {why}")))
}

/// Whether variables may be there that nothing declares: whatever is evaluated may declare more, and who asks whether a variable is there
/// reads it where it is.
fn declares_unseen(code: &Code) -> bool {
    ["eval", "is_def_var"].iter().any(|word| code.occurrences(word, 0..code.tokens.len()).next().is_some())
}

/// What looks like a parameter, of whatever closure or function: it is one, since a misspelt name is given nowhere.
fn given<'t>(code: &Code<'t>, within: Range<usize>) -> Vec<&'t str> {
    let mut names = Vec::new();
    for token in within {
        let end = if code.is(token, "|") {
            (token + 1..code.tokens.len()).find(|end| code.word(*end).is_none() && !code.is(*end, ","))
        } else if code.is(token, "fn") {
            (token + 1..code.tokens.len()).find(|open| code.is(*open, "(")).and_then(|open| code.partner(open))
        } else {
            None
        };
        names.extend((token..end.unwrap_or(token)).filter_map(|token| code.word(token)));
    }
    names
}

/// Variables from outside that functions read.
fn outer_variables(text: &str) -> Vec<Finding> {
    let code = Code::new(text);
    if declares_unseen(&code) {
        return vec![];
    }
    let functions = code.functions();
    let outer: HashSet<&str> = code.outer_names(functions).into_iter().collect();
    let mut findings = Vec::new();
    for function in functions {
        let mut own = code.names(function.body.clone());
        own.extend(given(&code, function.body.clone()));
        let given: Vec<&str> = function.parameters.clone().filter_map(|token| code.word(token)).collect();
        for token in function.body.clone() {
            let Some(name) = code.variable(token) else { continue };
            if outer.contains(name) && !own.contains(&name) && !given.contains(&name) {
                let of = code.word(function.name).unwrap_or_default();
                let hint = no_outer_variable(&code, function, name);
                let message = format!("there is no variable `{name}` inside the function `{of}`; {hint}");
                findings.push(Finding::failing(code.position(token), message));
            }
        }
    }
    findings
}

fn at(position: Position, message: String) -> Option<Finding> {
    Some(Finding::failing((position.line().unwrap_or(1), position.position().unwrap_or(1)), message))
}

/// A module that a script imports.
struct ImportedModule {
    /// What stands in front of its functions in messages.
    name: String,
    declared: Arc<Vec<Declared>>,
    /// Its public functions with the number of their parameters.
    functions: BTreeSet<(String, usize)>,
}

/// The module that a script's import leads to, if it can be read.
fn module(session: &Session, importer: Option<&str>, path: &str) -> Option<Result<ImportedModule>> {
    let name = module_name(path).to_string();
    if let Some(text) = stdlib_text(path) {
        return Some(declared(&name, text).map(|declared| ImportedModule {
            name,
            declared,
            functions: BTreeSet::new(),
        }));
    }
    let file = match file_of(importer, path) {
        Ok(file) if !path.starts_with("std/") => file,
        _ => return Some(Err(missing_module(path))),
    };
    session.cx().check_read(&file).ok()?;
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some(Err(Error::argument(format!("import: there is no file {}", file.display()))));
        }
        Err(_) => return None,
    };
    // What is wrong in it is told of it.
    let ast = session.compile(&file.display().to_string(), &text).ok()?;
    let public = ast
        .iter_functions()
        .filter(|function| function.access == FnAccess::Public && !function.name.starts_with("anon$"));
    let functions = public.map(|function| (function.name.to_string(), function.params.len())).collect();
    Some(declared(&name, &text).map(|declared| ImportedModule { name, declared, functions }))
}

fn missing_module(path: &str) -> Error {
    let known = stdlib_names();
    Error::argument(format!("import: there is no module {path}"))
        .hint(suggestion(path, known.iter().map(String::as_str)))
}

/// What a script itself brings along.
struct Script<'s> {
    aliases: &'s BTreeMap<String, Option<ImportedModule>>,
    own: &'s BTreeSet<String>,
    /// The parameters of its own functions, of each in all its forms.
    signatures: &'s BTreeMap<String, Vec<Vec<&'s str>>>,
    variables: &'s BTreeSet<String>,
    declared: &'s [Declared],
    /// Its own functions with the number of their parameters.
    functions: &'s BTreeSet<(String, usize)>,
    takes: &'s Arities,
}

/// The engine's functions, and how many parameters each has in all its forms.
type Arities = BTreeMap<String, BTreeSet<usize>>;

/// A call of a function of a module.
fn check_imported(call: &FnCallExpr, position: Position, alias: &str, module: &ImportedModule) -> Option<Finding> {
    let ImportedModule { name, declared, functions } = module;
    let compiled = functions.contains(&(call.name.to_string(), call.args.len()));
    let public = || declared.iter().filter(|f| f.public);
    let of_name = || public().filter(|f| f.name == call.name.as_str());
    let primitives = || PRIMITIVES.iter().filter(|p| p.namespace() == Some(name));
    if compiled && of_name().next().is_none() {
        return None;
    }
    if let Some(primitive) = primitives().find(|p| p.name() == call.name.as_str())
        && of_name().next().is_none()
    {
        return check_arguments(primitive, &call.args, 0, position);
    }
    let given = call.args.len();
    let takes = |f: &Declared| {
        let fewest = if f.declaration.function.options.is_empty() { f.arity } else { f.declaration.positional.len() };
        (fewest..=f.arity).contains(&given)
    };
    match of_name().next() {
        None if functions.iter().any(|(own, _)| own == call.name.as_str()) => {
            let takes: Vec<String> =
                functions.iter().filter(|(own, _)| own == call.name.as_str()).map(|(_, n)| n.to_string()).collect();
            let plural = if given == 1 { "" } else { "s" };
            at(
                position,
                format!("{name}::{}: got {given} argument{plural}; it takes {}", call.name, takes.join(" or ")),
            )
        }
        None => {
            let written = functions.iter().map(|(own, _)| own.as_str());
            let known = public().map(|f| f.name.as_str()).chain(written).chain(primitives().map(|p| p.name()));
            let known = known.collect::<BTreeSet<_>>().into_iter();
            let path = format!("{name}::{}", call.name);
            let hint = former::function_or(&path, &call.name, known.collect::<Vec<_>>());
            at(position, format!("there is no `{alias}::{}`; {hint}", call.name))
        }
        Some(_) if compiled && !of_name().any(takes) => None,
        Some(function) if !of_name().any(takes) => {
            let (path, signature) = (function.declaration.function.path, signature(function));
            let plural = if given == 1 { "" } else { "s" };
            at(position, format!("{path}: got {given} argument{plural}; call it as {signature}"))
        }
        Some(_) => {
            let declared = of_name().find(|f| takes(f) && f.declaration.checks)?;
            check_arguments(&declared.declaration.function, &call.args, 0, position)
        }
    }
}

fn signature(function: &Declared) -> String {
    let declaration = function.declaration;
    if declaration.checks {
        return declaration.function.signature();
    }
    let options = if function.arity > declaration.positional.len() { Some("options") } else { None };
    let names: Vec<&str> = declaration.positional.iter().map(String::as_str).chain(options).collect();
    format!("{}({})", declaration.function.path, names.join(", "))
}

fn check_call(call: &FnCallExpr, position: Position, script: &Script) -> Option<Finding> {
    let name = call.name.as_str();
    let namespace: Vec<&str> = call.namespace.path.iter().map(|ident| ident.as_str()).collect();
    if let [namespace] = namespace[..] {
        if let Some(module) = script.aliases.get(namespace) {
            // Where the name is also one of viva's own, a block without the import means that.
            let own = NAMESPACES.iter().any(|(known, _)| *known == namespace);
            return module
                .as_ref()
                .filter(|_| !own)
                .and_then(|module| check_imported(call, position, namespace, module));
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
                let path = format!("{namespace}::{name}");
                let hint = former::function_or(&path, name, functions.iter().map(|p| p.name()));
                at(position, format!("there is no `{namespace}::{name}`; {hint}"))
            }
        };
    }
    if !namespace.is_empty() || call.op_token.is_some() {
        return None;
    }
    let declared = |f: &&Declared| f.name == name && f.declaration.checks && f.arity == call.args.len();
    if let Some(function) = script.declared.iter().find(declared) {
        return check_arguments(&function.declaration.function, &call.args, 0, position);
    }
    if script.functions.contains(&(name.to_string(), call.args.len())) {
        return None;
    }
    if let Some(primitive) = PRIMITIVES.iter().find(|p| p.path == name) {
        return check_arguments(primitive, &call.args, 0, position);
    }
    if let Some(signatures) = script.signatures.get(name)
        && !signatures.iter().any(|parameters| parameters.len() == call.args.len())
    {
        let ways: Vec<String> =
            signatures.iter().map(|parameters| format!("{name}({})", parameters.join(", "))).collect();
        let plural = if call.args.len() == 1 { "" } else { "s" };
        return at(
            position,
            format!("{name}: got {} argument{plural}; call it as {}", call.args.len(), ways.join(" or ")),
        );
    }
    if script.variables.contains(name) {
        return None;
    }
    let function = |message: String| Some(at(position, message)?.of(CalledName::Function(name.into())));
    let is_own = script.functions.iter().any(|(own, _)| own == name);
    if let Some(what) = wrong_number(script.takes, name, call.args.len(), 0).filter(|_| !is_own) {
        let hint = super::borrowed_names::in_function(name, &vec![""; call.args.len()]);
        return function(format!("{what}{}", hint.map_or(String::new(), |hint| format!("; {hint}"))));
    }
    if script.own.contains(name) || is_keyword(name) {
        return None;
    }
    if let Some(hint) = super::borrowed_names::in_function(name, &[]) {
        return function(format!("there is no function `{name}`; {hint}"));
    }
    if let Some(hint) = super::explain::in_namespaces(name) {
        return function(format!("there is no function `{name}`; {hint}"));
    }
    let near = nearest(name, script.own.iter().map(String::as_str))
        .map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    function(format!("there is no function `{name}`{near}"))
}

/// `gone`: what the method is called now that had this name.
fn check_method(
    call: &FnCallExpr,
    position: Position,
    (own, takes): (&BTreeSet<String>, &Arities),
    gone: Option<String>,
    session: &Session,
) -> Option<Finding> {
    let name = call.name.as_str();
    let methods: Vec<&&Primitive> = PRIMITIVES.iter().filter(|p| p.receiver().is_some() && p.name() == name).collect();
    // Arrays may have a method of that name which takes more.
    if let [primitive] = methods[..]
        && !session.built_ins().iter().any(|f| f.name == name)
    {
        return check_arguments(primitive, &call.args, 1, position);
    }
    let method = |message: String| Some(at(position, message)?.of(CalledName::Method(name.into())));
    if methods.is_empty()
        && gone.is_none()
        && let Some(what) = wrong_number(takes, name, call.args.len(), 1)
    {
        return method(what);
    }
    if !methods.is_empty() || gone.is_none() && own.contains(name) || is_keyword(name) {
        return None;
    }
    let now =
        gone.or_else(|| former::method_elsewhere(name)).or_else(|| former::spelt(name, own.iter().map(String::as_str)));
    let near = now.or_else(|| nearest(name, own.iter().map(String::as_str)).map(|n| format!("did you mean `{n}`?")));
    let near = near.map_or(String::new(), |hint| format!("; {hint}"));
    method(format!("no type has a method `{name}`{near}"))
}

/// What is wrong with so many arguments for a function of the engine's, if none of that name takes as many behind its receiver.
fn wrong_number(takes: &Arities, name: &str, given: usize, receiver: usize) -> Option<String> {
    let numbers: Vec<usize> = takes.get(name)?.iter().filter_map(|n| n.checked_sub(receiver)).collect();
    let plural = if given == 1 { "" } else { "s" };
    let ways: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let wrong = !numbers.is_empty() && !numbers.contains(&given);
    wrong.then(|| format!("{name}: got {given} argument{plural}; it takes {}", ways.join(" or ")))
}

/// Whether a map of this text may hold something under this name, such as a closure.
pub(super) fn may_be_key(code: &Code, name: &str) -> bool {
    let called = |at: usize| at.checked_sub(1).is_some_and(|before| code.dot(before)) && code.is(at + 1, "(");
    code.occurrences(name, 0..code.tokens.len()).any(|at| !called(at)) || code.has_text(name)
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
    let taken_as_parameter = |place: usize| {
        let param = primitive.params.get(place + receiver);
        param.is_some_and(|param| param.kind.may_be_map())
    };
    let options = match arguments.last() {
        Some(Expr::Map(map, position)) if !primitive.options.is_empty() => Some((map, position)),
        _ => None,
    };
    let options = options.filter(|_| !taken_as_parameter(arguments.len() - 1));
    let positional = arguments.len() - usize::from(options.is_some()) + receiver;
    let missing = primitive.params.iter().skip(positional).find(|param| matches!(param.fallback, Fallback::Required));
    if let Some(param) = missing {
        let what = format!("{}: `{}` is missing; call it as {}", primitive.path, param.name, primitive.signature());
        return at(position, what);
    }
    let (map, map_position) = options?;
    map.0.iter().find_map(|(key, value)| {
        let position = if key.pos.is_none() { *map_position } else { key.pos };
        let Some(option) = primitive.options.iter().find(|option| option.name == key.name.as_str()) else {
            let hint = former::option_or(primitive.path, &key.name, primitive.option_names());
            return at(position, format!("{}: unknown option `{}`; {hint}", primitive.path, key.name));
        };
        let error = option.check(primitive.path, &plain(value)?).err()?;
        let hint = error.hint.map_or(String::new(), |hint| format!("; {hint}"));
        at(position, format!("{}{hint}", error.message))
    })
}

/// A number, text or bool that is written down.
fn plain(value: &Expr) -> Option<Value> {
    match value {
        Expr::BoolConstant(b, _) => Some(Value::Bool(*b)),
        Expr::IntegerConstant(i, _) => Some(Value::Int(*i)),
        Expr::FloatConstant(x, _) => Some(Value::Float(**x)),
        Expr::StringConstant(s, _) => Some(Value::Str(s.to_string())),
        _ => None,
    }
}
