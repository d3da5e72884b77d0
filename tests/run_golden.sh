#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_golden.sh PROGRAM CASE: runs `PROGRAM <CASE.args>` and compares standard output,
# standard error and exit code with CASE.expected. The .args file is a piece of shell
# command line, so that redirections can be tested too.
set -u
# shellcheck disable=SC2034 # eval reads it
program=$1
base=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
arguments=$(cat "$base.args") || exit 1
LC_ALL=C
export LC_ALL
unset FULCRUM_PRESETS

(eval "\"\$program\" $arguments") >"$work/out" 2>"$work/err"
code=$?
{
    cat "$work/out" "$work/err"
    echo "exit $code"
} >"$work/actual"
diff -u "$base.expected" "$work/actual"
