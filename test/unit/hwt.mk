# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests of hardware trace in the kernel, on a fake one. Those of a backend are in a fragment of its own, hwt_<backend>.mk.
HWT_TEST_SRCS := $(KTRACE_HWT_SOURCES) $(KERNEL_TEST_SRCS)
HWT_TEST_CFLAGS := $(KERNEL_TEST_CFLAGS)
