/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An ETR writes into the buffer of one unit by itself: into one piece, or into pages that a list tells it, in
 * frames of 16 bytes. It goes round for ever; that it has is one bit (STS.Full), so of several laps between
 * two looks only one is seen, and positions are the smallest ones that fit what it shows.
 *
 * An ETR that goes on at its write pointer is given that of the unit. Others begin at the start of the buffer
 * again: what is left of the last lap is filled with frames that say nothing, so that position and place in
 * the buffer still agree.
 *
 * A store is written from its beginning each time.
 */
#include "coresight.h"

#define KTRACE_PAGE	    UINT64_C(4096)
#define KTRACE_ENTRIES	    (KTRACE_PAGE / 4) /* of a page of a scatter list */
#define KTRACE_FRAME	    16u
#define KTRACE_FRAME_NULL   1u /* its first byte: from here on nobody's data; the others are 0 */
#define KTRACE_SIZE_MOST    (UINT64_C(1) << 32)
#define KTRACE_ADDRESS_MOST (UINT64_C(1) << KTRACE_TMC_ADDRESS_BITS)

/* ---- Buffers ----------------------------------------------------------------------------------- */

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

/* Each page of the list ends with a link to the next one; the last entry of all says so. */
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

/* Fills up the lap with nothing. */
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

/* ---- Where it is ------------------------------------------------------------------------------- */

/* The upper half is read again, since the pointer moves. */
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
 * Of a physical address in the buffer; one behind a piece is the begin of the next, or of all. Nonzero: it is
 * neither.
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

/* ---- Driving it -------------------------------------------------------------------------------- */

static void restore(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etr,
		    uint64_t pointer)
{
	ktrace_coresight_write(all, etr, KTRACE_TMC_RRP, (uint32_t)pointer);
	ktrace_coresight_write(all, etr, KTRACE_TMC_RRPHI, (uint32_t)(pointer >> 32));
	ktrace_coresight_write(all, etr, KTRACE_TMC_RWP, (uint32_t)pointer);
	ktrace_coresight_write(all, etr, KTRACE_TMC_RWPHI, (uint32_t)(pointer >> 32));
	ktrace_coresight_write(all, etr, KTRACE_TMC_STS, 0);
}

/* At rest. All but the pointers. */
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

/* ---- Stores ------------------------------------------------------------------------------------ */

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
