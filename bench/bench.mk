# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Figures. A fragment bench/*.mk adds its program to BENCH_RUNS: a command that prints one JSON object a line
# on stdout and what a person wants to read on stderr.
BENCH_RUNS :=
BENCH_NEEDS :=
include $(filter-out bench/bench.mk,$(wildcard bench/*.mk))

.PHONY: run-bench bench-short
run-bench: $$(BENCH_NEEDS)
	sh bench/run.sh $(foreach run,$(BENCH_RUNS),'$(run)')

# Each bench once on little input, to see that it runs: about half a minute. Figures are not judged. `make check` does the same.
bench-short: $$(BENCH_NEEDS) build/bench/runs
	sh bench/short.sh

SCRIPT_TESTS += bench/short.sh
CHECK_NEEDS += $(BENCH_NEEDS) build/bench/runs

build/bench/runs: Makefile $(wildcard bench/*.mk)
	@mkdir -p $(@D)
	@printf '%s\n' $(foreach run,$(BENCH_RUNS),'$(run)') >$@
