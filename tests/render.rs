//! The renderer against closed forms, and the files that it refuses.

use std::path::{Path, PathBuf};

use glam::{Vec2, Vec3};
use rand::Rng;
use viva::core::{Cx, random};
use viva::render::{CLASSES, Mesh, Surface, Textures, Triangle, Vertex, View, draw, object, read_obj};

const SIZE: usize = 256;
/// The tangent of half the angle of vision.
const HALF_ANGLE: f64 = 0.466_307_658_154_998_6;

fn canonical() -> View {
    View::of(&View::canonical())
}

fn vertex(position: [f32; 3], normal: [f32; 3]) -> Vertex {
    Vertex { position: position.into(), normal: Vec3::from(normal), texture: Vec2::ZERO }
}

fn white() -> Vec<Surface> {
    vec![Surface { colour: Vec3::ONE, texture: None }]
}

fn triangles(corners: &[[u32; 3]]) -> Vec<Triangle> {
    corners.iter().map(|&corners| Triangle { corners, surface: 0 }).collect()
}

/// A ball of 128 x 256 pieces.
fn ball() -> Mesh {
    let (rings, around) = (128u32, 256u32);
    let mut vertices = vec![];
    for ring in 0..=rings {
        for k in 0..around {
            let (up, level) = (std::f32::consts::PI * (ring as f32 / rings as f32 - 0.5)).sin_cos();
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
            let at = [level * sin, up, level * cos];
            vertices.push(vertex(at, at));
        }
    }
    let mut corners = vec![];
    for ring in 0..rings {
        for k in 0..around {
            let (a, b) = (ring * around + k, ring * around + (k + 1) % around);
            corners.extend([[a, b, b + around], [a, b + around, a + around]]);
        }
    }
    Mesh::new("ball", vertices, triangles(&corners), white()).expect("a mesh")
}

fn cube() -> Mesh {
    let (mut vertices, mut corners) = (vec![], vec![]);
    for axis in 0..3 {
        for sign in [-1.0f32, 1.0] {
            let first = vertices.len() as u32;
            for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
                let mut at = [0.0; 3];
                at[axis] = sign;
                at[(axis + 1) % 3] = a;
                at[(axis + 2) % 3] = b;
                let mut normal = [0.0; 3];
                normal[axis] = sign;
                vertices.push(vertex(at, normal));
            }
            corners.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    Mesh::new("cube", vertices, triangles(&corners), white()).expect("a mesh")
}

fn picture(mesh: &Mesh, view: &View, size: usize) -> Vec<f32> {
    let mut pixels = vec![f32::NAN; 3 * size * size];
    draw(mesh, view, size, &mut pixels);
    assert!(pixels.iter().all(|x| (0.0..=1.0).contains(x)), "pixels lie in [0, 1]");
    pixels
}

/// Pixels that an object covers, seen so bright on black that only its share of a pixel counts.
fn covered(mesh: &Mesh, view: &View) -> f64 {
    let view = View { light_energy: 100.0, background: 2, ..*view };
    let pixels = picture(mesh, &view, SIZE);
    let black = f64::from(picture(mesh, &View { distance: 100.0, shift_x: 1.0, ..view }, SIZE)[0]);
    pixels[..SIZE * SIZE].iter().map(|&x| (f64::from(x) - black) / (1.0 - black)).sum()
}

#[test]
fn a_ball_covers_the_circle_that_it_should() {
    let ball = ball();
    for (distance, azimuth, elevation, roll) in
        [(2.5, 35.0, 20.0, 0.0), (4.0, 200.0, -30.0, 30.0), (3.0, 0.0, 90.0, -12.0)]
    {
        let view = View { distance, azimuth, elevation, roll, ..canonical() };
        let radius = (1.0 / f64::from(distance)).asin().tan() / HALF_ANGLE * SIZE as f64 / 2.0;
        let wanted = std::f64::consts::PI * radius * radius;
        let found = covered(&ball, &view);
        assert!((found / wanted - 1.0).abs() < 0.01, "at {distance} radii: {found} of {wanted} pixels");
    }
}

/// The convex hull of projected corners, by the formulas of perspective alone.
#[test]
fn a_cube_covers_the_polygon_that_it_should() {
    let cube = cube();
    for (distance, azimuth, elevation, shift) in
        [(3.0f64, 35.0f64, 20.0f64, 0.0f64), (2.5, 0.0, 0.0, 0.1), (4.0, 250.0, 55.0, -0.2)]
    {
        let view = View {
            distance: distance as f32,
            azimuth: azimuth as f32,
            elevation: elevation as f32,
            shift_x: shift as f32,
            shift_y: -shift as f32,
            ..canonical()
        };
        let (a, e) = (azimuth.to_radians(), elevation.to_radians());
        let towards = [a.sin() * e.cos(), e.sin(), a.cos() * e.cos()];
        let right = [a.cos(), 0.0, -a.sin()];
        let up = [-a.sin() * e.sin(), e.cos(), -a.cos() * e.sin()];
        let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
        let side = 1.0 / 3f64.sqrt();
        let scale = SIZE as f64 / 2.0 / HALF_ANGLE;
        let mut points: Vec<[f64; 2]> = (0..8)
            .map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1].map(|bit| side * (2.0 * f64::from(bit) - 1.0)))
            .map(|corner| {
                let depth = distance - dot(corner, towards);
                [dot(corner, right) / depth * scale, dot(corner, up) / depth * scale]
            })
            .collect();
        points.sort_by(|p, q| p.partial_cmp(q).expect("numbers"));
        let cross =
            |o: [f64; 2], p: [f64; 2], q: [f64; 2]| (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
        let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
            let mut hull: Vec<[f64; 2]> = vec![];
            for p in points {
                while hull.len() > 1 && cross(hull[hull.len() - 2], hull[hull.len() - 1], p) <= 0.0 {
                    hull.pop();
                }
                hull.push(p);
            }
            hull.pop();
            hull
        };
        let hull = [half(&mut points.iter().copied()), half(&mut points.iter().rev().copied())].concat();
        let wanted: f64 = (0..hull.len())
            .map(|i| (hull[i], hull[(i + 1) % hull.len()]))
            .map(|(p, q)| (p[0] * q[1] - q[0] * p[1]) / 2.0)
            .sum();
        let found = covered(&cube, &view);
        assert!((found / wanted - 1.0).abs() < 0.01, "azimuth {azimuth}: {found} of {wanted} pixels");
    }
}

/// A red square in front of a green one hides it from the front, in whichever order they come, and is hidden from behind.
#[test]
fn what_is_nearer_hides_what_is_behind() {
    let square = |z: f32| [[-1.0, -1.0, z], [1.0, -1.0, z], [1.0, 1.0, z], [-1.0, 1.0, z]];
    let colours = [Vec3::X, Vec3::Y].map(|colour| Surface { colour, texture: None }).to_vec();
    for order in [[0.5f32, -0.5], [-0.5, 0.5]] {
        let vertices = order.iter().flat_map(|&z| square(z)).map(|at| vertex(at, [0.0, 0.0, 1.0])).collect();
        let parts = (0..2u32).flat_map(|k| {
            let surface = if order[k as usize] > 0.0 { 0 } else { 1 };
            [[0, 1, 2], [0, 2, 3]].map(|corners| Triangle { corners: corners.map(|c: u32| c + 4 * k), surface })
        });
        let mesh = Mesh::new("squares", vertices, parts.collect(), colours.clone()).expect("a mesh");
        for (azimuth, red) in [(0.0, true), (180.0, false)] {
            let view = View { azimuth, elevation: 0.0, light_azimuth: azimuth, light_elevation: 0.0, ..canonical() };
            let pixels = picture(&mesh, &view, SIZE);
            let at = |channel: usize| pixels[channel * SIZE * SIZE + SIZE / 2 * SIZE + SIZE / 2];
            assert_eq!(at(0) > 0.9 && at(1) < 0.1, red, "from {azimuth}: {} {}", at(0), at(1));
            assert_eq!(at(1) > 0.9 && at(0) < 0.1, !red, "from {azimuth}: {} {}", at(0), at(1));
        }
    }
}

#[test]
fn symmetric_views_are_equal() {
    let cube = cube();
    let view = View { azimuth: 20.0, light_azimuth: 50.0, ..canonical() };
    let first = picture(&cube, &view, 64);
    for quarter in 1..4 {
        let turn = 90.0 * quarter as f32;
        let turned = View { azimuth: 20.0 + turn, light_azimuth: 50.0 + turn, ..view };
        let differing =
            picture(&cube, &turned, 64).iter().zip(&first).filter(|(a, b)| (**a - **b).abs() > 0.005).count();
        // Rounding may move a sample over an edge.
        assert!(differing <= 12, "a quarter turn changes {differing} numbers");
    }
    let mirrored = View { azimuth: -20.0, light_azimuth: -50.0, ..view };
    let other = picture(&cube, &mirrored, 64);
    let differing = (0..3 * 64 * 64).filter(|i| {
        let (line, column) = (i / 64, i % 64);
        (other[line * 64 + 63 - column] - first[*i]).abs() > 0.005
    });
    assert!(differing.count() <= 12, "a mirrored view is the mirror image");
    // A half turn in the picture.
    let rolled = picture(&cube, &View { roll: 180.0, ..view }, 64);
    let plain = View { background: 0, ..view };
    let upright = picture(&cube, &plain, 64);
    let differing = (0..64 * 64).filter(|i| (rolled[64 * 64 - 1 - i] - upright[*i]).abs() > 0.005).count();
    assert!(differing <= 12, "rolled by 180 degrees: {differing} pixels differ");
}

#[test]
fn roll_and_shifts_go_the_way_that_they_say() {
    // A small square above the middle of a large, invisible box: two tiny triangles hold the box open.
    let corner = |x: f32, y: f32| vertex([x, y, 0.0], [0.0, 0.0, 1.0]);
    let vertices = vec![
        corner(-0.1, 0.7),
        corner(0.1, 0.7),
        corner(0.1, 0.9),
        corner(-0.1, 0.9),
        corner(-1.0, -1.0),
        corner(-0.999, -1.0),
        corner(1.0, 1.0),
    ];
    let mesh =
        Mesh::new("mark", vertices, triangles(&[[0, 1, 2], [0, 2, 3], [4, 5, 4], [6, 6, 5]]), white()).expect("a mesh");
    let middle = |view: View| -> [f64; 2] {
        let view = View { azimuth: 0.0, elevation: 0.0, light_energy: 100.0, background: 2, ..view };
        let pixels = picture(&mesh, &view, SIZE);
        let (mut sum, mut at) = (0.0, [0.0; 2]);
        for (i, &x) in pixels[..SIZE * SIZE].iter().enumerate().filter(|(_, x)| **x > 0.5) {
            sum += f64::from(x);
            at[0] += f64::from(x) * (i % SIZE) as f64;
            at[1] += f64::from(x) * (i / SIZE) as f64;
        }
        at.map(|x| x / sum / SIZE as f64)
    };
    let [x, y] = middle(canonical());
    assert!((x - 0.5).abs() < 0.01 && y < 0.35, "above the middle: {x} {y}");
    let [rolled_x, rolled_y] = middle(View { roll: 90.0, ..canonical() });
    assert!(rolled_x > 0.65 && (rolled_y - 0.5).abs() < 0.01, "clockwise, to the right: {rolled_x} {rolled_y}");
    let [moved_x, moved_y] = middle(View { shift_x: 0.1, shift_y: 0.2, ..canonical() });
    assert!((moved_x - x - 0.1).abs() < 0.01 && (moved_y - y - 0.2).abs() < 0.01, "{moved_x} {moved_y}");
}

#[test]
fn energy_doubles_brightness_below_saturation() {
    let ball = ball();
    for light in [viva::render::Light::Sun, viva::render::Light::Point, viva::render::Light::Area] {
        let dim = View { light_energy: 0.1, light, background: 2, ..canonical() };
        let bright = View { light_energy: 0.2, ..dim };
        let (dim, bright) = (picture(&ball, &dim, 64), picture(&ball, &bright, 64));
        let middle = |pixels: &[f32]| -> f32 {
            (24..40).map(|row| pixels[row * 64 + 24..row * 64 + 40].iter().sum::<f32>()).sum()
        };
        let ratio = middle(&bright) / middle(&dim);
        // Pixels are rounded to 1/255.
        assert!((ratio - 2.0).abs() < 0.03, "{light:?}: {ratio}");
        assert!(middle(&bright) < 0.9 * 256.0 && middle(&dim) > 0.03 * 256.0);
    }
}

/// A square that faces camera and light: in its middle all cosines are 1, so brightness is ambient 0.35 and Lambert 0.65, plus what a material
/// adds. The four lamps of an area light stand a square root of 2 aside at distance 3: 9/11 of the light at a cosine of 3 / sqrt(11).
#[test]
fn light_and_material_are_those_of_their_formulas() {
    let corner = |x: f32, y: f32| vertex([x, y, 0.0], [0.0, 0.0, 1.0]);
    let vertices = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let square = Mesh::new("square", vertices, triangles(&[[0, 1, 2], [0, 2, 3]]), white()).expect("a mesh");
    let area = 0.5 * (0.35 + 0.65 * 9.0 / 11.0 * 3.0 / 11f32.sqrt());
    use viva::render::{Light, Material};
    for (light, material, wanted) in [
        (Light::Sun, Material::Matte, 0.5),
        (Light::Point, Material::Matte, 0.5),
        (Light::Area, Material::Matte, area),
        (Light::Sun, Material::Glossy, 0.5 * (1.0 + 0.6)),
        (Light::Sun, Material::Metal, 0.5 * (0.45 + 0.9)),
    ] {
        let view = View {
            azimuth: 0.0,
            elevation: 0.0,
            light_azimuth: 0.0,
            light_elevation: 0.0,
            light_energy: 0.5,
            light,
            material,
            ..canonical()
        };
        let pixels = picture(&square, &view, 128);
        let middle = pixels[64 * 128 + 64];
        // Rounded to 1/255, and half a pixel off the middle.
        assert!((middle - wanted).abs() < 0.006, "{light:?} {material:?}: {middle} of {wanted}");
    }
}

#[test]
fn ten_thousand_views_are_drawn() {
    let objects: Vec<Mesh> =
        (0..CLASSES.len()).map(|class| object(class, &mut random(3, class as u64)).expect("built")).collect();
    for mesh in &objects {
        let radius = mesh.vertices().iter().map(|v| v.position.length()).fold(0.0, f32::max);
        assert!((radius - 1.0).abs() < 1e-4, "{}: {radius}", mesh.name);
        assert!(mesh.triangles().len() < 5000, "{} has {} triangles", mesh.name, mesh.triangles().len());
    }
    let mut rng = random(1, 1);
    let mut seen = 0;
    for k in 0..10_000 {
        let view = viva::render::VIEW_FACTORS.each_ref().map(|factor| match factor.span {
            viva::render::Span::Choices(all) => rng.gen_range(0..all.len()) as f64,
            // Every fourth view as far as ranges may be set, the others so that objects can be seen.
            _ if k % 4 == 0 => rng.gen_range(factor.limits[0]..=factor.limits[1]),
            _ if factor.name == "distance" => rng.gen_range(factor.limits[0]..=6.0),
            _ => {
                rng.gen_range(factor.limits[0]..=factor.limits[1])
                    * if factor.name.starts_with("shift") { 0.4 } else { 1.0 }
            }
        });
        let view = View::of(&view);
        let pixels = picture(&objects[k % objects.len()], &view, 16);
        // What stands behind it, alone: the object is out of the picture.
        let without = picture(&objects[k % objects.len()], &View { distance: 100.0, shift_x: 1.0, ..view }, 16);
        seen += usize::from(pixels != without);
    }
    // Light of a thousandth shows nothing on black; nearly all others do.
    assert!(seen > 6500, "{seen} pictures show an object");
}

#[test]
fn objects_are_what_their_stream_says() {
    let twice = [4, 4].map(|stream| object(3, &mut random(1, stream)).expect("built").digest());
    assert_eq!(twice[0], twice[1]);
    assert_ne!(twice[0], object(3, &mut random(1, 5)).expect("built").digest(), "another stream, another chair");
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

const SQUARE: &str = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n";

/// The corners of a texture stay where they are: red above left, green above right, blue below left, white below right.
#[test]
fn textures_stand_upright() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut texture = image::RgbImage::new(2, 2);
    texture.put_pixel(0, 0, image::Rgb([255, 0, 0]));
    texture.put_pixel(1, 0, image::Rgb([0, 255, 0]));
    texture.put_pixel(0, 1, image::Rgb([0, 0, 255]));
    texture.put_pixel(1, 1, image::Rgb([255, 255, 255]));
    texture.save(folder.path().join("corners.png")).expect("saved");
    write(folder.path(), "m.mtl", "newmtl m\nKd 1 1 1\nmap_Kd corners.png\n");
    let text = format!("mtllib m.mtl\n{SQUARE}vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3 4/4\n");
    let mesh = read_obj(
        &Cx::default(),
        "square",
        &[write(folder.path(), "s.obj", &text)],
        &mut Textures::new(viva::data::picture::read),
    )
    .expect("read");
    assert_eq!(mesh.triangles().len(), 2, "a square is two triangles");
    let view = View { azimuth: 0.0, elevation: 0.0, light_azimuth: 0.0, light_elevation: 0.0, ..canonical() };
    let pixels = picture(&mesh, &view, 64);
    let at = |x: usize, y: usize| [0, 1, 2].map(|channel| pixels[channel * 64 * 64 + y * 64 + x] > 0.5);
    assert_eq!(at(24, 24), [true, false, false], "red above left");
    assert_eq!(at(40, 24), [false, true, false], "green above right");
    assert_eq!(at(24, 40), [false, false, true], "blue below left");
    assert_eq!(at(40, 40), [true, true, true], "white below right");
}

#[test]
fn files_that_are_not_meshes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let m = "newmtl m\nKd 1 1 1\nmap_Kd missing.png\n";
    write(folder, "lost.mtl", m);
    write(folder, "nan.mtl", "newmtl m\nKd nan 1 1\n");
    write(folder, "bad.mtl", "newmtl m\nKd 1 1 1\nmap_Kd bad.png\n");
    write(folder, "moved.mtl", "newmtl m\nKd 1 1 1\nmap_Kd -s 1 1 1 t.png\n");
    write(folder, "bad.png", "no picture");
    let cases = [
        ("", "no faces"),
        (SQUARE, "no faces"),
        ("v 0 0 0\nv 1 0 0\nl 1 2\n", "no faces"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "face"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "face"),
        ("v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "finite"),
        ("v 0 0 0\nv 1 0 0\nv inf 1 0\nf 1 2 3\n", "finite"),
        ("v 0 0 0\nv 1 0 0\nv 0 1\nf 1 2 3\n", "position"),
        ("v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", "one point"),
        ("v 3e38 0 0\nv -3e38 0 0\nv 0 3e38 0\nf 1 2 3\n", "too far apart"),
        ("mtllib nowhere.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "materials"),
        ("mtllib lost.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n", "missing.png"),
        ("mtllib bad.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n", "bad.png"),
        ("mtllib nan.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n", "colour"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", "face"),
        ("mtllib /dev/zero\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "materials"),
        ("mtllib moved.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n", "options of textures"),
        ("\u{0}\u{1}\u{2} binary", ""),
    ];
    for (text, wanted) in cases {
        let path = write(folder, "m.obj", text);
        let error =
            read_obj(&Cx::default(), "m", std::slice::from_ref(&path), &mut Textures::new(viva::data::picture::read))
                .expect_err(text);
        let said = format!("{error} {}", error.hint.clone().unwrap_or_default());
        assert!(
            said.contains(wanted) && said.contains("m.obj") || said.contains("missing.png") || said.contains("bad.png"),
            "{text:?}: {said}"
        );
        assert!(said.contains(wanted), "{text:?}: {said}");
    }
}
