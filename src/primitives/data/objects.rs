//! `data::objects`

use super::Value;
use crate::core::{Cx, Result};
use crate::data::{built_objects, read_objects};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::render::CLASSES;

pub static OBJECTS: Primitive = Primitive {
    path: "data::objects",
    purpose: "Objects in three dimensions, for space::render: of classes that the program builds by itself, or from OBJ files.",
    params: &[Param::new(
        "path_or_classes",
        Kind::Either(&[Kind::Path, Kind::Array]),
        "an .obj file or a folder of them, or an array of class names: see the notes",
    )
    .or(Fallback::Absent("all ten classes that the program builds"))],
    options: &[
        Param::new("n", Kind::Int, "how many objects, of the classes in turn")
            .range(1.0, 1e6)
            .or(Fallback::Absent("40; all that are in the files")),
        Param::new("size", Kind::Int, "side of the pictures").or(Fallback::Int(64)).range(16.0, 512.0).unit("pixels"),
        SEED,
    ],
    returns: "a `Dataset`: `3 x size x size`, each object at its canonical view; edge `none`",
    notes: "Built are \"bed\", \"bottle\", \"car\", \"chair\", \"lamp\", \"mug\", \"plane\", \"shelf\", \"sofa\" and \"table\", each with shapes and colours \
            of its own: object i is a pure function of seed, classes and i.\n\n\
            Files are Wavefront OBJ with materials (`Kd`, `map_Kd`), in one folder per class, or in any folders with a `meshes.csv` \
            that has the columns `class` and `file`; rows of class `part` belong to the object in the same folder whose name theirs \
            begins with. Objects are moved and scaled so that the middle of their box is in the middle and the farthest vertex at \
            distance 1; y points up, z to the front. All is read and checked before this returns.\n\n\
            The canonical view, this program's own: camera 35 degrees around and 20 above at 2.5 radii, angle of vision 50 degrees, the sun 70 \
            degrees around and 50 above, energy 1, matte, on white. `ds[i].attributes` has the object's name and how many triangles \
            it is made of.",
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
            let set = read_objects(cx, &path, size)?;
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
