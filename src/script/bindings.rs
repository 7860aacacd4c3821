//! What the names of a text stand for: variables within their blocks, functions, modules; where each is declared and used.

use std::collections::HashMap;

use super::code::Code;
use super::scan::TokenKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    Variable,
    Function,
    /// The name of an imported module.
    Module,
}

/// One meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub name: String,
    pub kind: BindingKind,
    /// Tokens that give it the name: of a function, one for each number of parameters.
    pub declared: Vec<usize>,
    /// Tokens that use it.
    pub used: Vec<usize>,
}

/// The tokens of a text and what they stand for.
pub struct Bindings<'t> {
    pub code: Code<'t>,
    pub all: Vec<Binding>,
    /// Tokens that are variables and that nothing in the text declares where they stand.
    pub undeclared: Vec<usize>,
    /// Places among these by name, the newest of each.
    functions: HashMap<&'t str, usize>,
    modules: HashMap<&'t str, usize>,
}

struct Scope<'t> {
    /// The token where it ends.
    end: usize,
    /// Whether outer variables are not seen.
    closed: bool,
    names: Vec<(&'t str, usize)>,
}

impl<'t> Bindings<'t> {
    pub fn of(text: &'t str) -> Self {
        let (functions, modules) = (HashMap::new(), HashMap::new());
        let mut bindings = Self { code: Code::new(text), all: Vec::new(), undeclared: Vec::new(), functions, modules };
        bindings.add_functions();
        bindings.walk();
        bindings
    }

    fn add(&mut self, kind: BindingKind, token: usize) -> usize {
        let name = self.code.word(token).unwrap_or_default().to_string();
        self.all.push(Binding { name, kind, declared: vec![token], used: vec![] });
        self.all.len() - 1
    }

    fn add_functions(&mut self) {
        for function in self.code.functions().to_vec() {
            let name = self.code.word(function.name).unwrap_or_default();
            match self.functions.get(name) {
                Some(known) => self.all[*known].declared.push(function.name),
                None => {
                    let place = self.add(BindingKind::Function, function.name);
                    self.functions.insert(name, place);
                }
            }
        }
    }

    /// Where what begins at this token ends: a comma if it is one of several, a semicolon, or the bracket around it.
    fn end_of_part(&self, mut at: usize, comma: bool) -> usize {
        while at < self.code.tokens.len() {
            if self.code.is(at, ";") || comma && self.code.is(at, ",") || self.closes(at) {
                return at;
            }
            at = self.code.partner(at).filter(|close| *close > at).unwrap_or(at) + 1;
        }
        at
    }

    /// Whether a token stands in what a variable is declared as, or goes over.
    pub fn within_declaration(&self, declared: usize, token: usize) -> bool {
        match declared.checked_sub(1).is_some_and(|word| self.code.is(word, "let") || self.code.is(word, "const")) {
            true => token < self.end_of_part(declared + 1, false),
            false => !(declared..token).any(|at| self.code.is(at, "{") || self.code.is(at, ";")),
        }
    }

    fn closes(&self, at: usize) -> bool {
        self.code.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Close)
    }

    /// The block that begins at or behind this token, behind those that belong to an expression there.
    fn block(&self, mut at: usize) -> Option<usize> {
        while at < self.code.tokens.len() && !self.code.is(at, ";") && !self.closes(at) {
            if self.code.is(at, "if") || self.code.is(at, "switch") {
                at = self.behind_branches(at)?;
                continue;
            }
            if self.code.is(at, "{") {
                return Some(at);
            }
            at = self.code.partner(at).filter(|close| *close > at).unwrap_or(at) + 1;
        }
        None
    }

    /// What follows an `if` with all its branches, or a `switch`.
    fn behind_branches(&self, at: usize) -> Option<usize> {
        let next = self.code.partner(self.block(at + 1)?)? + 1;
        if !self.code.is(at, "if") || !self.code.is(next, "else") {
            return Some(next);
        }
        match self.code.is(next + 1, "if") {
            true => self.behind_branches(next + 1),
            false => self.code.partner(next + 1).map(|end| end + 1),
        }
    }

    fn words(&self, tokens: std::ops::Range<usize>) -> Vec<usize> {
        tokens.filter(|token| self.code.word(*token).is_some()).collect()
    }

    /// Variables that these tokens name.
    fn given(&mut self, tokens: Vec<usize>, declared: &mut [bool]) -> Vec<(&'t str, usize)> {
        let text = self.code.text;
        let named = |token: usize| {
            declared[token] = true;
            (self.code.tokens[token].text(text), self.add(BindingKind::Variable, token))
        };
        tokens.into_iter().map(named).collect()
    }

    fn walk(&mut self) {
        let tokens = self.code.tokens.len();
        let mut scopes = vec![Scope { end: usize::MAX, closed: false, names: vec![] }];
        // Names that hold from a token on, and scopes that begin at one.
        let mut names: Vec<(usize, usize)> = Vec::new();
        let mut begins: Vec<(usize, Scope<'t>)> = Vec::new();
        let mut declared = vec![false; tokens];
        let text = self.code.text;
        let word = move |code: &Code, token: usize| code.tokens[token].text(text);
        for at in 0..tokens {
            scopes.retain(|scope| scope.end > at);
            while let Some(place) = names.iter().position(|(from, _)| *from <= at) {
                let (_, binding) = names.remove(place);
                let token = self.all[binding].declared[0];
                if let Some(scope) = scopes.last_mut() {
                    scope.names.push((word(&self.code, token), binding));
                }
            }
            if self.code.is(at, "{") || self.code.is(at, "${") {
                let end = self.code.partner(at).unwrap_or(usize::MAX);
                scopes.push(Scope { end, closed: false, names: vec![] });
            }
            while let Some(place) = begins.iter().position(|(from, _)| *from == at) {
                scopes.push(begins.remove(place).1);
            }
            if self.code.is(at, "let") || self.code.is(at, "const") {
                if self.code.word(at + 1).is_some() {
                    let from = self.end_of_part(at + 2, false);
                    let given = self.given(vec![at + 1], &mut declared);
                    names.extend(given.into_iter().map(|(_, binding)| (from, binding)));
                }
            } else if self.code.is(at, "for") || self.code.is(at, "catch") {
                let close = self.code.partner(at + 1).filter(|_| self.code.is(at + 1, "(")).unwrap_or(at + 1);
                let named = self.words(at + 1..close + 1);
                if let Some(open) = self.block(close + 1) {
                    let end = self.code.partner(open).unwrap_or(usize::MAX);
                    let names = self.given(named, &mut declared);
                    begins.push((open, Scope { end, closed: false, names }));
                }
            } else if self.code.is(at, "fn") && self.code.is(at + 2, "(") {
                declared[at + 1] = true;
                if let Some(close) = self.code.partner(at + 2)
                    && self.code.is(close + 1, "{")
                {
                    let end = self.code.partner(close + 1).unwrap_or(usize::MAX);
                    let named = self.words(at + 3..close);
                    let names = self.given(named, &mut declared);
                    begins.push((close + 1, Scope { end, closed: true, names }));
                }
            } else if self.code.is(at, "as") && at >= 2 && self.code.is(at - 2, "import") && at + 1 < tokens {
                declared[at + 1] = true;
                let place = self.add(BindingKind::Module, at + 1);
                self.modules.insert(word(&self.code, at + 1), place);
            } else if let Some(body) = self.code.end_of_bars(at) {
                let end = match self.code.is(body, "{") {
                    true => self.code.partner(body).unwrap_or(usize::MAX),
                    false => self.end_of_part(body, true),
                };
                let named = self.words(at + 1..body - 1);
                let names = self.given(named, &mut declared);
                scopes.push(Scope { end, closed: false, names });
            }
            if !declared[at] {
                self.note_use(at, &scopes);
            }
        }
    }

    fn note_use(&mut self, at: usize, scopes: &[Scope]) {
        let Some(word) = self.code.word(at) else { return };
        let behind = at.checked_sub(1);
        let member = behind.is_some_and(|b| self.code.dot(b) || self.code.is(b, "::"));
        if member {
            return;
        }
        let of = |named: &HashMap<&str, usize>| named.get(word).copied();
        let found = if self.code.is(at + 1, "::") {
            of(&self.modules)
        } else if self.code.is(at + 1, "(") {
            of(&self.functions)
        } else if self.code.variable(at).is_some() {
            let outer = scopes.iter().rposition(|scope| scope.closed).unwrap_or(0);
            let visible = scopes[outer..].iter().rev();
            let named = visible.flat_map(|scope| scope.names.iter().rev()).find(|(name, _)| *name == word);
            named.map(|(_, binding)| *binding).or_else(|| of(&self.functions))
        } else {
            None
        };
        match found {
            Some(found) => self.all[found].used.push(at),
            None if self.code.variable(at).is_some() => self.undeclared.push(at),
            None => {}
        }
    }

    /// The token at a byte, or that ends there.
    pub fn token_at(&self, byte: usize) -> Option<usize> {
        let tokens = &self.code.tokens;
        let inside = |t: &super::scan::Token| t.start <= byte && byte < t.end;
        let ends = |t: &super::scan::Token| t.end == byte && t.kind == TokenKind::Word;
        let word = |t: &super::scan::Token| inside(t) && t.kind == TokenKind::Word;
        tokens.iter().position(word).or_else(|| tokens.iter().position(ends)).or_else(|| tokens.iter().position(inside))
    }

    /// What the name at this token stands for.
    pub fn at(&self, token: usize) -> Option<&Binding> {
        self.all.iter().find(|binding| binding.declared.contains(&token) || binding.used.contains(&token))
    }

    /// The imports of the text: the names of modules and their paths.
    pub fn imports(&self) -> Vec<(&'t str, &'t str)> {
        let code = &self.code;
        let path =
            |at: usize| code.tokens.get(at + 1).filter(|t| t.kind == TokenKind::Text).map(|t| t.content(code.text));
        let import = |at: usize| Some((code.word(at + 3).filter(|_| code.is(at + 2, "as"))?, path(at)?));
        (0..code.tokens.len()).filter(|at| code.is(*at, "import")).filter_map(import).collect()
    }

    /// How many arguments the call at this name has.
    pub fn arguments(&self, name: usize) -> Option<usize> {
        let open = Some(name + 1).filter(|open| self.code.is(*open, "("))?;
        let close = self.code.partner(open)?;
        let (mut at, mut commas) = (open + 1, 0);
        while at < close {
            commas += usize::from(self.code.is(at, ","));
            at = match self.code.end_of_bars(at) {
                Some(body) => body,
                None => self.code.partner(at).filter(|end| *end > at).unwrap_or(at) + 1,
            };
        }
        Some(if close == open + 1 { 0 } else { commas + 1 })
    }
}

/// The places to write a new name, as bytes; refused where the text does not show all that the name means, or the new one would mean
/// something else.
pub fn renamed(text: &str, byte: usize, name: &str, reserved: &[&str]) -> Result<Vec<std::ops::Range<usize>>, String> {
    let before = Bindings::of(text);
    let token = before.token_at(byte).ok_or("there is no name here")?;
    let place = before.all.iter().position(|b| b.declared.contains(&token) || b.used.contains(&token));
    let place = place.ok_or("only variables, functions and imported modules of this text can be renamed")?;
    let binding = &before.all[place];
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.chars().any(char::is_alphabetic);
    if !plain || reserved.contains(&name) {
        return Err(format!("`{name}` can't be a name"));
    }
    let code = &before.code;
    let words =
        |text: &str, wanted: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == wanted);
    for (at, token) in code.tokens.iter().enumerate() {
        let refuse = |why: String| {
            let line = text[..token.start].matches('\n').count() + 1;
            Err(format!("line {line}: {why}"))
        };
        if token.kind == TokenKind::Text
            && words(token.content(text), &binding.name)
            && binding.kind != BindingKind::Module
        {
            return refuse(format!("a text has the word `{}`, which may stand for it", binding.name));
        }
        if code.is(at, "eval") {
            return refuse("`eval` may name anything".into());
        }
        let member = at > 0 && code.dot(at - 1);
        let is = |word: &str| code.word(at) == Some(word);
        if binding.kind == BindingKind::Function && member && (is(&binding.name) || is(name)) {
            return refuse(format!("`.{}` may be a call of such a function", code.word(at).unwrap_or_default()));
        }
        if is(&binding.name) && at > 1 && code.is(at - 1, "::") && code.is(at - 2, "global") {
            return refuse(format!("`global::{}` is read inside of functions", binding.name));
        }
        if is(&binding.name) && at > 0 && code.is(at - 1, "export") {
            return refuse("it is exported to other texts".into());
        }
    }
    let mut tokens: Vec<usize> = binding.declared.iter().chain(&binding.used).copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    let places: Vec<_> = tokens.iter().map(|token| code.tokens[*token].start..code.tokens[*token].end).collect();
    let mut written = text.to_string();
    for place in places.iter().rev() {
        written.replace_range(place.clone(), name);
    }
    let after = Bindings::of(&written);
    let mut wanted = before.all.clone();
    wanted[place].name = name.into();
    if after.all != wanted || after.code.tokens.len() != code.tokens.len() {
        return Err(format!("`{name}` would then mean something else somewhere in this text"));
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each use of the name in order, which of its declarations it is of.
    fn resolved(text: &str, name: &str) -> Vec<usize> {
        let bindings = Bindings::of(text);
        let of_name: Vec<&Binding> = bindings.all.iter().filter(|b| b.name == name).collect();
        let mut found: Vec<(usize, usize)> =
            of_name.iter().enumerate().flat_map(|(i, b)| b.used.iter().map(move |token| (*token, i))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, i)| i).collect()
    }

    #[test]
    fn names_mean_what_they_mean_to_the_interpreter() {
        assert_eq!(resolved("let x = 1; let x = x + 1; x", "x"), [0, 1]);
        assert_eq!(resolved("let x = 1; { let x = 2; x } x", "x"), [1, 0]);
        assert_eq!(resolved("let x = 1; for x in [x] { x } x", "x"), [0, 1, 0]);
        assert_eq!(
            resolved("let x = 1; for x in if x > 0 { [x] } else if x < 0 { x } else { x } { x } x", "x"),
            [0, 0, 0, 0, 0, 1, 0]
        );
        assert_eq!(resolved("let x = 1; let f = |x| x + 1; f.call(x)", "x"), [1, 0]);
        assert_eq!(resolved("let x = 1; map(|x| { x }, x); `${x}`", "x"), [1, 0, 0]);
        assert_eq!(resolved("fn f(x) { x } let x = 1; #{ x: x }.x", "x"), [0, 1]);
        assert!(resolved("let x = 1; fn f() { x }", "x").is_empty());
        assert_eq!(resolved("try { 1 } catch (x) { x } let x = 2; x", "x"), [0, 1]);
        assert_eq!(resolved("fn f(a) { f(a - 1) } f(2); g(f); x.f()", "f"), [0, 0, 0]);
    }

    /// An interpreter that refuses variables that nobody declared.
    fn strict() -> rhai::Engine {
        let mut engine = rhai::Engine::new();
        engine.set_strict_variables(true).set_max_expr_depths(0, 0);
        for (namespace, _) in crate::primitives::NAMESPACES.iter().filter(|(name, _)| !name.is_empty()) {
            engine.register_static_module(*namespace, rhai::Module::new().into());
        }
        engine
    }

    #[test]
    fn renamed_modules_are_read_as_before() {
        let engine = strict();
        let (mut read, mut done) = (0, 0);
        for module in crate::primitives::stdlib::stdlib_names() {
            let text = crate::primitives::stdlib::stdlib_text(&module).expect("a module");
            if let Err(error) = engine.compile(text) {
                eprintln!("{module}: {error}");
                continue;
            }
            read += 1;
            let bindings = Bindings::of(text);
            // Every thirtieth tells as much.
            for binding in bindings.all.iter().step_by(30) {
                let byte = bindings.code.tokens[binding.declared[0]].start;
                let Ok(places) = renamed(text, byte, "quite_new", &[]) else { continue };
                done += 1;
                let mut written = text.to_string();
                places.iter().rev().for_each(|place| written.replace_range(place.clone(), "quite_new"));
                assert!(engine.compile(&written).is_ok(), "{module}: {}", binding.name);
            }
        }
        assert!(read > 3 && done > 15, "{read} modules, {done} names");
    }

    #[test]
    fn texts_that_are_cut_short_are_no_trouble() {
        let text = crate::primitives::stdlib::stdlib_text("std/testgen").expect("a module");
        for end in (0..text.len()).step_by(997).filter(|end| text.is_char_boundary(*end)) {
            let bindings = Bindings::of(&text[..end]);
            if let Some(token) = bindings.token_at(end) {
                bindings.arguments(token);
                let _ = renamed(&text[..end], end, "quite_new", &[]);
            }
        }
    }

    #[test]
    fn renaming_is_refused_where_it_can_not_be_known_to_be_right() {
        let rename = |text: &str, name: &str| {
            let byte = text.find('¦').expect("a cursor");
            let text = text.replacen('¦', "", 1);
            renamed(&text, byte, name, &["let", "fn"]).map(|places| {
                let mut text = text.clone();
                places.iter().rev().for_each(|place| text.replace_range(place.clone(), name));
                text
            })
        };
        assert_eq!(rename("let ¦a = 1; let b = a + 1; |a| a; a", "c"), Ok("let c = 1; let b = c + 1; |a| a; c".into()));
        assert_eq!(
            rename("fn ¦f(x) { f(x - 1) } fn f() { 2 } f(3)", "g"),
            Ok("fn g(x) { g(x - 1) } fn g() { 2 } g(3)".into())
        );
        assert_eq!(
            rename("fn f(¦x) { `${x} or x: ${#{ x: x }.x}` }", "y").expect_err("refused"),
            "line 1: a text has the word `x`, which may stand for it"
        );
        assert_eq!(
            rename("import \"std/zoo\" as ¦zoo; zoo::lenet()", "z"),
            Ok("import \"std/zoo\" as z; z::lenet()".into())
        );
        for (text, name) in [
            ("let ¦a = 1; let b = 2; a + b", "b"),
            ("let a = 1; { let ¦b = 2; a + b }", "a"),
            ("let ¦a = 1; a", "let"),
            ("let ¦a = 1; a", "1a"),
            ("let ¦a = 1; is_def_var(\"a\")", "c"),
            ("const ¦A = 1; fn f() { global::A }", "B"),
            ("fn ¦f(x) { x } y.f()", "g"),
            ("fn ¦f(x) { x } call(\"f\", 1)", "g"),
            ("fn ¦f(x) { x } eval(z)", "g"),
            ("fn ¦f(x) { x } examine(1)", "examine"),
            ("1 + ¦sqrt(2)", "root"),
        ] {
            assert!(rename(text, name).is_err(), "{text}");
        }
    }
}
