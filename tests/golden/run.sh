#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh PROGRAM FILE.cases [--accept] [NAME...] - golden cases: command lines, and what
# they print. A case is
#     === NAME
#     $ arguments, a piece of shell command line (so redirections can be tested, too)
#     standard output, then standard error
#     exit CODE
# Shows the difference of each case that changed; --accept writes what is printed now
# into the file, to be read before it is committed. NAMEs: only these cases.
set -u
# shellcheck disable=SC2034 # eval reads it
program=$1
file=$2
shift 2
accept=no
[ "${1:-}" = --accept ] && accept=yes && shift
wanted=" $* "
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset FULCRUM_PRESETS COLUMNS

# Each case as three files: NUMBER.name, NUMBER.args and NUMBER.expected.
awk -v work="$work" '
    /^=== / && !inside { base = sprintf("%s/%04d", work, ++n); print $2 >(base ".name"); inside = 1; next }
    inside == 1 && /^\$ / { print substr($0, 3) >(base ".args"); next }
    inside { inside = 2; print >(base ".expected") }
    inside == 2 && /^exit [0-9]+$/ { inside = 0; close(base ".name"); close(base ".args"); close(base ".expected") }
' "$file"

passed=0
failed=0
for name in "$work"/*.name; do
    base=${name%.name}
    case_name=$(cat "$name")
    if [ "$wanted" != "  " ] && [[ $wanted != *" $case_name "* ]]; then
        continue
    fi
    arguments=$(cat "$base.args")
    (eval "\"\$program\" $arguments") >"$base.out" 2>"$base.err"
    code=$?
    { cat "$base.out" "$base.err"; echo "exit $code"; } >"$base.actual"
    if diff -u --label "$case_name: expected" --label "$case_name: printed" \
        "$base.expected" "$base.actual"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        [ $accept = yes ] && mv "$base.actual" "$base.expected"
    fi
done
if [ $accept = yes ] && [ $failed -gt 0 ]; then
    for name in "$work"/*.name; do
        base=${name%.name}
        [ "$name" = "$work/0001.name" ] || echo
        echo "=== $(cat "$name")"
        sed 's/^/$ /' "$base.args"
        cat "$base.expected"
    done >"$work/new" && cp "$work/new" "$file"
    echo "$file: $failed cases accepted"
    exit 0
fi
echo "$file: $passed cases passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
