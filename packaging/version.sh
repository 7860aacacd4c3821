#!/usr/bin/env bash
# Gives the next version its number, in the one place that is read everywhere else, and in the texts that name it: packaging/version.sh 0.2.0
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: packaging/version.sh MAJOR.MINOR.PATCH}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "version.sh: $version is not MAJOR.MINOR.PATCH" >&2; exit 1; }
git diff --quiet HEAD || { echo "version.sh: there are changes that are not committed" >&2; exit 1; }
today=$(date +%F)
# The workspace's; all packages, the wheel and the archive take it from there.
sed -i "0,/^version = \".*\"/s//version = \"$version\"/" Cargo.toml
cargo update --workspace --offline --quiet
sed -i "s/^version: .*/version: $version/; /^date-released:/d" CITATION.cff
sed -i "s/^version: .*/&\ndate-released: $today/" CITATION.cff
sed -i "s/^  \"version\": \".*\"/  \"version\": \"$version\"/" editors/vscode/package.json
sed -i "s/viva-[0-9]*\.[0-9]*\.[0-9]*\.vsix/viva-$version.vsix/" docs/editors.md editors/vscode/README.md
sed -i "s/^## Unreleased$/## Unreleased\n\n## $version ($today)/" CHANGELOG.md
git --no-pager diff --stat
echo "then: git commit -am \"viva $version\" && git tag v$version"
