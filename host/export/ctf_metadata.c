/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The metadata of a CTF trace, in TSDL. Names from the trace are untrusted. Names of fields become
 * identifiers, and other names become string literals of printable ASCII.
 */
#include "export/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "base/escape.h"
#include "base/output.h"
#include "ktrx/v2.h"

#define NAME_MOST  160u /* maximum number of bytes of a name that are used */
#define FIELDS	   16u
#define IDENTIFIER 64u

/* Writes a string literal. Quotes, backslashes, and all bytes that are not printable ASCII are escaped. */
static void put_literal(struct base_output *out, const char *text)
{
	char escaped[BASE_ESCAPE_TEXT_GROWTH * NAME_MOST], *end;

	end = base_escape_text(escaped, text, strnlen(text, NAME_MOST), sizeof(escaped));
	base_output_text(out, "\"");
	for (const char *at = escaped; at < end; at++) {
		if (*at == '"' || *at == '\\')
			base_output_text(out, "\\");
		base_output_bytes(out, at, 1);
	}
	base_output_text(out, "\"");
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Makes an identifier from the name of a field. The identifier begins with '_', so that it is not a keyword;
 * readers do not show this '_'.
 */
static void make_identifier(char *to, const char *name)
{
	size_t length = strnlen(name, IDENTIFIER - 8);

	*to++ = '_';
	for (size_t n = 0; n < length; n++)
		*to++ = (char)(is_letter(name[n]) || (n > 0 && name[n] >= '0' && name[n] <= '9') ? name[n]
												 : '_');
	if (length == 0)
		*to++ = '_';
	*to = '\0';
}

/* Declares the fields of a type, each with a different identifier. */
static void put_fields(struct base_output *out, const struct ktread_type *type, const char *indent)
{
	static const char *const types[] = {
		[KTRX_TYPE_U8] = "uint8_t",	   [KTRX_TYPE_U16] = "uint16_t",
		[KTRX_TYPE_U32] = "uint32_t",	   [KTRX_TYPE_U64] = "uint64_t",
		[KTRX_TYPE_I8] = "int8_t",	   [KTRX_TYPE_I16] = "int16_t",
		[KTRX_TYPE_I32] = "int32_t",	   [KTRX_TYPE_I64] = "int64_t",
		[KTRX_TYPE_POINTER] = "address_t", [KTRX_TYPE_STRING] = "string",
		[KTRX_TYPE_BOOL] = "uint8_t",	   [KTRX_TYPE_CHAR] = "char_t",
	};
	char name[FIELDS][IDENTIFIER];

	for (uint32_t n = 0; n < type->fields && n < FIELDS; n++) {
		bool repeated = false;

		make_identifier(name[n], type->field[n].name);
		for (uint32_t other = 0; other < n; other++)
			repeated |= strcmp(name[n], name[other]) == 0;
		base_output_format(out, "%s%s %s", indent, types[type->field[n].type], name[n]);
		if (repeated)
			base_output_format(out, "__%u", n);
		base_output_text(out, ";\n");
	}
}

/* The fields of LTTng for each shape; ctf.c writes their values. */
static const struct {
	const char *name, *fields;
} shapes[] = {
	[CTF_SWITCH] = { "sched_switch", "\t\tstring _prev_comm;\n\t\tint32_t _prev_tid;\n"
					 "\t\tint32_t _prev_prio;\n\t\tint64_t _prev_state;\n"
					 "\t\tstring _next_comm;\n\t\tint32_t _next_tid;\n"
					 "\t\tint32_t _next_prio;\n" },
	[CTF_WAKEUP] = { "sched_wakeup", "\t\tstring _comm;\n\t\tint32_t _tid;\n\t\tint32_t _prio;\n" },
	[CTF_FORK] = { "sched_process_fork", "\t\tstring _parent_comm;\n\t\tint32_t _parent_tid;\n"
					     "\t\tstring _child_comm;\n\t\tint32_t _child_tid;\n" },
	[CTF_EXIT] = { "sched_process_exit", "\t\tstring _comm;\n\t\tint32_t _tid;\n\t\tint32_t _prio;\n" },
	[CTF_SYSCALL_ENTRY] = { "syscall_entry_", "" },
	[CTF_SYSCALL_EXIT] = { "syscall_exit_", "\t\tint64_t _ret;\n" },
	[CTF_IRQ_ENTRY] = { "irq_handler_entry", "\t\tint32_t _irq;\n\t\tstring _name;\n" },
	[CTF_IRQ_EXIT] = { "irq_handler_exit", "\t\tint32_t _irq;\n" },
};

static void put_event(struct base_output *out, const struct ktread_type *type, enum ctf_shape shape,
		      uint32_t class, const char *name)
{
	base_output_text(out, "event {\n\tname = ");
	put_literal(out, name);
	base_output_format(out, ";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n", class);
	if (shape == CTF_OWN) {
		put_fields(out, type, "\t\t");
	} else {
		base_output_text(out, shapes[shape].fields);
		base_output_text(out, "\t\tstruct {\n");
		put_fields(out, type, "\t\t\t");
		base_output_text(out, "\t\t} _ktrace;\n");
	}
	base_output_text(out, "\t};\n};\n\n");
}

static void put_type(struct ctf *ctf, struct base_output *out, uint32_t id)
{
	const struct ktread_type *type = ktread_type(ctf->trace, id);
	const enum ctf_shape shape = (enum ctf_shape)ctf->type[id].shape;
	char name[ANALYZE_EVENT_NAME_MOST + 1];

	if (!type || !ctf->type[id].used)
		return;
	if (shape != CTF_OWN)
		snprintf(name, sizeof(name), "%s", shapes[shape].name);
	else
		*analyze_event_name_lower(name, type) = '\0';
	put_event(out, type, shape, id, name);
}

/* Declares the system calls whose bits are set in a bit map. */
static void put_calls(struct ctf *ctf, struct base_output *out, const uint8_t *seen, enum ctf_shape shape,
		      const struct ktread_type *type, uint32_t class)
{
	char name[2 * NAME_MOST];

	for (uint32_t n = 0; n < CTF_CALLS; n++) {
		const char *call = ktread_syscall_name(ctf->trace, n);

		if (!(seen[n / 8] >> n % 8 & 1))
			continue;
		if (n == CTF_CALLS - 1)
			snprintf(name, sizeof(name), "%sunknown", shapes[shape].name);
		else if (call)
			snprintf(name, sizeof(name), "%s%.*s", shapes[shape].name, (int)NAME_MOST / 2, call);
		else
			snprintf(name, sizeof(name), "%s%u", shapes[shape].name, n);
		put_event(out, type, shape, class + n, name);
	}
}

static void put_types(struct base_output *out)
{
	static const struct {
		const char *name, *properties;
	} types[] = {
		{ "uint8_t", "size = 8; signed = false;" },
		{ "uint16_t", "size = 16; signed = false;" },
		{ "uint32_t", "size = 32; signed = false;" },
		{ "uint64_t", "size = 64; signed = false;" },
		{ "int8_t", "size = 8; signed = true;" },
		{ "int16_t", "size = 16; signed = true;" },
		{ "int32_t", "size = 32; signed = true;" },
		{ "int64_t", "size = 64; signed = true;" },
		{ "char_t", "size = 8; signed = false;" },
		{ "address_t", "size = 64; signed = false; base = 16;" },
		{ "stamp_t", "size = 64; signed = false; map = clock.ktrace.value;" },
	};

	for (size_t n = 0; n < sizeof(types) / sizeof(types[0]); n++) {
		/* The clock is declared first, because the last type refers to it. */
		base_output_format(out, "typealias integer { %s align = 8; byte_order = le; } := %s;\n",
				   types[n].properties, types[n].name);
	}
	base_output_text(out, "\n");
}

/*
 * Declares the clock. Its offset is the wall-clock time at which the counter was 0. The offset is left out if
 * it is unknown, or greater than CTF_NS_MOST: readers add it to each time, and the sum must fit into 64 bits.
 */
static void put_clock(struct ctf *ctf, struct base_output *out)
{
	const struct ktread_info *info = ktread_info(ctf->trace);
	const uint64_t frequency = info->frequency ? info->frequency : 1000000000u;
	const unsigned __int128 since = (unsigned __int128)info->wall_stamp * 1000000000u / frequency;

	base_output_format(out, "clock {\n\tname = \"ktrace\";\n\tdescription = \"%s\";\n\tfreq = %llu;\n",
			   info->frequency ? "counter of the traced machine"
					   : "counter of unknown frequency: a tick is shown as a nanosecond",
			   (unsigned long long)(frequency < CTF_MOST ? frequency : CTF_MOST));
	if (info->wall_ns != 0 && since <= info->wall_ns && info->wall_ns - since <= CTF_NS_MOST) {
		const uint64_t zero = info->wall_ns - (uint64_t)since;

		base_output_format(out, "\toffset_s = %llu;\n\toffset = %llu;\n\tabsolute = true;\n",
				   (unsigned long long)(zero / 1000000000u),
				   (unsigned long long)((unsigned __int128)(zero % 1000000000u) * frequency /
							1000000000u));
	}
	base_output_text(out, "};\n\n");
}

static void put_head(struct ctf *ctf, struct base_output *out)
{
	const unsigned char *u = ctf->uuid;
	const struct ktread_info *info = ktread_info(ctf->trace);

	base_output_text(out, "/* CTF 1.8 */\n\n");
	put_clock(ctf, out);
	put_types(out);
	base_output_format(out,
			   "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
			   "\tuuid = \"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			   "%02x%02x%02x%02x%02x%02x\";\n",
			   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
			   u[13], u[14], u[15]);
	base_output_text(out, "\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint8_t uuid[16];\n"
			      "\t\tuint32_t stream_id;\n\t};\n};\n\n");
	/*
	 * Trace Compass uses the names of LTTng events only if the metadata names a kernel tracer of LTTng.
	 */
	base_output_text(out, "env {\n\tdomain = \"kernel\";\n\ttracer_name = \"lttng-modules\";\n"
			      "\ttracer_major = 2;\n\ttracer_minor = 13;\n\ttracer_patchlevel = 0;\n"
			      "\tproducer = \"ktrace\";\n\tkernel = ");
	put_literal(out, info->kernel);
	base_output_text(out, ";\n};\n\n");
	base_output_text(out, "stream {\n\tid = 0;\n"
			      "\tevent.header := struct {\n\t\tuint16_t id;\n\t\tstamp_t timestamp;\n\t};\n"
			      "\tevent.context := struct {\n\t\tint32_t _tid;\n\t\tuint8_t _context;\n"
			      "\t\tuint8_t __places_length;\n\t\taddress_t _places[__places_length];\n\t};\n"
			      "\tpacket.context := struct {\n\t\tstamp_t timestamp_begin;\n"
			      "\t\tstamp_t timestamp_end;\n\t\tuint64_t content_size;\n"
			      "\t\tuint64_t packet_size;\n\t\tuint64_t packet_seq_num;\n"
			      "\t\tuint64_t events_discarded;\n\t\tuint32_t cpu_id;\n\t};\n};\n\n");
	base_output_format(out,
			   "event {\n\tname = \"ktrace.raw\";\n\tid = %u;\n\tstream_id = 0;\n"
			   "\tfields := struct {\n\t\tuint16_t _type;\n\t\tuint16_t __data_length;\n"
			   "\t\tuint8_t _data[__data_length];\n\t};\n};\n\n",
			   CTF_CLASS_RAW);
}

void ctf_write_metadata(struct ctf *ctf)
{
	const int fd = openat(ctf->folder, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct base_output out;

	if (fd < 0 || base_output_open(&out, fd) < 0) {
		ctf->error = fd < 0 ? errno : ENOMEM;
		return;
	}
	put_head(ctf, &out);
	for (uint32_t id = 0; id < CTF_TYPES; id++)
		put_type(ctf, &out, id);
	put_calls(ctf, &out, ctf->entries, CTF_SYSCALL_ENTRY, ctf->entry, CTF_CLASS_ENTRY);
	put_calls(ctf, &out, ctf->exits, CTF_SYSCALL_EXIT, ctf->exit, CTF_CLASS_EXIT);
	ctf->error = base_output_close(&out);
	if (close(fd) < 0 && !ctf->error)
		ctf->error = errno;
}
