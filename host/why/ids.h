/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks up the events to which findings refer. Their ids are RING.SLOT, as `ktrace show --ids` prints them.
 */
#ifndef WHY_IDS_H
#define WHY_IDS_H

#include "why/finding.h"

/*
 * Reads the trace once more, and sets the ids of events in all findings. A line refers to an event by its
 * timestamp, and by the thread or CPU that recorded it. If the timestamp is from a state table, it differs a
 * little from the timestamp of the event. Then the line gets the nearest event of this thread or CPU about
 * the same lock or queue, if one is near. A line whose event is not in the trace gets no id. Returns 0 or a
 * negative KTREAD_E_*.
 */
int why_ids_find(struct why_findings *findings, const struct why_evidence *evidence);

#endif
