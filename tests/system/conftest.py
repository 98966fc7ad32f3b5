# SPDX-License-Identifier: BSD-2-Clause
"""Fixtures of the system tests: a machine with a given configuration, on either back end."""
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import flmachine  # noqa: E402

BUILD = flmachine.BUILD
KERNEL = (os.path.join(BUILD, "kernel", "vmlinuz"), "vmlinuz")
INITRD = (os.path.join(BUILD, "initrd.img"), "initrd.img")
GUEST = (os.path.join(BUILD, "guest-tests.elf"), "guest-tests.elf")
LINUX = [KERNEL, INITRD]

HEAD = '/dts-v1/;\n/ { compatible = "faultline,config-1"; when-idle = "poweroff";\n'


def linux_vm(name, vcpus=1, mib=128, args="console=ttyS0", more=""):
    """A VM node that boots the Linux guest to its shell."""
    return (f'{name} {{ vcpus = <{vcpus}>; memory-mib = <{mib}>; kernel = "/EFI/faultline/vmlinuz"; '
            f'initrd = "/EFI/faultline/initrd.img"; bootargs = "{args}"; {more} }};\n')


def plain(text):
    """Serial output without terminal control."""
    return re.sub(r"\x1b\[[0-9;=?]*[a-zA-Z]", "", text.decode("latin1")).replace("\r", "")


@pytest.fixture(params=["svm", "vmx"])
def backend(request):
    return request.param


@pytest.fixture
def machine(tmp_path, request):
    """machine(vms, files, **options): boots a machine whose configuration has the VM nodes given.

    dtb= passes a blob instead; root= adds properties to the root node, sections= further nodes.
    """
    started = []

    def start(vms="", files=LINUX, root="", sections="", dtb=None, efi="faultline-debug.efi", **options):
        image, blob = str(tmp_path / f"disk{len(started)}.img"), str(tmp_path / "faultline.dtb")
        if dtb is None:
            wait = "" if "boot-wait" in root else "boot-wait = <0>;\n"
            dts = HEAD + wait + root + sections + "vms {\n" + vms + "};\n};\n"
            subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb", "-o", blob], input=dts.encode(),
                           check=True)
        else:
            with open(blob, "wb") as f:
                f.write(dtb)
        subprocess.run([os.path.join(ROOT, "tools", "mkimage"), image,
                        os.path.join(BUILD, efi), f"{blob}=faultline.dtb",
                        *(f"{src}={dst}" for src, dst in files)], check=True)
        log = open(tmp_path / f"serial{len(started)}.log", "wb")
        m = flmachine.Machine(image, log=log, **options)
        m.log_path = log.name
        started.append(m)
        return m.start()

    yield start
    for m in started:
        m.stop()
        m.log.close()
        report = getattr(request.node, "report_call", None)
        if report is None or report.failed:
            with open(m.log_path, "rb") as f:
                print(f"--- serial line of {m.backend} under {m.emulator} ---")
                print(plain(f.read())[-12000:])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call":
        item.report_call = outcome.get_result()
