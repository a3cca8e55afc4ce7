/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads process traces (ktrx/proc.h) record by record. */
#ifndef USER_RECORDS_H
#define USER_RECORDS_H

#include <ktrx/proc.h>
#include <stdbool.h>

struct records {
	int fd;
	uint64_t at;			/* file offset of the next record */
	struct ktrx_proc_record record; /* the last record */
	uint64_t payload;		/* file offset of the payload */
	struct ktrx_proc_head head;	/* head of the session that contains the record */
	uint64_t heads;			/* number of heads read so far */
	/* Buffer for a part of the file, so that most records can be read without a system call. */
	uint64_t from;
	size_t size;
	char part[4096];
};

/* 0 or -errno. */
int records_open(struct records *records, const char *path);
void records_close(struct records *records);

/* Reads the next record. Returns 1, 0 at the end, or -EINVAL if there is no complete record. Skips heads. */
int records_next(struct records *records);

/* Reads up to `size` bytes of the last record's payload. Returns how many, or -errno. */
int64_t records_read(struct records *records, void *to, size_t size);

/*
 * Counts the records of one type and one process; 0 means any type or any process. Returns -errno if the file
 * does not consist of complete records.
 */
int64_t records_count(const char *path, unsigned type, int pid);

/* Returns the number of lost records, or -errno. */
int64_t records_lost(const char *path);

#endif
