# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The trace unit in software against QEMU's own log; its packets decoded by libipt and OpenCSD.
ifneq ($(and $(HWT_HAS_PT),$(HWT_HAS_ETM4)),)
SCRIPT_TESTS += test/qemu/hwt_blocks.sh
CHECK_NEEDS += host build/lib/ktrace-pt.so build/test/hwt_blocks build/demo/x86_64/kernel.elf build/demo/aarch64/kernel.elf
endif

HWT_BLOCKS_SRCS := test/qemu/hwt_blocks.c $(HWT_READ_SRCS)
build/test/hwt_blocks: $$(call unit_objects,unit,$(HWT_BLOCKS_SRCS),-Ihost) build/lib/libbase.a
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $^ $(KTRACE_LDLIBS)
