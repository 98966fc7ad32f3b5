# SPDX-License-Identifier: BSD-2-Clause
"""Linux guests: to a shell, several at a time, more vCPUs than CPUs, reboots."""
import os
import subprocess

import pytest

from conftest import BUILD, ROOT, linux_vm

PROMPT = r"/ # "


def shell(m):
    m.expect("Faultline microVM", 150)
    m.expect(PROMPT, 30)


def run(m, command, seconds=60):
    """What @command prints; its exit status must be 0."""
    m.send(command + "; echo end''mark $?\n")
    m.expect(r"endmark (\d+)\r", seconds)
    out = m.serial.before.decode("latin1").replace("\r", "").split("\n", 1)[1]
    assert m.serial.match.group(1) == b"0", out
    m.expect(PROMPT, 30)
    return out


def power_off(m):
    m.send("poweroff -f\n")
    m.expect("stopped: power-off", 60)


def test_demo(backend):
    """`make demo` prints "demo: ok"."""
    out = subprocess.run([os.path.join(ROOT, "tools", "demo"), os.path.join(BUILD, "faultline.img"),
                          "--backend", backend, "--log", os.path.join(BUILD, f"demo-{backend}.log")],
                         capture_output=True, text=True, timeout=900, check=False)
    assert out.returncode == 0 and out.stdout.endswith("demo: ok\n"), out.stdout


def test_demo_four_cpus():
    out = subprocess.run([os.path.join(ROOT, "tools", "demo"), os.path.join(BUILD, "faultline.img"),
                          "--backend", "svm", "--smp", "4",
                          "--log", os.path.join(BUILD, "demo-smp4.log")],
                         capture_output=True, text=True, timeout=900, check=False)
    assert out.returncode == 0 and out.stdout.endswith("demo: ok\n"), out.stdout


def test_two_vms_side_by_side(machine, backend):
    """Each has its own memory and console; the escape key moves between them."""
    m = machine(linux_vm("first") + linux_vm("second", mib=160), backend=backend, smp=2)
    shell(m)
    run(m, "touch /only-here; hostname first")
    m.send("\x1dn")
    m.expect(r"vm 'second' \(2 of 2\)", 30)
    m.send("\n")
    m.expect(PROMPT, 200)
    assert "only-here" not in run(m, "ls /")
    power_off(m)
    # The focus goes to the VM that is left.
    m.send("\n")
    m.expect(PROMPT, 60)
    assert "only-here" in run(m, "ls /; hostname")
    power_off(m)
    assert m.wait_end(60)


def test_eight_vcpus_on_two_cpus(machine, backend):
    m = machine(linux_vm("wide", vcpus=8, mib=256), backend=backend, smp=2)
    shell(m)
    assert run(m, "nproc").strip() == "8"
    # Every CPU really runs something.
    run(m, "for i in 0 1 2 3 4 5 6 7; do taskset $((1 << i)) sh -c 'j=0; while [ $j -lt 200 ]; "
           "do j=$((j+1)); done' & done; wait", 120)
    power_off(m)
    assert m.wait_end(60)


def test_four_vms(machine):
    m = machine("".join(linux_vm(f"vm{i}", mib=96) for i in range(4)), backend="svm", smp=2)
    for _ in range(4):
        m.send("\n")
        m.expect(PROMPT, 200)
        m.send("poweroff -f\n")
        m.expect("stopped: power-off", 100)
    assert m.wait_end(60)


@pytest.mark.parametrize("count", [50])
def test_reboots_leave_memory_flat(machine, count):
    """A guest that reboots 50 times: the frame pool is the same after each."""
    m = machine(linux_vm("again", mib=96, args="console=ttyS0 quiet fl.run=reboot+-f"),
                root="log-level = \"debug\";\n", backend="svm", smp=1)
    free = []
    for i in range(1, count + 1):
        m.expect(r"vm 'again': reset (\d+): reboot, (\d+) KiB free", 120)
        assert int(m.serial.match.group(1)) == i
        free.append(int(m.serial.match.group(2)))
    assert len(set(free)) == 1, free
