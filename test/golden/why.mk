# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/golden/why.sh
CHECK_NEEDS += build/bin/ktrace build/test/why-traces build/test/cmd-traces

build/test/why-traces: test/golden/why_traces.c test/golden/why_story.c \
		$(wildcard test/golden/why_*_stories.c) test/golden/why_story.h test/golden/why_stories.h test/fake/machine.c test/fake/checker.c kernel/core/dump.c \
		kernel/core/dump_stream.c kernel/core/rings.c $(KTRACE_CORE_SOURCES) $(wildcard include/*/*.h)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -I. -Itest/fake -Ikernel/arch/generic -o $@ \
		$(sort $(filter %.c %.S,$^)) -lcmocka
