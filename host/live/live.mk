# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# ktrace live. Without the ncursesw library there is line mode only.
KTRACE_SRCS += $(patsubst %,host/live/%.c,cpus guest holders lines model page rates tail waits watch)
COMMANDS += live
CURSES := $(shell pkg-config --exists ncursesw 2>/dev/null && echo yes)
ifeq ($(CURSES),yes)
KTRACE_SRCS += host/live/screen.c host/live/curses_library.c
CURSES_OBJECTS := $(foreach room,build/host build/asan/host,$(room)/live/screen.o $(room)/live/curses_library.o)
$(CURSES_OBJECTS): KTRACE_CFLAGS += $(shell pkg-config --cflags ncursesw)
else
KTRACE_SRCS += host/live/screen_absent.c
endif
