# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/serve/server.sh test/serve/elsewhere.sh
CHECK_NEEDS += build/bin/ktrace build/asan/bin/ktrace build/test/cmd-traces build/test/ktrdump-traces
CHECK_NEEDS += build/test/serve-guests

build/test/serve-guests: test/serve/guests.c test/unit/support/ktread_writer.c test/unit/support/ktread_support.c \
		build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest -o $@ $(HOST_INPUTS) -lcmocka $(HOST_LDLIBS)
