# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Figures. A fragment bench/*.mk adds its program to BENCH_RUNS: a command that prints one JSON object a line
# on stdout and what a person wants to read on stderr.
BENCH_RUNS :=
BENCH_NEEDS :=
include $(filter-out bench/bench.mk,$(wildcard bench/*.mk))

.PHONY: run-bench
run-bench: $$(BENCH_NEEDS)
	sh bench/run.sh $(foreach run,$(BENCH_RUNS),'$(run)')
