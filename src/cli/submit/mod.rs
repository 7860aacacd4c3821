//! `viva submit`: what existing engines need to run a script in shards: one file that a person can read and change.

use std::path::{Path, PathBuf};

use super::run_options::{RunOptions, of_memory};
use super::{CommandOutcome, run};
use crate::core::{Error, Result, Shard, at_home, data_folder, memory, works_fast};
use crate::page::quoted;
use crate::sandbox::readable_in;

/// An engine and how it is told.
struct Engine {
    flag: &'static str,
    file: &'static str,
    template: &'static str,
    send: &'static str,
    /// Whether the file is read where no path of this machine means anything.
    elsewhere: bool,
}

static ENGINES: [Engine; 3] = [
    Engine { flag: "slurm", file: "slurm.sh", template: include_str!("slurm.sh"), send: "bash", elsewhere: false },
    Engine {
        flag: "kubernetes",
        file: "kubernetes.yaml",
        template: include_str!("kubernetes.yaml"),
        send: "kubectl apply -f",
        elsewhere: true,
    },
    Engine {
        flag: "parallel",
        file: "parallel.sh",
        template: include_str!("parallel.sh"),
        send: "bash",
        elsewhere: false,
    },
];

pub fn main(words: &[String]) -> CommandOutcome {
    let (mut engine, mut shards, mut out, mut force) = (None, None, None, false);
    let mut rest = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let flag = word.strip_prefix("--").unwrap_or_default();
        let (name, inline) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value.to_string())));
        let mut value = || {
            let value = inline.clone().or_else(|| words.next().cloned()).filter(|value| !value.is_empty());
            value.ok_or_else(|| Error::argument(format!("viva submit: --{name} needs a value")))
        };
        let is_switch = name == "force" || ENGINES.iter().any(|engine| engine.flag == name);
        if is_switch && inline.is_some() {
            return Err(Error::argument(format!("viva submit: --{name} takes no value")).into());
        }
        if let Some(named) = ENGINES.iter().find(|engine| engine.flag == name) {
            if let Some(Engine { flag, .. }) = engine.filter(|before: &&Engine| before.flag != named.flag) {
                return Err(Error::argument(format!("viva submit: --{flag} and --{name}, wanted is one engine")).into());
            }
            engine = Some(named);
        } else if name == "shards" {
            let text = value()?;
            let shard: Result<Shard> = format!("1/{text}").parse();
            shards = Some(
                shard
                    .map_err(|_| {
                        Error::argument(format!("viva submit: --shards wants a whole number from 1 up, got {text:?}"))
                    })?
                    .of,
            );
        } else if name == "out" {
            out = Some(at_home(&value()?)?);
        } else if name == "force" {
            force = true;
        } else {
            rest.push(word.clone());
        }
    }
    let usage = "viva submit --slurm SCRIPT --shards 16 [--out DIR] [--name value ...]";
    let engine = engine.ok_or_else(|| {
        let flags: Vec<String> = ENGINES.iter().map(|engine| format!("--{}", engine.flag)).collect();
        Error::argument(format!("viva submit: by which engine? one of {}", flags.join(", "))).hint(usage)
    })?;
    let shards = shards.ok_or_else(|| Error::argument("viva submit: --shards says into how many parts").hint(usage))?;
    let options = run::parse(&rest)?;
    if options.json {
        return Err(Error::argument(
            "viva submit: --json has no place here, what puts the shards together prints none",
        )
        .into());
    }
    for (given, name) in [
        (options.resume.is_some(), "resume"),
        (options.shard.is_some(), "shard"),
        (options.devices.is_some(), "devices"),
        (options.verify, "verify"),
        (options.changed, "changed"),
    ] {
        if given {
            return Err(
                Error::argument(format!("viva submit: --{name} has no place here, every shard has its own")).into()
            );
        }
    }
    let Some(script) = options.script.clone() else {
        return Err(Error::argument("viva submit needs a script").hint(usage).into());
    };
    // What no shard could begin with is refused now, and not in each of them.
    let text = super::read_script(Path::new(&script))?;
    run::checked(&options, &script, &text)?;
    run::can_end(&options, &script, &text)?;
    let name = Path::new(&script).file_stem().and_then(|stem| stem.to_str()).unwrap_or("run").to_string();
    let out = out.unwrap_or_else(|| PathBuf::from("runs").join(format!("{name}-shards")));
    let file = out.join(engine.file);
    if file.exists() && !force {
        return Err(Error::file(&file, "is there already, and may have been changed by hand")
            .hint("give another --out, or --force to write over it")
            .into());
    }
    let text = filled(engine, (&script, &name), shards, (&out, &file), &options)?;
    std::fs::create_dir_all(&out).map_err(|e| Error::file(&out, e))?;
    std::fs::write(&file, text).map_err(|e| Error::file(&file, e))?;
    println!(
        "{} is written: look at it, change what this cluster wants otherwise, then: {} {}",
        file.display(),
        engine.send,
        quoted(&file.display().to_string())
    );
    Ok(())
}

/// The template with what it is to say.
fn filled(
    engine: &Engine,
    (script, name): (&str, &str),
    shards: usize,
    (out, file): (&Path, &Path),
    options: &RunOptions,
) -> Result<String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|e| Error::file(path, e));
    let place = |path: &Path| -> Result<String> {
        let path = if engine.elsewhere { path.to_path_buf() } else { absolute(path)? };
        Ok(quoted(&path.display().to_string()))
    };
    let mut command = vec![script.to_string()];
    command.extend(options.words());
    command.extend(options.device.as_ref().map(|device| format!("--device={device}")));
    command.extend(of_memory(memory::asked()));
    let lines = |word: &str| word.contains(char::is_control);
    if command.iter().chain([&out.display().to_string()]).any(|word| lines(word)) {
        return Err(Error::argument("viva submit: a line break, or another control character, in a name or value would end a line of what the engine reads")
            .hint("give the script and --out other names, and such a value in the script itself"));
    }
    // Kubernetes takes `$(NAME)` for a variable before any shell sees it.
    let as_it_stands = |text: String| if engine.elsewhere { text.replace('$', "$$") } else { text };
    let command: Vec<String> = command.iter().map(|word| as_it_stands(quoted(word))).collect();
    // What puts shards together runs a copy of the script, which may read what lies beside the script itself.
    let beside = match Path::new(script).parent() {
        Some(folder) if engine.elsewhere && folder.as_os_str().is_empty() => vec![PathBuf::from(".")],
        Some(folder) if engine.elsewhere => vec![folder.to_path_buf()],
        _ => absolute(Path::new(script))?.parent().map(readable_in).unwrap_or_default(),
    };
    let named = options.named.iter().chain(&beside).map(|path| format!("--allow-read={}", path.display()));
    let allowed: Vec<String> =
        options.flags.words().into_iter().chain(named).chain(works_fast().then(|| "--fast".into())).collect();
    let allowed: String = allowed.iter().map(|word| format!(" {}", as_it_stands(quoted(word)))).collect();
    let viva = std::env::current_exe().map_err(|e| Error::argument(format!("viva itself can't be found: {e}")))?;
    let kept = |name: &str| std::env::var(name).ok().map(|value| format!("export {name}={}\n", quoted(&value)));
    let data = data_folder().map(|folder| format!("export VIVA_DATA={}\n", quoted(&folder.display().to_string())));
    let environment: String = data.into_iter().chain(kept("LD_LIBRARY_PATH")).collect();
    let folder = std::env::current_dir().map_err(|e| Error::argument(format!("the working folder: {e}")))?;
    // What names of jobs may hold, everywhere.
    let lower = name.to_ascii_lowercase();
    let name: String = lower.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let name = match name.trim_matches('-') {
        "" => "viva",
        name => name,
    };
    let pairs = [
        ("script", script.to_string()),
        ("name", name.to_string()),
        ("shards", shards.to_string()),
        ("out", as_it_stands(place(out)?)),
        // Slurm fills in what stands behind a single one.
        ("log", place(out)?.replace('%', "%%")),
        ("file", place(file)?),
        ("folder", quoted(&folder.display().to_string())),
        ("viva", quoted(&viva.display().to_string())),
        ("threads", options.threads.unwrap_or(4).to_string()),
        ("command", command.join(" ")),
        ("allowed", allowed),
        ("environment", environment),
    ];
    // What stands in a value is no place to fill.
    let mut text = String::new();
    let mut rest = engine.template;
    while let Some((before, (key, after))) = rest.split_once("{{").and_then(|(a, b)| Some((a, b.split_once("}}")?))) {
        let value = pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
        text += before;
        text += value.ok_or_else(|| Error::internal(format!("a template asks for {key}")))?;
        rest = after;
    }
    Ok(text + rest)
}
