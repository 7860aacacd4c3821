//! Objects in three dimensions as a data set. What is read is each object's canonical view; `space::render` draws any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sheet::{Sheet, bytes};
use super::{Dataset, Edge, Objects, Source};
use crate::core::{Budget, Cx, Digest, Error, Result, Value, random};
use crate::render::{CLASSES, Mesh, Textures, View, draw, object, read_obj};

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

/// Objects that were read from files.
struct FileObjects(Vec<Arc<Mesh>>);

impl Objects for FileObjects {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn object(&self, index: usize) -> Result<Arc<Mesh>> {
        Ok(self.0[index].clone())
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
        draw(&*self.objects.object(index)?, &View::of(&View::canonical()), self.size, pixels);
        Ok(())
    }

    fn attributes(&self, index: usize) -> Vec<(&'static str, Value)> {
        let Ok(object) = self.objects.object(index) else { return vec![] };
        vec![("object", Value::Str(object.name.clone())), ("triangles", Value::Int(object.triangles().len() as i64))]
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
    let digest = Digest::of(format!("objects 1 {classes:?} {n} {size} {seed}").as_bytes());
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

/// Objects from a `.obj` file, a folder with a `meshes.csv`, or one folder of `.obj` files per class. Classes are in alphabetical order.
pub fn read_objects(cx: &Cx, path: &Path, size: usize) -> Result<Dataset> {
    check_size(size)?;
    let listed = list(cx, path)?;
    if listed.is_empty() {
        return Err(Error::file(path, "no objects")
            .hint("wanted are .obj files in one folder per class, or a meshes.csv with the columns class and file; is it the folder above?"));
    }
    let task = cx.progress("reading objects", Some(listed.len() as u64));
    let (mut textures, mut objects, mut digests) = (Textures::new(super::picture::read), vec![], vec![]);
    let mut classes: Vec<String> = listed.iter().map(|one| one.class.clone()).collect();
    classes.sort();
    classes.dedup();
    let mut labels = vec![];
    // Files that are meant under several names are on disk once.
    let files: BTreeSet<PathBuf> =
        listed.iter().flat_map(|one| &one.files).flat_map(|file| file.canonicalize()).collect();
    let on_disk = files.iter().flat_map(std::fs::metadata).map(|about| about.len()).sum();
    let budget = Budget::new(cx, on_disk, Budget::TEXT);
    for one in &listed {
        cx.check()?;
        let object = read_obj(cx, &one.name, &one.files, &mut textures)?;
        budget.take(object.bytes(), "its objects").map_err(|error| error.at(path))?;
        digests.push(Digest::of_parts(&[one.name.as_bytes(), &object.digest().0]));
        objects.push(Arc::new(object));
        labels.push(classes.iter().position(|class| *class == one.class).unwrap_or(0) as i64);
        task.advance(1);
    }
    let parts: Vec<&[u8]> = digests.iter().map(|digest| &digest.0[..]).collect();
    let digest = Digest::of_parts(&[&Digest::of_parts(&parts).0, format!("objects 1 {size}").as_bytes()]);
    let name = path.file_name().map_or_else(|| "objects".into(), |name| name.to_string_lossy().into_owned());
    let source = Canonical { objects: Arc::new(FileObjects(objects)), size };
    Dataset::new(name, Arc::new(source), labels, classes, Edge::None, digest)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn list(cx: &Cx, path: &Path) -> Result<Vec<Listed>> {
    let is_obj = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("obj"));
    if path.is_file() {
        return match is_obj(path) {
            true => Ok(vec![Listed { class: stem(path), name: stem(path), files: vec![path.into()] }]),
            false => Err(Error::file(path, "not an .obj file")
                .hint("wanted are Wavefront OBJ files; most programs that show meshes can write them")),
        };
    }
    let table = path.join("meshes.csv");
    if table.is_file() {
        return list_table(cx, path, &table);
    }
    let entries = |folder: &Path| -> Result<Vec<PathBuf>> {
        let read = std::fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
        let mut found = read
            .map(|entry| entry.map(|entry| entry.path()).map_err(|e| Error::file(folder, e)))
            .collect::<Result<Vec<_>>>()?;
        found.sort();
        Ok(found)
    };
    let mut listed = vec![];
    for folder in entries(path)?.into_iter().filter(|entry| entry.is_dir()) {
        let class = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in entries(&folder)?.into_iter().filter(|file| is_obj(file)) {
            listed.push(Listed { class: class.clone(), name: stem(&file), files: vec![file] });
        }
    }
    Ok(listed)
}

/// The class of files that hold a part of the object in the same folder whose name theirs begins with.
const PART: &str = "part";

fn list_table(cx: &Cx, folder: &Path, table: &Path) -> Result<Vec<Listed>> {
    let (bytes, budget) = bytes(cx, table)?;
    let sheet = Sheet::new(table, &bytes, &budget)?;
    let (Some(class), Some(file)) = (sheet.column(&["class"]), sheet.column(&["file"])) else {
        return Err(Error::file(table, "wanted are the columns `class` and `file`"));
    };
    let (mut listed, mut parts, mut seen) = (vec![], vec![], BTreeMap::new());
    for row in sheet.rows() {
        let (line, row) = row?;
        let (class, file) = (&row[class], &row[file]);
        let path = folder.join(file);
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
