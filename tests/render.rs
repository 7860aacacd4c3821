//! The renderer against closed forms, and the files that it refuses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Vec2, Vec3};
use rand::Rng;
use tch::Tensor;
use viva::core::{Cx, random};
use viva::data::{from_tensor, scenery};
use viva::render::{
    BACKDROPS, CLASSES, Mesh, Photograph, Scenery, Surface, Textures, Triangle, Up, Vertex, View, draw, object,
    read_object,
};

const SIZE: usize = 256;
/// The tangent of half the angle of vision.
const HALF_ANGLE: f64 = 0.466_307_658_154_998_6;

fn canonical() -> View {
    View::of(&View::canonical())
}

fn vertex(position: [f32; 3], normal: [f32; 3]) -> Vertex {
    Vertex { position: position.into(), normal: Vec3::from(normal), texture: Vec2::ZERO, colour: Vec3::ONE }
}

fn white() -> Vec<Surface> {
    vec![Surface::plain(Vec3::ONE)]
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
    draw(mesh, view, &Scenery::default(), size, &mut pixels);
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
    let colours = [Vec3::X, Vec3::Y].map(Surface::plain).to_vec();
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
            // Many lamps, blur and noise are many times the work.
            _ if factor.asked && k % 32 != 0 => factor.canonical,
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
    let mesh = read_object(
        &Cx::default(),
        "square",
        &[write(folder.path(), "s.obj", &text)],
        Up::Y,
        &mut Textures::new(viva::data::picture::decode),
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
        let error = read_object(
            &Cx::default(),
            "m",
            std::slice::from_ref(&path),
            Up::Y,
            &mut Textures::new(viva::data::picture::decode),
        )
        .expect_err(text);
        let said = format!("{error} {}", error.hint.clone().unwrap_or_default());
        assert!(
            said.contains(wanted) && said.contains("m.obj") || said.contains("missing.png") || said.contains("bad.png"),
            "{text:?}: {said}"
        );
        assert!(said.contains(wanted), "{text:?}: {said}");
    }
}

/// Where the ray through a sample of the picture meets a ball of radius 1, if it does.
fn on_ball(view: &View, size: usize, x: f64, y: f64) -> Option<[f64; 3]> {
    let (a, e) = (f64::from(view.azimuth).to_radians(), f64::from(view.elevation).to_radians());
    let towards = [a.sin() * e.cos(), e.sin(), a.cos() * e.cos()];
    let right = [a.cos(), 0.0, -a.sin()];
    let up = [-a.sin() * e.sin(), e.cos(), -a.cos() * e.sin()];
    let (u, v) = ((2.0 * x / size as f64 - 1.0) * HALF_ANGLE, (1.0 - 2.0 * y / size as f64) * HALF_ANGLE);
    let ray = [0, 1, 2].map(|i| -towards[i] + u * right[i] + v * up[i]);
    let d = f64::from(view.distance);
    let (aa, b) = (ray.iter().map(|x| x * x).sum::<f64>(), -d * (0..3).map(|i| -ray[i] * towards[i]).sum::<f64>());
    let root = b * b - aa * (d * d - 1.0);
    let t = (-b - root.max(0.0).sqrt()) / aa;
    (root > 0.0).then(|| [0, 1, 2].map(|i| d * towards[i] + t * ray[i]))
}

/// Lambert's law and Blinn and Phong's highlights, pixel by pixel, from the equation of a ball: with and without shadows, which on a ball
/// fall only where no light arrives anyway.
#[test]
fn a_ball_is_shaded_by_the_formulas() {
    use viva::render::{Light, Material};
    let (ball, size) = (ball(), 64);
    let direction = |azimuth: f64, elevation: f64| {
        let (a, e) = (azimuth.to_radians(), elevation.to_radians());
        [a.sin() * e.cos(), e.sin(), a.cos() * e.cos()]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let unit = |a: [f64; 3]| a.map(|x| x / dot(a, a).sqrt());
    for (light, lamps) in [(Light::Sun, 2), (Light::Point, 2), (Light::Area, 2), (Light::Area, 5)] {
        for (material, roughness, exponent, [own, gloss]) in [
            (Material::Matte, None, 1.0, [1.0, 0.0]),
            (Material::Glossy, None, 48.0, [1.0, 0.6]),
            (Material::Glossy, Some(0.6f32), 2.0 / 0.6f64.powi(4) - 2.0, [1.0, 0.6]),
            (Material::Metal, None, 12.0, [0.45, 0.9]),
        ] {
            for shadows in [false, true] {
                let energy = 0.5;
                let view = View {
                    light,
                    lamps,
                    material,
                    roughness,
                    shadows,
                    light_energy: energy,
                    background: 2,
                    ..canonical()
                };
                let pixels = picture(&ball, &view, size);
                let towards = direction(70.0, 50.0);
                let right = direction(160.0, 0.0);
                let up = [0, 1, 2].map(|i| {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    towards[j] * right[k] - towards[k] * right[j]
                });
                let place = |i: usize| (2 * i + 1) as f64 * 2.0 / lamps as f64 - 2.0;
                let positions: Vec<[f64; 3]> = match light {
                    Light::Sun => vec![towards.map(|x| 1e6 * x)],
                    Light::Point => vec![towards.map(|x| 3.0 * x)],
                    Light::Area => (0..lamps * lamps)
                        .map(|n| {
                            [0, 1, 2].map(|i| 3.0 * towards[i] + place(n / lamps) * right[i] + place(n % lamps) * up[i])
                        })
                        .collect(),
                };
                let eye = direction(35.0, 20.0).map(|x| 2.5 * x);
                let (mut worst, mut sum, mut seen) = (0f64, 0.0, 0);
                for row in 0..size {
                    for column in 0..size {
                        let samples = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)].map(|(x, y)| {
                            let at = on_ball(&view, size, column as f64 + x, row as f64 + y)?;
                            let (mut diffuse, mut highlight) = (0.0, 0.0);
                            for lamp in &positions {
                                let ray = [0, 1, 2].map(|i| lamp[i] - at[i]);
                                let strength = if light == Light::Sun { 1.0 } else { 9.0 / dot(ray, ray) }
                                    / positions.len() as f64;
                                let (ray, away) = (unit(ray), unit([0, 1, 2].map(|i| eye[i] - at[i])));
                                if dot(ray, at) > 0.0 {
                                    diffuse += strength * dot(ray, at);
                                    let half = unit([0, 1, 2].map(|i| ray[i] + away[i]));
                                    highlight += strength * dot(half, at).max(0.0).powf(exponent);
                                }
                            }
                            Some((f64::from(energy) * (own * (0.35 + 0.65 * diffuse) + gloss * highlight)).min(1.0))
                        });
                        if let [Some(a), Some(b), Some(c), Some(d)] = samples {
                            let error = (f64::from(pixels[row * size + column]) - (a + b + c + d) / 4.0).abs();
                            (worst, sum, seen) = (worst.max(error), sum + error, seen + 1);
                        }
                    }
                }
                let mean = sum / f64::from(seen);
                assert!(seen > 2000, "{seen} pixels");
                // Rounded to 1/255. At its edge a ball of triangles is a little smaller, and in the dark half highlights begin with a step.
                assert!(
                    mean < 0.002 && worst < if shadows || gloss > 0.0 { 0.08 } else { 0.012 },
                    "{light:?} {lamps} {material:?} {roughness:?} shadows {shadows}: {mean:.4} on average, {worst:.4} at most"
                );
            }
        }
    }
}

/// Whether anything stands between a place and a light, triangle by triangle (Möller and Trumbore, 1997).
fn hidden(mesh: &Mesh, from: Vec3, towards: Vec3, far: f32) -> bool {
    mesh.triangles().iter().any(|triangle| {
        let [a, b, c] = triangle.corners.map(|corner| mesh.vertices()[corner as usize].position);
        let (p, q) = (b - a, c - a);
        let across = towards.cross(q);
        let determinant = p.dot(across);
        if determinant.abs() < 1e-12 {
            return false;
        }
        let s = from - a;
        let (u, w) = (s.dot(across) / determinant, s.cross(p));
        let (v, t) = (towards.dot(w) / determinant, q.dot(w) / determinant);
        u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 2e-3 && t < far
    })
}

/// A small square over a large one, both level: its shadow is where a ray to the light says.
#[test]
fn shadows_fall_where_rays_are_stopped() {
    let square = |half: f32, y: f32| {
        [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(x, z)| vertex([x, y, z], [0.0, 1.0, 0.0]))
    };
    let vertices = [square(1.0, 0.0), square(0.3, 0.4)].concat();
    let corners = [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]];
    let mesh = Mesh::new("table", vertices, triangles(&corners), white()).expect("a mesh");
    use viva::render::Light;
    for (light, azimuth, elevation) in [(Light::Sun, 70.0, 50.0), (Light::Sun, 200.0, 30.0), (Light::Point, 70.0, 50.0)]
    {
        let view = View {
            light,
            light_azimuth: azimuth,
            light_elevation: elevation,
            elevation: 80.0,
            background: 2,
            ..canonical()
        };
        let size = 256;
        let lit = picture(&mesh, &view, size);
        let cast = picture(&mesh, &View { shadows: true, ..view }, size);
        // The light of shadows is that from everywhere alone.
        let (mut both, mut either) = (0, 0);
        let scale = mesh.vertices()[0].position;
        let (plane, half) = (scale.y, scale.x.abs());
        let (a, e) = (f64::from(view.azimuth).to_radians(), 80f64.to_radians());
        let towards = Vec3::new((a.sin() * e.cos()) as f32, e.sin() as f32, (a.cos() * e.cos()) as f32);
        let right = Vec3::new(a.cos() as f32, 0.0, -a.sin() as f32);
        let up = towards.cross(right);
        let (la, le) = (azimuth.to_radians(), elevation.to_radians());
        let sun = Vec3::new(la.sin() * le.cos(), le.sin(), la.cos() * le.cos());
        for row in 0..size {
            for column in 0..size {
                let [u, v] = [column, row].map(|x| ((2.0 * (x as f64 + 0.5) / size as f64 - 1.0) * HALF_ANGLE) as f32);
                let ray = -towards + right * u - up * v;
                let eye = towards * view.distance;
                let at = eye + ray * ((plane - eye.y) / ray.y);
                if at.x.abs() > 0.97 * half
                    || at.z.abs() > 0.97 * half
                    || hidden(&mesh, eye, ray, (at - eye).length() / ray.length() - 1e-3)
                {
                    continue;
                }
                let to_light = if light == Light::Point { 3.0 * sun - at } else { sun };
                let wanted = hidden(&mesh, at, to_light, if light == Light::Point { 1.0 } else { f32::MAX });
                let place = row * size + column;
                let found = cast[place] < (lit[place] + 0.35) / 2.0;
                both += i32::from(wanted && found);
                either += i32::from(wanted || found);
            }
        }
        let overlap = f64::from(both) / f64::from(either);
        assert!(both > 600 && overlap > 0.94, "{light:?} {azimuth}: {both} of {either} pixels");
    }
}

/// On objects of all classes hardly a pixel is in the shadow that rays say is lit, or lit that is in the shadow: no specks, no leaks.
#[test]
fn shadows_of_objects_are_those_of_rays() {
    let (size, mut wrong, mut all) = (48, 0, 0);
    for class in 0..CLASSES.len() {
        let mesh = object(class, &mut random(5, class as u64)).expect("built");
        let view = View { background: 2, ..canonical() };
        let lit = picture(&mesh, &view, size);
        let cast = picture(&mesh, &View { shadows: true, ..view }, size);
        // The mean of more light than without shadows is nowhere.
        assert!(lit.iter().zip(&cast).all(|(lit, cast)| cast <= lit), "{}", mesh.name);
        let (a, e) = (35f32.to_radians(), 20f32.to_radians());
        let towards = Vec3::new(a.sin() * e.cos(), e.sin(), a.cos() * e.cos());
        let right = Vec3::new(a.cos(), 0.0, -a.sin());
        let up = towards.cross(right);
        let (la, le) = (70f32.to_radians(), 50f32.to_radians());
        let sun = Vec3::new(la.sin() * le.cos(), le.sin(), la.cos() * le.cos());
        for row in 0..size {
            for column in 0..size {
                let place = row * size + column;
                // What is hidden is counted by the four samples that a pixel is the mean of.
                let mut shares = vec![];
                for (x, y) in [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)] {
                    let u = ((2.0 * (column as f64 + x) / size as f64 - 1.0) * HALF_ANGLE) as f32;
                    let v = ((2.0 * (row as f64 + y) / size as f64 - 1.0) * HALF_ANGLE) as f32;
                    let (eye, ray) = (towards * 2.5, -towards + right * u - up * v);
                    let nearest = mesh.triangles().iter().filter_map(|triangle| {
                        let [a, b, c] = triangle.corners.map(|corner| mesh.vertices()[corner as usize].position);
                        let (p, q) = (b - a, c - a);
                        let across = ray.cross(q);
                        let determinant = p.dot(across);
                        let s = eye - a;
                        let (u, w) = (s.dot(across) / determinant, s.cross(p));
                        let (v, t) = (ray.dot(w) / determinant, q.dot(w) / determinant);
                        (determinant.abs() > 1e-12 && u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
                    });
                    let nearest = nearest.fold(f32::INFINITY, f32::min);
                    shares.extend(nearest.is_finite().then(|| hidden(&mesh, eye + ray * nearest, sun, f32::MAX)));
                }
                if shares.len() < 4 || lit[place] < 0.4 * 1e-3 {
                    continue;
                }
                let dark = shares.iter().filter(|hidden| **hidden).count();
                let fell = 1.0 - cast[place] / lit[place];
                // Faces that look away from the sun are dark with and without.
                wrong += i32::from(dark == 0 && fell > 0.1);
                all += 1;
            }
        }
    }
    assert!(f64::from(wrong) < 0.01 * f64::from(all), "{wrong} of {all} pixels are in a shadow that is none");
}

/// Beside a wall as much of the light from everywhere is missing as the wall's form factor says: from a place on the ground to a rectangle that
/// stands on it (Howell, A Catalog of Radiation Heat Transfer Configuration Factors, B-3), its two halves to the left and to the right.
#[test]
fn a_wall_takes_its_share_of_the_light_from_everywhere() {
    let (half, high, deep) = (1.0f32, 0.4f32, 0.5f32);
    let ground = [[0.0, 0.0, -half], [deep, 0.0, -half], [deep, 0.0, half], [0.0, 0.0, half]];
    let wall = [[0.0, 0.0, -half], [0.0, 0.0, half], [0.0, high, half], [0.0, high, -half]];
    let corners = |places: [[f32; 3]; 4], normal| places.map(|place| vertex(place, normal));
    let vertices = [corners(ground, [0.0, 1.0, 0.0]), corners(wall, [1.0, 0.0, 0.0])].concat();
    let mesh = Mesh::new("corner", vertices, triangles(&[[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]), white());
    let mesh = mesh.expect("a mesh");
    // From above, while the sun stands below: what is seen of the ground is the light from everywhere.
    let above = View { azimuth: 0.0, elevation: 90.0, light_elevation: -90.0, background: 2, ..canonical() };
    let size = 256;
    let open = picture(&mesh, &above, size);
    let cast = picture(&mesh, &View { ambient_occlusion: true, ..above }, size);
    let [near, far] = [mesh.vertices()[0].position, mesh.vertices()[1].position];
    let (scale, depth) = (f64::from(far.x - near.x) / f64::from(deep), f64::from(above.distance - near.y));
    let row = size / 2;
    let (mut seen, mut squares) = (0, 0.0);
    for column in 0..size {
        let x = (2.0 * (column as f64 + 0.5) / size as f64 - 1.0) * HALF_ANGLE * depth;
        let c = (x - f64::from(near.x)) / scale;
        // A place or two of the maps away from where ground and wall meet.
        if !(0.06..0.48).contains(&c) {
            continue;
        }
        let (a, b) = (f64::from(high), f64::from(half));
        let slanted = a.hypot(c);
        let taken = ((b / c).atan() - c / slanted * (b / slanted).atan()) / std::f64::consts::PI;
        let place = row * size + column;
        assert!((f64::from(open[place]) - 0.35).abs() < 0.003, "{column}: {} without", open[place]);
        let wanted = 0.35 * (1.0 - taken);
        let error = f64::from(cast[place]) - wanted;
        // The ball is seen from 64 sides: one more or less of them is hidden.
        assert!(error.abs() < 0.025, "{c:.3} from the wall: {} for {wanted:.4}", cast[place]);
        (seen, squares) = (seen + 1, squares + error * error);
    }
    assert!(seen > 25 && (squares / f64::from(seen)).sqrt() < 0.012, "{seen} places, {squares}");
}

/// What bulges nowhere inwards keeps no light from itself.
#[test]
fn a_ball_has_no_ambient_occlusion() {
    let ball = ball();
    let view = View { background: 2, ..canonical() };
    let (without, with) = (picture(&ball, &view, 64), picture(&ball, &View { ambient_occlusion: true, ..view }, 64));
    let worst = without.iter().zip(&with).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst <= 1.5 / 255.0, "{worst}");
}

/// A face whose normals lie in it would be shaded as if it stood across.
#[test]
fn normals_of_built_in_objects_stand_on_their_faces() {
    for class in 0..CLASSES.len() {
        for seed in 0..8 {
            let mesh = object(class, &mut random(seed, class as u64)).expect("built");
            for triangle in mesh.triangles() {
                let [a, b, c] = triangle.corners.map(|corner| mesh.vertices()[corner as usize]);
                let across = (b.position - a.position).cross(c.position - a.position);
                if across.length() < 1e-5 {
                    continue;
                }
                let across = across.normalize();
                for corner in [a, b, c] {
                    assert!(corner.normal.dot(across).abs() > 0.6, "{}: {} on {across}", mesh.name, corner.normal);
                }
            }
        }
    }
}

#[test]
fn a_camera_exposes_blurs_and_adds_noise_as_it_says() {
    let square = |half: f32| {
        let corner = |x: f32, y: f32| vertex([x, y, 0.0], [0.0, 0.0, 1.0]);
        let vertices = vec![corner(-half, -half), corner(half, -half), corner(half, half), corner(-half, half)];
        Mesh::new("square", vertices, triangles(&[[0, 1, 2], [0, 2, 3]]), white()).expect("a mesh")
    };
    let plain = View {
        azimuth: 0.0,
        elevation: 0.0,
        light_azimuth: 0.0,
        light_elevation: 0.0,
        light_energy: 0.2,
        background: 2,
        ..canonical()
    };
    let (mesh, size) = (square(1.0), 64);
    let sharp = picture(&mesh, &plain, size);
    let brighter = picture(&mesh, &View { exposure: 1.0, ..plain }, size);
    let light = |x: f32| if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) };
    // Both are rounded by half of 1/255, where light grows by up to 1.2 and 1.8 times as much as its number.
    assert!(
        sharp.iter().zip(&brighter).all(|(a, b)| (2.0 * light(*a) - light(*b)).abs() < 0.01),
        "a stop doubles all light"
    );
    // An edge that is blurred is the integral of the Gaussian.
    let blurred = picture(&mesh, &View { blur: 0.05, ..plain }, size);
    let (dark, light, row) = (sharp[32 * size], sharp[32 * size + 32], 32 * size);
    let edge = sharp[row..row + 32].iter().map(|x| (light - x) / (light - dark)).sum::<f32>();
    let normal = statrs::distribution::Normal::new(0.0, 0.05 * 64.0).expect("a law");
    for column in 0..32 {
        let share = statrs::distribution::ContinuousCDF::cdf(&normal, f64::from(column as f32 + 0.5 - edge)) as f32;
        let wanted = dark + (light - dark) * share;
        assert!((blurred[row + column] - wanted).abs() < 0.006, "{column}: {} of {wanted}", blurred[row + column]);
    }
    // Noise has the deviation that it says, is independent from pixel to pixel, and the same whenever the view is.
    let grey = View { background: 1, distance: 100.0, shift_x: 1.0, ..plain };
    let noisy = View { noise: 0.05, ..grey };
    let (a, b) = (picture(&mesh, &noisy, 128), picture(&mesh, &View { azimuth: 1.0, ..noisy }, 128));
    assert_eq!(a, picture(&mesh, &noisy, 128));
    let apart = |x: &[f32]| x.iter().map(|x| x - 0.5).collect::<Vec<f32>>();
    let product = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum::<f64>() / x.len() as f64;
    let (a, b) = (apart(&a), apart(&b));
    assert!((product(&a, &a).sqrt() / 0.05 - 1.0).abs() < 0.02, "{}", product(&a, &a).sqrt());
    for other in [&b[..a.len() - 1], &a[1..]] {
        assert!(product(&a[..a.len() - 1], other).abs() < 0.05 * 0.05 * 0.02);
    }
    // A third of a turn of hues makes green of red, and the colours of the object only.
    let red = vec![Surface::plain(Vec3::new(0.8, 0.1, 0.1))];
    let red = Mesh::new("red", mesh.vertices().to_vec(), mesh.triangles().to_vec(), red).expect("a mesh");
    let turned = picture(&red, &View { hue: 120.0, ..plain }, size);
    let middle = |channel: usize| turned[channel * size * size + row + 32];
    assert!(
        middle(1) > 6.0 * middle(0) && (middle(0) - middle(2)).abs() < 0.005,
        "{} {} {}",
        middle(0),
        middle(1),
        middle(2)
    );
    // Saved as JPEG: little is lost at a high quality, more at a low one.
    let lost = |quality: u8| {
        let mut pixels = vec![0.0; 3 * size * size];
        viva::data::photograph(
            &mesh,
            &View { background: 5, jpeg: Some(quality), ..plain },
            &Scenery::default(),
            size,
            &mut pixels,
        );
        let whole = picture(&mesh, &View { background: 5, ..plain }, size);
        pixels.iter().zip(&whole).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>() / whole.len() as f64
    };
    assert!(lost(100) < 0.004 && lost(10) > 2.0 * lost(90), "{} {} {}", lost(100), lost(90), lost(10));
}

/// A photograph of four colours, in sides of 16 and 8 pixels.
fn quarters() -> Photograph {
    let colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]];
    let picture = |side: usize| {
        (0..side * side)
            .map(move |i| colours[usize::from(i / side >= side / 2) * 2 + usize::from(i % side >= side / 2)])
    };
    Photograph::new([16, 8].map(|side| (side, picture(side).collect())).into())
}

#[test]
fn photographs_stand_upright_behind_objects() {
    let scenery = Scenery { photographs: vec![quarters()], ..Default::default() };
    let view = View { background: BACKDROPS.len(), distance: 50.0, ..canonical() };
    for size in [16, 32] {
        let mut pixels = vec![0.0; 3 * size * size];
        draw(&ball(), &view, &scenery, size, &mut pixels);
        let at = |x: usize, y: usize| [0, 1, 2].map(|channel| pixels[(channel * size + y) * size + x]);
        let (near, far) = (size / 8, size - 1 - size / 8);
        let corners = [(near, near), (far, near), (near, far), (far, far)].map(|(x, y)| at(x, y));
        let wanted = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
        assert_eq!(corners, wanted, "at {size} pixels");
        assert_ne!(at(size / 2, size / 2), wanted[3], "the object stands before it");
    }
}

#[test]
fn an_occluder_covers_the_circle_that_it_should() {
    let scenery = Scenery { occluders: vec![Arc::new(ball())], ..Default::default() };
    // So bright on black that only its share of a pixel counts; the ball behind is far away.
    let dark = BACKDROPS.iter().position(|name| *name == "black").expect("a black backdrop");
    let (x, y, wide) = (0.2, -0.15, 0.3);
    for (azimuth, shift_x, roll, distance) in
        [(0.0, 0.0, 0.0, 4.0), (140.0, 0.2, 25.0, 2.0), (300.0, -0.1, -70.0, 90.0)]
    {
        let view = View { azimuth, shift_x, roll, distance, light_energy: 1000.0, background: dark, ..canonical() };
        let before = View { occluder: Some(0), occluder_x: x, occluder_y: y, occluder_size: wide, ..view };
        let pictures = [view, before].map(|view| {
            let mut pixels = vec![0.0; 3 * SIZE * SIZE];
            draw(&cube(), &view, &scenery, SIZE, &mut pixels);
            pixels
        });
        let inside = |column: usize, row: usize| {
            let [u, v] = [(column, x), (row, y)].map(|(k, middle)| (k as f32 + 0.5) / SIZE as f32 - 0.5 - middle);
            let far = u.hypot(v) / (wide / 2.0);
            // Perspective draws a ball off the axis a little longer than wide.
            if far < 0.97 {
                Some(true)
            } else if far > 1.12 {
                Some(false)
            } else {
                None
            }
        };
        for row in 0..SIZE {
            for column in 0..SIZE {
                let at = row * SIZE + column;
                match inside(column, row) {
                    Some(true) => assert_eq!(pictures[1][at], 1.0, "{column}, {row} is lit"),
                    Some(false) => assert_eq!(pictures[1][at], pictures[0][at], "{column}, {row} is as without it"),
                    None => {}
                }
            }
        }
    }
}

/// Of images that are no squares the middle is seen, upright, and grey ones in three channels.
#[test]
fn images_of_a_data_set_become_photographs() {
    for channels in [1i64, 3] {
        // Columns 8 to 32 are the square: its quarters are 0.2, 0.4, 0.6 and 0.8, what lies beside it is black.
        let image = Tensor::zeros([1, channels, 24, 40], (tch::Kind::Float, tch::Device::Cpu));
        for (row, column, level) in [(0, 8, 0.2), (0, 20, 0.4), (12, 8, 0.6), (12, 20, 0.8)] {
            let _ = image.narrow(2, row, 12).narrow(3, column, 12).fill_(level);
        }
        let ds = from_tensor(&image, vec![0], None, false).expect("a data set");
        let scenery = scenery(&Cx::default(), Some(&ds), None).expect("a scenery");
        let view = View { background: BACKDROPS.len(), distance: 50.0, ..canonical() };
        for size in [16, 64, 300] {
            let mut pixels = vec![0.0; 3 * size * size];
            draw(&ball(), &view, &scenery, size, &mut pixels);
            let (near, far) = (size / 8, size - 1 - size / 8);
            for (x, y, level) in [(near, near, 0.2), (far, near, 0.4), (near, far, 0.6), (far, far, 0.8)] {
                for channel in 0..3 {
                    let found = pixels[(channel * size + y) * size + x];
                    // Both the photograph and the picture are in 255 steps.
                    assert!((found - level).abs() < 0.004, "{found}, not {level}, at {size}");
                }
            }
        }
    }
}
