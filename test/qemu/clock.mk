# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Guests whose CPUs have clocks of their own: the test builds its kernels itself. And a guest whose clocks are hard to measure.
SCRIPT_TESTS += test/qemu/clock.sh test/qemu/clock_stutter.sh
CHECK_NEEDS += host build/test/clock_samples $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

build/test/clock_samples: test/qemu/clock_samples.c build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -Ihost -o $@ $^
