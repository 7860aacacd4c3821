//! Files and arguments that can't be used: each is refused with a clear error, and none brings the program down.

use std::io::Write;
use std::path::{Path, PathBuf};

use rand::{Rng, RngCore};
use viva::core::{Cx, Result, Tensor, Value, random};
use viva::data::{Classes, Dataset, Load, View, from_tensor, load};
use viva::primitives;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

/// A file's bytes, or none for a file that is missing.
type File = Option<Vec<u8>>;

/// Names and bytes.
type Files = Vec<(&'static str, Vec<u8>)>;

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".into(),
        Err(error) => format!("{} | {}", error.message, error.hint.unwrap_or_default()),
    }
}

fn read(path: &Path) -> Result<Dataset> {
    load(&Cx::default(), &path.display().to_string(), &Load::default())
}

/// Loads and reads every image.
fn read_all(path: &Path) -> Result<i64> {
    let set = read(path)?;
    Ok(set.canvases(&(0..set.len()).collect::<Vec<_>>(), tch::Device::Cpu)?.size()[0])
}

fn idx(magic: u32, sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let header = [magic].into_iter().chain(sizes.iter().copied()).flat_map(u32::to_be_bytes);
    header.chain(bytes.iter().copied()).collect()
}

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes)?;
    packer.finish()
}

/// The bytes of a `.npy` file.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    npy_ordered(kind, shape, "False", bytes)
}

fn npy_ordered(kind: &str, shape: &str, fortran: &str, bytes: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    let mut all = b"\x93NUMPY\x01\x00".to_vec();
    all.extend((header.len() as u16).to_le_bytes());
    all.extend(header.bytes());
    all.extend(bytes);
    all
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
    use npyz::zip::{CompressionMethod, ZipWriter, write::FileOptions};
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (i, (name, bytes)) in arrays.iter().enumerate() {
        let method = if i % 2 == 0 { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        zip.start_file(format!("{name}.npy"), FileOptions::default().compression_method(method))?;
        zip.write_all(bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn int_bytes(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn idx_files_are_checked() -> Outcome {
    let folder = tempfile::tempdir()?;
    let images = folder.path().join("train-images-idx3-ubyte");
    let labels = folder.path().join("train-labels-idx1-ubyte.gz");
    let good_images = idx(0x803, &[2, 3, 4], &[9; 24]);
    let good_labels = gzip(&idx(0x801, &[2], &[0, 7]))?;
    let much = [4_000_000u32, 1000, 1000];
    let cases: Vec<(File, File, &str)> = vec![
        (
            Some(idx(0x803, &much, &[9; 24])),
            Some(idx(0x801, &much[..1], &[0; 4_000_000])),
            "3725.3 GiB, more than the 8",
        ),
        (Some(good_images.clone()), Some(good_labels.clone()), "no error"),
        (Some(gzip(&good_images)?), Some(good_labels.clone()), "no error"),
        (None, Some(good_labels.clone()), "no such file"),
        (Some(good_images.clone()), None, "no train-labels-idx1-ubyte beside it"),
        (Some(idx(0x803, &[2, 3, 4], &[9; 23])), Some(good_labels.clone()), "truncated"),
        (Some(gzip(&good_images)?[..30].to_vec()), Some(good_labels.clone()), "truncated"),
        (Some(idx(0x803, &[2, 3, 4], &[9; 25])), Some(good_labels.clone()), "needs 24 bytes, the file holds more"),
        (Some(idx(0x803, &[u32::MAX; 3], &[9; 24])), Some(idx(0x801, &[u32::MAX], &[])), "truncated"),
        (Some(idx(0x803, &[2, u32::MAX, u32::MAX], &[9; 24])), Some(good_labels.clone()), "impossible"),
        (Some(idx(0x803, &[2], &[])), Some(good_labels.clone()), "truncated"),
        (Some(idx(0x803, &[0, 3, 4], &[])), Some(idx(0x801, &[0], &[])), "no images"),
        (Some(idx(0x803, &[2, 0, 4], &[])), Some(good_labels.clone()), "no images"),
        (Some(idx(0x80d, &[2, 3, 4], &[9; 24])), Some(good_labels.clone()), "magic number 0x0000080d"),
        (Some(good_labels.clone()), Some(good_labels.clone()), "labels where images are wanted"),
        (Some(good_images.clone()), Some(good_images.clone()), "images where labels are wanted"),
        (Some(good_images.clone()), Some(idx(0x801, &[3], &[0, 7, 1])), "holds 2 images but"),
        (Some(vec![]), Some(good_labels.clone()), "truncated"),
    ];
    for (number, (image_bytes, label_bytes, wanted)) in cases.into_iter().enumerate() {
        for (path, bytes) in [(&images, image_bytes), (&labels, label_bytes)] {
            match bytes {
                Some(bytes) => std::fs::write(path, bytes)?,
                None => drop(std::fs::remove_file(path)),
            }
        }
        let said = message(read_all(&images));
        assert!(said.contains(wanted), "case {number}: {said}, wanted {wanted:?}");
    }
    Ok(())
}

#[test]
fn npz_files_are_checked() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.npz");
    let bytes = npy("|u1", "(2, 3, 4)", &[90; 24]);
    let labels = npy("<i8", "(2,)", &int_bytes(&[0, 4]));
    let floats = |values: &[f32]| npy("<f4", "(2, 1, 1, 2)", &float_bytes(values));
    let cases: Vec<(Files, &str)> = vec![
        (vec![("images", bytes.clone()), ("labels", labels.clone())], "no error"),
        (vec![("images", floats(&[0.0, 0.5, 1.0, 0.25])), ("labels", npy("|u1", "(2,)", &[1, 2]))], "no error"),
        (vec![("images", bytes.clone()), ("labels", npy(">i2", "(2, 1)", &[0, 1, 0, 3]))], "no error"),
        (vec![("images", floats(&[0.0, f32::NAN, 1.0, 0.25])), ("labels", labels.clone())], "image 0 holds NaN"),
        (vec![("images", floats(&[0.0, 0.5, 1.0, f32::INFINITY])), ("labels", labels.clone())], "image 1 holds inf"),
        (vec![("images", floats(&[0.0, 128.0, 1.0, 0.25])), ("labels", labels.clone())], "divide by 255"),
        (vec![("images", floats(&[0.0, -0.5, 1.0, 0.25])), ("labels", labels.clone())], "image 0 holds -0.5"),
        (
            vec![("images", npy("|u1", "(2, 3, 4)", &[16; 24])), ("labels", labels.clone())],
            "if 16 is white here, give floats",
        ),
        (vec![("images", npy("|u1", "(2, 3, 4)", &[0; 24])), ("labels", labels.clone())], "no error"),
        (vec![("images", bytes.clone())], "no array `labels`"),
        (vec![("x", bytes.clone()), ("y", labels.clone())], "it holds"),
        (
            vec![("images", bytes.clone()), ("labels", npy("<i8", "(3,)", &int_bytes(&[0, 1, 2])))],
            "2 images but labels",
        ),
        (vec![("images", bytes.clone()), ("labels", npy("<i8", "(2,)", &int_bytes(&[0, -1])))], "label -1"),
        (vec![("images", bytes.clone()), ("labels", npy("<i8", "(2,)", &int_bytes(&[0, 1 << 40])))], "too large"),
        (vec![("images", bytes.clone()), ("labels", npy("<u8", "(2,)", &int_bytes(&[0, -1])))], "must be integers"),
        (
            vec![("images", bytes.clone()), ("labels", npy("<f4", "(2,)", &float_bytes(&[0.0, 1.0])))],
            "must be integers",
        ),
        (
            vec![("images", npy("<i4", "(2, 1, 1, 1)", &[0; 8])), ("labels", labels.clone())],
            "uint8, float32 or float64",
        ),
        (vec![("images", npy("|u1", "(2, 12)", &[90; 24])), ("labels", labels.clone())], "N x C x H x W"),
        (vec![("images", npy("|u1", "(2, 8, 8, 2)", &[90; 256])), ("labels", labels.clone())], "N x H x W x C"),
        (vec![("images", npy("|u1", "(0, 3, 4)", &[])), ("labels", npy("<i8", "(0,)", &[]))], "no images"),
        (vec![("images", npy("|u1", "(2, 3, 5)", &[90; 24])), ("labels", labels.clone())], "needs 30 bytes, found 24"),
        (vec![("images", npy("|u1", "(2, 3, 3)", &[90; 24])), ("labels", labels.clone())], "needs 18 bytes, found 24"),
        (
            vec![("images", npy("|u1", "(2, 99999999, 99999999)", &[90; 24])), ("labels", labels.clone())],
            "more than the file can hold",
        ),
        (
            vec![("images", npy_ordered("|u1", "(2, 3, 4)", "True", &[90; 24])), ("labels", labels.clone())],
            "Fortran order",
        ),
        (
            vec![("images", npy("|O", "(2, 3, 4)", &[90; 24])), ("labels", labels.clone())],
            "Python's objects, wanted numbers",
        ),
        (vec![("images", b"nonsense".to_vec()), ("labels", labels.clone())], "array `images`"),
    ];
    for (number, (arrays, wanted)) in cases.into_iter().enumerate() {
        std::fs::write(&path, npz(&arrays)?)?;
        let said = message(read_all(&path));
        assert!(said.contains(wanted), "case {number}: {said}, wanted {wanted:?}");
    }
    std::fs::write(&path, npz(&[("images", bytes), ("labels", labels)])?)?;
    let how = Load { classes: Classes::Named(vec!["a".into(), "b".into()]), ..Load::default() };
    assert!(message(load(&Cx::default(), &path.display().to_string(), &how)).contains("label 4, outside 0 to 1"));
    std::fs::write(&path, b"not a zip")?;
    assert!(message(read_all(&path)).contains("not a .npz file"));
    Ok(())
}

#[test]
fn cifar_files_are_checked() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.bin");
    let record = |label: u8| [vec![label], vec![9; 3072]].concat();
    let cases = [
        (record(3), "no error"),
        (record(10), "record 0 has label 10"),
        ([record(1), record(77)].concat(), "record 1 has label 77"),
        (vec![5; 3074], "no error"),
        ([vec![5, 100], vec![0; 3072]].concat(), "record 0 has label 100"),
        (record(1)[..99].to_vec(), "99 bytes"),
        (vec![], "0 bytes"),
    ];
    for (bytes, wanted) in cases {
        std::fs::write(&path, bytes)?;
        let said = message(read_all(&path));
        assert!(said.contains(wanted), "{said}, wanted {wanted:?}");
    }
    Ok(())
}

/// An element of a MATLAB file: kind, length, bytes, and zeros up to a whole word.
fn element(kind: u32, bytes: &[u8], big: bool) -> Vec<u8> {
    let word = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut all = [word(kind), word(bytes.len() as u32)].concat();
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(8), 0);
    all
}

/// A variable of this name, class, shape and kind of numbers.
fn variable_of(name: &str, class: u32, shape: &[u32], kind: u32, bytes: &[u8], big: bool) -> Vec<u8> {
    let words = |all: &[u32]| all.iter().flat_map(|n| if big { n.to_be_bytes() } else { n.to_le_bytes() }).collect();
    let (flags, sizes): (Vec<u8>, Vec<u8>) = (words(&[class, 0]), words(shape));
    let parts = [(6, &flags[..]), (5, &sizes), (1, name.as_bytes()), (kind, bytes)];
    element(14, &parts.into_iter().flat_map(|(kind, bytes)| element(kind, bytes, big)).collect::<Vec<_>>(), big)
}

fn variable(name: &str, class: u32, shape: &[u32], kind: u32, bytes: &[u8]) -> Vec<u8> {
    variable_of(name, class, shape, kind, bytes, false)
}

fn mat(version: [u8; 4], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut all = b"MATLAB 5.0 MAT-file".to_vec();
    all.resize(124, b' ');
    all.extend(version);
    all.extend(parts.concat());
    all
}

/// The same element in a compressed one.
fn packed(element: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(element)?;
    let bytes = packer.finish()?;
    let head = [15u32.to_le_bytes(), (bytes.len() as u32).to_le_bytes()].concat();
    Ok([head, bytes].concat())
}

#[test]
fn mat_files_are_checked() -> Outcome {
    const FIVE: [u8; 4] = [0, 1, b'I', b'M'];
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("a.mat");
    let x = variable("X", 9, &[2, 3, 3, 2], 2, &[90; 36]);
    let y = |labels: &[u8]| variable("y", 6, &[labels.len() as u32, 1], 2, labels);
    let good = [x.clone(), y(&[10, 9])];
    let mut damaged = packed(&x)?;
    *damaged.last_mut().ok_or("empty")? ^= 1;
    let big =
        [variable_of("X", 9, &[2, 3, 3, 2], 2, &[90; 36], true), variable_of("y", 6, &[2, 1], 4, &[0, 10, 0, 3], true)];
    // 64 MB of zeros in 64 kB, in a variable that nobody asked for: only its name is unpacked.
    let bomb = packed(&variable("bomb", 9, &[1 << 26], 2, &vec![0; 1 << 26]))?;
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (mat(FIVE, &good), "no error"),
        (mat(FIVE, &[packed(&good[1])?, packed(&good[0])?]), "no error"),
        (mat([1, 0, b'M', b'I'], &big), "no error"),
        (mat(FIVE, &[bomb, x.clone(), y(&[0, 9])]), "no error"),
        // One image; a last size of 1 is left out.
        (mat(FIVE, &[variable("X", 9, &[2, 3, 3], 2, &[90; 18]), y(&[4])]), "no error"),
        (mat(FIVE, &[variable("X", 9, &[2, 3, 3], 2, &[1; 18]), y(&[4])]), "largest of all uint8 pixels is 1"),
        (mat(FIVE, &[damaged, y(&[10, 9])]), "damaged"),
        (mat(FIVE, &good[..1]), "no variable `y`"),
        (mat(FIVE, &good[1..]), "no variable `X`"),
        (mat(FIVE, &[variable("images", 9, &[2, 3], 2, &[9; 6])]), "beside it there is `images` (2 x 3)"),
        (mat(FIVE, &[]), "beside it there is nothing"),
        (mat(FIVE, &[x.clone(), y(&[1, 2, 3])]), "2 images but `y` 3 labels"),
        (mat(FIVE, &[x.clone(), y(&[1, 11])]), "label 1 of `y` is 11"),
        (mat(FIVE, &[x.clone(), y(&[0, 10])]), "both mean the digit 0"),
        (
            mat(FIVE, &[x.clone(), variable("y", 6, &[2, 1], 9, &[2.5f64, 1.0].map(f64::to_le_bytes).concat())]),
            "label 0 of `y` is 2.5",
        ),
        (
            mat(FIVE, &[x.clone(), variable("y", 6, &[2, 1], 9, &[f64::NAN, 1.0].map(f64::to_le_bytes).concat())]),
            "label 0 of `y` is NaN",
        ),
        (mat(FIVE, &[x.clone(), variable("y", 4, &[1, 2], 16, b"ab")]), "must hold numbers, got text"),
        (mat(FIVE, &[variable("X", 6, &[2, 3, 3, 2], 9, &[0; 288]), y(&[1, 2])]), "must be uint8, got double"),
        (
            mat(FIVE, &[variable("X", 9, &[6, 6], 2, &[90; 36]), y(&[1])]),
            "height x width x channels (1 or 3) x N, got 6 x 6",
        ),
        (mat(FIVE, &[variable("X", 9, &[2, 3, 3, 0], 2, &[]), y(&[])]), "no images"),
        (mat(FIVE, &[variable("X", 9, &[2, 3, 3, 4], 2, &[90; 36]), y(&[1, 2])]), "`X` of 2 x 3 x 3 x 4 has 36 bytes"),
        (mat(FIVE, &[variable("X", 9, &[u32::MAX; 4], 2, &[90; 36])]), "more than the file can hold"),
        (mat(FIVE, &[variable("X", 9, &[1 << 12, 1 << 12, 3, 2], 2, &[90; 36])]), "more than the file can hold"),
        (mat(FIVE, &[packed(&x[..x.len() - 8])?, y(&[1, 2])]), "truncated"),
        (mat(FIVE, &[x[..60].to_vec()]), "truncated"),
        (mat(FIVE, &[vec![0; 1 << 20]]), "unknown kind 0"),
        (mat([0, 2, b'I', b'M'], &[]), "MATLAB 7.3"),
        (mat([0, 9, b'I', b'M'], &[]), "version 9.0"),
        (vec![0; 300], "not a MATLAB 5 file"),
        (b"\x89HDF\r\n\x1a\n".to_vec(), "an HDF5 file"),
        (vec![], "truncated"),
        (b"hello".to_vec(), "not a MATLAB 5 file"),
    ];
    for (number, (bytes, wanted)) in cases.into_iter().enumerate() {
        std::fs::write(&path, bytes)?;
        let said = message(read_all(&path));
        assert!(said.contains(wanted), "case {number}: {said}, wanted {wanted:?}");
    }
    // Whatever is cut off is missed.
    for name in ["svhn.mat", "svhn_plain.mat"] {
        let whole = std::fs::read(format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR")))?;
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end])?;
            assert!(read_all(&path).is_err(), "{name} cut at {end}");
        }
    }
    Ok(())
}

#[test]
fn folders_are_checked() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    assert!(message(read(root)).contains("no images"));
    let save = |name: &str, side: u32| -> Outcome {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        Ok(image::RgbImage::new(side, side).save(path)?)
    };
    save("a/1.png", 8)?;
    save("b/1.png", 9)?;
    let differ = message(read(root));
    assert!(differ.contains("a/1.png has 8 x 8 pixels, b/1.png has 9 x 9") && differ.contains("resize"), "{differ}");
    let seen = |resize, crop, margin| {
        let how = Load { view: View { resize, crop, margin, ..View::default() }, ..Load::default() };
        message(load(&Cx::default(), &root.display().to_string(), &how))
    };
    assert_eq!(seen(None, Some(6), None), "no error");
    assert_eq!(seen(Some(16), None, None), "no error");
    assert!(seen(None, Some(9), None).contains("a crop of 9 does not fit"));
    assert!(seen(None, Some(6), Some(2)).contains("around a crop of 6 there are 1"));
    assert!(seen(Some(16), Some(20), None).contains("larger `resize`"));
    assert!(seen(Some(16), None, Some(8)).contains("leaves nothing"));
    save("b/1.png", 8)?;
    std::fs::write(root.join("a/2.jpg"), b"not an image")?;
    assert!(message(read(root)).contains("2.jpg"));
    std::fs::remove_file(root.join("a/2.jpg"))?;
    // A folder stands for everything that opens but can't be read, such as a pipe.
    std::fs::create_dir(root.join("a/3.png"))?;
    assert!(message(read(root)).contains("3.png: not a file"));
    std::fs::remove_dir(root.join("a/3.png"))?;
    let other = tempfile::tempdir()?;
    std::fs::write(other.path().join("some.npz"), b"")?;
    assert!(message(read(other.path())).contains("some.npz"));
    for (name, text, wanted) in [
        ("labels.json", "{", "labels.json"),
        ("labels.json", r#"{"a/1.png": 1.5}"#, "all class numbers or all class names"),
        ("labels.json", r#"{"a/1.png": -1}"#, "label -1"),
        ("labels.json", r#"{"a/1.png": 4000000000000}"#, "too large"),
        ("labels.json", r#"{"a/none.png": 0}"#, "none.png"),
        ("labels.json", "{}", "no images"),
        ("classes.csv", "", "names no columns"),
        ("classes.csv", "id,what\n1,2\n", "its columns are id, what"),
        ("classes.csv", "index,file\nx,a/1.png\n", "line 2: \"x\" is no class number"),
        ("classes.csv", "index,file\n-3,a/1.png\n", "line 2: class number -3"),
        ("classes.csv", "index,file\n99999999999,a/1.png\n", "class number 99999999999"),
        ("classes.csv", "index,file\n0,\n", "no images"),
        ("classes.csv", "index,file\n0,\"a/1.png\n", "line 2: a quote is opened and not closed"),
        ("classes.csv", "index,file\n0,a/1.png,more\n", "line 2"),
        ("classes.csv", "index,file\n0,\"a/1.png\"\n", "no error"),
    ] {
        let _ = ["labels.json", "classes.csv"].map(|other| std::fs::remove_file(root.join(other)));
        std::fs::write(root.join(name), text)?;
        let said = message(read_all(root));
        assert!(said.contains(wanted), "{name} {text:?}: {said}, wanted {wanted:?}");
    }
    Ok(())
}

#[test]
fn unknown_names_are_answered_with_near_ones() {
    let mut cx = Cx::default();
    let get = |cx: &Cx, name: &str| message(load(cx, name, &Load::default()));
    assert!(get(&cx, "minst").contains("did you mean `mnist`?"));
    assert!(get(&cx, "fashion_mnist").contains("did you mean `fashion-mnist`?"));
    assert!(get(&cx, "quite-another").contains("known by name: mnist, fashion-mnist"));
    cx.set_data_folder(Some(PathBuf::from("/nowhere")));
    assert!(get(&cx, "mnist").contains("viva data fetch mnist"));
    cx.set_data_folder(None);
    assert!(get(&cx, "mnist").contains("VIVA_DATA"));
}

#[test]
fn tensors_are_checked() -> Outcome {
    let options = (tch::Kind::Float, tch::Device::Cpu);
    let of = |images: &Tensor, labels: &[i64]| message(from_tensor(images, labels.to_vec(), None, false));
    let good = Tensor::f_full([2, 3, 4], 0.5, options)?;
    assert_eq!(of(&good, &[0, 1]), "no error");
    assert_eq!(of(&good.f_to_kind(tch::Kind::Uint8)?, &[0, 1]), "no error");
    assert!(of(&good, &[0]).contains("2 images but 1 labels"));
    assert!(of(&good, &[0, -1]).contains("label -1"));
    assert!(of(&Tensor::f_full([2, 3], 0.5, options)?, &[0, 1]).contains("N x C x H x W"));
    assert!(of(&Tensor::f_full([0, 3, 4], 0.5, options)?, &[]).contains("no images"));
    assert!(of(&Tensor::f_full([2, 3, 4], f64::NAN, options)?, &[0, 1]).contains("NaN"));
    assert!(of(&Tensor::f_full([2, 3, 4], 7.0, options)?, &[0, 1]).contains("divide by 255"));
    assert!(of(&good.f_to_kind(tch::Kind::Int64)?, &[0, 1]).contains("Int64"));
    Ok(())
}

#[test]
fn calls_refuse_what_they_cannot_do() -> Outcome {
    let cx = Cx::default();
    let call = |path: &str, arguments: Vec<Value>| match primitives::find(path) {
        Some(primitive) => message(primitive.call(&cx, arguments)),
        None => format!("no primitive {path}"),
    };
    let map = |key: &str, value: Value| Value::Map([(key.to_string(), value)].into());
    assert!(call("data::glyphs", vec![map("sise", Value::Int(3))]).contains("did you mean `size`?"));
    assert!(call("data::glyphs", vec![map("n", Value::Int(0))]).contains("from 1 to 10000000"));
    assert!(call("data::glyphs", vec![map("channels", Value::Int(2))]).contains("1 or 3"));
    assert!(call("data::noise", vec![map("shape", Value::ints([1, 2]))]).contains("[channels, height, width]"));
    let set = primitives::find("data::glyphs").ok_or("glyphs")?.call(&cx, vec![map("n", Value::Int(4))])?;
    assert!(call("Dataset.only", vec![set.clone(), Value::ints([11])]).contains("from 0 to 9"));
    assert!(
        call("Dataset.only", vec![set.clone(), Value::Array(vec![Value::Str("x".into())])]).contains("no class \"x\"")
    );
    assert!(call("Dataset.split", vec![set.clone(), Value::Float(0.01)]).contains("leaves one side"));
    assert!(call("Dataset.skip", vec![set.clone(), Value::Int(4)]).contains("no images left"));
    let bad = viva::core::Callback::new(|_| Ok(Value::Unit));
    assert!(call("Dataset.relabel", vec![set.clone(), Value::Callback(bad)]).contains("must answer a class number"));
    let big = primitives::find("data::glyphs").ok_or("glyphs")?.call(&cx, vec![map("n", Value::Int(1_000_000))])?;
    assert!(call("Dataset.images", vec![big]).contains("3.8 GiB, more than 2"));
    assert_eq!(call("Dataset.images", vec![set]), "no error");
    Ok(())
}

/// Every format, damaged at random: an error or a data set, never a panic.
#[test]
fn damaged_files_are_errors() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    std::fs::create_dir_all(root.join("folder/a"))?;
    let labels = root.join("x-labels-idx1-ubyte");
    std::fs::write(&labels, idx(0x801, &[3], &[0, 1, 2]))?;
    let images = idx(0x803, &[3, 5, 5], &[77; 75]);
    let picture = image::RgbImage::from_fn(24, 17, |x, y| image::Rgb([(x * 9) as u8, (y * 13) as u8, (x * y) as u8]));
    let encoded = |format| -> std::result::Result<Vec<u8>, image::ImageError> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format)?;
        Ok(bytes.into_inner())
    };
    let golden = |name: &str| format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let arrays = [
        ("images", npy("<f4", "(3, 2, 2)", &float_bytes(&[0.5; 12]))),
        ("labels", npy("<i8", "(3,)", &int_bytes(&[0, 1, 2]))),
    ];
    let formats: Vec<(&str, Vec<u8>, PathBuf)> = vec![
        ("x-images-idx3-ubyte", images.clone(), root.join("x-images-idx3-ubyte")),
        ("x-images-idx3-ubyte.gz", gzip(&images)?, root.join("x-images-idx3-ubyte.gz")),
        ("a.npz", npz(&arrays)?, root.join("a.npz")),
        ("a.bin", [vec![2], vec![7; 3072]].concat(), root.join("a.bin")),
        ("a.mat", std::fs::read(golden("svhn.mat"))?, root.join("a.mat")),
        ("b.mat", std::fs::read(golden("svhn_plain.mat"))?, root.join("b.mat")),
        ("folder/a/1.png", encoded(image::ImageFormat::Png)?, root.join("folder")),
        ("folder/a/1.jpg", encoded(image::ImageFormat::Jpeg)?, root.join("folder")),
        ("folder/classes.csv", b"index,name,file\n0,a,a/1.png\n".to_vec(), root.join("folder")),
    ];
    let mut numbers = random(20, 0);
    let mut refused = 0;
    for (name, good, path) in &formats {
        std::fs::write(root.join(name), good)?;
        read_all(path).map_err(|e| format!("{name}: {e}"))?;
        for _ in 0..60 {
            let mut bytes = good.clone();
            match numbers.gen_range(0..3) {
                0 => bytes.truncate(numbers.gen_range(0..bytes.len())),
                1 => {
                    for _ in 0..numbers.gen_range(1..6) {
                        let at = numbers.gen_range(0..bytes.len());
                        bytes[at] = numbers.next_u32() as u8;
                    }
                }
                _ => {
                    let at = numbers.gen_range(0..bytes.len().min(64));
                    bytes[at] ^= 1 << numbers.gen_range(0..8);
                }
            }
            std::fs::write(root.join(name), &bytes)?;
            if let Err(error) = read_all(path) {
                assert!(error.kind != viva::core::ErrorKind::Internal && !error.message.is_empty(), "{name}: {error}");
                assert!(!error.message.contains("broke down"), "{name}: a decoder panicked");
                refused += 1;
            }
        }
        std::fs::write(root.join(name), good)?;
    }
    assert!(refused > 150, "only {refused} of 540 damaged files were noticed");
    Ok(())
}
