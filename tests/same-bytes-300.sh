#!/usr/bin/env bash
# Compares the first results of 300 fresh processes while both cores are busy elsewhere; about ten minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
VIVA_PROCESSES=${1:-300} cargo test --release --test all -- --nocapture the_first_results_of_fresh_processes
