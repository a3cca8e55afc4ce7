/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* zstd frames, one after another. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "message.h"
#include "source.h"

#define PACKED_CHUNK 65536u

struct ktread_proc_unpacker {
	ZSTD_DCtx *reader;
	const char *name;
	ZSTD_inBuffer packed;
	uint64_t read; /* packed bytes so far */
	bool more;     /* the reader holds bytes that it had no room for */
	bool whole;    /* the last frame came to its end */
	bool patient;  /* … or may do so later */
	uint8_t bytes[PACKED_CHUNK];
};

int ktread_proc_unpacker_open(struct ktread_proc_unpacker **unpacker, const char *name, bool more_may_come)
{
	struct ktread_proc_unpacker *opened = malloc(sizeof(*opened));

	*unpacker = NULL;
	if (!opened)
		return ktread_fail_memory();
	*opened = (struct ktread_proc_unpacker){ .name = name, .patient = more_may_come };
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

/* What comes out of the packed bytes at hand. */
static ssize_t unpack(struct ktread_proc_unpacker *unpacker, uint8_t *to, size_t room)
{
	ZSTD_outBuffer unpacked = { to, room, 0 };
	size_t left = ZSTD_decompressStream(unpacker->reader, &unpacked, &unpacker->packed);

	if (ZSTD_isError(left)) {
		unpacker->packed.pos = unpacker->packed.size;
		unpacker->more = false;
		unpacker->whole = true; /* nothing can be said of what follows */
		return ktread_fail(KTREAD_E_FORMAT, "%s: packed bytes before offset %" PRIu64 ": %s",
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
		if (got < 0 || (got == 0 && (unpacker->whole || unpacker->patient)))
			return got;
		if (got == 0) {
			unpacker->whole = true;
			return ktread_fail(KTREAD_E_FORMAT,
					   "%s: the packed file is cut short at offset %" PRIu64,
					   unpacker->name, unpacker->read);
		}
		unpacker->read += (uint64_t)got;
		unpacker->packed = (ZSTD_inBuffer){ unpacker->bytes, (size_t)got, 0 };
	}
}
