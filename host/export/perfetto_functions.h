/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions that ran as slices on tracks of their own: the sink of export/functions.h, whose context is struct perfetto_tracks. */
#ifndef EXPORT_PERFETTO_FUNCTIONS_H
#define EXPORT_PERFETTO_FUNCTIONS_H

#include "export/functions.h"
#include "export/perfetto_track.h"

uint64_t perfetto_functions_track(void *tracks, const char *name, uint64_t time);
void perfetto_functions_draw(void *tracks, uint64_t track, enum functions_mark mark,
			     const struct ktread_event *event, uint64_t time);

#endif
