# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Intel PT on a model of its registers: what it asks of them, and where its bytes go.
define hwt_pt_test
UNIT_TESTS += $(1)
UNIT_SRCS_$(1) := test/unit/$(1).c test/unit/hwt_pt_support.c test/fake/hwt_pt.c test/fake/hwt_log.c $(KTRACE_HWT_PT_SOURCES)
UNIT_CFLAGS_$(1) := $(KERNEL_TEST_CFLAGS)
endef
$(eval $(call hwt_pt_test,hwt_pt))
$(eval $(call hwt_pt_test,hwt_pt_buffer))
$(eval $(call hwt_pt_test,hwt_pt_model))
