# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Decoding of version 1 dumps of 64 K, 1 M, 8 M and 32 M records, beside the least that a decoder could do.
BENCH_DECODE_DIR := build/bench/decode
BENCH_DECODE_COMPILE = @mkdir -p $(@D) && $(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ \
	$(filter %.c,$^)

$(BENCH_DECODE_DIR)/gen_v1: bench/decode/gen_v1.c
	$(BENCH_DECODE_COMPILE)
$(BENCH_DECODE_DIR)/floor_v1: bench/decode/floor_v1.c host/export/number.c host/export/ticks.c
	$(BENCH_DECODE_COMPILE)
$(BENCH_DECODE_DIR)/measure: bench/decode/measure.c bench/cost.c
	$(BENCH_DECODE_COMPILE)

BENCH_DECODE_NEEDS := build/bin/ktrace build/bin/ktrace-decode \
	$(addprefix $(BENCH_DECODE_DIR)/,gen_v1 floor_v1 measure)
BENCH_NEEDS += $(BENCH_DECODE_NEEDS)
BENCH_RUNS += $(BENCH_DECODE_DIR)/measure

.PHONY: bench-decode
bench-decode: $(BENCH_DECODE_NEEDS)
	$(BENCH_DECODE_DIR)/measure
