/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the places at which records of SPE are stored: portions (parts of the buffer that the hardware gets
 * one at a time), interrupts, wrapping, stopping, incomplete records.
 */
#include "kernel/hwt_drivers/spe.h"
#include "unit/support/hwt_spe_support.h"

#define SLOT   64u		      /* size of the model's records, in bytes */
#define A_PAGE (SPE_TEST_PAGE / SLOT) /* number of records that fit into a page */
/* added to PMSIDR: raises the maximum size of a record from 64 to 128 bytes */
#define MAX_128 (UINT64_C(1) << 12)

static int interrupt(struct ktrace_hwt_unit *unit)
{
	return spe_backend.operations->interrupt(&spe_backend, unit, 0);
}

static void serve(struct ktrace_hwt_unit *unit, uint64_t position)
{
	unit->served = position;
	assert_int_equal(spe_backend.operations->service(&spe_backend, unit), KTRACE_OK);
}

static void two_halves_are_filled_in_turn(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	for (unsigned half = 1; half <= 6; half++) {
		assert_int_equal(spe_sample(1000), 2 * A_PAGE);
		assert_true(fake_spe_interrupting());
		assert_true(interrupt(&unit));
		assert_false(fake_spe_interrupting());
		assert_int_equal(unit.position, half * unit.buffer.size / 2);
		assert_int_equal(unit.wraps, half / 2);
	}
	spe_sample(5);
	spe_disable(&unit);
	assert_int_equal(unit.position, 3 * unit.buffer.size + 5 * SLOT);
	assert_int_equal(unit.lost, 0);
	assert_int_equal(spe_records(&unit, 2 * unit.buffer.size + 2 * SPE_TEST_PAGE, 1 + 10 * A_PAGE),
			 2 * A_PAGE + 5);
}

static unsigned interrupts_of(uint32_t every, uint32_t pages, unsigned laps)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;
	unsigned count = 0;

	spe_unit(&unit, pages);
	config.interrupt_every = every;
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	while (unit.position < laps * unit.buffer.size) {
		spe_sample(10);
		count += (unsigned)interrupt(&unit);
		spe_backend.operations->read(&spe_backend, &unit);
	}
	spe_disable(&unit);
	assert_int_equal(unit.wraps, laps);
	return count;
}

static void interrupts_come_at_the_requested_interval(void **state)
{
	(void)state;
	spe_begin();
	assert_int_equal(interrupts_of(0, 8, 3), 6);
	assert_int_equal(interrupts_of(SPE_TEST_PAGE, 8, 3), 24);
	/* expects interrupts after 3, 6 and 8 pages */
	assert_int_equal(interrupts_of(3 * SPE_TEST_PAGE, 8, 3), 9);
	assert_int_equal(interrupts_of(8 * SPE_TEST_PAGE, 8, 3), 3);
	assert_int_equal(interrupts_of(0, 1, 3), 3);
}

static void the_rest_of_a_portion_is_padding(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	fake_spe_features.pmsidr += MAX_128;
	spe_begin();
	spe_unit(&unit, 2);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	/* after these records, only half of a record of the maximum size fits into the current portion */
	assert_int_equal(spe_sample(1000), A_PAGE - 1);
	assert_true(interrupt(&unit));
	assert_int_equal(unit.position, SPE_TEST_PAGE);
	spe_sample(A_PAGE - 2);
	/* one more record of the maximum size fits, so no interrupt is pending */
	spe_disable(&unit);
	assert_int_equal(unit.position, 2 * SPE_TEST_PAGE - 2 * SLOT);
	assert_int_equal(spe_records(&unit, 0, 1), 2 * A_PAGE - 3);
	spe_enable(&unit);
	spe_sample(1);
	spe_disable(&unit); /* to disable the unit also handles the pending interrupt */
	assert_false(fake_spe_interrupting());
	assert_int_equal(unit.position, 2 * SPE_TEST_PAGE);
	assert_int_equal(unit.wraps, 1);
	assert_int_equal(unit.lost, 0);
	assert_int_equal(spe_records(&unit, 0, 1), 2 * A_PAGE - 2);
}

static void a_unit_that_stops_waits_for_its_reader(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	assert_int_equal(spe_sample(1000), 2 * A_PAGE);
	assert_true(interrupt(&unit));
	assert_false(unit.full);
	assert_int_equal(spe_sample(1000), 2 * A_PAGE);
	assert_true(interrupt(&unit));
	assert_true(unit.full);
	assert_int_equal(spe_sample(1000), 0);
	assert_false(interrupt(&unit));
	spe_disable(&unit);
	spe_enable(&unit); /* a full unit samples nothing */
	assert_int_equal(spe_sample(1000), 0);
	spe_disable(&unit);
	assert_int_equal(unit.position, unit.buffer.size);
	assert_int_equal(spe_records(&unit, 0, 1), 4 * A_PAGE);

	serve(&unit, unit.buffer.size / 2 - 1);
	assert_true(unit.full);
	serve(&unit, unit.buffer.size / 2);
	assert_false(unit.full);
	spe_enable(&unit);
	assert_int_equal(spe_sample(1000), 2 * A_PAGE);
	spe_disable(&unit);
	assert_true(unit.full);
	assert_int_equal(unit.wraps, 1);
	assert_int_equal(spe_records(&unit, unit.served, 1 + 2 * A_PAGE), 4 * A_PAGE);
	unit.served = unit.position + 1;
	assert_int_equal(spe_backend.operations->service(&spe_backend, &unit), KTRACE_ERROR_ARGUMENT);
}

/* A write to memory fails in the middle of a record. */
static void an_incomplete_record_is_left_out(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	spe_sample(3);
	fake_spe_fault(20);
	spe_sample(3);
	assert_true(fake_spe_interrupting());
	assert_true(interrupt(&unit));
	assert_false(fake_spe_interrupting());
	assert_int_equal(unit.position, 3 * SLOT);
	assert_int_equal(unit.lost, 1);
	assert_int_equal(spe_sample(3), 0); /* the unit does not sample until it is enabled again */
	spe_enable(&unit);
	spe_sample(2);
	spe_disable(&unit);
	assert_int_equal(unit.position, 5 * SLOT);
	assert_int_equal(spe_records(&unit, 3 * SLOT, 5), 2);

	spe_enable(&unit);
	fake_spe_fault(20);
	spe_sample(1);
	assert_int_equal(spe_backend.operations->disable(&spe_backend, &unit, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(unit.position, 5 * SLOT);
	assert_int_equal(unit.lost, 2);
}

/* The incomplete record is longer than one slot, so it begins before the last slot boundary. */
static void an_incomplete_record_of_many_slots_is_left_out(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	fake_spe_features.pmsidr += MAX_128;
	fake_spe_features.record_size = 128;
	spe_begin();
	spe_unit(&unit, 2);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	spe_enable(&unit);
	assert_int_equal(spe_sample(SPE_TEST_PAGE / 128 - 1), SPE_TEST_PAGE / 128 - 1);
	fake_spe_fault(100);
	spe_sample(1);
	assert_int_equal(spe_backend.operations->disable(&spe_backend, &unit, 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(unit.position, SPE_TEST_PAGE - 128);
	assert_int_equal(spe_records(&unit, 0, 1), SPE_TEST_PAGE / 128 - 1);
	assert_int_equal(unit.lost, 1);
}

/* The bytes are truncated at each length. No byte after the end may be read. */
static void the_end_of_whole_records_is_found(void **state)
{
	static const char records[] = "\xb0"
				      "12345678" /* first record: an address packet, */
				      /* an events packet, an END packet, and padding */
				      "\x42\x01\x01\0\0\0\0"
				      "\x20\xb8"
				      /* second record: an address packet with a header of two bytes, */
				      "12345678"
				      "\x71"
				      /* and a timestamp packet, which ends a record like an END packet */
				      "12345678";
	const size_t all = sizeof(records) - 1;
	const struct ktrace_hwt_spe spe = { .align = 16 };

	(void)state;
	for (size_t size = 0; size <= all; size++) {
		uint8_t *copy = malloc(size + !size);
		size_t expected = size < 12 ? 0 : size < 16 ? size : size < all ? 16 : size;

		memcpy(copy, records, size);
		assert_int_equal(ktrace_hwt_spe_whole(&spe, copy, size), expected);
		free(copy);
	}
}

static void collisions_are_counted(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	spe_begin();
	spe_unit(&unit, 4);
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	for (int i = 0; i < 3; i++) {
		spe_enable(&unit);
		spe_sample(1);
		if (i)
			fake_spe_collide();
		spe_disable(&unit);
	}
	assert_int_equal(unit.lost, 2);
	assert_int_equal(unit.position, 3 * SLOT);
}

/* A reader may take the available records at any time, and must get each record once and in order. */
static void any_mixture_of_samples_switches_and_services(uint32_t pages, uint32_t every)
{
	struct ktrace_hwt_config config = spe_config();
	uint64_t taken = 0;
	struct ktrace_hwt_unit unit;

	spe_unit(&unit, pages);
	config.flags = KTRACE_HWT_STOP;
	config.interrupt_every = every;
	assert_int_equal(spe_configure(&unit, &config), KTRACE_OK);
	srand(11);
	for (int i = 0; i < 400; i++) {
		spe_enable(&unit);
		for (int runs = rand() % 4; runs; runs--) {
			fake_spe_run((uint64_t)rand() % (pages * A_PAGE * SPE_TEST_INTERVAL));
			if (rand() % 2)
				interrupt(&unit);
			else if (rand() % 2)
				spe_backend.operations->read(&spe_backend, &unit);
		}
		spe_disable(&unit);
		assert_true(unit.position - unit.served <= unit.buffer.size);
		if (rand() % 2) {
			taken += spe_records(&unit, unit.served, 1 + taken);
			serve(&unit, unit.position);
		}
	}
	taken += spe_records(&unit, unit.served, 1 + taken);
	assert_int_equal(1 + taken, fake_spe_next(unit.buffer.base));
	assert_true(unit.wraps > 10);
	assert_int_equal(unit.lost, 0);
}

static void every_record_arrives_once(void **state)
{
	(void)state;
	spe_begin();
	any_mixture_of_samples_switches_and_services(4, 0);
	any_mixture_of_samples_switches_and_services(9, SPE_TEST_PAGE);
	any_mixture_of_samples_switches_and_services(1, 0);
	any_mixture_of_samples_switches_and_services(7, 2 * SPE_TEST_PAGE);
	spe_setup(NULL);
	fake_spe_features.pmsidr += 5 * MAX_128; /* 2 KiB, the maximum size of a record */
	fake_spe_features.pmbidr = 0x2b;
	spe_begin();
	any_mixture_of_samples_switches_and_services(4, 0);
}

static void two_units_take_turns(void **state)
{
	struct ktrace_hwt_config config = spe_config();
	struct ktrace_hwt_unit a, b;

	(void)state;
	spe_begin();
	spe_unit(&a, 2);
	spe_unit(&b, 2);
	assert_int_equal(spe_configure(&a, &config), KTRACE_OK);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(spe_configure(&b, &config), KTRACE_OK);
	for (int i = 0; i < 100; i++) {
		spe_enable(&a);
		spe_sample(3);
		spe_disable(&a);
		spe_enable(&b);
		spe_sample(3);
		spe_disable(&b);
	}
	assert_true(a.wraps >= 2);
	assert_int_equal(b.position, b.buffer.size);
	assert_true(b.full);
}

static void invalid_buffers_are_rejected(void **state)
{
	struct ktrace_hwt_unit unit, good;

	(void)state;
	spe_begin();
	spe_unit(&good, 4);
#define REFUSED(change)                                                                  \
	do {                                                                             \
		unit = good;                                                             \
		change;                                                                  \
		assert_int_equal(spe_backend.operations->unit_init(&spe_backend, &unit), \
				 KTRACE_ERROR_ARGUMENT);                                 \
	} while (0)
	REFUSED(unit.buffer.base = NULL);
	REFUSED(unit.buffer.base = (uint8_t *)good.buffer.base + 64);
	REFUSED(unit.buffer.size = 0);
	REFUSED(unit.buffer.size -= 64);
#undef REFUSED
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, spe_setup, spe_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(two_halves_are_filled_in_turn),	 TEST(interrupts_come_at_the_requested_interval),
		TEST(the_rest_of_a_portion_is_padding),	 TEST(a_unit_that_stops_waits_for_its_reader),
		TEST(an_incomplete_record_is_left_out),	 TEST(an_incomplete_record_of_many_slots_is_left_out),
		TEST(the_end_of_whole_records_is_found), TEST(collisions_are_counted),
		TEST(every_record_arrives_once),	 TEST(two_units_take_turns),
		TEST(invalid_buffers_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
