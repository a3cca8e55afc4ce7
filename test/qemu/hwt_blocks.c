/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwt_blocks [--both] RINGS [LOG [START END]]: decodes what the trace unit in software has recorded (out=RINGS), and
 * compares it with QEMU's own log of the same run (-d exec,nochain -D LOG): each virtual CPU must have run
 * the same blocks in the same order. With START and END only code at these addresses is compared; the log may
 * be restricted to them (-dfilter). Without LOG the trace is decoded but not compared. With --both, each
 * decoded run of instructions is also compared in several parts: a decoder may end such a run at a
 * synchronisation point, anywhere in a block. Prints a line for each CPU, with --both another one for the
 * comparison in parts:
 *
 *	cpu 0: blocks 1234 equal 1230 cut 3 unfinished 4 stray 0 gaps 0 left 0 bytes 567 branches 890 instructions 4567
 *
 *	cut		blocks of the unit that are the last part of a block of QEMU, at the end of a page
 *	unfinished	blocks that only the log has. An interrupt or exception came before their first
 *			instruction ended, or QEMU stopped before the block and did not log on which CPU.
 *	stray		decoded runs that do not begin or continue where the log does
 *	left		blocks of the log after the last decoded run
 *
 * The exit status is 1 if there are strays or gaps, if nothing or too little was decoded, or if more than one
 * block in a hundred is unfinished. If this is so in the comparison in parts, 4 is added.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwt/hwt.h"
#include "ktrx/hwt_unit.h"

#define SLOTS (1u << 22)
/*
 * maximum number of unfinished blocks before a decoded block; if unfinished blocks are in a loop, the next
 * decoded block may be the one after the loop
 */
#define UNFINISHED_MOST 64u

/*
 * The log may have a few blocks more than the trace. These are the last block, which did not reach its end;
 * blocks that QEMU had logged but not yet run; and blocks whose branches were not yet written as a packet
 * when QEMU ended.
 */
#define LEFT_MOST      3u
#define LEFT_MOST_PT   (LEFT_MOST + 47u) /* in addition, the branches that one packet may contain */
#define LEFT_MOST_ETM4 (LEFT_MOST + 24u)

#define WRONG	       1
#define WRONG_IN_PARTS 4

static size_t left_most;

/* ---- Sizes of blocks --------------------------------------------------------------------------- */

struct size {
	uint64_t address; /* address of the block plus 1; 0 if the entry is free */
	uint64_t space;	  /* address space of the code; 0: any */
	uint32_t size;
	/* true if the block is one instruction that repeats itself; QEMU logs a block for each repetition */
	bool repeats;
};

static struct size *sizes;

static size_t slot_of(uint64_t address)
{
	return (size_t)((address + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 42);
}

/* Returns true if a block of x86 code is only a string instruction with a repeat prefix. */
static bool is_repeated(uint32_t encoding, const unsigned char *bytes, uint32_t size)
{
	bool repeats = false;
	uint32_t i = 0;

	for (; i < size && (bytes[i] == 0xf2 || bytes[i] == 0xf3 || bytes[i] == 0x66 || bytes[i] == 0x67 ||
			    bytes[i] >> 4 == 4);
	     i++)
		repeats |= bytes[i] >> 1 == 0x79;
	return encoding == KTRX_HWT_ENCODING_PT && repeats && i + 1 == size &&
	       ((bytes[i] >= 0xa4 && bytes[i] <= 0xaf && bytes[i] >> 1 != 0x54) || bytes[i] >> 2 == 0x1b);
}

static void add_size(uint32_t encoding, const struct ktrx_hwt_seen *seen, const unsigned char *bytes)
{
	size_t i = slot_of(seen->address);

	for (; sizes[i].address != 0; i = (i + 1) % SLOTS)
		if (sizes[i].address == seen->address + 1 && sizes[i].size == seen->size &&
		    sizes[i].space == seen->space)
			return;
	sizes[i] = (struct size){ seen->address + 1, seen->space, seen->size,
				  is_repeated(encoding, bytes, seen->size) };
}

static const unsigned char *map(const char *path, size_t *size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *bytes = end <= 0 ? MAP_FAILED : mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED) {
		perror(path);
		exit(2);
	}
	close(fd);
	*size = (size_t)end;
	return bytes;
}

static void read_sizes(const char *path)
{
	size_t size;
	const unsigned char *file = map(path, &size);
	const struct ktrx_hwt_rings *head = (const void *)file;
	struct ktrx_hwt_seen seen;

	left_most = head->encoding == KTRX_HWT_ENCODING_PT ? LEFT_MOST_PT : LEFT_MOST_ETM4;
	sizes = calloc(SLOTS, sizeof(*sizes));
	if (!sizes)
		exit(2);
	for (uint64_t at = head->code; at + sizeof(seen) <= head->code + head->code_size;
	     at += sizeof(seen) + ((seen.size + UINT64_C(7)) & ~UINT64_C(7))) {
		memcpy(&seen, file + at, sizeof(seen));
		add_size(head->encoding, &seen, file + at + sizeof(seen));
	}
	munmap((void *)(uintptr_t)file, size);
}

/* ---- QEMU's log -------------------------------------------------------------------------------- */

struct log {
	uint64_t *start;
	size_t count, room;
	size_t at;
	/*
	 * address of QEMU's translation of the last block, by which QEMU's log identifies the block; 0 if
	 * there is none
	 */
	uint64_t last;
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

/*
 * Removes a block that QEMU logged but did not run. QEMU logs a block before it runs it. If QEMU must
 * interrupt the CPU first, it stops before the block, logs this without the CPU's number, and logs the block
 * again later. On a busy host this happens hundreds of times in one loop. The block is removed only if it is
 * the last block of exactly one CPU.
 */
static void take_back(struct log *logs, size_t cpus, uint64_t block)
{
	struct log *found = NULL;

	for (size_t i = 0; i < cpus; i++) {
		if (logs[i].last != block)
			continue;
		if (found)
			return;
		found = &logs[i];
	}
	if (!found)
		return;
	found->count--;
	found->last = 0;
}

/*
 * Reads the log: a line "Trace 0: 0x7f… [cs_base/pc/flags/…] name" for each block of a CPU, and lines
 * "Stopped execution of TB chain before 0x7f… [pc] name" (accel/tcg/cpu-exec.c of QEMU).
 */
static void read_log(const char *path, struct log *logs, size_t cpus)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file)) {
		const bool is_block = strncmp(line, "Trace ", 6) == 0;
		const char *pc = is_block ? strchr(line, '/') : NULL;
		const char *stopped = is_block ? NULL : strstr(line, "TB chain before ");
		char *end;
		unsigned long cpu;

		if (stopped)
			take_back(logs, cpus, strtoull(stopped + strlen("TB chain before "), NULL, 16));
		if (!pc)
			continue;
		cpu = strtoul(line + 6, &end, 10);
		if (*end != ':' || cpu >= cpus)
			continue;
		add_block(&logs[cpu], strtoull(pc + 1, NULL, 16));
		logs[cpu].last = strtoull(end + 1, NULL, 16);
	}
	fclose(file);
}

/* ---- Comparison of decoded runs with the log --------------------------------------------------- */

struct comparison {
	struct log log;
	/* only code from `start` on and before `end` is compared; if `end` is 0, all code */
	uint64_t start, end;
	bool in_parts;
	/* true if the decoder has returned a step of another type since the last run of instructions */
	bool synchronised;
	uint64_t run_end;	  /* end address of the last run of instructions */
	uint64_t block_end;	  /* end address of the last block, as far as the block was run */
	uint64_t block_whole_end; /* end address of the last block, as QEMU translated it */
	uint64_t equal, cut, unfinished, stray, gaps, branches, instructions;
};

/* Returns true if the block at `address` repeats itself, and its only instruction ends or begins at `end`. */
static bool repeats(uint64_t end, uint64_t address)
{
	for (size_t i = slot_of(address); sizes[i].address != 0; i = (i + 1) % SLOTS)
		if (sizes[i].address == address + 1 && sizes[i].repeats &&
		    (address == end || address + sizes[i].size == end))
			return true;
	return false;
}

/*
 * Returns the end of the block that was run from `address`. QEMU may have translated the block several times,
 * with different sizes. If the log continues at the end of one of these translations, returns that end;
 * otherwise the end of the decoded run.
 */
static uint64_t find_block_end(struct comparison *comparison, uint64_t address, const struct hwt_step *run)
{
	const struct log *log = &comparison->log;
	const uint64_t next = log->at < log->count ? log->start[log->at] : 0;
	uint64_t best = run->end;

	comparison->block_whole_end = run->end;
	for (size_t i = slot_of(address); sizes[i].address != 0; i = (i + 1) % SLOTS) {
		const uint64_t end = address + sizes[i].size;

		if (sizes[i].address != address + 1 || (sizes[i].space != 0 && sizes[i].space != run->space))
			continue;
		if (end > comparison->block_whole_end)
			comparison->block_whole_end = end;
		if (end < run->end &&
		    ((end == next && end != run->to) || (end & 4095) + 15 > 4096 || repeats(end, next)))
			best = end;
	}
	return best;
}

/* Returns true if the log's next block starts at the address. */
static bool is_next(const struct log *log, uint64_t address)
{
	return log->at < log->count && log->start[log->at] == address;
}

/* Returns true if the address is inside the log's next block, but not at its start. */
static bool is_within_next(const struct log *log, uint64_t address)
{
	const uint64_t start = log->at < log->count ? log->start[log->at] : UINT64_MAX;

	for (size_t i = slot_of(start); start < address && sizes[i].address != 0; i = (i + 1) % SLOTS)
		if (sizes[i].address == start + 1 && address < start + sizes[i].size)
			return true;
	return false;
}

/*
 * Advances the log to the block at `address`. Skips blocks that were interrupted, or before which QEMU
 * stopped. Returns false if the block is not among the next ones.
 */
static bool catch_up(struct comparison *comparison, uint64_t address)
{
	struct log *log = &comparison->log;
	uint64_t unfinished = 0;

	for (size_t at = log->at; unfinished < UNFINISHED_MOST && at < log->count; at++) {
		if (log->start[at] == address) {
			comparison->unfinished += unfinished;
			log->at = at + 1;
			return true;
		}
		unfinished += !repeats(comparison->block_end, log->start[at]);
	}
	return false;
}

static void report_stray(struct comparison *comparison, const struct hwt_step *run, uint64_t at)
{
	const struct log *log = &comparison->log;

	if (comparison->stray++ < 5)
		printf("# stray %" PRIx64 " to %" PRIx64 " at %" PRIu64 ", log has %" PRIx64 "\n", at,
		       run->last, run->offset, log->at < log->count ? log->start[log->at] : 0);
}

/*
 * Compares a decoded run of instructions with the log. Such a run consists of one or more blocks. After a
 * synchronisation, it may begin in the middle of a block.
 */
static void compare(struct comparison *comparison, const struct hwt_step *run)
{
	uint64_t at = run->address;

	if (comparison->synchronised && is_within_next(&comparison->log, at)) {
		comparison->equal++;
		at = find_block_end(comparison, comparison->log.start[comparison->log.at++], run);
		comparison->block_end = at;
	} else if (at == comparison->run_end && at < comparison->block_whole_end) {
		at = run->end < comparison->block_whole_end ? run->end : comparison->block_whole_end;
		comparison->block_end = at;
	}
	for (; at < run->end; at = comparison->block_end) {
		/*
		 * The unit makes a separate block of an instruction that may reach into the next page.
		 * QEMU makes a separate block only if the instruction really reaches into that page. The
		 * separate block is then the next block in the log; a later block with this address
		 * belongs to a later execution.
		 */
		const bool rest = at == comparison->block_end && (at & 4095) + 15 > 4096;

		if (rest && !is_next(&comparison->log, at)) {
			comparison->cut++;
		} else if (catch_up(comparison, at)) {
			comparison->equal++;
		} else {
			report_stray(comparison, run, at);
			break;
		}
		comparison->block_end = find_block_end(comparison, at, run);
	}
	comparison->run_end = run->end;
	comparison->synchronised = false;
}

/*
 * Compares a decoded run of instructions in three parts. The first part ends inside the first instruction:
 * only addresses are compared. The last part is the last instruction.
 */
static void compare_in_parts(struct comparison *comparison, const struct hwt_step *run)
{
	struct hwt_step part = *run;
	const uint64_t ends[] = { run->address + 1, run->last, run->end };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (ends[i] <= part.address)
			continue;
		part.end = ends[i];
		part.to = ends[i] == run->end ? run->to : ends[i];
		compare(comparison, &part);
		part.address = ends[i];
	}
}

/* Advances the log to the block at which the unit began to record. */
static void begin(struct log *log, uint64_t address)
{
	while (log->at < log->count && log->start[log->at] != address)
		log->at++;
}

static void take(struct comparison *comparison, const struct hwt_step *step)
{
	if (step->kind == HWT_GAP && comparison->gaps++ < 5 && !comparison->in_parts)
		printf("# gap %" PRIx64 " at %" PRIu64 ": %s\n", step->address, step->offset, step->text);
	if (step->kind != HWT_RUN) {
		comparison->synchronised = true;
		return;
	}
	comparison->branches += step->branch != HWT_BRANCH_NONE;
	comparison->instructions += step->instructions;
	if (comparison->log.count &&
	    (!comparison->end || (step->address >= comparison->start && step->address < comparison->end)))
		(comparison->in_parts ? compare_in_parts : compare)(comparison, step);
}

/* Prints the line about a CPU. Returns true if the comparison failed. */
static bool report(const struct hwt_stream *stream, const struct comparison *comparison)
{
	const struct log *log = &comparison->log;

	printf("cpu %" PRIu32 ": blocks %zu equal %" PRIu64 " cut %" PRIu64 " unfinished %" PRIu64
	       " stray %" PRIu64 " gaps %" PRIu64 " left %zu bytes %" PRIu64 " branches %" PRIu64
	       " instructions %" PRIu64 "%s\n",
	       stream->cpu, log->count, comparison->equal, comparison->cut, comparison->unfinished,
	       comparison->stray, comparison->gaps, log->count - log->at, stream->bytes, comparison->branches,
	       comparison->instructions, comparison->in_parts ? " in parts" : "");
	return comparison->stray || comparison->gaps || comparison->instructions == 0 ||
	       (log->count && comparison->equal == 0) || log->count - log->at > left_most ||
	       comparison->unfinished > comparison->equal / 100 + 5;
}

/* Decodes the trace of a CPU, and makes `count` comparisons. Returns WRONG, WRONG_IN_PARTS, both or 0. */
static int check_cpu(const struct hwt_file *file, struct hwt_images *images, size_t number,
		     struct comparison *comparisons, size_t count)
{
	struct hwt_decoder *decoder;
	const struct hwt_step *step;
	bool begun = comparisons[0].end != 0;
	int status = hwt_decoder_open(&decoder, file, number, images), wrong;

	while (status >= 0 && (status = hwt_decoder_next(decoder, &step)) > 0) {
		for (size_t i = 0; i < count; i++) {
			if (step->kind == HWT_ON && !begun)
				begin(&comparisons[i].log, step->address);
			take(&comparisons[i], step);
		}
		begun |= step->kind == HWT_ON;
	}
	if (status < 0)
		printf("# %s\n", hwt_decoder_message(decoder));
	hwt_decoder_close(decoder);
	wrong = status < 0 ? WRONG | WRONG_IN_PARTS : 0;
	for (size_t i = 0; i < count; i++)
		if (report(hwt_file_stream(file, number), &comparisons[i]))
			wrong |= comparisons[i].in_parts ? WRONG_IN_PARTS : WRONG;
	return wrong;
}

int main(int count, char **argument)
{
	struct hwt_file *file;
	struct hwt_images *images;
	struct log *logs;
	size_t streams, comparing = 1;
	int wrong = 0;

	if (count > 1 && strcmp(argument[1], "--both") == 0) {
		comparing = 2;
		count--, argument++;
	}
	if (count != 2 && count != 3 && count != 5)
		return 2;
	if (hwt_file_open(&file, argument[1]) < 0) {
		fprintf(stderr, "%s\n", hwt_file_message(file));
		return 2;
	}
	streams = hwt_file_streams(file);
	logs = calloc(streams + 1, sizeof(*logs));
	if (!logs || hwt_images_new(&images, file, NULL) < 0)
		return 2;
	read_sizes(argument[1]);
	if (count > 2)
		read_log(argument[2], logs, streams);
	for (size_t n = 0; n < streams; n++) {
		struct comparison whole = { .log = logs[hwt_file_stream(file, n)->cpu] }, both[2];

		if (count > 3) {
			whole.start = strtoull(argument[3], NULL, 0);
			whole.end = strtoull(argument[4], NULL, 0);
		}
		both[0] = both[1] = whole;
		both[1].in_parts = true;
		wrong |= check_cpu(file, images, n, both, comparing);
		free(whole.log.start);
	}
	free(logs);
	free(sizes);
	hwt_images_free(images);
	hwt_file_close(file);
	return wrong;
}
