# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What the steps of a hardware trace mean together: columns, call trees, coverage.
FLOW_SOURCES := $(wildcard host/flow/*.c)
KTRACE_SRCS += $(FLOW_SOURCES) $(wildcard host/cmd/hwt_*.c) host/cmd/trace_with.c
COMMANDS += hwt
TOOLS += hwt
