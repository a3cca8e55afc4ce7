/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Detects the format of a process trace. Our own format has a magic. The files of the BSDs have no magic, and
 * two of their formats have heads of the same size. So the reader tries each format, and chooses the format
 * in which the most consecutive records are plausible. In a wrong format, one record may be plausible by
 * chance, but the records after it are not.
 */
#include <stdio.h>

#include "ktrx/v2.h"
#include "proc_state.h"

#define HEAD_LONGEST	64
#define LEAST_BYTES	(sizeof(struct ktrx_proc_head) + KTREAD_PROC_MARKED_LEAST)
#define TRIED_BYTES	65536u
#define TRIED_RECORDS	64u
#define PAYLOAD_LIKELY	(INT32_C(1) << 28)
#define SECONDS_LIKELY	(INT64_C(1) << 34)
#define SECONDS_BETWEEN 86400

/*
 * Points for a plausible record. A record gets one more point for a known type, one for a right size, and one
 * for a plausible time. A record that ends where the file ends gets POINTS_END.
 */
#define POINTS_NAME    2
#define POINTS_NO_NAME 1
#define POINTS_LIKELY  4
#define POINTS_END     2

/*
 * Returns the points for the name field of a head. A name that ends in a NUL gets the most points. An empty
 * field (a process without a name) and a name without a NUL are possible, but less likely. A name with
 * control characters gets 0.
 */
static int points_of_name(const uint8_t *name, uint32_t size)
{
	uint32_t length = (uint32_t)strnlen((const char *)name, size);

	for (uint32_t i = 0; i < length; i++)
		if (name[i] < 0x20 || name[i] == 0x7f)
			return 0;
	for (uint32_t i = length; length == 0 && i < size; i++)
		if (name[i] != 0)
			return 0;
	return length > 0 && length < size ? POINTS_NAME : POINTS_NO_NAME;
}

/*
 * Returns the points of a head, which show how plausible the head is. `left` is the number of bytes after the
 * head. `before` is the time of the previous head in seconds, or negative if there is no previous head.
 */
static int points_of(const struct ktread_proc_layout *layout, const uint8_t *bytes,
		     const struct ktread_proc_bsd_head *head, size_t left, int64_t before)
{
	const uint64_t parts = layout->nanoseconds ? 1000000000 : 1000000;
	int points = 0;

	if (head->size < 0 || head->size > PAYLOAD_LIKELY || head->part >= parts || head->seconds < 0 ||
	    head->seconds > SECONDS_LIKELY || head->pid > INT32_MAX)
		return 0;
	if (layout->cpu && (ktread_bsd_16(bytes + 6) != 1 || head->cpu > UINT16_MAX))
		return 0;
	if (layout->flags && ktread_bsd_16(bytes + layout->flags) & 0xfe)
		return 0;
	if (head->type < 32 && layout->types >> head->type & 1)
		points += 1 + ktread_proc_bsd_fits(layout, head, bytes + layout->head, left);
	points += points_of_name(bytes + layout->comm, layout->comm_size);
	points += before < 0 ||
		  (head->seconds >= before - SECONDS_BETWEEN && head->seconds <= before + SECONDS_BETWEEN);
	return points;
}

/*
 * Returns the sum of the points of all records if the file is read in this format. Returns 0 if the file
 * cannot have this format, or there are too few bytes.
 */
static int points_by(struct ktread_proc *trace, const struct ktread_proc_reader *reader)
{
	const uint8_t *bytes = ktread_proc_bytes(&trace->input), *end = bytes;
	bool versioned = !reader->versioned, enough;
	int64_t before = -1;
	int sum = 0;

	end += ktread_proc_at_hand(&trace->input);
	enough = end - bytes >= HEAD_LONGEST;
	for (uint32_t n = 0; n < TRIED_RECORDS && end - bytes >= reader->layout->head; n++) {
		const struct ktread_proc_layout *layout = ktread_proc_bsd_layout(reader, bytes);
		struct ktread_proc_bsd_head head;
		ptrdiff_t left = end - bytes - layout->head;
		int points;

		if (left < 0)
			break;
		ktread_proc_bsd_take_head(layout, bytes, &head);
		points = points_of(layout, bytes, &head, (size_t)left, before);
		if (points < POINTS_LIKELY)
			break;
		versioned |= layout == reader->versioned;
		before = head.seconds;
		sum += points + (left == head.size ? POINTS_END : 0);
		enough |= left == head.size;
		if (left <= head.size)
			break;
		bytes += layout->head + head.size;
	}
	return versioned && enough ? sum : 0;
}

static int undecided(struct ktread_proc *trace, const char *names)
{
	return ktread_fail(
		KTREAD_E_FORMAT,
		"%s: its first records fit more than one format (%s): choose one with kdump --format",
		trace->input.name, names);
}

/*
 * Chooses the format with the most points. Returns 1 if one format has more points than all others. Returns 0
 * if no format has points. If several formats have the most points, returns 0 if `more` is set, otherwise an
 * error, because no more bytes will come.
 */
static int choose(struct ktread_proc *trace, const struct ktread_proc_reader **reader, bool more)
{
	char names[128] = "";
	int most = 0;

	for (const struct ktread_proc_reader *tried = ktread_proc_bsd; tried->format; tried++) {
		int points = points_by(trace, tried);
		size_t used = strlen(names);

		if (points == 0 || points < most)
			continue;
		if (points > most)
			used = 0;
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? " or " : "", tried->name);
		*reader = points > most ? tried : NULL;
		most = points;
	}
	if (most && !*reader && !more)
		return undecided(trace, names);
	return *reader != NULL;
}

static bool is_ktrx(const uint8_t *bytes, size_t left)
{
	const size_t record = sizeof(struct ktrx_proc_head);

	if (left >= 4 && ktread_proc_ktrx_is_magic(bytes))
		return true;
	/* the session's head may be damaged, but the first record after it may still show the format */
	return left >= record + KTREAD_PROC_MARKED_LEAST && ktread_proc_ktrx_is_record(bytes + record);
}

static bool is_rings(const uint8_t *bytes, size_t left)
{
	return left >= 4 && memcmp(bytes, KTRX_MAGIC, 4) == 0;
}

int ktread_proc_detect(struct ktread_proc *trace, const struct ktread_proc_reader **reader)
{
	struct ktread_proc_input *input = &trace->input;
	const size_t before = ktread_proc_at_hand(input);
	bool more;
	int status;

	*reader = NULL;
	/*
	 * From a pipe, wait only for as many bytes as are needed to recognize a magic. From an input that is
	 * followed, read only the bytes that have been written so far.
	 */
	ktread_proc_want(input, before < LEAST_BYTES ? LEAST_BYTES : before + 1);
	if (is_ktrx(ktread_proc_bytes(input), ktread_proc_at_hand(input))) {
		*reader = &ktread_proc_ktrx;
		return 1;
	}
	if (!input->follow)
		ktread_proc_want(input, TRIED_BYTES);
	more = ktread_proc_may_grow(input) && ktread_proc_at_hand(input) < TRIED_BYTES;
	if (ktread_proc_at_hand(input) < (more ? HEAD_LONGEST : 1))
		return 0;
	if (is_rings(ktread_proc_bytes(input), ktread_proc_at_hand(input)))
		return ktread_fail(
			KTREAD_E_FORMAT,
			"%s: a trace of a kernel's events, not a process trace or a hardware trace",
			input->name);
	status = choose(trace, reader, more);
	if (status != 0 || more)
		return status;
	return ktread_fail(KTREAD_E_FORMAT,
			   "%s: not a process trace: its first %zu bytes fit no known format", input->name,
			   ktread_proc_at_hand(input));
}
