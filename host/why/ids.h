/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks up the ids of the events to which findings refer. An id is RING.SLOT, as `ktrace show --ids` prints
 * it.
 */
#ifndef WHY_IDS_H
#define WHY_IDS_H

#include "why/finding.h"

/*
 * Reads the trace once more, and sets the ids of events in all findings. A line refers to an event by its
 * timestamp, and by the thread or CPU that recorded it. A timestamp from a state table differs a little from
 * the timestamp of the event. For such a line, the event is the nearest event of this thread or CPU about the
 * same lock or queue, if such an event is near. A line whose event is not in the trace gets no id. Returns 0
 * or a negative KTREAD_E_*.
 */
int why_ids_find(struct why_findings *findings, const struct why_evidence *evidence);

#endif
