# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/record/programs.sh test/record/strace.sh test/record/options.sh test/record/targets.sh test/record/words.sh test/record/races.sh test/record/waits.sh \
	test/record/fight.sh test/record/fight_recorder.sh test/record/fight_proc.sh test/record/faults.sh test/record/compiles.sh test/record/manual.sh
RECORD_TEST_PROGRAMS := $(addprefix build/test/record/,threads speaker fault births crowd waits execs fight odd runtime pages)
CHECK_NEEDS += build/bin/ktrace build/bin/kdump $(RECORD_TEST_PROGRAMS)

RECORD_TEST_COMPAT := $(addprefix build/test/record/,compat32 compat64)
CHECK_NEEDS += $(RECORD_TEST_COMPAT)

# An x86 compiler builds both programs from one source. If the compiler is for another machine, no program is
# built, and the test reports that the programs are missing.
$(RECORD_TEST_COMPAT): build/test/record/compat%: test/record/compat.c
	@mkdir -p $(@D)
	$(HOST_CC) -m$* -std=gnu11 -O1 $(WARNINGS) -fomit-frame-pointer -ffreestanding -nostdlib -static -fno-pic -no-pie \
		-fno-stack-protector -fcf-protection=none -o $@ $< || rm -f $@

build/test/record/fight build/test/record/odd: test/record/cases.h
$(RECORD_TEST_PROGRAMS): build/test/record/%: test/record/%.c include/user/sys/ktrace.h
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -D_GNU_SOURCE -O1 $(WARNINGS) -Iinclude/user -o $@ $< -lpthread

