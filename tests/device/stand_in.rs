//! The stand-in for a CUDA device (`tests/fakecuda`): built once per build folder, and preloaded into the processes that are to have one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const SOURCES: [&str; 3] = ["fakecuda.cpp", "device_rules.py", "driver.c"];

/// Its folder holds `libtorch_cuda.so`, which is preloaded or found, and `driver.so`, which answers for the driver's device file alone.
pub struct StandIn {
    pub folder: PathBuf,
}

impl StandIn {
    /// `None`, and a line that says so, where nothing can build it.
    pub fn get() -> Option<&'static Self> {
        static BUILT: OnceLock<Option<StandIn>> = OnceLock::new();
        BUILT
            .get_or_init(|| {
                if Command::new("g++").arg("--version").output().is_err() {
                    println!("SKIPPED: no g++ here to build the stand-in for a CUDA device with");
                    return None;
                }
                Some(Self { folder: built() })
            })
            .as_ref()
    }

    /// The command with a CUDA device.
    pub fn give(&self, command: &mut Command) {
        command.env("LD_PRELOAD", self.folder.join("libtorch_cuda.so"));
    }

    /// The command with a driver and, in this folder, what it opens as libtorch's CUDA library.
    pub fn give_late(&self, command: &mut Command, libraries: &Path) {
        command.env("LD_PRELOAD", self.folder.join("driver.so")).env("LD_LIBRARY_PATH", libraries);
    }
}

/// The folder of the libtorch that this process runs with: `include` and `lib` lie there, torchgen beside it.
fn libtorch() -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let library = maps.lines().find(|line| line.ends_with("/libtorch_cpu.so")).expect("a process with libtorch");
    let path = Path::new(&library[library.find('/').unwrap()..]);
    path.ancestors().nth(2).unwrap().to_path_buf()
}

pub fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakecuda")
}

fn built() -> PathBuf {
    // One operation, so that libtorch is there.
    drop(viva::core::Tensor::from(1.0));
    let (sources, libtorch) = (sources(), libtorch());
    let mut hasher = DefaultHasher::new();
    libtorch.hash(&mut hasher);
    SOURCES.iter().for_each(|name| std::fs::read(sources.join(name)).unwrap().hash(&mut hasher));
    let home = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = home.join(format!("fakecuda-{:016x}", hasher.finish()));
    if folder.is_dir() {
        return folder;
    }
    let made = tempfile::tempdir_in(home).unwrap();
    let operations = libtorch.join("../torchgen/packaged/ATen/native/native_functions.yaml");
    assert!(operations.exists(), "{}: torchgen comes with the wheel of torch (make libtorch)", operations.display());
    let rules = well(Command::new("python3").arg(sources.join("device_rules.py")).arg(operations));
    std::fs::write(made.path().join("device_rules.inc"), rules.stdout).unwrap();
    let (include, lib) = (libtorch.join("include"), libtorch.join("lib"));
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++20", "-O1", "-fPIC", "-shared", "-w", "-D_GLIBCXX_USE_CXX11_ABI=1", "-I"]).arg(made.path());
    compiler.arg("-isystem").arg(&include).arg("-isystem").arg(include.join("torch/csrc/api/include"));
    compiler.arg(sources.join("fakecuda.cpp")).arg("-o").arg(made.path().join("libtorch_cuda.so")).arg("-L").arg(&lib);
    compiler.args(["-Wl,-soname,libtorch_cuda.so", "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-ldl"]);
    well(compiler.arg(format!("-Wl,-rpath,{}", lib.display())).arg("-Wl,--allow-shlib-undefined"));
    let mut compiler = Command::new("g++");
    compiler.args(["-x", "c", "-O1", "-shared", "-fPIC", "-w"]).arg(sources.join("driver.c"));
    well(compiler.arg("-o").arg(made.path().join("driver.so")));
    // Another process may have been faster.
    let _ = std::fs::rename(made.keep(), &folder);
    folder
}

/// Runs a command that must end well.
pub fn well(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}\n{}", said(&output.stdout), said(&output.stderr));
    output
}

pub fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
