//! Which devices there are, and how numbers are worked out on them.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tch::{Device, Kind, Tensor};

use super::{Error, ErrorKind, Result};

/// Whether CUDA can be used, or why it can't.
enum Cuda {
    Usable,
    /// Neither a driver nor a reason to expect one.
    NoDriver,
    /// What the loader, or libtorch, says.
    Failed(String),
}

/// Whether the driver of a GPU for CUDA shows itself, on Linux or below Windows, which has the same device file for all makers of GPUs.
pub fn gpu_driver_is_here() -> bool {
    let is_here = |file: &str| std::path::Path::new(file).exists();
    is_here("/dev/nvidiactl") || (is_here("/dev/dxg") && is_here("/usr/lib/wsl/lib/libcuda.so.1"))
}

/// Opens libtorch's CUDA library where a driver is present, as the binary is linked with the CPU part alone so that it starts everywhere, and
/// settles how numbers are worked out there. libtorch looks for CUDA once, so this comes before its first operation.
fn cuda() -> &'static Cuda {
    static CUDA: OnceLock<Cuda> = OnceLock::new();
    CUDA.get_or_init(|| {
        if !gpu_driver_is_here() {
            return Cuda::NoDriver;
        }
        for (name, value) in EXACT.iter().filter(|_| !works_fast()) {
            if std::env::var_os(name).is_none() {
                // SAFETY: the process has one thread of its own yet, and libtorch none that reads the environment.
                unsafe { std::env::set_var(name, value) };
            }
        }
        // SAFETY: libtorch_cuda's initialisers register its kernels and have no other precondition; the library stays open.
        match unsafe {
            libloading::os::unix::Library::open(Some("libtorch_cuda.so"), libc::RTLD_NOW | libc::RTLD_GLOBAL)
        } {
            Ok(library) => std::mem::forget(library),
            Err(error) => return Cuda::Failed(loader_said(&error)),
        }
        if !tch::Cuda::is_available() {
            return Cuda::Failed(no_gpu());
        }
        match settle_numerics() {
            Some(()) => Cuda::Usable,
            None => Cuda::Failed("this libtorch has no switches for TF32 and determinism".into()),
        }
    })
}

/// What CUDA's libraries read once, unless the user has said otherwise: programs that `torch.jit.trace` wrote convolve in TF32 whatever
/// libtorch's context says. `CUBLAS_WORKSPACE_CONFIG` is not among them: libtorch 2.11 gives every handle of cuBLAS a workspace of its own, with
/// which its sums are the same in every run, and parses that variable anew at every product. `server.py` sets it all the same, as a Python's own libtorch may be older.
const EXACT: [(&str, &str); 1] = [("NVIDIA_TF32_OVERRIDE", "0")];

/// Why libtorch finds no GPU although there is a driver, as the driver itself has it.
fn no_gpu() -> String {
    let said = driver_said().map_or(String::new(), |said| format!(": {said}"));
    // Made by a program that processes which are held may not start.
    let memory =
        match std::path::Path::new("/dev/nvidiactl").exists() && !std::path::Path::new("/dev/nvidia-uvm").exists() {
            true => "; /dev/nvidia-uvm is not there, which `nvidia-modprobe -u -c=0`, or `viva version`, makes",
            false => "",
        };
    format!("libtorch finds no usable GPU{said}{memory}; `nvidia-smi` tells more")
}

/// What the driver answers when it is to begin; none where it began.
#[cfg(unix)]
fn driver_said() -> Option<String> {
    use std::ffi::{CStr, c_char, c_int};
    type Named = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
    // SAFETY: functions of CUDA's driver with the types of its documentation; what they name lives as long as the library, which stays open
    // where libtorch has opened it, and is copied.
    unsafe {
        let driver = libloading::os::unix::Library::new("libcuda.so.1").ok()?;
        let failed = driver.get::<unsafe extern "C" fn(u32) -> c_int>(b"cuInit\0").ok()?(0);
        if failed == 0 {
            return None;
        }
        let word = |function: &[u8]| {
            let mut text = std::ptr::null();
            let well = driver.get::<Named>(function).ok()?(failed, &mut text) == 0 && !text.is_null();
            well.then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        let name = word(b"cuGetErrorName\0").unwrap_or_else(|| format!("CUDA error {failed}"));
        Some(word(b"cuGetErrorString\0").map_or(name.clone(), |text| format!("{name}, {text}")))
    }
}

#[cfg(not(unix))]
fn driver_said() -> Option<String> {
    None
}

/// Whether a variable of the environment stands as this process itself has set it.
pub(super) fn set_for_gpus(name: &str) -> bool {
    let own = EXACT.iter().find(|(known, _)| *known == name);
    own.is_some_and(|(_, value)| {
        cuda_available() && !works_fast() && std::env::var(name).is_ok_and(|set| set == *value)
    })
}

/// An error of `libloading` holds the loader's own words as its cause.
fn loader_said(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Whether a CUDA device can be used.
pub fn cuda_available() -> bool {
    matches!(cuda(), Cuda::Usable)
}

/// Why a machine with a GPU's driver has no CUDA device here; `None` where it has one, or no driver.
pub fn cuda_failure() -> Option<&'static str> {
    match cuda() {
        Cuda::Failed(why) => Some(why),
        Cuda::Usable | Cuda::NoDriver => None,
    }
}

static FAST: AtomicBool = AtomicBool::new(false);

/// Has a GPU work as fast as it can, with sums in any order and convolutions in TF32, of which a number has 10 bits; said once, before
/// anything else. The CPU works as ever.
pub fn set_fast() {
    FAST.store(true, Ordering::Relaxed);
}

/// Whether `set_fast` was said.
pub fn works_fast() -> bool {
    FAST.load(Ordering::Relaxed)
}

/// Whether the order of sums is a choice to be made on a device so that every run has the same bytes: on a GPU, unless it is to be fast.
pub fn same_every_run(device: Device) -> bool {
    matches!(device, Device::Cuda(_)) && !works_fast()
}

/// How numbers are worked out on GPUs.
pub fn numerics() -> &'static str {
    match works_fast() {
        false => "single precision, deterministic algorithms",
        true => "TF32 and algorithms that add up in any order (--fast)",
    }
}

/// Has libtorch work as `numerics` says; `None` where it lacks a switch for it.
fn settle_numerics() -> Option<()> {
    context::set("setAllowTF32CuDNN", works_fast())?;
    context::set("setAllowTF32CuBLAS", works_fast())?;
    context::set("setDeterministicCuDNN", !works_fast())?;
    // To try all ways of a convolution takes seconds for each new size of a batch, and batches of searches shrink.
    context::set("setBenchmarkCuDNN", false)?;
    context::set_reductions("setAllowBF16ReductionCuBLAS", works_fast())?;
    context::set_reductions("setAllowFP16ReductionCuBLAS", works_fast())?;
    // Kernels that are fused once a program has been called some times round otherwise than before.
    tch::jit::f_set_tensor_expr_fuser_enabled(works_fast()).ok()?;
    // Tensors that are not written yet would be filled first.
    context::set("setDeterministicFillUninitializedMemory", false)?;
    context::set_deterministic(!works_fast())
}

/// Settings of libtorch's global context, which tch has no functions for.
mod context {
    use std::ffi::c_void;

    use libloading::os::unix::{Library, Symbol};

    fn symbol<T>(mangled: &str) -> Option<Symbol<T>> {
        // SAFETY: libtorch_cpu, which the binary is linked with, exports these functions with these types; it stays open.
        unsafe { Library::this().get::<T>(mangled.as_bytes()).ok() }
    }

    fn global() -> Option<*mut c_void> {
        let global = symbol::<unsafe extern "C" fn() -> *mut c_void>("_ZN2at13globalContextEv")?;
        // SAFETY: `at::globalContext()` takes nothing and answers a reference that lives as long as the process.
        Some(unsafe { global() })
    }

    /// `at::globalContext().NAME(value)`, of a setter of one truth value.
    pub fn set(name: &str, value: bool) -> Option<()> {
        let mangled = format!("_ZN2at7Context{}{name}Eb", name.len());
        let setter = symbol::<unsafe extern "C" fn(*mut c_void, bool)>(&mangled)?;
        // SAFETY: a member function takes its object first.
        unsafe { setter(global()?, value) };
        Some(())
    }

    /// `at::globalContext().NAME(value, true)`: sums of products in half precision, which may be split among blocks either way.
    pub fn set_reductions(name: &str, value: bool) -> Option<()> {
        set_two(&format!("_ZN2at7Context{}{name}Ebb", name.len()), value, true)
    }

    fn set_two(mangled: &str, first: bool, second: bool) -> Option<()> {
        let setter = symbol::<unsafe extern "C" fn(*mut c_void, bool, bool)>(mangled)?;
        // SAFETY: as above.
        unsafe { setter(global()?, first, second) };
        Some(())
    }

    /// `at::globalContext().setDeterministicAlgorithms(value, false)`: what has no such algorithm is an error.
    pub fn set_deterministic(value: bool) -> Option<()> {
        set_two("_ZN2at7Context26setDeterministicAlgorithmsEbb", value, false)
    }
}

/// Waits until a device has done all that it was asked.
pub fn wait_for(device: Device) -> Result<()> {
    match device {
        Device::Cuda(number) => super::attempt(|| {
            tch::Cuda::synchronize(number as i64);
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// How many bytes of a GPU's memory are in use, by whoever, and how many it has; `None` where nothing tells.
pub fn memory_in_use(device: Device) -> Option<(usize, usize)> {
    use libloading::os::unix::Library;
    let Device::Cuda(number) = device else { return None };
    let number = i32::try_from(number).ok()?;
    let (mut before, mut free, mut total) = (0i32, 0usize, 0usize);
    // SAFETY: functions of CUDA's runtime, which libtorch_cuda brings along, with the types of its documentation; 0 says that all went well.
    let well = unsafe {
        let process = Library::this();
        let current = process.get::<unsafe extern "C" fn(*mut i32) -> i32>(b"cudaGetDevice\0").ok()?;
        let set = process.get::<unsafe extern "C" fn(i32) -> i32>(b"cudaSetDevice\0").ok()?;
        let memory = process.get::<unsafe extern "C" fn(*mut usize, *mut usize) -> i32>(b"cudaMemGetInfo\0").ok()?;
        current(&mut before) == 0 && set(number) == 0 && {
            let told = memory(&mut free, &mut total);
            set(before) == 0 && told == 0
        }
    };
    well.then(|| (total.saturating_sub(free), total))
}

/// What is larger than this goes to a GPU by memory that is read page by page: memory that the GPU reads by itself is kept for good.
const PINNED: usize = 64 << 20;

thread_local! {
    /// Whether this thread records what a GPU is asked for.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
    /// Tensors that this thread has handed to a GPU.
    static UPLOADS: Cell<usize> = const { Cell::new(0) };
}

/// How many tensors this thread has handed to a GPU so far.
pub fn uploads() -> usize {
    UPLOADS.get()
}

/// Does work of which a GPU's part is recorded: what it would take along from the host could not be taken again, so that is refused.
pub(super) fn recording<T>(work: impl FnOnce() -> T) -> T {
    RECORDS.set(true);
    let done = work();
    RECORDS.set(false);
    done
}

/// A tensor on a device. On its way from the CPU to a GPU the host does not wait for what the GPU still has to do.
pub fn on_device(tensor: &Tensor, device: Device) -> Result<Tensor> {
    let small = tensor.numel() * tensor.kind().elt_size_in_bytes() <= PINNED;
    let up = tensor.device() == Device::Cpu && matches!(device, Device::Cuda(_));
    if up {
        UPLOADS.set(UPLOADS.get() + 1);
        if RECORDS.get() {
            return Err(Error::internal("numbers of the host's in a step that is recorded"));
        }
    }
    if small && up {
        // Where the system gives no such memory, the usual way is as good but for the wait.
        if let Ok(pinned) = tensor.f_internal_pin_memory(device) {
            return Ok(pinned.f_to_device_(device, tensor.kind(), true, false)?);
        }
    }
    Ok(tensor.f_to_device(device)?)
}

/// Tensors of one number each as numbers, in one transfer: of a GPU the host waits once.
pub fn numbers_of(tensors: &[Tensor]) -> Result<Vec<f64>> {
    if tensors.iter().all(|tensor| tensor.device() == Device::Cpu) {
        return Ok(tensors.iter().map(|tensor| tensor.f_double_value(&[])).collect::<std::result::Result<_, _>>()?);
    }
    let doubles = tensors.iter().map(|tensor| tensor.f_detach()?.f_to_kind(Kind::Double));
    let doubles = doubles.collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Vec::try_from(&Tensor::f_stack(&doubles, 0)?.f_to_device(Device::Cpu)?)?)
}

/// Columns of as many whole numbers or truths each, in one transfer.
pub fn whole_columns<const M: usize>(columns: [Tensor; M]) -> Result<[Vec<i64>; M]> {
    let whole = columns.iter().map(|column| column.f_to_kind(Kind::Int64)?.f_reshape([-1]));
    let whole = whole.collect::<std::result::Result<Vec<_>, _>>()?;
    let flat = Vec::<i64>::try_from(&Tensor::f_cat(&whole, 0)?.f_to_device(Device::Cpu)?)?;
    let n = flat.len() / M;
    Ok(std::array::from_fn(|i| flat[i * n..][..n].to_vec()))
}

/// Whether all numbers of these tensors are finite, as a tensor of one number on their device.
pub fn all_finite<'t>(tensors: impl Iterator<Item = &'t Tensor>) -> Result<Tensor> {
    let flags = tensors.map(|tensor| tensor.f_isfinite()?.f_all()).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Tensor::f_stack(&flags, 0)?.f_all()?)
}

/// The name that `resolve_device` takes.
pub fn device_name(device: Device) -> String {
    match device {
        Device::Cuda(number) => format!("cuda:{number}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// A device by the name that scripts use: `"cpu"`, `"cuda"`, `"cuda:1"`.
pub fn resolve_device(name: &str) -> Result<Device> {
    let missing = |what: &str| {
        let why = cuda_failure().map_or(String::new(), |why| format!(": {why}"));
        Err(Error::new(ErrorKind::Device, format!("device {name:?}: {what}{why}"))
            .hint("`viva version` lists the devices of this machine; \"cpu\" always works"))
    };
    match name {
        "cpu" => Ok(Device::Cpu),
        "cuda" if cuda_available() => Ok(Device::Cuda(0)),
        "cuda" => missing("no CUDA device here"),
        _ => match name.strip_prefix("cuda:").and_then(|n| n.parse::<usize>().ok()) {
            Some(n) if cuda_available() && (n as i64) < tch::Cuda::device_count() => Ok(Device::Cuda(n)),
            Some(_) => missing("no such CUDA device here"),
            None => Err(Error::new(
                ErrorKind::Device,
                format!("device {name:?}: not a device name; use \"cpu\", \"cuda\" or \"cuda:1\""),
            )
            .hint("`viva version` lists the devices of this machine; \"cpu\" always works")),
        },
    }
}
