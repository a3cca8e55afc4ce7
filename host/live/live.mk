# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace live. Without the ncursesw library there is line mode only.
KTRACE_SRCS += $(patsubst %,host/live/%.c,cpus guest lines model page rates tail waits watch)
COMMANDS += live
CURSES := $(shell pkg-config --exists ncursesw 2>/dev/null && echo yes)
ifeq ($(CURSES),yes)
KTRACE_SRCS += host/live/screen.c
KTRACE_LDLIBS += $(shell pkg-config --libs ncursesw)
build/host/live/screen.o build/asan/host/live/screen.o: KTRACE_CFLAGS += $(shell pkg-config --cflags ncursesw)
else
KTRACE_SRCS += host/live/screen_absent.c
endif
