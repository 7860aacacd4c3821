//! A module's functions under names of their own.
//!
//! Rhai looks a function up among those of all scripts whose calls are under way, and keeps what it found for the caller: a
//! module's `mean(values)` would take the place of `tensor.mean(axis)` and of its importer's `mean(x)`. So a module's functions
//! are renamed while it is read (`meanˑ3`), and the module offers plain `mean` from outside alone. Names that are only known
//! while a module runs, such as `Fn(name)` of a variable, are not found.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use rhai::{
    AST, ASTNode, Dynamic, Engine, EvalAltResult, Expr, FnAccess, FuncRegistration, Module, NativeCallContext,
    ParseError, Position, RhaiFunc, Scope, Shared, Stmt, Token,
};

use crate::primitives::declared::Declared;

/// Part of a name for Rhai, and of no name or text that a person types.
pub(super) const MARK: char = 'ˑ';

/// What is renamed while one text is read.
#[derive(Default)]
struct Renaming {
    names: HashSet<String>,
    calls: HashSet<Position>,
    module: usize,
    /// The two tokens before.
    before: [Option<Token>; 2],
    /// Where functions begin, in order, with their names and numbers of parameters, and those that say `this`.
    functions: Vec<(Position, String, usize)>,
    heading: bool,
    methods: HashSet<(String, usize)>,
}

/// Renames while a module is read; a cheap handle.
#[derive(Clone, Default)]
pub struct OwnNames {
    reading: Rc<RefCell<Option<Renaming>>>,
    modules: Rc<RefCell<usize>>,
}

impl OwnNames {
    pub fn register(&self, engine: &mut Engine) {
        let reading = self.reading.clone();
        // Rhai calls its hooks for tokens volatile, not wrong.
        #[allow(deprecated)]
        engine.on_parse_token(move |token, position, _| match &mut *reading.borrow_mut() {
            Some(reading) => reading.renamed(token, position),
            None => token,
        });
    }

    /// Compiles and runs a module's text. Functions that declare options can be called without any.
    pub fn module(
        &self,
        engine: &Engine,
        name: &str,
        text: &str,
        declared: &[Declared],
    ) -> Result<Module, Box<EvalAltResult>> {
        let (plain, read) = self.compile(engine, text, Renaming::default())?;
        let own: HashSet<(String, usize)> = plain
            .iter_fn_def()
            .filter(|f| f.this_type.is_none() && !f.name.starts_with("anon$"))
            .map(|f| (f.name.to_string(), f.params.len()))
            .collect();
        let number = *self.modules.borrow();
        *self.modules.borrow_mut() += 1;
        let names = own.iter().map(|(name, _)| name.clone()).collect();
        let calls = calls(&plain, &own, &read);
        let reading = Renaming { names, calls, module: number, ..Renaming::default() };
        let (mut ast, _) = self.compile(engine, text, reading)?;
        ast.set_source(name);
        let inside: Shared<Module> = Module::eval_ast_as_new(Scope::new(), &ast, engine)?.into();
        let mut outside = (*inside).clone();
        let public = plain.iter_fn_def().filter(|f| f.access == FnAccess::Public);
        for f in public.filter(|f| own.contains(&(f.name.to_string(), f.params.len()))) {
            offer(engine, &mut outside, &inside, number, &f.name, (f.params.len(), ""))?;
        }
        for f in declared.iter().filter(|f| f.public && !f.declaration.function.options.is_empty()) {
            let without = f.declaration.positional.len();
            if !own.contains(&(f.name.clone(), without)) && own.contains(&(f.name.clone(), f.arity)) {
                offer(engine, &mut outside, &inside, number, &f.name, (without, "#{}"))?;
            }
        }
        Ok(outside)
    }

    fn compile(&self, engine: &Engine, text: &str, reading: Renaming) -> Result<(AST, Renaming), ParseError> {
        self.reading.replace(Some(reading));
        let ast = engine.compile(text);
        let read = self.reading.take().unwrap_or_default();
        Ok((ast?, read))
    }
}

impl Renaming {
    fn renamed(&mut self, token: Token, position: Position) -> Token {
        let headed = matches!(self.before[1], Some(Token::Fn));
        let named = matches!(&self.before[0], Some(Token::Identifier(name) | Token::Reserved(name)) if matches!(&***name, "Fn" | "is_def_fn"))
            && matches!(self.before[1], Some(Token::LeftParen));
        match &token {
            Token::Identifier(name) if headed => {
                self.functions.push((position, name.to_string(), 0));
                self.heading = true;
            }
            Token::RightParen | Token::Unit => self.heading = false,
            Token::Identifier(word) | Token::Reserved(word) => {
                if let Some((_, name, parameters)) = self.functions.last_mut() {
                    *parameters += usize::from(self.heading);
                    if **word == "this" {
                        self.methods.insert((name.clone(), *parameters));
                    }
                }
            }
            _ => {}
        }
        let token = match token {
            Token::Identifier(name) if headed && self.names.contains(&**name) || self.calls.contains(&position) => {
                Token::Identifier(Box::new(own(&name, self.module).into()))
            }
            Token::StringConstant(name) if named && self.names.contains(&**name) => {
                Token::StringConstant(Box::new(own(&name, self.module).into()))
            }
            token => token,
        };
        self.before = [self.before[1].take(), Some(token.clone())];
        token
    }
}

fn own(name: &str, module: usize) -> String {
    format!("{name}{MARK}{module}")
}

/// A text of Rhai's with the names as their authors wrote them.
pub fn written(text: &str) -> String {
    if !text.contains(MARK) {
        return text.into();
    }
    let mut parts = text.split(MARK);
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| match part.trim_start_matches(|c: char| c.is_ascii_digit()) {
        same if same.len() == part.len() => format!("{text}{MARK}{same}"),
        rest => text + rest,
    })
}

/// Where a module names its own functions: calls with as many arguments as one takes, and functions as values.
fn calls(ast: &AST, own: &HashSet<(String, usize)>, read: &Renaming) -> HashSet<Position> {
    let mut found = HashSet::new();
    // Functions are one after the other; a closure may capture a variable of the one that it stands in.
    let within = |at: Position| read.functions.iter().take_while(|(begin, ..)| *begin <= at).count();
    let mut bound = HashSet::new();
    for (i, (_, name, parameters)) in read.functions.iter().enumerate() {
        let of = ast.iter_fn_def().find(|f| f.name == *name && f.params.len() == *parameters);
        bound.extend(of.into_iter().flat_map(|f| f.params.iter().map(move |name| (i + 1, name.to_string()))));
    }
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Var(parts, _, at))) => drop(bound.insert((within(*at), parts.0.name.to_string()))),
            Some(ASTNode::Stmt(Stmt::For(parts, at))) => drop(bound.insert((within(*at), parts.0.name.to_string()))),
            _ => {}
        }
        true
    });
    let takes = |name: &str, arguments: usize| own.contains(&(name.to_string(), arguments));
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::FnCall(call, at)) | ASTNode::Expr(Expr::FnCall(call, at)))
                if call.namespace.is_empty() && takes(&call.name, call.args.len()) =>
            {
                found.insert(*at);
            }
            Some(ASTNode::Expr(Expr::MethodCall(call, at)))
                if read.methods.contains(&(call.name.to_string(), call.args.len())) =>
            {
                found.insert(*at);
            }
            Some(ASTNode::Expr(Expr::Variable(variable, None, at))) => {
                let (index, name, namespace, _) = &**variable;
                let named =
                    own.iter().any(|(own, _)| *own == **name) && !bound.contains(&(within(*at), name.to_string()));
                if index.is_none() && namespace.is_empty() && named {
                    found.insert(*at);
                }
            }
            _ => {}
        }
        true
    });
    found
}

/// Offers a function of `inside` under its plain name, with so many arguments and what is added to them.
fn offer(
    engine: &Engine,
    outside: &mut Module,
    inside: &Shared<Module>,
    number: usize,
    name: &str,
    (arguments, added): (usize, &str),
) -> Result<(), ParseError> {
    // Rhai gives a module's function the imports and constants of its module where it is called through an import.
    let (import, entry) = (own("module", number), own(&own(name, number), number));
    let names = (0..arguments).map(|i| format!("a{i}")).collect::<Vec<_>>().join(", ");
    let comma = if arguments > 0 && !added.is_empty() { ", " } else { "" };
    let text = format!("fn {entry}({names}) {{ {import}::{}({names}{comma}{added}) }}", own(name, number));
    let entrance = engine.compile(text)?.shared_lib().clone();
    let inside = inside.clone();
    let called = move |context: Option<NativeCallContext>, values: &mut [&mut Dynamic]| {
        let Some(context) = context else { return Ok(Dynamic::UNIT) };
        let at = context.call_position();
        let mut global = context.global_runtime_state().clone();
        global.lib.push(entrance.clone());
        global.push_import(import.clone(), inside.clone());
        let here = NativeCallContext::from((context.engine(), entry.as_str(), None, &global, at));
        here.call_fn_raw(&entry, false, false, values).map_err(|error| match *error {
            EvalAltResult::ErrorInFunctionCall(_, _, error, _) => match *error {
                EvalAltResult::ErrorInFunctionCall(name, source, error, _) => {
                    EvalAltResult::ErrorInFunctionCall(name, source, error, at).into()
                }
                other => other.into(),
            },
            other => other.into(),
        })
    };
    let function = RhaiFunc::Pure { func: Shared::new(called), has_context: true, is_pure: true, is_volatile: true };
    let kinds = vec![TypeId::of::<Dynamic>(); arguments];
    outside.set_fn_raw_with_options(FuncRegistration::new(name).in_internal_namespace(), kinds, function);
    Ok(())
}
