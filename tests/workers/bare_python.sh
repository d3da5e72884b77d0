#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bare_python.sh: an interpreter without any installed package.
exec python3 -I -S "$@"
