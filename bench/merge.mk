# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Merging 64 rings beside 8.
BENCH_MERGE_DIR := build/bench/merge

# The writer is the reader's tests' own, as the reader's benches must not go by the kernel library's habits.
$(BENCH_MERGE_DIR)/gen_v2: bench/merge/gen_v2.c test/unit/ktread_writer.c test/unit/ktread_support.c \
		build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $^ -lcmocka $(KTRACE_LDLIBS)
$(BENCH_MERGE_DIR)/measure: bench/merge/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_MERGE_NEEDS := build/bin/ktrace $(addprefix $(BENCH_MERGE_DIR)/,gen_v2 measure)
BENCH_NEEDS += $(BENCH_MERGE_NEEDS)
BENCH_RUNS += $(BENCH_MERGE_DIR)/measure

.PHONY: bench-merge
bench-merge: $(BENCH_MERGE_NEEDS)
	$(BENCH_MERGE_DIR)/measure
