/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the backend finds paths from trace units to memory in descriptions of hardware, and reports
 * errors in invalid descriptions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/hwt_drivers/coresight.h"
#include "test/fake/hwt_log.h"
#include "unit/support/hwt_coresight_support.h"

/* Checks that init() fails before it accesses a register, and that its message contains this text. */
static void assert_wrong(const char *words)
{
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(cs.backend.why);
	if (!strstr(cs.backend.why, words))
		fail_msg("\"%s\" is not in \"%s\"", words, cs.backend.why);
	assert_string_equal(fake_log_text(), "");
}

static void paths_are_found(void **state)
{
	const struct ktrace_coresight_own *own = &cs.component[3].own;

	(void)state;
	cs_machine(&cs_four);
	assert_null(ktrace_coresight_graph(&cs.all));
	assert_int_equal(own->hops, 3);
	assert_int_equal(own->path[0].component, 5);
	assert_int_equal(own->path[0].in, 1);
	assert_int_equal(own->path[1].component, 6);
	assert_int_equal(own->path[1].in, 4);
	assert_int_equal(own->path[2].component, 7);
	assert_true(own->collected);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(cs.component[i].own.trace_id, 0x10 + i);
	cs_machine(&cs_two_ways);
	assert_null(ktrace_coresight_graph(&cs.all));
	assert_int_equal(cs.component[0].own.path[0].out, 1);
	assert_int_equal(cs.component[0].own.path[1].component, 3);
	assert_false(cs.component[0].own.collected);
}

/*
 * An ETR is preferred to an ETF, even if the ETF is nearer. If there are several ETRs, the nearest one is
 * used.
 */
static void the_nearest_etr_is_taken(void **state)
{
	static const struct ktrace_coresight_component component[] = {
		{ .type = KTRACE_CORESIGHT_ETR, .base = 0x1000 },
		{ .type = KTRACE_CORESIGHT_ETF, .base = 0x2000 },
		{ .type = KTRACE_CORESIGHT_REPLICATOR },
		{ .type = KTRACE_CORESIGHT_REPLICATOR },
		{ .type = KTRACE_CORESIGHT_ETR, .base = 0x3000 },
		{ .type = KTRACE_CORESIGHT_ETM4, .base = 0x4000 },
	};
	static const struct ktrace_coresight_link link[] = {
		{ 5, 0, 3, 0 }, { 3, 0, 1, 0 }, { 1, 0, 0, 0 }, { 3, 1, 2, 0 }, { 2, 0, 4, 0 },
	};
	const struct cs_machine machine = { component, link, 6, 5 };
	const struct ktrace_coresight_own *own = &cs.component[5].own;

	(void)state;
	cs_machine(&machine);
	assert_null(ktrace_coresight_graph(&cs.all));
	assert_int_equal(own->path[own->hops - 1].component, 0);
	assert_int_equal(own->path[1].component, 1);
}

static void invalid_components_are_rejected(void **state)
{
	(void)state;
	cs_machine(&cs_flat);
	cs.all.components = 0;
	assert_wrong("no components");
	cs_machine(&cs_flat);
	cs.all.components = KTRACE_CORESIGHT_MAX + 1;
	assert_wrong("too many");
	cs_machine(&cs_flat);
	cs.component[1].type = KTRACE_CORESIGHT_TPIU + 1;
	assert_wrong("type");
	cs_machine(&cs_flat);
	cs.component[1].type = 0;
	assert_wrong("type");
	cs_machine(&cs_flat);
	cs.component[0].base = 0;
	assert_wrong("no registers");
	cs_machine(&cs_flat);
	cs.component[1].flags = 0x80;
	assert_wrong("flags");
	cs_machine(&cs_flat);
	cs.component[0].flags = KTRACE_CORESIGHT_COHERENT;
	assert_wrong("flags");
	cs_machine(&cs_flat);
	cs.component[1].flags = KTRACE_CORESIGHT_SCATTER | KTRACE_CORESIGHT_RESTORE;
	assert_wrong("scatters");
	cs_machine(&cs_restore);
	cs.component[1].cpu = 0;
	assert_wrong("two trace units");
}

static void invalid_connections_are_rejected(void **state)
{
	(void)state;
	cs_machine(&cs_four);
	cs.link[2].to = 8;
	assert_wrong("does not exist");
	cs_machine(&cs_four);
	cs.link[2].from = UINT16_MAX;
	assert_wrong("does not exist");
	cs_machine(&cs_four);
	cs.link[2].from_port = 1;
	assert_wrong("begins at a port");
	cs_machine(&cs_four);
	cs.link[2].to_port = 8;
	assert_wrong("ends at a port");
	cs_machine(&cs_four);
	cs.link[1].to_port = 0;
	assert_wrong("end at the same port");
	cs_machine(&cs_four);
	cs.link[1].from = 0;
	assert_wrong("begin at the same port");
	cs_machine(&cs_two_ways);
	cs.link[1].from = 3;
	assert_wrong("begins at a port");
}

static void circles_are_rejected(void **state)
{
	static const struct ktrace_coresight_component component[] = {
		{ .type = KTRACE_CORESIGHT_ETM4, .base = 0x1000 },
		{ .type = KTRACE_CORESIGHT_FUNNEL, .base = 0x2000 },
		{ .type = KTRACE_CORESIGHT_REPLICATOR },
		{ .type = KTRACE_CORESIGHT_ETR, .base = 0x3000 },
	};
	static const struct ktrace_coresight_link link[] = {
		{ 0, 0, 1, 0 }, { 1, 0, 2, 0 }, { 2, 0, 1, 1 }, { 2, 1, 3, 0 }
	};
	const struct cs_machine machine = { component, link, 4, 4 };

	(void)state;
	cs_machine(&machine);
	assert_wrong("circle");
	cs.link[2] = (struct ktrace_coresight_link){ 1, 0, 1, 1 };
	cs.all.links = 3;
	cs.link[1] = (struct ktrace_coresight_link){ 2, 0, 3, 0 };
	assert_wrong("circle");
}

static void paths_without_an_end_are_rejected(void **state)
{
	(void)state;
	cs_machine(&cs_two_ways);
	cs.all.links = 2;
	assert_wrong("no path to trace memory");
	cs_machine(&cs_flat);
	cs.component[0].type = KTRACE_CORESIGHT_FUNNEL;
	assert_wrong("no trace unit");
	cs_machine(&cs_four);
	cs.all.links = 6;
	assert_wrong("no path to trace memory");
	cs_machine(&cs_restore);
	cs.component[3].type = KTRACE_CORESIGHT_ETR;
	cs.component[4] =
		(struct ktrace_coresight_component){ .type = KTRACE_CORESIGHT_ETF, .base = 0x700000 };
	cs.link[1] = (struct ktrace_coresight_link){ 1, 0, 4, 0 };
	cs.all.components = 5;
	assert_wrong("and some do not");
}

static void invalid_stores_are_rejected(void **state)
{
	static struct ktrace_hwt_piece piece = { 0x10000, 8192 };
	struct ktrace_hwt_buffer store = {
		.piece = &piece, .pieces = 1, .size = 8192, .base = fake_coresight_ram
	};

	(void)state;
	cs_machine(&cs_flat);
	cs.component[1].store = &store;
	assert_null(ktrace_coresight_graph(&cs.all));
	assert_true(cs.component[0].own.collected);
	store.pieces = 2;
	assert_wrong("a store");
	store.pieces = 1;
	store.base = NULL;
	assert_wrong("a store");
	store.base = fake_coresight_ram;
	piece.physical = UINT64_C(0xfffffff000);
	assert_wrong("a store");
	piece.physical = 0;
	store.size = 8000;
	assert_wrong("a store");
	store.size = 8192;
	cs.component[1].store = NULL;
	cs.component[0].store = &store;
	assert_wrong("a store");
}

/* Seventeen funnels in series. */
static void paths_that_are_too_long_are_rejected(void **state)
{
	(void)state;
	cs_machine(&cs_flat);
	cs.all.components = 19;
	cs.all.links = 18;
	for (uint16_t i = 2; i < 19; i++) {
		cs.component[i] = (struct ktrace_coresight_component){ .type = KTRACE_CORESIGHT_FUNNEL };
		cs.link[i - 1] = (struct ktrace_coresight_link){ i, 0, (uint16_t)(i == 18 ? 1 : i + 1), 0 };
	}
	cs.link[0] = (struct ktrace_coresight_link){ 0, 0, 2, 0 };
	assert_wrong("too many components between");
}

/*
 * init compares the identification registers of the components with the description of the hardware, and
 * rejects differences.
 */
static void hardware_other_than_described_is_rejected(void **state)
{
	(void)state;
	cs_machine(&cs_flat);
	fake_coresight_idr(0)[1] = 0x41000312;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(cs.backend.why, "neither an ETMv4 nor an ETE"));
	cs_machine(&cs_flat);
	*fake_coresight_devid(1) = 0x480;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(cs.backend.why, "another kind"));
	cs_machine(&cs_flat);
	fake_coresight_stick(0, FAKE_STUCK_OS_LOCK);
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(cs.backend.why, "locked"));
	cs_machine(&cs_flat);
	fake_coresight_idr(0)[1] = 0x41000522; /* a value that no ETE can have */
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
}

/* An ETE is identified by TRCDEVARCH. */
static void an_ete_is_found(void **state)
{
	(void)state;
	cs_machine(&cs_flat);
	fake_coresight_idr(0)[1] = 0x4100fff0;
	*fake_coresight_devarch(0) = 0x47715a13;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_OK);
	cs_machine(&cs_flat);
	fake_coresight_idr(0)[1] = 0x4100fff0;
	*fake_coresight_devarch(0) = 0x47714a13;
	assert_int_equal(cs_op()->init(&cs.backend), KTRACE_ERROR_DEVICE);
	assert_non_null(strstr(cs.backend.why, "neither an ETMv4 nor an ETE"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_found),
		cmocka_unit_test(the_nearest_etr_is_taken),
		cmocka_unit_test(invalid_components_are_rejected),
		cmocka_unit_test(invalid_connections_are_rejected),
		cmocka_unit_test(circles_are_rejected),
		cmocka_unit_test(paths_without_an_end_are_rejected),
		cmocka_unit_test(invalid_stores_are_rejected),
		cmocka_unit_test(paths_that_are_too_long_are_rejected),
		cmocka_unit_test(hardware_other_than_described_is_rejected),
		cmocka_unit_test(an_ete_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
