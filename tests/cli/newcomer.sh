#!/bin/sh
# A newcomer's path: build the wheel, install it into a fresh environment, run every command of the
# page, and compare the outputs with the page.
#
#     tests/cli/newcomer.sh [python] [page ...]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:-python3}
[ $# -gt 0 ] && shift
[ $# -eq 0 ] && set -- "$root/docs/cli.md"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder" "$root"
wheel=$(ls "$folder"/costboost-*.whl)
"$folder/venv/bin/pip" install --quiet "${wheel}[all]" ${NEWCOMER_EXTRA:-}
unset PYTHONPATH
cd "$folder"
for page in "$@"; do
    "$folder/venv/bin/python" "$root/tests/cli/newcomer.py" "$page"
done
