/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/page_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <zlib.h>

#define CONTENT_MOST (16u << 20)

struct content {
	const unsigned char *at, *end;
};

static uint64_t number(struct content *content)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do {
		assert_true(content->at < content->end && shift < 64);
		value |= (uint64_t)(*content->at & 0x7f) << shift;
		shift += 7;
	} while (*content->at++ & 0x80);
	return value;
}

static uint64_t signed_number(struct content *content)
{
	const uint64_t value = number(content);

	return value >> 1 ^ (0 - (value & 1));
}

static void pass_over(struct content *content, uint64_t count)
{
	while (count--)
		number(content);
}

static void take_strings(struct decoded *decoded, struct content *content)
{
	for (uint64_t count = number(content); count > 0; count--) {
		const uint64_t size = number(content);

		assert_true(size <= (uint64_t)(content->end - content->at));
		content->at += size;
		decoded->strings++;
	}
}

static void check_string(const struct decoded *decoded, uint64_t string)
{
	assert_true(string <= decoded->strings);
}

static void take_lanes(struct decoded *decoded, struct content *content)
{
	for (uint64_t count = number(content); count > 0; count--) {
		const uint64_t lane = number(content);

		assert_true(lane <= decoded->lanes && lane < 256);
		decoded->lanes += lane == decoded->lanes;
		decoded->kind[lane] = (uint32_t)number(content);
		number(content);
		check_string(decoded, number(content));
		check_string(decoded, number(content));
		number(content);
	}
}

static void take_slices(struct decoded *decoded, struct content *content)
{
	const uint32_t lane = (uint32_t)number(content), row = (uint32_t)number(content);
	const uint64_t count = number(content);
	struct decoded_slice *slice = &decoded->slice[decoded->slices];
	uint64_t begin = 0, slot = 0;

	assert_true(lane < decoded->lanes && decoded->slices + count <= DECODED_MOST);
	for (uint64_t n = 0; n < count; n++)
		slice[n] =
			(struct decoded_slice){ .begin = begin += number(content), .lane = lane, .row = row };
	for (uint64_t n = 0; n < count; n++)
		slice[n].duration = number(content);
	for (uint64_t n = 0; n < count; n++)
		check_string(decoded, number(content));
	for (uint64_t n = 0; n < count; n++)
		slice[n].class = (uint32_t)number(content);
	pass_over(content, count);
	for (uint64_t n = 0; n < count; n++)
		slice[n].ring = (uint32_t)number(content);
	for (uint64_t n = 0; n < count; n++)
		slice[n].slot = slot += signed_number(content);
	for (uint64_t n = 0; n < count; n++)
		slice[n].other = (uint32_t)number(content);
	for (uint64_t n = 0; n < count; n++) {
		slice[n].flags = (uint32_t)number(content);
		assert_true(slice[n].other <= decoded->lanes);
	}
	decoded->slices += (uint32_t)count;
}

static void take_gaps(struct decoded *decoded, struct content *content)
{
	const uint64_t count = number(content);

	pass_over(content, 3 * count);
	for (uint64_t n = 0; n < count; n++)
		decoded->lost += number(content);
	decoded->gaps += (uint32_t)count;
}

/* Requires: all fields are numbers. */
static void take_events(struct decoded *decoded, struct content *content)
{
	const uint32_t ring = (uint32_t)number(content);
	const uint64_t cpu = number(content), count = number(content);
	struct decoded_event *event = &decoded->event[decoded->events];
	uint64_t time = 0, slot = 0, values = 0;

	(void)cpu;
	assert_true(decoded->events + count <= DECODED_MOST);
	for (uint64_t n = 0; n < count; n++)
		event[n] = (struct decoded_event){ .time = time += signed_number(content), .ring = ring };
	for (uint64_t n = 0; n < count; n++)
		event[n].type = (uint32_t)number(content);
	for (uint64_t n = 0; n < count; n++)
		assert_true(number(content) <= decoded->lanes);
	pass_over(content, count);
	for (uint64_t n = 0; n < count; n++)
		event[n].slot = slot += number(content);
	for (uint64_t n = 0; n < count; n++)
		values += (uint64_t)__builtin_popcountll(number(content));
	pass_over(content, values);
	decoded->events += (uint32_t)count;
}

static void take_section(struct decoded *decoded, uint64_t tag, struct content *content)
{
	uint64_t count;

	switch (tag) {
	case 1:
		take_strings(decoded, content);
		break;
	case 2:
		take_lanes(decoded, content);
		break;
	case 3:
		take_slices(decoded, content);
		break;
	case 4:
		count = number(content);
		pass_over(content, 7 * count);
		decoded->arrows += (uint32_t)count;
		break;
	case 6:
		take_gaps(decoded, content);
		break;
	case 7:
		take_events(decoded, content);
		break;
	default:
		fail_msg("unexpected section %u", (unsigned)tag);
	}
	assert_ptr_equal(content->at, content->end);
}

int decoded_take(void *context, const unsigned char *bytes, size_t size)
{
	struct decoded *decoded = context;
	unsigned char *plain = malloc(CONTENT_MOST);
	uLongf length = CONTENT_MOST;
	struct content all;

	assert_non_null(plain);
	assert_int_equal(uncompress(plain, &length, bytes, size), Z_OK);
	all = (struct content){ plain, plain + length };
	while (all.at < all.end) {
		const uint64_t tag = number(&all), section = number(&all);
		struct content content = { all.at, all.at + section };

		assert_true(section <= (uint64_t)(all.end - all.at));
		take_section(decoded, tag, &content);
		all.at += section;
	}
	free(plain);
	decoded->blocks++;
	return 0;
}
