# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace record: for Linux, where there is ptrace(2).
ifeq ($(shell uname -s),Linux)
KTRACE_SRCS += $(patsubst %,host/record/%.c,call_stop calls content control control_socket launch memory privilege registers sink tracees \
	tracees_proc tracer)
COMMANDS += record
endif
