# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace read. Streams of Intel PT are made by libipt's encoder, so those tests are there where libipt is.
HWT_READ_SRCS := $(filter host/hwt/%,$(HWT_SRCS)) $(wildcard host/ktread/*.c host/analyze/symbols*.c)
HWT_TEST_LIBS := -ldl

ifneq ($(HWT_HAS_PT),)
UNIT_TESTS += hwt_read_pt
UNIT_CFLAGS_hwt_read_pt := -Ihost
UNIT_SRCS_hwt_read_pt := test/unit/hwt_read_pt.c test/unit/hwt_reading.c test/unit/hwt_write.c $(HWT_READ_SRCS)
UNIT_LDLIBS_hwt_read_pt := $(HWT_TEST_LIBS) -lipt
endif
