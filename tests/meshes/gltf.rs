//! What the specification of glTF says of colours, textures and nodes.

use std::fs;

use viva::render::{Mesh, Scenery, View, draw};

use super::{NODE, glb, read};

/// A square in the middle of the picture, of which each vertex has a place on the texture or a colour.
fn gltf_square(node: &str, attributes: &str, more: &str) -> Vec<u8> {
    let positions: [[f32; 3]; 4] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]];
    let places: [[f32; 2]; 4] = [[-2.0, 3.0], [3.0, 3.0], [3.0, -2.0], [-2.0, -2.0]];
    let colours: [[f32; 3]; 4] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let weights = [[0.25f32, 0.75, 0.0, 0.0]; 4];
    let floats =
        [positions.as_flattened(), places.as_flattened(), colours.as_flattened(), weights.as_flattened()].concat();
    let mut blob: Vec<u8> = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    blob.extend([0u8, 1, 0, 0].repeat(4));
    blob.extend([0u16, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes()));
    let picture = image::RgbImage::from_fn(2, 2, |x, y| {
        image::Rgb([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]][y as usize][x as usize])
    });
    let mut png = std::io::Cursor::new(vec![]);
    picture.write_to(&mut png, image::ImageFormat::Png).expect("a picture");
    let coded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, png.into_inner());
    let json = format!(
        r#"{{"asset": {{"version": "2.0"}}, {more} "buffers": [{{"byteLength": {size}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 48}}, {{"buffer": 0, "byteOffset": 48, "byteLength": 32}}, {{"buffer": 0, "byteOffset": 80, "byteLength": 48}},
            {{"buffer": 0, "byteOffset": 128, "byteLength": 64}}, {{"buffer": 0, "byteOffset": 192, "byteLength": 16}}, {{"buffer": 0, "byteOffset": 208, "byteLength": 12}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}}, {{"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"}},
            {{"bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC3"}}, {{"bufferView": 3, "componentType": 5126, "count": 4, "type": "VEC4"}},
            {{"bufferView": 4, "componentType": 5121, "count": 4, "type": "VEC4"}}, {{"bufferView": 5, "componentType": 5123, "count": 6, "type": "SCALAR"}}],
        "images": [{{"uri": "data:image/png;base64,{coded}"}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0 {attributes}}}, "indices": 5}}]}}], "nodes": [{node}]}}"#,
        size = blob.len()
    );
    glb(&json, &blob)
}

/// The colours of the quarters of the square, in bytes: upper left, upper right, lower left, lower right.
fn quarters(mesh: &Mesh) -> [[u8; 3]; 4] {
    let view = View {
        azimuth: 0.0,
        elevation: 0.0,
        light_azimuth: 0.0,
        light_elevation: 0.0,
        background: 2,
        ..View::of(&View::canonical())
    };
    let mut pixels = vec![0.0; 3 * 64 * 64];
    draw(mesh, &view, &Scenery::default(), 64, &mut pixels);
    [(24, 24), (24, 39), (39, 24), (39, 39)]
        .map(|(y, x)| [0, 1, 2].map(|c| (255.0 * pixels[(c * 64 + y) * 64 + x]).round() as u8))
}

/// What the specification of glTF says of colours, textures and nodes, and a word on what is left out.
#[test]
fn gltf_is_drawn_as_its_specification_says() {
    let [red, green, blue, yellow]: [[u8; 3]; 4] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("square.glb");
    let square = |node: &str, attributes: &str, more: &str| {
        fs::write(&path, gltf_square(node, attributes, more)).expect("written");
        read(&path)
    };
    let drawn = |node: &str, attributes: &str, more: &str| square(node, attributes, more).expect("an object");
    let textured = |wrap: &str, factor: &str| {
        let more = format!(
            r#""materials": [{{"pbrMetallicRoughness": {{"baseColorTexture": {{"index": 0}} {factor}}}}}], "textures": [{{"source": 0, "sampler": 0}}], "samplers": [{{{wrap}}}],"#
        );
        gltf_square(NODE, r#", "TEXCOORD_0": 1"#, &more)
    };
    let with_material = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(
            &bytes[20..20 + u32::from_le_bytes(bytes[12..16].try_into().expect("four")) as usize],
        )
        .into_owned();
        let blob = bytes[20 + text.len() + 8..].to_vec();
        glb(&text.trim_end().replace(r#""indices": 5"#, r#""indices": 5, "material": 0"#), &blob)
    };
    let of_texture = |wrap: &str, factor: &str| {
        fs::write(&path, with_material(textured(wrap, factor))).expect("written");
        quarters(&read(&path).expect("an object"))
    };
    // Places on the texture from -2 to 3, here -1/2 and 3/2.
    assert_eq!(of_texture("", ""), [yellow, blue, green, red]);
    assert_eq!(of_texture(r#""wrapS": 33071, "wrapT": 33071"#, ""), [red, green, blue, yellow]);
    assert_eq!(of_texture(r#""wrapS": 33648, "wrapT": 33071"#, "")[..2], [red, green]);
    // Half of the light is 188 of 255.
    let half = of_texture("", r#", "baseColorFactor": [0.5, 0.5, 0.5, 1]"#);
    assert_eq!(half[0], [188, 188, 0]);
    // Without a material colours of vertices are all there is, and those between them are of light between theirs.
    let coloured = drawn(NODE, r#", "COLOR_0": 2"#, "");
    let mut row = vec![0.0; 3 * 64 * 64];
    let front =
        View { azimuth: 0.0, elevation: 0.0, light_azimuth: 0.0, light_elevation: 0.0, ..View::of(&View::canonical()) };
    draw(&coloured, &front, &Scenery::default(), 64, &mut row);
    let middle = |c: usize| 255.0 * (row[(c * 64 + 32) * 64 + 31] + row[(c * 64 + 32) * 64 + 32]) / 2.0;
    assert!((middle(0) - 188.0).abs() < 2.0 && (middle(2) - 188.0).abs() < 2.0, "{} {}", middle(0), middle(2));
    assert_eq!(quarters(&drawn(NODE, "", ""))[0], [255; 3], "white where nothing is said");
    // What is hidden is not drawn, with what hangs on it.
    let hidden = r#"{"mesh": 0}, {"extensions": {"KHR_node_visibility": {"visible": false}}, "children": [2]}, {"mesh": 0, "scale": [9, 9, 9]}"#;
    assert!((drawn(hidden, "", "").radius() - 2f32.sqrt()).abs() < 1e-5);
    // A skeleton stands as its nodes do: here turned, and a quarter twice and the rest six times as large.
    let bones = r#"{"mesh": 0, "skin": 0, "scale": [7, 7, 7]}, {"children": [2], "rotation": [0.70710678, 0, 0, 0.70710678]}, {"scale": [2, 2, 2], "children": [3]}, {"scale": [3, 3, 3]}"#;
    let skin = r#""skins": [{"joints": [2, 3]}], "scenes": [{"nodes": [0, 1]}],"#;
    let skinned = drawn(bones, r#", "JOINTS_0": 4, "WEIGHTS_0": 3"#, skin);
    assert!((skinned.radius() - 5.0 * 2f32.sqrt()).abs() < 1e-5, "{}", skinned.radius());
    assert!(skinned.vertices().iter().all(|vertex| vertex.position.y.abs() < 1e-6), "it lies");
    assert_eq!(skinned.departures(), [""; 0]);
    let refused = square(bones, r#", "JOINTS_0": 4"#, skin).expect_err("no weights");
    assert!(refused.message.contains("WEIGHTS_0"), "{}", refused.message);
    // JOINTS_0 of the square are whole numbers: as colours they'd reach 255 of 1.
    let refused = square(NODE, r#", "COLOR_0": 4"#, "").expect_err("no share of 1");
    assert!(refused.message.contains("not `normalized`"), "{}", refused.message);
    for (extension, said) in [
        ("EXT_mesh_gpu_instancing", "one of each is drawn"),
        ("KHR_materials_transmission", "drawn opaque"),
        ("KHR_materials_unlit", "lit as all else"),
        ("VENDOR_new", "what VENDOR_new says is left out"),
    ] {
        let mesh = drawn(NODE, "", &format!(r#""extensionsUsed": ["{extension}", "KHR_materials_ior"],"#));
        assert!(mesh.departures().len() == 1 && mesh.departures()[0].contains(said), "{:?}", mesh.departures());
    }
    // No place on the texture, and no picture that can be read.
    let unplaced = with_material(gltf_square(
        NODE,
        "",
        r#""materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}], "textures": [{"source": 0}],"#,
    ));
    fs::write(&path, unplaced).expect("written");
    assert!(read(&path).expect("an object").departures()[0].contains("TEXCOORD_0"));
    let webp = r#""materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}], "textures": [{"extensions": {"EXT_texture_webp": {"source": 0}}}],"#;
    fs::write(&path, with_material(gltf_square(NODE, "", webp))).expect("written");
    assert!(read(&path).expect_err("no picture").message.contains("but what EXT_texture_webp brings along"));
}
