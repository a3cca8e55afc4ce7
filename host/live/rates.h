/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How many events of each kind come a second. How much each ring records is known exactly; of which kinds that is may be
 * known of a sample alone, so each event seen stands for as many as its ring's slots were for each slot looked at.
 */
#ifndef LIVE_RATES_H
#define LIVE_RATES_H

#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

#define LIVE_TOP 8u

struct live_top {
	uint16_t id;
	double rate; /* a second */
};

struct live_rates;

struct live_rates *live_rates_open(void); /* NULL: without memory */
void live_rates_close(struct live_rates *rates);
/* Another guest, or another boot: what its rings hold already is no rate. */
void live_rates_restart(struct live_rates *rates);
void live_rates_event(struct live_rates *rates, const struct ktread_event *event);
/* Weighs the events told since by how far the rings of `trace` have come since. */
void live_rates_settle(struct live_rates *rates, const struct ktread *trace);
/*
 * Ends an interval of so many seconds. Fills in `top`, the most frequent first, zeros behind the last; returns
 * the rate of all.
 */
double live_rates_end(struct live_rates *rates, double seconds, struct live_top top[LIVE_TOP]);

#endif
