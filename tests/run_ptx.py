#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""run_ptx.py FOLDER LIBRARY: runs FOLDER/kernels/network.ptx, one instruction at a time.

What NVIDIA's driver is given is interpreted here, thread by thread, and compared with
the same kernels compiled as C (fake_kernel_run of LIBRARY). So the text that Clang made
is tested without a GPU: instructions, addresses within memory, parameters, barriers
that all threads of a block reach. Nothing is said of speed, or of a driver's compiler.
"""

import ctypes
import math
import random
import re
import struct
import sys

BLOCK = 256
MASK = 0xFFFFFFFF
FORMATS = {"f32": "<f", "u32": "<I", "u64": "<Q", "u8": "<B"}


def single(value):
    """The nearest float32."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def signed(value):
    return (value & MASK) - ((value & 0x80000000) << 1)


class Entry:
    """One kernel: its lines as (predicate, operation, operands)."""

    def __init__(self, parameters, body):
        self.parameters = re.findall(r"(\w+_param_\d+)", parameters)
        self.lines, self.labels, self.shared, self.local = [], {}, {}, 0
        self.shared_byte = 0
        for line in body.split("\n"):
            self.read(re.sub(r"//.*", "", line).strip())

    def read(self, line):
        room = re.match(r"\.(local|shared) .*?\.b8\s+(\S+)\[(\d+)\];", line)
        label = re.match(r"(\$?\w+):$", line)
        if room and room[1] == "local":
            self.local = int(room[3])
        elif room:
            self.shared[room[2]] = self.shared_byte
            self.shared_byte += int(room[3])
        elif label:
            self.labels[label[1]] = len(self.lines)
        elif line and not line.startswith("."):
            guard = re.match(r"@(!?)(%p\d+)\s+(.*)", line)
            text = (guard[3] if guard else line).rstrip(";")
            operation, *rest = text.split(None, 1)
            operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest[0] if rest else "")
            self.lines.append(
                ((guard[2], guard[1] == "!") if guard else None, operation.split("."), operands))


def entries_of(text):
    found = re.finditer(r"\.visible \.entry (\w+)\((.*?)\)\s*\{(.*?)\n\}", text, re.S)
    return {match[1]: Entry(match[2], match[3]) for match in found}


class Thread:
    def __init__(self, entry, special, memory):
        self.entry, self.special, self.memory = entry, special, memory
        self.registers = {"%SP": 0, "%SPL": 0}

    def value(self, name):
        if name[0] == "%":
            return self.special[name] if name in self.special else self.registers[name]
        if name.startswith("0f"):
            return struct.unpack(">f", bytes.fromhex(name[2:]))[0]
        if name in self.entry.shared:
            return self.entry.shared[name]
        if name in self.entry.parameters:
            return 8 * self.entry.parameters.index(name)
        return 0 if name.startswith("__local_depot") else int(name)

    def move(self, parts, operands):
        """ld and st: every address inside its memory, and aligned."""
        loads = parts[0] == "ld"
        place, names = (operands[1], operands[0]) if loads else (operands[0], operands[1])
        base, _, offset = place[1:-1].partition("+")
        address = self.value(base) + int(offset or 0)
        memory, layout = self.memory[parts[1]], FORMATS[parts[-1].replace("b", "u")]
        for name in names.strip("{}").split(","):
            name, size = name.strip(), struct.calcsize(layout)
            if address % size or not 0 <= address <= len(memory) - size:
                raise IndexError(f"{parts} at {address} of {len(memory)} bytes")
            if loads:
                self.registers[name] = struct.unpack_from(layout, memory, address)[0]
            else:
                struct.pack_into(layout, memory, address, self.value(name))
            address += size

    def compare(self, parts, a, b):
        if parts[-1] == "s32":
            a, b = signed(a), signed(b)
        relation = parts[1]
        if relation.endswith("u"):
            if math.isnan(a) or math.isnan(b):
                return True
            relation = relation[:-1]
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b,
                "ge": a >= b}[relation]

    def convert(self, parts, value):
        if parts[-2] == "f32":
            return single(float(value))
        return max(0, min(MASK, int(value))) if parts[-1] == "f32" else value & MASK

    def floats(self, name, a):
        unary = {"neg": lambda x: -x, "rcp": lambda x: 1.0 / x, "sqrt": math.sqrt,
                 "ex2": lambda x: 2.0 ** x if x < 128.0 else math.inf}
        if name in unary:
            return single(unary[name](a[0]))
        return single({"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1],
                       "mul": lambda: a[0] * a[1], "div": lambda: a[0] / a[1],
                       "fma": lambda: a[0] * a[1] + a[2]}[name]())

    def whole(self, parts, a):
        width = 64 if parts[-1].endswith("64") or "wide" in parts else 32
        result = {"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1],
                  "mul": lambda: a[0] * a[1], "mad": lambda: a[0] * a[1] + a[2],
                  "div": lambda: a[0] // a[1], "rem": lambda: a[0] % a[1],
                  "min": lambda: min(a), "max": lambda: max(a), "shl": lambda: a[0] << a[1],
                  "shr": lambda: a[0] >> a[1], "and": lambda: a[0] & a[1],
                  "or": lambda: a[0] | a[1], "not": lambda: ~a[0]}[parts[0]]()
        return result & ((1 << width) - 1)

    def compute(self, parts, operands):
        values = [self.value(name) for name in operands[1:]]
        if parts[0] == "setp":
            return self.compare(parts, *values)
        if parts[0] == "selp":
            return values[0] if values[2] else values[1]
        if parts[0] == "cvt":
            return self.convert(parts, values[0])
        if parts[0] == "mov":
            return values[0]
        if parts[-1] == "pred":
            return (values[0] and values[1]) if parts[0] == "and" else (values[0] or values[1])
        return self.floats(parts[0], values) if parts[-1] == "f32" else self.whole(parts, values)

    def run(self):
        """A generator that stops at each barrier."""
        at = 0
        while True:
            guard, parts, operands = self.entry.lines[at]
            at += 1
            if guard and bool(self.registers[guard[0]]) == guard[1]:
                continue
            if parts[0] == "ret":
                return
            if parts[0] == "bra":
                at = self.entry.labels[operands[0]]
            elif parts[0] == "bar":
                yield
            elif parts[0] in ("ld", "st"):
                self.move(parts, operands)
            else:
                self.registers[operands[0]] = self.compute(parts, operands)


def launch(entry, arena, arguments):
    """Blocks one after the other, threads of a block from barrier to barrier."""
    items = struct.unpack_from("<I", arguments)[0]
    for block in range((items + BLOCK - 1) // BLOCK):
        shared, threads = bytearray(entry.shared_byte), []
        for item in range(BLOCK):
            special = {"%tid.x": item, "%ctaid.x": block, "%ntid.x": BLOCK}
            memory = {"global": arena, "shared": shared, "local": bytearray(entry.local),
                      "param": bytearray(8) + bytearray(arguments)}
            threads.append(Thread(entry, special, memory).run())
        while threads:
            going = [thread for thread in threads if next(thread, thread) is None]
            if going and len(going) != len(threads):
                raise RuntimeError("a barrier that some threads do not reach")
            threads = going


def sizes_of(header):
    """How many places, counts and numbers struct fulcrum_kernel_arguments has."""
    return [int(re.search(rf"FULCRUM_KERNEL_{what} = (\d+)", header)[1])
            for what in ("PLACES", "COUNTS", "NUMBERS")]


def filled(values, size):
    return list(values) + [0] * (size - len(values))


def pack(sizes, case):
    _, items, lanes, place, count, number, _ = case
    places, counts, numbers = sizes
    return struct.pack(f"<{2 + places + counts}I{numbers}f", items, lanes,
                       *filled(place, places), *filled(count, counts),
                       *filled(number, numbers))


IMAGE = [12, 12, 4, 4, 2, 5, 25, 0]  # edge, channels, kernel, stride, windows

# name, items, lanes, places, counts, numbers, {place: (how many, below)} of whole ones
CASES = [
    ("fill", 16, 8, [64], [5000], [2.5], {}),
    ("add", 16, 8, [0, 4500], [4200], [], {}),
    ("copy_rows", 40, 8, [0, 1500], [37, 40, 50], [], {}),
    ("sum_rows", 24, 8, [0, 1000], [19, 50, 20, 0], [0.5], {}),
    ("sum_rows", 24, 8, [0, 1000], [19, 50, 20, 1], [0.5], {}),
    ("windows_of_bytes", 1600, 8, [0, 6000], IMAGE, [], {}),
    ("windows", 1600, 8, [0, 6000], IMAGE, [], {}),
    ("add_windows", 1152, 4, [6500, 0], IMAGE, [], {}),
    ("activate", 48, 8, [0, 2000], [45, 1], [], {}),
    ("activate", 48, 8, [0, 2000], [45, 0], [], {}),
    ("activate_backward", 16, 8, [0, 4500], [4200], [], {}),
    ("join", 32, 8, [0, 1000, 2000, 2100], [30, 20], [], {2000: (4, 9)}),
    ("lstm", 32, 8, [0, 1000, 1500, 2000, 2500], [33], [], {}),
    ("lstm_backward", 32, 8, [0, 1000, 2000, 2500, 3000, 3500, 4000], [33], [], {}),
    ("duel", 300, 1, [0, 1000, 1400], [3], [], {}),
    ("duel_backward", 300, 1, [0, 1000, 1400], [3], [], {}),
    ("largest", 300, 1, [0, 1000], [5, 6], [], {}),
    ("td", 60, 1, [0, 1000, 2000, 3000, 4000, 5000], [5, 20, 4, 2], [0.97],
     {2000: (200, 4)}),
    ("ppo", 50, 1, [0, 500, 1000, 1500, 1600, 1700, 2000, 2600, 3500], [6], [0.2, 0.5], {}),
    ("adam", 8, 8, [0, 2000, 4000, 6000], [1900], [1e-3, 1e-8, 0.9, 0.1, 0.999, 0.001],
     {6000: (2000, 9)}),
    ("multiply_tile", 1024, 1, [0, 2000, 4000], [70, 75, 21, 21, 1, 75, 1], [0.0], {}),
    ("multiply_tile", 1024, 1, [0, 2000, 4000], [70, 75, 21, 1, 70, 75, 1], [1.0], {}),
    ("multiply_tile", 1024, 1, [0, 2000, 4000], [70, 75, 21, 21, 1, 1, 21], [1.0], {}),
]


def differs(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) != math.isnan(b)
    return abs(a - b) > 2e-5 * (1.0 + abs(b))


def check(entries, library, sizes, case):
    name, items, wholes = case[0], case[1], case[-1]
    random.seed(name)
    values = [random.gauss(0.0, 0.8) for _ in range(9500)]
    for first, (size, below) in wholes.items():
        values[first:first + size] = [random.randrange(below) for _ in range(size)]
    before = struct.pack(f"<{len(values)}f", *values)
    arguments = pack(sizes, case)
    arena, plain = bytearray(before), ctypes.create_string_buffer(before, len(before))
    launch(entries["fulcrum_" + name], arena, arguments)
    threads = (items + BLOCK - 1) // BLOCK * BLOCK
    if not library.fake_kernel_run(b"fulcrum_" + name.encode(), plain, arguments, threads):
        sys.exit(f"the library has no kernel {name}")
    numbers = struct.Struct(f"<{len(values)}f")
    off = sum(map(differs, numbers.unpack(arena), numbers.unpack(plain.raw)))
    idle = bytes(arena) == before
    print(f"  {name}: {'nothing changed' if idle else f'{off} values differ'}")
    return off == 0 and not idle


def main():
    try:
        library = ctypes.CDLL(sys.argv[2])
    except OSError as reason:
        print(f"skipped: {reason}")  # libraries with sanitizers want them loaded first
        sys.exit(77)
    with open(sys.argv[1] + "/kernels/network.ptx", encoding="ascii") as file:
        entries = entries_of(file.read())
    with open(sys.argv[1] + "/kernels/device_kernels.h", encoding="ascii") as file:
        sizes = sizes_of(file.read())
    unchecked = set(entries) - {"fulcrum_" + case[0] for case in CASES}
    print("not for GPUs, not run:", ", ".join(sorted(unchecked)))
    sys.exit(0 if all([check(entries, library, sizes, case) for case in CASES]) else 1)


main()
