/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests ktrace_init(): it rejects invalid configurations, divides the memory that the kernel provides into
 * objects, and describes these objects in the root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/core/state.h"
#include "test/fake/checker.h"
#include "test/fake/machine.h"

KTRACE_EVENT(test, event, "%u", (uint32_t, a));

static struct ktrace_memory blocks[3];

static struct ktrace_config config_of(size_t size)
{
	struct ktrace_config config = { .size = sizeof(config), .cpus = 2, .blocks = 1, .memory = blocks };

	blocks[0].base = fake_memory;
	blocks[0].size = size;
	return config;
}

static void invalid_configurations_are_rejected(void **state)
{
	struct ktrace_config config;

	(void)state;
#define REFUSED(field, value)                    \
	config = config_of(sizeof(fake_memory)); \
	config.field = value;                    \
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_ARGUMENT)
	REFUSED(size, sizeof(config) - 1);
	REFUSED(cpus, KTRACE_MAX_CPUS + 1);
	REFUSED(slots, 256);
	REFUSED(slots, 768);
	REFUSED(slots, UINT32_C(1) << 31);
	REFUSED(policy, 2);
	REFUSED(folds, KTRACE_FOLDS_MAX + 1);
	REFUSED(rare_slots, 256);
	REFUSED(rare_slots, 768);
	REFUSED(rare_slots, UINT32_C(1) << 31);
	REFUSED(keep, KTRACE_KEEP_MAX + 1);
	REFUSED(memory, NULL);
#undef REFUSED
	KTRACE(test, event, 1);
	assert_int_equal(check_ring(0)->records, 1);
}

/* Sizes that do not fit into 32 bits are too large as well. */
static void tables_larger_than_the_memory_are_rejected(void **state)
{
	struct ktrace_config config;

	(void)state;
#define TOO_LARGE(field, value)                  \
	config = config_of(sizeof(fake_memory)); \
	config.field = value;                    \
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_MEMORY)
	TOO_LARGE(threads, UINT32_C(1) << 27);
	TOO_LARGE(threads, UINT32_MAX);
	TOO_LARGE(holders, (UINT32_C(1) << 24) - 2);
	TOO_LARGE(holders, UINT32_MAX);
	TOO_LARGE(rare_slots, UINT32_C(1) << 27);
	TOO_LARGE(rare_slots, UINT32_C(1) << 30);
#undef TOO_LARGE
	config = config_of(sizeof(fake_memory));
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
}

static void too_little_memory_is_rejected(void **state)
{
	struct ktrace_config config = config_of(2 * 512 * 32);

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_MEMORY);
	config.blocks = 0;
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_MEMORY);
	config = config_of(sizeof(fake_memory));
	config.slots = 1 << 20;
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_MEMORY);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_ERROR_STATE);
	config = config_of(2 * 512 * 32 + 4096);
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_init(&config), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_cpu_online(2), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_ERROR_STATE);
}

static void rings_use_the_available_memory(void **state)
{
	struct ktrace_config config = config_of(sizeof(fake_memory));

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_ring[1].mask, 8191);
	assert_int_equal(ktrace_ring[1].shift, 13);
	assert_int_equal(ktrace_ring[2].mask, 8191);
	assert_int_equal(ktrace_ring[3].mask, 0);
	assert_int_equal(ktrace_root.slots, 8192);
}

/* Every object is aligned, is in memory that the kernel has provided, and does not overlap another object. */
static void blocks_of_any_size_are_used(void **state)
{
	struct ktrace_config config = config_of(0);
	struct {
		uint64_t start, end;
	} places[8];
	uint32_t count = 0;

	(void)state;
	blocks[0] = (struct ktrace_memory){ fake_memory + 3, 512 * 32 + 200 };
	blocks[1] = (struct ktrace_memory){ fake_memory + 40000, 20 };
	blocks[2] = (struct ktrace_memory){ fake_memory + 65536, 512 * 32 * 3 };
	config.blocks = 3;
	config.threads = 5;
	config.holders = 3;
	config.counters = 1;
	config.clocks = KTRACE_CLOCKS_ASKED;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	for (uint32_t i = 1; i <= 2; i++) {
		places[count].start = ktrace_ring[i].address;
		places[count++].end = ktrace_ring[i].address + ktrace_ring[i].length;
	}
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &ktrace_root.section[i];

		if (section->type == KTRX_SECTION_NONE || section->type <= KTRX_SECTION_EVENTS ||
		    section->type == KTRX_SECTION_MAILBOX || section->type == KTRX_SECTION_SETTINGS)
			continue; /* this object is in the kernel image, not in the provided memory */
		places[count].start = section->address;
		places[count++].end = section->address + section->length;
	}
	assert_int_equal(count, 8);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(places[i].start % 64, 0);
		assert_true(places[i].start >= (uintptr_t)fake_memory + 64);
		assert_true(places[i].end <= (uintptr_t)fake_memory + 65536 + 512 * 32 * 3);
		for (uint32_t j = 0; j < i; j++)
			assert_true(places[i].end <= places[j].start || places[j].end <= places[i].start);
	}
	assert_memory_equal(fake_memory + 65536, KTRX_BLOCK_MAGIC, 8);
}

static void each_block_has_a_head(void **state)
{
	struct ktrace_config config = config_of(100000);
	const struct ktrx_block *head;

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	head = (const struct ktrx_block *)(const void *)fake_memory;
	assert_memory_equal(head->magic, KTRX_BLOCK_MAGIC, 8);
	assert_int_equal(head->nonce, ktrace_root.nonce);
	assert_int_equal(head->self, (uintptr_t)fake_memory);
	assert_int_equal(head->length, 100000 & ~63);
}

static void a_reserve_word_serves_one_cpu(void **state)
{
	struct ktrace_config config = config_of(sizeof(fake_memory));

	(void)state;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	assert_int_equal(ktrace_cpu_online(1), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(fake.word[0] >> KTRX_WORD_INDEX_BITS, 1);
}

/*
 * Translates an address to a physical address. One page in the middle of the first 64 KiB is not physically
 * adjacent to the pages before and after it.
 */
static uint64_t physical(const volatile void *address)
{
	uint64_t offset = (uintptr_t)address - (uintptr_t)fake_memory;

	if (offset >= sizeof(fake_memory))
		return 0x7000000 + ((uintptr_t)address & 0xffff);
	return offset >> 12 == 8 ? 0x5000000 + offset : 0x1000000 + offset;
}

static void lent_memory_is_cut_where_it_is_not_contiguous(void **state)
{
	struct ktrace_config config = config_of(65536);

	(void)state;
	blocks[0].base = (void *)(((uintptr_t)fake_memory + 4095) & ~(uintptr_t)4095);
	config.physical = physical;
	config.cpus = 1;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(ktrace_ring[1].mask, 511);
	assert_int_equal(ktrace_root.self_phys, physical(&ktrace_root));
	assert_int_equal(ktrace_cpu_online(0), KTRACE_OK);
	assert_int_equal(ktrace_ring[1].head_where, KTRX_WHERE_PHYSICAL);
	assert_int_equal(ktrace_ring[1].head_address, physical(&fake.word[0]));
	assert_int_equal(ktrace_ring[1].head, (uintptr_t)&fake.word[0]);
}

static void the_table_of_sections_is_filled(void **state)
{
	static const uint8_t build_id[20] = { 1, 2, 3 };
	static const char syscalls[] = "0 exit\n1 fork\n";
	struct ktrace_config config = config_of(sizeof(fake_memory));
	const struct ktrx_section *section = ktrace_root.section;

	(void)state;
	config.threads = 3;
	config.counters = 1;
	config.build_id = build_id;
	config.build_id_size = sizeof(build_id);
	config.syscalls = syscalls;
	config.frequency = 1000000;
	config.wall_ns = 1234;
	assert_int_equal(ktrace_init(&config), KTRACE_OK);
	assert_int_equal(section[0].type, KTRX_SECTION_RINGS);
	assert_int_equal(section[0].length, 3 * sizeof(struct ktrx_ring));
	assert_int_equal(section[0].entry_size, sizeof(struct ktrx_ring));
	assert_int_equal(section[1].type, KTRX_SECTION_EVENTS);
	assert_int_equal(section[2].type, KTRX_SECTION_THREADS);
	assert_int_equal(section[2].length, 3 * sizeof(struct ktrx_thread));
	assert_int_equal(section[3].type, KTRX_SECTION_CPUS);
	assert_int_equal(section[3].length, 2 * sizeof(struct ktrx_cpu));
	assert_int_equal(section[5].type, KTRX_SECTION_BUILD_ID);
	assert_int_equal(section[5].address, (uintptr_t)build_id);
	assert_int_equal(section[6].type, KTRX_SECTION_COUNTERS);
	assert_int_equal(section[6].length, 3 * (ktrace_state.events + 1) * 8);
	assert_int_equal(section[7].type, KTRX_SECTION_SYSCALLS);
	assert_int_equal(section[7].address, (uintptr_t)syscalls);
	assert_int_equal(section[7].length, sizeof(syscalls) - 1);
	assert_int_equal(ktrace_root.frequency, 1000000);
	assert_int_equal(ktrace_root.wall_ns, 1234);
	assert_int_equal(ktrace_root.wall_stamp, fake.clock);
	assert_int_equal(ktrace_root.sequence % 2, 0);
	assert_int_equal(ktrace_root.cpus, 2);
}

static void without_system_calls_there_is_no_section(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_root.section[KTRX_SECTION_SYSCALLS - 1].type, KTRX_SECTION_NONE);
}

static void earlier_records_stay(void **state)
{
	(void)state;
	KTRACE(test, event, 1);
	KTRACE(test, event, 2);
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	KTRACE(test, event, 3);
	assert_int_equal(check_ring(0)->records, 2);
	assert_int_equal(check_ring(1)->records, 1);
}

static void rings_begin_at_the_generation_of_the_boot(void **state)
{
	(void)state;
	fake_boot(512, KTRX_POLICY_OVERWRITE, 0);
	assert_int_equal(ktrace_ring[1].first, (ktrace_root.nonce & 0xff) * 512);
	assert_int_equal(fake.word[1] >> KTRX_WORD_INDEX_BITS, 2);
	assert_int_equal(KTRX_WORD_INDEX(fake.word[1]), ktrace_ring[2].first);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(invalid_configurations_are_rejected),
		TEST(tables_larger_than_the_memory_are_rejected),
		TEST(too_little_memory_is_rejected),
		TEST(rings_use_the_available_memory),
		TEST(blocks_of_any_size_are_used),
		TEST(each_block_has_a_head),
		TEST(a_reserve_word_serves_one_cpu),
		TEST(lent_memory_is_cut_where_it_is_not_contiguous),
		TEST(the_table_of_sections_is_filled),
		TEST(without_system_calls_there_is_no_section),
		TEST(earlier_records_stay),
		TEST(rings_begin_at_the_generation_of_the_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
