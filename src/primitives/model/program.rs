//! Models that are programs.

use std::path::Path;
use std::time::Duration;

use crate::core::{Digest, Error, Value};
use crate::model::{Model, Program};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PROGRAM: Primitive = Primitive {
    path: "model::program",
    purpose: "A black box: a program that reads images and answers scores over pipes.",
    params: &[Param::new("command", Kind::Str, "what the shell runs, in the working folder: \"python3 scores.py\"")],
    options: &[
        super::CLASSES,
        super::INPUT,
        Param::new("seconds", Kind::Float, "how long an answer may take").range(0.01, 1e6).or(Fallback::Float(60.0)),
    ],
    returns: "Model",
    notes: "Scripts that others wrote could start anything, so this is refused unless viva was started with `--allow-run`; with \
            `--allow-run=python3` that program alone can be started, without a shell between. Programs are held as scripts are: they write \
            where scripts may write, read what scripts may read and reach no network (`viva doc safety`).\n\n\
            For every batch the program reads one line of JSON, `{\"images\": N, \"shape\": [C, H, W]}`, and then N x C x H x W float32 numbers in \
            [0, 1], little end first; it answers one line of JSON with N arrays of K scores, and flushes. In Python: \
            `head = json.loads(sys.stdin.buffer.readline())`, `x = numpy.frombuffer(sys.stdin.buffer.read(4 * head[\"images\"] * \
            math.prod(head[\"shape\"])), \"<f4\")`, `print(json.dumps(scores.tolist()), flush=True)`. It is started when it is first asked, \
            asked as long as it answers, and killed with all that it started when the model is no longer needed. A line too many is taken for the next answer where it comes after the next question. What it writes to its standard \
            error is shown when it fails.\n\n\
            Gradient searches can't drive it; those that need only scores can. The command and the files that it names are part of the model's hash, \
            not what else the program reads. A run that is resumed does not ask again what was answered before.",
    source: "",
    examples: &[Example {
        code: "let kind = \"\";\ntry { model::program(\"python3 scores.py\", #{ classes: 10 }); } catch (e) { kind = e.kind; }\nkind",
        result: "permission",
    }],
    run: |cx, args| {
        let command = args.str("command");
        if command.trim().is_empty() {
            return Err(Error::argument("`command` is empty").hint("model::program(\"python3 scores.py\")"));
        }
        let words = cx.words_to_run(command)?;
        let program = Program::new(command, words, Duration::from_secs_f64(args.float("seconds")), cx.stop_flag());
        let mut digest = Digest::of(format!("program {command}").as_bytes());
        // Other lines in the same file are another program.
        for file in files_of(command) {
            let of_file = Digest::of_file(file)?;
            cx.record_input_from("program", &file.display().to_string(), of_file, file);
            digest = Digest::of_parts(&[&digest.0, &of_file.0]);
        }
        let model = Model::new("program", Box::new(program), digest).with_input(super::input(args)?);
        Ok(Value::object(match args.optional_int("classes") {
            Some(classes) => model.with_classes(classes),
            None => model,
        }))
    },
};

/// The files that a command names, but for those that it writes to.
fn files_of(command: &str) -> impl Iterator<Item = &Path> {
    let mut written = false;
    let quoted = |c| matches!(c, '"' | '\'' | ';' | '(' | ')' | '<');
    command
        .split_whitespace()
        .filter(move |word| !std::mem::replace(&mut written, word.ends_with('>')) && !word.contains('>'))
        .map(move |word| Path::new(word.trim_matches(quoted)))
        .filter(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_the_files_that_it_runs() {
        let named = |command| files_of(command).map(|file| file.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            named("env A=1 sh 'build.rs' --flag; cat Cargo.toml >Cargo.lock 2> README.md"),
            ["build.rs", "Cargo.toml"]
        );
        assert!(named("python3 none.py src").is_empty());
    }
}
