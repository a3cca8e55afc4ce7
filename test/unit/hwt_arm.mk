# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Trace of AArch64 processors, read: SPE, and ETMv4 by OpenCSD.
HWT_SPE_SRCS := $(wildcard host/hwt/spe*.c)

UNIT_TESTS += hwt_spe
UNIT_SRCS_hwt_spe := test/unit/hwt_spe.c $(HWT_SPE_SRCS)
UNIT_CFLAGS_hwt_spe := -Ihost
