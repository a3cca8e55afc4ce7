/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Process traces, record by record: ktrx/proc.h. */
#ifndef USER_RECORDS_H
#define USER_RECORDS_H

#include <ktrx/proc.h>
#include <stdbool.h>

struct records {
	int fd;
	uint64_t at;			/* where the next record is */
	struct ktrx_proc_record record; /* the last one … */
	uint64_t payload;		/* … and where what it says begins */
	struct ktrx_proc_head head;	/* of its session */
	uint64_t heads;			/* passed over */
	/* Part of the file, so that not every record takes calls. */
	uint64_t from;
	size_t size;
	char part[4096];
};

/* 0 or -errno. */
int records_open(struct records *records, const char *path);
void records_close(struct records *records);

/* 1, 0 at the end, -EINVAL where there is no whole record. Heads are passed over. */
int records_next(struct records *records);

/* The first `size` bytes of what the record says, as many as there are; or -errno. */
int64_t records_read(struct records *records, void *to, size_t size);

/* How many records of a type and a process the file has, 0: of any; -errno if it is not records from end to end. */
int64_t records_count(const char *path, unsigned type, int pid);

/* How many more were lost, or -errno. */
int64_t records_lost(const char *path);

#endif
