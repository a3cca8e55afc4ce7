/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What is between a trace unit and the end of its trace. Several traces may share it: each component counts
 * who goes through it and by which port, and its registers follow these counts. The lock is held.
 */
#include "coresight.h"

static void set_funnel(const struct ktrace_coresight *all, const struct ktrace_coresight_component *funnel)
{
	if (funnel->base == 0)
		return;
	ktrace_coresight_unlock(all, funnel);
	ktrace_coresight_write(all, funnel, KTRACE_FUNNEL_FUNCTL,
			       KTRACE_FUNCTL_HOLD_TIME(KTRACE_FUNCTL_HOLD) |
				       KTRACE_FUNCTL_PORTS(funnel->own.ports));
}

static void set_replicator(const struct ktrace_coresight *all,
			   const struct ktrace_coresight_component *replicator)
{
	if (replicator->base == 0)
		return;
	ktrace_coresight_unlock(all, replicator);
	ktrace_coresight_write(all, replicator, KTRACE_REPLICATOR_IDFILTER0,
			       replicator->own.ports & 1 ? KTRACE_IDFILTER_OPEN : KTRACE_IDFILTER_SHUT);
	ktrace_coresight_write(all, replicator, KTRACE_REPLICATOR_IDFILTER1,
			       replicator->own.ports & 2 ? KTRACE_IDFILTER_OPEN : KTRACE_IDFILTER_SHUT);
}

/* Nothing waits in it any more: where the trace ends a flush has been through it. */
static int stop_passing(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etf)
{
	int error = ktrace_coresight_tmc_stop(all, etf);
	int off = ktrace_coresight_tmc_off(all, etf);

	return error ? error : off;
}

/* One more goes through that port, or one less: nonzero if its first has come, or its last gone. */
static int join_port(struct ktrace_coresight_own *own, uint32_t port)
{
	own->ports |= (uint8_t)(1u << port);
	return own->port_users[port]++ == 0;
}

static int leave_port(struct ktrace_coresight_own *own, uint32_t port)
{
	if (--own->port_users[port] > 0)
		return 0;
	own->ports &= (uint8_t) ~(1u << port);
	return 1;
}

static int open_one(const struct ktrace_coresight *all, struct ktrace_coresight_component *one,
		    const struct ktrace_coresight_hop *hop)
{
	int error = KTRACE_OK;

	if (one->type == KTRACE_CORESIGHT_FUNNEL) {
		if (join_port(&one->own, hop->in))
			set_funnel(all, one);
	} else if (one->type == KTRACE_CORESIGHT_REPLICATOR) {
		if (join_port(&one->own, hop->out))
			set_replicator(all, one);
	} else {
		if (one->own.users == 0)
			error = ktrace_coresight_etf_pass(all, one);
		if (!error)
			one->own.users++;
	}
	return error;
}

static int shut_one(const struct ktrace_coresight *all, struct ktrace_coresight_component *one,
		    const struct ktrace_coresight_hop *hop)
{
	if (one->type == KTRACE_CORESIGHT_FUNNEL) {
		if (leave_port(&one->own, hop->in))
			set_funnel(all, one);
		return KTRACE_OK;
	}
	if (one->type == KTRACE_CORESIGHT_REPLICATOR) {
		if (leave_port(&one->own, hop->out))
			set_replicator(all, one);
		return KTRACE_OK;
	}
	return --one->own.users == 0 ? stop_passing(all, one) : KTRACE_OK;
}

/* Shuts the hops [from, end) of the way; the first error, but all of them. */
static int shut_from(struct ktrace_coresight *all, const struct ktrace_coresight_component *etm,
		     uint32_t from)
{
	int first = KTRACE_OK;

	for (uint32_t i = from; i + 1 < etm->own.hops; i++) {
		const struct ktrace_coresight_hop *hop = &etm->own.path[i];
		int error = shut_one(all, &all->component[hop->component], hop);

		if (!first)
			first = error;
	}
	return first;
}

int ktrace_coresight_links_open(struct ktrace_coresight *all, const struct ktrace_coresight_component *etm)
{
	for (uint32_t i = etm->own.hops - 1u; i-- > 0;) {
		const struct ktrace_coresight_hop *hop = &etm->own.path[i];
		int error = open_one(all, &all->component[hop->component], hop);

		if (error) {
			shut_from(all, etm, i + 1);
			return error;
		}
	}
	return KTRACE_OK;
}

int ktrace_coresight_links_shut(struct ktrace_coresight *all, const struct ktrace_coresight_component *etm)
{
	return shut_from(all, etm, 0);
}
