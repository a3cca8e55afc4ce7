# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += base_open
UNIT_SRCS_base_open := test/unit/base_open.c host/base/open.c
UNIT_CFLAGS_base_open := -Ihost

UNIT_TESTS += base_utf8
UNIT_SRCS_base_utf8 := test/unit/base_utf8.c host/base/utf8.c
UNIT_CFLAGS_base_utf8 := -Ihost
