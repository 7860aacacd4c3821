//! `viva doc machines`: how a run is divided over machines and put together.

pub const PAGE: &str = "\
A run on many machines

  viva run SCRIPT --shard 3/16 --out DIR     works out the third of sixteen parts
  viva merge DIR...                          puts all of them together
  viva run SCRIPT --devices 0,1              both at once, a process on each of these GPUs of one machine
  viva submit --slurm SCRIPT --shards 16     writes down what Slurm needs to do both; also --kubernetes and --parallel

Every shard runs the whole script, but its examinations (`examine`, `risk::estimate` and what builds on them) look at a part of the rows. \
Rows go together in blocks, and blocks are dealt out by hashes of the data set and the block, so that any number of shards has about as many \
each, in whatever order images stand. No batch of a model reaches over two blocks: what comes of a block is the same bits beside whatever \
others.

`viva merge` runs the script once more with what the shards have recorded in place of the models' answers. Its results, tables and figures \
are the same bytes as those of one process. Refused by name are shards that are missing, there twice, not at their end, or cut short, and those of \
another script, other arguments, another seed or another viva; and where a shard has looked at another model or other data, the \
examination that differs and in what. Shards that ran on other devices or with other threads round otherwise: they are refused too, \
unless --mixed is given, which the manifest says.

What a shard itself prints and writes is of its rows alone, and says so. A script that fails on a part of the rows leaves what it has \
recorded; put together it runs on all of them. The shards' folders hold what they have recorded below `progress` until they are removed by hand.

Not divided: trainings, `search::worst`, audits, `generator::perturb`, and what models answer to images as they stand (`f.accuracy`). Every shard works \
these out in whole, and what is put together takes them from one of them. `stop_early` is refused in shards. A script in which an examination follows from what \
another has found, as of images that an attack made, can't be put together, as a shard finds a part of it: `viva merge` says which. Random numbers that \
closures draw without a seed are others in shards than in one process, which results say.

A block has as many images as fill a batch with what is asked of each, an eighth of that where a finite set of points is, and of searches whose images end each by itself \
some batches. Where there are fewer blocks than shards, a smaller `batch` may make more.

Where shards ran on a GPU, they are put together on one: what they have recorded is known by the device.

`--devices 0,1` starts a process for each of these GPUs, which is all that it sees of them (CUDA_VISIBLE_DEVICES), with its share of threads and memory; \
the shards lie in DIR-shards, and what they come to in DIR. `--devices cpu,cpu` does so on the CPU, which pays where a model answers on one thread. Ctrl-C stops \
all of them, and --resume DIR with as many devices goes on. GPUs of several kinds round otherwise, which `viva merge` refuses by their names.

What `viva submit` writes is one file to be read and changed: partition, time, memory, GPUs. In Slurm it is an array of tasks that are queued again \
when they are taken away or their time was too short, and go on by --resume where they were; a last task waits for them and puts \
them together. For Kubernetes it is an Indexed Job and one that waits for it, on a volume that all pods share; for GNU parallel a script.";
