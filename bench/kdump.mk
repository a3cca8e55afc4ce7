# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Process traces in words, beside awk over strace's text of the same calls.
BENCH_KDUMP_DIR := build/bench/kdump

$(BENCH_KDUMP_DIR)/gen: bench/kdump/gen.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<
$(BENCH_KDUMP_DIR)/measure: bench/kdump/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_KDUMP_NEEDS := build/bin/kdump $(addprefix $(BENCH_KDUMP_DIR)/,gen measure)
BENCH_NEEDS += $(BENCH_KDUMP_NEEDS)
BENCH_RUNS += $(BENCH_KDUMP_DIR)/measure

.PHONY: bench-kdump
bench-kdump: $(BENCH_KDUMP_NEEDS)
	$(BENCH_KDUMP_DIR)/measure
