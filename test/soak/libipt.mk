# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Published streams of Intel PT, where a folder of them is at hand.

SOAK_TESTS += test/soak/libipt.sh
CHECK_NEEDS += build/test/pt-stream

build/test/pt-stream: test/hwt/pt_stream.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
