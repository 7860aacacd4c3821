//! Links in a run folder that somebody else has made, at every name that viva writes.

use std::os::unix::fs::symlink;

use super::*;

const MINE: &str = "what is mine";

/// Files that are written in the place of whatever has their name, in one run.
const REPLACED: [&str; 6] =
    ["script.rhai", "printed.txt", "results.json", "report.md", "modules/part.rhai", "progress/calls.json"];

/// Names that nobody may lead elsewhere: what is read back, and what the script saves.
const REFUSED: [&str; 5] = ["manifest.json", "progress/journal", "STATE", "tables/early.csv", "f.safetensors"];

const FOLDERS: [&str; 3] = ["modules", "progress", "tables"];

/// A run that was killed near its end, and the name of the state that it keeps.
fn killed(home: &Path) -> (PathBuf, String) {
    let run = home.join("run");
    copied(&interrupted().0, &run);
    let names = std::fs::read_dir(run.join("progress")).unwrap().map(|entry| entry.unwrap().file_name());
    let state =
        names.map(|name| format!("progress/{}", name.to_str().unwrap())).find(|name| name.ends_with(".safetensors"));
    (run, state.unwrap())
}

/// Puts something in the place of a file.
type Plant = fn(mine: &Path, place: &Path);

fn to_a_file(mine: &Path, place: &Path) {
    symlink(mine, place).unwrap();
}

fn to_nothing(mine: &Path, place: &Path) {
    symlink(mine.with_extension("new"), place).unwrap();
}

fn another_name(mine: &Path, place: &Path) {
    std::fs::hard_link(mine, place).unwrap();
}

const KINDS: [(&str, Plant); 3] = [("to a file", to_a_file), ("to nothing", to_nothing), ("hard", another_name)];

#[test]
fn nothing_is_written_or_read_through_a_link_in_a_run_folder() {
    let home = home();
    let (run, state) = killed(home.path());
    let mut cases: Vec<(&str, Plant, Vec<&str>)> = Vec::new();
    for (kind, plant) in KINDS {
        cases.push((kind, plant, REPLACED.to_vec()));
        // What a hard link leads to is replaced like any file; only a journal is written where it is.
        let names = REFUSED.iter().filter(|name| kind != "hard" || **name == "progress/journal");
        cases.extend(names.map(|name| (kind, plant, vec![*name])));
    }
    side_by_side(&cases, |(kind, plant, names)| {
        let label = format!("{kind}: {}", names.join(", "));
        let own = tempfile::tempdir().unwrap();
        let copy = own.path().join("copy");
        copied(&run, &copy);
        for (i, name) in names.iter().enumerate() {
            let name = if *name == "STATE" { &state } else { *name };
            let (mine, place) = (own.path().join(format!("mine-{i}")), copy.join(name));
            // As it was: whoever reads it through the link finds nothing wrong.
            if place.exists() {
                std::fs::rename(&place, &mine).unwrap();
            } else {
                std::fs::write(&mine, MINE).unwrap();
            }
            plant(&mine, &place);
        }
        let mine = |i: usize| std::fs::read(own.path().join(format!("mine-{i}"))).unwrap();
        let before: Vec<_> = (0..names.len()).map(mine).collect();
        let stopped = names.len() == 1;
        let told = if stopped { badly(resume(home.path(), &copy)) } else { well(resume(home.path(), &copy)) };
        assert_eq!(told.contains("link"), stopped, "{label}: {told}");
        for (i, before) in before.iter().enumerate() {
            assert!(*before == mine(i), "{label}: what is mine has changed");
            assert!(!own.path().join(format!("mine-{i}.new")).exists(), "{label}: something was made");
        }
        for name in names.iter().filter(|_| !stopped) {
            let left = copy.join(name).symlink_metadata();
            assert!(!left.is_ok_and(|left| left.file_type().is_symlink()), "{label}: {name} is still a link");
        }
    });
}

#[test]
fn nothing_is_written_into_a_folder_that_a_run_folder_links_to() {
    let home = home();
    let (run, _) = killed(home.path());
    side_by_side(&FOLDERS, |name| {
        let (own, copy) = (home.path().join(format!("own-{name}")), home.path().join(format!("copy-{name}")));
        copied(&run, &copy);
        std::fs::rename(copy.join(name), &own).unwrap();
        symlink(&own, copy.join(name)).unwrap();
        let before = files(&own);
        let told = badly(resume(home.path(), &copy));
        assert!(told.contains("link") && told.contains(name), "{name}: {told}");
        same(&before, &own, name);
    });
    // The page of a run goes beside what lies there, not through it.
    let mine = home.path().join("page.html");
    std::fs::write(&mine, MINE).unwrap();
    let page = run.join("report.html");
    symlink(&mine, &page).unwrap();
    assert!(badly(viva(home.path(), &["report", "run"])).contains("something else is there"));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), MINE);
}

#[test]
fn temporary_names_can_not_be_guessed() {
    let home = home();
    let (run, _) = killed(home.path());
    let log = home.path().join("log");
    let mut command = shimmed(resume(home.path(), &run), &run);
    well({
        command.env("VIVA_LOG", &log);
        command
    });
    let made: Vec<power::Step> = power::read_log(&log).into_iter().filter(|step| step.made().is_some()).collect();
    assert!(made.len() > 5, "{made:?}");
    let mut own = std::collections::BTreeSet::new();
    for step in made {
        let path = step.made().unwrap();
        // Who made a file anew may open it once more by its name.
        assert!(step.is_anew() || own.contains(&path), "{path} may have been there already");
        let name = path.rsplit('/').next().unwrap().to_string();
        own.insert(path);
        if name == "journal" {
            continue;
        }
        let random = name.strip_prefix(".viva-").unwrap_or_else(|| panic!("{name} was made where it is to be"));
        let random = random.split('.').next().unwrap();
        assert!(random.len() == 16 && random.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
    }
}
