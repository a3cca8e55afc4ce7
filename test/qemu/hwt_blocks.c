/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwt_blocks RINGS LOG: decodes what the trace unit in software has left (out=RINGS), and compares it with QEMU's own log of the
 * same run (-d exec,nochain -D LOG): each virtual CPU must have run the same blocks, one after another. A line each:
 *
 *	cpu 0: blocks 1234 equal 1230 unfinished 4 stray 0 gaps 0 bytes 567 branches 890
 *
 * unfinished: in the log alone: QEMU did not run it after all ("Stopped execution"), or not one of its instructions was run, as
 * far as the unit can tell, before an interrupt or exception came; stray: runs that do not begin or go on where the log says. Ends with 1 if there are strays or gaps, or if
 * more than one block in a hundred is unfinished.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/hwt.h"
#include "ktrx/hwt_unit.h"

#define SLOTS		(1u << 22)
#define UNFINISHED_MOST 64u /* of a loop: all that QEMU has stopped before are only seen at its end */

/* ---- Which sizes blocks have ------------------------------------------------------------------- */

struct size {
	uint64_t address; /* plus 1; 0: free */
	uint32_t size;
};

static struct size *sizes;

static size_t slot_of(uint64_t address)
{
	return (size_t)((address + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 42);
}

static void add_size(uint64_t address, uint32_t size)
{
	size_t i = slot_of(address);

	for (; sizes[i].address != 0; i = (i + 1) % SLOTS)
		if (sizes[i].address == address + 1 && sizes[i].size == size)
			return;
	sizes[i] = (struct size){ address + 1, size };
}

static void *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;

	if (file && fseek(file, 0, SEEK_END) == 0) {
		*size = (size_t)ftell(file);
		rewind(file);
		bytes = malloc(*size + 1);
	}
	if (!bytes || fread(bytes, 1, *size, file) != *size) {
		perror(path);
		exit(2);
	}
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

static void read_sizes(const char *path)
{
	size_t size;
	unsigned char *file = read_all(path, &size);
	const struct ktrx_hwt_rings *head = (const void *)file;
	struct ktrx_hwt_seen seen;

	sizes = calloc(SLOTS, sizeof(*sizes));
	if (!sizes)
		exit(2);
	for (uint64_t at = head->code; at + sizeof(seen) <= head->code + head->code_size;
	     at += sizeof(seen) + ((seen.size + UINT64_C(7)) & ~UINT64_C(7))) {
		memcpy(&seen, file + at, sizeof(seen));
		add_size(seen.address, seen.size);
	}
	free(file);
}

/* ---- QEMU's log -------------------------------------------------------------------------------- */

struct log {
	uint64_t *start;
	size_t count, room;
	size_t at;
};

static void add_block(struct log *log, uint64_t start)
{
	if (log->count == log->room) {
		log->room = log->room ? 2 * log->room : 65536;
		log->start = realloc(log->start, log->room * sizeof(*log->start));
		if (!log->start)
			exit(2);
	}
	log->start[log->count++] = start;
}

/* Lines of blocks as "Trace 0: 0x7f… [cs_base/pc/flags/…] name". */
static struct log read_log(char *text, unsigned cpu)
{
	struct log log = { 0 };
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "Trace %u:", cpu);
	for (char *line = text, *end; *line; line = end + 1) {
		const char *pc;

		end = strchr(line, '\n');
		if (!end)
			break;
		if (strncmp(line, prefix, strlen(prefix)) == 0 && (pc = strchr(line, '/')) != NULL)
			add_block(&log, strtoull(pc + 1, NULL, 16));
	}
	return log;
}

/* ---- Side by side ------------------------------------------------------------------------------ */

struct tally {
	uint64_t equal, unfinished, stray, gaps, branches;
};

/* Behind the block that was run from `address` on, in a run up to `end`. */
static uint64_t block_end(const struct log *log, uint64_t address, uint64_t end)
{
	uint64_t best = end;

	for (size_t i = slot_of(address); sizes[i].address != 0; i = (i + 1) % SLOTS) {
		uint64_t behind = address + sizes[i].size;

		if (sizes[i].address != address + 1)
			continue;
		if (behind == end)
			return end;
		if (behind < end && log->at < log->count && log->start[log->at] == behind)
			best = behind;
	}
	return best;
}

/* Blocks that were interrupted, or that QEMU stopped before and logged again when it ran them. */
static void skip_unfinished(struct log *log, uint64_t address, struct tally *tally)
{
	for (size_t some = 0; some < UNFINISHED_MOST && log->at + some < log->count; some++) {
		if (log->start[log->at + some] != address)
			continue;
		tally->unfinished += some;
		log->at += some;
		return;
	}
}

/* The run that is decoded is one or more blocks of the log. */
static void compare(struct log *log, const struct hwt_step *run, struct tally *tally)
{
	for (uint64_t at = run->address; at < run->end;) {
		skip_unfinished(log, at, tally);
		if (log->at == log->count || log->start[log->at] != at) {
			if (tally->stray++ < 5)
				printf("# stray %" PRIx64 " to %" PRIx64 " at %" PRIu64 ", log has %" PRIx64
				       "\n",
				       at, run->last, run->offset,
				       log->at < log->count ? log->start[log->at] : 0);
			return;
		}
		log->at++;
		tally->equal++;
		at = block_end(log, at, run->end);
	}
}

/* Up to where the unit says that it begins. */
static void begin(struct log *log, uint64_t address)
{
	while (log->at < log->count && log->start[log->at] != address)
		log->at++;
}

static int check_cpu(const struct hwt_file *file, struct hwt_images *images, size_t number, struct log *log)
{
	const struct hwt_stream *stream = hwt_file_stream(file, number);
	struct tally tally = { 0 };
	struct hwt_decoder *decoder;
	const struct hwt_step *step;
	int status = hwt_decoder_open(&decoder, file, number, images), begun = 0;

	while (status >= 0 && (status = hwt_decoder_next(decoder, &step)) > 0) {
		if (step->kind == HWT_ON && !begun)
			begin(log, step->address);
		begun |= step->kind == HWT_ON;
		if (step->kind == HWT_RUN)
			compare(log, step, &tally);
		if (step->kind == HWT_GAP && tally.gaps++ < 5)
			printf("# gap %" PRIx64 " at %" PRIu64 ": %s\n", step->address, step->offset,
			       step->text);
		tally.branches += step->kind == HWT_RUN && step->branch != HWT_BRANCH_NONE;
	}
	if (status < 0)
		printf("# %s\n", hwt_decoder_message(decoder));
	hwt_decoder_close(decoder);
	printf("cpu %" PRIu32 ": blocks %zu equal %" PRIu64 " unfinished %" PRIu64 " stray %" PRIu64
	       " gaps %" PRIu64 " bytes %" PRIu64 " branches %" PRIu64 "\n",
	       stream->cpu, log->count, tally.equal, tally.unfinished, tally.stray, tally.gaps, stream->bytes,
	       tally.branches);
	return status < 0 || tally.stray || tally.gaps || tally.equal == 0 ||
	       tally.unfinished > tally.equal / 100 + 5;
}

int main(int count, char **argument)
{
	struct hwt_file *file;
	struct hwt_images *images;
	size_t size;
	char *text;
	int wrong = 0;

	if (count != 3)
		return 2;
	if (hwt_file_open(&file, argument[1]) < 0) {
		fprintf(stderr, "%s\n", hwt_file_message(file));
		return 2;
	}
	if (hwt_images_new(&images, file, NULL) < 0)
		return 2;
	read_sizes(argument[1]);
	text = read_all(argument[2], &size);
	for (size_t n = 0; n < hwt_file_streams(file); n++) {
		struct log log = read_log(text, hwt_file_stream(file, n)->cpu);

		if (log.count)
			wrong |= check_cpu(file, images, n, &log);
		free(log.start);
	}
	free(text);
	free(sizes);
	hwt_images_free(images);
	hwt_file_close(file);
	return wrong;
}
