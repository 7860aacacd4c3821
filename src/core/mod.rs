//! Values, tensors, errors, the context of a run and its record: what every other floor stands on.

mod access;
mod begun;
mod caution;
mod cx;
mod digest;
mod error;
mod gradient;
mod home;
mod journal;
mod long;
mod machine;
pub mod permissions;
pub mod record;
mod table;
mod tally;
mod tensor;
mod texts;
mod value;

pub use caution::Cautions;
pub use cx::{Activity, Cx, Draws, Input, Progress, Quiet, Task, data_folder, write_whole};
pub use digest::Digest;
pub use error::{Error, ErrorKind, Result, nearest, suggestion};
pub use gradient::{Graph, gradients, no_gradient};
pub use home::{at_home, below_home};
pub use journal::{Journal, LongCall, State};
pub use long::{columns_of, cut, quoted, wrapped};
pub use table::Table;
pub use tensor::{
    Tensor, cuda_available, device_name, in_parallel, in_stream, normal_within_two_deviations, random, resolve_device,
    set_threads, settle_kernels, tune_allocator, with_stream,
};
pub use value::{Callback, Object, Value, number, significant};
