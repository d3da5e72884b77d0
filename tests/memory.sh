#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Valgrind on the optimised program, as users run it: the sanitizers watch the dev build.
# usage: tests/memory.sh [PROGRAM]   default build/release/cli/fulcrum
# Fails at the first invalid access, use of unset memory or block that is lost for good.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-build/release/cli/fulcrum}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# watched COMMAND...
watched() {
    printf 'memory: %s\n' "$*"
    valgrind --quiet --leak-check=full --show-leak-kinds=definite \
        --errors-for-leak-kinds=definite --error-exitcode=9 \
        --suppressions=tests/valgrind.supp "$program" "$@"
}

sweep() {
    watched explore -m dgx-1 -w r2d2-atari -s workload.batching.policy=greedy \
        --half-width 0.1 --format csv --quiet "$@"
}

watched list machines --format json -o "$work/list.json"
watched show dgx-1 -o "$work/show.txt"
watched show calibration v100-prior -o "$work/show.txt"
watched schema workload -o "$work/schema.json"
watched predict -m dgx-1 -w r2d2-atari --actors 64 --intervals none --format json \
    -o "$work/predict.json"
sweep -v actors=4:80:4 --intervals none -o "$work/actors.csv"
sweep -v machine.cpu.thread_count=40:80:x2 --actors-per-thread 1 --intervals 2 \
    -o "$work/ratio.csv"

# Each chart and each kind of file once: charts know nothing of the kind of file.
watched plot "$work/ratio.csv" -o "$work/chart.svg"
watched plot "$work/actors.csv" -o "$work/chart.pdf"
watched plot v100-prior -o "$work/chart.png" --pixels 400
