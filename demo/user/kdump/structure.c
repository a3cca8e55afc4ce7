/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <kdump_parts.h>
#include <string.h>
#include <words.h>

#define FIELDS_MAX 32u
/* If the table does not contain a struct, at most this many of its bytes are printed. */
#define BYTES_SHOWN 32u
/* A number with a smaller absolute value is not an address, so it is printed in decimal. */
#define SMALL 4096u

struct field {
	char type[TABLE_WORD], name[TABLE_WORD];
	uint32_t offset, width;
};

/*
 * The bytes of a struct, and its layout, which is read from the table's line "struct NAME SIZE, TYPE FIELD
 * OFFSET, …".
 */
struct layout {
	struct field field[FIELDS_MAX];
	unsigned fields;
	const unsigned char *bytes;
	size_t size;
};

/* ---- Layouts of structs ------------------------------------------------------------------------ */

static bool get_field(const struct table_line *line, unsigned n, struct field *field)
{
	char offset[TABLE_WORD];
	const char *plus;

	if (!table_word(line, 3 + 3 * n, field->type) || !table_word(line, 4 + 3 * n, field->name) ||
	    !table_word(line, 5 + 3 * n, offset))
		return false;
	plus = strchr(offset, '+');
	field->offset = (uint32_t)table_number(offset);
	field->width = plus ? (uint32_t)table_number(plus + 1) : 0;
	return true;
}

/*
 * Sets the widths of fields for which the table contains none: such a field extends up to the next field, or
 * to the end of the struct.
 */
static void set_widths(struct layout *layout, uint32_t size)
{
	for (unsigned n = 0; n < layout->fields; n++) {
		struct field *field = &layout->field[n];
		uint32_t end = size;

		for (unsigned other = 0; other < layout->fields; other++)
			if (layout->field[other].offset > field->offset && layout->field[other].offset < end)
				end = layout->field[other].offset;
		if (field->width == 0 && end > field->offset)
			field->width = end - field->offset;
	}
}

static bool get_layout(struct layout *layout, const struct table *table, const char *name)
{
	struct table_line line;
	char size[TABLE_WORD];

	layout->fields = 0;
	if (!table_find(table, "struct", name, &line) || !table_word(&line, 2, size))
		return false;
	while (layout->fields < FIELDS_MAX &&
	       get_field(&line, layout->fields, &layout->field[layout->fields]))
		layout->fields++;
	set_widths(layout, (uint32_t)table_number(size));
	return true;
}

static bool is_here(const struct layout *layout, const struct field *field)
{
	return field->width && field->offset <= layout->size && field->width <= layout->size - field->offset;
}

static const struct field *find_field(const struct layout *layout, const char *name)
{
	for (unsigned n = 0; n < layout->fields; n++)
		if (strcmp(layout->field[n].name, name) == 0 && is_here(layout, &layout->field[n]))
			return &layout->field[n];
	return NULL;
}

/* ---- Values of fields -------------------------------------------------------------------------- */

static bool is_one_of(const char *type, const char *const *types)
{
	while (*types && strcmp(type, *types) != 0)
		types++;
	return *types != NULL;
}

static uint64_t value_of(const struct layout *layout, const struct field *field)
{
	uint32_t width = field->width < 8 ? field->width : 8;
	uint64_t value = 0;

	for (uint32_t n = 0; n < width; n++)
		value |= (uint64_t)layout->bytes[field->offset + n] << 8 * n;
	return value;
}

static int64_t with_sign(uint64_t value, uint32_t width)
{
	unsigned unused = width < 8 ? 64 - 8 * width : 0;

	return (int64_t)(value << unused) >> unused;
}

/* Writes a number for which the table has no name. The type determines the format. */
static void put_number(struct line *line, const char *type, uint64_t value, uint32_t width)
{
	static const char *const with_signs[] = { "int", "fd", "pid", "ms", "long", "off", NULL };
	static const char *const without[] = { "uint", "uid", "gid", "ulong", "size", NULL };
	static const char *const ids[] = { "uid", "gid", NULL };
	static const char *const bits[] = { "hex", "ptr", NULL };

	if (is_one_of(type, bits))
		line_put(line, "0x%lx", value);
	else if (is_one_of(type, ids) && (uint32_t)value == UINT32_MAX)
		line_put(line, "-1");
	else if (is_one_of(type, without))
		line_put(line, "%lu", value);
	else if (is_one_of(type, with_signs) || (uint64_t)with_sign(value, width) + SMALL < 2 * SMALL)
		line_put(line, "%ld", with_sign(value, width));
	else
		words_hex(line, value);
}

/* Writes an IPv4 address. `address` is in host byte order. */
static void put_ipv4(struct line *line, uint64_t address)
{
	for (unsigned n = 4; n-- > 0;)
		line_put(line, n ? "%u." : "%u", (unsigned)(address >> 8 * n & 0xff));
}

static void put_value(struct line *line, const struct table *table, const struct layout *layout,
		      const struct field *field)
{
	uint64_t value = value_of(layout, field);
	char name[TABLE_WORD];

	if (strcmp(field->type, "ipv4") == 0)
		put_ipv4(line, value);
	else if (strcmp(field->type, "mode") == 0 || words_has_flags(table, field->type))
		words_value(line, table, field->type, value);
	else if (words_find(table, field->type, value, name))
		line_put(line, "%s", name);
	else
		put_number(line, field->type, value, field->width);
}

static void put_fields(struct line *line, const struct table *table, const struct layout *layout)
{
	bool any = false;

	for (unsigned n = 0; n < layout->fields; n++) {
		if (!is_here(layout, &layout->field[n]))
			continue;
		line_put(line, any ? ", %s=" : "%s=", layout->field[n].name);
		put_value(line, table, layout, &layout->field[n]);
		any = true;
	}
}

/*
 * Writes a socket address, such as "AF_INET, 127.0.0.1:80", or only some of its fields if the bytes of the
 * others are missing.
 */
static void put_sockaddr(struct line *line, const struct table *table, const struct layout *layout)
{
	const struct field *family = find_field(layout, "family");
	const struct field *port = find_field(layout, "port"), *address = find_field(layout, "address");

	if (!family) {
		line_put(line, "invalid");
		return;
	}
	if (!port || !address) {
		put_fields(line, table, layout);
		return;
	}
	put_value(line, table, layout, family);
	line_put(line, ", ");
	put_value(line, table, layout, address);
	line_byte(line, ':');
	put_value(line, table, layout, port);
}

void structure_put(struct line *line, const struct table *table, const char *name, const char *bytes,
		   size_t size, bool spaced)
{
	static struct layout layout;
	bool known = get_layout(&layout, table, name), socket = strcmp(name, "sockaddr") == 0;

	layout.bytes = (const unsigned char *)bytes;
	layout.size = size;
	line_put(line, spaced || socket ? "{ " : "{");
	if (known && socket)
		put_sockaddr(line, table, &layout);
	else if (known)
		put_fields(line, table, &layout);
	for (size_t n = 0; !known && n < size && n < BYTES_SHOWN; n++)
		line_put(line, "%02x", layout.bytes[n]);
	line_put(line, !known && size > BYTES_SHOWN ? "... }" : " }");
}
