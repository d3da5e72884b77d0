# fulcrum_gym.py - serves one environment of Gymnasium to fulcrum.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Started by fulcrum as

    python3 fulcrum_gym.py ENVIRONMENT-ID

with a socket on file descriptor 3 and shared memory on 4; docs/environments.md has the
protocol byte by byte. The standard library is all that the protocol takes: a worker for
another kind of environment can import this file, and call serve() with an object that has
the methods of class GymEnvironment.
"""

import importlib
import math
import mmap
import os
import socket
import struct
import sys
import time

MAGIC = 0x314B5746
PROTOCOL = 1
DESCRIBE, CREATE, RESET, STEP, RUN, CLOSE, TIME = range(1, 8)
ON, END, FAILED = range(3)
FLOAT32, UINT8 = 1, 2
COMMAND = struct.Struct("=IIQQQ")
REPLY = struct.Struct("=IIIIQQ")
DESCRIPTION = struct.Struct("=IIQQd64s160s")
TEXT_BYTE = 1000
# Words of the shared memory.
STEP_NUMBER, RESET_NUMBER, PHASE, MEMORY_BYTE, ACTION_OFFSET, ROW_COUNT = range(6)
TIME_OFFSET, TIME_COUNT, OBSERVATION_OFFSET, OBSERVATION_BYTE, WORD_COUNT = range(6, 11)
WAITS, RESETS, STEPS = range(3)


class Failure(Exception):
    """Its text goes to the user, behind the name of the environment."""


class GymEnvironment:
    """
    gymnasium.make(name), with its actions mapped from floats in [-1, 1):

    Box            one float per element; from [-1, 1) to [low, high], or as it is where
                   a bound is infinite
    Discrete(n)    one float a: start + floor((a + 1) / 2 * n)
    MultiDiscrete  one float per element, each as for Discrete
    MultiBinary    one float per element: 1 above zero

    Observations are float32, or bytes where the space is of bytes. Dict and Tuple
    observations are flattened; Dict and Tuple actions are refused.
    """

    def __init__(self, name, frame_skip):
        try:
            import gymnasium
            import numpy
        except ImportError as error:
            raise Failure(
                f"{sys.executable} has no Gymnasium ({error}): pip install gymnasium "
                "there, or name another interpreter with --python") from None
        self.numpy = numpy
        self.name = name
        self.repeat = 1
        self.frame_skip = 1
        self.env = self.make(gymnasium, name, frame_skip)
        self.flatten = None
        self.take_spaces(gymnasium)
        self.detail = f"Gymnasium {gymnasium.__version__}, numpy {numpy.__version__}, " \
            f"Python {sys.version.split()[0]}{self.library()}"
        self.table = []
        self.reset_env = self.env.reset
        self.step_env = self.env.step

    def make(self, gymnasium, name, frame_skip):
        """ALE counts video frames itself; elsewhere an action is repeated."""
        if name.startswith("ALE/"):
            self.register_ale(gymnasium)
        try:
            if ":" in name:
                module, name = name.split(":", 1)
                importlib.import_module(module)
            spec = gymnasium.spec(name)
            own = spec.kwargs.get("frameskip")
            if isinstance(own, int):
                self.frame_skip = frame_skip or own
                return gymnasium.make(name, frameskip=self.frame_skip)
            self.repeat = self.frame_skip = frame_skip or 1
            return gymnasium.make(name)
        except Exception as error:
            raise Failure(f"gymnasium.make: {type(error).__name__}: {error}") from None

    @staticmethod
    def register_ale(gymnasium):
        try:
            import ale_py
        except ImportError as error:
            raise Failure(f"{sys.executable} has no ale_py ({error}): pip install ale-py "
                          "there, or name another interpreter with --python") from None
        ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
        gymnasium.register_envs(ale_py)

    def library(self):
        """The version of the package that the environment comes from."""
        package = type(self.env.unwrapped).__module__.split(".")[0]
        version = getattr(sys.modules.get(package), "__version__", None)
        return "" if package == "gymnasium" or version is None else f", {package} {version}"

    def take_spaces(self, gymnasium):
        spaces = gymnasium.spaces
        numpy = self.numpy
        seen = self.env.observation_space
        if isinstance(seen, (spaces.Dict, spaces.Tuple)):
            self.flatten = lambda value, space=seen: spaces.flatten(space, value)
            try:
                seen = spaces.flatten_space(seen)
            except NotImplementedError:
                raise Failure(f"its observations ({seen}) cannot be flattened") from None
        if isinstance(seen, spaces.Discrete):
            self.shape, self.kind = (), FLOAT32
        elif isinstance(seen, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary)):
            self.shape = seen.shape
            self.kind = UINT8 if seen.dtype == numpy.uint8 else FLOAT32
        else:
            raise Failure(f"observations of {type(seen).__name__} are not supported: "
                          "Box, Discrete, MultiDiscrete, MultiBinary, Dict or Tuple are")
        self.observation_count = math.prod(self.shape)
        self.take_actions(spaces)

    def take_actions(self, spaces):
        numpy = self.numpy
        space = self.env.action_space
        self.action_count = 1
        self.act_on = lambda row: self.act(self.rows[row:row + 1])[0]
        if isinstance(space, spaces.Discrete):
            count, start = int(space.n), int(space.start)
            self.act = lambda rows: (
                start + self.choices(rows[:, 0], count)).tolist()
            # One number needs no array: a fifth of the time.
            self.act_on = lambda row: start + min(
                int((self.floats[row] + 1.0) * 0.5 * count), count - 1)
        elif isinstance(space, spaces.MultiDiscrete):
            self.action_count = int(space.nvec.size)
            shape = space.nvec.shape
            self.act = lambda rows: list(
                (self.choices(rows, space.nvec.reshape(-1)) + space.start.reshape(-1))
                .astype(space.dtype).reshape((-1,) + shape))
        elif isinstance(space, spaces.MultiBinary):
            self.action_count = math.prod(space.shape)
            self.act = lambda rows: list(
                (rows > 0).astype(space.dtype).reshape((-1,) + space.shape))
        elif isinstance(space, spaces.Box):
            self.action_count = math.prod(space.shape)
            low = space.low.reshape(-1).astype(numpy.float64)
            high = space.high.reshape(-1).astype(numpy.float64)
            bounded = numpy.isfinite(low) & numpy.isfinite(high)
            base = numpy.where(bounded, low, -1.0)
            width = numpy.where(bounded, high - low, 2.0)
            self.act = lambda rows: list(
                (base + (rows + 1.0) * 0.5 * width).astype(space.dtype)
                .reshape((-1,) + space.shape))
        else:
            raise Failure(f"actions of {type(space).__name__} are not supported: Box, "
                          "Discrete, MultiDiscrete or MultiBinary are")

    def choices(self, values, count):
        numpy = self.numpy
        index = numpy.floor((values.astype(numpy.float64) + 1.0) * 0.5 * count)
        return numpy.clip(index, 0, count - 1).astype(numpy.int64)

    def create(self, seed, actions, observation):
        """
        `actions` and `observation` are memoryviews of bytes. Rows of actions are turned
        into actions of the environment when they are first used, not at every step.
        """
        numpy = self.numpy
        self.rows = numpy.frombuffer(actions, numpy.float32).reshape(
            -1, self.action_count)
        self.floats = actions.cast("f")
        self.row_count = 0
        kind = numpy.uint8 if self.kind == UINT8 else numpy.float32
        self.out = numpy.frombuffer(observation, kind).reshape(self.shape)
        return self.hand_over(self.reset_env(seed=seed % 2**31)[0])

    def hand_over(self, observation):
        if self.flatten is not None:
            observation = self.flatten(observation)
        shape = getattr(observation, "shape", ())
        if shape != self.shape:
            raise Failure(f"returned an observation of shape {shape}, its space says "
                          f"{self.shape}")
        self.out[...] = observation

    def reset(self):
        self.hand_over(self.reset_env()[0])

    def advance(self, action):
        """One step of `repeat` actions; returns the observation and whether it ended."""
        observation, _, ended, cut, _ = self.step_env(action)
        for _ in range(self.repeat - 1):
            if ended or cut:
                break
            observation, _, ended, cut, _ = self.step_env(action)
        return observation, ended or cut

    def step(self, row):
        observation, ended = self.advance(self.act_on(row))
        self.hand_over(observation)
        return ended

    def run(self, count, row, words, stride, step_s, reset_s):
        """
        Returns how many resets there were. `stride` steps share a time in `step_s`: 0
        times nothing, and with 1 the resets have times of their own.
        """
        if not self.table:
            self.row_count = words[ROW_COUNT]
            self.table = self.act(self.rows[:self.row_count])
        if stride == 1:
            return self.run_timed(count, row, words, step_s, reset_s)
        if stride == 0:
            return self.run_untimed(count, row, words)
        clock = time.process_time_ns
        cost = clock_cost_ns(clock)
        resets = 0
        for i in range(count // stride):
            begin = clock()
            resets += self.run_untimed(stride, (row + i * stride) % self.row_count, words)
            step_s[i] = 1e-9 * max(clock() - begin - cost, 0)
        return resets

    def run_untimed(self, count, row, words):
        table, step = self.table, self.advance if self.repeat > 1 else None
        step_env, reset_env, row_count = self.step_env, self.reset_env, self.row_count
        resets = 0
        number = words[STEP_NUMBER]
        words[PHASE] = STEPS
        observation = None
        for i in range(number + 1, number + 1 + count):
            words[STEP_NUMBER] = i
            if step is None:
                observation, _, ended, cut, _ = step_env(table[row])
                ended = ended or cut
            else:
                observation, ended = step(table[row])
            if ended:
                words[PHASE] = RESETS
                words[RESET_NUMBER] += 1
                observation = reset_env()[0]
                words[PHASE] = STEPS
                resets += 1
            row = row + 1 if row + 1 < row_count else 0
        self.hand_over(observation)
        return resets

    def run_timed(self, count, row, words, step_s, reset_s):
        clock = time.process_time_ns
        cost = clock_cost_ns(clock)
        resets = 0
        observation = None
        for i in range(count):
            words[STEP_NUMBER] += 1
            words[PHASE] = STEPS
            begin = clock()
            observation, ended = self.advance(self.table[row])
            step_s[i] = 1e-9 * max(clock() - begin - cost, 0)
            if ended:
                words[PHASE] = RESETS
                words[RESET_NUMBER] += 1
                begin = clock()
                observation = self.reset_env()[0]
                reset_s[resets] = 1e-9 * max(clock() - begin - cost, 0)
                resets += 1
            row = row + 1 if row + 1 < self.row_count else 0
        self.hand_over(observation)
        return resets

    def close(self):
        self.env.close()


def clock_cost_ns(clock):
    pairs = []
    for _ in range(101):
        begin = clock()
        pairs.append(clock() - begin)
    return sorted(pairs)[50]


class Server:
    """Answers commands; `make(frame_skip)` gives the environment."""

    def __init__(self, make):
        self.make = make
        self.env = None
        self.socket = socket.socket(fileno=3)
        os.set_inheritable(4, False)

    def describe(self, values):
        if values[0] != PROTOCOL:
            raise Failure(f"fulcrum_gym.py speaks version {PROTOCOL} of the protocol, not "
                          f"{values[0]}")
        self.env = self.make(values[1])
        return DESCRIPTION.pack(
            self.env.kind, 0, self.env.observation_count, self.env.action_count,
            float(self.env.frame_skip), self.env.name.encode()[:63],
            self.env.detail.encode()[:159])

    def create(self, values):
        self.memory = memoryview(mmap.mmap(4, os.fstat(4).st_size))
        self.words = words = self.memory[:8 * WORD_COUNT].cast("Q")
        begin = words[ACTION_OFFSET]
        rows = words[ROW_COUNT] + 1
        actions = self.memory[begin:begin + 4 * rows * self.env.action_count]
        begin, count = words[TIME_OFFSET], words[TIME_COUNT]
        times = self.memory[begin:begin + 16 * count].cast("d")
        self.step_s, self.reset_s = times[:count], times[count:]
        begin = words[OBSERVATION_OFFSET]
        observation = self.memory[begin:begin + words[OBSERVATION_BYTE]]
        words[PHASE] = RESETS
        words[RESET_NUMBER] += 1
        self.env.create(values[0], actions, observation)

    def obey(self, code, values):
        """Returns result, resets and payload."""
        if code == DESCRIBE:
            return ON, 0, self.describe(values)
        if code == CREATE:
            self.create(values)
        elif code == RESET:
            self.words[PHASE] = RESETS
            self.words[RESET_NUMBER] += 1
            self.env.reset()
        elif code == STEP:
            self.words[STEP_NUMBER] += 1
            self.words[PHASE] = STEPS
            return (END if self.env.step(values[0]) else ON), 0, b""
        elif code == RUN:
            return ON, self.env.run(values[0], values[1], self.words, values[2],
                                    self.step_s, self.reset_s), b""
        elif code == TIME and hasattr(self.env, "time"):
            self.env.time(*values, self.words, self.step_s)
        elif code == CLOSE:
            if self.env is not None:
                self.env.close()
        else:
            raise Failure(f"fulcrum_gym.py does not know command {code}")
        return ON, 0, b""

    def answer(self, code, values):
        try:
            result, resets, payload = self.obey(code, values)
        except Failure as error:
            result, resets, payload = FAILED, 0, str(error).encode()[:TEXT_BYTE]
        except BaseException as error:
            text = f"{self.place(code)}: {type(error).__name__}: {error}"
            result, resets, payload = FAILED, 0, text.encode()[:TEXT_BYTE]
        if code != DESCRIBE and result != FAILED and hasattr(self, "words"):
            self.words[PHASE] = WAITS
        self.socket.sendall(
            REPLY.pack(MAGIC, code, result, len(payload), resets, 0) + payload)
        return result != FAILED and code != CLOSE

    def place(self, code):
        if not hasattr(self, "words"):
            return "its start"
        step = self.words[STEP_NUMBER]
        return f"step {step}" if self.words[PHASE] == STEPS else f"reset after step {step}"

    def serve(self):
        receive = self.socket.recv
        goes_on = True
        while goes_on:
            command = receive(COMMAND.size, socket.MSG_WAITALL)
            if len(command) != COMMAND.size:
                return
            magic, code, *values = COMMAND.unpack(command)
            if magic != MAGIC:
                return
            goes_on = self.answer(code, values)


def serve(make):
    """Never returns: threads that a library has left do not hold up the end."""
    try:
        Server(make).serve()
    except OSError:
        pass  # the other side is gone
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("fulcrum_gym.py is started by fulcrum: fulcrum_gym.py ENVIRONMENT-ID")
    serve(lambda frame_skip: GymEnvironment(sys.argv[1], frame_skip))
