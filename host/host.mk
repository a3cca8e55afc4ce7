# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The host side: build/lib/libktread.a, build/bin/ktrace, links to it with other names, and the trace unit for
# QEMU. Each room is a directory; all of its sources belong to the program. A subcommand is a file of host/cmd
# (qemu_args.c is qemu-args). An output format is an object export_NAME, defined in host/export.
KTREAD_SRCS := $(wildcard host/ktread/*.c host/base/*.c)
KTRACE_SRCS := $(foreach room,analyze calls capture cmd diff doctor export filter findings flow hunt hwt kdump live mcp observe page profile record serve sql why,$(wildcard host/$(room)/*.c))
COMMANDS := bisect check control decode diff doctor export extract goto html hunt hwt kdump ktrdump life live mcp open profile qemu_args record retrace run show sql stats summary take why
TOOLS := hwt kdump ktrace-decode ktrdump
EXPORT_FORMATS := ctf folded fxt json parquet perfetto speedscope stream

# The libraries of the host side: scripts/libraries.sh lists them, scripts/setup.sh installs them. STATIC=0
# links them shared. The linker reads their arguments from a response file, which is a prerequisite of every
# program that uses libraries. HOST_INPUTS are the other prerequisites. Only libraries that a program calls
# are linked.
STATIC ?= 1
HOST_LIBRARIES := build/gen/libraries
HOST_LDLIBS := @$(HOST_LIBRARIES)
HOST_INPUTS = $(filter %.c %.o %.a,$^)
HOST_CPPFLAGS += $(shell sh scripts/libraries.sh cflags 2>/dev/null)

.PHONY: host-libraries
host-libraries: $(HOST_LIBRARIES)
	@echo '$(HOST_LDLIBS)'

# A function without effect for each function of GnuTLS that libmicrohttpd.a calls (scripts/libraries.sh).
build/gen/no_tls.o: host/host.mk
	@mkdir -p $(@D)
	@nm -u "$$($(HOST_CC) -print-file-name=libmicrohttpd.a)" 2>/dev/null | sed -n 's/^ *U \(gnutls_[a-z0-9_]*\)$$/\1/p' | \
		sort -u | sed 's/.*/int &(void);\nint &(void) { return 0; }/' >build/gen/no_tls.c
	@$(HOST_CC) -O2 -c -o $@ build/gen/no_tls.c

# Reports missing libraries once, instead of a compiler error for each file.
$(HOST_LIBRARIES): scripts/libraries.sh scripts/setup.sh build/gen/libraries.asked build/gen/no_tls.o
	@sh scripts/libraries.sh link '$(HOST_CC)' '$(STATIC)' >$@.new && mv $@.new $@

HOST_FLAGS = -std=c11 $(WARNINGS) $(HOST_CFLAGS) $(HOST_CPPFLAGS) -I. -Ihost -Ibuild/gen
KTREAD_OBJS := $(patsubst %.c,build/%.o,$(sort $(KTREAD_SRCS)))
KTRACE_OBJS := $(patsubst %.c,build/%.o,$(sort $(KTRACE_SRCS)))

.PHONY: host
host: build/bin/ktrace $(TOOLS:%=build/bin/%) build/share/ktrace/default.rules

# The program looks for this file in ../share/ktrace, installed or not.
build/share/ktrace/default.rules: share/default.rules
	@mkdir -p $(@D)
	@cp $< $@

build/host/%.o: host/%.c | $(HOST_LIBRARIES)
	@$(folder)
	@echo "  CC    $@"
	@$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/lib/libktread.a: $(KTREAD_OBJS)
	@mkdir -p $(@D)
	@rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

build/bin/ktrace: $(KTRACE_OBJS) build/lib/libktread.a $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_CFLAGS) $(HOST_LDFLAGS) -o $@.new $(HOST_INPUTS) $(HOST_LDLIBS) && mv $@.new $@

$(TOOLS:%=build/bin/%): build/bin/ktrace
	@ln -sf ktrace $@

# The same with AddressSanitizer and UBSan: build/asan/bin/ktrace.
HOST_SANITIZE := -Og -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
HOST_ASAN_OBJS := $(patsubst build/%,build/asan/%,$(sort $(KTREAD_OBJS) $(KTRACE_OBJS)))

.PHONY: host-asan
host-asan: build/asan/bin/ktrace $(TOOLS:%=build/asan/bin/%)

build/asan/host/%.o: host/%.c build/gen/commands.list build/gen/formats.list
	@$(folder)
	@$(HOST_CC) $(HOST_FLAGS) $(HOST_SANITIZE) -MMD -MP -c -o $@ $<

build/asan/bin/ktrace: $(HOST_ASAN_OBJS) $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_SANITIZE) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

$(TOOLS:%=build/asan/bin/%): build/asan/bin/ktrace
	@ln -sf ktrace $@

# $(call register,<file>,<format of a line>,<words>): the rule for a file with one word in each line. The file
# is written only when its content changes. Another make may write it at the same time.
define register
build/gen/$(1): FORCE
	@mkdir -p $$(@D)
	@new=$$@.$$$$$$$$; printf '$(2)\n' $(sort $(3)) >$$$$new; \
		if cmp -s $$$$new $$@; then rm $$$$new; else mv $$$$new $$@; fi
endef
$(eval $(call register,commands.list,COMMAND(%s),$(COMMANDS)))
$(eval $(call register,formats.list,FORMAT(%s),$(EXPORT_FORMATS)))
$(eval $(call register,libraries.asked,%s,$(HOST_CC) STATIC=$(STATIC)))
build/host/cmd/main.o: build/gen/commands.list
build/host/cmd/command.o build/asan/host/cmd/command.o: VERSION
build/host/cmd/command.o build/asan/host/cmd/command.o: HOST_CPPFLAGS += -DKTRACE_VERSION='"$(shell cat VERSION)"'
build/host/export/formats.o: build/gen/formats.list

# -O3 vectorizes loops over columns of bytes: they take a third less time than with -O2.
$(patsubst %,build/host/ktread/%.o,columns columns_encode): HOST_CFLAGS += -O3

# Tables of system calls are built into the program as text: share/tables/linux.table is the array
# table_linux.
KDUMP_TABLES := $(sort $(wildcard share/tables/*.table))
build/gen/tables.h: $(KDUMP_TABLES) host/host.mk
	@mkdir -p $(@D)
	@for table in $(KDUMP_TABLES); do \
		printf 'static const char table_%s[] =\n' "$$(basename $$table .table)"; \
		sed -e '/^#/d' -e '/^$$/d' -e 's/[\\"?]/\\&/g' -e 's/.*/"&\\n"/' $$table && printf ';\n'; \
	done >$@.new && mv $@.new $@
build/host/calls/tables.o build/asan/host/calls/tables.o: build/gen/tables.h

# The page of `ktrace html` is joined from the files of viewer/, and built into the program as text.
PAGE_FILES := $(sort $(wildcard viewer/*))
build/gen/page.html: $(PAGE_FILES)
	@mkdir -p $(@D)
	@sh viewer/assemble.sh >$@.$$$$ && mv $@.$$$$ $@
build/gen/page_template.h: build/gen/page.html host/host.mk
	@{ printf 'const char page_template[] =\n'; sed -e 's/[\\"?]/\\&/g' -e 's/.*/"&\\n"/' $< && printf ';\n'; } >$@.$$$$ && mv $@.$$$$ $@
build/host/page/page.o build/asan/host/page/page.o: build/gen/page_template.h

# Plugins for QEMU: the trace unit in software, and the schedule of a guest's CPUs.
PLUGINS := build/lib/ktrace-pt.so build/lib/ktrace-schedule.so
PLUGIN_ROOMS := plugin schedule
PLUGIN_OBJS := $(foreach room,$(PLUGIN_ROOMS),$(patsubst %.c,build/%.o,$(wildcard host/$(room)/*.c)))

host: $(PLUGINS)

$(PLUGIN_OBJS): HOST_CFLAGS += -fPIC -fvisibility=hidden

build/lib/ktrace-pt.so: $(filter build/host/plugin/%,$(PLUGIN_OBJS))
build/lib/ktrace-schedule.so: $(filter build/host/schedule/%,$(PLUGIN_OBJS)) $(patsubst %,build/host/plugin/%.o,a64 api x86)
$(PLUGINS):
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_CFLAGS) -shared -Wl,-Bsymbolic -o $@.new $^ && mv $@.new $@

-include $(PLUGIN_OBJS:.o=.d)

.PHONY: FORCE
FORCE:

-include $(KTREAD_OBJS:.o=.d) $(KTRACE_OBJS:.o=.d) $(HOST_ASAN_OBJS:.o=.d)
