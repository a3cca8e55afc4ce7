/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwt/hwt.h on a text instead of a recording, for tests of what is made of steps: hwt_file_open() reads lines like
 *
 *	machine 62                          ELF number        frequency 1000000000     nonce 7      warning TEXT
 *	damaged TEXT                        a warning, of damage
 *	image NAME PATH|-                   those that follow belong to it; symbols: size in bytes
 *	symbol 0x1000 0x100 main [FILE:LINE]
 *	since STAMP                         what was there is there up to then; symbols that follow are from then on
 *	cpu 0 [bytes missing lost]          a stream in CPU mode; its steps follow
 *	samples 0 [bytes missing lost]      the same, of SPE
 *	thread INDEX PID TID NAME           one in thread mode
 *	run STAMP|- ADDRESS COUNT BRANCH[!] [TO]    COUNT instructions of 4 bytes; BRANCH as flow_branch_word(), ! not taken
 *	on STAMP|- ADDRESS       off STAMP|- [ADDRESS]       async STAMP|- FROM [TO]
 *	space STAMP|- SPACE [TID]           overflow STAMP|-        gap|damage|codeless|unread|note STAMP|- TEXT
 *	sample STAMP|- PC [DATA LATENCY [CLASS OPERATION EVENTS]]
 *
 *	# or KTRU: a remark; KTRU as the first four bytes has a file taken for one of rings, where it matters
 *
 * An address is a number, or a symbol with an offset: main+8. Decoding can begin at every eighth step; a step is a byte.
 */
#ifndef FAKE_HWT_SCRIPT_H
#define FAKE_HWT_SCRIPT_H

#include "hwt/hwt.h"

/* Writes the text to a file of its own and opens it. */
int hwt_script_open(struct hwt_file **file, const char *text);

#endif
