/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Layouts of process traces, field by field in the order of the file; all numbers are little-endian. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "put.h"

#define STEP 125000u /* ns */

static void put_number(struct put *put, uint64_t value, unsigned bytes)
{
	unsigned char byte[8];

	for (unsigned i = 0; i < bytes; i++)
		byte[i] = (unsigned char)(value >> 8 * i);
	bytes_append(&put->bytes, byte, bytes);
}

void put8(struct put *put, unsigned value)
{
	put_number(put, value, 1);
}

void put16(struct put *put, unsigned value)
{
	put_number(put, value, 2);
}

void put32(struct put *put, uint32_t value)
{
	put_number(put, value, 4);
}

void put64(struct put *put, uint64_t value)
{
	put_number(put, value, 8);
}

void put_word(struct put *put, uint64_t value)
{
	put_number(put, value, put->format == PUT_FREEBSD0_I386 ? 4 : 8);
}

void put_bytes(struct put *put, const void *bytes, size_t size)
{
	bytes_append(&put->bytes, bytes, size);
}

void put_text(struct put *put, const char *text)
{
	bytes_append(&put->bytes, text, strlen(text));
}

void put_zeroes(struct put *put, size_t bytes)
{
	bytes_grow(&put->bytes, put->bytes.size + bytes);
}

/* Adds a text field of fixed size, as heads have. A text that fills the field has no NUL. */
static void put_field(struct put *put, const char *text, size_t size)
{
	size_t length = strlen(text) < size ? strlen(text) : size;

	put_bytes(put, text, length);
	put_zeroes(put, size - length);
}

void put_head(struct put *put)
{
	size_t from = put->bytes.size;
	uint32_t check = 2166136261u;

	put_text(put, "KTRP");
	put32(put, 1);
	put64(put, 100000000); /* a clock tick lasts 10 ns */
	put64(put, 0x0123456789abcdef);
	put64(put, 1000000000); /* timestamp: ten seconds after boot */
	put64(put, 1700000000u * UINT64_C(1000000000));
	put16(put, 62);
	put16(put, 64);
	put16(put, 32);
	put_zeroes(put, 2 + 12);
	for (size_t i = 0; i < 60; i++)
		check = (check ^ put->bytes.data[from + i]) * 16777619u;
	put32(put, check);
}

struct put put_trace(enum put_format format)
{
	struct put put = { .format = format,
			   .pid = 42,
			   .tid = 100042,
			   .cpu = 1,
			   .name = "ls",
			   .ns = 1700000000u * UINT64_C(1000000000) };

	if (format == PUT_KTRX)
		put_head(&put);
	return put;
}

static void begin_ktrx(struct put *put, unsigned type)
{
	put32(put, 0);
	put16(put, type);
	put16(put, put->flags);
	put64(put, 1000000000 + (put->ns - 1700000000u * UINT64_C(1000000000)) / 10);
	put32(put, put->pid);
	put32(put, put->tid);
	put16(put, put->cpu);
	put16(put, 0x9e4b);
	put32(put, put->lost);
}

static void begin_dragonfly(struct put *put, unsigned type)
{
	put32(put, 0);
	put16(put, type);
	put16(put, put->cpu << 8 | 1);
	put32(put, put->pid);
	put32(put, put->tid);
	put_field(put, put->name, 17);
	put_zeroes(put, 7);
	put64(put, put->ns / 1000000000);
	put64(put, put->ns % 1000000000 / 1000);
	put64(put, 0xfffff80012345678); /* a kernel address without meaning for readers */
}

static void begin_freebsd0(struct put *put, unsigned type)
{
	put32(put, 0);
	put16(put, type | (put->lost ? 0x8000 : 0));
	put16(put, 0);
	put32(put, put->pid);
	put_field(put, put->name, 20);
	put_word(put, put->ns / 1000000000);
	put_word(put, put->ns % 1000000000 / 1000);
	put_word(put, put->tid);
}

static void begin_freebsd1(struct put *put, unsigned type)
{
	put32(put, 0);
	put16(put, type | 0x4000 | (put->lost ? 0x8000 : 0));
	put16(put, 1);
	put32(put, put->pid);
	put_field(put, put->name, 20);
	put64(put, put->ns / 1000000000);
	put64(put, put->ns % 1000000000);
	put64(put, put->tid);
	put32(put, put->cpu);
	put32(put, 0);
}

static size_t head_size(const struct put *put)
{
	static const unsigned char size[] = { 32, 64, 56, 44, 64 };

	return size[put->format];
}

void put_begin(struct put *put, unsigned type)
{
	static void (*const begin[])(struct put *, unsigned) = { begin_ktrx, begin_dragonfly, begin_freebsd0,
								 begin_freebsd0, begin_freebsd1 };

	put->record = put->bytes.size;
	begin[put->format](put, type);
}

void put_end(struct put *put)
{
	size_t size = put->bytes.size - put->record - head_size(put);

	put_over(put, 0, size, 4);
	if (put->format == PUT_KTRX)
		put_zeroes(put, -size % 8);
	put->ns += STEP;
	put->lost = put->flags = 0;
}

void put_line(struct put *put, unsigned type, const char *text)
{
	put_begin(put, type);
	put_text(put, text);
	put_end(put);
}

void put_name(struct put *put, const char *name)
{
	put->name = name;
	if (put->format == PUT_KTRX)
		put_line(put, 32, name);
}

void put_call(struct put *put, unsigned number, unsigned args, const uint64_t *arg)
{
	put_begin(put, 1);
	if (put->format == PUT_KTRX) {
		put32(put, number);
		put16(put, args);
		put16(put, 0);
	} else {
		put16(put, number);
		put16(put, args);
		put_zeroes(put, put->format == PUT_FREEBSD0_I386 ? 0 : 4);
	}
	for (unsigned i = 0; i < args; i++)
		put_word(put, arg[i]);
	put_end(put);
}

void put_ret(struct put *put, unsigned number, int error, int64_t result)
{
	put_begin(put, 2);
	if (put->format == PUT_KTRX) {
		put32(put, number);
	} else {
		put16(put, number);
		put16(put, 0);
	}
	put32(put, (uint32_t)error);
	put_word(put, (uint64_t)result);
	put_end(put);
}

void put_io(struct put *put, int fd, int write, const void *data, size_t size)
{
	put_begin(put, 4);
	put32(put, (uint32_t)fd);
	put32(put, (uint32_t)write);
	if (put->format == PUT_KTRX)
		put64(put, size);
	put_bytes(put, data, size);
	put_end(put);
}

void put_sig(struct put *put, unsigned signal, uint64_t handler, int code, uint64_t mask)
{
	put_begin(put, 5);
	put32(put, signal);
	if (put->format == PUT_KTRX) {
		put32(put, (uint32_t)code);
		put64(put, handler);
	} else {
		put_zeroes(put, put->format == PUT_FREEBSD0_I386 ? 0 : 4);
		put_word(put, handler);
		put32(put, (uint32_t)code);
	}
	put64(put, mask);
	put64(put, 0);
	if (put->format != PUT_KTRX && put->format != PUT_FREEBSD0_I386)
		put_zeroes(put, 4);
	put_end(put);
}

void put_switch(struct put *put, int out, int voluntary, const char *message)
{
	put_begin(put, 6);
	put32(put, (uint32_t)out);
	if (put->format == PUT_KTRX) {
		put32(put, (uint32_t)voluntary);
		put64(put, 0);
		put_text(put, message ? message : "");
	} else {
		put32(put, !voluntary);
		if (message)
			put_field(put, message, 8);
	}
	put_end(put);
}

static void put_named(struct put *put, const char *name, const void *bytes, size_t size)
{
	put_bytes(put, name, strlen(name) + 1);
	put_bytes(put, bytes, size);
	put_end(put);
}

void put_struct(struct put *put, const char *name, const void *bytes, size_t size)
{
	put_begin(put, 8);
	put_named(put, name, bytes, size);
}

void put_array(struct put *put, const char *name, size_t element, const void *bytes, size_t size)
{
	put_begin(put, 15);
	if (put->format == PUT_KTRX) {
		put32(put, (uint32_t)element);
		put32(put, (uint32_t)(size / element));
	} else {
		put_word(put, element);
	}
	put_named(put, name, bytes, size);
}

void put_fault(struct put *put, uint64_t address, unsigned access)
{
	put_begin(put, 13);
	put_word(put, address);
	put32(put, access);
	if (put->format == PUT_KTRX)
		put32(put, 1);
	else if (put->format != PUT_FREEBSD0_I386)
		put_zeroes(put, 4);
	put_end(put);
}

void put_fault_end(struct put *put, int result)
{
	put_begin(put, 14);
	put32(put, (uint32_t)result);
	if (put->format == PUT_KTRX)
		put32(put, 0);
	put_end(put);
}

void put_over(struct put *put, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		put->bytes.data[put->record + at + i] = (unsigned char)(value >> 8 * i);
}

void put_save(struct put *put, const char *directory, const char *name)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.ktrace", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(put->bytes.data, 1, put->bytes.size, file) != put->bytes.size ||
	    fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	bytes_free(&put->bytes);
}
