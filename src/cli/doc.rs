//! `viva doc [NAME]`

use super::Outcome;
use crate::core::{Error, suggestion};
use crate::primitives::{PRIMITIVES, reference};

pub fn main(words: &[String]) -> Outcome {
    let name = match words {
        [] => "",
        [name] => name.as_str(),
        _ => return Err(Error::argument("viva doc takes one name").into()),
    };
    match reference::page(name) {
        Some(text) => {
            println!("{text}");
            Ok(())
        }
        None => Err(Error::argument(format!("nothing is called {name:?}"))
            .hint(suggestion(name, PRIMITIVES.iter().map(|p| p.path)))
            .into()),
    }
}
