//! The command line: one file per command.

mod check;
mod compare;
mod comparison;
mod data;
mod devices;
mod doc;
mod kernel;
mod label;
mod merge;
mod notebook;
mod repeat;
mod report;
mod run;
mod run_options;
mod submit;
mod version;

use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use crate::core::{Error, Result, Value, suggestion};
use crate::sandbox::{Confinement, Flags, hold};
use crate::script::{Diagnostic, Session};
use crate::term::{Paint, choose_device, context, stop_on_signals, tell_of_libtorch, width};

const USAGE: &str = "\
viva: a lab for examining deep image classifiers

viva [--no-init] [--allow-...]        the prompt; --no-init leaves out its start-up file
viva run SCRIPT [--name value ...]    run a script; --help after it lists the script's own arguments
     --out DIR            the run folder (default: a new folder below runs/)
     --resume DIR         go on with a run that was killed, stopped or failed; where none was begun, begin it there
     --changed            with --resume: go on although texts have changed; what depends on them is done again
     --unchecked          begin although the script names what there is not, which viva check tells of
     --seed N             the run's seed (default 0)
     --device D           cpu, cuda, cuda:1 (default: cuda where there is one)
     --devices 0,1        a process on each of these GPUs (cpu,cpu: two on the CPU), which examine a share of the rows each, put
                          together to the bytes of one process; viva doc machines
     --shard I/N          examine only the I-th of N parts of the rows; also of viva run FOLDER
     --threads N          CPU threads (default: all cores)
     --fast               on a GPU: TF32, and sums in any order (default: single precision, the same bytes in every run)
     --memory SIZE        how much memory may be used, such as 8GB; of every command (default: three quarters of the machine's)
     --allow-read[=PATH]  also let the script read below PATH, or everything
     --allow-write[=PATH] also let it write below PATH, or everywhere
     --allow-run[=PROGRAM]  also let it start this program, or any: model::program, model::python
     --allow-net          also let it, and what it starts, reach the network
     --allow-native       run TorchScript from files where the kernel can't hold what it does
                          (a script does no more than this: viva doc safety)
     --json               print the results as JSON
viva run FOLDER [--verify]            repeat the run of a run folder with the texts that it keeps, in a new folder;
                                      --verify compares the results with those in FOLDER
viva merge DIR... [--out DIR]         put the shards of a run together: the same bytes as those of one process
     --allow-..           what the script was allowed (--allow-read=.. where it reads files)
     --mixed              although they ran on other devices or with other threads, which round otherwise
viva submit --slurm SCRIPT --shards N [--out DIR] [--name value ...]
                                      write down what a cluster needs to run N shards and put them together;
                                      --kubernetes, --parallel: for these in place of Slurm; --force writes over a file
viva -e 'EXPR' [--allow-...]           print the value of an expression
viva check SCRIPT                     find mistakes without running
viva report DIR [--out FILE] [--live]  a run folder as one page for a browser (default: DIR/report.html); --live writes
                                      it anew while the run goes on, and the page follows
viva compare DIR DIR... [--out FILE]  where the runs of folders differ: what they were given, and their results;
                                      FILE is a page, with figures on top of each other
viva label DIR [--host ADDRESS] [--port N]  ask people what a task asks, at a page of this machine
     --public URL           what others call that page, where a server between them and this machine hands on to it
     --export F --out DIR   write it down for others to ask: pages, mturk, label_studio, argilla, prodigy, folder
viva kernel --install [--allow-...]    a kernel for Jupyter and VS Code, which runs cells as the prompt runs lines
     --prefix DIR         in the Python environment DIR (default: for this user)
     --name NAME          under another name, beside one that may do less
viva notebook FILE [--out FILE]       a script as a notebook, or a notebook as a script; --force writes over a file
     --run                run the cells and keep what they show; --allow-... as of viva run
viva doc [NAME]                       documentation of a function, a type, a namespace or everything
viva doc --html DIR                   the same as pages for a browser
viva lsp                              the language server for editors, over stdin and stdout
viva data [list | fetch NAME]         data sets: what is here, download one
viva version                          versions and devices";

/// What a failed command says.
pub enum CommandFailure {
    Plain(Error),
    Script(Box<Diagnostic>),
    /// Another process of viva has said why; what it ended with.
    Told(u8),
    /// By Ctrl-C, or by this other signal.
    Stopped(Box<Diagnostic>, Option<i32>),
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> Self {
        Self::Plain(error)
    }
}

impl From<Box<Diagnostic>> for CommandFailure {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Script(diagnostic)
    }
}

type CommandOutcome = std::result::Result<(), CommandFailure>;

/// The status that the process is to end with.
pub fn main(arguments: Vec<OsString>) -> u8 {
    match dispatch(arguments) {
        Ok(()) => 0,
        Err(CommandFailure::Plain(error)) => {
            eprint!("{}", Diagnostic::plain(&error).render(false));
            1
        }
        Err(CommandFailure::Told(status)) => status,
        Err(CommandFailure::Script(diagnostic)) => {
            eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled()));
            if diagnostic.is_interruption() { 130 } else { 1 }
        }
        Err(CommandFailure::Stopped(diagnostic, signal)) => {
            eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled()));
            // As a shell tells of a process that a signal ended; SIGINT is 2.
            128 + signal.unwrap_or(2) as u8
        }
    }
}

fn dispatch(arguments: Vec<OsString>) -> CommandOutcome {
    let words: Vec<String> = arguments
        .into_iter()
        .map(|word| {
            word.into_string().map_err(|word| Error::argument(format!("{}: not UTF-8", word.to_string_lossy())))
        })
        .collect::<Result<_>>()?;
    let rest = words.get(1..).unwrap_or(&[]);
    let is_passed_on = words.first().is_none_or(|command| ["run", "submit", "-e"].contains(&command.as_str()));
    if !is_passed_on && rest.iter().any(|word| word == "--help") || rest == ["--help"] {
        println!("{USAGE}");
        return Ok(());
    }
    let name = match words.first().map(String::as_str) {
        None | Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            return Ok(());
        }
        Some("--version" | "-V") => "version",
        Some(name) => name,
    };
    match COMMANDS.iter().find(|(known, _)| *known == name) {
        Some((_, main)) => main(rest),
        None => {
            let known = COMMANDS.iter().map(|(known, _)| *known).chain(["help"]);
            Err(Error::argument(format!("there is no command {name:?}")).hint(suggestion(name, known)).into())
        }
    }
}

type CommandMain = fn(&[String]) -> CommandOutcome;

static COMMANDS: [(&str, CommandMain); 14] = [
    ("run", run_or_divide),
    ("merge", merge::main),
    ("submit", submit::main),
    ("-e", evaluate),
    ("check", check::main),
    ("report", report::main),
    ("compare", compare::main),
    ("label", label::main),
    ("kernel", kernel::main),
    ("notebook", notebook::main),
    ("doc", doc::main),
    ("lsp", |rest| crate::lsp::main(rest).map_err(CommandFailure::Plain)),
    ("data", data::main),
    ("version", version::main),
];

/// `viva run`, in this process or in one for each device.
fn run_or_divide(words: &[String]) -> CommandOutcome {
    let options = run::parse(words)?;
    match &options.devices {
        Some(devices) if !options.help => devices::run(devices, &options),
        _ => run::run(options),
    }
}

/// `viva -e 'EXPR'`
fn evaluate(words: &[String]) -> CommandOutcome {
    let mut flags = Flags::default();
    let mut expressions = Vec::new();
    for word in words {
        if !expressions.is_empty() && flags.take_word(word)? {
            continue;
        }
        expressions.push(word);
    }
    let [expression] = expressions[..] else {
        return Err(Error::argument("viva -e takes one expression")
            .hint("put it in single quotes: viva -e '1 + 1'")
            .into());
    };
    flags.add_configured()?;
    let here = std::env::current_dir().map_err(|e| Error::file(Path::new("."), e))?;
    let home = Some(here.as_path());
    let sandbox =
        hold(Confinement { flags: &flags, read: vec![], home, folder: &here, own: vec![], made: vec![], asks: false })?;
    let mut cx = context();
    sandbox.apply(&mut cx);
    choose_device(&mut cx);
    tell_of_libtorch(&cx);
    let mut session = Session::new(Rc::new(cx));
    stop_on_signals(session.cx(), |_| false);
    let value = session.evaluate("-e", expression)?;
    if !matches!(value, Value::Unit) {
        println!("{}", value.details(width()));
    }
    Ok(())
}

/// Reads a script, with an error that names it.
pub fn read_script(path: &std::path::Path) -> Result<String> {
    let refused = |problem: String| Error::file(path, problem).hint("give the path of a .rhai script");
    if std::fs::metadata(path).map_err(|e| refused(e.to_string()))?.len() > (64 << 20) || !path.is_file() {
        return Err(refused("not a script".into()));
    }
    let bytes = std::fs::read(path).map_err(|e| refused(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| Error::file(path, "not a text file in UTF-8"))
}
