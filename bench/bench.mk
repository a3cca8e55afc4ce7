# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Benchmarks. Each adds its command to BENCH_RUNS: it prints JSON objects, one per line, on stdout, and a
# table for people on stderr.
BENCH_RUNS :=
BENCH_NEEDS :=

BENCH_RUNS += bench/callcost.sh
BENCH_NEEDS += $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# Benchmark: decodes version 1 dumps of 64 K, 1 M, 8 M and 32 M records, compared with a minimal decoder.
BENCH_DECODE_DIR := build/bench/decode
BENCH_DECODE_COMPILE = @mkdir -p $(@D) && $(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ \
	$(filter %.c,$^)

$(BENCH_DECODE_DIR)/gen_v1: bench/decode/gen_v1.c
	$(BENCH_DECODE_COMPILE)
$(BENCH_DECODE_DIR)/floor_v1: bench/decode/floor_v1.c host/base/put.c host/base/ticks.c
	$(BENCH_DECODE_COMPILE)
$(BENCH_DECODE_DIR)/measure: bench/decode/measure.c bench/cost.c
	$(BENCH_DECODE_COMPILE)

BENCH_DECODE_NEEDS := build/bin/ktrace build/bin/ktrace-decode \
	$(addprefix $(BENCH_DECODE_DIR)/,gen_v1 floor_v1 measure)
BENCH_NEEDS += $(BENCH_DECODE_NEEDS)
BENCH_RUNS += $(BENCH_DECODE_DIR)/measure

# Benchmark: SQL queries over a trace that gen_v1 writes.
BENCH_RUNS += bench/sql.sh
BENCH_NEEDS += $(BENCH_DECODE_DIR)/gen_v1 build/bin/ktrace build/bench/cputime

.PHONY: bench-sql
bench-sql: $(BENCH_DECODE_DIR)/gen_v1 build/bin/ktrace build/bench/cputime
	sh bench/sql.sh

.PHONY: bench-decode
bench-decode: $(BENCH_DECODE_NEEDS)
	$(BENCH_DECODE_DIR)/measure

BENCH_DIFF_DIR := build/bench/diff

# The traces for the benchmark of diff are written with test/unit/support/ktread_writer.c.
$(BENCH_DIFF_DIR)/gen_diff: bench/diff/gen_diff.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c \
		build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

BENCH_DIFF_NEEDS := build/bin/ktrace build/bench/cputime $(BENCH_DIFF_DIR)/gen_diff
BENCH_NEEDS += $(BENCH_DIFF_NEEDS)
BENCH_RUNS += bench/diff.sh

.PHONY: bench-diff
bench-diff: $(BENCH_DIFF_NEEDS)
	sh bench/diff.sh

BENCH_RUNS += bench/extract.sh
BENCH_NEEDS += build/bin/ktrace build/demo/x86_64/kernel.elf

.PHONY: bench-extract
bench-extract: build/bin/ktrace build/demo/x86_64/kernel.elf
	sh bench/extract.sh

BENCH_RUNS += bench/guest.sh
BENCH_NEEDS += $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

# Benchmark: decodes a hardware trace into steps, compared with libipt alone. The trace shows the demo
# kernel; the software trace unit (a QEMU plugin) writes it.
BENCH_HWT_DIR := build/bench/hwt
BENCH_HWT_OBJS := $(patsubst %.c,build/%.o,$(wildcard host/hwt/*.c) $(wildcard host/analyze/demangle.c host/analyze/event_name.c host/analyze/symbols*.c))

$(BENCH_HWT_DIR)/decode: bench/hwt/decode.c bench/cost.c $(BENCH_HWT_OBJS) build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

BENCH_HWT_NEEDS := $(BENCH_HWT_DIR)/decode build/lib/ktrace-pt.so build/demo/x86_64/kernel.elf
BENCH_NEEDS += $(BENCH_HWT_NEEDS)
BENCH_RUNS += bench/hwt.sh
BENCH_NEEDS += build/bin/ktrace build/bench/cputime
BENCH_RUNS += bench/hwt_linux.sh

.PHONY: bench-hwt bench-hwt-linux
bench-hwt: $(BENCH_HWT_NEEDS)
	sh bench/hwt.sh
bench-hwt-linux: $(BENCH_HWT_NEEDS) build/bin/ktrace build/bench/cputime
	sh bench/hwt_linux.sh

# Benchmark: prints process traces, compared with an awk program that parses strace's output for the same
# calls.
BENCH_KDUMP_DIR := build/bench/kdump

$(BENCH_KDUMP_DIR)/gen: bench/kdump/gen.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<
$(BENCH_KDUMP_DIR)/measure: bench/kdump/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_KDUMP_NEEDS := build/bin/kdump $(addprefix $(BENCH_KDUMP_DIR)/,gen measure)
BENCH_NEEDS += $(BENCH_KDUMP_NEEDS)
BENCH_RUNS += $(BENCH_KDUMP_DIR)/measure

.PHONY: bench-kdump
bench-kdump: $(BENCH_KDUMP_NEEDS)
	$(BENCH_KDUMP_DIR)/measure

BENCH_RUNS += bench/live.sh
BENCH_NEEDS += build/bin/ktrace build/demo/x86_64/kernel.elf

.PHONY: bench-live
bench-live: build/bin/ktrace build/demo/x86_64/kernel.elf
	sh bench/live.sh

# Benchmark: merges 64 rings, compared with merging 8 rings.
BENCH_MERGE_DIR := build/bench/merge

# Traces for the merge bench are written with test/unit/support/ktread_writer.c, not with the kernel library.
$(BENCH_MERGE_DIR)/gen_v2: bench/merge/gen_v2.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c \
		build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)
$(BENCH_MERGE_DIR)/measure: bench/merge/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_MERGE_NEEDS := build/bin/ktrace $(addprefix $(BENCH_MERGE_DIR)/,gen_v2 measure)
BENCH_NEEDS += $(BENCH_MERGE_NEEDS)
BENCH_RUNS += $(BENCH_MERGE_DIR)/measure

.PHONY: bench-merge
bench-merge: $(BENCH_MERGE_NEEDS)
	$(BENCH_MERGE_DIR)/measure

BENCH_RUNS += bench/plugin.sh
BENCH_NEEDS += build/lib/ktrace-pt.so build/bench/cputime build/test/hwt_blocks \
	build/demo/x86_64/kernel.elf build/demo/aarch64/kernel.elf

build/bench/cputime: bench/cputime.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<

BENCH_RUNS += bench/profile.sh
BENCH_NEEDS += build/bin/ktrace build/test/bare/shares_x86_64.elf

.PHONY: bench-profile
bench-profile: build/bin/ktrace build/test/bare/shares_x86_64.elf
	sh bench/profile.sh

# Benchmark of the record path on the host. sites.c, which contains the loops around an event, is compiled
# once for each way of recording. x86_64 only, because the port accesses thread-local words with single
# instructions relative to the register fs.
BENCH_RECORD_DIR := build/bench/record
BENCH_RECORD_FLAGS := -std=c11 -O2 -g1 -fno-pie $(WARNINGS) -Ibench/record $(KTRACE_INCLUDES_x86_64)
BENCH_RECORD_CORE := $(KTRACE_CORE_SOURCES:%.c=$(BENCH_RECORD_DIR)/%.o) $(BENCH_RECORD_DIR)/port.o
BENCH_RECORD_OBJS := $(BENCH_RECORD_CORE) $(addprefix $(BENCH_RECORD_DIR)/,record.o moment.o peers.o steps.o hooks.o \
	sites_record.o sites_checked.o sites_no_clock.o)
BENCH_SITES_record := -DSITE_PREFIX=record
BENCH_SITES_checked := -DSITE_PREFIX=checked -DBENCH_CHECKED
BENCH_SITES_no_clock := -DSITE_PREFIX=no_clock -DBENCH_NO_CLOCK

BENCH_RECORD_COMPILE = @mkdir -p $(@D) && $(HOST_CC) $(BENCH_RECORD_FLAGS) -MMD -MP -c -o $@ $<

$(BENCH_RECORD_DIR)/kernel/%.o: kernel/%.c
	$(BENCH_RECORD_COMPILE)
$(BENCH_RECORD_DIR)/record.o: bench/record.c
	$(BENCH_RECORD_COMPILE)
$(addprefix $(BENCH_RECORD_DIR)/,port.o moment.o peers.o steps.o hooks.o): $(BENCH_RECORD_DIR)/%.o: bench/record/%.c
	$(BENCH_RECORD_COMPILE)
$(BENCH_RECORD_DIR)/sites_%.o: bench/record/sites.c
	$(BENCH_RECORD_COMPILE) $(BENCH_SITES_$*)

build/bench/record/record: $(BENCH_RECORD_OBJS)
	@$(HOST_CC) -no-pie -o $@ $^ -lpthread

# Benchmark of the mailbox. It uses the port of the record benchmark.
$(BENCH_RECORD_DIR)/control.o: bench/control.c
	$(BENCH_RECORD_COMPILE)
build/bench/record/control: $(BENCH_RECORD_CORE) $(BENCH_RECORD_DIR)/control.o
	@$(HOST_CC) -no-pie -o $@ $^ -lpthread

# Benchmark of the kernel library for process traces. It uses the port of the record benchmark.
BENCH_PROC_OBJS := $(KTRACE_PROC_SOURCES:%.c=$(BENCH_RECORD_DIR)/%.o) $(BENCH_RECORD_DIR)/proc.o
$(BENCH_RECORD_DIR)/proc.o: bench/proc.c
	$(BENCH_RECORD_COMPILE)
build/bench/record/proc: $(BENCH_RECORD_CORE) $(BENCH_PROC_OBJS) $(BENCH_RECORD_DIR)/steps.o
	@$(HOST_CC) -no-pie -o $@ $^ -lpthread

-include $(BENCH_RECORD_OBJS:.o=.d) $(BENCH_RECORD_DIR)/control.d $(BENCH_PROC_OBJS:.o=.d)

ifeq ($(shell uname -m),x86_64)
BENCH_NEEDS += $(addprefix build/bench/record/,record control proc)
BENCH_RUNS += $(addprefix build/bench/record/,record control proc)
endif

BENCH_RECORD_LINUX_NEEDS := build/bin/ktrace build/bench/cputime build/test/record/threads
BENCH_NEEDS += $(BENCH_RECORD_LINUX_NEEDS)
BENCH_RUNS += bench/record_linux.sh

.PHONY: bench-record-linux
bench-record-linux: $(BENCH_RECORD_LINUX_NEEDS)
	sh bench/record_linux.sh

# Benchmark: runs of a guest that can be repeated, compared with runs that cannot.
BENCH_SCHEDULE_NEEDS := build/bin/ktrace build/lib/ktrace-schedule.so build/bench/cputime build/demo/x86_64/kernel.elf
BENCH_NEEDS += $(BENCH_SCHEDULE_NEEDS)
BENCH_RUNS += bench/schedule.sh

.PHONY: bench-schedule
bench-schedule: $(BENCH_SCHEDULE_NEEDS)
	sh bench/schedule.sh

# Benchmark of portable streams: a version 1 dump of 8 M records is converted to a stream, and compressed
# by zstd -3.
BENCH_STREAM_DIR := build/bench/stream

$(BENCH_STREAM_DIR)/zstd_raw: bench/stream/zstd_raw.c build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
$(BENCH_STREAM_DIR)/measure: bench/stream/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_STREAM_NEEDS := build/bin/ktrace build/bench/decode/gen_v1 $(addprefix $(BENCH_STREAM_DIR)/,zstd_raw measure)
BENCH_NEEDS += $(BENCH_STREAM_NEEDS)
BENCH_RUNS += $(BENCH_STREAM_DIR)/measure

.PHONY: bench-stream
bench-stream: $(BENCH_STREAM_NEEDS)
	$(BENCH_STREAM_DIR)/measure

# Benchmark: shows a short time window of a long trace.
BENCH_SEEK_DIR := build/bench/seek

$(BENCH_SEEK_DIR)/measure: bench/seek/measure.c bench/cost.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -O2 -g $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $^

BENCH_SEEK_NEEDS := build/bin/ktrace build/bench/decode/gen_v1 $(BENCH_MERGE_DIR)/gen_v2 $(BENCH_SEEK_DIR)/measure
BENCH_NEEDS += $(BENCH_SEEK_NEEDS)
BENCH_RUNS += $(BENCH_SEEK_DIR)/measure

.PHONY: bench-seek
bench-seek: $(BENCH_SEEK_NEEDS)
	$(BENCH_SEEK_DIR)/measure

BENCH_RUNS += bench/unix.sh
BENCH_NEEDS += build/bin/ktrace $(DEMO_ARCHES:%=build/demo/%/kernel.elf)

BENCH_RUNS += bench/why.sh
BENCH_NEEDS += build/bin/ktrace build/demo/x86_64/kernel.elf

.PHONY: bench-why
bench-why: build/bin/ktrace build/demo/x86_64/kernel.elf
	sh bench/why.sh

BENCH_RUNS += bench/open.sh
BENCH_NEEDS += build/bin/ktrace $(BENCH_DECODE_DIR)/gen_v1

.PHONY: bench-open
bench-open: build/bin/ktrace $(BENCH_DECODE_DIR)/gen_v1 viewer-browser
	sh bench/open.sh

.PHONY: run-bench bench-short
run-bench: $$(BENCH_NEEDS)
	sh bench/run.sh $(foreach run,$(BENCH_RUNS),'$(run)')

# Runs each benchmark once with little input, to test that the benchmark works. Takes about half a minute.
# Does not compare the results with limits. `make check` runs the benchmarks in the same way.
bench-short: $$(BENCH_NEEDS) build/bench/runs
	sh bench/short.sh

SCRIPT_TESTS += bench/short.sh
CHECK_NEEDS += $(BENCH_NEEDS) build/bench/runs

build/bench/runs: Makefile bench/bench.mk
	@mkdir -p $(@D)
	@printf '%s\n' $(foreach run,$(BENCH_RUNS),'$(run)') >$@

BENCH_RUNS += bench/export.sh
BENCH_NEEDS += $(BENCH_DECODE_DIR)/gen_v1 build/bin/ktrace build/bench/cputime

.PHONY: bench-export
bench-export: $(BENCH_DECODE_DIR)/gen_v1 build/bin/ktrace build/bench/cputime
	sh bench/export.sh
