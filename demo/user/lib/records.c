/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <program.h>
#include <records.h>
#include <string.h>
#include <unistd.h>

int records_open(struct records *records, const char *path)
{
	memset(records, 0, sizeof(*records));
	records->fd = open(path, O_RDONLY, 0);
	return records->fd < 0 ? records->fd : 0;
}

void records_close(struct records *records)
{
	close(records->fd);
}

/*
 * Fills the buffer with the part of the file that begins at offset `at`. Returns the number of bytes, or
 * -errno.
 */
static int64_t fetch(struct records *records, uint64_t at)
{
	int64_t n = lseek(records->fd, (int64_t)at, SEEK_SET);

	if (n >= 0)
		n = read_all(records->fd, records->part, sizeof(records->part));
	records->from = at;
	records->size = n > 0 ? (size_t)n : 0;
	return n;
}

static int64_t read_at(struct records *records, uint64_t at, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint64_t place = at + done, offset = place - records->from, rest;
		int64_t n = 1;

		if (place < records->from || offset >= records->size)
			n = fetch(records, place);
		if (n <= 0)
			return n < 0 ? n : (int64_t)done;
		offset = place - records->from;
		rest = records->size - offset;
		if (rest > size - done)
			rest = size - done;
		memcpy((char *)to + done, records->part + offset, rest);
		done += rest;
	}
	return (int64_t)done;
}

static bool is_whole(struct records *records)
{
	uint64_t size = (records->record.size + 7ull) & ~7ull;
	char last;

	return records->record.mark == KTRX_PROC_MARK && records->record.size <= KTRX_PROC_PAYLOAD_MAX &&
	       (size == 0 || read_at(records, records->payload + size - 1, &last, 1) == 1);
}

int records_next(struct records *records)
{
	int64_t n;

	while ((n = read_at(records, records->at, &records->record, sizeof(records->record))) ==
		       sizeof(records->record) &&
	       memcmp(&records->record, KTRX_PROC_MAGIC, 4) == 0) {
		n = read_at(records, records->at, &records->head, sizeof(records->head));
		if (n != sizeof(records->head))
			return n < 0 ? (int)n : -EINVAL;
		records->at += sizeof(struct ktrx_proc_head);
		records->heads++;
	}
	if (n == 0)
		return 0;
	records->payload = records->at + sizeof(records->record);
	if (n != sizeof(records->record) || records->heads == 0 || !is_whole(records))
		return -EINVAL;
	records->at = records->payload + ((records->record.size + 7ull) & ~7ull);
	return 1;
}

int64_t records_read(struct records *records, void *to, size_t size)
{
	return read_at(records, records->payload, to,
		       size < records->record.size ? size : records->record.size);
}

/* Functions of this type return what a record contributes to the sum that sum() computes. */
typedef int64_t value_of(const struct ktrx_proc_record *record, unsigned type, int pid);

static int64_t sum(const char *path, value_of *value, unsigned type, int pid)
{
	struct records records;
	int64_t result = records_open(&records, path), total = 0;

	if (result)
		return result;
	while ((result = records_next(&records)) > 0)
		total += value(&records.record, type, pid);
	records_close(&records);
	return result < 0 ? result : total;
}

static int64_t one(const struct ktrx_proc_record *record, unsigned type, int pid)
{
	return (!type || record->type == type) && (!pid || record->pid == (uint32_t)pid);
}

static int64_t loss(const struct ktrx_proc_record *record, unsigned type, int pid)
{
	(void)type, (void)pid;
	return record->lost;
}

int64_t records_count(const char *path, unsigned type, int pid)
{
	return sum(path, one, type, pid);
}

int64_t records_lost(const char *path)
{
	return sum(path, loss, 0, 0);
}
