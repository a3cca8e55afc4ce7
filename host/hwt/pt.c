/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes Intel PT with libipt's block decoder. A block becomes a step only when the next block is known,
 * because the next block shows whether the last instruction branched, and where the block ends. After damage,
 * decoding resumes at the next PSB.
 */
#include "pt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Maximum number of consecutive blocks for which no packet is read. If there are more, the code seems to loop
 * for ever, so it is not the executed code: in that code, a branch that needs a packet comes earlier.
 */
#define IDLE_MOST 65536u
/* Maximum number of consecutive runs within a function that may have the same position and timestamp. */
#define LOOK_EVERY 8u

/* Makes libipt use the image that is valid at `stamp`. Returns false if out of memory. */
static bool set_stamp(struct pt_decoder *decoder, uint64_t stamp)
{
	struct pt_image *image;

	if (decoder->image && stamp < decoder->until && stamp >= decoder->since)
		return true;
	image = pt_sections_at(decoder->sections, stamp, &decoder->until);
	decoder->since = stamp;
	if (stamp == 0) /* without a timestamp, the image is valid only until a timestamp is known */
		decoder->until = 0;
	if (!image)
		return false;
	if (image != decoder->image) {
		memset(decoder->known, 0, sizeof(decoder->known));
		pt_blk_set_image(decoder->block_decoder, image);
	}
	decoder->image = image;
	return true;
}

/* Records a time that libipt has read. Returns false if out of memory. */
static bool read_time(struct pt_decoder *decoder, uint64_t time)
{
	if (time == decoder->time)
		return true;
	decoder->time = time;
	decoder->read = hwt_stream_stamp(decoder->stream, time);
	return set_stamp(decoder, decoder->read);
}

/*
 * Returns libipt's time, or 0 if it is unknown: until the first event after a synchronization, libipt 2.1
 * reports an impossible time.
 */
static uint64_t time_of(const struct pt_decoder *decoder)
{
	uint64_t time;
	uint32_t lost_mtc, lost_cyc; /* libipt 2.1 requires that they are stored */

	if (pt_blk_time(decoder->block_decoder, &time, &lost_mtc, &lost_cyc) < 0 || time == UINT64_MAX)
		return 0;
	return time;
}

/* Sets the timestamp of the following steps from the last time that libipt has read. */
static void reach_time(struct pt_decoder *decoder)
{
	decoder->now.has_stamp = decoder->time != 0;
	decoder->now.stamp = decoder->read;
}

bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time)
{
	const bool set = read_time(decoder, time);

	reach_time(decoder);
	return set;
}

/*
 * Returns the timestamp at which libipt asks for code. libipt's time may be later than the time that was last
 * recorded.
 */
static uint64_t stamp_of_code(void *opened)
{
	struct pt_decoder *decoder = opened;
	const uint64_t time = time_of(decoder);

	decoder->asked_at = decoder->read;
	if (time > decoder->time)
		decoder->asked_at = hwt_stream_stamp(decoder->stream, time);
	return decoder->asked_at;
}

static void close_decoder(void *opened)
{
	struct pt_decoder *decoder = opened;

	if (decoder->block_decoder)
		pt_blk_free_decoder(decoder->block_decoder);
	if (decoder->own)
		munmap(decoder->own, decoder->piece.size);
	pt_sections_close(decoder->sections);
	free(decoder);
}

bool pt_decoder_open_blocks(struct pt_decoder *decoder)
{
	struct pt_config config;

	hwt_pt_configure(&config, decoder->stream, &decoder->piece);
	/* ends blocks at calls and jumps, so that each run is contiguous */
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	config.decode.context = decoder;
	if (config.errata.skl014)
		decoder->ranges = config.addr_filter;
	if (decoder->block_decoder)
		pt_blk_free_decoder(decoder->block_decoder);
	decoder->block_decoder = pt_blk_alloc_decoder(&config);
	return decoder->block_decoder &&
	       (!decoder->image || pt_blk_set_image(decoder->block_decoder, decoder->image) >= 0);
}

static void *open_stream(const struct hwt_stream *stream, const struct hwt_piece *piece,
			 struct hwt_images *images, const char **message)
{
	struct pt_decoder *decoder;

	*message = NULL;
	decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return NULL;
	decoder->stream = stream;
	decoder->piece = *piece;
	decoder->now = (struct hwt_step){ .kind = HWT_RUN,
					  .has_address = 1,
					  .offset = piece->position,
					  .pid = stream->pid,
					  .tid = stream->tid };
	decoder->sections = pt_sections_open(images, stream->pid, stamp_of_code, decoder);
	decoder->images = images;
	if (!decoder->sections || !pt_decoder_open_blocks(decoder) || !set_stamp(decoder, 0)) {
		close_decoder(decoder);
		return NULL;
	}
	return decoder;
}

/*
 * Updates position and time from libipt, if it has read packets. libipt has read up to the next packet about
 * executed code. A time packet before that packet gives the time of code that is not decoded yet, not the
 * time of the `runs` found so far. Returns false if out of memory.
 */
static inline bool look(struct pt_decoder *decoder, unsigned runs)
{
	uint64_t offset, time;

	if (pt_blk_get_offset(decoder->block_decoder, &offset) < 0 || offset == decoder->offset)
		return true;
	decoder->blocks_read = decoder->blocks + runs;
	decoder->offset = offset;
	decoder->now.offset = decoder->piece.position + offset;
	reach_time(decoder);
	time = time_of(decoder);
	return !time || read_time(decoder, time);
}

bool pt_decoder_look(struct pt_decoder *decoder)
{
	return look(decoder, 0);
}

void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind)
{
	*step = decoder->now;
	step->kind = (uint8_t)kind;
	step->has_address = 0;
}

/* ---- Runs ---- */

static uint8_t bits_of(enum pt_exec_mode mode)
{
	return mode == ptem_64bit ? 64 : mode == ptem_32bit ? 32 : 16;
}

static struct pt_last read_last(const struct pt_decoder *decoder, const struct pt_block *block)
{
	const uint8_t bits = bits_of(block->mode);
	unsigned char bytes[PT_BRANCH_MOST];
	const uint64_t stamp = block->isid ? decoder->read : decoder->asked_at;
	const size_t size = hwt_images_read(decoder->images, decoder->stream->pid, decoder->now.space, stamp,
					    block->end_ip, bytes, sizeof(bytes));
	const struct pt_branch branch = pt_branch_of(bytes, size, bits);

	return (struct pt_last){
		.address = block->end_ip,
		/*
		 * with PT_NO_SECTION, no later search finds this element, because other code may then be at
		 * the address
		 */
		.section = block->isid ? block->isid : PT_NO_SECTION,
		.mode = (uint8_t)block->mode,
		.branch = branch.kind,
		.bits = bits,
		.length = branch.length,
	};
}

/* Returns 1 if an instruction is a branch that is always taken, otherwise 0. */
static inline uint8_t always_branches(uint8_t branch)
{
	return branch != HWT_BRANCH_NONE && branch != HWT_BRANCH_CONDITIONAL;
}

/*
 * Returns true for a conditional branch or a direct jump, because its target is usually in the same function.
 */
static inline bool stays_within(uint8_t branch)
{
	return branch == HWT_BRANCH_CONDITIONAL || branch == HWT_BRANCH_JUMP;
}

/*
 * Returns the last instruction of a block, from a cache or newly decoded. The index in the cache is computed
 * from many bits of the address: otherwise two frequent branches whose addresses differ by a multiple of
 * PT_KNOWN would replace each other all the time.
 */
static inline const struct pt_last *last_of(struct pt_decoder *decoder, const struct pt_block *block)
{
	struct pt_last *last = &decoder->known[(block->end_ip ^ block->end_ip / PT_KNOWN) % PT_KNOWN];

	if (__builtin_expect(last->address != block->end_ip || last->section != block->isid ||
				     last->mode != block->mode,
			     0))
		*last = read_last(decoder, block);
	return last;
}

/*
 * Fills in a block as a run whose successor is not known yet: end_run() fills in `to` and `taken`. Members
 * that are the same in all runs are not changed, because they have the right values from the previous run.
 */
static inline void begin_run(const struct pt_decoder *decoder, struct hwt_step *step,
			     const struct pt_block *block, const struct pt_last *last, uint64_t after)
{
	if (__builtin_expect(step->kind != HWT_RUN, 0))
		*step = decoder->now;
	step->branch = last->branch;
	step->has_stamp = decoder->now.has_stamp;
	step->has_to = 1;
	step->bits = last->bits;
	step->instructions = block->ninsn;
	step->address = block->ip;
	step->last = block->end_ip;
	step->end = after;
	step->space = decoder->now.space;
	step->stamp = decoder->now.stamp;
	step->offset = decoder->now.offset;
}

/*
 * Sets the address at which execution continued after a run. If the run does not end with a branch, this is
 * also the run's end. `branch`, `taken` and `end`: the run's values so far; the caller has them in registers.
 * The code contains no conditional jumps, because the host's CPU could not predict them.
 */
static inline void end_run(struct hwt_step *step, uint8_t branch, uint8_t taken, uint64_t end, uint64_t next)
{
	step->to = next;
	step->taken = taken | (next != end);
	if (__builtin_expect(branch == HWT_BRANCH_NONE, 0)) {
		step->taken = 0;
		step->end = next;
	}
}

/*
 * Returns the held run (the last run, whose end was unknown). `next`: address at which execution continued;
 * NULL: unknown.
 */
static int release_run(struct pt_decoder *decoder, struct hwt_step *step, const uint64_t *next)
{
	decoder->holds = false;
	decoder->now.bits = decoder->held.bits;
	*step = decoder->held;
	step->has_to = next != NULL;
	step->to = 0;
	if (next)
		end_run(step, step->branch, step->taken, step->end, *next);
	if (step->end == step->last)
		step->end = step->last + 1;
	return 1;
}

/* ---- Steps ---- */

/* Returns true if so many blocks were decoded without a packet that the code seems to loop for ever. */
static bool is_idle(const struct pt_decoder *decoder)
{
	return decoder->blocks - decoder->blocks_read > IDLE_MOST;
}

/*
 * Decodes runs up to an event, or anything else to be handled. The last run is held back, because the next
 * block or event shows how it ended. Returns the number of runs, or KTREAD_E_MEMORY. This is the hot path:
 * branches are cached instead of decoded again, values are not read from memory directly after they were
 * written, and the position is read from libipt only if it is needed.
 */
static int take_runs(struct pt_decoder *decoder, struct hwt_step *step, unsigned most)
{
	const unsigned held = decoder->holds;
	struct hwt_step *at = step + held;
	struct pt_block block = { .ninsn = 0 };
	unsigned runs = held;
	uint8_t branch = decoder->held.branch, taken = decoder->held.taken;
	uint64_t after = decoder->held.end;
	int status;

	if (held)
		step[0] = decoder->held;
	do {
		const struct pt_last *last;

		status = pt_blk_next(decoder->block_decoder, &block, sizeof(block));
		if (!block.ninsn)
			break;
		if (runs)
			end_run(at - 1, branch, taken, after, block.ip);
		last = last_of(decoder, &block);
		branch = last->branch;
		taken = always_branches(branch);
		after = block.end_ip + last->length;
		if ((!stays_within(branch) || runs % LOOK_EVERY == 0) && !look(decoder, runs - held))
			return KTREAD_E_MEMORY;
		begin_run(decoder, at++, &block, last, after);
		runs++;
	} while (status == 0 && runs < most);
	decoder->status = status;
	decoder->wanted = block.ninsn ? 0 : block.ip;
	decoder->blocks += runs - held;
	if (is_idle(decoder))
		decoder->status = -pte_bad_query;
	decoder->holds = runs > 0;
	if (runs) {
		decoder->held = *--at;
		decoder->held.taken = taken;
		decoder->last = decoder->held.last;
	}
	return (int)(at - step);
}

/*
 * Fetches an event, and returns the held run before it. Returns 1 with the run, 0 if no run was held, or an
 * error.
 */
static int next_event(struct pt_decoder *decoder, struct hwt_step *step)
{
	const int taken = pt_decoder_take_event(decoder);
	uint64_t next;

	if (taken <= 0 || !decoder->holds)
		return taken < 0 ? taken : 0;
	return release_run(decoder, step, pt_decoder_event_follows(decoder, &next) ? &next : NULL);
}

/* Handles a place at which libipt cannot continue. Returns 1 with a step, 0 if there is none, or an error. */
static int next_beginning(struct pt_decoder *decoder, struct hwt_step *step)
{
	if (decoder->holds)
		return release_run(decoder, step, NULL);
	if (decoder->synced && decoder->status < 0 && decoder->status != -pte_eos)
		return pt_gap_report(decoder, step, is_idle(decoder));
	if (decoder->synced)
		decoder->ended = true;
	if (decoder->ended)
		return 0;
	return pt_gap_synchronise(decoder, step);
}

/* Returns true if an address is in one of the ranges to which tracing is limited. */
static bool is_traced(const struct pt_conf_addr_filter *ranges, uint64_t address)
{
	return (ranges->config.ctl.addr0_cfg &&
		address - ranges->addr0_a <= ranges->addr0_b - ranges->addr0_a) ||
	       (ranges->config.ctl.addr1_cfg &&
		address - ranges->addr1_a <= ranges->addr1_b - ranges->addr1_a) ||
	       (ranges->config.ctl.addr2_cfg &&
		address - ranges->addr2_a <= ranges->addr2_b - ranges->addr2_a) ||
	       (ranges->config.ctl.addr3_cfg &&
		address - ranges->addr3_a <= ranges->addr3_b - ranges->addr3_a);
}

/*
 * Returns true if execution continues where libipt reports an event. Because of erratum SKL014, TIP.PGD has
 * no address where a direct call or jump leaves the ranges. libipt looks for that branch, but stops at the
 * first one if blocks end at calls and jumps. libipt continues when the caller asks for the next block. Any
 * other event stays pending, and is reported then.
 */
static bool continues(struct pt_decoder *decoder)
{
	const struct hwt_step *held = &decoder->held;
	unsigned char bytes[PT_BRANCH_MOST];
	uint64_t target;
	size_t size;

	if (!decoder->ranges.config.addr_cfg || !decoder->holds || decoder->continued_at == decoder->blocks)
		return false;
	decoder->continued_at = decoder->blocks;
	size = hwt_images_read(decoder->images, decoder->stream->pid, held->space, decoder->read, held->last,
			       bytes, sizeof(bytes));
	return pt_branch_target(bytes, size, held->bits, held->last, &target) &&
	       is_traced(&decoder->ranges, target);
}

static int next_steps(void *opened, struct hwt_step *step, unsigned most)
{
	struct pt_decoder *decoder = opened;
	int status = 0;

	while (status == 0) {
		const bool flows = decoder->synced && decoder->status >= 0;

		if (decoder->event_parts) {
			pt_decoder_event(decoder, step);
			return 1;
		}
		if (flows && decoder->status & pts_event_pending && !continues(decoder))
			status = next_event(decoder, step);
		else if (flows && !(decoder->status & pts_eos))
			status = take_runs(decoder, step, most);
		else
			status = next_beginning(decoder, step);
		if (status == 0 && decoder->ended)
			return 0;
	}
	return status;
}

static size_t begin(const struct hwt_stream *stream, const struct hwt_piece *piece, size_t offset)
{
	(void)stream;
	return pt_gap_psb(piece, offset);
}

const struct hwt_encoding hwt_encoding_pt = {
	.name = "pt",
	.open = open_stream,
	.some = next_steps,
	.close = close_decoder,
	.begin = begin,
	.packets = pt_packets,
};
