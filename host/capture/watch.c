/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "watch.h"

void capture_watch_pause(struct capture_watch *watch, double now)
{
	watch->alive = watch->moved = now;
	watch->unstuck = now;
}

static bool same_quiet_cpu(const struct ktread_pulse *a, const struct ktread_pulse *b)
{
	return a->quiet_cpu == b->quiet_cpu && a->quiet_stamp == b->quiet_stamp &&
	       a->quiet_cpu != KTRX_NO_CPU;
}

bool capture_watch_feed(struct capture_watch *watch, const struct ktread_pulse *pulse, double now)
{
	bool booted = !watch->seen || pulse->nonce != watch->last.nonce;
	bool moved = booted || pulse->slots != watch->last.slots ||
		     pulse->heartbeats != watch->last.heartbeats || pulse->outcome != watch->last.outcome;

	if (booted) {
		watch->boots++;
		watch->beats = false;
	}
	watch->beats |= pulse->heartbeats != 0;
	watch->idle = pulse->online && pulse->idle >= pulse->online;
	if (moved)
		watch->moved = now;
	if (moved || watch->idle)
		watch->alive = now;
	if (booted || !same_quiet_cpu(pulse, &watch->last))
		watch->unstuck = now;
	watch->last = *pulse;
	watch->seen = true;
	return booted;
}

double capture_watch_silence(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->alive ? now - watch->alive : 0;
}

double capture_watch_still(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->moved ? now - watch->moved : 0;
}

double capture_watch_stuck(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->unstuck ? now - watch->unstuck : 0;
}
