# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# What ktrace why concludes from scripted events and tables. Each why_*.c is a test of detectors, but for why_many.
WHY_TESTS := $(filter-out why_support why_property why_many,$(basename $(notdir $(wildcard test/unit/why_*.c))))
WHY_TEST_SRCS := test/unit/why_support.c test/unit/why_property.c test/unit/script.c test/unit/elf_file.c \
	$(patsubst %,host/ktread/%.c,format message types value) \
	$(patsubst %,host/analyze/%.c,demangle histogram keyed note order privilege symbols symbols_image symbols_library scheduling switched threads wellknown) \
	$(patsubst %,host/export/%.c,escape event_name json number output) $(wildcard host/why/*.c)

UNIT_TESTS += $(WHY_TESTS)
define why_test
UNIT_SRCS_$(1) := test/unit/$(1).c $$(WHY_TEST_SRCS)
UNIT_CFLAGS_$(1) := -Ihost
UNIT_LDLIBS_$(1) := $(KTRACE_LDLIBS)
endef
$(foreach t,$(WHY_TESTS),$(eval $(call why_test,$(t))))

# Of a whole trace, by the real reader.
UNIT_TESTS += why_many
UNIT_SRCS_why_many := test/unit/why_many.c $(KTREAD_TEST_SRCS) \
	$(filter host/analyze/% host/export/% host/why/%,$(WHY_TEST_SRCS))
UNIT_CFLAGS_why_many := -Ihost
UNIT_LDLIBS_why_many := $(KTRACE_LDLIBS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=free -Wl,--wrap=keyed_find
