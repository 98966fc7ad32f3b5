# SPDX-License-Identifier: BSD-2-Clause
# Faultline: `make help` lists the targets.
B       ?= build
CC      ?= gcc
ifeq ($(origin CC),default)
CC      := gcc
endif

# ---- what is built -----------------------------------------------------------
# PURE has no privileged instruction: it is built for the hypervisor and, with
# the sanitizers, for the host tests.
PURE := hv/status.c hv/fmt.c $(sort $(wildcard hv/dev/*.c)) \
	$(wildcard $(addprefix hv/insn_,decode.c table.c operand.c exec.c addr.c alu.c string.c) hv/gwalk.c hv/bus.c \
	hv/cpuid.c hv/msr.c hv/event.c hv/load_linux.c hv/load_multiboot.c hv/load_flat.c \
	hv/guest_acpi.c hv/config.c mm/buddy.c mm/region.c mm/npt.c mm/npte.c mm/flush.c \
	vmx/vmx_exit_decode.c vmx/vmx_caps.c svm/svm_exit_decode.c svm/svm_caps.c drivers/acpi.c)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wundef -Wmissing-prototypes -Werror

# ---- host tests --------------------------------------------------------------
HOST_CC     ?= clang
HOST_CFLAGS := -std=gnu11 -O1 -g -I. -I$(B)/gen $(WARN) -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
HOST_TESTS  := $(patsubst tests/host/%.c,$(B)/host/%,$(wildcard tests/host/test_*.c))
HOST_PURE   := $(PURE:%.c=$(B)/host/%.o)

$(B)/host/%.o: %.c
	@mkdir -p $(@D)
	$(HOST_CC) $(HOST_CFLAGS) -MMD -c $< -o $@
$(B)/host/libpure.a: $(HOST_PURE) $(B)/host/tests/host/hosted.o
	@rm -f $@
	ar rcs $@ $^
$(B)/host/test_%: tests/host/test_%.c $(B)/host/libpure.a
	$(HOST_CC) $(HOST_CFLAGS) -MMD $< $(B)/host/libpure.a -o $@ -lcmocka $(HOST_LIBS_$*)
HOST_LIBS_insn_decode := -lZydis
HOST_LIBS_config := -lfdt

.PHONY: check
check: $(HOST_TESTS) ## host tests only, under a minute
	@tools/run-host-tests $(HOST_TESTS)

-include $(shell find $(B)/host -name '*.d' 2>/dev/null)
