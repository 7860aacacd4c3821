//! Pictures per second of the renderer, and its pictures beside those of Mitsuba 3 (`renderer.py`): built-in objects and, where `VIVA_DATA` names
//! some, objects from files, matte, in the light of the sun or of a lamp and of a sky, with shadows and ambient occlusion. Told is how far pixels that
//! an object covers wholly, and whose neighbours it covers, lie from Mitsuba's, on a scale from 0 to 1.
//!
//! `VIVA_PEERS_PYTHON` names a Python with mitsuba; without it only viva is measured. `BENCH_THREADS` (2), `BENCH_SAMPLES` (512, Mitsuba's per pixel),
//! `BENCH_SPEED=0` (pictures alone) and `BENCH_KEEP` (a folder for both pictures of every view, side by side) change the rest.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use glam::{Vec2, Vec3};
use rayon::prelude::*;
use tch::Tensor;
use viva::core::{Cx, in_parallel, random};
use viva::render::{
    CLASSES, Light, Mesh, Scenery, Surface, Textures, Triangle, Up, Vertex, View, draw, object, read_object,
};
use viva::space::{Factored, Render};

const SIZE: usize = 64;

fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A ball of `2 * rings * around` triangles, less those at its poles that have no area.
fn ball(rings: u32, around: u32) -> Mesh {
    let mut vertices = vec![];
    let mut triangles = vec![];
    for ring in 0..=rings {
        for k in 0..around {
            let (up, level) = (std::f32::consts::PI * (ring as f32 / rings as f32 - 0.5)).sin_cos();
            let (sin, cos) = (std::f32::consts::TAU * k as f32 / around as f32).sin_cos();
            let at = Vec3::new(level * sin, up, level * cos);
            vertices.push(Vertex { position: at, normal: at, texture: Vec2::ZERO, colour: Vec3::ONE });
            if ring < rings {
                let (a, b) = (ring * around + k, ring * around + (k + 1) % around);
                triangles.push(Triangle { corners: [a, b, b + around], surface: 0 });
                triangles.push(Triangle { corners: [a, b + around, a + around], surface: 0 });
            }
        }
    }
    Mesh::new("ball", vertices, triangles, vec![Surface::plain(Vec3::ONE)]).expect("a mesh")
}

fn drawn(meshes: &[&Mesh], views: &[View], size: usize) -> Vec<f32> {
    let mut pixels = vec![0f32; views.len() * 3 * size * size];
    let scenery = Scenery::default();
    in_parallel(|| {
        let jobs = pixels.par_chunks_mut(3 * size * size).zip(meshes).zip(views);
        jobs.for_each(|((pixels, mesh), view)| draw(mesh, view, &scenery, size, pixels));
    })
    .expect("threads");
    pixels
}

/// Pictures per second of random views.
fn speed(mesh: &Mesh, size: usize, shadows: bool, ambient_occlusion: bool) -> f64 {
    let many = if size > 64 { 300 } else { 3000 };
    let space = Render::all().expect("a space");
    let views: Vec<View> = (0..many)
        .map(|k| {
            let mut rng = random(1, k);
            let setting: Vec<f64> = space.factors().iter().map(|factor| factor.draw(&mut rng)).collect();
            View { shadows, ambient_occlusion, ..View::of(&space.view(&setting)) }
        })
        .collect();
    let begun = Instant::now();
    for part in views.chunks(64) {
        drawn(&vec![mesh; part.len()], part, size);
    }
    many as f64 / begun.elapsed().as_secs_f64()
}

/// Built-in objects of all classes, and one of each kind in the folder of meshes, without their textures.
fn objects() -> Vec<Mesh> {
    let mut all: Vec<Mesh> =
        (0..CLASSES.len()).map(|class| object(class, &mut random(7, class as u64)).expect("built")).collect();
    let Some(data) = std::env::var_os("VIVA_DATA") else { return all };
    let folder = Path::new(&data).join("data/meshes_kaykit");
    let mut textures = Textures::new(viva::data::picture::decode);
    for name in [
        "furniture/armchair",
        "furniture/chair_B",
        "furniture/lamp_table",
        "restaurant/chair_stool",
        "city/car_hatchback",
    ] {
        let file = folder.join(name).with_extension("obj");
        if !file.exists() {
            println!("{}: not there", file.display());
            continue;
        }
        let read = read_object(&Cx::default(), name, &[file], Up::Y, &mut textures).expect("an object");
        let surfaces: Vec<Surface> =
            read.triangles().iter().map(|triangle| Surface::plain(read.surface(triangle.surface).colour)).collect();
        let triangles = read.triangles().iter().zip(0..).map(|(triangle, surface)| Triangle { surface, ..*triangle });
        all.push(Mesh::new(name, read.vertices().to_vec(), triangles.collect(), surfaces).expect("a mesh"));
    }
    all
}

fn direction(azimuth: f32, elevation: f32) -> Vec3 {
    let (a, e) = (azimuth.to_radians(), elevation.to_radians());
    Vec3::new(a.sin() * e.cos(), e.sin(), a.cos() * e.cos())
}

fn flat(vectors: impl Iterator<Item = Vec3>) -> Tensor {
    Tensor::from_slice(&vectors.flat_map(|v| v.to_array()).collect::<Vec<f32>>()).view([-1, 3])
}

fn beside_mitsuba(python: &std::ffi::OsStr, threads: usize) {
    let folder = std::env::temp_dir().join(format!("viva-renderer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let objects = objects();
    let (mut views, mut meshes, mut asked) = (vec![], vec![], vec![]);
    for (number, mesh) in objects.iter().enumerate() {
        let corners: Vec<i64> = mesh.triangles().iter().flat_map(|t| t.corners).map(i64::from).collect();
        let arrays = [
            ("positions", flat(mesh.vertices().iter().map(|vertex| vertex.position))),
            ("normals", flat(mesh.vertices().iter().map(|vertex| vertex.normal))),
            ("corners", Tensor::from_slice(&corners).view([-1, 3])),
            ("colours", flat(mesh.triangles().iter().map(|triangle| mesh.surface(triangle.surface).colour))),
        ];
        Tensor::write_npz(&arrays, folder.join(format!("object_{number}.npz"))).expect("written");
        for (azimuth, elevation, light_azimuth, light_elevation, light) in [
            (35.0, 20.0, 70.0, 50.0, Light::Sun),
            (200.0, 50.0, 120.0, 30.0, Light::Sun),
            (120.0, 0.0, 160.0, 60.0, Light::Point),
        ] {
            let view = View {
                azimuth,
                elevation,
                light_azimuth,
                light_elevation,
                light,
                background: 2,
                shadows: true,
                ambient_occlusion: true,
                ..View::of(&View::canonical())
            };
            let towards = direction(light_azimuth, light_elevation);
            let (kind, light) = if light == Light::Sun { ("sun", towards) } else { ("lamp", towards * 3.0) };
            let eye = direction(azimuth, elevation) * view.distance;
            asked.push(serde_json::json!({
                "object": number, "eye": eye.to_array(), "kind": kind, "light": light.to_array(), "size": SIZE,
            }));
            views.push(view);
            meshes.push(mesh);
        }
    }
    std::fs::write(folder.join("views.json"), serde_json::Value::from(asked).to_string()).expect("written");
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/renderer.py"))
        .arg(&folder)
        .args([setting("BENCH_SAMPLES", 512), threads].map(|n| n.to_string()))
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the peer's Python starts");
    assert!(output.status.success(), "renderer.py: {}", String::from_utf8_lossy(&output.stderr));
    let last = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_string();
    let said: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    println!("mitsuba {}: {} pictures of {SIZE} x {SIZE} in {:.0} s", said["version"], views.len(), said["seconds"]);
    let theirs: Vec<(String, Tensor)> = Tensor::read_npz(folder.join("pictures.npz")).expect("pictures");
    let array = |name: &str| {
        let found = theirs.iter().find(|(own, _)| own == name).expect("an array");
        Vec::<f32>::try_from(&found.1.contiguous().view([-1])).expect("floats")
    };
    let (pictures, seen) = (array("pictures"), array("seen"));
    let keep = std::env::var_os("BENCH_KEEP").map(PathBuf::from);
    for (what, shadows, occlusion) in
        [("all light", true, true), ("without ambient occlusion", true, false), ("without shadows", false, true)]
    {
        let views: Vec<View> =
            views.iter().map(|view| View { shadows, ambient_occlusion: occlusion, ..*view }).collect();
        let own = drawn(&meshes, &views, SIZE);
        let mut all = vec![];
        for (number, mesh) in objects.iter().enumerate() {
            let mut of_object: Vec<f32> = vec![];
            for view in 3 * number..3 * number + 3 {
                of_object.extend(differences(&own, &pictures, &seen, view));
                if let (Some(keep), true) = (&keep, shadows && occlusion) {
                    side_by_side(keep, mesh, view, &own, &pictures);
                }
            }
            if shadows && occlusion {
                println!("  {}: {}", mesh.name, told(&mut of_object));
            }
            all.extend(of_object);
        }
        println!("{what}: {}", told(&mut all));
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

/// Of the pixels inside of an object.
fn differences(own: &[f32], theirs: &[f32], seen: &[f32], view: usize) -> Vec<f32> {
    let inside = |row: usize, column: usize| {
        let whole = |r: usize, c: usize| seen[(view * SIZE + r) * SIZE + c] > 0.999;
        (row - 1..=row + 1).all(|r| (column - 1..=column + 1).all(|c| whole(r, c)))
    };
    let mut all = vec![];
    for row in 1..SIZE - 1 {
        for column in (1..SIZE - 1).filter(|&column| inside(row, column)) {
            for channel in 0..3 {
                let place = ((view * 3 + channel) * SIZE + row) * SIZE + column;
                all.push((own[place] - theirs[place].clamp(0.0, 1.0)).abs());
            }
        }
    }
    all
}

fn told(differences: &mut [f32]) -> String {
    if differences.is_empty() {
        return "no pixel inside".into();
    }
    differences.sort_by(f32::total_cmp);
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    let at = |share: f64| differences[(share * (differences.len() - 1) as f64) as usize];
    let many = differences.iter().filter(|x| **x > 0.05).count() as f64 / differences.len() as f64;
    format!("{mean:.4} on average, {:.4} median, {:.3} at 99%, {:.1}% above 0.05", at(0.5), at(0.99), 100.0 * many)
}

fn side_by_side(folder: &Path, mesh: &Mesh, view: usize, own: &[f32], theirs: &[f32]) {
    std::fs::create_dir_all(folder).expect("a folder");
    let mut picture = image::RgbImage::new(2 * SIZE as u32, SIZE as u32);
    for (first, pixels) in [(0, own), (SIZE, theirs)] {
        for place in 0..SIZE * SIZE {
            let level = |channel: usize| pixels[(view * 3 + channel) * SIZE * SIZE + place].clamp(0.0, 1.0) * 255.0;
            let colour = image::Rgb([0, 1, 2].map(|channel| level(channel).round() as u8));
            picture.put_pixel((first + place % SIZE) as u32, (place / SIZE) as u32, colour);
        }
    }
    picture.save(folder.join(format!("{view:03} {}.png", mesh.name.replace('/', " ")))).expect("saved");
}

fn main() {
    let threads = setting("BENCH_THREADS", 2);
    viva::core::set_threads(threads);
    println!("{threads} threads");
    if setting("BENCH_SPEED", 1) == 1 {
        speeds();
    }
    match std::env::var_os("VIVA_PEERS_PYTHON") {
        Some(python) => beside_mitsuba(&python, threads),
        None => println!("VIVA_PEERS_PYTHON names no Python with mitsuba: nothing is compared"),
    }
}

fn speeds() {
    for (triangles, mesh) in [(1000, ball(20, 25)), (5000, ball(50, 50))] {
        for size in [64, 224] {
            for (light, shadows, occlusion) in [
                ("", false, false),
                (", with shadows", true, false),
                (", with shadows and ambient occlusion", true, true),
            ] {
                let speed = speed(&mesh, size, shadows, occlusion);
                println!("{triangles} triangles, {size} x {size}{light}: {speed:.0} pictures per second");
            }
        }
    }
}
