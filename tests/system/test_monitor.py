# SPDX-License-Identifier: BSD-2-Clause
"""The monitor: by a person at the console, and by a program at the control line."""
import hashlib
import json
import os
import re
import socket
import subprocess
import time
import types

import pytest

from conftest import BUILD, GUEST, LINUX, ROOT, linux_vm

FLCTL = os.path.join(ROOT, "tools", "flctl")
CONTROL = 'control { kind = "auto"; };\n'
# It halts for ever.
IDLE = 'memory-mib = <64>; bootargs = "halt"; kernel = "/EFI/faultline/guest-tests.elf";'


def idle_vm(name, more=""):
    return f"{name} {{ {IDLE} {more} }};\n"


class Program:
    def __init__(self, m):
        self.line = m.control

    def run(self, *words, code=0):
        done = subprocess.run([FLCTL, "-s", self.line, "--json", *words], capture_output=True, text=True,
                              timeout=300, check=False)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout else {}

    def state(self, name):
        return self.run("vm", "show", name)["state"]


@pytest.fixture
def program(machine, backend):
    def start(vms, **options):
        m = machine(vms, [GUEST], backend=backend, smp=2, control=True, sections=CONTROL,
                    one_thread=True, **options)
        m.expect("control: programs are served", 120)
        return m, Program(m)
    return start


def test_life_of_a_vm(program):
    """Created, started, paused, moved, reset, stopped, destroyed; memory is what it was."""
    m, p = program(idle_vm("first"))
    m.expect("vm 'first': 1 vCPUs", 120)
    assert [v["name"] for v in p.run("vm", "list")["vms"]] == ["first"]
    free = p.run("mem")["machine"]["guest_free_kib"]
    for i in range(3):
        p.run("vm", "create", "second", "like=first", "memory-mib=32", "weight=200")
        assert p.state("second") == "stopped"
        p.run("vm", "start", "second")
        assert p.state("second") == "running"
        p.run("vm", "pause", "second")
        assert p.state("second") == "paused"
        assert "rip" in p.run("dump", "second")
        p.run("vm", "resume", "second")
        p.run("vm", "set", "second", "cpus=1")
        assert p.run("vm", "show", "second")["vcpu"][0]["cpu"] == 1
        p.run("vm", "reset", "second")
        assert p.state("second") == "running"
        p.run("vm", "stop", "second", "--force")
        p.run("vm", "destroy", "second")
        assert len(p.run("vm", "list")["vms"]) == 1
        now = p.run("mem")["machine"]["guest_free_kib"]
        if i:
            assert now == free, i
        free = now
    assert p.state("first") == "running"


def test_config_show(program):
    """What it prints is a device tree by the schema, with what was changed at run time."""
    m, p = program(idle_vm("first", 'test-exit; max-leaf = "4K"; on-crash = "pause";'))
    m.expect("vm 'first': 1 vCPUs", 120)
    p.run("vm", "set", "first", "weight=300", 'bootargs=halt "quoted" \\ too', "cpus=0,1")
    dts = "\n".join(p.run("config", "show")["dts"])
    for want in ("first {", "weight = <300>", "cpus = <0 1>", 'max-leaf = "4K"', "test-exit;"):
        assert want in dts, dts
    blob = subprocess.run(["dtc", "-q", "-I", "dts", "-O", "dtb"], input=dts.encode(), check=True,
                          capture_output=True).stdout
    assert b'halt "quoted" \\ too' in blob


def test_config_save(program):
    """What was changed, made and destroyed at run time is so after a reboot, in the file."""
    m, p = program(idle_vm("first", "cap = <80>;") + idle_vm("second"), reboots=True,
                   root='log-level = "debug"; // kept\n')
    m.expect("vm 'second': 1 vCPUs", 120)
    p.run("vm", "set", "first", "weight=300", "cap=0", 'bootargs=halt "quoted"')
    p.run("vm", "stop", "second", "--force")
    p.run("vm", "destroy", "second")
    p.run("vm", "create", "third", "like=first", "vcpus=2")
    before = p.run("config", "show")["dts"]
    for want in ('\tlog-level = "debug";', "\tcontrol {", "\t\tthird {"):
        assert want in before, before
    p.run("config", "save")
    assert "the next boot writes" in p.run("config", "save")["message"]
    if m.emulator == "bochs":
        return  # OVMF does not come back from a reset there: docs/testing.md
    p.run("reboot", "--force")
    m.expect("what was saved at run time is in /EFI/faultline/faultline.dtb now", 120)
    m.expect("control: programs are served", 120)
    m.expect("vm 'third': 2 vCPUs", 120)
    p = Program(m)
    assert p.run("config", "show")["dts"] == before
    assert sorted(v["name"] for v in p.run("vm", "list")["vms"]) == ["first", "third"]


def test_refusals(program):
    """Every command with nothing, too much, and what is not there: an answer, and the next one works."""
    m, p = program(idle_vm("only"))
    m.expect("vm 'only': 1 vCPUs", 120)
    commands = [c["command"].split(" [")[0] for c in p.run("help")["commands"]]
    names = sorted({re.sub(r" [A-Z]+.*", "", c) for c in commands})
    for name in names:
        if name in ("reboot", "poweroff", "top"):
            continue
        for more in ([], ["nobody"], ["only", "-1"], ["only", "99999999999999999999999"],
                     ["x" * 200], ["only", "a", "b", "c", "d"]):
            if name in ("vm start", "vm pause", "vm reset", "vm stop", "vm destroy") and more[:1] == ["only"]:
                continue
            done = subprocess.run([FLCTL, "-s", p.line, "--json", *name.split(), *more],
                                  capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode in (0, 1), (name, more, done)
            json.loads(done.stdout)
    assert "error" in p.run("vm", "create", "bad", "kernel=/nowhere", code=1)
    assert "error" in p.run("vm", "create", "only", code=1)
    assert "error" in p.run("vm", "set", "only", "vcpus=2", code=1)
    assert "error" in p.run("vm", "start", "only", code=1)
    assert "error" in p.run("poweroff", code=1)
    for wrong in ("irq nobody", "irq only 0", "vm list only", "vm show only 0", "mem only 0", "exits",
                  "trace nobody", "dirty off only now"):
        assert "error" in p.run(*wrong.split(), code=1), wrong
    assert 0 in {r["cpu"] for r in p.run("irq")["host"]}
    assert "error" in p.run("top", "twice", code=1)
    seen = p.run("top")
    row, exits = seen["vms"][0], seen["vm_exits"][0]
    assert row["vm"] == exits["vm"] == "only" and row["faults_per_s"] == exits["npf"]
    assert abs(sum(v for k, v in exits.items() if k != "vm") - row["exits_per_s"]) <= len(exits)
    assert [c["cpu"] for c in seen["cpu_exits"]] == [c["cpu"] for c in seen["cpus"]] == [0, 1]
    held = p.run("irq", "only")
    assert len(held["ioapic"]) == 24 and [c["pic"] for c in held["pic"]] == ["master", "slave"]
    assert held["vcpu0"]["mode"] == "xapic" and held["vcpu0"]["lvt_lint1"].startswith(("open", "masked"))
    assert p.state("only") == "running"


def test_protocol(program):
    """Requests that are none; events; two of them at once."""
    m, p = program(idle_vm("only"))
    m.expect("vm 'only': 1 vCPUs", 120)
    s = socket.socket(socket.AF_UNIX)
    s.connect(p.line)
    s.settimeout(60)
    stream = s.makefile("rwb", buffering=0)

    def receive():
        while True:
            try:
                return json.loads(stream.readline())
            except ValueError:
                continue  # the firmware's console may have been on this line

    def reply():
        answer = receive()
        return answer if "id" in answer else reply()

    for bad in (b"\x00\xff\x80noise", b"{", b'{"id":1}', b'{"id":[1],"command":"x"}', b"[" * 40,
                b'{"id":1,"command":7}', b"x" * 1500, b'{"id":"a","command":"' + b"y" * 400 + b'"}'):
        stream.write(bad + b"\n")
        assert "error" in reply()["reply"], bad
    stream.write(b'{"id":"one","command":"vm pause only"}\n{"id":2,"command":"vm list"}\n')
    seen = [receive() for _ in range(3)]
    assert [r["id"] for r in seen if "id" in r] == ["one", 2]
    assert [r["event"] for r in seen if "event" in r] == ["vm-paused"]
    s.close()


def check_pages(m):
    """At the prompt: a long answer stops; what is typed ahead is neither lost nor stops it."""
    m.send("page 10\n")
    m.expect("a page of 10 lines", 60)
    m.send("help\n")
    m.expect("-- more --", 60)
    assert 5 < m.serial.before.count(b"\n", m.serial.before.index(b"COMMAND")) <= 9  # some take two rows
    m.send("\r")
    m.expect("-- more --", 60)
    assert m.serial.before.count(b"\n") == 1
    m.send(" ")
    m.expect("-- more --", 60)
    assert 5 < m.serial.before.count(b"\n") <= 9
    m.send("\x1dl\x1dm")  # the log's last lines, and back
    m.expect("console: monitor.*-- more --", 60)
    m.send("q")
    m.expect("faultline> ", 60)
    assert b"anywhere in a command" not in m.serial.before
    m.send("help\nversion\n")  # typed ahead
    m.expect("anywhere in a command", 60)
    m.expect("tsc_khz", 60)
    m.send("help --json\n")
    m.expect(r"\}\]\}", 60)
    m.send("page off\n")
    m.expect("answers do not stop", 60)
    m.send("help\n")
    m.expect("anywhere in a command", 60)
    assert b"more" not in m.serial.before


def test_person(machine, backend):
    """At the console: prompt, history, completion, focus by keys; a VM's screen is shown again."""
    m = machine(idle_vm("one") + idle_vm("two"), [GUEST], backend=backend, smp=2, one_thread=True)
    m.expect("vm 'two': 1 vCPUs", 120)
    m.send("\x1dm")
    m.expect("console: monitor", 60)
    m.expect("faultline> ", 60)
    m.send("vm li\t\n")
    m.expect(r"one\s+running", 60)
    m.expect("faultline> ", 60)
    m.send("vm destroy one\n")
    m.expect("error: vm 'one' is running", 60)
    m.send("\x1b[A\x1b[A\n")
    m.expect(r"two\s+running", 60)
    m.send("vm set one wei\t250\n")
    m.expect("vm 'one': set", 60)
    m.send("vm create x lik\tone\n")
    m.expect("vm 'x': created", 60)
    m.send("vm destroy x\n")
    m.expect("vm 'x': destroyed", 60)
    m.send("nonsense\n")
    m.expect("there is no command", 60)
    check_pages(m)
    m.send("\x1d?")
    m.expect("1-9 that VM", 60)
    m.send("\x1d2")
    m.expect(r"vm 'two' \(2 of 2\)", 60)
    m.send("\x1d")
    time.sleep(0.5)
    m.send("m")
    m.expect("console: monitor", 60)
    m.send("top\nversion\n")  # typed ahead
    m.expect("CPU_PERCENT", 60)
    m.expect("tsc_khz", 60)
    m.send("top once\n")
    m.expect(r"IDLE_PERCENT.*INTERRUPT.*OTHER.*faultline> ", 60)
    m.send("top\n")
    for _ in range(3):
        m.expect(r"\x1b\[H\x1b\[2JVM.*CPU_PERCENT.*IDLE_PERCENT.*INTERRUPT", 60)
    m.send("q")
    m.expect("faultline> ", 60)
    m.send("vm stop two\n")  # it knows no power button
    time.sleep(1)
    m.send("\x03")
    m.expect("not waited for any longer", 60)
    m.send("poweroff\n")
    m.expect("VMs run", 60)
    m.send("poweroff --force\n")
    assert m.wait_end(60)


# ---- what only the faster emulator has the time for ----------------------------------------

svm_only = pytest.mark.parametrize("backend", ["svm"])

CODE = {
    "busy": "jmp .",
    # No interrupt table: a triple fault.
    "crash": "lidt none\n int3\n none: .word 0, 0, 0",
    "noise": "mov $0x3f8, %dx\n mov $1, %al\n next: out %al, %dx\n jmp next",
    # Takes 65536 bytes, with a rest after each, and tells their sum.  What came before the FIFO is on is lost.
    "slow": """
        mov $1, %al
        mov $0x3fa, %dx
        out %al, %dx
        mov $'>', %al
        mov $0xf8, %dl
        out %al, %dx
        xor %cx, %cx
        xor %bx, %bx
        xor %ah, %ah
    next: mov $0x3fd, %dx
        in %dx, %al
        test $1, %al
        jz next
        mov $0xf8, %dl
        in %dx, %al
        add %ax, %bx
        mov $200, %si
    rest: dec %si
        jnz rest
        inc %cx
        jnz next
        mov $16, %cx
    tell: mov $'0', %al
        shl $1, %bx
        adc $0, %al
        out %al, %dx
        loop tell
    end: hlt
        jmp end
    """,
}


def flat_vm(name, code, more=""):
    return (f'{name} {{ memory-mib = <16>; type = "flat"; kernel = "/EFI/faultline/{code}"; {more} }};\n')


@pytest.fixture
def flat_files(tmp_path):
    """Guests of a few instructions in real mode."""
    files = []
    for name, code in CODE.items():
        path = str(tmp_path / name)
        subprocess.run(["as", "--32", "-o", path + ".o"], input=(".code16\n" + code + "\n").encode(), check=True)
        subprocess.run(["ld", "-m", "elf_i386", "-Ttext=0x7c00", "--oformat=binary", "-e", "0", "-o", path,
                        path + ".o"], check=True)
        files.append((path, name))
    return files


@pytest.fixture
def control(machine, backend):
    """control(vms, files): a machine, and flctl's end of its control line."""
    flctl = types.ModuleType("flctl")
    with open(FLCTL, encoding="ascii") as f:
        source = f.read().rsplit("\nif __name__", 1)[0]
    flctl.__file__ = FLCTL
    exec(compile(source, FLCTL, "exec"), flctl.__dict__)

    def start(vms, files):
        m = machine(vms, files, backend=backend, smp=2, control=True, sections=CONTROL, one_thread=True)
        m.expect("control: programs are served", 120)
        c = flctl.Control(m.control)

        def ask(command):
            reply = c.ask(command)
            assert "error" not in reply, (command, reply)
            return reply
        return m, c, ask
    return start


def run_ms(ask, name):
    return ask(f"vm show {name}")["vcpu"][0]["run_ms"]


@svm_only
def test_two_hundred_lives_leave_nothing(control):
    m, _, ask = control(idle_vm("first"), [GUEST])
    m.expect("vm 'first': 1 vCPUs", 120)
    free = None
    for i in range(200):
        ask("vm create second like=first memory-mib=32 vcpus=2")
        ask("vm start second")
        if i % 4 == 0:
            ask("vm set second cpus=1")
            ask("dirty on second")
            ask("vm reset second")
        ask("vm stop second --force")
        ask("vm destroy second")
        if i == 9:
            free = ask("mem")["machine"]
    assert ask("mem")["machine"] == free


@svm_only
def test_how_long_faults_take(control):
    """Timed only while that is on; forgotten on demand; a paused VM's at once as well."""
    m, c, ask = control(idle_vm("only", 'max-leaf = "4K";'), [GUEST])
    m.expect("vm 'only': 1 vCPUs", 120)

    def settled(least):
        while (seen := ask("faults only"))["slow"] < least or (time.sleep(0.3), ask("faults only"))[1] != seen:
            pass
        return seen

    def after_reset():
        before = settled(0)
        ask("vm reset only")
        return before, settled(before["slow"] + 2)

    seen = settled(2)
    assert seen["timed"] is False and not seen["latency"]
    ask("faults only --time on")
    before, seen = after_reset()
    assert seen["timed"] is True
    slow = [r for r in seen["latency"] if r["kind"] == "slow"][0]
    assert slow["count"] == sum(slow["buckets"]) == seen["slow"] - before["slow"]
    assert 0 < slow["p50"] <= slow["p99"] <= slow["max"]
    assert slow["buckets"][slow["max"].bit_length() - 1] > 0
    ask("faults only --time off")
    before, seen = after_reset()
    assert seen["latency"] == before["latency"] and seen["timed"] is False
    ask("vm pause only")
    ask("faults only --clear")
    assert not ask("faults only")["latency"]
    ask("vm resume only")
    assert not ask("faults only")["latency"]
    for wrong in ("--time", "--time maybe", "--clear x", "x"):
        assert "error" in c.ask("faults only " + wrong)
    m.send("\x1dmfaults only --time on\nvm reset only\n")
    m.expect("only': reset", 60)
    time.sleep(0.5)
    m.send("faults only\n")
    m.expect(r"KIND +COUNT +P50.*slow +\d+.*slow, in cycles from:.*\d+ #+ +\d+", 60)


@svm_only
def test_weights_and_cap(control, flat_files):
    """On one CPU, VMs run by weight; a cap holds whatever else there is to do."""
    vms = flat_vm("light", "busy", "cpus = <1>;") + flat_vm("heavy", "busy", "cpus = <1>; weight = <300>;")
    _, _, ask = control(vms, flat_files)

    def shares(seconds):
        began, before = time.monotonic(), {n: run_ms(ask, n) for n in ("light", "heavy")}
        time.sleep(seconds)
        took = (time.monotonic() - began) * 1000
        return [(run_ms(ask, n) - before[n]) / took for n in ("light", "heavy")]

    light, heavy = shares(4)
    assert 2.4 < heavy / light < 3.6, (light, heavy)
    ask("vm set heavy cap=20")
    light, heavy = shares(4)
    assert 0.1 < heavy < 0.25 and light > heavy, (light, heavy)
    # The least of weights neither keeps a VM from parking, nor is it owed for later.
    ask("vm set light weight=1")
    ask("vm set heavy cap=0 weight=10000")
    time.sleep(2)
    began = time.monotonic()
    ask("vm pause light")
    assert time.monotonic() - began < 5
    ask("vm resume light")
    ask("vm set light weight=100")
    ask("vm set heavy weight=100")
    light, heavy = shares(4)
    assert 0.7 < heavy / light < 1.4, (light, heavy)
    ask("vm set light cpus=0")
    light, heavy = shares(4)
    assert heavy > 0.4, (light, heavy)


@svm_only
def test_crash_pauses_and_is_told(control, flat_files):
    vms = flat_vm("bad", "crash", 'on-crash = "pause";') + idle_vm("other")
    m, c, ask = control(vms, [GUEST, *flat_files])
    m.expect("vm 'bad': paused: triple fault", 120)
    assert ask("vm show bad")["state"] == "paused"
    assert ask("vm list")["vms"][0]["crash"] is True
    record = ask("vm crash bad")["record"]
    assert "triple fault" in record[0] and any("rip 0000000000007c" in r for r in record), record
    assert ask("vm list")["vms"][0]["crash"] is False
    for _ in range(20):  # by hand that often is not in circles
        ask("vm reset bad")
        while ask("vm show bad")["state"] != "paused":
            time.sleep(0.01)
    ask("vm stop bad --force")
    assert "rip" in ask("dump bad")
    ask("vm destroy bad")
    assert "error" in c.ask("vm crash bad")


@svm_only
def test_screen_of_control_bytes(control, flat_files):
    """Six bytes each on the wire: too long for one answer, which is refused whole."""
    _, c, ask = control(flat_vm("noisy", "noise"), flat_files)
    while ask("console read noisy")["next"] < 70000:
        time.sleep(0.1)
    assert "too long" in c.ask("console dump noisy")["error"]
    assert set(ask("console read noisy 1000")["text"]) == {"\x01"}
    assert ask("console read noisy 99999999999999")["text"]


@svm_only
def test_replies_that_nobody_reads(control):
    """Half a megabyte of replies is asked for before the first is read: all come, whole."""
    m, c, ask = control(idle_vm("only"), [GUEST])
    m.expect("vm 'only': 1 vCPUs", 120)
    ask("version")
    s = socket.socket(socket.AF_UNIX)
    c.socket.close()
    s.connect(m.control)
    s.settimeout(60)
    count = 220
    s.sendall(b"".join(b'{"id":%d,"command":"help"}\n' % i for i in range(count)))
    time.sleep(3)
    with s.makefile("rb") as stream:
        replies = [json.loads(stream.readline()) for _ in range(count)]
    assert [r["id"] for r in replies] == list(range(count))
    assert all(len(r["reply"]["commands"]) > 20 for r in replies)
    assert sum(len(json.dumps(r)) for r in replies) > 400000
    s.close()


@svm_only
def test_paste_into_a_slow_guest(machine, backend, flat_files):
    """64 KiB typed at once: every byte arrives."""
    m = machine(flat_vm("slow", "slow"), flat_files, backend=backend, smp=2, one_thread=True)
    m.expect("vm 'slow' \\(1 of 1\\)", 120)
    m.expect(">", 120)
    text = "".join(chr(33 + i * 7 % 90) for i in range(65536))
    m.send(text)
    m.expect("([01]{16})", 120)
    assert int(m.serial.match.group(1), 2) == sum(text.encode()) & 0xffff


@svm_only
def test_lines_into_a_flood(machine, backend):
    """A thousand lines all arrive at Linux's cat while the console is flooded."""
    m = machine(linux_vm("linux"), LINUX, backend=backend, smp=2)
    m.expect("/ # ", 150)
    m.send("stty -echo; (while :; do echo flood flood flood; done) & cat > /got; kill $!; md5sum /got\n")
    m.expect("flood flood", 60)
    lines = "".join(f"line {i:04}\n" for i in range(1000))
    m.send(lines + "\x04")
    m.expect("([0-9a-f]{32})  /got", 120)
    assert m.serial.match.group(1).decode() == hashlib.md5(lines.encode()).hexdigest()


def test_up_and_down(backend, tmp_path):
    """`make up` and `make down`: the demo machine detached, and flctl on its socket."""
    up = os.path.join(ROOT, "tools", "up")
    where = str(tmp_path / "up")
    done = subprocess.run([up, os.path.join(BUILD, "up.img"), where, "--backend", backend],
                          capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [where + "/console", where + "/control"]
    try:
        end = time.monotonic() + 400
        # What is asked while the firmware has the line is lost.
        patience = {"svm": "5", "vmx": "40"}[backend]
        while True:
            done = subprocess.run([FLCTL, "-s", where + "/control", "--timeout", patience, "vm", "list"],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0 and "linux" in done.stdout:
                break
            assert done.returncode == 3 and time.monotonic() < end, done
    finally:
        subprocess.run([up, "--down", where], check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert not os.path.exists(where + "/pid")
    assert subprocess.run([FLCTL, "-s", where + "/none", "vm", "list"], capture_output=True,
                          check=False).returncode == 2
