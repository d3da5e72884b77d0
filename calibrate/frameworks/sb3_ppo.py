# sb3_ppo.py - PPO of Stable-Baselines3.
# SPDX-License-Identifier: GPL-3.0-or-later
import functools
import math

from fulcrum_loop import Loop, Made, PROCESSES, SERIAL, imported, made_env, registered


class FrameworkLoop(Loop):
    """
    PPO(net, env, **args).learn(), on make_vec_env(env_id), for images of Atari games
    make_atari_env(env_id) with four frames stacked, or on what --make returns.
    """

    vectors = {"dummy": SERIAL, "subproc": PROCESSES}
    trains = True

    def prepare(self):
        self.library = imported("stable_baselines3")
        self.net = self.net or "MlpPolicy"
        self.is_atari = self.is_atari_image()
        self.detail = (f"Stable-Baselines3 {self.library.__version__}, PyTorch "
                       f"{imported('torch').__version__}, {self.net}, {self.vector}"
                       f"{', AtariWrapper, 4 frames' if self.is_atari else ''}")
        model = self.opened(1).model
        self.rollout_length = model.n_steps
        self.minibatch, self.epoch_count = model.batch_size, model.n_epochs
        self.parameter_count = sum(each.numel() for each in model.policy.parameters())
        self.watch.count_gradients()

    def is_atari_image(self):
        if self.factory is not None or "Cnn" not in self.net:
            return False
        entry = str(registered(self.env_id).spec(self.env_id).entry_point)
        return entry.startswith(("ale_py", "shimmy"))

    def new_env(self, n):
        from stable_baselines3.common import env_util, vec_env
        if self.factory is not None:
            return self.factory(n)
        kind = {"dummy": vec_env.DummyVecEnv, "subproc": vec_env.SubprocVecEnv}
        make = env_util.make_atari_env if self.is_atari else env_util.make_vec_env
        one = functools.partial(made_env, "", self.env_id)
        env = make(one, n_envs=n, seed=1, vec_env_cls=kind[self.vector])
        return vec_env.VecFrameStack(env, 4) if self.is_atari else env

    def new_model(self, env, **more):
        return self.library.PPO(self.net, env, **{**self.arguments, **more})

    def new(self, n):
        env = self.new_env(n)
        model = self.new_model(env)
        # A rollout long enough for some minibatches shows what longer ones would.
        whole = model.batch_size // math.gcd(model.batch_size, n)
        length = -(-max(64, 4 * model.batch_size // n) // whole) * whole
        if length < model.n_steps:
            model = self.new_model(env, n_steps=length)
        return Made(env, model=model)

    def launch(self, made, n, is_whole):
        if is_whole and not hasattr(made, "whole"):
            made.whole = self.new_model(made.env)
        model = made.whole if is_whole else made.model
        if "step" in vars(model.env):
            del model.env.step
        model.env.step = self.watch.around(model.env.step)
        model.learn(10**12, reset_num_timesteps=False)
