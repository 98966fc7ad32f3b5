# SPDX-License-Identifier: BSD-2-Clause
"""The bootable images, flat guests, and the machine's own end."""
import os
import subprocess

import pexpect
import pytest

from conftest import BUILD, ROOT, linux_vm

# mov dx, 0x3f8; mov al, LETTER; out dx, al; mov dx, 0xf4; mov al, 0; out dx, al; hlt
REAL = bytes.fromhex("baf803 b0{:02x} ee baf400 b000 ee f4".format(ord("R")))
WIDE = "baf8030000 b0{:02x} ee baf4000000 b000 ee f4"


def flat(name, mode, load, entry=None):
    entry = f"flat-entry = <{entry:#x}>; " if entry is not None else ""
    return (f'{name} {{ memory-mib = <16>; type = "flat"; flat-mode = "{mode}"; '
            f'flat-load = <{load:#x}>; {entry}kernel = "/EFI/faultline/{name}"; test-exit; }};\n')


def test_flat_guests(machine, backend, tmp_path):
    """Real, protected and long mode, each from its own load address."""
    code = {"real": REAL, "protected": bytes.fromhex(WIDE.format(ord("P"))),
            "long": b"\xcc" * 16 + bytes.fromhex(WIDE.format(ord("L")))}
    files = []
    for name, data in code.items():
        (tmp_path / name).write_bytes(data)
        files.append((str(tmp_path / name), name))
    m = machine(flat("real", "real", 0x7c00) + flat("protected", "protected", 0x200000) +
                flat("long", "long", 0x300000, 0x300010), files, backend=backend, smp=1)
    for _ in code:
        m.expect(r"vm '(real|protected|long)': stopped: test exit 1", 60)
    assert m.wait_end(60)


def test_as_many_as_can_be_configured(machine, tmp_path):
    """16 VMs of 32 vCPUs, 512 in all, on one CPU."""
    (tmp_path / "real").write_bytes(REAL)
    vms = "".join(flat(f"vm{i}", "real", 0x7c00).replace("test-exit;", "test-exit; vcpus = <32>;")
                  .replace(f"/vm{i}", "/real") for i in range(16))
    m = machine(vms, [(str(tmp_path / "real"), "real")], backend="svm", smp=1)
    for _ in range(16):
        m.expect(r"vm '(vm\d+)': stopped: test exit 1", 60)
    assert m.wait_end(60)


def test_triple_fault_leaves_a_record_and_resets(machine, tmp_path):
    """lidt of nothing, then int3: a dump, and the VM starts again; the other VM goes on."""
    (tmp_path / "fault").write_bytes(bytes.fromhex("0f011c2500001000 cc"))
    vm = flat("fault", "long", 0x200000)
    m = machine(vm + linux_vm("good"), [(str(tmp_path / "fault"), "fault"),
                                        (os.path.join(BUILD, "kernel", "vmlinuz"), "vmlinuz"),
                                        (os.path.join(BUILD, "initrd.img"), "initrd.img")],
                backend="svm", smp=1)
    m.expect(r"vm 'fault' vcpu 0: triple fault", 60)
    m.expect(r"rip [0-9a-f]+ rflags", 10)
    m.expect(r"vm 'fault': reset 2: triple fault", 60)
    m.expect(r"vm 'fault': reset 10 times in a row at once after its start: given up", 60)
    m.expect(r"vm 'fault': stopped: triple fault", 60)
    m.send("\n")
    m.expect("/ # ", 150)


def test_triple_fault_stops_where_reboots_do(machine, tmp_path):
    (tmp_path / "fault").write_bytes(bytes.fromhex("0f011c2500001000 cc"))
    vm = flat("fault", "long", 0x200000).replace("test-exit;", 'on-reboot = "stop";')
    m = machine(vm, [(str(tmp_path / "fault"), "fault")], backend="svm", smp=1)
    m.expect(r"vm 'fault': stopped: triple fault on vcpu 0", 60)
    assert m.wait_end(60)


@pytest.mark.parametrize("media", ["disk", "iso"])
def test_image_boots(machine, media):
    """What `make image` makes boots from a USB disk and from a CD."""
    path = os.path.join(BUILD, "faultline.img" if media == "disk" else "faultline.iso")
    m = machine("", [], backend="svm", smp=1)
    m.stop()
    m.__init__(m.image, "svm", 1, log=m.log)
    m.log_path = m.log.name
    drive = f"if=none,id=media,format=raw,readonly=on,file={path}"
    command = m.qemu_command(["-serial", "stdio"])
    at = next(i for i, a in enumerate(command) if a.startswith("if=ide"))
    command[at] = drive
    command += (["-device", "qemu-xhci", "-device", "usb-storage,drive=media"] if media == "disk"
                else ["-device", "ide-cd,drive=media"])
    m.serial = pexpect.spawn(command[0], command[1:], timeout=120, echo=False)
    m.serial.logfile_read = m.log
    m.expect("/ # ", 150)


def test_help_lists_the_targets():
    """`make help` lists every target that the README names."""
    text = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout
    for target in ("run", "demo", "test", "check", "image", "lint", "help"):
        assert any(line.startswith(target + " ") for line in text.splitlines()), target
