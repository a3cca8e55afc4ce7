# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RUNS += bench/plugin.sh
BENCH_NEEDS += build/lib/ktrace-pt.so build/bench/cputime build/test/hwt_blocks \
	build/demo/x86_64/kernel.elf build/demo/aarch64/kernel.elf

build/bench/cputime: bench/cputime.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<
