/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Perfetto output of scripted traces, decoded field by field with a reader of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/export.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"
#include "perfetto/text.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value)) /* a field's value */

extern const struct export_format export_perfetto;

enum {
	SWITCH = 1,
	BLOCK,
	WAKE,
	EXIT,
	ENTER,
	RETURN,
	IRQ_ENTER,
	IRQ_EXIT,
	ACQUIRE,
	RELEASE,
	NOTE,
	FREE,
	CREATE,
	CONTEND,
	ACQUIRE_BARE,
	TX,
	RX,
	SEND,
	DELIVER,
	FORK,
	EXEC,
	OPEN,
	READ,
	END
};

#define KERNEL "4194304" /* the process of all threads */

static char *output;

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u64 ran ns");
	script_type(BLOCK, "sched", "block", "pointer queue");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(EXIT, "sched", "exit", "");
	script_type(ENTER, "syscall", "enter", "u16 nr,u64 arg");
	script_type(RETURN, "syscall", "exit", "u16 nr,i64 result");
	script_type(IRQ_ENTER, "irq", "enter", "u8 irq");
	script_type(IRQ_EXIT, "irq", "exit", "u8 irq");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,string name");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(NOTE, "mine", "note", "u8 a,i32 b,pointer c,string d,bool e,char f,i64 g");
	script_type(FREE, "counter", "memory", "u64 free bytes,i64 debt");
	script_type(CREATE, "sched", "create", "u32 thread,string name,u32 process");
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(output);
	output = NULL;
	script_end();
	return 0;
}

static unsigned char *read_back(int fd, size_t *length)
{
	off_t size = lseek(fd, 0, SEEK_END);
	unsigned char *bytes = malloc((size_t)size + 1);

	assert_int_equal(pread(fd, bytes, (size_t)size, 0), size);
	*length = (size_t)size;
	return bytes;
}

/* Exports the script; `output` is then its text, less what every packet has. */
static struct export_report export(void)
{
	static const char common[] = "trusted_packet_sequence_id=1 sequence_flags=2 ";
	struct export_report report = { 0 };
	int fd = memfd_create("perfetto", 0);
	unsigned char *bytes;
	size_t length, size;
	FILE *text;
	char *at;

	assert_true(fd >= 0);
	assert_int_equal(export_perfetto.write(script_trace(), fd, &report), 0);
	bytes = read_back(fd, &length);
	text = open_memstream(&output, &size);
	assert_int_equal(perfetto_text(text, bytes, length), 0);
	fclose(text);
	for (at = output; (at = strstr(at, common));)
		memmove(at, at + strlen(common), strlen(at + strlen(common)) + 1);
	free(bytes);
	close(fd);
	return report;
}

/* The packet's line must be there once. */
static void expect(const char *packet)
{
	char line[1024];
	const char *at;

	snprintf(line, sizeof(line), "packet{%s}\n", packet);
	at = strstr(output, line);
	if (!at)
		print_error("missing: %sin:\n%s", line, output);
	assert_non_null(at);
	assert_null(strstr(at + 1, line));
}

static void expect_none(const char *text)
{
	if (strstr(output, text))
		print_error("unexpected: %s in:\n%s", text, output);
	assert_null(strstr(output, text));
}

#define STATE(time, cpu, tid, state) \
	"timestamp=" time " generic_kernel_task_state_event{cpu=" cpu " tid=" tid " state=" state "}"

static void scheduling(void **state)
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
	assert_int_equal(export().events, 8);

	expect("timestamp=1000 generic_kernel_process_tree{processes{pid=" KERNEL
	       " ppid=0 cmdline=\"kernel\"} "
	       "threads{tid=7 pid=" KERNEL " comm=\"worker\" is_main_thread=0 is_idle=0}}");
	expect("timestamp=1100 generic_kernel_process_tree{threads{tid=3 pid=" KERNEL
	       " comm=\"idle/0\" is_main_thread=0 is_idle=1}}");
	expect(STATE("1000", "0", "7", "3"));
	expect(STATE("1100", "0", "7", "4"));
	expect(STATE("1100", "0", "3", "3"));
	/* The waker is known: an arrow, and no runnable state. */
	expect("timestamp=1200 ftrace_events{cpu=1 event{timestamp=1200 pid=5 sched_waking{pid=7 "
	       "success=1}}}");
	expect_none(STATE("1200", "0", "7", "2"));
	/* An idle thread that does not run is not runnable; a preempted one is. */
	expect(STATE("1300", "0", "3", "4"));
	expect(STATE("1300", "0", "7", "3"));
	expect(STATE("1400", "0", "7", "2"));
	expect(STATE("1600", "0", "8", "8"));
}

static void wakes_from_interrupts(void **state)
{
	(void)state;
	script_event(BLOCK, 1000, 0, 7, V(1));
	script_event(SWITCH, 1100, 0, 7, V(7), V(0), V(0));
	script_event(WAKE, 1200, 0, 0, V(7))->context = KTRX_CONTEXT_INTERRUPT;
	export();
	expect("timestamp=1200 ftrace_events{cpu=0 event{timestamp=1200 pid=0 sched_waking{pid=7 "
	       "success=1}}}");
	assert_non_null(strstr(output, "track_event{type=3 track_uuid=24 category_iids=4 name_iid=4 "
				       "debug_annotations{name_iid=49 uint_value=7}}"));
}

/* Names of tracks and interned strings come first, so what is looked for here is the end of the line. */
static void expect_end(const char *time, const char *tail)
{
	char start[64], wanted[512];
	const char *at = output, *newline, *found = NULL;

	snprintf(start, sizeof(start), "packet{timestamp=%s ", time);
	snprintf(wanted, sizeof(wanted), "%s}", tail);
	while (!found && (at = strstr(at, start))) {
		newline = strchr(at, '\n');
		if ((size_t)(newline - at) > strlen(wanted) &&
		    strncmp(newline - strlen(wanted), wanted, strlen(wanted)) == 0)
			found = at;
		at = newline;
	}
	if (!found)
		print_error("no packet at %s ends in %s:\n%s", time, wanted, output);
	assert_non_null(found);
}

static void calls_survive_migration(void **state)
{
	(void)state;
	script_event(ENTER, 1000, 0, 7, V(1), V(99));
	script_event(SWITCH, 1100, 0, 7, V(7), V(8), V(0));
	script_event(SWITCH, 1200, 1, 9, V(9), V(7), V(0));
	script_event(RETURN, 1300, 1, 7, V(1), V(-2));
	assert_int_equal(export().unpaired, 0);

	expect("timestamp=1000 track_descriptor{uuid=16 thread{pid=" KERNEL " tid=7}}");
	expect_end("1000",
		   "interned_data{event_categories{iid=6 name=\"syscall\"} event_names{iid=6 name=\"enter\"} "
		   "debug_annotation_names{iid=81 name=\"nr\"} debug_annotation_names{iid=82 name=\"arg\"} "
		   "event_names{iid=4098 name=\"write\"}} "
		   "track_event{type=1 track_uuid=16 category_iids=6 name_iid=4098 "
		   "debug_annotations{name_iid=81 uint_value=1} debug_annotations{name_iid=82 uint_value=99} "
		   "debug_annotations{name=\"types\" string_value=\"size, fd, ptr, size\"}}");
	expect_end("1300", "track_event{type=2 track_uuid=16 debug_annotations{name_iid=97 uint_value=1} "
			   "debug_annotations{name_iid=98 int_value=-2}}");
}

/* A name told once serves the lock from then on. */
static void locks_keep_their_names(void **state)
{
	(void)state;
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	script_type(ACQUIRE_BARE, "lock", "acquire", "pointer lock");
	script_event(ACQUIRE_BARE, 1000, 0, 7, V(0x100));
	script_event(RELEASE, 1010, 0, 7, V(0x100));
	script_event(CONTEND, 1020, 0, 7, V(0x100), "queue");
	script_event(ACQUIRE_BARE, 1030, 0, 7, V(0x100));
	export();
	assert_non_null(strstr(output, "name=\"0x100\""));
	assert_non_null(strstr(output, "name=\"wait queue\""));
	assert_non_null(strstr(output, "name=\"queue\""));
}

static void interrupts_and_locks(void **state)
{
	(void)state;
	script_event(ACQUIRE, 1000, 2, 7, V(0x100), "a");
	script_event(ACQUIRE, 1010, 2, 7, V(0x200), "b");
	script_event(IRQ_ENTER, 1020, 2, 7, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(IRQ_EXIT, 1030, 2, 7, V(5))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(RELEASE, 1040, 2, 7, V(0x100));
	script_event(RELEASE, 1050, 2, 7, V(0x200));
	assert_int_equal(export().unpaired, 0);

	expect("timestamp=1000 track_descriptor{uuid=17 parent_uuid=16 name=\"locks\"}");
	expect("timestamp=1010 track_descriptor{uuid=18 parent_uuid=16 name=\"locks\"}");
	expect("timestamp=1020 track_descriptor{uuid=1 name=\"CPUs\"}");
	expect("timestamp=1020 track_descriptor{uuid=24 parent_uuid=1 name=\"CPU 2\"}");
	expect_end("1010", "track_event{type=1 track_uuid=18 category_iids=10 name=\"b\" "
			   "debug_annotations{name_iid=145 pointer_value=512} "
			   "debug_annotations{name_iid=146 string_value=\"b\"}}");
	expect_end("1020", "track_event{type=1 track_uuid=24 category_iids=8 name_iid=5126 "
			   "debug_annotations{name_iid=113 uint_value=5}}");
	expect_end("1030", "track_event{type=2 track_uuid=24 debug_annotations{name_iid=129 uint_value=5}}");
	expect_end("1040",
		   "track_event{type=2 track_uuid=17 debug_annotations{name_iid=161 pointer_value=256}}");
	expect_end("1050",
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
	export();
	expect_end(
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
	export();
	expect_end("1100", "pointer_value=64} debug_annotations{name=\"path\" string_value=\"/etc/motd\"}}");
	expect_end("1200", "pointer_value=65}}");
}

static void counters(void **state)
{
	(void)state;
	script_event(FREE, 1000, 0, 7, V(4096), V(-1));
	export();
	expect("timestamp=1000 track_descriptor{uuid=16 name=\"memory.free\" counter{unit=3}}");
	expect("timestamp=1000 track_descriptor{uuid=17 name=\"memory.debt\" counter{unit=2}}");
	expect("timestamp=1000 track_event{type=4 track_uuid=16 counter_value=4096}");
	expect("timestamp=1000 track_event{type=4 track_uuid=17 counter_value=-1}");
}

/* A call open before lost slots is not paired with a return after them. */
static void gaps(void **state)
{
	(void)state;
	script_event(ENTER, 1000, 0, 7, V(1), V(0));
	script_event(NOTE, 1100, 0, 7, V(0), V(0), V(0), "", V(0), V('x'), V(0));
	script_event(RETURN, 1900, 0, 7, V(1), V(0))->lost = 12;
	assert_int_equal(export().unpaired, 2);

	/* The thread is taken off its CPU and put on again: what it did meanwhile is not known. */
	expect(STATE("1101", "0", "0", "3"));
	expect(STATE("1900", "0", "7", "3"));
	expect("timestamp=1900 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
	       "ftrace_events{cpu=0 lost_events=1}");
	expect("timestamp=1100 track_event{type=1 track_uuid=24 categories=\"ktrace\" name=\"lost\" "
	       "debug_annotations{name=\"slots\" uint_value=12}}");
	expect("timestamp=1899 track_event{type=2 track_uuid=24}");
	expect("timestamp=1100 track_event{type=2 track_uuid=16}");
	/* What was interned is void; the return stands for itself. */
	expect_end(
		"1900",
		"interned_data{event_categories{iid=7 name=\"syscall\"} event_names{iid=7 name=\"exit\"} "
		"debug_annotation_names{iid=97 name=\"nr\"} debug_annotation_names{iid=98 name=\"result\"}} "
		"track_event{type=3 track_uuid=16 category_iids=7 name_iid=7 "
		"debug_annotations{name_iid=97 uint_value=1} debug_annotations{name_iid=98 int_value=0}}");
}

static void overwritten_heads_are_no_fault(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_event(ENTER, 1000, 0, 7, V(1), V(0));
	script_event(ENTER, 1100, 1, 8, V(1), V(0));
	export();
	expect_none("lost_events");
	expect("timestamp=1099 track_event{type=3 track_uuid=24 categories=\"ktrace\" name=\"overwritten\" "
	       "debug_annotations{name=\"slots\" uint_value=77}}");
}

/* What the boot ring kept of a CPU, then nothing until where its own ring begins. */
static void boot_ring_is_cut_off(void **state)
{
	(void)state;
	script_ring(1)->overwritten = 77;
	script_ring(0)->cpu = KTRX_NO_CPU;
	script_event(ENTER, 1000, 1, 7, V(1), V(0))->ring = 0;
	script_event(RETURN, 1900, 1, 7, V(1), V(0));
	assert_int_equal(export().unpaired, 2);
	expect_none("lost_events");
	expect("timestamp=1000 track_event{type=1 track_uuid=24 categories=\"ktrace\" name=\"overwritten\" "
	       "debug_annotations{name=\"slots\" uint_value=77}}");
	expect("timestamp=1899 track_event{type=2 track_uuid=24}");
	expect(STATE("1001", "1", "0", "3"));
	expect(STATE("1900", "1", "7", "3"));
}

static void ends_of_rings_are_lost(void **state)
{
	(void)state;
	script_ring(1)->dropped = 5;
	script_ring(2)->overwritten = 3;
	script_ring(2)->invalid = 4;
	script_event(ENTER, 1000, 1, 7, V(1), V(0));
	script_event(ENTER, 1100, 2, 8, V(1), V(0))->lost = 3;
	script_event(ENTER, 1200, 0, 9, V(1), V(0));
	export();
	expect("timestamp=1202 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
	       "ftrace_events{cpu=1 lost_events=1}");
	expect("timestamp=1202 trusted_packet_sequence_id=1 sequence_flags=3 previous_packet_dropped=1 "
	       "ftrace_events{cpu=2 lost_events=1}");
	expect(STATE("1001", "1", "0", "3"));
	expect(STATE("1101", "2", "0", "3"));
	assert_non_null(strstr(output, "name=\"lost\" debug_annotations{name=\"records\" uint_value=5}"));
	assert_non_null(strstr(output, "name=\"lost\" debug_annotations{name=\"slots\" uint_value=4}"));
	expect_none("cpu=0 lost_events");
}

static void unknown_cpus_have_a_track(void **state)
{
	(void)state;
	script_event(SWITCH, 1000, 0, 7, V(7), V(8), V(0))->cpu = KTRX_NO_CPU;
	script_event(FREE, 1050, 0, 7, V(0), V(0))->cpu = KTRX_NO_CPU;
	script_event(ENTER, 1100, 0, 7, V(1), V(0))->cpu = KTRX_NO_CPU;
	assert_int_equal(export().events, 3);
	expect_none("generic_kernel_task_state_event");
	assert_non_null(strstr(output, "parent_uuid=1 name=\"CPU unknown\""));
	assert_non_null(strstr(output, "name=\"left out of scheduling\" debug_annotations{name=\"events\" "
				       "uint_value=3}"));
}

static void clocks_and_system(void **state)
{
	(void)state;
	script_info()->frequency = 10000000;
	script_info()->wall_stamp = 20000000;
	script_info()->wall_ns = 1700000000000000000;
	script_info()->machine = 243;
	script_info()->kernel = "demo 1.2";
	script_event(ENTER, 30000001, 0, 7, V(1), V(0));
	script_event(RETURN, 30000001, 0, 7, V(1), V(0));
	export();
	assert_true(
		strncmp(output,
			"packet{timestamp=2000000000 trusted_packet_sequence_id=1 sequence_flags=3 "
			"first_packet_on_sequence=1 clock_snapshot{clocks{clock_id=6 timestamp=2000000000} "
			"clocks{clock_id=1 timestamp=1700000000000000000} primary_trace_clock=6}}\n",
			200) == 0);
	expect("timestamp=3000000100 system_info{utsname{sysname=\"demo\" version=\"demo 1.2\" "
	       "machine=\"riscv64\"} "
	       "num_cpus=4}");
	/* One stamp, yet in order. */
	expect_end("3000000100", "debug_annotations{name_iid=82 uint_value=0} "
				 "debug_annotations{name=\"types\" string_value=\"size, fd, ptr, size\"}}");
	expect_end("3000000102", "debug_annotations{name_iid=98 int_value=0}}");
}

static void created_threads_have_names(void **state)
{
	(void)state;
	script_event(CREATE, 1000, 0, 7, V(9), "init", V(1));
	script_event(WAKE, 1010, 0, 7, V(9));
	export();
	expect("timestamp=1000 generic_kernel_process_tree{threads{tid=9 pid=1 comm=\"init\" "
	       "is_main_thread=0 "
	       "is_idle=0}}");
}

/* The flow that an event at that time begins or ends: what comes before its fields. */
static void expect_flow(const char *time, const char *flow)
{
	char start[64], wanted[64];
	const char *at, *found;

	snprintf(start, sizeof(start), "packet{timestamp=%s track_event", time);
	snprintf(wanted, sizeof(wanted), " %s ", flow);
	at = strstr(output, start);
	if (!at) {
		snprintf(start, sizeof(start), "packet{timestamp=%s interned_data", time);
		at = strstr(output, start);
	}
	assert_non_null(at);
	found = strstr(at, wanted);
	if (!found || found > strchr(at, '\n'))
		print_error("no %s at %s:\n%s", flow, time, output);
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
	script_event(ENTER, 1020, 0, 7, V(1), V(0)); /* not of the signal's flow */
	script_event(RX, 1030, 1, 8, V(60), V(2));   /* sent before the trace */
	script_event(RX, 1040, 1, 8, V(60), V(1));
	script_event(DELIVER, 1050, 1, 8, V(11), V(0)); /* another one */
	script_event(DELIVER, 1060, 1, 9, V(10), V(0)); /* to another one */
	script_event(DELIVER, 1070, 1, 8, V(10), V(0));
	script_event(RX, 1080, 1, 8, V(60), V(1)); /* it has come already */
	export();
	expect_flow("1000", "flow_ids=0x1");
	expect_flow("1010", "flow_ids=0x2");
	expect_flow("1040", "terminating_flow_ids=0x1");
	expect_flow("1070", "terminating_flow_ids=0x2");
	for (const char *time = "1020\0001030\0001050\0001060\0001080\0"; *time; time += 5) {
		char start[64];
		const char *at = output, *flow;

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
	export();
	expect_flow("1000", "flow_ids=0x1");
	expect_none("terminating_flow_ids");
}

static void processes_have_parents_and_programs(void **state)
{
	(void)state;
	script_type(FORK, "process", "fork", "u32 process,u32 child");
	script_type(EXEC, "process", "exec", "string path");
	script_type(END, "process", "exit", "u32 process,i32 status");
	/* Threads 7 and 3 are older than the trace. */
	script_event(NOTE, 990, 0, 3, V(0), V(0), V(0), "", V(0), V(0), V(0));
	script_event(CREATE, 1000, 0, 7, V(9), "sh", V(9));
	script_event(FORK, 1010, 0, 7, V(7), V(9));
	script_event(EXEC, 1020, 0, 9, "/bin/true");
	script_event(EXEC, 1030, 0, 9, "/bin/false");
	script_event(END, 1040, 0, 9, V(9), V(1));
	script_thread(7, "sh");
	export();
	expect("timestamp=990 generic_kernel_process_tree{processes{pid=" KERNEL
	       " ppid=0 cmdline=\"kernel\"} threads{tid=3 pid=" KERNEL " is_main_thread=0 is_idle=0}}");
	expect("timestamp=1000 generic_kernel_process_tree{processes{pid=9 ppid=7 cmdline=\"/bin/true\"} "
	       "threads{tid=9 pid=9 comm=\"sh\" is_main_thread=1 is_idle=0}}");
	expect("timestamp=1000 generic_kernel_process_tree{processes{pid=7 ppid=0 cmdline=\"sh\"} "
	       "threads{tid=7 pid=7 comm=\"sh\" is_main_thread=1 is_idle=0}}");
	expect("timestamp=1030 generic_kernel_process_tree{processes{pid=9 ppid=7 cmdline=\"/bin/false\"}}");
	expect("timestamp=1030 generic_kernel_process_tree{threads{tid=9 pid=9 comm=\"false\" "
	       "is_main_thread=1 is_idle=0}}");
}

static void failed_writes_are_told(void **state)
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

/* Every field as long as it may be: still one whole packet. */
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
	export();
	assert_non_null(strstr(output, "\\x01\\x01"));
	expect_end("1000", "debug_annotations{name_iid=656 uint_value=1}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scheduling, begin, end),
		cmocka_unit_test_setup_teardown(wakes_from_interrupts, begin, end),
		cmocka_unit_test_setup_teardown(calls_survive_migration, begin, end),
		cmocka_unit_test_setup_teardown(interrupts_and_locks, begin, end),
		cmocka_unit_test_setup_teardown(locks_keep_their_names, begin, end),
		cmocka_unit_test_setup_teardown(other_events_are_instants, begin, end),
		cmocka_unit_test_setup_teardown(files_have_paths, begin, end),
		cmocka_unit_test_setup_teardown(counters, begin, end),
		cmocka_unit_test_setup_teardown(gaps, begin, end),
		cmocka_unit_test_setup_teardown(overwritten_heads_are_no_fault, begin, end),
		cmocka_unit_test_setup_teardown(boot_ring_is_cut_off, begin, end),
		cmocka_unit_test_setup_teardown(ends_of_rings_are_lost, begin, end),
		cmocka_unit_test_setup_teardown(unknown_cpus_have_a_track, begin, end),
		cmocka_unit_test_setup_teardown(clocks_and_system, begin, end),
		cmocka_unit_test_setup_teardown(created_threads_have_names, begin, end),
		cmocka_unit_test_setup_teardown(packets_and_signals_are_flows, begin, end),
		cmocka_unit_test_setup_teardown(flows_end_at_gaps, begin, end),
		cmocka_unit_test_setup_teardown(processes_have_parents_and_programs, begin, end),
		cmocka_unit_test_setup_teardown(failed_writes_are_told, begin, end),
		cmocka_unit_test_setup_teardown(longest_packets_fit, begin, end),
	};

	return cmocka_run_group_tests_name("perfetto_export", tests, NULL, NULL);
}
