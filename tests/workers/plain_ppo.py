# plain_ppo.py - PPO in one file, with the options of CleanRL's scripts.
# SPDX-License-Identifier: GPL-3.0-or-later
import argparse
from dataclasses import dataclass, fields

import gymnasium
import torch
from torch import nn


@dataclass
class Args:
    env_id: str = "CartPole-v1"
    num_envs: int = 4
    num_steps: int = 128
    num_minibatches: int = 4
    update_epochs: int = 4
    total_timesteps: int = 100000
    learning_rate: float = 3e-4


def parsed():
    parser = argparse.ArgumentParser()
    for field in fields(Args):
        parser.add_argument("--" + field.name.replace("_", "-"),
                            type=field.type, default=field.default)
    return parser.parse_args()


def returns_of(rewards, dones, last, gamma=0.99):
    out, value = torch.zeros_like(rewards), last
    for t in reversed(range(len(rewards))):
        value = rewards[t] + gamma * value * (1.0 - dones[t])
        out[t] = value
    return out


def main():
    args = parsed()
    envs = gymnasium.vector.SyncVectorEnv(
        [lambda: gymnasium.make(args.env_id) for _ in range(args.num_envs)])
    size, choices = envs.single_observation_space.shape[0], envs.single_action_space.n
    actor = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, choices))
    critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))
    both = list(actor.parameters()) + list(critic.parameters())
    optimiser = torch.optim.Adam(both, lr=args.learning_rate)
    shape = (args.num_steps, args.num_envs)
    seen = torch.zeros(shape + (size,))
    actions, logs = torch.zeros(shape, dtype=torch.long), torch.zeros(shape)
    rewards, dones, values = torch.zeros(shape), torch.zeros(shape), torch.zeros(shape)
    observation = torch.as_tensor(envs.reset(seed=1)[0])
    batch = args.num_steps * args.num_envs
    for _ in range(args.total_timesteps // batch):
        for t in range(args.num_steps):
            with torch.no_grad():
                policy = torch.distributions.Categorical(logits=actor(observation))
                action = policy.sample()
                values[t] = critic(observation).flatten()
            seen[t], actions[t], logs[t] = observation, action, policy.log_prob(action)
            after, reward, ended, cut, _ = envs.step(action.numpy())
            rewards[t] = torch.as_tensor(reward)
            dones[t] = torch.as_tensor(ended | cut, dtype=torch.float32)
            observation = torch.as_tensor(after)
        with torch.no_grad():
            target = returns_of(rewards, dones, critic(observation).flatten())
        flat = [x.reshape(batch, *x.shape[2:])
                for x in (seen, actions, logs, target, target - values)]
        for _ in range(args.update_epochs):
            for part in torch.randperm(batch).chunk(args.num_minibatches):
                x, a, old, goal, gain = (each[part] for each in flat)
                policy = torch.distributions.Categorical(logits=actor(x))
                ratio = (policy.log_prob(a) - old).exp()
                kept = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
                loss = (critic(x).flatten() - goal).square().mean() - kept.mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()


if __name__ == "__main__":
    main()
