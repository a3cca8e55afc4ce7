/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * danger-traces DIRECTORY: writes groups of traces, which are numbered from 0. In these traces, every
 * string from a guest, a kernel or a program contains sequences from danger.h. Each group contains
 * different sequences. Group N consists of N.ktrx, a dump; N.ram, a guest's memory; N.ktrace and
 * N-bsd.ktrace, process traces; and N.steps, functions of a hardware trace. Prints the number of groups.
 * With --names instead of DIRECTORY, prints the sequences of each group in a line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/danger.h"
#include "proc/put.h"
#include "unit/support/ktread_writer.h"

#define EACH   3 /* number of sequences in each trace */
#define TRACES ((DANGERS + EACH - 1) / EACH)

static char evil[EACH * (DANGER_MOST + 2) +
		 1]; /* the sequences of the current trace, each between two letters, followed by a NUL */

static void choose(size_t n)
{
	size_t length = 0;

	for (size_t i = n * EACH; i < (n + 1) * EACH && i < DANGERS; i++)
		length += danger_put(evil + length, i);
	evil[length] = '\0';
}

/* ---- Dumps ---- */

/* Appends the text. Replaces each ~ by the sequences and each | by a NUL. */
static void append(struct bytes *bytes, const char *text)
{
	for (; *text; text++)
		if (*text == '~')
			bytes_append(bytes, evil, strlen(evil));
		else
			bytes_append(bytes, *text == '|' ? "" : text, 1);
}

static void describe(struct writer *writer, const char *types, const char *strings)
{
	struct bytes text = { NULL, 0 };

	append(&text, strings);
	writer_event(writer, (const uint8_t *)types, (const char *)text.data, text.size);
	bytes_free(&text);
}

enum {
	OWN = 1,
	SWITCH,
	ENTER,
	EXIT,
	CONTEND,
	ACQUIRE,
	IRQ,
	IRQ_EXIT,
	EXEC,
	OPEN,
	READ,
	FAULT,
	RESOLVED,
	PANIC,
	CREATE
};

/*
 * Adds the event descriptors. Their codes of types are: \2 u16, \3 u32, \4 u64, \10 i64, \11 pointer, \12
 * string, \14 character.
 */
static void describe_all(struct writer *writer)
{
	describe(writer, "\12\14\3", "g~|n~|%s %c ~ %u %s|f~.c|~string|u~|~letter||~number|u~|");
	describe(writer, "\3\3\3", "sched|switch|%u -> %u, %u ~|a.c|prev||next||state||");
	describe(writer, "\2\4", "syscall|enter|%u(%llx) ~|a.c|nr||a1||");
	describe(writer, "\2\10", "syscall|exit|%u = %lld ~|a.c|nr||result||");
	describe(writer, "\11\12", "lock|contend|%p %s|a.c|lock||name||");
	describe(writer, "\11\12", "lock|acquire|%p %s|a.c|lock||name||");
	describe(writer, "\3\12", "irq|enter|%u %s|a.c|irq||name||");
	describe(writer, "\3", "irq|exit|%u|a.c|irq||");
	describe(writer, "\3\12", "process|exec|%u %s|a.c|process||path||");
	describe(writer, "\11\12", "vfs|open|%p %s|a.c|file||path||");
	describe(writer, "\11", "vfs|read|%p|a.c|file||");
	describe(writer, "\11\11", "mm|fault_enter|%p %p|a.c|address||ip||");
	describe(writer, "\11\12", "mm|fault_exit|%p %s|a.c|address||how||");
	describe(writer, "\12", "ktrace|panic|%s|a.c|message||");
	describe(writer, "\3\12", "sched|create|%u %s|a.c|thread||name||");
}

/*
 * Adds a record. The payload consists of the numbers, whose sizes are in `sizes`, followed by the string
 * `text` unless it is NULL.
 */
static void record(struct writer *writer, uint64_t stamp, uint32_t id, const char *text, const char *sizes,
		   ...)
{
	unsigned char payload[200];
	uint32_t at = 0;
	va_list numbers;

	va_start(numbers, sizes);
	for (; *sizes; at += (uint32_t)(*sizes++ - '0')) {
		uint64_t number = va_arg(numbers, uint64_t);

		memcpy(payload + at, &number, sizeof(number));
	}
	va_end(numbers);
	if (text) {
		uint16_t length = (uint16_t)strlen(text);

		memcpy(payload + at, &length, sizeof(length));
		memcpy(payload + at + 2, text, length);
		at += 2u + length;
	}
	writer_record(writer, 1, stamp, id, 7, payload, at);
}

static void record_own(struct writer *writer, uint64_t stamp)
{
	unsigned char payload[64];
	uint16_t length = (uint16_t)strlen(evil);
	const uint32_t number = 5;

	memcpy(payload, &length, 2);
	memcpy(payload + 2, evil, length);
	payload[2 + length] = (unsigned char)evil[1];
	memcpy(payload + 3 + length, &number, 4);
	writer_record(writer, 1, stamp, OWN, 7, payload, length + 7u);
}

#define LOCK	  UINT64_C(0xffff8000)
#define N(number) ((uint64_t)(number))

static void record_all(struct writer *writer)
{
	record(writer, 1000, SWITCH, NULL, "444", N(0), N(7), N(0));
	record(writer, 1100, CREATE, evil, "4", N(8));
	record(writer, 2000, EXEC, evil, "4", N(7));
	record_own(writer, 3000);
	record(writer, 4000, ENTER, NULL, "28", N(1), N(3));
	record(writer, 4100, OPEN, evil, "8", LOCK);
	record(writer, 4200, READ, NULL, "8", LOCK);
	record(writer, 4500, EXIT, NULL, "28", N(1), N(-2));
	record(writer, 5000, CONTEND, evil, "8", LOCK);
	record(writer, 5100, ACQUIRE, evil, "8", LOCK);
	record(writer, 6000, IRQ, evil, "4", N(33));
	record(writer, 6100, IRQ_EXIT, NULL, "4", N(33));
	record(writer, 7000, FAULT, NULL, "88", N(0x1000), N(0x2000));
	record(writer, 7100, RESOLVED, evil, "8", N(0x1000));
	record(writer, 8000, ENTER, NULL, "28", N(2), N(3));
	record(writer, 8100, CONTEND, evil, "8", LOCK + 8);
	record(writer, 9000, PANIC, evil, "");
}

static void add_tables(struct writer *writer)
{
	struct ktrx_setting setting = {
		.magic = KTRX_SETTING_MAGIC, .size = sizeof(setting), .kind = KTRX_SETTING_U32, .most = 9
	};
	struct ktrx_holder holder = { .id = 8,
				      .wait = KTRX_WAIT_LOCK,
				      .state = KTRX_THREAD_WAITING,
				      .state_stamp = 8100,
				      .object = LOCK + 8,
				      .wait_stamp = 8100 };

	snprintf(setting.name, sizeof(setting.name), "debug.%s", evil);
	bytes_append(&writer->settings, &setting, sizeof(setting));
	snprintf(holder.object_name, sizeof(holder.object_name), "o%s", evil);
	bytes_append(&writer->holders, &holder, sizeof(holder));
	writer_thread(writer, 7, evil);
	snprintf((char *)writer->root.kernel, sizeof(writer->root.kernel), "kernel %s 1.0", evil);
	append(&writer->syscalls, "1 c~ int, fd f~\n2 d~\nerror 2 E~\n");
	append(&writer->note, "ended: ~\nkernel: /nowhere/~\nstalled: yes\n~: ~\nsilent: ~\n");
	append(&writer->registers, "cpu 0 pc=1000 sp=2000 r~=3 ~\nstack 0 1000 ~\n~");
}

/* Writes a sparse file: pages of zeros take no space. */
static void save(const char *directory, size_t n, const char *kind, const unsigned char *data, size_t size)
{
	static const unsigned char zeroes[4096];
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%zu.%s", directory, n, kind);
	file = fopen(path, "wb");
	for (size_t at = 0; file && at < size; at += sizeof(zeroes)) {
		size_t bytes = size - at < sizeof(zeroes) ? size - at : sizeof(zeroes);

		if (at + bytes < size && memcmp(data + at, zeroes, bytes) == 0)
			fseek(file, (long)bytes, SEEK_CUR);
		else
			fwrite(data + at, 1, bytes, file);
	}
	if (!file || ferror(file) || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

static void make_dump(const char *directory, size_t n)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct bytes dump = { NULL, 0 };
	struct writer writer;

	writer_open(&writer, 2, 9);
	describe_all(&writer);
	record_all(&writer);
	add_tables(&writer);
	writer_dump(&writer, &dump);
	save(directory, n, "ktrx", dump.data, dump.size);
	writer_memory(&writer, memory, 0);
	memory[WRITER_MEMORY_SIZE - 1] = 1;
	save(directory, n, "ram", memory, WRITER_MEMORY_SIZE);
	free(memory);
	bytes_free(&dump);
	writer_close(&writer);
}

/* ---- Process traces ---- */

static void put_records(struct put *put)
{
	const uint64_t arg[2] = { 3, 5 };

	put->pid = 7;
	put->tid = 7;
	put->name = evil;
	if (put->format == PUT_KTRX) {
		struct bytes table = { NULL, 0 };

		append(&table, "1 c~ fd, fd f~, bits b~\n2 d~\nerror 2 E~\nsignal 1 SIG~\n"
			       "flags bits 1 A~\nflags bits 4 B~\nstruct s~ 8, str t~ 4\n");
		bytes_append(&table, "", 1);
		put_line(put, 33, (const char *)table.data);
		bytes_free(&table);
		put_name(put, evil);
	}
	put_call(put, 1, 2, arg);
	put_line(put, 3, evil);
	put_ret(put, 1, 2, -1);
	put_io(put, 1, 1, evil, strlen(evil));
	put_sig(put, 1, 0x1000, 0, 0);
	put_line(put, 7, evil);
	if (put->format != PUT_DRAGONFLY)
		put_struct(put, evil, evil, strlen(evil));
	put_line(put, 9, evil);
}

/* Gives the head the clock frequency and the nonce of the dump, so that both files can be shown together. */
static void put_same_boot(struct put *put)
{
	/* the frequency and the nonce */
	const uint64_t head[2] = { 1000000000, UINT64_C(0x1234567890abcd03) };
	uint32_t check = 2166136261u;

	memcpy(put->bytes.data + 8, head, sizeof(head));
	for (size_t i = 0; i < 60; i++)
		check = (check ^ put->bytes.data[i]) * 16777619u;
	memcpy(put->bytes.data + 60, &check, sizeof(check));
}

static void make_processes(const char *directory, size_t n)
{
	struct put ktrx = put_trace(PUT_KTRX), bsd = put_trace(PUT_FREEBSD1);
	char name[32];

	put_same_boot(&ktrx);
	put_records(&ktrx);
	snprintf(name, sizeof(name), "%zu", n);
	put_save(&ktrx, directory, name);
	put_records(&bsd);
	snprintf(name, sizeof(name), "%zu-bsd", n);
	put_save(&bsd, directory, name);
}

/* ---- Hardware trace ---- */

static void make_steps(const char *directory, size_t n)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%zu.steps", directory, n);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	fprintf(file,
		"KTRU: a script of steps\nfrequency 1000000\nwarning w%s\nimage kernel /usr/lib/%s\n"
		"symbol 0x1000 0x100 m%s s%s.c:10\nsymbol 0x1100 0x100 f%s s%s.c:20\ncpu 0 4096 0\n"
		"on 10 0x1000\nrun 10 0x1000 3 call\nrun 11 0x1100 4 return\nrun 12 0x1010 2 call\n",
		evil, evil, evil, evil, evil, evil);
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY | --names\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (strcmp(argv[1], "--names") == 0) {
		for (size_t n = 0; n < TRACES; n++) {
			choose(n);
			puts(evil);
		}
		return EXIT_SUCCESS;
	}
	for (size_t n = 0; n < TRACES; n++) {
		choose(n);
		make_dump(argv[1], n);
		make_processes(argv[1], n);
		make_steps(argv[1], n);
	}
	printf("%zu\n", TRACES);
	return EXIT_SUCCESS;
}
