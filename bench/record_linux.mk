# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RECORD_LINUX_NEEDS := build/bin/ktrace build/test/record/threads
BENCH_NEEDS += $(BENCH_RECORD_LINUX_NEEDS)
BENCH_RUNS += bench/record_linux.sh

.PHONY: bench-record-linux
bench-record-linux: $(BENCH_RECORD_LINUX_NEEDS)
	sh bench/record_linux.sh
