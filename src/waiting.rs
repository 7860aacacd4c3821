//! How long threads of libgomp, which libtorch computes with, wait for work before they give way. By default it is so long that on a machine
//! where something else runs small networks take five times as long. libgomp reads GOMP_SPINCOUNT as it is loaded, which is before `main`.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicPtr, Ordering};

/// About a tenth of a millisecond: threads that sleep at once wake too late for small networks.
const SPINS: &CStr = c"GOMP_SPINCOUNT=30000";

/// What the person who started viva says about it wins.
const SAID: [&CStr; 2] = [c"GOMP_SPINCOUNT=", c"OMP_WAIT_POLICY="];

/// Variables of shells that no library reads: one of them lends its place, as the environment can't grow yet.
const LENDERS: [&CStr; 6] = [c"_=", c"OLDPWD=", c"SHLVL=", c"PWD=", c"LOGNAME=", c"USER="];

static LENT: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());

/// What the loader calls before the initialisers of any library.
#[used]
#[unsafe(link_section = ".preinit_array")]
static BEFORE_LIBRARIES: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) = say;

fn begins(text: &CStr, with: &CStr) -> bool {
    text.to_bytes().starts_with(with.to_bytes())
}

unsafe extern "C" fn say(_: c_int, _: *mut *mut c_char, environment: *mut *mut c_char) {
    let mut lender = None;
    // SAFETY: the loader gives an array of strings with a null pointer at its end, and nothing else runs yet.
    unsafe {
        let mut place = environment;
        while !(*place).is_null() {
            let text = CStr::from_ptr(*place);
            if SAID.iter().any(|said| begins(text, said)) {
                return;
            }
            if LENDERS.iter().any(|name| begins(text, name)) {
                lender = Some(place);
            }
            place = place.add(1);
        }
        if let Some(place) = lender {
            LENT.store(*place, Ordering::Relaxed);
            *place = SPINS.as_ptr().cast_mut();
        }
    }
}

/// Puts back the variable that lent its place; before any thread is started.
pub fn give_back() {
    let lent = LENT.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if lent.is_null() {
        return;
    }
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: it is a string of the environment that the process began with, which stays; no other thread is there to read variables.
    unsafe {
        let bytes = CStr::from_ptr(lent).to_bytes();
        if let Some(end) = bytes.iter().position(|byte| *byte == b'=') {
            let [name, value] = [&bytes[..end], &bytes[end + 1..]].map(std::ffi::OsStr::from_bytes);
            std::env::set_var(name, value);
        }
    }
}
