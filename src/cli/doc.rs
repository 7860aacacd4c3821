//! `viva doc [NAME]`

use super::Outcome;
use crate::core::{Error, suggestion};
use crate::primitives::{PRIMITIVES, reference};
use crate::script::{stdlib_names, stdlib_page};

/// The page of a function, a type, a namespace or a module of the standard library; of everything for "".
pub fn page(name: &str) -> Option<String> {
    let modules = || format!("\n\nmodules to import: {}", stdlib_names().join(", "));
    match name {
        "" => reference::page(name).map(|text| format!("{text}{}", modules())),
        _ => stdlib_page(name).or_else(|| reference::page(name)),
    }
}

pub fn main(words: &[String]) -> Outcome {
    let name = match words {
        [] => "",
        [name] => name.as_str(),
        _ => return Err(Error::argument("viva doc takes one name").into()),
    };
    match page(name) {
        Some(text) => {
            println!("{text}");
            Ok(())
        }
        None => Err(Error::argument(format!("nothing is called {name:?}"))
            .hint(suggestion(name, PRIMITIVES.iter().map(|p| p.path)))
            .into()),
    }
}
