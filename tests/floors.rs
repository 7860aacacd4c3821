//! The plan of the house: a folder imports only from its own floor and those below.

use std::path::Path;

const FLOORS: [(&str, usize); 21] = [
    ("core", 0),
    ("maths", 1),
    ("model", 2),
    ("generator", 2),
    ("data", 2),
    ("render", 2),
    ("space", 3),
    ("search", 4),
    ("objective", 4),
    ("train", 4),
    ("estimate", 5),
    ("judge", 5),
    ("plot", 5),
    ("primitives", 6),
    ("script", 7),
    ("term", 7),
    ("page", 7),
    ("sandbox", 7),
    ("repl", 8),
    ("cli", 8),
    ("main.rs", 9),
];

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().find(|(folder, _)| *folder == name).map(|(_, floor)| *floor)
}

fn sources(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("src can be read") {
        let path = entry.expect("src can be read").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Names of top-level folders that a text imports: what follows `crate::`, alone or in braces.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split("crate::").skip(1) {
        let names: Vec<&str> = match part.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or("").split(',').collect(),
            None => vec![part],
        };
        for name in names {
            found.push(name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found
}

#[test]
fn imports_point_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 30, "the sources were not found");
    let mut wrong = Vec::new();
    for file in files {
        let inside = file.strip_prefix(&root).expect("below src");
        let own = inside.iter().next().and_then(|part| part.to_str()).expect("a name");
        if own == "lib.rs" {
            continue;
        }
        let own_floor = floor(own).unwrap_or_else(|| panic!("{own} has no floor in the plan"));
        let text = std::fs::read_to_string(&file).expect("a source file");
        for name in imports(&text) {
            let Some(other) = floor(&name) else { continue };
            let beside = other == own_floor && name != own && own_floor >= 7;
            if other > own_floor || beside && !(own == "script" && name == "term") {
                wrong.push(format!("{} imports {name}", inside.display()));
            }
        }
        if own_floor < 7 {
            for library in ["rhai", "rustyline"] {
                if text.contains(&format!("use {library}")) || text.contains(&format!("{library}::")) {
                    wrong.push(format!("{} uses {library}", inside.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "arrows that point up:\n{}", wrong.join("\n"));
}
