# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Fuzzers and their corpora. The fuzz target NAME is test/fuzz/NAME_fuzz.c. `make check` replays inputs with
# build/test/asan/NAME_replay; `make fuzz-NAME` fuzzes until it is stopped.

SCRIPT_TESTS += test/fuzz/cmd.sh test/fuzz/kdump.sh
CHECK_NEEDS += build/test/asan/commands build/test/cmd-mutate build/test/cmd-traces build/test/kdump-traces build/bin/ktrace

build/test/cmd-mutate: test/fuzz/cmd_mutate.c
	@mkdir -p $(@D)
	$(HOST_CC) -std=c11 -g -O1 $(WARNINGS) -o $@ $<

# A sanitized program that contains all subcommands, and runs them one after another.
build/test/asan/commands: test/fuzz/commands.c test/golden/json_tree.c test/golden/json_tree.h build/asan/lib/libhost.a \
		build/gen/commands.list host/cmd/command.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) $(SANITIZE) $(UNIT_LDFLAGS) -Ihost -Ibuild/gen -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)

# A program that writes initial inputs: hardware trace, made with libipt's encoder.
build/test/hwt-traces: test/fuzz/hwt_traces.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
# A program that writes files like those that users give in addition to a hardware trace.
build/test/given-files: test/fuzz/given_files.c test/unit/support/hwt_write.c test/unit/support/hwt_write.h $(HOST_LIBRARIES)
	@mkdir -p $(@D)
	$(HOST_CC) $(UNIT_CFLAGS) -o $@ $(HOST_INPUTS) $(HOST_LDLIBS)
CHECK_NEEDS += build/test/hwt-traces build/test/why-traces build/test/given-files

# The host side as libFuzzer needs it. It is an archive because fuzz targets define some of its functions
# themselves: the linker then leaves out the objects that define them.
FUZZ_FLAGS = -g -O1 $(HOST_CPPFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_OBJS := $(patsubst %.c,build/fuzz/%.o,$(filter-out host/cmd/main.c,$(sort $(KTREAD_SRCS) $(KTRACE_SRCS))))
build/fuzz/host/%.o: host/%.c build/gen/commands.list build/gen/formats.list build/gen/page_template.h build/gen/tables.h | \
		$(HOST_LIBRARIES)
	@$(folder)
	@clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -I. -Ihost -Ibuild/gen -MMD -MP -c -o $@ $<
build/fuzz/lib/libhost.a: $(FUZZ_OBJS)
	@mkdir -p $(@D)
	@rm -f $@.new && ar rcs $@.new $^ && mv $@.new $@
-include $(FUZZ_OBJS:.o=.d)

# $(call fuzzer,<name>,<further sources>,<options of libFuzzer>,<directories of initial inputs, or a program that
# writes initial inputs to a directory>)
define fuzzer
CHECK_NEEDS += build/test/asan/$(1)_replay
build/test/asan/$(1)_replay: $$$$(call unit_objects,asan,test/fuzz/replay.c test/fuzz/$(1)_fuzz.c $(2),-Ihost) build/asan/lib/libhost.a \
		$$(HOST_LIBRARIES)
	$$(HOST_CC) $$(UNIT_CFLAGS) $$(SANITIZE) $$(UNIT_LDFLAGS) -o $$@ $$(HOST_INPUTS) $$(HOST_LDLIBS)

build/test/fuzz/$(1): test/fuzz/$(1)_fuzz.c $(2) build/fuzz/lib/libhost.a $$(wildcard include/*/*.h) $$(HOST_LIBRARIES)
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -I. -Itest -Ihost -o $$@ $$(HOST_INPUTS) $$(HOST_LDLIBS)

.PHONY: fuzz-$(1)
fuzz-$(1): build/test/fuzz/$(1) $(filter build/%,$(4))
	@mkdir -p build/test/fuzz/$(1)-corpus
	$(if $(filter build/%,$(4)),$(filter build/%,$(4)) build/test/fuzz/$(1)-corpus)
	build/test/fuzz/$(1) -timeout=10 $(3) build/test/fuzz/$(1)-corpus $(filter-out build/%,$(4))
endef
$(eval $(call fuzzer,etm4,test/fuzz/opencsd_leaks.c,-detect_leaks=0 -rss_limit_mb=512 -max_len=4096,test/golden/etm4))
$(eval $(call fuzzer,filter,test/unit/support/script.c,-rss_limit_mb=512 -max_len=512,test/golden/filter))
$(eval $(call fuzzer,given,test/unit/support/hwt_write.c,-rss_limit_mb=1024 -max_len=16384,build/test/given-files))
$(eval $(call fuzzer,hwt,test/fuzz/opencsd_leaks.c,-detect_leaks=0 -rss_limit_mb=1024 -max_len=16384,build/test/hwt-traces))
$(eval $(call fuzzer,ktread,test/fuzz/ktread_exercise.c,-rss_limit_mb=512 -max_len=65536,test/golden/ktread test/golden/bad))
$(eval $(call fuzzer,proc,,-rss_limit_mb=512 -max_len=16384,test/golden/proc test/golden/proc/bad))
$(eval $(call fuzzer,profile,,-rss_limit_mb=512 -max_len=16384,))
$(eval $(call fuzzer,serve,,-rss_limit_mb=512 -max_len=4096,test/golden/serve))
$(eval $(call fuzzer,spe,,-rss_limit_mb=512 -max_len=8192,test/golden/spe))
$(eval $(call fuzzer,why,test/unit/support/why_property.c,-rss_limit_mb=512 -max_len=131072,build/test/why-traces))

SCRIPT_TESTS += $(patsubst %,test/fuzz/%.sh,etm4_replay filter_replay given_replay hwt_replay ktread_replay proc_replay profile_replay serve_replay spe_replay why)
SOAK_TESTS += test/fuzz/many.sh test/fuzz/ktread_mutate.sh test/fuzz/proc_mutate.sh
