// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
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

/* Which bytes have been kept of an address; open addressing, grown when half full. */
struct kept {
	uint64_t address, space;
	uint64_t hash; /* of the bytes; 0: free */
};

static unsigned char *file; /* NULL: there is none */
static uint64_t file_size, ring_bytes;
static struct output_piece *pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *kept;
static size_t kept_room, kept_count;

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
	kept_room = 65536;
	kept = calloc(kept_room, sizeof(*kept));
	pieces = calloc(cpus, sizeof(*pieces));
	if (kept == NULL || pieces == NULL)
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

static uint64_t hash_of(const struct instruction *instruction, size_t count, uint32_t *size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	*size = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < instruction[i].size; k++)
			hash = (hash ^ instruction[i].bytes[k]) * UINT64_C(0x100000001b3);
		*size += (uint32_t)instruction[i].size;
	}
	hash ^= *size;
	return hash != 0 ? hash : 1;
}

static struct kept *slot_of(uint64_t address, uint64_t space)
{
	size_t i = (size_t)((address ^ space << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (kept_room - 1);

	while (kept[i].hash != 0 && (kept[i].address != address || kept[i].space != space))
		i = (i + 1) & (kept_room - 1);
	return &kept[i];
}

/* Without memory the table stays as it is; when it is all but full, code is kept twice rather than not. */
static void grow(void)
{
	struct kept *old = kept, *larger = calloc(kept_room * 2, sizeof(*larger));
	size_t old_room = kept_room;

	if (larger == NULL)
		return;
	kept = larger;
	kept_room *= 2;
	for (size_t i = 0; i < old_room; i++) {
		if (old[i].hash != 0)
			*slot_of(old[i].address, old[i].space) = old[i];
	}
	free(old);
}

enum { KNOWN, FRESH, REPLACED };

static int compare(uint64_t address, uint64_t space, uint64_t hash)
{
	const struct kept *slot = slot_of(address, space);

	if (slot->hash == 0)
		return kept_count + 1 >= kept_room ? REPLACED : FRESH;
	return slot->hash == hash ? KNOWN : REPLACED;
}

/* Only what the file has, so a guest cannot have more remembered than that. */
static void remember(uint64_t address, uint64_t space, uint64_t hash)
{
	struct kept *slot;

	if (kept_count >= kept_room / 2)
		grow();
	slot = slot_of(address, space);
	if (slot->hash == 0 && kept_count + 1 >= kept_room)
		return;
	kept_count += slot->hash == 0;
	*slot = (struct kept){ .address = address, .space = space, .hash = hash };
}

/* -1: there is no room in the file. */
static int append(const struct instruction *instruction, size_t count, uint64_t space, uint32_t size)
{
	uint64_t total = sizeof(struct ktrx_hwt_seen) + (((uint64_t)size + 7) & ~UINT64_C(7));
	uint64_t at = head()->code + head()->code_size;
	unsigned char *to = file + at + sizeof(struct ktrx_hwt_seen);
	struct ktrx_hwt_seen *seen = (struct ktrx_hwt_seen *)(file + at);

	if (total > file_size - at) {
		head()->code_lost += size;
		return -1;
	}
	*seen = (struct ktrx_hwt_seen){ .unit_time = clock_nanoseconds(),
					.address = instruction->address,
					.space = space,
					.size = size };
	for (size_t i = 0; i < count; i++) {
		memcpy(to, instruction[i].bytes, instruction[i].size);
		to += instruction[i].size;
	}
	__atomic_store_n(&head()->code_size, head()->code_size + total, __ATOMIC_RELEASE);
	return 0;
}

int rings_code(const struct instruction *instruction, size_t count, uint64_t space)
{
	uint32_t size;
	uint64_t hash;
	int result;

	if (file == NULL)
		return 0;
	hash = hash_of(instruction, count, &size);
	pthread_mutex_lock(&lock);
	result = compare(instruction->address, space, hash);
	if (result != KNOWN && append(instruction, count, space, size) == 0)
		remember(instruction->address, space, hash);
	pthread_mutex_unlock(&lock);
	return result == REPLACED;
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
