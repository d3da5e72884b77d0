#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# gym_python.sh [MODULES]: prints the path of a Python that has these modules, without them
# Gymnasium and the Atari games: $FULCRUM_GYM_PYTHON, one in the folder $FULCRUM_GYM_FOLDER,
# or python3 itself. Nothing is installed. Exit 77: there is none.
set -u
for python in "${FULCRUM_GYM_PYTHON:-}" "${FULCRUM_GYM_FOLDER:-/none}/bin/python" python3; do
    if [ -n "$python" ] && "$python" -c "import ${1:-gymnasium, ale_py}" >/dev/null 2>&1; then
        echo "$python"
        exit 0
    fi
done
exit 77
