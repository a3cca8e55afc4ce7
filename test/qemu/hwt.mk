# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Hardware trace in the demo kernel, with the trace unit in software.
SCRIPT_TESTS += test/qemu/hwt_device.sh test/qemu/hwt_functions.sh test/qemu/hwt_contents.sh test/qemu/hwt_null_call.sh
CHECK_NEEDS += host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
