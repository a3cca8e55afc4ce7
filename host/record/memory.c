/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/memory.h"

#include <string.h>
#include <sys/uio.h>

#define PAGE 4096u /* a string is read up to the end of its page: the next one may be missing */

size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote[3];
	unsigned pieces = 0;
	ssize_t read;

	/* Pieces end with pages, so that what lies before a page that is missing is read all the same. */
	for (size_t at = 0; at < size && pieces < 3; pieces++) {
		size_t rest = PAGE - (address + at) % PAGE;

		if (rest > size - at || pieces == 2)
			rest = size - at;
		remote[pieces] = (struct iovec){ (void *)(uintptr_t)(address + at), rest };
		at += rest;
	}
	read = process_vm_readv(tid, &local, 1, remote, pieces, 0);
	return read > 0 ? (size_t)read : 0;
}

ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room)
{
	size_t length = 0;

	while (length < room) {
		size_t piece = PAGE - (address + length) % PAGE;
		const char *end;
		size_t read;

		if (piece > 256)
			piece = 256;
		if (piece > room - length)
			piece = room - length;
		read = record_memory_read(tid, address + length, to + length, piece);
		end = memchr(to + length, '\0', read);
		if (end)
			return end - to;
		length += read;
		if (read < piece)
			break;
	}
	return length > 0 ? (ssize_t)length : -1;
}

#define VECTORS 16u

size_t record_memory_gather(pid_t tid, uint64_t iovec, uint64_t count, void *to, size_t size)
{
	struct iovec vector[VECTORS];
	size_t read = 0, had;

	if (count > VECTORS)
		count = VECTORS;
	had = record_memory_read(tid, iovec, vector, (size_t)count * sizeof(vector[0])) / sizeof(vector[0]);
	for (size_t n = 0; n < had && read < size; n++) {
		size_t piece = vector[n].iov_len < size - read ? vector[n].iov_len : size - read;
		size_t got = record_memory_read(tid, (uintptr_t)vector[n].iov_base, (char *)to + read, piece);

		read += got;
		if (got < piece)
			break;
	}
	return read;
}
