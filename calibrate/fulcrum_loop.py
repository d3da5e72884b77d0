# fulcrum_loop.py - times the loops of training frameworks, and their vector environments.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Started by fulcrum as

    python3 fulcrum_loop.py LOOP ENVIRONMENT VECTOR NET MAKE KEY=VALUE,...

with a socket on file descriptor 3 and shared memory on 4; docs/environments.md has the
protocol. LOOP is a class of this file or of frameworks/LOOP.py beside it; the other
arguments may be empty. Nothing is imitated: the framework's own code runs, with a clock
around every call of its vector environment, until it has run for as long as was asked.
What passes between two calls is training where an optimiser stepped meanwhile, and
else the policy's: so the pieces add up to the whole.
"""

import glob
import importlib
import importlib.util
import math
import multiprocessing
import os
import shutil
import sys
import tempfile
import time

from fulcrum_gym import FLOAT32, STEPS, PHASE, STEP_NUMBER, UINT8, Failure, \
    GymEnvironment, serve

FACTS, PIECES, WHOLE, FORWARD, TRAIN = range(5)
SERIAL, PROCESSES, THREADS, ASYNCHRONOUS = range(4)
# Untimed at the start of every measurement of a loop that does not train: it takes the
# kernel longer to spread threads and processes over the cores than to fill caches.
WARM_UP_S = 0.1
SPREAD_S = 0.5


class Enough(BaseException):
    """Leaves the framework's loop; no handler of Exception catches it."""


def process_cpu_s(pid):
    """CPU seconds of another process, by the clock of clock_getcpuclockid(3)."""
    return time.clock_gettime((~pid << 3) | 2)


def children_cpu_s():
    """CPU seconds of the processes that the vector environment has started."""
    total = 0.0
    for child in multiprocessing.active_children():
        try:
            total += process_cpu_s(child.pid)
        except OSError:
            pass  # it has ended
    return total


class Watch:
    """The clock around the calls of a vector environment."""

    def __init__(self):
        self.words = None  # shared memory: how far we are
        self.begin(0.0, False, False, 0.0)

    def begin(self, time_s, trains, is_light, warm_up_s):
        self.time_s, self.trains, self.is_light = time_s, trains, is_light
        self.warm_up_s = warm_up_s
        self.gradient_count = 0
        self.last_s = self.first_s = None
        self.is_warm = False

    def restart(self, now):
        """The warm-up is over."""
        self.is_warm, self.start_s = True, now
        self.calls = []
        self.thread_s = self.pool_s = self.other_s = self.train_s = 0.0
        self.other_count = self.train_count = 0
        self.children_s = children_cpu_s()

    def arrive(self, now):
        """A call begins at `now`: what has passed since the last one?"""
        if self.last_s is None:
            self.first_s = now
            return
        trained, self.gradient_count = self.gradient_count, 0
        gap = now - self.last_s
        if not self.is_warm:
            if trained or (not self.trains and now - self.first_s >= self.warm_up_s):
                self.restart(now)
            return
        if trained:
            self.train_s += gap
            self.train_count += trained
        else:
            self.other_s += gap
            self.other_count += 1
        if now - self.start_s >= self.time_s and (trained or not self.trains):
            self.wall_s = now - self.start_s
            self.children_s = children_cpu_s() - self.children_s
            raise Enough

    def around(self, step):
        """`step` with the clock around it."""
        clock, thread, process = time.perf_counter, time.thread_time, time.process_time

        def timed(*values, **named):
            begin = clock()
            self.arrive(begin)
            self.words[STEP_NUMBER] += 1
            if self.is_light or not self.is_warm:
                result = step(*values, **named)
                self.last_s = clock()
                if self.is_warm:
                    self.calls.append(self.last_s - begin)
                return result
            thread_s, process_s = thread(), process()
            result = step(*values, **named)
            thread_s, process_s = thread() - thread_s, process() - process_s
            self.last_s = clock()
            self.calls.append(self.last_s - begin)
            self.thread_s += thread_s
            self.pool_s += process_s - thread_s
            return result

        return timed

    def count_gradients(self):
        """From now on the steps of all optimisers of PyTorch are counted."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        def stepped(*_):
            self.gradient_count += 1
            self.words[STEP_NUMBER] += 1

        register_optimizer_step_post_hook(stepped)

    def found(self):
        ranked = sorted(self.calls)
        low, middle, high = (ranked[int(q * (len(ranked) - 1))] for q in (0.16, 0.5, 0.84))
        return [self.wall_s, len(ranked), sum(ranked), self.thread_s, max(self.pool_s, 0.0),
                self.children_s, 0.5 * (high - low) / middle, self.other_s,
                self.other_count, self.train_s, self.train_count]


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return {"true": True, "false": False, "none": None}.get(text.lower(), text)


def arguments_of(text):
    pairs = [part.partition("=") for part in text.split(",") if part]
    for name, equals, _ in pairs:
        if not equals or not name.isidentifier():
            raise Failure(f"--args {text}: expected KEY=VALUE,KEY=VALUE,...")
    return {name: value_of(value) for name, _, value in pairs}


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Failure(f"{sys.executable} has no {name} ({error}): install it there, or "
                      "name another interpreter with --python") from None


def loaded(path, name):
    """The module of a file, under a name that shadows no package."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def factory_of(make):
    """What `--make module:factory` or `--make file.py:factory` names."""
    place, colon, name = make.rpartition(":")
    if not colon:
        raise Failure(f"--make {make}: expected MODULE:FACTORY or FILE.py:FACTORY")
    if place.endswith(".py"):
        if not os.path.exists(place):
            raise Failure(f"--make {make}: there is no file {place}")
        module = loaded(place, "fulcrum_made")
    else:
        sys.path.insert(0, os.getcwd())
        module = importlib.import_module(place)
    factory = getattr(module, name, None)
    if not callable(factory):
        raise Failure(f"--make {make}: {place} has no function {name}")
    return factory


def registered(env_id):
    """Gymnasium, with the Atari games where it does not know `env_id` by itself."""
    gymnasium = imported("gymnasium")
    try:
        gymnasium.spec(env_id)
    except gymnasium.error.Error:
        if env_id.startswith("ALE/") or importlib.util.find_spec("ale_py"):
            GymEnvironment.register_ale(gymnasium)
    return gymnasium


def scratch_folder():
    """A folder of this process. Those of processes that were killed are removed."""
    start = os.path.join(tempfile.gettempdir(), "fulcrum-loop-")
    for path in glob.glob(start + "*"):
        if not os.path.exists("/proc/" + path[len(start):].partition("-")[0]):
            shutil.rmtree(path, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{start}{os.getpid()}-")


def made_env(make, env_id, *_values, **_named):
    """One environment, in a process that a framework spawned too."""
    if make:
        return factory_of(make)(1)
    return registered(env_id).make(env_id)


def space_of(env, kind):
    """The space of one environment: its own, or the only one that `env` tells."""
    for name in (f"single_{kind}_space", f"{kind}_space"):
        if getattr(env, name, None) is not None:
            return getattr(env, name)
    raise Failure(f"a {type(env).__name__} without {kind}_space, expected a vector "
                  "environment")


class Loop:
    """
    A loop around a vector environment. A subclass sets `vectors`, the names that
    --vector takes, with the way each steps its environments, and has

        new(n)            an object with `env`, a vector environment of n environments
        launch(made, n, is_whole)
                          runs the loop over self.watch.around(its step) until Enough
                          is raised; is_whole: with the user's own rollout length
    """

    vectors = {"sync": SERIAL}
    trains = False
    # Threads that slept wake up on the core that they slept on, and may share it for as
    # long as they run, which those of a training that starts once do not.
    reopens = False
    frame_skip = 1
    rollout_length = minibatch = epoch_count = parameter_count = 0

    def __init__(self, env_id, vector, net, make, arguments):
        self.env_id, self.net = env_id, net
        self.vector = vector or next(iter(self.vectors))
        if self.vector not in self.vectors:
            raise Failure(f"--vector {vector}: expected {' or '.join(self.vectors)}")
        self.arguments = arguments_of(arguments)
        self.factory = factory_of(make) if make and self.makes_factory else None
        self.make = make
        self.watch = Watch()
        self.made = {}
        self.name = env_id or make
        self.detail = ""
        self.prepare()
        self.describe(self.opened(1))

    makes_factory = True

    def prepare(self):
        """Imports, and defaults of the framework."""

    @property
    def way(self):
        return self.vectors[self.vector]

    @property
    def thread_count(self):
        """Threads that step environments; 0: as many as there are."""
        return 0

    @property
    def batch_size(self):
        """Environments that one call steps; 0: all."""
        return 0

    def opened(self, n):
        if self.reopens:
            self.close()
        if n not in self.made:
            self.made[n] = self.new(n)
        return self.made[n]

    def describe(self, made):
        space, actions = (space_of(made.env, kind) for kind in ("observation", "action"))
        self.kind = UINT8 if str(getattr(space, "dtype", "")) == "uint8" else FLOAT32
        self.observation_count = max(1, math.prod(getattr(space, "shape", None) or (1,)))
        self.action_count = max(1, math.prod(getattr(actions, "shape", None) or (1,)))

    def create(self, _seed, _actions, _observation):
        pass

    def facts(self):
        return [self.way, self.thread_count, self.batch_size, self.trains,
                self.rollout_length, self.minibatch, self.epoch_count,
                self.parameter_count]

    def time(self, piece, n, microsecond_count, words, out):
        """Answers FULCRUM_WORKER_TIME; what it found is written to `out`."""
        if piece == FACTS:
            found = self.facts()
        else:
            self.watch.words = words
            words[PHASE] = STEPS
            words[STEP_NUMBER] += 1
            made = self.opened(n)
            self.watch.begin(1e-6 * microsecond_count, self.trains, piece == WHOLE,
                             WARM_UP_S if self.way == SERIAL else SPREAD_S)
            try:
                self.launch(made, n, piece == WHOLE)
            except Enough:
                pass
            else:
                raise Failure("the training ended before it had been timed: "
                              "give it more steps in all")
            found = self.watch.found()
        for i, value in enumerate(found):
            out[i] = value

    def close(self):
        while self.made:
            self.made.popitem()[1].env.close()


class Made:
    def __init__(self, env, **more):
        self.env = env
        self.__dict__.update(more)


def check_rows(what, value, n):
    shape = getattr(value, "shape", None)
    if shape is None:
        raise Failure(f"{what} is a {type(value).__name__}, expected an array of {n} rows")
    if not shape or shape[0] != n:
        raise Failure(f"{what} of {n} environments has shape {shape}: its first "
                      f"dimension is not {n}")


class gymvec(Loop):
    """gymnasium.make_vec."""

    vectors = {"sync": SERIAL, "async": PROCESSES}

    def prepare(self):
        self.gymnasium = registered(self.env_id)
        self.detail = f"Gymnasium {self.gymnasium.__version__}, {self.vector}"

    def new_env(self, n):
        return self.gymnasium.make_vec(
            self.env_id, num_envs=n, vectorization_mode=self.vector, **self.arguments)

    def new(self, n):
        env = self.new_env(n)
        step, observation = self.stepper(env, n)
        if isinstance(observation, tuple) and observation:
            observation = observation[0]
        if not isinstance(observation, dict):
            check_rows("the observation after a reset", observation,
                       self.batch_size or n)
        return Made(env, step=step, actions=self.sample(env, n))

    def stepper(self, env, _n):
        """A function that steps all environments, and what a reset returned."""
        return env.step, env.reset()

    def sample(self, env, n):
        """Random actions for 64 calls."""
        numpy = imported("numpy")
        space = space_of(env, "action")
        space.seed(1)
        return [numpy.stack([numpy.asarray(space.sample()) for _ in range(n)])
                for _ in range(64)]

    def launch(self, made, n, _is_whole):
        step, actions, i = self.watch.around(made.step), made.actions, 0
        answer = made.step(actions[0])
        if not isinstance(answer, (tuple, list)) or len(answer) < 2:
            raise Failure(f"a step returned a {type(answer).__name__}, expected a tuple of "
                          "observations, rewards and what has ended")
        if not isinstance(answer[0], dict):
            check_rows("the observation after a step", answer[0], self.batch_size or n)
        check_rows("the reward after a step", answer[1], self.batch_size or n)
        while True:
            step(actions[i])
            i = (i + 1) % len(actions)


class vecenv(gymvec):
    """A vector environment that a function of the user's makes: factory(n, ...)."""

    vectors = {"sync": SERIAL, "async": PROCESSES}

    def prepare(self):
        if self.factory is None:
            raise Failure("needs --make MODULE:FACTORY, a function of the number of "
                          "environments")
        self.detail = f"{self.make}, {self.vector}"

    def new_env(self, n):
        env = self.factory(n, **self.arguments)
        for member in ("step", "reset", "action_space"):
            if not hasattr(env, member):
                raise Failure(f"the factory returned a {type(env).__name__} without "
                              f"{member}, expected a vector environment")
        return env


class envpool(gymvec):
    """EnvPool, all environments a call or batch_size of them."""

    reopens = True
    vectors = {"sync": THREADS, "async": THREADS}

    def prepare(self):
        self.envpool = imported("envpool")
        self.arguments.setdefault("num_threads", os.cpu_count())
        if (self.vector == "async") != ("batch_size" in self.arguments):
            raise Failure("--vector async and --args batch_size=M go together")
        self.detail = f"EnvPool {self.envpool.__version__}, {self.vector}, " + ", ".join(
            f"{key} {value}" for key, value in self.arguments.items())

    @property
    def thread_count(self):
        return self.arguments["num_threads"]

    @property
    def batch_size(self):
        return self.arguments.get("batch_size", 0)

    def new_env(self, n):
        sizes = {"num_envs": max(n, self.batch_size)}
        return self.envpool.make(
            self.env_id, env_type="gymnasium", **{**self.arguments, **sizes})

    def stepper(self, env, _n):
        if self.vector == "sync":
            return env.step, env.reset()

        def step(actions):
            answer = env.recv()
            env.send(actions, answer[4]["env_id"])
            return answer

        env.async_reset()
        return step, step(self.sample(env, self.batch_size)[0])

    def sample(self, env, n):
        return super().sample(env, self.batch_size or n)


def loop_of(name):
    if name in ("gymvec", "vecenv", "envpool"):
        return globals()[name]
    folder = os.path.join(os.path.dirname(os.path.realpath(__file__)), "frameworks")
    return loaded(os.path.join(folder, name.replace("-", "_") + ".py"),
                  "fulcrum_framework").FrameworkLoop


def start(frame_skip, arguments):
    if frame_skip > 1:
        raise Failure("--frame-skip is the environment's own business here")
    name, env_id, vector, net, make, more = arguments
    # Spawned processes import this file again: they must find it as a module.
    return loop_of(name)(env_id, vector, net, make, more)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit("fulcrum_loop.py is started by fulcrum")
    serve(lambda frame_skip: start(frame_skip, sys.argv[1:]))
