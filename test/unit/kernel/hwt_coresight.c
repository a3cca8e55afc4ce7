/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Runs the backend `coresight` on a model of its components: bytes arrive in memory over each type of path,
 * and register accesses are as expected. The backend also handles components that do not respond.
 */
#include "unit/support/hwt_coresight_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"

#define KERNEL	1u /* exception level of kernel code */
#define ADDRESS UINT64_C(0xffff000012345678)
#define ID	0x10u

#define TRCPRGCTLR 0x004u

static void run(uint32_t cpu, size_t bytes)
{
	fake_coresight_run(cpu, KERNEL, ADDRESS, 0, bytes);
}

/* ---- An ETR that writes into contiguous memory ------------------------------------------------- */

static void etm_to_etr(void **state)
{
	(void)state;
	cs_boot(&cs_flat);
	assert_int_equal(cs.backend.modes, 1 << KTRX_HWT_MODE_CPU);
	cs_unit(0, 4, 1);
	cs_on(0, 0);
	run(0, 1000);
	cs_read(0);
	run(0, 500);
	cs_off(0);
	run(0, 100);
	assert_int_equal(cs.unit[0].position % 16, 0);
	assert_int_equal(cs.unit[0].wraps, 0);
	cs_assert_frames(0, 0, cs.unit[0].position, 0, ID, 0, 1500);
	assert_false(fake_coresight_is_on(0));
	assert_false(fake_coresight_is_on(1));
	cs_assert_clean();
	fake_log_golden("coresight_flat");
}

/*
 * If more bytes are written than fit into the buffer, the buffer contains the newest bytes, and the position
 * includes the wrap.
 */
static void writing_wraps_at_the_buffer_end(void **state)
{
	(void)state;
	cs_boot(&cs_flat);
	cs_unit(0, 2, 1);
	cs_on(0, 0);
	run(0, 10000);
	cs_off(0);
	assert_int_equal(cs.unit[0].wraps, 1);
	assert_in_range(cs.unit[0].position, 10000, 12000);
	cs_assert_newest_frames(0, cs.unit[0].position - 0x2000, cs.unit[0].position, 0, ID);
	cs_assert_clean();
}

/*
 * This ETR cannot continue at its write pointer: each time that it is enabled, it begins at the start of its
 * memory. The end of the previous lap then contains no data.
 */
static void starts_a_new_lap_when_enabled_again(void **state)
{
	uint64_t first;

	(void)state;
	cs_boot(&cs_flat);
	cs_unit(0, 2, 1);
	cs_on(0, 0);
	run(0, 300);
	cs_off(0);
	first = cs.unit[0].position;
	cs_on(0, 0);
	run(0, 100);
	cs_off(0);
	assert_true(first < 0x2000 && cs.unit[0].position > 0x2000);
	cs_assert_frames(0, 0x2000, cs.unit[0].position, 0, ID, 300, 100);
	cs_assert_frames(0, first, 0x2000, 0, ID, 0, 0);
	assert_int_equal(cs.unit[0].wraps, 1);
	cs_assert_clean();
}

/* ---- An ETR that continues at its write pointer ------------------------------------------------ */

static void threads_move_between_cpus(void **state)
{
	(void)state;
	cs_boot(&cs_restore);
	assert_int_equal(cs.backend.modes, 1 << KTRX_HWT_MODE_CPU | 1 << KTRX_HWT_MODE_THREAD);
	cs_unit(0, 2, 1);
	cs_unit(1, 2, 1);
	cs_on(0, 0);
	run(0, 300);
	cs_off(0);
	cs_on(1, 1);
	run(1, 200);
	cs_off(1);
	cs_assert_frames(0, 0, cs.unit[0].position, 0, ID, 0, 300);
	cs_assert_frames(1, 0, cs.unit[1].position, 1, ID, 0, 200);
	fake_log_golden("coresight_restore");
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t position = cs.unit[0].position, made = fake_coresight_made(1);

		cs_on(0, 1);
		run(1, 333);
		cs_off(0);
		cs_assert_frames(0, position, cs.unit[0].position, 1, ID, made, 333);
	}
	assert_int_equal(cs.unit[0].wraps, cs.unit[0].position / 0x2000);
	assert_int_equal(cs.unit[0].wraps, 1);
	cs_assert_clean();
}

static void laps_are_counted_between_reads(void **state)
{
	uint64_t position;

	(void)state;
	cs_boot(&cs_restore);
	cs_unit(0, 1, 1);
	cs_on(0, 0);
	for (uint32_t i = 0; i < 10; i++) {
		run(0, 3000);
		cs_read(0);
	}
	position = cs.unit[0].position;
	assert_in_range(position, 30000, 33000);
	cs_off(0);
	assert_in_range(cs.unit[0].position, position, position + 64);
	assert_int_equal(cs.unit[0].wraps, cs.unit[0].position / 4096);
	cs_assert_newest_frames(0, cs.unit[0].position - 4096, cs.unit[0].position, 0, ID);
	cs_assert_clean();
}

static void one_unit_at_a_time(void **state)
{
	(void)state;
	cs_boot(&cs_restore);
	cs_unit(0, 2, 1);
	cs_unit(1, 2, 1);
	cs_on(0, 0);
	assert_int_equal(cs_op()->enable(&cs.backend, &cs.unit[1], 1), KTRACE_ERROR_BUSY);
	assert_int_equal(cs_op()->enable(&cs.backend, &cs.unit[1], 0), KTRACE_ERROR_BUSY);
	run(0, 100);
	cs_off(0);
	cs_on(1, 1);
	cs_off(1);
	cs_assert_frames(0, 0, cs.unit[0].position, 0, ID, 0, 100);
	cs_assert_clean();
}

/* ---- Scattered pages, with an ETF as a FIFO ---------------------------------------------------- */

static void etm_funnel_etf_etr(void **state)
{
	(void)state;
	cs_boot(&cs_scatter);
	cs_unit(0, 8, 4);
	cs_on(0, 0);
	run(0, 20000);
	cs_read(0);
	run(0, 5000);
	cs_off(0);
	assert_int_equal(cs.unit[0].wraps, 0);
	cs_assert_frames(0, 0, cs.unit[0].position, 0, ID, 0, 25000);
	for (uint32_t i = 0; i < 4; i++)
		assert_false(fake_coresight_is_on(i));
	cs_assert_clean();
	fake_log_golden("coresight_scatter");
}

static void scattered_pages_are_written_in_a_circle(void **state)
{
	(void)state;
	cs_boot(&cs_scatter);
	cs_unit(0, 8, 8);
	cs_on(0, 0);
	for (uint32_t i = 0; i < 5; i++) {
		run(0, 16000);
		cs_read(0);
	}
	cs_off(0);
	assert_int_equal(cs.unit[0].wraps, 2);
	assert_in_range(cs.unit[0].position, 80000, 88000);
	cs_assert_newest_frames(0, cs.unit[0].position - 0x8000, cs.unit[0].position, 0, ID);
	cs_assert_clean();
}

/* The list of the buffer's pages is so long that it takes several pages itself. */
static void long_lists_are_linked(void **state)
{
	static struct ktrace_hwt_piece piece[3000];
	const uint32_t *list = (const uint32_t *)(const void *)fake_coresight_ram;

	(void)state;
	cs_boot(&cs_scatter);
	cs_lend(0, 8, 8);
	for (uint32_t i = 0; i < 3000; i++)
		piece[i] = (struct ktrace_hwt_piece){ FAKE_CORESIGHT_PHYSICAL + 2 * i * CS_PAGE, CS_PAGE };
	cs.unit[0].buffer.piece = piece;
	cs.unit[0].buffer.pieces = 3000;
	cs.unit[0].buffer.size = 3000 * CS_PAGE;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_OK);
	assert_int_equal(list[0], 0x12800002);
	assert_int_equal(list[1023], 0x12800013);
	assert_int_equal(list[1024] & 15, 2);
	assert_int_equal(list[2047], 0x12800023);
	assert_int_equal(list[3001] & 15, 1);
	cs.unit[0].buffer.table_size = 3001 * 4;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_MEMORY);
	cs.unit[0].buffer.table_size = 3002 * 4;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_OK);
	cs.unit[0].buffer.table_physical += 16;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_MEMORY);
}

static void buffers_out_of_reach_are_rejected(void **state)
{
	(void)state;
	cs_boot(&cs_flat);
	cs_lend(0, 4, 2);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_ARGUMENT);
	cs_lend(0, 4, 1);
	cs.piece[0][0].physical = UINT64_C(1) << 40;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_MEMORY);
	cs_lend(0, 4, 1);
	cs.unit[0].buffer.size = 0;
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_ARGUMENT);
	cs_machine(&cs_scatter);
	*fake_coresight_devid(3) |= 1u << 24;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_OK);
	cs_lend(0, 4, 2);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_ARGUMENT);
}

/* ---- Four CPUs that write into an ETF ---------------------------------------------------------- */

static void four_etms_two_funnels_funnel_etf(void **state)
{
	(void)state;
	cs_boot(&cs_four);
	assert_int_equal(cs.backend.modes, 1 << KTRX_HWT_MODE_CPU | 1 << KTRX_HWT_MODE_THREAD);
	for (uint32_t i = 0; i < 4; i++) {
		cs_unit(i, 2, 1);
		cs_on(i, i);
	}
	for (uint32_t i = 0; i < 24; i++)
		run(i % 4, 30 + i);
	cs_read(1);
	for (uint32_t i = 0; i < 24; i++)
		run(i % 4, 10 + i);
	for (uint32_t i = 0; i < 4; i++)
		cs_off(i);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(cs.unit[i].position, fake_coresight_made(i));
		assert_int_equal(cs.unit[i].lost, 0);
		cs_assert_bytes(i, 0, cs.unit[i].position, i, 0);
	}
	for (uint32_t i = 0; i < 8; i++)
		assert_false(fake_coresight_is_on(i));
	cs_assert_clean();
	fake_log_golden("coresight_four");
}

/* If the ETF is full, further bytes are lost until it is read, and the loss is reported. */
static void an_overflow_of_an_etf_is_counted(void **state)
{
	(void)state;
	cs_boot(&cs_four);
	cs_unit(0, 2, 1);
	cs_on(0, 2);
	run(2, 5000);
	cs_off(0);
	assert_int_equal(cs.unit[0].lost, 1);
	assert_in_range(cs.unit[0].position, 1, 2048);
	cs_on(0, 3);
	run(3, 50);
	cs_off(0);
	assert_int_equal(cs.unit[0].lost, 1);
	cs_assert_bytes(0, cs.unit[0].position - 50, cs.unit[0].position, 3, 0);
	cs_assert_clean();
}

static void a_collected_trace_can_stop_when_full(void **state)
{
	(void)state;
	cs_boot(&cs_four);
	cs.config.flags = KTRACE_HWT_STOP;
	cs_unit(0, 1, 1);
	for (uint32_t i = 0; i < 5; i++) {
		cs_on(0, 0);
		run(0, 1000);
		cs_off(0);
	}
	assert_int_equal(cs.unit[0].position, 4096);
	assert_int_equal(cs.unit[0].full, 1);
	assert_int_equal(cs.unit[0].lost, 1);
	cs_assert_bytes(0, 0, 4096, 0, 0);
	cs.unit[0].served = 96;
	assert_int_equal(cs_op()->service(&cs.backend, &cs.unit[0]), KTRACE_OK);
	assert_int_equal(cs.unit[0].full, 0);
	cs_assert_clean();
}

static void a_collected_trace_needs_a_mapped_buffer(void **state)
{
	(void)state;
	cs_boot(&cs_four);
	cs_lend(0, 2, 2);
	assert_int_equal(cs_op()->unit_init(&cs.backend, &cs.unit[0]), KTRACE_ERROR_MEMORY);
}

/* ---- Two CPUs that write into an ETR's own memory ---------------------------------------------- */

static void two_etms_funnel_etr_with_a_store(void **state)
{
	(void)state;
	cs_boot(&cs_store);
	assert_int_equal(cs.backend.modes, 1 << KTRX_HWT_MODE_CPU | 1 << KTRX_HWT_MODE_THREAD);
	for (uint32_t i = 0; i < 2; i++) {
		cs_unit(i, 2, 1);
		cs_on(i, i);
	}
	for (uint32_t i = 0; i < 20; i++)
		run(i % 2, 20 + i);
	cs_off(0);
	run(1, 77);
	cs_off(1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(cs.unit[i].position, fake_coresight_made(i));
		cs_assert_bytes(i, 0, cs.unit[i].position, i, 0);
	}
	cs_assert_clean();
	fake_log_golden("coresight_store");
	for (uint32_t i = 0; i < 30; i++) {
		cs_on(0, i % 2);
		run(i % 2, 400);
		cs_read(0);
		cs_assert_bytes(0, cs.unit[0].position - 400, cs.unit[0].position, i % 2,
				fake_coresight_made(i % 2) - 400);
		cs_off(0);
	}
	assert_int_equal(cs.unit[0].wraps, cs.unit[0].position / 0x2000);
	assert_int_equal(cs.unit[0].lost, 0);
	assert_int_equal(cs.unit[1].position, 10 * 30 + 77);
	cs_assert_clean();
}

/* When the ETR's own memory is full, the oldest bytes are lost. All newer bytes must be there. */
static void an_overflow_of_a_store_is_counted(void **state)
{
	uint64_t made;

	(void)state;
	cs_boot(&cs_store);
	cs_unit(1, 4, 1);
	cs_on(1, 0);
	run(0, 20000);
	cs_off(1);
	made = fake_coresight_made(0);
	assert_int_equal(cs.unit[1].lost, 1);
	assert_in_range(cs.unit[1].position, 6000, 8192);
	cs_assert_bytes(1, 0, cs.unit[1].position, 0, made - cs.unit[1].position);
	cs_on(1, 0);
	fake_coresight_stick(3, FAKE_STUCK_MEMORY);
	assert_int_equal(cs_op()->read(&cs.backend, &cs.unit[1]), KTRACE_ERROR_DEVICE);
}

/*
 * CPU 0 loses power. CPU 1 is still traced. After tracing of CPU 1 has ended as well, all components are off.
 */
static void a_cpu_that_loses_power_releases_shared_components(void **state)
{
	(void)state;
	cs_boot(&cs_store);
	for (uint32_t i = 0; i < 2; i++) {
		cs_unit(i, 2, 1);
		cs_on(i, i);
	}
	run(0, 100);
	/* as if the trace unit had lost power */
	fake_coresight_access.write(cs.component[0].base, TRCPRGCTLR, 0);
	cs_op()->abandon(&cs.backend, &cs.unit[0], 0);
	assert_null(cs.component[0].own.unit);
	run(1, 300);
	cs_off(1);
	cs_assert_bytes(1, 0, 300, 1, 0);
	assert_false(fake_coresight_is_on(3));
	assert_null(fake_log_first_broken());
}

/* ---- A path with a replicator ------------------------------------------------------------------ */

static void etm_replicator_tpiu_and_etr(void **state)
{
	(void)state;
	cs_boot(&cs_two_ways);
	cs_unit(0, 4, 1);
	cs_on(0, 0);
	run(0, 2000);
	cs_off(0);
	cs_assert_frames(0, 0, cs.unit[0].position, 0, ID, 0, 2000);
	cs_assert_clean();
	fake_log_golden("coresight_two_ways");
}

/* ---- Components that do not respond ------------------------------------------------------------ */

/*
 * If a component does not respond, enabling fails after a limited time, and all components are off. When the
 * component responds again, enabling succeeds.
 */
static void fails_to_enable(const struct cs_machine *machine, uint32_t component,
			    enum fake_coresight_stuck how)
{
	cs_boot(machine);
	cs_unit(0, 4, 1);
	fake_coresight_stick(component, how);
	assert_int_equal(cs_op()->enable(&cs.backend, &cs.unit[0], 0), KTRACE_ERROR_DEVICE);
	fake_coresight_stick(component, 0);
	for (uint32_t i = 0; i < machine->components; i++)
		assert_false(fake_coresight_is_on(i));
	assert_null(fake_log_first_broken());
}

static void a_trace_unit_that_does_not_answer_is_an_error(void **state)
{
	(void)state;
	fails_to_enable(&cs_flat, 0, FAKE_STUCK_ENABLED);
	cs_on(0, 0);
	run(0, 100);
	cs_off(0);
	cs_assert_clean();
	fails_to_enable(&cs_flat, 0, FAKE_STUCK_OS_LOCK);
	cs_on(0, 0);
	fake_coresight_stick(0, FAKE_STUCK_IDLE);
	assert_int_equal(cs_op()->disable(&cs.backend, &cs.unit[0], 0), KTRACE_ERROR_DEVICE);
	assert_false(fake_coresight_is_on(1));
}

static void trace_memory_that_does_not_answer_is_an_error(void **state)
{
	static const enum fake_coresight_stuck ways[] = { FAKE_STUCK_FLUSH, FAKE_STUCK_READY,
							  FAKE_STUCK_POINTER, FAKE_STUCK_MEMORY };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		cs_boot(&cs_flat);
		cs_unit(0, 4, 1);
		cs_on(0, 0);
		run(0, 100);
		fake_coresight_stick(1, ways[i]);
		assert_int_equal(cs_op()->disable(&cs.backend, &cs.unit[0], 0), KTRACE_ERROR_DEVICE);
		assert_false(fake_coresight_is_on(0));
		assert_false(fake_coresight_is_on(1));
		assert_null(fake_log_first_broken());
	}
	assert_int_equal(cs.unit[0].lost, 1);
	cs_boot(&cs_four);
	cs_unit(0, 4, 1);
	cs_on(0, 0);
	fake_coresight_stick(7, FAKE_STUCK_FLUSH);
	assert_int_equal(cs_op()->read(&cs.backend, &cs.unit[0]), KTRACE_ERROR_DEVICE);
}

static void disable_needs_an_enabled_unit(void **state)
{
	(void)state;
	cs_boot(&cs_flat);
	cs_unit(0, 4, 1);
	assert_int_equal(cs_op()->disable(&cs.backend, &cs.unit[0], 0), KTRACE_ERROR_DEVICE);
	assert_int_equal(cs_op()->enable(&cs.backend, &cs.unit[0], 5), KTRACE_ERROR_DEVICE);
	assert_int_equal(cs_op()->cpu_init(&cs.backend, 5), KTRACE_ERROR_DEVICE);
	assert_int_equal(cs_op()->cpu_init(&cs.backend, 0), KTRACE_OK);
	cs_assert_clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(etm_to_etr),
		cmocka_unit_test(writing_wraps_at_the_buffer_end),
		cmocka_unit_test(starts_a_new_lap_when_enabled_again),
		cmocka_unit_test(threads_move_between_cpus),
		cmocka_unit_test(laps_are_counted_between_reads),
		cmocka_unit_test(one_unit_at_a_time),
		cmocka_unit_test(etm_funnel_etf_etr),
		cmocka_unit_test(scattered_pages_are_written_in_a_circle),
		cmocka_unit_test(long_lists_are_linked),
		cmocka_unit_test(buffers_out_of_reach_are_rejected),
		cmocka_unit_test(four_etms_two_funnels_funnel_etf),
		cmocka_unit_test(an_overflow_of_an_etf_is_counted),
		cmocka_unit_test(a_collected_trace_can_stop_when_full),
		cmocka_unit_test(a_collected_trace_needs_a_mapped_buffer),
		cmocka_unit_test(two_etms_funnel_etr_with_a_store),
		cmocka_unit_test(an_overflow_of_a_store_is_counted),
		cmocka_unit_test(a_cpu_that_loses_power_releases_shared_components),
		cmocka_unit_test(etm_replicator_tpiu_and_etr),
		cmocka_unit_test(a_trace_unit_that_does_not_answer_is_an_error),
		cmocka_unit_test(trace_memory_that_does_not_answer_is_an_error),
		cmocka_unit_test(disable_needs_an_enabled_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
