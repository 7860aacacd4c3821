use std::io::Write;
use std::process::ExitCode;

/// Without arguments, or with `--no-init` or `--allow-run` alone, the prompt; else the command line.
fn main() -> ExitCode {
    viva::term::start();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let door = || match &words[..] {
        words if words.iter().all(|word| word == "--no-init" || word == "--allow-run") => {
            let given = |name: &str| words.iter().any(|word| word == name);
            viva::repl::main(!given("--no-init"), given("--allow-run"))
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
