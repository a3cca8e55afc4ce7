/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/check_order.h"

#include <string.h>

#include "analyze/elapsed.h"
#include "analyze/order.h"

void check_order_init(struct check_order *order, const struct ktread *trace)
{
	const struct order between = order_between_cpus(trace);

	order->certain = between.state == ORDER_CERTAIN;
	order->measured = between.doubt != 0;
	order->doubt = order->measured ? between.doubt : UINT64_MAX;
}

void check_order_free(struct check_order *order)
{
	for (uint32_t n = 0; n <= RULES_MAX; n++)
		keyed_free(&order->table[n]);
}

static bool same_key(const struct check_waiting *waiting, uint32_t table, const uint64_t key[KEYED_WORDS])
{
	return waiting->table == table && memcmp(waiting->key, key, sizeof(waiting->key)) == 0;
}

static void doubt_waiting(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
			  const struct ktread_event *event)
{
	for (uint32_t n = 0; n < order->count; n++) {
		struct check_waiting *waiting = &order->waiting[n];

		if (same_key(waiting, table, key) && waiting->violation.cpu != event->cpu &&
		    elapsed(waiting->violation.stamp, event->stamp) <= order->doubt)
			waiting->unsure = true;
	}
}

/*
 * An entry has the stamp and the CPU of the key's last event, in `time` the stamp of the last one on another
 * CPU than that (0: none), and in `known` whether the order is unsure.
 */
static bool is_near(const struct check_order *order, const struct keyed_entry *entry,
		    const struct ktread_event *event)
{
	const uint64_t other = entry->cpu == event->cpu ? entry->time : entry->stamp;

	return other != 0 && elapsed(other, event->stamp) <= order->doubt;
}

int check_order_see(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		    const struct ktread_event *event, bool settles, bool *unsure)
{
	struct keyed_entry *entry;
	bool near;
	int error;

	*unsure = false;
	if (order->certain)
		return 0;
	doubt_waiting(order, table, key, event);
	error = keyed_put(&order->table[table], key, &entry);
	if (error)
		return error;
	if (!entry) { /* more keys than are kept */
		*unsure = true;
		return 0;
	}
	near = is_near(order, entry, event);
	*unsure = near || entry->known;
	entry->known = near || (entry->known && !settles);
	if (entry->stamp != 0 && entry->cpu != event->cpu)
		entry->time = entry->stamp;
	entry->stamp = event->stamp ? event->stamp : 1;
	entry->cpu = event->cpu;
	return 0;
}

bool check_order_is_unsure(const struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS])
{
	const struct keyed_entry *entry = order->certain ? NULL : keyed_find(&order->table[table], key);

	return entry && entry->known;
}

bool check_order_wait(struct check_order *order, uint32_t table, const uint64_t key[KEYED_WORDS],
		      const struct check_violation *violation)
{
	struct check_waiting *waiting = &order->waiting[order->count];

	if (order->count == CHECK_ORDER_WAITING)
		return false;
	waiting->violation = *violation;
	waiting->table = table;
	memcpy(waiting->key, key, sizeof(waiting->key));
	waiting->unsure = false;
	order->count++;
	return true;
}

bool check_order_next(struct check_order *order, uint64_t stamp, struct check_waiting *waited)
{
	if (order->count == 0 || elapsed(order->waiting[0].violation.stamp, stamp) <= order->doubt)
		return false;
	*waited = order->waiting[0];
	order->count--;
	memmove(order->waiting, order->waiting + 1, order->count * sizeof(order->waiting[0]));
	return true;
}
