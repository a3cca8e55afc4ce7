# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RUNS += bench/live.sh
BENCH_NEEDS += build/bin/ktrace build/demo/x86_64/kernel.elf

.PHONY: bench-live
bench-live: build/bin/ktrace build/demo/x86_64/kernel.elf
	sh bench/live.sh
