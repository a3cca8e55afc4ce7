/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests which parts of a damaged or truncated stream are read, and which streams are refused. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "ktrx/stream.h"
#include "unit/support/ktread_stream.h"

static struct bytes sample_stream(void)
{
	struct bytes dump = { 0 }, bytes;
	struct scratch stream;
	struct writer writer;

	stream_fill_v2(&writer);
	writer_dump(&writer, &dump);
	stream = stream_of(temporary_bytes(&dump), NULL);
	bytes = scratch_bytes(&stream);
	close(stream.descriptor);
	writer_close(&writer);
	bytes_free(&dump);
	return bytes;
}

static struct ktrx_stream *head_of(struct bytes *stream)
{
	return (struct ktrx_stream *)(void *)stream->data;
}

/* A block begins where the previous one ends, at any alignment. */
typedef struct ktrx_stream_block loose_block __attribute__((aligned(1)));

/* Returns the head of the n-th block. */
static loose_block *block_of(struct bytes *stream, unsigned n)
{
	loose_block *block = (loose_block *)(stream->data + sizeof(struct ktrx_stream));

	while (n--)
		block = (loose_block *)((unsigned char *)(block + 1) + block->size);
	return block;
}

/* Removes the index, which begins where the END block ends. */
static void cut_index(struct bytes *stream)
{
	struct ktrx_stream_index index;

	memcpy(&index, stream->data + stream->size - sizeof(index), sizeof(index));
	assert_memory_equal(index.magic, KTRX_STREAM_INDEX_MAGIC, sizeof(index.magic));
	stream->size = index.offset;
}

static void seal_head(struct bytes *stream)
{
	head_of(stream)->check = ktrx_stream_check(stream->data, offsetof(struct ktrx_stream, check));
}

static void seal_block(loose_block *block)
{
	block->check = ktrx_stream_check(&block->coding, sizeof(*block) - sizeof(block->check));
}

/* Returns true if some warning contains the text. */
static bool is_warned(struct ktread *trace, const char *text)
{
	const char *warning;
	bool found = false;

	while ((warning = ktread_warning(trace)))
		found |= strstr(warning, text) != NULL;
	return found;
}

static uint64_t count_events(struct ktread *trace)
{
	const struct ktread_event *event;
	uint64_t count = 0;

	while (ktread_next(trace, &event) > 0)
		count++;
	return count;
}

/*
 * Reads a damaged stream: there must be a warning, and each slot must be counted. Returns the number of
 * events.
 */
static uint64_t read_damaged(const struct bytes *stream, const char *warning)
{
	struct scratch scratch = scratch_of(stream->data, stream->size);
	struct ktread *trace = open_ok(scratch.path, NULL);
	uint64_t count = count_events(trace);

	assert_true(is_warned(trace, warning));
	/*
	 * Damage within a block is only detected when the block is read. Then the slots of the block count as
	 * unreadable.
	 */
	assert_int_equal(ktread_is_cut(ktread_info(trace)), strcmp(warning, "is damaged") != 0);
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		assert_int_equal(ring->head, ring->overwritten + ring->decoded + ring->invalid);
	}
	ktread_close(trace);
	close(scratch.descriptor);
	return count;
}

static void refuse(const struct bytes *stream, int error, const char *message)
{
	struct scratch scratch = scratch_of(stream->data, stream->size);
	struct ktread *trace;

	assert_int_equal(ktread_open(&trace, scratch.path, NULL), error);
	if (!strstr(ktread_message(NULL), message))
		fail_msg("%s", ktread_message(NULL));
	close(scratch.descriptor);
}

static void rest_of_a_cut_stream_is_read(void **state)
{
	struct bytes stream = sample_stream();
	size_t whole;
	uint64_t all;

	(void)state;
	cut_index(&stream);
	whole = stream.size;
	stream.size = whole - sizeof(struct ktrx_stream_block);
	all = read_damaged(&stream, "cut short");
	assert_true(all > 600);
	stream.size = whole - sizeof(struct ktrx_stream_block) - 10;
	assert_in_range(read_damaged(&stream, "cut short"), 40, all - 1);
	bytes_free(&stream);
}

static void damaged_blocks_are_skipped(void **state)
{
	struct bytes stream = sample_stream();
	unsigned char *frame = (unsigned char *)(block_of(&stream, 2) + 1);

	(void)state;
	frame[block_of(&stream, 2)->size / 2] ^= 1;
	assert_true(read_damaged(&stream, "is damaged") > 40);
	frame[block_of(&stream, 2)->size / 2] ^= 1;
	/* If a block's head is damaged, the next block is still found. */
	block_of(&stream, 2)->check ^= 1;
	assert_true(read_damaged(&stream, "usable") > 40);
	bytes_free(&stream);
}

static void impossible_heads_are_refused(void **state)
{
	struct bytes stream = sample_stream();

	(void)state;
	head_of(&stream)->version = 9;
	refuse(&stream, KTREAD_E_FORMAT, "header is damaged");
	seal_head(&stream);
	refuse(&stream, KTREAD_E_UNSUPPORTED, "version 9");
	head_of(&stream)->version = KTRX_STREAM_VERSION;
	head_of(&stream)->length = UINT64_MAX;
	seal_head(&stream);
	refuse(&stream, KTREAD_E_FORMAT, "impossible values");
	head_of(&stream)->length = 100;
	seal_head(&stream);
	refuse(&stream, KTREAD_E_FORMAT, "lacks the header");
	stream.size = 20;
	refuse(&stream, KTREAD_E_FORMAT, "within its header");
	bytes_free(&stream);
}

/* The frequency of the dump is used instead. */
static void impossible_frequency_is_reported(void **state)
{
	struct bytes stream = sample_stream();
	struct scratch scratch = scratch_of(stream.data, stream.size);
	struct ktread *trace = open_ok(scratch.path, NULL);
	const uint64_t frequency = ktread_info(trace)->frequency, count = count_events(trace);

	(void)state;
	ktread_close(trace);
	close(scratch.descriptor);
	head_of(&stream)->frequency = KTREAD_FREQUENCY_MOST + 1;
	seal_head(&stream);
	scratch = scratch_of(stream.data, stream.size);
	trace = open_ok(scratch.path, NULL);
	assert_int_equal(ktread_info(trace)->frequency, frequency);
	assert_int_equal(count_events(trace), count);
	assert_true(is_warned(trace, "impossible clock frequency, 1000000000001 Hz"));
	ktread_close(trace);
	close(scratch.descriptor);
	bytes_free(&stream);
}

static void impossible_blocks_are_skipped(void **state)
{
	struct bytes stream = sample_stream();
	loose_block *block = block_of(&stream, 2), sound = *block;

	(void)state;
	block->length = UINT32_MAX;
	seal_block(block);
	read_damaged(&stream, "damaged");
	*block = sound;
	block->position = UINT64_MAX - 31;
	seal_block(block);
	read_damaged(&stream, "damaged");
	*block = sound;
	block->size = UINT32_MAX;
	seal_block(block);
	read_damaged(&stream, "damaged");
	/* The head of the block states a smaller length than that of its decompressed data. */
	*block = sound;
	block->length = sound.length - KTRX_SLOT_SIZE;
	seal_block(block);
	read_damaged(&stream, "is damaged");
	/* The head of the block states the same position in the trace as another block. */
	*block = sound;
	block->position = 0;
	seal_block(block);
	read_damaged(&stream, "overlap others");
	bytes_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rest_of_a_cut_stream_is_read),
		cmocka_unit_test(damaged_blocks_are_skipped),
		cmocka_unit_test(impossible_heads_are_refused),
		cmocka_unit_test(impossible_frequency_is_reported),
		cmocka_unit_test(impossible_blocks_are_skipped),
	};

	return cmocka_run_group_tests_name("ktread stream damage", tests, NULL, temporary_teardown);
}
