# bad_factories.py - vector environments, most of which do something wrong: tests/loops.sh.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
FULCRUM_BAD_IMPORT=raise|hang|exit: what importing this file does. Each factory takes the
number of environments and returns one that works but for what its name says.
"""

import ctypes
import os
import signal
import sys
import time

import numpy

STEPS = 5  # before what goes wrong in a step
AGES = 1e6


def hang(*_):
    time.sleep(AGES)


{"raise": lambda: 1 / 0, "hang": hang, "exit": lambda: sys.exit("no more"),
 "": lambda: None}[os.environ.get("FULCRUM_BAD_IMPORT", "")]()


class Space:
    dtype, shape = numpy.dtype("float32"), (2,)

    def seed(self, _):
        pass

    def sample(self):
        return numpy.zeros(2, numpy.float32)


class Good:
    def __init__(self, n, **wrong):
        self.n, self.count = n, 0
        self.observation_space = self.action_space = Space()
        self.__dict__.update(wrong)

    def seen(self):
        return numpy.zeros((self.n, 2), numpy.float32)

    def reset(self, **_):
        return self.seen(), {}

    def step(self, _):
        self.count += 1
        if self.count > STEPS:
            self.later()
        no = numpy.zeros(self.n, bool)
        return self.seen(), numpy.zeros(self.n), no, no, {}

    def later(self):
        pass

    def close(self):
        pass


def in_step(wrong):
    return lambda n: Good(n, later=wrong)


def in_reset(wrong):
    return lambda n: Good(n, reset=lambda **_: wrong())


def answers(*answer):
    return lambda n: Good(n, step=lambda _: tuple(
        numpy.zeros(n + more) if isinstance(more, int) else more for more in answer))


def without(*members):
    kept = {"step": 0, "reset": 0, "action_space": 0}
    return lambda n: type("Partial", (), {k: kept[k] for k in kept if k not in members})()


def tell(fault):
    raise ValueError(f"the wheels came off\nin {fault}")


def eat(*_):
    kept = []
    while True:
        kept.append(numpy.ones(1 << 22))


def chatter(*_):
    for _ in range(1 << 12):
        print("x" * 1023)


def stubborn(*_):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang()


def forked(work):
    """Returns in the parent; a child does `work` and then sleeps."""
    if os.fork() == 0:
        work()
        hang()


def drop_socket():
    os.close(3)


def daemonise():
    """Two sessions away, with nobody to wait for it."""
    os.setsid()
    for fd in range(3):
        os.close(fd)
    drop_socket()
    if os.fork() != 0:
        os._exit(0)


def cart_poles(n, mode="sync"):
    import gymnasium
    return gymnasium.make_vec("CartPole-v1", num_envs=n, vectorization_mode=mode)


good = Good
cart_poles_apart = lambda n: cart_poles(n, "async")
fails = lambda n: tell("the factory")
fails_in_reset = in_reset(lambda: tell("a reset"))
fails_in_step = in_step(lambda: tell("a step"))
returns_none = lambda n: None
has_no_step = without("step")
has_no_reset = without("reset")
has_no_action_space = without("action_space")
takes_nothing = lambda: Good(1)
not_a_function = 3
resets_to_shape = lambda n: Good(n, reset=lambda **_: (numpy.zeros((n + 1, 2)), {}))
resets_to_none = lambda n: Good(n, reset=lambda **_: None)
resets_to_nothing = lambda n: Good(n, reset=lambda **_: ())
steps_to_shape = answers(1, 0, 0, 0, {})
steps_to_scalar = answers(3.0, 0, 0, 0, {})
rewards_of_shape = answers(0, 1, 0, 0, {})
rewards_of_one = answers(0, 1.0, 0, 0, {})
steps_to_none = lambda n: Good(n, step=lambda _: None)
steps_to_one = answers(0)
has_no_space = lambda n: Good(n, observation_space=None)
hangs = hang
hangs_in_reset = in_reset(hang)
hangs_in_step = in_step(hang)
exits = lambda n: sys.exit(3)
exits_in_step = in_step(lambda: sys.exit("enough of this"))
exits_at_once = in_step(lambda: os._exit(3))
kills_itself = in_step(lambda: os.kill(os.getpid(), signal.SIGKILL))
reads_null = in_step(lambda: ctypes.string_at(0))
prints = chatter
prints_in_step = in_step(chatter)
eats_memory = eat
eats_memory_in_step = in_step(eat)
eats_memory_in_a_child = in_step(lambda: forked(eat) or hang())
ignores_signals = stubborn
writes_to_socket = in_step(lambda: os.write(3, b"garbage " * 8))
closes_socket = in_step(lambda: (drop_socket(), hang()))
interrupts = in_step(lambda: signal.raise_signal(signal.SIGINT))
is_infinite = lambda n: Good(n, seen=lambda: numpy.full((n, 2), numpy.nan))
begin_s = time.monotonic()
fails_late = lambda n: Good(
    n, later=lambda: time.monotonic() > begin_s + 4.0 and tell("old age"))
fails_of_three = lambda n: Good(n, later=lambda: n == 3 and tell("a crowd"))
fails_to_close = lambda n: Good(n, later=lambda: tell("a step"), close=hang)


def leaves_children(n):
    for _ in range(3):
        forked(lambda: None)
    return Good(n, later=lambda: tell("a step"))


def child_holds_socket(n):
    forked(lambda: None)
    os._exit(4)


def leaves_daemon(n):
    forked(daemonise)
    return Good(n, later=lambda: tell("a step"))


def leaves_daemon_and_dies(n):
    forked(daemonise)
    time.sleep(0.1)
    os._exit(5)


def leaves_daemon_and_works(n):
    forked(daemonise)
    return Good(n)
