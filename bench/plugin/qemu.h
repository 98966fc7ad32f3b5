/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qemu: the few functions of QEMU's TCG plugin interface, version 1, that count.c
 * uses.  Debian 12 has QEMU with plugins but no package with the header; names
 * and types are from QEMU's documentation (docs/devel/tcg-plugins).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT __attribute__((visibility("default")))
#define PLUGIN_API    1

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

/* The callback touches no guest register. */
enum plugin_regs { PLUGIN_NO_REGS };

/* What QEMU looks up in a plugin. */
extern PLUGIN_EXPORT int qemu_plugin_version;
PLUGIN_EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

/* Before a block of guest code runs for the first time, and each time it is translated anew. */
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
					   void (*cb)(plugin_id id, struct qemu_plugin_tb *tb));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);

const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);

/* At every execution of the instruction, before it; @data is handed on. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *data),
					    enum plugin_regs regs, void *data);
