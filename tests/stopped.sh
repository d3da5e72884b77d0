#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# stopped.sh PROGRAM: a command that a signal ends leaves nothing of its output file.
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS

# Fits take long enough not to be done when the signal comes.
"$program" validate --quiet --refit -o "$work/sets.txt" 2>"$work/err" &
pid=$!
tries=0
while ! ls "$work"/.fulcrum-* >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "no output was begun" && kill "$pid" && exit 1; }
    sleep 0.1
done
sleep 0.1
kill -TERM "$pid"
wait "$pid"
code=$?
# 143: ended by SIGTERM; 130: stopped in good order.
[ "$code" -eq 143 ] || [ "$code" -eq 130 ] || { echo "exit $code" && exit 1; }
rm "$work/err"
left=$(ls -A "$work")
[ -z "$left" ] || { echo "left behind: $left" && exit 1; }
