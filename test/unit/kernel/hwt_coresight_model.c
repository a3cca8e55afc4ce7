/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that the model of CoreSight detects accesses that the manuals forbid. Each case makes one mistake,
 * which the model must report.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/hwt_drivers/coresight.h"
#include "test/fake/hwt_log.h"
#include "unit/support/hwt_coresight_support.h"

#define ETM    0u
#define FUNNEL 1u
#define ETF    2u
#define ETR    3u

/* A step writes a register, unless its `offset` is BARRIER or POLL. */
#define BARRIER 0x10000u
/* reads the register at offset `value`, as a driver does to wait for the end of an operation */
#define POLL 0x10001u

struct step {
	uint32_t component, offset, value;
};

struct wrong {
	const char *words; /* the model's message must contain this text */
	struct step step[12];
};

#define OPEN(component)                                                     \
	{                                                                   \
		(component), KTRACE_CORESIGHT_LAR, KTRACE_CORESIGHT_LAR_KEY \
	}
#define OPEN_ETM                        \
	OPEN(ETM),                      \
	{                               \
		ETM, KTRACE_TRCOSLAR, 0 \
	}

static const struct wrong of_locks[] = {
	{ "when unlocked", { { ETM, KTRACE_TRCOSLAR, 0 } } },
	{ "when unlocked", { { FUNNEL, KTRACE_FUNNEL_FUNCTL, 0x700 } } },
	{ "when unlocked", { { ETF, KTRACE_CORESIGHT_LAR, 0x12345678 }, { ETF, KTRACE_TMC_MODE, 0 } } },
	{ "OS lock", { OPEN(ETM), { ETM, KTRACE_TRCCONFIGR, 1 } } },
	{ "OS lock", { OPEN_ETM, { ETM, KTRACE_TRCOSLAR, 1 }, { ETM, KTRACE_TRCCONFIGR, 1 } } },
};

static const struct wrong of_trace_units[] = {
	{ "reserved bits", { OPEN_ETM, { ETM, KTRACE_TRCCONFIGR, 1u << 31 } } },
	{ "reserved bits", { OPEN_ETM, { ETM, KTRACE_TRCVICTLR, 1u << 23 } } },
	{ "reserved bits", { OPEN_ETM, { ETM, KTRACE_TRCVIIECTLR, 0x10 } } },
	{ "reserved bits", { OPEN_ETM, { ETM, KTRACE_TRCTRACEIDR, 0x80 } } },
	{ "exists", { OPEN_ETM, { ETM, KTRACE_TRCACVR(8), 0 } } },
	{ "exists", { OPEN_ETM, { ETM, KTRACE_TRCCIDCVR(1), 0 } } },
	{ "has been programmed",
	  { OPEN_ETM, { ETM, KTRACE_TRCPDCR, 8 }, { ETM, BARRIER, 0 }, { ETM, KTRACE_TRCPRGCTLR, 1 } } },
	{ "power", { OPEN_ETM, { ETM, BARRIER, 0 }, { ETM, KTRACE_TRCPRGCTLR, 1 } } },
	{ "a barrier", { OPEN_ETM, { ETM, KTRACE_TRCCONFIGR, 1 }, { ETM, KTRACE_TRCPRGCTLR, 1 } } },
	{ "seen idle",
	  { OPEN_ETM,
	    { ETM, BARRIER, 0 },
	    { ETM, KTRACE_TRCPRGCTLR, 1 },
	    { ETM, KTRACE_TRCPRGCTLR, 0 },
	    { ETM, KTRACE_TRCCONFIGR, 1 } } },
};

static const struct wrong of_links[] = {
	{ "reserved bits", { OPEN(FUNNEL), { FUNNEL, KTRACE_FUNNEL_FUNCTL, 1u << 13 } } },
	{ "hold time", { OPEN(FUNNEL), { FUNNEL, KTRACE_FUNNEL_FUNCTL, 0xf00 } } },
	{ "exists", { OPEN(FUNNEL), { FUNNEL, 4, 0 } } },
	{ "no register", { { FUNNEL, 0x1000, 0 } } },
};

#define RUN_ETF                                                                                   \
	OPEN(ETF), { ETF, KTRACE_TMC_MODE, 0 }, { ETF, KTRACE_TMC_FFCR, 3 }, { ETF, BARRIER, 0 }, \
	{                                                                                         \
		ETF, KTRACE_TMC_CTL, 1                                                            \
	}

static const struct wrong of_trace_memory[] = {
	{ "can be written", { OPEN(ETF), { ETF, KTRACE_TMC_RSZ, 512 } } },
	{ "can be written", { OPEN(ETF), { ETF, KTRACE_TMC_AXICTL, 0 } } },
	{ "can be written", { OPEN(ETR), { ETR, KTRACE_TMC_RWP, 0 } } },
	{ "reserved bits", { OPEN(ETR), { ETR, KTRACE_TMC_MODE, 2 } } },
	{ "reserved bits", { OPEN(ETR), { ETR, KTRACE_TMC_AXICTL, 1u << 6 } } },
	{ "reserved bits", { OPEN(ETR), { ETR, KTRACE_TMC_DBAHI, 0x100 } } },
	{ "are programmed", { OPEN(ETF), { ETF, BARRIER, 0 }, { ETF, KTRACE_TMC_CTL, 1 } } },
	{ "formatter is on",
	  { OPEN(ETF),
	    { ETF, KTRACE_TMC_MODE, 0 },
	    { ETF, KTRACE_TMC_FFCR, 0 },
	    { ETF, BARRIER, 0 },
	    { ETF, KTRACE_TMC_CTL, 1 } } },
	{ "a barrier",
	  { OPEN(ETF),
	    { ETF, KTRACE_TMC_MODE, 0 },
	    { ETF, KTRACE_TMC_FFCR, 3 },
	    { ETF, KTRACE_TMC_CTL, 1 } } },
	{ "when disabled", { RUN_ETF, { ETF, KTRACE_TMC_MODE, 2 } } },
	{ "stopped before", { RUN_ETF, { ETF, KTRACE_TMC_CTL, 0 } } },
	{ "switched only when disabled", { RUN_ETF, { ETF, KTRACE_TMC_FFCR, 1 } } },
	{ "armed before", { RUN_ETF, { ETF, KTRACE_TMC_FFCR, 0x1043 } } },
	{ "a flush is requested", { OPEN(ETF), { ETF, KTRACE_TMC_FFCR, 0x43 } } },
	{ "has stopped", { RUN_ETF, { ETF, POLL, KTRACE_TMC_RRD } } },
	{ "size of the buffer",
	  { OPEN(ETR),
	    { ETR, KTRACE_TMC_MODE, 0 },
	    { ETR, KTRACE_TMC_FFCR, 3 },
	    { ETR, BARRIER, 0 },
	    { ETR, KTRACE_TMC_CTL, 1 } } },
};

static void assert_seen(const struct wrong *wrong, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cs_machine(&cs_scatter);
		for (const struct step *step = wrong[i].step; step->offset || step->component; step++) {
			uintptr_t base = cs.component[step->component].base;

			if (step->offset == BARRIER)
				fake_coresight_access.barrier();
			else if (step->offset == POLL)
				fake_coresight_access.read(base, step->value);
			else
				fake_coresight_access.write(base, step->offset, step->value);
		}
		if (!fake_log_first_broken())
			fail_msg("case %zu, \"%s\", is not seen", i, wrong[i].words);
		if (!strstr(fake_log_text(), wrong[i].words))
			fail_msg("case %zu: \"%s\" is not in \"%s\"", i, wrong[i].words,
				 fake_log_first_broken());
	}
}
#define SEEN(table) assert_seen(table, sizeof(table) / sizeof((table)[0]))

static void locks(void **state)
{
	(void)state;
	SEEN(of_locks);
}

static void trace_units(void **state)
{
	(void)state;
	SEEN(of_trace_units);
}

static void links(void **state)
{
	(void)state;
	SEEN(of_links);
}

static void trace_memory(void **state)
{
	(void)state;
	SEEN(of_trace_memory);
}

/* The model counts the bytes that reach no memory. */
static void bytes_that_reach_no_memory(void **state)
{
	(void)state;
	cs_boot(&cs_flat);
	cs_unit(0, 4, 1);
	cs_on(0, 0);
	cs.link[0].to = 0; /* removes the connection to memory */
	cs.link[0].to_port = 1;
	fake_coresight_run(0, 1, 0x1000, 0, 100);
	cs_off(0);
	assert_int_equal(fake_coresight_leaked(), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks),
		cmocka_unit_test(trace_units),
		cmocka_unit_test(links),
		cmocka_unit_test(trace_memory),
		cmocka_unit_test(bytes_that_reach_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
