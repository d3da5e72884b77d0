#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# threads.sh PROGRAM: predictions of references are the same bytes with one thread and
# with three.
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS
cd "$(dirname "$0")/.." || exit 1
for threads in 1 3; do
    OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads "$program" validate \
        inci2020-fig3-text sf-fig3-10-core-atari gmidrl-table5-multinode \
        --quiet --format json -o "$work/$threads.json" || exit 1
done
cmp "$work/1.json" "$work/3.json"
