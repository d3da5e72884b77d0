#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gym_python.sh FOLDER: prints the path of a Python that has Gymnasium and the Atari games:
# $FULCRUM_GYM_PYTHON, else python3 itself, else one in FOLDER, where they are installed
# from the network if that takes no longer than two minutes. Exit 77: there is none.
set -u
folder=$1

has_gym() {
    "$1" -c 'import gymnasium, ale_py' >/dev/null 2>&1
}

for python in "${FULCRUM_GYM_PYTHON:-}" python3 "$folder/bin/python"; do
    if [ -n "$python" ] && has_gym "$python"; then
        echo "$python"
        exit 0
    fi
done
# Without a network this fails once, not at each run.
if [ -e "$folder" ] || ! python3 -m venv "$folder" >/dev/null 2>&1; then
    exit 77
fi
timeout 120 "$folder/bin/pip" --quiet --disable-pip-version-check --retries 0 \
    --timeout 10 install gymnasium ale-py >/dev/null 2>&1
has_gym "$folder/bin/python" || exit 77
echo "$folder/bin/python"
