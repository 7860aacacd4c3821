#!/usr/bin/env bash
# Builds what is handed out, into the folder that is named, or target/packages:
#   viva_lab-VERSION-py3-none-PLATFORM.whl   for pip, into an environment with torch 2.11
#   viva-VERSION-PLATFORM.tar.gz             for machines without Python: the binary, and libtorch's CPU part beside it
# Needs cargo, a C++ compiler, and python3 with maturin and wheel; libtorch is fetched unless LIBTORCH names one. What Linux it runs on
# follows from the machine that builds it: for old ones, build in the container manylinux_2_28. Afterwards: packaging/try.sh.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/target/packages}"
out=$(cd "${1:-$root/target/packages}" && pwd)
PYTHON=${PYTHON:-python3}
cd "$root"

if [ -z "${LIBTORCH:-}" ]; then
  make libtorch
  LIBTORCH=$root/.libtorch/torch
fi
export LIBTORCH
# No folder of this machine is in what others run.
export VIVA_RELOCATABLE=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$PYTHON" -m maturin build --release --locked --compatibility linux --auditwheel skip --out "$work/wheel"
"$PYTHON" -m zipfile -e "$work"/wheel/*.whl "$work/unpacked"
binary=$(find "$work/unpacked" -path '*/scripts/viva')
chmod 755 "$binary"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)

# The binary, and of the libraries that it loads those that came with torch.
system=$(uname -s)
case $system in
  Linux)
    glibc=$(objdump -T "$binary" | sed -n 's/.*GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -1)
    platform=manylinux_2_${glibc}_$(uname -m)
    libraries=$(LD_LIBRARY_PATH="$LIBTORCH/lib" ldd "$binary" | awk '{ print $3 }')
    ;;
  Darwin)
    platform=$(basename "$work"/wheel/*.whl .whl | sed 's/.*-none-//')
    # Those of torch name each other by @rpath.
    libraries=$(otool -L "$binary" "$LIBTORCH"/lib/libtorch_cpu.dylib | sed -n 's|.*@rpath/\([^ ]*\).*|'"$LIBTORCH"'/lib/\1|p' | sort -u)
    ;;
  *)
    echo "packages are built on Linux and macOS; on Windows viva runs in WSL" >&2
    exit 1
    ;;
esac
[ "$system" != Linux ] || "$PYTHON" -m wheel tags --remove --platform-tag "$platform" "$work"/wheel/*.whl
cp "$work"/wheel/*.whl "$out"

name=viva-$version-$platform
mkdir -p "$work/$name/lib"
cp "$binary" LICENSE-MIT LICENSE-APACHE README.md "$work/$name"
home=$(cd "$LIBTORCH/.." && pwd -P)
for library in $libraries; do
  real=$(cd "$(dirname "$library")" && pwd -P)/$(basename "$library")
  case $real in
    "$home"/*) cp -L "$real" "$work/$name/lib" ;;
  esac
done
tar -czf "$out/$name.tar.gz" -C "$work" "$name"
ls -l "$out"
