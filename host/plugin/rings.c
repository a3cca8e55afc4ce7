/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The output of packets, and the file of rings. */
#include "trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktrx/hwt_unit.h"

static void go_to(struct output *output, uint32_t piece, uint64_t into, uint64_t position)
{
	output->at = piece;
	output->next = output->piece[piece].bytes + into;
	output->end = output->piece[piece].bytes + output->piece[piece].size;
	output->base = position + (output->piece[piece].size - into);
}

void output_seek(struct output *output, uint64_t position)
{
	uint64_t into;
	uint32_t i;

	output->size = 0;
	for (i = 0; i < output->pieces; i++)
		output->size += output->piece[i].size;
	into = position % output->size;
	for (i = 0; into >= output->piece[i].size; i++)
		into -= output->piece[i].size;
	go_to(output, i, into, position);
}

void output_put_split(struct output *output, const void *bytes, unsigned size)
{
	const unsigned char *from = bytes;

	while (size > 0) {
		uint64_t room = (uint64_t)(output->end - output->next);
		unsigned part = room < size ? (unsigned)room : size;

		memcpy(output->next, from, part);
		output->next += part;
		from += part;
		size -= part;
		if (output->next == output->end)
			go_to(output, output->at + 1 < output->pieces ? output->at + 1 : 0, 0, output->base);
	}
}

static unsigned char *file; /* the mapped file; NULL: there is no file */
static uint64_t file_size, ring_bytes;
static struct output_piece *pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct ktrx_hwt_rings *head(void)
{
	return (struct ktrx_hwt_rings *)file;
}

static struct ktrx_hwt_ring *ring_of(unsigned cpu)
{
	return (struct ktrx_hwt_ring *)(file + sizeof(struct ktrx_hwt_rings) +
					cpu * (sizeof(struct ktrx_hwt_ring) + ring_bytes));
}

static const char *map(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *mapped;

	if (fd < 0)
		return "cannot be created";
	/* The file is sparse: it occupies disk space only where it has been written. */
	if (ftruncate(fd, (off_t)file_size) != 0) {
		close(fd);
		return "cannot be extended to its size";
	}
	mapped = mmap(NULL, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return "cannot be mapped";
	file = mapped;
	return NULL;
}

const char *rings_open(const char *path, unsigned cpus, uint64_t ring_size, uint64_t code_size,
		       const struct encoder *encoder)
{
	const char *wrong;

	ring_bytes = ring_size;
	file_size =
		sizeof(struct ktrx_hwt_rings) + cpus * (sizeof(struct ktrx_hwt_ring) + ring_size) + code_size;
	pieces = calloc(cpus, sizeof(*pieces));
	if (pieces == NULL)
		return "out of memory";
	wrong = map(path);
	if (wrong != NULL)
		return wrong;
	*head() = (struct ktrx_hwt_rings){
		.version = KTRX_HWT_UNIT_VERSION,
		.cpus = cpus,
		.encoding = encoder->encoding,
		.ring_size = ring_size,
		.code = file_size - code_size,
		.unit_frequency = 1000000000,
	};
	memcpy(head()->parameters, encoder->parameters, encoder->parameters_size);
	memcpy(head()->magic, "KTRU", 4);
	return NULL;
}

void rings_output(unsigned cpu, struct output *output)
{
	struct ktrx_hwt_ring *ring = ring_of(cpu);

	pieces[cpu] = (struct output_piece){ .bytes = (unsigned char *)(ring + 1), .size = ring_bytes };
	output->piece = &pieces[cpu];
	output->pieces = 1;
	output->limit = UINT64_MAX;
	output->published = &ring->position;
	output->pending = &ring->pending;
	output->reached = &ring->reached;
	output_seek(output, 0);
}

int rings_are_open(void)
{
	return file != NULL;
}

void rings_code(const struct block *block, uint64_t space)
{
	uint64_t size = block->next - block->start;
	uint64_t total = sizeof(struct ktrx_hwt_seen) + ((size + 7) & ~UINT64_C(7));
	uint64_t at = head()->code + head()->code_size;
	struct ktrx_hwt_seen *seen = (struct ktrx_hwt_seen *)(file + at);

	if (total > file_size - at) {
		head()->code_lost += size;
		return;
	}
	*seen = (struct ktrx_hwt_seen){ .unit_time = clock_nanoseconds(),
					.address = block->start,
					.space = space,
					.size = (uint32_t)size };
	memcpy(seen + 1, block->bytes, size);
	__atomic_store_n(&head()->code_size, head()->code_size + total, __ATOMIC_RELEASE);
}

void rings_clock(uint64_t stamp, uint64_t frequency, uint64_t nonce)
{
	if (file == NULL)
		return;
	pthread_mutex_lock(&lock);
	head()->unit_time = clock_nanoseconds();
	head()->stamp = stamp;
	head()->frequency = frequency;
	head()->nonce = nonce;
	pthread_mutex_unlock(&lock);
}
