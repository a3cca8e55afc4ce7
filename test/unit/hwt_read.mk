# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace read. Streams of Intel PT are made by libipt's encoder, so those tests are there where libipt is.
HWT_READ_SRCS := $(filter host/hwt/%,$(HWT_SRCS)) $(wildcard host/ktread/*.c host/base/*.c host/analyze/demangle.c host/analyze/symbols*.c)

ifneq ($(HWT_HAS_PT),)
HWT_READ_TESTS := hwt_read_pt hwt_read_images hwt_read_streams hwt_read_rings hwt_read_memory
UNIT_TESTS += $(HWT_READ_TESTS)
$(foreach t,$(HWT_READ_TESTS), \
	$(eval UNIT_CFLAGS_$(t) := -Ihost) \
	$(eval UNIT_SRCS_$(t) := test/unit/$(t).c test/unit/hwt_reading.c test/unit/hwt_write.c $$(HWT_READ_SRCS)) \
	$(eval UNIT_LDLIBS_$(t) := $(KTRACE_LDLIBS) -lipt))
endif
