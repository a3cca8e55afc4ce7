/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads the rings of a software trace unit, and converts the times of trace units. */
#include "base/grow.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/hwt.h"
#include "ktrx/hwt_unit.h"
#include "file.h"

#define PT_BRANCHES_MOST 47u /* maximum number of branches in one packet */
#define PT_TNT_LONG	 0xa302u
#define PT_FUP_FULL	 0xddu
#define PT_PGD_FULL	 0xc1u

/* maximum number of atoms that the unit collects before it writes a packet */
#define ETM4_ATOMS_MOST	     48u
#define ETM4_ATOM	     0xf6u
#define ETM4_EXCEPTION	     0x06u
#define ETM4_DEBUG_HALT	     0x03u
#define ETM4_ADDRESS_64_BITS 0x9du

static size_t put_word(unsigned char *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
	return sizeof(word);
}

static size_t put_pt(const struct ktrx_hwt_ring *ring, unsigned char *to)
{
	size_t size = 0;

	if (ring->pending > 1)
		size += put_word(to, ring->pending << 16 | PT_TNT_LONG);
	if (!ring->reached)
		return size;
	/*
	 * A FUP and a TIP.PGD with the same address mean that the trace ends there. With two different
	 * addresses, they would mean an interrupt.
	 */
	to[size++] = PT_FUP_FULL;
	size += put_word(to + size, ring->reached);
	to[size++] = PT_PGD_FULL;
	return size + put_word(to + size, ring->reached);
}

static size_t put_etm4(const struct ktrx_hwt_ring *ring, unsigned char *to)
{
	unsigned atoms = ring->pending ? 63u - (unsigned)__builtin_clzll(ring->pending) : 0;
	size_t size = 0;

	while (atoms-- > 0)
		to[size++] = (unsigned char)(ETM4_ATOM | (ring->pending >> atoms & 1));
	if (!ring->reached)
		return size;
	to[size++] = ETM4_EXCEPTION;
	to[size++] = ETM4_DEBUG_HALT;
	to[size++] = ETM4_ADDRESS_64_BITS;
	/* bits 63:2 of the address, in two bytes of 7 bits and six bytes of 8 bits */
	put_word(to + size, ring->reached);
	to[size] = ring->reached >> 2 & 0x7f;
	to[size + 1] = ring->reached >> 9 & 0x7f;
	return size + 8;
}

/*
 * Makes the packets that the unit has collected but not written yet. Returns their size; 0 if the state of
 * the unit is not valid.
 */
static size_t hwt_rings_tail(uint32_t encoding, const struct ktrx_hwt_ring *ring,
			     unsigned char to[HWT_TAIL_MOST])
{
	if (encoding == KTRX_HWT_ENCODING_PT && ring->pending >> PT_BRANCHES_MOST == 0)
		return put_pt(ring, to);
	if (encoding == KTRX_HWT_ENCODING_ETM4 && ring->pending >> ETM4_ATOMS_MOST == 0)
		return put_etm4(ring, to);
	return 0;
}

/*
 * Reads the file that a software trace unit leaves on the host (ktrx/hwt_unit.h): a ring for each CPU, and
 * the executed code. The machine may still be running. Sizes are checked against the size of the file.
 */

#define RING_LEAST    65536u
#define POSITION_MOST (UINT64_C(1) << 56) /* a unit would have to write for years to reach this position */

bool hwt_rings_is(const struct hwt_store *store)
{
	const uint32_t magic = KTRX_HWT_UNIT_MAGIC;
	unsigned char first[4];

	return !store->copies && hwt_store_read(store, 0, first, sizeof(first)) == sizeof(first) &&
	       memcmp(first, &magic, sizeof(first)) == 0;
}

static int read_head(struct hwt_file *file, struct ktrx_hwt_rings *head)
{
	if (hwt_store_read(&file->store, 0, head, sizeof(*head)) != sizeof(*head))
		return hwt_file_fail(file, KTREAD_E_FORMAT, "%s: the file ends within its header",
				     file->path);
	if (head->version != KTRX_HWT_UNIT_VERSION)
		return hwt_file_fail(file, KTREAD_E_UNSUPPORTED,
				     "%s: version %" PRIu32
				     " of a trace unit's rings is not supported, only %u",
				     file->path, head->version, KTRX_HWT_UNIT_VERSION);
	if (head->ring_size < RING_LEAST || (head->ring_size & (head->ring_size - 1)) != 0 ||
	    head->ring_size > INT64_MAX / HWT_STREAMS_MOST || head->cpus > HWT_STREAMS_MOST)
		return hwt_file_fail(file, KTREAD_E_FORMAT,
				     "%s: invalid header: %" PRIu32 " rings of %" PRIu64 " bytes", file->path,
				     head->cpus, head->ring_size);
	return 0;
}

static void describe(const struct ktrx_hwt_rings *head, uint32_t cpu, struct hwt_stream *stream)
{
	stream->context.mode = KTRX_HWT_MODE_CPU;
	stream->context.encoding = (uint8_t)head->encoding;
	stream->context.backend = KTRX_HWT_BACKEND_QEMU;
	stream->context.level = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL;
	if (head->encoding == KTRX_HWT_ENCODING_PT)
		memcpy(&stream->pt, head->parameters, sizeof(stream->pt));
	if (head->encoding == KTRX_HWT_ENCODING_ETM4)
		memcpy(&stream->etm4, head->parameters, sizeof(stream->etm4));
	stream->unit = stream->cpu = cpu;
}

/* Adds the part of a chunk that is in the file, which may have been truncated. */
static int add_present(struct hwt_file *file, struct hwt_unit_stream *stream, const struct hwt_chunk *chunk)
{
	struct hwt_chunk present = *chunk;
	const uint64_t left = file->store.size > chunk->offset ? file->store.size - chunk->offset : 0;

	if (present.size > left) {
		hwt_file_damage(file,
				"%s: the file is cut short: %" PRIu64 " bytes of the ring of CPU %" PRIu32
				" are missing",
				file->path, present.size - left, stream->stream.cpu);
		present.size = left;
		stream->tail_size = 0;
	}
	return present.size ? hwt_file_add_chunk(file, stream, &present) : 0;
}

static int read_ring(struct hwt_file *file, const struct ktrx_hwt_rings *head, uint32_t cpu)
{
	const uint64_t at = sizeof(*head) + cpu * (sizeof(struct ktrx_hwt_ring) + head->ring_size);
	const uint64_t bytes = at + sizeof(struct ktrx_hwt_ring);
	struct ktrx_hwt_ring ring, again;
	struct hwt_unit_stream *stream;
	struct hwt_chunk chunk = { 0 };
	uint64_t begin;
	int status = 0;

	if (hwt_store_read(&file->store, at, &ring, sizeof(ring)) != sizeof(ring)) {
		hwt_file_damage(file, "%s: the file is cut short: the ring of CPU %" PRIu32 " is missing",
				file->path, cpu);
		return 0;
	}
	if (ring.position > POSITION_MOST || ring.lost > POSITION_MOST) {
		hwt_file_damage(file,
				"%s: offset %" PRIu64 ": invalid ring (%" PRIu64 " bytes written, %" PRIu64
				" packets lost): ignored",
				file->path, at, ring.position, ring.lost);
		return 0;
	}
	stream = hwt_file_add_stream(file);
	if (!stream)
		return KTREAD_E_MEMORY;
	describe(head, cpu, &stream->stream);
	stream->stream.lost = ring.lost;
	stream->written = ring.position;
	/*
	 * While the machine runs, the ring's head may change while it is read. If two readings give the same
	 * values, these values are consistent.
	 */
	if (hwt_store_read(&file->store, at, &again, sizeof(again)) == sizeof(again) &&
	    memcmp(&ring, &again, sizeof(ring)) == 0)
		stream->tail_size = hwt_rings_tail(head->encoding, &ring, stream->tail);
	begin = ring.position > head->ring_size ? ring.position - head->ring_size : 0;
	for (uint64_t position = begin; position < ring.position && status == 0; position += chunk.size) {
		const uint64_t within = position % head->ring_size;
		const uint64_t left = ring.position - position;

		chunk.position = position;
		chunk.offset = bytes + within;
		chunk.size = head->ring_size - within < left ? head->ring_size - within : left;
		status = add_present(file, stream, &chunk);
	}
	return status;
}

/*
 * Reads the executed code. Its timestamps are in the clock of the trace unit until take_clock() converts
 * them.
 */
static int read_codes(struct hwt_file *file, const struct ktrx_hwt_rings *head)
{
	/* bits of an address space that trace packets contain */
	const uint64_t space_bits = head->encoding == KTRX_HWT_ENCODING_ETM4
					    ? UINT64_C(0xffffffff) << KTRX_HWT_UNIT_SPACE_SHIFT
					    : UINT64_MAX;
	uint64_t at = head->code, end = file->store.size;
	int status = 0;

	if (at > end) {
		hwt_file_damage(file, "%s: the file is cut short: it lacks the code that ran", file->path);
		return 0;
	}
	if (head->code_size <= end - at)
		end = at + head->code_size;
	while (status == 0 && end - at >= sizeof(struct ktrx_hwt_seen)) {
		struct ktrx_hwt_seen seen;

		if (hwt_store_read(&file->store, at, &seen, sizeof(seen)) != sizeof(seen))
			break;
		at += sizeof(seen);
		if (seen.size > end - at || seen.address > UINT64_MAX - seen.size) {
			hwt_file_damage(file,
					"%s: offset %" PRIu64 ": invalid size of code: %" PRIu32 " bytes",
					file->path, at - sizeof(seen), seen.size);
			break;
		}
		if (seen.size)
			status = hwt_file_add_code(file, &(struct hwt_code){ .stamp = seen.unit_time,
									     .address = seen.address,
									     .space = seen.space & space_bits,
									     .offset = at,
									     .size = seen.size });
		at += (seen.size + UINT64_C(7)) & ~UINT64_C(7);
		if (at > end)
			break;
	}
	return status;
}

/*
 * Converts the code's timestamps from the unit's time to timestamps if the guest has reported its clock.
 * Otherwise leaves them unchanged.
 */
static int take_clock(struct hwt_file *file, const struct ktrx_hwt_rings *head)
{
	struct hwt_clock clock = { .frequency = head->frequency };
	const struct hwt_moment moment = { head->unit_time, head->stamp, head->unit_frequency };

	file->frequency = head->unit_frequency;
	if (!head->unit_time && !head->stamp && !head->frequency)
		return 0;
	file->frequency = head->frequency;
	file->clock = base_grow(NULL, &file->clock_room, 1, sizeof(*file->clock));
	if (!file->clock || hwt_clock_add(&clock, &moment) != 0)
		return hwt_file_no_memory(file);
	file->clock[file->clock_records++] =
		(struct hwt_clock_record){ .moment = moment, .unit = UINT32_MAX };
	for (size_t i = 0; i < file->codes; i++)
		file->code[i].stamp = hwt_clock_stamp(&clock, file->code[i].stamp);
	hwt_clock_free(&clock);
	return 0;
}

int hwt_rings_read(struct hwt_file *file)
{
	struct ktrx_hwt_rings head;
	int status = read_head(file, &head);

	if (status < 0)
		return status;
	file->nonce = head.nonce;
	file->machine = head.encoding == KTRX_HWT_ENCODING_PT	  ? EM_X86_64
			: head.encoding == KTRX_HWT_ENCODING_ETM4 ? EM_AARCH64
								  : 0;
	for (uint32_t cpu = 0; cpu < head.cpus && status == 0; cpu++)
		status = read_ring(file, &head, cpu);
	if (status == 0)
		status = read_codes(file, &head);
	if (status == 0)
		status = take_clock(file, &head);
	if (head.code_lost)
		hwt_file_warn(file, "%s: %" PRIu64 " bytes of code were not recorded for lack of room",
			      file->path, head.code_lost);
	return status;
}

/* Clocks of trace units. */

int hwt_clock_add(struct hwt_clock *clock, const struct hwt_moment *moment)
{
	struct hwt_moment *grown = base_grow(clock->moment, &clock->room, clock->moments + 1, sizeof(*grown));

	if (!grown)
		return -1;
	clock->moment = grown;
	clock->moment[clock->moments++] = *moment;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct hwt_moment *a = left, *b = right;

	return a->unit_time < b->unit_time ? -1 : a->unit_time > b->unit_time;
}

void hwt_clock_settle(struct hwt_clock *clock)
{
	if (clock->moments)
		qsort(clock->moment, clock->moments, sizeof(*clock->moment), compare);
}

/* Returns the last moment at or before a time, or the first moment if there is none. */
static size_t find(const struct hwt_clock *clock, uint64_t unit_time)
{
	size_t low = 0, high = clock->moments;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->moment[middle].unit_time <= unit_time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Completes a time, of which packets contain only the lower bits. Chooses the upper bits so that the time is
 * nearest to the first moment.
 */
static uint64_t widen(const struct hwt_clock *clock, uint64_t unit_time)
{
	const uint64_t unit = clock->bits && clock->bits < 64 ? UINT64_C(1) << clock->bits : 0;
	const uint64_t known = clock->moment[0].unit_time;
	uint64_t wide;

	if (!unit)
		return unit_time;
	wide = (known & ~(unit - 1)) | (unit_time & (unit - 1));
	if (wide < known && known - wide > unit / 2 && wide <= UINT64_MAX - unit)
		return wide + unit;
	if (wide > known && wide - known > unit / 2 && wide >= unit)
		return wide - unit;
	return wide;
}

static int64_t scale(int64_t ticks, uint64_t by, uint64_t of)
{
	return of ? (int64_t)((__int128)ticks * (__int128)by / (__int128)of) : ticks;
}

uint64_t hwt_clock_stamp(const struct hwt_clock *clock, uint64_t unit_time)
{
	const struct hwt_moment *moment;
	uint64_t by = 0, of = 0;
	size_t at;

	if (!clock->moments)
		return unit_time;
	unit_time = widen(clock, unit_time);
	at = find(clock, unit_time);
	moment = &clock->moment[at];
	if (at + 1 < clock->moments && unit_time >= moment->unit_time &&
	    moment[1].unit_time > moment->unit_time && moment[1].stamp >= moment->stamp) {
		by = moment[1].stamp - moment->stamp;
		of = moment[1].unit_time - moment->unit_time;
	} else if (moment->unit_frequency && clock->frequency) {
		by = clock->frequency;
		of = moment->unit_frequency;
	}
	return moment->stamp + (uint64_t)scale((int64_t)(unit_time - moment->unit_time), by, of);
}

void hwt_clock_free(struct hwt_clock *clock)
{
	free(clock->moment);
	*clock = (struct hwt_clock){ 0 };
}
