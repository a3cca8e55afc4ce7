/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The memory of another process. What cannot be read is left out: a program may pass any address. */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many bytes could be read, from the beginning on. */
size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size);
/* Length of a string, at most `room` bytes of it, without the NUL; -1 if it begins nowhere. */
ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room);
/* What `count` struct iovec at an address lead to, one after another, `size` bytes at most. */
size_t record_memory_gather(pid_t tid, uint64_t iovec, uint64_t count, void *to, size_t size);

#endif
