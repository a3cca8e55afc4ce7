# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
UNIT_TESTS += base_open
UNIT_SRCS_base_open := test/unit/base_open.c host/base/open.c
UNIT_CFLAGS_base_open := -Ihost
