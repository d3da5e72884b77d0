#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# accuracy.sh PROGRAM: predicts every reference and fails where a prediction has moved
# from presets/baseline.json, a set has become worse, or docs/accuracy.md says
# something else. After a change that is meant to move predictions:
#   cmake --build build/release --target accuracy
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS
cd "$(dirname "$0")/.." || exit 1

"$program" validate --quiet \
    --junit "$work/accuracy.xml" --markdown "$work/accuracy.md" >"$work/sets.txt" || {
    cat "$work/sets.txt"
    exit 1
}
# Each kept promise is a case that passed; what nothing predicts is skipped.
cases=$(grep -c '<testcase' "$work/accuracy.xml")
printf '%d checks passed or were skipped\n' "$cases"
[ "$cases" -gt 100 ] || exit 1
diff -u docs/accuracy.md "$work/accuracy.md" || exit 1

# The same bytes, whatever the number of threads.
