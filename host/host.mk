# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The host side: build/lib/libktread.a, build/bin/ktrace and the names that lead to it. A room's fragment adds to
#
#   KTREAD_SRCS += host/ktread/merge.c     sources of the reader library
#   KTRACE_SRCS += host/capture/qmp.c      sources of the program
#   COMMANDS += qemu_args                  subcommands: host/cmd/qemu_args.c, known as qemu-args
#   TOOLS += ktrace-decode                 other names by which the program is called
#   EXPORT_FORMATS += perfetto             output formats: an object of KTRACE_SRCS has export_perfetto
#
# What is not in these lists does not exist in the program, so --help lists what works.

KTREAD_SRCS :=
KTRACE_SRCS := host/cmd/main.c host/cmd/take_file.c host/cmd/changes.c host/cmd/default_rules.c host/cmd/followed.c host/cmd/output_file.c host/cmd/show_follow.c host/cmd/show_registers.c host/cmd/show_symbols.c host/cmd/trace_args.c host/cmd/trace_open.c host/cmd/trace_values.c host/cmd/write_export.c $(wildcard host/analyze/*.c) \
	$(patsubst %,host/export/%.c,calls chrome chrome_events chrome_functions chrome_object chrome_place chrome_rows chrome_sched chrome_spans chrome_text classic distribution escape event_name formats functions json lines linux_calls machine number output phrase places rates repeats \
	settings slots stats stats_json stats_svg summary summary_json svg tally ticks timeline timeline_v1 timeline_v2 violations)
KTRACE_SRCS += host/cmd/show_window.c host/export/window.c host/export/window_draw.c
COMMANDS := check control show summary stats export decode take
TOOLS := ktrace-decode
EXPORT_FORMATS := json

# The libraries of the host side; scripts/setup.sh installs them. The last three have no file for pkg-config. A program that is
# linked with them depends on those that it calls.
HOST_PACKAGES := libzstd libdw libelf libseccomp ncursesw
HOST_CPPFLAGS += $(shell pkg-config --silence-errors --cflags $(HOST_PACKAGES))
HOST_LDLIBS := -Wl,--as-needed $(shell pkg-config --silence-errors --libs $(HOST_PACKAGES)) -lipt -lopencsd_c_api -liberty -pthread

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

include $(foreach room,ktread capture export cmd live why doctor kdump record hwt flow plugin,host/$(room)/$(room).mk)

HOST_FLAGS = -std=c11 $(WARNINGS) $(HOST_CFLAGS) $(HOST_CPPFLAGS) -I. -Ihost -Ibuild/gen
KTRACE_SRCS += $(COMMANDS:%=host/cmd/%.c)
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

.PHONY: FORCE
FORCE:

-include $(KTREAD_OBJS:.o=.d) $(KTRACE_OBJS:.o=.d) $(HOST_ASAN_OBJS:.o=.d)
