use std::ffi::OsString;
use std::io::Write;

use viva::core::{Error, memory};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod waiting;

#[global_allocator]
static ALLOCATOR: memory::Counted = memory::Counted;

fn main() {
    viva::term::leave(status().into())
}

/// Without arguments, or with `--no-init` and flags of permissions alone, the prompt; else the command line.
fn status() -> u8 {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    waiting::give_back();
    viva::core::record::built_as(viva::BUILD);
    viva::term::start();
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Err(error) = take_limits(&mut words) {
        eprint!("{}", viva::script::Diagnostic::plain(&error).render(false));
        return 1;
    }
    let door = || match &words[..] {
        words if words.iter().all(|word| word.to_str().is_some_and(of_the_prompt)) => {
            let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            viva::repl::main(!words.contains(&"--no-init"), &words)
        }
        _ => viva::cli::main(words.clone()),
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if unwritten(panic.payload()).is_none() {
            hook(panic);
        }
    }));
    std::panic::catch_unwind(|| memory::on_stack(memory::stack_size(), door)).unwrap_or_else(|panic| {
        let told = unwritten(&*panic).map_or("a mistake in viva; please report it".to_string(), |told| {
            format!("nothing can be written to the standard output: {told}")
        });
        // Nothing is left to do where even this can't be written.
        let _ = writeln!(std::io::stderr(), "Error: {told}");
        1
    })
}

/// Why the standard output takes no more, of the panic that the standard library makes of that.
fn unwritten(panic: &(dyn std::any::Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>()?.strip_prefix("failed printing to stdout: ")
}

/// `--fast` and `--memory SIZE`, which every command takes.
fn take_limits(words: &mut Vec<OsString>) -> Result<(), Error> {
    let starts = |word: &OsString, with: &str| word.to_string_lossy().starts_with(with);
    if words.iter().any(|word| starts(word, "--fast=")) {
        return Err(Error::argument("--fast takes no value"));
    }
    let asked = words.len();
    words.retain(|word| word != "--fast");
    if words.len() < asked {
        viva::core::set_fast();
    }
    memory::set_budget(take_memory(words)?);
    match words.iter().any(|word| word == "--memory" || starts(word, "--memory=")) {
        true => Err(Error::argument("--memory is given twice")),
        false => Ok(()),
    }
}

fn take_memory(words: &mut Vec<OsString>) -> Result<Option<u64>, Error> {
    let flag = |word: &OsString| word == "--memory" || word.to_string_lossy().starts_with("--memory=");
    let Some(at) = words.iter().position(flag) else { return Ok(None) };
    let word = words.remove(at).to_string_lossy().into_owned();
    let size = match word.split_once('=') {
        Some((_, size)) => size.to_string(),
        None if at < words.len() => words.remove(at).to_string_lossy().into_owned(),
        None => String::new(),
    };
    memory::parse_size(&size).map(Some)
}

fn of_the_prompt(word: &str) -> bool {
    word == "--no-init" || word.starts_with("--allow-")
}
