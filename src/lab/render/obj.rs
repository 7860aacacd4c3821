//! Wavefront OBJ files with their materials and textures, read by tobj.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use glam::{DVec3, Vec2, Vec3};
use tobj::{LoadError, LoadOptions};

use super::local::LocalFrame;
use super::mesh::{Surface, Triangle, Vertex};
use super::parts::{FILE, MOST, PLAIN, Parts, Piece};
use super::polygon::{Cutter, UNCUT};
use super::texture::Textures;
use crate::core::{Budget, Cx, Error, Result};

/// What the materials of one file may take, however large it is.
const MOST_OF_MATERIALS: u64 = 1 << 28;
/// What a corner of a face takes, of which each may begin a triangle of its own, what any other line takes, and what a material takes.
const CORNER: u64 = 3 * (size_of::<Vertex>() + size_of::<Triangle>()) as u64;
const LINE: u64 = 64;
const MATERIAL: u64 = 2 * size_of::<tobj::Material>() as u64;

/// Colours are the materials' `Kd`, times `map_Kd`; polygons are cut into triangles; without normals, faces are flat.
pub(super) fn read(cx: &Cx, file: &Path, textures: &mut Textures, parts: &mut Parts) -> Result<()> {
    let mut object = bytes(cx, file, MOST)?;
    let words = take_words(&mut object);
    for (asked, remark) in [
        (words.lines, "its lines (l) are left out"),
        (words.points, "its points (p) are left out"),
        (words.free_forms, "its free-form curves and surfaces (curv, surf) are left out"),
    ] {
        if asked {
            parts.remark(remark);
        }
    }
    let (models, materials) = load(cx, file, &object)?;
    let budget = Budget::of(cx, file, Budget::TEXT)?.at_most(MOST);
    let mut surfaces = vec![];
    for material in &materials {
        cx.check()?;
        let surface = surface(cx, file, material, textures)?;
        if let Some(texture) = &surface.texture {
            if texture.see_through {
                parts.remark("see-through parts of its textures are drawn opaque");
            }
            if surface.colour == Vec3::ZERO {
                parts.remark(BLACKENED);
            }
        }
        surfaces.push(parts.surface(surface));
    }
    // The parser tells colours by their order among colours.
    let all_coloured = words.coloured == words.vertices;
    if words.short > 0 {
        let (s, are) = if words.short == 1 { ("", "is") } else { ("s", "are") };
        parts.remark(format!(
            "{} face{s} of fewer than three corners {are} left out, as where a file was cut short",
            words.short
        ));
    }
    if materials.is_empty() && words.materials {
        let how = if all_coloured { "in the colours of its vertices" } else { "grey" };
        parts.remark(format!("its materials (usemtl) are in no file that it names (mtllib), and it is drawn {how}"));
    }
    surfaces.push(parts.surface(Surface::plain(PLAIN)));
    for material in &materials {
        if is_transparent(material) {
            parts.remark("its transparent parts are drawn opaque");
        }
        let unread = material.unknown_param.keys().filter(|name| UNREAD.contains(&name.to_ascii_lowercase().as_str()));
        unread.for_each(|name| parts.remark(format!("`{name}` of its materials is left out")));
        if material.emissive.is_some_and(|glow| glow.iter().any(|&x| x > 0.0)) {
            parts.remark("its glow is left out");
        }
    }
    let frame = LocalFrame::of(models.iter().flat_map(|model| places(&model.mesh)));
    for model in &models {
        let mesh = &model.mesh;
        if mesh.indices.is_empty() {
            continue;
        }
        let positions: Vec<DVec3> = places(mesh).collect();
        let local: Vec<Vec3> = positions.iter().map(|&place| frame.at(place)).collect();
        let normals: Vec<Vec3> = mesh.normals.as_chunks::<3>().0.iter().map(|&n| DVec3::from(n).as_vec3()).collect();
        let colours: Vec<Vec3> =
            mesh.vertex_color.as_chunks::<3>().0.iter().map(|&colour| DVec3::from(colour).as_vec3()).collect();
        let are_colours = colours.iter().all(|c| c.to_array().iter().all(|x| (0.0..=1.0).contains(x)));
        let coloured = mesh.material_id.is_none()
            && all_coloured
            && !colours.is_empty()
            && colours.len() == positions.len()
            && are_colours;
        if words.coloured > 0 && !coloured {
            parts.remark("colours of its vertices are left out");
        }
        if mesh.material_id.is_none() && !materials.is_empty() {
            let how = if coloured { "have the colours of their vertices" } else { "are drawn grey" };
            parts.remark(format!("faces without a material, or of one that no file has, {how}"));
        }
        let material = mesh.material_id.and_then(|number| materials.get(number));
        if mesh.texcoords.is_empty() && material.is_some_and(|material| material.diffuse_texture.is_some()) {
            parts.remark("faces without a place on their texture (vt) have the colour of its corner");
        }
        let mut texture: Vec<Vec2> =
            mesh.texcoords.as_chunks::<2>().0.iter().map(|at| Vec2::from(at.map(|x| x as f32))).collect();
        if !texture.is_empty() && texture.len() != positions.len() {
            // Only corners that have a place on the texture are told of, and not which they are.
            return Err(Error::file(
                file,
                format!("{:?}: some corners of its faces have a place on the texture (vt) and others none", model.name),
            )
            .hint("give faces without `vt` a material of their own, behind a `usemtl`"));
        }
        texture.resize(positions.len(), Vec2::ZERO);
        // The parser says which normals there are, and not of which corners.
        if !normals.is_empty() && normals.len() != positions.len() {
            parts.remark(SOME_NORMALS);
        }
        let cutter = cut(&budget, mesh, &local)?;
        if cutter.uncut > 0 {
            parts.remark(UNCUT);
        }
        if cutter.bent > 0 {
            parts.folds();
        }
        let piece = Piece {
            positions: &positions,
            float32: false,
            normals: (normals.len() == positions.len()).then_some(&normals[..]),
            texture: Some(&texture),
            colours: coloured.then_some(&colours[..]),
            corners: &cutter.triangles,
            surface: match coloured {
                true => parts.surface(Surface::plain(Vec3::ONE)),
                false => surfaces[mesh.material_id.unwrap_or(materials.len()).min(materials.len())],
            },
        };
        parts.add(file, &budget, &piece)?;
    }
    Ok(())
}

/// Words of materials, in small letters, that say how they look, where the parser doesn't know them, or not in these letters.
const UNREAD: [&str; 5] = ["kd", "map_kd", "map_ke", "map_d", "d"];

/// Many programs write black where a texture takes the place of a colour, which their own viewers do not multiply it by.
const BLACKENED: &str =
    "its textures are drawn black, as they are multiplied by the colour of their material (Kd 0 0 0)";

const SOME_NORMALS: &str = "of one material some faces have normals (vn) and others none, so that all of these are drawn flat: give those without a material of their own";

/// `Tr` is what `d` leaves; some programs write `d` under its name, so that 1 beside a `d` of 1 says nothing.
fn is_transparent(material: &tobj::Material) -> bool {
    let opaque = material.dissolve;
    let transparent = material.unknown_param.get("Tr").and_then(|tr| tr.trim().parse::<f64>().ok()).unwrap_or(0.0);
    opaque.is_some_and(|opaque| opaque < 1.0)
        || material.dissolve_texture.is_some()
        || transparent > 0.0 && !(transparent == 1.0 && opaque == Some(1.0))
}

/// The triangles of a mesh's faces. Its parser says how many corners each has where not all of them have three.
fn cut(budget: &Budget, mesh: &tobj::Mesh, positions: &[Vec3]) -> Result<Cutter> {
    let mut cutter = Cutter::default();
    if mesh.face_arities.is_empty() {
        cutter.triangles = mesh.indices.as_chunks::<3>().0.to_vec();
        return Ok(cutter);
    }
    let mut left = &mesh.indices[..];
    for &corners in &mesh.face_arities {
        budget.step()?;
        let Some((face, rest)) = left.split_at_checked(corners as usize) else { break };
        cutter.cut(positions, face);
        left = rest;
    }
    Ok(cutter)
}

fn places(mesh: &tobj::Mesh) -> impl Iterator<Item = DVec3> + Clone {
    mesh.positions.as_chunks::<3>().0.iter().copied().map(DVec3::from)
}

type ObjParts = (Vec<tobj::Model>, Vec<tobj::Material>);

/// The bytes of a file of which each may become a corner of a face, or a part of a material.
fn bytes(cx: &Cx, file: &Path, most: u64) -> Result<Vec<u8>> {
    let budget = Budget::of(cx, file, Budget::TEXT)?.at_most(most);
    if budget.size() > FILE {
        return Err(Error::file(file, "larger than 256 MiB").hint("make the mesh coarser: a picture has few pixels"));
    }
    let mut bytes = budget.file(file)?;
    // A mark of Unicode would make one word of itself and the first.
    if let Some(mark) = bytes.get_mut(..3).filter(|start| *start == b"\xef\xbb\xbf") {
        mark.fill(b' ');
    }
    join_lines(&mut bytes);
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

/// Stands where the end of a line was that goes on: a blank that lines are counted by.
const JOINED: u8 = 0x0c;

/// Makes one line of those that a `\` at the end of the one before goes on in; comments go on nowhere.
fn join_lines(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte == JOINED).for_each(|byte| *byte = b' ');
    let mut begin = 0;
    while begin < bytes.len() {
        let end = bytes[begin..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| begin + length);
        let line = bytes[begin..end].trim_ascii_end();
        if line.ends_with(b"\\") && !line.trim_ascii_start().starts_with(b"#") {
            let backslash = begin + line.len() - 1;
            let next = (end + 1).min(bytes.len());
            bytes[backslash..next].fill(b' ');
            if let Some(end) = bytes.get_mut(end) {
                *end = JOINED;
            }
        } else {
            begin = end;
        }
        begin += 1;
    }
}

/// Which words stand at the beginning of lines whose meaning is not, or not only, the parser's.
#[derive(Default)]
struct ObjWords {
    lines: bool,
    points: bool,
    free_forms: bool,
    materials: bool,
    /// Vertices, and those that have a colour.
    vertices: usize,
    coloured: usize,
    /// Faces of fewer than three corners, as where a file was cut in its last one.
    short: usize,
}

/// Finds them, and turns lines (l) into comments, of which the parser would make faces.
fn take_words(object: &mut [u8]) -> ObjWords {
    let mut words = ObjWords::default();
    for line in object.split_mut(|&byte| byte == b'\n') {
        let indent = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let line = &mut line[indent..];
        let length = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        match &line[..length] {
            b"l" => {
                line[0] = b'#';
                words.lines = true;
            }
            b"p" => words.points = true,
            b"curv" | b"curv2" | b"surf" => words.free_forms = true,
            b"usemtl" => words.materials = true,
            word @ (b"v" | b"f") => {
                let of_face = word == b"f";
                let numbers = line[length..].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                let numbers = numbers.take_while(|word| !word.starts_with(b"#")).count();
                words.vertices += usize::from(!of_face);
                words.coloured += usize::from(!of_face && numbers >= 6);
                words.short += usize::from(of_face && numbers < 3);
            }
            _ => {}
        }
    }
    words
}

/// Bytes that end with an error when the user asks for an end.
struct Watched<'a>(&'a Cx, &'a [u8]);

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.check().map_err(std::io::Error::other)?;
        self.1.read(buffer)
    }
}

/// The same line by line, so that it is known in which one reading ended.
struct CountedLines<'a> {
    cx: &'a Cx,
    rest: &'a [u8],
    /// How many were read, the last one perhaps in part.
    line: usize,
}

impl Read for CountedLines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let some = self.fill_buf()?.read(buffer)?;
        self.consume(some);
        Ok(some)
    }
}

impl BufRead for CountedLines<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.cx.check().map_err(std::io::Error::other)?;
        let end = self.rest.iter().position(|&byte| byte == b'\n').map_or(self.rest.len(), |at| at + 1);
        Ok(&self.rest[..end])
    }

    fn consume(&mut self, some: usize) {
        let (read, rest) = self.rest.split_at(some);
        let ends = read.iter().filter(|&&byte| byte == b'\n' || byte == JOINED).count();
        self.line += ends + usize::from(some > 0 && rest.is_empty() && !read.ends_with(b"\n"));
        self.rest = rest;
    }
}

fn load(cx: &Cx, file: &Path, object: &[u8]) -> Result<ObjParts> {
    let folder = file.parent().unwrap_or(Path::new(""));
    // A library that is named twice holds the same materials both times.
    let seen = RefCell::new(HashSet::new());
    let refused = Cell::new(None);
    let among_materials = Cell::new(false);
    let materials_of = |named: &Path| {
        let mut materials = vec![];
        for library in libraries(folder, named) {
            if !seen.borrow_mut().insert(library.canonicalize().unwrap_or_else(|_| library.clone())) {
                continue;
            }
            let read = match library.exists() {
                true => cx.check_read(&library).and_then(|()| bytes(cx, &library, MOST_OF_MATERIALS)),
                false => Err(Error::file(&library, "no such file").hint(WHAT_LIBRARIES_ARE)),
            };
            match read {
                Ok(own) => materials.extend(grey_in_full(&own).into_iter().chain([b'\n'])),
                Err(error) => {
                    refused.set(Some(error));
                    return Err(LoadError::OpenFileFailed);
                }
            }
        }
        among_materials.set(true);
        let read = tobj::load_mtl_buf(&mut BufReader::new(Watched(cx, &materials)));
        among_materials.set(false);
        read
    };
    let options = LoadOptions { single_index: true, triangulate: false, ignore_points: true, ignore_lines: true };
    let mut object = CountedLines { cx, rest: object, line: 0 };
    // Its parser panics on numbers that it does not expect.
    let read = catch_unwind(AssertUnwindSafe(|| tobj::load_obj_buf(&mut object, &options, materials_of)));
    cx.check()?;
    if let Some(error) = refused.take() {
        let message = format!("{}: its materials can't be read: {}", file.display(), error.message);
        return Err(Error { message, ..error });
    }
    let what_is_wanted = "wanted is a Wavefront OBJ file: lines such as `v 0 1 0` and `f 1 2 3`";
    let Ok(read) = read else {
        if among_materials.get() {
            let what = "its materials can't be read: a damaged file: a colour without three numbers, or the like";
            return Err(Error::file(file, what).hint(WHAT_LIBRARIES_ARE));
        }
        let what = format!("line {}: a damaged file: its numbers do not fit together", object.line);
        return Err(Error::file(file, what).hint(what_is_wanted));
    };
    let (models, materials) = read.map_err(|error| {
        let hint = match error {
            LoadError::FaceVertexOutOfBounds
            | LoadError::FaceTexCoordOutOfBounds
            | LoadError::FaceNormalOutOfBounds => "a face asks for a vertex that is not there: the file may be cut off",
            _ => what_is_wanted,
        };
        match error {
            // Of what can be read as it stands, line by line; faces are put together later.
            LoadError::UnrecognizedCharacter
            | LoadError::PositionParseError
            | LoadError::ColorParseError
            | LoadError::NormalParseError
            | LoadError::TexcoordParseError
            | LoadError::FaceParseError
            | LoadError::ScalingByZeroError
            | LoadError::MaterialParseError => Error::file(file, format!("line {}: {error}", object.line)).hint(hint),
            _ => Error::file(file, error).hint(hint),
        }
    })?;
    let materials = materials
        .map_err(|error| Error::file(file, format!("its materials can't be read: {error}")).hint(WHAT_LIBRARIES_ARE))?;
    Ok((models, materials))
}

/// Materials whose colours of one number, which are grey, have three, as the parser wants them.
fn grey_in_full(materials: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(materials.len());
    for line in materials.split_inclusive(|&byte| byte == b'\n') {
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [kind @ (b"Ka" | b"Kd" | b"Ks" | b"Ke"), grey] => full.extend([kind, grey, grey, grey, b"\n"].join(&b' ')),
            _ => full.extend(line),
        }
    }
    full
}

const WHAT_LIBRARIES_ARE: &str =
    "`mtllib` names .mtl files beside the .obj, with a space between them; without that line the object is grey";

/// The files of materials that a line names: names may have spaces, and between names there are some.
fn libraries(folder: &Path, named: &Path) -> Vec<PathBuf> {
    let whole = folder.join(named);
    let words = named.to_string_lossy();
    let each: Vec<PathBuf> = words.split_whitespace().map(|name| folder.join(name)).collect();
    match whole.exists() || !each.iter().any(|library| library.exists()) {
        true => vec![whole],
        false => each,
    }
}

fn surface(cx: &Cx, file: &Path, material: &tobj::Material, textures: &mut Textures) -> Result<Surface> {
    let colour = DVec3::from(material.diffuse.unwrap_or([1.0; 3])).as_vec3();
    if !(colour.is_finite() && colour.min_element() >= 0.0 && colour.max_element() <= 1.0) {
        let what = format!("material {:?} has the colour {:?}", material.name, colour.to_array());
        return Err(Error::file(file, what).hint("`Kd` is three numbers in [0, 1]"));
    }
    let texture = match &material.diffuse_texture {
        None => None,
        Some(named) if named.starts_with('-') => {
            return Err(Error::file(file, format!("options of textures are not supported: map_Kd {named}"))
                .hint("leave the options out: `map_Kd picture.png`"));
        }
        Some(named) => {
            let path = file.parent().unwrap_or(Path::new("")).join(named.replace('\\', "/"));
            cx.check_read(&path)?;
            Some(textures.read(file, &path)?)
        }
    };
    Ok(Surface { texture, ..Surface::plain(colour) })
}
