#!/usr/bin/env bash
# Tries what packaging/build.sh built, from the folder that is named, or target/packages: each is installed where nothing else is, moved,
# and runs the main job on drawn digits without a variable of the environment. The wheel goes into an environment of PYTHON with
# the torch that WITH_TORCH names as pip's arguments ("torch==2.11.*" unless said).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
packages=$(cd "${1:-$root/target/packages}" && pwd)
PYTHON=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/runs"
cp "$root/scripts/overfitting/demo.rhai" "$work/runs"

try() {
  echo "== $1"
  shift
  (cd "$work/runs" && env -i HOME="$work/home" PATH=/usr/bin:/bin "$@" version)
  (cd "$work/runs" && env -i HOME="$work/home" PATH=/usr/bin:/bin "$@" run demo.rhai)
}

mkdir "$work/first"
tar -xzf "$packages"/viva-*.tar.gz -C "$work/first"
mv "$work/first" "$work/moved"
try "the archive, moved" "$work"/moved/viva-*/viva

"$PYTHON" -m venv "$work/environment"
# shellcheck disable=SC2086
"$work/environment/bin/python" -m pip install --quiet ${WITH_TORCH:-"torch==2.11.*"}
"$work/environment/bin/python" -m pip install --quiet --no-deps "$packages"/viva_lab-*.whl
mv "$work/environment" "$work/moved_environment"
try "the wheel, moved" "$work/moved_environment/bin/viva"
