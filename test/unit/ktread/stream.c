/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that the contents of a stream are read back unchanged. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/ktread_stream.h"
#include "unit/support/random.h"

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

/* Reads both traces to the end, and compares them. Returns how many events they have. */
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

/* Makes a stream from a trace, and compares the stream with the trace twice. Returns the number of events. */
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

/*
 * Makes a trace with rings that have wrapped around, a ring that is not full, and a ring whose records are
 * out of order. Its slots do not all fit into one block of a stream.
 */
static void make_v1(struct bytes *dump)
{
	uint64_t seed = 1;

	v1_header(dump, 4, 8192);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		for (uint32_t n = 0; n < 8192; n++) {
			uint64_t stamp = 1000 + 10 * (uint64_t)((n + 5000 * cpu) % 8192);

			if (cpu == 2 && n > 6000) {
				bytes_grow(dump, dump->size + KTRX1_RECORD_SIZE);
				continue;
			}
			if (cpu == 3)
				stamp = 1000 + random_below(&seed, 1000000);
			v1_record(dump, stamp, random_below(&seed, 210), cpu, n % 7,
				  (uint32_t)random_word(&seed));
		}
	}
}

static void version_1_is_restored(void **state)
{
	struct bytes dump = { 0 };

	(void)state;
	make_v1(&dump);
	assert_int_equal(same_trace(temporary_bytes(&dump), NULL), 3 * 8192 + 6001);
	/* The dump is truncated in the middle of a record of the last ring. */
	assert_true(same_trace(temporary(dump.data, dump.size - 100007), NULL) > 20000);
	bytes_free(&dump);
}

static void options_are_stored_in_the_stream(void **state)
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

static void bare_records_are_restored(void **state)
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

static void version_2_is_restored(void **state)
{
	struct bytes dump = { 0 };
	struct writer writer;

	(void)state;
	stream_fill_v2(&writer);
	writer_dump(&writer, &dump);
	assert_true(same_trace(temporary_bytes(&dump), NULL) > 600);
	/* If the file contains two dumps, the stream contains only the last one. */
	writer_dump(&writer, &dump);
	assert_true(same_trace(temporary_bytes(&dump), NULL) > 600);
	writer_close(&writer);
	bytes_free(&dump);
}

/* The stream contains the same slots as the dump, byte for byte. */
static void slots_are_restored(void **state)
{
	unsigned char x[KTRX_SLOT_SIZE], y[KTRX_SLOT_SIZE];
	struct bytes dump = { 0 };
	struct scratch stream;
	struct writer writer;
	struct ktread *a, *b;

	(void)state;
	stream_fill_v2(&writer);
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

static void memory_is_restored(void **state)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;

	(void)state;
	assert_non_null(memory);
	stream_fill_v2(&writer);
	writer_memory(&writer, memory, 0);
	assert_true(same_trace(temporary(memory, WRITER_MEMORY_SIZE), NULL) > 600);
	writer_close(&writer);
	free(memory);
}

/* A core dump is not copied into the stream. A dump is made from it for the stream. */
static void core_is_restored(void **state)
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
	stream_fill_v2(&writer);
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

static void filtered_trace_is_refused(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_1_is_restored),
		cmocka_unit_test(options_are_stored_in_the_stream),
		cmocka_unit_test(bare_records_are_restored),
		cmocka_unit_test(version_2_is_restored),
		cmocka_unit_test(slots_are_restored),
		cmocka_unit_test(memory_is_restored),
		cmocka_unit_test(core_is_restored),
		cmocka_unit_test(stream_of_a_stream_is_the_same),
		cmocka_unit_test(filtered_trace_is_refused),
	};

	return cmocka_run_group_tests_name("ktread stream", tests, NULL, temporary_teardown);
}
