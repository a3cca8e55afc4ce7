/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/put.h"

#define FUNCTION_MAX 200u /* bytes of a name that are shown */
#define FILE_MAX     200u

/* Of long paths the end tells more. */
static const char *end_of(const char *file)
{
	size_t length = strlen(file);

	return length > FILE_MAX ? file + length - FILE_MAX : file;
}

static char *put_file(char *at, const char *file, uint32_t line)
{
	file = end_of(file);
	at = base_escape_text(at, file, strlen(file), FILE_MAX);
	*at++ = ':';
	return base_put_decimal(at, line);
}

/* "function+0x12 (file.c:34)", or the address. */
static char *put_place(char *at, uint64_t address, struct symbols *symbols)
{
	struct symbol symbol;

	if (symbols_find_call(symbols, address, &symbol) != 0)
		return base_put_hex(base_put_literal(at, "0x"), address);
	at = base_escape_text(at, symbol.function, strlen(symbol.function), FUNCTION_MAX);
	at = base_put_hex(base_put_literal(at, "+0x"), symbol.offset);
	if (symbols_doubtful(symbols))
		*at++ = '?';
	if (!symbol.file)
		return at;
	at = put_file(base_put_literal(at, " ("), symbol.file, symbol.line);
	*at++ = ')';
	return at;
}

static char *put_site(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	at = put_place(at, event->site, symbols);
	if (symbols || (!event->file && event->type->line == 0))
		return at;
	if (event->file)
		at = put_file(base_put_literal(at, " ("), event->file, event->line);
	else
		at = put_file(base_put_literal(at, " (declared "), event->type->file, event->type->line);
	*at++ = ')';
	return at;
}

char *places_put(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		at = put_place(base_put_literal(at, " <- "), event->caller[n], symbols);
	return event->site ? put_site(base_put_literal(at, " @ "), event, symbols) : at;
}

/* {"address":"0x…","function":"…","offset":18,"file":"…","line":34} */
static char *put_json(char *at, uint64_t address, struct symbols *symbols)
{
	struct symbol symbol;

	at = base_put_hex(base_put_literal(at, "{\"address\":\"0x"), address);
	*at++ = '"';
	if (symbols_find_call(symbols, address, &symbol) == 0) {
		at = base_json_name(base_put_literal(at, ",\"function\":"), symbol.function);
		at = base_put_decimal(base_put_literal(at, ",\"offset\":"), symbol.offset);
		if (symbol.file) {
			const char *file = end_of(symbol.file);

			at = base_json_string(base_put_literal(at, ",\"file\":"), file, strlen(file));
			at = base_put_decimal(base_put_literal(at, ",\"line\":"), symbol.line);
		}
		if (symbols_doubtful(symbols))
			at = base_put_literal(at, ",\"doubtful\":true");
	}
	*at++ = '}';
	return at;
}

char *places_put_json(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	if (event->file) {
		const char *file = end_of(event->file);

		at = base_json_string(base_put_literal(at, ",\"file\":"), file, strlen(file));
		at = base_put_decimal(base_put_literal(at, ",\"line\":"), event->line);
	}
	if (event->callers) {
		at = put_json(base_put_literal(at, ",\"callers\":["), event->caller[0], symbols);
		if (event->callers > 1)
			at = put_json(base_put_literal(at, ","), event->caller[1], symbols);
		*at++ = ']';
	}
	return event->site ? put_json(base_put_literal(at, ",\"site\":"), event->site, symbols) : at;
}
