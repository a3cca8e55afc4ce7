# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += $(addprefix test/qemu/transport_,x86_64.sh aarch64.sh riscv64.sh kvm.sh)
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode $(patsubst %,build/demo/%/kernel.elf,x86_64 aarch64 riscv64)

# A guest without a kernel, for the modes that the demo kernel never runs in.
SCRIPT_TESTS += test/qemu/transport_bare.sh
CHECK_NEEDS += build/test/bare/aarch64.elf build/test/bare/riscv64.elf build/test/bare/riscv64_sbi.elf

BARE_SRCS := test/qemu/transport_bare/bare.c $(addprefix kernel/transport/,transport.c semihosting.c)
BARE_SRCS_aarch64 := $(BARE_SRCS) $(addprefix kernel/transport/,pl011.c aarch64/semihosting_aarch64.S)
BARE_SRCS_riscv64 := $(BARE_SRCS) $(addprefix kernel/transport/,uart16550.c riscv64/semihosting_riscv64.S)
BARE_CFLAGS := -std=c11 -O2 -ffreestanding -fno-pic -nostdlib -static $(WARNINGS) -Wl,--build-id=none -Wl,-n \
	-Wl,--no-warn-rwx-segments

# $(call bare_rule,<program>,<arch>,<load address>)
define bare_rule
build/test/bare/$(1).elf: test/qemu/transport_bare/$(2)/start.S $$(BARE_SRCS_$(2)) include/ktrace/transport.h
	@mkdir -p $$(@D)
	$$(DEMO_CC_$(2)) $$(BARE_CFLAGS) $$(DEMO_CFLAGS_$(2)) -Itest/qemu/transport_bare/$(2) $$(KTRACE_INCLUDES_$(2)) \
		-Wl,-Ttext=$(3) -o $$@ $$(filter %.c %.S,$$^)
endef
$(eval $(call bare_rule,aarch64,aarch64,0x40080000))
$(eval $(call bare_rule,riscv64,riscv64,0x80000000))
$(eval $(call bare_rule,riscv64_sbi,riscv64,0x80200000))
