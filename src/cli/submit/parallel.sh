#!/bin/bash
# {{script}} in {{shards}} shards by GNU parallel, and then put together: bash {{file}}
#
# On several machines that share this folder: --sshlogin host1,host2 behind `parallel`. Run again it goes on where it was.
set -euo pipefail
cd {{folder}}
{{environment}}
mkdir -p {{out}}
parallel --quote --jobs 2 --retries 3 --joblog {{out}}/jobs.txt \
    {{viva}} run {{command}} --threads {{threads}} --shard {}/{{shards}} --resume {{out}}/shard-{} \
    ::: $(seq {{shards}})
{{viva}} merge {{out}}/shard-* --out {{out}}/merged{{allowed}}
