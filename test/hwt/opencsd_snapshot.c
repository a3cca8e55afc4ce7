/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Turns a snapshot directory of OpenCSD's tests (snapshot.ini, trace.ini, a file for each device, memory
 * dumps and trace buffers) into a file of hardware trace. The file has a context with one unit, in CPU
 * mode, for each trace source that is an ETMv4 or an ETE, and code records for each memory dump.
 *
 *	opencsd_snapshot [--frames] DIRECTORY OUTPUT
 *
 * With --frames, buffers in memory-aligned CoreSight frames are copied as they are, and ktrace unpacks them;
 * otherwise this program unpacks them. Prints a line for each source of each buffer:
 *
 *	BUFFER UNIT TRACE-ID PROTOCOL CORE BYTES
 *
 * UNIT is "-" if ktrace does not support the trace of this source.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "unit/support/hwt_write.h"

#define NAME_ROOM 128u
#define MOST	  128u /* maximum number of devices, sources, buffers and memory dumps, each */
#define PIECE	  65536u
#define FRAME	  16u

struct bytes {
	uint8_t *at;
	size_t size, room;
};

struct dump {
	char file[NAME_ROOM];
	uint64_t address, offset, length; /* a length of 0 means the whole file */
};

struct source {
	char name[NAME_ROOM], protocol[NAME_ROOM], core[NAME_ROOM], buffer[NAME_ROOM];
	struct ktrx_hwt_etm4 etm4;
};

struct buffer {
	char section[NAME_ROOM], name[NAME_ROOM], file[NAME_ROOM], format[NAME_ROOM];
};

struct pair {
	char left[NAME_ROOM], right[NAME_ROOM];
};

/* The contents of a snapshot's files. */
struct snapshot {
	const char *folder;
	char device[MOST][NAME_ROOM];
	struct dump dump[MOST];
	struct source source[MOST];
	struct buffer buffer[MOST];
	/* `core` maps each trace source to its core; `core_type` maps each core to its type */
	struct pair core[MOST], core_type[MOST];
	size_t devices, dumps, sources, buffers, cores, core_types;
	char trace[NAME_ROOM];
};

/* A device whose file is being read. */
struct device {
	char name[NAME_ROOM], kind[NAME_ROOM], type[NAME_ROOM];
	struct ktrx_hwt_etm4 etm4;
};

static void give_up(const char *what, const char *name)
{
	fprintf(stderr, "opencsd_snapshot: %s: %s\n", name, what);
	exit(2);
}

static size_t next_of(size_t *count, const char *what)
{
	if (*count == MOST)
		give_up("too many", what);
	return (*count)++;
}

static void copy(char *to, const char *text)
{
	if (strlen(text) >= NAME_ROOM)
		give_up("too long", text);
	strcpy(to, text);
}

/* ---- Reading .ini files ---- */

/* Opens a file of the directory. Returns NULL if it does not exist. */
static FILE *open_in(const struct snapshot *snapshot, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", snapshot->folder, name);
	return fopen(path, "rb");
}

/* Removes blanks at both ends. */
static char *trimmed(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/*
 * Calls `take` with the section, key and value of each line "key=value". Removes a part in parentheses from
 * the key first.
 */
static void read_sections(struct snapshot *snapshot, const char *name,
			  void (*take)(struct snapshot *snapshot, const char *section, char *key, char *value,
				       void *to),
			  void *to)
{
	char line[4096], section[NAME_ROOM] = "";
	FILE *file = open_in(snapshot, name);

	if (!file)
		give_up("cannot be opened", name);
	while (fgets(line, sizeof(line), file)) {
		char *text = trimmed(line), *equals = strchr(text, '=');

		if (*text == '[') {
			text[strcspn(text, "]")] = '\0';
			copy(section, trimmed(text + 1));
		} else if (equals && *text != ';' && *text != '#') {
			*equals = '\0';
			text[strcspn(text, "(")] = '\0';
			take(snapshot, section, trimmed(text), trimmed(equals + 1), to);
		}
	}
	fclose(file);
}

static void take_snapshot(struct snapshot *snapshot, const char *section, char *key, char *value, void *to)
{
	(void)to;
	if (strcasecmp(section, "device_list") == 0)
		copy(snapshot->device[next_of(&snapshot->devices, "devices")], value);
	else if (strcasecmp(section, "trace") == 0 && strcasecmp(key, "metadata") == 0)
		copy(snapshot->trace, value);
}

static void take_register(struct ktrx_hwt_etm4 *etm4, const char *name, uint32_t value)
{
	const struct {
		const char *name;
		uint32_t *to;
	} known[] = {
		{ "TRCCONFIGR", &etm4->configr }, { "TRCTRACEIDR", &etm4->traceidr },
		{ "TRCIDR0", &etm4->idr0 },	  { "TRCIDR1", &etm4->idr1 },
		{ "TRCIDR2", &etm4->idr2 },	  { "TRCIDR8", &etm4->idr8 },
		{ "TRCIDR9", &etm4->idr9 },	  { "TRCIDR10", &etm4->idr10 },
		{ "TRCIDR11", &etm4->idr11 },	  { "TRCIDR12", &etm4->idr12 },
		{ "TRCIDR13", &etm4->idr13 },	  { "TRCDEVARCH", &etm4->devarch },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcasecmp(name, known[i].name) == 0)
			*known[i].to = value;
}

static void take_dump(struct snapshot *snapshot, const char *section, const char *key, const char *value)
{
	static char last[NAME_ROOM];
	struct dump *dump;

	if (snapshot->dumps == 0 || strcmp(last, section) != 0)
		memset(&snapshot->dump[next_of(&snapshot->dumps, "dumps")], 0, sizeof(struct dump));
	copy(last, section);
	dump = &snapshot->dump[snapshot->dumps - 1];
	if (strcasecmp(key, "file") == 0)
		copy(dump->file, value);
	else if (strcasecmp(key, "address") == 0)
		dump->address = strtoull(value, NULL, 0);
	else if (strcasecmp(key, "length") == 0)
		dump->length = strtoull(value, NULL, 0);
	else if (strcasecmp(key, "offset") == 0)
		dump->offset = strtoull(value, NULL, 0);
}

static void take_device(struct snapshot *snapshot, const char *section, char *key, char *value, void *to)
{
	struct device *device = to;

	if (strncasecmp(section, "dump", 4) == 0)
		take_dump(snapshot, section, key, value);
	else if (strcasecmp(section, "regs") == 0)
		take_register(&device->etm4, key, (uint32_t)strtoul(value, NULL, 0));
	else if (strcasecmp(key, "name") == 0)
		copy(device->name, value);
	else if (strcasecmp(key, "class") == 0)
		copy(device->kind, value);
	else if (strcasecmp(key, "type") == 0)
		copy(device->type, value);
}

static struct buffer *buffer_of(struct snapshot *snapshot, const char *section)
{
	for (size_t i = 0; i < snapshot->buffers; i++)
		if (strcmp(snapshot->buffer[i].section, section) == 0)
			return &snapshot->buffer[i];
	return NULL;
}

static void take_source_buffer(struct snapshot *snapshot, const char *source, const char *buffer)
{
	for (size_t i = 0; i < snapshot->sources; i++)
		if (strcmp(snapshot->source[i].name, source) == 0)
			copy(snapshot->source[i].buffer, buffer);
}

static void take_trace(struct snapshot *snapshot, const char *section, char *key, char *value, void *to)
{
	struct buffer *buffer = buffer_of(snapshot, section);

	(void)to;
	if (strcasecmp(section, "trace_buffers") == 0 && strcasecmp(key, "buffers") == 0) {
		for (char *name = strtok(value, ","); name; name = strtok(NULL, ","))
			copy(snapshot->buffer[next_of(&snapshot->buffers, "buffers")].section, trimmed(name));
	} else if (strcasecmp(section, "source_buffers") == 0) {
		take_source_buffer(snapshot, key, value);
	} else if (strcasecmp(section, "core_trace_sources") == 0) {
		struct pair *core = &snapshot->core[next_of(&snapshot->cores, "cores")];

		copy(core->left, value);
		copy(core->right, key);
	} else if (buffer && strcasecmp(key, "name") == 0) {
		copy(buffer->name, value);
	} else if (buffer && strcasecmp(key, "file") == 0) {
		copy(buffer->file, value);
	} else if (buffer && strcasecmp(key, "format") == 0) {
		copy(buffer->format, value);
	}
}

/* Returns the right name of the pair whose left name is `left`, or "?" if there is no such pair. */
static const char *paired(const struct pair *pair, size_t count, const char *left)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pair[i].left, left) == 0)
			return pair[i].right;
	return "?";
}

static void read_devices(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->devices; i++) {
		struct device device = { .type = "?" };
		struct source *source;

		read_sections(snapshot, snapshot->device[i], take_device, &device);
		if (strcasecmp(device.kind, "core") == 0) {
			struct pair *core = &snapshot->core_type[next_of(&snapshot->core_types, "cores")];

			copy(core->left, device.name);
			copy(core->right, device.type);
		}
		if (strcasecmp(device.kind, "trace_source") != 0)
			continue;
		source = &snapshot->source[next_of(&snapshot->sources, "sources")];
		copy(source->name, device.name);
		copy(source->protocol, device.type);
		source->etm4 = device.etm4;
	}
}

static void read_snapshot(struct snapshot *snapshot)
{
	read_sections(snapshot, "snapshot.ini", take_snapshot, NULL);
	read_devices(snapshot);
	read_sections(snapshot, snapshot->trace, take_trace, NULL);
	for (size_t i = 0; i < snapshot->sources; i++) {
		const char *core = paired(snapshot->core, snapshot->cores, snapshot->source[i].name);

		copy(snapshot->source[i].core, paired(snapshot->core_type, snapshot->core_types, core));
	}
}

/* ---- Reading and unpacking trace data ---- */

static void put_byte(struct bytes *bytes, uint8_t byte)
{
	if (bytes->size == bytes->room) {
		bytes->room = bytes->room ? 2 * bytes->room : PIECE;
		bytes->at = realloc(bytes->at, bytes->room);
		if (!bytes->at)
			give_up("no memory", "bytes");
	}
	bytes->at[bytes->size++] = byte;
}

/* Appends the contents of a file to `bytes`. Returns false if the file does not exist. */
static bool read_bytes(const struct snapshot *snapshot, const char *name, struct bytes *bytes)
{
	FILE *file = open_in(snapshot, name);
	int byte;

	if (!file)
		return false;
	while ((byte = getc(file)) != EOF)
		put_byte(bytes, (uint8_t)byte);
	fclose(file);
	return true;
}

struct unpacking {
	unsigned current, wanted; /* trace id of the current byte; id of the bytes to unpack */
	struct bytes *to;
};

/*
 * Unpacks a frame of the formatter. It has 7 pairs of bytes, one more byte, and a last byte. The last byte
 * contains the lowest bits of the bytes at even offsets.
 */
static void unpack_frame(struct unpacking *unpacking, const uint8_t *frame)
{
	for (unsigned i = 0; i < FRAME - 1; i += 2) {
		const unsigned low = frame[FRAME - 1] >> (i / 2) & 1;
		const bool is_id = frame[i] & 1;
		const unsigned before = unpacking->current;

		if (is_id)
			unpacking->current = frame[i] >> 1;
		else if (unpacking->current == unpacking->wanted)
			put_byte(unpacking->to, (uint8_t)(frame[i] | low));
		/* The new id applies to the next byte, too, unless `low` is set. */
		if (i + 1 < FRAME - 1 && (is_id && low ? before : unpacking->current) == unpacking->wanted)
			put_byte(unpacking->to, frame[i + 1]);
	}
}

static bool is_full_sync(const struct bytes *raw, size_t at)
{
	static const uint8_t sync[4] = { 0xff, 0xff, 0xff, 0x7f };

	return raw->size - at >= sizeof(sync) && memcmp(raw->at + at, sync, sizeof(sync)) == 0;
}

/*
 * Unpacks the bytes of the trace source with the id `id`. Drops synchronization packets: full ones between
 * frames, and halfword ones within frames, as a trace port writes them.
 */
static void unpack(const struct bytes *raw, unsigned id, struct bytes *to)
{
	struct unpacking unpacking = { .wanted = id, .to = to };
	uint8_t frame[FRAME];
	size_t filled = 0;

	for (size_t at = 0; at + 1 < raw->size; at += 2) {
		if (is_full_sync(raw, at)) {
			filled = 0;
			at += 2;
		} else if (raw->at[at] != 0xff || raw->at[at + 1] != 0x7f) {
			frame[filled++] = raw->at[at];
			frame[filled++] = raw->at[at + 1];
		}
		if (filled == FRAME) {
			unpack_frame(&unpacking, frame);
			filled = 0;
		}
	}
}

#define DSTREAM_BLOCK  512u
#define DSTREAM_FOOTER 8u

/* A DSTREAM probe ends each block with bytes that are not trace. */
static void drop_footers(struct bytes *raw)
{
	size_t kept = 0;

	for (size_t at = 0; at < raw->size; at++)
		if (at % DSTREAM_BLOCK < DSTREAM_BLOCK - DSTREAM_FOOTER)
			raw->at[kept++] = raw->at[at];
	raw->size = kept;
}

/* ---- Writing the records of the output ---- */

static void write_head(struct hwt_file_writer *writer)
{
	struct ktrx_proc_head *head;

	file_begin(writer);
	head = (struct ktrx_proc_head *)(void *)writer->bytes;
	head->machine = EM_AARCH64;
	head->check = ktrx_proc_check(head);
}

static void write_code(const struct snapshot *snapshot, struct hwt_file_writer *writer)
{
	for (size_t i = 0; i < snapshot->dumps; i++) {
		const struct dump *dump = &snapshot->dump[i];
		struct bytes bytes = { 0 };
		size_t at = (size_t)dump->offset, end;

		/* Some published snapshots refer to memory dumps that were not published. */
		if (!read_bytes(snapshot, dump->file, &bytes))
			fprintf(stderr, "%s: not there\n", dump->file);
		end = dump->length && at + dump->length < bytes.size ? at + dump->length : bytes.size;
		for (uint64_t address = dump->address; at < end; at += PIECE, address += PIECE)
			file_code(writer, address, 0, bytes.at + at, end - at < PIECE ? end - at : PIECE);
		free(bytes.at);
	}
}

static void write_source(struct hwt_file_writer *writer, const struct source *source, uint32_t unit,
			 bool formatted, const struct bytes *bytes)
{
	const struct ktrx_hwt_context context = { .ident = unit + 1,
						  .mode = KTRX_HWT_MODE_CPU,
						  .encoding = KTRX_HWT_ENCODING_ETM4,
						  .backend = KTRX_HWT_BACKEND_CORESIGHT,
						  .level = KTRX_HWT_USER | KTRX_HWT_KERNEL_LEVEL };
	struct ktrx_hwt_etm4 etm4 = source->etm4;

	etm4.formatted = formatted;
	file_record(writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), &etm4, sizeof(etm4));
	for (size_t at = 0; at < bytes->size; at += PIECE)
		file_data(writer, context.ident, unit, at, bytes->at + at,
			  bytes->size - at < PIECE ? bytes->size - at : PIECE);
}

static bool is_read(const struct source *source)
{
	/* ktrace does not read the trace of a Cortex-M: its instruction set and packets differ. */
	return strncmp(source->core, "Cortex-M", 8) != 0 &&
	       (strncmp(source->protocol, "ETM4", 4) == 0 || strncmp(source->protocol, "ETE", 3) == 0);
}

/*
 * Writes a unit for each trace source of a buffer. The first unit has the number `unit`; returns
 * the number after the last one.
 */
static uint32_t write_buffer(const struct snapshot *snapshot, size_t number, bool frames, uint32_t unit,
			     struct hwt_file_writer *writer)
{
	const struct buffer *buffer = &snapshot->buffer[number];
	const bool aligned = strcmp(buffer->format, "coresight") == 0;
	const bool raw = strcmp(buffer->format, "source_data") == 0;
	struct bytes all = { 0 };

	if (!read_bytes(snapshot, buffer->file, &all))
		give_up("cannot be opened", buffer->file);
	if (strcmp(buffer->format, "dstream_coresight") == 0)
		drop_footers(&all);
	for (size_t i = 0; i < snapshot->sources; i++) {
		const struct source *source = &snapshot->source[i];
		const bool unpacks = !raw && !(aligned && frames);
		struct bytes own = { 0 };

		if (strcmp(source->buffer, buffer->name) != 0)
			continue;
		if (unpacks)
			unpack(&all, source->etm4.traceidr & 0x7f, &own);
		printf("%s ", buffer->name);
		if (is_read(source)) {
			write_source(writer, source, unit, aligned && frames, unpacks ? &own : &all);
			printf("%u", unit++);
		} else {
			printf("-");
		}
		printf(" %x %s %s %zu\n", source->etm4.traceidr & 0x7f, source->protocol, source->core,
		       unpacks ? own.size : all.size);
		free(own.at);
	}
	free(all.at);
	return unit;
}

static void save(const struct hwt_file_writer *writer, const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(writer->bytes, 1, writer->size, file) != writer->size || fclose(file) != 0)
		give_up("cannot be written", path);
}

int main(int argc, char **argv)
{
	const bool frames = argc > 1 && strcmp(argv[1], "--frames") == 0;
	static struct snapshot snapshot;
	struct hwt_file_writer writer;
	uint32_t unit = 0;

	if (argc != 3 + frames) {
		fprintf(stderr, "usage: opencsd_snapshot [--frames] DIR OUTPUT\n");
		return 2;
	}
	snapshot.folder = argv[1 + frames];
	read_snapshot(&snapshot);
	write_head(&writer);
	write_code(&snapshot, &writer);
	for (size_t i = 0; i < snapshot.buffers; i++)
		unit = write_buffer(&snapshot, i, frames, unit, &writer);
	save(&writer, argv[2 + frames]);
	free(writer.bytes);
	return 0;
}
