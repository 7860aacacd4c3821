use std::process::ExitCode;

/// Without arguments the prompt, else the command line.
fn main() -> ExitCode {
    viva::term::start();
    if std::env::args_os().len() > 1 {
        return viva::cli::main();
    }
    match viva::repl::main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", viva::script::Diagnostic::plain(&error).render(false));
            ExitCode::FAILURE
        }
    }
}
