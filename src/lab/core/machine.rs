//! Where a run takes place: what its numbers may differ by although texts, data, seed and threads are the same.

use std::sync::OnceLock;

use serde_json::{Map, Value as Json, json};

use super::device::{cuda_available, numerics, set_for_gpus};

/// What a program that stands on this library was built from, and how.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// The commit, with a digest of changes since; "unknown" of a build without git.
    pub revision: &'static str,
    pub compiled: &'static str,
}

static BUILD: OnceLock<Build> = OnceLock::new();

/// Says what the program is, before anything is recorded: the library itself would be compiled anew with every commit if it knew.
pub fn built_as(build: Build) {
    BUILD.get_or_init(|| build);
}

fn built() -> Build {
    BUILD.get().copied().unwrap_or(Build { revision: "unknown", compiled: "unknown" })
}

/// The version that tch 0.24 is bound to. Some others link as well.
const BUILT_FOR: &str = "2.11.0";

/// The version of the libtorch that works here; where it can't be asked, the one that viva was built for, which is said.
pub fn libtorch() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let said = said_by_libtorch("show_config");
        let found = version_in(said.as_deref().unwrap_or_default()).map(str::to_string);
        found.unwrap_or_else(|| format!("{BUILT_FOR} (built for; what is there does not say it)"))
    })
}

fn version_in(configuration: &str) -> Option<&str> {
    let (_, after) = configuration.split_once("TORCH_VERSION=")?;
    after.split([',', ';', ' ']).next().filter(|version| !version.is_empty())
}

/// What is to be said where another libtorch works here than viva was built for: whatever lies in memory otherwise is misread without an error.
pub fn other_libtorch() -> Option<String> {
    // Releases of one minor version keep how things lie in memory.
    let minor = |version: &'static str| version.split('.').take(2);
    (!minor(libtorch()).eq(minor(BUILT_FOR))).then(|| {
        let found = libtorch_path().map_or(String::new(), |path| format!(" ({path})"));
        format!("viva was built for libtorch {BUILT_FOR} and runs with {}{found}, with which nobody tested it: results may be wrong", libtorch())
    })
}

/// What decides which of several routes numbers take, where it is set.
const VARIABLES: [&str; 13] = [
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    // As it was called before, and is heard still.
    "DNNL_MAX_CPU_ISA",
    "DNNL_DEFAULT_FPMATH_MODE",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "MKL_DYNAMIC",
    "OMP_NUM_THREADS",
    "OMP_DYNAMIC",
    "NVIDIA_TF32_OVERRIDE",
    "CUBLAS_WORKSPACE_CONFIG",
];

/// The programs that results depend on.
pub fn versions() -> Json {
    json!({ "viva": env!("CARGO_PKG_VERSION"), "libtorch": libtorch(), "revision": built().revision })
}

/// The machine and the libraries on it; what can't be found out is left out.
pub fn machine() -> &'static Json {
    static MACHINE: OnceLock<Json> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let mut map = Map::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                map.insert(name.into(), value.into());
            }
        };
        add("host", host());
        add("os", Some(system()));
        add("processor", processor());
        add("cores", std::thread::available_parallelism().ok().map(|n| n.to_string()));
        if cuda_available() {
            add("gpu", gpu());
            add("gpu_visible", std::env::var("CUDA_VISIBLE_DEVICES").ok());
            add("gpu_driver", gpu_driver());
            add("gpu_numerics", Some(numerics().into()));
        }
        add("cpu_capability", said_by_libtorch("get_cpu_capability"));
        add("viva_build", Some(build()));
        add("libtorch_path", libtorch_path());
        add("libtorch_build", said_by_libtorch("show_config"));
        // What viva itself sets for a GPU, `gpu_numerics` says.
        let given = |name: &&&str| !set_for_gpus(name);
        let set = |name: &&str| Some(format!("{name}={}", std::env::var_os(name)?.to_string_lossy()));
        add("variables", Some(VARIABLES.iter().filter(given).filter_map(set).collect::<Vec<_>>().join("; ")));
        Json::Object(map)
    })
}

/// What two machines differ in that numbers may depend on: what it is, there, here.
pub fn differences(there: &Json, here: &Json) -> Vec<[String; 3]> {
    let differing = [
        ("processor", "processor"),
        ("gpu", "GPU"),
        ("gpu_driver", "driver of the GPU"),
        ("gpu_numerics", "numerics of the GPU"),
        ("os", "operating system"),
        ("cpu_capability", "instructions used"),
        ("viva_build", "build of viva"),
        ("libtorch_build", "build of libtorch"),
        ("variables", "environment variables"),
    ];
    let word = |machine: &Json, name: &str| match machine[name].as_str() {
        Some(text) => text.to_string(),
        None if name == "variables" => "none set".into(),
        None => "unknown".into(),
    };
    differing
        .into_iter()
        .map(|(name, what)| (what, word(there, name), word(here, name)))
        .filter(|(_, there, here)| there != here)
        .map(|(what, there, here)| {
            let [there, here] = apart(there, here);
            [what.into(), there, here]
        })
        .collect()
}

/// Of two lists with semicolons what one has alone: a library says of itself more than a screen holds.
fn apart(there: String, here: String) -> [String; 2] {
    if !there.contains("; ") || !here.contains("; ") {
        return [there, here];
    }
    let alone = |a: &str, b: &str| {
        let alone: Vec<&str> = a.split("; ").filter(|part| !b.split("; ").any(|other| other == *part)).collect();
        if alone.is_empty() { "nothing more".into() } else { alone.join("; ") }
    };
    [alone(&there, &here), alone(&here, &there)]
}

/// This very binary: the id that the linker made of all its bytes, and how it was compiled, which is what may differ.
fn build() -> String {
    let id = build_id().map_or("no build id".into(), |id| format!("build id {id}"));
    format!("{id}; {}", built().compiled)
}

/// The note `NT_GNU_BUILD_ID` of the program that runs.
#[cfg(target_os = "linux")]
fn build_id() -> Option<String> {
    /// What the first object that is told of, which is the program, holds in its notes.
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        found: *mut std::ffi::c_void,
    ) -> std::ffi::c_int {
        // SAFETY: the headers and the segments that they tell of are mapped for as long as the program runs.
        unsafe {
            let info = &*info;
            for header in std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) {
                if header.p_type == libc::PT_NOTE {
                    let start = (info.dlpi_addr + header.p_vaddr) as *const u8;
                    let notes = std::slice::from_raw_parts(start, header.p_memsz as usize);
                    (*found.cast::<Vec<u8>>()).extend_from_slice(notes);
                }
            }
        }
        1
    }
    let mut notes: Vec<u8> = Vec::new();
    // SAFETY: the callback is called before this returns, with the vector that it expects.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut notes).cast()) };
    let mut rest = &notes[..];
    loop {
        let (head, after) = rest.split_at_checked(12)?;
        let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
        let (name, after) = after.split_at_checked(word(0).next_multiple_of(4))?;
        let (bytes, after) = after.split_at_checked(word(4).next_multiple_of(4))?;
        if word(8) == 3 && name == b"GNU\0" {
            return Some(bytes[..word(4)].iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = after;
    }
}

#[cfg(not(target_os = "linux"))]
fn build_id() -> Option<String> {
    Some(super::Digest::of_file(&std::env::current_exe().ok()?).ok()?.hex())
}

#[cfg(unix)]
fn host() -> Option<String> {
    let mut name = [0u8; 256];
    // SAFETY: writes at most the length that it is given.
    let found = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == 0;
    found.then(|| until_nul(&name))
}

#[cfg(not(unix))]
fn host() -> Option<String> {
    None
}

#[cfg(unix)]
fn until_nul(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

fn system() -> String {
    let mut words = vec![std::env::consts::OS.to_string(), std::env::consts::ARCH.to_string()];
    #[cfg(unix)]
    {
        // SAFETY: all zeros is a valid utsname, and uname writes no more than one.
        let mut names: libc::utsname = unsafe { std::mem::zeroed() };
        if unsafe { libc::uname(&mut names) } == 0 {
            let release: Vec<u8> = names.release.iter().map(|c| *c as u8).collect();
            words.insert(1, until_nul(&release));
        }
    }
    words.join(" ")
}

#[cfg(not(target_os = "macos"))]
fn processor() -> Option<String> {
    use std::io::Read;
    let mut start = String::new();
    // The first processor is told of at the beginning; a machine may have hundreds.
    std::fs::File::open("/proc/cpuinfo").ok()?.take(4096).read_to_string(&mut start).ok()?;
    let of = |name: &str| {
        let line = start.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    of("model name").or_else(|| of("CPU part"))
}

#[cfg(target_os = "macos")]
fn processor() -> Option<String> {
    let mut name = [0u8; 256];
    let mut length = name.len();
    // SAFETY: the name ends with a zero, and no more is written than the length says.
    let said = unsafe {
        libc::sysctlbyname(
            c"machdep.cpu.brand_string".as_ptr(),
            name.as_mut_ptr().cast(),
            &mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    (said == 0).then(|| until_nul(&name))
}

/// The models of the GPUs that this process may use, in the order of their numbers, as the driver names them.
fn gpu() -> Option<String> {
    named_by_driver().or_else(|| {
        let folders = std::fs::read_dir("/proc/driver/nvidia/gpus").ok()?;
        let mut models: Vec<String> = folders
            .flatten()
            .filter_map(|folder| {
                let text = std::fs::read_to_string(folder.path().join("information")).ok()?;
                Some(text.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_string())
            })
            .collect();
        models.sort();
        Some(models.join(", "))
    })
}

#[cfg(unix)]
fn named_by_driver() -> Option<String> {
    use libloading::os::unix::Library;
    use std::ffi::{c_char, c_int};
    // SAFETY: the driver, which libtorch has opened and begun to use; its functions have the types of its documentation, and 0 says that
    // all went well.
    unsafe {
        let driver = Library::new("libcuda.so.1").ok()?;
        let count = driver.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(b"cuDeviceGetCount\0").ok()?;
        let get = driver.get::<unsafe extern "C" fn(*mut c_int, c_int) -> c_int>(b"cuDeviceGet\0").ok()?;
        let name = driver.get::<unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int>(b"cuDeviceGetName\0").ok()?;
        let mut devices = 0;
        if count(&mut devices) != 0 {
            return None;
        }
        let named = |number: c_int| {
            let (mut device, mut text) = (0, [0u8; 256]);
            let well = get(&mut device, number) == 0 && name(text.as_mut_ptr().cast(), 255, device) == 0;
            well.then(|| until_nul(&text))
        };
        Some((0..devices).map(named).collect::<Option<Vec<_>>>()?.join(", "))
    }
}

#[cfg(not(unix))]
fn named_by_driver() -> Option<String> {
    None
}

/// What the driver says of itself.
fn gpu_driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("NVRM version:"))?;
    Some(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn symbol(name: &str) -> Option<*mut std::ffi::c_void> {
    let mangled = format!("_ZN2at{}{name}B5cxx11Ev", name.len());
    let library = libloading::os::unix::Library::this();
    // SAFETY: only the address is taken.
    let found = unsafe { library.get::<*mut std::ffi::c_void>(mangled.as_bytes()) }.ok()?;
    Some(found.as_raw_ptr())
}

/// What a function `std::string at::name()` answers, where libtorch has it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn said_by_libtorch(name: &str) -> Option<String> {
    /// libstdc++'s string: where its bytes are, how many, and those bytes themselves where they are fewer than 16.
    #[repr(C)]
    struct CppString {
        bytes: *const u8,
        length: usize,
        inside: [u8; 16],
    }
    let function = symbol(name)?;
    // SAFETY: both functions take nothing and return a string by value, as a C function returns a structure of this size. The
    // string was moved, so that short bytes are read from inside; it is never freed, which costs its bytes once.
    let bytes = unsafe {
        let function: extern "C" fn() -> CppString = std::mem::transmute(function);
        let text = function();
        match text.length {
            0..16 => text.inside[..text.length].to_vec(),
            length => std::slice::from_raw_parts(text.bytes, length).to_vec(),
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| line.trim_start_matches([' ', '-']).trim_end().trim_end_matches(','));
    // What the processor makes of it stands by itself.
    let of_the_build = |line: &&str| !line.is_empty() && !line.starts_with("CPU capability usage");
    Some(lines.filter(of_the_build).collect::<Vec<_>>().join("; "))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn said_by_libtorch(_name: &str) -> Option<String> {
    None
}

/// The file that libtorch's functions come from.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn libtorch_path() -> Option<String> {
    // SAFETY: all zeros is a valid Dl_info; the name lives as long as the library, which stays open.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let found = libc::dladdr(symbol("show_config")?, &mut info) != 0 && !info.dli_fname.is_null();
        found.then(|| std::ffi::CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned())
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn libtorch_path() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_known() {
        let machine = machine();
        assert!(machine["os"].as_str().is_some_and(|os| os.contains(std::env::consts::ARCH)), "{machine}");
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        {
            let text = |name: &str| machine[name].as_str().unwrap_or_default();
            assert!((3..16).contains(&text("cpu_capability").len()), "{machine}");
            assert!(text("libtorch_build").starts_with("PyTorch built with"), "{machine}");
            assert_eq!(version_in(text("libtorch_build")), Some(libtorch()));
            assert_eq!(version_in("a; TORCH_VERSION=2.10.0, USE_CUDA=ON"), Some("2.10.0"));
            assert_eq!((version_in("a; b"), other_libtorch()), (None, None));
            assert!(text("libtorch_path").contains("libtorch"), "{machine}");
            let build = text("viva_build");
            assert!(build.starts_with("build id ") && build.find(';').is_some_and(|at| at >= 40), "{build}");
        }
        assert!(differences(machine, machine).is_empty());
        let there = json!({ "processor": "x", "libtorch_build": "a; b; c", "host": "elsewhere" });
        let here = json!({ "processor": "y", "libtorch_build": "a; c; d", "variables": "MKL_CBWR=AVX2" });
        let told = [
            ["processor", "x", "y"],
            ["build of libtorch", "b", "d"],
            ["environment variables", "none set", "MKL_CBWR=AVX2"],
        ];
        assert_eq!(differences(&there, &here), told);
    }
}
