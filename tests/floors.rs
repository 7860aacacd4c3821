//! The plan of the house: a folder imports only from its own floor and those below, folders on one floor in one direction, no two files
//! import each other in a circle, and few types share a name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// From the ground up. Folders on one floor may import those before them. The first six floors are the package in `src/lab`, which
/// Cargo keeps from importing what stands on it.
const FLOORS: [&[&str]; 12] = [
    &["core"],
    &["optimiser", "maths"],
    &["render", "data", "model", "generator"],
    &["space"],
    &["objective", "search", "train"],
    &["estimate", "audit", "plot", "people"],
    &["primitives"],
    &["term", "sandbox", "script", "assist", "page", "label"],
    &["dialogue"],
    &["notebook"],
    &["repl", "kernel", "lsp", "cli"],
    &["main.rs", "waiting.rs"],
];

/// What stands below the interpreter.
const PLAIN: usize = 7;

/// The floor of a folder, and its place there.
fn place(name: &str) -> Option<(usize, usize)> {
    let on = |floor: usize| Some((floor, FLOORS[floor].iter().position(|folder| *folder == name)?));
    (0..FLOORS.len()).find_map(on)
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// A file below `src`: its module's path, and every path that it names, from the crate's root.
struct Source {
    file: PathBuf,
    module: Vec<String>,
    named: BTreeSet<Vec<String>>,
    /// What it passes on of other files: the names that it is known by here, and the paths that they stand for.
    passed_on: BTreeMap<String, Vec<String>>,
    /// The first words of all paths that begin elsewhere.
    others: BTreeSet<String>,
}

/// Collects the paths of a file: `use` trees, and paths in types, expressions and macros' arguments that parse as such.
struct Paths<'a> {
    module: &'a [String],
    named: BTreeSet<Vec<String>>,
    others: BTreeSet<String>,
    /// Inside `mod tests`, whose `super` is the file itself.
    inner: usize,
    tests: bool,
}

impl Paths<'_> {
    fn add(&mut self, path: &[String]) {
        let Some(first) = path.first() else { return };
        let mut base: Vec<String> = match first.as_str() {
            "crate" => vec![],
            "self" => self.module.to_vec(),
            "super" => self.module.to_vec(),
            other => {
                self.others.insert(other.to_string());
                return;
            }
        };
        let supers = path.iter().take_while(|word| *word == "super").count();
        base.truncate(base.len().saturating_sub(supers.saturating_sub(self.inner)));
        let rest = path.iter().skip(supers.max(1));
        base.extend(rest.cloned());
        self.named.insert(base);
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |word: &syn::Ident| [before, &[word.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.add(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(&words);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let test = item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        if test && !self.tests {
            return;
        }
        self.inner += 1;
        visit::visit_item_mod(self, item);
        self.inner -= 1;
    }
}

/// The names that the `use` items of a module bring into it, with the paths that they stand for from the crate's root.
fn passed_on(module: &[String], parsed: &syn::File) -> BTreeMap<String, Vec<String>> {
    fn walk(before: &[String], tree: &syn::UseTree, found: &mut Vec<(String, Vec<String>)>) {
        let with = |word: &syn::Ident| [before, &[word.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => walk(&with(&path.ident), &path.tree, found),
            syn::UseTree::Name(name) => found.push((name.ident.to_string(), with(&name.ident))),
            syn::UseTree::Rename(name) => found.push((name.rename.to_string(), with(&name.ident))),
            syn::UseTree::Glob(_) => {}
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| walk(before, tree, found)),
        }
    }
    let mut found = vec![];
    for item in &parsed.items {
        if let syn::Item::Use(item) = item {
            walk(&[], &item.tree, &mut found);
        }
    }
    let whole = |(name, path): (String, Vec<String>)| {
        let from = |base: &[String], skipped: usize| [base, &path[skipped..]].concat();
        let path = match path.first().map(String::as_str) {
            Some("crate") => from(&[], 1),
            Some("self") => from(module, 1),
            Some("super") => from(&module[..module.len().saturating_sub(1)], 1),
            _ => from(module, 0),
        };
        (name, path)
    };
    found.into_iter().map(whole).collect()
}

/// Every file by its path below `src`.
fn files() -> Vec<(PathBuf, syn::File)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "the sources were not found");
    let parsed = |path: PathBuf| {
        let file = path.strip_prefix(&root).expect("below src").to_path_buf();
        let text = std::fs::read_to_string(&path).expect("a source file");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, parsed)
    };
    files.into_iter().map(parsed).collect()
}

/// `tests`: whether the unit tests of a file have a say.
fn read(tests: bool) -> Vec<Source> {
    let source = |(file, parsed): (PathBuf, syn::File)| {
        // The package above re-exports what is in the one below under the same names.
        let file = file.strip_prefix("lab").unwrap_or(&file).to_path_buf();
        let mut module: Vec<String> =
            file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        module.retain(|part| part != "mod" && part != "lib");
        let mut paths = Paths { module: &module, named: BTreeSet::new(), others: BTreeSet::new(), inner: 0, tests };
        paths.visit_file(&parsed);
        let (named, others) = (paths.named, paths.others);
        let passed_on = passed_on(&module, &parsed);
        Source { file, module, named, passed_on, others }
    };
    files().into_iter().map(source).collect()
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for source in read(true) {
        let own = source.file.iter().next().and_then(|part| part.to_str()).expect("a name");
        if own == "lib.rs" || own == "build.rs" {
            continue;
        }
        if source.others.contains("viva_lab") {
            wrong.push(format!("{} names the package viva_lab, not what it re-exports", source.file.display()));
        }
        let (floor, at) = place(own).unwrap_or_else(|| panic!("{own} has no floor in the plan"));
        for name in &source.named {
            let Some(folder) = name.first().filter(|name| *name != own) else { continue };
            if place(folder).is_some_and(|other| other > (floor, at)) {
                wrong.push(format!("{} imports {}", source.file.display(), name.join("::")));
            }
        }
        if floor < PLAIN {
            let libraries =
                ["rhai", "rustyline", "lsp_server"].iter().filter(|library| source.others.contains(**library));
            wrong.extend(libraries.map(|library| format!("{} uses {library}", source.file.display())));
        }
    }
    assert!(wrong.is_empty(), "arrows that point up:\n{}", wrong.join("\n"));
}

/// A value may be a closure, which wants the context; the context keeps values, the journal and the record of the run; tables show values.
/// No other file may join them.
const KNOT: [&str; 10] = ["budget", "cx", "journal", "json", "long", "manifest", "record", "said", "table", "value"];

/// A folder's `mod.rs` stands for the folder: what it lists may use what it defines. What it passes on is its owner's.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = read(false);
    let modules: BTreeMap<&[String], usize> =
        sources.iter().enumerate().map(|(number, source)| (&source.module[..], number)).collect();
    let folder =
        |number: usize| sources[number].file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs");
    let owner = |path: &Vec<String>| {
        let mut path = path.clone();
        // What one folder passes on it may have from another.
        for _ in 0..10 {
            let (n, at) = (0..=path.len()).rev().find_map(|n| Some((n, *modules.get(&path[..n])?)))?;
            match path.get(n).filter(|_| folder(at)).and_then(|name| sources[at].passed_on.get(name)) {
                Some(further) => path = [&further[..], &path[n + 1..]].concat(),
                None => return Some(at),
            }
        }
        None
    };
    let needs = |number: usize| -> BTreeSet<usize> {
        let all = sources[number].named.iter().filter_map(owner);
        all.filter(|&other| other != number && !folder(other) && !folder(number)).collect()
    };
    let needs: Vec<BTreeSet<usize>> = (0..sources.len()).map(needs).collect();
    let mut circles = BTreeSet::new();
    for from in 0..sources.len() {
        let (mut way, mut seen) = (vec![(from, vec![from])], BTreeSet::new());
        while let Some((at, path)) = way.pop() {
            for &next in &needs[at] {
                if next == from {
                    let names: Vec<String> = path.iter().map(|&n| sources[n].file.display().to_string()).collect();
                    let mut key = names.clone();
                    key.sort();
                    circles.insert((key, names.join(" -> ")));
                } else if seen.insert(next) {
                    way.push((next, [&path[..], &[next]].concat()));
                }
            }
        }
    }
    let knot: BTreeSet<String> = KNOT.iter().map(|name| format!("core/{name}.rs")).collect();
    let tied: BTreeSet<String> = circles.iter().flat_map(|(files, _)| files.iter().cloned()).collect();
    let left: Vec<&String> = knot.difference(&tied).collect();
    assert!(left.is_empty(), "no longer part of a circle, so strike them from KNOT: {left:?}");
    let told: BTreeMap<Vec<String>, String> =
        circles.into_iter().filter(|(files, _)| !files.iter().all(|file| knot.contains(file))).collect();
    assert!(told.is_empty(), "circles:\n{}", told.values().cloned().collect::<Vec<_>>().join("\n"));
}

/// The names of the types that a file declares outside its unit tests.
#[derive(Default)]
struct Types(Vec<String>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.0.push(item.ident.to_string());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.0.push(item.ident.to_string());
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.0.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.0.push(item.ident.to_string());
    }
}

/// Of a hundred declarations of types, so many at most are of a name that is declared more than once.
const SHARED: usize = 15;

#[test]
fn few_types_share_a_name() {
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, parsed) in files() {
        let mut types = Types::default();
        types.visit_file(&parsed);
        for name in types.0 {
            declared.entry(name).or_default().push(file.display().to_string());
        }
    }
    let all: usize = declared.values().map(Vec::len).sum();
    assert!(all > 500, "the types were not found");
    let mut several: Vec<(String, Vec<String>)> = declared.into_iter().filter(|(_, places)| places.len() > 1).collect();
    several.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    let shared: usize = several.iter().map(|(_, places)| places.len()).sum();
    let told: Vec<String> = several
        .iter()
        .take(20)
        .map(|(name, places)| format!("{name} {}: {}", places.len(), places.join(", ")))
        .collect();
    assert!(
        shared * 100 < all * SHARED,
        "{shared} of {all} declarations of types share their name, {SHARED}% or more; those declared most often:\n{}",
        told.join("\n")
    );
}
