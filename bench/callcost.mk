# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
BENCH_RUNS += bench/callcost.sh
BENCH_NEEDS += $(DEMO_ARCHES:%=build/demo/%/kernel.elf)
