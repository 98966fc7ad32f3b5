# SPDX-License-Identifier: BSD-2-Clause
"""The configuration console before the VMs start."""
import re

from conftest import GUEST

WAIT = "boot-wait = <30>;\n"
VM = 'first { memory-mib = <64>; bootargs = "halt"; kernel = "/EFI/faultline/guest-tests.elf"; };\n'


def tell(m, line, *answers):
    if m.emulator == "bochs":
        # Its serial port has no flow control, and the firmware looks seldom.
        for c in line:
            m.send(c)
            m.expect(re.escape(c), 60)
        line = ""
    m.send(line + "\r")
    for a in answers:
        m.expect(a, 60)
    m.expect("config> ", 60)


def test_editor(machine):
    """Shown, edited, refused, browsed, saved, forgotten, loaded again; and booted with."""
    m = machine(VM, [GUEST], root=WAIT, backend="svm", smp=1)
    m.expect("any key configures", 100)
    m.send("x")
    m.expect("config> ", 60)
    tell(m, "show first", 'memory-mib = <64>', 'bootargs = "halt"')
    tell(m, "set first vcpus 33", "vcpus = 33: must be 1 to 32")
    tell(m, "check", "0 VMs would start")
    tell(m, "set first vcpus 2")
    tell(m, "set nobody vcpus 2", "error: node 'nobody'")
    tell(m, "nonsense", "is no command")
    tell(m, "", )
    tell(m, f'set first bootargs "{"x" * 1024}"', "must have at most 1023")
    tell(m, f'set first bootargs "{"x" * 1020}end"')
    tell(m, "show first", 'xend";')
    tell(m, 'set first bootargs "halt too"')
    tell(m, "files /EFI/faultline", "faultline.dtb", "guest-tests.elf")
    tell(m, "files /nowhere", "error: ")
    tell(m, "save", "saved to /EFI/faultline/faultline.dtb")
    tell(m, "remove first")
    tell(m, "check", "0 VMs would start")
    tell(m, "reload")
    tell(m, "show first", "vcpus = <2>", "halt too")
    tell(m, "files /EFI/faultline", "faultline.dtb.old")
    tell(m, "add second")
    tell(m, "set second kernel /EFI/faultline/guest-tests.elf")
    tell(m, "set second bootargs halt")
    tell(m, "set second memory-mib 32")
    m.send("boot\r")
    m.expect("2 VMs start", 60)
    m.expect("vm 'second': 1 vCPUs, 32 MiB", 100)
    m.expect("vm 'first': 2 vCPUs, 64 MiB", 100)


def test_nobody_there(machine):
    """Without a key it goes on by itself."""
    m = machine(VM, [GUEST], root="boot-wait = <2>;\n", backend="svm", smp=1)
    m.expect("VMs start in 1 s", 60)
    m.expect("vm 'first': 1 vCPUs", 60)


def test_editor_on_vmx(machine):
    m = machine(VM, [GUEST], root=WAIT, backend="vmx", smp=1)
    m.expect("any key configures", 100)
    m.send("x")
    m.expect("config> ", 60)
    tell(m, "set first vcpus 2")
    tell(m, "save", "saved to")
    tell(m, "reload")
    tell(m, "show first", "vcpus = <2>")
    m.send("boot\r")
    m.expect("vm 'first': 2 vCPUs", 100)
