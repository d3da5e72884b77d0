#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_ptx.sh SOURCE_DIR - network.ptx is what make_ptx.sh makes of network.cl now.
# Without the Clang that made it only the source's sum is compared (then: skipped, 77).
set -eu
kernels=$1/calibrate/kernels
ptx=$kernels/network.ptx
stale="network.ptx is not of this network.cl and device_kernels.h: run $kernels/make_ptx.sh"
said=$(sed -n 's|^// sha256 ||p' "$ptx")
sum=$(cat "$kernels/device_kernels.h" "$kernels/network.cl" | sha256sum | cut -d' ' -f1)
[ "$said" = "$sum" ] || { echo "$stale"; exit 1; }
# What is not in the text itself would have to be linked on the user's machine.
if grep -q '\.extern' "$ptx"; then
    echo "network.ptx needs functions that it does not have: $(grep -m1 '\.extern' "$ptx")"
    exit 1
fi
major=$(sed -n 's|^// clang ||p' "$ptx")
clang=${CLANG:-clang}
here=$("$clang" -dumpversion 2>/dev/null | cut -d. -f1) || here=
if [ "$here" != "$major" ] || ! "$clang" --print-targets 2>/dev/null | grep -q nvptx64; then
    echo "skipped: clang $major with NVPTX makes this text, here is ${here:-none}"
    exit 77
fi
made=$(mktemp)
trap 'rm -f "$made"' EXIT
CLANG=$clang sh "$kernels/make_ptx.sh" "$made"
cmp "$made" "$ptx" || { echo "$stale"; exit 1; }
