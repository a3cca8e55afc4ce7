# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Trace of AArch64 processors, read: SPE, and ETMv4 by OpenCSD.
HWT_SPE_SRCS := $(wildcard host/hwt/spe*.c)

UNIT_TESTS += hwt_spe
UNIT_SRCS_hwt_spe := test/unit/hwt_spe.c $(HWT_SPE_SRCS)
UNIT_CFLAGS_hwt_spe := -Ihost

ifneq ($(HWT_HAS_ETM4),)
UNIT_TESTS += hwt_etm4
UNIT_SRCS_hwt_etm4 := test/unit/hwt_etm4.c $(filter-out %_absent.c,$(wildcard host/hwt/etm4*.c)) host/hwt/library.c
UNIT_CFLAGS_hwt_etm4 := -Ihost
UNIT_LDLIBS_hwt_etm4 := $(KTRACE_LDLIBS)
endif

# The plugin's encoder of ETMv4, decoded.
UNIT_TESTS += plugin_a64
UNIT_CFLAGS_plugin_a64 := -Ihost
UNIT_SRCS_plugin_a64 := test/unit/plugin_a64.c host/plugin/a64.c

ifneq ($(HWT_HAS_ETM4),)
UNIT_TESTS += plugin_etm4
UNIT_CFLAGS_plugin_etm4 := -Ihost
UNIT_SRCS_plugin_etm4 := test/unit/plugin_etm4.c $(addprefix host/plugin/,a64.c etm4.c etm4_atoms.c output.c) \
	$(filter-out %_absent.c,$(wildcard host/hwt/etm4*.c)) host/hwt/library.c
UNIT_LDLIBS_plugin_etm4 := $(KTRACE_LDLIBS)
endif
