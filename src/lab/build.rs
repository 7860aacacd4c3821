//! What only libtorch's own language reaches, compiled with the headers that torch-sys found, and the folder of libtorch as a run path for
//! this package's own tests.

use std::path::Path;

/// Answers from elsewhere, and recordings.
const PARTS: [&str; 2] = ["core/elsewhere.cpp", "core/recorded.cpp"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    PARTS.iter().for_each(|part| println!("cargo:rerun-if-changed={part}"));
    let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") else { return };
    println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
    let include = Path::new(&lib).with_file_name("include");
    // As torch-sys compiles its own part; with libtorch's headers there are warnings by the hundred.
    cc::Build::new().cpp(true).std("c++17").warnings(false).include(include).files(PARTS).compile("viva_libtorch");
}
