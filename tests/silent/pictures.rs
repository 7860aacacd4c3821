//! What is read of pictures.

use std::io::Write;
use std::path::Path;

use image::ImageEncoder;
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
use rand::Rng;
use viva::core::{Cx, Value, random};
use viva::data::{Load, load, picture};

use super::inputs::{Outcome, image, refused_in, truths_in};
use super::{run_in, truths};

/// Which of several pictures is meant nobody can know; one alone is no animation.
#[test]
fn animations_are_refused_by_name() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    std::fs::create_dir_all(root.join("ds/a"))?;
    let frame = |grey: u8| image::Frame::new(image::RgbaImage::from_pixel(9, 7, image::Rgba([grey, 200, 250, 255])));
    let gif = |frames: u8| -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut bytes = vec![];
        image::codecs::gif::GifEncoder::new(&mut bytes).encode_frames((0..frames).map(|i| frame(90 * i)))?;
        Ok(bytes)
    };
    let png = |frames: u32| -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut bytes = vec![];
        PngEncoder::new(&mut bytes).write_image(&[217; 9 * 7 * 3], 9, 7, image::ExtendedColorType::Rgb8)?;
        // Behind the header: the number of frames, and how often they are shown.
        let chunk = [b"acTL".as_slice(), &frames.to_be_bytes(), &[0; 4]].concat();
        let sum = crc32fast::hash(&chunk).to_be_bytes();
        Ok([&bytes[..33], &[0, 0, 0, 8], &chunk, &sum, &bytes[33..]].concat())
    };
    for (name, bytes, animated) in [
        ("one.gif", gif(1)?, false),
        ("two.gif", gif(2)?, true),
        ("one.png", png(1)?, false),
        ("two.png", png(2)?, true),
    ] {
        let file = root.join("ds/a").join(name);
        std::fs::write(&file, bytes)?;
        let found = run_in(root, "data::load(\"ds\").len()");
        match animated {
            true => assert!(
                found.as_ref().is_err_and(|error| error.contains("an animation") && error.contains(name)),
                "{name}: {found:?}"
            ),
            false => assert!(found.is_ok(), "{name}: {found:?}"),
        }
        std::fs::remove_file(&file)?;
    }
    Ok(())
}

/// Files of every format, each as it is and cut at twenty places.
#[test]
fn files_that_are_cut_short_are_refused_by_name() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let mut numbers = random(16, 0);
    let picture = image::RgbImage::from_fn(61, 47, |x, y| {
        image::Rgb([(x * 4) as u8, (y * 5) as u8, (x * y) as u8 ^ (numbers.r#gen::<u8>() / 8)])
    });
    std::fs::create_dir_all(root.join("ds/a"))?;
    let mut files: Vec<(String, String, Vec<u8>)> = vec![];
    for ending in ["png", "jpg", "gif", "webp", "tif"] {
        let file = format!("ds/a/picture.{ending}");
        picture.save(root.join(&file))?;
        files.push(("ds".into(), file.clone(), std::fs::read(root.join(&file))?));
        std::fs::remove_file(root.join(&file))?;
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    for (name, file) in [("progressive", "progressive.jpg"), ("restarts", "restarts.jpg")] {
        files.push(("ds".into(), format!("ds/a/{name}.jpg"), std::fs::read(format!("{golden}/{file}"))?));
    }
    for file in ["svhn.mat", "svhn_plain.mat", "readers.parquet", "readers_zstd.parquet"] {
        files.push((file.into(), file.into(), std::fs::read(format!("{golden}/{file}"))?));
    }
    run_in(root, "data::glyphs(#{ n: 5, size: 16, seed: 1 }).save(\"five.npz\")")?;
    files.push(("five.npz".into(), "five.npz".into(), std::fs::read(root.join("five.npz"))?));
    files.push(("batch.bin".into(), "batch.bin".into(), [vec![1], vec![9; 3072], vec![2], vec![8; 3072]].concat()));
    let idx = |magic: u8, sizes: &[u8], bytes: &[u8]| -> std::io::Result<Vec<u8>> {
        let header = sizes.iter().flat_map(|&size| [0, 0, 0, size]);
        let all: Vec<u8> = [0, 0, 8, magic].into_iter().chain(header).chain(bytes.iter().copied()).collect();
        let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        packer.write_all(&all)?;
        packer.finish()
    };
    let pixels: Vec<u8> = (0..3 * 64).map(|i| (i * 7) as u8).collect();
    let (images, labels) = ("x-images-idx3-ubyte.gz", "x-labels-idx1-ubyte.gz");
    files.push((images.into(), labels.into(), idx(1, &[3], &[0, 1, 2])?));
    std::fs::write(root.join(labels), &files[files.len() - 1].2)?;
    files.push((images.into(), images.into(), idx(3, &[3, 8, 8], &pixels)?));
    for (path, file, whole) in &files {
        let ending = file.rsplit('/').next().unwrap_or(file);
        let script = format!("data::load(\"{path}\").images().shape[0]");
        if file != labels {
            std::fs::write(root.join(file), whole)?;
            run_in(root, &script).map_err(|error| format!("{file}: {error}"))?;
        } else {
            std::fs::write(root.join(images), idx(3, &[3, 8, 8], &pixels)?)?;
        }
        let ends = [0, 1, 2, 3, whole.len() - 3, whole.len() - 2, whole.len() - 1];
        let cuts: Vec<usize> = ends.into_iter().chain((0..20).map(|_| numbers.gen_range(4..whole.len() - 3))).collect();
        for cut in cuts {
            std::fs::write(root.join(file), &whole[..cut])?;
            refused_in(root, &script, &[ending]);
        }
        match file.starts_with("ds/") {
            true => std::fs::remove_file(root.join(file))?,
            false => std::fs::write(root.join(file), whole)?,
        }
    }
    Ok(())
}

/// A picture that is damaged after its data set was made is an error where it is used; what follows its end does not matter.
#[test]
fn damaged_pictures_are_noticed_when_they_are_used() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for ending in ["png", "jpg", "gif", "webp", "tif"] {
        let set = format!("of_{ending}");
        image(root, &format!("{set}/a/1.{ending}"), 90)?;
        let whole = std::fs::read(root.join(format!("{set}/a/1.{ending}")))?;
        std::fs::write(root.join(format!("{set}/a/1.{ending}")), [&whole[..], b"whatever follows"].concat())?;
        let cx = Cx::default();
        let ds = load(&cx, &root.join(&set).display().to_string(), &Load::default())?;
        assert_eq!(ds.canvases(&[0], tch::Device::Cpu)?.size(), [1, 3, 8, 8]);
        for cut in [1, whole.len() / 2] {
            std::fs::write(root.join(format!("{set}/a/1.{ending}")), &whole[..whole.len() - cut])?;
            let error = ds.canvases(&[0], tch::Device::Cpu).err().ok_or("a damaged picture was read")?;
            assert!(error.message.contains(&format!("a/1.{ending}")), "{error}");
        }
    }
    Ok(())
}

/// JPEG files hold the pixels that Pillow reads from them, and one that lost or changed a part of its data none, even where its end is
/// put back.
#[test]
fn jpeg_files_are_read_as_by_pillow_or_not_at_all() -> Outcome {
    let golden = viva::core::Tensor::read_npz(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/jpeg.npz"))?;
    let find = |name: &str| {
        golden.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.contiguous().reshape([-1]))
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("1.jpg");
    let (mut numbers, mut read, mut noticed, mut tried) = (random(17, 0), 0, 0, 0);
    while let (Some(file), Some(pixels)) = (find(&format!("file_{read}")), find(&format!("pixels_{read}"))) {
        let (file, pixels) = (Vec::<u8>::try_from(&file)?, Vec::<u8>::try_from(&pixels)?);
        std::fs::write(&path, &file)?;
        assert!(picture::read(&path)?.into_rgb8().into_raw() == pixels, "file {read}");
        std::fs::write(&path, [&file[..], b"more"].concat())?;
        assert!(picture::read(&path)?.into_rgb8().into_raw() == pixels, "file {read} with more behind it");
        read += 1;
        let scan = file.windows(2).position(|two| two == [0xff, 0xda]).ok_or("no scan")? + 14;
        for _ in 0..5 {
            let cut = numbers.gen_range(scan..file.len() - 2);
            std::fs::write(&path, [&file[..cut], &[0xff, 0xd9]].concat())?;
            tried += 1;
            noticed += usize::from(picture::read(&path).is_err());
        }
    }
    assert_eq!(read, 30);
    assert_eq!(noticed, tried, "files that were cut and closed");
    Ok(())
}

/// Resized pixels are those that Pillow makes, to the last bit.
#[test]
fn resizing_gives_pillows_bytes() -> Outcome {
    let golden = viva::core::Tensor::read_npz(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/resample.npz"))?;
    let find = |name: &str| {
        golden.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor.copy()).ok_or(name.to_string())
    };
    let bytes = |tensor: &viva::core::Tensor| Vec::<u8>::try_from(&tensor.contiguous().reshape([-1]));
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    let sides = [11, 40, 12, 20, 13, 7, 5, 25];
    for (k, side) in sides.into_iter().enumerate() {
        let whole = find(&format!("in_{k}"))?;
        let [h, w, c] = whole.size()[..] else { return Err("no picture".into()) };
        let path = root.join(format!("set{k}/a/1.png"));
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        let colour = if c == 3 { image::ColorType::Rgb8 } else { image::ColorType::L8 };
        image::save_buffer(&path, &bytes(&whole)?, w as u32, h as u32, colour)?;
        // The same in memory, as bytes and as floats.
        let planes = whole.permute([2, 0, 1]).unsqueeze(0).contiguous();
        let floats = planes.narrow(1, 0, 1).to_kind(tch::Kind::Float) / 255.0;
        let labels = viva::core::Tensor::from_slice(&[0i64]);
        viva::core::Tensor::write_npz(
            &[("images", planes), ("labels", labels.copy())],
            root.join(format!("bytes{k}.npz")),
        )?;
        viva::core::Tensor::write_npz(&[("images", floats), ("labels", labels)], root.join(format!("floats{k}.npz")))?;
        for filter in ["bilinear", "bicubic"] {
            let read = |what: &str| -> Result<viva::core::Tensor, Box<dyn std::error::Error>> {
                let script = format!("data::load(\"{what}\", #{{ resize: {side}, filter: \"{filter}\" }}).images()");
                match run_in(root, &script)? {
                    Value::Tensor(tensor) => Ok(tensor.squeeze_dim(0).permute([1, 2, 0]).contiguous()),
                    other => Err(other.summary().into()),
                }
            };
            let wanted = find(&format!("{k}_{filter}"))?;
            let as_bytes = |x: viva::core::Tensor| bytes(&(x * 255.0).round().to_kind(tch::Kind::Uint8));
            let from_file = read(&format!("set{k}"))?;
            assert_eq!(from_file.size()[..2], wanted.size()[..2], "picture {k}");
            assert_eq!(as_bytes(from_file.narrow(2, 0, c))?, bytes(&wanted)?, "picture {k}, {filter}");
            assert_eq!(as_bytes(read(&format!("bytes{k}.npz"))?)?, bytes(&wanted)?, "bytes {k}, {filter}");
            let apart =
                read(&format!("floats{k}.npz"))?.squeeze_dim(2) - find(&format!("{k}_{filter}_float"))?.clamp(0.0, 1.0);
            assert!(apart.abs().max().double_value(&[]) == 0.0, "floats {k}, {filter}");
        }
    }
    Ok(())
}

/// Images that are there several times are no several samples.
#[test]
fn copies_of_images_are_told_of() {
    truths(
        r#"
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });
        let told = |set| examine(f, set, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains("are copies of others"));
        let held = data::from(ds.images(), ds.labels);
        // Six images whose labels all come one later: too few, however many copies there are of them.
        let few = held.take(6).relabel(|row| (f.predict(held)[row.index] + 1) % 10);
        let many = few.join(few).join(few).join(few).join(few);
        let one = held.relabel(|row| (f.predict(held)[row.index] + 1) % 10).take(1);
        let same = one; for i in 1..12 { same = same.join(one); }
        let renumbered = |set| examine(f, set, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 })
            .cautions.some(|said| said.contains("to number the classes") || said.contains("no better than guessing"));
        #{
            counted_once: !renumbered.call(few) && !renumbered.call(many) && !renumbered.call(same) && renumbered.call(held.relabel(|row| (f.predict(held)[row.index] + 1) % 10)),
            single: !told.call(ds) && !told.call(held), joined: told.call(ds.join(ds)), equal: told.call(held.join(data::from(ds.images(), ds.labels))),
            report: risk::estimate(f, ds.join(ds), #{ radius: 1 }).cautions.some(|said| said.contains("20 of the 40 images")),
        }"#,
    );
}

/// Also where each copy is a file of its own, and where the copies bear two labels.
#[test]
fn copies_in_files_of_their_own_are_told_of() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (at, seed) in [("apples/1.png", 101), ("apples/2.png", 102), ("pears/3.png", 103)] {
        image(folder.path(), &format!("clean/{at}"), seed)?;
        image(folder.path(), &format!("copied/{at}"), seed)?;
    }
    image(folder.path(), "copied/apples/again.png", 101)?;
    image(folder.path(), "copied/pears/twin.png", 102)?;
    truths_in(
        folder.path(),
        r#"
        let f = model::train(data::load("clean"), #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        let said = |path| examine(f, data::load(path), #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 }).cautions;
        #{
            clean: !said.call("clean").some(|s| s.contains("copies of others")),
            copied: said.call("copied").some(|s| s.contains("2 of the 5 images of copied are copies of others, 1 of them under another label")),
        }"#,
    );
    Ok(())
}

/// Nothing says how many of 16 bits of grey are used.
#[test]
fn pictures_of_16_bits_of_grey_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x/a/1.png");
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    image::ImageBuffer::from_fn(8, 8, |x, y| image::Luma([(500 * x + y) as u16])).save(path)?;
    refused_in(folder.path(), r#"data::load("x")"#, &["1.png", "grey of 16 bits", "save it with 8 bits"]);
    Ok(())
}

/// Masks of 0 and 1 would be next to black.
#[test]
fn pictures_of_which_none_is_bright_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (file, level) in
        [("masks/a/1.png", 0), ("masks/b/1.png", 1), ("night/a/1.png", 1), ("night/b/1.png", 32), ("black/a/1.png", 0)]
    {
        image(folder.path(), file, level)?;
    }
    let words = ["a/1.png and of 1 more is brighter than 1 of 255", "save them with 255"];
    refused_in(folder.path(), r#"data::load("masks")"#, &words);
    truths_in(folder.path(), r#"#{ night: data::load("night").len() == 2, black: data::load("black").len() == 1 }"#);
    Ok(())
}

/// A picture whose file says which way it lies (EXIF, tag 0x0112), as cameras store them.
pub(super) fn lying(root: &Path, file: &str, orientation: u8) -> Outcome {
    let exif = || [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", &[orientation, 0, 0, 0, 0, 0, 0, 0][..]].concat();
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
    let shade = |x, y| image::Rgb([(20 * x + 3 * y) as u8; 3]);
    let (picture, written) = (image::RgbImage::from_fn(8, 8, shade), std::fs::File::create(&path)?);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("jpg") => {
            let mut encoder = JpegEncoder::new(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
        Some("png") => {
            let mut encoder = PngEncoder::new(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
        _ => {
            let mut encoder = WebPEncoder::new_lossless(written);
            encoder.set_exif_metadata(exif())?;
            picture.write_with_encoder(encoder)?;
        }
    }
    Ok(())
}

/// Turned pictures are read as they are stored, which their results say.
#[test]
fn pictures_that_are_to_be_turned_are_told_of() -> Outcome {
    let folder = tempfile::tempdir()?;
    for (at, file) in ["a/1.jpg", "a/2.png", "a/3.webp", "b/4.jpg", "b/5.png", "b/6.webp"].into_iter().enumerate() {
        lying(folder.path(), &format!("upright/{file}"), 1)?;
        lying(folder.path(), &format!("phone/{file}"), if at < 3 { 6 } else { 1 })?;
    }
    truths_in(
        folder.path(),
        r#"
        let upright = data::load("upright");
        let phone = data::load("phone");
        let f = model::train(upright, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        let said = |ds| examine(f, ds, #{ space: space::noise(0.1), search: search::random(#{ questions: 2 }), seed: 1 }).cautions;
        let turned = |cautions| cautions.filter(|s| s.contains("are to be turned or mirrored"));
        #{
            upright: turned.call(said.call(upright)).len() == 0 && !`${upright}`.contains("turned"),
            phone: turned.call(said.call(phone))[0].contains("3 of the 6 pictures of phone"),
            shown: `${phone}`.contains("3 not turned as EXIF says") && `${phone.take(2)}`.contains("2 not turned"),
            joined: turned.call(said.call(upright.join(phone)))[0].contains("3 of the 12 pictures"),
        }"#,
    );
    Ok(())
}

/// What is left out is listed, and endings that browsers give are read.
#[test]
fn pictures_and_objects_of_other_endings_are_read_or_listed() -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for name in ["a/1.jpg", "a/2.jpg", "b/3.jpg"] {
        image(root, &format!("pictures/{name}"), 90)?;
    }
    std::fs::rename(root.join("pictures/a/1.jpg"), root.join("pictures/a/1.jfif"))?;
    std::fs::rename(root.join("pictures/b/3.jpg"), root.join("pictures/b/3.jpe"))?;
    std::fs::create_dir_all(root.join("objects/chair"))?;
    std::fs::write(root.join("objects/chair/a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
    std::fs::write(root.join("objects/chair/z.off"), "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")?;
    image(root, "pictures/top.png", 90)?;
    truths_in(
        root,
        r#"
        let objects = data::objects("objects", #{ size: 16 });
        #{
            pictures: data::load("pictures").len == 3 && data::load("pictures").numbered.contains("leaves out a picture that lies beside those"), objects: objects.len == 1,
            skipped: objects.skipped.some(|left| left.name == "chair/z.off" && left.why.contains("can't be read")),
            near: space::render(#{ factors: #{ distance: 1.1 } }) != (),
        }"#,
    );
    image(root, "flat/1.png", 90)?;
    std::fs::write(root.join("flat/labels.csv"), "file,label,label\n1.png,0,1\n")?;
    let twice =
        run_in(root, "data::load(\"flat\", #{ labels_file: \"flat/labels.csv\" })").map(|value| value.summary());
    assert!(twice.as_ref().is_err_and(|told| told.contains("two columns are called `label`")), "{twice:?}");
    Ok(())
}

/// Right answers to mirrored images count as wrong where a mirror changes labels.
#[test]
fn changes_of_labels_are_told_whatever_searches() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        let of = |label, split| data::scenes(#{ n: 30, size: 16, label: label, position: "torus", split: split, seed: 1 });
        let f = model::train(of.call("handle", "train"), #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
        let told = |ds, space, search| examine(if ds.shape[0] == 1 { model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }) } else { f }, ds, #{ space: space, search: search, seed: 1 }).cautions.some(|said| said.contains("changes labels of"));
        let ds = of.call("handle", "test");
        ds.save("d.npz");
        #{
            sweep: told.call(ds, space::flip(), search::sweep()),
            strongest: told.call(ds, space::flip(), search::strongest()),
            product: told.call(ds, space::translate(1) * space::flip(), search::strongest()),
            saved: told.call(data::load("d.npz"), space::flip(), search::sweep()),
            joined: told.call(of.call("handle", "train").join(ds), space::flip(), search::sweep()),
            shown: `${examine(f, ds, #{ space: space::flip(), search: search::sweep(), seed: 1 })}`.contains("a mirrored scene has another label"),
            turned: told.call(data::glyphs(#{ n: 4, size: 32, seed: 1 }), space::rotate(180), search::random(#{ questions: 2 })),
            tilted: !told.call(data::glyphs(#{ n: 4, size: 32, seed: 1 }), space::rotate(30), search::random(#{ questions: 2 })),
            hue: !told.call(of.call("hue", "test"), space::flip(), search::sweep()),
            moved: !told.call(ds, space::translate(1), search::sweep()),
        }"#;
    truths::hold(&run_in(folder.path(), script).unwrap_or_else(|error| panic!("{error}")));
}

/// A profile of colours: its primaries under D50 and the gamma of each.
fn profile(primaries: [[f64; 3]; 3], gamma: f64) -> Vec<u8> {
    let fixed = |x: f64| ((x * 65536.0).round() as i32).to_be_bytes();
    let mut tags: Vec<(&[u8; 4], Vec<u8>)> = vec![];
    for (name, primary) in [b"rXYZ", b"gXYZ", b"bXYZ"].into_iter().zip(primaries) {
        tags.push((name, [&b"XYZ \0\0\0\0"[..], &primary.map(fixed).concat()].concat()));
    }
    for name in [b"rTRC", b"gTRC", b"bTRC"] {
        let gamma = ((gamma * 256.0).round() as u16).to_be_bytes();
        tags.push((name, [&b"curv\0\0\0\0\0\0\0\x01"[..], &gamma, &[0, 0]].concat()));
    }
    let mut table = (tags.len() as u32).to_be_bytes().to_vec();
    let mut values = vec![];
    for (name, value) in tags {
        let at = 132 + 12 * 6 + values.len() as u32;
        table.extend([&name[..], &at.to_be_bytes(), &(value.len() as u32).to_be_bytes()].concat());
        values.extend(value);
    }
    let mut header = vec![0; 128];
    header[12..24].copy_from_slice(b"mntrRGB XYZ ");
    header[36..40].copy_from_slice(b"acsp");
    [header, table, values].concat()
}

/// What a profile says of colours counts by its primaries and its light, whatever it is called.
#[test]
fn pictures_whose_colours_are_not_srgb_are_told() -> Outcome {
    const SRGB: [[f64; 3]; 3] = [[0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7141]];
    const ADOBE: [[f64; 3]; 3] = [[0.6097, 0.3111, 0.0195], [0.2053, 0.6257, 0.0609], [0.1492, 0.0632, 0.7446]];
    let folder = tempfile::tempdir()?;
    for (name, held) in [
        ("plain", None),
        ("srgb", Some(profile(SRGB, 2.2))),
        ("adobe", Some(profile(ADOBE, 2.2))),
        ("linear", Some(profile(SRGB, 1.0))),
    ] {
        for class in ["a", "b"] {
            let place = folder.path().join(name).join(class);
            std::fs::create_dir_all(&place)?;
            let mut bytes = vec![];
            let mut encoder = PngEncoder::new(&mut bytes);
            if let Some(held) = &held {
                encoder.set_icc_profile(held.clone())?;
            }
            let pixels: Vec<u8> = (0..192).map(|i| i + class.as_bytes()[0] % 7).collect();
            encoder.write_image(&pixels, 8, 8, image::ExtendedColorType::Rgb8)?;
            std::fs::write(place.join("x.png"), bytes)?;
        }
    }
    truths_in(
        folder.path(),
        r#"
        let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });
        let told = |name| examine(f, data::load(name), #{ space: space::noise(), search: search::sweep(), levels: [0.0] }).cautions
            .some(|said| said.contains("2 of the 2 pictures of " + name + " have a colour profile that is not sRGB"));
        #{ plain: !told.call("plain"), srgb: !told.call("srgb"), adobe: told.call("adobe"), linear: told.call("linear") }"#,
    );
    Ok(())
}
