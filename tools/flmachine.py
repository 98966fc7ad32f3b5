# SPDX-License-Identifier: BSD-2-Clause
"""The emulated machine that Faultline boots on, for the tools and the system tests.

SVM runs under QEMU's TCG, VMX under Bochs; where the host's KVM can nest, both
run under QEMU with KVM.  The serial line is a pexpect object either way.
"""
import fcntl
import os
import pty
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time
import tty

import pexpect
import pexpect.fdpexpect

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("B", os.path.join(ROOT, "build"))
OVMF = os.path.join(BUILD, "ovmf")
BOCHS_ROM = "/usr/share/ovmf/OVMF.fd"
BOCHS_MODEL = "corei7_skylake_x"

KVM_GET_SUPPORTED_CPUID = 0xC008AE05


def kvm_nests():
    """'vmx' or 'svm' when the host's KVM offers that to guests, else None."""
    entries = 256
    try:
        fd = os.open("/dev/kvm", os.O_RDWR)
    except OSError:
        return None
    try:
        buf = bytearray(struct.pack("<II", entries, 0) + bytes(40 * entries))
        fcntl.ioctl(fd, KVM_GET_SUPPORTED_CPUID, buf)
    except OSError:
        return None
    finally:
        os.close(fd)
    (count,) = struct.unpack_from("<I", buf)
    for i in range(count):
        leaf, _, _, _, _, ecx = struct.unpack_from("<6I", buf, 8 + 40 * i)
        if leaf == 1 and ecx & (1 << 5):
            return "vmx"
        if leaf == 0x80000001 and ecx & (1 << 2):
            return "svm"
    return None


def choose(backend):
    """(back end, emulator) for svm, vmx or auto; emulator is kvm, tcg or bochs."""
    nested = kvm_nests()
    if backend == "auto":
        return (nested, "kvm") if nested else ("svm", "tcg")
    if nested == backend:
        return backend, "kvm"
    return backend, {"svm": "tcg", "vmx": "bochs"}[backend]


def relay(master, path):
    """Makes a socket at @path of a pty's master, one client at a time.  Bochs wants its input slowly.

    What comes while there is no client is read all the same, or the machine would stand still.
    """
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    while True:
        while server not in select.select([server, master], [], [])[0]:
            os.read(master, 4096)
        client, _ = server.accept()
        try:
            while True:
                ready, _, _ = select.select([client, master], [], [])
                if master in ready:
                    client.sendall(os.read(master, 4096))
                if client in ready:
                    data = client.recv(8)
                    if not data:
                        break
                    os.write(master, data)
                    time.sleep(0.02)
        except (BrokenPipeError, ConnectionResetError):
            pass  # gone, with an answer under way


class Machine:
    """One run of one disk image.  Use as a context manager."""

    def __init__(self, image, backend="auto", smp=2, mem=1024, log=None, timeout=120,
                 cpu=None, extra=(), counting=False, one_thread=False,
                 control=None, reboots=False):
        self.backend, self.emulator = choose(backend)
        # Counting: the TSC is an instruction count, and every run is the same.
        self.counting = counting
        # QEMU emulates all CPUs in turn by one thread, not each by its own.
        self.one_thread = one_thread
        if counting:
            self.emulator = {"svm": "tcg", "vmx": "bochs"}[self.backend]
        # A reset is one, and not the end of the run; Bochs has it so always.
        self.reboots = reboots
        self.image, self.smp, self.mem = image, smp, mem
        self.cpu, self.extra = cpu, list(extra)
        self.log, self.timeout = log, timeout
        self.dir = tempfile.mkdtemp(prefix="faultline-")
        # The second serial line: a socket at this path, True: somewhere.
        self.control = os.path.join(self.dir, "control") if control is True else control
        self.process = self.serial = self.command = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.stop()

    # Slow emulators get more time for the same thing.
    @property
    def patience(self):
        if self.counting and self.emulator == "tcg":
            return 4
        return {"kvm": 1, "tcg": 2, "bochs": 6}[self.emulator]

    def start(self):
        if self.emulator == "bochs":
            self._start_bochs()
        else:
            # Ctrl-C is for who reads the line, not for QEMU.
            self.command = self.qemu_command(["-chardev", "stdio,id=person,signal=off",
                                              "-serial", "chardev:person"])
            self.serial = pexpect.spawn(self.command[0], self.command[1:], timeout=self.timeout,
                                        echo=False)
            self.serial.delaybeforesend = None
        self.serial.logfile_read = self.log
        return self

    def qemu_command(self, serial):
        variables = os.path.join(self.dir, "vars.fd")
        shutil.copy(os.path.join(OVMF, "OVMF_VARS.fd"), variables)
        # cmpxchg16b crashes Linux under QEMU 7.2's TCG now and then.
        cpu = self.cpu or ("host" if self.emulator == "kvm" else "max,+svm,-cx16")
        accel = "kvm" if self.emulator == "kvm" else f"tcg,thread={'single' if self.one_thread else 'multi'}"
        extra = self.extra
        if self.counting:
            # An EPYC has no fast short REP MOVSB, so that copies count alike everywhere.
            cpu, accel = self.cpu or "EPYC,+svm,+npt", "tcg,thread=single"
            extra = ["-icount", "shift=0,sleep=off", "-seed", "1",
                     "-rtc", "base=2020-01-01T00:00:00,clock=vm", *extra]
        code = os.path.join(OVMF, "OVMF_CODE.fd")
        return ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-machine", "q35",
                "-accel", accel, "-cpu", cpu, "-smp", str(self.smp), "-m", str(self.mem),
                "-drive", "if=pflash,unit=0,format=raw,readonly=on,file=" + code,
                "-drive", "if=pflash,unit=1,format=raw,file=" + variables,
                "-drive", "if=ide,format=raw,snapshot=on,file=" + self.image,
                "-net", "none", *([] if self.reboots else ["-no-reboot"]), *serial,
                *(["-serial", f"unix:{self.control},server=on,wait=off"] if self.control else []), *extra]

    def _start_bochs(self):
        disk = os.path.join(self.dir, "disk.img")
        subprocess.run(["cp", "--sparse=always", self.image, disk], check=True)
        master, slave = pty.openpty()
        tty.setraw(master)
        tty.setraw(slave)
        if self.control:
            relay_master, relay_slave = pty.openpty()
            tty.setraw(relay_slave)
            self._relay_slave = relay_slave
            self.extra.append(f"com2: enabled=1, mode=term, dev={os.ttyname(relay_slave)}")
            threading.Thread(target=relay, args=(relay_master, self.control), daemon=True).start()
        config = os.path.join(self.dir, "bochsrc")
        with open(config, "w", encoding="ascii") as f:
            f.write(self.bochs_config(disk, os.ttyname(slave)))
        with open(os.path.join(self.dir, "debugger"), "w", encoding="ascii") as f:
            f.write("c\n")
        with open(os.path.join(self.dir, "out"), "wb") as out:
            self.command = ["bochs", "-q", "-f", config, "-rc", os.path.join(self.dir, "debugger")]
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.dir)
        # We keep the slave open: Bochs opens it itself, and must find it alive.
        self._slave = slave
        self.serial = pexpect.fdpexpect.fdspawn(master, timeout=self.timeout)
        self.serial.delaybeforesend = None

    def bochs_config(self, disk, tty_name):
        return "\n".join([
            "plugin_ctrl: unmapped=1, speaker=0",
            "sound: driver=dummy, waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy",
            "config_interface: textconfig",
            'display_library: rfb, options="timeout=0"',
            "romimage: file=" + BOCHS_ROM,
            "vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest",
            f"cpu: model={self.cpu or BOCHS_MODEL}, count={self.smp}, ips=100000000, "
            "reset_on_triple_fault=0, ignore_bad_msrs=1",
            f"megs: {self.mem}",
            "pci: enabled=1, chipset=i440fx",
            "ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14",
            f'ata0-master: type=disk, mode=flat, path="{disk}"',
            "boot: disk",
            f"com1: enabled=1, mode=term, dev={tty_name}",
            "log: " + os.path.join(self.dir, "bochs.log"),
            "clock: sync=none, time0=1600000000",
            "vga: extension=vbe, update_freq=5, realtime=0",
            *self.extra, ""])

    def alive(self):
        if self.process:
            return self.process.poll() is None
        return self.serial.isalive()

    def expect(self, pattern, seconds=60):
        """Waits for @pattern, scaled by the emulator's speed; returns the match's index."""
        end = time.monotonic() + seconds * self.patience
        while True:
            left = max(end - time.monotonic(), 0)
            try:
                # A Bochs that died leaves its terminal open: look after it now and then.
                return self.serial.expect(pattern, timeout=min(left, 5) if self.process else left)
            except pexpect.TIMEOUT:
                if not left or not self.process:
                    raise
                if not self.alive():
                    raise pexpect.EOF("the emulator ended") from None

    def send(self, text):
        """Types @text; one by one under Bochs, whose serial port has no flow control."""
        if self.emulator != "bochs":
            self.serial.send(text)
            return
        for c in text:
            self.serial.send(c)
            time.sleep(0.01)

    def wait_end(self, seconds=30):
        """True when the machine switched itself off in time."""
        if self.process:
            try:
                self.process.wait(seconds * self.patience)
            except subprocess.TimeoutExpired:
                return False
            return True
        try:
            self.serial.expect(pexpect.EOF, timeout=seconds * self.patience)
        except pexpect.TIMEOUT:
            return False
        return True

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        elif self.serial and not self.process:
            self.serial.close(force=True)
        shutil.rmtree(self.dir, ignore_errors=True)
