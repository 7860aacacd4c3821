#!/usr/bin/env bash
# A real slurmctld and slurmd on this machine: a script in four shards by what `viva submit --slurm` writes, one of them killed and queued
# again, and what is put together is the bytes of one process. Needs root, and Debian's slurmctld, slurmd, slurm-client and munge.
#
#     VIVA=target/debug/viva tests/slurm.sh
set -euo pipefail
viva=$(realpath "${VIVA:-target/debug/viva}")
top=$(mktemp -d /tmp/viva-slurm.XXXXXX)
host=$(hostname -s)
mkdir -p "$top"/{state,spool,run} /run/munge
chown munge: /run/munge
[ -s /etc/munge/munge.key ] || { dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 status=none; chown munge: /etc/munge/munge.key; chmod 400 /etc/munge/munge.key; }
pgrep -x munged >/dev/null || runuser -u munge -- /usr/sbin/munged
cat >"$top/slurm.conf" <<CONF
ClusterName=viva
SlurmctldHost=$host
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool
SlurmctldPidFile=$top/run/slurmctld.pid
SlurmdPidFile=$top/run/slurmd.pid
SlurmctldLogFile=$top/slurmctld.log
SlurmdLogFile=$top/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
JobRequeue=1
KillWait=5
SlurmctldPort=16817
SlurmdPort=16818
NodeName=$host CPUs=$(nproc) RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$top/slurm.conf
grep -q "[[:space:]]$host\$" /etc/hosts || echo "127.0.0.1 $host" >>/etc/hosts
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF" -N "$host"
trap 'scancel --me 2>/dev/null || true; kill $(cat "$top"/run/*.pid) 2>/dev/null || true' EXIT
for _ in $(seq 60); do [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && break; sleep 1; done
sinfo

# Long enough that a shard can be killed in the middle.
cat >"$top/script.rhai" <<'SCRIPT'
let ds = data::glyphs(#{ n: 320, size: 28, seed: 1 });
let f = model::train(ds, #{ arch: [net::conv(24, 5), net::relu(), net::conv(24, 5), net::relu(), net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
risk::estimate(f, ds, #{ searches: ["strongest", "blind"], radii: [3, 4] })
SCRIPT
cd "$top"
"$viva" run script.rhai --threads 1 --out one >/dev/null
"$viva" submit --slurm script.rhai --shards 4 --threads 1 --out shards
# As a person would fit it to this cluster.
sed -i 's/^#SBATCH --mem=.*/#SBATCH --mem=900M/' shards/slurm.sh
bash shards/slurm.sh | tee sent.txt
array=$(sed -E 's/.*shards: job ([0-9]+).*/\1/' sent.txt)
merge=$(sed -E 's/.*by job ([0-9]+).*/\1/' sent.txt)
journal=shards/shard-2/progress/journal
for _ in $(seq 600); do [ "$(stat -c %s "$journal" 2>/dev/null || echo 0)" -gt 20000 ] && break; sleep 0.1; done
echo "shard 2 is killed after $(stat -c %s "$journal") bytes of its journal, and queued again"
pkill -KILL -f -- "--shard 2/4" || true
scontrol requeue "${array}_2"
for _ in $(seq 600); do [ -z "$(squeue -h -j "$array,$merge" 2>/dev/null)" ] && break; sleep 1; done
squeue
cat shards/log-2.txt
cat shards/log-0.txt
for file in one/*; do
    name=$(basename "$file")
    [ "$name" = manifest.json ] || [ -d "$file" ] || cmp "$file" "shards/merged/$name"
done
grep -q '"resumed": [1-9]' shards/shard-2/manifest.json
echo "shards that Slurm ran and one of them twice: the bytes of one process"
