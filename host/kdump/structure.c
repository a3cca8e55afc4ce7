/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/context.h"

#include <arpa/inet.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/put.h"

#define BYTES_SHOWN 32u /* maximum number of bytes of an unknown struct that are printed */
/* maximum size, in bytes, of a text before it is escaped for JSON, which may write six bytes for one */
#define JSON_MOST    2500u
#define VALUES_MOST  2000u
#define TEXT_MOST    400u /* maximum size of a string in a struct, in bytes */
#define LEAST_FIELDS 2u	  /* number of fields that every socket address has: length and family */
/* maximum size of the text for a struct within another struct, in bytes */
#define INNER_MOST 2000u
#define FIELD_MOST (KDUMP_WORDS_MOST + CALLS_NAME)

/* A struct that is being written. */
struct writer {
	const struct kdump_context *context;
	const struct kdump_words *words;
	const uint8_t *bytes;
	uint32_t size;
	bool json, bsd;
};

static uint64_t read_number(const uint8_t *bytes, uint32_t width)
{
	return kdump_read_number(bytes, width > 8 ? 8 : width);
}

/* Extends the sign of a field narrower than 64 bits, if its type is signed or an enumeration. */
static uint64_t with_sign(uint64_t value, uint32_t width, const struct calls_type *type)
{
	bool is_signed = type->base == CALLS_INT || type->base == CALLS_LONG || type->base == CALLS_OFF ||
			 type->base == CALLS_FD || type->base == CALLS_PID || type->base == CALLS_MS ||
			 (type->base == CALLS_SYMBOL && type->flags == 0);
	unsigned bits = 8 * width;

	if (!is_signed || width >= 8 || !(value >> (bits - 1)))
		return value;
	return value | UINT64_MAX << bits;
}

/* ---- Times and users ---- */

static char *put_date(char *at, int64_t seconds)
{
	time_t time = (time_t)seconds;
	struct tm local;
	size_t length = 0;

	if (localtime_r(&time, &local))
		length = strftime(at + 1, 64, "%b %e %T %Y", &local);
	if (length == 0)
		return base_put_signed(at, seconds);
	*at = '"';
	at[length + 1] = '"';
	return at + length + 2;
}

/*
 * Writes seconds and a fraction of `digits` digits. The first half of the field holds the seconds, the second
 * half the fraction.
 */
static char *put_time(char *at, const struct writer *writer, const uint8_t *bytes, uint32_t width,
		      unsigned digits)
{
	uint32_t half = width / 2 > 8 ? 8 : width / 2;
	uint64_t fraction = read_number(bytes + width / 2, half);
	int64_t seconds = half == 4 ? (int32_t)read_number(bytes, half) : (int64_t)read_number(bytes, half);

	at = writer->context->options->resolve && !writer->json ? put_date(at, seconds)
								: base_put_signed(at, seconds);
	if (fraction == 0)
		return at;
	if (fraction >= (digits == 9 ? 1000000000u : 1000000u)) { /* the fraction is not valid */
		*at = '+';
		return writer->json ? at : base_put_decimal(at + 1, fraction);
	}
	*at++ = '.';
	if (digits == 9)
		at = base_put_three(at, (uint32_t)(fraction / 1000000));
	return base_put_six(at, (uint32_t)(fraction % 1000000));
}

/* Returns the name that this machine gives to the user or group `number`, for -r; NULL if there is none. */
static const char *local_name(const struct calls_type *type, uint32_t number)
{
	const struct passwd *user = type->base == CALLS_UID ? getpwuid(number) : NULL;
	const struct group *group = type->base == CALLS_GID ? getgrgid(number) : NULL;

	return user ? user->pw_name : group ? group->gr_name : NULL;
}

/* Writes permissions as ls(1) does: "-rw-r--r-- ". */
static char *put_permissions(char *at, uint32_t mode)
{
	static const char kinds[16] = { '?', 'p', 'c', '?', 'd', '?', 'b', '?',
					'-', '?', 'l', '?', 's', '?', 'w', '?' };
	static const char letters[3] = { 'r', 'w', 'x' };
	static const char special[3][2] = { { 's', 'S' }, { 's', 'S' }, { 't', 'T' } };

	*at++ = kinds[mode >> 12 & 15];
	for (unsigned n = 0; n < 9; n++)
		at[n] = mode >> (8 - n) & 1 ? letters[n % 3] : '-';
	for (unsigned n = 0; n < 3; n++)
		if (mode >> (11 - n) & 1)
			at[3 * n + 2] = special[n][at[3 * n + 2] == '-'];
	at[9] = ' ';
	return at + 10;
}

/* Writes a value in memory that is not a struct. In JSON, a value that is not a number is a string. */
static char *put_plain_values(char *at, const struct kdump_context *context, const struct calls_type *type,
			      const uint8_t *bytes, uint32_t size)
{
	const struct kdump_bytes memory = { .first = bytes, .size = size, .element = size };
	char text[VALUES_MOST + KDUMP_MEMORY_MOST];
	size_t length;

	if (type->base < CALLS_TEXT && size <= 8)
		return kdump_put_value(at, &context->words, type, kdump_read_number(bytes, size));
	if (context->words.style != KDUMP_STYLE_JSON)
		return kdump_put_memory(at, VALUES_MOST, context, type, &memory);
	length = (size_t)(kdump_put_memory(text, VALUES_MOST, context, type, &memory) - text);
	return base_json_string(at, text, length < JSON_MOST ? length : JSON_MOST);
}

/* ---- Fields ---- */

static char *put_quoted(char *at, const struct writer *writer, const uint8_t *bytes, uint32_t width)
{
	size_t length = strnlen((const char *)bytes, width);

	if (writer->json)
		return base_json_string(at, (const char *)bytes,
					length < TEXT_MOST / 6 ? length : TEXT_MOST / 6);
	*at = '"';
	at = kdump_vis_text(at + 1, bytes, length, TEXT_MOST, true);
	*at = '"';
	return at + 1;
}

/* Writes an IP address. `type` determines the order of its bytes. */
static char *put_address(char *at, const struct calls_type *type, const uint8_t *bytes, uint32_t width)
{
	uint8_t network[16] = { 0 };
	bool turned = strcmp(type->name, "ipv4") == 0;
	bool six = type->base == CALLS_IPV6;
	char text[INET6_ADDRSTRLEN] = "?";
	size_t length;

	memcpy(network, bytes, width < (six ? 16u : 4u) ? width : (six ? 16u : 4u));
	if (turned)
		for (unsigned n = 0; n < 4; n++)
			network[3 - n] = n < width ? bytes[n] : 0;
	inet_ntop(six ? AF_INET6 : AF_INET, network, text, sizeof(text));
	length = strlen(text);
	memcpy(at, text, length);
	return at + length;
}

static char *put_number(char *at, const struct writer *writer, const struct calls_type *type, uint64_t value)
{
	const char *name = writer->context->options->resolve ? local_name(type, (uint32_t)value) : NULL;
	struct kdump_words words = *writer->words;

	if (name && !writer->json) {
		*at = '"';
		at = kdump_vis_text(at + 1, name, strlen(name), TEXT_MOST, true);
		*at = '"';
		return at + 1;
	}
	if (!writer->bsd)
		return kdump_put_value(at, &words, type, value);
	if (type->base == CALLS_MODE)
		return writer->context->options->resolve ? put_permissions(at, (uint32_t)value)
							 : kdump_put_octal(at, (uint32_t)value);
	if (type->base == CALLS_HEX || type->base == CALLS_PTR)
		return base_put_hex(base_put_literal(at, "0x"), value);
	if (type->flags == 0)
		words.style = KDUMP_STYLE_PLAIN;
	return kdump_put_value(at, &words, type, value);
}

static char *put_fields(char *at, const struct writer *writer, const struct calls_layout *layout,
			unsigned depth);

static char *put_sockaddr(char *at, const struct writer *writer, const struct calls_layout *layout);

static char *put_nested(char *at, const struct writer *writer, const struct calls_type *type,
			const uint8_t *bytes, uint32_t width, unsigned depth)
{
	const struct calls_layout *layout = calls_table_layout(writer->words->table, type->name, width);
	struct writer inner = *writer;

	inner.bytes = bytes;
	inner.size = width;
	*at++ = '{';
	if (layout && depth == 0 && strcmp(type->name, "sockaddr") == 0 && !writer->json)
		at = put_sockaddr(at, &inner, layout);
	else if (layout && depth == 0)
		at = put_fields(at, &inner, layout, depth + 1);
	*at = '}';
	return at + 1;
}

/* Writes a field, in quotation marks if JSON needs them. */
static char *put_field(char *at, const struct writer *writer, const struct calls_field *field, uint32_t width,
		       unsigned depth)
{
	const uint8_t *bytes = writer->bytes + field->offset;
	const struct calls_type *type = field->type;
	bool quoted = writer->json && (type->base == CALLS_IPV4 || type->base == CALLS_IPV6);

	switch (type->base) {
	case CALLS_STR:
		return put_quoted(at, writer, bytes, width);
	case CALLS_TIME:
		return put_time(at, writer, bytes, width, 9);
	case CALLS_UTIME:
		return put_time(at, writer, bytes, width, 6);
	case CALLS_PORT:
		return base_put_decimal(at, width < 2 ? 0 : (uint64_t)bytes[0] << 8 | bytes[1]);
	case CALLS_IPV4:
	case CALLS_IPV6:
		*at = '"';
		at = put_address(at + quoted, type, bytes, width);
		*at = '"';
		return at + quoted;
	case CALLS_SIGSET:
		return put_plain_values(at, writer->context, type, bytes, width);
	case CALLS_FD:
		at = put_number(at, writer, type, with_sign(read_number(bytes, width), width, type));
		return writer->context->descriptors
			       ? kdump_put_descriptor(at, writer->context->descriptors, writer->context->pid,
						      (int32_t)read_number(bytes, width))
			       : at;
	case CALLS_STRUCTURE:
		return put_nested(at, writer, type, bytes, width, depth);
	default:
		return put_number(at, writer, type,
				  with_sign(read_number(bytes, width), width > 8 ? 8 : width, type));
	}
}

/*
 * Returns the number of bytes of a field that the record has. Returns 0 if a part of the field is missing,
 * and the part that exists is useless alone.
 */
static uint32_t width_here(const struct writer *writer, const struct calls_field *field)
{
	uint32_t rest = field->offset < writer->size ? writer->size - field->offset : 0;

	if (field->width <= rest)
		return field->width;
	return field->type->base == CALLS_STR ? rest : 0;
}

static char *put_fields(char *at, const struct writer *writer, const struct calls_layout *layout,
			unsigned depth)
{
	/* Leave room for one more field. At depth 0, this field may be a struct. */
	const char *limit =
		at + (depth ? INNER_MOST - FIELD_MOST : KDUMP_STRUCTURE_MOST - INNER_MOST - FIELD_MOST);
	bool any = false;

	for (unsigned n = 0; n < layout->fields && at < limit; n++) {
		const struct calls_field *field = &layout->field[n];
		uint32_t width = width_here(writer, field);

		if (width == 0)
			continue;
		if (any)
			at = writer->json ? base_put_literal(at, ",") : base_put_literal(at, ", ");
		at = writer->json ? base_put_literal(base_json_name(at, field->name), ":")
				  : base_put_literal(kdump_put_name(at, field->name), "=");
		at = put_field(at, writer, field, width, depth);
		any = true;
	}
	return at;
}

/* ---- Addresses of sockets ---- */

static char *put_bytes(char *at, const uint8_t *bytes, uint32_t size)
{
	for (uint32_t n = 0; n < size && n < BYTES_SHOWN; n++)
		at = kdump_put_byte(at, bytes[n]);
	return size > BYTES_SHOWN ? base_put_literal(at, "...") : at;
}

static const struct calls_field *find_field(const struct calls_layout *layout, enum calls_base base,
					    const char *name)
{
	for (unsigned n = 0; layout && n < layout->fields; n++)
		if (name ? strcmp(layout->field[n].name, name) == 0 : layout->field[n].type->base == base)
			return &layout->field[n];
	return NULL;
}

/*
 * Returns whether the address is an abstract name (Linux), not a path. A zero byte comes before an abstract
 * name, and the name itself may contain zero bytes.
 */
static bool is_abstract(const struct writer *writer, const struct calls_field *path)
{
	uint32_t width = width_here(writer, path);
	const uint8_t *bytes = writer->bytes + path->offset;

	return writer->context->ktrx && width > 1 && bytes[0] == 0 &&
	       memcmp(bytes, bytes + 1, width - 1) != 0;
}

static char *put_abstract(char *at, const struct writer *writer, const struct calls_field *path)
{
	uint32_t width = width_here(writer, path) - 1;

	at = kdump_vis_text(base_put_literal(at, "@\""), writer->bytes + path->offset + 1, width, TEXT_MOST,
			    true);
	*at = '"';
	return at + 1;
}

/*
 * Writes an address such as "127.0.0.1:80" or "[::1]:80", or the path of a socket in the file system. Returns
 * NULL for any other kind of address.
 */
static char *put_endpoint(char *at, const struct writer *writer, const struct calls_layout *layout)
{
	const struct calls_field *port = find_field(layout, CALLS_HEX, "port");
	const struct calls_field *four = find_field(layout, CALLS_IPV4, NULL);
	const struct calls_field *six = find_field(layout, CALLS_IPV6, NULL);
	const struct calls_field *path = find_field(layout, CALLS_STR, NULL);
	const struct calls_field *address = four ? four : six;
	struct writer plain = *writer;

	plain.json = false;
	if (path && is_abstract(writer, path))
		return put_abstract(at, writer, path);
	if (path && width_here(writer, path) && writer->bytes[path->offset] != 0)
		return put_quoted(at, &plain, writer->bytes + path->offset, width_here(writer, path));
	if (!address || !port || !width_here(writer, address) || !width_here(writer, port))
		return NULL;
	if (six && !four)
		*at++ = '[';
	at = put_field(at, &plain, address, address->width, 0);
	if (six && !four)
		*at++ = ']';
	*at = ':';
	return put_field(at + 1, &plain, port, port->width, 0);
}

/*
 * Returns the layout of addresses of this family; NULL if the address has no family, or if the family has no
 * known layout.
 */
static const struct calls_layout *layout_of_family(const struct writer *writer,
						   const struct calls_field *family)
{
	char text[2 * CALLS_NAME + 2] = "sockaddr_";
	const char *symbol;

	if (!family || !width_here(writer, family))
		return NULL;
	symbol = calls_type_symbol(family->type, read_number(writer->bytes + family->offset, family->width));
	strncat(text, symbol ? symbol : "", CALLS_NAME);
	return calls_table_layout(writer->words->table, text, writer->size);
}

/*
 * Writes the part of the address after the family: the fields of the layout, or bytes if there is no layout.
 */
static char *put_rest(char *at, const struct writer *writer, const struct calls_layout *of_family,
		      const struct calls_field *family)
{
	uint32_t begin = family->offset + family->width;
	char *end;

	if (of_family && find_field(of_family, CALLS_STR, NULL))
		return base_put_literal(at, "unnamed");
	end = of_family ? put_fields(at, writer, of_family, 0) : at;
	if (end > at)
		return end;
	if (begin >= writer->size)
		return base_put_literal(at, "no address");
	return put_bytes(base_put_literal(at, "0x"), writer->bytes + begin, writer->size - begin);
}

static char *put_sockaddr(char *at, const struct writer *writer, const struct calls_layout *layout)
{
	const struct calls_field *family = find_field(layout, CALLS_HEX, "family");
	const struct calls_layout *of_family = layout_of_family(writer, family);
	char *start = at, *end;
	const char *symbol;
	uint64_t value;

	if (!family || !width_here(writer, family))
		return base_put_literal(at, "invalid");
	value = read_number(writer->bytes + family->offset, family->width);
	symbol = calls_type_symbol(family->type, value);
	at = symbol ? kdump_put_name(at, symbol) : base_put_decimal(at, value);
	at = base_put_literal(at, ", ");
	end = put_endpoint(at, writer, of_family ? of_family : layout);
	if (end)
		return end;
	if (layout->fields > LEAST_FIELDS)
		return put_fields(start, writer, layout, 0);
	return symbol ? put_rest(at, writer, of_family, family)
		      : base_put_literal(at, "unknown address family");
}

/* Writes the fields that every socket address has, then the fields of addresses of this family. */
static char *put_sockaddr_json(char *at, const struct writer *writer, const struct calls_layout *layout)
{
	const struct calls_layout *of_family =
		layout_of_family(writer, find_field(layout, CALLS_HEX, "family"));
	char *after = put_fields(at, writer, layout, 0), *end;
	const struct calls_field *path;

	if (!of_family || layout->fields > LEAST_FIELDS)
		return after;
	*after = ',';
	path = find_field(of_family, CALLS_STR, NULL);
	if (path && is_abstract(writer, path))
		return base_json_string(base_put_literal(base_json_name(after + 1, path->name), ":"),
					(const char *)writer->bytes + path->offset, width_here(writer, path));
	end = put_fields(after + 1, writer, of_family, 0);
	return end > after + 1 ? end : after;
}

/* ---- Complete structs ---- */

/*
 * Writes a struct in braces. In the style of the BSDs, there is a blank before the closing brace and, if
 * `spaced` is set, after the opening brace, too.
 */
static char *put_braced(char *at, const struct kdump_context *context, const char *name, const uint8_t *bytes,
			uint32_t size, bool spaced)
{
	const struct calls_layout *layout = calls_table_layout(context->words.table, name, size);
	struct writer writer = { .context = context,
				 .words = &context->words,
				 .bytes = bytes,
				 .size = size,
				 .json = context->words.style == KDUMP_STYLE_JSON,
				 .bsd = context->words.style == KDUMP_STYLE_BSD };
	const struct calls_type *type = calls_table_type(context->words.table, name);
	bool socket = strcmp(name, "sockaddr") == 0;

	if (!layout && type && type->base != CALLS_HEX && type->base != CALLS_STRUCTURE)
		return put_plain_values(at, context, type, bytes, size);
	if (!layout && writer.json) {
		at = put_bytes(base_put_literal(at, "\""), bytes, size);
		return base_put_literal(at, "\"");
	}
	*at++ = '{';
	if (writer.bsd && (spaced || (socket && !writer.json)))
		*at++ = ' ';
	at = !layout		     ? put_bytes(at, bytes, size)
	     : socket && writer.json ? put_sockaddr_json(at, &writer, layout)
	     : socket		     ? put_sockaddr(at, &writer, layout)
				     : put_fields(at, &writer, layout, 0);
	if (writer.bsd)
		*at++ = ' ';
	*at = '}';
	return at + 1;
}

char *kdump_put_structure(char *at, const struct kdump_context *context, const char *name,
			  const uint8_t *bytes, uint32_t size)
{
	return put_braced(at, context, name, bytes, size, false);
}

/* Writes "struct NAME". */
static char *put_struct_name(char *at, const char *name)
{
	at = base_put_literal(at, "struct ");
	return kdump_vis_text(at, name, strnlen(name, CALLS_NAME), KDUMP_VIS_GROWTH * CALLS_NAME, false);
}

void kdump_write_structure(const struct kdump_context *context, const struct ktread_proc_record *record)
{
	const char *name = record->structure.name;
	uint32_t size = record->structure.element_size;
	char *at = put_struct_name(base_output_line(context->out), name);

	if (record->type == KTRX_PROC_STRUCT) {
		*at = ' ';
		at = kdump_put_structure(at + 1, context, name, record->data, record->data_size);
		base_output_done(context->out, base_put_literal(at, "\n"));
		return;
	}
	at = base_put_literal(at, "[] = { ");
	for (uint32_t n = 0; size > 0 && n < record->structure.count; n++) {
		if (n > 0) {
			base_output_done(context->out, base_put_literal(at, "\n             "));
			at = base_output_line(context->out);
		}
		at = put_braced(at, context, name, record->data + (size_t)n * size, size, true);
	}
	base_output_done(context->out, base_put_literal(at, " }\n"));
}
