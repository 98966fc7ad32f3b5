#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rules of the tree that a script can check; see docs/testing.md.

lint.py PURE_FILES...: prints what breaks a rule and the line counts by folder.
"""
import os
import re
import subprocess
import sys

FOLDERS = ["boot", "hv", "hv/dev", "hv/monitor", "mm", "vmx", "svm", "drivers"]
FILE_MAX, FUNCTION_MAX = 600, 80

BASE = {"hv/base.h", "hv/status.h", "hv/assert.h", "hv/fmt.h", "hv/state.h", "hv/io.h", "hv/lock.h",
        "hv/log.h", "hv/panic.h", "hv/config.h", "hv/version.h", "hv/blob.h", "boot/handoff.h",
        "hv/asm_offsets.h"}
# What the back ends may see of hv/: the seam.
SEAM = {"hv/virt.h", "hv/vcpu.h", "hv/vm.h", "hv/cpu.h", "hv/exit.h", "hv/msr.h", "hv/trap.h",
        "hv/guest_mem.h"}
ALLOWED = {
    "boot": lambda i: i.startswith(("boot/", "drivers/", "mm/addr")) or
    i in BASE | {"hv/monitor/words.h", "hv/saved.h"},
    "hv": lambda i: not i.startswith(("vmx/", "svm/")) and i not in ("boot/config.h",),
    "hv/monitor": lambda i: not i.startswith(("vmx/", "svm/", "boot/")),
    "hv/dev": lambda i: i.startswith("hv/dev/") or i in BASE,
    "mm": lambda i: i.startswith("mm/") or i in BASE,
    "vmx": lambda i: i.startswith(("vmx/", "mm/")) or i in BASE | SEAM,
    "svm": lambda i: i.startswith(("svm/", "mm/")) or i in BASE | SEAM,
    "drivers": lambda i: i.startswith(("drivers/", "mm/")) or i in BASE | {"hv/cpu.h", "hv/time.h"},
}
# The one file that names both back ends.
BOTH = "hv/virt_select.c"
HOSTED_OK = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "hv_assert_fail",
             "__stack_chk_guard", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_"}

problems = []


def problem(where, what):
    problems.append(f"{where}: {what}")


def sources(folder, suffixes=(".c", ".h", ".S")):
    return sorted(f"{folder}/{n}" for n in os.listdir(folder) if n.endswith(suffixes))


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check_sizes(path):
    lines = text(path).count("\n")
    if lines > FILE_MAX:
        problem(path, f"{lines} lines, at most {FILE_MAX}")
    if not path.endswith(".c"):
        return
    out = subprocess.run(["ctags", "-x", "--c-kinds=f", "--_xformat=%N %n %{end}", path],
                         capture_output=True, text=True, check=True).stdout
    for row in out.splitlines():
        name, start, end = row.split()
        if int(end) - int(start) + 1 > FUNCTION_MAX:
            problem(f"{path}:{start}", f"{name} has {int(end) - int(start) + 1} lines, "
                    f"at most {FUNCTION_MAX}")


def check_includes(folder, path):
    for inc in re.findall(r'^#include "([^"]+)"', text(path), re.M):
        if path != BOTH and "/" in inc and not ALLOWED[folder](inc):
            problem(path, f"layer {folder} may not include {inc}")


def check_header(path):
    t = text(path)
    if not re.match(r"/\* SPDX-License-Identifier: BSD-2-Clause \*/\n(/\*|#include)", t):
        problem(path, "no licence line and header comment")


def check_twins():
    def stems(folder):
        return {n[len(folder) + 1:] for n in os.listdir(folder)
                if n.startswith(folder + "_") and not re.search(r"_(vmcs|vmcb|fields)\.h$", n)}
    for only in (stems("vmx") ^ stems("svm")) - {"pml.c"}:  # no AMD CPU lists what it writes
        problem("vmx, svm", f"_{only} has no twin")


def check_pure(files):
    build = os.environ.get("B", "build")
    defined, wanted = set(), {}
    for f in files:
        t = re.sub(r"/\*.*?\*/", "", text(f), flags=re.S)
        if re.search(r"\basm\b|__asm__", t):
            problem(f, "assembly in a pure file")
        obj = f"{build}/obj/{f[:-2]}.o"
        if not os.path.exists(obj):
            problem(f, "not built: run make first")
            continue
        out = subprocess.run(["nm", obj], capture_output=True, text=True, check=True).stdout
        for row in out.splitlines():
            *_, kind, name = row.split()
            if kind == "U":
                wanted.setdefault(name, f)
            else:
                defined.add(name)
    for name, f in sorted(wanted.items()):
        if name not in defined | HOSTED_OK and not name.startswith(("fdt_", "__x86_indirect")):
            problem(f, f"pure, but needs {name}")


def check_words():
    pattern = r"(^|[^A-Za-z])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)"
    for folder in FOLDERS:
        for path in sources(folder):
            for n, line in enumerate(text(path).splitlines(), 1):
                if re.search(pattern, line):
                    problem(f"{path}:{n}", "left open")


def count_lines():
    total = 0
    print(f"{'folder':10}{'files':>7}{'lines':>8}{'code':>8}")
    for folder in FOLDERS:
        files = sources(folder)
        lines = sum(text(f).count("\n") for f in files)
        code = 0
        for f in files:
            t = re.sub(r"/\*.*?\*/", "", text(f), flags=re.S)
            code += sum(1 for line in t.splitlines() if line.strip())
        total += code
        print(f"{folder:10}{len(files):7}{lines:8}{code:8}")
    print(f"{'total':10}{'':7}{'':8}{total:8}")


def main():
    for folder in FOLDERS:
        for path in sources(folder):
            check_sizes(path)
            check_includes(folder, path)
            check_header(path)
    check_twins()
    check_pure(sys.argv[1:])
    check_words()
    count_lines()
    for p in problems:
        print("lint:", p)
    return 1 if problems else 0


sys.exit(main())
