//! Wavefront OBJ files with their materials and textures, read by tobj.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::io::{BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use tobj::{LoadError, LoadOptions};

use super::mesh::{Mesh, Surface, Texture, Triangle, Vertex};
use crate::core::{Budget, Cx, Error, Result};

/// Textures that several objects share are read once.
pub struct Textures {
    /// What reads a picture.
    picture: fn(&Path) -> Result<image::DynamicImage>,
    /// By the file that is meant, however it is named.
    read: HashMap<PathBuf, Arc<Texture>>,
    pixels: u64,
}

/// Pixels of a texture, at most.
const TEXTURE_SIDE: u32 = 8192;
/// Pixels of all textures together, at most: 768 MiB.
const ALL_TEXTURES: u64 = 1 << 28;
/// Bytes of an OBJ file, at most: 256 MiB.
const FILE: u64 = 256 << 20;
/// What a mesh may take, and the materials of one file, however large they are.
const MOST: u64 = 2 << 30;
const MOST_OF_MATERIALS: u64 = 1 << 28;
/// What a corner of a face takes, of which each may begin a triangle of its own, what any other line takes, and what a material takes.
const CORNER: u64 = 3 * (size_of::<Vertex>() + size_of::<Triangle>()) as u64;
const LINE: u64 = 64;
const MATERIAL: u64 = 2 * size_of::<tobj::Material>() as u64;
/// The colour of what has no material.
const PLAIN: Vec3 = Vec3::splat(0.7);

/// Reads an object from one file, or from several whose parts are modelled in one frame. Colours are the materials' `Kd`, times
/// `map_Kd`; polygons are cut into triangles; without normals, faces are flat.
pub fn read_obj(cx: &Cx, name: &str, files: &[PathBuf], textures: &mut Textures) -> Result<Mesh> {
    let (mut vertices, mut triangles, mut surfaces) = (vec![], vec![], vec![]);
    for file in files {
        let (models, materials) = load(cx, file)?;
        let first = surfaces.len() as u32;
        for material in &materials {
            cx.check()?;
            surfaces.push(surface(file, material, textures)?);
        }
        surfaces.push(Surface { colour: PLAIN, texture: None });
        for model in &models {
            let mesh = &model.mesh;
            if mesh.indices.is_empty() || !mesh.indices.len().is_multiple_of(3) {
                continue;
            }
            let surface = first + mesh.material_id.unwrap_or(materials.len()).min(materials.len()) as u32;
            add(file, mesh, surface, &mut vertices, &mut triangles)?;
        }
    }
    Mesh::new(name, vertices, triangles, surfaces).map_err(|error| match files.first() {
        Some(file) => Error { message: format!("{}: {}", file.display(), error.message), ..error },
        None => error,
    })
}

type ObjParts = (Vec<tobj::Model>, Vec<tobj::Material>);

/// The bytes of a file of which each may become a corner of a face, or a part of a material.
fn bytes(cx: &Cx, file: &Path, most: u64) -> Result<Vec<u8>> {
    let budget = Budget::of(cx, file, Budget::TEXT)?.at_most(most);
    if budget.size() > FILE {
        return Err(Error::file(file, "larger than 256 MiB").hint("make the mesh coarser: a picture has few pixels"));
    }
    let bytes = budget.file(file)?;
    for line in bytes.split(|&byte| byte == b'\n') {
        budget.step()?;
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        match words.next() {
            Some(b"f" | b"l") => budget.take(CORNER * words.count() as u64, "its faces"),
            Some(b"newmtl") => budget.take(MATERIAL, "its materials"),
            Some(_) => budget.take(2 * line.len() as u64 + LINE, "its lines"),
            None => Ok(()),
        }
        .map_err(|error| error.at(file))?;
    }
    Ok(bytes)
}

/// Bytes that end with an error when the user asks for an end.
struct Watched<'a>(&'a Cx, &'a [u8]);

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.check().map_err(std::io::Error::other)?;
        self.1.read(buffer)
    }
}

fn load(cx: &Cx, file: &Path) -> Result<ObjParts> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let object = bytes(cx, file, MOST)?;
    // A library that is named twice holds the same materials both times.
    let seen = RefCell::new(HashSet::new());
    let refused = Cell::new(None);
    let materials_of = |named: &Path| {
        let library = folder.join(named);
        if !seen.borrow_mut().insert(library.canonicalize().unwrap_or_else(|_| library.clone())) {
            return Ok(Default::default());
        }
        match bytes(cx, &library, MOST_OF_MATERIALS) {
            Ok(materials) => tobj::load_mtl_buf(&mut BufReader::new(Watched(cx, &materials))),
            Err(error) => {
                refused.set(library.exists().then_some(error));
                Err(LoadError::OpenFileFailed)
            }
        }
    };
    let options = LoadOptions { single_index: true, triangulate: true, ignore_points: true, ignore_lines: true };
    let mut object = BufReader::new(Watched(cx, &object));
    // Its parser panics on numbers that it does not expect.
    let read = catch_unwind(AssertUnwindSafe(|| tobj::load_obj_buf(&mut object, &options, materials_of)));
    cx.check()?;
    if let Some(error) = refused.take() {
        let message = format!("{}: its materials can't be read: {}", file.display(), error.message);
        return Err(Error { message, ..error });
    }
    let what_is_wanted = "wanted is a Wavefront OBJ file: lines such as `v 0 1 0` and `f 1 2 3`";
    let Ok(read) = read else {
        return Err(Error::file(file, "a damaged file: its numbers or those of its materials do not fit together")
            .hint(what_is_wanted));
    };
    let (models, materials) = read.map_err(|error| {
        let hint = match error {
            LoadError::FaceVertexOutOfBounds
            | LoadError::FaceTexCoordOutOfBounds
            | LoadError::FaceNormalOutOfBounds => "a face asks for a vertex that is not there: the file may be cut off",
            _ => what_is_wanted,
        };
        Error::file(file, error).hint(hint)
    })?;
    let materials = materials.map_err(|error| {
        Error::file(file, format!("its materials can't be read: {error}"))
            .hint("`mtllib` names a .mtl file beside the .obj; without that line the object is grey")
    })?;
    Ok((models, materials))
}

fn surface(file: &Path, material: &tobj::Material, textures: &mut Textures) -> Result<Surface> {
    let colour = Vec3::from(material.diffuse.unwrap_or([1.0; 3]));
    if !(colour.is_finite() && colour.min_element() >= 0.0 && colour.max_element() <= 1.0) {
        let what = format!("material {:?} has the colour {:?}", material.name, colour.to_array());
        return Err(Error::file(file, what).hint("`Kd` is three numbers in [0, 1]"));
    }
    let texture = match &material.diffuse_texture {
        None => None,
        Some(named) => Some(textures.read(file, named)?),
    };
    Ok(Surface { colour, texture })
}

impl Textures {
    pub fn new(picture: fn(&Path) -> Result<image::DynamicImage>) -> Self {
        Self { picture, read: HashMap::new(), pixels: 0 }
    }

    fn read(&mut self, file: &Path, named: &str) -> Result<Arc<Texture>> {
        if named.starts_with('-') {
            return Err(Error::file(file, format!("options of textures are not supported: map_Kd {named}"))
                .hint("leave the options out: `map_Kd picture.png`"));
        }
        let path = file.parent().unwrap_or(Path::new("")).join(named.replace('\\', "/"));
        if !path.is_file() {
            return Err(Error::file(&path, format!("no such texture, which {} asks for", file.display()))
                .hint("put the picture beside the .obj file, or take `map_Kd` out of the .mtl file"));
        }
        let path = path.canonicalize().map_err(|e| Error::file(&path, e))?;
        if let Some(texture) = self.read.get(&path) {
            return Ok(texture.clone());
        }
        let (width, height) = image::image_dimensions(&path).map_err(|e| Error::file(&path, e))?;
        if width == 0 || height == 0 || width > TEXTURE_SIDE || height > TEXTURE_SIDE {
            return Err(Error::file(&path, format!("a texture of {width} x {height} pixels, {TEXTURE_SIDE} at most")));
        }
        self.pixels += u64::from(width) * u64::from(height);
        if self.pixels > ALL_TEXTURES {
            return Err(Error::file(
                &path,
                format!("the textures come to {} pixels, {ALL_TEXTURES} at most", self.pixels),
            )
            .hint("make them smaller: a picture of an object has few pixels"));
        }
        let picture = (self.picture)(&path)?.to_rgb8();
        let pixels = picture.pixels().map(|pixel| pixel.0).collect();
        let texture = Arc::new(Texture { width: width as usize, height: height as usize, pixels });
        self.read.insert(path, texture.clone());
        Ok(texture)
    }
}

fn add(
    file: &Path,
    mesh: &tobj::Mesh,
    surface: u32,
    vertices: &mut Vec<Vertex>,
    triangles: &mut Vec<Triangle>,
) -> Result<()> {
    let three = |numbers: &[f32], i: usize| Vec3::from_slice(&numbers[3 * i..]);
    let count = mesh.positions.len() / 3;
    if let Some(bad) = mesh.indices.iter().find(|&&index| index as usize >= count) {
        return Err(Error::file(file, format!("a face asks for vertex {bad} of {count}")));
    }
    let vertex = |i: usize, normal: Vec3| Vertex {
        position: three(&mesh.positions, i),
        normal,
        texture: mesh.texcoords.get(2 * i..2 * i + 2).map_or(Vec2::ZERO, Vec2::from_slice),
    };
    let smooth = mesh.normals.len() == mesh.positions.len();
    let first = vertices.len() as u32;
    if smooth {
        vertices.extend((0..count).map(|i| vertex(i, three(&mesh.normals, i))));
    }
    for corners in mesh.indices.as_chunks::<3>().0 {
        if smooth {
            triangles.push(Triangle { corners: corners.map(|corner| first + corner), surface });
            continue;
        }
        let [a, b, c] = corners.map(|corner| three(&mesh.positions, corner as usize));
        let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
        let first = vertices.len() as u32;
        vertices.extend(corners.map(|corner| vertex(corner as usize, normal)));
        triangles.push(Triangle { corners: [first, first + 1, first + 2], surface });
    }
    Ok(())
}
