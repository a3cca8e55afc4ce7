# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The backend of the trace unit in software: on a fake one, and what the compilers make of its marker.
UNIT_TESTS += hwt_qemu hwt_qemu_conform
UNIT_SRCS_hwt_qemu = test/unit/hwt_qemu.c test/fake/hwt_unit.c $(KTRACE_HWT_QEMU_SOURCES) $(KERNEL_TEST_SRCS)
UNIT_CFLAGS_hwt_qemu = $(KERNEL_TEST_CFLAGS)
UNIT_SRCS_hwt_qemu_conform = test/unit/hwt_qemu_conform.c test/fake/hwt_unit.c $(KTRACE_HWT_QEMU_SOURCES) \
	$(HWT_CONFORM_SRCS)
UNIT_CFLAGS_hwt_qemu_conform = $(KERNEL_TEST_CFLAGS)

SCRIPT_TESTS += test/unit/kernel_build/marker.sh
