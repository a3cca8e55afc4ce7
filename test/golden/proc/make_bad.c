/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>

#include "make_bad.h"
#include "put.h"

static const uint64_t arg[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* Adds a valid call and its return. Tests use it before and after invalid records. */
static void put_pair(struct put *put)
{
	put_call(put, 3, 3, arg);
	put_ret(put, 3, 0, 7);
}

static struct put begin(enum put_format format)
{
	struct put put = put_trace(format);

	put_name(&put, "ls");
	put_pair(&put);
	return put;
}

/* Makes a trace in a format of the BSDs. One record has a wrong length; valid records follow. */
static void make_length(const char *directory, const char *name, enum put_format format, int32_t length)
{
	struct put put = begin(format);

	put_line(&put, 3, "/etc/motd");
	put_over(&put, 0, (uint32_t)length, 4);
	put_pair(&put);
	put_save(&put, directory, name);
}

/* Adds a call with two arguments. The head of the record states a different number of arguments. */
static void put_liar(struct put *put, unsigned args)
{
	put_call(put, 5, 2, arg);
	put_over(put,
		 put->format == PUT_KTRX	    ? 32 + 4
		 : put->format == PUT_FREEBSD0_I386 ? 44 + 2
						    : 64 + 2,
		 args, 2);
}

/* Adds records of each type with payloads of 0, 5, 10 and 15 bytes, which are too short for many types. */
static void put_short(struct put *put)
{
	for (unsigned size = 0; size < 16; size += 5)
		for (unsigned type = 0; type < 40; type++) {
			put_begin(put, type);
			put_zeroes(put, size);
			put_end(put);
		}
}

static void make_fields(const char *directory, const char *name, enum put_format format)
{
	struct put put = begin(format);

	put_liar(&put, 255);
	put_liar(&put, 0x8000);
	put_liar(&put, 0);
	put_begin(&put, 3);
	put_bytes(&put, "/a\0b\xff\n", 6);
	put_end(&put);
	put_begin(&put, 8);
	put_text(&put, "noend");
	put_end(&put);
	put_array(&put, "none", 1, "abc", 3);
	put_over(&put, format == PUT_KTRX ? 32 : format == PUT_FREEBSD0_I386 ? 44 : 64, 0, 4);
	put_array(&put, "large", 1, "abc", 3);
	put_over(&put, format == PUT_KTRX ? 32 : format == PUT_FREEBSD0_I386 ? 44 : 64, UINT32_MAX, 4);
	put_name(&put, "\033[2J\"\\\xc3");
	put.pid = UINT32_MAX;
	put.tid = UINT32_MAX;
	put_short(&put);
	put_pair(&put);
	put_save(&put, directory, name);
}

static void make_damaged(const char *directory)
{
	struct put put = begin(PUT_KTRX);

	put_line(&put, 3, "/its mark is wrong");
	put_over(&put, 26, 0, 2);
	put_pair(&put);
	put_line(&put, 3, "/its size is too large, so that it swallows others");
	put_over(&put, 0, 176, 4);
	put_pair(&put);
	put_pair(&put);
	put_line(&put, 3, "/its size is too small");
	put_over(&put, 0, 3, 4);
	put_pair(&put);
	put_line(&put, 3, "/its size cannot be");
	put_over(&put, 0, UINT32_MAX, 4);
	put_pair(&put);
	put_save(&put, directory, "damaged");
}

/*
 * Makes a file with four sessions: one that is cut off at an unaligned offset, a valid one, one with a
 * damaged head, and another valid one.
 */
static void make_sessions(const char *directory)
{
	struct put put = begin(PUT_KTRX);
	size_t head;

	put.bytes.size -= 13;
	put_head(&put);
	put_line(&put, 33, "0 exit void\n");
	put_pair(&put);
	head = put.bytes.size;
	put_head(&put);
	put.bytes.data[head + 20] ^= 1;
	put_pair(&put);
	put_head(&put);
	put_pair(&put);
	put_save(&put, directory, "sessions");
}

static void make_heads(const char *directory)
{
	struct put put = begin(PUT_KTRX);

	put.bytes.data[1] ^= 0x20;
	put_save(&put, directory, "first-head");
	put = begin(PUT_KTRX);
	put.bytes.data[4] = 9;
	put_save(&put, directory, "head-without-check");
	put = put_trace(PUT_KTRX);
	put.bytes.size = 63;
	put_save(&put, directory, "half-a-head");
}

/* Makes a trace of a program that writes a trace. The inner trace, complete or cut off, is only data. */
static void make_inner(const char *directory, const char *name, size_t torn)
{
	struct put put = begin(PUT_KTRX), inner = begin(PUT_KTRX);

	put_io(&put, 1, 1, inner.bytes.data, inner.bytes.size);
	put.bytes.size -= torn;
	if (!torn)
		put_pair(&put);
	bytes_free(&inner.bytes);
	put_save(&put, directory, name);
}

/*
 * Makes a file with only one record, which is valid in two formats: the bytes of the thread id in one format
 * are a name in the other. The file has no other record that shows which format is the right one.
 */
static void make_undecided(const char *directory)
{
	struct put put = put_trace(PUT_DRAGONFLY);

	put.tid = 'A';
	put.ns = 0;
	put_line(&put, 3, "/etc/motd");
	put.bytes.size -= 4;
	put_save(&put, directory, "undecided");
}

static void make_foreign(const char *directory)
{
	struct put put = { .format = PUT_DRAGONFLY };

	put_save(&put, directory, "empty");
	put_text(&put, "This is no trace at all, whatever its length; it goes on until there would be room "
		       "for two heads and more.");
	put_save(&put, directory, "text");
	put_zeroes(&put, 200);
	put_save(&put, directory, "zeroes");
}

void make_bad(const char *directory)
{
	make_length(directory, "negative", PUT_DRAGONFLY, -5);
	make_length(directory, "negative-i386", PUT_FREEBSD0_I386, INT32_MIN);
	make_length(directory, "beyond-the-end", PUT_FREEBSD0, INT32_MAX);
	make_length(directory, "into-the-next", PUT_FREEBSD1, 33);
	make_fields(directory, "fields-ktrx", PUT_KTRX);
	make_fields(directory, "fields-dragonfly", PUT_DRAGONFLY);
	make_fields(directory, "fields-freebsd1", PUT_FREEBSD1);
	make_fields(directory, "fields-i386", PUT_FREEBSD0_I386);
	make_damaged(directory);
	make_sessions(directory);
	make_heads(directory);
	make_inner(directory, "trace-in-a-trace", 0);
	make_inner(directory, "torn-trace-in-a-trace", 8);
	make_undecided(directory);
	make_foreign(directory);
}
