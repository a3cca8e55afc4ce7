# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Tests. A fragment of a room adds to these lists:
#
#   UNIT_TESTS += ring              a cmocka program; sources and needs in
#   UNIT_SRCS_ring := test/unit/kernel_ring.c kernel/core/ring.c
#   UNIT_CFLAGS_ring := -Itest/fake            (optional)
#   UNIT_LIBS_ring := build/lib/libktread.a    (optional; archives become prerequisites)
#   SCRIPT_TESTS += test/qemu/run_exit.sh      a shell test that sources test/tap.sh
#   CHECK_NEEDS += build/bin/ktrace            what must be built before any script runs
#
# Each unit test is built twice: plain (build/test/unit/NAME) and with AddressSanitizer and UBSan
# (build/test/asan/NAME); `make check` runs the sanitized one. Everything speaks TAP; test/run.sh counts.

UNIT_TESTS :=
SCRIPT_TESTS :=
SOAK_TESTS :=
CHECK_NEEDS :=

include $(wildcard test/unit/*.mk test/fuzz/*.mk test/lint/*.mk test/qemu/*.mk test/golden/*.mk test/perfetto/*.mk test/scenarios/*.mk)

UNIT_CFLAGS := -std=c11 -g -O1 $(WARNINGS) $(HOST_CPPFLAGS) -Itest
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# $(call unit_rules,<name>,<variant>,<flags>)
define unit_rules
build/test/$(2)/$(1): $$(UNIT_SRCS_$(1)) $$(UNIT_LIBS_$(1)) $$(wildcard include/*/*.h)
	@mkdir -p $$(@D)
	$$(HOST_CC) $$(UNIT_CFLAGS) $(3) $$(UNIT_CFLAGS_$(1)) -MMD -MP -MF $$@.d -o $$@ \
		$$(filter %.c %.S %.a,$$(UNIT_SRCS_$(1)) $$(UNIT_LIBS_$(1))) -lcmocka $$(UNIT_LDLIBS_$(1))
-include build/test/$(2)/$(1).d
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_rules,$(t),unit,)) \
	$(eval $(call unit_rules,$(t),asan,$(SANITIZE))))

.PHONY: test-unit test-scripts run-tests run-soak
test-unit: $(UNIT_TESTS:%=build/test/asan/%)
	sh test/run.sh $(UNIT_TESTS:%=build/test/asan/%)

test-scripts: $(CHECK_NEEDS)
	sh test/run.sh $(SCRIPT_TESTS)

run-tests: $(UNIT_TESTS:%=build/test/asan/%) $$(CHECK_NEEDS)
	sh test/run.sh $(UNIT_TESTS:%=build/test/asan/%) $(SCRIPT_TESTS)

run-soak: $$(CHECK_NEEDS)
	TEST_TIMEOUT=1800 sh test/run.sh $(SOAK_TESTS)
