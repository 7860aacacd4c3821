#!/bin/bash
# {{script}} in {{shards}} shards by GNU parallel, and then put together: bash {{file}}
#
# On several machines that share this folder: --sshlogin host1,host2 behind `parallel`. Run again it goes on where it was. What comes of it
# lies in {{out}}/merged.
set -euo pipefail
cd {{folder}}
{{environment}}
mkdir -p {{out}}
[ ! -e {{out}}/merged ] || { echo {{out}}/merged is there already; exit 1; }
parallel --quote --jobs 2 --retries 3 --joblog {{out}}/jobs.txt \
    {{viva}} run {{command}} --threads {{threads}} --shard {}/{{shards}} --resume {{out}}/shard-{} \
    ::: $(seq {{shards}})
# What was stopped in the middle is made anew.
rm -rf {{out}}/merging
{{viva}} merge {{out}}/shard-* --out {{out}}/merging{{allowed}}
mv {{out}}/merging {{out}}/merged
