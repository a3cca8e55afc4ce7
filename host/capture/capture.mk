# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Capture: QEMU under observation, memory files, and the commands for them.
CAPTURE_SOURCES := $(wildcard host/capture/*.c)

KTRACE_SRCS += $(CAPTURE_SOURCES)
COMMANDS += run extract qemu_args
