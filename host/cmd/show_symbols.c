/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/show_symbols.h"

#include <stddef.h>

#include "cmd/command.h"

int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace, const char *name)
{
	int status;

	*symbols = NULL;
	if (!elf)
		return 0;
	status = symbols_open(symbols, elf, ktread_info(trace));
	if (status == SYMBOLS_E_MACHINE) {
		command_message(name, "WARNING: %s: addresses are shown without names", symbols_message());
		return 0;
	}
	if (status != SYMBOLS_OK)
		command_message(name, "%s%s", status == SYMBOLS_OTHER_BUILD ? "WARNING: " : "",
				symbols_message());
	return status < 0 ? EXIT_BAD_INPUT : 0;
}
