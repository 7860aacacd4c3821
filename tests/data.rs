//! Data sets from the outside: what is drawn, what is read from files, and in which order it streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tch::Device;
use viva::core::{Cx, Digest, Error, Object, Result, Value};
use viva::data::{
    ColumnNames, Dataset, Edge, Glyphs, Load, Noise, Polarity, Position, Preprocessing, Source, Split, View, load,
};

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

fn pixels(set: &Dataset, row: usize) -> Result<Vec<f32>> {
    floats(&set.canvases(&[row], Device::Cpu)?)
}

fn floats(tensor: &tch::Tensor) -> Result<Vec<f32>> {
    Ok(Vec::try_from(&tensor.f_contiguous()?.f_reshape([-1])?)?)
}

fn byte(x: f32) -> u8 {
    (x * 255.0).round() as u8
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".into(),
        Err(error) => format!("{} | {}", error.message, error.hint.unwrap_or_default()),
    }
}

// Glyphs

#[test]
fn glyphs_are_a_function_of_seed_split_and_index() -> Outcome {
    let glyphs = Glyphs { n: 60, seed: 3, ..Glyphs::default() };
    let (one, again, longer) = (glyphs.dataset()?, glyphs.dataset()?, Glyphs { n: 600, ..glyphs }.dataset()?);
    assert_eq!(one.digest(), again.digest());
    assert_eq!(one.labels(), &longer.labels()[..60]);
    for row in 0..60 {
        assert_eq!(pixels(&one, row)?, pixels(&longer, row)?);
        assert!(pixels(&one, row)?.iter().all(|x| byte(*x) as f32 / 255.0 == *x), "pixels are whole bytes");
    }
    Ok(())
}

#[test]
fn splits_of_glyphs_share_no_image() -> Outcome {
    // Without noise too, so that what differs is the drawing itself.
    let of = |split| Glyphs { n: 400, noise: 0.0, split, seed: 1, ..Glyphs::default() }.dataset();
    let mut seen = std::collections::HashSet::new();
    for split in [Split::Train, Split::Validation, Split::Test] {
        let set = of(split)?;
        for row in 0..set.len() {
            let bytes: Vec<u8> = pixels(&set, row)?.into_iter().map(byte).collect();
            assert!(seen.insert(bytes), "an image was drawn twice");
        }
    }
    Ok(())
}

#[test]
fn labels_of_glyphs_are_uniform() -> Outcome {
    let n = 100_000;
    let set = Glyphs { n, ..Glyphs::default() }.dataset()?;
    let expected = n as f64 / 10.0;
    let chi: f64 = set.counts().iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    // Chi-squared with 9 degrees of freedom exceeds 33.7 once in 10,000 seeds.
    assert!(chi < 33.7, "chi-squared {chi}");
    Ok(())
}

#[test]
fn a_torus_has_the_same_density_everywhere() -> Outcome {
    let n = 20_000;
    let glyphs = Glyphs { n, size: 16, ..Glyphs::default() };
    let spread = |position| -> Result<f64> {
        let set = Glyphs { position, margin: 0, ..glyphs }.dataset()?;
        let images = set.images(&(0..n).collect::<Vec<_>>(), Device::Cpu)?.to_kind(tch::Kind::Double);
        let mean = images.mean_dim(&[0i64][..], false, None);
        let error = images.std_dim(&[0i64][..], true, false) / (n as f64).sqrt();
        let all = images.mean(None);
        Ok(((mean - all) / error).abs().max().double_value(&[]))
    };
    // The largest of 256 means, each normal by the central limit theorem: above 4.9 standard errors with probability
    // 256 * 1e-6 if all pixels have one mean.
    let torus = spread(Position::Torus)?;
    assert!(torus < 4.9, "{torus} standard errors");
    let centred = spread(Position::Centred)?;
    assert!(centred > 50.0, "the negative control must differ: {centred} standard errors");
    Ok(())
}

#[test]
fn the_roll_is_independent_of_the_drawing() -> Outcome {
    // The darkest column is uniform among all, wherever the digit's own lies.
    let n = 8000;
    let set = Glyphs { n, size: 16, noise: 0.0, ..Glyphs::default() }.dataset()?;
    let images = set.images(&(0..n).collect::<Vec<_>>(), Device::Cpu)?;
    let columns = images.sum_dim_intlist(&[1i64, 2][..], false, tch::Kind::Float).argmin(1, false);
    let mut counts = [0f64; 16];
    for column in Vec::<i64>::try_from(&columns)? {
        counts[column as usize] += 1.0;
    }
    let expected = n as f64 / 16.0;
    let chi: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    // Chi-squared with 15 degrees of freedom exceeds 44.3 once in 10,000 seeds.
    assert!(chi < 44.3, "chi-squared {chi}");
    Ok(())
}

#[test]
fn light_glyphs_are_inverted_dark_ones() -> Outcome {
    let glyphs = Glyphs { n: 200, seed: 5, ..Glyphs::default() };
    let [dark, light] = [Polarity::Dark, Polarity::Light].map(|polarity| Glyphs { polarity, ..glyphs }.dataset());
    let (dark, light) = (dark?, light?);
    let mean = |set: &Dataset| -> Result<f64> { Ok(set.images(&[0, 1, 2], Device::Cpu)?.mean(None).double_value(&[])) };
    assert!(mean(&dark)? > 0.6 && mean(&light)? < 0.4);
    for (a, b) in pixels(&dark, 7)?.into_iter().zip(pixels(&light, 7)?) {
        assert_eq!(byte(a), 255 - byte(b));
    }
    let random = Glyphs { polarity: Polarity::Random, ..glyphs }.dataset()?;
    let dark = (0..200).filter(|&row| pixels(&random, row).is_ok_and(|p| p.iter().sum::<f32>() > 512.0)).count();
    // 200 fair coins: between 66 and 134 heads but once in a million.
    assert!((66..=134).contains(&dark), "{dark} of 200 are dark");
    Ok(())
}

#[test]
fn margins_of_glyphs_hold_what_a_translation_brings_in() -> Outcome {
    let glyphs = Glyphs { n: 50, size: 28, margin: 6, channels: 3, position: Position::Margin, ..Glyphs::default() };
    let set = glyphs.dataset()?;
    assert_eq!((set.edge(), set.shape(), set.canvas_shape()), (Edge::Margin(6), [3, 28, 28], [3, 40, 40]));
    assert_eq!(set.images(&[0, 1], Device::Cpu)?.size(), [2, 3, 28, 28]);
    Ok(())
}

#[test]
fn noise_has_the_deviation_that_was_asked_for() -> Outcome {
    let set = Noise { n: 20, shape: [1, 64, 64], sigma: 0.1, seed: 2 }.dataset()?;
    let deviation = set.images(&(0..20).collect::<Vec<_>>(), Device::Cpu)?.std(false).double_value(&[]);
    // 81,920 pixels: the standard error is 0.1 / sqrt(2 * 81920) = 0.00025; rounding to bytes adds less than 1e-4.
    assert!((deviation - 0.1).abs() < 0.0015, "{deviation}");
    Ok(())
}

// Parts and changes

#[test]
fn parts_keep_labels_and_identity() -> Outcome {
    let set = Glyphs { n: 100, ..Glyphs::default() }.dataset()?;
    assert_eq!(set.take(5)?.take(3)?.digest(), set.take(3)?.digest());
    assert_ne!(set.take(3)?.digest(), set.skip(3)?.digest());
    let [a, b] = set.split(0.3)?;
    assert_eq!((a.len(), b.len()), (30, 70));
    let shuffled = set.shuffle(1)?;
    assert_eq!(shuffled.digest(), set.shuffle(1)?.digest());
    assert_ne!(shuffled.digest(), set.shuffle(2)?.digest());
    let mut labels = shuffled.labels().to_vec();
    labels.sort_unstable();
    let mut all = set.labels().to_vec();
    all.sort_unstable();
    assert_eq!(labels, all);
    let only = set.only(&[3, 5])?;
    assert!(only.labels().iter().all(|label| [3, 5].contains(label)) && only.classes().len() == 10);
    assert!(message(only.only(&[1])).contains("no images left"));
    assert!(message(set.select(&[100])).contains("no image 100 among 100"));
    let parity = set.relabelled(set.labels().iter().map(|label| label % 2).collect(), None)?;
    assert!(parity.labels().iter().all(|&label| label < 2));
    assert!(message(set.relabelled(vec![-1; 100], None)).contains("label -1"));
    assert!(message(set.relabelled(vec![i64::MAX; 100], None)).contains("too large"));
    Ok(())
}

#[test]
fn an_element_is_an_image_with_its_label() -> Outcome {
    let set = Glyphs { n: 3, ..Glyphs::default() }.dataset()?;
    let Some(Ok(Value::Map(last))) = set.element(-1) else { return Err("no element".into()) };
    assert_eq!(last["label"].summary(), set.labels()[2].to_string());
    assert!(matches!(&last["image"], Value::Tensor(t) if t.size() == [1, 32, 32]));
    assert!(message(set.element(3).unwrap_or(Ok(Value::Unit))).contains("no image 3 among 3"));
    assert!(set.details(80).lines().count() > 2);
    Ok(())
}

#[test]
fn changes_come_in_their_order() -> Outcome {
    let set = Glyphs { n: 2, channels: 3, margin: 4, position: Position::Margin, ..Glyphs::default() }.dataset()?;
    let colour = set.canvases(&[1], Device::Cpu)?;
    let grey = set.grey()?;
    let by_hand = colour.get(0).get(0) * 0.299 + colour.get(0).get(1) * 0.587 + colour.get(0).get(2) * 0.114;
    // One rounding per float32 operation.
    assert!((grey.canvases(&[1], Device::Cpu)? - &by_hand).abs().max().double_value(&[]) < 1e-6);
    let centred = grey.with(Preprocessing::Centre)?.images(&[1], Device::Cpu)?;
    assert!(centred.mean(None).double_value(&[]).abs() < 1e-6, "the mean of what models see is 0");
    let first = set.with(Preprocessing::Centre)?.grey()?;
    assert_ne!(first.digest(), grey.with(Preprocessing::Centre)?.digest());
    let standard = set.with(Preprocessing::Standardise)?.images(&[0], Device::Cpu)?;
    assert!((standard.std(false).double_value(&[]) - 1.0).abs() < 1e-4);
    Ok(())
}

// Streams

/// Counts its readings; image i is filled with i / 1000.
struct Counting {
    n: usize,
    reads: Arc<AtomicUsize>,
    alive: Arc<()>,
    fails_at: Option<usize>,
}

impl Source for Counting {
    fn len(&self) -> usize {
        self.n
    }

    fn shape(&self) -> [usize; 3] {
        [1, 2, 2]
    }

    fn read(&self, index: usize, pixels: &mut [f32]) -> Result<()> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        match self.fails_at {
            Some(at) if index == at && index.is_multiple_of(2) => panic!("a decoder broke down"),
            Some(at) if index == at => return Err(Error::data("unreadable")),
            _ => {}
        }
        pixels.fill(index as f32 / 1000.0);
        Ok(())
    }
}

fn counting(n: usize, fails_at: Option<usize>) -> Result<(Dataset, Arc<AtomicUsize>, Arc<()>)> {
    let (reads, alive) = (Arc::new(AtomicUsize::new(0)), Arc::new(()));
    let source = Counting { n, reads: reads.clone(), alive: alive.clone(), fails_at };
    assert_eq!(Arc::strong_count(&source.alive), 2);
    let digest = Digest::of(b"counting");
    let set = Dataset::new("counting", Arc::new(source), vec![0; n], vec!["one".into()], Edge::None, digest)?;
    Ok((set, reads, alive))
}

#[test]
fn streams_keep_the_order_they_are_given() -> Outcome {
    let (set, reads, _) = counting(997, None)?;
    let cx = Cx::default();
    for batch in [1, 7, 31, 32, 33, 100, 2000] {
        let order: Vec<usize> = (0..997).map(|i| i * 13 % 997).collect();
        let mut seen = Vec::new();
        for part in set.stream_of(&cx, order.clone(), batch) {
            let part = part?;
            assert!(part.rows.len() == batch || seen.len() + part.rows.len() == 997);
            let values = floats(&part.canvases.select(3, 0).select(2, 0))?;
            assert_eq!(values, part.rows.iter().map(|&row| row as f32 / 1000.0).collect::<Vec<_>>());
            seen.extend(part.rows);
        }
        assert_eq!(seen, order);
    }
    assert_eq!(reads.load(Ordering::SeqCst), 7 * 997, "nothing is read twice");
    assert_eq!(set.stream_of(&cx, vec![], 4).count(), 0);
    Ok(())
}

#[test]
fn streams_read_ahead_a_fixed_number_of_images_and_end_when_dropped() -> Outcome {
    let (set, reads, alive) = counting(100_000, None)?;
    let cx = Cx::default();
    let batch = 64;
    let threads = std::thread::available_parallelism()?.get();
    let mut stream = set.stream(&cx, batch);
    for number in 1..=20 {
        stream.next().ok_or("too short")??;
        // However long the consumer takes: a batch and two pieces of 32 per thread, as stream.rs says.
        let bound = number * batch + batch + 2 * threads * 32;
        std::thread::yield_now();
        let read = reads.load(Ordering::SeqCst);
        assert!(read <= bound, "{read} images read after {number} batches, at most {bound} allowed");
    }
    drop(stream);
    let after = reads.load(Ordering::SeqCst);
    drop(set);
    // The threads held clones of the data set; now that all are gone, so is the source.
    assert_eq!(Arc::strong_count(&alive), 1);
    assert_eq!(reads.load(Ordering::SeqCst), after);
    Ok(())
}

/// However large a batch is, whoever waits for it does not wait for all of its images.
#[test]
fn a_stream_whose_call_is_interrupted_ends_within_a_batch() -> Outcome {
    let (set, reads, _) = counting(100_000, None)?;
    let cx = Cx::default();
    let mut stream = set.stream(&cx, 100_000);
    cx.stop_flag().store(true, Ordering::Relaxed);
    let first = stream.next().ok_or("too short")?;
    assert!(first.is_err_and(|error| error.is_interrupted()));
    assert!(reads.load(Ordering::SeqCst) < 100_000);
    Ok(())
}

#[test]
fn a_failing_image_ends_the_stream_with_an_error() -> Outcome {
    for (at, wanted) in [(301, "counting: image 301: unreadable"), (300, "counting: image 300: the decoder broke down")]
    {
        let (set, _, _) = counting(1000, Some(at))?;
        let cx = Cx::default();
        let parts: Vec<_> = set.stream(&cx, 50).collect();
        assert_eq!(parts.len(), 7);
        assert!(parts[..6].iter().all(Result::is_ok));
        assert!(parts.into_iter().next_back().is_some_and(|last| message(last).starts_with(wanted)));
        assert!(message(set.images(&[at], Device::Cpu)).starts_with(wanted));
    }
    Ok(())
}

// Files

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn mnist_is_what_an_independent_reader_sees() -> Outcome {
    // b = gzip.open("t10k-images-idx3-ubyte.gz").read()[16:]; sum(b), [sum(b[i*784:(i+1)*784]) for i in (0, 1, 2,
    // 9999)]
    let (total, sums) = (264_923_200u64, [(0, 18454u64), (1, 28850), (2, 9871), (9999, 41833)]);
    let cx = Cx::default();
    let set = load(&cx, "mnist", &Load::default())?;
    assert_eq!((set.len(), set.shape(), set.edge()), (10_000, [1, 28, 28], Edge::None));
    assert_eq!(set.labels()[..5], [7, 2, 1, 0, 4]);
    assert_eq!(set.counts(), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    for (row, sum) in sums {
        assert_eq!(pixels(&set, row)?.into_iter().map(|x| byte(x) as u64).sum::<u64>(), sum);
    }
    let mut all = 0;
    for batch in set.stream(&cx, 1000) {
        all += floats(&batch?.canvases)?.into_iter().map(|x| byte(x) as u64).sum::<u64>();
    }
    assert_eq!(all, total);
    let by_path = load(&cx, "data/mnist/t10k-images-idx3-ubyte.gz", &Load::default())?;
    assert_eq!(by_path.digest(), set.digest(), "the name does not count, the content does");
    let cropped = Load { view: View { crop: Some(20), ..View::default() }, limit: Some(10), ..Load::default() };
    let cropped = load(&cx, "mnist", &cropped)?;
    assert_eq!((cropped.len(), cropped.shape(), cropped.edge()), (10, [1, 20, 20], Edge::Margin(4)));
    assert_eq!(floats(&cropped.canvases(&[3], Device::Cpu)?)?, pixels(&set, 3)?);
    let shuffled = Load { shuffle: Some(1), limit: Some(10), ..Load::default() };
    assert_eq!(load(&cx, "mnist", &shuffled)?.digest(), set.shuffle(1)?.take(10)?.digest());
    assert!(
        message(load(&cx, "mnist", &Load { split: Some("dev".into()), ..Load::default() })).contains("not \"dev\"")
    );
    Ok(())
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn cifar_records_are_read() -> Outcome {
    let set = load(&Cx::default(), "data/cifar10/cifar10_lossless_subset.bin", &Load::default())?;
    // c = open("cifar10_lossless_subset.bin", "rb").read(); [c[k] for k in (1, 1025, 2049)] -> 155, 156, 149
    assert_eq!((set.len(), set.shape()), (300, [3, 32, 32]));
    assert_eq!(set.counts(), [39, 26, 28, 27, 25, 32, 43, 26, 29, 25]);
    let image = pixels(&set, 0)?;
    assert_eq!([0, 1024, 2048].map(|i| byte(image[i])), [155, 156, 149]);
    Ok(())
}

#[test]
fn resizing_is_pillows() -> Outcome {
    // y, x, c = numpy.mgrid[0:37, 0:53, 0:3]; a = ((x*7 + y*13 + c*50 + x*y) % 256).astype("uint8")
    // b = numpy.asarray(Image.fromarray(a).resize((int(s*53/37), s), Image.BILINEAR)); b.sum(), b[0,0], b[7,11],
    // b[-1,-1] Pillow 13.0.0
    let folder = tempfile::tempdir()?;
    let class = folder.path().join("only");
    std::fs::create_dir(&class)?;
    let image = image::RgbImage::from_fn(53, 37, |x, y| {
        image::Rgb([0, 1, 2].map(|c| ((x * 7 + y * 13 + c * 50 + x * y) % 256) as u8))
    });
    image.save(class.join("a.png"))?;
    let rows = [
        (20, 28, 214_405, [[13, 63, 113], [94, 144, 188], [101, 129, 177]]),
        (60, 85, 1_952_636, [[0, 50, 100], [128, 178, 228], [144, 194, 244]]),
    ];
    for (side, width, sum, corners) in rows {
        let how = Load { view: View { resize: Some(side), ..View::default() }, ..Load::default() };
        let set = load(&Cx::default(), &folder.path().display().to_string(), &how)?;
        assert_eq!(set.shape(), [3, side, width]);
        let found = pixels(&set, 0)?;
        let at = |y: usize, x: usize| [0, 1, 2].map(|c| byte(found[c * side * width + y * width + x]));
        assert_eq!([at(0, 0), at(7, 11), at(side - 1, width - 1)], corners);
        assert_eq!(found.iter().map(|x| byte(*x) as i64).sum::<i64>(), sum);
    }
    Ok(())
}

/// A margin takes nothing of oblong images but itself; beside a crop it lies around the square.
#[test]
fn a_margin_of_oblong_images_lies_around_all_of_them() -> Outcome {
    let folder = tempfile::tempdir()?;
    let class = folder.path().join("only");
    std::fs::create_dir(&class)?;
    let image = image::RgbImage::from_fn(30, 20, |x, y| image::Rgb([(8 * x) as u8, (12 * y) as u8, 0]));
    image.save(class.join("a.png"))?;
    let seen = |crop, margin, resize| -> Result<([usize; 3], [usize; 3], Vec<f32>)> {
        let view = View { crop, margin: Some(margin), resize, ..View::default() };
        let set = load(&Cx::default(), &folder.path().display().to_string(), &Load { view, ..Load::default() })?;
        Ok((set.shape(), set.canvas_shape(), floats(&set.images(&[0], Device::Cpu)?)?))
    };
    let (shape, canvas, pixels) = seen(None, 3, None)?;
    assert_eq!((shape, canvas), ([3, 14, 24], [3, 20, 30]));
    assert_eq!([pixels[0], pixels[14 * 24]].map(byte), [8 * 3, 12 * 3]);
    assert_eq!(seen(None, 4, Some(40))?.0, [3, 32, 52]);
    assert_eq!(seen(Some(10), 3, None)?.0, [3, 10, 10]);
    Ok(())
}

/// As Pillow 13.0.0 has it: `Image.open(..).convert("RGB")` of the values below is 0, 0, 1, 127, 254 and 255, with alpha or without.
#[test]
fn of_16_bits_of_a_colour_the_high_8_count() -> Outcome {
    let values: [u16; 6] = [0, 255, 511, 0x7fff, 0xfeff, 0xffff];
    let folder = tempfile::tempdir()?;
    let class = folder.path().join("only");
    std::fs::create_dir(&class)?;
    let at = |x: u32| values[x as usize];
    let plain = image::ImageBuffer::from_fn(6, 6, |x, _| image::Rgb([at(x), at(5 - x), 0]));
    image::DynamicImage::ImageRgb16(plain).save(class.join("plain.png"))?;
    let clear = image::ImageBuffer::from_fn(6, 6, |x, _| image::Rgba([at(x), at(5 - x), 0, 0x8000]));
    image::DynamicImage::ImageRgba16(clear).save(class.join("with_alpha.png"))?;
    let set = load(&Cx::default(), &folder.path().display().to_string(), &Load::default())?;
    for row in 0..2 {
        let found = pixels(&set, row)?;
        assert_eq!([0, 1, 2, 3, 4, 5].map(|x| byte(found[x])), [0, 0, 1, 127, 254, 255]);
        assert_eq!([0, 5].map(|x| byte(found[36 + x])), [255, 0]);
    }
    Ok(())
}

#[test]
#[ignore = "needs VIVA_DATA: make test runs it where that is set"]
fn image_folders_are_cropped_with_a_margin() -> Outcome {
    let cx = Cx::default();
    let view = View { resize: Some(256), crop: Some(224), ..View::default() };
    let set = load(&cx, "data/imagenet_sample", &Load { view, ..Load::default() })?;
    assert_eq!((set.len(), set.canvas_shape(), set.shape()), (200, [3, 256, 256], [3, 224, 224]));
    assert_eq!((set.edge(), set.classes().len()), (Edge::Margin(16), 1000));
    assert_eq!((set.labels()[1], set.classes()[5].as_str()), (5, "electric ray"));
    // im = Image.open(f).convert("RGB").resize((nw, nh), Image.BILINEAR) with short side 256, then
    // t, l = round((nh-224)/2.0) - 16, round((nw-224)/2.0) - 16; a = numpy.asarray(im)[t:t+256, l:l+256]
    // a.mean(), a[16,16], a[128,128], a[200,60]
    let rows = [
        (0, 109.1036, [[75, 91, 86], [224, 183, 72], [73, 87, 80]]),
        (1, 112.2615, [[201, 235, 241], [64, 36, 21], [19, 21, 27]]),
        (57, 91.3677, [[68, 59, 50], [98, 95, 90], [76, 67, 62]]),
        (123, 102.3839, [[218, 217, 213], [4, 4, 3], [63, 70, 65]]),
        (199, 87.7573, [[123, 91, 82], [171, 136, 105], [152, 113, 91]]),
    ];
    for (row, mean, points) in rows {
        let image = pixels(&set, row)?;
        let found = image.iter().map(|x| *x as f64 * 255.0).sum::<f64>() / image.len() as f64;
        // Half of the last digit that is given.
        assert!((found - mean).abs() < 5e-5, "image {row}: mean {found}, Pillow has {mean}");
        for (place, wanted) in [(16, 16), (128, 128), (200, 60)].into_iter().zip(points) {
            let found = [0, 1, 2].map(|c| byte(image[c * 65536 + place.0 * 256 + place.1]));
            assert_eq!(found, wanted, "image {row} at {place:?}");
        }
    }
    // Every third file, decoded on worker threads.
    let order: Vec<usize> = (0..200).step_by(3).collect();
    assert_eq!(set.stream_of(&cx, order, 16).collect::<Result<Vec<_>>>()?.len(), 5);
    let images = load(&cx, "data/imagenet_sample/images", &Load { view, limit: Some(3), ..Load::default() })?;
    assert_eq!(images.labels(), [0, 5, 10]);
    let own = View { crop: Some(64), margin: Some(8), ..View::default() };
    let own = load(&cx, "data/imagenet_sample", &Load { view: own, limit: Some(3), ..Load::default() })?;
    assert_eq!((own.shape(), own.edge()), ([3, 64, 64], Edge::Margin(8)));
    assert!(message(load(&cx, "data/imagenet_sample", &Load::default())).contains("give `resize` and `crop`"));
    Ok(())
}

#[test]
fn folders_name_their_classes_in_three_ways() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let save = |name: &str, level: u8| -> Outcome {
        std::fs::create_dir_all(path(name).parent().ok_or("no parent")?)?;
        image::GrayImage::from_pixel(4, 4, image::Luma([level])).save(path(name))?;
        Ok(())
    };
    for (name, level) in
        [("by/dog/1.png", 110), ("by/cat/1.png", 120), ("by/cat/2.png", 130), ("flat/a.png", 40), ("flat/b.png", 50)]
    {
        save(name, level)?;
    }
    let cx = Cx::default();
    let get = |name: &str| load(&cx, &path(name).display().to_string(), &Load::default());
    let by = get("by")?;
    assert_eq!((by.classes(), by.labels()), (&["cat".to_string(), "dog".to_string()][..], &[0, 0, 1][..]));
    assert_eq!((by.shape(), byte(pixels(&by, 2)?[47])), ([3, 4, 4], 110));
    assert!(message(get("flat")).contains("images without labels"));
    std::fs::write(path("flat/labels.json"), r#"{"a.png": "yes", "b.png": "no"}"#)?;
    let json = get("flat")?;
    assert_eq!((json.classes()[0].as_str(), json.labels()), ("no", &[1, 0][..]));
    std::fs::remove_file(path("flat/labels.json"))?;
    std::fs::write(path("flat/classes.csv"), "index,name,file\n0,\"crane, bird\",b.png\n1,ox,\n2,elk,a.png\n")?;
    let csv = get("flat")?;
    assert_eq!((csv.classes()[0].as_str(), csv.labels(), csv.len()), ("crane, bird", &[0, 2][..], 2));
    let before = csv.digest();
    save("flat/a.png", 41)?;
    assert_ne!(get("flat")?.digest(), before, "the pixels count");
    Ok(())
}

/// The pixels that `tests/golden/svhn.py` writes: h * 7 + w * 31 + c * 80 + n * 50.
fn drawn(n: usize) -> Vec<u8> {
    let mut pixels = Vec::new();
    for (c, h, w) in (0..3).flat_map(|c| (0..8).flat_map(move |h| (0..6).map(move |w| (c, h, w)))) {
        pixels.push(((h * 7 + w * 31 + c * 80 + n * 50) % 256) as u8);
    }
    pixels
}

#[test]
fn svhn_files_are_read_packed_or_not() -> Outcome {
    let cx = Cx::default();
    let file = |name: &str| format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let packed = load(&cx, &file("svhn.mat"), &Load::default())?;
    assert_eq!((packed.shape(), packed.labels(), packed.classes().len()), ([3, 8, 6], &[1, 0, 9, 3][..], 10));
    for n in 0..4 {
        assert_eq!(pixels(&packed, n)?.into_iter().map(byte).collect::<Vec<_>>(), drawn(n), "image {n}");
    }
    let plain = load(&cx, &file("svhn_plain.mat"), &Load::default())?;
    assert_eq!(plain.digest(), packed.digest(), "the packing does not count, the content does");
    let grey = load(&cx, &file("svhn.mat"), &Load { grey: true, limit: Some(2), ..Load::default() })?;
    assert_eq!((grey.shape(), grey.len()), ([1, 8, 6], 2));
    Ok(())
}

/// `n` records, whose labels and pixels count up.
fn records(n: usize, first: u8, labels: usize) -> Vec<u8> {
    (0..n).flat_map(|i| [vec![3; labels - 1], vec![first + i as u8], vec![7 * i as u8; 3072]].concat()).collect()
}

/// The same as Python 2 pickled it for CIFAR's Python versions, whose array is the state of a `numpy.ndarray`.
fn pickled(records: &[u8], labels: &[&str]) -> Vec<u8> {
    let text = |text: &str| [&[b'U', text.len() as u8], text.as_bytes()].concat();
    let records: Vec<&[u8]> = records.chunks(labels.len() + 3072).collect();
    let mut all = b"\x80\x02}q\x01(".to_vec();
    for (at, name) in labels.iter().enumerate() {
        all.extend(
            [text(name), b"](".to_vec(), records.iter().flat_map(|record| [b'K', record[at]]).collect(), vec![b'e']]
                .concat(),
        );
    }
    let pixels: Vec<u8> = records.iter().flat_map(|record| &record[labels.len()..]).copied().collect();
    all.extend(
        [text("data"), b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K".to_vec()]
            .concat(),
    );
    all.extend(
        [&[records.len() as u8][..], b"M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNN"].concat(),
    );
    all.extend(
        [b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T", &(pixels.len() as u32).to_le_bytes()[..], &pixels, b"tbu."]
            .concat(),
    );
    all
}

/// The same as Python 3 pickles it, labels as an array too: protocol 5, or with its bytes as Python 2 is to read them.
fn rewritten(records: &[u8], encoded: bool) -> Vec<u8> {
    let word = |text: &str| [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let bytes = |bytes: &[u8]| match encoded {
        true => {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            [b"c_codecs\nencode\n".to_vec(), word(&text), word("latin1"), b"\x86R".to_vec()].concat()
        }
        false => [&b"\x96"[..], &(bytes.len() as u64).to_le_bytes(), bytes].concat(),
    };
    let array = |kind: &str, shape: &[u8], held: &[u8]| {
        let kind = [b"cnumpy\ndtype\n".to_vec(), word(kind), b"\x89\x88\x87R".to_vec()].concat();
        [b"cnumpy._core.numeric\n_frombuffer\n(".to_vec(), bytes(held), kind, shape.to_vec(), word("C"), b"tR".to_vec()]
            .concat()
    };
    let records: Vec<&[u8]> = records.chunks(3073).collect();
    let labels: Vec<u8> = records.iter().flat_map(|record| i64::from(record[0]).to_le_bytes()).collect();
    let pixels: Vec<u8> = records.iter().flat_map(|record| &record[1..]).copied().collect();
    let n = records.len() as u8;
    let head: &[u8] = if encoded { b"\x80\x02}(" } else { b"\x80\x05}(" };
    let (of_pixels, of_labels) =
        (array("u1", &[b'K', n, b'M', 0, 12, 0x86], &pixels), array("i8", &[b'K', n, 0x85], &labels));
    [head, &bytes(b"data"), &of_pixels, &bytes(b"labels"), &of_labels, b"u."].concat()
}

/// What torchvision downloads is the data set that the binary versions are.
#[test]
fn pickles_of_cifar_are_what_the_binary_versions_are() -> Outcome {
    let root = tempfile::tempdir()?;
    let cx = Cx::default();
    let path = |file: &str| root.path().join(file).display().to_string();
    let get = |file: &str| load(&cx, &path(file), &Load::default());
    for folder in ["cifar-10-batches-py", "cifar-100-python"] {
        std::fs::create_dir_all(root.path().join(folder))?;
    }
    // Bytes of one image are text by chance, those of the other can't be.
    let ten = [records(1, 8, 1), vec![9], vec![255; 3072]].concat();
    std::fs::write(path("ten.bin"), &ten)?;
    std::fs::write(path("cifar-10-batches-py/test_batch"), pickled(&ten, &["labels"]))?;
    for file in ["cifar-10-batches-py", "cifar-10-batches-py/test_batch", "."] {
        assert_eq!(get(file)?.digest(), get("ten.bin")?.digest(), "{file}");
    }
    for encoded in [false, true] {
        std::fs::write(path("rewritten"), rewritten(&ten, encoded))?;
        assert_eq!(get("rewritten")?.digest(), get("ten.bin")?.digest(), "bytes that are encoded: {encoded}");
    }
    let missing = load(&cx, &path("cifar-10-batches-py"), &Load { split: Some("train".into()), ..Load::default() });
    assert!(message(missing).contains("data_batch_1: no such file"));
    let names = [b"\x80\x02}(U\x0blabel_names](".to_vec(), b"U\x01a".repeat(10), b"eu.".to_vec()].concat();
    std::fs::write(path("cifar-10-batches-py/batches.meta"), names)?;
    assert_eq!(get("cifar-10-batches-py")?.classes(), ["a"; 10]);
    let hundred = records(3, 97, 2);
    std::fs::write(path("hundred.bin"), &hundred)?;
    let pickle = pickled(&hundred, &["coarse_labels", "fine_labels"]);
    std::fs::write(path("cifar-100-python/test"), &pickle)?;
    let numbers = (0..100u8)
        .flat_map(|n| {
            let name = n.to_string();
            [&[b'U', name.len() as u8], name.as_bytes()].concat()
        })
        .collect();
    let meta = |names: Vec<u8>| [b"\x80\x02}(U\x10fine_label_names](".to_vec(), names, b"eu.".to_vec()].concat();
    std::fs::write(path("cifar-100-python/meta"), meta(b"U\x01a".repeat(3)))?;
    assert!(message(get("cifar-100-python")).contains("of 3 classes, not 100"));
    std::fs::write(path("cifar-100-python/meta"), meta(numbers))?;
    assert_eq!(get("cifar-100-python")?.digest(), get("hundred.bin")?.digest());
    for (what, bytes, wanted) in [
        ("labels", pickled(&ten, &["targets"]), "neither \"labels\""),
        ("dict", b"\x80\x02}U\x01aK\x01s.".to_vec(), "no array under \"data\""),
        ("class", pickled(&[vec![10], vec![0; 3072]].concat(), &["labels"]), "label 10"),
        (
            "kind",
            pickle.windows(2).enumerate().fold(pickle.clone(), |mut all, (at, two)| {
                if two == b"u1" {
                    all[at] = b'i';
                }
                all
            }),
            "of the type \"i1\"",
        ),
        ("cut", pickle[..5000].to_vec(), "breaks off"),
        ("columns", pickle.iter().map(|&byte| if byte == 0x89 { 0x88 } else { byte }).collect(), "columns come first"),
    ] {
        std::fs::write(path(what), bytes)?;
        let said = message(get(what));
        assert!(said.contains(wanted), "{what}: {said}");
    }
    Ok(())
}

/// An array of bytes as numpy.save writes it.
fn npy(shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let head = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({sizes}), }}\n");
    [b"\x93NUMPY\x01\x00", &(head.len() as u16).to_le_bytes()[..], head.as_bytes(), bytes].concat()
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), zip::write::FileOptions::default()).expect("an entry");
        std::io::Write::write_all(&mut archive, bytes).expect("written");
    }
    archive.finish().expect("an archive").into_inner()
}

/// MedMNIST, Keras, CIFAR-10-C, CIFAR-10.1 and KMNIST as their makers publish them.
#[test]
fn arrays_of_published_data_sets_are_read() -> Outcome {
    let root = tempfile::tempdir()?;
    let path = |file: &str| root.path().join(file).display().to_string();
    let get = |file: &str, how: Load| load(&Cx::default(), &path(file), &how);
    let split = |split: &str| Load { split: Some(split.into()), ..Load::default() };
    let of = |how: Result<Dataset>| -> Result<(Vec<i64>, [usize; 3], f32)> {
        let set = how?;
        let images = set.images(&[1], tch::Device::Cpu)?;
        // Row 4 of column 6 in the last channel.
        Ok((set.labels().to_vec(), set.shape(), images.double_value(&[0, set.shape()[0] as i64 - 1, 4, 6]) as f32))
    };
    // 2 x 8 x 7 x 3, of which each number is its place.
    let last: Vec<u8> = (0..2 * 8 * 7 * 3).map(|at| (at % 251) as u8).collect();
    let at =
        |row: usize, column: usize, channel: usize| f32::from(last[((8 + row) * 7 + column) * 3 + channel]) / 255.0;
    let coloured = ([3, 8, 7], at(4, 6, 2));
    let images = npy(&[2, 8, 7, 3], &last);
    std::fs::write(
        path("med.npz"),
        npz(&[
            ("train_images", images.clone()),
            ("train_labels", npy(&[2, 1], &[1, 3])),
            ("test_images", images.clone()),
            ("test_labels", npy(&[2, 1], &[0, 2])),
            // No labels of images.
            ("fine_labels", npy(&[2, 1], &[70, 80])),
        ]),
    )?;
    assert_eq!(of(get("med.npz", Load::default()))?, (vec![0, 2], coloured.0, coloured.1));
    assert_eq!(of(get("med.npz", split("train")))?.0, [1, 3]);
    // The test images have none of class 3.
    assert_eq!(get("med.npz", Load::default())?.classes().len(), 4);
    assert!(message(get("med.npz", split("val"))).contains("there is no \"val\" part | it holds train_images"));
    std::fs::write(
        path("keras.npz"),
        npz(&[("x_test", npy(&[2, 8, 7], &last[..112])), ("y_test", npy(&[2], &[3, 4]))]),
    )?;
    assert_eq!(
        of(get("keras.npz", Load::default()))?,
        (vec![3, 4], [1, 8, 7], f32::from(last[56 + 4 * 7 + 6]) / 255.0)
    );
    let columns = ColumnNames { image: Some("x_test".into()), label: Some("y_test".into()) };
    assert_eq!(of(get("keras.npz", Load { columns, ..Load::default() }))?.0, [3, 4]);
    std::fs::write(path("x.h5"), b"\x89HDF\r\n\x1a\n")?;
    assert!(message(get("x.h5", Load::default())).contains("an HDF5 file, which is not read | in Python: numpy.savez"));
    std::fs::write(path("six_data.npy"), &images)?;
    std::fs::write(path("fog.npy"), &images)?;
    assert!(message(get("fog.npy", Load::default())).contains("no labels.npy beside it | say where the labels are"));
    std::fs::write(path("six_labels.npy"), npy(&[2], &[5, 6]))?;
    std::fs::write(path("labels.npy"), npy(&[2], &[7, 8]))?;
    assert_eq!(of(get("six_data.npy", Load::default()))?, (vec![5, 6], coloured.0, coloured.1));
    assert_eq!(of(get("fog.npy", Load::default()))?.0, [7, 8]);
    let labels = Load { labels: Some(path("six_labels.npy").into()), ..Load::default() };
    assert_eq!(of(get("fog.npy", labels))?.0, [5, 6]);
    std::fs::write(path("k-imgs.npz"), npz(&[("arr_0", images.clone())]))?;
    std::fs::write(path("k-labels.npz"), npz(&[("arr_0", npy(&[2], &[1, 0]))]))?;
    assert_eq!(of(get("k-imgs.npz", Load::default()))?.0, [1, 0]);
    std::fs::write(path("labels.npy"), npy(&[2, 9], &[0; 18]))?;
    assert!(message(get("fog.npy", Load::default())).contains("labels.argmax(1)"));
    Ok(())
}

/// STL-10 counts its labels from 1 and stores columns.
#[test]
fn stl_10_is_read() -> Outcome {
    let root = tempfile::tempdir()?;
    let path = |file: &str| root.path().join("stl10_binary").join(file);
    std::fs::create_dir_all(path("x").parent().ok_or("no folder")?)?;
    let mut bytes = vec![0; 2 * 3 * 96 * 96];
    // Of the second image: green, column 5, row 90.
    bytes[(3 + 1) * 96 * 96 + 5 * 96 + 90] = 255;
    std::fs::write(path("test_X.bin"), &bytes)?;
    let get = || load(&Cx::default(), &root.path().display().to_string(), &Load::default());
    assert!(message(get()).contains("no file of labels beside it"));
    std::fs::write(path("test_y.bin"), [1, 10])?;
    let set = get()?;
    assert_eq!((set.labels(), set.shape(), set.classes()[9].as_str()), (&[0, 9][..], [3, 96, 96], "truck"));
    assert_eq!(set.images(&[1], tch::Device::Cpu)?.double_value(&[0, 1, 90, 5]), 1.0);
    for (labels, wanted) in
        [(&[1u8, 11][..], "image 1 has label 11"), (&[0, 1], "image 0 has label 0"), (&[1], "for 1 labels")]
    {
        std::fs::write(path("test_y.bin"), labels)?;
        assert!(message(get()).contains(wanted), "{wanted}");
    }
    Ok(())
}

#[test]
fn published_data_sets_are_found_by_name_and_by_folder() -> Outcome {
    let root = tempfile::tempdir()?;
    let data = root.path().join("data");
    let mut cx = Cx::default();
    cx.set_data_folder(Some(root.path().to_path_buf()));
    let part = |name: &str, split: &str| load(&cx, name, &Load { split: Some(split.into()), ..Load::default() });
    let get = |name: &str| load(&cx, name, &Load::default());
    let batches = data.join("cifar10/cifar-10-batches-bin");
    std::fs::create_dir_all(&batches)?;
    std::fs::write(batches.join("test_batch.bin"), records(2, 8, 1))?;
    assert_eq!((get("cifar10")?.labels(), get("cifar10")?.classes()[9].as_str()), (&[8, 9][..], "truck"));
    for batch in 1..=5u8 {
        assert!(message(part("cifar10", "train")).contains("viva data fetch cifar10"));
        std::fs::write(batches.join(format!("data_batch_{batch}.bin")), records(1, batch, 1))?;
    }
    assert_eq!(part("cifar10", "train")?.labels(), [1, 2, 3, 4, 5]);
    assert!(message(part("cifar10", "tests")).contains("did you mean `test`?"));
    // By path: the folder that the archive makes, or the one around it.
    for path in [&batches, &data.join("cifar10")] {
        let path = path.display().to_string();
        assert_eq!(part(&path, "train")?.digest(), part("cifar10", "train")?.digest());
        assert_eq!(get(&path)?.len(), 2);
    }
    let hundred = data.join("cifar100/cifar-100-binary");
    std::fs::create_dir_all(&hundred)?;
    std::fs::write(hundred.join("test.bin"), records(3, 97, 2))?;
    assert_eq!((get("cifar100")?.labels(), get("cifar100")?.classes()[97].as_str()), (&[97, 98, 99][..], "97"));
    let names: Vec<String> = (0..100).map(|i| format!("fine{i}")).collect();
    std::fs::write(hundred.join("fine_label_names.txt"), names.join("\n"))?;
    assert_eq!(get("cifar100")?.classes()[97], "fine97");
    let svhn = data.join("svhn");
    std::fs::create_dir_all(&svhn)?;
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/svhn.mat"), svhn.join("train_32x32.mat"))?;
    assert_eq!(part("svhn", "train")?.labels(), [1, 0, 9, 3]);
    assert!(message(get("svhn")).contains("test_32x32.mat: no such file | `viva data fetch svhn`"));
    assert!(message(part("svhn", "valid")).contains("known: train, test, extra"));
    Ok(())
}

// Shards

fn png(shade: u8) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(vec![]);
    let picture = image::RgbImage::from_pixel(6, 4, image::Rgb([shade, 10, 200]));
    picture.write_to(&mut bytes, image::ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

fn shard(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(vec![]);
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).expect("an entry");
    }
    tar.into_inner().expect("a shard")
}

#[test]
fn a_shards_labels_are_its_files_of_them_whatever_records_say() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("s.tar").display().to_string();
    let picture = png(60);
    let numbered = |files: &[(&str, &[u8])]| -> std::result::Result<(Vec<i64>, String), Box<dyn std::error::Error>> {
        let all: Vec<(&str, &[u8])> = [("0.png", &picture[..])].into_iter().chain(files.iter().copied()).collect();
        std::fs::write(&path, shard(&all))?;
        let set = load(&Cx::default(), &path, &Load::default())?;
        Ok((set.labels().to_vec(), set.numbering().unwrap_or_default().to_string()))
    };
    let (two, cat): (&[u8], &[u8]) = (b"{\"label\": 2}", b"{\"label\": \"cat\"}");
    assert_eq!(numbered(&[("0.json", two)])?, (vec![2], "by their labels".into()));
    for files in [[("0.cls", &b"1"[..]), ("0.json", two)], [("0.json", two), ("0.cls", &b"1"[..])]] {
        assert_eq!(numbered(&files)?, (vec![1], "by their .cls files; 1 .json records have another `label`".into()));
    }
    for files in [[("0.cls", &b"1"[..]), ("0.json", cat)], [("0.json", cat), ("0.cls", &b"1"[..])]] {
        assert_eq!(numbered(&files)?, (vec![1], "by their labels".into()));
    }
    let refused = numbered(&[("0.json", cat)]).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("not the number of a class"), "{refused}");
    Ok(())
}

#[test]
fn shards_are_read_in_order_and_hash_alike_however_they_are_divided() -> Outcome {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name).display().to_string();
    let pictures: Vec<Vec<u8>> = [0, 60, 120, 180].map(png).to_vec();
    let one = shard(&[
        ("a/000.png", &pictures[0]),
        ("a/000.cls", b"2"),
        ("a/000.txt", b"a caption"),
        ("a/001.json", b"{\"label\": 0}"),
        ("a/001.PNG", &pictures[1]),
        ("note.json", b"{\"of\": \"this shard\"}"),
    ]);
    let two = shard(&[("002.png", &pictures[2]), ("002.cls", b"1\n"), ("003.cls", b"2"), ("003.png", &pictures[3])]);
    std::fs::create_dir(folder.path().join("shards"))?;
    std::fs::write(folder.path().join("shards/s-09.tar"), one)?;
    std::fs::write(folder.path().join("shards/s-10.tar"), two)?;
    let all: Vec<(String, &[u8])> = pictures
        .iter()
        .zip(["2", "0", "1", "2"])
        .enumerate()
        .flat_map(|(i, (picture, label))| {
            [(format!("x{i}.png"), &picture[..]), (format!("x{i}.cls"), label.as_bytes())]
        })
        .collect();
    let all: Vec<(&str, &[u8])> = all.iter().map(|(name, bytes)| (&**name, *bytes)).collect();
    std::fs::write(at("all.tar"), shard(&all))?;
    let cx = Cx::default();
    let sets: Vec<Dataset> = [at("shards"), at("shards/s-{09..10}.tar"), at("all.tar")]
        .iter()
        .map(|path| load(&cx, path, &Load::default()))
        .collect::<Result<_>>()?;
    for set in &sets {
        assert_eq!((set.labels(), set.classes()), (&[2i64, 0, 1, 2][..], &["0", "1", "2"].map(String::from)[..]));
        assert_eq!((set.digest(), set.shape()), (sets[0].digest(), [3, 4, 6]));
        for (row, shade) in [0, 60, 120, 180].into_iter().enumerate() {
            assert_eq!(byte(pixels(set, row)?[0]), shade);
        }
    }
    assert!(sets[0].summary().contains("a sample without a picture is left out"), "{}", sets[0].summary());
    let some = load(&cx, &at("shards"), &Load { limit: Some(2), shuffle: Some(3), ..Load::default() })?;
    assert!(some.len() == 2 && some.digest() != sets[0].digest());
    let labels = [(0, 2), (60, 0), (120, 1), (180, 2)];
    for row in 0..2 {
        assert!(labels.contains(&(byte(pixels(&some, row)?[0]), some.labels()[row])), "labels go with their pictures");
    }
    Ok(())
}

#[test]
fn a_shard_that_is_not_whole_or_not_clear_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("s.tar").display().to_string();
    let picture = png(7);
    let whole = shard(&[("0.png", &picture), ("0.cls", b"0"), ("1.png", &picture), ("1.cls", b"1")]);
    let cx = Cx::default();
    let said = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a shard");
        message(load(&cx, &path, &Load::default()))
    };
    assert_eq!(said(&whole), "no error");
    // Wherever it is cut, between two files too.
    for cut in (0..whole.len() - 512).step_by(256) {
        let said = said(&whole[..cut]);
        assert!(said.contains("s.tar") && said != "no error", "cut to {cut}: {said}");
    }
    let mut changed = whole.clone();
    changed[512 + 40] ^= 1;
    for (bytes, words) in [
        (changed, "damaged"),
        (shard(&[("0.png", &picture)]), "without a label"),
        (shard(&[("0.png", &picture), ("0.cls", b"cat")]), "not the number of a class"),
        (shard(&[("0.png", &picture), ("0.cls", b"-1")]), "not the number of a class"),
        (shard(&[("0.png", &picture), ("0.jpg", &picture), ("0.cls", b"1")]), "two pictures"),
        (shard(&[("0.png", &picture), ("0.cls", b"1"), ("1.cls", b"1"), ("0.json", b"{}")]), "two places"),
        (shard(&[("0.txt", b"words")]), "no pictures"),
        (shard(&[("0.png", b"none"), ("0.cls", b"1")]), "0.png"),
    ] {
        let said = said(&bytes);
        assert!(said.contains(words) && said.contains("s.tar"), "{words}: {said}");
    }
    let gone = folder.path().join("s-{0..1}.tar").display().to_string();
    assert!(message(load(&cx, &gone, &Load::default())).contains("s-0.tar"));
    Ok(())
}

// Parquet

mod written {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    /// How rows are kept.
    #[derive(Clone, Copy)]
    pub struct How<'a> {
        pub group: usize,
        pub packing: Compression,
        pub dictionary: bool,
        pub second: bool,
        /// Of a page.
        pub rows: usize,
        pub huggingface: Option<&'a str>,
        pub schema: &'a str,
    }

    pub const SCHEMA: &str = "message m { optional group image { optional binary bytes; optional binary path (UTF8); } optional int64 label; }";

    pub const PLAIN: How = How {
        group: 2,
        packing: Compression::UNCOMPRESSED,
        dictionary: false,
        second: false,
        rows: 1000,
        huggingface: None,
        schema: SCHEMA,
    };

    /// A picture, or none; a label, or none.
    pub type Row<'a> = (Option<&'a [u8]>, Option<i64>);

    pub fn parquet(rows: &[Row], how: How) -> Vec<u8> {
        let about = how.huggingface.map(|text| vec![KeyValue::new("huggingface".to_string(), text.to_string())]);
        let version = if how.second { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = WriterProperties::builder()
            .set_compression(how.packing)
            .set_dictionary_enabled(how.dictionary)
            .set_data_page_row_count_limit(how.rows)
            .set_write_batch_size(how.rows.min(1024))
            .set_writer_version(version)
            .set_key_value_metadata(about);
        let properties = if how.second {
            // Else DELTA_BYTE_ARRAY, whose values are no parts of a page.
            properties.set_encoding(parquet::basic::Encoding::PLAIN)
        } else {
            properties
        };
        let schema = Arc::new(parse_message_type(how.schema).expect("a schema"));
        let names: Vec<String> =
            SchemaDescriptor::new(schema.clone()).columns().iter().map(|column| column.path().string()).collect();
        let mut bytes = vec![];
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build())).expect("a writer");
        for rows in rows.chunks(how.group) {
            let mut group = writer.next_row_group().expect("a group");
            for name in &names {
                let mut column = group.next_column().expect("a column").expect("one more");
                if name.ends_with("bytes") || name.ends_with("path") || name == "raw" {
                    let there = if name.contains('.') { 2 } else { 1 };
                    let value = |(n, row): (usize, &Row)| match name.ends_with("path") {
                        true => Some(ByteArray::from(format!("p{n}.png").as_str())),
                        false => row.0.map(|bytes| ByteArray::from(bytes.to_vec())),
                    };
                    let values: Vec<Option<ByteArray>> = rows.iter().enumerate().map(value).collect();
                    let levels: Vec<i16> =
                        values.iter().map(|value| if value.is_some() { there } else { there - 1 }).collect();
                    let values: Vec<ByteArray> = values.into_iter().flatten().collect();
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None).expect("written");
                } else {
                    let levels: Vec<i16> = rows.iter().map(|row| i16::from(row.1.is_some())).collect();
                    let values: Vec<i64> = rows.iter().filter_map(|row| row.1).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&levels), None).expect("written");
                }
                column.close().expect("closed");
            }
            group.close().expect("closed");
        }
        writer.close().expect("closed");
        bytes
    }
}

use parquet::basic::Compression;
use written::{How, PLAIN, parquet};

const NAMED: &str = r#"{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["ant", "bee", "cat"], "_type": "ClassLabel"}}}}"#;

/// Files of Hugging Face's datasets and of pyarrow, and all ways to divide and pack rows, are one data set, that of WebDataset shards too.
#[test]
fn parquet_is_one_data_set_however_it_is_divided_and_packed() -> Outcome {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name).display().to_string();
    let cx = Cx::default();
    let shades = [0u8, 60, 120, 180];
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut sets: Vec<Dataset> = vec![];
    for file in ["readers.parquet", "readers_zstd.parquet"] {
        let set = load(&cx, &format!("{golden}/{file}"), &Load::default())?;
        assert_eq!((set.labels(), set.classes()), (&[2i64, 0, 1, 2][..], &["ant", "bee", "cat"].map(String::from)[..]));
        for (row, shade) in shades.into_iter().enumerate() {
            assert_eq!(byte(pixels(&set, row)?[0]), shade, "{file}: row {row}");
            assert!(
                set.attributes(row)
                    .iter()
                    .any(|(name, file)| *name == "file" && file.summary() == format!("{shade}.png"))
            );
        }
        sets.push(set);
    }
    assert_eq!(sets[0].digest(), sets[1].digest());
    let pictures: Vec<Vec<u8>> = shades.map(png).to_vec();
    let rows: Vec<written::Row> =
        pictures.iter().zip([2, 0, 1, 2]).map(|(picture, label)| (Some(&picture[..]), Some(label))).collect();
    let named = How { huggingface: Some(NAMED), ..PLAIN };
    let tar: Vec<(String, Vec<u8>)> = pictures
        .iter()
        .zip(["2", "0", "1", "2"])
        .enumerate()
        .flat_map(|(i, (picture, label))| [(format!("{i}.png"), picture.clone()), (format!("{i}.cls"), label.into())])
        .collect();
    let tar: Vec<(&str, &[u8])> = tar.iter().map(|(name, bytes)| (&**name, &bytes[..])).collect();
    std::fs::write(at("s.tar"), shard(&tar))?;
    let classes = viva::data::Classes::Named(["ant", "bee", "cat"].map(String::from).to_vec());
    let of_tar = load(&cx, &at("s.tar"), &Load { classes, ..Load::default() })?;
    let raw = "message m { optional binary raw; optional int64 label; }";
    for (name, how) in [
        ("plain", named),
        ("one page each", How { rows: 1, group: 4, ..named }),
        ("dictionary", How { dictionary: true, packing: Compression::SNAPPY, group: 3, ..named }),
        ("second version", How { second: true, packing: Compression::SNAPPY, ..named }),
        ("second version, stored", How { second: true, rows: 1, ..named }),
        ("a plain column", How { schema: raw, huggingface: None, ..named }),
    ] {
        std::fs::write(at("x.parquet"), parquet(&rows, how))?;
        let classes = viva::data::Classes::Named(["ant", "bee", "cat"].map(String::from).to_vec());
        let set = load(&cx, &at("x.parquet"), &Load { classes, ..Load::default() })?;
        // Read backwards, so that no order is taken for granted.
        for row in (0..4).rev() {
            assert_eq!(byte(pixels(&set, row)?[0]), shades[row], "{name}: row {row}");
        }
        assert_eq!((set.digest(), set.labels()), (of_tar.digest(), of_tar.labels()), "{name}");
    }
    std::fs::create_dir(at("parts"))?;
    for (part, rows) in rows.chunks(3).enumerate() {
        std::fs::write(at(&format!("parts/train-0000{part}-of-00002.parquet")), parquet(rows, named))?;
    }
    std::fs::write(at("parts/test-00000-of-00001.parquet"), parquet(&rows[..1], named))?;
    let train = Load { split: Some("train".into()), ..Load::default() };
    let divided = load(&cx, &at("parts"), &train)?;
    assert_eq!((divided.digest(), divided.len()), (of_tar.digest(), 4));
    assert_eq!(
        load(&cx, &at("parts/train-{00000..00001}-of-00002.parquet"), &Load::default())?.digest(),
        of_tar.digest()
    );
    let some = load(&cx, &at("parts"), &Load { limit: Some(2), shuffle: Some(3), ..train.clone() })?;
    for row in 0..2 {
        let shade = byte(pixels(&some, row)?[0]);
        assert!(shades.iter().zip([2, 0, 1, 2]).any(|(known, label)| (*known, label) == (shade, some.labels()[row])));
    }
    assert!(message(load(&cx, &at("parts"), &Load::default())).contains("holds the parts \"test\", \"train\""));
    std::fs::remove_file(at("parts/train-00001-of-00002.parquet"))?;
    assert!(
        message(load(&cx, &at("parts"), &train)).contains("1 of 2 shards of \"train\" are there; number 1 is missing")
    );
    Ok(())
}

#[test]
fn parquet_that_is_not_whole_or_not_clear_is_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("s.parquet").display().to_string();
    let cx = Cx::default();
    let said_with = |bytes: &[u8], columns: [Option<&str>; 2]| {
        std::fs::write(&path, bytes).expect("a file");
        let [image, label] = columns.map(|name| name.map(String::from));
        message(load(&cx, &path, &Load { columns: viva::data::ColumnNames { image, label }, ..Load::default() }))
    };
    let said = |bytes: &[u8]| said_with(bytes, [None, None]);
    let picture = png(7);
    let (picture, none): (written::Row, written::Row) = ((Some(&picture), Some(1)), (None, Some(1)));
    let named = How { huggingface: Some(NAMED), ..PLAIN };
    let whole = parquet(&[picture, picture, picture], named);
    assert_eq!(said(&whole), "no error");
    for cut in (0..whole.len() - 1).step_by(7) {
        let said = said(&whole[..cut]);
        assert!(said.contains("s.parquet") && said != "no error", "cut to {cut}: {said}");
    }
    let row = |label| (picture.0, label);
    let two = |schema| How { schema, ..PLAIN };
    let twice = "message m { optional binary raw; optional int64 fine; optional int64 coarse; }";
    let pictures = "message m { optional group a { optional binary bytes; } optional group b { optional binary bytes; } optional int64 label; }";
    let text = "message m { optional binary raw; optional binary path (UTF8); }";
    let numbered = "message m { optional binary raw; optional int64 id; }";
    for (bytes, words) in [
        (parquet(&[picture, picture, none], PLAIN), "row 2: no picture in the column \"image\""),
        (parquet(&[picture, row(None)], PLAIN), "row 1: no label in the column \"label\""),
        (parquet(&[picture, picture, picture, row(Some(-1))], PLAIN), "row 3: the label -1"),
        (parquet(&[row(Some(3))], named), "row 0: the label 3 in the column \"label\", whose classes have 3 names"),
        (parquet(&[(Some(b"no picture"), Some(1))], PLAIN), "row 0: not an image that can be read"),
        (parquet(&[picture], two(twice)), "2 columns may be whole numbers: \"fine\", \"coarse\""),
        (parquet(&[picture], two(pictures)), "2 columns may be pictures: \"a\", \"b\""),
        (parquet(&[picture], two(text)), "no column is whole numbers"),
        (parquet(&[picture], two(numbered)), "no column is whole numbers but \"id\", which may number rows"),
        (parquet(&[picture], two("message m { optional int64 label; }")), "no column is pictures"),
        (parquet(&[], PLAIN), "no rows"),
        (b"PAR1 and something else, which is no footer PAR1".to_vec(), "damaged Parquet file"),
    ] {
        let said = said(&bytes);
        assert!(said.contains(words) && said.contains("s.parquet"), "{words}: {said}");
    }
    let many = parquet(&[picture], two(twice));
    assert_eq!(said_with(&many, [None, Some("coarse")]), "no error");
    assert_eq!(said_with(&parquet(&[picture], two(numbered)), [None, Some("id")]), "no error");
    assert!(said_with(&many, [None, Some("course")]).contains("no column \"course\""));
    assert!(said_with(&many, [None, Some("raw")]).contains("the column \"raw\" is not whole numbers"));
    assert_eq!(said_with(&parquet(&[picture], two(pictures)), [Some("b"), None]), "no error");
    // A bit that is not as it was changes no answer without a word.
    let before =
        load(&cx, concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/readers_zstd.parquet"), &Load::default())?;
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/readers_zstd.parquet"))?;
    for at in (0..bytes.len()).step_by(11) {
        let mut changed = bytes.clone();
        changed[at] ^= 16;
        std::fs::write(&path, &changed)?;
        if let Ok(set) = load(&cx, &path, &Load::default()) {
            assert_eq!((set.len(), set.labels()), (4, before.labels()), "byte {at}");
            (0..4).try_for_each(|row| pixels(&set, row).map(drop))?;
        }
    }
    Ok(())
}

/// WebP and TIFF files hold the pixels that Pillow reads from them.
#[test]
fn webp_and_tiff_are_read_as_pillow_reads_them() -> Outcome {
    let golden = viva::core::Tensor::read_npz(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/pictures.npz"))?;
    let bytes = |name: &str| -> Option<Vec<u8>> {
        let (_, tensor) = golden.iter().find(|(known, _)| known == name)?;
        Vec::try_from(&tensor.reshape([-1])).ok()
    };
    let mut count = 0;
    while let Some(file) = bytes(&format!("file_{count}")) {
        let picture = viva::data::picture::decode(std::path::Path::new("p"), &file)?.into_rgb8();
        assert_eq!(Some(picture.into_raw()), bytes(&format!("pixels_{count}")), "file {count}");
        count += 1;
    }
    assert_eq!(count, 28);
    Ok(())
}

/// ImageNet's validation pictures in one folder, labelled as the challenge publishes it.
#[test]
fn a_flat_folder_is_labelled_by_its_published_ground_truth() -> Outcome {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("val"))?;
    for number in 1..=3 {
        std::fs::write(at(&format!("val/ILSVRC2012_val_{number:08}.JPEG")), png(40 * number))?;
    }
    let cx = Cx::default();
    let set = |table: Option<&str>| {
        let labels = table.map(at);
        load(&cx, &at("val").display().to_string(), &Load { labels, ..Load::default() })
    };
    let write = |name: &str, text: &str| std::fs::write(at(name), text).expect("a file");
    assert!(message(set(None)).contains("images without labels"));
    let truth = "ILSVRC2012_validation_ground_truth.txt";
    write(truth, "2\n1000\n1\n");
    assert!(message(set(None)).contains("nothing says what they number"));
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/meta.mat"), at("meta.mat"))?;
    // The order that tests/golden/readers.py drew.
    let labels = [875, 129, 586];
    let found = set(None)?;
    assert_eq!((found.labels(), found.classes().len()), (&labels[..], 1000));
    assert!(found.summary().contains("and meta.mat"), "{}", found.summary());
    let wnid = |label: i64| found.classes()[label as usize].clone();
    let ids = labels.map(wnid);
    write("ids.txt", &ids.join("\n"));
    write(
        "kaggle.csv",
        &format!(
            "ImageId,PredictionString\nILSVRC2012_val_00000002,{} 1 2 3 4 {} 5 6 7 8 \nILSVRC2012_val_00000001,{} 1 2 3 4 \n\
             ILSVRC2012_val_00000003,{} 9 8 7 6 \n",
            ids[1], ids[1], ids[0], ids[2]
        ),
    );
    for table in ["ids.txt", "kaggle.csv"] {
        assert_eq!(set(Some(table))?.labels(), labels, "{table}");
    }
    let csv = |rows: [(usize, &str); 3]| {
        let row = |(number, label): (usize, &str)| format!("ILSVRC2012_val_{number:08}.JPEG,{label}\n");
        format!("file,label\n{}", rows.map(row).concat())
    };
    write("t.csv", &csv([(3, "cat"), (1, "dog"), (2, "cat")]));
    assert_eq!(set(Some("t.csv"))?.labels(), [1, 0, 0]);
    write("t.csv", &csv([(3, "4"), (1, "0"), (2, "2")]));
    let numbers = set(Some("t.csv"))?;
    assert_eq!((numbers.labels(), numbers.classes().len()), (&[0i64, 2, 4][..], 5));
    for (name, text, words) in [
        ("t.csv", csv([(3, "1"), (1, "1000"), (2, "2")]), "numbers from 1 to 1000"),
        (
            "t.csv",
            csv([(3, "1"), (1, "2"), (4, "2")]),
            "1 of 3 pictures have no label, ILSVRC2012_val_00000002.JPEG first",
        ),
        ("t.csv", csv([(3, "1"), (1, "2"), (1, "2")]), "line 4: ILSVRC2012_val_00000001.JPEG stands in line 3 too"),
        ("t.csv", csv([(3, "1"), (1, "2"), (2, "")]), "line 4: a file without a label"),
        ("t.csv", csv([(3, "1"), (1, "2"), (2, "2")]) + "x.png,1\n", "4 labels for 3 pictures; x.png has no picture"),
        ("t.txt", "cat\ndog\n".into(), "2 labels, none of which is of ILSVRC2012_val_00000003.JPEG"),
        ("t.txt", "cat\ndog\ncat\ncat\n".into(), "4 labels for 3 pictures; number 4 has no picture"),
        ("t.txt", "cat\n\ndog".into(), "has no label"),
        ("t.txt", format!("{}\ncat\ndog", ids[0]), "is a class of ImageNet-1k"),
        ("t.txt", "0\n1\n2".into(), "the label 0 of ILSVRC2012_val_00000001.JPEG"),
        ("t.csv", "ImageId,PredictionString\na,n01440764 1 2 3\n".into(), "no list of a class and four numbers"),
        (
            "t.csv",
            format!("ImageId,PredictionString\na,{} 1 2 3 4 {} 1 2 3 4\n", ids[0], ids[1]),
            "boxes of two classes",
        ),
        ("t.csv", "a,b\n1,2\n".into(), "its columns are a, b"),
        ("t.json", "{}".into(), "not a table of labels"),
    ] {
        write(name, &text);
        let said = message(set(Some(name)));
        assert!(said.contains(words) && said.contains(name), "{words}: {said}");
    }
    let kit = std::fs::read(at("meta.mat"))?;
    for cut in (0..kit.len() - 1).step_by(997) {
        std::fs::write(at("meta.mat"), &kit[..cut])?;
        let said = message(set(None));
        assert!(said.contains("meta.mat"), "cut to {cut}: {said}");
    }
    Ok(())
}

/// An option that says nothing of what is loaded is refused, and one that does is heeded.
#[test]
fn options_of_other_formats_are_refused() -> Outcome {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("s.tar"), shard(&[("0.png", &png(1)), ("0.cls", b"0")]))?;
    let cx = Cx::default();
    let tar = at("s.tar").display().to_string();
    let labels = Load { labels: Some(at("l.csv")), ..Load::default() };
    assert!(message(load(&cx, &tar, &labels)).contains("`labels_file` is for IDX and .npy files and folders"));
    let columns = viva::data::ColumnNames { label: Some("x".into()), image: None };
    assert!(
        message(load(&cx, &tar, &Load { columns, ..Load::default() }))
            .contains("`label_column` is for Parquet and .npz files")
    );
    Ok(())
}
