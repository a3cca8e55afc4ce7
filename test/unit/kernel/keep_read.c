/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading the trace of a boot after a reset. The kernel library records, then the machine is reset and
 * loads the image again. The test then reads the trace from the memory that the kernel provides to ktrace.
 * The events must be the same as before the reset.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KTR	   1
#define KTR_LOGGED 1
#include "ktrace/ktr.h"

#include "fuzz/ktread_exercise.h"
#include "kernel/core/core.h"
#include "ktread/memory.h"
#include "test/fake/machine.h"
#include "unit/support/ktread_support.h"

#define SLOTS 512u
#define RARE  (FAKE_CPUS + 1)

KTRACE_EVENT(keep, plain, "%u", (uint32_t, value));
KTR_INFO(KTR_LOGGED, keep, logged, 0, "%u", uint32_t value);
KTRACE_EVENT(keep, text, "%s", (const char *, text));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, keep, rare, "%u", (uint32_t, value));

/* The value of a setting, which every boot sets. */
static uint64_t number;
KTRACE_SETTING_U64("keep.number", number, 0);

static _Alignas(8) unsigned char dump[1 << 20];
static const unsigned char build_id[] = { 1, 2, 3, 4 };

/* The RAM file: ktrace's memory, followed by the image. */
static unsigned char memory[4 << 20];

static void boot_keeping(uint32_t keep)
{
	const struct ktrace_memory lent = { fake_memory, sizeof(fake_memory) };
	const struct ktrace_config config = {
		.size = sizeof(config),
		.cpus = FAKE_CPUS,
		.slots = SLOTS,
		.threads = 4,
		.holders = FAKE_HOLDERS,
		.counters = 1,
		.blocks = 1,
		.memory = &lent,
		.kernel = "fake",
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
		.syscalls = "1 write\n",
		.rare_slots = SLOTS,
		.keep = keep,
	};

	fake.cpu = 0;
	number = 77;
	KTRACE(keep, plain, 1000000);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++) {
		KTRACE(keep, plain, 1000001 + fake.cpu);
		assert_int_equal(ktrace_cpu_online(fake.cpu), KTRACE_OK);
	}
	fake.cpu = 0;
	fake.thread = 7;
	assert_int_equal(ktrace_thread_name(7, "seven"), KTRACE_OK);
}

static void boot(void)
{
	boot_keeping(1);
}

static void reset(void)
{
	fake_reset(NULL);
	number = 0;
}

static void record(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		fake.cpu = i % FAKE_CPUS;
		if (i % 10 == 9)
			KTRACE(keep, text, "a text that is longer than one slot has room for, by far");
		else if (i % 100 == 50)
			KTRACE(keep, rare, i);
		else if (i % 10 == 3)
			KTR_LOG(keep_logged, i);
		else
			KTRACE(keep, plain, i);
	}
	fake.cpu = 0;
}

static void beat(void)
{
	for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu++)
		ktrace_heartbeat(0x1000);
	fake.cpu = 0;
}

/* ---- Reading and comparing traces ------------------------------------------------------------------ */

static struct ktread *read_live(void)
{
	size_t size;

	assert_int_equal(ktrace_snapshot(dump, sizeof(dump), &size), KTRACE_OK);
	return open_ok(temporary(dump, size), NULL);
}

/* Writes ktrace's memory to a RAM file, makes a dump of the trace found in it, and opens the dump. */
static struct ktread *read_kept(uint32_t back, uint32_t boots)
{
	char path[] = "/tmp/keep-read-XXXXXX";
	int fd = mkstemp(path);
	struct ktread_memory *ram;
	struct ktread_image *image;
	struct ktread *trace;

	assert_int_equal(ktread_memory_open_ram(&ram, temporary(fake_memory, sizeof(fake_memory)), NULL), 0);
	assert_int_equal(ktread_image_find(&image, ram), KTREAD_E_ABSENT);
	if (ktread_image_find_boot(&image, ram, back) < 0)
		fail_msg("%s", ktread_image_message());
	assert_int_equal(ktread_image_boots(image), boots);
	assert_true(ktread_image_is_kept(image));
	assert_int_equal(ktread_image_write(image, fd, NULL, 0), 0);
	close(fd);
	ktread_image_close(image);
	ktread_memory_close(ram);
	trace = open_ok(path, NULL);
	unlink(path);
	return trace;
}

static void same_settings(const struct ktread *a, const struct ktread *b)
{
	struct ktread_setting now, then;
	uint32_t n = 0;

	for (; ktread_setting(a, n, &now); n++) {
		assert_int_equal(ktread_setting(b, n, &then), 1);
		assert_string_equal(then.name, now.name);
		assert_int_equal(then.value, now.value);
	}
	assert_in_range(n, 1, 100);
	assert_int_equal(ktread_setting(b, n, &then), 0);
}

static void same_event(const struct ktread_event *a, const struct ktread_event *b)
{
	assert_int_equal(a->stamp, b->stamp);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->ring, b->ring);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->payload_size, b->payload_size);
	assert_memory_equal(a->payload, b->payload, a->payload_size);
	assert_string_equal(a->type->name, b->type->name);
	assert_int_equal(a->line, b->line);
	assert_int_equal(b->file != NULL, strcmp(b->type->name, "logged") == 0);
	if (b->file)
		assert_string_equal(a->file, b->file);
}

/* Checks that both traces are the same, and closes them. Returns the number of their events. */
static uint64_t same_traces(struct ktread *live, struct ktread *kept)
{
	const struct ktread_event *a, *b;
	uint64_t events = 0;

	assert_null(ktread_warning(kept));
	for (; ktread_next(live, &a) > 0; events++) {
		assert_int_equal(ktread_next(kept, &b), 1);
		same_event(a, b);
	}
	assert_int_equal(ktread_next(kept, &b), 0);
	for (uint32_t n = 0; n <= RARE; n++) {
		const struct ktread_ring *now = ktread_ring(live, n), *then = ktread_ring(kept, n);

		assert_int_equal(then->head, now->head);
		assert_int_equal(then->overwritten, now->overwritten);
		assert_int_equal(then->decoded, now->decoded);
		assert_int_equal(then->invalid, now->invalid);
	}
	assert_int_equal(ktread_info(kept)->nonce, ktread_info(live)->nonce);
	assert_int_equal(ktread_info(kept)->outcome, ktread_info(live)->outcome);
	assert_string_equal(ktread_info(kept)->kernel, "fake");
	assert_int_equal(ktread_info(kept)->build_id_size, sizeof(build_id));
	assert_int_equal(ktread_info(kept)->self, (uintptr_t)&ktrace_root);
	assert_string_equal(ktread_thread_name(kept, 7), "seven");
	assert_string_equal(ktread_syscall_name(kept, 1), "write");
	same_settings(live, kept);
	ktread_close(live);
	ktread_close(kept);
	return events;
}

/* ---- Events after a reset -------------------------------------------------------------------------- */

/*
 * Records `before` events, one heartbeat of each CPU, and `after` events, then resets the machine. Each
 * heartbeat copies the library's state to memory that survives a reset.
 */
static void check_record(uint32_t before, uint32_t after)
{
	struct ktread *live;

	boot();
	record(before);
	if (before)
		beat();
	record(after);
	live = read_live();
	reset();
	assert_true(same_traces(live, read_kept(0, 1)) > 0);
	memset(fake_memory, 0, sizeof(fake_memory));
}

static void all_events_are_read_after_a_reset(void **state)
{
	(void)state;
	check_record(100, 100);
	check_record(0, 200);
	check_record(200, 0);
	check_record(1, 0);
}

/*
 * After the heartbeat has copied the state, the kernel records for less than a lap of the rings, about one
 * lap, or many laps.
 */
static void rings_used_after_the_copy_are_read(void **state)
{
	(void)state;
	check_record(1000, 5000);
	check_record(5000, 100000);
	/* before the heartbeat, recording takes more laps than a slot's generation can count */
	check_record(500000, 3000);
	for (uint32_t n = 1270; n < 1300; n++)
		check_record(500, n);
}

/*
 * Before and after the heartbeat, the clock advances by more than the timestamp of a slot can represent. So
 * anchors are needed.
 */
static void stamps_are_complete(void **state)
{
	struct ktread *live;

	(void)state;
	fake.step = UINT64_C(1) << 31;
	boot();
	for (uint32_t i = 0; i < 20; i++) {
		record(300);
		if (i == 3)
			beat();
	}
	live = read_live();
	reset();
	assert_true(same_traces(live, read_kept(0, 1)) > 0);
}

static void a_panic_of_an_earlier_boot_is_shown(void **state)
{
	struct ktread *live;

	(void)state;
	boot();
	record(100);
	ktrace_panic("no way");
	live = read_live();
	assert_int_equal(ktread_info(live)->outcome, KTRX_OUTCOME_PANIC);
	reset();
	assert_true(same_traces(live, read_kept(0, 1)) > 0);
}

/* Copy of ktrace's memory at a time when a record is incomplete. The test simulates a reset at this time. */
static unsigned char memory_at_reset[sizeof(fake_memory)];

static void copy_memory(void)
{
	memcpy(memory_at_reset, fake_memory, sizeof(memory_at_reset));
}

/* The record that a reset interrupts is missing, all other records are there, and the counts are correct. */
static void a_record_being_written_is_no_record(void **state)
{
	(void)state;
	for (int64_t point = 0; point < 60; point++) {
		const struct ktread_event *event;
		struct ktread *kept;
		uint64_t events = 0;

		boot();
		record(90);
		beat();
		fake_at(point, copy_memory);
		record(20);
		assert_true(fake_points() > point);
		reset();
		memcpy(fake_memory, memory_at_reset, sizeof(memory_at_reset));
		kept = read_kept(0, 1);
		while (ktread_next(kept, &event) > 0)
			events++;
		assert_in_range(events, 94, 94 + 20);
		for (uint32_t n = 0; n <= RARE; n++)
			assert_int_equal(ktread_ring(kept, n)->head, ktread_ring(kept, n)->overwritten +
									     ktread_ring(kept, n)->decoded +
									     ktread_ring(kept, n)->invalid);
		ktread_close(kept);
		memset(fake_memory, 0, sizeof(fake_memory));
	}
}

/* ---- Several boots --------------------------------------------------------------------------------- */

/* Returns the number of events keep.plain with this value. */
static uint64_t count_plain(struct ktread *trace, uint32_t value)
{
	const struct ktread_event *event;
	uint64_t count = 0;

	while (ktread_next(trace, &event) > 0) {
		uint32_t found = 0;

		if (event->payload_size >= sizeof(found))
			memcpy(&found, event->payload, sizeof(found));
		count += strcmp(event->type->name, "plain") == 0 && found == value;
	}
	ktread_close(trace);
	return count;
}

static void the_requested_number_of_boots_is_kept(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 7; n++) {
		uint32_t boots = n < 3 ? n : 3;

		boot_keeping(2);
		assert_int_equal(ktrace_boot(), n);
		KTRACE(keep, plain, 500 + n);
		reset();
		for (uint32_t back = 0; back < boots; back++)
			assert_int_equal(count_plain(read_kept(back, boots), 500 + n - back), 1);
	}
}

/*
 * The clock of this machine starts at the same time in each boot, and the nonce of a boot depends on the
 * clock.
 */
static void boots_that_look_the_same_are_distinguished(void **state)
{
	uint64_t nonce;

	(void)state;
	boot();
	nonce = ktrace_root.nonce;
	reset();
	KTRACE(keep, plain, 1);
	ktrace_root.nonce = nonce;
	ktrace_root.checksum = ktrx_root_checksum(&ktrace_root);
	boot();
	assert_int_not_equal(ktrace_root.nonce, nonce);
	assert_int_equal(ktrace_root.nonce & 0xff, nonce & 0xff);
	assert_int_equal(ktrace_root.checksum, ktrx_root_checksum(&ktrace_root));
	assert_int_equal(ktrace_mailbox.nonce, ktrace_root.nonce);
	reset();
	ktread_close(read_kept(1, 2));
}

static void memory_that_was_never_used_is_the_first_boot(void **state)
{
	(void)state;
	memset(fake_memory, 0xa5, sizeof(fake_memory));
	boot();
	assert_int_equal(ktrace_boot(), 1);
	reset();
	boot_keeping(0);
	assert_int_equal(ktrace_boot(), 0);
}

/*
 * A memory block is split at a page. One of the pieces is too small for the data of two boots, and must not
 * be used.
 */
static void memory_too_small_for_two_boots_is_not_used(void **state)
{
	const struct ktrace_memory lent[] = { { fake_memory, 448 },
					      { fake_memory + 4096, sizeof(fake_memory) - 4096 } };
	struct ktrace_config config = {
		.size = sizeof(config), .slots = SLOTS, .blocks = 2, .memory = lent, .keep = 7
	};

	(void)state;
	memset(fake_memory, 0xa5, 4096);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (uint32_t i = 0; i < 4096; i++)
		assert_int_equal(fake_memory[i], 0xa5);
	assert_memory_equal(fake_memory + 4096, KTRX_BLOCK_MAGIC, 8);
}

/* ---- The running boot ------------------------------------------------------------------------------ */

/*
 * Copies memory that contains gaps between objects, byte by byte. Compiled without sanitizers, which would
 * report accesses to the gaps.
 */
__attribute__((no_sanitize("address"))) static void copy_raw(unsigned char *to, const unsigned char *from,
							     size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile unsigned char *)to)[i] = from[i];
}

extern unsigned char __data_start[], edata[];

/*
 * Writes ktrace's memory and the image to a RAM file. Opens the trace of the running boot (`back` is 0) or of
 * the boot that was `back` boots earlier.
 */
static struct ktread_image *find_in_machine(struct ktread_memory **ram, uint32_t back)
{
	uintptr_t start = (uintptr_t)__data_start & ~(uintptr_t)4095;
	size_t size = (uintptr_t)edata - start;
	struct ktread_image *image;

	assert_in_range((uintptr_t)&ktrace_root, start, start + size);
	assert_in_range(size, 1, sizeof(memory) - sizeof(fake_memory));
	memcpy(memory, fake_memory, sizeof(fake_memory));
	copy_raw(memory + sizeof(fake_memory), (const unsigned char *)start, size);
	assert_int_equal(ktread_memory_open_ram(ram, temporary(memory, sizeof(memory)), NULL), 0);
	if (ktread_image_find_boot(&image, *ram, back) < 0)
		fail_msg("%s", ktread_image_message());
	return image;
}

static void a_running_boot_is_not_taken_for_its_copy(void **state)
{
	struct ktread_memory *ram;
	struct ktread_image *image;

	(void)state;
	for (uint32_t boots = 1; boots <= 2; boots++) {
		boot();
		record(10);
		image = find_in_machine(&ram, 0);
		assert_int_equal(ktread_image_boots(image), boots);
		assert_false(ktread_image_is_kept(image));
		ktread_image_close(image);
		ktread_memory_close(ram);
		if (boots == 2) {
			image = find_in_machine(&ram, 1);
			assert_true(ktread_image_is_kept(image));
			ktread_image_close(image);
			ktread_memory_close(ram);
		}
		reset();
	}
}

/* ---- Damaged contents ------------------------------------------------------------------------------ */

/* After a reset, any byte of the root, of the ring descriptors and of the event table may be wrong. */
static void damaged_contents_are_harmless(void **state)
{
	const size_t kept = sizeof(struct ktrx_block),
		     size = sizeof(struct ktrx_root) + (RARE + 1) * 128 + 64;
	const char *path;
	FILE *file;

	(void)state;
	boot();
	record(200);
	beat();
	record(20);
	reset();
	path = temporary(fake_memory, sizeof(fake_memory));
	file = fopen(path, "r+b");
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	for (size_t at = 0; at < kept + size; at += 3) {
		unsigned char damaged = fake_memory[at] ^ (unsigned char)(1u << at % 8);

		assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
		assert_int_equal(fwrite(&damaged, 1, 1, file), 1);
		ktread_exercise_ram(path);
		assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
		assert_int_equal(fwrite(&fake_memory[at], 1, 1, file), 1);
	}
	fclose(file);
}

/*
 * A ring's head has a value that it never reached, or a value of an earlier lap. The reader may show some
 * records and count others as lost, but it must reach the end of the trace.
 */
static void damaged_heads_are_harmless(void **state)
{
	static const uint64_t wrong_heads[] = { 0, 1, UINT64_C(1) << 40, (UINT64_C(1) << 51) - 1 };

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong_heads) / sizeof(wrong_heads[0]); i++) {
		struct ktrx_ring *ring;
		struct ktread *kept;
		const struct ktread_event *event;

		boot();
		record(200);
		beat();
		ring = (struct ktrx_ring *)(uintptr_t)ktrace_state.kept->section[KTRX_SECTION_RINGS - 1]
			       .address;
		for (uint32_t n = 0; n <= RARE; n++)
			ring[n].word = (uint64_t)n << KTRX_WORD_INDEX_BITS | wrong_heads[i];
		reset();
		kept = read_kept(0, 1);
		while (ktread_next(kept, &event) > 0)
			;
		for (uint32_t n = 0; n <= RARE; n++)
			assert_int_equal(ktread_ring(kept, n)->head, ktread_ring(kept, n)->overwritten +
									     ktread_ring(kept, n)->decoded +
									     ktread_ring(kept, n)->invalid);
		ktread_close(kept);
		memset(fake_memory, 0, sizeof(fake_memory));
	}
}

static int clear_memory(void **state)
{
	memset(fake_memory, 0, sizeof(fake_memory));
	return fake_reset(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_events_are_read_after_a_reset, clear_memory),
		cmocka_unit_test_setup(rings_used_after_the_copy_are_read, clear_memory),
		cmocka_unit_test_setup(stamps_are_complete, clear_memory),
		cmocka_unit_test_setup(a_panic_of_an_earlier_boot_is_shown, clear_memory),
		cmocka_unit_test_setup(a_record_being_written_is_no_record, clear_memory),
		cmocka_unit_test_setup(the_requested_number_of_boots_is_kept, clear_memory),
		cmocka_unit_test_setup(boots_that_look_the_same_are_distinguished, clear_memory),
		cmocka_unit_test_setup(memory_that_was_never_used_is_the_first_boot, clear_memory),
		cmocka_unit_test_setup(memory_too_small_for_two_boots_is_not_used, clear_memory),
		cmocka_unit_test_setup(a_running_boot_is_not_taken_for_its_copy, clear_memory),
		cmocka_unit_test_setup(damaged_contents_are_harmless, clear_memory),
		cmocka_unit_test_setup(damaged_heads_are_harmless, clear_memory),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
