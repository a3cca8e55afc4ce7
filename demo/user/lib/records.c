/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <program.h>
#include <records.h>
#include <string.h>
#include <unistd.h>

int records_open(struct records *records, const char *path)
{
	*records = (struct records){ .fd = open(path, O_RDONLY, 0) };
	return records->fd < 0 ? records->fd : 0;
}

void records_close(struct records *records)
{
	close(records->fd);
}

static int64_t read_at(const struct records *records, uint64_t at, void *to, size_t size)
{
	int64_t error = lseek(records->fd, (int64_t)at, SEEK_SET);

	return error < 0 ? error : read_all(records->fd, to, size);
}

static bool is_whole(const struct records *records)
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

/* Adds a number of each record that is meant. */
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
