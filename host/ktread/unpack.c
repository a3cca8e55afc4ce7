/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Unpacks files that were compressed with the zstd tool. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "message.h"
#include "source.h"
#include "trace.h"

#define CHUNK 65536u

struct unpacking {
	struct ktread_memory *file;
	ZSTD_DCtx *reader;
	uint64_t read; /* number of bytes of the file that have been read */
	uint64_t written;
	int descriptor;
	bool whole;	     /* true if the last frame that was read is complete */
	const char *problem; /* message of the zstd library after an error; NULL: there was none */
	unsigned char in[CHUNK], out[CHUNK];
};

bool ktread_unpack_is_packed(struct ktread_memory *memory)
{
	char magic[sizeof(KTREAD_ZSTD_MAGIC) - 1];

	return ktread_memory_run(memory, 0) >= sizeof(magic) &&
	       ktread_memory_read(memory, 0, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, KTREAD_ZSTD_MAGIC, sizeof(magic)) == 0;
}

/* Writes unpacked bytes to the temporary file. If all these bytes are zero, leaves a hole instead. */
static int put(struct unpacking *unpacking, size_t bytes)
{
	const unsigned char *out = unpacking->out;
	int status = 0;

	if (bytes == 0)
		return 0;
	if (out[0] == 0 && memcmp(out, out + 1, bytes - 1) == 0)
		status = lseek(unpacking->descriptor, (off_t)bytes, SEEK_CUR) < 0 ? KTREAD_E_SYSTEM : 0;
	else
		status = ktread_file_write(unpacking->descriptor, out, bytes);
	unpacking->written += bytes;
	return status < 0 ? ktread_fail_errno("%s: cannot unpack it into a temporary file",
					      unpacking->file->name)
			  : 0;
}

/*
 * Unpacks the first `bytes` bytes of `in`. Returns 0, KTREAD_E_SYSTEM, or KTREAD_E_FORMAT with
 * unpacking->problem set.
 */
static int unpack_chunk(struct unpacking *unpacking, size_t bytes)
{
	ZSTD_inBuffer from = { unpacking->in, bytes, 0 };
	ZSTD_outBuffer to;
	size_t left;

	do {
		to = (ZSTD_outBuffer){ unpacking->out, sizeof(unpacking->out), 0 };
		left = ZSTD_decompressStream(unpacking->reader, &to, &from);
		if (put(unpacking, to.pos) < 0)
			return KTREAD_E_SYSTEM;
		if (ZSTD_isError(left)) {
			unpacking->problem = ZSTD_getErrorName(left);
			return KTREAD_E_FORMAT;
		}
	} while (from.pos < from.size || (to.pos == to.size && left > 0));
	unpacking->whole = left == 0;
	return 0;
}

static int unpack_all(struct unpacking *unpacking)
{
	uint64_t size = ktread_memory_run(unpacking->file, 0);
	int status = 0;

	while (unpacking->read < size && status == 0) {
		uint64_t left = size - unpacking->read;
		size_t bytes = left < CHUNK ? (size_t)left : CHUNK;

		status = ktread_memory_read(unpacking->file, unpacking->read, unpacking->in, bytes);
		if (status == 0)
			status = unpack_chunk(unpacking, bytes);
		unpacking->read += bytes;
	}
	return status;
}

static int unpack_into(struct ktread *trace, struct unpacking *unpacking)
{
	const char *name = trace->memory->name;
	int status;

	unpacking->reader = ZSTD_createDCtx();
	if (!unpacking->reader)
		return ktread_fail_memory();
	status = unpack_all(unpacking);
	ZSTD_freeDCtx(unpacking->reader);
	if (status < 0 && !unpacking->problem)
		return status;
	if (unpacking->written == 0)
		return ktread_fail(KTREAD_E_FORMAT, "%s: cannot unpack it with zstd: %s", name,
				   unpacking->problem ? unpacking->problem
				   : unpacking->whole ? "it is empty"
						      : "it is cut short");
	if (unpacking->problem)
		ktread_warn(trace,
			    "%s: compressed bytes before offset %" PRIu64
			    " are damaged, the rest is skipped: %s",
			    name, unpacking->read, unpacking->problem);
	else if (!unpacking->whole)
		ktread_warn(trace, "%s: the compressed file is cut short", name);
	if (ftruncate(unpacking->descriptor, (off_t)unpacking->written) < 0)
		return ktread_fail_errno("%s: cannot unpack it into a temporary file", name);
	ktread_warn(trace, "%s: compressed with zstd: unpacked into a temporary file of %" PRIu64 " bytes",
		    name, unpacking->written);
	return 0;
}

int ktread_unpack(struct ktread *trace)
{
	struct unpacking *unpacking = malloc(sizeof(*unpacking));
	struct ktread_memory *unpacked;
	int status, descriptor;

	if (!unpacking)
		return ktread_fail_memory();
	memset(unpacking, 0, offsetof(struct unpacking, in));
	unpacking->file = trace->memory;
	unpacking->descriptor = descriptor = ktread_file_temporary();
	status = descriptor < 0 ? descriptor : unpack_into(trace, unpacking);
	free(unpacking);
	if (status < 0) {
		if (descriptor >= 0)
			close(descriptor);
		return status;
	}
	status = ktread_source_open_descriptor(&unpacked, descriptor, trace->memory->name);
	if (status < 0)
		return status;
	ktread_memory_close(trace->memory);
	trace->memory = unpacked;
	return 0;
}

/* Unpacks a file of zstd frames sequentially, for process traces. */

#define PACKED_CHUNK 65536u

struct ktread_proc_unpacker {
	ZSTD_DCtx *reader;
	const char *name;
	ZSTD_inBuffer packed;
	uint64_t read; /* number of packed bytes that have been read */
	/* true if the zstd library still has unpacked bytes that did not fit into the output */
	bool more;
	bool whole;    /* true if the last frame that was read is complete */
	bool may_grow; /* true if more input may come later */
	uint8_t bytes[PACKED_CHUNK];
};

int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come)
{
	struct ktread_proc_unpacker *opened = malloc(sizeof(*opened));

	*unpacker = NULL;
	if (!opened)
		return ktread_fail_memory();
	*opened = (struct ktread_proc_unpacker){ .name = name, .may_grow = more_may_come };
	opened->reader = ZSTD_createDCtx();
	if (!opened->reader) {
		free(opened);
		return ktread_fail_memory();
	}
	opened->read = sizeof(KTREAD_ZSTD_MAGIC) - 1;
	memcpy(opened->bytes, KTREAD_ZSTD_MAGIC, opened->read);
	opened->packed = (ZSTD_inBuffer){ opened->bytes, opened->read, 0 };
	*unpacker = opened;
	return 0;
}

void ktread_proc_unpacker_close(struct ktread_proc_unpacker *unpacker)
{
	if (!unpacker)
		return;
	ZSTD_freeDCtx(unpacker->reader);
	free(unpacker);
}

/*
 * Unpacks the packed bytes that have been read, until the output is full. Returns the number of unpacked
 * bytes, or an error.
 */
static ssize_t unpack(struct ktread_proc_unpacker *unpacker, uint8_t *to, size_t room)
{
	ZSTD_outBuffer unpacked = { to, room, 0 };
	size_t left = ZSTD_decompressStream(unpacker->reader, &unpacked, &unpacker->packed);

	if (ZSTD_isError(left)) {
		unpacker->packed.pos = unpacker->packed.size;
		unpacker->more = false;
		/*
		 * step over the bytes after the damage; otherwise they would be reported as a truncated frame
		 */
		unpacker->whole = true;
		return ktread_fail(KTREAD_E_FORMAT,
				   "%s: compressed bytes before offset %" PRIu64 " are damaged: %s",
				   unpacker->name, unpacker->read, ZSTD_getErrorName(left));
	}
	unpacker->whole = left == 0;
	unpacker->more = left != 0 && unpacked.pos == room;
	return (ssize_t)unpacked.pos;
}

ssize_t ktread_proc_unpack(struct ktread_proc_unpacker *unpacker, ktread_proc_read *read, void *context,
			   uint8_t *to, size_t room)
{
	for (;;) {
		ssize_t got = 0;

		if (unpacker->more || unpacker->packed.pos < unpacker->packed.size)
			got = unpack(unpacker, to, room);
		if (got != 0)
			return got;
		if (unpacker->packed.pos < unpacker->packed.size)
			continue;
		got = read(context, unpacker->bytes, PACKED_CHUNK);
		if (got < 0 || (got == 0 && (unpacker->whole || unpacker->may_grow)))
			return got;
		if (got == 0) {
			unpacker->whole = true;
			return ktread_fail(KTREAD_E_FORMAT,
					   "%s: the compressed file is cut short at offset %" PRIu64,
					   unpacker->name, unpacker->read);
		}
		unpacker->read += (uint64_t)got;
		unpacker->packed = (ZSTD_inBuffer){ unpacker->bytes, (size_t)got, 0 };
	}
}
