/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Opens files of hardware trace: copies bytes to a store if necessary, joins chunks into pieces, and reads
 * pieces into memory.
 */
#include "decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/open.h"
#include "ktread/ktread.h"
#include "file.h"

/* The store: the bytes of the file, which are either in the file itself or in an unnamed temporary copy. */

static const unsigned char zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };

/*
 * Returns true if the file can be read at any offset without a copy: it is a regular file and not compressed.
 */
static bool is_plain(int descriptor)
{
	struct stat status;
	unsigned char first[sizeof(zstd)];

	return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
	       (pread(descriptor, first, sizeof(first), 0) != (ssize_t)sizeof(first) ||
		memcmp(first, zstd, sizeof(zstd)) != 0);
}

/* Opens the store. `path` "-" is standard input. Returns 0, or KTREAD_E_SYSTEM with errno. */
static int store_open(struct hwt_store *store, const char *path)
{
	struct stat status;

	*store = (struct hwt_store){ .descriptor = -1 };
	/* do not open a pipe here: ktread will open it, and a pipe has only one reader */
	if (strcmp(path, "-") == 0)
		store->copies = true;
	else if (stat(path, &status) != 0)
		return KTREAD_E_SYSTEM;
	else if (!S_ISREG(status.st_mode))
		store->copies = true;
	if (!store->copies) {
		store->descriptor = base_open_regular(path, O_RDONLY);
		if (store->descriptor < 0)
			return KTREAD_E_SYSTEM;
		if (is_plain(store->descriptor)) {
			store->size = (uint64_t)status.st_size;
			return 0;
		}
		close(store->descriptor);
		store->copies = true;
	}
	store->descriptor = base_temporary_open();
	return store->descriptor < 0 ? KTREAD_E_SYSTEM : 0;
}

static void store_close(struct hwt_store *store)
{
	if (store->descriptor >= 0)
		close(store->descriptor);
	store->descriptor = -1;
}

int hwt_store_put(struct hwt_store *store, uint64_t *offset, const void *bytes, size_t size)
{
	const char *from = bytes;

	if (!store->copies)
		return 0;
	*offset = store->size;
	while (size) {
		ssize_t wrote = pwrite(store->descriptor, from, size, (off_t)store->size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return KTREAD_E_SYSTEM;
		from += wrote;
		size -= (size_t)wrote;
		store->size += (uint64_t)wrote;
	}
	return 0;
}

size_t hwt_store_read(const struct hwt_store *store, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	while (done < size && offset + done <= INT64_MAX) {
		ssize_t got =
			pread(store->descriptor, (char *)to + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

#define TSC_BITS 56u /* width in bits of the time in a TSC packet */

static _Thread_local char open_message[512];

int hwt_file_fail(struct hwt_file *file, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(file->message, sizeof(file->message), format, arguments);
	va_end(arguments);
	return code;
}

int hwt_file_no_memory(struct hwt_file *file)
{
	return hwt_file_fail(file, KTREAD_E_MEMORY, "%s: out of memory", file->path ? file->path : "");
}

static void warn(struct hwt_file *file, const char *format, va_list arguments)
{
	char text[512];

	if (file->warnings == HWT_WARNINGS_MOST)
		return;
	vsnprintf(text, sizeof(text), format, arguments);
	if (file->warnings == HWT_WARNINGS_MOST - 1)
		snprintf(text, sizeof(text), "%s: further warnings are not shown", file->path);
	file->warning[file->warnings] = strdup(text);
	if (file->warning[file->warnings])
		file->warnings++;
}

void hwt_file_warn(struct hwt_file *file, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	warn(file, format, arguments);
	va_end(arguments);
}

void hwt_file_damage(struct hwt_file *file, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	warn(file, format, arguments);
	va_end(arguments);
	file->damaged++;
}

int hwt_file_add_chunk(struct hwt_file *file, struct hwt_unit_stream *stream, const struct hwt_chunk *chunk)
{
	struct hwt_chunk *grown =
		base_grow(stream->chunk, &stream->chunk_room, stream->chunks + 1, sizeof(*grown));

	if (!grown)
		return hwt_file_no_memory(file);
	stream->chunk = grown;
	stream->chunk[stream->chunks++] = *chunk;
	return 0;
}

int hwt_file_add_code(struct hwt_file *file, const struct hwt_code *code)
{
	struct hwt_code *grown = base_grow(file->code, &file->code_room, file->codes + 1, sizeof(*grown));

	if (!grown)
		return hwt_file_no_memory(file);
	file->code = grown;
	file->code[file->codes++] = *code;
	return 0;
}

struct hwt_unit_stream *hwt_file_add_stream(struct hwt_file *file)
{
	struct hwt_unit_stream *grown;

	if (file->streams == HWT_STREAMS_MOST) {
		hwt_file_fail(file, KTREAD_E_FORMAT, "%s: more than %u units", file->path, HWT_STREAMS_MOST);
		return NULL;
	}
	grown = base_grow(file->stream, &file->stream_room, file->streams + 1, sizeof(*grown));
	if (!grown) {
		hwt_file_no_memory(file);
		return NULL;
	}
	file->stream = grown;
	memset(&file->stream[file->streams], 0, sizeof(*grown));
	return &file->stream[file->streams++];
}

/* ---- After all records were read --------- */

static bool follows(const struct hwt_chunk *chunk, const struct hwt_chunk *before)
{
	return !chunk->torn && chunk->position == before->position + before->size;
}

/*
 * Joins chunks that follow each other into pieces. Counts the bytes that are in the file and the bytes that
 * are missing.
 */
static int join(struct hwt_file *file, struct hwt_unit_stream *stream)
{
	struct hwt_stream *about = &stream->stream;
	uint64_t end;

	/* another context uses the unit's number now, and positions begin again at 0 */
	if (stream->chunks && stream->chunk[0].position < about->begins)
		about->begins = 0;
	end = about->begins;
	for (size_t i = 0; i < stream->chunks; i++)
		if (i == 0 || !follows(&stream->chunk[i], &stream->chunk[i - 1]))
			stream->pieces++;
	stream->joined = calloc(stream->pieces + 1, sizeof(*stream->joined));
	if (!stream->joined)
		return hwt_file_no_memory(file);
	stream->pieces = 0;
	for (size_t i = 0; i < stream->chunks; i++) {
		const struct hwt_chunk *chunk = &stream->chunk[i];
		struct hwt_joined *joined;

		if (i == 0 || !follows(chunk, &stream->chunk[i - 1])) {
			joined = &stream->joined[stream->pieces++];
			joined->first = i;
			joined->piece.position = chunk->position;
		}
		joined = &stream->joined[stream->pieces - 1];
		joined->chunks++;
		joined->piece.size += (size_t)chunk->size;
		about->bytes += chunk->size;
		if (chunk->position > end)
			about->missing += chunk->position - end;
		if (chunk->position + chunk->size > end)
			end = chunk->position + chunk->size;
	}
	if (stream->pieces)
		stream->joined[stream->pieces - 1].piece.size += stream->tail_size;
	if (stream->written > end)
		about->missing += stream->written - end;
	return 0;
}

static int make_clock(struct hwt_file *file, struct hwt_unit_stream *stream)
{
	stream->clock.frequency = file->frequency;
	stream->clock.bits = stream->stream.context.encoding == KTRX_HWT_ENCODING_PT ? TSC_BITS : 64;
	for (size_t i = 0; i < file->clock_records; i++) {
		const struct hwt_clock_record *record = &file->clock[i];

		if ((record->context && record->context != stream->stream.context.ident) ||
		    (record->unit != UINT32_MAX && record->unit != stream->stream.unit))
			continue;
		if (hwt_clock_add(&stream->clock, &record->moment) != 0)
			return hwt_file_no_memory(file);
	}
	hwt_clock_settle(&stream->clock);
	return 0;
}

static int read_file(struct hwt_file *file)
{
	int status = hwt_rings_is(&file->store) ? hwt_rings_read(file) : hwt_records_read(file);

	for (size_t i = 0; status == 0 && i < file->streams; i++) {
		status = join(file, &file->stream[i]);
		if (status == 0)
			status = make_clock(file, &file->stream[i]);
	}
	return status;
}

int hwt_file_open(struct hwt_file **opened, const char *path)
{
	struct hwt_file *file = calloc(1, sizeof(*file));
	int status;

	*opened = NULL;
	if (!file) {
		snprintf(open_message, sizeof(open_message), "%s: out of memory", path);
		return KTREAD_E_MEMORY;
	}
	file->store.descriptor = -1;
	file->path = strdup(path);
	if (!file->path)
		status = hwt_file_no_memory(file);
	else if (store_open(&file->store, path) != 0)
		status = hwt_file_fail(file, KTREAD_E_SYSTEM, "%s: %m", path);
	else
		status = read_file(file);
	if (status < 0) {
		memcpy(open_message, file->message, sizeof(open_message));
		hwt_file_close(file);
	} else {
		*opened = file;
	}
	return status;
}

static void free_stream(struct hwt_unit_stream *stream)
{
	for (size_t i = 0; stream->joined && i < stream->pieces; i++)
		if (stream->joined[i].piece.bytes)
			munmap((void *)(uintptr_t)stream->joined[i].piece.bytes,
			       stream->joined[i].piece.size);
	free(stream->joined);
	free(stream->chunk);
	hwt_clock_free(&stream->clock);
}

void hwt_file_close(struct hwt_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->streams; i++)
		free_stream(&file->stream[i]);
	for (size_t i = 0; i < file->mappings; i++)
		free(file->mapping[i].path);
	for (size_t i = 0; i < file->warnings; i++)
		free(file->warning[i]);
	store_close(&file->store);
	free(file->stream);
	free(file->mapping);
	free(file->code);
	free(file->clock);
	free(file->path);
	free(file);
}

const char *hwt_file_message(const struct hwt_file *file)
{
	return file ? file->message : open_message;
}

const char *hwt_file_warning(const struct hwt_file *file, size_t n)
{
	return n < file->warnings ? file->warning[n] : NULL;
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
	return n < file->streams ? &file->stream[n].stream : NULL;
}

uint64_t hwt_file_frequency(const struct hwt_file *file)
{
	return file->frequency;
}

uint64_t hwt_file_nonce(const struct hwt_file *file)
{
	return file->nonce;
}

/* ---- Pieces ---- */

size_t hwt_file_pieces(const struct hwt_file *file, size_t stream)
{
	return stream < file->streams ? file->stream[stream].pieces : 0;
}

/*
 * Reads a piece into memory. If reading fails, for example because the file has shrunk, the rest of the piece
 * stays zero.
 */
static void load(const struct hwt_store *store, const struct hwt_unit_stream *stream,
		 struct hwt_joined *joined)
{
	unsigned char *to = mmap(NULL, joined->piece.size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t done = 0, tail = joined->first + joined->chunks == stream->chunks ? stream->tail_size : 0;

	if (to == MAP_FAILED)
		return;
	for (size_t i = joined->first; i < joined->first + joined->chunks; i++) {
		size_t size = (size_t)stream->chunk[i].size;

		if (hwt_store_read(store, stream->chunk[i].offset, to + done, size) != size)
			break;
		done += size;
	}
	if (done + tail == joined->piece.size)
		memcpy(to + done, stream->tail, tail);
	joined->piece.bytes = to;
}

const struct hwt_piece *hwt_file_piece(const struct hwt_file *file, size_t stream, size_t n)
{
	struct hwt_joined *joined;

	if (n >= hwt_file_pieces(file, stream))
		return NULL;
	joined = &file->stream[stream].joined[n];
	if (!joined->piece.bytes && joined->piece.size)
		load(&file->store, &file->stream[stream], joined);
	return joined->piece.bytes || !joined->piece.size ? &joined->piece : NULL;
}

uint64_t hwt_file_piece_position(const struct hwt_file *file, size_t stream, size_t n)
{
	return n < hwt_file_pieces(file, stream) ? file->stream[stream].joined[n].piece.position : UINT64_MAX;
}

uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time)
{
	const struct hwt_unit_stream *whole = (const struct hwt_unit_stream *)stream;

	return hwt_clock_stamp(&whole->clock, unit_time);
}
