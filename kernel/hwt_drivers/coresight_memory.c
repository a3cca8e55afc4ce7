/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The memory at the end of a path: an ETR writes into the buffer of a unit, or several units share a memory
 * and the CPU copies each unit's bytes out of it.
 */
#include "coresight.h"

#define KTRACE_PAGE    KTRX_U64(4096)
#define KTRACE_ENTRIES (KTRACE_PAGE / 4) /* number of entries in a page of a scatter list */
#define KTRACE_FRAME   16u
/* first byte of a null frame, which contains no trace data; its other bytes are 0 */
#define KTRACE_FRAME_NULL   1u
#define KTRACE_SIZE_MOST    (KTRX_U64(1) << 32)
#define KTRACE_ADDRESS_MOST (KTRX_U64(1) << KTRACE_TMC_ADDRESS_BITS)

/*
 * An ETR without memory of its own (a store) writes directly into the buffer of one unit, in frames of 16
 * bytes. The buffer is one piece, or the pages of a scatter list. The ETR wraps around without end. A single
 * bit (STS.Full) shows that it has wrapped. If the ETR wraps several times between two reads of this bit,
 * only one wrap is counted. So the computed position is the smallest position that agrees with the registers.
 *
 * If an ETR can resume at its write pointer, the pointer is set to the unit's position. Other ETRs start
 * again at the beginning of the buffer. For such an ETR, the buffer from the position to its end is filled
 * with null frames, so that position and offset in the buffer still agree.
 *
 * An ETR always writes its store from the beginning.
 */

/* ---- Buffers and scatter lists ----------------------------------------------------------------- */

static int is_one_piece(const struct ktrace_hwt_buffer *buffer)
{
	for (uint32_t i = 1; i < buffer->pieces; i++)
		if (buffer->piece[i - 1].physical + buffer->piece[i - 1].size != buffer->piece[i].physical)
			return 0;
	return 1;
}

static int is_in_reach(const struct ktrace_hwt_buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->pieces; i++)
		if (buffer->piece[i].physical >= KTRACE_ADDRESS_MOST ||
		    buffer->piece[i].size > KTRACE_ADDRESS_MOST - buffer->piece[i].physical)
			return 0;
	return 1;
}

/*
 * Builds the scatter list. Each page of the list ends with a link to the next page. The last entry of the
 * list is marked.
 */
static int build_list(const struct ktrace_hwt_buffer *buffer)
{
	volatile uint32_t *list = buffer->table;
	uint64_t left = buffer->size / KTRACE_PAGE, links = left > 1 ? (left - 2) / (KTRACE_ENTRIES - 1) : 0;
	uint64_t n = 0;

	if (!list || (buffer->table_physical & (KTRACE_PAGE - 1)) != 0 ||
	    buffer->table_physical + buffer->table_size > KTRACE_ADDRESS_MOST ||
	    (left + links) * sizeof(*list) > buffer->table_size)
		return KTRACE_ERROR_MEMORY;
	for (uint32_t i = 0; i < buffer->pieces; i++)
		for (uint64_t at = 0; at < buffer->piece[i].size; at += KTRACE_PAGE) {
			left--;
			if (n % KTRACE_ENTRIES == KTRACE_ENTRIES - 1 && left > 0) {
				list[n] =
					KTRACE_SCATTER_ENTRY(buffer->table_physical + (n + 1) * sizeof(*list),
							     KTRACE_SCATTER_LINK);
				n++;
			}
			list[n++] =
				KTRACE_SCATTER_ENTRY(buffer->piece[i].physical + at,
						     left > 0 ? KTRACE_SCATTER_PAGE : KTRACE_SCATTER_LAST);
		}
	return KTRACE_OK;
}

int ktrace_coresight_etr_lend(const struct ktrace_coresight_found *found, struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight_request *request = ktrace_coresight_request(unit);

	if (!is_in_reach(&unit->buffer))
		return KTRACE_ERROR_MEMORY;
	request->scatter = !is_one_piece(&unit->buffer);
	if (unit->buffer.size > KTRACE_SIZE_MOST || (request->scatter && !found->scatters))
		return KTRACE_ERROR_ARGUMENT;
	return request->scatter ? build_list(&unit->buffer) : KTRACE_OK;
}

/* Fills the buffer with null frames, from the position to the end of the buffer. */
static int finish_lap(struct ktrace_hwt_unit *unit)
{
	volatile uint8_t *bytes = unit->buffer.base;
	uint64_t at = unit->position % unit->buffer.size;

	if (at == 0)
		return KTRACE_OK;
	if (!bytes)
		return KTRACE_ERROR_MEMORY;
	unit->position += unit->buffer.size - at;
	for (; at < unit->buffer.size; at++)
		bytes[at] = at % KTRACE_FRAME ? 0 : KTRACE_FRAME_NULL;
	return KTRACE_OK;
}

/* ---- Position of an ETR ------------------------------------------------------------------------ */

/* Reads the write pointer. The upper half is read twice, because the pointer may change between two reads. */
static uint64_t write_pointer(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *etr)
{
	uint32_t high = ktrace_coresight_read(all, etr, KTRACE_TMC_RWPHI), low, again;

	low = ktrace_coresight_read(all, etr, KTRACE_TMC_RWP);
	again = ktrace_coresight_read(all, etr, KTRACE_TMC_RWPHI);
	if (again != high)
		low = ktrace_coresight_read(all, etr, KTRACE_TMC_RWP);
	return (uint64_t)again << 32 | low;
}

/*
 * Computes the buffer offset of a physical address. An address just after a piece counts as the beginning of
 * the next piece; just after the last piece, it counts as offset 0.
 * Returns nonzero if the address is not in the buffer.
 */
static int offset_of(const struct ktrace_hwt_buffer *buffer, uint64_t physical, uint64_t *offset)
{
	uint64_t before = 0;
	int is_behind = 0;

	for (uint32_t i = 0; i < buffer->pieces; i++) {
		const struct ktrace_hwt_piece *piece = &buffer->piece[i];

		if (physical >= piece->physical && physical - piece->physical < piece->size) {
			*offset = before + physical - piece->physical;
			return KTRACE_OK;
		}
		before += piece->size;
		if (physical == piece->physical + piece->size) {
			*offset = before % buffer->size;
			is_behind = 1;
		}
	}
	return is_behind ? KTRACE_OK : KTRACE_ERROR_DEVICE;
}

static int look(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etr,
		struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight_request *request = ktrace_coresight_request(unit);
	uint32_t status = ktrace_coresight_read(all, etr, KTRACE_TMC_STS);
	uint32_t wrapped = (status & KTRACE_STS_FULL) && !request->full;
	uint64_t offset;
	int error = offset_of(&unit->buffer, write_pointer(all, etr), &offset);

	if (error)
		return error;
	if (offset < request->offset || (wrapped && offset >= request->offset))
		unit->position += unit->buffer.size;
	unit->position += offset - request->offset;
	request->offset = offset;
	request->full = status & KTRACE_STS_FULL;
	ktrace_coresight_wraps(unit);
	if (status & KTRACE_STS_MEMERR) {
		unit->lost++;
		return KTRACE_ERROR_DEVICE;
	}
	return KTRACE_OK;
}

/* ---- Driving an ETR ---------------------------------------------------------------------------- */

static void restore(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etr,
		    uint64_t pointer)
{
	ktrace_coresight_write(all, etr, KTRACE_TMC_RRP, (uint32_t)pointer);
	ktrace_coresight_write(all, etr, KTRACE_TMC_RRPHI, (uint32_t)(pointer >> 32));
	ktrace_coresight_write(all, etr, KTRACE_TMC_RWP, (uint32_t)pointer);
	ktrace_coresight_write(all, etr, KTRACE_TMC_RWPHI, (uint32_t)(pointer >> 32));
	ktrace_coresight_write(all, etr, KTRACE_TMC_STS, 0);
}

/*
 * Writes all registers except the pointers.
 * Requires: the ETR is disabled and ready.
 */
static void program(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etr,
		    uint64_t begin, uint64_t size, uint32_t scatter)
{
	uint32_t axi = KTRACE_AXICTL_BURST16 | KTRACE_AXICTL_NONSECURE |
		       (scatter ? KTRACE_AXICTL_SCATTER : 0) |
		       (etr->flags & KTRACE_CORESIGHT_COHERENT ? KTRACE_AXICTL_CACHED : 0);

	ktrace_coresight_write(all, etr, KTRACE_TMC_RSZ, (uint32_t)(size / 4));
	ktrace_coresight_write(all, etr, KTRACE_TMC_MODE, KTRACE_MODE_CIRCULAR);
	ktrace_coresight_write(all, etr, KTRACE_TMC_AXICTL, axi);
	ktrace_coresight_write(all, etr, KTRACE_TMC_DBALO, (uint32_t)begin);
	ktrace_coresight_write(all, etr, KTRACE_TMC_DBAHI, (uint32_t)(begin >> 32));
	ktrace_coresight_write(all, etr, KTRACE_TMC_TRG, 0);
}

int ktrace_coresight_etr_start(const struct ktrace_coresight *all,
			       const struct ktrace_coresight_component *etr, struct ktrace_hwt_unit *unit)
{
	struct ktrace_coresight_request *request = ktrace_coresight_request(unit);
	uint64_t begin = request->scatter ? unit->buffer.table_physical : unit->buffer.piece[0].physical;
	int restores = (etr->flags & KTRACE_CORESIGHT_RESTORE) != 0;
	int error = restores ? KTRACE_OK : finish_lap(unit);

	if (!error)
		error = ktrace_coresight_tmc_rest(all, etr);
	if (error)
		return error;
	request->offset = unit->position % unit->buffer.size;
	request->full = 0;
	program(all, etr, begin, unit->buffer.size, request->scatter);
	if (restores)
		restore(all, etr, begin + request->offset);
	ktrace_coresight_tmc_run(all, etr);
	return KTRACE_OK;
}

int ktrace_coresight_etr_read(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *etr, struct ktrace_hwt_unit *unit)
{
	int error = ktrace_coresight_tmc_flush(all, etr);
	int seen = look(all, etr, unit);

	(all->access->barrier)();
	return error ? error : seen;
}

int ktrace_coresight_etr_stop(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *etr, struct ktrace_hwt_unit *unit)
{
	int error = ktrace_coresight_tmc_stop(all, etr);
	int seen = look(all, etr, unit);
	int off = ktrace_coresight_tmc_off(all, etr);

	(all->access->barrier)();
	if (!error)
		error = seen;
	return error ? error : off;
}

/* ---- ETRs with a store ------------------------------------------------------------------------- */

int ktrace_coresight_etr_start_store(const struct ktrace_coresight *all,
				     const struct ktrace_coresight_component *etr)
{
	uint64_t begin = etr->store->piece[0].physical;
	int error = ktrace_coresight_tmc_rest(all, etr);

	if (error)
		return error;
	program(all, etr, begin, etr->store->size, 0);
	if (etr->flags & KTRACE_CORESIGHT_RESTORE)
		restore(all, etr, begin);
	ktrace_coresight_tmc_run(all, etr);
	return KTRACE_OK;
}

int ktrace_coresight_etr_stored(const struct ktrace_coresight *all,
				const struct ktrace_coresight_component *etr, uint64_t *from, uint64_t *count)
{
	uint32_t status = ktrace_coresight_read(all, etr, KTRACE_TMC_STS);
	uint64_t offset;
	int error = offset_of(etr->store, write_pointer(all, etr), &offset);

	if (error || (status & KTRACE_STS_MEMERR))
		return KTRACE_ERROR_DEVICE;
	*from = status & KTRACE_STS_FULL ? offset : 0;
	*count = status & KTRACE_STS_FULL ? etr->store->size : offset;
	(all->access->barrier)();
	return KTRACE_OK;
}

/* ---- Shared memory, from which the CPU copies the trace --------------------------------------- */

/*
 * Memory with the trace of several CPUs: an ETF's own memory, which is read word by word through a register,
 * or a store that an ETR writes. The formatter has mixed the CPUs' bytes in frames of 16 with their trace
 * ids. This code separates them and copies each unit's bytes to its buffer. Each time the formatter is
 * started, it has no current trace id; this code starts in the same way.
 * Requires: the lock is held.
 */

struct sorter {
	struct ktrace_coresight *all;
	const struct ktrace_coresight_component *end;
	struct ktrace_hwt_unit *unit; /* unit with the current trace id; NULL: there is no such unit */
	/* `at`: offset in the store of the next byte; `left`: number of bytes that are left to read */
	uint64_t at, left;
};

/* Returns the unit with that trace id, if its trace ends in this memory. */
static struct ktrace_hwt_unit *unit_of(const struct sorter *sorter, uint32_t id)
{
	const struct ktrace_coresight *all = sorter->all;

	for (uint32_t i = 0; i < all->components; i++) {
		const struct ktrace_coresight_component *etm = &all->component[i];

		if (etm->type == KTRACE_CORESIGHT_ETM4 && etm->own.trace_id == id && etm->own.unit &&
		    &all->component[etm->own.path[etm->own.hops - 1].component] == sorter->end)
			return etm->own.unit;
	}
	return KTRACE_NULL;
}

static void put(struct ktrace_hwt_unit *unit, uint8_t byte)
{
	if (!unit)
		return;
	if (ktrace_coresight_request(unit)->stops && unit->position >= unit->served + unit->buffer.size) {
		if (!unit->full)
			unit->lost++;
		unit->full = 1;
		return;
	}
	((uint8_t *)unit->buffer.base)[unit->position++ % unit->buffer.size] = byte;
}

/*
 * Separates a frame. If bit 0 of byte 0, 2, … 14 is set, the byte is a trace id. Otherwise the byte is data.
 * Byte 15 has one more bit for each of these bytes: for data, this is bit 0 of the data; for a trace id, 1
 * means that the next byte still belongs to the previous id.
 */
static void sort(struct sorter *sorter, const uint8_t frame[KTRACE_FRAME])
{
	for (uint32_t i = 0; i < KTRACE_FRAME - 1; i += 2) {
		uint8_t last = frame[KTRACE_FRAME - 1] >> (i / 2) & 1;
		struct ktrace_hwt_unit *before = sorter->unit;

		if (frame[i] & 1) {
			sorter->unit = unit_of(sorter, frame[i] >> 1);
			if (!last)
				before = sorter->unit;
		} else {
			put(before, frame[i] | last);
		}
		if (i + 1 < KTRACE_FRAME - 1)
			put(before, frame[i + 1]);
	}
}

/* Reads the next word of the memory. Returns nonzero if there are no more words. */
static int next_word(struct sorter *sorter, uint8_t bytes[4])
{
	const struct ktrace_hwt_buffer *store = sorter->end->store;
	uint32_t word;

	if (sorter->left == 0)
		return 1;
	sorter->left -= 4;
	if (store) {
		word = *(const volatile uint32_t *)((const uint8_t *)store->base + sorter->at);
		sorter->at = (sorter->at + 4) % store->size;
	} else {
		word = ktrace_coresight_read(sorter->all, sorter->end, KTRACE_TMC_RRD);
		if (word == KTRACE_RRD_EMPTY)
			return 1;
	}
	for (uint32_t i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
	return 0;
}

static void empty(struct sorter *sorter)
{
	uint8_t frame[KTRACE_FRAME];
	uint32_t filled = 0;

	while (!next_word(sorter, frame + filled)) {
		filled += 4;
		if (filled == KTRACE_FRAME) {
			sort(sorter, frame);
			filled = 0;
		}
	}
}

/*
 * Finds the number of bytes that the memory contains. Requires: capturing is stopped.
 */
static int sorter_count(struct sorter *sorter)
{
	if (sorter->end->store)
		return ktrace_coresight_etr_stored(sorter->all, sorter->end, &sorter->at, &sorter->left);
	sorter->left = (uint64_t)ktrace_coresight_read(sorter->all, sorter->end, KTRACE_TMC_RSZ) * 4;
	return KTRACE_OK;
}

/* Updates the counts of all units that trace into this memory. If the memory has wrapped, data was lost. */
static void account(const struct sorter *sorter, uint32_t status)
{
	for (uint32_t id = 0; id < 0x80; id++) {
		struct ktrace_hwt_unit *unit = unit_of(sorter, id);

		if (!unit)
			continue;
		ktrace_coresight_wraps(unit);
		unit->lost += (status & KTRACE_STS_FULL) != 0;
	}
}

int ktrace_coresight_collect_start(struct ktrace_coresight *all, const struct ktrace_coresight_component *end)
{
	return end->store ? ktrace_coresight_etr_start_store(all, end) : ktrace_coresight_etf_start(all, end);
}

int ktrace_coresight_collect(struct ktrace_coresight *all, const struct ktrace_coresight_component *end)
{
	struct sorter sorter;
	int error = ktrace_coresight_tmc_stop(all, end), off;

	sorter.all = all;
	sorter.end = end;
	sorter.unit = KTRACE_NULL;
	sorter.at = 0;
	sorter.left = 0;
	if (!error)
		error = sorter_count(&sorter);
	if (!error) {
		uint32_t status = ktrace_coresight_read(all, end, KTRACE_TMC_STS);

		empty(&sorter);
		account(&sorter, status);
	}
	off = ktrace_coresight_tmc_off(all, end);
	if (!error)
		error = off;
	if (!error && end->own.users > 0)
		error = ktrace_coresight_collect_start(all, end);
	return error;
}
