# SPDX-License-Identifier: BSD-2-Clause
"""What the plugin (bench/plugin/count.c) counted: totals, and by function of hypervisor and guest."""
import bisect
import collections
import os
import re
import subprocess

import flmachine

IMAGE = os.path.join(flmachine.BUILD, "faultline.so")
GUEST = os.path.join(flmachine.BUILD, "bench.elf")
# The guest waits there for its other vCPUs: no part of any event.
WAITING = {"spin_until", "guest_ap_main", "smp_wait"}


class Symbols:
    """Addresses to function names; @base is added to each of the file's."""

    def __init__(self, path, base=0):
        out = subprocess.run(["nm", "-n", path], capture_output=True, text=True, check=True).stdout
        found = [row.split() for row in out.splitlines()]
        found = [(int(f[0], 16) + base, f[2]) for f in found if len(f) == 3 and f[1] in "tTwW"]
        self.starts, self.names = [a for a, _ in found], [n for _, n in found]
        self.end = self.starts[-1] + 4096

    def name(self, address):
        if not self.starts or not self.starts[0] <= address < self.end:
            return None
        return self.names[bisect.bisect_right(self.starts, address) - 1]


class Section:
    """One stretch between two marks: instructions by (function, is guest) and CPU."""

    def __init__(self):
        self.by_function = collections.Counter()
        self.by_cpu = collections.Counter()

    def add(self, name, cpu, count):
        self.by_function[name] += count
        if name[0] not in WAITING:
            self.by_cpu[cpu] += count

    def busy(self):
        """All CPUs together, without the guest's waiting for its other vCPUs."""
        return sum(self.by_cpu.values())


def image_base(text):
    """From the hypervisor's log; 0 when it does not say."""
    m = re.search(r"image at (?:0x)?([0-9a-f]+)", text)
    return int(m[1], 16) if m else 0


def read(path, text):
    """The sections in @path, a list; @text is the serial line's."""
    host, guest = Symbols(IMAGE, image_base(text)), Symbols(GUEST)
    names, sections = {}, []
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "section":
                sections.append(Section())
                continue
            address = int(words[0], 16)
            if address not in names:
                in_guest = guest.name(address)
                names[address] = (in_guest, True) if in_guest else (host.name(address) or "?", False)
            sections[-1].add(names[address], int(words[1]), int(words[2]))
    return sections


def show_profile(label, sections, loop, empty, divisor):
    """Where the instructions of one event go."""
    cost = collections.Counter(sections[loop].by_function)
    cost.subtract(sections[empty].by_function)
    total = sum(n for name, n in cost.items() if name[0] not in WAITING)
    print(f"\nprofile of {label}: {total / divisor:.1f} per event, {divisor} events")
    for (name, in_guest), n in cost.most_common():
        if abs(n) / divisor >= 0.05 and name not in WAITING:
            print(f"  {n / divisor:10.1f}  {100 * n / total:5.1f} %  {name}{' (guest)' if in_guest else ''}")
    cpus = sections[loop].by_cpu
    if len(cpus) > 1:
        print("  by CPU: " + " ".join(f"{c}:{cpus[c] / divisor:.1f}" for c in sorted(cpus)))
    print(flush=True)
