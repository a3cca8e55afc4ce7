# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RUNS += bench/why.sh
BENCH_NEEDS += build/bin/ktrace build/demo/x86_64/kernel.elf

.PHONY: bench-why
bench-why: build/bin/ktrace build/demo/x86_64/kernel.elf
	sh bench/why.sh
