# SPDX-License-Identifier: BSD-2-Clause
"""flctl at a control line that answers late; no machine is needed."""
import json
import os
import socket
import subprocess
import threading
import time

import pexpect
import pytest

from conftest import ROOT

FLCTL = os.path.join(ROOT, "tools", "flctl")


@pytest.fixture
def late(tmp_path):
    """late(seconds): the path of a line whose replies take so long."""
    server = socket.socket(socket.AF_UNIX)
    path = str(tmp_path / "control")

    def serve(seconds):
        line, _ = server.accept()
        with line, line.makefile("rwb") as stream:
            for request in stream:
                if request.strip():
                    time.sleep(seconds)
                    reply = {"id": json.loads(request)["id"], "reply": {"message": "vm 'two': stopped"}}
                    stream.write(json.dumps(reply).encode() + b"\n")
                    stream.flush()

    def start(seconds):
        server.bind(path)
        server.listen(1)
        threading.Thread(target=serve, args=(seconds,), daemon=True).start()
        return path
    yield start
    server.close()


def test_waiting_is_shown_on_a_terminal(late):
    flctl = pexpect.spawn(FLCTL, ["-s", late(2.2), "vm", "stop", "two"], timeout=20)
    flctl.expect_exact("vm stop two: 1 s")
    assert b"vm stop two: 0 s" in flctl.before
    flctl.expect_exact("vm stop two: 2 s")
    flctl.expect_exact("\r\x1b[Kvm 'two': stopped")
    flctl.expect(pexpect.EOF)
    assert flctl.wait() == 0


def test_what_is_fast_shows_nothing(late):
    flctl = pexpect.spawn(FLCTL, ["-s", late(0.1), "vm", "stop", "two"], timeout=20)
    flctl.expect(pexpect.EOF)
    assert flctl.before == b"vm 'two': stopped\r\n"


def test_nothing_is_shown_elsewhere(late):
    done = subprocess.run([FLCTL, "-s", late(1), "vm", "stop", "two"], capture_output=True, text=True,
                          timeout=20, check=True)
    assert done.stdout == "vm 'two': stopped\n" and not done.stderr


def test_no_answer_erases_it(late):
    flctl = pexpect.spawn(FLCTL, ["-s", late(20), "--timeout", "1", "vm", "stop", "two"], timeout=20)
    flctl.expect_exact("vm stop two: 0 s")
    flctl.expect_exact("\r\x1b[Kflctl: ")
    flctl.expect("no answer in 1 s")
    flctl.expect(pexpect.EOF)
    assert flctl.wait() == 3
