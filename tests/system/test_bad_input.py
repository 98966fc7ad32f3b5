# SPDX-License-Identifier: BSD-2-Clause
"""Bad configurations, files and machines: one clear line each, and the rest goes on."""
import os
import subprocess

import pytest

from conftest import GUEST, INITRD, KERNEL, linux_vm

GOOD = linux_vm("good", mib=128)


def bad(name, body):
    return f"{name} {{ {body} }};\n"


KERNEL_PATH = 'kernel = "/EFI/faultline/vmlinuz";'
CASES = {
    "zero-cpus": (f"vcpus = <0>; memory-mib = <64>; {KERNEL_PATH}", r"vcpus.*0.*1 to 32"),
    "many-cpus": (f"vcpus = <33>; memory-mib = <64>; {KERNEL_PATH}", r"vcpus.*33.*1 to 32"),
    "no-kernel": ("memory-mib = <64>;", r"kernel"),
    "lost-kernel": ('memory-mib = <64>; kernel = "/EFI/faultline/nothing";',
                    r"kernel '/EFI/faultline/nothing': not found"),
    "lost-initrd": (f'memory-mib = <64>; {KERNEL_PATH} initrd = "/EFI/faultline/nothing";',
                    r"initrd '/EFI/faultline/nothing': not found"),
    "cut-kernel": ('memory-mib = <64>; kernel = "/EFI/faultline/cut";', r"/EFI/faultline/cut"),
    "text-kernel": ('memory-mib = <64>; kernel = "/EFI/faultline/text";',
                    r"neither a bzImage nor a multiboot"),
    "tiny": (f"memory-mib = <16>; {KERNEL_PATH}", r"vmlinuz"),
    "big-initrd": (f'memory-mib = <96>; {KERNEL_PATH} initrd = "/EFI/faultline/big";',
                   r"/EFI/faultline/big"),
    "in-the-hole": (f'{KERNEL_PATH} #address-cells = <2>; #size-cells = <2>; '
                    'memory@0 { device_type = "memory"; reg = <0 0 0 0xd0000000>; };',
                    r"memory"),
    "overlap": (f'{KERNEL_PATH} #address-cells = <1>; #size-cells = <1>; '
                'memory@0 { device_type = "memory"; reg = <0 0x8000000>, <0x4000000 0x8000000>; };',
                r"memory"),
}


@pytest.fixture
def files(tmp_path):
    """The good files, and some that are not."""
    cut, text, big = (str(tmp_path / n) for n in ("cut", "text", "big"))
    with open(KERNEL[0], "rb") as src, open(cut, "wb") as dst:
        dst.write(src.read(700))
    with open(text, "wb") as f:
        f.write(b"This is no kernel.\n" * 100)
    with open(big, "wb") as f:
        f.truncate(40 << 20)
    return [KERNEL, INITRD, GUEST, (cut, "cut"), (text, "text"), (big, "big")]


def test_bad_vms_do_not_stop_the_good_one(machine, backend, files):
    vms = "".join(bad(name, body) for name, (body, _) in CASES.items())
    m = machine(vms + GOOD, files, backend=backend, smp=1)
    for name, (_, line) in CASES.items():
        # pexpect's dot matches newlines and would swallow the next VM's line.
        line = line.replace(".*", r"[^\n]*")
        m.expect(rf"vm '{name}': not started: [^\n]*{line}[^\n]*\n", 60)
    m.expect("Faultline microVM", 150)
    m.expect("/ # ", 30)
    m.send("poweroff -f\n")
    m.expect("stopped: power-off", 60)


@pytest.mark.parametrize("blob,line", [
    (b"", r"faultline.dtb[^\n]*no VM is defined"),
    (b"\xd0\x0d\xfe\xed" + bytes(36), r"faultline.dtb[^\n]*no VM is defined"),
    (b"not a device tree at all" * 10, r"faultline.dtb[^\n]*no VM is defined"),
])
def test_malformed_configuration(machine, blob, line):
    """The hypervisor comes up without VMs and says why; the line stays alive."""
    m = machine(dtb=blob, backend="svm", smp=1)
    m.expect(line, 60)
    m.expect("vm: none is configured", 60)
    m.send("\x1dn")
    m.expect("console: monitor", 60)
    assert m.alive()


def test_no_configuration_file(machine, tmp_path):
    """Without a file the built-in default boots vmlinuz and initrd.img."""
    m = machine(linux_vm("unused"), backend="svm", smp=1)
    m.stop()
    subprocess.run(["mdel", "-i", m.image + "@@1M", "::/EFI/faultline/faultline.dtb"], check=True,
                   env={**os.environ, "MTOOLS_SKIP_CHECK": "1"})
    m.__init__(m.image, "svm", 1, log=m.log)
    m.log_path = m.log.name
    m.start()
    m.expect("using the built-in default", 60)
    m.expect("/ # ", 150)


def test_out_of_memory_pauses_that_vm_only(machine):
    """A guest with more memory than the machine has waits until another gives some back."""
    hog = linux_vm("hog", mib=3000, args="console=ttyS0 fl.run=dd+if=/dev/zero+of=/tmp-fill+bs=1M")
    m = machine(hog + GOOD, backend="svm", smp=2, mem=768)
    m.expect(r"vm 'hog': paused: vcpu 0: no memory left for its page at [0-9a-f]+", 200)
    m.send("\n\x1dn\n")
    m.expect("/ # ", 150)
    m.send("poweroff -f\n")
    # In any order: memory is back a little before the VM counts as stopped.
    for _ in range(2):
        m.expect("stopped: power-off|vm 'hog': goes on", 60)
    m.expect("vm 'hog': paused: ", 200)


@pytest.mark.parametrize("backend_,cpu,line", [
    ("svm", "qemu64,-svm", r"neither VMX nor SVM"),
    ("svm", "qemu64,+svm,-npt", r"nested paging"),
    ("vmx", "core2_penryn_t9600", r"vmx: [^\n]*\n"),
])
def test_cpu_without_the_features(machine, backend_, cpu, line):
    m = machine(GOOD, backend=backend_, smp=1, cpu=cpu)
    m.expect(line, 60)
    m.expect(r"no VM can run|no VM is running", 60)
    m.send("\x1dn")
    m.expect("console: monitor", 60)


def test_cpus_beyond_the_limit_are_parked(machine):
    m = machine(GOOD, root="max-cpus = <2>;\n", backend="svm", smp=4)
    m.expect(r"smp: 2 more CPUs are parked", 60)
    m.expect(r"smp: 2 CPUs", 60)
    m.expect("/ # ", 150)


def test_no_screen_and_no_firmware_console(machine):
    """A machine without a display adapter: everything by the serial line (QEMU has none here)."""
    m = machine(GOOD, backend="svm", smp=1, extra=["-vga", "none"])
    m.expect("/ # ", 150)


def test_wrong_console_falls_back(machine):
    """No UART where the configuration has the console: the next place is tried, and it says so."""
    m = machine(linux_vm("linux"), sections='console { kind = "port"; base = <0x4e8>; };\n', backend="svm")
    m.expect(r"no UART at 4e8, as the configuration would have it", 60)
    m.expect(r"/ # ", 100)
