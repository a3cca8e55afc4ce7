# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Whole guests under QEMU, through the command a user would type.
SCRIPT_TESTS += test/qemu/stress.sh test/qemu/example.sh test/qemu/example_cplusplus.sh test/qemu/single.sh test/qemu/frequency.sh test/qemu/switched.sh test/qemu/doctor_sections.sh test/qemu/doctor_hooks.sh test/qemu/porting.sh test/qemu/features.sh test/qemu/accel.sh test/qemu/probes.sh test/qemu/callers.sh test/qemu/noise.sh test/qemu/state.sh test/qemu/tickless.sh test/qemu/keep.sh
SOAK_TESTS += test/qemu/soak.sh
CHECK_NEEDS += host build/single/ktrace.c build/test/stress_check build/test/state_check $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

build/test/stress_check build/test/state_check: build/test/%: test/qemu/%.c build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $< build/lib/libktread.a
