/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/watch.h"

#define SAMPLE_NS UINT64_C(25000000)
#define MS	  UINT64_C(1000000)
#define BATCH	  4096u /* events taken before the clock is looked at again */

static uint64_t time_now(const struct live_watch *watch)
{
	return watch->source->now(watch->source->context);
}

/* Takes what comes until `until`. 0 or an error. */
static int take(const struct live_watch *watch, struct live_model *model, uint64_t until)
{
	const struct live_source *source = watch->source;
	struct ktread_followed followed;
	uint64_t now = time_now(watch);
	uint32_t taken = 0;

	while (now < until && !*watch->stop) {
		int status = source->next(source->context, &followed, (int)((until - now + MS - 1) / MS));

		if (status > 0)
			status = live_model_take(model, &followed);
		else if (status == 0)
			taken = 0;
		if (status < 0)
			return status;
		if (taken++ % BATCH == 0)
			now = time_now(watch);
	}
	return 0;
}

int live_watch(const struct live_watch *watch, struct live_model *model, const struct live_view *view)
{
	uint64_t shown = 0, next_show = time_now(watch) + watch->interval, next_sample = time_now(watch);
	int status, said = 0;

	while (!*watch->stop && said != 1 && (watch->count == 0 || shown < watch->count)) {
		next_sample += SAMPLE_NS;
		if (next_sample > next_show)
			next_sample = next_show;
		status = take(watch, model, next_sample);
		if (status == 0)
			status = live_model_sample(model);
		if (status < 0)
			return status;
		if (time_now(watch) >= next_show) {
			live_model_end(model);
			shown++;
			said = view->show(view->context, model);
			next_show = time_now(watch) + watch->interval;
		}
		if (view->attend && said == 0)
			said = view->attend(view->context, model);
		if (said == 2)
			said = view->show(view->context, model);
		next_sample = time_now(watch);
	}
	return 0;
}
