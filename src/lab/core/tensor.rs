//! What the rest of the crate needs of libtorch beside its operations: threads, memory and random streams.

pub use tch::Tensor;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use tch::Device;

use super::{Error, Result};

/// A generator of random numbers for one stream. Streams made from the same seed and different parts are independent.
pub fn random(seed: u64, part: u64) -> Pcg64Mcg {
    // SplitMix64 of both words, so that neighbouring parts do not give neighbouring states.
    let mix = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    Pcg64Mcg::seed_from_u64(
        mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ mix(part.wrapping_mul(0xd134_2543_de82_ef95)),
    )
}

thread_local!(static HELD: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });

/// Whether this thread is inside `with_stream`: draws from libtorch's generator anywhere else would disturb other streams.
pub fn in_stream() -> bool {
    HELD.get()
}

/// Numbers of a standard normal distribution cut off at two deviations, in double precision on the CPU, from libtorch's generator.
pub fn normal_within_two_deviations(size: &[i64]) -> Result<Tensor> {
    // How much of a normal distribution lies within two standard deviations.
    let share = 0.954_499_736_103_641_6;
    let mut uniform = Tensor::f_empty(size, (tch::Kind::Double, Device::Cpu))?;
    Ok(uniform.f_uniform_(-share, share)?.f_erfinv()?.f_mul_scalar(std::f64::consts::SQRT_2)?)
}

/// Runs `work` with libtorch's own generator at the start of the stream (`seed`, `part`). The process has one such generator,
/// so other threads that want a stream wait until `work` is done.
pub fn with_stream<T>(seed: u64, part: u64, work: impl FnOnce() -> T) -> T {
    use rand::RngCore;
    static GENERATOR: std::sync::Mutex<()> = std::sync::Mutex::new(());
    struct Release;
    impl Drop for Release {
        fn drop(&mut self) {
            HELD.set(false);
        }
    }
    // A stream inside a stream is on the same thread, which has the generator already.
    let _guard =
        (!HELD.replace(true)).then(|| (Release, GENERATOR.lock().unwrap_or_else(std::sync::PoisonError::into_inner)));
    tch::manual_seed((random(seed, part).next_u64() >> 1) as i64);
    work()
}

/// A copy that no graph leads to. libtorch's `detach_copy` has a graph of its own where the tensor asks for gradients.
pub fn copied(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.f_detach()?.f_detach_copy()?)
}

/// Inside of `with_stream`: its beginning again.
pub fn restart_stream(seed: u64, part: u64) {
    with_stream(seed, part, || ());
}

/// Runs `work`, what a program makes of `x`, with libtorch's own generator at the start of a stream of these very numbers: the same
/// question has the same answer, however often and in whichever process it is asked. Inside a stream it draws from that.
pub fn with_stream_of<T>(x: &Tensor, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if in_stream() {
        return work();
    }
    // The sum of the bits as integers: the same in every order, and as fast as memory.
    let whole = match x.kind().elt_size_in_bytes() {
        8 => tch::Kind::Int64,
        4 => tch::Kind::Int,
        2 => tch::Kind::Int16,
        _ => tch::Kind::Uint8,
    };
    let bits = x.f_detach()?.f_contiguous()?.f_view_dtype(whole)?.f_sum(tch::Kind::Int64)?.f_int64_value(&[])?;
    with_stream(bits as u64, x.numel() as u64, work)
}

/// Keeps freed pages in the process: libtorch frees and allocates the same large blocks at every step, and each return to
/// the system costs page faults (worth up to 1.7 times in speed).
pub fn tune_allocator() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt only sets parameters of glibc's allocator; it is called before any thread is started.
    unsafe {
        // glibc's largest: bigger blocks would leave holes in the heap that only blocks of their size can fill.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        libc::mallopt(libc::M_TOP_PAD, 256 << 20);
    }
}

/// Gives the system back what was freed: after many lines at a prompt, whose tensors come and go between what stays, most of the memory would be holes.
pub fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: malloc_trim frees what nobody holds, and may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Has MKL, which libtorch calls on Intel's and AMD's processors, choose its kernels before threads can ask for them. Products get the mode
/// that MKL promises to be reproducible from run to run, unless MKL_CBWR in the environment says otherwise. MKL's vector functions note the
/// processor twice, first by a number that stands for another accuracy: a thread that reads between the two takes square roots of twelve bits,
/// so one thread asks for one before others can. Both work before libtorch's first operation, and again do nothing.
pub fn settle_kernels() {
    static SETTLED: std::sync::Once = std::sync::Once::new();
    SETTLED.call_once(|| {
        super::cuda_available();
        // MKL_CBWR_AUTO of mkl_types.h: the best kernels that this processor has.
        const BEST_FOR_THE_PROCESSOR: i32 = 2;
        if std::env::var_os("MKL_CBWR").is_none_or(|mode| mode.is_empty()) {
            // SAFETY: the functions are mkl_cbwr_set and mkl_set_dynamic of MKL's documentation, which take an int.
            unsafe {
                let process = libloading::os::unix::Library::this();
                if let Ok(set) = process.get::<unsafe extern "C" fn(i32) -> i32>(b"mkl_serv_cbwr_set\0") {
                    set(BEST_FOR_THE_PROCESSOR);
                }
                // As libtorch does once it is told a number of threads, which would start them.
                if let Ok(set) = process.get::<unsafe extern "C" fn(i32)>(b"MKL_Set_Dynamic\0") {
                    set(0);
                }
            }
        }
        // What libtorch can't do now it says where it is asked for.
        drop(Tensor::f_ones([1], (tch::Kind::Float, Device::Cpu)).and_then(|one| one.f_sqrt()));
    });
}

/// Sets the number of CPU threads that libtorch uses for one operation.
pub fn set_threads(n: usize) {
    tch::set_num_threads(n as i32);
}

/// How many threads parallel iterators have: as many as libtorch may use.
pub fn parallel_threads() -> usize {
    tch::get_num_threads().max(1) as usize
}

/// Runs `work`, whose parallel iterators use as many threads as libtorch may.
pub fn in_parallel<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    static POOL: std::sync::Mutex<Option<(usize, std::sync::Arc<rayon::ThreadPool>)>> = std::sync::Mutex::new(None);
    let threads = parallel_threads();
    let mut held = POOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let pool = match &*held {
        Some((size, pool)) if *size == threads => pool.clone(),
        _ => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.map_err(|error| Error::internal(format!("{threads} threads can't be started: {error}")))?;
            held.insert((threads, std::sync::Arc::new(pool))).1.clone()
        }
    };
    drop(held);
    Ok(pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_ask_for_no_gradients_and_have_memory_of_their_own() -> Result<()> {
        let own = Tensor::zeros([3], (tch::Kind::Float, Device::Cpu)).set_requires_grad(true);
        let copy = copied(&own)?;
        assert!(!copy.requires_grad() && copy.data_ptr() != own.data_ptr() && own.requires_grad());
        assert!(own.f_detach_copy()?.requires_grad(), "libtorch's own has a graph");
        Ok(())
    }
}
