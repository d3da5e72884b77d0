#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# refit.sh PROGRAM: a calibration made by `fit` is made again by `validate --refit`, and
# one whose values were changed is not taken for it.
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS
cd "$(dirname "$0")/.." || exit 1
calibration=$work/seed.json
reference=sf-fig3-10-core-atari

fail() {
    printf '%s\n' "$1"
    cat "$work/messages"
    exit 1
}

# refit: the exit code of validating the calibration.
refit() {
    "$program" validate "$reference" -c "$calibration" --refit -q \
        --junit "$work/refit.xml" >"$work/sets.txt" 2>"$work/messages"
}

"$program" fit "$reference:SEED RL V-trace" -c sf-10-core-atari-prior -q \
    --hold-out 2,4 --noise 0.03 --draws 0 -o "$calibration" \
    >"$work/sets.txt" 2>"$work/messages" || fail 'no fit'

refit || fail 'the fit does not come out again'
grep -q 'name="fitted again: workload.step.mean_s"/>' "$work/refit.xml" ||
    fail 'the step time was not compared'

# The first value of the file is that of the first parameter.
awk '/"value":/ && !done { sub(/[0-9.eE-]+,/, "0.0033,"); done = 1 } { print }' \
    "$calibration" >"$work/changed.json"
mv "$work/changed.json" "$calibration"
refit && fail 'a changed value was not noticed'
grep -q 'comes out as .* 0.0033 stored' "$work/messages" ||
    fail 'the changed value is not named'
