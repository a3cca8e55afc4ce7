/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes a table into Parquet files, in constant memory. Rows are collected by column. When there are enough
 * rows, they are written as a row group. After PARQUET_GROUPS row groups a new file begins, because the end
 * of a file lists all of its row groups.
 *
 * To add a row, the caller calls a parquet_put_*() for each column, and then parquet_row(). A column without
 * a call is NULL in this row. Numbers and strings are in plain encoding. Words are strings that repeat: each
 * word is stored once in each row group.
 */
#ifndef EXPORT_PARQUET_FILE_H
#define EXPORT_PARQUET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "base/output.h"

#define PARQUET_PART	"part-%u.parquet" /* name of a file, as a format for snprintf() */
#define PARQUET_COLUMNS 10u
#define PARQUET_ROWS	65536u /* maximum number of rows of a row group */
/* a row group ends when one of its columns has more bytes than this */
#define PARQUET_BYTES  ((uint32_t)4 << 20)
#define PARQUET_GROUPS 64u /* maximum number of row groups of a file */

enum parquet_type { PARQUET_I64, PARQUET_I32, PARQUET_TEXT, PARQUET_WORD };

struct parquet_bytes {
	unsigned char *bytes;
	uint32_t used, room;
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool required;			 /* true if each row must have a value in this column */
	struct parquet_bytes values;	 /* number of the dictionary word, as 4 bytes, for columns of words */
	struct parquet_bytes dictionary; /* the dictionary words of this row group */
	uint8_t present[PARQUET_ROWS / 8];
	uint32_t count; /* number of values that are not NULL */
	/* numbers of this row group's words, keyed by the caller's number for the word */
	struct base_index index;
	uint64_t *key;
	uint32_t keys, key_room;
};

/* Position in the file of one column of one row group. */
struct parquet_chunk {
	uint64_t dictionary, data, size; /* `dictionary` is 0 if there is none */
};

struct parquet_group {
	uint32_t rows;
	struct parquet_chunk chunk[PARQUET_COLUMNS];
};

struct parquet_file {
	int folder; /* the table's directory; -1 if it is not open */
	int error;  /* errno of the first failed system call */
	bool open;  /* true if a file is open */
	int fd;
	uint32_t part;
	uint64_t offset; /* number of bytes written to the file so far */
	struct base_output out;
	uint32_t columns, rows, groups;
	struct parquet_column column[PARQUET_COLUMNS];
	struct parquet_group group[PARQUET_GROUPS];
};

/* Creates the directory `name` inside `run` for the table's files. Requires: columns have been set. */
void parquet_open(struct parquet_file *file, int run, const char *name);
/* Writes all data that has not been written yet. Stores an error in file->error. Frees all memory. */
void parquet_close(struct parquet_file *file);

/* Implements parquet_row() for the rare case that the row group is full. */
void parquet_group_end(struct parquet_file *file);
/* Implements parquet_room() for the rare case that there is no room. Returns NULL if out of memory. */
unsigned char *parquet_grow(struct parquet_file *file, struct parquet_bytes *bytes, uint32_t size);
/* Returns a pointer to `size` free bytes at the column's end; NULL if out of memory. */
static inline unsigned char *parquet_room(struct parquet_file *file, struct parquet_bytes *bytes,
					  uint32_t size)
{
	if (__builtin_expect(bytes->room - bytes->used < size, 0))
		return parquet_grow(file, bytes, size);
	return bytes->bytes + bytes->used;
}

static inline void parquet_put(struct parquet_file *file, struct parquet_column *column, const void *value,
			       uint32_t size)
{
	unsigned char *at = parquet_room(file, &column->values, size);

	if (!at)
		return;
	__builtin_memcpy(at, value, size);
	column->values.used += size;
	column->present[file->rows / 8] |= (uint8_t)(1u << file->rows % 8);
	column->count++;
}

static inline void parquet_put_i64(struct parquet_file *file, uint32_t n, int64_t value)
{
	parquet_put(file, &file->column[n], &value, sizeof(value));
}

static inline void parquet_put_i32(struct parquet_file *file, uint32_t n, int32_t value)
{
	parquet_put(file, &file->column[n], &value, sizeof(value));
}

/* Adds a string, which must be valid UTF-8. */
void parquet_put_text(struct parquet_file *file, uint32_t n, const char *text, size_t length);

static inline uint64_t parquet_hash(uint64_t key)
{
	return base_hash_id((uint32_t)(key ^ key >> 32));
}

/*
 * Adds the word for which the caller uses the number `key`. Returns false if this row group does not have the
 * word yet; then call parquet_put_new_word().
 */
static inline bool parquet_put_word(struct parquet_file *file, uint32_t n, uint64_t key)
{
	struct parquet_column *column = &file->column[n];
	const uint64_t hash = parquet_hash(key);

	for (uint32_t probe = 0, row; base_index_next(&column->index, hash, &probe, &row);)
		if (column->key[row] == key) {
			parquet_put(file, column, &row, sizeof(row));
			return true;
		}
	return false;
}
void parquet_put_new_word(struct parquet_file *file, uint32_t n, uint64_t key, const char *text,
			  size_t length);

/* Ends a row. */
static inline void parquet_row(struct parquet_file *file)
{
	bool full = ++file->rows == PARQUET_ROWS;

	for (uint32_t n = 0; n < file->columns; n++)
		full |= file->column[n].values.used > PARQUET_BYTES ||
			file->column[n].dictionary.used > PARQUET_BYTES;
	if (__builtin_expect(full, 0))
		parquet_group_end(file);
}

#endif
