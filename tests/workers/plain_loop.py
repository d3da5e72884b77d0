# plain_loop.py - the loop that anybody would write, as a yardstick for the bridge.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
plain_loop.py ENVIRONMENT SEED ACTIONS: steps an environment of discrete actions, which are
floats in the file ACTIONS. Reads a number of steps a line; prints the resets, wall time
and CPU time that they took.
"""

import array
import sys
import time

import ale_py
import gymnasium

ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
gymnasium.register_envs(ale_py)
env = gymnasium.make(sys.argv[1])
floats = array.array("f")
with open(sys.argv[3], "rb") as file:
    floats.frombytes(file.read())
count = int(env.action_space.n)
actions = [min(int((value + 1.0) / 2.0 * count), count - 1) for value in floats]
env.reset(seed=int(sys.argv[2]))
row = 0
for line in sys.stdin:
    resets = 0
    wall = time.perf_counter()
    cpu = time.process_time()
    for _ in range(int(line)):
        _, _, ended, cut, _ = env.step(actions[row])
        if ended or cut:
            env.reset()
            resets += 1
        row = (row + 1) % len(actions)
    print(resets, time.perf_counter() - wall, time.process_time() - cpu, flush=True)
