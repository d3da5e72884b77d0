# sample_factory.py - asynchronous PPO (APPO) of Sample Factory.
# SPDX-License-Identifier: GPL-3.0-or-later
import functools
import multiprocessing
import shutil
import time

from fulcrum_loop import ASYNCHRONOUS, FACTS, FLOAT32, UINT8, Failure, Loop, imported, \
    made_env, process_cpu_s, scratch_folder
from fulcrum_gym import PHASE, STEP_NUMBER, STEPS

# Training iterations before the clocks are read.
WARM_UP = 2


class FrameworkLoop(Loop):
    """
    Its runner with its own processes; --args are its command line's options. Nothing is
    timed inside: CPU clocks of rollout workers, inference and learner tell what each
    takes of a step.
    """

    vectors = {"workers": ASYNCHRONOUS}
    trains = True

    def prepare(self):
        import importlib.metadata
        imported("sample_factory")
        self.detail = (f"Sample Factory {importlib.metadata.version('sample-factory')}, "
                       f"PyTorch {imported('torch').__version__}")
        self.folder = scratch_folder()
        cfg = self.settings(1, 2)
        self.groups = cfg.worker_num_splits
        self.rollout_length = 0
        # A training step is an iteration of the learner, with all its epochs.
        self.minibatch, self.epoch_count = cfg.batch_size * cfg.num_batches_per_epoch, 1

    def describe(self, _made):
        env = made_env(self.make, self.env_id)
        self.kind = UINT8 if str(env.observation_space.dtype) == "uint8" else FLOAT32
        self.observation_count = max(1, int(env.observation_space.sample().size))
        self.action_count = 1
        env.close()

    def opened(self, n):
        return None

    @property
    def thread_count(self):
        return self.groups

    def settings(self, workers, envs):
        from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
        device = "gpu" if imported("torch").cuda.is_available() else "cpu"
        name = self.env_id or "made"
        words = [f"--env={name}", f"--train_dir={self.folder}", "--algo=APPO",
                 f"--experiment={time.time_ns()}", f"--device={device}",
                 f"--num_workers={workers}", f"--num_envs_per_worker={envs}",
                 "--train_for_env_steps=1000000000000", "--save_every_sec=1000000"]
        words += [f"--{key}={value}" for key, value in self.arguments.items()]
        try:
            parser, _ = parse_sf_args(argv=words)
            return parse_full_cfg(parser, words)
        except SystemExit:
            raise Failure("Sample Factory does not take these --args: " +
                          " ".join(words[9:])) from None

    def time(self, piece, n, microsecond_count, words, out):
        if piece == FACTS:
            return super().time(piece, n, microsecond_count, words, out)
        from sample_factory.algo.runners.runner import AlgoObserver
        from sample_factory.envs.env_utils import register_env
        from sample_factory.train import make_runner
        loop = self
        words[PHASE] = STEPS
        workers, envs = max(n >> 32, 1), n & 0xffffffff or self.groups

        class Clocks(AlgoObserver):
            """Reads the CPU clocks of all processes at the ends of iterations."""

            first = last = None

            def read(self):
                found = {"": time.process_time()}
                for child in multiprocessing.active_children():
                    part = child.name.split("_")[0]
                    found[part] = found.get(part, 0.0) + process_cpu_s(child.pid)
                return time.perf_counter(), found

            def on_training_step(self, runner, iteration):
                words[STEP_NUMBER] += 1
                if iteration == WARM_UP:
                    self.first, self.begin = self.read(), iteration
                elif self.first is not None and self.last is None:
                    now = time.perf_counter()
                    if now - self.first[0] >= 1e-6 * microsecond_count:
                        self.last, self.end = self.read(), iteration
                        runner._stop_training()

        if (self.env_id or "made") not in self.registered:
            register_env(self.env_id or "made",
                         functools.partial(made_env, self.make))
            self.registered.add(self.env_id or "made")
        _, runner = make_runner(self.settings(workers, envs))
        clocks = Clocks()
        runner.register_observer(clocks)
        runner.init()
        runner.run()
        if clocks.last is None:
            raise Failure("the training ended before it had been timed")
        (begin, before), (end, after) = clocks.first, clocks.last
        iterations = clocks.end - clocks.begin
        used = {part: after[part] - before.get(part, 0.0) for part in after}
        steps = iterations * loop.minibatch
        found = [end - begin, steps, 0, used[""], 0, used.get("rollout", 0.0), 0,
                 used.get("inference", 0.0), steps, used.get("learner", 0.0), iterations]
        for i, value in enumerate(found):
            out[i] = value

    registered = set()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
