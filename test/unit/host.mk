# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Unit tests of the host. Test ROOM_NAME is test/unit/ROOM/NAME.c. Its entry lists further sources; those of
# the host's rooms that it calls are found by themselves. An entry is UNIT_WITH_ROOM_NAME, or UNIT_WITH_ROOM
# for the whole room; a plain word in it is a file of test/unit/support.
UNIT_ROOMS := analyze base calls capture cmd diff doctor export filter findings flow hunt hwt kdump ktread live mcp observe page plugin profile record schedule serve why

UNIT_WITH_analyze_align := ktread_support ktread_writer ktread_sample sched_writer
UNIT_WITH_analyze_compare := ktread_support ktread_writer ktread_sample
UNIT_WITH_analyze_around := script
UNIT_WITH_analyze_displacement := elf_file
UNIT_WITH_analyze_files := script
UNIT_WITH_analyze_gaps := script
UNIT_WITH_analyze_mixture := script
UNIT_WITH_analyze_object_names := script
UNIT_WITH_analyze_order := ktread_support ktread_writer ktread_sample
UNIT_WITH_analyze_pairs := script
UNIT_WITH_analyze_rules := checking script
UNIT_WITH_analyze_rules_gaps := checking script
UNIT_WITH_analyze_rules_order := script
UNIT_WITH_analyze_rules_parse := checking script
UNIT_WITH_analyze_spans := script
UNIT_WITH_analyze_switch_states := script
UNIT_WITH_analyze_symbols := elf_file
UNIT_WITH_analyze_threads := script
UNIT_WITH_analyze_worst := script
UNIT_WITH_capture_dump_note := ktread_support ktread_writer ktread_sample
UNIT_WITH_capture_kernel_check := ktread_support ktread_writer ktread_sample
UNIT_WITH_capture_recipe := ktread_support ktread_writer ktread_sample
UNIT_WITH_capture_summary := ktread_support ktread_writer ktread_sample
UNIT_WITH_capture_view := ktread_support ktread_writer ktread_sample
UNIT_WITH_diff_steps := script
UNIT_WITH_doctor := script
UNIT_WITH_doctor_clock := ktread_support ktread_writer ktread_sample sched_writer
UNIT_WITH_doctor_heartbeats := $(UNIT_WITH_doctor_clock)
UNIT_WITH_doctor_order := $(UNIT_WITH_doctor_clock)
UNIT_WITH_export_perfetto := perfetto_script script test/perfetto/text.c
UNIT_WITH_export_perfetto_gaps := $(UNIT_WITH_export_perfetto)
UNIT_WITH_export_folded := script
UNIT_WITH_export_missing := script
UNIT_WITH_export_rates := script
UNIT_WITH_export_violations := script
UNIT_WITH_filter := script
UNIT_WITH_flow := flow_support test/fake/hwt_script.c
UNIT_WITH_hwt_etm4 := etm4_packets
UNIT_WITH_hwt_etm4_guard := etm4_packets
UNIT_WITH_hwt_found := hwt_reading hwt_write
UNIT_WITH_hwt_read_code := hwt_patched hwt_reading hwt_write
UNIT_WITH_hwt_read_images := hwt_patched hwt_reading hwt_write
UNIT_WITH_hwt_read_memory := hwt_reading hwt_write
UNIT_WITH_hwt_read_pt := hwt_reading hwt_write
UNIT_WITH_hwt_read_pt_events := hwt_reading hwt_write
UNIT_WITH_hwt_read_rings := hwt_reading hwt_write
UNIT_WITH_hwt_read_streams := hwt_reading hwt_write
UNIT_WITH_hwt_symbols := hwt_reading hwt_write
UNIT_WITH_ktread := ktread_support ktread_writer ktread_sample
UNIT_WITH_ktread_follow := $(UNIT_WITH_ktread) ktread_guest
UNIT_WITH_ktread_follow_unfinished := $(UNIT_WITH_ktread) ktread_guest
UNIT_WITH_ktread_image := ktread_support ktread_writer ktread_sample test/fuzz/ktread_exercise.c
UNIT_WITH_ktread_proc := ktread_support ktread_proc_support test/golden/proc/put.c
UNIT_WITH_ktread_proc_damage := ktread_support ktread_proc_support test/golden/proc/put.c
UNIT_WITH_ktread_proc_input := ktread_support ktread_proc_support test/golden/proc/put.c
UNIT_WITH_ktread_proc_sessions := ktread_support ktread_proc_support test/golden/proc/put.c
UNIT_WITH_ktread_seek := $(UNIT_WITH_ktread) ktread_stream
UNIT_WITH_ktread_stream := $(UNIT_WITH_ktread) ktread_stream
UNIT_WITH_ktread_stream_damage := $(UNIT_WITH_ktread) ktread_stream
UNIT_WITH_live := script
UNIT_WITH_live_guest := host/live/guest.c
UNIT_WITH_page := ktread_support ktread_writer sched_writer page_decode
UNIT_WITH_plugin := plugin_support $(filter-out %/api.c %/plugin.c,$(wildcard host/plugin/*.c))
UNIT_WITH_plugin_api := host/plugin/api.c
UNIT_WITH_schedule := host/schedule/noise.c
UNIT_WITH_schedule_match := host/schedule/memory.c
UNIT_WITH_schedule_frames := host/schedule/frames.c
UNIT_WITH_schedule_ram := host/schedule/memory.c
UNIT_WITH_schedule_ends := host/schedule/ends.c host/plugin/a64.c host/plugin/x86.c
UNIT_WITH_serve_answers := ktread_support ktread_writer ktread_sample
UNIT_WITH_why := why_support why_property script elf_file
UNIT_WITH_why_cpus := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_ended_owner := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_ends := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_eoi := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_interrupts := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_join := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_kept_cpu := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_late := $(UNIT_WITH_why) why_overdue
UNIT_WITH_why_lookalikes := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_loops := $(UNIT_WITH_why) why_threads
UNIT_WITH_why_lost_ends := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_masked := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_many := ktread_support ktread_writer ktread_sample
UNIT_WITH_why_outer := $(UNIT_WITH_why) why_overdue
UNIT_WITH_why_overdue := $(UNIT_WITH_why) why_overdue
UNIT_WITH_why_owners := $(UNIT_WITH_why)
UNIT_WITH_why_partner := $(UNIT_WITH_why) why_overdue
UNIT_WITH_why_stale_rows := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_storms := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_threads := $(UNIT_WITH_why) why_threads
UNIT_WITH_why_timers := $(UNIT_WITH_why) why_cpus
UNIT_WITH_why_wakeups := $(UNIT_WITH_why) why_threads

# These tests look up addresses of their functions in their ELF files. The files are position-independent, so
# they may be loaded at any address.
UNIT_CFLAGS_analyze_symbols := -Ihost -fpie -pie
UNIT_CFLAGS_hwt_found := -Ihost -fpie -pie
UNIT_LDLIBS_analyze_symbols := -Wl,--build-id=sha1
UNIT_LDLIBS_capture_inspection := -Wl,--wrap=symbols_open
UNIT_LDLIBS_capture_stack := -Wl,--build-id=sha1
UNIT_LDLIBS_base_index := -Wl,--wrap=calloc
UNIT_LDLIBS_live_guest := -Wl,--wrap=base_file_ended
UNIT_LDLIBS_record_tracer := -Wl,--wrap=calloc -Wl,--wrap=realloc
UNIT_LDLIBS_why_many := -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=free -Wl,--wrap=keyed_find

# In these tests, threads act as CPUs that record while the test reads. They need an x86_64 host.
UNIT_TESTS_X86_64 += ktread_follow_storm
UNIT_SRCS_ktread_follow_storm := test/unit/ktread/follow_storm.c $(KTRACE_CORE_SOURCES)
UNIT_CFLAGS_ktread_follow_storm := -I. -Itest/fake/threads -Ikernel/arch/x86_64 -pthread

# $(call host_test,<room>,<name>): adds the test <room>_<name>.
define host_test
UNIT_TESTS += $(1)_$(2)
UNIT_SRCS_$(1)_$(2) := test/unit/$(1)/$(2).c \
	$(foreach with,$(or $(UNIT_WITH_$(1)_$(2)),$(UNIT_WITH_$(1))),$(if $(findstring /,$(with)),$(with),test/unit/support/$(with).c))
UNIT_CFLAGS_$(1)_$(2) ?= -Ihost
endef
$(foreach room,$(UNIT_ROOMS),$(foreach name,$(basename $(notdir $(wildcard test/unit/$(room)/*.c))), \
	$(if $(UNIT_SRCS_$(room)_$(name)),,$(eval $(call host_test,$(room),$(name))))))
