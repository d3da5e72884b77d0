# odd_spaces.py - environments with every kind of space, right and wrong, for test_gym.c.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each step fails where the action is none of the environment's space."""

import gymnasium
import numpy
from gymnasium import spaces

UNIT = spaces.Box(-1.0, 1.0, (3,), numpy.float32)


class OddSpaces(gymnasium.Env):
    def __init__(self, seen=UNIT, action=UNIT, fault=""):
        self.observation_space = seen
        self.action_space = action
        self.fault = fault
        self.count = 0

    def observation(self):
        if self.fault == "shape" and self.count == 5:
            return numpy.zeros(7, numpy.float32)
        if self.fault == "nan" and self.count >= 5:
            return numpy.full(3, numpy.nan, numpy.float32)
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation(), {}

    def step(self, action):
        self.count += 1
        if not self.action_space.contains(action):
            raise ValueError(f"{action!r} is not in {self.action_space}")
        if self.fault == "raise" and self.count == 5:
            raise RuntimeError("the wheels came off\nall of them")
        return self.observation(), 0.0, self.count % 20 == 0, False, {}


CASES = {
    "Dict": {"seen": spaces.Dict({"a": UNIT, "b": spaces.Discrete(4)})},
    "Tuple": {"seen": spaces.Tuple((UNIT, UNIT))},
    "Bytes": {"seen": spaces.Box(0, 255, (4, 5), numpy.uint8)},
    "Many": {"seen": spaces.MultiDiscrete([3, 4])},
    "Bits": {"seen": spaces.MultiBinary(6)},
    "Start": {"action": spaces.Discrete(3, start=-1)},
    "ManyActions": {"action": spaces.MultiDiscrete([2, 5, 9])},
    "BitActions": {"action": spaces.MultiBinary(4)},
    "BoxActions": {"action": spaces.Box(numpy.array([-2.0, 5.0]), numpy.array([2.0, 6.0]),
                                        dtype=numpy.float64)},
    "OpenActions": {"action": spaces.Box(-numpy.inf, numpy.inf, (2, 2), numpy.float32)},
    "DictActions": {"action": spaces.Dict({"a": UNIT})},
    "Text": {"seen": spaces.Text(8)},
    "Shape": {"fault": "shape"},
    "Nan": {"fault": "nan"},
    "Raise": {"fault": "raise"},
}
for name, arguments in CASES.items():
    gymnasium.register(f"{name}-v0", OddSpaces, kwargs=arguments,
                       disable_env_checker=True, order_enforce=False)
