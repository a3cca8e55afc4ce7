/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "bug/bug.h"

#include <stddef.h>

const struct work bugs[] = {
	{ "abba", bug_abba },		    /* two threads take two mutexes in opposite orders */
	{ "cycle3", bug_cycle3 },	    /* three threads and three mutexes, in a ring */
	{ "lost-wakeup", bug_lost_wakeup }, /* what is waited for happens, and the waker forgets to wake */
	{ "wakeup-race", bug_wakeup_race }, /* the wakeup comes between the look and the sleep */
	{ "starve", bug_starve },	    /* an urgent thread that gives way to nobody */
	{ "slow-disk", bug_slow_disk },	    /* a disk answers, but one request very late */
	{ NULL, NULL },
};
