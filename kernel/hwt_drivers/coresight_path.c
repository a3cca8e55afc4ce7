/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The path of a trace after its unit: funnels, replicators, and the trace memory controller at the end. */
#include "coresight.h"

#define KTRACE_POLLS 100000u

/* ---- Links: funnels and replicators ----------------------------------------------------------- */

/*
 * Components between a trace unit and the end of its trace. Several traces may share a component. Each port
 * of a component has a count of the traces that pass through it; ports with a count of 0 are closed in the
 * component's registers. Requires: the lock is held.
 */

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

/*
 * Stops an ETF in the middle of a path. The ETF is empty, because a flush at the end of the trace has passed
 * through it.
 */
static int stop_passing(const struct ktrace_coresight *all, const struct ktrace_coresight_component *etf)
{
	int error = ktrace_coresight_tmc_stop(all, etf);
	int off = ktrace_coresight_tmc_off(all, etf);

	return error ? error : off;
}

/*
 * Increment or decrement the number of users of a port. Return nonzero if the first user has joined or the
 * last user has left.
 */
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

/*
 * Closes the components of the path from index `from` on, except the last component. Continues after an
 * error. Returns the first error.
 */
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

/* ---- Trace memory controllers ----------------------------------------------------------------- */

/*
 * The functions that all types of trace memory controllers have in common. A controller is programmed while
 * it is disabled and ready. CTL.TraceCaptEn starts capturing. To stop the controller without loss, one
 * register write selects that it stops at the end of the next flush, and a second write starts that flush.
 * When the controller is ready, its content is read. Clearing TraceCaptEn disables the controller.
 */

int ktrace_coresight_poll(const struct ktrace_coresight *all,
			  const struct ktrace_coresight_component *component, uint32_t offset, uint32_t mask,
			  uint32_t value)
{
	for (uint32_t left = all->polls ? all->polls : KTRACE_POLLS; left > 0; left--)
		if ((ktrace_coresight_read(all, component, offset) & mask) == value)
			return KTRACE_OK;
	return KTRACE_ERROR_DEVICE;
}

const char *ktrace_coresight_tmc_find(const struct ktrace_coresight *all,
				      struct ktrace_coresight_component *tmc)
{
	uint32_t devid, type;

	ktrace_coresight_unlock(all, tmc);
	devid = ktrace_coresight_read(all, tmc, KTRACE_CORESIGHT_DEVID);
	type = KTRACE_TMC_DEVID_TYPE(devid);
	if (tmc->type == KTRACE_CORESIGHT_ETR ? type != KTRACE_TMC_TYPE_ETR
					      : type != KTRACE_TMC_TYPE_ETF && type != KTRACE_TMC_TYPE_ETB)
		return "trace memory is of another kind than described";
	tmc->own.scatters = (tmc->flags & KTRACE_CORESIGHT_SCATTER) && !(devid & KTRACE_TMC_DEVID_NOSCAT);
	return KTRACE_NULL;
}

int ktrace_coresight_tmc_rest(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *tmc)
{
	ktrace_coresight_unlock(all, tmc);
	if (ktrace_coresight_read(all, tmc, KTRACE_TMC_CTL) &
	    KTRACE_CTL_CAPTURE) /* other software uses the controller now, or did not disable it after use */
		return KTRACE_ERROR_DEVICE;
	return ktrace_coresight_poll(all, tmc, KTRACE_TMC_STS, KTRACE_STS_READY, KTRACE_STS_READY);
}

void ktrace_coresight_tmc_run(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *tmc)
{
	ktrace_coresight_write(all, tmc, KTRACE_TMC_FFCR, KTRACE_FFCR_FORMAT | KTRACE_FFCR_TRIGGERS);
	(all->access->barrier)();
	ktrace_coresight_write(all, tmc, KTRACE_TMC_CTL, KTRACE_CTL_CAPTURE);
}

int ktrace_coresight_tmc_flush(const struct ktrace_coresight *all,
			       const struct ktrace_coresight_component *tmc)
{
	ktrace_coresight_write(all, tmc, KTRACE_TMC_FFCR,
			       KTRACE_FFCR_FORMAT | KTRACE_FFCR_TRIGGERS | KTRACE_FFCR_FLUSH);
	return ktrace_coresight_poll(all, tmc, KTRACE_TMC_FFCR, KTRACE_FFCR_FLUSH, 0);
}

int ktrace_coresight_tmc_stop(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *tmc)
{
	uint32_t armed = KTRACE_FFCR_FORMAT | KTRACE_FFCR_TRIGGERS | KTRACE_FFCR_STOP_ON_FLUSH;
	int error;

	ktrace_coresight_write(all, tmc, KTRACE_TMC_FFCR, armed);
	ktrace_coresight_write(all, tmc, KTRACE_TMC_FFCR, armed | KTRACE_FFCR_FLUSH);
	error = ktrace_coresight_poll(all, tmc, KTRACE_TMC_FFCR, KTRACE_FFCR_FLUSH, 0);
	if (error)
		return error;
	return ktrace_coresight_poll(all, tmc, KTRACE_TMC_STS, KTRACE_STS_READY, KTRACE_STS_READY);
}

int ktrace_coresight_tmc_off(const struct ktrace_coresight *all, const struct ktrace_coresight_component *tmc)
{
	ktrace_coresight_write(all, tmc, KTRACE_TMC_CTL, 0);
	(all->access->barrier)();
	return ktrace_coresight_poll(all, tmc, KTRACE_TMC_STS, KTRACE_STS_READY, KTRACE_STS_READY);
}

int ktrace_coresight_etf_start(const struct ktrace_coresight *all,
			       const struct ktrace_coresight_component *etf)
{
	int error = ktrace_coresight_tmc_rest(all, etf);

	if (error)
		return error;
	ktrace_coresight_write(all, etf, KTRACE_TMC_MODE, KTRACE_MODE_CIRCULAR);
	ktrace_coresight_write(all, etf, KTRACE_TMC_TRG, 0);
	ktrace_coresight_tmc_run(all, etf);
	return KTRACE_OK;
}

int ktrace_coresight_etf_pass(const struct ktrace_coresight *all,
			      const struct ktrace_coresight_component *etf)
{
	int error = ktrace_coresight_tmc_rest(all, etf);

	if (error)
		return error;
	ktrace_coresight_write(all, etf, KTRACE_TMC_MODE, KTRACE_MODE_FIFO);
	ktrace_coresight_write(all, etf, KTRACE_TMC_BUFWM, 0);
	ktrace_coresight_tmc_run(all, etf);
	return KTRACE_OK;
}
