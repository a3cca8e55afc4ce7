/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Streams: what is read back is what went in, whatever that was; and what is left of one that was damaged. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/support/ktread_sample.h"
#include "ktrx/stream.h"

/* A file in memory, with a path to open it by. */
struct scratch {
	int descriptor;
	char path[32];
};

static struct scratch scratch_open(void)
{
	struct scratch scratch;

	scratch.descriptor = memfd_create("scratch", MFD_CLOEXEC);
	assert_true(scratch.descriptor >= 0);
	snprintf(scratch.path, sizeof(scratch.path), "/proc/self/fd/%d", scratch.descriptor);
	return scratch;
}

static struct scratch scratch_of(const void *bytes, size_t size)
{
	struct scratch scratch = scratch_open();

	assert_int_equal(write(scratch.descriptor, bytes, size), size);
	return scratch;
}

static struct bytes scratch_bytes(const struct scratch *scratch)
{
	struct bytes bytes = { 0 };

	bytes_grow(&bytes, (size_t)lseek(scratch->descriptor, 0, SEEK_END));
	assert_int_equal(pread(scratch->descriptor, bytes.data, bytes.size, 0), bytes.size);
	return bytes;
}

static void write_stream(struct ktread *trace, const struct scratch *to)
{
	int error;

	if (ktread_write_stream(trace, to->descriptor, &error) < 0)
		fail_msg("%s", ktread_message(trace));
	assert_int_equal(error, 0);
}

/* The stream made of a file. */
static struct scratch stream_of(const char *path, const struct ktread_options *options)
{
	struct ktread *trace = open_ok(path, options);
	struct scratch stream = scratch_open();

	write_stream(trace, &stream);
	ktread_close(trace);
	return stream;
}

static void same_text(const char *a, const char *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_string_equal(a, b);
}

static void same_descriptions(struct ktread *a, struct ktread *b)
{
	const struct ktread_info *x = ktread_info(a), *y = ktread_info(b);

	assert_int_equal(x->version, y->version);
	assert_int_equal(x->frequency, y->frequency);
	assert_int_equal(x->cpus, y->cpus);
	assert_int_equal(x->rings, y->rings);
	assert_int_equal(x->machine, y->machine);
	assert_int_equal(x->outcome, y->outcome);
	assert_int_equal(x->status, y->status);
	assert_int_equal(x->nonce, y->nonce);
	assert_int_equal(x->wall_stamp, y->wall_stamp);
	assert_int_equal(x->wall_ns, y->wall_ns);
	assert_int_equal(x->types, y->types);
	assert_int_equal(x->skipped_bytes, y->skipped_bytes);
	assert_int_equal(x->build_id_size, y->build_id_size);
	if (x->build_id_size)
		assert_memory_equal(x->build_id, y->build_id, x->build_id_size);
	same_text(x->kernel, y->kernel);
	same_text(x->note, y->note);
	assert_int_equal(ktread_first_stamp(a), ktread_first_stamp(b));
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *s = ktread_type(a, id), *t = ktread_type(b, id);

		assert_int_equal(s == NULL, t == NULL);
		if (!s)
			continue;
		same_text(s->group, t->group);
		same_text(s->name, t->name);
		same_text(s->text, t->text);
		assert_int_equal(s->fields, t->fields);
		assert_int_equal(s->count, t->count);
	}
	for (uint32_t n = 0; n < 64; n++) {
		same_text(ktread_thread_name(a, n), ktread_thread_name(b, n));
		same_text(ktread_syscall_name(a, n), ktread_syscall_name(b, n));
	}
}

static void same_event(const struct ktread_event *a, const struct ktread_event *b)
{
	char s[300], t[300];

	assert_int_equal(a->stamp, b->stamp);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->lost, b->lost);
	assert_int_equal(a->ring, b->ring);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->context, b->context);
	assert_int_equal(a->callers, b->callers);
	assert_memory_equal(a->caller, b->caller, a->callers * sizeof(a->caller[0]));
	assert_int_equal(a->payload_size, b->payload_size);
	assert_memory_equal(a->payload, b->payload, a->payload_size);
	ktread_format(a, s, sizeof(s));
	ktread_format(b, t, sizeof(t));
	assert_string_equal(s, t);
}

static void same_rings(struct ktread *a, struct ktread *b)
{
	for (uint32_t n = 0; n < ktread_info(a)->rings; n++) {
		const struct ktread_ring *x = ktread_ring(a, n), *y = ktread_ring(b, n);

		assert_int_equal(x->cpu, y->cpu);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->slots, y->slots);
		assert_int_equal(x->head, y->head);
		assert_int_equal(x->overwritten, y->overwritten);
		assert_int_equal(x->decoded, y->decoded);
		assert_int_equal(x->invalid, y->invalid);
		assert_int_equal(x->records, y->records);
		assert_int_equal(x->dropped, y->dropped);
		assert_int_equal(x->lapped, y->lapped);
	}
}

/* Reads both to the end. Returns how many events they have. */
static uint64_t same_events(struct ktread *a, struct ktread *b)
{
	const struct ktread_event *x, *y;
	uint64_t count = 0;

	for (;; count++) {
		int more = ktread_next(a, &x);

		assert_int_equal(ktread_next(b, &y), more);
		assert_true(more >= 0);
		if (!more)
			break;
		same_event(x, y);
	}
	same_rings(a, b);
	return count;
}

/* Holds a trace and the stream made of it side by side, read twice. Returns how many events they have. */
static uint64_t same_trace(const char *path, const struct ktread_options *options)
{
	struct scratch stream = stream_of(path, options);
	struct ktread *a = open_ok(path, options), *b = open_ok(stream.path, NULL);
	uint64_t count;

	assert_int_equal(ktread_info(b)->form, KTREAD_FORM_STREAM);
	same_descriptions(a, b);
	count = same_events(a, b);
	assert_int_equal(ktread_rewind(a), 0);
	assert_int_equal(ktread_rewind(b), 0);
	assert_int_equal(same_events(a, b), count);
	ktread_close(a);
	ktread_close(b);
	close(stream.descriptor);
	return count;
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* Rings that wrapped, one not full, one out of order; more slots than a block has. */
static void make_v1(struct bytes *dump)
{
	uint64_t state = 1;

	v1_header(dump, 4, 8192);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		for (uint32_t n = 0; n < 8192; n++) {
			uint64_t stamp = 1000 + 10 * (uint64_t)((n + 5000 * cpu) % 8192);

			if (cpu == 2 && n > 6000) {
				bytes_grow(dump, dump->size + KTRX1_RECORD_SIZE);
				continue;
			}
			if (cpu == 3)
				stamp = 1000 + draw(&state) % 1000000;
			v1_record(dump, stamp, (uint32_t)draw(&state) % 210, cpu, n % 7,
				  (uint32_t)draw(&state));
		}
	}
}

static void version_1_comes_back(void **state)
{
	struct bytes dump = { 0 };

	(void)state;
	make_v1(&dump);
	assert_int_equal(same_trace(temporary_bytes(&dump), NULL), 3 * 8192 + 6001);
	/* Cut in the middle of a record of the last ring. */
	assert_true(same_trace(temporary(dump.data, dump.size - 100007), NULL) > 20000);
	bytes_free(&dump);
}

static void options_go_into_the_stream(void **state)
{
	const struct ktread_options options = { .size = sizeof(options),
						.frequency = 12345,
						.v1_layout = KTREAD_V1_SPEC };
	struct bytes dump = { 0 };

	(void)state;
	make_v1(&dump);
	same_trace(temporary_bytes(&dump), &options);
	bytes_free(&dump);
}

static void bare_records_come_back(void **state)
{
	const struct ktread_options options = { .size = sizeof(options),
						.form = KTREAD_FORM_BARE,
						.frequency = 1000 };
	struct bytes records = { 0 };

	(void)state;
	for (uint32_t n = 0; n < 9000; n++)
		v1_record(&records, 100 + (n ^ 1), KTRX1_WAITQ_WAKE, n % 2, 9, n);
	bytes_append(&records, "the tail", 8);
	assert_int_equal(same_trace(temporary_bytes(&records), &options), 9000);
	bytes_free(&records);
}

/* All kinds of slots, in rings that wrapped; CPU offsets. */
static void fill_v2(struct writer *writer)
{
	unsigned char extended[40] = { 24,  KTRX_EXT_CPU | KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2, 1, 0, 0x11,
				       0x22 };
	static const int64_t offsets[2] = { 0, -17 };
	uint64_t state = 2;

	begin(writer, 3);
	bytes_append(&writer->offsets, offsets, sizeof(offsets));
	for (uint32_t n = 0; n < 40; n++)
		writer_record_extended(writer, 0, 500 + n, SWITCH, 3, extended, sizeof(extended));
	for (uint32_t n = 0; n < 3000; n++) {
		uint32_t ring = 1 + (uint32_t)draw(&state) % 2, what = (uint32_t)draw(&state) % 16;
		uint64_t stamp = 1000 + 10 * (uint64_t)n - draw(&state) % 40;

		if (what == 0)
			writer_reserve(writer, ring, 1 + n % 3);
		else if (what == 1)
			writer_record(writer, ring, stamp, 300 + n % 5, n % 99, &state, sizeof(state));
		else if (what < 5)
			put_open(writer, ring, stamp, &"/a/long/path/of/several/slots/to/some/file"[n % 40]);
		else
			put_switch(writer, ring, stamp, n % 50);
	}
	put_switch(writer, 1, UINT64_C(1) << 40, 1);
	/* What a late writer leaves. */
	writer_slot_at(writer, 1, writer->ring[1].head - 5)->word[0] ^= 8;
	writer_slot_at(writer, 1, writer->ring[1].head - 9)->word[1] ^= UINT64_C(1) << 25;
	writer_slot_at(writer, 2, writer->ring[2].head - 3)->word[0] = KTRX_KIND_VOID;
}

static void version_2_comes_back(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;

	(void)state;
	fill_v2(&writer);
	writer_dump(&writer, &dump);
	assert_true(same_trace(temporary_bytes(&dump), NULL) > 600);
	/* Only the last of several dumps, with something in front. */
	writer_dump(&writer, &dump);
	assert_true(same_trace(temporary_bytes(&dump), NULL) > 600);
	writer_close(&writer);
	bytes_free(&dump);
}

/* Slots can be looked at as they lie there. */
static void slots_come_back(void **state)
{
	unsigned char x[KTRX_SLOT_SIZE], y[KTRX_SLOT_SIZE];
	struct bytes dump = { 0 };
	struct scratch stream;
	struct writer writer;
	struct ktread *a, *b;

	(void)state;
	fill_v2(&writer);
	writer_dump(&writer, &dump);
	stream = stream_of(temporary_bytes(&dump), NULL);
	a = open_ok(temporary_bytes(&dump), NULL);
	b = open_ok(stream.path, NULL);
	for (uint32_t ring = 0; ring < 3; ring++) {
		for (uint64_t index = 0; index < SLOTS; index++) {
			assert_int_equal(ktread_slot(a, ring, index, x), 0);
			assert_int_equal(ktread_slot(b, ring, index, y), 0);
			assert_memory_equal(x, y, sizeof(x));
		}
	}
	ktread_close(a);
	ktread_close(b);
	close(stream.descriptor);
	writer_close(&writer);
	bytes_free(&dump);
}

static void memory_comes_back(void **state)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;

	(void)state;
	assert_non_null(memory);
	fill_v2(&writer);
	writer_memory(&writer, memory, 0);
	assert_true(same_trace(temporary(memory, WRITER_MEMORY_SIZE), NULL) > 600);
	writer_close(&writer);
	free(memory);
}

/* A core is read in place: what the stream holds is a dump made for it. */
static void a_core_comes_back(void **state)
{
	const Elf64_Phdr segment = { .p_type = PT_LOAD, .p_offset = 0x1000, .p_filesz = WRITER_MEMORY_SIZE };
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				  .e_type = ET_CORE,
				  .e_phoff = sizeof(head),
				  .e_phentsize = sizeof(segment),
				  .e_phnum = 1 };
	struct bytes core = { 0 };
	struct writer writer;

	(void)state;
	fill_v2(&writer);
	bytes_append(&core, &head, sizeof(head));
	bytes_append(&core, &segment, sizeof(segment));
	bytes_grow(&core, 0x1000 + WRITER_MEMORY_SIZE);
	writer_memory(&writer, core.data + 0x1000, 0);
	assert_true(same_trace(temporary_bytes(&core), NULL) > 600);
	writer_close(&writer);
	bytes_free(&core);
}

static void stream_of_a_stream_is_the_same(void **state)
{
	struct bytes dump = { 0 }, once, twice;
	struct scratch first, second;

	(void)state;
	make_v1(&dump);
	first = stream_of(temporary_bytes(&dump), NULL);
	second = stream_of(first.path, NULL);
	once = scratch_bytes(&first);
	twice = scratch_bytes(&second);
	assert_int_equal(once.size, twice.size);
	assert_memory_equal(once.data, twice.data, once.size);
	close(first.descriptor);
	close(second.descriptor);
	bytes_free(&dump);
	bytes_free(&once);
	bytes_free(&twice);
}

static void a_choice_is_refused(void **state)
{
	const struct ktread_filter filter = { .size = sizeof(filter), .thread = 7 };
	struct bytes dump = { 0 };
	struct ktread *trace;
	int error, full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	make_v1(&dump);
	trace = open_ok(temporary_bytes(&dump), NULL);
	assert_int_equal(ktread_write_stream(trace, full, &error), KTREAD_E_SYSTEM);
	assert_int_equal(error, ENOSPC);
	assert_int_equal(ktread_set_filter(trace, &filter), 0);
	assert_int_equal(ktread_write_stream(trace, full, &error), KTREAD_E_ARGUMENT);
	assert_int_equal(error, 0);
	assert_non_null(strstr(ktread_message(trace), "whole trace"));
	ktread_close(trace);
	close(full);
	bytes_free(&dump);
}

/* ---- damage ---- */

static struct bytes sample_stream(void)
{
	struct bytes dump = { 0 }, bytes;
	struct scratch stream;
	struct writer writer;

	fill_v2(&writer);
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

/* Blocks lie wherever the one before ended. */
typedef struct ktrx_stream_block loose_block __attribute__((aligned(1)));

/* The n-th block's head. */
static loose_block *block_of(struct bytes *stream, unsigned n)
{
	loose_block *block = (loose_block *)(stream->data + sizeof(struct ktrx_stream));

	while (n--)
		block = (loose_block *)((unsigned char *)(block + 1) + block->size);
	return block;
}

static void seal_head(struct bytes *stream)
{
	head_of(stream)->check = ktrx_stream_check(stream->data, offsetof(struct ktrx_stream, check));
}

static void seal_block(loose_block *block)
{
	block->check = ktrx_stream_check(&block->coding, sizeof(*block) - sizeof(block->check));
}

/* Whether some warning has the text in it. */
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

/* Reads what is left of a damaged stream: it must be warned of, and all slots accounted for. */
static uint64_t read_damaged(const struct bytes *stream, const char *warning)
{
	struct scratch scratch = scratch_of(stream->data, stream->size);
	struct ktread *trace = open_ok(scratch.path, NULL);
	uint64_t count = count_events(trace);

	assert_true(is_warned(trace, warning));
	/* That a block is damaged is seen when it is read: its slots are unreadable. */
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

static void what_is_left_of_a_cut_stream_is_shown(void **state)
{
	struct bytes stream = sample_stream();
	size_t whole = stream.size;
	uint64_t all;

	(void)state;
	stream.size = whole - sizeof(struct ktrx_stream_block);
	all = read_damaged(&stream, "cut short");
	assert_true(all > 600);
	stream.size = whole - sizeof(struct ktrx_stream_block) - 10;
	assert_in_range(read_damaged(&stream, "cut short"), 40, all - 1);
	bytes_free(&stream);
}

static void damaged_blocks_are_left_out(void **state)
{
	struct bytes stream = sample_stream();
	unsigned char *frame = (unsigned char *)(block_of(&stream, 2) + 1);

	(void)state;
	frame[block_of(&stream, 2)->size / 2] ^= 1;
	assert_true(read_damaged(&stream, "is damaged") > 40);
	frame[block_of(&stream, 2)->size / 2] ^= 1;
	/* A head that cannot be believed: the next block is found all the same. */
	block_of(&stream, 2)->check ^= 1;
	assert_true(read_damaged(&stream, "usable") > 40);
	bytes_free(&stream);
}

static void absurd_heads_are_refused(void **state)
{
	struct bytes stream = sample_stream();

	(void)state;
	head_of(&stream)->version = 9;
	refuse(&stream, KTREAD_E_FORMAT, "head is damaged");
	seal_head(&stream);
	refuse(&stream, KTREAD_E_UNSUPPORTED, "version 9");
	head_of(&stream)->version = KTRX_STREAM_VERSION;
	head_of(&stream)->length = UINT64_MAX;
	seal_head(&stream);
	refuse(&stream, KTREAD_E_FORMAT, "makes no sense");
	head_of(&stream)->length = 100;
	seal_head(&stream);
	refuse(&stream, KTREAD_E_FORMAT, "too little");
	stream.size = 20;
	refuse(&stream, KTREAD_E_FORMAT, "within its head");
	bytes_free(&stream);
}

static void absurd_blocks_are_left_out(void **state)
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
	/* Less than its frame holds, and more. */
	*block = sound;
	block->length = sound.length - KTRX_SLOT_SIZE;
	seal_block(block);
	read_damaged(&stream, "is damaged");
	/* The place of another one. */
	*block = sound;
	block->position = 0;
	seal_block(block);
	read_damaged(&stream, "that others hold");
	bytes_free(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1_comes_back),
		cmocka_unit_test(options_go_into_the_stream),
		cmocka_unit_test(bare_records_come_back),
		cmocka_unit_test(version_2_comes_back),
		cmocka_unit_test(slots_come_back),
		cmocka_unit_test(memory_comes_back),
		cmocka_unit_test(a_core_comes_back),
		cmocka_unit_test(stream_of_a_stream_is_the_same),
		cmocka_unit_test(a_choice_is_refused),
		cmocka_unit_test(what_is_left_of_a_cut_stream_is_shown),
		cmocka_unit_test(damaged_blocks_are_left_out),
		cmocka_unit_test(absurd_heads_are_refused),
		cmocka_unit_test(absurd_blocks_are_left_out),
	};

	return cmocka_run_group_tests_name("ktread stream", tests, NULL, temporary_teardown);
}
