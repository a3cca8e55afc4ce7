/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Trace memory controllers, as far as all of them are alike: disabled and at rest they are programmed;
 * CTL.TraceCaptEn makes them capture; a flush that stops (armed by one write, begun by a second) brings them
 * to rest with nothing lost; then what they hold is read; clearing TraceCaptEn disables them.
 */
#include "coresight.h"

#define KTRACE_POLLS 100000u

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
	    KTRACE_CTL_CAPTURE) /* somebody else's, or left over */
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
