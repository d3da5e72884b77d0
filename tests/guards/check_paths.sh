#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_paths.sh SOURCE_DIR PROGRAM...: fails where a program as it is installed carries a
# path of the tree that it was built from: anybody might own that folder later. Debugging
# information, which installing with --strip removes, and the names of sources that
# sanitizers keep are not looked at.
set -u
source=$1
shift
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for program in "$@"; do
    strip -g -o "$work/program" "$program" || exit 1
    if strings "$work/program" | grep -F "$source/" | grep -vE '\.([ch]|inc)$' | head -5 | grep .; then
        printf '%s carries the paths above\n' "$program"
        failed=1
    fi
done
exit $failed
