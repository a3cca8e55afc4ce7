/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "fake/hwt_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/views.h"
#include "ktread/ktread.h"

#define LINE	1024u
#define SYNC	8u
#define STREAMS 64u
#define SYMBOLS 1024u
#define IMAGES	64u

struct image {
	char name[512], path[512];
};

struct symbol {
	uint64_t address, size;
	uint64_t from, until; /* the symbol is valid if `from` <= timestamp < `until` */
	char name[512], source[512];
	unsigned line;
	uint32_t image;
};

struct steps {
	struct hwt_stream about;
	struct hwt_step *step;
	size_t count;
	struct hwt_piece piece;
};

struct hwt_file {
	struct image image[IMAGES];
	struct symbol symbol[SYMBOLS];
	struct steps stream[STREAMS];
	uint32_t images, symbols;
	size_t streams;
	uint64_t frequency, nonce;
	uint64_t since; /* timestamp from which the symbols in the next lines are valid */
	uint16_t machine;
	uint64_t damaged;
	char warning[512];
	char message[512];
};

struct hwt_images {
	const struct hwt_file *file;
};

struct hwt_decoder {
	struct hwt_decoder_view view;
	const struct steps *steps;
};

static char open_message[512];

/* ---- Parsing the script ------------------------------------------------------------------------ */

static uint64_t read_address(const struct hwt_file *file, const char *word)
{
	size_t length = strcspn(word, "+");

	for (uint32_t n = 0; n < file->symbols; n++)
		if (strlen(file->symbol[n].name) == length &&
		    strncmp(file->symbol[n].name, word, length) == 0)
			return file->symbol[n].address +
			       (word[length] ? strtoull(word + length + 1, NULL, 0) : 0);
	return strtoull(word, NULL, 0);
}

static uint8_t read_branch(const char *word, uint8_t *taken)
{
	size_t length = strcspn(word, "!");

	*taken = word[length] == '\0';
	for (uint8_t branch = 0; branch <= HWT_BRANCH_LEAVE_KERNEL; branch++)
		if (strlen(flow_branch_word(branch)) == length &&
		    strncmp(flow_branch_word(branch), word, length) == 0)
			return branch;
	return UINT8_MAX;
}

static struct hwt_step *add_step(struct steps *steps, const char *stamp)
{
	struct hwt_step *step;

	steps->step = realloc(steps->step, (steps->count + 1) * sizeof(*steps->step));
	step = &steps->step[steps->count];
	*step = (struct hwt_step){
		.bits = 64, .offset = steps->count, .pid = steps->about.pid, .tid = steps->about.tid
	};
	if (steps->count) {
		step->space = steps->step[steps->count - 1].space;
		step->tid = steps->step[steps->count - 1].tid;
	}
	step->has_stamp = strcmp(stamp, "-") != 0;
	step->stamp = step->has_stamp ? strtoull(stamp, NULL, 0) : 0;
	steps->count++;
	steps->about.bytes = steps->count;
	return step;
}

static int read_step(struct hwt_file *file, char **word, unsigned words, const char *rest)
{
	static const struct {
		const char *name;
		uint8_t kind, gap;
	} kinds[] = {
		{ "run", HWT_RUN, 0 },
		{ "on", HWT_ON, 0 },
		{ "off", HWT_OFF, 0 },
		{ "async", HWT_ASYNC, 0 },
		{ "space", HWT_SPACE, 0 },
		{ "overflow", HWT_OVERFLOW, 0 },
		{ "gap", HWT_GAP, 0 },
		{ "damage", HWT_GAP, HWT_GAP_DAMAGED },
		{ "codeless", HWT_GAP, HWT_GAP_CODE },
		{ "unread", HWT_GAP, HWT_GAP_UNREAD },
		{ "other", HWT_GAP, HWT_GAP_OTHER_CODE },
		{ "note", HWT_NOTE, 0 },
		{ "sample", HWT_SAMPLE, 0 },
	};
	struct hwt_sample *sample;
	struct hwt_step *step;
	size_t n = 0;

	while (n < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[n].name, word[0]) != 0)
		n++;
	if (n == sizeof(kinds) / sizeof(kinds[0]) || file->streams == 0 || words < 2)
		return -1;
	step = add_step(&file->stream[file->streams - 1], word[1]);
	step->kind = kinds[n].kind;
	step->gap = kinds[n].gap;
	switch (step->kind) {
	case HWT_RUN:
		if (words < 5)
			return -1;
		step->address = read_address(file, word[2]);
		step->instructions = (uint32_t)strtoul(word[3], NULL, 0);
		step->end = step->address + 4ull * step->instructions;
		step->last = step->end - 4;
		step->branch = read_branch(word[4], &step->taken);
		step->has_to = words > 5;
		step->to = words > 5 ? read_address(file, word[5]) : 0;
		return step->branch == UINT8_MAX ? -1 : 0;
	case HWT_SPACE:
		step->space = words > 2 ? strtoull(word[2], NULL, 0) : 0;
		step->tid = words > 3 ? (uint32_t)strtoul(word[3], NULL, 0) : 0;
		return 0;
	case HWT_GAP:
	case HWT_NOTE:
		/* The TEXT of a note or gap may begin with an address, as in "@main text". */
		step->has_address = words > 2 && *word[2] == '@';
		step->address = step->has_address ? read_address(file, word[2] + 1) : 0;
		step->text = strdup(step->has_address ? rest + strcspn(rest, " ") + 1 : rest);
		return 0;
	case HWT_SAMPLE:
		sample = calloc(1, sizeof(*sample));
		sample->has = 1u << HWT_SAMPLE_PC;
		sample->pc = read_address(file, word[2]);
		if (words > 4) {
			sample->has |= 1u << HWT_SAMPLE_DATA_VIRTUAL | 1u << HWT_SAMPLE_LATENCY_TOTAL;
			sample->data_virtual = strtoull(word[3], NULL, 0);
			sample->latency_total = (uint16_t)strtoul(word[4], NULL, 0);
		}
		if (words > 7) {
			sample->has |= 1u << HWT_SAMPLE_OPERATION | 1u << HWT_SAMPLE_EVENTS;
			sample->operation_class = (uint8_t)strtoul(word[5], NULL, 0);
			sample->operation = (uint8_t)strtoul(word[6], NULL, 0);
			sample->events = strtoull(word[7], NULL, 0);
		}
		step->sample = sample;
		return 0;
	default:
		step->has_address = words > 2;
		step->address = words > 2 ? read_address(file, word[2]) : 0;
		step->has_to = words > 3;
		step->to = words > 3 ? read_address(file, word[3]) : 0;
		return 0;
	}
}

static void read_symbol(struct hwt_file *file, char **word, unsigned words)
{
	struct symbol *symbol = &file->symbol[file->symbols++];
	char *colon = words > 4 ? strrchr(word[4], ':') : NULL;

	symbol->address = strtoull(word[1], NULL, 0);
	symbol->size = strtoull(word[2], NULL, 0);
	symbol->from = file->since;
	symbol->until = UINT64_MAX;
	symbol->image = file->images - 1;
	snprintf(symbol->name, sizeof(symbol->name), "%s", word[3]);
	if (!colon)
		return;
	snprintf(symbol->source, sizeof(symbol->source), "%.*s", (int)(colon - word[4]), word[4]);
	symbol->line = (unsigned)atoi(colon + 1);
}

/*
 * Reads a line "since STAMP": all symbols read so far become invalid at the timestamp, and the symbols in the
 * next lines are valid from then on.
 */
static void end_symbols(struct hwt_file *file, uint64_t stamp)
{
	for (uint32_t n = 0; n < file->symbols; n++)
		if (file->symbol[n].until == UINT64_MAX)
			file->symbol[n].until = stamp;
	file->since = stamp;
}

static void read_stream(struct hwt_file *file, char **word, unsigned words)
{
	struct hwt_stream *about = &file->stream[file->streams++].about;
	const int thread = strcmp(word[0], "thread") == 0, samples = strcmp(word[0], "samples") == 0;

	about->unit = about->cpu = (uint32_t)atoi(word[1]);
	about->context.mode = thread ? KTRX_HWT_MODE_THREAD : KTRX_HWT_MODE_CPU;
	about->context.encoding = samples ? KTRX_HWT_ENCODING_SPE : KTRX_HWT_ENCODING_PT;
	about->context.backend = samples ? KTRX_HWT_BACKEND_SPE : KTRX_HWT_BACKEND_QEMU;
	if (thread) {
		about->cpu = UINT32_MAX;
		about->pid = words > 2 ? (uint32_t)atoi(word[2]) : 0;
		about->tid = words > 3 ? (uint32_t)atoi(word[3]) : 0;
		snprintf(about->name, sizeof(about->name), "%.31s", words > 4 ? word[4] : "");
		return;
	}
	about->missing = words > 2 ? strtoull(word[2], NULL, 0) : 0;
	about->lost = words > 3 ? strtoull(word[3], NULL, 0) : 0;
}

static int read_line(struct hwt_file *file, char *line)
{
	char copy[LINE], *word[8], *rest = copy, *next;
	const char *text = line;
	unsigned words = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	while (words < 8 && (next = strsep(&rest, " ")))
		if (*next)
			word[words++] = next;
	if (words == 0 || *word[0] == '#' || strcmp(word[0], "KTRU:") == 0)
		return 0;
	text += strcspn(text, " ");
	text += strspn(text, " ");
	if (strcmp(word[0], "warning") == 0)
		snprintf(file->warning, sizeof(file->warning), "%.500s", text);
	else if (strcmp(word[0], "damaged") == 0) {
		snprintf(file->warning, sizeof(file->warning), "%.500s", text);
		file->damaged = 1;
	} else if (words < 2)
		return -1;
	else if (strcmp(word[0], "machine") == 0)
		file->machine = (uint16_t)atoi(word[1]);
	else if (strcmp(word[0], "frequency") == 0)
		file->frequency = strtoull(word[1], NULL, 0);
	else if (strcmp(word[0], "since") == 0)
		end_symbols(file, strtoull(word[1], NULL, 0));
	else if (strcmp(word[0], "nonce") == 0)
		file->nonce = strtoull(word[1], NULL, 0);
	else if (strcmp(word[0], "image") == 0 && words > 2 && file->images < IMAGES) {
		snprintf(file->image[file->images].name, 512, "%.511s", word[1]);
		snprintf(file->image[file->images++].path, 512, "%.511s", word[2]);
	} else if (strcmp(word[0], "symbol") == 0 && words > 3 && file->images && file->symbols < SYMBOLS)
		read_symbol(file, word, words);
	else if ((strcmp(word[0], "cpu") == 0 || strcmp(word[0], "thread") == 0 ||
		  strcmp(word[0], "samples") == 0) &&
		 file->streams < STREAMS)
		read_stream(file, word, words);
	else {
		text += strcspn(text, " ");
		return read_step(file, word, words, text + strspn(text, " "));
	}
	return 0;
}

/* ---- The functions of hwt/hwt.h for a file ----------------------------------------------------- */

static int fail(struct hwt_file *file, const char *path, unsigned line)
{
	snprintf(open_message, sizeof(open_message), "%.400s: line %u: not a script of steps", path, line);
	hwt_file_close(file);
	return KTREAD_E_FORMAT;
}

static int open_stream(struct hwt_file **result, FILE *from, const char *path)
{
	struct hwt_file *file = calloc(1, sizeof(*file));
	char line[LINE];
	unsigned number = 0;

	*result = NULL;
	while (fgets(line, sizeof(line), from)) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (read_line(file, line) < 0)
			return fail(file, path, number);
	}
	for (size_t n = 0; n < file->streams; n++)
		file->stream[n].piece = (struct hwt_piece){ .bytes = calloc(1, file->stream[n].count + 1),
							    .size = file->stream[n].count };
	*result = file;
	return 0;
}

int hwt_file_open(struct hwt_file **file, const char *path)
{
	FILE *from = fopen(path, "r");
	int status;

	*file = NULL;
	if (!from) {
		snprintf(open_message, sizeof(open_message), "%.400s: cannot be opened", path);
		return KTREAD_E_SYSTEM;
	}
	status = open_stream(file, from, path);
	fclose(from);
	return status;
}

int hwt_script_open(struct hwt_file **file, const char *text)
{
	FILE *from = fmemopen((char *)text, strlen(text), "r");
	int status = open_stream(file, from, "script");

	fclose(from);
	return status;
}

void hwt_file_close(struct hwt_file *file)
{
	if (!file)
		return;
	for (size_t n = 0; n < file->streams; n++) {
		for (size_t i = 0; i < file->stream[n].count; i++) {
			free((char *)file->stream[n].step[i].text);
			free((struct hwt_sample *)file->stream[n].step[i].sample);
		}
		free(file->stream[n].step);
		free((unsigned char *)file->stream[n].piece.bytes);
	}
	free(file);
}

const char *hwt_file_message(const struct hwt_file *file)
{
	return file ? file->message : open_message;
}

const char *hwt_file_warning(const struct hwt_file *file, size_t n)
{
	return n == 0 && *file->warning ? file->warning : NULL;
}

uint64_t hwt_file_damaged(const struct hwt_file *file)
{
	return file->damaged;
}

size_t hwt_file_streams(const struct hwt_file *file)
{
	return file->streams;
}

const struct hwt_stream *hwt_file_stream(const struct hwt_file *file, size_t n)
{
	return &file->stream[n].about;
}

uint64_t hwt_file_frequency(const struct hwt_file *file)
{
	return file->frequency;
}

uint64_t hwt_file_nonce(const struct hwt_file *file)
{
	return file->nonce;
}

size_t hwt_file_pieces(const struct hwt_file *file, size_t stream)
{
	(void)file, (void)stream;
	return 1;
}

const struct hwt_piece *hwt_file_piece(const struct hwt_file *file, size_t stream, size_t n)
{
	(void)n;
	return &file->stream[stream].piece;
}

/* ---- Images ------------------------------------------------------------------------------------ */

int hwt_images_new(struct hwt_images **images, const struct hwt_file *file, const char *root)
{
	(void)root;
	*images = calloc(1, sizeof(**images));
	(*images)->file = file;
	return 0;
}

void hwt_images_free(struct hwt_images *images)
{
	free(images);
}

int hwt_images_add_elf(struct hwt_images *images, const char *path, uint32_t pid, const uint64_t *base)
{
	(void)images, (void)path, (void)pid, (void)base;
	return KTREAD_E_SYSTEM;
}

int hwt_images_add_symbols(struct hwt_images *images, const char *path, const uint64_t *base)
{
	(void)images, (void)path, (void)base;
	return KTREAD_E_SYSTEM;
}

const char *hwt_images_idle(const struct hwt_images *images, size_t n)
{
	(void)images, (void)n;
	return NULL;
}

int hwt_images_add_snapshot(struct hwt_images *images, const char *path)
{
	(void)images, (void)path;
	return KTREAD_E_SYSTEM;
}

const char *hwt_images_message(const struct hwt_images *images)
{
	(void)images;
	return "scripts have no images";
}

const char *hwt_images_warning(const struct hwt_images *images, size_t n)
{
	(void)images, (void)n;
	return NULL;
}

/* Finds the longest period around the timestamp `at` in which the set of valid symbols does not change. */
static void find_times(const struct hwt_file *file, uint64_t at, uint64_t *from, uint64_t *until)
{
	*from = 0;
	*until = UINT64_MAX;
	for (uint32_t n = 0; n < 2 * file->symbols; n++) {
		const struct symbol *symbol = &file->symbol[n / 2];
		const uint64_t border = n % 2 ? symbol->from : symbol->until;

		if (border <= at && border > *from)
			*from = border;
		if (border > at && border < *until)
			*until = border;
	}
}

int hwt_images_place(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, int want_line,
		     struct hwt_place *place)
{
	const uint64_t at = stamp ? stamp : UINT64_MAX - 1;
	const struct hwt_file *file = images->file;

	(void)pid;
	*place = (struct hwt_place){ 0 };
	find_times(file, at, &place->from, &place->until);
	for (uint32_t n = 0; n < file->symbols; n++) {
		const struct symbol *symbol = &file->symbol[n];
		const struct image *image = &file->image[symbol->image];

		if (address < symbol->address || address - symbol->address >= symbol->size ||
		    at < symbol->from || at >= symbol->until)
			continue;
		place->image = image->name;
		place->path = strcmp(image->path, "-") ? image->path : NULL;
		place->offset = address;
		place->symbol = *symbol->name == '?' ? NULL : symbol->name;
		place->symbol_address = symbol->address;
		place->symbol_size = symbol->size;
		place->into = address - symbol->address;
		place->source = want_line && *symbol->source ? symbol->source : NULL;
		place->line = symbol->line;
		return 1;
	}
	return 0;
}

int hwt_images_find(struct hwt_images *images, const char *image, const char *function, size_t n,
		    uint64_t *address, uint64_t *size)
{
	const struct hwt_file *file = images->file;

	for (uint32_t i = 0; i < file->symbols; i++) {
		const struct symbol *symbol = &file->symbol[i];

		if (strcmp(symbol->name, function) != 0 ||
		    (image && strcmp(file->image[symbol->image].name, image) != 0) || n-- > 0)
			continue;
		*address = symbol->address;
		*size = symbol->size;
		return 0;
	}
	return -1;
}

int hwt_images_named(struct hwt_images *images)
{
	for (uint32_t n = 0; n < images->file->symbols; n++)
		if (*images->file->symbol[n].name != '?')
			return 1;
	return 0;
}

/* ---- Decoders ---------------------------------------------------------------------------------- */

int hwt_decoder_open(struct hwt_decoder **decoder, const struct hwt_file *file, size_t stream,
		     struct hwt_images *images)
{
	const struct steps *steps = &file->stream[stream];

	(void)images;
	*decoder = calloc(1, sizeof(**decoder));
	(*decoder)->steps = steps;
	(*decoder)->view = (struct hwt_decoder_view){ steps->step, steps->step + steps->count };
	return 0;
}

int hwt_decoder_refill(struct hwt_decoder *decoder, const struct hwt_step **step)
{
	(void)decoder;
	(void)step;
	return 0;
}

int hwt_decoder_seek(struct hwt_decoder *decoder, uint64_t offset)
{
	if (offset > decoder->steps->count)
		offset = decoder->steps->count;
	offset = offset / SYNC * SYNC;
	decoder->view.next = decoder->steps->step + offset;
	return offset > 0;
}

void hwt_decoder_close(struct hwt_decoder *decoder)
{
	free(decoder);
}

const char *hwt_decoder_message(const struct hwt_decoder *decoder)
{
	(void)decoder;
	return "scripts do not fail";
}

int hwt_packets(const struct hwt_file *file, size_t stream,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to)
{
	const struct steps *steps = &file->stream[stream];
	int damaged = 0;

	for (size_t n = 0; n < steps->count; n++) {
		const struct hwt_step *step = &steps->step[n];

		damaged |= step->gap == HWT_GAP_DAMAGED;
		line(to, n, step->gap == HWT_GAP_DAMAGED ? HWT_PACKET_DAMAGE : flow_kind_word(step->kind),
		     step->text ? step->text : "");
	}
	return damaged;
}
