# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The record path on the host; the loops around it are built once for each way of recording that is timed. x86_64
# only: the port reaches its words by one instruction relative to fs.
BENCH_RECORD_DIR := build/bench/record
BENCH_RECORD_FLAGS := -std=c11 -O2 -g -fno-pie $(WARNINGS) -Ibench/record $(KTRACE_INCLUDES_x86_64)
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

# The mailbox, on the same port.
$(BENCH_RECORD_DIR)/control.o: bench/control.c
	$(BENCH_RECORD_COMPILE)
build/bench/record/control: $(BENCH_RECORD_CORE) $(BENCH_RECORD_DIR)/control.o
	@$(HOST_CC) -no-pie -o $@ $^ -lpthread

# Process traces, on the same port.
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
