# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Process traces of the demo kernel, end to end.
SCRIPT_TESTS += test/qemu/proc_words.sh test/qemu/proc_many.sh test/qemu/proc_beside.sh test/qemu/proc_same.sh
CHECK_NEEDS += host $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
