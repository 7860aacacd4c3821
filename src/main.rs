use std::io::Write;
use std::process::ExitCode;

/// Without arguments, or with `--no-init` and flags of permissions alone, the prompt; else the command line.
fn main() -> ExitCode {
    viva::term::start();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let door = || match &words[..] {
        words if words.iter().all(|word| word.to_str().is_some_and(of_the_prompt)) => {
            let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
            viva::repl::main(!words.contains(&"--no-init"), &words)
        }
        _ => viva::cli::main(),
    };
    std::panic::catch_unwind(door).unwrap_or_else(|_| {
        // Nothing is left to do where even this can't be written.
        let _ = writeln!(
            std::io::stderr(),
            "Error: a mistake in viva, or an output that can't be written; please report it"
        );
        ExitCode::FAILURE
    })
}

fn of_the_prompt(word: &str) -> bool {
    word == "--no-init" || word.starts_with("--allow-")
}
