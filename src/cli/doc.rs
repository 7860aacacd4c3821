//! `viva doc [NAME]`, `viva doc --html DIR`

use std::path::Path;
use std::rc::Rc;

use include_dir::{Dir, include_dir};

use super::report::ours_or_new;
use super::{CommandFailure, CommandOutcome};
use crate::core::{Cx, Error};
use crate::page::{Drawing, ModulePage, Shown, reference as pages};
use crate::plot::Figure;
use crate::primitives::declared::declared;
use crate::primitives::reference::stdlib_page;
use crate::primitives::stdlib::{module_called, stdlib_names, stdlib_text};
use crate::primitives::types::TYPES;
use crate::primitives::{PRIMITIVES, former, reference};
use crate::script::Session;
use crate::term::context;

/// Pictures of Dunn's chapters 4 to 7 as runs left them, `figure-4.4.svg`, and `runs.txt`, which says of each what was run.
static THESIS: Dir = include_dir!("$CARGO_MANIFEST_DIR/docs/thesis");

/// One script per figure, named as its function: `line.rhai` draws `plot::line`.
static GALLERY: Dir = include_dir!("$CARGO_MANIFEST_DIR/docs/gallery");

/// The page of a function, a type, a namespace or a module of the standard library; of everything for "".
pub fn page(name: &str) -> Option<String> {
    let modules = || format!("\n\nmodules to import: {}", stdlib_names().join(", "));
    match name {
        "" => reference::page(name).map(|text| format!("{text}{}", modules())),
        _ => stdlib_page(name).or_else(|| reference::page(name)),
    }
}

pub fn main(words: &[String]) -> CommandOutcome {
    let name = match words {
        [] => "",
        [flag, folder] if flag == "--html" => return html(Path::new(folder)),
        [flag] if flag == "--html" => return Err(Error::argument("viva doc --html needs a folder").into()),
        [name] => name.as_str(),
        _ => return Err(Error::argument("viva doc takes one name").into()),
    };
    match page(name) {
        Some(text) => {
            println!("{text}");
            Ok(())
        }
        None => Err(Error::argument(format!("nothing is called {name:?}"))
            .hint(module_called(name, |module| format!("`viva doc {module}`")).unwrap_or_else(|| {
                former::function_or(
                    name,
                    name,
                    PRIMITIVES.iter().map(|p| p.path).chain(TYPES.iter().map(|kind| kind.name)),
                )
            }))
            .into()),
    }
}

/// Writes the reference as pages for a browser.
fn html(folder: &Path) -> CommandOutcome {
    let modules: Result<Vec<ModulePage>, Error> = stdlib_names()
        .into_iter()
        .map(|name| {
            let text = stdlib_text(&name).unwrap_or_default();
            let found = declared(name.trim_start_matches("std/"), text)?;
            let functions = found.iter().filter(|f| f.public).map(|f| f.declaration).collect();
            Ok(ModulePage { name, text, functions })
        })
        .collect();
    let written = pages(&modules?, &gallery()?, &shown()?)?;
    let cx = context();
    let own_pages = written.iter().filter(|(name, _)| name.ends_with(".html"));
    own_pages.map(|(name, _)| folder.join(name)).try_for_each(|page| ours_or_new(&page))?;
    for (name, text) in &written {
        let file = folder.join(name);
        cx.write_with(&file, |temporary| std::fs::write(temporary, text).map_err(|e| Error::file(&file, e)))?;
    }
    println!("{} pages: {}", written.len(), folder.join("index.html").display());
    Ok(())
}

/// The pictures that `runs.txt` names and that were drawn, a line for each: what it shows, the name that the result has it under, and the
/// command, apart by `|`.
fn shown() -> Result<Vec<Shown>, CommandFailure> {
    let text = |name: &str| THESIS.get_file(name).and_then(|file| file.contents_utf8());
    let lines = text("runs.txt").unwrap_or_default().lines().filter(|line| !line.starts_with('#'));
    let mut all = Vec::new();
    for line in lines {
        let [number, _, command] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            return Err(Error::internal(format!("docs/thesis/runs.txt: {line:?} has not three parts")).into());
        };
        let file = format!("{}.svg", number.replace(' ', "-").to_lowercase());
        if let Some(svg) = text(&file) {
            all.push(Shown { number: number.into(), command: format!("viva run scripts/{command}"), svg: svg.into() });
        }
    }
    Ok(all)
}

/// Every figure of the namespace `plot`, in the order of the registry.
fn gallery() -> Result<Vec<Drawing>, CommandFailure> {
    let mut drawings = Vec::new();
    for primitive in PRIMITIVES.iter().filter(|p| p.namespace() == Some("plot")) {
        let name = format!("{}.rhai", primitive.name());
        let Some(script) = GALLERY.get_file(&name).and_then(|file| file.contents_utf8()) else { continue };
        let value = Session::new(Rc::new(Cx::default())).evaluate(&name, script)?;
        let figure = value.downcast::<Figure>().ok_or_else(|| Error::internal(format!("{name} gives no figure")))?;
        drawings.push(Drawing { path: primitive.path.into(), script: script.into(), svg: figure.svg()? });
    }
    Ok(drawings)
}
