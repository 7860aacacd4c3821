use std::io::Write;
use std::process::ExitCode;

/// Without arguments the prompt, else the command line.
fn main() -> ExitCode {
    viva::term::start();
    let door = || if std::env::args_os().len() > 1 { viva::cli::main() } else { viva::repl::main() };
    std::panic::catch_unwind(door).unwrap_or_else(|_| {
        // Nothing is left to do where even this can't be written.
        let _ = writeln!(
            std::io::stderr(),
            "Error: a mistake in viva, or an output that can't be written; please report it"
        );
        ExitCode::FAILURE
    })
}
