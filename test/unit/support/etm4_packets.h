/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Hand-made ETMv4 packets, the traced code, and the steps that OpenCSD decodes from the packets. */
#ifndef ETM4_PACKETS_H
#define ETM4_PACKETS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hwt/decoder.h"
#include "hwt/etm4.h"
#include "unit/support/hex.h"

/* ---- Code -------------------------------------------------------------------------------------- */

#define BASE	    0x401000u
#define CHANGED	    0x800000u
#define NOP	    0xd503201fu
#define B(words)    (0x14000000u | ((words)&0x3ffffffu))
#define BL(words)   (0x94000000u | ((words)&0x3ffffffu))
#define B_EQ(words) (0x54000000u | ((words)&0x7ffffu) << 5)
#define CBZ(words)  (0xb4000000u | ((words)&0x7ffffu) << 5)
#define BR	    0xd61f0000u
#define BLR	    0xd63f0000u
#define RET	    0xd65f03c0u
#define ERET	    0xd69f03e0u
#define SVC	    0xd4000001u
#define ISB	    0xd5033fdfu
#define RETAA	    0xd65f0bffu
#define TEXIT	    0xd6ff03e0u

/* Arguments of the decoder's last request for code. */
struct etm4_asked {
	uint32_t pid;
	uint64_t space, stamp;
};
extern struct etm4_asked etm4_asked;

/* ---- Streams ----------------------------------------------------------------------------------- */

#define SYNC "00 00 00 00 00 00 00 00 00 00 00 80 01 01 00 "
#define ON   "04 "
/* A packet with address and context: 64-bit address, EL0, non-secure, context id 7. */
#define AT(low) "85 " low " 08 40 00 00 00 00 00 b0 07 00 00 00 "

#define START SYNC ON AT("00")
#define BEGUN "on 401000\nspace 7\n"

extern const struct hwt_stream etm4_unit;

/* Decodes a stream. Returns its steps as text, one per line. The text is valid until the next call. */
const char *etm4_steps_of(const struct hwt_stream *stream, const unsigned char *bytes, size_t size);

#endif
