# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
KTRACE_SRCS += host/export/ktr.c
COMMANDS += ktrdump
TOOLS += ktrdump
