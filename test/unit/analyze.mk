# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The file of rules that ships is read from share/.
#
# The test looks up its own functions, in its own file: a position-independent one, loaded anywhere.
UNIT_TESTS += analyze_named
UNIT_SRCS_analyze_named := test/unit/analyze_named.c $(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_library)
UNIT_CFLAGS_analyze_named := -Ihost
UNIT_LDLIBS_analyze_named := $(KTRACE_LDLIBS)
UNIT_TESTS += analyze_symbols
UNIT_SRCS_analyze_symbols := test/unit/analyze_symbols.c $(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_library)
UNIT_CFLAGS_analyze_symbols := -Ihost -fpie -pie
UNIT_LDLIBS_analyze_symbols := $(KTRACE_LDLIBS) -Wl,--build-id=sha1

# Of files that the test makes.
UNIT_TESTS += analyze_displacement
UNIT_SRCS_analyze_displacement := test/unit/analyze_displacement.c test/unit/elf_file.c \
	$(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_library)
UNIT_CFLAGS_analyze_displacement := -Ihost
UNIT_LDLIBS_analyze_displacement := $(KTRACE_LDLIBS)

UNIT_TESTS += analyze_rules
UNIT_SRCS_analyze_rules := test/unit/analyze_rules.c test/unit/script.c host/ktread/value.c host/ktread/message.c \
	$(patsubst %,host/analyze/%.c,check check_order gaps order scheduling switched keyed near pattern rule_words rules_bind rules_parse threads wellknown)
UNIT_CFLAGS_analyze_rules := -Ihost

UNIT_TESTS += analyze_rules_order
UNIT_SRCS_analyze_rules_order := test/unit/analyze_rules_order.c $(filter-out test/unit/analyze_rules.c,$(UNIT_SRCS_analyze_rules))
UNIT_CFLAGS_analyze_rules_order := -Ihost

UNIT_TESTS += analyze_demangle
UNIT_SRCS_analyze_demangle := test/unit/analyze_demangle.c host/analyze/demangle.c
UNIT_CFLAGS_analyze_demangle := -Ihost
UNIT_LDLIBS_analyze_demangle := $(DEMANGLE_LDLIBS)

UNIT_TESTS += analyze_note
UNIT_SRCS_analyze_note := test/unit/analyze_note.c host/analyze/note.c
UNIT_CFLAGS_analyze_note := -Ihost
