# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += cmd_numbers cmd_ticks cmd_escape cmd_output cmd_phrase cmd_calls cmd_values

UNIT_SRCS_cmd_numbers := test/unit/cmd_numbers.c host/export/number.c
UNIT_CFLAGS_cmd_numbers := -Ihost

UNIT_SRCS_cmd_ticks := test/unit/cmd_ticks.c host/export/ticks.c
UNIT_CFLAGS_cmd_ticks := -Ihost

UNIT_SRCS_cmd_escape := test/unit/cmd_escape.c host/export/escape.c
UNIT_CFLAGS_cmd_escape := -Ihost

UNIT_SRCS_cmd_output := test/unit/cmd_output.c host/export/output.c
UNIT_CFLAGS_cmd_output := -Ihost

UNIT_SRCS_cmd_phrase := test/unit/cmd_phrase.c host/export/phrase.c host/export/escape.c host/export/number.c
UNIT_CFLAGS_cmd_phrase := -Ihost
UNIT_SRCS_cmd_phrase += $(wildcard host/ktread/*.c)

UNIT_SRCS_cmd_calls := test/unit/cmd_calls.c host/export/calls.c host/export/escape.c host/export/number.c
UNIT_CFLAGS_cmd_calls := -Ihost

UNIT_SRCS_cmd_values := test/unit/cmd_values.c host/cmd/trace_values.c
UNIT_CFLAGS_cmd_values := -Ihost
