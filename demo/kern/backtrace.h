/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_BACKTRACE_H
#define DEMO_BACKTRACE_H

/*
 * Prints the callers of this function on the console, at most `count` of them (-1: all). Any context except
 * NMI.
 */
void print_backtrace(int count);

#endif
