#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks of the text itself: clang-format, cppcheck, clang-tidy, shellcheck; run by
# hand and by .ci/run. A tool that is not installed is left out, with a message.
# usage: tests/lint.sh [form|static|all] [BUILD]
#   form     clang-format and shellcheck, which need nothing built
#   static   cppcheck and clang-tidy
#   BUILD    a built tree with compile_commands.json (default build/dev), whose
#            generated headers clang-tidy needs
# Held clean with version 14 of the clang tools, cppcheck 2.10 and shellcheck 0.9;
# others may know checks that these do not.
# shellcheck disable=SC2317 # the functions are run by check
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
build=${2:-build/dev}
folders=(model presets calibrate plots cli bench tests)
faults=0

# check TOOL WHAT COMMAND...: runs the command if the tool is there.
check() {
    local tool=$1 what=$2
    shift 2
    if ! command -v "$tool" >/dev/null; then
        printf 'lint: %s is not installed: %s left out\n' "$tool" "$what"
    elif "$@"; then
        printf 'lint: %s: clean\n' "$what"
    else
        printf 'lint: %s: see above\n' "$what" >&2
        faults=$((faults + 1))
    fi
}

form() {
    find "${folders[@]}" -name '*.[ch]' -print0 |
        xargs -0 clang-format --dry-run -Werror
}

errors() {
    cppcheck --enable=warning,style,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --error-exitcode=1 --quiet -j "$(nproc)" -I . \
        "${folders[@]}"
}

# A block within four others; clang-tidy counts the block of TRY as well.
nesting() {
    ! grep -rnE '^ {16,}((if|for|while|switch|do|else)\b|\}).*\{$' --include='*.c' "${folders[@]}"
}

# Only what this build compiles: sources of absent parts have no flags to go by.
compiled() {
    sed -n "s|^ *\"file\": \"$PWD/\(.*\.c\)\",*$|\1|p" "$build/compile_commands.json" |
        grep -v '^build/' | sort -u
}

# The counts of warnings in system headers go to stderr; what matters to stdout.
habits() {
    if [ ! -f "$build/compile_commands.json" ]; then
        printf 'lint: no %s/compile_commands.json: configure and build first\n' \
            "$build" >&2
        return 1
    fi
    compiled | while read -r file; do
        grep -q '^#include ".*\.c"' "$file" || echo "$file"
    done | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet 2>/dev/null &&
        # What a test includes is looked at on its own, where nothing calls it that
        # breaks its promises; here the analyser would follow the test into it.
        compiled | xargs grep -l '^#include ".*\.c"' |
        xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet \
            --extra-arg=-Wno-error --checks='-clang-analyzer-*' 2>/dev/null
}

scripts() {
    shellcheck quickstart .ci/run tests/*.sh tests/*/*.sh calibrate/kernels/*.sh
}

if [ "$what" != static ]; then
    check clang-format 'form of the sources' form
    check shellcheck 'shell scripts' scripts
    check grep 'nesting' nesting
fi
if [ "$what" != form ]; then
    check cppcheck 'cppcheck' errors
    check clang-tidy 'clang-tidy' habits
fi
exit "$((faults > 0))"
