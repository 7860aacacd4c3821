//! One interpreter with its variables: what a batch run uses once and the prompt uses line by line.

use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

use rhai::{AST, Dynamic, Engine, EvalAltResult, OptimizationLevel, Scope, Stmt};

use super::diagnostic::Diagnostic;
use super::glance::BuiltIn;
use super::modules::{Resolver, Sources};
use super::value::{Bridge, Pending};
use super::{arithmetic, bind};
use crate::core::{Cx, Value};

pub struct Session {
    cx: Rc<Cx>,
    pub(super) engine: Rc<Engine>,
    bridge: Bridge,
    pub(super) sources: Sources,
    pub(super) scope: Scope<'static>,
    /// Functions and imports of the lines before; no other statements.
    pub(super) kept: AST,
    pub(super) built_ins: OnceCell<Vec<BuiltIn>>,
}

impl Session {
    pub fn new(cx: Rc<Cx>) -> Self {
        let sources = Sources::default();
        let pending = Pending::default();
        let engine = Rc::new_cyclic(|weak| {
            let bridge = Bridge { engine: weak.clone(), pending: pending.clone() };
            build(&cx, &bridge, &sources)
        });
        let bridge = Bridge { engine: Rc::downgrade(&engine), pending };
        Self { cx, engine, bridge, sources, scope: Scope::new(), kept: AST::empty(), built_ins: OnceCell::new() }
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

    /// Runs a script and gives the value of its last expression.
    pub fn run(&mut self, path: &Path, text: &str) -> Result<Value, Box<Diagnostic>> {
        self.evaluate(&path.display().to_string(), text)
    }

    /// Runs a piece of script; its variables, functions and imports stay.
    pub fn evaluate(&mut self, name: &str, text: &str) -> Result<Value, Box<Diagnostic>> {
        let ast = self.compile(name, text)?;
        let mut program = self.kept.merge(&ast);
        program.set_source(name);
        let outcome = self.engine.eval_ast_with_scope::<Dynamic>(&mut self.scope, &program);
        self.drop_shadowed();
        let answer = outcome
            .map_err(|error| self.explain(name, &error))
            .and_then(|answer| self.bridge.to_value(None, &answer).or(Ok(Value::Unit)));
        if answer.is_ok() {
            let mut imports = program.clone();
            imports.retain_functions(|_, _, _, _| true);
            let statements = program.statements().iter().filter(|s| matches!(s, Stmt::Import(..))).cloned();
            self.kept = AST::new(statements.collect::<Vec<_>>(), shared_functions(&imports));
        }
        answer
    }

    /// Runs a statement of the prompt. One that fails or is stopped leaves random streams as they were, so that it gives the
    /// same numbers when it is made again; one that is stopped also keeps what it had done, as the variable `partial` and
    /// to go on from.
    pub fn statement(&mut self, name: &str, text: &str) -> Result<Value, Box<Diagnostic>> {
        let cx = self.cx.clone();
        let draws = cx.draws();
        let outcome = self.evaluate(name, text);
        match (&outcome, cx.journal()) {
            (Ok(_), Some(journal)) => journal.forget(),
            (Err(_), Some(journal)) => journal.rewind(),
            (_, None) => {}
        }
        let partial = cx.take_partial();
        if outcome.is_err() {
            cx.restore_draws(draws);
            if let Some(partial) = partial {
                self.set("partial", partial);
            }
        }
        outcome
    }

    /// Keeps the newest variable of each name, so that ten `let x = big()` hold one.
    fn drop_shadowed(&mut self) {
        let mut seen = std::collections::HashSet::new();
        let mut newest: Vec<(String, bool, Dynamic)> = Vec::new();
        // The scope is read from the newest variable to the oldest.
        for (name, constant, value) in self.scope.iter_raw() {
            if seen.insert(name.to_string()) {
                newest.push((name.to_string(), constant, value.clone()));
            }
        }
        let mut scope = Scope::new();
        for (name, constant, value) in newest.into_iter().rev() {
            if constant {
                scope.push_constant_dynamic(name, value);
            } else {
                scope.push_dynamic(name, value);
            }
        }
        self.scope = scope;
    }

    /// Sets a variable, such as the prompt's `ans`.
    pub fn set(&mut self, name: &str, value: Value) {
        self.scope.set_value(name.to_string(), super::value::to_dynamic(value));
    }

    /// The variables, newest last.
    pub fn variables(&self) -> Vec<(String, Value)> {
        let read = |value: &Dynamic| self.bridge.to_value(None, value).unwrap_or(Value::Unit);
        let newest_first = self.scope.iter_raw().map(|(name, _, value)| (name.to_string(), read(value)));
        let mut variables: Vec<(String, Value)> = newest_first.collect();
        variables.reverse();
        variables
    }

    fn explain(&self, name: &str, error: &EvalAltResult) -> Box<Diagnostic> {
        Box::new(Diagnostic::of(error, name, self))
    }
}

fn shared_functions(ast: &AST) -> rhai::Shared<rhai::Module> {
    ast.shared_lib().clone()
}

fn build(cx: &Rc<Cx>, bridge: &Bridge, sources: &Sources) -> Engine {
    let mut engine = Engine::new();
    // The optimiser folds constants with Rhai's own division before ours is asked.
    engine.set_optimization_level(OptimizationLevel::None);
    engine.set_max_call_levels(256);
    engine.set_max_expr_depths(256, 128);
    engine.set_module_resolver(Resolver::new(sources.clone()));
    arithmetic::register(&mut engine);
    bind::register(&mut engine, cx, bridge);
    let stop = cx.stop_flag();
    let waker = cx.stop_flag();
    // Rhai's own sleep can't be interrupted.
    let wait = move |seconds: f64| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        while std::time::Instant::now() < end && !waker.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let wait_whole = wait.clone();
    engine.register_fn("sleep", move |seconds: i64| wait_whole(seconds as f64));
    engine.register_fn("sleep", wait);
    engine.on_progress(move |_| stop.load(std::sync::atomic::Ordering::Relaxed).then_some(Dynamic::UNIT));
    let printer = cx.clone();
    engine.on_print(move |text| printer.print(text));
    let printer = cx.clone();
    engine.on_debug(move |text, _, _| printer.print(text));
    engine
}
