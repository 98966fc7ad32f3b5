# SPDX-License-Identifier: BSD-2-Clause
# Faultline: `make help` lists the targets.
B       ?= build
ifeq ($(origin CC),default)
CC      := gcc
endif
SMP     ?= 2
MEM     ?= 1024
BACKEND ?= auto
VCPUS   ?= 1

.DEFAULT_GOAL := all

# ---- what is built -----------------------------------------------------------
# PURE has no privileged instruction: it is built for the hypervisor and, with
# the sanitizers, for the host tests.  HV is the rest of the hypervisor, BOOT
# what runs under the firmware only.
PURE := hv/status.c hv/fmt.c hv/exit.c hv/histogram.c $(sort $(wildcard hv/dev/*.c)) \
	$(addprefix hv/insn_,decode.c table.c operand.c exec.c addr.c alu.c string.c) \
	hv/gwalk.c hv/bus.c hv/cpuid.c hv/event.c hv/guest_acpi.c hv/mtrr.c hv/pvclock.c hv/xcr0.c \
	hv/load.c hv/load_elf.c hv/e820.c hv/load_linux.c hv/load_multiboot.c hv/load_flat.c hv/crc32.c hv/saved.c \
	$(addprefix mm/,age.c audit.c buddy.c dirty.c fault.c fault_fast.c flush.c npt.c npt_remove.c npt_split.c \
	npte.c npte_edge.c region.c) \
	$(wildcard $(addprefix hv/monitor/,line.c out.c json.c words.c mux.c pager.c)) \
	$(wildcard vmx/vmx_exit_decode.c vmx/vmx_caps.c) svm/svm_exit_decode.c svm/svm_caps.c \
	drivers/acpi.c drivers/pci_uart.c boot/efi_memmap.c boot/edit.c $(wildcard boot/config*.c)
BOOT := boot/efi_main.c boot/editor.c boot/efi_con.c boot/efi_file.c boot/efi_cpus.c boot/efi_exit.c boot/libc.c boot/efi_saved.c
HV   := $(filter-out $(PURE), $(wildcard hv/*.c hv/monitor/*.c mm/*.c vmx/*.c svm/*.c drivers/*.c)) \
	$(wildcard hv/*.S vmx/*.S svm/*.S)

WARN := -Wall -Wextra -Wshadow -Wconversion -Wundef -Wmissing-prototypes -Werror

# ---- the UEFI image ----------------------------------------------------------
EFI_INC := -isystem /usr/include/efi -isystem /usr/include/efi/x86_64
CFLAGS_COMMON := -std=gnu11 -O2 -g -I. -I$(B)/gen $(WARN) -ffreestanding -fpic \
	-fvisibility=hidden -fshort-wchar -fno-strict-aliasing -fno-builtin \
	-fno-jump-tables -mno-red-zone -mgeneral-regs-only -mcmodel=small -fcf-protection=none
CFLAGS_GUARD := -fstack-protector-strong -mstack-protector-guard=global
ifneq ($(findstring clang,$(shell $(CC) --version)),)
CFLAGS_SPECULATION := -mretpoline
else
CFLAGS_SPECULATION := -mindirect-branch=thunk -mindirect-branch-register
endif
CFLAGS_HV   := $(CFLAGS_COMMON) $(CFLAGS_GUARD) $(CFLAGS_SPECULATION)
# The debug image checks every nested entry that changes, and every flush (mm/audit.h).
CFLAGS_DEBUG := -DHV_DEBUG $(MUTANT:%=-DMUTANT_%)
CFLAGS_BOOT := $(CFLAGS_COMMON) -fno-stack-protector $(EFI_INC) -DGNU_EFI_USE_MS_ABI -DEFI_FUNCTION_WRAPPER

OBJ_BOOT := $(BOOT:%.c=$(B)/obj/%.o)
OBJ_HV   := $(patsubst %.S,$(B)/obj/%.o,$(patsubst %.c,$(B)/obj/%.o,$(PURE) $(HV)))
OBJ      := $(OBJ_BOOT) $(OBJ_HV)
OBJ_DEBUG := $(OBJ_BOOT) $(OBJ_HV:$(B)/obj/%=$(B)/debug/%)
LIBGCC   := $(shell gcc -print-libgcc-file-name)

.PHONY: all
all: $(B)/faultline.efi ## the UEFI application, build/faultline.efi

$(OBJ_BOOT): $(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CFLAGS_BOOT) -MMD -MP -c $< -o $@
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) $(CFLAGS_HV) -MMD -MP -c $< -o $@
$(B)/obj/%.o: %.S
	@mkdir -p $(@D)
	@echo "  CC   $<"
	@$(CC) -I. -MMD -MP -c $< -o $@

$(B)/debug/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC   $< (debug)"
	@$(CC) $(CFLAGS_HV) $(CFLAGS_DEBUG) -MMD -MP -c $< -o $@
$(B)/debug/%.o: %.S
	@mkdir -p $(@D)
	@echo "  CC   $< (debug)"
	@$(CC) -I. -MMD -MP -c $< -o $@

# The DSDT's AML as a C array.
$(B)/gen/guest_dsdt.hex: hv/guest_dsdt.asl
	@mkdir -p $(@D)
	@iasl -ve -tc -p $(@D)/guest_dsdt $< >/dev/null
$(B)/obj/hv/vm.o $(B)/debug/hv/vm.o: $(B)/gen/guest_dsdt.hex

$(B)/faultline.so: $(OBJ)
$(B)/faultline-debug.so: $(OBJ_DEBUG)
$(B)/%.so: linker.ld
	@echo "  LD   $@"
	@ld -nostdlib -znocombreloc -zmax-page-size=4096 --no-warn-rwx-segments --no-undefined \
	   -T linker.ld -shared -Bsymbolic /usr/lib/crt0-efi-x86_64.o $(filter %.o,$^) -o $@ \
	   /usr/lib/libgnuefi.a /usr/lib/x86_64-linux-gnu/libfdt.a
$(B)/%.efi: $(B)/%.so
	@echo "  EFI  $@"
	@objcopy -j .text -j .reloc -j .rodata -j .data -j .dynamic -j .rela -j .dynsym \
	   -j .dynstr --target=efi-app-x86_64 $< $@

# ---- the machine and what boots on it ------------------------------------------
$(B)/ovmf/OVMF_CODE.fd:
	@tools/fetch-ovmf $(B)/ovmf
$(B)/kernel/vmlinuz:
	@tools/fetch-kernel $(B)/kernel
$(B)/initrd.img: tools/init tools/mkinitrd $(B)/kernel/vmlinuz
	@tools/mkinitrd $@ tools/init $(B)/kernel/modules
$(B)/%.dtb: tools/%.dts
	@mkdir -p $(@D)
	@dtc -q -I dts -O dtb -o $@ $<
$(B)/faultline.img: $(B)/demo.dtb
$(B)/up.img: $(B)/up.dtb
$(B)/faultline.img $(B)/up.img: $(B)/faultline.efi $(B)/kernel/vmlinuz $(B)/initrd.img tools/mkimage
	@echo "  IMG  $@"
	@tools/mkimage $@ $(B)/faultline.efi $(filter %.dtb,$^)=faultline.dtb \
		$(B)/kernel/vmlinuz=vmlinuz $(B)/initrd.img=initrd.img
$(B)/faultline.iso: $(B)/faultline.img tools/mkiso
	@echo "  ISO  $@"
	@tools/mkiso $@ $(B)/faultline.img

MACHINE := --backend $(BACKEND) --smp $(SMP) --mem $(MEM)

.PHONY: deps run demo up down image
deps: ## install the Debian packages that are missing
	@tools/deps
run: deps ## boot a Linux microVM to a shell on this terminal (BACKEND, SMP, MEM)
	@$(MAKE) -s $(B)/faultline.img $(B)/ovmf/OVMF_CODE.fd
	@tools/run $(B)/faultline.img $(MACHINE)
demo: deps ## the same unattended: ends with "demo: ok"
	@$(MAKE) -s $(B)/faultline.img $(B)/ovmf/OVMF_CODE.fd
	@tools/demo $(B)/faultline.img $(MACHINE)
up: deps ## the same detached; prints the sockets of its two serial lines
	@$(MAKE) -s $(B)/up.img $(B)/ovmf/OVMF_CODE.fd
	@tools/up $(B)/up.img $(B)/up $(MACHINE)
down: ## ends what `make up` began
	@tools/up --down $(B)/up
image: deps ## a disk image for a USB stick and a bootable ISO, under build/
	@$(MAKE) -s $(B)/faultline.img $(B)/faultline.iso

# ---- host tests --------------------------------------------------------------
HOST_CC     ?= clang
HOST_CFLAGS := -std=gnu11 -O1 -g -I. -I$(B)/gen -DHV_DEBUG -DHV_TEST $(WARN) -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
HOST_TESTS  := $(patsubst tests/host/%.c,$(B)/host/%,$(wildcard tests/host/test_*.c))
HOST_PURE   := $(PURE:%.c=$(B)/host/%.o)

$(B)/host/%.o: %.c
	@mkdir -p $(@D)
	@echo "  HOST $<"
	@$(HOST_CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@
$(B)/host/libpure.a: $(HOST_PURE) $(B)/host/tests/host/hosted.o
	@rm -f $@
	@ar rcs $@ $^
$(B)/host/test_%: tests/host/test_%.c $(B)/host/libpure.a
	@echo "  HOST $<"
	@$(HOST_CC) $(HOST_CFLAGS) -MMD -MP $< $(B)/host/libpure.a -o $@ -lcmocka $(HOST_LIBS_$*)
HOST_LIBS_insn_decode := -lZydis
HOST_LIBS_config := -lfdt
HOST_LIBS_edit := -lfdt
HOST_LIBS_config_vm := -lfdt
HOST_LIBS_config_memory := -lfdt
HOST_LIBS_config_write := -lfdt

.PHONY: check
check: $(HOST_TESTS) ## host tests only, under a minute
	@tools/run-host-tests $(HOST_TESTS)

# stress: the engine of the nested tables on real threads, under ThreadSanitizer.
STRESS_SECONDS ?= 8
STRESS_CFLAGS  := -std=gnu11 -O1 -g -I. -DHV_DEBUG -DHV_TEST $(WARN) -fno-omit-frame-pointer -fsanitize=thread
STRESS_OBJ     := $(patsubst %.c,$(B)/stress/%.o,$(wildcard tests/stress/*.c) $(addprefix mm/,age.c audit.c \
	dirty.c fault.c fault_fast.c flush.c npt.c npt_remove.c npt_split.c npte.c npte_edge.c region.c))

$(B)/stress/%.o: %.c
	@mkdir -p $(@D)
	@echo "  STRESS $<"
	@clang $(STRESS_CFLAGS) -MMD -MP -c $< -o $@
$(B)/stress/stress: $(STRESS_OBJ)
	@clang -fsanitize=thread $^ -o $@ -lpthread

.PHONY: stress
stress: $(B)/stress/stress ## nested tables under threads, STRESS_SECONDS (8) per format and mutant
	@$(B)/stress/stress $(STRESS_SECONDS)

# ---- test and benchmark guests ---------------------------------------------------
# Both guests are made of one runtime and their own files.
GUEST_RUNTIME := $(addprefix tests/guest/,start.S guest.c apic.c catch.c catch_entry.S) \
	hv/fmt.c hv/string.c
GUEST_TESTS   := tests/guest/main.c $(wildcard tests/guest/test_*.c)
guest_objects  = $(patsubst %,$(B)/guest/%.o,$(basename $(GUEST_RUNTIME) $(1)))
GUEST_FLAGS := -std=gnu11 -O2 -g -I. $(WARN) -ffreestanding -fno-pic -mcmodel=small -mno-red-zone \
	-mgeneral-regs-only -fno-stack-protector -fno-jump-tables -fcf-protection=none -fno-builtin

$(B)/guest/%.o: %.c
	@mkdir -p $(@D)
	@echo "  GUEST $<"
	@gcc $(GUEST_FLAGS) -MMD -MP -c $< -o $@
$(B)/guest/%.o: %.S
	@mkdir -p $(@D)
	@gcc -I. -fno-pic -MMD -MP -c $< -o $@
$(B)/guest-tests.elf: $(call guest_objects,$(GUEST_TESTS))
$(B)/bench.elf: $(call guest_objects,$(wildcard bench/guest/*.c))
$(B)/guest-tests.elf $(B)/bench.elf: tests/guest/guest.ld
	@echo "  LD   $@"
	@ld -nostdlib -no-pie -z max-page-size=4096 --no-warn-rwx-segments -T tests/guest/guest.ld $(filter %.o,$^) -o $@

# bench: counts instructions inside QEMU; marks in the guest say from where to where.
$(B)/count.so: bench/plugin/count.c bench/plugin/qemu.h
	@echo "  HOST $<"
	@gcc -std=gnu11 -O2 -g $(WARN) -fPIC -fvisibility=hidden -shared -I. $< -o $@

.PHONY: bench-faults
bench-faults: deps ## what exits and faults cost, in instructions, beside KVM (BACKEND=svm|vmx, VCPUS=1,2)
	@$(MAKE) -s $(B)/faultline.efi $(B)/bench.elf $(B)/count.so $(B)/ovmf/OVMF_CODE.fd
	@bench/run-faults --backend $(if $(filter auto,$(BACKEND)),svm,$(BACKEND)) --vcpus $(VCPUS)

# ---- fuzzing, lint, everything ---------------------------------------------------
FUZZ_SECONDS ?= 10
FUZZERS      := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS   := -std=gnu11 -O1 -g -I. -I$(B)/gen -fsanitize=address,undefined \
	-fno-sanitize-recover=all

$(B)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	@clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
$(B)/fuzz/libpure.a: $(PURE:%.c=$(B)/fuzz/%.o) $(B)/fuzz/tests/host/hosted.o
	@rm -f $@
	@ar rcs $@ $^
$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(B)/fuzz/libpure.a
	@echo "  FUZZ $<"
	@clang $(FUZZ_FLAGS) -fsanitize=fuzzer -MMD -MP $< $(B)/fuzz/libpure.a -o $@ -lfdt

.PHONY: fuzz dtcheck lint spin test help clean
fuzz: $(FUZZERS) ## run every fuzzer for FUZZ_SECONDS
	@tools/run-fuzzers $(FUZZ_SECONDS) $(FUZZERS)
dtcheck: ## every .dts against the schema in docs/bindings
	@tools/dtcheck
lint: $(B)/faultline.efi ## sizes, layers, purity, twins; line counts by folder
	@/usr/bin/python3 tests/lint/lint.py $(PURE)
spin: ## model check the protocol of the nested tables, with Spin
	@tests/spin/run $(B)/spin
test: deps ## everything, both back ends; ends with "N passed, N failed, N skipped"
	@tools/run-tests
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 10
clean: ## remove everything built (keeps nothing under build/)
	rm -rf $(B)

-include $(shell find $(B)/host $(B)/obj $(B)/debug $(B)/fuzz $(B)/guest $(B)/stress -name '*.d' 2>/dev/null)
