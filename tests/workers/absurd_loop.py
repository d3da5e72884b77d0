#!/usr/bin/env python3
# absurd_loop.py - a loop in a program of its own, which says of itself what --env names.
# SPDX-License-Identifier: GPL-3.0-or-later
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[1])))
from fulcrum_gym import FLOAT32, serve  # noqa: E402


class Loop:
    kind, observation_count, action_count, frame_skip = FLOAT32, 1, 1, 1
    name, detail = "absurd", ""

    def create(self, *_):
        pass

    def close(self):
        pass

    def time(self, piece, _n, _microsecond_count, words, out):
        """Two figures of the facts, or of a second of work."""
        told = [float(each) for each in sys.argv[3].split(",")]
        found = told[:2] if piece == 0 else told[2:]
        words[0] += 1
        for i, value in enumerate(found):
            out[i] = value


serve(lambda frame_skip: Loop())
