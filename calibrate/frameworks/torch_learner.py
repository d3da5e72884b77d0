# torch_learner.py - forward passes and training steps of PyTorch, timed where they run.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
What a learner does: fulcrum asks for a piece of work again and again, of the module
that --make names. factory(observation_count, action_count) returns one that is called
with a float32 batch (batch, observation_count); a training step is a forward pass, the
mean square of the outputs as loss, a backward pass and a step of Adam. mlp, cnn and
r2d2 are ready ones: cnn and r2d2 see 84 x 84 x 4 bytes, r2d2 trains on sequences.
"""
import copy
import os
import time

from fulcrum_gym import FLOAT32, PHASE, STEP_NUMBER, STEPS, UINT8, Failure
from fulcrum_loop import FACTS, FORWARD, arguments_of, factory_of, imported

# Outputs go to zero slowly: numbers too small for their exponent would take longer.
ADAM_RATE = 1e-6


def dense(nn, *counts):
    pairs = zip(counts, counts[1:])
    return [layer for a, b in pairs for layer in (nn.Linear(a, b), nn.ReLU())]


def nature_cnn(nn):
    return [nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1), nn.ReLU(), nn.Flatten(), *dense(nn, 3136, 512)]


def r2d2(torch, action_count):
    nn = torch.nn

    class R2D2(nn.Module):
        def __init__(self):
            super().__init__()
            self.see = nn.Sequential(*nature_cnn(nn))
            # With the last reward and the last action.
            self.lstm = nn.LSTM(512 + 1 + action_count, 512)
            self.value = nn.Sequential(*dense(nn, 512, 512), nn.Linear(512, 1))
            self.advantage = nn.Sequential(
                *dense(nn, 512, 512), nn.Linear(512, action_count))

        def forward(self, images, batch, state=None):
            seen = self.see(images).view(-1, batch, 512)
            last = seen.new_zeros((*seen.shape[:2], 1 + action_count))
            seen, state = self.lstm(torch.cat([seen, last], 2), state)
            advantage = self.advantage(seen)
            return self.value(seen) + advantage - advantage.mean(2, True), state

    return R2D2()


def tensors_of(value):
    if hasattr(value, "cpu"):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [tensor for part in parts for tensor in tensors_of(part)]


class FrameworkLoop:
    frame_skip = 1

    def __init__(self, _env_id, _vector, _net, make, arguments):
        sizes = arguments_of(arguments)
        self.torch = torch = imported("torch")
        torch.manual_seed(sizes["seed"])
        self.is_recurrent, self.is_image = make == "r2d2", make in ("cnn", "r2d2")
        self.shape = (4, 84, 84) if self.is_image else (sizes["observation_count"],)
        self.observation_count = torch.Size(self.shape).numel()
        self.action_count = sizes["action_count"]
        self.kind = UINT8 if self.is_image else FLOAT32
        self.on_gpu = torch.cuda.is_available()
        self.place = torch.device("cuda" if self.on_gpu else "cpu")
        self.module = self.made(make, torch.nn).to(self.place)
        self.target = copy.deepcopy(self.module) if self.is_recurrent else None
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=ADAM_RATE)
        self.rows, self.copy_s = torch.empty(0), 0.0
        self.name = torch.cuda.get_device_name() if self.on_gpu else "cpu"
        place = f"CUDA {torch.version.cuda}" if self.on_gpu else "cpu"
        self.detail = f"{make[-60:]}, PyTorch {torch.__version__}, {place}, " \
                      f"{torch.get_num_threads()} threads"

    def made(self, make, nn):
        heads = self.action_count + 1  # policy and value
        if make == "mlp":
            return nn.Sequential(*dense(nn, self.observation_count, 256, 256, 256),
                                 nn.Linear(256, heads))
        if make == "cnn":
            return nn.Sequential(*nature_cnn(nn), nn.Linear(512, heads))
        if make == "r2d2":
            return r2d2(self.torch, self.action_count)
        module = factory_of(make)(self.observation_count, self.action_count)
        if not isinstance(module, nn.Module):
            raise Failure(f"--make {make}: the factory returned a "
                          f"{type(module).__name__}, expected a torch.nn.Module")
        return module

    def create(self, _seed, _actions, _observation):
        """The first passes take longer, and start the threads."""
        self.make_rows(64)
        self.forward(64)
        self.train(1, 1, 0)

    def close(self):
        pass

    def make_rows(self, count):
        """In the host's memory, where environments leave their observations."""
        if len(self.rows) < count:
            shape = (count, *self.shape)
            self.rows = self.torch.randint(256, shape, dtype=self.torch.uint8) \
                if self.is_image else self.torch.rand(shape)

    def wait(self):
        if self.on_gpu:
            self.torch.cuda.synchronize()

    def copied(self, tensor, place):
        if not self.on_gpu:
            return tensor
        self.wait()
        begin = time.perf_counter()
        tensor = tensor.to(place)
        self.wait()
        self.copy_s += time.perf_counter() - begin
        return tensor

    def output(self, count):
        rows = self.copied(self.rows[:count], self.place)
        rows = rows.float() / 255 if self.is_image else rows
        more = [count] if self.is_recurrent else []
        return tensors_of(self.module(rows, *more))

    def forward(self, batch, *_):
        with self.torch.no_grad():
            for output in self.output(batch):
                self.copied(output, "cpu")

    def train(self, batch, unroll, burn_in):
        self.optimizer.zero_grad()
        loss = self.sequence_loss(batch, unroll, burn_in) if self.is_recurrent else \
            sum(output.square().mean() for output in self.output(batch))
        loss.backward()
        self.optimizer.step()

    def sequence_loss(self, batch, unroll, burn_in):
        """Burn-in is forward only, and so is the target network."""
        images = self.copied(self.rows[:batch * (burn_in + unroll + 1)], self.place)
        images = images.float() / 255
        before, images = images[:batch * burn_in], images[batch * burn_in:]
        state = target_state = None
        with self.torch.no_grad():
            if burn_in > 0:
                _, state = self.module(before, batch)
                _, target_state = self.target(before, batch)
            wanted, _ = self.target(images, batch, target_state)
        values, _ = self.module(images, batch, state)
        return (values[:unroll] - 0.9 * wanted[1:]).square().mean()

    def memory_byte(self):
        if self.on_gpu:
            return self.torch.cuda.max_memory_allocated()
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def facts(self):
        """Two operations for each parameter where PyTorch counts none."""
        from torch.utils.flop_counter import FlopCounterMode
        count = sum(each.numel() for each in self.module.parameters())
        with FlopCounterMode(display=False) as counter:
            self.forward(1)
        device = [0, 0, 0]
        if self.on_gpu:
            told = self.torch.cuda.get_device_properties(self.place)
            device = [told.multi_processor_count, 1e3 * getattr(told, "clock_rate", 0),
                      told.total_memory]
        flop = counter.get_total_flops() or 2 * count
        threads = self.torch.get_num_threads()
        return [count, flop, self.memory_byte(), threads, *device]

    def work(self, piece, n, repeats, words):
        batch, unroll, burn_in = (n >> shift & 0xfffff for shift in (0, 20, 40))
        work = self.forward if piece == FORWARD else self.train
        self.make_rows(batch * (burn_in + unroll + 1 if self.is_recurrent else 1))
        self.copy_s = 0.0
        self.wait()
        begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
        for _ in range(repeats):
            words[STEP_NUMBER] += 1
            work(batch, unroll, burn_in)
        self.wait()
        return [time.perf_counter() - begin_s, time.process_time() - begin_cpu_s,
                self.copy_s, self.torch.get_num_threads(), self.memory_byte()]

    def time(self, piece, n, repeats, words, out):
        words[PHASE] = STEPS
        found = self.facts() if piece == FACTS else self.work(piece, n, repeats, words)
        for i, value in enumerate(found):
            out[i] = value
