# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Runs commands on traces that the tests make, and compares their output with stored files.

SCRIPT_TESTS += test/golden/balance.sh
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode build/test/chrome-check build/test/v1-mix build/test/cmd-traces \
	build/test/danger-traces build/test/perfetto-text build/test/ktrace-script

build/test/chrome-check: test/golden/chrome_check.c test/golden/json_tree.c test/golden/json_tree.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c,$^)

build/test/v1-mix: test/golden/v1_mix.c include/ktrx/v1.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<

SCRIPT_TESTS += test/golden/check.sh test/golden/diff.sh test/golden/doctor.sh test/golden/cmd.sh test/golden/cmd_stream.sh test/golden/cmd_errors.sh test/golden/cmd_outputs.sh test/golden/options.sh test/golden/options_tools.sh test/golden/cmd_take.sh test/golden/stats.sh test/golden/install.sh test/golden/libraries.sh
CHECK_NEEDS += build/bin/ktrace build/bin/ktrace-decode build/test/cmd-traces build/test/why-traces build/test/ktrace-script

build/test/cmd-traces: test/golden/cmd_traces.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c \
		build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

SCRIPT_TESTS += test/golden/sql.sh test/golden/ctf.sh
CHECK_NEEDS += build/bin/ktrace build/test/cmd-traces build/bench/merge/gen_v2
SCRIPT_TESTS += test/golden/page.sh
SCRIPT_TESTS += test/golden/sqlite.sh

SCRIPT_TESTS += test/golden/budget.sh
CHECK_NEEDS += build/bin/ktrace build/test/cmd-traces build/test/why-traces

SCRIPT_TESTS += test/golden/questions.sh
CHECK_NEEDS += build/bin/ktrace build/bin/kdump

SCRIPT_TESTS += test/golden/danger.sh test/golden/schema.sh
CHECK_NEEDS += build/bin/ktrace build/test/danger-traces build/test/harmless build/test/ktrace-script

DANGER_SRCS := test/golden/danger_traces.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c
build/test/danger-traces: $(DANGER_SRCS) $$(filter-out $(DANGER_SRCS),$$(PROC_PUT_SRCS)) build/lib/libktread.a \
		test/golden/danger.h test/golden/proc/put.h test/unit/support/ktread_writer.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -Itest/golden -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

build/test/harmless: test/golden/harmless.c test/golden/json_tree.c test/golden/json_tree.h test/golden/danger.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(filter %.c,$^)

# ktrace-script is the program ktrace, except that it reads scripts of steps (test/fake/hwt_script.h)
# instead of hardware traces. So its output does not depend on the versions of the decoders.
SCRIPT_TESTS += test/golden/hwt_views.sh
CHECK_NEEDS += build/test/ktrace-script build/test/cmd-traces build/test/perfetto-text

# The reader of scripts replaces the sources in the directory that reads hardware traces, except the reader of
# ELF files and the texts for SPE packets.
HWT_SCRIPT_KEEPS := $(patsubst %,build/host/hwt/%.o,binary spe_text)
HWT_SCRIPT_OBJS := $(filter $(HWT_SCRIPT_KEEPS),$(KTRACE_OBJS)) $(filter-out build/host/hwt/%,$(KTRACE_OBJS))

build/test/ktrace-script: test/fake/hwt_script.c test/fake/hwt_script.h $(HWT_SCRIPT_OBJS) build/lib/libktread.a \
		$(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -Itest -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

SCRIPT_TESTS += test/golden/lost_page.sh
CHECK_NEEDS += build/test/lost-page.so build/test/cmd-traces build/test/why-traces

build/test/lost-page.so: test/golden/lost_page.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -fPIC -shared -o $@ $<

SCRIPT_TESTS += test/golden/kdump.sh
CHECK_NEEDS += build/bin/kdump build/test/kdump-traces

build/test/kdump-traces: test/golden/kdump_traces.c $$(PROC_PUT_SRCS) build/lib/libktread.a test/golden/proc/put.h \
		$(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -Itest/golden -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

SCRIPT_TESTS += test/golden/ktrdump.sh
CHECK_NEEDS += build/bin/ktrdump build/test/ktrdump-traces

build/test/ktrdump-traces: test/golden/ktrdump_traces.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c \
		build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

SCRIPT_TESTS += test/golden/memory.sh
CHECK_NEEDS += build/bin/ktrace build/test/memory-trace build/test/memory-used

build/test/memory-trace: test/golden/memory_trace.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c build/lib/libktread.a \
		$(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

build/test/memory-used: test/golden/memory_used.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -o $@ $<

SCRIPT_TESTS += test/golden/proc.sh test/golden/processes.sh
CHECK_NEEDS += build/test/proc-traces

PROC_PUT_SRCS := test/golden/proc/put.c test/unit/support/ktread_support.c

build/test/proc-traces: test/golden/proc/make.c test/golden/proc/make_bad.c $(PROC_PUT_SRCS) build/lib/libktread.a \
		test/golden/proc/put.h test/golden/proc/make_bad.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)

SCRIPT_TESTS += test/golden/why.sh
CHECK_NEEDS += build/bin/ktrace build/test/why-traces build/test/cmd-traces

build/test/why-traces: test/golden/why_traces.c test/golden/why_story.c \
		$(wildcard test/golden/why_*_stories.c) test/golden/why_story.h test/golden/why_stories.h test/fake/machine.c test/fake/checker.c kernel/core/dump.c \
		kernel/core/reader.c $(KTRACE_CORE_SOURCES) $(wildcard include/*/*.h)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -I. -Itest/fake -Ikernel/arch/generic -o $@ \
		$(sort $(filter %.c %.S,$^)) -lcmocka
