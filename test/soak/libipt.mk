# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests with published streams of Intel PT; skipped without a directory of them.

SOAK_TESTS += test/soak/libipt.sh
CHECK_NEEDS += build/test/pt-stream

build/test/pt-stream: test/hwt/pt_stream.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
