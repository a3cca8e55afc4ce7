# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace into steps, beside libipt alone: on what the trace unit in software has written of the demo kernel.
ifneq ($(HWT_HAS_PT),)
BENCH_HWT_DIR := build/bench/hwt
BENCH_HWT_OBJS := $(patsubst %.c,build/%.o,$(filter host/hwt/%,$(HWT_SRCS)) $(wildcard host/analyze/demangle.c host/analyze/symbols*.c))

$(BENCH_HWT_DIR)/decode: bench/hwt/decode.c bench/cost.c $(BENCH_HWT_OBJS) build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ $^ $(KTRACE_LDLIBS)

BENCH_HWT_NEEDS := $(BENCH_HWT_DIR)/decode build/lib/ktrace-pt.so build/demo/x86_64/kernel.elf
BENCH_NEEDS += $(BENCH_HWT_NEEDS)
BENCH_RUNS += bench/hwt.sh

.PHONY: bench-hwt
bench-hwt: $(BENCH_HWT_NEEDS)
	sh bench/hwt.sh
endif
