# envpool_ppo.py - a script in the manner of CleanRL's PPO on EnvPool.
# SPDX-License-Identifier: GPL-3.0-or-later
import os

from fulcrum_loop import Made, THREADS, imported, loop_of


class FrameworkLoop(loop_of("cleanrl-ppo")):
    """`--make ppo_atari_envpool.py`: envpool.make gives the environments that it steps."""

    vectors = {"sync": THREADS}

    @property
    def thread_count(self):
        return self.told.get("num_threads", os.cpu_count())

    def clock_steps(self):
        envpool = imported("envpool")
        make = envpool.make

        def made(*values, **named):
            env = make(*values, **named)
            env.step = self.watch.around(env.step)
            return env

        envpool.make, self.make_env = made, make

    def new(self, _n):
        return Made(self.make_env(self.name, env_type="gymnasium", num_envs=1))
