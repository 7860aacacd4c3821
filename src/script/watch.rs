//! A statement that is run once more and watched: the calls that lead to its error, with their variables, or how long its calls take.
//! An interpreter of its own does this, so that ordinary runs are not watched and lose no time. What it does to variables and random
//! numbers is undone; files that it writes stay written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use rhai::debugger::{CallStackFrame, DebuggerCommand, DebuggerEvent};
use rhai::{ASTNode, Array, Blob, Dynamic, Engine, Expr, ImmutableString, Map, Position, Scope, Stmt};

use super::diagnostic::Diagnostic;
use super::kinds::kind;
use super::own_names::{MARK, written};
use super::session::{Session, build};
use super::timer::{self, CallTime};
use super::value::{Bridge, is_small};
use crate::core::{Value, wait_for};

/// Larger arrays, maps and strings are not copied at every step: their kind is what stays known.
const LARGEST: usize = 1000;

/// More calls inside each other are not kept.
const DEEPEST: usize = 300;

/// One of the calls that lead to an error, or the text itself.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Empty for the text itself.
    pub function: String,
    pub source: String,
    /// Counted from 1.
    pub line: usize,
    pub variables: Vec<FrameVariable>,
}

#[derive(Debug, Clone)]
pub struct FrameVariable {
    pub name: String,
    pub kind: &'static str,
    /// One line.
    pub summary: String,
    /// None of what was too large to be kept.
    pub value: Option<Value>,
}

/// What was seen of a call when its last statement began.
struct Seen {
    function: String,
    source: Option<String>,
    position: Position,
    variables: Vec<(String, SeenValue)>,
}

enum SeenValue {
    Whole(Dynamic),
    TooLarge(&'static str, String),
}

fn seen(value: &Dynamic) -> SeenValue {
    match is_small(value, LARGEST) {
        true => SeenValue::Whole(value.flatten_clone()),
        false => SeenValue::TooLarge(kind(value), size(value)),
    }
}

fn size(value: &Dynamic) -> String {
    let elements = |n: usize| format!("{n} elements, too many to be kept while it is watched");
    value
        .read_lock::<Array>()
        .map(|array| elements(array.len()))
        .or_else(|| value.read_lock::<Map>().map(|map| elements(map.len())))
        .or_else(|| value.read_lock::<Blob>().map(|blob| elements(blob.len())))
        .unwrap_or_else(|| "too large to be kept while it is watched".into())
}

/// Whether a call is of the entrance to a module, which nobody wrote.
fn is_entrance(name: &str) -> bool {
    name.matches(MARK).count() > 1
}

fn function_name(name: &str) -> String {
    if name.starts_with("anon$") { "a closure".into() } else { written(name) }
}

impl Session {
    /// An interpreter like this session's that tells of every statement that it begins and every function that it leaves.
    fn watching(
        &self,
        watch: impl Fn(&Scope, &DebuggerEvent, ASTNode, Option<&str>, Position, &[CallStackFrame]) + 'static,
    ) -> Rc<Engine> {
        let watch = Rc::new(watch);
        Rc::new_cyclic(|weak| {
            let bridge = Bridge { engine: weak.clone(), pending: self.bridge.pending.clone() };
            // Its primitives stay its own: modules that are imported outlive it.
            let (mut engine, _) = build(self.cx(), &bridge, &self.modules);
            // Rhai calls its interface for debuggers volatile, not wrong.
            #[allow(deprecated)]
            engine.register_debugger(
                |_, debugger| debugger,
                move |context, event, node, source, position| {
                    let begins = match node {
                        ASTNode::Stmt(_) => true,
                        // The last expression of a block is no statement.
                        ASTNode::Expr(Expr::FnCall(..) | Expr::MethodCall(..) | Expr::Dot(..) | Expr::Index(..)) => {
                            true
                        }
                        _ => false,
                    };
                    if begins {
                        let calls = context.debugger().map(|d| d.call_stack());
                        watch(context.scope(), &event, node, source, position, calls.unwrap_or_default());
                    }
                    Ok(DebuggerCommand::StepInto)
                },
            );
            engine
        })
    }

    /// Runs a piece of script once more, and gives its error with the calls that lead to it, the text itself first; none if there was no
    /// error.
    #[allow(clippy::type_complexity)]
    pub fn frames(&mut self, name: &str, text: &str) -> Result<Option<(Box<Diagnostic>, Vec<Frame>)>, Box<Diagnostic>> {
        let ast = self.compile_to_run(name, text)?;
        let program = self.program(name, &ast);
        let outer = self.scope.len();
        let calls: Rc<RefCell<Vec<Seen>>> = Rc::default();
        let noted = calls.clone();
        let engine = self.watching(move |scope, event, node, source, position, stack| {
            let mut calls = noted.borrow_mut();
            let depth = stack.len();
            match event {
                DebuggerEvent::FunctionExitWithValue(_) => calls.truncate(depth),
                DebuggerEvent::FunctionExitWithError(_) => {}
                _ if depth >= DEEPEST => {}
                _ => {
                    calls.truncate(depth + 1);
                    // Of calls through closures that primitives call, the outer ones are there already.
                    while calls.len() <= depth {
                        let function = calls.len().checked_sub(1).and_then(|at| stack.get(at));
                        let function = function.map_or(String::new(), |frame| frame.fn_name.to_string());
                        calls.push(Seen { function, source: None, position: Position::NONE, variables: vec![] });
                    }
                    let Some(call) = calls.last_mut() else { return };
                    let begins = matches!(node, ASTNode::Stmt(Stmt::Noop(_)));
                    call.source = source.map(String::from);
                    call.position = position;
                    let skipped = if depth == 0 { outer } else { 0 };
                    if !begins || depth > 0 {
                        let all: Vec<_> = scope.iter_raw().collect();
                        let inner = all.len().saturating_sub(skipped);
                        // The newest variable comes first.
                        call.variables =
                            all[..inner].iter().map(|(name, _, value)| (name.to_string(), seen(value))).collect();
                    }
                }
            }
        });
        let (outcome, scope) = self.aside(&engine, &program);
        let Err(error) = outcome else { return Ok(None) };
        let diagnostic = self.explain(name, &error);
        let mut calls = std::mem::take(&mut *calls.borrow_mut());
        if let Some(text) = calls.first_mut() {
            // As they are when it has failed.
            let own = scope.iter_raw().map(|(name, _, value)| (name.to_string(), SeenValue::Whole(value.clone())));
            text.variables.extend(own);
        }
        let written = calls.into_iter().filter(|call| !is_entrance(&call.function));
        Ok(Some((diagnostic, written.map(|call| self.frame(name, call)).collect())))
    }

    fn frame(&self, name: &str, call: Seen) -> Frame {
        let source = call.source.filter(|source| !source.is_empty()).unwrap_or_else(|| name.into());
        // A function of the session was typed elsewhere than what called it.
        let home = self.kept.homes.get(&call.function).filter(|_| source == name);
        let source = home.cloned().unwrap_or(source);
        let (text, at) = self.place(&source, call.position);
        let mut variables: Vec<FrameVariable> = Vec::new();
        for (name, value) in call.variables {
            if variables.iter().any(|known| known.name == name) {
                continue;
            }
            variables.push(match value {
                SeenValue::Whole(value) => {
                    let (kind, summary, _) = self.bridge.outline(&value);
                    FrameVariable { name, kind, summary, value: self.bridge.to_value(None, &value).ok() }
                }
                SeenValue::TooLarge(kind, summary) => FrameVariable { name, kind, summary, value: None },
            });
        }
        variables.reverse();
        let line = text[..at.min(text.len())].matches('\n').count() + 1;
        Frame { function: function_name(&call.function), source, line, variables }
    }

    /// Runs a piece of script once more, and gives its value, how long it took, and the calls that it made.
    #[allow(clippy::type_complexity)]
    pub fn profile(&mut self, name: &str, text: &str) -> Result<(Duration, Vec<CallTime>), Box<Diagnostic>> {
        let ast = self.compile_to_run(name, text)?;
        let program = self.program(name, &ast);
        let engine = self.watching(|_, event, _, _, _, stack| {
            let left =
                matches!(event, DebuggerEvent::FunctionExitWithValue(_) | DebuggerEvent::FunctionExitWithError(_));
            timer::depth(stack.len() - usize::from(left && !stack.is_empty()), |at| {
                let name: Option<&ImmutableString> = stack.get(at).map(|frame| &frame.fn_name);
                name.filter(|name| !is_entrance(name)).map(|name| function_name(name))
            });
        });
        let finish = || wait_for(self.cx().device()).map_err(|error| Box::new(Diagnostic::plain(&error)));
        finish()?;
        let ((outcome, _), took, calls) = timer::profiled(|| {
            let outcome = self.aside(&engine, &program);
            let _ = wait_for(self.cx().device());
            outcome
        });
        match outcome {
            Ok(_) => Ok((took, calls)),
            Err(error) => Err(self.explain(name, &error)),
        }
    }
}

/// Frames as a script reads them: `frames[0].variables.x`, the innermost first.
pub fn frames_value(frames: &[Frame]) -> Value {
    let text = |text: &str| Value::Str(text.into());
    let map = |entries: Vec<(String, Value)>| Value::Map(entries.into_iter().collect::<BTreeMap<_, _>>());
    let frame = |frame: &Frame| {
        let kept = frame.variables.iter().filter_map(|v| Some((v.name.clone(), v.value.clone()?)));
        map(vec![
            ("function".into(), text(&frame.function)),
            ("source".into(), text(&frame.source)),
            ("line".into(), Value::Int(frame.line as i64)),
            ("variables".into(), map(kept.collect())),
        ])
    };
    Value::Array(frames.iter().rev().map(frame).collect())
}
