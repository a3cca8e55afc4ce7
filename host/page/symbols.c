/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "page/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Returns the number of the string that names an address; 0 if the address has no name. */
static uint32_t name_address(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
			     enum page_symbol_kind kind)
{
	struct symbol symbol;
	char text[1024];
	int length;

	if ((kind == PAGE_SYMBOL_RETURN ? symbols_find_call(symbols->from, address, &symbol)
					: symbols_find_any(symbols->from, address, &symbol)) != 0)
		return 0;
	length = symbol.offset
			 ? snprintf(text, sizeof(text), "%.400s+0x%" PRIx64, symbol.function, symbol.offset)
			 : snprintf(text, sizeof(text), "%.400s", symbol.function);
	if (symbol.file && !symbols->redact)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " (%.400s:%" PRIu32 ")",
				   symbol.file, symbol.line);
	return page_string(strings, text, (size_t)length);
}

uint32_t page_symbol(struct page_symbols *symbols, struct page_strings *strings, uint64_t address,
		     enum page_symbol_kind kind)
{
	const uint64_t hash = base_hash(0, address);
	struct page_symbol *larger;

	if (!symbols->from || address == 0)
		return 0;
	for (uint32_t probe = 0, n; base_index_next(&symbols->index, hash, &probe, &n);)
		if (symbols->symbol[n].address == address)
			return symbols->symbol[n].name;
	if (symbols->count == PAGE_SYMBOLS_MOST)
		return 0;
	larger = base_grow(symbols->symbol, &symbols->room, (size_t)symbols->count + 1, sizeof(*larger));
	if (!larger)
		return 0;
	symbols->symbol = larger;
	larger += symbols->count;
	*larger = (struct page_symbol){ address, name_address(symbols, strings, address, kind) };
	if (base_index_add(&symbols->index, hash, symbols->count) == 0)
		symbols->count++;
	return larger->name;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t left = ((const struct page_symbol *)a)->address;
	const uint64_t right = ((const struct page_symbol *)b)->address;

	return left < right ? -1 : left > right;
}

void page_symbols_write(struct page_symbols *symbols, struct page_block *block)
{
	struct page_bytes head = { .byte = NULL }, column[2] = { { .byte = NULL } };
	const size_t fresh = symbols->count - symbols->written;
	struct page_symbol *sorted = fresh ? malloc(fresh * sizeof(*sorted)) : NULL;
	uint64_t address = 0;
	uint32_t named = 0;

	if (!sorted)
		return;
	memcpy(sorted, symbols->symbol + symbols->written, fresh * sizeof(*sorted));
	qsort(sorted, fresh, sizeof(*sorted), by_address);
	for (size_t n = 0; n < fresh; n++) {
		if (sorted[n].name == 0)
			continue;
		page_put(&column[0], sorted[n].address - address);
		page_put(&column[1], sorted[n].name);
		address = sorted[n].address;
		named++;
	}
	page_put(&head, named);
	if (named)
		page_block_section(block, PAGE_SYMBOLS, &head, column, 2);
	page_bytes_free(&head);
	page_bytes_free(&column[0]);
	page_bytes_free(&column[1]);
	free(sorted);
	symbols->written = symbols->count;
}

void page_symbols_free(struct page_symbols *symbols)
{
	free(symbols->symbol);
	base_index_free(&symbols->index);
}
