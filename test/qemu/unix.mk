# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# The small Unix that the demo kernel is.
SCRIPT_TESTS += test/qemu/unix_programs.sh test/qemu/unix_trace.sh test/qemu/unix_v1.sh
SOAK_TESTS += test/qemu/unix_soak.sh
CHECK_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
