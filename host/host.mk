# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The host side: build/lib/libktread.a, build/bin/ktrace and the names that lead to it, and the trace unit for QEMU.
# Each room is a folder, and all of its sources belong to the program. A subcommand is a file of host/cmd (qemu_args.c is
# qemu-args), an output format an object of host/export that has export_NAME.
KTREAD_SRCS := $(wildcard host/ktread/*.c host/base/*.c)
KTRACE_SRCS := $(foreach room,analyze capture cmd doctor export findings flow hwt kdump live record why,$(wildcard host/$(room)/*.c))
COMMANDS := check control decode doctor export extract hwt kdump ktrdump live qemu_args record run show stats summary take why
TOOLS := hwt kdump ktrace-decode ktrdump
EXPORT_FORMATS := json perfetto stream

# The libraries of the host side; scripts/setup.sh installs them. The last three have no file for pkg-config. A program that is
# linked with them depends on those that it calls.
HOST_PACKAGES := libzstd libdw libelf libseccomp ncursesw jansson
HOST_CPPFLAGS += $(shell pkg-config --cflags $(HOST_PACKAGES) 2>/dev/null)
HOST_LDLIBS := -Wl,--as-needed $(shell pkg-config --libs $(HOST_PACKAGES) 2>/dev/null) -lipt -lopencsd_c_api -liberty -lm -pthread

.PHONY: host-libraries
host-libraries:
	@echo '$(HOST_LDLIBS)'

# Says at once what is missing, instead of a compiler's message for each file.
build/gen/libraries: scripts/setup.sh
	@mkdir -p $(@D)
	@pkg-config --exists --print-errors $(HOST_PACKAGES) && \
	printf '#include <%s>\n' intel-pt.h opencsd/c_api/opencsd_c_api.h libiberty/demangle.h | $(HOST_CC) -E -x c - >/dev/null || \
	{ echo 'ktrace: libraries are missing. On Debian, as root: sh scripts/setup.sh host' >&2; exit 1; }
	@touch $@

HOST_FLAGS = -std=c11 $(WARNINGS) $(HOST_CFLAGS) $(HOST_CPPFLAGS) -I. -Ihost -Ibuild/gen
KTREAD_OBJS := $(patsubst %.c,build/%.o,$(sort $(KTREAD_SRCS)))
KTRACE_OBJS := $(patsubst %.c,build/%.o,$(sort $(KTRACE_SRCS)))

.PHONY: host
host: build/bin/ktrace $(TOOLS:%=build/bin/%) build/share/ktrace/default.rules

# Where the program looks for it, installed or not: ../share/ktrace.
build/share/ktrace/default.rules: share/default.rules
	@mkdir -p $(@D)
	@cp $< $@

build/host/%.o: host/%.c | build/gen/libraries
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(HOST_CC) $(HOST_FLAGS) -MMD -MP -c -o $@ $<

build/lib/libktread.a: $(KTREAD_OBJS)
	@mkdir -p $(@D)
	@rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@

build/bin/ktrace: $(KTRACE_OBJS) build/lib/libktread.a
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_CFLAGS) $(HOST_LDFLAGS) -o $@.new $^ $(HOST_LDLIBS) && mv $@.new $@

$(TOOLS:%=build/bin/%): build/bin/ktrace
	@ln -sf ktrace $@

# The same with AddressSanitizer and UBSan: build/asan/bin/ktrace.
HOST_SANITIZE := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
HOST_ASAN_OBJS := $(patsubst build/%,build/asan/%,$(sort $(KTREAD_OBJS) $(KTRACE_OBJS)))

.PHONY: host-asan
host-asan: build/asan/bin/ktrace $(TOOLS:%=build/asan/bin/%)

build/asan/host/%.o: host/%.c build/gen/commands.list build/gen/formats.list
	@mkdir -p $(@D)
	@$(HOST_CC) $(HOST_FLAGS) $(HOST_SANITIZE) -MMD -MP -c -o $@ $<

build/asan/bin/ktrace: $(HOST_ASAN_OBJS)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_SANITIZE) -o $@ $^ $(HOST_LDLIBS)

$(TOOLS:%=build/asan/bin/%): build/asan/bin/ktrace
	@ln -sf ktrace $@

# Registers as C reads them; rewritten only when they change.
# $(call register,<file>,<macro>,<names>)
define register
build/gen/$(1): FORCE
	@mkdir -p $$(@D)
	@printf '$(2)(%s)\n' $(sort $(3)) >$$@.new
	@if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
endef
$(eval $(call register,commands.list,COMMAND,$(COMMANDS)))
$(eval $(call register,formats.list,FORMAT,$(EXPORT_FORMATS)))
build/host/cmd/main.o: build/gen/commands.list
build/host/cmd/main.o build/asan/host/cmd/main.o: VERSION
build/host/cmd/main.o build/asan/host/cmd/main.o: HOST_CPPFLAGS += -DKTRACE_VERSION='"$(shell cat VERSION)"'
build/host/export/formats.o: build/gen/formats.list

# Loops over columns of bytes want vectors: a third less time than at -O2.
$(patsubst %,build/host/ktread/%.o,columns columns_encode): HOST_CFLAGS += -O3

# Tables of kernels are built into kdump, a text each: share/tables/linux.table as the array table_linux.
KDUMP_TABLES := $(sort $(wildcard share/tables/*.table))
build/gen/tables.h: $(KDUMP_TABLES) host/host.mk
	@mkdir -p $(@D)
	@for table in $(KDUMP_TABLES); do \
		printf 'static const char table_%s[] =\n' "$$(basename $$table .table)"; \
		sed -e '/^#/d' -e '/^$$/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $$table && printf ';\n'; \
	done >$@.new && mv $@.new $@
build/host/kdump/tables.o build/asan/host/kdump/tables.o: build/gen/tables.h

# build/lib/ktrace-pt.so: the trace unit in software, a plugin of QEMU.
PLUGIN_SRCS := $(wildcard host/plugin/*.c)
PLUGIN_OBJS := $(PLUGIN_SRCS:%.c=build/%.o)

host: build/lib/ktrace-pt.so

$(PLUGIN_OBJS): HOST_CFLAGS += -fPIC -fvisibility=hidden

build/lib/ktrace-pt.so: $(PLUGIN_OBJS)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	@$(HOST_CC) $(HOST_CFLAGS) -shared -Wl,-Bsymbolic -o $@.new $^ && mv $@.new $@

-include $(PLUGIN_OBJS:.o=.d)

.PHONY: FORCE
FORCE:

-include $(KTREAD_OBJS:.o=.d) $(KTRACE_OBJS:.o=.d) $(HOST_ASAN_OBJS:.o=.d)
