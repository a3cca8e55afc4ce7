/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads process traces (ktrx/proc.h) record by record. */
#ifndef USER_RECORDS_H
#define USER_RECORDS_H

#include <ktrx/proc.h>
#include <stdbool.h>

struct records {
	int fd;
	uint64_t at;			/* file offset of the record after `record` */
	struct ktrx_proc_record record; /* the record that was read last */
	uint64_t payload;		/* file offset of the payload of `record` */
	struct ktrx_proc_head head;	/* head of the session to which `record` belongs */
	uint64_t heads;			/* number of heads read so far */
	/* Buffer with a part of the file, so that reading a record does not always need a system call. */
	uint64_t from;
	size_t size;
	char part[4096];
};

/* Return 0 or -errno. */
int records_open(struct records *records, const char *path);
void records_close(struct records *records);

/*
 * Reads the next record into `record`; reads heads before it into `head`. Returns 1 if there is a record, 0
 * at the end of the file, -EINVAL if there is no complete and valid record.
 */
int records_next(struct records *records);

/* Reads up to `size` bytes of the payload of `record`. Returns their number, or -errno. */
int64_t records_read(struct records *records, void *to, size_t size);

/*
 * Counts the records of a type and of a process in a file. type 0: any type; pid 0: any process. Returns
 * -errno if the file does not consist of complete records.
 */
int64_t records_count(const char *path, unsigned type, int pid);

/* Returns the number of records that the kernel lost while it wrote the file, or -errno. */
int64_t records_lost(const char *path);

#endif
