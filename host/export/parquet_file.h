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
/*
 * a row group ends when the strings of one of its columns have more bytes than this; numbers never have so
 * many
 */
#define PARQUET_BYTES  ((uint32_t)4 << 20)
#define PARQUET_GROUPS 64u   /* maximum number of row groups of a file */
#define PARQUET_DIRECT 4096u /* words with keys below this are found without a hash table */
#define PARQUET_LENGTH 4u    /* number of bytes of a string's length, which precedes the string */

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
	/* bit map of the rows that have a value; not used until a value follows a NULL, see parquet_mark() */
	uint8_t present[PARQUET_ROWS / 8];
	bool marked;	/* true if `present` is used */
	uint32_t count; /* number of values that are not NULL */
	/* for keys below PARQUET_DIRECT: number of this row group's word plus 1; 0: there is no word yet */
	uint32_t direct[PARQUET_DIRECT];
	/* numbers of this row group's other words, keyed by the caller's number for the word */
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
	bool full; /* true if the row group has to end after the current row */
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

/* Marks the current row as having a value. Needed only for a column with a NULL in an earlier row. */
void parquet_mark(struct parquet_file *file, struct parquet_column *column);

/* Records that `size` bytes at the column's end are the value of the current row. */
static inline void parquet_added(struct parquet_file *file, struct parquet_column *column, uint32_t size)
{
	column->values.used += size;
	if (__builtin_expect(column->count != file->rows, 0))
		parquet_mark(file, column);
	column->count++;
}

static inline void parquet_put(struct parquet_file *file, struct parquet_column *column, const void *value,
			       uint32_t size)
{
	unsigned char *at = parquet_room(file, &column->values, size);

	if (!at)
		return;
	__builtin_memcpy(at, value, size);
	parquet_added(file, column, size);
}

static inline void parquet_put_i64(struct parquet_file *file, uint32_t n, int64_t value)
{
	parquet_put(file, &file->column[n], &value, sizeof(value));
}

static inline void parquet_put_i32(struct parquet_file *file, uint32_t n, int32_t value)
{
	parquet_put(file, &file->column[n], &value, sizeof(value));
}

/*
 * Returns the place for a string of at most `most` bytes, which must be valid UTF-8; NULL if out of memory.
 * After the caller has written the string, it calls parquet_text_done() with the string's end.
 */
static inline char *parquet_text(struct parquet_file *file, uint32_t n, uint32_t most)
{
	unsigned char *at = parquet_room(file, &file->column[n].values, PARQUET_LENGTH + most);

	return at ? (char *)at + PARQUET_LENGTH : NULL;
}

static inline void parquet_text_done(struct parquet_file *file, uint32_t n, const char *end)
{
	struct parquet_column *column = &file->column[n];
	unsigned char *at = column->values.bytes + column->values.used;
	const uint32_t length = (uint32_t)((const unsigned char *)end - at) - PARQUET_LENGTH;

	__builtin_memcpy(at, &length, PARQUET_LENGTH);
	parquet_added(file, column, PARQUET_LENGTH + length);
	file->full |= column->values.used > PARQUET_BYTES;
}

/* Implements parquet_put_word() for large keys. */
bool parquet_put_large_word(struct parquet_file *file, uint32_t n, uint64_t key);

/*
 * Adds the word for which the caller uses the number `key`. Returns false if this row group does not have the
 * word yet; then call parquet_put_new_word().
 */
static inline bool parquet_put_word(struct parquet_file *file, uint32_t n, uint64_t key)
{
	struct parquet_column *column = &file->column[n];
	uint32_t row;

	if (__builtin_expect(key >= PARQUET_DIRECT, 0))
		return parquet_put_large_word(file, n, key);
	if (column->direct[key] == 0)
		return false;
	row = column->direct[key] - 1;
	parquet_put(file, column, &row, sizeof(row));
	return true;
}
void parquet_put_new_word(struct parquet_file *file, uint32_t n, uint64_t key, const char *text,
			  size_t length);

/* Ends a row. */
static inline void parquet_row(struct parquet_file *file)
{
	file->rows++;
	if (__builtin_expect(file->rows == PARQUET_ROWS || file->full, 0))
		parquet_group_end(file);
}

#endif
