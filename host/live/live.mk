# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace live.
KTRACE_SRCS += $(patsubst %,host/live/%.c,cpus guest holders lines model page rates screen tail waits watch)
COMMANDS += live
