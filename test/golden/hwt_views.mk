# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The whole program on scripts of steps (test/fake/hwt_script.h) instead of recordings: what is shown does not depend on which
# decoders are installed.
SCRIPT_TESTS += test/golden/hwt_views.sh
CHECK_NEEDS += build/test/ktrace-script build/test/cmd-traces build/test/perfetto-text

# Of the room that reads recordings only what looks into ELF files, and the words for packets of SPE.
HWT_SCRIPT_KEEPS := $(patsubst %,build/host/hwt/%.o,binary names library grow spe_packet spe_text)
HWT_SCRIPT_OBJS := $(filter $(HWT_SCRIPT_KEEPS),$(KTRACE_OBJS)) $(filter-out build/host/hwt/%,$(KTRACE_OBJS))

build/test/ktrace-script: test/fake/hwt_script.c test/fake/hwt_script.h $(HWT_SCRIPT_OBJS) build/lib/libktread.a
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Ihost -Itest -o $@ $(filter %.c %.o %.a,$^) $(KTRACE_LDLIBS)
