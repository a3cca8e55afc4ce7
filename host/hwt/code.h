/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Code that a trace brings along: which bytes lay at an address when, in which address space. Kept in lines of 64 bytes, each of
 * one space; those of space 0 are of all that have none of their own. Where bytes change with time there is a line for each
 * version, valid from its stamp on.
 */
#ifndef HWT_CODE_H
#define HWT_CODE_H

#include <stdbool.h>

#include "file.h"

#define HWT_CODE_LINE 64u

struct hwt_codes;

/* Of the file's CODE; *codes is NULL where it has none. 0, or KTREAD_E_MEMORY. */
int hwt_codes_open(struct hwt_codes **codes, const struct hwt_file *file);
void hwt_codes_close(struct hwt_codes *codes);

/*
 * How many bytes are known from an address on, at most `size`. `stamp` 0: the latest. With `any` also what was only seen in
 * other address spaces, as far as all of them agree.
 */
size_t hwt_codes_read(const struct hwt_codes *codes, uint64_t space, uint64_t stamp, uint64_t address,
		      unsigned char *to, size_t size, bool any);

/*
 * How many bytes from an address on, at most `size`, are not known in that space: none is lost to what knows more of others. With
 * `any` they are in no other either.
 */
size_t hwt_codes_unknown(const struct hwt_codes *codes, uint64_t space, uint64_t address, size_t size,
			 bool any);

/* Lines that follow each other, for who wants to have them at hand once and for all. */
struct hwt_code_run {
	uint64_t address, size; /* both are multiples of HWT_CODE_LINE */
	uint64_t space;		/* of the lines, if `fixed`; 0: they are the same in all */
	bool fixed; /* never change, and what hwt_codes_read() says of `space` is the same at any time */
	bool apart; /* there is another kind between it and the run before it */
};
/*
 * The n-th run: those that change in the order of addresses, whatever their spaces, and then the fixed ones of each space in that
 * order. False: there are not so many.
 */
bool hwt_codes_run(const struct hwt_codes *codes, size_t n, struct hwt_code_run *run);

#endif
