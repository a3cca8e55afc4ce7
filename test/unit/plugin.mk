# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
PLUGIN_TESTED := $(filter-out host/plugin/plugin.c,$(wildcard host/plugin/*.c))

UNIT_TESTS += plugin_pt plugin_unit plugin_code
UNIT_SRCS_plugin_pt := test/unit/plugin_pt.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_pt := -Ihost
UNIT_LDLIBS_plugin_pt := -lipt -lpthread
UNIT_SRCS_plugin_unit := test/unit/plugin_unit.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_unit := -Ihost
UNIT_LDLIBS_plugin_unit := -lipt -lpthread
UNIT_SRCS_plugin_code := test/unit/plugin_code.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_code := -Ihost
UNIT_LDLIBS_plugin_code := -lipt -lpthread
