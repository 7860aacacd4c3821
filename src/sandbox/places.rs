//! What a process needs to read and write to run at all: the system, its own libraries, its own folders.

use std::path::{Path, PathBuf};

use super::flags::configuration;
use crate::core::permissions::{Programs, holds_home, is_own};
use crate::core::{below_home, gpu_driver_is_here};

/// Programs and libraries of the system, and what it says of itself. Of `/etc` no more than libraries need: passwords and
/// keys lie there.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/nix/store",
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/OpenCL",
];

/// What is read to find a host and to trust it.
const NETWORK: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/ca-certificates",
];

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// What starts programs that are linked at run time.
pub const LOADERS: &[&str] = &[
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];

pub fn to_read(run: &Programs, named: &[PathBuf], net: bool) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if net {
        places.extend(NETWORK.iter().map(PathBuf::from));
    }
    places.extend(configuration());
    places.extend(below_home("XDG_CACHE_HOME", ".cache"));
    // Kernels that CUDA compiled before.
    places.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".nv")));
    places.extend(libraries());
    match run {
        Programs::None => {}
        Programs::Named(programs) => {
            programs.iter().chain(named).for_each(|program| places.extend(around(program)));
            places.extend(environments());
        }
        Programs::Any => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).for_each(|folder| places.extend(around(&folder.join("program"))));
            places.extend(environments());
        }
    }
    places
}

/// Of Python's environments the one that is active and the one that viva is installed in.
fn environments() -> Vec<PathBuf> {
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let viva = std::env::current_exe().ok();
    let own = viva.as_deref().and_then(|viva| Some(viva.parent()?.parent()?.to_path_buf()));
    let own = own.filter(|root| root.join(ENVIRONMENT).is_file());
    active
        .filter(|root| root.is_absolute())
        .chain(own)
        .flat_map(|root| around(&root.join("bin").join("python")))
        .collect()
}

/// What a virtual environment of Python says of itself.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// What stands around a program; of a virtual environment also what stands around the Python that it was made of.
fn around(program: &Path) -> Vec<PathBuf> {
    let Some(folder) = program.parent().filter(|folder| folder.is_absolute()) else { return vec![] };
    let said = folder.parent().map(|root| std::fs::read_to_string(root.join(ENVIRONMENT)).unwrap_or_default());
    let made_of = |line: &str| Some(PathBuf::from(line.strip_prefix("home")?.trim_start().strip_prefix('=')?.trim()));
    let home = said.and_then(|said| said.lines().find_map(made_of));
    let home = home.filter(|home| home.is_absolute() && home.ends_with("bin"));
    std::iter::once(folder).chain(home.as_deref()).flat_map(installed).collect()
}

/// A folder of programs and, where it is called `bin`, the libraries of the same installation; of a folder of shims, as pyenv has one, what
/// they start.
fn installed(folder: &Path) -> Vec<PathBuf> {
    let mut places = vec![folder.to_path_buf()];
    if let Some(root) = folder.parent().filter(|_| folder.ends_with("bin")) {
        places.extend(["lib", "lib64", ENVIRONMENT].map(|name| root.join(name)));
        places.extend(customised(&root.join("lib")));
    }
    if let Some(root) = folder.parent().filter(|_| folder.ends_with("shims")) {
        places.push(root.to_path_buf());
    }
    places
}

/// What the Pythons in a folder of libraries start with: Debian has it elsewhere, behind a link.
fn customised(libraries: &Path) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(libraries).into_iter().flatten().flatten();
    let pythons = versions.filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"));
    pythons.filter_map(|entry| entry.path().join("sitecustomize.py").canonicalize().ok()).collect()
}

/// Where libtorch and what it opens later lie.
fn libraries() -> Vec<PathBuf> {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let torch = maps.lines().find_map(|line| Some(&line[line.find('/').filter(|_| line.contains("libtorch_cpu"))?..]));
    if let Some(folder) = torch.and_then(|file| Path::new(file).parent()) {
        places.push(folder.to_path_buf());
        // As pip lays CUDA's libraries beside torch.
        places.extend(folder.ancestors().nth(2).map(|above| above.join("nvidia")));
    }
    places
}

pub fn to_write() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    if let Some(cache) = below_home("XDG_CACHE_HOME", ".cache") {
        // Only what is there can be allowed; without it the cache stays empty.
        let _ = std::fs::create_dir_all(&cache);
        places.push(cache);
    }
    if gpu_driver_is_here() {
        let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.path());
        let own = |name: &str| name.starts_with("nvidia") || name == "dxg" || name == "shm";
        places.extend(devices.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(own)));
    }
    places
}

/// Where names of threads are written, which a GPU's driver does as it begins: of this process, and of the programs that it may start, whose
/// folders are not there yet, where all that a user may write below `/proc` is of the user's own processes.
pub fn of_threads(run: &Programs) -> Vec<&'static str> {
    // SAFETY: asks the system who the user is.
    let superuser = unsafe { libc::geteuid() } == 0;
    match gpu_driver_is_here() {
        false => vec![],
        true if superuser || *run == Programs::None => vec!["/proc/self/task"],
        true => vec!["/proc"],
    }
}

/// A folder to read with all that lies below; of the home folder all but hidden names, of folders above it nothing.
pub fn readable_in(folder: &Path) -> Vec<PathBuf> {
    if !holds_home(folder) {
        return vec![folder.to_path_buf()];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| is_own(path, folder)).collect()
}

/// Where the links in a folder lead that the user keeps data in.
pub fn links(folder: &Path) -> Vec<PathBuf> {
    let below = [folder.to_path_buf(), folder.join("data"), folder.join("models")];
    let entries = below.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .filter_map(|entry| entry.path().canonicalize().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Debian has it: lib/python3.11/sitecustomize.py is a link into another folder.
    #[test]
    fn a_python_may_read_what_it_starts_with_behind_a_link() {
        let root = tempfile::tempdir().expect("a folder");
        let (elsewhere, library) = (root.path().join("etc/python3.11"), root.path().join("usr/lib/python3.11"));
        [&elsewhere, &library].into_iter().for_each(|folder| std::fs::create_dir_all(folder).expect("made"));
        let file = elsewhere.join("sitecustomize.py");
        std::fs::write(&file, "").expect("written");
        std::os::unix::fs::symlink(&file, library.join("sitecustomize.py")).expect("linked");
        let places = around(&root.path().join("usr/bin/python3"));
        assert!(places.contains(&file.canonicalize().expect("there")), "{places:?}");
        assert!(!places.contains(&elsewhere), "{places:?}");
    }
}
