//! One interpreter with its variables: what a batch run uses once and the prompt uses line by line.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rhai::{AST, Dynamic, Engine, EvalAltResult, Expr, OptimizationLevel, Position, Scope, Stmt};

use super::declare::is_prologue;
use super::diagnostic::{Diagnostic, byte};
use super::lower::{self, lowered};
use super::modules::{Resolver, Sources};
use super::own_names::written;
use super::remarks::slashes;
use super::value::{Bridge, ErrorHandle, Pending, devices, is_small};
use super::{answers, arithmetic, bind, bounds, declare, order};
use crate::BUILD;
use crate::core::record::built_as;
use crate::core::{Cx, Journal, Value, wait_for};
use crate::primitives::declared::declared;

/// What calls at the prompt leave behind beside variables.
#[derive(Clone)]
pub(super) struct PromptState {
    /// Functions and imports of the lines before; no other statements.
    pub ast: AST,
    /// Where each of those functions was typed, by name, for error messages.
    pub homes: HashMap<String, String>,
}

pub struct Session {
    cx: Rc<Cx>,
    pub(super) engine: Rc<Engine>,
    pub(super) bridge: Bridge,
    pub(super) sources: Sources,
    pub(super) modules: Resolver,
    pub(super) scope: Scope<'static>,
    pub(super) kept: PromptState,
    pub(super) built_ins: OnceCell<Vec<BuiltIn>>,
    /// The value of the last evaluation, as the interpreter has it: closures stay whole.
    answer: Dynamic,
    altered: Vec<String>,
}

/// A result that has a name of its own.
pub struct KeptResult {
    /// Of its tensors.
    pub bytes: usize,
    /// What tells it from another value.
    print: u64,
}

/// Results of more elements have no name of their own, since that would be a copy.
const LARGEST_RESULT: usize = 100_000;

/// A variable as a list of them shows it.
pub struct Variable {
    pub name: String,
    pub constant: bool,
    pub kind: &'static str,
    /// One line.
    pub summary: String,
    /// What its tensors hold in memory.
    pub bytes: Option<usize>,
    /// Where they lie, and those of models and generators.
    pub devices: BTreeSet<String>,
}

/// A function of the interpreter's own.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltIn {
    pub name: String,
    /// The kind of its first parameter; empty if it has none.
    pub of: &'static str,
    pub params: usize,
}

impl Session {
    pub fn new(cx: Rc<Cx>) -> Self {
        built_as(BUILD);
        let sources = Sources::default();
        let modules = Resolver::new(sources.clone(), cx.clone());
        let pending = Pending::default();
        let engine = Rc::new_cyclic(|weak| {
            let bridge = Bridge { engine: weak.clone(), pending: pending.clone() };
            let (engine, namespaces) = build(&cx, &bridge, &modules);
            modules.add_namespaces(namespaces);
            engine
        });
        let bridge = Bridge { engine: Rc::downgrade(&engine), pending };
        let kept = PromptState { ast: AST::empty(), homes: HashMap::new() };
        let (scope, answer, altered) = (Scope::new(), Dynamic::UNIT, Vec::new());
        Self { cx, engine, bridge, sources, modules, scope, kept, built_ins: OnceCell::new(), answer, altered }
    }

    pub fn cx(&self) -> &Rc<Cx> {
        &self.cx
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Parses a script without running it.
    pub fn compile(&self, name: &str, text: &str) -> Result<AST, Box<Diagnostic>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        self.sources.borrow_mut().insert(name.into(), text.into());
        self.modules.lowered.borrow_mut().remove(name);
        if let Some(line) = super::diagnostic::open_comment(text) {
            return Err(Box::new(Diagnostic::open_comment(name, text, line)));
        }
        match self.engine.compile_with_scope(&self.scope, text) {
            Ok(mut ast) => {
                ast.set_source(name);
                Ok(ast)
            }
            Err(error) => Err(self.explain(name, &error.into())),
        }
    }

    /// Parses a script as it is run.
    pub(super) fn compile_to_run(&self, name: &str, text: &str) -> Result<AST, Box<Diagnostic>> {
        let plain = self.compile(name, text)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let functions = declared("", text).map_err(|error| Box::new(Diagnostic::plain(&error)))?;
        let Some(lowered) = lowered(&self.engine, text, &self.kept.ast, &functions) else { return Ok(plain) };
        let compiled = self.engine.compile_with_scope(&self.scope, &lowered.text);
        self.modules.lowered.borrow_mut().insert(name.into(), lowered);
        let mut ast = compiled.map_err(|error| self.explain(name, &error.into()))?;
        ast.set_source(name);
        for remark in slashes(text, self.names()) {
            let line = text[..remark.at].matches('\n').count() + 1;
            self.cx.warn(format!("{name}, line {line}: {}", remark.message));
        }
        Ok(ast)
    }

    /// The byte of a source at a position in it, and the source's text; its end if there is no position.
    pub(super) fn place(&self, source: &str, position: Position) -> (String, usize) {
        let text = self.sources.borrow().get(source).cloned().unwrap_or_default();
        let at = match self.modules.lowered.borrow().get(source) {
            Some(lowered) => lowered.origin(byte(&lowered.text, position)),
            None => byte(&text, position),
        };
        (text, at)
    }

    /// Whether an error there is about what a function was called with.
    pub(super) fn is_of_caller(&self, source: &str, position: Position) -> bool {
        let lowered = self.modules.lowered.borrow();
        lowered.get(source).is_some_and(|lowered| is_prologue(&lowered.text, byte(&lowered.text, position)))
    }

    /// Runs a script and gives the value of its last expression.
    pub fn run(&mut self, path: &Path, text: &str) -> Result<Value, Box<Diagnostic>> {
        self.evaluate(&path.display().to_string(), text)
    }

    /// Runs a piece of script; its variables, functions and imports stay. If it fails, what it did to variables stays as well,
    /// and the random numbers that it drew are put back, so that doing it again draws the same.
    pub fn evaluate(&mut self, name: &str, text: &str) -> Result<Value, Box<Diagnostic>> {
        self.altered.clear();
        let ast = self.compile_to_run(name, text)?;
        let program = self.program(name, &ast);
        let (before, draws) = (self.fingerprints(), self.cx.draws());
        let constants = self.scope.iter_raw().filter(|(_, constant, _)| *constant).count();
        let again = self.scope.len()..self.scope.len() + constants;
        let outcome = self.engine.eval_ast_with_scope::<Dynamic>(&mut self.scope, &program);
        self.drop_shadowed(again);
        let imports = if outcome.is_ok() { program.clone() } else { self.kept.ast.clone() };
        self.keep(name, &ast, &imports, &program);
        match outcome {
            Ok(answer) => {
                self.answer = answer;
                Ok(self.bridge.to_value(None, &self.answer).unwrap_or_else(|_| Value::Str(bounds::text(&self.answer))))
            }
            Err(error) => {
                self.cx.restore(draws);
                let changed = self.fingerprints().into_iter().filter(|(name, print)| before.get(name) != Some(print));
                let functions = functions(&ast).filter(|name| !name.starts_with("anon$"));
                self.altered = changed.map(|(name, _)| name).chain(functions).collect();
                self.altered.sort();
                Err(self.explain(name, &error))
            }
        }
    }

    /// The variables and functions that the last evaluation changed or made although it failed.
    pub fn altered(&self) -> &[String] {
        &self.altered
    }

    /// Measures a piece of script again and again, first once to warm up, until `enough` says so. Variables and random numbers
    /// are the same before each time and afterwards.
    pub fn time(
        &mut self,
        name: &str,
        text: &str,
        mut enough: impl FnMut(&[Duration]) -> bool,
    ) -> Result<Vec<Duration>, Box<Diagnostic>> {
        let ast = self.compile_to_run(name, text)?;
        let program = self.program(name, &ast);
        let draws = self.cx.draws();
        let cx = self.cx.clone();
        // What is measured is the work itself, and nothing of it is gone on with.
        let _unrecorded = cx.journal().map(Journal::suspend);
        let captured = self.captured();
        let mut times = Vec::new();
        let mut warm = false;
        loop {
            let mut scope = self.scope.clone();
            // A GPU works on after the call that asked for the work has returned.
            let finish = || wait_for(cx.device()).map_err(|error| Box::new(Diagnostic::plain(&error)));
            finish()?;
            let start = Instant::now();
            let outcome = self.engine.eval_ast_with_scope::<Dynamic>(&mut scope, &program);
            finish()?;
            let took = start.elapsed();
            self.cx.restore(draws.clone());
            put_back(&captured);
            match outcome {
                Err(error)
                    if times.is_empty()
                        || !matches!(error.unwrap_inner(), EvalAltResult::ErrorTerminated(by, _) if by.is_unit()) =>
                {
                    return Err(self.explain(name, &error));
                }
                // Stopped: what was measured so far stands.
                Err(_) => return Ok(times),
                Ok(_) if warm => times.push(took),
                Ok(_) => warm = true,
            }
            if !times.is_empty() && enough(&times) {
                return Ok(times);
            }
        }
    }

    /// What closures have captured is shared with them: its value is put back, not the variable.
    fn captured(&self) -> Vec<(Dynamic, Dynamic)> {
        let shared = self.scope.iter_raw().filter(|(_, _, value)| value.is_shared());
        shared.map(|(_, _, value)| (value.clone(), value.flatten_clone())).collect()
    }

    /// Runs a program on copies of the variables, which it gives as they came to be. Nothing of it is recorded, and random numbers are as
    /// they were.
    pub(super) fn aside(
        &self,
        engine: &Engine,
        program: &AST,
    ) -> (Result<Dynamic, Box<EvalAltResult>>, Scope<'static>) {
        let draws = self.cx.draws();
        let _unrecorded = self.cx.journal().map(Journal::suspend);
        let captured = self.captured();
        let mut scope = self.scope.clone();
        let outcome = engine.eval_ast_with_scope::<Dynamic>(&mut scope, program);
        // What shares its value with a closure is shown as it came to be.
        let scope = scope.into_iter().fold(Scope::new(), |mut scope, (name, value, _)| {
            scope.push_dynamic(name, value.flatten());
            scope
        });
        self.cx.restore(draws);
        self.cx.take_partial();
        put_back(&captured);
        (outcome, scope)
    }

    /// Reads the modules of earlier imports from disk again. If one can't be used, those of before stay.
    pub fn reload(&mut self) -> Result<(), Box<Diagnostic>> {
        let before = self.modules.forget();
        let imports = self.kept.ast.clone();
        match self.engine.eval_ast_with_scope::<Dynamic>(&mut Scope::new(), &imports) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.modules.remember(before);
                Err(self.explain("prompt", &error))
            }
        }
    }

    /// The text together with the functions, imports and constants of the lines before.
    pub(super) fn program(&self, name: &str, ast: &AST) -> AST {
        let mut before = self.kept.ast.clone();
        // Functions read `global::NAME`, which the interpreter fills when it meets the constant's definition.
        let constants = self.scope.iter_raw().filter(|(_, constant, _)| *constant);
        let again: String = constants.map(|(name, _, _)| format!("const {name} = {name};")).collect();
        if let Ok(constants) = self.engine.compile_with_scope(&self.scope, &again)
            && !again.is_empty()
        {
            before = before.merge(&constants);
        }
        let mut program = before.merge(ast);
        program.set_source(name);
        program
    }

    /// Keeps the functions of a program, and the imports of a text that went well: one that failed would fail again.
    fn keep(&mut self, name: &str, ast: &AST, imports: &AST, program: &AST) {
        for function in functions(ast) {
            self.kept.homes.insert(function, name.into());
        }
        let mut aliases = HashSet::new();
        let mut imports: Vec<Stmt> = imports
            .statements()
            .iter()
            .rev()
            .filter_map(|statement| match statement {
                Stmt::Import(import, at) if aliases.insert(import.1.as_str().to_string()) => {
                    let mut import = import.clone();
                    // A path means something else to a line from another file: it is kept as what it was resolved to.
                    if let Expr::StringConstant(path, _) = &mut import.0
                        && let Some(file) = self.modules.found(name, path)
                    {
                        *path = file.into();
                    }
                    Some(Stmt::Import(import, *at))
                }
                _ => None,
            })
            .collect();
        imports.reverse();
        self.kept.ast = AST::new(imports, program.shared_lib().clone());
    }

    /// Keeps the newest variable of each name, so that ten `let x = big()` hold one; those in `again` are copies of older ones.
    fn drop_shadowed(&mut self, again: Range<usize>) {
        let mut seen = HashSet::new();
        let last = self.scope.len().wrapping_sub(1);
        // The scope is read from the newest variable to the oldest.
        let names = self.scope.iter_raw().enumerate();
        let mut kept: Vec<bool> =
            names.map(|(i, (name, ..))| !again.contains(&(last - i)) && seen.insert(name.to_string())).collect();
        if kept.iter().all(|&kept| kept) {
            return;
        }
        kept.reverse();
        let mut scope = Scope::new();
        // Values are moved: a copy of an array is a copy of all that it holds.
        for ((name, value, _), _) in std::mem::take(&mut self.scope).into_iter().zip(kept).filter(|(_, kept)| *kept) {
            if value.is_read_only() {
                scope.push_constant_dynamic(name, value);
            } else {
                scope.push_dynamic(name, value);
            }
        }
        self.scope = scope;
    }

    /// What tells whether a variable was changed. This is done at every line, so of large values a part is looked at.
    fn fingerprints(&self) -> HashMap<String, u64> {
        let each = self.scope.iter_raw();
        each.map(|(name, _, value)| (name.to_string(), super::value::fingerprint(value))).collect()
    }

    /// Sets a variable, such as the prompt's `ans`.
    pub fn set(&mut self, name: &str, value: Value) {
        self.assign(name, super::value::to_dynamic(value));
    }

    /// Gives the value of the last evaluation a name.
    pub fn name_answer(&mut self, name: &str) {
        let answer = std::mem::take(&mut self.answer);
        self.assign(name, answer);
    }

    /// Keeps the value of a variable under another name, unless that is taken or a copy would be large.
    pub fn keep_result(&mut self, of: &str, name: &str) -> Option<KeptResult> {
        if self.scope.contains(name) {
            return None;
        }
        let value = self.scope.get(of).filter(|value| is_small(value, LARGEST_RESULT))?.flatten_clone();
        let (_, _, bytes) = self.bridge.outline(&value);
        let kept = KeptResult { bytes: bytes.unwrap_or(0), print: super::value::fingerprint(&value) };
        self.assign(name, value);
        Some(kept)
    }

    /// Lets go of what was kept, unless the name was given to something else.
    pub fn forget_result(&mut self, name: &str, kept: &KeptResult) {
        if self.scope.get(name).is_some_and(|value| super::value::fingerprint(value) == kept.print) {
            let _ = self.scope.remove::<Dynamic>(name);
        }
    }

    fn assign(&mut self, name: &str, value: Dynamic) {
        self.scope.push_dynamic(name.to_string(), value);
        self.drop_shadowed(0..0);
    }

    /// The value of one variable.
    pub fn variable(&self, name: &str) -> Option<Value> {
        self.scope.get(name).and_then(|value| self.bridge.to_value(None, value).ok())
    }

    /// How many statements a text has, if it is a script.
    pub fn statements(&self, text: &str) -> Option<usize> {
        self.engine.compile_with_scope(&self.scope, text).ok().map(|ast| ast.statements().len())
    }

    /// Whether a text's last statement is a value, or a call that may give one.
    pub fn ends_in_value(&self, text: &str) -> bool {
        let ast = self.engine.compile_with_scope(&self.scope, text);
        ast.is_ok_and(|ast| matches!(ast.statements().last(), Some(Stmt::Expr(_) | Stmt::FnCall(..))))
    }

    /// The variables as a list shows them, oldest first; large ones are neither copied nor formatted whole.
    pub fn listing(&self) -> Vec<Variable> {
        let newest_first = self.scope.iter_raw().map(|(name, constant, value)| {
            let (kind, summary, bytes) = self.bridge.outline(value);
            Variable { name: name.to_string(), constant, kind, summary, bytes, devices: devices(value) }
        });
        let mut variables: Vec<Variable> = newest_first.collect();
        variables.reverse();
        variables
    }

    /// The variables, newest last.
    pub fn variables(&self) -> Vec<(String, Value)> {
        let read = |value: &Dynamic| self.bridge.to_value(None, value).unwrap_or(Value::Unit);
        let newest_first = self.scope.iter_raw().map(|(name, _, value)| (name.to_string(), read(value)));
        let mut variables: Vec<(String, Value)> = newest_first.collect();
        variables.reverse();
        variables
    }

    pub(super) fn explain(&self, name: &str, error: &EvalAltResult) -> Box<Diagnostic> {
        Box::new(Diagnostic::of(error, name, self))
    }
}

fn put_back(captured: &[(Dynamic, Dynamic)]) {
    for (shared, value) in captured {
        if let Some(mut place) = shared.clone().write_lock::<Dynamic>() {
            *place = value.clone();
        }
    }
}

/// Names of the functions that a text defines; closures have names of their own.
fn functions(ast: &AST) -> impl Iterator<Item = String> {
    ast.iter_functions().map(|function| function.name.to_string())
}

pub(super) fn build(cx: &Rc<Cx>, bridge: &Bridge, modules: &Resolver) -> (Engine, bind::Namespaces) {
    let mut engine = Engine::new();
    // The optimiser folds constants with Rhai's own division before ours is asked.
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_call_levels(256);
    engine.set_max_expr_depths(256, 128);
    modules.register(&mut engine);
    arithmetic::register(&mut engine);
    lower::register(&mut engine);
    declare::register(&mut engine, bridge);
    answers::register(&mut engine);
    order::register(&mut engine);
    bounds::register(&mut engine, cx);
    let namespaces = bind::register(&mut engine, cx, bridge);
    let stop = cx.stop_flag();
    let waker = cx.stop_flag();
    // Rhai's own sleep can't be interrupted.
    let wait = move |seconds: f64| {
        let Ok(long) = std::time::Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)) else {
            return arithmetic::refused(&format!("sleep: {seconds} is no number of seconds"), "sleep(0.5)");
        };
        let end = std::time::Instant::now() + long;
        while std::time::Instant::now() < end && !waker.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // It may be the last that a text does.
        match waker.load(std::sync::atomic::Ordering::Relaxed) {
            true => Err(EvalAltResult::ErrorTerminated(Dynamic::UNIT, rhai::Position::NONE).into()),
            false => Ok(()),
        }
    };
    let watch = cx.clone();
    engine.register_fn("timestamp", move || {
        if watch.is_resumed() {
            watch.warn("timestamp() knows of this process alone, not of others that this run goes on with");
        }
        std::time::Instant::now()
    });
    let wait_whole = wait.clone();
    engine.register_fn("sleep", move |seconds: i64| wait_whole(seconds as f64));
    engine.register_fn("sleep", wait);
    engine.on_progress(move |_| match stop.load(std::sync::atomic::Ordering::Relaxed) {
        true => Some(Dynamic::UNIT),
        false => bounds::check().err().map(|error| Dynamic::from(ErrorHandle(error))),
    });
    let printer = cx.clone();
    engine.on_print(move |text| printer.print(&written(text)));
    let printer = cx.clone();
    engine.on_debug(move |text, _, _| printer.print(text));
    (engine, namespaces)
}
