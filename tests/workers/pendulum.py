#!/usr/bin/env python3
# pendulum.py - a worker written from docs/environments.md with the standard library alone.
# SPDX-License-Identifier: GPL-3.0-or-later
"""
Serves a pendulum where fulcrum expects its own worker for Gymnasium: the tests name this
file as the interpreter. The last argument is the name of the environment, where a fault
may follow an at sign: pendulum, pendulum@garbage...
"""

import math
import mmap
import os
import random
import socket
import struct
import sys
import time

MAGIC = 0x314B5746
control = socket.socket(fileno=3)
fault = (sys.argv[-1].split("@") + [""])[1]


class Pendulum:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.reset()

    def reset(self):
        self.angle = self.random.uniform(-math.pi, math.pi)
        self.speed = self.random.uniform(-1.0, 1.0)
        self.steps = 0

    def step(self, push):
        if fault == "raise" and self.steps == 3:
            raise ValueError("the string is torn")
        torque = 15.0 * math.sin(self.angle) + 3.0 * 2.0 * push
        self.speed = max(-8.0, min(8.0, self.speed + 0.05 * torque))
        self.angle += 0.05 * self.speed
        self.steps += 1
        return self.steps >= 200

    def observation(self):
        return math.cos(self.angle), math.sin(self.angle), self.speed


class Worker:
    def map(self):
        self.memory = memoryview(mmap.mmap(4, os.fstat(4).st_size))
        self.word = self.memory[:80].cast("Q")
        self.times = self.memory[self.word[6]:self.word[6] + 16 * self.word[7]].cast("d")

    def push(self, row):
        return struct.unpack_from("f", self.memory, self.word[4] + 4 * row)[0]

    def show(self):
        struct.pack_into("3f", self.memory, self.word[8], *self.env.observation())

    def reset(self):
        self.word[1] += 1
        self.word[2] = 1
        self.env.reset()
        self.word[2] = 0

    def step(self, row):
        self.word[0] += 1
        self.word[2] = 2
        ended = self.env.step(self.push(row))
        self.word[2] = 0
        return ended

    def run(self, count, row, stride):
        resets = 0
        begin = time.process_time()
        for i in range(count):
            if stride == 1 or (stride > 1 and i % stride == 0):
                begin = time.process_time()
            ended = self.step(row)
            if stride == 1:
                self.times[i] = time.process_time() - begin
            if ended:
                begin_reset = time.process_time()
                self.reset()
                if stride == 1:
                    self.times[self.word[7] + resets] = time.process_time() - begin_reset
                resets += 1
            if stride > 1 and (i + 1) % stride == 0:
                self.times[i // stride] = time.process_time() - begin
            row = (row + 1) % self.word[5]
        return resets

    def obey(self, code, value):
        if code == 1:
            return 0, 0, struct.pack("=IIQQd64s160s", 1, 0, 3, 1, 1.0, b"pendulum", b"")
        if code == 2:
            self.map()
            self.env = Pendulum(value[0])
            self.reset()
        elif code == 3:
            self.reset()
        elif code == 4:
            ended = self.step(value[0])
            self.show()
            return int(ended), 0, b""
        elif code == 5:
            resets = self.run(*value)
            self.show()
            return 0, resets, b""
        if code != 6:
            self.show()
        return 0, 0, b""


def misbehave(code):
    """What goes wrong in place of the reply to the third command and those after it."""
    header = struct.pack("=IIIIQQ", MAGIC, code, 0, 0, 0, 0)
    if fault == "garbage":
        control.sendall(os.urandom(4096))
    elif fault == "truncated":
        control.sendall(header[:5])
        os._exit(0)
    elif fault == "half":
        control.sendall(header[:20])
        time.sleep(1e6)
    elif fault == "silent":
        time.sleep(1e6)
    elif fault == "dies":
        print("I have had enough", flush=True)
        os._exit(9)
    elif fault == "deaf":
        control.close()
        time.sleep(1e6)
    elif fault == "other":
        control.sendall(struct.pack("=IIIIQQ", MAGIC, code + 1, 0, 0, 0, 0))
    elif fault == "result":
        control.sendall(struct.pack("=IIIIQQ", MAGIC, code, 9, 0, 0, 0))
    elif fault == "payload":
        control.sendall(struct.pack("=IIIIQQ", MAGIC, code, 0, 1 << 31, 0, 0))
    elif fault == "resets":
        control.sendall(struct.pack("=IIIIQQ", MAGIC, code, 0, 0, 1 << 40, 0))
    elif fault == "long-text":
        control.sendall(struct.pack("=IIIIQQ", MAGIC, code, 2, 1 << 20, 0, 0))
    elif fault == "words":
        worker.word[8] = 1 << 60
        worker.word[3] = 0
        control.sendall(header)
    elif fault == "shrink":
        try:
            os.ftruncate(4, 0)
        except OSError as error:
            worker.refusal = error
        control.sendall(header)
    else:
        return False
    return True


worker = Worker()
commands = 0
while True:
    command = control.recv(32, socket.MSG_WAITALL)
    if len(command) < 32:
        break
    magic, code, *value = struct.unpack("=IIQQQ", command)
    commands += 1
    if commands > 2 and misbehave(code):
        continue
    try:
        result, resets, payload = worker.obey(code, value)
    except ValueError as error:
        result, resets, payload = 2, 0, str(error).encode()
    control.sendall(
        struct.pack("=IIIIQQ", MAGIC, code, result, len(payload), resets, 0) + payload)
    if code == 6 or result == 2:
        break
