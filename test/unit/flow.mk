# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Steps of scripts, not of recordings: what is made of them is held against texts.
FLOW_TEST_SRCS := test/unit/flow_support.c test/fake/hwt_script.c $(FLOW_SOURCES) \
	$(patsubst %,host/export/%.c,escape json number output ticks) host/analyze/histogram.c host/analyze/wellknown.c host/hwt/spe_packet.c host/hwt/spe_text.c \
	host/analyze/demangle.c host/analyze/symbols_library.c $(wildcard host/ktread/*.c)

# $(call flow_test,<name>)
define flow_test
UNIT_TESTS += flow_$(1)
UNIT_SRCS_flow_$(1) := test/unit/flow_$(1).c $(FLOW_TEST_SRCS)
UNIT_CFLAGS_flow_$(1) := -Ihost
UNIT_LDLIBS_flow_$(1) := $(KTRACE_LDLIBS)
endef

$(eval $(call flow_test,calls))
$(eval $(call flow_test,views))
