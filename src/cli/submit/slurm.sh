#!/bin/bash
# {{script}} in {{shards}} shards, and then put together. Sent off by: bash {{file}}
#
# What a cluster wants otherwise is to be changed here: partition, time, memory, GPUs. All shards need the same kind of machine: others
# round otherwise. A task that is taken away goes on where it was when it is started again, and so does one whose time was too short.
# What comes of it lies in {{out}}/merged.
#SBATCH --job-name={{name}}
#SBATCH --array=1-{{shards}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{log}}/log-%a.txt
#SBATCH --time=12:00:00
#SBATCH --cpus-per-task={{threads}}
#SBATCH --mem=16G
#SBATCH --signal=B:TERM@120
##SBATCH --partition=gpu
##SBATCH --gpus=1

set -euo pipefail
viva={{viva}}
out={{out}}
shards={{shards}}
cd {{folder}}
{{environment}}
if [ -z "${SLURM_JOB_ID:-}" ]; then
    mkdir -p "$out"
    array=$(sbatch --parsable {{file}})
    array=${array%%;*}
    merge=$(sbatch --parsable --array=0 --dependency="afterany:$array" {{file}})
    echo "shards: job $array; put together by job ${merge%%;*}, which refuses what is not whole"
    exit
fi

if [ "$SLURM_ARRAY_TASK_ID" = 0 ]; then
    [ ! -e "$out/merged" ] || { echo "$out/merged is there already"; exit 1; }
    # What a task left that was taken away in the middle is made anew.
    rm -rf "$out/merging"
    "$viva" merge "$out"/shard-* --out "$out/merging"{{allowed}}
    mv "$out/merging" "$out/merged"
    exit
fi

# What was done is kept when viva is asked to stop. Fifty times are enough for anything that comes forward at all.
stop() {
    kill -TERM "$work" 2>/dev/null || true
    wait "$work" || true
    [ "${SLURM_RESTART_COUNT:-0}" -ge 50 ] || scontrol requeue "$SLURM_JOB_ID"
    exit 143
}
trap stop TERM
"$viva" run {{command}} --threads {{threads}} --shard "$SLURM_ARRAY_TASK_ID/$shards" --resume "$out/shard-$SLURM_ARRAY_TASK_ID" &
work=$!
wait "$work"
