//! Hands the libtorch folder that `torch-sys` found to the linker as a run path, so that the binary starts without
//! `LD_LIBRARY_PATH`, and tells the tests whether there are data to test with.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=stdlib");
    if let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
    }
    // Tests that need the data are marked as ignored where there are none, so that the suite counts them.
    println!("cargo:rerun-if-env-changed=VIVA_DATA");
    println!("cargo:rustc-check-cfg=cfg(viva_data)");
    if std::env::var_os("VIVA_DATA").is_some_and(|folder| !folder.is_empty()) {
        println!("cargo:rustc-cfg=viva_data");
    }
}
