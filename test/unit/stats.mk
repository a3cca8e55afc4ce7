# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Distributions and pairs. SCRIPT_SRCS: as in perfetto.mk.
UNIT_TESTS += analyze_histogram
UNIT_SRCS_analyze_histogram := test/unit/analyze_histogram.c host/analyze/histogram.c
UNIT_CFLAGS_analyze_histogram := -Ihost

UNIT_TESTS += analyze_pairs
UNIT_SRCS_analyze_pairs := test/unit/analyze_pairs.c test/unit/script.c host/ktread/value.c host/ktread/message.c \
	$(patsubst %,host/analyze/%.c,gaps histogram keyed pairs scheduling switched threads wellknown)
UNIT_CFLAGS_analyze_pairs := -Ihost

UNIT_TESTS += export_distribution export_number
UNIT_SRCS_export_distribution := test/unit/export_distribution.c host/analyze/histogram.c \
	$(patsubst %,host/export/%.c,distribution escape number output ticks)
UNIT_CFLAGS_export_distribution := -Ihost
UNIT_SRCS_export_number := test/unit/export_number.c host/export/number.c
UNIT_CFLAGS_export_number := -Ihost
