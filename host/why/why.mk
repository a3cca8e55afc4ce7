# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What is wrong with a machine, concluded from its trace. A detector is a file detect_NAME.c and a row in detectors.h.
WHY_SOURCES := $(wildcard host/why/*.c)
KTRACE_SRCS += $(WHY_SOURCES) host/cmd/explain.c
COMMANDS += why
