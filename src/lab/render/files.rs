//! Objects from the files that programs and collections write, each format in a file of its own.

use std::path::PathBuf;

use super::mesh::Mesh;
use super::parts::{Parts, Up};
use super::texture::Textures;
use super::{gltf, obj, ply, stl};
use crate::core::{Cx, Error, Result};

/// How the names of files end that are read as objects; of one object in several formats the first counts.
pub const ENDINGS: [&str; 5] = ["glb", "gltf", "obj", "ply", "stl"];

/// Reads an object from one file, or from several whose parts are modelled in one frame.
pub fn read_object(cx: &Cx, name: &str, files: &[PathBuf], up: Up, textures: &mut Textures) -> Result<Mesh> {
    let mut parts = Parts::default();
    for file in files {
        let ending = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match ending.as_str() {
            "glb" | "gltf" => gltf::read(cx, file, textures, &mut parts),
            "obj" => obj::read(cx, file, textures, &mut parts),
            "ply" => ply::read(cx, file, &mut parts),
            "stl" => stl::read(cx, file, &mut parts),
            _ => Err(Error::file(file, "not a file of an object")
                .hint(format!("wanted are files that end with .{}", ENDINGS.join(", .")))),
        }?;
    }
    parts.finish(name, up).map_err(|error| match files.first() {
        Some(file) => Error { message: format!("{}: {}", file.display(), error.message), ..error },
        None => error,
    })
}
