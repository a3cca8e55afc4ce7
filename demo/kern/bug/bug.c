/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "bug/bug.h"

#include <stddef.h>

const struct work bugs[] = {
	{ "abba", bug_abba },	  /* two threads take two mutexes in opposite orders */
	{ "cycle3", bug_cycle3 }, /* three threads and three mutexes, in a ring */
	{ NULL, NULL },
};
