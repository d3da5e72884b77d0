#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# loops.sh PROGRAM: vector environments of a user's own. One that works is calibrated and
# predicted; of each that does not there is one line on stderr, no file and no process.
# Exit 77: no Python with Gymnasium.
set -u
program=$1
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/gym_python.sh") || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS FULCRUM_BAD_IMPORT FULCRUM_WORKER_MEMORY_BYTE
factories=$here/workers/bad_factories.py

# calibrate MARK OPTION...: into a folder of that name, with the exit code in `code`.
calibrate() {
    mark=$1
    shift
    mkdir "$work/$mark"
    FULCRUM_LOOPS="$work/$mark" "$program" calibrate --actor vecenv --python "$python" \
        --budget 10 --quiet -o "$work/$mark/c.json" "$@" \
        >"$work/$mark/out" 2>"$work/$mark/err"
    echo $? >"$work/$mark/code"
}

fail() {
    {
        echo "$1: $2"
        cat "$work/$1/err"
    } >>"$work/failed"
}

# expect MARK CODE LINES TEXT: how it ended, what it said beside warnings of what was
# measured, and that nobody is left.
expect() {
    [ "$(cat "$work/$1/code")" -eq "$2" ] || fail "$1" "exit $(cat "$work/$1/code")"
    [ "$(grep -vc "^fulcrum: warning: " "$work/$1/err")" -eq "$3" ] || fail "$1" "$3 lines were expected"
    [ -z "$4" ] || grep -qF -e "$4" "$work/$1/err" || fail "$1" "expected: $4"
    left=$(grep -lzxF "FULCRUM_LOOPS=$work/$1" /proc/[0-9]*/environ 2>/dev/null)
    for process in $left; do
        fail "$1" "left behind: $process"
        kill -9 "$(echo "$process" | cut -d/ -f3)"
    done
}

# refused TEXT MARK OPTION...
refused() {
    text=$1
    mark=$2
    shift
    calibrate "$@"
    expect "$mark" 1 1 "$text"
    grep -q "^fulcrum: error: " "$work/$mark/err" || fail "$mark" "no error"
    [ "$(ls "$work/$mark")" = "$(printf 'code\nerr\nout')" ] || fail "$mark" "a file"
    [ ! -s "$work/$mark/out" ] || fail "$mark" "something on stdout"
}

# works FACTORY VECTOR ACTORS ENVS: it is calibrated, and predicted at that point.
works() {
    calibrate "$1" --make "$factories:$1" --vector "$2"
    expect "$1" 0 0 ""
    [ -s "$work/$1/c.json" ] || fail "$1" "no calibration"
    rate=$("$program" predict -m this -w "$work/$1/c-workload.json" \
        -c "$work/$1/c.json" --actors "$3" \
        --set run.envs_per_actor="$4" --intervals none \
        --format json --quiet 2>>"$work/$1/err" |
        sed -n '/^ *"steps_per_s": \([0-9.e+]*\),$/ { s//\1/p; q; }')
    awk -v rate="${rate:-0}" 'BEGIN { exit !(rate > 0 && rate < 1e12) }' ||
        fail "$1" "it is not predicted: ${rate:-no rate}"
}
# Those that take their time, all at once.
works cart_poles sync 1 4 &
works cart_poles_apart async 4 1 &
works leaves_daemon_and_works sync 1 4 &
works is_infinite sync 1 4 &
(
    calibrate fails_late --make "$factories:fails_late"
    expect fails_late 1 1 "ValueError: the wheels came off in old age"
    grep -q '"complete": false' "$work/fails_late/c.json" || fail fails_late "no file"
) &
# Pieces that fail between windows that do not: these are kept, and not predicted.
(
    mkdir "$work/three"
    FULCRUM_LOOPS="$work/three" "$program" measure --actor vecenv --python "$python" \
        --make "$factories:fails_of_three" --actors 1,2 --windows 2 --most-windows 2 \
        --window 0.3 --wait 0 --quiet -o "$work/three/m.json" \
        >"$work/three/out" 2>"$work/three/err"
    echo $? >"$work/three/code"
    expect three 1 0 "nothing is predicted from them: training loop: vecenv"
    grep -q '"complete": false' "$work/three/m-pieces.json" || fail three "no pieces"
    [ "$(grep -c '"steps_per_s"' "$work/three/m.json")" -ge 2 ] || fail three "no points"
    ! grep -q 'measured  *predicted' "$work/three/out" || fail three "something predicted"
) &
wait

# FACTORY LIMIT TEXT: limits of 2 and 4 s are waited for, others are not.
count=0
while read -r name limit text; do
    refused "$text" "$name" --make "$factories:$name" --env-limit "$limit" &
    count=$((count + 1))
    [ $((count % 4)) -ne 0 ] || wait
done <<END
hangs 2 has not started within 2 s; --env-limit allows more
hangs_in_reset 2 has not started within 2 s
hangs_in_step 4 step 6 has not returned for 4 s
ignores_signals 2 has not started within 2 s
closes_socket 4 closed its end of the connection in step 6
fails 9 ValueError: the wheels came off in the factory
fails_in_reset 9 ValueError: the wheels came off in a reset
fails_in_step 9 environment 1: step 6: ValueError: the wheels came off in a step
fails_to_close 9 step 6: ValueError: the wheels came off in a step
returns_none 9 returned a NoneType without step, expected a vector environment
has_no_step 9 returned a Partial without step
has_no_reset 9 returned a Partial without reset
has_no_action_space 9 returned a Partial without action_space
has_no_space 9 a Good without observation_space
takes_nothing 9 takes 0 positional arguments but 1 was given
not_a_function 9 has no function not_a_function
no_such_function 9 has no function no_such_function
resets_to_shape 9 after a reset of 1 environments has shape (2, 2)
resets_to_none 9 after a reset is a NoneType, expected an array of 1 rows
resets_to_nothing 9 after a reset is a tuple, expected an array of 1 rows
steps_to_shape 9 the observation after a step of 1 environments has shape (2,)
steps_to_scalar 9 the observation after a step is a float
rewards_of_shape 9 the reward after a step of 1 environments has shape (2,)
rewards_of_one 9 the reward after a step is a float, expected an array of 1 rows
steps_to_none 9 a step returned a NoneType, expected a tuple of observations, rewards
steps_to_one 9 a step returned a tuple, expected a tuple of observations, rewards
exits 9 its start: SystemExit: 3
exits_in_step 9 step 6: SystemExit: enough of this
exits_at_once 9 exited with code 3 in step 6
interrupts 9 step 6: KeyboardInterrupt
kills_itself 9 died of signal 9 (kill; the kernel does so where memory runs out)
reads_null 9 died of signal 11 (segmentation fault) in step 6
prints 9 printed more than 1024 KiB
prints_in_step 9 printed more than 1024 KiB
writes_to_socket 9 speaks the protocol wrongly: what it sent after command 7
leaves_children 9 step 6: ValueError: the wheels came off in a step
child_holds_socket 2 exited with code 4 while it started
leaves_daemon 9 step 6: ValueError: the wheels came off in a step
leaves_daemon_and_dies 9 exited with code 5 while it started
END
wait

export FULCRUM_WORKER_MEMORY_BYTE=4e8
for name in eats_memory eats_memory_in_step eats_memory_in_a_child; do
    refused "bytes of memory" "$name" --make "$factories:$name" &
done
wait
unset FULCRUM_WORKER_MEMORY_BYTE

# What importing the file does, and what is no factory at all.
export FULCRUM_BAD_IMPORT=raise
refused "its start: ZeroDivisionError: division by zero" import --make "$factories:good"
export FULCRUM_BAD_IMPORT=exit
refused "its start: SystemExit: no more" import_exits --make "$factories:good"
export FULCRUM_BAD_IMPORT=hang
refused "has not started within 2 s" import_hangs --make "$factories:good" --env-limit 2
unset FULCRUM_BAD_IMPORT
refused "expected MODULE:FACTORY or FILE.py:FACTORY" no_colon --make good
refused "there is no file ./none.py" no_file --make ./none.py:good
refused "No module named 'fulcrum_none'" no_module --make fulcrum_none:good
refused "expected KEY=VALUE,KEY=VALUE" no_value --make "$factories:good" --args n
refused "unexpected keyword argument 'n_jobs'" no_such_argument \
    --make "$factories:returns_none" --args n_jobs=3
refused "expected sync or async" no_such_vector --make "$factories:good" --vector x

# A loop in a program of its own that cannot be what it says.
for case in '9,0,1,1:way = 9, expected' '1.5,0,1,1:way = 1.5, expected a whole number' \
    '3,0,1,1:threads = 0, expected' '0,0,0,1:wall seconds = 0, expected' \
    '0,0,1,0:calls = 0, expected' '0,-1,1,1:figure 1 of what it timed is -1' \
    '0,1e300,1,1:figure 1 of what it timed is 1e+300'; do
    mark=absurd_$(printf %s "${case%%:*}" | tr -c '0-9\n' _)
    mkdir "$work/$mark"
    code=0
    "$program" calibrate --actor gymvec --env "${case%%:*}" \
        --python "$here/workers/absurd_loop.py" --budget 10 --quiet \
        -o "$work/$mark/c.json" >"$work/$mark/out" 2>"$work/$mark/err" || code=$?
    echo "$code" >"$work/$mark/code"
    expect "$mark" 1 1 "${case#*:}"
    [ ! -e "$work/$mark/c.json" ] || fail "$mark" 'a file was written'
done

[ ! -e "$work/failed" ] || { cat "$work/failed" && exit 1; }
