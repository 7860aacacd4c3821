use std::io::Write;
use std::process::ExitCode;

/// Without arguments, or with `--no-init`, the prompt; else the command line.
fn main() -> ExitCode {
    viva::term::start();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let door = || match &words[..] {
        [] => viva::repl::main(true),
        [word] if word == "--no-init" => viva::repl::main(false),
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
