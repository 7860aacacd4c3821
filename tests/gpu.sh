#!/usr/bin/env bash
# Whether viva comes to the same on this machine's NVIDIA GPU as on its CPU, and how fast it is beside PyTorch. On a GPU the whole takes
# less than twenty minutes: check about five, bench the rest.
#
#   tests/gpu.sh [--small] [--dry] [check] [bench [PART ...]]      both, unless one is named; PARTs choose works of the bench
#
# --small: sizes for a CPU; --dry: the same, and in place of the GPU the CPU with other instructions, which round otherwise.
# VIVA: the program (target/release/viva). BENCH: the bench (the latest target/release/deps/gpu-*, of cargo bench --bench gpu --no-run).
# Both may be packed, as .gz.
# PYTHON: whose torch is used, if it is of viva's version (python3). VIVA_DATA: published models and images. OUT: a folder for what comes
# of it (target/gpu): gpu.md with the tables, log.txt, bench.jsonl, and runs.tar.gz with all run folders.
# Relative paths are from the root of the sources.
# SCRIPTS chooses among tests/gpu/*.rhai, LIMIT (240) is of one run in seconds, BENCH_LIMIT (540) of the whole bench.
# What the bench reads (BENCH_FAST=1 for TF32, ..) is said in benches/gpu/main.rs.
# Ends with 1 where anything disagrees, with 2 where nothing can be run.
set -uo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 2

die() { echo "gpu.sh: $*" >&2; exit 2; }

small='' dry='' parts=() works=()
for word; do
  case $word in
    --small) small=1 ;;
    --dry) small=1 dry=1 ;;
    check | bench) parts+=("$word") ;;
    -*) die "there is no $word; the first lines of $0 say what there is" ;;
    *) [[ " ${parts[*]-} " == *" bench "* ]] || die "there is no part $word: check or bench"; works+=("$word") ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=(check bench)

viva=${VIVA:-target/release/viva} python=${PYTHON:-python3} out=${OUT:-target/gpu}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# A program, unpacked if it came as .gz.
program() {
  case $1 in
    *.gz) gunzip -c "$1" >"$runs/$2" && chmod +x "$runs/$2" && echo "$runs/$2" ;;
    *) echo "$1" ;;
  esac
}

viva=$(program "$viva" viva)
[ -x "$viva" ] || die "$viva is no program: build it (cargo build --release), or name one by VIVA="
mkdir -p "$out" || die "$out can't be made"
rm -f "$out"/{gpu.md,check.md,bench.md,bench.jsonl,log.txt,runs.tar.gz}
exec > >(tee "$out/log.txt") 2>&1
began=$SECONDS skipped=() failed=()

skip() { skipped+=("$*"); echo "skipped: $*"; }
fail() { failed+=("$*"); echo "FAILED: $*"; }

# The folder of a Python's libtorch, found without importing it.
torch_lib() {
  "$python" - <<'PYTHON'
import importlib.metadata, importlib.util, pathlib, sys
spec = importlib.util.find_spec("torch")
if spec is None:
    sys.exit("has no torch")
version = importlib.metadata.version("torch")
if version.split("+")[0] != "2.11.0":
    sys.exit(f"has torch {version}, not viva's 2.11.0")
print(pathlib.Path(spec.origin).parent / "lib")
PYTHON
}

if lib=$(torch_lib 2>"$runs/why"); then
  export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  echo "libtorch: $lib"
  export VIVA_PEERS_PYTHON=${VIVA_PEERS_PYTHON:-$python}
else
  why=$(tail -1 "$runs/why")
  skip "libtorch of $python, which ${why:-does not run}: viva takes the one that it was linked with"
fi
version=$("$viva" version 2>&1) || die "$viva does not start: $version
LD_LIBRARY_PATH must name the lib folder of torch 2.11.0; PYTHON= names a Python that has it"
echo "$version"

device=cuda elsewhere=()
if [ -n "$dry" ]; then
  device=cpu elsewhere=(env ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_ENABLE_INSTRUCTIONS=SSE4_2)
elif ! grep -q 'cuda:0' <<<"$version"; then
  why=$(sed -n 's/.*no cuda: /: /p' <<<"$version")
  die "viva finds no NVIDIA GPU here${why:-: there is no driver (/dev/nvidiactl)}; tests/gpu.sh --dry tries this script on the CPU"
fi
card="a CPU in place of a GPU (--dry)"
if [ -z "$dry" ]; then
  card=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
  card=${card:-a GPU that no nvidia-smi tells of}
fi
echo "on $card"

# run NAME WORDS...: a run of viva's, with what it said in $runs/NAME.log; its seconds are in $took.
run() {
  local name=$1 start=$EPOCHREALTIME status=0
  shift
  timeout "${LIMIT:-240}" "$@" >"$runs/$name.log" 2>&1 || status=$?
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  [ $status -eq 0 ] || { tail -25 "$runs/$name.log"; [ $status -ne 124 ] || echo "it took longer than ${LIMIT:-240} s"; }
  return $status
}

# What holds scripts may keep the driver from being opened as well; then every run is let more, and that counts as a failure.
more=(--allow-read="$PWD/tests/gpu")
opens() {
  rm -rf "$runs/opens"
  run opens "$viva" run "$runs/opens.rhai" "$@" --device "$device" --out "$runs/opens"
}
may_open() {
  echo 1 >"$runs/opens.rhai"
  opens && return
  local wide=(--allow-net --allow-write)
  opens "${wide[@]}" || die "no script opens $device, ${wide[*]} or not"
  more+=("${wide[@]}")
  fail "a script opens $device only with ${wide[*]}, which all runs here have"
}

# verdict NAME: what --verify said, and how far the farthest number was.
verdict() {
  local far
  far=$(grep -o 'at most by [^ ]*' "$runs/$1.log" | sed 's/at most by //' | sort -g | tail -1)
  echo "$(grep -o 'the results are equal[a-z ]*' "$runs/$1.log" | sed 's/the results are //; s/ of at most//; s/ *$//')${far:+, by $far}"
}

# compare NAME: the script on the CPU, there again on the device, once more on the device, and where asked by --fast.
compare() {
  local name=$1 words=() cells=() cpu other
  shift
  run "$name.cpu" "$viva" run "tests/gpu/$name.rhai" "${more[@]}" --device cpu --out "$runs/$name.cpu" "$@" || { fail "$name on the CPU"; return; }
  cpu=$took
  words=("${elsewhere[@]}" "$viva" run "${more[@]}" --verify --device "$device")
  if run "$name.gpu" "${words[@]}" "$runs/$name.cpu" --out "$runs/$name.gpu"; then
    cells+=("$(verdict "$name.gpu")")
  else
    fail "$name: $device and CPU disagree"; cells+=("**DIFFERENT**")
  fi
  other=$took
  if [ ! -e "$runs/$name.gpu/results.json" ]; then
    cells+=("-")
  elif run "$name.again" "${words[@]}" "$runs/$name.gpu" --out "$runs/$name.again"; then
    cells+=("$(verdict "$name.again")")
  else
    fail "$name: two runs on $device disagree"; cells+=("**DIFFERENT**")
  fi
  # In TF32 a search goes another way at some step; what networks answer is as far apart as its factors.
  if [ "$name" != zoo ]; then
    cells+=("-")
  elif run "$name.fast" "${words[@]}" "$runs/$name.cpu" --fast --out "$runs/$name.fast"; then
    cells+=("$(verdict "$name.fast")")
  else
    fail "$name: $device in TF32 and CPU disagree"; cells+=("**DIFFERENT**")
  fi
  echo "| $name | $cpu s | $other s | ${cells[0]} | ${cells[1]} | ${cells[2]} |" | tee -a "$out/check.md"
}

check() {
  local sizes
  may_open
  printf '%s\n' "| script | CPU | $device | $device beside CPU | $device again | in TF32 |" "| --- | --- | --- | --- | --- | --- |" >"$out/check.md"
  for name in ${SCRIPTS:-sweep curves training generators examiner programs zoo published}; do
    sizes=()
    if [ -n "$small" ]; then
      case $name in
        zoo) sizes=(--networks resnet18 --side 64) ;;
        examiner) sizes=(--n 2) ;;
        published) sizes=(--n 10) ;;
        *) sizes=(--n 40) ;;
      esac
    fi
    if [ "$name" = published ] && [ ! -d "${VIVA_DATA:-}/models/imagenet_squeezenet1_1" ]; then
      skip "published: VIVA_DATA names no folder with models/imagenet_squeezenet1_1"
      continue
    fi
    compare "$name" "${sizes[@]}"
  done
}

bench() {
  local program=${BENCH:-$(find target/release/deps -maxdepth 1 -name 'gpu-*' -perm -u+x -type f -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -1 | cut -d' ' -f2-)}
  program=$(program "$program" bench)
  if [ ! -x "$program" ]; then
    skip "bench: no program; cargo bench --bench gpu --no-run builds it, or BENCH= names one"
    return
  fi
  local settings=(BENCH_DEVICE=$device BENCH_OUT="$out" BENCH_SECONDS="${BENCH_SECONDS:-420}" ${small:+BENCH_SMALL=1 BENCH_TURNS=1})
  env "${settings[@]}" timeout "${BENCH_LIMIT:-540}" "$program" "${works[@]}" || fail "bench: the sides disagree, or it did not end (${BENCH_LIMIT:-540} s)"
  while read -r line; do skipped+=("bench, ${line#skipped: }"); done < <(grep -h '^skipped: ' "$out/bench.md" 2>/dev/null)
}

for part in "${parts[@]}"; do $part; done
rm -rf "$runs"/{viva,bench,why,opens,opens.rhai,opens.log}
tar -czf "$out/runs.tar.gz" -C "$runs" . 2>/dev/null
{
  echo "On $card, viva $(sed -n 's/^viva *//p' <<<"$version"), libtorch $(sed -n 's/^libtorch *//p' <<<"$version")${small:+, at small sizes, which say nothing of speed}:"
  for file in check.md bench.md; do [ -e "$out/$file" ] && { echo; cat "$out/$file"; }; done
  echo
  for line in "${skipped[@]}"; do echo "skipped: $line"; done
  for line in "${failed[@]}"; do echo "FAILED: $line"; done
  echo "$((SECONDS - began)) s in all; ${#failed[@]} disagreements"
} >"$out/gpu.md"
echo
cat "$out/gpu.md"
[ ${#failed[@]} -eq 0 ]
