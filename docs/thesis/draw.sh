#!/usr/bin/env bash
# Draws the pictures of docs/reference/thesis.html anew, from runs.txt: each script is run once per command, and what it calls its figures is
# copied here. Takes some hours on two cores; with words, only commands that hold one of them: docs/thesis/draw.sh pairs latent
set -euo pipefail
cd "$(dirname "$0")/../.."
viva=${VIVA:-target/release/viva}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
wanted() { [ $# -eq 1 ] && return 0; local line=$1; shift; for word in "$@"; do [[ $line == *$word* ]] && return 0; done; return 1; }
while IFS='|' read -r number key command; do
    [[ $number == '#'* ]] && continue
    number=$(echo $number) key=$(echo $key) command=$(echo $command)
    wanted "$command" "$@" || continue
    folder="$runs/$(echo "$command" | sha256sum | cut -c1-12)"
    # shellcheck disable=SC2086
    [ -d "$folder" ] || "$viva" run scripts/$command --out "$folder" --seed 1
    cp "$folder/$(echo "$key" | sed 's/[^A-Za-z0-9-]/_/g').svg" "docs/thesis/$(echo "${number,,}" | tr ' ' -).svg"
done < docs/thesis/runs.txt
echo "then: $viva doc --html docs/reference, after a build"
