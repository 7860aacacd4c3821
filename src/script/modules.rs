//! `import "std/overfitting"` from the binary, and a script's own imports relative to the script.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rhai::{AST, Engine, EvalAltResult, Module, ModuleResolver, Position, Shared};

use super::bind::Namespaces;
use super::lower::{LoweredTexts, lowered};
use super::own_names::OwnNames;
use super::remarks::slashes;
use crate::core::{Cx, Error, at_home, suggestion};
use crate::primitives::declared::declared;
use crate::primitives::stdlib::{stdlib_names, stdlib_text};

/// Texts of everything compiled so far, by source name, for error messages.
pub type Sources = Rc<RefCell<HashMap<String, String>>>;

/// The name that stands in front of a module's functions in messages: `overfitting` for `std/overfitting`.
pub fn module_name(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".rhai").unwrap_or(file)
}

/// A cheap handle.
#[derive(Clone)]
pub struct Resolver {
    pub sources: Sources,
    pub lowered: LoweredTexts,
    /// Modules compiled so far, so that two imports of one module share it.
    compiled: Rc<RefCell<HashMap<String, Shared<Module>>>>,
    /// Modules being compiled, to refuse a circle.
    under_way: Rc<RefCell<Vec<String>>>,
    /// The key of what an importer's path led to.
    found: Rc<RefCell<HashMap<(String, String), String>>>,
    /// The primitives.
    namespaces: Rc<RefCell<Namespaces>>,
    own_names: OwnNames,
    cx: Rc<Cx>,
}

impl Resolver {
    pub fn new(sources: Sources, cx: Rc<Cx>) -> Self {
        Self {
            sources,
            lowered: LoweredTexts::default(),
            compiled: Rc::default(),
            under_way: Rc::default(),
            found: Rc::default(),
            namespaces: Rc::default(),
            own_names: OwnNames::default(),
            cx,
        }
    }

    /// Before the first import.
    pub fn register(&self, engine: &mut Engine) {
        self.own_names.register(engine);
        engine.set_module_resolver(self.clone());
    }

    pub fn add_namespaces(&self, namespaces: Namespaces) {
        self.namespaces.borrow_mut().extend(namespaces);
    }

    /// The file, or module of the standard library, that an importer's path led to.
    pub fn found(&self, importer: &str, path: &str) -> Option<String> {
        self.found.borrow().get(&(importer.to_string(), path.to_string())).cloned()
    }

    /// Forgets the modules compiled so far, so that the next import reads them again; gives them back.
    pub fn forget(&self) -> HashMap<String, Shared<Module>> {
        self.compiled.take()
    }

    pub fn remember(&self, compiled: HashMap<String, Shared<Module>>) {
        self.compiled.replace(compiled);
    }

    /// A module's name, text and key: modules of one key are one.
    fn load(&self, importer: Option<&str>, path: &str) -> Result<(String, String, String), Error> {
        if let Some(library) = self.cx.library() {
            let name = match path.starts_with("std/") {
                true => path.to_string(),
                false => file_of(importer, path)?.display().to_string(),
            };
            if let Some((key, text)) = library.find(&name) {
                return Ok((name, text, key));
            }
            if !path.starts_with("std/") {
                return Err(Error::argument(format!("import: the run folder keeps no text of {path:?}")).hint(
                    "the run that it tells of ended before it imported that, or went another way: run its script itself",
                ));
            }
        }
        if path.starts_with("std/") {
            let names = stdlib_names();
            return match stdlib_text(path) {
                Some(text) => Ok((path.to_string(), text.to_string(), path.to_string())),
                None => Err(Error::argument(format!("import: there is no {path:?}"))
                    .hint(suggestion(path, names.iter().map(String::as_str)))),
            };
        }
        let file = file_of(importer, path)?;
        if file.exists() && !file.is_file() {
            return Err(Error::file(&file, "not a script"));
        }
        if file.exists() {
            self.cx.check_read(&file)?;
        }
        let text = std::fs::read_to_string(&file).map_err(|error| {
            Error::file(&file, error)
                .hint("imports are relative to the script that imports; \"std/...\" comes with viva")
        })?;
        let key = file.canonicalize().unwrap_or_else(|_| file.clone());
        Ok((file.display().to_string(), text, key.display().to_string()))
    }
}

/// The file that a script names in an import.
pub fn file_of(importer: Option<&str>, path: &str) -> Result<PathBuf, Error> {
    let folder = importer.map(Path::new).and_then(Path::parent).unwrap_or(Path::new(""));
    let mut file = folder.join(at_home(path)?);
    if file.extension().is_none() {
        file.set_extension("rhai");
    }
    Ok(file)
}

impl ModuleResolver for Resolver {
    fn resolve(
        &self,
        engine: &Engine,
        importer: Option<&str>,
        path: &str,
        position: Position,
    ) -> Result<Shared<Module>, Box<EvalAltResult>> {
        let raise = |error: Error| -> Box<EvalAltResult> {
            EvalAltResult::ErrorRuntime(rhai::Dynamic::from(super::value::ErrorHandle(error)), position).into()
        };
        if let Some(module) = self.compiled.borrow().get(path) {
            return Ok(module.clone());
        }
        let (name, text, key) = self.load(importer, path).map_err(raise)?;
        let asked = (importer.unwrap_or_default().to_string(), path.to_string());
        self.found.borrow_mut().insert(asked, key.clone());
        if let Some(module) = self.compiled.borrow().get(&key) {
            // Under another name, perhaps; what counts is the text that was compiled.
            let text = self.sources.borrow().get(&key).cloned().unwrap_or(text);
            self.cx.keep_module(&name, &key, &text).map_err(raise)?;
            return Ok(module.clone());
        }
        if self.under_way.borrow().contains(&key) {
            return Err(raise(Error::argument(format!("import: {path:?} imports itself"))));
        }
        self.sources.borrow_mut().insert(name.clone(), text.clone());
        self.sources.borrow_mut().insert(key.clone(), text.clone());
        self.cx.keep_module(&name, &key, &text).map_err(raise)?;
        self.cx.add_script(&text);
        let functions = declared(module_name(&name), &text).map_err(raise)?;
        self.under_way.borrow_mut().push(key.clone());
        let lowered = lowered(engine, &text, &AST::empty(), &functions);
        let plain = lowered.as_ref().map_or(&text, |lowered| &lowered.text);
        let built = self.own_names.module(engine, &name, plain, &functions);
        for remark in slashes(&text, std::iter::empty()) {
            let line = text[..remark.at].matches('\n').count() + 1;
            self.cx.warn(format!("{name}, line {line}: {}", remark.message));
        }
        if let Some(lowered) = lowered {
            self.lowered.borrow_mut().insert(name.clone(), lowered.clone());
            self.lowered.borrow_mut().insert(key.clone(), lowered);
        }
        self.under_way.borrow_mut().pop();
        match built {
            Ok(mut module) => {
                // `import "std/tolerance" as tolerance` must not hide tolerance::measure.
                let namespace = name.strip_prefix("std/").and_then(|stem| self.namespaces.borrow().get(stem).cloned());
                if let Some(primitives) = namespace {
                    module.combine((*primitives).clone());
                }
                let module: Shared<Module> = module.into();
                self.compiled.borrow_mut().insert(key, module.clone());
                Ok(module)
            }
            Err(error) => Err(EvalAltResult::ErrorInModule(name, error, position).into()),
        }
    }
}
