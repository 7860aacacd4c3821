//! Bombs made by hand, one for each cause.

use std::io::Write;

use zip::write::FileOptions;
use zip::{CompressionMethod, ZipWriter};

pub struct Case {
    pub name: &'static str,
    pub files: Vec<(&'static str, Vec<u8>)>,
    pub expression: &'static str,
    pub said: &'static str,
}

fn case(name: &'static str, file: &'static str, bytes: Vec<u8>, said: &'static str) -> Case {
    let expression = match file {
        "w.pth" => r#"model::load("w.pth", #{ arch: "cifar_resnet20" })"#,
        "w.safetensors" => r#"model::load("w.safetensors", #{ arch: "cifar_resnet20" })"#,
        "t.csv" => r#"data::csv("t.csv").len()"#,
        "d.npz" => r#"data::load("d.npz")"#,
        "d.mat" => r#"data::load("d.mat")"#,
        "o.obj" => r#"data::objects("o.obj")"#,
        _ => r#"data::load("pictures", #{ resize: 16, crop: 16 }).images().shape"#,
    };
    Case { name, files: vec![(file, bytes)], expression, said }
}

/// An archive whose entries are packed.
pub fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, FileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An archive of `count` names for the same stored bytes.
fn overlapping(first: (&str, &[u8]), name: &dyn Fn(usize) -> String, count: usize, bytes: &[u8]) -> Vec<u8> {
    let (mut file, mut list) = (Vec::new(), Vec::new());
    let mut add = |file: &mut Vec<u8>, name: &str, bytes: &[u8], at: Option<usize>| {
        let numbers = |all: &[u16]| all.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let mut sizes = crc32fast::hash(bytes).to_le_bytes().to_vec();
        sizes.extend([bytes.len() as u32; 2].iter().flat_map(|n| n.to_le_bytes()));
        let begins = at.unwrap_or(file.len());
        if at.is_none() {
            file.extend(b"PK\x03\x04");
            file.extend(numbers(&[20, 0, 0, 0, 33]));
            file.extend(&sizes);
            file.extend(numbers(&[name.len() as u16, 0]));
            file.extend(name.bytes());
            file.extend(bytes);
        }
        list.extend(b"PK\x01\x02");
        list.extend(numbers(&[20, 20, 0, 0, 0, 33]));
        list.extend(&sizes);
        list.extend(numbers(&[name.len() as u16, 0, 0, 0, 0, 0, 0]));
        list.extend((begins as u32).to_le_bytes());
        list.extend(name.bytes());
        begins
    };
    add(&mut file, first.0, first.1, None);
    let shared = add(&mut file, &name(0), bytes, None);
    for n in 1..count {
        add(&mut file, &name(n), bytes, Some(shared));
    }
    let at = file.len() as u32;
    file.extend(&list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([(count + 1) as u16; 2].iter().flat_map(|n| n.to_le_bytes()));
    file.extend((list.len() as u32).to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// The pickle's words for a text, a number, and a storage of so many floats.
fn text(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn number(n: u32) -> Vec<u8> {
    [b"J", &n.to_le_bytes()[..]].concat()
}

fn storage(key: &str, len: u32) -> Vec<u8> {
    [
        b"(".to_vec(),
        text("storage"),
        b"ctorch\nFloatStorage\n".to_vec(),
        text(key),
        text("cpu"),
        number(len),
        b"tQ".to_vec(),
    ]
    .concat()
}

/// A call that makes a tensor of a storage that is already said, by its place in the memo; 0 has the constructor.
fn tensor(storage: &[u8], size: [u32; 2], stride: [u32; 2]) -> Vec<u8> {
    let pair = |two: [u32; 2]| [b"(".to_vec(), number(two[0]), number(two[1]), b"t".to_vec()].concat();
    [b"h\x00(".to_vec(), storage.to_vec(), b"K\x00".to_vec(), pair(size), pair(stride), b"tR".to_vec()].concat()
}

const CONSTRUCTOR: &[u8] = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x000";

/// Many tensors that view one storage of a megabyte of floats, none as another, all across its rows.
pub fn views(count: u32) -> Vec<u8> {
    let mut pickle = [CONSTRUCTOR, &storage("0", 1 << 20), b"q\x010}("].concat();
    for n in 0..count {
        pickle.extend(text(&format!("t{n}")));
        pickle.extend(tensor(b"h\x01", [1024 - n % 512, 1024 - n / 512], [1, 1024]));
    }
    pickle.extend(b"u.");
    zipped(&[("w/data.pkl", &pickle), ("w/data/0", &vec![0; 4 << 20])])
}

/// A dict that holds one long key with one tensor again and again.
pub fn keys(count: usize, length: usize) -> Vec<u8> {
    let key = "k".repeat(length);
    let mut pickle = [CONSTRUCTOR, &storage("0", 4), b"q\x010"].concat();
    pickle.extend(tensor(b"h\x01", [2, 2], [2, 1]));
    pickle.extend(
        [b"q\x020".to_vec(), text(&key), b"q\x030}(".to_vec(), b"h\x03h\x02".repeat(count), b"u.".to_vec()].concat(),
    );
    zipped(&[("w/data.pkl", &pickle), ("w/data/0", &[0; 16])])
}

/// One list of pairs of which a dict is made again and again.
pub fn ordered(pairs: usize, count: usize) -> Vec<u8> {
    let mut pickle = b"\x80\x02ccollections\nOrderedDict\nq\x000NN\x86q\x010](".to_vec();
    pickle.extend(
        [b"h\x01".repeat(pairs), b"e\x85q\x020".to_vec(), b"h\x00h\x02R0".repeat(count), b"N.".to_vec()].concat(),
    );
    zipped(&[("w/data.pkl", &pickle)])
}

/// Nothing, over and over.
pub fn nothings(count: usize) -> Vec<u8> {
    zipped(&[("w/data.pkl", &[&b"\x80\x02("[..], &vec![b'N'; count], b"t."].concat())])
}

pub fn safetensors(header: &str, numbers: usize) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; numbers]].concat()
}

pub fn weights() -> Vec<Case> {
    let many = |one: &dyn Fn(usize) -> String, count: usize| (0..count).map(one).collect::<Vec<_>>().join(",");
    let tensor_at = |name: usize| format!(r#""{name}":{{"dtype":"F32","shape":[1048576],"data_offsets":[0,4194304]}}"#);
    let mut shared = [CONSTRUCTOR, b"}("].concat();
    for n in 0..5000 {
        shared.extend(text(&format!("t{n}")));
        shared.extend(tensor(&storage(&n.to_string(), 1 << 18), [1 << 17, 2], [2, 1]));
    }
    shared.extend(b"u.");
    let name = |n: usize| format!("w/data/{n}");
    let twice = overlapping(("w/data.pkl", b"\x80\x02}."), &|_| "w/data/0".into(), 2, b"");
    let number = r#"{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    let zeros = "0,".repeat(25 << 20);
    vec![
        case("views of one storage", "w.pth", views(2000), "of memory, a file of"),
        case("one key again and again", "w.pth", keys(300_000, 16 << 10), "twice"),
        case("one list for many dicts", "w.pth", ordered(20_000, 80_000), "its pickle would take"),
        case("a packed pickle", "w.pth", nothings(60 << 20), "would take"),
        case(
            "names for the same bytes",
            "w.pth",
            overlapping(("w/data.pkl", &shared), &name, 5000, &[0; 1 << 20]),
            "its entries take",
        ),
        case("an entry that is there twice", "w.pth", twice, "holds \"w/data/0\" twice"),
        case(
            "a packed TorchScript",
            "w.pth",
            zipped(&[("w/code/a.py", &[0; 100]), ("w/data/0", &vec![0; 60 << 20])]),
            "what it unpacks to would take",
        ),
        case(
            "overlapping tensors",
            "w.safetensors",
            safetensors(&format!("{{{}}}", many(&tensor_at, 3000)), 4 << 20),
            "overlap",
        ),
        case(
            "a tensor that is there twice",
            "w.safetensors",
            safetensors(&format!(r#"{{"a":{number},"a":{number}}}"#), 4),
            "\"a\" stands there twice",
        ),
        case(
            "a header of numbers",
            "w.safetensors",
            safetensors(&format!(r#"{{"a":[{zeros}0]}}"#), 4),
            "its JSON would take",
        ),
    ]
}

pub fn texts() -> Vec<Case> {
    let names = |count: usize, length: usize| (0..count).map(|n| format!("{n:0length$}")).collect::<Vec<_>>().join(",");
    let wide = [names(1000, 1000), (",".repeat(999) + "\n").repeat(55_000)].join("\n");
    let columns = format!("index,{}\n999999{}\n", names(100_000, 6), ",x".repeat(100_000));
    let labels = format!(r#"{{"a.png":[{}0]}}"#, "0,".repeat(30 << 20));
    let deep = format!(r#"{{"a.png":{}"#, "[".repeat(100_000));
    let picture = png(8, 8, &[0; 8 * 9]);
    let pictures = |name: &'static str, file: &'static str, text: String, said: &'static str| Case {
        name,
        files: vec![("pictures/a/a.png", picture.clone()), (file, text.into_bytes())],
        expression: match file {
            "names.csv" => r#"data::load("pictures", #{ classes: "names.csv" })"#,
            _ => r#"data::load("pictures")"#,
        },
        said,
    };
    vec![
        case("wide rows", "t.csv", wide.into_bytes(), "its rows would take"),
        case("a row of commas", "t.csv", [&b"a\n"[..], &vec![b','; 56 << 20]].concat(), "columns"),
        case("a head of commas", "t.csv", vec![b','; 56 << 20], "columns"),
        pictures(
            "names of a million classes",
            "names.csv",
            columns,
            "the names of classes that it leaves out would take",
        ),
        pictures("a label of numbers", "pictures/labels.json", labels, "its JSON would take"),
        pictures("a deep label", "pictures/labels.json", deep, "recursion limit"),
    ]
}

/// The bytes of a `.npy` file of this version.
pub fn npy(version: u8, header: &[u8], length: u32, bytes: &[u8]) -> Vec<u8> {
    let length = if version == 1 { (length as u16).to_le_bytes().to_vec() } else { length.to_le_bytes().to_vec() };
    [&b"\x93NUMPY"[..], &[version, 0], &length, header, bytes].concat()
}

fn chunk(name: &[u8; 4], bytes: &[u8]) -> Vec<u8> {
    let named = [name, bytes].concat();
    [&(bytes.len() as u32).to_be_bytes()[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A grey picture whose rows are `bytes`, each behind its filter.
pub fn png(wide: u32, high: u32, bytes: &[u8]) -> Vec<u8> {
    let size = [wide.to_be_bytes(), high.to_be_bytes()].concat();
    let head = [&size[..], &[8, 0, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &head), chunk(b"IDAT", &packed(bytes)), chunk(b"IEND", &[])].concat()
}

/// A picture of one pixel on a screen of another size.
pub fn gif(wide: u16, high: u16) -> Vec<u8> {
    let screen =
        [&b"GIF89a"[..], &wide.to_le_bytes(), &high.to_le_bytes(), &[0x80, 0, 0, 0, 0, 0, 255, 255, 255]].concat();
    [&screen[..], b",\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;"].concat()
}

/// A lossless picture without its codes.
pub fn webp(wide: u32, high: u32) -> Vec<u8> {
    let size = ((wide - 1) | (high - 1) << 14).to_le_bytes();
    let body = [&b"VP8L\x06\0\0\0\x2f"[..], &size, &[0]].concat();
    [&b"RIFF"[..], &(4 + body.len() as u32).to_le_bytes(), b"WEBP", &body].concat()
}

/// A grey picture of one strip of 8 bytes, packed by LZW.
pub fn tiff(wide: u32, high: u32) -> Vec<u8> {
    let entry = |tag: u16, value: u32| [&tag.to_le_bytes()[..], &[4, 0, 1, 0, 0, 0], &value.to_le_bytes()].concat();
    let fields = [(256, wide), (257, high), (258, 8), (259, 5), (262, 1), (273, 8), (277, 1), (278, high), (279, 8)];
    let entries: Vec<u8> = fields.iter().flat_map(|&(tag, value)| entry(tag, value)).collect();
    let head = [&b"II*\0\x10\0\0\0"[..], &[0x80, 0, 0, 0, 0, 0, 0, 0], &(fields.len() as u16).to_le_bytes()].concat();
    [head, entries, vec![0; 4]].concat()
}

/// A frame without its scans.
pub fn jpeg(wide: u16, high: u16) -> Vec<u8> {
    let size = [high.to_be_bytes(), wide.to_be_bytes()].concat();
    let frame = [&b"\xff\xd8\xff\xc2\0\x11\x08"[..], &size, &[3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0]].concat();
    [&frame[..], b"\xff\xda\0\x0c\x03\x01\0\x02\0\x03\0\0\0\0\0\xff\xd9"].concat()
}

/// A MATLAB file of one variable that claims this shape, and something to make it long.
fn mat(shape: [u32; 4], padding: usize) -> Vec<u8> {
    let words = |all: &[u32]| all.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let count = shape.iter().product::<u32>();
    let parts =
        [words(&[6, 8, 9, 0, 5, 16]), words(&shape), words(&[1 | 1 << 16, u32::from(b'X')]), words(&[2, count])]
            .concat();
    let inner = [words(&[14, count.saturating_add(parts.len() as u32)]), parts, vec![0; 1000]].concat();
    let element = packed(&inner);
    let mut file = [b"MATLAB 5.0".to_vec(), vec![b' '; 114], vec![0, 1, b'I', b'M']].concat();
    file.extend(words(&[1, padding as u32]));
    file.extend(vec![0; padding]);
    file.extend(words(&[15, element.len() as u32]));
    file.extend(element);
    file
}

pub fn arrays() -> Vec<Case> {
    let labels = npy(1, b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n", 58, &[0]);
    let npz = |images: Vec<u8>| zipped(&[("labels.npy", &labels), ("images.npy", &images)]);
    let nested = [b"{'descr': ".to_vec(), vec![b'('; 60_000]].concat();
    vec![
        case(
            "a header of four gigabytes",
            "d.npz",
            npz(npy(2, b"{", u32::MAX - 16, &[])),
            "header is longer than any array's",
        ),
        case(
            "a nested header",
            "d.npz",
            npz(npy(1, &nested, nested.len() as u32, &[])),
            "nested deeper than any array's",
        ),
        case("an image of gigabytes", "d.mat", mat([30_000, 30_000, 3, 1], 3 << 20), "the file is truncated"),
        case("a large PNG", "pictures/a/a.png", png(16_000, 16_000, &[0; 100]), "its 16000 x 16000 pixels would take"),
        case("a large GIF", "pictures/a/a.gif", gif(11_000, 11_000), "its 11000 x 11000 pixels would take"),
        case("a large WebP", "pictures/a/a.webp", webp(16_000, 16_000), "its 16000 x 16000 pixels would take"),
        case("a large TIFF", "pictures/a/a.tif", tiff(16_000, 16_000), "its 16000 x 16000 pixels would take"),
        case("a TIFF of more", "pictures/a/a.tif", tiff(u32::MAX, u32::MAX), "4294967295 x 4294967295 pixels"),
        case("a large JPEG", "pictures/a/a.jpg", jpeg(65_500, 65_500), "65500 x 65500 pixels"),
    ]
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl a\nf 1/1 2/1 3/1\n";

pub fn objects() -> Vec<Case> {
    let object = |name: &'static str, object: String, materials: String, said: &'static str| Case {
        name,
        files: vec![
            ("o.obj", object.into_bytes()),
            ("m.mtl", materials.into_bytes()),
            ("t.png", png(4000, 4000, &vec![0; 4000 * 4001])),
        ],
        expression: r#"data::objects("o.obj").len()"#,
        said,
    };
    let spellings = (0..200).map(|n| format!("newmtl m{n}\nmap_Kd {}t.png\n", "./".repeat(n))).collect::<String>();
    let polygon = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf{}\n", " 1 2 3".repeat(9 << 20));
    vec![
        object(
            "a library again and again",
            "mtllib m.mtl\n".repeat(30_000) + TRIANGLE,
            "newmtl a\nKd 1 0 0\n".repeat(3000),
            "1",
        ),
        object("a texture under many names", format!("mtllib m.mtl\n{TRIANGLE}"), spellings, "1"),
        object(
            "materials without end",
            format!("mtllib m.mtl\n{TRIANGLE}"),
            "newmtl a\n".repeat(2 << 20),
            "its materials would take",
        ),
        object("a polygon of millions", polygon, String::new(), "its faces would take"),
        object(
            "broken colours",
            format!("v 0 0 0 1 1 x\nv 1 0 0 1 1 1\nv 0 1 0\n{TRIANGLE}"),
            String::new(),
            "o.obj: ",
        ),
        object(
            "a colour of two numbers",
            format!("mtllib m.mtl\n{TRIANGLE}"),
            "newmtl a\nKd 1 0\n".into(),
            "its materials can't be read",
        ),
        object(
            "a broken number",
            format!("mtllib m.mtl\n{TRIANGLE}"),
            "newmtl a\nKd 1 0 x\n".into(),
            "materials can't be read",
        ),
    ]
}

/// Images and labels of so many megabytes of zeros, packed piece by piece.
pub fn long_idx(megabytes: u64) -> [Vec<u8>; 2] {
    let packed = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    };
    let words = |all: &[u32]| all.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    let count = megabytes as u32;
    let images =
        [packed(&words(&[0x803, count, 1024, 1024])), packed(&vec![0; 1 << 20]).repeat(megabytes as usize)].concat();
    [images, packed(&[words(&[0x801, count]), vec![0; megabytes as usize]].concat())]
}

/// An archive whose entries lie as they are.
pub fn stored(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        zip.start_file(*name, FileOptions::default().compression_method(CompressionMethod::Stored)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}
