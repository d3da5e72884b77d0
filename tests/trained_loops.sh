#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# trained_loops.sh PROGRAM: loops of frameworks that train are calibrated, run whole and
# predicted, by a wide margin: other programs may be busy. Exit 77: no Python with them.
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/gym_python.sh" 'torch, stable_baselines3') || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

# run NAME OPTION...: with 1 and 3 environments.
run() {
    name=$1
    shift
    echo "$name"
    "$program" calibrate --framework "$name" --env CartPole-v1 --python "$python" \
        --budget 10 --quiet -o "$work/$name.json" "$@" >"$work/out" 2>&1 || {
        cat "$work/out" && exit 1
    }
    grep -q '"loop": "alternating"' "$work/$name-workload.json"
    "$program" predict -m this -w "$work/$name-workload.json" -c "$work/$name.json" \
        --actors 1 --set run.envs_per_actor=3 >"$work/out"
    measured "$work/$name-measured.json" -c "$work/$name.json" "$@"
    measured "$work/$name-both.json" "$@"
    [ -s "$work/$name-both-pieces.json" ]
}

# measured FILE OPTION...: predicted within a factor of 3, then and again.
measured() {
    file=$1
    shift
    "$program" measure --framework "$name" --env CartPole-v1 --python "$python" \
        --actors 1,3 --windows 1 --most-windows 1 --window 0.2 --wait 0 --quiet \
        --format csv -o "$file" "$@" >"$work/out.csv"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i }; next }
        { n++; ratio = $at["predicted_steps_per_s"] / $at["measured_steps_per_s"]
          print; bad += !(ratio > 1 / 3 && ratio < 3) }
        END { exit bad > 0 || n != 2 }' "$work/out.csv"
    "$program" validate "$file" >"$work/out" 2>&1 || {
        cat "$work/out" && exit 1
    }
}

run cleanrl-ppo --make "$here/workers/plain_ppo.py"
run sb3-ppo --args n_steps=128
if "$program" calibrate --framework cleanrl-ppo --make "$here/gym_python.sh" \
    --python "$python" --budget 10 -o "$work/none.json" 2>"$work/err"; then
    echo 'a script that is no Python was taken' && exit 1
fi
[ "$(grep -c 'fulcrum: error: ' "$work/err")" -eq 1 ]
[ ! -e "$work/none.json" ]
