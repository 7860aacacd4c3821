//! `data::objects`

use super::Value;
use crate::core::{Cx, Result};
use crate::data::{Reading, built_objects, read_objects};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::render::{CLASSES, Up};

static UPS: Words<Up, 2> = Words::new([("y", Up::Y), ("z", Up::Z)]);

pub static OBJECTS: Primitive = Primitive {
    path: "data::objects",
    purpose: "Objects in three dimensions, for space::render: of classes that the program builds by itself, or from files: glTF, OBJ, PLY or STL.",
    params: &[Param::new(
        "path_or_classes",
        Kind::Either(&[Kind::Path, Kind::Array]),
        "a file of an object or a folder of them, or an array of class names: see the notes",
    )
    .or(Fallback::Absent("all ten classes that the program builds"))],
    options: &[
        Param::new("n", Kind::Int, "how many objects, of the classes in turn")
            .range(1.0, 1e6)
            .or(Fallback::Absent("40; all that are in the files")),
        Param::new("size", Kind::Int, "side of the pictures").or(Fallback::Int(64)).range(16.0, 512.0).unit("pixels"),
        Param::new(
            "classes_file",
            Kind::Path,
            "a .json or .csv file that says which class objects are of: see the notes",
        )
        .or(Fallback::Absent("by their folders")),
        Param::new("up", UPS.kind(), "which way is up in the files").or(Fallback::Str("y")),
        SEED,
    ],
    returns: "a `Dataset`: `3 x size x size`, each object at its canonical view; edge `none`",
    notes: "Built are \"bed\", \"bottle\", \"car\", \"chair\", \"lamp\", \"mug\", \"plane\", \"shelf\", \"sofa\" and \"table\", each with shapes and colours \
            of its own: object i is a pure function of seed, classes and i.\n\n\
            Files are glTF 2.0 (.glb, .gltf), Wavefront OBJ with materials (`Kd`, `map_Kd`), PLY and STL, text or binary. In a folder the folders in it \
            are the classes, with objects at any depth, as ShapeNet (`class/id/models/model_normalized.obj`) and others have them; or a `meshes.csv` has \
            the columns `class` and `file`, where rows of class `part` belong to the object in the same folder whose name theirs begins with. \
            `classes_file` names a file instead: JSON with an array of names for every class, as Objaverse's `lvis-annotations.json`, or CSV with the columns `class` and \
            `file` or `uid`; names are those of files without their ending. Of one object in several formats .glb is read before .gltf, .obj, \
            .ply and .stl. All is read and checked before this returns; in a folder, what can't be read or is there twice is left out, and \
            `ds.skipped` says what and why, as does a caution of all that is found with it. A single file that can't be read is an error.\n\n\
            Objects are moved and scaled so that the middle of their box is in the middle and the farthest vertex at distance 1; y points up, z to \
            the front, where `up: \"z\"` turns z up first. Faces without normals, or with normals that are no directions, get their own; \
            both sides of a face are seen, lit as if the normal pointed to the camera. Polygons are cut into triangles, also where they bend inwards. Of glTF the scene that it says is drawn, \
            with base colours and their textures, whose products are of light as glTF says, and skeletons as their nodes stand; what has no material is white \
            in glTF and grey (0.7) elsewhere. Draco, meshopt and Basis compression are refused, \
            as is what lies outside of a .gltf file's folder.\n\n\
            The canonical view, this program's own: camera 35 degrees around and 20 above at 2.5 radii, angle of vision 50 degrees, the sun 70 \
            degrees around and 50 above, energy 1, matte, on white. `ds[i].attributes` has the object's name and how many triangles \
            it is made of; of files also `radius`, how far its farthest vertex was from the middle in the file's unit, and `remarks`: what was put right, \
            or is drawn otherwise than the file says.",
    source: "the objects z of Shu, Liu, Qiu and Yuille, AAAI 2020",
    examples: &[
        Example {
            code: "data::objects([\"mug\", \"lamp\"], #{ n: 6, seed: 1 })",
            result: "data objects: 6 images 3 x 64 x 64, 2 classes, edge none",
        },
        Example { code: "data::objects(#{ seed: 1 })[0].class", result: "bed" },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let size = args.count("size");
    let built =
        |classes: &[String]| built_objects(classes, args.optional_int("n").unwrap_or(40) as usize, size, args.seed());
    let from_file = matches!(args.get("path_or_classes"), Some(Value::Str(_)));
    if let Some(unused) = ["classes_file", "up"].into_iter().find(|option| !from_file && args.given(option)) {
        return Err(crate::core::Error::argument(format!(
            "`{unused}` is of objects in files, and these are built by viva"
        )));
    }
    let set = match args.get("path_or_classes") {
        None => built(&CLASSES.map(String::from))?,
        Some(Value::Array(names)) => {
            let name = |value: &Value| match value {
                Value::Str(name) => Ok(name.clone()),
                other => Err(crate::core::Error::argument(format!(
                    "classes must be an array of strings, got {}",
                    other.kind()
                ))),
            };
            built(&names.iter().map(name).collect::<Result<Vec<_>>>()?)?
        }
        Some(_) => {
            let path = cx.find(args.str("path_or_classes"))?;
            let up = UPS.of(args, "up");
            let classes = args.optional_str("classes_file").map(|named| cx.find(named)).transpose()?;
            let set = read_objects(cx, &path, &Reading { size, up, classes: classes.as_deref() })?;
            let set = match args.optional_int("n") {
                Some(n) => set.select(&in_turn(set.labels(), n as usize))?,
                None => set,
            };
            set.record_from(cx, &path);
            set
        }
    };
    set.record(cx);
    Ok(Value::object(set))
}

/// The rows of `n` objects, as far as there are so many: the first of every class, the second, and so on.
fn in_turn(labels: &[i64], n: usize) -> Vec<usize> {
    let mut seen = std::collections::BTreeMap::new();
    let mut turns: Vec<(usize, i64, usize)> = labels
        .iter()
        .enumerate()
        .map(|(row, &label)| {
            let turn = seen.entry(label).or_insert(0);
            *turn += 1;
            (*turn, label, row)
        })
        .collect();
    turns.sort_unstable();
    turns.into_iter().take(n).map(|(_, _, row)| row).collect()
}
