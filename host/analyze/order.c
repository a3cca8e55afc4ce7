/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ktrx/v2.h"

#define PPB 1000000000u

/*
 * Returns true if all CPUs have the same clock: in a process trace, or if the clock is a count of timer
 * ticks.
 */
static bool has_one_clock(const struct ktread_info *info)
{
	return ktread_cpus_used(info) < 2 || info->form == KTREAD_FORM_PROCESSES || ktread_is_coarse(info);
}

/*
 * Returns the newest timestamp in the CPU descriptors. Rings may have later timestamps, recorded after a
 * CPU's last timer tick.
 */
static uint64_t newest_stamp(const struct ktread *trace)
{
	const uint32_t room = ktread_info(trace)->cpus;
	struct ktrx_cpu *cpu = calloc(room ? room : 1, sizeof(*cpu));
	uint64_t newest = 0;
	int count = cpu ? ktread_cpus(trace, 0, cpu, room) : 0;

	for (int n = 0; n < count; n++) {
		if (cpu[n].online && cpu[n].heartbeat_stamp > newest)
			newest = cpu[n].heartbeat_stamp;
		if (cpu[n].online && cpu[n].now > newest)
			newest = cpu[n].now;
	}
	free(cpu);
	return newest;
}

/*
 * Returns the error of the clocks at a timestamp. It is larger before the first and after the last
 * measurement, because the clocks may drift there.
 */
static uint64_t error_at(const struct ktread_info *info, uint64_t stamp)
{
	const uint64_t before = stamp < info->clock_from ? info->clock_from - stamp : 0;
	const uint64_t after = stamp > info->clock_to ? stamp - info->clock_to : 0;
	const uint64_t most = before > after ? before : after;

	return info->clock_error + (uint64_t)((unsigned __int128)most * info->clock_drift / PPB);
}

/*
 * Returns the error of the clocks at the first or at the last timestamp of the trace: the larger of the two
 * errors.
 */
static uint64_t error_at_ends(const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	const uint64_t first = ktread_first_stamp(trace), last = newest_stamp(trace);
	const uint64_t early = first ? error_at(info, first) : info->clock_error;
	const uint64_t late = last ? error_at(info, last) : info->clock_error;

	return early > late ? early : late;
}

uint64_t order_error_at(const struct ktread *trace, uint32_t cpu, uint64_t stamp)
{
	const struct ktread_info *info = ktread_info(trace);

	if (cpu == 0)
		return 0;
	if (!info->clock_error || !ktread_clock_is_measured(trace, cpu))
		return ORDER_NO_ERROR;
	return error_at(info, stamp);
}

struct order order_between_cpus(const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	const uint32_t others = ktread_cpus_used(info) - 1;
	struct order order = { .state = ORDER_CERTAIN };

	if (has_one_clock(info))
		return order;
	/*
	 * Each clock was measured against CPU 0's, so the error between two clocks is the sum of both
	 * errors.
	 */
	if (info->clock != KTREAD_CLOCK_RAW && info->clock_cpus >= others && info->clock_error)
		order.doubt = error_at_ends(trace) * (others > 1 ? 2 : 1);
	if (info->clock == KTREAD_CLOCK_ALIGNED) {
		/*
		 * Alignment moved each clock by at most the clock's error, so the uncertainty is at most
		 * doubled.
		 */
		order.doubt *= 2;
		order.state = ORDER_ALIGNED;
	} else if (info->clock == KTREAD_CLOCK_MEASURED && order.doubt) {
		order.state = ORDER_MEASURED;
	} else {
		order.state = ORDER_UNMEASURED;
		order.unmeasured =
			info->clock_cpus < others && info->clock_cpus ? others - info->clock_cpus : 0;
	}
	return order;
}

static int say_measured(const struct ktread_info *info, const struct order *order, char text[ORDER_TEXT])
{
	const double us = info->frequency ? (double)order->doubt * 1e6 / (double)info->frequency : 0;
	const char *why = order->state == ORDER_ALIGNED
				  ? " except for causes and effects; clocks were measured and aligned"
				  : "; clocks were measured";

	if (info->frequency)
		return snprintf(text, ORDER_TEXT,
				"order between CPUs: uncertain for events less than %.*f us apart%s",
				us < 10 ? 3 : 1, us, why);
	return snprintf(text, ORDER_TEXT,
			"order between CPUs: uncertain for events less than %" PRIu64 " ticks apart%s",
			order->doubt, why);
}

int order_say(const struct ktread *trace, char text[ORDER_TEXT])
{
	const struct order order = order_between_cpus(trace);

	*text = '\0';
	switch (order.state) {
	case ORDER_CERTAIN:
		break;
	case ORDER_MEASURED:
		return say_measured(ktread_info(trace), &order, text);
	case ORDER_ALIGNED:
		if (order.doubt)
			return say_measured(ktread_info(trace), &order, text);
		return snprintf(text, ORDER_TEXT,
				"order between CPUs: uncertain except for causes and effects, "
				"by which clocks were aligned");
	case ORDER_UNMEASURED:
		if (order.unmeasured)
			return snprintf(text, ORDER_TEXT,
					"order between CPUs: uncertain, clocks of %" PRIu32
					" of the CPUs were not measured",
					order.unmeasured);
		return snprintf(text, ORDER_TEXT, "order between CPUs: uncertain, clocks were not measured");
	}
	return 0;
}

int order_say_json(const struct ktread *trace, char text[ORDER_TEXT])
{
	const struct order order = order_between_cpus(trace);

	*text = '\0';
	switch (order.state) {
	case ORDER_CERTAIN:
		break;
	case ORDER_MEASURED:
		return snprintf(text, ORDER_TEXT,
				"\"order\":{\"clocks\":\"measured\",\"doubt_ticks\":%" PRIu64 "}",
				order.doubt);
	case ORDER_ALIGNED:
		if (order.doubt)
			return snprintf(text, ORDER_TEXT,
					"\"order\":{\"clocks\":\"aligned\",\"doubt_ticks\":%" PRIu64 "}",
					order.doubt);
		return snprintf(text, ORDER_TEXT, "\"order\":{\"clocks\":\"aligned\",\"doubt_ticks\":null}");
	case ORDER_UNMEASURED:
		return snprintf(text, ORDER_TEXT,
				"\"order\":{\"clocks\":\"unmeasured\",\"doubt_ticks\":null}");
	}
	return 0;
}
