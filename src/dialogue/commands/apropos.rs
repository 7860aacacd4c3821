use super::Command;
use crate::core::{Error, Result, visible, wrapped};
use crate::dialogue::{Dialogue, Next};
use crate::primitives::reference::{Mention, apropos, of_function};
use crate::term::width;

pub static APROPOS: Command = Command {
    name: "apropos",
    arguments: "WORDS",
    help: "Looks for words in all documentation: functions, options, types, modules, the glossary, and functions of your own.",
    run,
};

/// More are a reason to ask for more words.
const MOST: usize = 60;

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    if rest.is_empty() {
        return Err(Error::argument(":apropos needs words").hint(":apropos calibration, or :apropos smallest change"));
    }
    let words: Vec<String> = rest.to_lowercase().split_whitespace().map(String::from).collect();
    let mut found = own(dialogue, &words);
    found.extend(apropos(rest));
    if found.is_empty() {
        return Err(Error::argument(format!("no documentation has {rest:?}"))
            .hint("try fewer or other words; ? lists everything"));
    }
    let all = found.len();
    found.truncate(MOST);
    let wide = found.iter().map(|mention| mention.name.chars().count()).max().unwrap_or(0);
    let room = width().saturating_sub(wide + 2).clamp(30, 100);
    let mut text = String::new();
    for mention in &found {
        let sentence = wrapped(&visible(&mention.sentence), room).replace('\n', &format!("\n{:wide$}  ", ""));
        let name = format!("{:wide$}", mention.name);
        text += format!("{}  {sentence}", dialogue.output.paint().strong(&name)).trim_end();
        text.push('\n');
    }
    if all > MOST {
        text += &format!("… {} more: add a word\n", all - MOST);
    }
    dialogue.output.read(&text);
    Ok(Next::Line)
}

/// Functions of the session and of what it imported.
fn own(dialogue: &Dialogue, words: &[String]) -> Vec<Mention> {
    let session = dialogue.session.borrow();
    let typed = session.functions().into_iter().filter_map(|function| session.declaration(&function.name));
    let mut found: Vec<Mention> = typed.filter_map(|declared| of_function(&declared.function, words)).collect();
    // Modules in the binary are looked through whether they are imported or not.
    for (alias, path) in session.imports().into_iter().filter(|(_, path)| !path.starts_with("std/")) {
        for function in session.module_functions(&path).iter().filter(|function| function.public) {
            let mention = of_function(&function.declaration.function, words);
            found.extend(mention.map(|m| Mention { name: format!("{alias}::{}", function.name), ..m }));
        }
    }
    found.dedup();
    found
}
