# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# kdump: process traces in words. Tables of kernels (share/tables) are built into the program, a text each.
KDUMP_SOURCES := $(wildcard host/kdump/*.c)
KDUMP_TABLES := $(wildcard share/tables/*.table)
KTRACE_SRCS += $(KDUMP_SOURCES) host/cmd/kdump_table.c host/cmd/foreign_calls.c
COMMANDS += kdump
TOOLS += kdump

# share/tables/linux.table as the array table_linux.
build/gen/tables.h: $(KDUMP_TABLES) host/kdump/kdump.mk
	@mkdir -p $(@D)
	@for table in $(sort $(KDUMP_TABLES)); do \
		printf 'static const char table_%s[] =\n' "$$(basename $$table .table)"; \
		sed -e '/^#/d' -e '/^$$/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $$table && printf ';\n'; \
	done >$@.new && mv $@.new $@

# Both variants of the object need it.
build/host/kdump/tables.o build/asan/host/kdump/tables.o: build/gen/tables.h
