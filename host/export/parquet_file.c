/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/parquet_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "PAR1"

/* ---- Thrift's compact protocol ---- */

enum thrift { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

static void put_bytes(struct parquet_file *file, const void *bytes, size_t size)
{
	base_output_bytes(&file->out, bytes, size);
	file->offset += size;
}

static void put_byte(struct parquet_file *file, unsigned byte)
{
	const unsigned char value = (unsigned char)byte;

	put_bytes(file, &value, 1);
}

static void put_varint(struct parquet_file *file, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(file, (unsigned)(value & 0x7f) | 0x80);
	put_byte(file, (unsigned)value);
}

/* Writes the head of a field. `step` is the difference between its number and that of the previous field. */
static void put_field(struct parquet_file *file, unsigned step, enum thrift type)
{
	put_byte(file, step << 4 | type);
}

static void put_number(struct parquet_file *file, unsigned step, enum thrift type, uint64_t value)
{
	put_field(file, step, type);
	put_varint(file, value << 1); /* zigzag encoding; no number is negative */
}

static void put_binary(struct parquet_file *file, const char *text)
{
	put_varint(file, strlen(text));
	put_bytes(file, text, strlen(text));
}

static void put_list(struct parquet_file *file, unsigned step, enum thrift type, uint32_t count)
{
	put_field(file, step, THRIFT_LIST);
	put_byte(file, (count < 15 ? count : 15) << 4 | type);
	if (count >= 15)
		put_varint(file, count);
}

static void put_stop(struct parquet_file *file)
{
	put_byte(file, 0);
}

/* ---- Encoding of values ---- */

static void fail(struct parquet_file *file, int error)
{
	if (!file->error)
		file->error = error;
}

unsigned char *parquet_grow(struct parquet_file *file, struct parquet_bytes *bytes, uint32_t size)
{
	uint32_t room = bytes->room ? bytes->room * 2 : 4096;
	unsigned char *bigger;

	while (room - bytes->used < size)
		room *= 2;
	bigger = realloc(bytes->bytes, room);
	if (!bigger) {
		fail(file, ENOMEM);
		return NULL;
	}
	bytes->bytes = bigger;
	bytes->room = room;
	return bigger + bytes->used;
}

static bool add_text(struct parquet_file *file, struct parquet_bytes *bytes, const char *text, size_t length)
{
	const uint32_t size = (uint32_t)length;
	unsigned char *at = parquet_room(file, bytes, PARQUET_LENGTH + size);

	if (!at)
		return false;
	memcpy(at, &size, PARQUET_LENGTH);
	memcpy(at + PARQUET_LENGTH, text, size);
	bytes->used += PARQUET_LENGTH + size;
	file->full |= bytes->used > PARQUET_BYTES;
	return true;
}

/* Marks the rows before the first NULL. */
static void begin_marks(struct parquet_column *column)
{
	if (column->marked)
		return;
	memset(column->present, 0, sizeof(column->present));
	memset(column->present, 0xff, column->count / 8);
	column->present[column->count / 8] = (uint8_t)((1u << column->count % 8) - 1);
	column->marked = true;
}

void parquet_mark(struct parquet_file *file, struct parquet_column *column)
{
	begin_marks(column);
	column->present[file->rows / 8] |= (uint8_t)(1u << file->rows % 8);
}

static uint64_t hash_of(uint64_t key)
{
	return base_hash_id((uint32_t)(key ^ key >> 32));
}

bool parquet_put_large_word(struct parquet_file *file, uint32_t n, uint64_t key)
{
	struct parquet_column *column = &file->column[n];
	const uint64_t hash = hash_of(key);

	for (uint32_t probe = 0, row; base_index_next(&column->index, hash, &probe, &row);)
		if (column->key[row] == key) {
			parquet_put(file, column, &row, sizeof(row));
			return true;
		}
	return false;
}

void parquet_put_new_word(struct parquet_file *file, uint32_t n, uint64_t key, const char *text,
			  size_t length)
{
	struct parquet_column *column = &file->column[n];
	const uint32_t row = column->keys;

	if (row == column->key_room) {
		uint64_t *bigger = realloc(column->key, (2 * (size_t)row + 64) * sizeof(*bigger));

		if (!bigger) {
			fail(file, ENOMEM);
			return;
		}
		column->key = bigger;
		column->key_room = 2 * row + 64;
	}
	if (!add_text(file, &column->dictionary, text, length))
		return;
	if (key < PARQUET_DIRECT) {
		column->direct[key] = row + 1;
	} else if (base_index_add(&column->index, hash_of(key), row) < 0) {
		fail(file, ENOMEM);
		return;
	}
	column->key[column->keys++] = key;
	parquet_put(file, column, &row, sizeof(row));
}

/* ---- Pages of a column ---- */

enum page { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum encoding { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DICTIONARY = 8 };

static void put_page_head(struct parquet_file *file, enum page type, uint64_t size, uint32_t values,
			  enum encoding encoding)
{
	put_number(file, 1, THRIFT_I32, type);
	put_number(file, 1, THRIFT_I32, size);
	put_number(file, 1, THRIFT_I32, size);
	put_field(file, type == PAGE_DATA ? 2 : 4, THRIFT_STRUCT);
	put_number(file, 1, THRIFT_I32, values);
	put_number(file, 1, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		put_number(file, 1, THRIFT_I32, ENCODING_RLE);
		put_number(file, 1, THRIFT_I32, ENCODING_RLE);
	}
	put_stop(file);
	put_stop(file);
}

static uint32_t varint_size(uint64_t value)
{
	uint32_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

/* Returns the number of bits in which the number of a dictionary word is encoded. */
static unsigned word_bits(const struct parquet_column *column)
{
	unsigned bits = 0;

	while (column->keys > 1u << bits)
		bits++;
	return bits;
}

/* Writes the head of a sequence of numbers that are bit-packed in groups of eight. */
static uint64_t packed_head(uint32_t count)
{
	return (uint64_t)(count + 7) / 8 << 1 | 1;
}

/* Writes the numbers of dictionary words, `bits` bits each. Fills the last group of eight with zeros. */
static void put_packed(struct parquet_file *file, const struct parquet_column *column, unsigned bits)
{
	unsigned char packed[4096];
	unsigned used = 0;

	put_varint(file, packed_head(column->count));
	for (uint32_t n = 0; n < column->count; n += 8) {
		const uint32_t left = column->count - n;
		uint32_t number[8] = { 0 };
		uint64_t held = 0;
		unsigned count = 0;

		memcpy(number, column->values.bytes + (size_t)n * 4, (left < 8 ? left : 8) * 4);
		for (unsigned i = 0; i < 8; i++) {
			held |= (uint64_t)number[i] << count;
			count += bits;
			if (count < 32)
				continue;
			memcpy(packed + used, &held, 4);
			held >>= 32;
			count -= 32;
			used += 4;
		}
		memcpy(packed + used, &held, 4);
		used += count / 8;
		if (used > sizeof(packed) - 64) {
			put_bytes(file, packed, used);
			used = 0;
		}
	}
	put_bytes(file, packed, used);
}

/* Returns the size of the part of a page that states for each row whether it has a value. */
static uint32_t levels_size(const struct parquet_file *file, const struct parquet_column *column)
{
	if (column->required)
		return 0;
	if (column->count == file->rows)
		return 4 + varint_size((uint64_t)file->rows << 1) + 1;
	return 4 + varint_size(packed_head(file->rows)) + (file->rows + 7) / 8;
}

static void put_levels(struct parquet_file *file, struct parquet_column *column)
{
	const uint32_t size = levels_size(file, column) - 4;

	if (column->required)
		return;
	put_bytes(file, &size, 4);
	if (column->count == file->rows) {
		put_varint(file, (uint64_t)file->rows << 1);
		put_byte(file, 1);
	} else {
		begin_marks(column);
		put_varint(file, packed_head(file->rows));
		put_bytes(file, column->present, (file->rows + 7) / 8);
	}
}

static void write_column(struct parquet_file *file, struct parquet_column *column,
			 struct parquet_chunk *chunk)
{
	const bool words = column->type == PARQUET_WORD;
	const unsigned bits = word_bits(column);
	const uint64_t from = file->offset;
	uint64_t size = levels_size(file, column);

	chunk->dictionary = 0;
	if (words) {
		chunk->dictionary = file->offset;
		put_page_head(file, PAGE_DICTIONARY, column->dictionary.used, column->keys, ENCODING_PLAIN);
		put_bytes(file, column->dictionary.bytes, column->dictionary.used);
		size += 1 + varint_size(packed_head(column->count)) + (column->count + 7) / 8 * bits;
	} else {
		size += column->values.used;
	}
	chunk->data = file->offset;
	put_page_head(file, PAGE_DATA, size, file->rows, words ? ENCODING_DICTIONARY : ENCODING_PLAIN);
	put_levels(file, column);
	if (words) {
		put_byte(file, bits);
		put_packed(file, column, bits);
	} else {
		put_bytes(file, column->values.bytes, column->values.used);
	}
	chunk->size = file->offset - from;
	column->marked = false;
	if (words)
		memset(column->direct, 0, sizeof(column->direct));
	base_index_free(&column->index);
	column->values.used = column->dictionary.used = column->count = column->keys = 0;
}

/* ---- Beginning and end of a file ---- */

static void open_part(struct parquet_file *file)
{
	char name[32];

	snprintf(name, sizeof(name), PARQUET_PART, file->part++);
	file->fd = openat(file->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (file->fd < 0 || base_output_open(&file->out, file->fd) < 0) {
		fail(file, file->fd < 0 ? errno : ENOMEM);
		if (file->fd >= 0)
			close(file->fd);
		return;
	}
	file->open = true;
	file->offset = 0;
	file->groups = 0;
	put_bytes(file, MAGIC, 4);
}

static void put_schema(struct parquet_file *file)
{
	static const uint8_t types[] = {
		[PARQUET_I64] = 2, [PARQUET_I32] = 1, [PARQUET_TEXT] = 6, [PARQUET_WORD] = 6
	};

	put_list(file, 1, THRIFT_STRUCT, file->columns + 1);
	put_field(file, 4, THRIFT_BINARY);
	put_binary(file, "schema");
	put_number(file, 1, THRIFT_I32, file->columns);
	put_stop(file);
	for (uint32_t n = 0; n < file->columns; n++) {
		const struct parquet_column *column = &file->column[n];

		put_number(file, 1, THRIFT_I32, types[column->type]);
		put_number(file, 2, THRIFT_I32, column->required ? 0 : 1);
		put_field(file, 1, THRIFT_BINARY);
		put_binary(file, column->name);
		if (types[column->type] == 6)
			put_number(file, 2, THRIFT_I32, 0); /* 0 is the converted type UTF8 */
		put_stop(file);
	}
}

static void put_chunk(struct parquet_file *file, const struct parquet_column *column,
		      const struct parquet_chunk *chunk, uint32_t rows)
{
	static const uint8_t types[] = {
		[PARQUET_I64] = 2, [PARQUET_I32] = 1, [PARQUET_TEXT] = 6, [PARQUET_WORD] = 6
	};

	put_number(file, 2, THRIFT_I64, chunk->dictionary ? chunk->dictionary : chunk->data);
	put_field(file, 1, THRIFT_STRUCT);
	put_number(file, 1, THRIFT_I32, types[column->type]);
	put_list(file, 1, THRIFT_I32, 2);
	put_varint(file, (column->type == PARQUET_WORD ? ENCODING_DICTIONARY : ENCODING_PLAIN) << 1);
	put_varint(file, ENCODING_RLE << 1);
	put_list(file, 1, THRIFT_BINARY, 1);
	put_binary(file, column->name);
	put_number(file, 1, THRIFT_I32, 0); /* 0 is the codec for data that is not compressed */
	put_number(file, 1, THRIFT_I64, rows);
	put_number(file, 1, THRIFT_I64, chunk->size);
	put_number(file, 1, THRIFT_I64, chunk->size);
	put_number(file, 2, THRIFT_I64, chunk->data);
	if (chunk->dictionary)
		put_number(file, 2, THRIFT_I64, chunk->dictionary);
	put_stop(file);
	put_stop(file);
}

/* Writes the end of the file, which describes the columns and their positions. */
static void close_part(struct parquet_file *file)
{
	const uint64_t from = file->offset;
	uint64_t rows = 0;
	uint32_t size;

	for (uint32_t g = 0; g < file->groups; g++)
		rows += file->group[g].rows;
	put_number(file, 1, THRIFT_I32, 1);
	put_schema(file);
	put_number(file, 1, THRIFT_I64, rows);
	put_list(file, 1, THRIFT_STRUCT, file->groups);
	for (uint32_t g = 0; g < file->groups; g++) {
		uint64_t bytes = 0;

		put_list(file, 1, THRIFT_STRUCT, file->columns);
		for (uint32_t n = 0; n < file->columns; n++) {
			put_chunk(file, &file->column[n], &file->group[g].chunk[n], file->group[g].rows);
			bytes += file->group[g].chunk[n].size;
		}
		put_number(file, 1, THRIFT_I64, bytes);
		put_number(file, 1, THRIFT_I64, file->group[g].rows);
		put_stop(file);
	}
	put_field(file, 2, THRIFT_BINARY);
	put_binary(file, "ktrace");
	put_stop(file);
	size = (uint32_t)(file->offset - from);
	put_bytes(file, &size, sizeof(size));
	put_bytes(file, MAGIC, 4);
	fail(file, base_output_close(&file->out));
	if (close(file->fd) < 0)
		fail(file, errno);
	file->open = false;
}

void parquet_group_end(struct parquet_file *file)
{
	struct parquet_group *group;

	if (!file->open && !file->error)
		open_part(file);
	if (!file->open || file->error) {
		file->rows = 0;
		file->full = false;
		for (uint32_t n = 0; n < file->columns; n++)
			file->column[n].values.used = file->column[n].dictionary.used =
				file->column[n].count = 0;
		return;
	}
	group = &file->group[file->groups++];
	group->rows = file->rows;
	for (uint32_t n = 0; n < file->columns; n++)
		write_column(file, &file->column[n], &group->chunk[n]);
	file->rows = 0;
	file->full = false;
	fail(file, file->out.error);
	if (file->groups == PARQUET_GROUPS)
		close_part(file);
}

void parquet_open(struct parquet_file *file, int run, const char *name)
{
	file->folder = -1;
	if (mkdirat(run, name, 0777) < 0) {
		fail(file, errno);
		return;
	}
	file->folder = openat(run, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->folder < 0)
		fail(file, errno);
}

void parquet_close(struct parquet_file *file)
{
	if (file->rows > 0)
		parquet_group_end(file);
	/* a table without rows gets a file, too, so that readers know its columns */
	if (file->part == 0 && file->folder >= 0 && !file->error)
		open_part(file);
	if (file->open)
		close_part(file);
	for (uint32_t n = 0; n < file->columns; n++) {
		free(file->column[n].values.bytes);
		free(file->column[n].dictionary.bytes);
		free(file->column[n].key);
		base_index_free(&file->column[n].index);
	}
	if (file->folder >= 0)
		close(file->folder);
}
