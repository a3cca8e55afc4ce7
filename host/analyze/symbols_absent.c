/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* In place of symbols.c where libdw's headers are missing: no kernel file can be opened. */
#include "symbols.h"

#if !__has_include(<elfutils/libdwfl.h>)

#include <stddef.h>

int symbols_open(struct symbols **result, const char *elf, const struct ktread_info *info)
{
	(void)elf, (void)info;
	*result = NULL;
	return SYMBOLS_E_ABSENT;
}

const char *symbols_message(void)
{
	return "this ktrace was built without libdw (Debian: libdw-dev), which symbols need";
}

void symbols_close(struct symbols *symbols)
{
	(void)symbols;
}

int symbols_has(const struct symbols *symbols, uint64_t address)
{
	(void)symbols, (void)address;
	return 0;
}

int symbols_has_code(const struct symbols *symbols, uint64_t address)
{
	(void)symbols, (void)address;
	return 0;
}

int symbols_doubtful(const struct symbols *symbols)
{
	(void)symbols;
	return 0;
}

int symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	(void)symbols, (void)address, (void)symbol;
	return -1;
}

int symbols_find_any(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	return symbols_find(symbols, address, symbol);
}

int symbols_find_call(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	return symbols_find(symbols, address, symbol);
}

void symbols_each(struct symbols *symbols,
		  void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
		  void *context)
{
	(void)symbols, (void)each, (void)context;
}

#endif
