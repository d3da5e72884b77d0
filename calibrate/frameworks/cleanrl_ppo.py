# cleanrl_ppo.py - a script in the manner of CleanRL's PPO.
# SPDX-License-Identifier: GPL-3.0-or-later
import os
import runpy
import shutil
import sys

from fulcrum_loop import Loop, Made, SERIAL, Failure, imported, made_env, \
    scratch_folder


class FrameworkLoop(Loop):
    """
    `--make ppo_continuous_action.py` runs as its user runs it, with a dataclass Args of
    defaults and their names as options. Its vector environments are Gymnasium's. The
    minibatch stays what the script's defaults make it, however many environments there
    are: num_minibatches follows them.
    """

    vectors = {"sync": SERIAL}
    trains = True
    makes_factory = False

    def prepare(self):
        imported("torch")
        if not self.make or not os.path.exists(self.make):
            raise Failure(f"--make {self.make}: expected the path of a script")
        self.make = os.path.abspath(self.make)
        defaults = runpy.run_path(self.make, run_name="fulcrum_script").get("Args")
        if defaults is None:
            raise Failure(f"--make {self.make}: the script has no class Args of defaults")
        told = {"env_id": self.env_id or getattr(defaults, "env_id", "")}
        wanted = ("num_envs", "num_steps", "num_minibatches", "update_epochs")
        try:
            found = {name: int(self.arguments.pop(name, getattr(defaults, name)))
                     for name in wanted}
        except AttributeError as error:
            raise Failure(f"--make {self.make}: {error}: expected Args to have "
                          + ", ".join(wanted)) from None
        self.told = {**self.arguments, **told}
        self.rollout_length, self.epoch_count = found["num_steps"], found["update_epochs"]
        self.minibatch = max(
            found["num_envs"] * found["num_steps"] // found["num_minibatches"], 1)
        self.name = told["env_id"]
        self.detail = f"{os.path.basename(self.make)}, PyTorch {sys.modules['torch'].__version__}"
        self.folder = scratch_folder()
        os.chdir(self.folder)  # scripts write logs where they are
        self.watch.count_gradients()
        self.clock_steps()

    def clock_steps(self):
        from gymnasium.vector import SyncVectorEnv
        SyncVectorEnv.step = self.watch.around(SyncVectorEnv.step)

    def new(self, _n):
        return Made(made_env("", self.name))

    def opened(self, n):
        return super().opened(1)  # the script makes its own

    def launch(self, _made, n, is_whole):
        # A rollout of some minibatches shows what longer ones would.
        length = self.rollout_length
        if not is_whole:
            length = min(length, max(64, -(-4 * self.minibatch // n)))
        told = {**self.told, "num_envs": n, "num_steps": length,
                "num_minibatches": max(n * length // self.minibatch, 1),
                "update_epochs": self.epoch_count, "total_timesteps": 10**9}
        sys.argv = [self.make]
        for name, value in told.items():
            sys.argv += [f"--{name.replace('_', '-')}", str(value)]
        try:
            runpy.run_path(self.make, run_name="__main__")
        except SystemExit:
            raise Failure("the script does not take " + " ".join(sys.argv[1:])) from None

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)
