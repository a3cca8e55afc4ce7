/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of the addresses in a page. */
#ifndef PAGE_SYMBOLS_H
#define PAGE_SYMBOLS_H

#include <stdint.h>

#include "analyze/symbols.h"
#include "base/index.h"
#include "page/lanes.h"

/* maximum number of addresses that are looked up; further addresses get no names */
#define PAGE_SYMBOLS_MOST (UINT32_C(1) << 18)

struct page_symbols {
	struct symbols *from; /* the kernel's symbols; NULL: no names; not owned */
	bool redact;	      /* true to leave out source files */
	struct page_symbol {
		uint64_t address;
		uint32_t name; /* number of the string; 0: the address has no name */
	} * symbol;
	uint32_t count, room, written;
	struct base_index index; /* finds a symbol by its address */
};

enum page_symbol_kind {
	PAGE_SYMBOL_ANY,    /* an address of code or data */
	PAGE_SYMBOL_RETURN, /* a return address */
};

/*
 * Returns the number of the string that names an address, for example "sleep+0x1f (proc.c:30)"; 0 if the
 * address has no name, or memory runs out. The name will be written with the next block.
 */
uint32_t page_symbol(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
		     enum page_symbol_kind kind);
/* Appends the section with the names that no block has yet. */
void page_symbols_write(struct page_symbols *symbols, struct page_block *block);
void page_symbols_free(struct page_symbols *symbols);

#endif
