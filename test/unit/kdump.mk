# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += kdump_vis kdump_table kdump_pending kdump_hardware

UNIT_SRCS_kdump_vis := test/unit/kdump_vis.c host/kdump/vis.c
UNIT_CFLAGS_kdump_vis := -Ihost

UNIT_SRCS_kdump_table := test/unit/kdump_table.c \
	$(patsubst %,host/kdump/%.c,table table_parse tables errors words) host/export/number.c host/export/machine.c \
	host/export/linux_calls.c
UNIT_CFLAGS_kdump_table := -Ihost
UNIT_LDLIBS_kdump_table := $(KTRACE_LDLIBS)

UNIT_SRCS_kdump_pending := test/unit/kdump_pending.c host/kdump/pending.c
UNIT_CFLAGS_kdump_pending := -Ihost

UNIT_SRCS_kdump_hardware := test/unit/kdump_hardware.c host/kdump/hardware.c host/kdump/vis.c host/export/number.c
UNIT_CFLAGS_kdump_hardware := -Ihost
