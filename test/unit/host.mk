# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Unit tests of the host, in the order of its rooms.

# The file of rules that ships is read from share/.
#
# The test looks up its own functions, in its own file: a position-independent one, loaded anywhere.
UNIT_TESTS += analyze_named
UNIT_SRCS_analyze_named := test/unit/analyze_named.c $(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_file)
UNIT_CFLAGS_analyze_named := -Ihost
UNIT_TESTS += analyze_symbols
UNIT_SRCS_analyze_symbols := test/unit/analyze_symbols.c $(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_file)
UNIT_CFLAGS_analyze_symbols := -Ihost -fpie -pie
UNIT_LDLIBS_analyze_symbols := -Wl,--build-id=sha1

# Of files that the test makes.
UNIT_TESTS += analyze_displacement
UNIT_SRCS_analyze_displacement := test/unit/analyze_displacement.c test/unit/elf_file.c \
	$(patsubst %,host/analyze/%.c,demangle symbols symbols_image symbols_file)
UNIT_CFLAGS_analyze_displacement := -Ihost

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

UNIT_TESTS += analyze_note
UNIT_SRCS_analyze_note := test/unit/analyze_note.c host/analyze/note.c
UNIT_CFLAGS_analyze_note := -Ihost

UNIT_TESTS += base_open
UNIT_SRCS_base_open := test/unit/base_open.c host/base/open.c
UNIT_CFLAGS_base_open := -Ihost

UNIT_TESTS += base_grow
UNIT_SRCS_base_grow := test/unit/base_grow.c host/base/grow.c
UNIT_CFLAGS_base_grow := -Ihost

UNIT_TESTS += base_utf8
UNIT_SRCS_base_utf8 := test/unit/base_utf8.c host/base/utf8.c
UNIT_CFLAGS_base_utf8 := -Ihost

# Unit tests of capture: what is read, decided and said, without a QEMU.

# $(call capture_test,<name>,<files of host/capture, without .c>)
define capture_test
UNIT_TESTS += capture_$(1)
UNIT_SRCS_capture_$(1) := test/unit/capture_$(1).c $(2:%=host/capture/%.c) host/capture/error.c
UNIT_CFLAGS_capture_$(1) := -Ihost
endef

$(eval $(call capture_test,option,qemu_option))
$(eval $(call capture_test,line,qemu_option qemu_line plan record transport words trace_unit path))
$(eval $(call capture_test,machine,machine qmp json memory_map))
$(eval $(call capture_test,verdict,verdict watch))
$(eval $(call capture_test,kernel,kernel_elf))
$(eval $(call capture_test,kernel_check,kernel_check kernel_elf))
UNIT_SRCS_capture_kernel_check += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_kernel_check += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,view,view ram memory_map watch frequency))
UNIT_SRCS_capture_view += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_view += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,mailbox,mailbox))
$(eval $(call capture_test,ram,memory_map ram record))
UNIT_SRCS_capture_ram += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,summary,summary))
UNIT_SRCS_capture_summary += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_summary += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,dump_note,dump_note))
UNIT_SRCS_capture_dump_note += test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c
UNIT_SRCS_capture_dump_note += $(wildcard host/ktread/*.c)
$(eval $(call capture_test,peer,dial frequency gdb interrupt json memory_map monitor peer_gdb peer_qmp process_memory qmp ram registers))
UNIT_SRCS_capture_peer += $(wildcard host/ktread/*.c) host/analyze/privilege.c
$(eval $(call capture_test,expect,expect))
$(eval $(call capture_test,stillness,stillness watch))
$(eval $(call capture_test,stack,stack))
$(eval $(call capture_test,inspection,inspection frequency json machine memory_map path qmp registers stack))
UNIT_LIBS_capture_inspection := build/lib/libktread.a
$(eval $(call capture_test,process,memory_map process_memory))
UNIT_LIBS_capture_process := build/lib/libktread.a
$(eval $(call capture_test,core,core_registers registers))

# Clocks that differ: measured by the kernel library between threads, and put right by the reader.
UNIT_TESTS += kernel_clock
UNIT_SRCS_kernel_clock := test/unit/kernel_clock.c $(KTRACE_CORE_SOURCES) kernel/core/snapshot.c kernel/core/dump.c \
	kernel/core/dump_stream.c kernel/core/rings.c $(wildcard host/ktread/*.[ch])
UNIT_CFLAGS_kernel_clock := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += kernel_clock_turns
UNIT_SRCS_kernel_clock_turns := test/unit/kernel_clock_turns.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_clock_turns := -I. -Itest/fake/skew -Ikernel/arch/generic -pthread

UNIT_TESTS += ktread_clock
UNIT_SRCS_ktread_clock = test/unit/ktread_clock.c $(KTREAD_TEST_SRCS)
UNIT_CFLAGS_ktread_clock := -Ihost/ktread

UNIT_TESTS += analyze_align
UNIT_SRCS_analyze_align = test/unit/analyze_align.c $(KTREAD_TEST_SRCS) \
	$(addprefix host/analyze/,align.c bounds.c causes.c coarse.c drift.c wellknown.c)
UNIT_CFLAGS_analyze_align := -Ihost

UNIT_TESTS += kernel_tick
UNIT_SRCS_kernel_tick := test/unit/kernel_tick.c test/fake/checker.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_kernel_tick := -I. -Itest/fake/tick -Ikernel/arch/generic

UNIT_TESTS += analyze_order
UNIT_SRCS_analyze_order = test/unit/analyze_order.c $(KTREAD_TEST_SRCS) host/analyze/order.c
UNIT_CFLAGS_analyze_order := -Ihost

UNIT_TESTS += cmd_numbers cmd_ticks cmd_escape cmd_output cmd_phrase cmd_calls cmd_values

UNIT_SRCS_cmd_numbers := test/unit/cmd_numbers.c
UNIT_CFLAGS_cmd_numbers := -Ihost

UNIT_SRCS_cmd_ticks := test/unit/cmd_ticks.c host/base/ticks.c
UNIT_CFLAGS_cmd_ticks := -Ihost

UNIT_SRCS_cmd_escape := test/unit/cmd_escape.c
UNIT_CFLAGS_cmd_escape := -Ihost

UNIT_SRCS_cmd_output := test/unit/cmd_output.c
UNIT_CFLAGS_cmd_output := -Ihost

UNIT_SRCS_cmd_phrase := test/unit/cmd_phrase.c host/export/phrase.c
UNIT_CFLAGS_cmd_phrase := -Ihost
UNIT_SRCS_cmd_phrase += $(wildcard host/ktread/*.c)

UNIT_SRCS_cmd_calls := test/unit/cmd_calls.c host/export/calls.c
UNIT_CFLAGS_cmd_calls := -Ihost

UNIT_SRCS_cmd_values := test/unit/cmd_values.c host/cmd/trace_values.c
UNIT_CFLAGS_cmd_values := -Ihost

UNIT_TESTS += doctor_mistakes
UNIT_SRCS_doctor_mistakes := test/unit/doctor_mistakes.c test/unit/script.c host/doctor/mistakes.c host/doctor/mistakes_waits.c \
	host/ktread/value.c host/ktread/message.c $(patsubst %,host/analyze/%.c,keyed scheduling switched threads wellknown)
UNIT_CFLAGS_doctor_mistakes := -Ihost

# Steps of scripts, not of recordings: what is made of them is held against texts.
FLOW_TEST_SRCS := test/unit/flow_support.c test/fake/hwt_script.c $(wildcard host/flow/*.c) \
	$(patsubst %,host/export/%.c,json) host/analyze/histogram.c host/analyze/wellknown.c host/hwt/spe_packet.c host/hwt/spe_text.c \
	host/analyze/demangle.c host/analyze/symbols_file.c $(wildcard host/ktread/*.c)

# $(call flow_test,<name>)
define flow_test
UNIT_TESTS += flow_$(1)
UNIT_SRCS_flow_$(1) := test/unit/flow_$(1).c $(FLOW_TEST_SRCS)
UNIT_CFLAGS_flow_$(1) := -Ihost
endef

$(eval $(call flow_test,calls))
$(eval $(call flow_test,views))

# Hardware trace read. Streams of Intel PT are made by libipt's encoder, so those tests are there where libipt is.
HWT_READ_SRCS := $(wildcard host/hwt/*.c) $(wildcard host/ktread/*.c host/base/*.c host/analyze/demangle.c host/analyze/symbols*.c)

HWT_READ_TESTS := hwt_read_pt hwt_read_images hwt_read_streams hwt_read_rings hwt_read_memory
UNIT_TESTS += $(HWT_READ_TESTS)
$(foreach t,$(HWT_READ_TESTS), \
	$(eval UNIT_CFLAGS_$(t) := -Ihost) \
	$(eval UNIT_SRCS_$(t) := test/unit/$(t).c test/unit/hwt_reading.c test/unit/hwt_write.c $$(HWT_READ_SRCS)))

UNIT_TESTS += kdump_vis kdump_table kdump_pending kdump_hardware

UNIT_SRCS_kdump_vis := test/unit/kdump_vis.c host/kdump/vis.c
UNIT_CFLAGS_kdump_vis := -Ihost

UNIT_SRCS_kdump_table := test/unit/kdump_table.c \
	$(patsubst %,host/kdump/%.c,table table_parse tables errors words)
UNIT_CFLAGS_kdump_table := -Ihost

UNIT_SRCS_kdump_pending := test/unit/kdump_pending.c host/kdump/pending.c
UNIT_CFLAGS_kdump_pending := -Ihost

UNIT_SRCS_kdump_hardware := test/unit/kdump_hardware.c host/kdump/hardware.c host/kdump/vis.c
UNIT_CFLAGS_kdump_hardware := -Ihost

# The reader library is compiled into its tests, so that it is sanitized with them.
KTREAD_TEST_SRCS := test/unit/ktread_support.c test/unit/ktread_writer.c test/unit/ktread_sample.c \
	$(wildcard host/ktread/*.[ch] test/unit/ktread_*.h test/fuzz/ktread_*.h)

UNIT_TESTS += ktread_v1
UNIT_CFLAGS_ktread_v1 := -Ihost/ktread
UNIT_SRCS_ktread_v1 := test/unit/ktread_v1.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_v2
UNIT_SRCS_ktread_v2 := test/unit/ktread_v2.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_settings
UNIT_SRCS_ktread_settings := test/unit/ktread_settings.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_tables
UNIT_SRCS_ktread_tables := test/unit/ktread_tables.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_image
UNIT_SRCS_ktread_image := test/unit/ktread_image.c test/fuzz/ktread_exercise.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_golden
UNIT_SRCS_ktread_golden := test/unit/ktread_golden.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_format
UNIT_SRCS_ktread_format := test/unit/ktread_format.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_follow
UNIT_SRCS_ktread_follow := test/unit/ktread_follow.c $(KTREAD_TEST_SRCS)

UNIT_TESTS += ktread_columns
UNIT_CFLAGS_ktread_columns := -Ihost/ktread
UNIT_SRCS_ktread_columns := test/unit/ktread_columns.c test/unit/ktread_support.c $(wildcard host/ktread/*.[ch])

UNIT_TESTS += ktread_stream
UNIT_SRCS_ktread_stream := test/unit/ktread_stream.c $(KTREAD_TEST_SRCS)

# Needs an x86_64, as kernel_stress does.
UNIT_TESTS_X86_64 += follow_storm
UNIT_SRCS_follow_storm := test/unit/follow_storm.c $(wildcard host/ktread/*.[ch]) $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_follow_storm := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread

# The reader of process traces.
KTREAD_PROC_TEST_SRCS := test/unit/ktread_proc_support.c test/unit/ktread_support.c test/golden/proc/put.c \
	$(wildcard host/ktread/*.[ch] test/unit/ktread_proc*.h test/golden/proc/*.h)

UNIT_TESTS += ktread_proc ktread_proc_sessions ktread_proc_damage ktread_proc_input
UNIT_SRCS_ktread_proc := test/unit/ktread_proc.c $(KTREAD_PROC_TEST_SRCS)
UNIT_SRCS_ktread_proc_sessions := test/unit/ktread_proc_sessions.c $(KTREAD_PROC_TEST_SRCS)
UNIT_SRCS_ktread_proc_damage := test/unit/ktread_proc_damage.c $(KTREAD_PROC_TEST_SRCS)
UNIT_CFLAGS_ktread_proc_input := -Ihost/ktread
UNIT_SRCS_ktread_proc_input := test/unit/ktread_proc_input.c $(KTREAD_PROC_TEST_SRCS)

UNIT_TESTS += live_model
UNIT_SRCS_live_model := test/unit/live_model.c test/unit/script.c \
	$(patsubst %,host/ktread/%.c,format message types value) $(patsubst %,host/analyze/%.c,cost near order pattern scheduling switched threads wellknown) \
	$(patsubst %,host/export/%.c,json) $(patsubst %,host/live/%.c,cpus holders lines model page rates tail waits watch)
UNIT_CFLAGS_live_model := -Ihost

# Perfetto output and its models, fed with scripted events. SCRIPT_SRCS links only that part of the reader that decodes fields.
SCRIPT_SRCS := test/unit/script.c host/ktread/value.c host/ktread/message.c

UNIT_TESTS += perfetto_export
UNIT_SRCS_perfetto_export := test/unit/perfetto_export.c test/perfetto/text.c $(SCRIPT_SRCS) $(patsubst %,host/analyze/%.c,wellknown scheduling threads spans recorded switched files flows processes) \
	$(wildcard host/export/perfetto*.c) host/export/protobuf.c host/export/functions.c
UNIT_CFLAGS_perfetto_export := -Ihost

UNIT_TESTS += analyze_threads
UNIT_SRCS_analyze_threads := test/unit/analyze_threads.c $(SCRIPT_SRCS) $(patsubst %,host/analyze/%.c,wellknown scheduling threads spans recorded switched files flows processes)
UNIT_CFLAGS_analyze_threads := -Ihost

UNIT_TESTS += analyze_spans
UNIT_SRCS_analyze_spans := test/unit/analyze_spans.c $(SCRIPT_SRCS) $(patsubst %,host/analyze/%.c,wellknown scheduling threads spans recorded switched files flows processes)
UNIT_CFLAGS_analyze_spans := -Ihost

UNIT_TESTS += analyze_files
UNIT_SRCS_analyze_files := test/unit/analyze_files.c $(SCRIPT_SRCS) host/analyze/files.c host/analyze/wellknown.c
UNIT_CFLAGS_analyze_files := -Ihost

UNIT_TESTS += analyze_requests
UNIT_SRCS_analyze_requests := test/unit/analyze_requests.c host/analyze/requests.c host/analyze/masks.c host/analyze/near.c
UNIT_CFLAGS_analyze_requests := -Ihost

UNIT_TESTS += perfetto_protobuf
UNIT_SRCS_perfetto_protobuf := test/unit/perfetto_protobuf.c host/export/protobuf.c
UNIT_CFLAGS_perfetto_protobuf := -Ihost

PLUGIN_TESTED := $(filter-out host/plugin/plugin.c,$(wildcard host/plugin/*.c))

UNIT_TESTS += plugin_pt plugin_unit plugin_code
UNIT_SRCS_plugin_pt := test/unit/plugin_pt.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_pt := -Ihost
UNIT_SRCS_plugin_unit := test/unit/plugin_unit.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_unit := -Ihost
UNIT_SRCS_plugin_code := test/unit/plugin_code.c test/unit/plugin_support.c $(PLUGIN_TESTED)
UNIT_CFLAGS_plugin_code := -Ihost

# Distributions and pairs.
UNIT_TESTS += analyze_histogram
UNIT_SRCS_analyze_histogram := test/unit/analyze_histogram.c host/analyze/histogram.c
UNIT_CFLAGS_analyze_histogram := -Ihost

UNIT_TESTS += analyze_pairs
UNIT_SRCS_analyze_pairs := test/unit/analyze_pairs.c test/unit/script.c host/ktread/value.c host/ktread/message.c \
	$(patsubst %,host/analyze/%.c,gaps histogram keyed pairs scheduling switched threads wellknown)
UNIT_CFLAGS_analyze_pairs := -Ihost

UNIT_TESTS += export_distribution export_number
UNIT_SRCS_export_distribution := test/unit/export_distribution.c host/analyze/histogram.c \
	$(patsubst %,host/export/%.c,distribution)
UNIT_CFLAGS_export_distribution := -Ihost
UNIT_SRCS_export_number := test/unit/export_number.c
UNIT_CFLAGS_export_number := -Ihost

# What ktrace why concludes from scripted events and tables. Each why_*.c is a test of detectors, but for why_many.
WHY_TESTS := $(filter-out why_support why_property why_many,$(basename $(notdir $(wildcard test/unit/why_*.c))))
WHY_TEST_SRCS := test/unit/why_support.c test/unit/why_property.c test/unit/script.c test/unit/elf_file.c \
	$(patsubst %,host/ktread/%.c,format message types value) \
	$(patsubst %,host/analyze/%.c,demangle histogram keyed note order privilege symbols symbols_image symbols_file scheduling switched threads wellknown) \
	$(patsubst %,host/export/%.c,json) $(wildcard host/why/*.c)

UNIT_TESTS += $(WHY_TESTS)
define why_test
UNIT_SRCS_$(1) := test/unit/$(1).c $$(WHY_TEST_SRCS)
UNIT_CFLAGS_$(1) := -Ihost
endef
$(foreach t,$(WHY_TESTS),$(eval $(call why_test,$(t))))

# Of a whole trace, by the real reader.
UNIT_TESTS += why_many
UNIT_SRCS_why_many := test/unit/why_many.c $(KTREAD_TEST_SRCS) \
	$(filter host/analyze/% host/export/% host/why/%,$(WHY_TEST_SRCS))
UNIT_CFLAGS_why_many := -Ihost
UNIT_LDLIBS_why_many := -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=free -Wl,--wrap=keyed_find
