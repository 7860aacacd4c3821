#!/usr/bin/env bash
# Each kind of fault at 300 calls to the disk, or as many as are given (all: every one), as many allocations that fail and as many power
# cuts; every run is gone on with and its bytes compared. About fifteen minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
VIVA_FAULTS=${1:-300} cargo test --release --test all -- --nocapture damage::faults:: damage::power::
