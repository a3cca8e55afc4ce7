/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest's RAM file as a source: it need not be there yet, and its QEMU may end and be started again, also
 * with another file.
 */
#ifndef LIVE_GUEST_H
#define LIVE_GUEST_H

#include <limits.h>
#include <stdbool.h>

#include "live/source.h"

struct live_guest {
	const char *given;		      /* the file; NULL: the newest RAM file beside `usual` */
	const char *usual;		      /* where `ktrace run` would leave its trace */
	struct ktread_follow_options options; /* `frequency` 0: as the guest says, or … */
	uint64_t (*measure)(const char *path, const char *machine); /* … as this finds; NULL, 0: unknown */
	char path[PATH_MAX];					    /* the one that is followed or awaited */
	struct ktread_follow *follow;				    /* NULL: awaited */
	struct ktread_follow_account account;			    /* of the guests before */
	uint64_t look_again;					    /* ns */
	uint64_t measure_at;					    /* ns, 0: there is no need to */
	char why[PATH_MAX + 128];
};

void live_guest_open(struct live_guest *guest, struct live_source *source);
void live_guest_close(struct live_guest *guest);

#endif
