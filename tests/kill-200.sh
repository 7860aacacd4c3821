#!/usr/bin/env bash
# Kills runs at 200 random moments and compares what the resumed ones end with; about ten minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
VIVA_KILLS=${1:-200} cargo test --release --test all -- --nocapture resume::killed_at_random
