# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests. Makefile fragments of directories add to these lists:
#
#   UNIT_TESTS += ring              a cmocka program; its sources and flags are in
#   UNIT_SRCS_ring := test/unit/kernel/ring.c kernel/core/ring.c
#   UNIT_CFLAGS_ring := -Itest/fake            (optional)
#   UNIT_LIBS_ring := build/lib/libktread.a    (optional; archives become prerequisites)
#   UNIT_TESTS_X86_64 += ring       instead of UNIT_TESTS: a program that needs an x86_64 host; on other hosts
#                                   test/unit/absent.sh reports it as skipped
#   SCRIPT_TESTS += test/qemu/run_exit.sh      a shell test that sources test/tap.sh
#   CHECK_NEEDS += build/bin/ktrace            what must be built before any script runs
#
# Each unit test can be built twice: plain (build/test/unit/NAME) and with AddressSanitizer and UBSan
# (build/test/asan/NAME); `make check` runs the sanitized one. All tests print TAP; test/run.sh counts the
# results.

UNIT_TESTS :=
UNIT_TESTS_X86_64 :=
SCRIPT_TESTS := test/unit/absent.sh
SOAK_TESTS :=
CHECK_NEEDS :=

include $(wildcard test/*/*.mk)

HOST_MACHINE := $(shell uname -m)
ifeq ($(HOST_MACHINE),x86_64)
UNIT_TESTS += $(UNIT_TESTS_X86_64)
UNIT_TESTS_ABSENT :=
else
UNIT_TESTS_ABSENT := $(UNIT_TESTS_X86_64)
endif
.PHONY: unit-tests-absent
unit-tests-absent:
	@echo $(HOST_MACHINE) $(UNIT_TESTS_ABSENT)

unit_comma := ,
UNIT_CFLAGS := -std=c11 -g1 -Og -fno-omit-frame-pointer $(WARNINGS) $(HOST_CPPFLAGS) -Itest
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
# LLVM's linker, which is used if it is installed, takes half of the time of the default linker.
UNIT_LDFLAGS := $(if $(shell command -v ld.lld),-fuse-ld=lld -Wl$(unit_comma)--threads=1)

# Tests that compile a source with the same flags share its object: build/test/VARIANT/object/FLAGS/SOURCE.o.
# Sources of the host are not compiled again: tests use the objects of the program.
UNIT_HOST_unit := build
UNIT_HOST_asan := build/asan

# $(call unit_archive,<variant>): an archive of the host's rooms. From this archive the linker takes the
# functions that a test calls and does not define itself.
define unit_archive
$$(UNIT_HOST_$(1))/lib/libhost.a: $$(patsubst %.c,$$(UNIT_HOST_$(1))/%.o,$$(filter-out host/cmd/main.c,$$(sort $$(KTRACE_SRCS) $$(KTREAD_SRCS))))
	@mkdir -p $$(@D)
	@rm -f $$@.new && ar rcs $$@.new $$^ && mv $$@.new $$@
endef

# $(call unit_folder,<flags>): the name of the directory for objects with these flags.
unit_nothing :=
unit_folder = $(or $(subst $(unit_nothing) ,,$(subst =,_,$(subst /,_,$(1)))),plain)

# $(call unit_kernel_flags,<flags>): the flags that affect sources of the kernel library. Tests that differ
# only in other flags share its objects: the library includes neither headers of the host nor <sys/ktr.h>.
# $(call unit_core_flags,<flags>): the same for sources that neither include ktrace/hwt.h nor read
# KTRACE_FRAME_POINTERS.
unit_kernel_flags = $(filter-out -Ihost -Itest/unit/kernel/ktr -Iinclude/compat -DKTR=% -DKTR_%,$(1))
unit_core_flags = $(filter-out -DKTRACE_HWT_HOOKS=% -DKTRACE_FRAME_POINTERS=%,$(call unit_kernel_flags,$(1)))
UNIT_CORE := $(filter-out kernel/core/backtrace.c,$(wildcard kernel/base/*.c kernel/core/*.c kernel/console/*.c))

# $(call unit_objects,<variant>,<sources>,<flags>): the objects for these sources.
unit_objects = $(patsubst %.c,$(UNIT_HOST_$(1))/%.o,$(filter host/%.c,$(2))) \
	$(call unit_built,$(1),$(filter-out host/% kernel/%,$(filter %.c %.S,$(2))),$(3)) \
	$(call unit_built,$(1),$(filter-out $(UNIT_CORE),$(filter kernel/%.c kernel/%.S,$(2))),$(call unit_kernel_flags,$(3))) \
	$(call unit_built,$(1),$(filter $(UNIT_CORE),$(filter %.c %.S,$(2))),$(call unit_core_flags,$(3)))
unit_built = $(patsubst %,build/test/$(1)/object/$(call unit_folder,$(3))/%.o,$(2))

# $(call unit_compile,<variant>,<flags of the variant>,<flags>): the rule that compiles with these flags.
define unit_compile
build/test/$(1)/object/$(call unit_folder,$(3))/%.o: %
	@$$(folder)
	$$(HOST_CC) $$(UNIT_CFLAGS) $(2) $(3) -MMD -MP -MF $$@.d -c -o $$@ $$<
endef

# $(call unit_link,<variant>,<flags of the variant>,<name>): the rule that links a test.
define unit_link
build/test/$(1)/$(3): $$(call unit_objects,$(1),$$(UNIT_SRCS_$(3)),$$(UNIT_CFLAGS_$(3))) $$(UNIT_LIBS_$(3)) \
		$$(UNIT_HOST_$(1))/lib/libhost.a $$(HOST_LIBRARIES)
	@$$(folder)
	$$(HOST_CC) $$(UNIT_CFLAGS) $(2) $$(UNIT_CFLAGS_$(3)) $$(UNIT_LDFLAGS) -o $$@ $$(HOST_INPUTS) -lcmocka $$(UNIT_LDLIBS_$(3)) $$(HOST_LDLIBS)
UNIT_OBJECTS += $$(filter %.o,$$(call unit_objects,$(1),$$(UNIT_SRCS_$(3)),$$(UNIT_CFLAGS_$(3))))
endef

# $(call unit_variant,<variant>,<flags of the variant>): all rules of a variant.
define unit_variant
$(eval $(call unit_archive,$(1)))
$(foreach folder,$(UNIT_FOLDERS),$(eval $(call unit_compile,$(1),$(2),$(UNIT_FLAGS_$(folder)))))
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_link,$(1),$(2),$(t))))
endef

# $(call unit_flags,<flags>): stores the flags under the name of their directory.
unit_flags = $(eval UNIT_FLAGS_$(call unit_folder,$(1)) := $(1))$(eval UNIT_FOLDERS += $(call unit_folder,$(1)))
unit_same_flags = $(1)
UNIT_FOLDERS :=
$(foreach t,$(UNIT_TESTS),$(foreach which,unit_same_flags unit_kernel_flags unit_core_flags, \
	$(call unit_flags,$(call $(which),$(UNIT_CFLAGS_$(t))))))
UNIT_FOLDERS := $(sort $(UNIT_FOLDERS))

UNIT_OBJECTS :=
$(call unit_variant,unit,)
$(call unit_variant,asan,$(SANITIZE))
-include $(addsuffix .d,$(sort $(filter build/test/%,$(UNIT_OBJECTS)))) \
	$(patsubst %.o,%.d,$(sort $(filter-out build/test/% $(KTREAD_OBJS) $(KTRACE_OBJS) $(HOST_ASAN_OBJS),$(UNIT_OBJECTS)))) \
	$(wildcard build/test/asan/object/*/test/fuzz/*.d build/test/unit/object/*/test/qemu/*.d)

# Tests that take 20 s and more start first, the longest one before all others. The many short tests come
# last, so that all jobs of make are busy until the end.
LONG_TESTS := bindings/rust/check.sh $(addprefix test/qemu/,unix_programs.sh hwt_blocks.sh clock.sh) \
	test/unit/kernel_build/matrix.sh test/qemu/live.sh bench/short.sh \
	$(addprefix test/qemu/,hwt_functions.sh proc_words.sh why_outside.sh why.sh retrace_functions.sh console_prompt.sh) \
	$(addprefix test/qemu/,features.sh repeat.sh hunt_ends.sh hunt_minimise.sh transport_kvm.sh run_expect.sh run_outcomes.sh) \
	test/golden/memory.sh test/fuzz/profile_replay.sh test/fuzz/why.sh build/test/asan/why_many test/qemu/run_commands.sh \
	test/perfetto/demo.sh $(addprefix test/qemu/,profile.sh goto.sh stress.sh hunt.sh) test/fuzz/ktread_replay.sh \
	$(addprefix test/unit/kernel_build/,cplusplus_rows.sh callers.sh) $(addprefix test/qemu/,hwt_views.sh porting.sh ktrdump.sh) \
	$(addprefix test/qemu/,proc_many.sh run_transports.sh single.sh hunt_check.sh) test/golden/danger.sh
in_order = $(foreach test,$(LONG_TESTS),$(filter $(test),$(1))) $(filter-out $(LONG_TESTS),$(1))

.PHONY: test-unit test-scripts run-tests run-soak
test-unit: $(UNIT_TESTS:%=build/test/asan/%)
	sh test/run.sh $(UNIT_TESTS:%=build/test/asan/%)

test-scripts: $$(CHECK_NEEDS)
	sh test/run.sh $(call in_order,$(SCRIPT_TESTS))

run-tests: $(UNIT_TESTS:%=build/test/asan/%) $$(CHECK_NEEDS)
	sh test/run.sh $(call in_order,$(SCRIPT_TESTS) $(UNIT_TESTS:%=build/test/asan/%))

# Some tests take hours on a busy host. Only a test that hangs reaches the limit.
run-soak: $$(CHECK_NEEDS)
	TEST_TIMEOUT=28800 sh test/run.sh $(SOAK_TESTS)
