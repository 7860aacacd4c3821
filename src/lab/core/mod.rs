//! Values, tensors, errors, the context of a run and its record: what every other floor stands on.

mod access;
mod attempt;
pub mod broker;
mod budget;
mod caution;
mod columnar;
mod control;
mod cx;
mod date;
mod device;
mod digest;
mod draws;
mod elsewhere;
mod error;
pub mod files;
mod gradient;
mod home;
mod journal;
mod json;
mod late;
mod lines;
mod long;
mod long_table;
mod machine;
mod manifest;
pub mod memory;
mod memory_budget;
mod number;
mod origins;
mod packed;
pub mod permissions;
pub mod pickle;
pub mod process;
mod progress;
pub mod python;
pub mod record;
mod recorded;
mod room;
mod said;
mod shard;
mod stored;
mod table;
mod tally;
mod tensor;
mod texts;
mod value;
mod visible;
mod workspace;
mod written;

pub use attempt::{attempt, caught, failed_call};
pub use budget::Budget;
pub use caution::Cautions;
pub use cx::{Cx, Task};
pub use date::date;
pub use device::{
    all_finite, cuda_available, cuda_failure, device_name, gpu_driver_is_here, memory_in_use, numbers_of, numerics,
    on_device, resolve_device, same_every_run, set_fast, uploads, wait_for, whole_columns, works_fast,
};
pub use digest::{Digest, bytes_of};
pub use draws::Draws;
pub use elsewhere::{Elsewhere, answered_elsewhere};
pub use error::{Error, ErrorKind, Result, nearest, suggestion};
pub use gradient::{Graph, finite, gradients, keeps_graph, no_gradient};
pub use home::{at_home, below_home};
pub use journal::{Journal, LongCall, State};
pub use json::strict_json;
pub use late::Late;
pub use lines::{columns_of, cut, quoted, wrapped};
pub use number::{number, significant, unrounded};
pub use origins::Input;
pub use packed::Packed;
pub use progress::{Activity, Progress, Quiet};
pub use recorded::RecordedStep;
pub use room::room;
pub use shard::{Division, RecordedShard, Shard, owners};
pub use stored::locked;
pub use table::{LongTable, ShownTable, Table, with_tables};
pub use tensor::{
    Tensor, copied, give_back_memory, in_parallel, in_stream, normal_within_two_deviations, parallel_threads, random,
    restart_stream, set_threads, settle_kernels, tune_allocator, with_stream, with_stream_of,
};
pub use value::{Callback, LongRows, Object, Value, is_whole, json_of_fields};
pub use visible::{picture, visible, visible_json, visible_letters};
pub use workspace::data_folder;
