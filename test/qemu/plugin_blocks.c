// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
/*
 * plugin_blocks RINGS LOG: decodes what the trace unit in software has left (out=RINGS) by libipt and its own log of the code, and
 * compares it with QEMU's own log of the same run (-d exec,nochain -D LOG): each virtual CPU must have run the same blocks, one
 * after another. Says a line a virtual CPU:
 *
 *	cpu 0: blocks 1234 equal 1230 unfinished 4 stray 0 errors 0 left 0 bytes 567 branches 890 instructions 4567
 *
 * unfinished: in QEMU's log alone, where an exception or interrupt came before the block's start or end; stray: decoded instructions
 * that are in no block of the log. Ends with 1 if there is a stray one or an error, or more than one in 200 is unfinished.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/hwt.h"
#include "ktrx/hwt_unit.h"

#define CS64  0x8000u /* of QEMU's hflags */
#define PAGES (1u << 20)
#define UNSEEN \
	3 /* blocks at the end: the last of which the end was not reached, and QEMU's own log may be ahead */

static unsigned char *rings;
static size_t rings_size;

static const struct ktrx_hwt_rings *head(void)
{
	return (const struct ktrx_hwt_rings *)rings;
}

static unsigned char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
		perror(path);
		exit(2);
	}
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size + 1);
	if (bytes == NULL || fread(bytes, 1, *size, file) != *size) {
		perror(path);
		exit(2);
	}
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

/* ---- Code, as it was at a time ----------------------------------------------------------------- */

struct page {
	uint64_t number; /* plus 1; 0: free */
	unsigned char byte[4096], known[4096];
	uint32_t block[4096]; /* bytes of the block that starts here */
};

struct code {
	struct page **page;
	const struct ktrx_hwt_seen *next; /* not yet in the pages */
};

static struct page *page_of(struct code *code, uint64_t address)
{
	uint64_t number = (address >> 12) + 1;
	size_t i = (number * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PAGES;

	while (code->page[i] != NULL && code->page[i]->number != number)
		i = (i + 1) % PAGES;
	if (code->page[i] == NULL) {
		code->page[i] = calloc(1, sizeof(struct page));
		code->page[i]->number = number;
	}
	return code->page[i];
}

static const struct ktrx_hwt_seen *code_end(void)
{
	return (const struct ktrx_hwt_seen *)(rings + head()->code + head()->code_size);
}

static const struct ktrx_hwt_seen *code_after(const struct ktrx_hwt_seen *seen)
{
	return (const struct ktrx_hwt_seen *)((const unsigned char *)(seen + 1) + ((seen->size + 7u) & ~7u));
}

static void apply(struct code *code, const struct ktrx_hwt_seen *seen, int over)
{
	const unsigned char *bytes = (const unsigned char *)(seen + 1);
	struct page *first = page_of(code, seen->address);

	if (over || first->block[seen->address & 4095] == 0)
		first->block[seen->address & 4095] = seen->size;
	for (uint32_t i = 0; i < seen->size; i++) {
		struct page *page = page_of(code, seen->address + i);
		size_t at = (seen->address + i) & 4095;

		if (over || !page->known[at])
			page->byte[at] = bytes[i];
		page->known[at] = 1;
	}
}

static void code_until(struct code *code, uint64_t time)
{
	while (code->next < code_end() && code->next->unit_time <= time) {
		apply(code, code->next, 1);
		code->next = code_after(code->next);
	}
}

/* Before its time comes, code is what it will be first: the time in packets is a little late. */
static void code_begin(struct code *code)
{
	code->next = (const struct ktrx_hwt_seen *)(rings + head()->code);
	for (const struct ktrx_hwt_seen *seen = code->next; seen < code_end(); seen = code_after(seen))
		apply(code, seen, 0);
}

static int read_code(uint8_t *to, size_t size, const struct pt_asid *asid, uint64_t address, void *context)
{
	struct code *code = context;
	size_t i;

	(void)asid;
	for (i = 0; i < size; i++) {
		struct page *page = page_of(code, address + i);

		if (!page->known[(address + i) & 4095])
			break;
		to[i] = page->byte[(address + i) & 4095];
	}
	return i > 0 ? (int)i : -pte_nomap;
}

/* ---- QEMU's log -------------------------------------------------------------------------------- */

struct blocks {
	uint64_t *start;
	size_t count, room;
};

static void add_block(struct blocks *blocks, uint64_t start)
{
	if (blocks->count == blocks->room) {
		blocks->room = blocks->room * 2 + 1024;
		blocks->start = realloc(blocks->start, blocks->room * sizeof(*blocks->start));
	}
	blocks->start[blocks->count++] = start;
}

/* A block that is logged need not have been run: QEMU looks for interrupts only then. */
static void read_log(const char *path, struct blocks *blocks, unsigned cpus)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (file == NULL) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		uint64_t start;
		unsigned cpu, flags;

		if (sscanf(line, "Trace %u: %*x [%*x/%" SCNx64 "/%x", &cpu, &start, &flags) == 3 &&
		    cpu < cpus && (flags & CS64))
			add_block(&blocks[cpu], start);
	}
	fclose(file);
}

/* ---- Comparison -------------------------------------------------------------------------------- */

struct tally {
	uint64_t equal, unfinished, stray, errors, branches, instructions;
	size_t at; /* the next block of the log */
	int begun;
	uint64_t last;	    /* instruction; one that repeats itself is many blocks to QEMU */
	uint64_t expected;  /* the instruction behind the last one … */
	uint64_t block_end; /* … and the end of its block */
};

/* Blocks of the log are passed over up to the one that starts here, if it is near. */
static int catch_up(struct tally *tally, const struct blocks *blocks, uint64_t ip)
{
	size_t most = tally->begun ? tally->at + 64 : blocks->count;

	for (size_t i = tally->at; i < blocks->count && i < most; i++) {
		if (blocks->start[i] == ip) {
			for (; tally->begun && tally->at < i; tally->at++)
				tally->unfinished += blocks->start[tally->at] != tally->last;
			tally->begun = 1;
			tally->at = i + 1;
			tally->equal++;
			return 1;
		}
	}
	return 0;
}

static int verbose;

/* The unit takes an instruction that may cross into the next page for a block of its own; to QEMU it is one if it does. */
static int is_rest(const struct tally *tally, uint64_t ip)
{
	return ip == tally->expected && (ip & 4095) + 15 > 4096;
}

static void compare(struct tally *tally, struct code *code, const struct blocks *blocks,
		    const struct pt_insn *insn)
{
	uint64_t ip = insn->ip;

	tally->instructions++;
	tally->branches += insn->iclass != ptic_other;
	if (ip != tally->expected || ip >= tally->block_end) {
		if (catch_up(tally, blocks, ip)) {
			tally->block_end = ip + page_of(code, ip)->block[ip & 4095];
		} else if (tally->begun && !is_rest(tally, ip)) {
			if (verbose && tally->stray < 20)
				printf("  %" PRIx64 " after %" PRIx64 ", not in the log at %zu\n", ip,
				       tally->expected, tally->at);
			tally->stray++;
		}
	}
	tally->last = ip;
	tally->expected = ip + insn->size;
}

static int next_events(struct pt_insn_decoder *decoder, struct code *code, int status)
{
	while (status >= 0 && (status & pts_event_pending)) {
		struct pt_event event;

		status = pt_insn_event(decoder, &event, sizeof(event));
		if (verbose > 1)
			printf("  event %u\n", event.type);
		if (status >= 0 && event.has_tsc)
			code_until(code, event.tsc);
	}
	return status;
}

static void decode(struct pt_insn_decoder *decoder, struct code *code, const struct blocks *blocks,
		   struct tally *tally)
{
	int status = pt_insn_sync_forward(decoder);

	while (status >= 0) {
		struct pt_insn insn;
		uint64_t time = 0, offset = 0;

		status = next_events(decoder, code, status);
		if (status >= 0 && !(status & pts_eos)) {
			if (pt_insn_time(decoder, &time, NULL, NULL) >= 0)
				code_until(code, time);
			status = pt_insn_next(decoder, &insn, sizeof(insn));
			if (status >= 0)
				compare(tally, code, blocks, &insn);
		}
		if (status >= 0 && (status & pts_eos))
			return;
		if (status < 0 && status != -pte_eos) {
			tally->errors++;
			pt_insn_get_offset(decoder, &offset);
			printf("  error at %" PRIu64 ": %s, last instruction before %" PRIx64 "\n", offset,
			       pt_errstr(pt_errcode(status)), tally->expected);
			status = pt_insn_sync_forward(decoder);
		}
	}
}

/* The ring, and behind it as packets what is not in one yet. */
static uint8_t *whole_stream(const struct ktrx_hwt_ring *ring, size_t *size)
{
	uint8_t *stream = malloc(ring->position + 32), *end = stream + ring->position;
	uint64_t branches = ring->pending << 16 | 0xa302u;

	memcpy(stream, ring + 1, ring->position);
	if (ring->pending > 1) {
		memcpy(end, &branches, 8);
		end += 8;
	}
	if (ring->reached != 0) {
		*end++ = 0x1d | 3 << 5;
		memcpy(end, &ring->reached, 6);
		end += 6;
		*end++ = 0x01;
	}
	*size = (size_t)(end - stream);
	return stream;
}

static int check_cpu(unsigned cpu, const struct blocks *blocks)
{
	const struct ktrx_hwt_ring *ring =
		(const struct ktrx_hwt_ring *)(rings + sizeof(struct ktrx_hwt_rings) +
					       cpu * (sizeof(struct ktrx_hwt_ring) + head()->ring_size));
	const struct ktrx_hwt_pt *pt = (const struct ktrx_hwt_pt *)head()->parameters;
	struct code code = { .page = calloc(PAGES, sizeof(struct page *)) };
	struct tally tally = { 0 };
	struct pt_config config;
	struct pt_insn_decoder *decoder;
	struct pt_image *image = pt_image_alloc("seen");
	unsigned long left;
	size_t size;

	if (ring->position > head()->ring_size) {
		printf("cpu %u: its ring has wrapped\n", cpu);
		return 1;
	}
	code_begin(&code);
	pt_config_init(&config);
	config.begin = whole_stream(ring, &size);
	config.end = config.begin + size;
	config.mtc_freq = pt->mtc_frequency;
	config.cpuid_0x15_eax = pt->cpuid_15_eax;
	config.cpuid_0x15_ebx = pt->cpuid_15_ebx;
	pt_image_set_callback(image, read_code, &code);
	decoder = pt_insn_alloc_decoder(&config);
	pt_insn_set_image(decoder, image);
	decode(decoder, &code, blocks, &tally);
	left = (unsigned long)(blocks->count - tally.at);
	printf("cpu %u: blocks %zu equal %" PRIu64 " unfinished %" PRIu64 " stray %" PRIu64 " errors %" PRIu64
	       " left %lu bytes %" PRIu64 " branches %" PRIu64 " instructions %" PRIu64 "\n",
	       cpu, blocks->count, tally.equal, tally.unfinished, tally.stray, tally.errors, left,
	       ring->position, tally.branches, tally.instructions);
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
	free(config.begin);
	return tally.stray != 0 || tally.errors != 0 || tally.equal < 1000 || left > UNSEEN ||
	       tally.unfinished > tally.equal / 200;
}

int main(int argc, char **argv)
{
	struct blocks *blocks;
	int different = 0;

	if (argc < 3)
		return 2;
	verbose = argc - 3;
	rings = read_all(argv[1], &rings_size);
	blocks = calloc(head()->cpus, sizeof(*blocks));
	read_log(argv[2], blocks, head()->cpus);
	for (unsigned cpu = 0; cpu < head()->cpus; cpu++)
		different |= check_cpu(cpu, &blocks[cpu]);
	return different;
}
