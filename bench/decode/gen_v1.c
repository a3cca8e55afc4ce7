/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gen_v1 FILE RECORDS: writes a version 1 dump of eight CPUs with full rings that have wrapped. Each CPU
 * switches between a few processes, which make system calls, cause faults, sleep and wake each other, at the
 * intervals of a busy machine. The same arguments produce the same bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktrx/v1.h"

#define CPUS	  KTRX1_MAX_CPUS
#define FREQUENCY 2400000000u
#define PROCESSES 12u
#define CHUNK	  4096u

struct process {
	uint32_t pid;
	int call; /* number of the system call that the process is executing; -1: none */
};

struct machine {
	uint64_t random;
	uint64_t stamp;
	struct process process[PROCESSES];
	unsigned running;
	uint32_t cpu;
};

struct ring_file {
	int fd;
	off_t start; /* file offset of the ring's slot 0 */
	uint64_t slots;
	uint64_t slot; /* index of the next slot to fill */
	uint32_t held;
	struct ktrx1_record record[CHUNK];
};

/* the splitmix64 generator: returns the next pseudo-random number */
static uint64_t draw(struct machine *machine)
{
	uint64_t z = machine->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void flush(struct ring_file *ring)
{
	uint64_t first = ring->slot - ring->held;
	size_t bytes = ring->held * sizeof(ring->record[0]);

	if (pwrite(ring->fd, ring->record, bytes, ring->start + (off_t)(first * KTRX1_RECORD_SIZE)) !=
	    (ssize_t)bytes) {
		perror("gen_v1: pwrite");
		exit(EXIT_FAILURE);
	}
	ring->held = 0;
}

static void append(struct ring_file *ring, const struct ktrx1_record *record)
{
	ring->record[ring->held++] = *record;
	ring->slot++;
	if (ring->held == CHUNK || ring->slot == ring->slots)
		flush(ring);
	if (ring->slot == ring->slots)
		ring->slot = 0;
}

static void put_wide(uint32_t *words, uint64_t value)
{
	memcpy(words, &value, sizeof(value));
}

static uint32_t enter_call(struct machine *machine, uint32_t *data)
{
	static const uint16_t calls[] = { 0, 1, 3, 5, 7, 8, 9, 12, 16, 39, 202, 228, 257, 262 };
	uint64_t r = draw(machine);

	machine->process[machine->running].call = calls[r % (sizeof(calls) / sizeof(calls[0]))];
	data[0] = (uint32_t)machine->process[machine->running].call;
	put_wide(data + 1, r >> 32 & 3 ? r >> 40 & 63 : 0x7ffd00000000 + (r >> 36 & 0xfffff0));
	put_wide(data + 3, 0x55d000000000 + (r >> 30 & 0x3fffff0));
	return KTRX1_SYSCALL_ENTER;
}

static uint32_t leave_call(struct machine *machine, uint32_t *data)
{
	uint64_t r = draw(machine);

	data[0] = (uint32_t)machine->process[machine->running].call;
	put_wide(data + 1, r % 16 == 0 ? -(r >> 8 & 127) : r >> 8 & 8191);
	machine->process[machine->running].call = -1;
	return KTRX1_SYSCALL_EXIT;
}

static uint32_t change(struct machine *machine, uint32_t *data)
{
	data[0] = machine->process[machine->running].pid;
	machine->running = (machine->running + 1 + draw(machine) % (PROCESSES - 1)) % PROCESSES;
	data[1] = machine->process[machine->running].pid;
	return KTRX1_CTX_SWITCH;
}

static uint32_t fault(struct machine *machine, uint32_t *data)
{
	uint64_t r = draw(machine);

	put_wide(data, 0x7f1200000000 + ((r & 0xfffff) << 12));
	put_wide(data + 2, 0x401000 + (r >> 20 & 0xffff));
	data[4] = 4 | (r >> 40 & 3);
	return KTRX1_PAGE_FAULT;
}

/*
 * Fills in a random event of one of the remaining types: sleep, wakeup, or network traffic. Returns its event
 * number.
 */
static uint32_t other(struct machine *machine, uint32_t *data)
{
	static const uint16_t events[] = { KTRX1_WAITQ_SLEEP,  KTRX1_WAITQ_WAKE, KTRX1_NET_SEND,
					   KTRX1_NET_RECV,     KTRX1_NET_POLL,	 KTRX1_NET_RX_PACKET,
					   KTRX1_NET_TX_PACKET };
	uint64_t r = draw(machine);
	uint32_t event = events[r % (sizeof(events) / sizeof(events[0]))];

	data[0] = event <= KTRX1_WAITQ_WAKE ? 0x8000 + (uint32_t)(r >> 8 & 0xfc0) : (uint32_t)(r >> 8 & 15);
	data[1] = (uint32_t)(r >> 20) % 1500;
	data[2] = data[1];
	return event;
}

static void step(struct machine *machine, struct ktrx1_record *record)
{
	const struct process *process = &machine->process[machine->running];
	uint64_t r = draw(machine);
	uint32_t pid = process->pid, event;

	memset(record, 0, sizeof(*record));
	machine->stamp += 150 + (r & 1023) + ((r >> 10 & 63) == 0 ? r >> 16 & 0x3ffff : 0);
	r = r >> 40 & 127;
	if (r < 18)
		event = other(machine, record->data);
	else if (r < 34)
		event = fault(machine, record->data);
	else if (r < 44)
		event = change(machine, record->data);
	else
		event = process->call < 0 ? enter_call(machine, record->data)
					  : leave_call(machine, record->data);
	record->stamp = machine->stamp;
	record->header = KTRX1_HEADER(event, machine->cpu, pid, 0);
}

static void write_ring(struct ring_file *ring, uint32_t cpu)
{
	struct machine machine = { .random = cpu + 1, .cpu = cpu };
	struct ktrx1_record record;

	machine.stamp = 3 * (uint64_t)FREQUENCY + draw(&machine) % 5000;
	for (unsigned n = 0; n < PROCESSES; n++)
		machine.process[n] = (struct process){ 20 + cpu * PROCESSES + n, -1 };
	ring->slot = draw(&machine) % ring->slots;
	for (uint64_t n = 0; n < ring->slots; n++) {
		step(&machine, &record);
		append(ring, &record);
	}
	if (ring->held)
		flush(ring);
}

int main(int argc, char **argv)
{
	static struct ring_file ring;
	uint64_t records = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct ktrx1_header header = {
		{ 'K', 'T', 'R', 'X' }, KTRX1_VERSION, FREQUENCY, CPUS, 0, KTRX1_RECORD_SIZE, 0, { 0 }
	};

	if (records < CPUS || records % CPUS || records / CPUS > UINT32_MAX) {
		fprintf(stderr, "usage: gen_v1 FILE RECORDS (a multiple of %u)\n", CPUS);
		return EXIT_FAILURE;
	}
	ring.slots = records / CPUS;
	header.slots = (uint32_t)ring.slots;
	ring.fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (ring.fd < 0 || write(ring.fd, &header, sizeof(header)) != (ssize_t)sizeof(header)) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		ring.start = (off_t)(sizeof(header) + cpu * ring.slots * KTRX1_RECORD_SIZE);
		write_ring(&ring, cpu);
	}
	return close(ring.fd) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
