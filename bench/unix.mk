# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RUNS += bench/unix.sh
BENCH_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
