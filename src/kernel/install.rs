//! Tells Jupyter of the kernel: a folder with `kernel.json`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};

use crate::core::files::write_whole;
use crate::core::{Error, Result, below_home};
use crate::sandbox::Flags;

const LOGO: &str = include_str!("logo.svg");

/// Where Jupyter looks for kernels.
pub enum Place {
    /// In the folder of the user, which every Jupyter reads.
    User,
    /// In the environment or the system that lies here.
    Prefix(PathBuf),
}

impl Place {
    fn folder(&self) -> Result<PathBuf> {
        match self {
            Self::Prefix(root) => {
                Ok(std::path::absolute(root).map_err(|e| Error::file(root, e))?.join("share/jupyter"))
            }
            Self::User => {
                if let Some(named) = std::env::var_os("JUPYTER_DATA_DIR").filter(|folder| !folder.is_empty()) {
                    return Ok(named.into());
                }
                let home = std::env::var_os("HOME").map(PathBuf::from);
                let usual = match cfg!(target_os = "macos") {
                    true => home.map(|home| home.join("Library/Jupyter")),
                    // Beside the folder that is viva's own.
                    false => below_home("XDG_DATA_HOME", ".local/share").map(|own| own.with_file_name("jupyter")),
                };
                usual.ok_or_else(|| {
                    Error::argument("there is no home folder to install into")
                        .hint("viva kernel --install --prefix DIR")
                })
            }
        }
    }
}

/// Writes `kernel.json` under this name; every kernel that it starts may do what the flags say. Returns the folder.
pub fn install(place: &Place, name: &str, flags: &Flags) -> Result<PathBuf> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(fine) || name.starts_with('.') {
        return Err(Error::argument(format!("a kernel can't be called {name:?}"))
            .hint("letters, digits, and - _ . between them"));
    }
    let folder = place.folder()?.join("kernels").join(name.to_lowercase());
    let held = folder.join("kernel.json");
    if std::fs::read(&held).is_ok_and(|text| !is_own(&text)) {
        return Err(Error::file(&held, "is another program's kernel").hint("--name gives this one another name"));
    }
    let spec = serde_json::to_string_pretty(&spec(name, flags)?).unwrap_or_default() + "\n";
    std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
    for (file, text) in [("kernel.json", spec.as_str()), ("logo-svg.svg", LOGO)] {
        let file = folder.join(file);
        write_whole(&file, |here| std::fs::write(here, text).map_err(|e| Error::file(&file, e)))?;
    }
    Ok(folder)
}

/// Whether viva wrote it.
fn is_own(text: &[u8]) -> bool {
    let spec: Json = serde_json::from_slice(text).unwrap_or_default();
    spec["language"] == "rhai" && spec["argv"][1] == "kernel"
}

fn spec(name: &str, flags: &Flags) -> Result<Json> {
    let own = std::env::current_exe().map_err(|e| Error::internal(format!("where viva itself lies: {e}")))?;
    let own = own.to_str().ok_or_else(|| Error::file(&own, "the path to viva is not UTF-8"))?;
    let words = flags.words();
    let argv: Vec<String> =
        [own, "kernel", "{connection_file}"].map(String::from).into_iter().chain(words.clone()).collect();
    let title = match (name, words.is_empty()) {
        ("viva", true) => "viva".to_string(),
        ("viva", false) => format!("viva ({})", words.join(" ")),
        _ => name.to_string(),
    };
    let mut spec = json!({ "argv": argv, "display_name": title, "language": "rhai", "interrupt_mode": "message" });
    let environment = environment();
    if !environment.is_empty() {
        spec["env"] = Json::Object(environment);
    }
    Ok(spec)
}

/// What viva itself was found to need to start: the folder of libtorch, where the loader has it from the environment alone.
fn environment() -> Map<String, Json> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let torch = maps.lines().find_map(|line| Some(&line[line.find('/').filter(|_| line.contains("libtorch_cpu"))?..]));
    let Some(torch) = torch.and_then(|file| Path::new(file).parent()).and_then(|folder| folder.canonicalize().ok())
    else {
        return Map::new();
    };
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let named = std::env::split_paths(&path).any(|folder| folder.canonicalize().is_ok_and(|folder| folder == torch));
    match torch.to_str().filter(|_| named) {
        Some(folder) => Map::from_iter([("LD_LIBRARY_PATH".to_string(), json!(folder))]),
        None => Map::new(),
    }
}
