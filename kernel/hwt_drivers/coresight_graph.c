/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the path from each CPU to memory in the kernel's description of the components. First checks that the
 * hardware can be as described. Then does a breadth-first search from each trace unit for the nearest ETR. If
 * there is none, it searches for the nearest ETF. This is done once and accesses no registers.
 */
#include "coresight.h"

#define KTRACE_NOWHERE	KTRX_U16_MAX
#define KTRACE_ID_FIRST 0x10u
#define KTRACE_ID_LAST	0x6fu

struct shape {
	uint8_t in, out; /* maximum numbers of input ports and of output ports */
	uint8_t registers_needed;
};

static const struct shape shapes[] = {
	[KTRACE_CORESIGHT_ETM4] = { 0, 1, 1 },	     [KTRACE_CORESIGHT_FUNNEL] = { 8, 1, 0 },
	[KTRACE_CORESIGHT_REPLICATOR] = { 1, 2, 0 }, [KTRACE_CORESIGHT_ETF] = { 1, 1, 1 },
	[KTRACE_CORESIGHT_ETR] = { 1, 0, 1 },	     [KTRACE_CORESIGHT_TPIU] = { 1, 0, 0 },
};

/* ---- Checking the description ------------------------------------------------------------------ */

static int can_store(const struct ktrace_coresight_component *one)
{
	const struct ktrace_hwt_buffer *store = one->store;

	return one->type == KTRACE_CORESIGHT_ETR && store->pieces == 1 && store->base && store->size > 0 &&
	       store->size % 4096 == 0 && store->size <= KTRX_U32_MAX &&
	       store->piece[0].size == store->size &&
	       store->piece[0].physical >> KTRACE_TMC_ADDRESS_BITS == 0 &&
	       (store->piece[0].physical + store->size) >> KTRACE_TMC_ADDRESS_BITS == 0;
}

static const char *check_components(const struct ktrace_coresight *all)
{
	const uint32_t known =
		KTRACE_CORESIGHT_SCATTER | KTRACE_CORESIGHT_RESTORE | KTRACE_CORESIGHT_COHERENT;

	if (all->components == 0)
		return "no CoreSight: the kernel describes no components";
	if (all->components > KTRACE_CORESIGHT_MAX)
		return "there are too many components";
	for (uint32_t i = 0; i < all->components; i++) {
		const struct ktrace_coresight_component *one = &all->component[i];

		if (one->type < KTRACE_CORESIGHT_ETM4 || one->type > KTRACE_CORESIGHT_TPIU)
			return "a component has a type that does not exist";
		if (shapes[one->type].registers_needed && one->base == 0)
			return "a trace unit or trace memory has no registers";
		if ((one->flags & ~known) != 0 || (one->flags && one->type != KTRACE_CORESIGHT_ETR))
			return "a component has flags that it cannot have";
		if ((one->flags & KTRACE_CORESIGHT_SCATTER) && (one->flags & KTRACE_CORESIGHT_RESTORE))
			return "an ETR that scatters cannot continue where it stopped";
		if (one->store && !can_store(one))
			return "a store is not a single mapped piece of memory that an ETR can address";
		for (uint32_t other = 0; other < i; other++)
			if (one->type == KTRACE_CORESIGHT_ETM4 &&
			    all->component[other].type == KTRACE_CORESIGHT_ETM4 &&
			    all->component[other].cpu == one->cpu)
				return "a CPU has two trace units";
	}
	return KTRACE_NULL;
}

static const char *check_links(const struct ktrace_coresight *all)
{
	for (uint32_t i = 0; i < all->links; i++) {
		const struct ktrace_coresight_link *link = &all->link[i];

		if (link->from >= all->components || link->to >= all->components)
			return "a connection leads from or to a component that does not exist";
		if (link->from_port >= shapes[all->component[link->from].type].out)
			return "a connection begins at a port that its component does not have";
		if (link->to_port >= shapes[all->component[link->to].type].in)
			return "a connection ends at a port that its component does not have";
		for (uint32_t other = 0; other < i; other++) {
			if (all->link[other].from == link->from &&
			    all->link[other].from_port == link->from_port)
				return "two connections begin at the same port";
			if (all->link[other].to == link->to && all->link[other].to_port == link->to_port)
				return "two connections end at the same port";
		}
	}
	return KTRACE_NULL;
}

/*
 * Finds cycles: repeatedly removes all components that no other component leads to. The components that
 * remain are in a cycle, or are reached from a cycle.
 */
static const char *check_circles(const struct ktrace_coresight *all)
{
	uint64_t gone = 0;
	uint32_t rounds = all->components;

	while (rounds-- > 0) {
		uint64_t led_to = 0;

		for (uint32_t i = 0; i < all->links; i++)
			if (!(gone >> all->link[i].from & 1))
				led_to |= KTRX_U64(1) << all->link[i].to;
		for (uint32_t i = 0; i < all->components; i++)
			if (!(led_to >> i & 1))
				gone |= KTRX_U64(1) << i;
	}
	for (uint32_t i = 0; i < all->components; i++)
		if (!(gone >> i & 1))
			return "connections form a circle";
	return KTRACE_NULL;
}

/* ---- Finding paths ----------------------------------------------------------------------------- */

/*
 * Finds, for each component, the connection that leads to it on the shortest path from `start`; NOWHERE if no
 * path leads to the component.
 */
static void reach(const struct ktrace_coresight *all, uint32_t start, uint16_t by[KTRACE_CORESIGHT_MAX],
		  uint8_t distance[KTRACE_CORESIGHT_MAX])
{
	for (uint32_t i = 0; i < all->components; i++) {
		by[i] = KTRACE_NOWHERE;
		distance[i] = 0;
	}
	for (uint32_t ring = 0; ring < all->components; ring++)
		for (uint32_t i = 0; i < all->links; i++) {
			const struct ktrace_coresight_link *link = &all->link[i];

			if (by[link->to] != KTRACE_NOWHERE || distance[link->from] != ring ||
			    (link->from != start && by[link->from] == KTRACE_NOWHERE))
				continue;
			by[link->to] = (uint16_t)i;
			distance[link->to] = (uint8_t)(ring + 1);
		}
}

/* Returns the nearest component of that type; NOWHERE if no component of that type is reached. */
static uint16_t nearest(const struct ktrace_coresight *all, uint32_t type, const uint16_t *by,
			const uint8_t *distance)
{
	uint16_t best = KTRACE_NOWHERE;

	for (uint32_t i = 0; i < all->components; i++)
		if (all->component[i].type == type && by[i] != KTRACE_NOWHERE &&
		    (best == KTRACE_NOWHERE || distance[i] < distance[best]))
			best = (uint16_t)i;
	return best;
}

/* Stores the path of a trace unit, starting with the last component. */
static void store_path(const struct ktrace_coresight *all, struct ktrace_coresight_component *etm,
		       uint16_t end, const uint16_t *by, uint32_t hops)
{
	uint16_t at = end;
	uint8_t out = 0;

	etm->own.hops = (uint8_t)hops;
	while (hops-- > 0) {
		const struct ktrace_coresight_link *link = &all->link[by[at]];

		etm->own.path[hops].component = at;
		etm->own.path[hops].in = link->to_port;
		etm->own.path[hops].out = out;
		out = link->from_port;
		at = link->from;
	}
}

static const char *find_path(const struct ktrace_coresight *all, uint32_t start)
{
	struct ktrace_coresight_component *etm = &all->component[start];
	uint16_t by[KTRACE_CORESIGHT_MAX], end;
	uint8_t distance[KTRACE_CORESIGHT_MAX];

	reach(all, start, by, distance);
	end = nearest(all, KTRACE_CORESIGHT_ETR, by, distance);
	etm->own.collected = end == KTRACE_NOWHERE || all->component[end].store;
	if (end == KTRACE_NOWHERE)
		end = nearest(all, KTRACE_CORESIGHT_ETF, by, distance);
	if (end == KTRACE_NOWHERE)
		return "a trace unit has no path to trace memory";
	if (distance[end] > KTRACE_CORESIGHT_HOPS)
		return "there are too many components between a trace unit and its memory";
	store_path(all, etm, end, by, distance[end]);
	return KTRACE_NULL;
}

/*
 * Checks that all paths end at memory that CPUs share, or that no path ends there: the backend can only
 * describe the traces of all units in the same way, as formatted or as not formatted.
 */
static const char *check_ends(const struct ktrace_coresight *all, uint32_t collected)
{
	for (uint32_t i = 0; i < all->components; i++)
		if (all->component[i].type == KTRACE_CORESIGHT_ETM4 &&
		    all->component[i].own.collected != collected)
			return "some trace units lead to memory that CPUs share, and some do not";
	return KTRACE_NULL;
}

/*
 * Finds all paths and assigns trace ids. If trace units do not share memory, they all get the same id, so
 * that the trace of a thread does not depend on the CPU.
 */
static const char *find_paths(struct ktrace_coresight *all)
{
	const char *why;
	uint32_t id = KTRACE_ID_FIRST, first = all->components;

	for (uint32_t i = 0; i < all->components; i++) {
		struct ktrace_coresight_component *etm = &all->component[i];

		if (etm->type != KTRACE_CORESIGHT_ETM4)
			continue;
		if (first == all->components)
			first = i;
		why = find_path(all, i);
		if (why)
			return why;
		etm->own.trace_id = (uint8_t)(etm->own.collected ? id++ : KTRACE_ID_FIRST);
	}
	if (first == all->components)
		return "there is no trace unit";
	return check_ends(all, all->component[first].own.collected);
}

_Static_assert(KTRACE_ID_FIRST + KTRACE_CORESIGHT_MAX - 1 <= KTRACE_ID_LAST, "not enough trace ids");

const char *ktrace_coresight_graph(struct ktrace_coresight *all)
{
	const char *why = check_components(all);

	if (!why)
		why = check_links(all);
	if (!why)
		why = check_circles(all);
	return why ? why : find_paths(all);
}
