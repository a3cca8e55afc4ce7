/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes the traces for the tests of the command line into the given directory:
 *
 *	v1.bin     two dumps of version 1; the second one has every well-known event, an unknown event and an
 *	           empty slot
 *	v2.ktrx    two CPUs, thread names, system calls of threads that move to another CPU during a call,
 *	           interrupts, lost slots, strings
 *	hostile.ktrx  like v2.ktrx, with names and strings that are unsafe for terminals and JSON readers,
 *	           and records that the boot ring refused
 *	typed.ktrx  system calls with types and error names from the trace, files with their paths, a loss
 *	stateless.ktrx  context switches that all have state 0, although threads sleep and are woken;
 *	           events of two CPUs, although QEMU's command line has one CPU
 *	pairs.ktrx  4000 system calls of all durations, by two threads that move between CPUs; nothing is lost
 *	unseen.ktrx  a thread sleeps twice; slots of another CPU are lost during the first sleep; one event
 *	           has no CPU
 *	lowclock.bin  a dump of version 1 without a frequency
 *	apart.bin  a dump of version 1; its two records are as far apart as timestamps of a slow clock can be
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"
#include "unit/support/ktread_writer.h"

#define US 1000u /* ticks per microsecond: the writer's clock runs at 1 GHz */

static void save(const char *directory, const char *name, const struct bytes *bytes)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes->data, 1, bytes->size, file) != bytes->size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/*
 * Adds a version 1 record. The words after word0 are the same in all records. Tests use them to check how
 * signs, widths and each reason of a page fault are printed.
 */
static void put_v1(struct bytes *dump, uint64_t stamp, uint32_t event, uint32_t cpu, uint32_t pid,
		   uint32_t word0)
{
	struct ktrx1_record record = { stamp,
				       KTRX1_HEADER(event, cpu, pid, 0x80),
				       { word0, 0xfffffff2, 0xffffffff, 0x00401000, 0x00000007 } };

	bytes_append(dump, &record, sizeof(record));
}

static void header_v1(struct bytes *dump, uint64_t frequency, uint32_t slots)
{
	struct ktrx1_header header = {
		{ 'K', 'T', 'R', 'X' }, KTRX1_VERSION, frequency, 2, slots, KTRX1_RECORD_SIZE, 0, { 0 }
	};

	bytes_append(dump, &header, sizeof(header));
}

static void make_v1(const char *directory)
{
	static const uint16_t events[] = { 0,  1,   5,	 10,  11,  12,	13,  20,  21,  22, 70,
					   71, 193, 197, 198, 199, 201, 202, 203, 204, 999 };
	struct bytes dump = { NULL, 0 };

	header_v1(&dump, 62500000, 2);
	bytes_grow(&dump, dump.size + 2 * 2 * KTRX1_RECORD_SIZE);
	header_v1(&dump, 62500000, 32);
	/* CPU 0's ring has wrapped: its oldest record is in the middle. */
	for (uint32_t n = 0; n < 32; n++)
		put_v1(&dump, 5000000 + (n + 12) % 32 * 1000, n % 2, 0, 7, 59);
	for (uint32_t n = 0; n < 32; n++) {
		if (n < sizeof(events) / sizeof(events[0]))
			put_v1(&dump, 5000500 + n * 1000, events[n], 1, 2000 + n, 59);
		else
			bytes_grow(&dump, dump.size + KTRX1_RECORD_SIZE);
	}
	save(directory, "v1.bin", &dump);
	bytes_free(&dump);

	header_v1(&dump, 0, 2);
	put_v1(&dump, 100, 5, 0, 1, 1);
	put_v1(&dump, 250, 5, 0, 2, 2);
	put_v1(&dump, 175, 302, 1, 3, 3);
	put_v1(&dump, 2000, 0, 1, 3, 302);
	save(directory, "lowclock.bin", &dump);
	bytes_free(&dump);

	header_v1(&dump, 1000, 1);
	put_v1(&dump, 1, 5, 0, 1, 1);
	put_v1(&dump, UINT64_MAX, 5, 1, 2, 2);
	save(directory, "apart.bin", &dump);
	bytes_free(&dump);
}

enum { ENTER = 1, EXIT, SWITCH, WAKE, IRQ_ENTER, IRQ_EXIT, NOTE };

static void describe(struct writer *writer, const char *note)
{
	static const uint8_t u16_u64[] = { KTRX_TYPE_U16, KTRX_TYPE_POINTER, 0 },
			     u16_i64[] = { KTRX_TYPE_U16, KTRX_TYPE_I64, 0 };
	static const uint8_t u32_u32_u8[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U8, 0 },
			     u32[] = { KTRX_TYPE_U32, 0 };
	static const uint8_t string_bool[] = { KTRX_TYPE_STRING, KTRX_TYPE_BOOL, 0 };
	static const char enter[] = "syscall\0enter\0nr=%u buffer=%p\0a.c\0nr\0\0buffer\0";
	static const char leave[] = "syscall\0exit\0nr=%u result=%lld\0a.c\0nr\0\0result\0";
	static const char change[] = "sched\0switch\0%u -> %u state %u\0a.c\0prev\0\0next\0\0state\0";
	static const char wake[] = "sched\0wake\0thread %u\0a.c\0thread\0";
	static const char irq_enter[] = "irq\0enter\0irq %u\0a.c\0irq\0",
			  irq_exit[] = "irq\0exit\0irq %u\0a.c\0irq\0";
	char text[128];
	size_t length = (size_t)snprintf(text, sizeof(text), "%s%c%s%c%s%cnote.c%ctext%c%cgood%c", "User", 0,
					 note, 0, "%s (good: %d)", 0, 0, 0, 0, 0);

	writer_event(writer, u16_u64, enter, sizeof(enter));
	writer_event(writer, u16_i64, leave, sizeof(leave));
	writer_event(writer, u32_u32_u8, change, sizeof(change));
	writer_event(writer, u32, wake, sizeof(wake));
	writer_event(writer, u32, irq_enter, sizeof(irq_enter));
	writer_event(writer, u32, irq_exit, sizeof(irq_exit));
	writer_event(writer, string_bool, text, length + 1);
}

static void enter(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t thread, uint16_t nr,
		  uint64_t buffer)
{
	unsigned char payload[10];

	memcpy(payload, &nr, 2);
	memcpy(payload + 2, &buffer, 8);
	writer_record(writer, cpu + 1, us * US, ENTER, thread, payload, sizeof(payload));
}

static void leave(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t thread, uint16_t nr,
		  int64_t result)
{
	unsigned char payload[10];

	memcpy(payload, &nr, 2);
	memcpy(payload + 2, &result, 8);
	writer_record(writer, cpu + 1, us * US, EXIT, thread, payload, sizeof(payload));
}

static void change(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t prev, uint32_t next,
		   uint8_t state)
{
	unsigned char payload[9];

	memcpy(payload, &prev, 4);
	memcpy(payload + 4, &next, 4);
	payload[8] = state;
	writer_record(writer, cpu + 1, us * US, SWITCH, prev, payload, sizeof(payload));
}

static void number(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t id, uint32_t thread,
		   uint32_t value)
{
	writer_record(writer, cpu + 1, us * US, id, thread, &value, sizeof(value));
}

static void note(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t thread, const char *text)
{
	unsigned char payload[200];
	uint16_t length = (uint16_t)strlen(text);

	memcpy(payload, &length, 2);
	memcpy(payload + 2, text, length);
	payload[2 + length] = 1;
	writer_record(writer, cpu + 1, us * US, NOTE, thread, payload, length + 3u);
}

static void make_v2(const char *directory, const char *name, const char *thread, const char *event,
		    const char *text, uint64_t refused)
{
	static const char calls[] = "0 read\n1 write\n600 frobnicate\n";
	const uint32_t interrupt = KTRX_CONTEXT_INTERRUPT << KTRX_W1_CONTEXT_SHIFT;
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 5);
	writer.root.wall_stamp = 50 * US;
	writer.ring[0].row.dropped = refused;
	writer.root.wall_ns = UINT64_C(1700000000123000000);
	describe(&writer, event);
	writer_thread(&writer, 0, "idle");
	writer_thread(&writer, 12, thread);
	writer_thread(&writer, 13, "shell");
	bytes_append(&writer.syscalls, calls, sizeof(calls) - 1);

	/* The events need more than the 32 slots of a ring, so the oldest are overwritten. */
	for (uint32_t n = 0; n < 28; n++)
		number(&writer, 0, 100 + n, WAKE, 12, n);
	enter(&writer, 0, 200, 12, 600, 0x7ffc1000);
	number(&writer, 0, 210, IRQ_ENTER, 12 | interrupt, 33);
	number(&writer, 0, 212, WAKE, 12 | interrupt, 13);
	number(&writer, 0, 214, IRQ_EXIT, 12 | interrupt, 33);
	change(&writer, 0, 220, 12, 13, 1);
	enter(&writer, 0, 230, 13, 0, 0);
	leave(&writer, 0, 240, 13, 0, -11);
	change(&writer, 0, 250, 13, 0, 0);
	number(&writer, 0, 260, WAKE, 0, 12);
	note(&writer, 0, 270, 0, text);

	/*
	 * The system call that began on CPU 0 ends on CPU 1. Slots that were never committed, and an unknown
	 * event, follow.
	 */
	change(&writer, 1, 300, 0, 12, 0);
	leave(&writer, 1, 310, 12, 600, 5);
	enter(&writer, 1, 320, 12, 1, 0x1000);
	writer_reserve(&writer, 2, 3);
	leave(&writer, 1, 400, 12, 1, 42);
	number(&writer, 1, 410, 200, 12, 0xabcd);
	writer_reserve(&writer, 2, 2);

	writer_dump(&writer, &dump);
	save(directory, name, &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

enum { CALL = 1, RESULT, LOOKUP, OPEN, READ, CLOSE };

static void describe_calls_and_files(struct writer *writer)
{
	static const uint8_t call[] = { KTRX_TYPE_U16, KTRX_TYPE_U64, KTRX_TYPE_U64, KTRX_TYPE_U64, 0 },
			     result[] = { KTRX_TYPE_U16, KTRX_TYPE_I64, 0 },
			     lookup[] = { KTRX_TYPE_U32, KTRX_TYPE_STRING, 0 },
			     open[] = { KTRX_TYPE_POINTER, KTRX_TYPE_U32, KTRX_TYPE_STRING, 0 },
			     file[] = { KTRX_TYPE_POINTER, KTRX_TYPE_U32, 0 };
	static const char call_text[] = "syscall\0enter\0%u(%#llx, %#llx, %#llx)\0a.c\0nr\0\0a\0\0b\0\0c\0",
			  result_text[] = "syscall\0exit\0%u = %lld\0a.c\0nr\0\0result\0",
			  lookup_text[] = "vfs\0lookup\0inode %u: %s\0a.c\0inode\0\0path\0",
			  open_text[] = "vfs\0open\0%p on inode %u: %s\0a.c\0file\0\0inode\0\0path\0",
			  read_text[] = "vfs\0read\0%p on inode %u\0a.c\0file\0\0inode\0",
			  close_text[] = "vfs\0close\0%p on inode %u\0a.c\0file\0\0inode\0";

	writer_event(writer, call, call_text, sizeof(call_text));
	writer_event(writer, result, result_text, sizeof(result_text));
	writer_event(writer, lookup, lookup_text, sizeof(lookup_text));
	writer_event(writer, open, open_text, sizeof(open_text));
	writer_event(writer, file, read_text, sizeof(read_text));
	writer_event(writer, file, close_text, sizeof(close_text));
}

static void call(struct writer *writer, uint64_t us, uint16_t nr, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t argument[] = { a, b, c };
	unsigned char payload[2 + sizeof(argument)];

	memcpy(payload, &nr, 2);
	memcpy(payload + 2, argument, sizeof(argument));
	writer_record(writer, 1, us * US, CALL, 7, payload, sizeof(payload));
}

/* Adds an event about a file. If `path` is NULL, the event has no path. */
static void file(struct writer *writer, uint32_t cpu, uint64_t us, uint32_t id, uint64_t address,
		 uint32_t inode, const char *path)
{
	uint16_t length = path ? (uint16_t)strlen(path) : 0;
	unsigned char payload[100];
	uint32_t at = 0;

	if (id != LOOKUP) {
		memcpy(payload, &address, 8);
		at = 8;
	}
	memcpy(payload + at, &inode, 4);
	at += 4;
	if (path) {
		memcpy(payload + at, &length, 2);
		memcpy(payload + at + 2, path, length);
		at += 2u + length;
	}
	writer_record(writer, cpu + 1, us * US, id, 7, payload, at);
}

static void make_typed(const char *directory)
{
	static const char calls[] =
		"1 close int, fd\n"
		"2 open fd, path, flags, mode\n"
		"3 mmap ptr,ptr,size,what\n"
		"4 exit void, int\n"
		"5 seek off, fd, off, int, int\n"
		"6 untyped\n"
		"error 2 ENOENT\nerror 12 E\033[2J\nerror\nerror x\nerror 3\nmore to come\n";
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 6);
	describe_calls_and_files(&writer);
	bytes_append(&writer.syscalls, calls, sizeof(calls) - 1);
	call(&writer, 100, 1, 3, 99, 99);
	leave(&writer, 0, 101, 7, 1, 0);
	call(&writer, 102, 2, 0x1fffeffe00, 0x241, 0644);
	leave(&writer, 0, 103, 7, 2, -2);
	call(&writer, 104, 2, 0, 0, 0);
	leave(&writer, 0, 105, 7, 2, -13);
	call(&writer, 106, 3, 0, 4096, 3);
	leave(&writer, 0, 107, 7, 3, 0x7f0000000000);
	leave(&writer, 0, 108, 7, 3, -12);
	call(&writer, 109, 4, (uint64_t)-1, 0, 0);
	leave(&writer, 0, 110, 7, 4, 0);
	call(&writer, 111, 5, 1, 2, 3); /* system call 5 has four arguments, but the event has only three */
	leave(&writer, 0, 112, 7, 5, -1);
	call(&writer, 113, 6, 1, 2, 3);
	call(&writer, 114, 1500, 1, 2, 3);

	file(&writer, 0, 200, OPEN, 0xffff0100, 5, "/etc/motd");
	file(&writer, 1, 210, READ, 0xffff0100, 5, NULL);
	file(&writer, 1, 220, LOOKUP, 0, 6, "con\033sole");
	file(&writer, 1, 230, READ, 0xffff0200, 6, NULL);
	file(&writer, 1, 240, CLOSE, 0xffff0100, 5, NULL);
	file(&writer, 1, 250, OPEN, 0xffff0300, 7, "/lost");
	writer_reserve(&writer, 1, 2);
	file(&writer, 0, 260, READ, 0xffff0300, 7, NULL);
	file(&writer, 0, 270, OPEN, 0xffff0300, 7, "/found");
	file(&writer, 1, 280, CLOSE, 0xffff0300, 7, NULL);
	writer_dump(&writer, &dump);
	save(directory, "typed.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/*
 * Thread 12 sleeps and is woken; thread 13 is preempted. The kernel passes the same state to the hook in
 * both cases.
 */
static void make_stateless(const char *directory)
{
	static const char command[] = "command: qemu-system-x86_64 -smp 1\n";
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 7);
	describe(&writer, "note");
	writer_thread(&writer, 0, "idle");
	writer_thread(&writer, 12, "worker");
	writer_thread(&writer, 13, "shell");
	bytes_append(&writer.note, command, sizeof(command) - 1);
	for (uint64_t us = 100; us < 1000; us += 100) {
		change(&writer, 0, us, 0, 12, 0);
		change(&writer, 0, us + 10, 12, 13, 0);
		number(&writer, 1, us + 40, WAKE, 0, 12);
		change(&writer, 0, us + 50, 13, 12, 0);
		change(&writer, 0, us + 60, 12, 0, 0);
	}
	writer_dump(&writer, &dump);
	save(directory, "stateless.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

static void make_unseen(const char *directory)
{
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 5);
	describe(&writer, "note");
	/* the next event is in ring 0, which belongs to no CPU */
	number(&writer, UINT32_MAX, 50, IRQ_ENTER, 0, 1);
	change(&writer, 0, 100, 12, 0, 1);
	note(&writer, 1, 150, 13, "before the loss");
	writer_reserve(&writer, 2, 2);
	change(&writer, 0, 200, 0, 12, 0);
	note(&writer, 1, 300, 13, "after the loss");
	change(&writer, 0, 400, 12, 0, 1);
	change(&writer, 0, 500, 0, 12, 0);
	writer_dump(&writer, &dump);
	save(directory, "unseen.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/* Two files of the kernel record wakeups. Each file has a type of its own for this event. */
static void make_two_files(const char *directory)
{
	static const uint8_t u32[] = { KTRX_TYPE_U32, 0 };
	static const char wake[] = "sched\0wake\0thread %u\0b.c\0thread\0";
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 5);
	describe(&writer, "note");
	writer_event(&writer, u32, wake, sizeof(wake));
	for (uint64_t us = 100; us < 400; us += 100) {
		number(&writer, 0, us, IRQ_ENTER, 0, 1);
		number(&writer, 0, us + 10, WAKE, 0, 12);
		number(&writer, 1, us + 20, NOTE + 1, 0, 13);
	}
	number(&writer, 0, 500, IRQ_ENTER, 0, 1);
	writer_dump(&writer, &dump);
	save(directory, "two-files.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/* Makes a dump in which the descriptor of CPU 0's ring was overwritten. */
static void make_written_over(const char *directory)
{
	struct writer writer;
	struct bytes dump = { NULL, 0 };

	writer_open(&writer, 3, 7);
	describe(&writer, "note");
	note(&writer, 0, 100, 12, "lost");
	note(&writer, 1, 200, 12, "kept");
	writer.ring[1].row.mask = 0x41414141;
	writer_dump(&writer, &dump);
	save(directory, "written-over.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

static void make_pairs(const char *directory)
{
	struct writer writer;
	struct bytes dump = { NULL, 0 };
	uint64_t random = 42, us = 100;
	uint32_t calls[2] = { 0, 0 };

	writer_open(&writer, 3, 13);
	describe(&writer, "note");
	for (uint32_t n = 0; n < 8000; n++) {
		uint32_t cpu, which;

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		cpu = (uint32_t)(random >> 40) & 1;
		which = (uint32_t)(random >> 41) & 1;
		which ^= calls[which] == 4000;
		us += 1 + (random >> 50) / (1 + (random >> 42) % 1000);
		if (calls[which]++ % 2 == 0)
			enter(&writer, cpu, us, 12 + which, (uint16_t)which, 0);
		else
			leave(&writer, cpu, us, 12 + which, (uint16_t)which, (int64_t)(random >> 48) - 1000);
	}
	writer_dump(&writer, &dump);
	save(directory, "pairs.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/* Writes a trace in which a thread makes a system call that returns this result. */
static void make_result(const char *directory, const char *name, int64_t result)
{
	struct bytes dump = { NULL, 0 };
	struct writer writer;

	writer_open(&writer, 2, 9);
	describe(&writer, "note");
	enter(&writer, 0, 100, 12, 0, 0);
	note(&writer, 0, 110, 12, "within the call");
	leave(&writer, 0, 120, 12, 0, result);
	note(&writer, 0, 130, 12, "end");
	writer_dump(&writer, &dump);
	save(directory, name, &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/* The clock is set back while a call is in progress. */
static void make_set_back(const char *directory)
{
	struct bytes dump = { NULL, 0 };
	struct writer writer;

	writer_open(&writer, 2, 9);
	describe(&writer, "note");
	note(&writer, 0, 100, 12, "begin");
	enter(&writer, 0, 200, 12, 0, 0);
	for (uint32_t n = 0; n < 100; n++) /* more events than the reader sorts */
		note(&writer, 0, 201 + n, 12, "later");
	leave(&writer, 0, 150, 12, 0, 0);
	writer_dump(&writer, &dump);
	save(directory, "set-back.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/* Two threads wait for a lock whose holder is unknown, and for a lock that thread 7 holds. */
static void make_holders(const char *directory)
{
	static const uint8_t types[] = { KTRX_TYPE_POINTER, KTRX_TYPE_U32, KTRX_TYPE_U32, 0 };
	static const char names[] = "lock\0contend\0%p held by %u, tries %u\0a.c\0lock\0\0holder\0\0tries\0";
	const struct {
		uint64_t lock;
		uint32_t holder, tries;
	} wait[] = { { 0x100, KTRX_HOLDER_UNKNOWN, UINT32_MAX }, { 0x200, 7, 1 } };
	struct bytes dump = { NULL, 0 };
	struct writer writer;

	writer_open(&writer, 2, 9);
	writer_event(&writer, types, names, sizeof(names));
	for (uint32_t n = 0; n < 2; n++)
		writer_record(&writer, 1, (100 + n) * US, 1, 12, &wait[n], sizeof(wait[n]));
	writer_dump(&writer, &dump);
	save(directory, "holders.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

/*
 * Each CPU has a number of heartbeats that no real kernel reaches, so the rate per second has dozens of
 * digits. The wall clock shows the year 2554, and the number of records that a ring has refused is the
 * maximum.
 */
static void make_beats(const char *directory)
{
	const struct ktrx_cpu row = { .heartbeats = UINT64_MAX, .online = 1 };
	struct bytes dump = { NULL, 0 };
	struct writer writer;

	writer_open(&writer, 10, 5);
	describe(&writer, "note");
	writer.root.frequency = KTREAD_FREQUENCY_MOST;
	writer.root.wall_ns = UINT64_MAX;
	writer.ring[1].row.dropped = UINT64_MAX;
	for (uint32_t n = 0; n < 9; n++) {
		bytes_append(&writer.cpus, &row, sizeof(row));
		note(&writer, n, 100 + n, 12, "beat");
	}
	writer_dump(&writer, &dump);
	save(directory, "beats.ktrx", &dump);
	bytes_free(&dump);
	writer_close(&writer);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return EXIT_FAILURE;
	}
	make_v1(argv[1]);
	make_v2(argv[1], "v2.ktrx", "worker", "note", "all is well", 0);
	make_v2(argv[1], "hostile.ktrx", "w\033[31m\"\\\n\xff", "n\033o\"te",
		"\033]0;owned\007 \"quoted\" \\ \xc3\xa9 \xc3", 3);
	make_typed(argv[1]);
	make_pairs(argv[1]);
	make_stateless(argv[1]);
	make_unseen(argv[1]);
	make_two_files(argv[1]);
	make_set_back(argv[1]);
	make_holders(argv[1]);
	make_result(argv[1], "result-5.ktrx", 5);
	make_result(argv[1], "result-6.ktrx", 6);
	make_beats(argv[1]);
	make_written_over(argv[1]);
	return EXIT_SUCCESS;
}
