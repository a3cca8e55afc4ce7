/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What differs between two looks at one guest: events' states, settings, recording as a whole. */
#ifndef CMD_CHANGES_H
#define CMD_CHANGES_H

#include "analyze/requests.h"
#include "base/output.h"
#include "ktread/ktread.h"

/* Lines "sched.switch: off -> on", or one JSON object, with what became of the requests in between. */
void changes_write(const struct ktread *before, const struct ktread *after, const struct requests *requests,
		   struct base_output *out, int json);

#endif
