/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "ktrx/hwt_unit.h"
#include "rings.h"
#include "trace.h"

static unsigned char *file; /* NULL: there is none */
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
		return "cannot be made";
	/* Holes until they are written. */
	if (ftruncate(fd, (off_t)file_size) != 0) {
		close(fd);
		return "cannot be made that large";
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
		return "takes more memory than there is";
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
