//! Objects from files of all formats: the same from each, in the folders of collections, and refused or listed where they are damaged.

mod gltf;

use std::fs;
use std::path::Path;
use std::rc::Rc;

use glam::Vec3;
use viva::core::permissions::Permissions;
use viva::core::{Cx, Object, Result, Value};
use viva::data::{Dataset, Reading, picture, read_objects, scenery};
use viva::render::{Mesh, Scenery, Textures, Up, View, draw, read_object};
use viva::script::Session;

/// A pyramid on a square, whose corners are told apart by their places.
const CORNERS: [[f32; 3]; 5] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 0.0, 2.0], [0.0, 0.0, 2.0], [1.0, 3.0, 1.0]];
const FACES: [[u16; 3]; 6] = [[0, 1, 2], [0, 2, 3], [1, 0, 4], [2, 1, 4], [3, 2, 4], [0, 3, 4]];

fn obj() -> String {
    let vertices = CORNERS.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = FACES.iter().map(|face| format!("f {} {} {}\n", face[0] + 1, face[1] + 1, face[2] + 1));
    vertices.chain(faces).collect()
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = b"solid, although it is binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((FACES.len() as u32).to_le_bytes());
    for face in FACES {
        bytes.extend([0; 12]);
        face.iter().flat_map(|&i| CORNERS[i as usize]).for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl() -> String {
    let corner = |&i: &u16| {
        format!("vertex {:?} {:?} {:?}\n", CORNERS[i as usize][0], CORNERS[i as usize][1], CORNERS[i as usize][2])
    };
    let facet = |face: &[u16; 3]| {
        let corners: String = face.iter().map(corner).collect();
        format!("facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n")
    };
    format!("solid pyramid\n{}endsolid pyramid\n", FACES.iter().map(facet).collect::<String>())
}

fn ply(format: &str) -> Vec<u8> {
    let (n, m) = (CORNERS.len(), FACES.len());
    let mut bytes = format!(
        "ply\nformat {format} 1.0\ncomment a pyramid\nelement vertex {n}\nproperty uchar mark\nproperty double x\nproperty float y\n\
         property float z\nelement face {m}\nproperty list uchar ushort vertex_indices\nend_header\n"
    )
    .into_bytes();
    let text = format == "ascii";
    let big = format.ends_with("big_endian");
    let mut put = |number: f64, own: &[u8]| match (text, big) {
        (true, _) => bytes.extend(format!("{number} ").into_bytes()),
        (_, true) => bytes.extend(own.iter().rev()),
        _ => bytes.extend(own),
    };
    for [x, y, z] in CORNERS {
        put(7.0, &[7]);
        put(x.into(), &f64::from(x).to_le_bytes());
        [y, z].iter().for_each(|&x| put(x.into(), &x.to_le_bytes()));
    }
    for face in FACES {
        put(3.0, &[3]);
        face.iter().for_each(|&i| put(i.into(), &i.to_le_bytes()));
    }
    bytes
}

/// Positions, then indices.
fn buffer() -> Vec<u8> {
    let positions = CORNERS.as_flattened().iter().flat_map(|x| x.to_le_bytes());
    positions.chain(FACES.as_flattened().iter().flat_map(|i| i.to_le_bytes())).collect()
}

/// `buffer` is what says where the numbers are; `more` goes on after `"asset"`.
fn gltf(buffer: &str, nodes: &str, more: &str) -> String {
    let (positions, indices) = (CORNERS.len() * 12, FACES.len() * 6);
    format!(
        r#"{{"asset": {{"version": "2.0"}}, {more} "buffers": [{{{buffer} "byteLength": {}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {positions}}}, {{"buffer": 0, "byteOffset": {positions}, "byteLength": {indices}}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"}},
                      {{"bufferView": 1, "componentType": 5123, "count": 18, "type": "SCALAR"}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}], "nodes": [{nodes}]}}"#,
        positions + indices
    )
}

const NODE: &str = r#"{"mesh": 0}"#;

fn glb(json: &str, blob: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF".to_vec();
    let json = format!("{json}{}", " ".repeat(json.len().next_multiple_of(4) - json.len()));
    let size = 12 + 8 + json.len() + 8 + blob.len();
    bytes.extend([2u32, size as u32, json.len() as u32, 0x4E4F_534A].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(json.bytes());
    bytes.extend([blob.len() as u32, 0x004E_4942].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(blob);
    bytes
}

fn read(path: &Path) -> Result<Mesh> {
    read_object(&Cx::default(), "pyramid", &[path.into()], Up::Y, &mut Textures::new(picture::decode))
}

fn seen(mesh: &Mesh) -> Vec<f32> {
    let mut pixels = vec![0.0; 3 * 64 * 64];
    draw(mesh, &View::of(&View::canonical()), &Scenery::default(), 64, &mut pixels);
    pixels
}

/// Lines are counted as they stand in the file, also behind one that goes on in the next.
#[test]
fn errors_name_the_line_of_an_obj_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bad.obj");
    fs::write(&path, "v 0 0 0\nv 1 0 \\\n0\n\nv 0 x 0\nf 1 2 3\n").expect("written");
    let error = read(&path).expect_err("no number");
    assert!(error.message.contains("line 5: "), "{}", error.message);
    // A form feed ends no line.
    fs::write(&path, "v 0 0 0\n\x0cv 1 0 0\nv 0 x 0\nf 1 2 3\n").expect("written");
    let error = read(&path).expect_err("no number");
    assert!(error.message.contains("line 3: "), "{}", error.message);
}

#[test]
fn all_formats_hold_the_same_object() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let wanted = read(&put("p.obj", obj().as_bytes())).expect("an object");
    // What has no material is white in glTF alone.
    put("white.mtl", b"newmtl white\nKd 1 1 1\n");
    let white =
        read(&put("w.obj", format!("mtllib white.mtl\nusemtl white\n{}", obj()).as_bytes())).expect("an object");
    put("numbers of it.bin", &buffer());
    let coded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, buffer());
    // Turned by a quarter around y and back again, halved and doubled, moved: the same box.
    let turned = r#"{"children": [1], "rotation": [0, 0.70710678, 0, 0.70710678], "scale": [0.5, 0.5, 0.5]},
        {"mesh": 0, "rotation": [0, -0.70710678, 0, 0.70710678], "translation": [5, 6, 7]}"#;
    // Every value is given sparsely.
    let sparse = gltf("", NODE, "").replace(
        r#"{"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"}"#,
        r#"{"componentType": 5126, "count": 5, "type": "VEC3", "sparse": {"count": 5, "values": {"bufferView": 0},
            "indices": {"bufferView": 2, "componentType": 5121}}}"#,
    );
    let sparse = sparse
        .replace(r#""bufferViews": ["#, r#""bufferViews": [{"#)
        .replace(r#"[{{"buffer": 0, "byteLength": 60}"#, r#"[{"buffer": 0, "byteLength": 60}"#)
        .replace(r#""byteLength": 36}],"#, r#""byteLength": 36}, {"buffer": 0, "byteOffset": 96, "byteLength": 5}],"#)
        .replace(r#""byteLength": 96}]"#, r#""byteLength": 101}]"#);
    let with_places = [buffer(), vec![0, 1, 2, 3, 4, 0, 0, 0]].concat();
    for (name, bytes) in [
        ("b.stl", binary_stl()),
        ("t.stl", text_stl().into_bytes()),
        ("t.ply", ply("ascii")),
        ("l.ply", ply("binary_little_endian")),
        ("b.ply", ply("binary_big_endian")),
        ("b.glb", glb(&gltf("", NODE, ""), &buffer())),
        ("scene.glb", glb(&gltf("", turned, r#""scene": 0, "scenes": [{"nodes": [0]}],"#), &buffer())),
        ("beside.gltf", gltf(r#""uri": "numbers%20of%20it.bin","#, NODE, "").into_bytes()),
        ("inline.gltf", gltf(&format!(r#""uri": "data:a/b;base64,{coded}","#), NODE, "").into_bytes()),
        ("sparse.glb", glb(&sparse, &with_places)),
    ] {
        let mesh = read(&put(name, &bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(mesh.triangles().len(), 6, "{name}");
        assert_eq!(mesh.remarks(), ["without normals: its faces are flat"], "{name}");
        let scale = if name == "scene.glb" { 0.5 } else { 1.0 };
        assert!((mesh.radius() - scale * wanted.radius()).abs() < 1e-5, "{name}: {}", mesh.radius());
        for (a, b) in mesh.vertices().iter().zip(wanted.vertices()) {
            assert!((a.position - b.position).length() < 1e-5, "{name}: {} {}", a.position, b.position);
            assert!((a.normal - b.normal).length() < 1e-5, "{name}: {} {}", a.normal, b.normal);
        }
        let like = if name.ends_with(".glb") || name.ends_with(".gltf") { &white } else { &wanted };
        let most = seen(&mesh).iter().zip(seen(like)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(name == "scene.glb" || most == 0.0, "{name}: pictures differ by {most}");
    }
    // The farthest corner is at (4, 0, 2) of a box of 4 x 3 x 2.
    assert!((wanted.radius() - Vec3::new(2.0, 1.5, 1.0).length()).abs() < 1e-6);
}

#[test]
fn what_was_put_right_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).expect("written");
        read(&folder.path().join(name)).expect("an object")
    };
    let base = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\n";
    let mesh =
        put("n.obj", format!("{base}vn 0 0 0\nvn 0 0 1\nf 1//1 2//1 3//2\nf 2//2 3//2 1//2\nf 1//2 4//2 2//2\n"));
    let said = mesh.remarks().join("; ");
    assert!(
        said.contains("1 of 3 triangles have no normals") && said.contains("1 of 3 triangles have no area"),
        "{said}"
    );
    let corners = mesh.triangles().iter().flat_map(|triangle| triangle.corners);
    assert!(corners.into_iter().all(|corner| mesh.vertices()[corner as usize].normal.z > 0.99), "{mesh:?}");
    // Faces that have a place on the texture beside others that have none: nobody can say which corners are which.
    let path = folder.path().join("mixed.obj");
    fs::write(&path, format!("{base}vt 0 0\nvt 1 0\nvt 0 1\nf 1 2 3\nf 1/1 2/2 3/3\n")).expect("written");
    let error = read(&path).expect_err("refused").to_string();
    assert!(error.contains("some corners of its faces have a place on the texture (vt) and others none"), "{error}");
    fs::write(folder.path().join("c.mtl"), "newmtl glass\nKd 1 0 0\nd 0.5\nKe 0 1 0\n").expect("written");
    let coloured = put(
        "c.obj",
        "mtllib c.mtl\nv 0 0 0 1 0 0\nv 1 0 0 1 0 0\nv 0 1 0 1 0 0\nusemtl glass\nf 1 2 3\nusemtl other\nf 1 3 2\n"
            .into(),
    );
    let said = coloured.remarks().join("; ");
    for words in [
        "transparent parts are drawn opaque",
        "glow is left out",
        "colours of its vertices are left out",
        "that no file has, have the colours of their vertices",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // The same picture whether normals point out of the object or into it.
    let of = |z: i32| put("s.obj", format!("{base}vn 0 0 {z}\nf 1//1 2//1 3//1\n"));
    assert_eq!(seen(&of(1)), seen(&of(-1)));
    // Up is up.
    let path = folder.path().join("up.obj");
    fs::write(&path, obj()).expect("written");
    let up = |up| {
        read_object(&Cx::default(), "up", std::slice::from_ref(&path), up, &mut Textures::new(picture::decode))
            .expect("read")
    };
    let (y, z) = (up(Up::Y), up(Up::Z));
    for (a, b) in y.vertices().iter().zip(z.vertices()) {
        let turned = |v: Vec3| Vec3::new(v.x, v.z, -v.y);
        assert!((turned(a.position) - b.position).length() < 1e-6 && (turned(a.normal) - b.normal).length() < 1e-6);
    }
}

/// A mark of Unicode before the first vertex, greys of one number, and words that are not read.
#[test]
fn obj_files_of_other_programs_are_read_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    put("plain.obj", &obj());
    put("marked.obj", &format!("\u{feff}{}", obj()));
    let of = |name: &str| read(&folder.path().join(name)).expect("an object");
    assert_eq!(of("marked.obj").digest(), of("plain.obj").digest());
    put("m.mtl", "newmtl a\nKd 0.5\nmap_kd wood.png\n");
    put("grey.obj", &format!("mtllib m.mtl\nusemtl a\n{}", obj()));
    let grey = of("grey.obj");
    assert_eq!(grey.surface(grey.triangles()[0].surface).colour, Vec3::splat(0.5));
    assert!(
        grey.departures().iter().any(|said| said.contains("`map_kd` of its materials is left out")),
        "{:?}",
        grey.departures()
    );
    // Colours of vertices where no material says otherwise.
    put("c.obj", "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n");
    let coloured = of("c.obj");
    assert_eq!(coloured.vertices().iter().map(|vertex| vertex.colour).collect::<Vec<_>>(), [Vec3::X, Vec3::Y, Vec3::Z]);
    assert_eq!((coloured.surface(coloured.triangles()[0].surface).colour, coloured.departures().len()), (Vec3::ONE, 0));
    put("some.obj", "v 0 0 0\nv 1 0 0 1 0 0\nv 0 1 0 0 1 0\nv 5 5 5 0 0 1\nf 1 2 3\n");
    assert!(of("some.obj").departures()[0].contains("colours of its vertices are left out"));
    put(
        "see.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\nelement face 1\nproperty list uchar int vertex_indices\nelement material 1\nproperty uchar red\nend_header\n0 0 0 255 0 0 9\n1 0 0 0 255 0 9\n0 1 0 0 0 255 9\n3 0 1 2\n7\n",
    );
    let see = of("see.ply");
    for said in ["drawn opaque", "its materials are left out"] {
        assert!(see.departures().iter().any(|all| all.contains(said)), "{:?}", see.departures());
    }
    assert_eq!(see.vertices()[1].colour, Vec3::Y);
}

/// An arrow's outline, from each of its corners, is the same picture as its two halves; lines beside it are no faces.
#[test]
fn faces_that_bend_inwards_are_drawn_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).expect("written");
        read(&folder.path().join(name)).expect("an object")
    };
    let corners = [[0, 0, 0], [2, 1, 0], [0, 2, 0], [1, 1, 0]];
    let vertices: String = corners.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let places: String = corners.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect();
    let head = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n\
                property list uchar int vertex_indices\nend_header\n";
    let halves = put("halves.obj", format!("{vertices}f 1 2 4\nf 2 3 4\n"));
    let wanted = seen(&halves);
    for first in 0..4 {
        let face: Vec<usize> = (0..4).map(|corner| (corner + first) % 4).collect();
        let words = |from: usize| face.iter().map(|corner| format!(" {}", corner + from)).collect::<String>();
        let obj = put("arrow.obj", format!("{vertices}f{}\n", words(1)));
        let ply = put("arrow.ply", format!("{head}{places}4{}\n", words(0)));
        for mesh in [obj, ply] {
            assert_eq!(seen(&mesh), wanted, "{face:?}");
            assert_eq!(mesh.remarks(), halves.remarks());
        }
    }
    let lined = put("lined.obj", format!("{vertices}f 1 2 4\nf 2 3 4\n  l 1 3 4\n"));
    assert_eq!(seen(&lined), wanted);
    assert!(lined.remarks().join("; ").contains("its lines (l) are left out"), "{:?}", lined.remarks());
    let crossed = put("crossed.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 2 1 0\nv 1 3 0\nf 1 2 3 4 5\n".into());
    assert!(crossed.remarks().join("; ").contains("faces that cross themselves"), "{:?}", crossed.remarks());
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).expect("made");
    fs::write(folder.path().join("outside.bin"), buffer()).expect("written");
    let whole = gltf("", NODE, "");
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        glb(&whole.replace(from, to), &buffer())
    };
    let text = |ply: &[u8]| String::from_utf8_lossy(ply).into_owned();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("cut.stl", binary_stl()[..200].to_vec(), ""),
        ("claims.stl", [&[b'x'; 80][..], &u32::MAX.to_le_bytes(), &[0; 50]].concat(), "4294967295 triangles"),
        ("empty.stl", vec![], "too short"),
        ("facet.stl", b"solid\nvertex 1 2 3\n".to_vec(), "within a facet"),
        ("two.stl", b"solid\nvertex 1 2 3\nendfacet\n".to_vec(), "1 corners"),
        ("nan.stl", text_stl().replace("4.0", "nan").into_bytes(), "finite"),
        ("claims.ply", text(&ply("ascii")).replace("vertex 5", "vertex 99999999999").into_bytes(), "99999999999"),
        ("list.ply", text(&ply("ascii")).replace("3 0 1 2", "99999999 0 1 2").into_bytes(), "a list of"),
        ("index.ply", text(&ply("ascii")).replace("3 0 1 2", "3 0 1 9").into_bytes(), "vertex 9 of 5"),
        ("half.ply", text(&ply("ascii")).replace("3 0 1 2", "3 0 1 1.5").into_bytes(), "a face asks for vertex"),
        (
            "cut.ply",
            ply("binary_little_endian")[..ply("binary_little_endian").len() - 3].to_vec(),
            "before all of its numbers",
        ),
        (
            "kind.ply",
            text(&ply("ascii")).replace("property float y", "property float16 y").into_bytes(),
            "nobody knows",
        ),
        ("points.ply", text(&ply("ascii")).replace("face 6", "face 0").into_bytes(), "no faces"),
        (
            "loop.glb",
            glb(&gltf("", r#"{"mesh": 0, "children": [0]}"#, r#""scenes": [{"nodes": [0]}],"#), &buffer()),
            "in itself",
        ),
        (
            "child.glb",
            glb(&gltf("", r#"{"mesh": 0, "children": ["1"]}"#, r#""scenes": [{"nodes": [0]}],"#), &buffer()),
            "`children` must be",
        ),
        ("scale.glb", glb(&gltf("", r#"{"mesh": 0, "scale": [1, "2", 3, 4]}"#, ""), &buffer()), "`scale` must be"),
        ("word.stl", b"solid\nvertex 1 x 2 3\n".to_vec(), "three numbers"),
        ("nobody.glb", glb(&gltf("", r#"{"children": [0]}"#, ""), &buffer()), "no faces"),
        (
            "draco.glb",
            glb(&gltf("", NODE, r#""extensionsRequired": ["KHR_draco_mesh_compression"],"#), &buffer()),
            "KHR_draco",
        ),
        ("count.glb", changed("\"count\": 5", "\"count\": 4000000000"), "memory"),
        ("view.glb", changed("\"byteLength\": 60", "\"byteLength\": 600"), "leaves its buffer"),
        ("items.glb", changed("\"count\": 18", "\"count\": 21"), "21 items"),
        ("none.glb", changed("\"bufferView\": 0, ", ""), "no numbers"),
        ("type.glb", changed("\"type\": \"VEC3\"", "\"type\": \"MAT2\""), "MAT2"),
        ("whole.glb", changed("\"componentType\": 5123", "\"componentType\": 5126"), "whole numbers"),
        ("cut.glb", glb(&whole, &buffer())[..500].to_vec(), "of which 500 are there"),
        ("old.gltf", whole.replace("\"2.0\"", "\"1.0\"").into_bytes(), "not glTF 2.0"),
        ("outside.gltf", gltf("\"uri\": \"../outside.bin\",", NODE, "").into_bytes(), "outside of its folder"),
        ("coded.gltf", gltf("\"uri\": \"%2e%2e/outside.bin\",", NODE, "").into_bytes(), "outside of its folder"),
        ("root.gltf", gltf("\"uri\": \"/etc/passwd\",", NODE, "").into_bytes(), "outside of its folder"),
        ("net.gltf", gltf("\"uri\": \"https://example.org/a.bin\",", NODE, "").into_bytes(), "example.org"),
        ("deep.gltf", "[".repeat(100_000).into_bytes(), "JSON"),
    ];
    for (name, bytes, wanted) in cases {
        let path = inner.join(name);
        fs::write(&path, bytes).expect("written");
        let error = read(&path).err().unwrap_or_else(|| panic!("{name} is read"));
        assert!(error.message.contains(wanted) && error.message.contains(name), "{name}: {error}");
    }
}

fn folder_of(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, bytes).expect("written");
    }
    folder
}

fn load(folder: &Path, classes: Option<&Path>) -> Result<Dataset> {
    read_objects(&Cx::default(), folder, &Reading { size: 32, up: Up::Y, classes })
}

fn names(set: &Dataset) -> Vec<String> {
    let name = |row: usize| {
        let known = set.attributes(row).into_iter().find(|(name, _)| *name == "object");
        match known {
            Some((_, Value::Str(name))) => format!("{}/{name}", set.classes()[set.labels()[row] as usize]),
            other => panic!("{other:?}"),
        }
    };
    (0..set.len()).map(name).collect()
}

#[test]
fn collections_are_read_as_they_are_distributed_and_what_is_broken_is_listed() {
    let (obj, stl, glb) = (obj(), binary_stl(), glb(&gltf("", NODE, ""), &buffer()));
    let folder = folder_of(&[
        ("02691156/aa11/models/model_normalized.obj", obj.as_bytes()),
        ("02691156/bb22/models/model_normalized.obj", b"v 0 0 0\nv nan 1 1\nv 1 0 0\nf 1 2 3\n"),
        ("02691156/bb22/models/model_normalized.json", b"{}"),
        ("02828884/cc33/models/model_normalized.obj", obj.as_bytes()),
        ("02828884/dd.stl", &stl),
        ("02828884/dd.obj", obj.as_bytes()),
        ("empty/e.glb", b""),
        ("loose.obj", obj.as_bytes()),
    ]);
    let set = load(folder.path(), None).expect("a set");
    assert_eq!(names(&set), ["02691156/aa11", "02828884/cc33", "02828884/dd"]);
    assert_eq!(set.classes(), ["02691156", "02828884"], "a class of which nothing is left is none");
    let mut skipped: Vec<(&str, &str)> =
        set.skipped().iter().map(|one| (one.name.as_str(), one.why.as_str())).collect();
    skipped.sort_unstable();
    let expected = [
        ("02691156/bb22", "finite"),
        ("02828884/dd.stl", "the same object as dd.obj"),
        ("empty/e", "JSON"),
        ("loose.obj", "in no folder of a class"),
    ];
    assert_eq!(skipped.len(), expected.len(), "{skipped:?}");
    for ((name, why), (wanted, because)) in skipped.iter().zip(expected) {
        assert!(*name == wanted && why.contains(because), "{name}: {why}");
    }
    assert!(set.summary().ends_with(", 4 skipped"), "{}", set.summary());
    assert_eq!(set.json()["skipped"].as_array().map(Vec::len), Some(4));
    assert_eq!(set.select(&[0]).expect("one").skipped().len(), 4, "a part knows it as well");
    let noticed = set.noticed();
    let said = noticed.iter().next().expect("a caution");
    assert!(said.contains("4 skipped"), "{said}");

    let flat =
        folder_of(&[("glbs/000-000/u1.glb", &glb), ("glbs/000-001/u2.glb", &glb), ("glbs/000-001/u3.glb", &glb)]);
    let json = flat.path().join("lvis.json");
    fs::write(&json, r#"{"chair": ["u1", "elsewhere"], "table": ["u2"]}"#).expect("written");
    let csv = flat.path().join("classes.csv");
    fs::write(&csv, "uid,class\nu1,chair\nu2.glb,table\n").expect("written");
    for classes in [&json, &csv] {
        let set = load(&flat.path().join("glbs"), Some(classes)).expect("a set");
        assert_eq!(names(&set), ["chair/u1", "table/u2"]);
        assert!(set.skipped().len() == 1 && set.skipped()[0].why.contains("in no class"), "{:?}", set.skipped());
    }
    fs::write(&json, r#"{"chair": ["u1"], "table": ["u1"]}"#).expect("written");
    let error = load(flat.path(), Some(&json)).err().expect("refused");
    assert!(error.message.contains("two classes"), "{error}");

    let broken = folder_of(&[("a/a.obj", b"v 0 0 0"), ("b/b.stl", b"")]);
    let error = load(broken.path(), None).err().expect("refused");
    assert!(error.message.contains("none of 2 objects"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_circles_end() {
    let folder = folder_of(&[("a/a.obj", obj().as_bytes())]);
    std::os::unix::fs::symlink("..", folder.path().join("a/up")).expect("a link");
    let error = load(folder.path(), None).err().expect("refused");
    assert!(error.message.contains("folders in each other"), "{error}");
}

#[test]
fn scenery_is_what_was_given_and_what_it_may_do_is_said() {
    let given = r#"
let ds = data::objects(["mug", "lamp"], #{ n: 2, size: 32, seed: 1 });
let front = data::objects(["chair"], #{ n: 2, size: 32, seed: 2 });
let back = data::glyphs(#{ n: 3, size: 28, seed: 1 });
let f = model::from(|x| { let on = x.reshape([x.len(), 3072]).mean(1).reshape([x.len(), 1]); tensor::concat([on, 1 - on], 1) }, #{ classes: 2 });
let asked = |space| examine(f, ds, #{ space: space, search: search::random(#{ questions: 8 }), seed: 1 });
"#;
    let told = |script: &str| {
        let mut session = Session::new(Rc::new(Cx::default()));
        session.evaluate("test", &format!("{given}{script}")).map(|value| value.summary()).map_err(|e| e.render(false))
    };
    let is = |script: &str, wanted: &str| {
        assert_eq!(told(script).unwrap_or_else(|error| panic!("{error}")), wanted, "{script}")
    };
    let refused = |script: &str, words: &str| {
        let error = told(script).err().unwrap_or_else(|| panic!("not refused: {script}"));
        assert!(error.contains(words), "{error}");
    };
    is(
        "let t = asked.call(space::render(#{ backgrounds: back, factors: [\"background\"] })); \
         [t[0].point.background.starts_with(\"photograph\"), t.cautions.filter(|c| c.contains(\"in front\")).len()]",
        "[true, 0]",
    );
    is(
        "let s = space::render(#{ occluders: front, factors: [\"occluder\"] }); asked.call(s).cautions.filter(|c| c.contains(\"in front\")).len()",
        "1",
    );
    // What is photographed with them is another set than without, and another with other photographs.
    is(
        "let hash = |b| data::views(ds, #{ n: 2, space: space::render(#{ backgrounds: b }), seed: 1 }).hash; \
         [hash.call(back) == hash.call(back), hash.call(back) == hash.call(back.take(2))]",
        "[true, false]",
    );
    refused("space::render(#{ factors: #{ occluder_x: [0, 0.1] } })", "occluders: data::objects");
    refused("space::render(#{ occluders: front, factors: [\"azimuth\"] })", "never seen");
    refused("space::render(#{ backgrounds: back, factors: #{ background: [\"white\", \"grey\"] } })", "never seen");
    refused("space::render(#{ occluders: back })", "no objects that could stand in front");
    refused("space::render(#{ backgrounds: front })", "objects, not photographs");
    refused(
        "space::render(#{ backgrounds: back, factors: #{ background: [\"photograph 3\"] } })",
        "no choice \"photograph 3\"",
    );
    refused("space::render(#{ backgrounds: data::glyphs(#{ n: 300 }) })", "1 to 256");
}

/// What a file of somebody else's asks for is read where the script itself could read it, and nowhere else.
#[test]
fn files_read_no_more_than_scripts_do() {
    let materials = "mtllib ../../../secret/m.mtl\nusemtl red\n";
    let table = "class,file\npart,../../secret/a.obj\n";
    let root = folder_of(&[
        ("secret/m.mtl", b"newmtl red\nKd 1 0 0\n"),
        ("secret/a.obj", obj().as_bytes()),
        ("home/named/thing/a.obj", format!("{materials}{}", obj()).as_bytes()),
        ("home/listed/meshes.csv", table.replace("part", "thing").as_bytes()),
    ]);
    let home = root.path().join("home");
    for what in ["named", "listed"] {
        let told = |read: Vec<std::path::PathBuf>| {
            let mut cx = Cx::default();
            cx.set_folder(home.clone());
            cx.set_permissions(Permissions { read: Some(read), ..Permissions::default() });
            read_objects(&cx, &home.join(what), &Reading { size: 32, up: Up::Y, classes: None })
        };
        let refused = told(vec![]).map(|set| set.len()).expect_err("refused");
        assert!(refused.message.contains("may not read") && refused.message.contains("secret"), "{}", refused.message);
        if what == "named" {
            assert_eq!(told(vec![root.path().join("secret")]).expect("allowed").len(), 1);
        }
    }
}

/// Files of one folder, of which each begins as `name` says: its objects as a data set, by their remarks.
fn remarks_of(files: &[(&str, &[u8])], name: &str) -> Result<String> {
    let folder = folder_of(files);
    read(&folder.path().join(name)).map(|mesh| mesh.remarks().join("; "))
}

/// As written, the pyramid with what its file says before its faces.
fn pyramid_with(before: &str, after: &str) -> String {
    format!("{before}{}{after}", obj())
}

#[test]
fn what_a_file_says_and_is_not_drawn_is_remarked() {
    let places = "vt 0 0\nvt 1 0\nvt 0 1\n";
    let textured =
        |material: &str| format!("mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{places}usemtl {material}\nf 1/1 2/2 3/3\n");
    let picture = |alpha: u8| {
        let mut png = std::io::Cursor::new(vec![]);
        let pixels = image::RgbaImage::from_pixel(2, 2, image::Rgba([200, 100, 50, alpha]));
        pixels.write_to(&mut png, image::ImageFormat::Png).expect("a picture");
        png.into_inner()
    };
    let materials = "newmtl thin\nTr 0.7\nnewmtl half\nd 0.3\nnewmtl whole\nTr 1\nd 1\nnewmtl glass\nmap_Kd glass.png\n\
                     newmtl solid\nmap_Kd solid.png\nnewmtl black\nKd 0 0 0\nmap_Kd solid.png\n";
    let of = |material: &str| {
        let own = materials.split("newmtl ").find(|own| own.starts_with(material)).expect("a material");
        let own = format!("newmtl {own}");
        let files: [(&str, &[u8]); 4] = [
            ("m.mtl", own.as_bytes()),
            ("o.obj", &textured(material).into_bytes()),
            ("glass.png", &picture(100)),
            ("solid.png", &picture(255)),
        ];
        remarks_of(&files, "o.obj").expect("an object")
    };
    for (material, words) in [
        ("thin", "its transparent parts are drawn opaque"),
        ("half", "its transparent parts are drawn opaque"),
        ("glass", "see-through parts of its textures are drawn opaque"),
        ("black", "its textures are drawn black"),
    ] {
        assert!(of(material).contains(words), "{material}: {}", of(material));
    }
    for material in ["whole", "solid"] {
        assert_eq!(of(material), "without normals: its faces are flat", "{material}");
    }
    let twisted = "v 0 0 0\nv 1 0 1\nv 1 1 0\nv 0 1 1\nf 1 2 3 4\n";
    let nearly_flat = "v 0 0 0\nv 1 0 0\nv 1 1 0.001\nv 0 1 0\nf 1 2 3 4\n";
    for (text, words) in [
        (
            pyramid_with("usemtl red\n", ""),
            "its materials (usemtl) are in no file that it names (mtllib), and it is drawn grey",
        ),
        (pyramid_with("", "cstype bspline\nsurf 0 1 0 1 1 2 3 4\n"), "free-form curves and surfaces"),
        (pyramid_with("", "p 1 2\n"), "its points (p) are left out"),
        (pyramid_with("", "f 1 3\n"), "1 face of fewer than three corners is left out"),
        (
            "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n".into(),
            "have normals (vn) and others none",
        ),
        (twisted.into(), "lie in no plane"),
        (nearly_flat.into(), ""),
    ] {
        let said = remarks_of(&[("o.obj", text.as_bytes())], "o.obj").expect("an object");
        let wanted = format!("{words}{}", if words.is_empty() { "without normals" } else { "" });
        assert!(said.contains(&wanted) && (!words.is_empty() || !said.contains("plane")), "{text}: {said}");
    }
}

/// Remarks reach results: those of the objects that are there, once for each kind, and not what is drawn as the file says.
#[test]
fn what_is_drawn_otherwise_than_files_say_is_said_beside_results() {
    let [lined, grey] = [pyramid_with("", "l 1 2\n"), pyramid_with("usemtl red\n", "l 1 2\n")];
    let degenerate = b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n";
    let other = obj().replace("v 1 3 1", "v 1 4 1");
    let folder = folder_of(&[
        ("a/whole.obj", obj().as_bytes()),
        ("a/lined.obj", lined.replace("v 1 3 1", "v 1 5 1").as_bytes()),
        ("b/grey.obj", grey.replace("v 1 3 1", "v 1 6 1").as_bytes()),
        ("b/other.stl", &binary_stl()),
        ("b/third.obj", other.as_bytes()),
        ("b/unseen.obj", degenerate),
    ]);
    let set = load(folder.path(), None).expect("a set");
    let said = |set: &Dataset| set.noticed().iter().map(String::from).collect::<Vec<_>>();
    let of = |set: &Dataset, words: &str| said(set).into_iter().filter(|one| one.contains(words)).collect::<Vec<_>>();
    let lines = of(&set, "its lines (l) are left out");
    assert!(lines.len() == 1 && lines[0].contains("2 of the 5 objects of") && lines[0].contains("lined"), "{lines:?}");
    let colours = of(&set, "drawn grey");
    assert!(
        colours.len() == 1 && colours[0].contains("1 of the 5 objects of") && colours[0].contains("grey"),
        "{colours:?}"
    );
    let skipped = of(&set, "1 skipped");
    assert!(skipped.len() == 1 && skipped[0].contains("nothing of it is seen"), "{skipped:?}");
    assert!(of(&set, "without normals").is_empty(), "{:?}", said(&set));
    // What is left out is not told of.
    let whole = set.select(&[1]).expect("one");
    assert_eq!(names(&whole), ["a/whole"]);
    assert!(of(&whole, "otherwise").is_empty(), "{:?}", said(&whole));
    let grey = set.grey().expect("grey").join(&whole.grey().expect("grey")).expect("joined");
    assert_eq!(of(&grey, "its lines (l) are left out").len(), 1, "{:?}", said(&grey));
    let canonical = std::sync::Arc::new(Scenery::default());
    let views = set.views(2, &canonical, "", |_| Ok(View::canonical())).expect("views");
    assert!(of(&views, "its lines (l) are left out")[0].contains("2 of the 5 objects"), "{:?}", said(&views));
    let in_front = scenery(&Cx::default(), None, Some(&set)).expect("a scenery");
    assert!(in_front.noticed.iter().any(|one| one.contains("its lines (l) are left out")), "{:?}", in_front.noticed);
    // Results of an examination have them.
    let script = format!(
        "let ds = data::objects({:?}, #{{ size: 32 }}); let f = model::from(|x| {{ let on = x.reshape([x.len(), 3072]).mean(1).reshape([x.len(), 1]); \
         tensor::concat([on, 1 - on], 1) }}, #{{ classes: 2 }}); let t = examine(f, ds, #{{ space: space::render(), \
         search: search::random(#{{ questions: 2 }}), seed: 1 }}); t.cautions.filter(|c| c.contains(\"otherwise than\")).len()",
        folder.path().display().to_string()
    );
    let mut cx = Cx::default();
    cx.set_permissions(Permissions { read: Some(vec![folder.path().into()]), ..Permissions::default() });
    let mut session = Session::new(Rc::new(cx));
    let found = session
        .evaluate("test", &script)
        .map(|value| value.summary())
        .unwrap_or_else(|e| panic!("{}", e.render(false)));
    assert_eq!(found, "2");
}

#[test]
fn an_object_of_which_nothing_is_seen_is_refused() {
    let error =
        remarks_of(&[("o.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 1 2\n")], "o.obj").expect_err("refused");
    assert!(error.message.contains("none of its 2 triangles has an area"), "{error}");
}

/// The same picture wherever an object lies and however large it is, where its file has the digits; float32 numbers do not.
#[test]
fn neither_place_nor_size_changes_a_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        read(&path)
    };
    let at = |scale: f64, offset: [f64; 3]| {
        let place = |corner: [f32; 3]| [0, 1, 2].map(|i| f64::from(corner[i]) * scale + offset[i]);
        CORNERS.map(place)
    };
    let faces: String =
        FACES.iter().map(|face| format!("f {} {} {}\n", face[0] + 1, face[1] + 1, face[2] + 1)).collect();
    let obj_at = |scale, offset| {
        at(scale, offset).iter().map(|[x, y, z]| format!("v {x:?} {y:?} {z:?}\n")).collect::<String>() + faces.as_str()
    };
    let ply_at = |scale, offset| {
        let head = "ply\nformat binary_little_endian 1.0\nelement vertex 5\nproperty double x\nproperty double y\nproperty double z\n\
                    element face 6\nproperty list uchar ushort vertex_indices\nend_header\n";
        let places = at(scale, offset).into_iter().flatten().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        let faces = FACES.iter().flat_map(|face| [3].into_iter().chain(face.iter().flat_map(|i| i.to_le_bytes())));
        [head.as_bytes(), &places[..], &faces.collect::<Vec<u8>>()[..]].concat()
    };
    let wanted = put("p.obj", obj().as_bytes()).expect("an object");
    for (scale, offset) in [
        (1.0, [500_000.0, 120.0, 5_400_000.0]),
        (1.0, [1e7, 1e7, -1e7]),
        (2e-12, [0.0; 3]),
        (1e-8, [0.1, 0.0, 0.0]),
        (1e12, [0.0; 3]),
        (1e15, [1e17, 0.0, 0.0]),
    ] {
        for (name, bytes) in [("far.obj", obj_at(scale, offset).into_bytes()), ("far.ply", ply_at(scale, offset))] {
            let mesh = put(name, &bytes).unwrap_or_else(|error| panic!("{name} {scale} {offset:?}: {error}"));
            for (a, b) in mesh.vertices().iter().zip(wanted.vertices()) {
                assert!(
                    (a.position - b.position).length() < 1e-5,
                    "{name} {scale} {offset:?}: {} {}",
                    a.position,
                    b.position
                );
                assert!((a.normal - b.normal).length() < 1e-4, "{name} {scale} {offset:?}: {} {}", a.normal, b.normal);
            }
            let radius = f64::from(mesh.radius()) / scale / f64::from(wanted.radius());
            assert!((radius - 1.0).abs() < 1e-6, "{name} {scale}: {radius}");
        }
    }
    // What float32 numbers round away is not drawn as if it were there.
    let moved = r#"{"mesh": 0, "translation": [1e6, 0, 0]}"#;
    let back = r#"{"children": [1], "translation": [-1e6, 0, 0]}, {"mesh": 0, "translation": [1e6, 0, 0]}"#;
    let there_and_back = glb(&gltf("", back, r#""scene": 0, "scenes": [{"nodes": [0]}],"#), &buffer());
    let mut stl = binary_stl();
    stl[84..].as_chunks_mut::<50>().0.iter_mut().for_each(|facet| {
        for corner in 0..3 {
            let x = &mut facet[12 + 12 * corner..][..4];
            let number = f32::from_le_bytes(x.try_into().expect("four bytes")) + 1e6;
            x.copy_from_slice(&number.to_le_bytes());
        }
    });
    for (name, bytes) in
        [("far.glb", glb(&gltf("", moved, ""), &buffer())), ("back.glb", there_and_back), ("far.stl", stl)]
    {
        let error = put(name, &bytes).expect_err(name);
        let said = format!("{} {}", error.message, error.hint.clone().unwrap_or_default());
        assert!(said.contains("its shape is rounded away") && said.contains("move it to the origin"), "{said}");
    }
}

#[test]
fn materials_of_several_files_and_lines_that_go_on_are_read() {
    let faces = "usemtl red\nf 1 2 3\nusemtl blue\nf 1 2 4\n";
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let one = format!("mtllib all.mtl\n{vertices}{faces}");
    let two =
        format!("mtllib a.mtl b.mtl\n# no end: \\\n{vertices}{}", faces.replace("f 1 2 3", "f 1 \\\n  2\\\r\n 3"));
    let spaced = format!("mtllib my own.mtl\n{vertices}{faces}");
    let (red, blue) = ("newmtl red\nKd 1 0 0", "newmtl blue\nKd 0 0 1\n");
    let all = format!("{red}\n{blue}");
    let folder = folder_of(&[
        ("one.obj", one.as_bytes()),
        ("two.obj", two.as_bytes()),
        ("spaced.obj", spaced.as_bytes()),
        ("lost.obj", one.replace("all.mtl", "a.mtl lost.mtl").as_bytes()),
        ("all.mtl", all.as_bytes()),
        ("my own.mtl", all.as_bytes()),
        ("a.mtl", red.as_bytes()),
        ("b.mtl", blue.as_bytes()),
    ]);
    let wanted = read(&folder.path().join("one.obj")).expect("an object");
    for name in ["two.obj", "spaced.obj"] {
        let mesh = read(&folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(mesh.digest(), wanted.digest(), "{name}");
        assert_eq!(mesh.remarks(), wanted.remarks(), "{name}");
    }
    let error = read(&folder.path().join("lost.obj")).expect_err("refused");
    assert!(error.message.contains("lost.mtl: no such file"), "{error}");
}

#[test]
fn an_object_that_is_in_two_classes_is_a_copy_under_another_label() {
    let other = obj().replace("v 1 3 1", "v 1 4 1");
    let folder = folder_of(&[
        ("a/one.obj", obj().as_bytes()),
        ("b/same.obj", format!("# written again\n{}", obj()).as_bytes()),
        ("b/other.obj", other.as_bytes()),
    ]);
    let set = load(folder.path(), None).expect("a set");
    let noticed = set.noticed();
    let said = noticed.iter().next().expect("a caution");
    assert!(said.contains("1 of the 3 images") && said.contains("1 of them under another label"), "{said}");
}

/// A view without its object is no fault of the classifier: such views among the worst are counted, and may be foretold from the ranges of shifts.
#[test]
fn worst_views_that_show_nothing_of_their_object_are_counted() {
    let script = |space: &str, search: &str| {
        format!(
            "let ds = data::objects([\"mug\", \"lamp\"], #{{ n: 4, size: 32, seed: 1 }}); \
             let f = model::from(|x| {{ let on = (x.reshape([x.len(), 3072]).mean(1) - 0.995).reshape([x.len(), 1]); \
             tensor::concat([0 - on, on], 1) }}, #{{ classes: 2 }}); \
             let t = examine(f, ds, #{{ space: space::render({space}), search: {search}, seed: 1 }}); \
             [t.len(), t.success_rate, t.cautions.filter(|c| c.contains(\"nothing of the object is to be seen\")), \
             t.cautions.filter(|c| c.contains(\"out of the picture: such a view\")).len()]"
        )
    };
    let told = |space: &str, search: &str| {
        let mut session = Session::new(Rc::new(Cx::default()));
        let value = session.evaluate("test", &script(space, search));
        value.map(|value| value.summary()).unwrap_or_else(|error| panic!("{}", error.render(false)))
    };
    let random = "search::random(#{ questions: 8 })";
    let out = "#{ factors: #{ shift_x: [0.95, 1], distance: 4, elevation: 0, azimuth: 0, shift_y: 0, roll: 0, background: \"white\", \
               light: \"sun\", material: \"matte\", light_energy: 1 } }";
    for search in [random, "search::worst([search::random(#{ questions: 2 }), search::random(#{ questions: 4 })])"] {
        let said = told(out, search);
        assert!(
            said.contains("in 4 of the 4 worst views nothing of the object")
                && said.contains(" reads 2 of them wrongly")
                && said.ends_with(", 1]"),
            "{search}: {said}"
        );
    }
    let said = told("#{ factors: #{ shift_x: [0.0, 0.1], azimuth: 0 } }", random);
    assert!(!said.contains("nothing of the object") && said.ends_with(", 0]"), "{said}");
}
