//! Objects in three dimensions as a data set. What is read is each object's canonical view; `space::render` draws any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sheet::{Sheet, bytes};
use super::{Dataset, Edge, Objects, Skipped, Source};
use crate::core::{Budget, Cx, Digest, Error, ErrorKind, Result, Value, random};
use crate::render::{CLASSES, ENDINGS, Mesh, Scenery, Textures, Up, View, draw, object, read_object};

/// Objects that the program builds by itself when they are looked at.
struct Built {
    /// Their classes, by their places in [`CLASSES`].
    classes: Vec<usize>,
    seed: u64,
}

impl Objects for Built {
    fn count(&self) -> usize {
        self.classes.len()
    }

    fn object(&self, index: usize) -> Result<Arc<Mesh>> {
        // Apart from the glyphs and scenes of the same seed.
        Ok(Arc::new(object(self.classes[index], &mut random(self.seed ^ OWN, index as u64))?))
    }
}

const OWN: u64 = 0x6f62_6a65_6374_7321;

/// Objects that were read from files, each with a number that those which look alike have in common.
struct FileObjects(Vec<(Arc<Mesh>, u64)>);

impl Objects for FileObjects {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn object(&self, index: usize) -> Result<Arc<Mesh>> {
        Ok(self.0[index].0.clone())
    }

    fn are_from_files(&self) -> bool {
        true
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        Some(self.0[index].1)
    }
}

/// Canonical views of objects.
struct Canonical {
    objects: Arc<dyn Objects>,
    size: usize,
}

impl Source for Canonical {
    fn len(&self) -> usize {
        self.objects.count()
    }

    fn shape(&self) -> [usize; 3] {
        [3, self.size, self.size]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        let object = self.objects.object(index)?;
        draw(&object, &View::of(&View::canonical()), &Scenery::default(), self.size, pixels);
        Ok(())
    }

    fn likeness(&self, index: usize) -> Option<u64> {
        self.objects.likeness(index)
    }

    fn object_from_file(&self, index: usize) -> Option<Arc<Mesh>> {
        self.objects.are_from_files().then(|| self.objects.object(index).ok()).flatten()
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let Ok(object) = self.objects.object(index) else { return vec![] };
        let mut all = vec![
            ("object", Value::Str(object.name.clone())),
            ("triangles", Value::Int(object.triangles().len() as i64)),
        ];
        if self.objects.are_from_files() {
            let remarks = object.remarks().iter().map(|remark| Value::Str(remark.clone())).collect();
            all.extend([("radius", Value::Float(object.radius().into())), ("remarks", Value::Array(remarks))]);
        }
        all
    }

    fn objects(&self) -> Option<&Arc<dyn Objects>> {
        Some(&self.objects)
    }
}

impl Dataset {
    /// The objects that the images in these rows show; `None` where that is not known, or where they are prepared for a model.
    pub fn objects(&self, rows: &[usize]) -> Option<Result<Vec<Arc<Mesh>>>> {
        let objects = self.source_objects()?;
        let mut built: BTreeMap<usize, Arc<Mesh>> = BTreeMap::new();
        let mut find = |index: usize| {
            if let Some(object) = built.get(&index) {
                return Ok(object.clone());
            }
            let object = objects.object(index)?;
            built.insert(index, object.clone());
            Ok(object)
        };
        Some(self.source_rows(rows).into_iter().map(&mut find).collect())
    }

    /// What of the objects that its images show is drawn otherwise than their files say, a sentence for each kind.
    pub(super) fn departures(&self) -> Vec<String> {
        let mut objects: BTreeMap<u64, Arc<Mesh>> = BTreeMap::new();
        for object in (0..self.len()).filter_map(|row| self.object_from_file(row)) {
            objects.entry(object.number()).or_insert(object);
        }
        let mut kinds: Vec<(&str, &str, usize)> = vec![];
        for object in objects.values() {
            for remark in object.departures() {
                match kinds.iter_mut().find(|(known, ..)| known == remark) {
                    Some((.., count)) => *count += 1,
                    None => kinds.push((remark, &object.name, 1)),
                }
            }
        }
        let all = objects.len();
        let told = |(remark, first, count): (&str, &str, usize)| {
            let name = &self.name;
            match (all, count) {
                (1, _) => format!("the object {first} of {name} is drawn otherwise than its file says: {remark}"),
                (_, 1) => {
                    format!("1 of the {all} objects of {name} is drawn otherwise than its file says, {first}: {remark}")
                }
                _ => format!(
                    "{count} of the {all} objects of {name} are drawn otherwise than their files say, the first of them {first}: {remark}"
                ),
            }
        };
        kinds.into_iter().map(told).collect()
    }

    /// Whether it is known which objects its images show.
    pub fn shows_objects(&self) -> bool {
        self.source_objects().is_some()
    }
}

/// Refuses pictures that are too small to see anything in, or too large to draw by the thousand.
fn check_size(size: usize) -> Result<()> {
    match (16..=512).contains(&size) {
        true => Ok(()),
        false => Err(Error::argument(format!("objects are drawn at 16 to 512 pixels, not {size}"))),
    }
}

/// `n` objects of these classes in turn, `size x size` pixels when looked at.
pub fn built_objects(classes: &[String], n: usize, size: usize, seed: u64) -> Result<Dataset> {
    check_size(size)?;
    let places: Vec<usize> = classes
        .iter()
        .map(|name| {
            CLASSES.iter().position(|known| known == name).ok_or_else(|| {
                Error::argument(format!("no class of objects {name:?}")).hint(crate::core::suggestion(name, CLASSES))
            })
        })
        .collect::<Result<_>>()?;
    if places.is_empty() {
        return Err(Error::argument("no classes of objects").hint(format!("there are {}", CLASSES.join(", "))));
    }
    for (i, name) in classes.iter().enumerate() {
        if classes[..i].contains(name) {
            return Err(Error::argument(format!("class {name:?} is there twice")));
        }
    }
    let labels = (0..n).map(|i| (i % places.len()) as i64).collect();
    let built = Built { classes: (0..n).map(|i| places[i % places.len()]).collect(), seed };
    // The number counts changes of the drawing itself.
    let digest = Digest::of(format!("objects 2 {classes:?} {n} {size} {seed}").as_bytes());
    let source = Canonical { objects: Arc::new(built), size };
    Dataset::new("objects", Arc::new(source), labels, classes.to_vec(), Edge::None, digest)
}

/// What a folder says about its objects.
struct Listed {
    class: String,
    name: String,
    /// The object's own file, and those of its parts.
    files: Vec<PathBuf>,
}

/// How files of objects are to be read.
pub struct Reading<'a> {
    /// Pixels.
    pub size: usize,
    pub up: Up,
    /// A file that says which class objects are of, by the names of their files.
    pub classes: Option<&'a Path>,
}

/// Objects from one file, a folder with a `meshes.csv`, or a folder whose folders are classes, with objects at any depth in them. Classes are in
/// alphabetical order. Of many, what can't be read is left out and listed.
pub fn read_objects(cx: &Cx, path: &Path, how: &Reading) -> Result<Dataset> {
    let size = how.size;
    check_size(size)?;
    let (listed, mut skipped) = list(cx, path, how.classes)?;
    if listed.is_empty() {
        let first = skipped.first().map_or(String::new(), |one| format!(": {}: {}", one.name, one.why));
        return Err(Error::file(path, format!("no objects{first}")).hint(format!(
            "wanted are files that end with .{} in one folder per class, or a meshes.csv with the columns class and file; is it the folder above?",
            ENDINGS.join(", .")
        )));
    }
    let task = cx.progress("reading objects", Some(listed.len() as u64));
    let (mut textures, mut objects, mut digests) = (Textures::new(super::picture::decode), vec![], vec![]);
    // Files that are meant under several names are on disk once.
    let files: BTreeSet<PathBuf> =
        listed.iter().flat_map(|one| &one.files).flat_map(|file| file.canonicalize()).collect();
    let on_disk = files.iter().flat_map(|file| on_disk(file)).sum();
    let budget = Budget::new(cx, on_disk, Budget::TEXT);
    let mut of = vec![];
    for one in &listed {
        cx.check()?;
        task.advance(1);
        let object = match read_object(cx, &one.name, &one.files, how.up, &mut textures) {
            Ok(object) => object,
            Err(error) if path.is_dir() && matches!(error.kind, ErrorKind::File | ErrorKind::Data) => {
                skipped.push(Skipped { name: format!("{}/{}", one.class, one.name), why: error.message });
                continue;
            }
            Err(error) => return Err(error),
        };
        budget.take(object.bytes(), "its objects").map_err(|error| error.at(path))?;
        let digest = object.digest();
        digests.push(Digest::of_parts(&[one.name.as_bytes(), &digest.0]));
        objects.push((Arc::new(object), digest.as_u64()));
        of.push(one.class.clone());
    }
    if objects.is_empty() {
        let first = skipped.first().map_or(String::new(), |one| format!("; {}: {}", one.name, one.why));
        return Err(Error::file(path, format!("none of {} objects can be read{first}", skipped.len())));
    }
    let mut classes = of.clone();
    classes.sort();
    classes.dedup();
    let labels = of.iter().map(|own| classes.binary_search(own).unwrap_or(0) as i64).collect();
    let parts: Vec<&[u8]> = digests.iter().map(|digest| &digest.0[..]).collect();
    let digest = Digest::of_parts(&[&Digest::of_parts(&parts).0, format!("objects 1 {size}").as_bytes()]);
    let name = path.file_name().map_or_else(|| "objects".into(), |name| name.to_string_lossy().into_owned());
    let source = Canonical { objects: Arc::new(FileObjects(objects)), size };
    Ok(Dataset::new(name, Arc::new(source), labels, classes, Edge::None, digest)?.with_skipped(skipped))
}

/// Bytes of a file; a glTF file that is text has its numbers beside it.
fn on_disk(file: &Path) -> std::io::Result<u64> {
    let own = std::fs::metadata(file)?.len();
    let beside = std::fs::metadata(file.with_extension("bin")).map_or(0, |about| about.len());
    Ok(own + if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gltf")) { beside } else { 0 })
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Formats of objects that are not read, as collections have them.
const OTHERS: [&str; 8] = ["off", "fbx", "dae", "3ds", "blend", "usd", "usdz", "x3d"];

/// Its place in [`ENDINGS`], where it is a file of an object.
fn format_of(path: &Path) -> Option<usize> {
    let ending = path.extension()?;
    ENDINGS.iter().position(|known| ending.eq_ignore_ascii_case(known))
}

fn list(cx: &Cx, path: &Path, classes: Option<&Path>) -> Result<(Vec<Listed>, Vec<Skipped>)> {
    if path.is_file() {
        return match format_of(path) {
            Some(_) => Ok((vec![Listed { class: stem(path), name: stem(path), files: vec![path.into()] }], vec![])),
            None => Err(Error::file(path, "not a file of an object").hint(format!(
                "wanted are files that end with .{}; most programs that show meshes can write one of them",
                ENDINGS.join(", .")
            ))),
        };
    }
    let table = path.join("meshes.csv");
    match classes {
        None if table.is_file() => list_table(cx, path, &table).map(|listed| (listed, vec![])),
        None => list_folders(cx, path),
        Some(classes) => list_named(cx, path, classes),
    }
}

/// Folders in folders, at most; collections have four.
const DEPTH: usize = 16;

/// All files of objects below a folder, in order. Of one object in several formats the first of [`ENDINGS`] is left, the others are skipped.
fn below(cx: &Cx, folder: &Path, skipped: &mut Vec<Skipped>) -> Result<Vec<PathBuf>> {
    let (mut open, mut found) = (vec![(folder.to_path_buf(), 0)], BTreeMap::<PathBuf, PathBuf>::new());
    let mut unread: Vec<PathBuf> = vec![];
    while let Some((inner, depth)) = open.pop() {
        cx.check()?;
        if depth > DEPTH {
            return Err(Error::file(&inner, format!("more than {DEPTH} folders in each other"))
                .hint("does a link lead back to a folder above?"));
        }
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&inner)
            .map_err(|e| Error::file(&inner, e))?
            .map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::file(&inner, e)))
            .collect::<Result<_>>()?;
        entries.sort();
        for entry in entries {
            if entry.is_dir() {
                open.push((entry, depth + 1));
                continue;
            }
            let Some(format) = format_of(&entry) else {
                let is = |other: &&str| entry.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(other));
                unread.extend(OTHERS.iter().any(is).then_some(entry));
                continue;
            };
            let (other, own) = match found.remove(&entry.with_extension("")) {
                Some(other) if format_of(&other).is_some_and(|its| its <= format) => (Some(entry.clone()), other),
                other => (other, entry.clone()),
            };
            if let Some(other) = other {
                let name = other.strip_prefix(folder).unwrap_or(&other).display().to_string();
                let why = format!("the same object as {}", own.file_name().unwrap_or_default().to_string_lossy());
                skipped.push(Skipped { name, why });
            }
            found.insert(entry.with_extension(""), own);
        }
    }
    for file in unread {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let why = match found.get(&file.with_extension("")) {
            Some(own) => format!("the same object as {}", own.file_name().unwrap_or_default().to_string_lossy()),
            None => "objects of this format can't be read".into(),
        };
        skipped.push(Skipped { name, why });
    }
    Ok(found.into_values().collect())
}

/// What an object is called: by its file, and by the folders between that and its class. ShapeNet has all objects in files of one name.
fn called(file: &Path, class: &Path) -> String {
    let inside = file.strip_prefix(class).unwrap_or(file).with_extension("");
    let words: Vec<String> = inside.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match &words[..] {
        [id, models, model] if models == "models" && model == "model_normalized" => id.clone(),
        [id, model] if model == "model" => id.clone(),
        words => words.join("/"),
    }
}

fn list_folders(cx: &Cx, path: &Path) -> Result<(Vec<Listed>, Vec<Skipped>)> {
    let (mut listed, mut skipped) = (vec![], vec![]);
    for file in below(cx, path, &mut skipped)? {
        let inside = file.strip_prefix(path).unwrap_or(&file);
        match inside.iter().next() {
            Some(class) if class != inside.as_os_str() => {
                let name = called(&file, &path.join(class));
                listed.push(Listed { class: class.to_string_lossy().into_owned(), name, files: vec![file] });
            }
            _ => skipped.push(Skipped { name: inside.display().to_string(), why: "in no folder of a class".into() }),
        }
    }
    listed.sort_by(|a, b| (&a.class, &a.files).cmp(&(&b.class, &b.files)));
    Ok((listed, skipped))
}

/// By a file of classes: JSON that has for every class an array of names, as Objaverse's LVIS annotations; or CSV with the columns `class`
/// and `file` or `uid`.
fn list_named(cx: &Cx, path: &Path, classes: &Path) -> Result<(Vec<Listed>, Vec<Skipped>)> {
    let mut class_of: BTreeMap<String, String> = BTreeMap::new();
    let mut put = |name: &str, class: &str| match class_of.insert(name.into(), class.into()) {
        Some(before) if before != class => {
            Err(Error::file(classes, format!("{name:?} is of two classes, {before:?} and {class:?}")))
        }
        _ => Ok(()),
    };
    if classes.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) {
        let budget = Budget::of(cx, classes, Budget::TEXT)?;
        let bytes = budget.file(classes)?;
        budget.json(&bytes).map_err(|error| error.at(classes))?;
        let named: BTreeMap<String, Vec<String>> = serde_json::from_slice(&bytes).map_err(|e| {
            Error::file(classes, format!("not a map from classes to arrays of names: {e}"))
                .hint("wanted is {\"chair\": [\"uid\", ..], ..}, as Objaverse's lvis-annotations.json")
        })?;
        for (class, names) in &named {
            cx.check()?;
            names.iter().try_for_each(|name| put(name, class))?;
        }
    } else {
        let (bytes, budget) = bytes(cx, classes)?;
        let sheet = Sheet::new(classes, &bytes, &budget)?;
        let (Some(class), Some(file)) = (sheet.sole_column(&["class"])?, sheet.sole_column(&["file", "uid"])?) else {
            return Err(Error::file(classes, "wanted are the columns `class` and `file` or `uid`"));
        };
        for row in sheet.rows() {
            let (_, row) = row?;
            put(&stem_of_known(&row[file]), &row[class])?;
        }
    }
    let (mut listed, mut skipped) = (vec![], vec![]);
    for file in below(cx, path, &mut skipped)? {
        let name = stem(&file);
        match class_of.get(&name) {
            Some(class) => listed.push(Listed { class: class.clone(), name, files: vec![file] }),
            None => skipped.push(Skipped { name, why: format!("in no class of {}", classes.display()) }),
        }
    }
    listed.sort_by(|a, b| (&a.class, &a.files).cmp(&(&b.class, &b.files)));
    Ok((listed, skipped))
}

/// The name of an object, where a file of one or a name may stand: names may have dots.
fn stem_of_known(file: &str) -> String {
    match format_of(Path::new(file)) {
        Some(_) => stem(Path::new(file)),
        None => file.into(),
    }
}

/// The class of files that hold a part of the object in the same folder whose name theirs begins with.
const PART: &str = "part";

fn list_table(cx: &Cx, folder: &Path, table: &Path) -> Result<Vec<Listed>> {
    let (bytes, budget) = bytes(cx, table)?;
    let sheet = Sheet::new(table, &bytes, &budget)?;
    let (Some(class), Some(file)) = (sheet.sole_column(&["class"])?, sheet.sole_column(&["file"])?) else {
        return Err(Error::file(table, "wanted are the columns `class` and `file`"));
    };
    let (mut listed, mut parts, mut seen) = (vec![], vec![], BTreeMap::new());
    for row in sheet.rows() {
        let (line, row) = row?;
        let (class, file) = (&row[class], &row[file]);
        let path = folder.join(file);
        cx.check_read(&path)?;
        budget.take(256 + 4 * file.len() as u64, "its rows").map_err(|e| e.at(table))?;
        if let Some(before) = seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone()), line) {
            return Err(Error::file(table, format!("{file} stands there twice, in lines {before} and {line}")));
        }
        match class {
            PART => parts.push(path),
            class => listed.push(Listed { class: class.into(), name: stem(&path), files: vec![path] }),
        }
    }
    let mut of_object: BTreeMap<usize, Vec<PathBuf>> = BTreeMap::new();
    for part in parts {
        let holds = |one: &Listed| {
            one.files[0].parent() == part.parent()
                && stem(&part).strip_prefix(&one.name).is_some_and(|rest| rest.starts_with('_'))
        };
        // The longest name that fits: fridge_A_decorated_door belongs to fridge_A_decorated, not to fridge_A.
        let owner = listed.iter().enumerate().filter(|(_, one)| holds(one)).max_by_key(|(_, one)| one.name.len());
        let Some((owner, _)) = owner else {
            return Err(Error::file(table, format!("{} is a part of no object", part.display()))
                .hint("a part stands in its object's folder, and its name begins with the object's and `_`"));
        };
        of_object.entry(owner).or_default().push(part);
    }
    for (owner, parts) in of_object {
        listed[owner].files.extend(parts);
    }
    Ok(listed)
}
