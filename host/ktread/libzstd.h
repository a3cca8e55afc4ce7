/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * libzstd, loaded when a stream is first read or written, so that whoever reads plain dumps neither needs it nor
 * pays for it. Functions are those of zstd.h, of its stable part; a result that is_error() is an error code.
 */
#ifndef KTREAD_LIBZSTD_H
#define KTREAD_LIBZSTD_H

#include <stddef.h>

/* As zstd.h has them. */
struct ktread_zstd_input {
	const void *bytes;
	size_t size, position;
};

struct ktread_zstd_output {
	void *bytes;
	size_t size, position;
};

#define KTREAD_ZSTD_LEVEL    100 /* ZSTD_c_compressionLevel */
#define KTREAD_ZSTD_CHECKSUM 201 /* ZSTD_c_checksumFlag */
#define KTREAD_ZSTD_MAGIC    "\x28\xb5\x2f\xfd"

struct ktread_zstd {
	void *(*create_writer)(void);
	size_t (*free_writer)(void *writer);
	size_t (*set)(void *writer, int parameter, int value);
	size_t (*compress)(void *writer, void *to, size_t room, const void *from, size_t bytes);
	void *(*create_reader)(void);
	size_t (*free_reader)(void *reader);
	size_t (*decompress)(void *reader, void *to, size_t room, const void *from, size_t bytes);
	size_t (*decompress_some)(void *reader, struct ktread_zstd_output *to,
				  struct ktread_zstd_input *from);
	unsigned (*is_error)(size_t result);
	const char *(*error_name)(size_t result);
};

/* 0, or KTREAD_E_UNSUPPORTED: the library is not installed. `name`: the file it is wanted for. */
int ktread_zstd_load(const struct ktread_zstd **zstd, const char *name);

#endif
