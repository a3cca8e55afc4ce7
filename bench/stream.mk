# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Portable streams of a version 1 dump of 8 M records, beside zstd -3 on its bytes.
BENCH_STREAM_DIR := build/bench/stream

$(BENCH_STREAM_DIR)/zstd_raw: bench/stream/zstd_raw.c build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ $^ $(KTRACE_LDLIBS)
$(BENCH_STREAM_DIR)/measure: bench/stream/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_STREAM_NEEDS := build/bin/ktrace build/bench/decode/gen_v1 $(addprefix $(BENCH_STREAM_DIR)/,zstd_raw measure)
BENCH_NEEDS += $(BENCH_STREAM_NEEDS)
BENCH_RUNS += $(BENCH_STREAM_DIR)/measure

.PHONY: bench-stream
bench-stream: $(BENCH_STREAM_NEEDS)
	$(BENCH_STREAM_DIR)/measure
