/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * floor_v1 timeline|summary FILE: a minimal decoder for the output of gen_v1, as a reference for ktrace's
 * speed. It reads eight full rings in blocks, merges them by selecting the lowest of eight timestamps, and
 * formats the dozen types of events that occur. It checks nothing. It does not support filters, damaged files
 * or other formats. Its timeline is identical to that of ktrace-decode; its summary contains only counts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/put.h"
#include "base/ticks.h"
#include "ktrx/v1.h"

#define CPUS   KTRX1_MAX_CPUS
#define WINDOW 4096u

struct ring {
	uint64_t first; /* slot of the oldest record */
	uint64_t taken;
	const struct ktrx1_record *at, *end;
	struct ktrx1_record window[WINDOW];
};

static struct ktrx1_header header;
static int file;
static struct ring rings[CPUS];
static char text[(256 << 10) + 4096];
static char pid_text[2048][8], call_text[512][32];
static size_t call_length[512];

static void load(uint32_t cpu, uint64_t slot, struct ktrx1_record *records, uint64_t count)
{
	size_t bytes = count * sizeof(*records);
	off_t at = (off_t)(sizeof(header) + (cpu * (uint64_t)header.slots + slot) * sizeof(*records));

	if (pread(file, records, bytes, at) != (ssize_t)bytes)
		exit(EXIT_FAILURE);
}

static int refill(uint32_t cpu)
{
	struct ring *ring = &rings[cpu];
	uint64_t slot = (ring->first + ring->taken) % header.slots, count = header.slots - slot;

	count = count < WINDOW ? count : WINDOW;
	count = count < header.slots - ring->taken ? count : header.slots - ring->taken;
	if (count == 0)
		return 0;
	load(cpu, slot, ring->window, count);
	ring->taken += count;
	ring->at = ring->window;
	ring->end = ring->window + count;
	return 1;
}

/*
 * Finds the slot of the oldest record by binary search. From one slot to the next, timestamps decrease only
 * once: from the newest record to the oldest.
 */
static void find_first(uint32_t cpu)
{
	struct ktrx1_record first, middle;
	uint64_t low = 0, high = header.slots;

	load(cpu, 0, &first, 1);
	while (high - low > 1) {
		uint64_t half = low + (high - low) / 2;

		load(cpu, half, &middle, 1);
		if (middle.stamp >= first.stamp)
			low = half;
		else
			high = half;
	}
	rings[cpu].first = high % header.slots;
	rings[cpu].taken = 0;
}

static uint64_t wide(const uint32_t *words)
{
	uint64_t value;

	memcpy(&value, words, sizeof(value));
	return value;
}

static char *put_call(char *at, uint32_t number)
{
	memcpy(at, call_text[number], 32);
	return at + call_length[number];
}

#define PUT(literal) (at = base_put_literal(at, literal))

static char *put_detail(char *at, const struct ktrx1_record *record)
{
	static const char *const reasons[8] = { "0x0",	"PRESENT",	"WRITE",      "PRESENT|WRITE",
						"USER", "PRESENT|USER", "WRITE|USER", "PRESENT|WRITE|USER" };
	const uint32_t *data = record->data;

	switch (KTRX1_EVENT(record->header)) {
	case KTRX1_SYSCALL_ENTER:
		at = put_call(PUT("SYSCALL_ENTER    "), data[0]);
		at = base_put_hex(PUT(" a1=0x"), wide(data + 1));
		return base_put_hex(PUT(" a2=0x"), wide(data + 3));
	case KTRX1_SYSCALL_EXIT:
		at = put_call(PUT("SYSCALL_EXIT     "), data[0]);
		return base_put_signed(PUT(" result="), (int64_t)wide(data + 1));
	case KTRX1_CTX_SWITCH:
		at = base_put_decimal(PUT("CTX_SWITCH       from_pid="), data[0]);
		return base_put_decimal(PUT(" to_pid="), data[1]);
	case KTRX1_PAGE_FAULT:
		at = base_put_hex(PUT("PAGE_FAULT       addr=0x"), wide(data));
		at = base_put_hex(PUT(" rip=0x"), wide(data + 2));
		return stpcpy(PUT(" reason="), reasons[data[4] & 7]);
	case KTRX1_WAITQ_SLEEP:
		return base_put_hex(PUT("WAITQ_SLEEP      waitq=0x"), data[0]);
	case KTRX1_WAITQ_WAKE:
		at = base_put_hex(PUT("WAITQ_WAKE       waitq=0x"), data[0]);
		return base_put_decimal(PUT(" woken="), data[1]);
	case KTRX1_NET_POLL:
		at = base_put_decimal(PUT("NET_POLL         fd="), data[0]);
		return base_put_hex(PUT(" revents=0x"), data[2]);
	case KTRX1_NET_RX_PACKET:
		return base_put_decimal(PUT("NET_RX_PACKET    frame_len="), data[0]);
	case KTRX1_NET_TX_PACKET:
		return base_put_decimal(PUT("NET_TX_PACKET    frame_len="), data[0]);
	default:
		if (KTRX1_EVENT(record->header) == KTRX1_NET_SEND)
			PUT("NET_SEND         fd=");
		else
			PUT("NET_RECV         fd=");
		at = base_put_decimal(at, data[0]);
		at = base_put_decimal(PUT(" len="), data[1]);
		return base_put_decimal(PUT(" result="), data[2]);
	}
}

static char *put_line(char *at, const struct ktrx1_record *record, const struct base_ticks_scale *scale,
		      uint64_t base)
{
	uint64_t microseconds = base_ticks_microseconds(scale, record->stamp - base);
	struct base_ticks_time time = { microseconds / 1000000, (uint32_t)(microseconds % 1000000) };

	if (microseconds == UINT64_MAX)
		time = base_ticks_time(record->stamp - base, header.frequency);
	/* Requires: the time is shorter than a day. */
	PUT("[    ");
	at -= (time.seconds > 9) + (time.seconds > 99) + (time.seconds > 999) + (time.seconds > 9999);
	at = base_put_decimal(at, time.seconds);
	*at = '.';
	at = base_put_six(at + 1, time.microseconds);
	PUT("] CPU");
	*at = (char)('0' + KTRX1_CPU(record->header));
	at = base_put_literal(at + 1, " PID=");
	memcpy(at, pid_text[KTRX1_PID(record->header)], 8);
	at = put_detail(at + 5, record);
	*at = '\n';
	return at + 1;
}

static void render(void)
{
	static const struct {
		uint16_t number;
		const char *name;
	} calls[] = { { 0, "read" },	 { 1, "write" },       { 3, "close" },	 { 5, "fstat" },
		      { 7, "poll" },	 { 8, "lseek" },       { 9, "mmap" },	 { 12, "brk" },
		      { 16, "ioctl" },	 { 39, "getpid" },     { 202, "futex" }, { 228, "clock_gettime" },
		      { 257, "openat" }, { 262, "newfstatat" } };

	for (unsigned pid = 0; pid < 2048; pid++)
		snprintf(pid_text[pid], 8, "%-4u ", pid);
	for (size_t n = 0; n < sizeof(calls) / sizeof(calls[0]); n++)
		call_length[calls[n].number] = (size_t)snprintf(call_text[calls[n].number], 32, "nr=%u (%s)",
								calls[n].number, calls[n].name);
}

static void write_out(const char *end)
{
	for (const char *at = text; at < end;) {
		ssize_t written = write(STDOUT_FILENO, at, (size_t)(end - at));

		if (written <= 0)
			exit(EXIT_FAILURE);
		at += written;
	}
}

static uint32_t least(const uint64_t *stamp)
{
	uint32_t best = 0;

	for (uint32_t cpu = 1; cpu < CPUS; cpu++)
		best = stamp[cpu] < stamp[best] ? cpu : best;
	return best;
}

static void timeline(void)
{
	struct base_ticks_scale scale;
	uint64_t stamp[CPUS], base = UINT64_MAX;
	char *at = text;
	uint32_t cpu;

	render();
	base_ticks_scale_init(&scale, header.frequency);
	for (cpu = 0; cpu < CPUS; cpu++) {
		refill(cpu);
		stamp[cpu] = rings[cpu].at->stamp;
		base = stamp[cpu] < base ? stamp[cpu] : base;
	}
	while (stamp[cpu = least(stamp)] != UINT64_MAX) {
		at = put_line(at, rings[cpu].at++, &scale, base);
		if (at > text + (256 << 10)) {
			write_out(at);
			at = text;
		}
		stamp[cpu] =
			rings[cpu].at < rings[cpu].end || refill(cpu) ? rings[cpu].at->stamp : UINT64_MAX;
	}
	write_out(at);
}

static void summary(void)
{
	static uint64_t events[KTRX1_MAX_EVENT + 1], pids[KTRX1_PID_MASK + 1], cpus[CPUS];

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		while (refill(cpu)) {
			for (const struct ktrx1_record *record = rings[cpu].at; record < rings[cpu].end;
			     record++) {
				events[KTRX1_EVENT(record->header)]++;
				pids[KTRX1_PID(record->header)]++;
				cpus[KTRX1_CPU(record->header)]++;
			}
		}
	}
	for (unsigned n = 0; n <= KTRX1_MAX_EVENT; n++)
		if (events[n])
			printf("event %u %llu\n", n, (unsigned long long)events[n]);
	for (unsigned n = 0; n <= KTRX1_PID_MASK; n++)
		if (pids[n])
			printf("pid %u %llu\n", n, (unsigned long long)pids[n]);
	for (unsigned n = 0; n < CPUS; n++)
		printf("cpu %u %llu\n", n, (unsigned long long)cpus[n]);
}

int main(int argc, char **argv)
{
	file = argc == 3 ? open(argv[2], O_RDONLY) : -1;
	if (file < 0 || read(file, &header, sizeof(header)) != (ssize_t)sizeof(header)) {
		fprintf(stderr, "usage: floor_v1 timeline|summary FILE\n");
		return EXIT_FAILURE;
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		find_first(cpu);
	if (strcmp(argv[1], "summary") == 0)
		summary();
	else
		timeline();
	return EXIT_SUCCESS;
}
