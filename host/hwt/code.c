/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The code in a recording. It is stored in blocks of fixed size ("lines", like the lines of a cache), and
 * each line has one or more versions.
 */
#include "images.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

#define HWT_CODE_NONE UINT32_MAX

struct hwt_code_line {
	uint64_t number; /* address of the line, divided by HWT_CODE_LINE */
	/* address space of the line; 0: the line is used for all spaces that have no line of their own */
	uint64_t space;
	uint64_t from;
	uint64_t known; /* one bit for each element of `bytes`, set if that byte is known */
	uint32_t next;	/* previous version of a line with the same number, or HWT_CODE_NONE */
	/* there are lines with this number for all spaces (space 0), and also for single spaces */
	bool shared;
	unsigned char bytes[HWT_CODE_LINE];
};

struct hwt_codes {
	struct hwt_code_line *line;
	uint32_t lines, line_room;
	struct base_index index; /* index for finding the newest version of the line with a given number */
	struct hwt_code_line *
		*sorted;  /* pointers to the elements of `line`, sorted by space, number and age */
	uint64_t *change; /* sorted timestamps at which a newer version of some line becomes valid */
	size_t changes;
};

/* Sorts the lines, and the timestamps at which newer versions become valid. Returns 0 or KTREAD_E_MEMORY. */
static int hwt_code_sort(struct hwt_codes *codes);

/*
 * maximum number of versions of one line (64 bytes of code), in all address spaces together. When it is
 * reached, new bytes overwrite the newest version of the line in their address space.
 */
#define LINES_MOST 1024u
#define CHUNK	   (UINT32_C(1) << 20) /* number of bytes that one call reads */
/* number of different ranks that distance() can return */
#define DISTANCES      6u
#define CR3_IN_PACKETS (~UINT64_C(0x1f)) /* the bits of CR3 that trace packets contain */

/* Returns the index of the newest line with the given number, or HWT_CODE_NONE. */
static uint32_t hwt_code_newest(const struct hwt_codes *codes, uint64_t number)
{
	const uint64_t hash = base_hash(0, number);

	for (uint32_t probe = 0, at; base_index_next(&codes->index, hash, &probe, &at);)
		if (codes->line[at].number == number)
			return at;
	return HWT_CODE_NONE;
}

/* ---- Adding code ---- */

struct part {
	uint64_t number, space, from;
	uint64_t known;
	unsigned char bytes[HWT_CODE_LINE];
};

static bool differs(const struct hwt_code_line *line, const struct part *part)
{
	for (uint64_t both = line->known & part->known; both; both &= both - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(both);

		if (line->bytes[i] != part->bytes[i])
			return true;
	}
	return false;
}

static void overlay(struct hwt_code_line *line, const struct part *part)
{
	for (uint64_t left = part->known; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);

		line->bytes[i] = part->bytes[i];
	}
	line->known |= part->known;
}

/*
 * Returns the newest version of a line in `space`, or HWT_CODE_NONE. Sets *count to the number of versions of
 * the line in all spaces.
 */
static uint32_t present(const struct hwt_codes *codes, uint32_t head, uint64_t space, uint32_t *count)
{
	uint32_t own = HWT_CODE_NONE;

	*count = 0;
	for (uint32_t at = head; at != HWT_CODE_NONE; at = codes->line[at].next) {
		++*count;
		if (own == HWT_CODE_NONE && codes->line[at].space == space)
			own = at;
	}
	return own;
}

static int add_line(struct hwt_codes *codes, const struct hwt_code_line *line)
{
	const uint64_t hash = base_hash(0, line->number);
	struct hwt_code_line *grown;

	if (codes->lines == HWT_CODE_NONE)
		return KTREAD_E_MEMORY;
	grown = base_grow(codes->line, &codes->line_room, (size_t)codes->lines + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	codes->line = grown;
	if (line->next != HWT_CODE_NONE)
		base_index_remove(&codes->index, hash, line->next);
	if (base_index_add(&codes->index, hash, codes->lines) < 0)
		return KTREAD_E_MEMORY;
	codes->line[codes->lines++] = *line;
	return 0;
}

static int take_part(struct hwt_codes *codes, const struct part *part)
{
	struct hwt_code_line made = { .number = part->number,
				      .space = part->space,
				      .from = part->from,
				      .next = hwt_code_newest(codes, part->number) };
	uint32_t count, at = present(codes, made.next, part->space, &count);
	struct hwt_code_line *line = at == HWT_CODE_NONE ? NULL : &codes->line[at];

	if (line && (!differs(line, part) || count >= LINES_MOST)) {
		overlay(line, part);
		return 0;
	}
	/*
	 * A new version of a line starts as a copy of the previous version, but only if both belong to the
	 * same space.
	 */
	if (line) {
		memcpy(made.bytes, line->bytes, sizeof(made.bytes));
		made.known = line->known;
	}
	overlay(&made, part);
	return add_line(codes, &made);
}

static int take_bytes(struct hwt_codes *codes, const struct hwt_code *code, uint64_t address,
		      const unsigned char *bytes, size_t size)
{
	int status = 0;

	while (size && status == 0) {
		const unsigned into = (unsigned)(address % HWT_CODE_LINE);
		const size_t here = size < HWT_CODE_LINE - into ? size : HWT_CODE_LINE - into;
		struct part part = { .number = address / HWT_CODE_LINE,
				     .space = code->space,
				     .from = code->stamp };

		part.known = (here == 64 ? ~UINT64_C(0) : (UINT64_C(1) << here) - 1) << into;
		memcpy(part.bytes + into, bytes, here);
		status = take_part(codes, &part);
		address += here;
		bytes += here;
		size -= here;
	}
	return status;
}

static int take_code(struct hwt_codes *codes, const struct hwt_store *store, const struct hwt_code *code,
		     unsigned char *buffer)
{
	int status = 0;

	for (uint32_t done = 0; done < code->size && status == 0;) {
		const uint32_t left = code->size - done, wanted = left < CHUNK ? left : CHUNK;
		const size_t got = hwt_store_read(store, code->offset + done, buffer, wanted);

		status = take_bytes(codes, code, code->address + done, buffer, got);
		if (got < wanted)
			break;
		done += wanted;
	}
	return status;
}

/* ---- Opening ---- */

static int compare_stamps(const void *left, const void *right)
{
	const struct hwt_code *const *a = left, *const *b = right;

	if ((*a)->stamp != (*b)->stamp)
		return (*a)->stamp < (*b)->stamp ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static int take_all(struct hwt_codes *codes, const struct hwt_file *file)
{
	const struct hwt_code **sorted = calloc(file->codes, sizeof(const struct hwt_code *));
	unsigned char *buffer = malloc(CHUNK);
	int status = sorted && buffer ? 0 : KTREAD_E_MEMORY;

	for (size_t i = 0; status == 0 && i < file->codes; i++)
		sorted[i] = &file->code[i];
	if (status == 0)
		qsort(sorted, file->codes, sizeof(*sorted), compare_stamps);
	for (size_t i = 0; status == 0 && i < file->codes; i++) {
		struct hwt_code code = *sorted[i];

		if (file->machine == EM_X86_64)
			code.space &= CR3_IN_PACKETS;
		status = take_code(codes, &file->store, &code, buffer);
	}
	free(sorted);
	free(buffer);
	return status;
}

int hwt_codes_open(struct hwt_codes **opened, const struct hwt_file *file)
{
	struct hwt_codes *codes;
	int status;

	*opened = NULL;
	if (!file->codes)
		return 0;
	codes = calloc(1, sizeof(*codes));
	if (!codes)
		return KTREAD_E_MEMORY;
	status = take_all(codes, file);
	if (status == 0)
		status = hwt_code_sort(codes);
	if (status < 0)
		hwt_codes_close(codes);
	else
		*opened = codes;
	return status;
}

void hwt_codes_close(struct hwt_codes *codes)
{
	if (!codes)
		return;
	free(codes->line);
	base_index_free(&codes->index);
	free(codes->sorted);
	free(codes->change);
	free(codes);
}

/* ---- Reading ---- */

/*
 * Returns how well a line fits the space and the timestamp of a query, as a rank. Rank 0 is an exact match; a
 * larger rank is worse. A rank that is an odd number means that the version becomes valid after the
 * timestamp. UINT32_MAX: the line must not be used.
 */
static unsigned distance(const struct hwt_code_line *line, uint64_t space, uint64_t stamp, bool any)
{
	const unsigned late = stamp != 0 && line->from > stamp;

	if (line->space == space)
		return late;
	if (line->space == 0)
		return 2 + late;
	return any ? 4 + late : UINT32_MAX;
}

/* Returns a mask of those bytes of a line that are equal in all lines with the same number. */
static uint64_t agreed(const struct hwt_codes *codes, const struct hwt_code_line *line)
{
	uint64_t same = line->known;

	for (uint32_t at = hwt_code_newest(codes, line->number); at != HWT_CODE_NONE;
	     at = codes->line[at].next) {
		const struct hwt_code_line *other = &codes->line[at];

		for (uint64_t both = same & other->known; both; both &= both - 1) {
			const unsigned i = (unsigned)__builtin_ctzll(both);

			if (line->bytes[i] != other->bytes[i])
				same &= ~(UINT64_C(1) << i);
		}
	}
	return same;
}

/*
 * Returns the line from which byte `into` is to be read, or NULL if no line has this byte. The lines with the
 * same number are linked, the newest first. Of the lines that are valid at the timestamp, the newest is the
 * right one. Of the lines that become valid later, the oldest is the right one. Lines of a better rank than
 * the returned line do not contain byte `into`; *before is set to a mask of the other bytes that they
 * contain.
 */
static const struct hwt_code_line *choose(const struct hwt_codes *codes, uint64_t number, unsigned into,
					  uint64_t space, uint64_t stamp, bool any, uint64_t *before)
{
	/* for each rank: mask of the bytes in the lines of this rank, which do not contain byte `into` */
	uint64_t known[DISTANCES] = { 0 };
	const struct hwt_code_line *best = NULL;
	unsigned nearest = UINT32_MAX;

	*before = 0;
	for (uint32_t at = hwt_code_newest(codes, number); at != HWT_CODE_NONE; at = codes->line[at].next) {
		const struct hwt_code_line *line = &codes->line[at];
		const unsigned far = distance(line, space, stamp, any);
		const bool has = line->known >> into & 1;

		if (far == UINT32_MAX)
			continue;
		if (has && (far < nearest || (far == nearest && far % 2))) {
			best = line;
			nearest = far;
			/*
			 * If the rank is an odd number (valid after the timestamp), this line is a better
			 * match than the lines of the same rank that came before it in the list: drop those
			 * lines.
			 */
			if (far % 2)
				known[far] = 0;
		} else if (far != nearest || far % 2) {
			known[far] |= line->known;
		}
	}
	for (unsigned far = 0; far < DISTANCES && far <= nearest; far++)
		*before |= known[far];
	return best;
}

size_t hwt_codes_read(const struct hwt_codes *codes, uint64_t space, uint64_t stamp, uint64_t address,
		      unsigned char *to, size_t size, bool any)
{
	size_t done = 0;

	while (codes && done < size) {
		const unsigned into = (unsigned)((address + done) % HWT_CODE_LINE);
		uint64_t known, unknown, before;
		const struct hwt_code_line *line =
			choose(codes, (address + done) / HWT_CODE_LINE, into, space, stamp, any, &before);
		size_t here;

		if (!line)
			break;
		/* a line of another space is only a guess: use only the bytes in which all lines agree */
		known = line->space == space || line->space == 0 ? line->known : agreed(codes, line);
		if (!(known >> into & 1))
			break;
		unknown = ~((known & ~before) >> into);
		here = unknown ? (size_t)__builtin_ctzll(unknown) : HWT_CODE_LINE;
		if (here > HWT_CODE_LINE - into)
			here = HWT_CODE_LINE - into;
		if (here > size - done)
			here = size - done;
		memcpy(to + done, line->bytes + into, here);
		done += here;
	}
	return done;
}

size_t hwt_codes_unknown(const struct hwt_codes *codes, uint64_t space, uint64_t address, size_t size,
			 bool any)
{
	size_t done = 0;

	while (codes && done < size) {
		const unsigned into = (unsigned)((address + done) % HWT_CODE_LINE);
		uint64_t known = 0;

		for (uint32_t at = hwt_code_newest(codes, (address + done) / HWT_CODE_LINE);
		     at != HWT_CODE_NONE; at = codes->line[at].next)
			if (any || codes->line[at].space == space || codes->line[at].space == 0)
				known |= codes->line[at].known;
		if (known >> into) {
			done += (size_t)__builtin_ctzll(known >> into);
			break;
		}
		done += HWT_CODE_LINE - into;
	}
	return codes && done < size ? done : size;
}

void hwt_codes_period(const struct hwt_codes *codes, uint64_t stamp, uint64_t address, uint64_t *from,
		      uint64_t *until)
{
	const uint64_t at = stamp ? stamp : UINT64_MAX - 1; /* timestamp 0 means the newest code */

	*from = 0;
	*until = UINT64_MAX;
	if (!codes)
		return;
	for (uint32_t n = hwt_code_newest(codes, address / HWT_CODE_LINE); n != HWT_CODE_NONE;
	     n = codes->line[n].next) {
		const uint64_t begins = codes->line[n].from;

		if (begins <= at && begins > *from)
			*from = begins;
		if (begins > at && begins < *until)
			*until = begins;
	}
}

/* ---- Runs of lines: ranges of adjacent lines whose code does not change during a period ---- */

#define PERIOD 32u /* number of changes of code in one period */

static int compare_places(const void *left, const void *right)
{
	const struct hwt_code_line *const *a = left, *const *b = right;

	if ((*a)->space != (*b)->space)
		return (*a)->space < (*b)->space ? -1 : 1;
	if ((*a)->number != (*b)->number)
		return (*a)->number < (*b)->number ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static int compare_runs(const void *left, const void *right)
{
	const struct hwt_code_run *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static bool same_place(const struct hwt_code_line *a, const struct hwt_code_line *b)
{
	return a->number == b->number && a->space == b->space;
}

/*
 * Marks the lines that have versions for all spaces and also versions for a single space. The bytes at the
 * addresses of such a line depend on the space.
 */
static void find_shared(struct hwt_codes *codes)
{
	for (size_t i = 0; i < codes->lines && codes->sorted[i]->space == 0; i++) {
		bool shared = false;

		for (uint32_t at = hwt_code_newest(codes, codes->sorted[i]->number);
		     at != HWT_CODE_NONE && !shared; at = codes->line[at].next)
			shared = codes->line[at].space != 0;
		for (uint32_t at = hwt_code_newest(codes, codes->sorted[i]->number);
		     at != HWT_CODE_NONE && shared; at = codes->line[at].next)
			codes->line[at].shared = true;
	}
}

static int hwt_code_sort(struct hwt_codes *codes)
{
	codes->sorted = calloc((size_t)codes->lines + 1, sizeof(struct hwt_code_line *));
	codes->change = calloc((size_t)codes->lines + 1, sizeof(*codes->change));
	if (!codes->sorted || !codes->change)
		return KTREAD_E_MEMORY;
	for (size_t i = 0; i < codes->lines; i++)
		codes->sorted[i] = &codes->line[i];
	qsort(codes->sorted, codes->lines, sizeof(*codes->sorted), compare_places);
	for (size_t i = 1; i < codes->lines; i++)
		if (same_place(codes->sorted[i - 1], codes->sorted[i]))
			codes->change[codes->changes++] = codes->sorted[i]->from;
	qsort(codes->change, codes->changes, sizeof(*codes->change), compare_numbers);
	find_shared(codes);
	return 0;
}

/*
 * Returns the number of changes up to a timestamp. Returns the number of all changes if the timestamp is 0
 * (unknown).
 */
static size_t changes_until(const struct hwt_codes *codes, uint64_t stamp)
{
	return stamp ? base_count_up_to(codes->change, codes->changes, sizeof(*codes->change), 0, stamp)
		     : codes->changes;
}

/* Returns the timestamp of the n-th change, or UINT64_MAX if there are fewer changes. */
static uint64_t change_at(const struct hwt_codes *codes, size_t n)
{
	return n < codes->changes ? codes->change[n] : UINT64_MAX;
}

static int add_run(struct hwt_code_runs *runs, const struct hwt_code_line *line, bool fixed, bool apart)
{
	const struct hwt_code_run run = { .address = line->number * HWT_CODE_LINE,
					  .size = HWT_CODE_LINE,
					  .space = line->space,
					  .fixed = fixed,
					  .apart = apart };
	struct hwt_code_run *last = runs->count ? &runs->run[runs->count - 1] : NULL, *grown;

	if (last && last->fixed == fixed && last->space == run.space &&
	    last->address + last->size == run.address) {
		last->size += run.size;
		return 0;
	}
	grown = base_grow(runs->run, &runs->room, runs->count + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	runs->run = grown;
	runs->run[runs->count++] = run;
	return 0;
}

/*
 * Adds runs of lines. If `fixed` is set, adds the lines that are not `shared` and do not change between the
 * beginning of the period and the timestamp `settled`. Otherwise, adds all other lines.
 */
static int add_lines(const struct hwt_codes *codes, struct hwt_code_runs *runs, bool fixed, uint64_t settled)
{
	bool apart = true;
	int status = 0;
	size_t end;

	for (size_t i = 0; i < codes->lines && status == 0; i = end) {
		const struct hwt_code_line *line = codes->sorted[i];
		bool changes = line->shared;

		for (end = i + 1; end < codes->lines && same_place(line, codes->sorted[end]); end++)
			changes |=
				codes->sorted[end]->from > runs->from && codes->sorted[end]->from < settled;
		if (changes != fixed)
			status = add_run(runs, line, fixed, apart);
		apart = changes == fixed || (end < codes->lines && codes->sorted[end]->space != line->space);
	}
	return status;
}

int hwt_codes_runs(const struct hwt_codes *codes, uint64_t stamp, struct hwt_code_runs *runs)
{
	const size_t period = codes ? changes_until(codes, stamp) / PERIOD * PERIOD : 0;
	int status;

	runs->count = runs->changing = 0;
	runs->from = period ? codes->change[period - 1] : 0;
	runs->until = UINT64_MAX;
	if (!codes)
		return 0;
	/* A period contains PERIOD changes. `period` is the number of changes before the period. */
	runs->until = change_at(codes, period + PERIOD - 1);
	status = add_lines(codes, runs, false, change_at(codes, period + 2 * PERIOD - 1));
	runs->changing = runs->count;
	if (runs->changing)
		qsort(runs->run, runs->changing, sizeof(*runs->run), compare_runs);
	return status < 0 ? status : add_lines(codes, runs, true, change_at(codes, period + 2 * PERIOD - 1));
}
