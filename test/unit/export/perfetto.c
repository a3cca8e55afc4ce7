/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests Perfetto output of scripted traces: threads, calls, locks, files, flows and processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ktrx/slot.h"
#include "unit/support/perfetto_script.h"

static void scheduling_is_exported(void **state)
{
	(void)state;
	script_thread(3, "idle/0");
	script_thread(7, "worker");
	script_event(BLOCK, 1000, 0, 7, V(0xabc));
	script_event(SWITCH, 1100, 0, 7, V(7), V(3), V(0));
	script_event(SWITCH, 1150, 1, 4, V(4), V(5), V(0));
	script_event(WAKE, 1200, 1, 5, V(7));
	script_event(SWITCH, 1300, 0, 3, V(3), V(7), V(0));
	script_event(SWITCH, 1400, 0, 7, V(7), V(8), V(0));
	script_event(EXIT, 1500, 0, 8);
	script_event(SWITCH, 1600, 0, 8, V(8), V(3), V(0));
	assert_int_equal(perfetto_export().events, 8);

	perfetto_expect("timestamp=1000 generic_kernel_process_tree{processes{pid=" KERNEL
			" ppid=0 cmdline=\"kernel\"} "
			"threads{tid=7 pid=" KERNEL " comm=\"worker\" is_main_thread=0 is_idle=0}}");
	perfetto_expect("timestamp=1100 generic_kernel_process_tree{threads{tid=3 pid=" KERNEL
			" comm=\"idle/0\" is_main_thread=0 is_idle=1}}");
	perfetto_expect(STATE("1000", "0", "7", "3"));
	perfetto_expect(STATE("1100", "0", "7", "4"));
	perfetto_expect(STATE("1100", "0", "3", "3"));
	/* If the waker is known, the output has a sched_waking event instead of a runnable state. */
	perfetto_expect("timestamp=1200 ftrace_events{cpu=1 event{timestamp=1200 pid=5 sched_waking{pid=7 "
			"success=1}}}");
	perfetto_expect_none(STATE("1200", "0", "7", "2"));
	/*
	 * An idle thread that does not run is not shown as runnable. A preempted thread is shown as runnable.
	 */
	perfetto_expect(STATE("1300", "0", "3", "4"));
	perfetto_expect(STATE("1300", "0", "7", "3"));
	perfetto_expect(STATE("1400", "0", "7", "2"));
	perfetto_expect(STATE("1600", "0", "8", "8"));
}

static void wakeups_by_interrupts_have_no_waker(void **state)
{
	(void)state;
	script_event(BLOCK, 1000, 0, 7, V(1));
	script_event(SWITCH, 1100, 0, 7, V(7), V(0), V(0));
	script_event(WAKE, 1200, 0, 0, V(7))->context = KTRX_CONTEXT_INTERRUPT;
	perfetto_export();
	perfetto_expect("timestamp=1200 ftrace_events{cpu=0 event{timestamp=1200 pid=0 sched_waking{pid=7 "
			"success=1}}}");
	assert_non_null(strstr(perfetto_output, "track_event{type=3 track_uuid=24 category_iids=4 name_iid=4 "
						"debug_annotations{name_iid=49 uint_value=7}}"));
}

static void calls_survive_migration(void **state)
{
	(void)state;
	script_event(ENTER, 1000, 0, 7, V(1), V(99));
	script_event(SWITCH, 1100, 0, 7, V(7), V(8), V(0));
	script_event(SWITCH, 1200, 1, 9, V(9), V(7), V(0));
	script_event(RETURN, 1300, 1, 7, V(1), V(-2));
	assert_int_equal(perfetto_export().unpaired, 0);

	perfetto_expect("timestamp=1000 track_descriptor{uuid=16 thread{pid=" KERNEL " tid=7}}");
	perfetto_expect_end(
		"1000",
		"interned_data{event_categories{iid=6 name=\"syscall\"} event_names{iid=6 name=\"enter\"} "
		"debug_annotation_names{iid=81 name=\"nr\"} debug_annotation_names{iid=82 name=\"arg\"} "
		"event_names{iid=4098 name=\"write\"}} "
		"track_event{type=1 track_uuid=16 category_iids=6 name_iid=4098 "
		"debug_annotations{name_iid=81 uint_value=1} debug_annotations{name_iid=82 uint_value=99} "
		"debug_annotations{name=\"types\" string_value=\"size, fd, ptr, size\"}}");
	perfetto_expect_end("1300",
			    "track_event{type=2 track_uuid=16 debug_annotations{name_iid=97 uint_value=1} "
			    "debug_annotations{name_iid=98 int_value=-2}}");
}

/* A lock's name is recorded once, and used for the lock from then on. */
static void locks_keep_their_names(void **state)
{
	(void)state;
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	script_type(ACQUIRE_BARE, "lock", "acquire", "pointer lock");
	script_event(ACQUIRE_BARE, 1000, 0, 7, V(0x100));
	script_event(RELEASE, 1010, 0, 7, V(0x100));
	script_event(CONTEND, 1020, 0, 7, V(0x100), "queue");
	script_event(ACQUIRE_BARE, 1030, 0, 7, V(0x100));
	perfetto_export();
	assert_non_null(strstr(perfetto_output, "name=\"0x100\""));
	assert_non_null(strstr(perfetto_output, "name=\"wait queue\""));
	assert_non_null(strstr(perfetto_output, "name=\"queue\""));
}

static void interrupts_and_locks_are_spans(void **state)
{
	(void)state;
	script_event(ACQUIRE, 1000, 2, 7, V(0x100), "a");
	script_event(ACQUIRE, 1010, 2, 7, V(0x200), "b");
	script_event(IRQ_ENTER, 1020, 2, 7, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(IRQ_EXIT, 1030, 2, 7, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(RELEASE, 1040, 2, 7, V(0x100));
	script_event(RELEASE, 1050, 2, 7, V(0x200));
	assert_int_equal(perfetto_export().unpaired, 0);

	perfetto_expect("timestamp=1000 track_descriptor{uuid=17 parent_uuid=16 name=\"locks\"}");
	perfetto_expect("timestamp=1010 track_descriptor{uuid=18 parent_uuid=16 name=\"locks\"}");
	perfetto_expect("timestamp=1020 track_descriptor{uuid=1 name=\"CPUs\"}");
	perfetto_expect("timestamp=1020 track_descriptor{uuid=24 parent_uuid=1 name=\"CPU 2\"}");
	perfetto_expect_end("1010", "track_event{type=1 track_uuid=18 category_iids=10 name=\"b\" "
				    "debug_annotations{name_iid=145 pointer_value=512} "
				    "debug_annotations{name_iid=146 string_value=\"b\"}}");
	perfetto_expect_end("1020", "track_event{type=1 track_uuid=24 category_iids=8 name_iid=5126 "
				    "debug_annotations{name_iid=113 uint_value=5}}");
	perfetto_expect_end("1030",
			    "track_event{type=2 track_uuid=24 debug_annotations{name_iid=129 uint_value=5}}");
	perfetto_expect_end(
		"1040",
		"track_event{type=2 track_uuid=17 debug_annotations{name_iid=161 pointer_value=256}}");
	perfetto_expect_end(
		"1050",
		"track_event{type=2 track_uuid=18 debug_annotations{name_iid=161 pointer_value=512}}");
}

static void other_events_are_instants(void **state)
{
	struct ktread_event *event;

	(void)state;
	event = script_event(NOTE, 1000, 0, 7, V(200), V(-5), V(0xffff800000000000),
			     "tab\there, \xff, caf\xc3\xa9", V(1), V('x'), V(INT64_MIN));
	event->callers = 1;
	event->caller[0] = 0x1234;
	perfetto_export();
	perfetto_expect_end(
		"1000",
		"track_event{type=3 track_uuid=16 category_iids=12 name_iid=12 "
		"debug_annotations{name_iid=177 uint_value=200} debug_annotations{name_iid=178 int_value=-5} "
		"debug_annotations{name_iid=179 pointer_value=18446603336221196288} "
		"debug_annotations{name_iid=180 string_value=\"tab\\x09here, \\xff, caf\xc3\xa9\"} "
		"debug_annotations{name_iid=181 bool_value=1} debug_annotations{name_iid=182 "
		"string_value=\"x\"} "
		"debug_annotations{name_iid=183 int_value=-9223372036854775808} "
		"debug_annotations{name=\"caller\" pointer_value=4660}}");
}

static void files_have_paths(void **state)
{
	(void)state;
	script_type(OPEN, "vfs", "open", "string path,pointer file");
	script_type(READ, "vfs", "read", "pointer file");
	script_event(OPEN, 1000, 0, 7, "/etc/motd", V(64));
	script_event(READ, 1100, 1, 7, V(64));
	script_event(READ, 1200, 1, 7, V(65));
	perfetto_export();
	perfetto_expect_end("1100",
			    "pointer_value=64} debug_annotations{name=\"path\" string_value=\"/etc/motd\"}}");
	perfetto_expect_end("1200", "pointer_value=65}}");
}

static void counters_are_exported(void **state)
{
	(void)state;
	script_event(FREE, 1000, 0, 7, V(4096), V(-1));
	perfetto_export();
	perfetto_expect("timestamp=1000 track_descriptor{uuid=16 name=\"memory.free\" counter{unit=3}}");
	perfetto_expect("timestamp=1000 track_descriptor{uuid=17 name=\"memory.debt\" counter{unit=2}}");
	perfetto_expect("timestamp=1000 track_event{type=4 track_uuid=16 counter_value=4096}");
	perfetto_expect("timestamp=1000 track_event{type=4 track_uuid=17 counter_value=-1}");
}

static void clocks_and_system_are_exported(void **state)
{
	(void)state;
	script_info()->frequency = 10000000;
	script_info()->wall_stamp = 20000000;
	script_info()->wall_ns = 1700000000000000000;
	script_info()->machine = 243;
	script_info()->kernel = "demo 1.2";
	script_event(ENTER, 30000001, 0, 7, V(1), V(0));
	script_event(RETURN, 30000001, 0, 7, V(1), V(0));
	perfetto_export();
	assert_true(
		strncmp(perfetto_output,
			"packet{timestamp=2000000000 trusted_packet_sequence_id=1 sequence_flags=3 "
			"first_packet_on_sequence=1 clock_snapshot{clocks{clock_id=6 timestamp=2000000000} "
			"clocks{clock_id=1 timestamp=1700000000000000000} primary_trace_clock=6}}\n",
			200) == 0);
	perfetto_expect("timestamp=3000000100 system_info{utsname{sysname=\"demo\" version=\"demo 1.2\" "
			"machine=\"riscv64\"} "
			"num_cpus=4}");
	/* Two events with the same timestamp keep their order. */
	perfetto_expect_end("3000000100",
			    "debug_annotations{name_iid=82 uint_value=0} "
			    "debug_annotations{name=\"types\" string_value=\"size, fd, ptr, size\"}}");
	perfetto_expect_end("3000000102", "debug_annotations{name_iid=98 int_value=0}}");
}

static void created_threads_have_names(void **state)
{
	(void)state;
	script_event(CREATE, 1000, 0, 7, V(9), "init", V(1));
	script_event(WAKE, 1010, 0, 7, V(9));
	perfetto_export();
	perfetto_expect("timestamp=1000 generic_kernel_process_tree{threads{tid=9 pid=1 comm=\"init\" "
			"is_main_thread=0 "
			"is_idle=0}}");
}

/*
 * Checks that the event at this time has `flow`, the text that names the flow which the event begins or ends.
 */
static void expect_flow(const char *time, const char *flow)
{
	char start[64], wanted[64];
	const char *at, *found;

	snprintf(start, sizeof(start), "packet{timestamp=%s track_event", time);
	snprintf(wanted, sizeof(wanted), " %s ", flow);
	at = strstr(perfetto_output, start);
	if (!at) {
		snprintf(start, sizeof(start), "packet{timestamp=%s interned_data", time);
		at = strstr(perfetto_output, start);
	}
	assert_non_null(at);
	found = strstr(at, wanted);
	if (!found || found > strchr(at, '\n'))
		print_error("no %s at %s:\n%s", flow, time, perfetto_output);
	assert_true(found && found < strchr(at, '\n'));
}

static void declare_flows(void)
{
	script_type(TX, "net", "tx", "u32 length,u32 packet");
	script_type(RX, "net", "rx", "u32 length,u32 packet");
	script_type(SEND, "signal", "send", "u8 signal,u32 thread");
	script_type(DELIVER, "signal", "deliver", "u8 signal,u64 handler");
}

static void packets_and_signals_are_flows(void **state)
{
	(void)state;
	declare_flows();
	script_event(TX, 1000, 0, 7, V(60), V(1));
	script_event(SEND, 1010, 0, 7, V(10), V(8));
	script_event(ENTER, 1020, 0, 7, V(1), V(0)); /* this call does not belong to the signal's flow */
	script_event(RX, 1030, 1, 8, V(60), V(2));   /* a packet that was sent before the trace began */
	script_event(RX, 1040, 1, 8, V(60), V(1));
	script_event(DELIVER, 1050, 1, 8, V(11), V(0)); /* another signal is delivered */
	script_event(DELIVER, 1060, 1, 9, V(10), V(0)); /* the signal is delivered to another thread */
	script_event(DELIVER, 1070, 1, 8, V(10), V(0));
	script_event(RX, 1080, 1, 8, V(60), V(1)); /* received again: the flow of this packet has ended */
	perfetto_export();
	expect_flow("1000", "flow_ids=0x1");
	expect_flow("1010", "flow_ids=0x2");
	expect_flow("1040", "terminating_flow_ids=0x1");
	expect_flow("1070", "terminating_flow_ids=0x2");
	for (const char *time = "1020\0001030\0001050\0001060\0001080\0"; *time; time += 5) {
		char start[64];
		const char *at = perfetto_output, *flow;

		snprintf(start, sizeof(start), "packet{timestamp=%s ", time);
		while ((at = strstr(at, start))) {
			flow = strstr(at, "flow_ids");
			at = strchr(at, '\n');
			assert_true(!flow || flow > at);
		}
	}
}

static void flows_end_at_gaps(void **state)
{
	(void)state;
	declare_flows();
	script_event(NOTE, 900, 1, 8, V(0), V(0), V(0), "", V(0), V(0), V(0));
	script_event(TX, 1000, 0, 7, V(60), V(1));
	script_event(RX, 1040, 1, 8, V(60), V(1))->lost = 3;
	perfetto_export();
	expect_flow("1000", "flow_ids=0x1");
	perfetto_expect_none("terminating_flow_ids");
}

static void processes_have_parents_and_programs(void **state)
{
	(void)state;
	script_type(FORK, "process", "fork", "u32 process,u32 child");
	script_type(EXEC, "process", "exec", "string path");
	script_type(END, "process", "exit", "u32 process,i32 status");
	/* Threads 7 and 3 were created before the trace began. */
	script_event(NOTE, 990, 0, 3, V(0), V(0), V(0), "", V(0), V(0), V(0));
	script_event(CREATE, 1000, 0, 7, V(9), "sh", V(9));
	script_event(FORK, 1010, 0, 7, V(7), V(9));
	script_event(EXEC, 1020, 0, 9, "/bin/true");
	script_event(EXEC, 1030, 0, 9, "/bin/false");
	script_event(END, 1040, 0, 9, V(9), V(1));
	script_thread(7, "sh");
	perfetto_export();
	perfetto_expect("timestamp=990 generic_kernel_process_tree{processes{pid=" KERNEL
			" ppid=0 cmdline=\"kernel\"} threads{tid=3 pid=" KERNEL
			" is_main_thread=0 is_idle=0}}");
	perfetto_expect(
		"timestamp=1000 generic_kernel_process_tree{processes{pid=9 ppid=7 cmdline=\"/bin/true\"} "
		"threads{tid=9 pid=9 comm=\"sh\" is_main_thread=1 is_idle=0}}");
	perfetto_expect("timestamp=1000 generic_kernel_process_tree{processes{pid=7 ppid=0 cmdline=\"sh\"} "
			"threads{tid=7 pid=7 comm=\"sh\" is_main_thread=1 is_idle=0}}");
	perfetto_expect(
		"timestamp=1030 generic_kernel_process_tree{processes{pid=9 ppid=7 cmdline=\"/bin/false\"}}");
	perfetto_expect("timestamp=1030 generic_kernel_process_tree{threads{tid=9 pid=9 comm=\"false\" "
			"is_main_thread=1 is_idle=0}}");
}

static void failed_writes_are_reported(void **state)
{
	struct export_report report = { 0 };
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	script_event(ENTER, 1000, 0, 7, V(1), V(0));
	assert_true(fd >= 0);
	assert_int_equal(export_perfetto.write(script_trace(), fd, &report), KTREAD_E_SYSTEM);
	assert_int_equal(report.output_error, ENOSPC);
	close(fd);
}

/* Every field has its greatest length. The result is still one complete packet. */
static void longest_packets_fit(void **state)
{
	char name[16][300], fields[8192] = "", *at = fields;

	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		memset(name[i], 1, sizeof(name[i]));
		name[i][299] = '\0';
		at += sprintf(at, "%su8 f%u", i ? "," : "", i);
	}
	script_type(40, name[0], name[1], fields);
	for (unsigned i = 0; i < 16; i++)
		((struct ktread_field *)script_event(40, 1000 + i, 0, 7, V(1), V(1), V(1), V(1), V(1), V(1),
						     V(1), V(1), V(1), V(1), V(1), V(1), V(1), V(1), V(1),
						     V(1))
			 ->type->field)[i]
			.name = name[i];
	perfetto_export();
	assert_non_null(strstr(perfetto_output, "\\x01\\x01"));
	perfetto_expect_end("1000", "debug_annotations{name_iid=656 uint_value=1}}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, perfetto_begin, perfetto_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scheduling_is_exported),
		TEST(wakeups_by_interrupts_have_no_waker),
		TEST(calls_survive_migration),
		TEST(interrupts_and_locks_are_spans),
		TEST(locks_keep_their_names),
		TEST(other_events_are_instants),
		TEST(files_have_paths),
		TEST(counters_are_exported),
		TEST(clocks_and_system_are_exported),
		TEST(created_threads_have_names),
		TEST(packets_and_signals_are_flows),
		TEST(flows_end_at_gaps),
		TEST(processes_have_parents_and_programs),
		TEST(failed_writes_are_reported),
		TEST(longest_packets_fit),
	};

	return cmocka_run_group_tests_name("perfetto_export", tests, NULL, NULL);
}
