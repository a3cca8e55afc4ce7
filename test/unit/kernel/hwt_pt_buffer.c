/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the places at which packets of Intel PT are stored: regions, interrupts, wrapping, stopping. */
#include "unit/support/hwt_pt_support.h"

#define ENTRY_END  1u
#define ENTRY_INT  4u
#define ENTRY_STOP 16u

static uint64_t entry(const struct ktrace_hwt_unit *unit, unsigned n)
{
	return ((const uint64_t *)unit->buffer.table)[n];
}

static uint64_t region(uint64_t word)
{
	return UINT64_C(4096) << (word >> 6 & 15);
}

/*
 * Returns the number of entries before the END entry of the table. Checks that the END entry refers to the
 * table itself.
 */
static unsigned entries(const struct ktrace_hwt_unit *unit)
{
	unsigned n = 0;

	while (!(entry(unit, n) & ENTRY_END))
		n++;
	assert_int_equal(entry(unit, n), unit->buffer.table_physical | ENTRY_END);
	return n;
}

static void regions_are_powers_of_two_aligned_to_their_size(void **state)
{
	static const uint32_t pages[] = { 1, 7, 2, 13, 1, 40, 0 };
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;
	uint64_t total = 0;
	unsigned n;

	(void)state;
	pt_begin();
	pt_unit(&unit, pages);
	config.interrupt_every = 16 * PT_PAGE;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	n = entries(&unit);
	for (unsigned i = 0; i < n; i++) {
		uint64_t word = entry(&unit, i), size = region(word);

		assert_int_equal((word & ~UINT64_C(0xfff)) % size, 0);
		assert_int_equal(total / (16 * PT_PAGE), (total + size - 1) / (16 * PT_PAGE));
		total += size;
		assert_int_equal(word & ENTRY_INT,
				 total % (16 * PT_PAGE) == 0 || total == unit.buffer.size ? ENTRY_INT : 0);
		assert_int_equal(word & ENTRY_STOP, 0);
	}
	assert_int_equal(total, unit.buffer.size);
}

static void a_whole_buffer_is_two_regions_and_two_interrupts(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 64);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	assert_int_equal(entries(&unit), 2);
	assert_int_equal(region(entry(&unit, 0)), 32 * PT_PAGE);
	pt_enable(&unit);
	fake_pt_run(32 * PT_PAGE - 1);
	assert_false(fake_pt_interrupted());
	fake_pt_run(1);
	assert_true(fake_pt_interrupted());
	pt_disable(&unit);
}

static unsigned interrupts_of(uint32_t every)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;
	unsigned count = 0;

	pt_unit_whole(&unit, 32);
	config.interrupt_every = every;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	for (unsigned i = 0; i < 4 * 32; i++) {
		fake_pt_run(PT_PAGE);
		if (fake_pt_interrupted()) {
			assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
			assert_int_equal(unit.position, (i + 1) * PT_PAGE);
			count++;
		}
	}
	pt_disable(&unit);
	assert_int_equal(unit.position, 4 * unit.buffer.size);
	assert_int_equal(unit.wraps, 4);
	assert_int_equal(unit.lost, 0);
	pt_check_bytes(&unit, 0);
	return count;
}

static void interrupts_come_at_the_requested_interval(void **state)
{
	(void)state;
	pt_begin();
	assert_int_equal(interrupts_of(0), 8);
	assert_int_equal(interrupts_of(PT_PAGE), 128);
	assert_int_equal(interrupts_of(8 * PT_PAGE), 16);
	assert_int_equal(interrupts_of(12 * PT_PAGE), 12); /* expects interrupts after 12, 24 and 32 pages */
	assert_int_equal(interrupts_of(32 * PT_PAGE), 4);
}

static void a_late_interrupt_reports_the_lap(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 16);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(100);
	pt_disable(&unit);
	pt_enable(&unit);
	/* writes one lap and 1000 bytes: the lap must be counted, too */
	fake_pt_run(unit.buffer.size + 1000);
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_int_equal(unit.position, unit.buffer.size + 1100);
	assert_int_equal(unit.wraps, 1);
	/* writes exactly one lap, and disables the unit while its interrupt is pending */
	fake_pt_run(unit.buffer.size);
	pt_disable(&unit);
	assert_int_equal(unit.position, 2 * unit.buffer.size + 1100);
	assert_false(fake_pt_peek(0x38e) & UINT64_C(1) << 55);
	pt_check_bytes(&unit, 0);
}

static void no_byte_is_no_lap(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 2);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	for (int i = 0; i < 3; i++) {
		pt_enable(&unit);
		pt_disable(&unit);
	}
	assert_int_equal(unit.position, 0);
	assert_int_equal(unit.wraps, 0);
}

static void a_stop_is_exact_and_reported(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 8);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	assert_int_equal(fake_pt_run(unit.buffer.size + 1), unit.buffer.size);
	assert_true(fake_pt_interrupted());
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_true(unit.full);
	assert_int_equal(unit.lost, 1);
	assert_int_equal(unit.position, unit.buffer.size);
	pt_disable(&unit);
	pt_enable(&unit); /* a full unit writes nothing */
	assert_int_equal(fake_pt_run(100), 0);
	pt_disable(&unit);
	assert_int_equal(unit.position, unit.buffer.size);
	pt_check_bytes(&unit, 0);

	/* The unit remains full until there is room for a whole region. */
	unit.served = 4 * PT_PAGE - 1;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	assert_true(unit.full);
	unit.served = 4 * PT_PAGE;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	assert_false(unit.full);
	pt_enable(&unit);
	assert_int_equal(fake_pt_run(unit.buffer.size), 4 * PT_PAGE);
	pt_disable(&unit);
	assert_true(unit.full);
	assert_int_equal(unit.position, unit.buffer.size + 4 * PT_PAGE);
	assert_int_equal(unit.wraps, 1);
	pt_check_bytes(&unit, unit.served);
}

static void a_whole_buffer_between_two_stops_counts(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 8);
	config.flags = KTRACE_HWT_STOP;
	config.interrupt_every = 2 * PT_PAGE;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(2 * PT_PAGE);
	pt_disable(&unit);
	unit.served = unit.position;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	pt_enable(&unit);
	/* fills the buffer up to the position at which writing began */
	assert_int_equal(fake_pt_run(2 * unit.buffer.size), unit.buffer.size);
	pt_disable(&unit);
	assert_int_equal(unit.position, unit.buffer.size + 2 * PT_PAGE);
	assert_true(unit.full);
	pt_check_bytes(&unit, unit.served);
}

/*
 * The entry of the region at which the unit stops requests an interrupt, even if the interval between
 * interrupts does not require one there.
 */
static void a_stop_interrupts(void **state)
{
	static const uint32_t pages[] = { 2, 2, 4, 0 };
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit(&unit, pages);
	config.flags = KTRACE_HWT_STOP;
	config.interrupt_every = 8 * PT_PAGE;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(unit.buffer.size);
	pt_disable(&unit);
	fake_pt_interrupted();
	unit.served = 2 * PT_PAGE;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	pt_enable(&unit);
	assert_int_equal(fake_pt_run(unit.buffer.size), 2 * PT_PAGE);
	assert_true(fake_pt_interrupted());
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_true(unit.full);

	/*
	 * service() moves the stop to another region. Then the entry of the old region no longer requests an
	 * interrupt.
	 */
	unit.served = unit.position;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
	for (unsigned i = 0; i + 1 < entries(&unit); i++)
		assert_int_equal(entry(&unit, i) & (ENTRY_INT | ENTRY_STOP),
				 entry(&unit, i) & ENTRY_STOP ? ENTRY_INT | ENTRY_STOP : 0);
}

static void service_rejects_bytes_not_written_yet(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	pt_begin();
	pt_unit_whole(&unit, 8);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	unit.served = 1;
	assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_ERROR_ARGUMENT);
}

/*
 * A reader may take the available bytes at any time. It must get each byte once and in order, after any
 * sequence of thread switches and stops.
 */
static void any_mixture_of_runs_switches_and_services(uint32_t flags, const uint32_t *pages, uint32_t every,
						      uint32_t open_points)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;
	uint64_t written = 0;

	fake_pt_features.lazy = open_points & 1;
	fake_pt_features.stops_behind = open_points >> 1;
	pt_unit(&unit, pages);
	config.flags = flags;
	config.interrupt_every = every;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	srand(7);
	for (int i = 0; i < 400; i++) {
		pt_enable(&unit);
		for (int runs = rand() % 4; runs; runs--) {
			written += fake_pt_run((uint64_t)rand() % (unit.buffer.size / 2));
			if (fake_pt_interrupted())
				pt_backend.operations->interrupt(&pt_backend, &unit, 0);
			else if (rand() % 2)
				pt_backend.operations->read(&pt_backend, &unit);
		}
		pt_disable(&unit);
		assert_int_equal(unit.position, written);
		assert_true(!(flags & KTRACE_HWT_STOP) || unit.position - unit.served <= unit.buffer.size);
		pt_check_bytes(&unit, unit.served);
		if (rand() % 2) {
			unit.served += (unit.position - unit.served) / (1 + (uint64_t)rand() % 3);
			assert_int_equal(pt_backend.operations->service(&pt_backend, &unit), KTRACE_OK);
		}
		fake_pt_interrupted();
	}
	assert_true(unit.wraps > 10);
}

static void every_byte_arrives_once(void **state)
{
	static const uint32_t scattered[] = { 1, 7, 2, 13, 1, 0 }, whole[] = { 16, 0 }, one[] = { 1, 0 };

	(void)state;
	pt_begin();
	for (uint32_t open_points = 0; open_points < 4; open_points++) {
		any_mixture_of_runs_switches_and_services(KTRACE_HWT_STOP, scattered, 0, open_points);
		any_mixture_of_runs_switches_and_services(0, scattered, 4 * PT_PAGE, open_points);
		any_mixture_of_runs_switches_and_services(KTRACE_HWT_STOP, whole, PT_PAGE, open_points);
		any_mixture_of_runs_switches_and_services(0, one, 0, open_points);
		any_mixture_of_runs_switches_and_services(KTRACE_HWT_STOP, one, 0, open_points);
	}
}

static void two_units_take_turns(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit a, b;

	(void)state;
	pt_begin();
	pt_unit_whole(&a, 4);
	pt_unit_whole(&b, 8);
	assert_int_equal(pt_configure(&a, &config), KTRACE_OK);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&b, &config), KTRACE_OK);
	for (int i = 0; i < 20; i++) {
		pt_enable(&a);
		fake_pt_run(3000);
		pt_disable(&a);
		pt_enable(&b);
		fake_pt_run(5000);
		pt_disable(&b);
	}
	assert_int_equal(a.position, 60000);
	assert_int_equal(b.position, b.buffer.size);
	assert_int_equal(b.lost, 1);
	pt_check_bytes(&a, 0);
	pt_check_bytes(&b, 0);
}

static void invalid_buffers_are_rejected(void **state)
{
	struct ktrace_hwt_piece piece;
	struct ktrace_hwt_unit unit, good;

	(void)state;
	pt_begin();
	pt_unit_whole(&good, 8);
#define REFUSED(error, change)                                                                 \
	do {                                                                                   \
		unit = good;                                                                   \
		piece = *good.buffer.piece;                                                    \
		unit.buffer.piece = &piece;                                                    \
		change;                                                                        \
		assert_int_equal(pt_backend.operations->unit_init(&pt_backend, &unit), error); \
	} while (0)
	REFUSED(KTRACE_OK, (void)0);
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.table = NULL);
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.table_physical += 64);
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.pieces = 0);
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.size = 0);
	REFUSED(KTRACE_ERROR_ARGUMENT, (unit.buffer.size = 0, unit.buffer.pieces = 0));
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.size -= PT_PAGE);
	REFUSED(KTRACE_ERROR_ARGUMENT, unit.buffer.size += PT_PAGE);
	REFUSED(KTRACE_ERROR_ARGUMENT, piece.physical += 64);
	REFUSED(KTRACE_ERROR_ARGUMENT, piece.size -= 64);
	REFUSED(KTRACE_ERROR_ARGUMENT, piece.physical = UINT64_C(1) << 39);
	REFUSED(KTRACE_ERROR_ARGUMENT, piece.physical = (UINT64_C(1) << 39) - PT_PAGE);
	REFUSED(KTRACE_ERROR_MEMORY, unit.buffer.table_size = 8);
#undef REFUSED
}

static void a_cpu_with_one_region_takes_one_piece(void **state)
{
	static const uint32_t two[] = { 4, 4, 0 };
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit, pieces;

	(void)state;
	pt_begin();
	pt_unit(&pieces, two);
	fake_pt_features.leaf_14_ecx &= ~2u;
	pt_begin();
	pt_unit_whole(&unit, 8);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	assert_int_equal(entries(&unit), 1);
	pt_enable(&unit);
	fake_pt_run(unit.buffer.size + 5);
	assert_true(fake_pt_interrupted());
	assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	assert_int_equal(unit.position, unit.buffer.size + 5);
	pt_disable(&unit);
	config.interrupt_every = 4 * PT_PAGE;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(pt_backend.operations->unit_init(&pt_backend, &pieces), KTRACE_ERROR_ARGUMENT);
}

/*
 * On a CPU with the feature `early`, the interrupt comes before the region is full. The backend fills the
 * rest of the region with padding, so that laps are still counted correctly.
 */
static void an_early_interrupt_of_one_region_ends_the_lap(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;
	const uint8_t *bytes;
	uint64_t size;

	(void)state;
	fake_pt_features.leaf_14_ecx &= ~2u;
	fake_pt_features.early = 200;
	pt_begin();
	pt_unit_whole(&unit, 8);
	size = unit.buffer.size;
	bytes = unit.buffer.base;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	for (unsigned lap = 1; lap <= 3; lap++) {
		fake_pt_run(size - 150);
		assert_true(fake_pt_interrupted());
		assert_true(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
		assert_int_equal(unit.position, lap * size);
		assert_int_equal(unit.wraps, lap);
		assert_int_equal(bytes[size - 151],
				 fake_pt_byte(unit.buffer.table_physical, lap * (size - 150) - 1));
		for (uint64_t n = size - 150; n < size; n++)
			assert_int_equal(bytes[n], 0);
	}
	fake_pt_run(100);
	pt_disable(&unit);
	assert_int_equal(unit.position, 3 * size + 100);
	assert_int_equal(bytes[99], fake_pt_byte(unit.buffer.table_physical, 3 * (size - 150) + 99));
	assert_int_equal(unit.lost, 0);
}

static void one_region_that_cannot_be_padded_can_only_stop(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	fake_pt_features.leaf_14_ecx &= ~2u;
	pt_begin();
	pt_unit_whole(&unit, 8);
	unit.buffer.base = NULL;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_ERROR_ARGUMENT);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
}

static void without_interrupts_a_unit_can_only_stop(void **state)
{
	struct ktrace_hwt_config config = pt_config();
	struct ktrace_hwt_unit unit;

	(void)state;
	fake_pt_features.perf_version = 0;
	pt_begin();
	pt_unit_whole(&unit, 8);
	assert_int_equal(pt_configure(&unit, &config), KTRACE_ERROR_ARGUMENT);
	config.flags = KTRACE_HWT_STOP;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_OK);
	pt_enable(&unit);
	fake_pt_run(2 * unit.buffer.size);
	assert_false(fake_pt_interrupted());
	assert_false(pt_backend.operations->interrupt(&pt_backend, &unit, 0));
	pt_disable(&unit);
	assert_true(unit.full);
	assert_int_equal(unit.position, unit.buffer.size);
	config.interrupt_every = PT_PAGE;
	assert_int_equal(pt_configure(&unit, &config), KTRACE_ERROR_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pt_setup, pt_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(regions_are_powers_of_two_aligned_to_their_size),
		TEST(a_whole_buffer_is_two_regions_and_two_interrupts),
		TEST(interrupts_come_at_the_requested_interval),
		TEST(a_late_interrupt_reports_the_lap),
		TEST(no_byte_is_no_lap),
		TEST(a_stop_is_exact_and_reported),
		TEST(a_whole_buffer_between_two_stops_counts),
		TEST(a_stop_interrupts),
		TEST(service_rejects_bytes_not_written_yet),
		TEST(every_byte_arrives_once),
		TEST(two_units_take_turns),
		TEST(invalid_buffers_are_rejected),
		TEST(a_cpu_with_one_region_takes_one_piece),
		TEST(an_early_interrupt_of_one_region_ends_the_lap),
		TEST(one_region_that_cannot_be_padded_can_only_stop),
		TEST(without_interrupts_a_unit_can_only_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
