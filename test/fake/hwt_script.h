/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An implementation of hwt/hwt.h that reads steps from a text file instead of a recording, for tests of code
 * that uses steps. hwt_file_open() reads these lines:
 *
 *	machine 62                      ELF number
 *	frequency 1000000000
 *	nonce 7
 *	warning TEXT
 *	damaged TEXT                    a warning about damage
 *	image NAME PATH|-               an image; the symbols in the next lines belong to it
 *	symbol 0x1000 0x100 main [FILE:LINE]
 *	                                a symbol at 0x1000 with a size of 0x100 bytes
 *	since STAMP                     the symbols above are valid until STAMP, those below from STAMP on
 *	cpu 0 [bytes missing lost]      a stream in CPU mode; its steps follow
 *	samples 0 [bytes missing lost]  a stream of SPE samples in CPU mode
 *	thread INDEX PID TID NAME       a stream in thread mode
 *	run STAMP|- ADDRESS COUNT BRANCH[!] [TO]
 *	                                COUNT instructions of 4 bytes; BRANCH is a word of flow_branch_word(),
 *	                                with ! if the branch is not taken
 *	on STAMP|- ADDRESS
 *	off STAMP|- [ADDRESS]
 *	async STAMP|- FROM [TO]
 *	space STAMP|- SPACE [TID]
 *	overflow STAMP|-
 *	gap|damage|codeless|unread|note STAMP|- TEXT
 *	sample STAMP|- PC [DATA LATENCY [CLASS OPERATION EVENTS]]
 *	# or KTRU                       a comment; a file that begins with KTRU is read as a file of rings
 *
 * An address is a number, or a symbol with an offset, such as main+8. Decoding can begin at every eighth
 * step. Each step is one byte of trace.
 */
#ifndef FAKE_HWT_SCRIPT_H
#define FAKE_HWT_SCRIPT_H

#include "hwt/hwt.h"

/* Writes the text to a temporary file, and opens this file with hwt_file_open(). */
int hwt_script_open(struct hwt_file **file, const char *text);

#endif
