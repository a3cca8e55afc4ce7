# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace read.
HWT_SRCS := $(wildcard host/hwt/*.c)
KTRACE_SRCS += $(HWT_SRCS)
