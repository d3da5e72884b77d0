#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make_ptx.sh [OUTPUT] - network.cl as PTX, the text that CUDA drivers compile.
#
# Clang with the NVPTX back end makes it; neither NVIDIA's compiler nor its device
# library takes part. The oldest version and processor that the text can do with are
# named, since drivers refuse text newer than themselves, and compile older text for any
# newer GPU. The first lines say from what it was made; a test compares them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
output=${1:-$here/network.ptx}
clang=${CLANG:-clang}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat "$here/device_kernels.h" "$here/network.cl" >"$folder/network.cl"
"$clang" -x cl -cl-std=CL1.2 --target=nvptx64-nvidia-cuda -nocudalib \
    -Xclang -target-cpu -Xclang sm_60 -Xclang -target-feature -Xclang +ptx60 \
    -DFULCRUM_PTX -O2 -Werror -S -o "$folder/network.ptx" "$folder/network.cl"
{
    echo '// network.cl as PTX: made by make_ptx.sh, not by hand.'
    echo "// clang $("$clang" -dumpversion | cut -d. -f1)"
    echo "// sha256 $(sha256sum "$folder/network.cl" | cut -d' ' -f1)"
    sed -e 's/[[:space:]]*$//' "$folder/network.ptx"
} >"$folder/whole.ptx"
cp "$folder/whole.ptx" "$output"
