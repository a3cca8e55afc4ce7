/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/fxt.h"

#include "base/escape.h"
#include "ktread/ktread.h"

/* bit that marks a string as part of the record; the other bits are the length of the string */
#define INLINE		 0x8000u
#define STRING_MOST	 1024u /* maximum length of a string that has a number */
#define NAME_MOST	 256u  /* maximum length of the name of an event or kernel object */
#define METADATA_INFO	 1u
#define METADATA_SECTION 2u
#define METADATA_EVENT	 3u /* provider event 0: the provider's buffer was full */
#define SWITCH		 1u
#define WAKEUP		 2u

static void put_word(struct fxt_stream *stream, uint64_t word)
{
	memcpy(stream->at, &word, sizeof(word));
	stream->at += sizeof(word);
}

static void begin(struct fxt_stream *stream, enum fxt_record_type type, uint64_t header)
{
	stream->start = (unsigned char *)base_output_line(&stream->out);
	stream->at = stream->start + 8;
	stream->header = header | type;
	stream->args = 0;
}

static void end(struct fxt_stream *stream)
{
	const uint64_t words = (uint64_t)(stream->at - stream->start) / 8;
	const uint64_t header = stream->header | words << 4 | (uint64_t)stream->args << stream->args_shift;

	memcpy(stream->start, &header, sizeof(header));
	base_output_done(&stream->out, (char *)stream->at);
}

/*
 * Writes an untrusted string of at most `most` bytes, padded with zeros to a multiple of 8 bytes. Bytes that
 * base_escape_utf8() does not accept become \xNN. Returns the length of the string.
 */
static size_t put_string(struct fxt_stream *stream, const char *text, size_t length, size_t most)
{
	const size_t room = (size_t)(stream->start + FXT_ROOM - stream->at);
	char *const from = (char *)stream->at;
	size_t size;

	most = most < room ? most : room & ~(size_t)7;
	size = (size_t)(base_escape_utf8(from, text, base_utf8_cut(text, length, most), most) - from);
	memset(from + size, 0, -size & 7);
	stream->at += (size + 7) & ~(size_t)7;
	return size;
}

/* ---- Head, strings, threads ---- */

int fxt_stream_open(struct fxt_stream *stream, int fd)
{
	static const char name[] = "ktrace";

	memset(stream, 0, sizeof(*stream));
	if (base_output_open(&stream->out, fd) < 0)
		return KTREAD_E_MEMORY;
	stream->start = (unsigned char *)base_output_line(&stream->out);
	stream->at = stream->start;
	put_word(stream, FXT_MAGIC);
	base_output_done(&stream->out, (char *)stream->at);
	begin(stream, FXT_METADATA,
	      METADATA_INFO << 16 | (uint64_t)FXT_PROVIDER << 20 | (uint64_t)strlen(name) << 52);
	put_string(stream, name, strlen(name), NAME_MOST);
	end(stream);
	begin(stream, FXT_METADATA, METADATA_SECTION << 16 | (uint64_t)FXT_PROVIDER << 20);
	end(stream);
	begin(stream, FXT_INITIALIZATION, 0);
	put_word(stream, 1000000000u);
	end(stream);
	return 0;
}

int fxt_stream_close(struct fxt_stream *stream)
{
	return base_output_close(&stream->out);
}

uint16_t fxt_string(struct fxt_stream *stream, uint16_t *number, const char *text, size_t length)
{
	if (*number != 0 || stream->strings == FXT_STRINGS || length == 0)
		return *number;
	*number = (uint16_t)++stream->strings;
	begin(stream, FXT_STRING, (uint64_t)*number << 16);
	stream->header |= (uint64_t)put_string(stream, text, length, STRING_MOST) << 32;
	end(stream);
	return *number;
}

unsigned fxt_thread(struct fxt_stream *stream, struct fxt_where where)
{
	const unsigned number = 1 + (unsigned)((where.thread ^ where.thread >> 19) % FXT_THREADS);
	struct fxt_where *known = &stream->thread[number];

	if (stream->used[number] && known->thread == where.thread && known->process == where.process)
		return number;
	*known = where;
	stream->used[number] = true;
	begin(stream, FXT_THREAD, (uint64_t)number << 16);
	put_word(stream, where.process);
	put_word(stream, where.thread);
	end(stream);
	return number;
}

void fxt_provider_lost(struct fxt_stream *stream)
{
	begin(stream, FXT_METADATA, METADATA_EVENT << 16 | (uint64_t)FXT_PROVIDER << 20);
	end(stream);
}

/* ---- Arguments of events ---- */

/* Returns whether there is room for one more argument of `bytes` bytes. */
static bool has_room(const struct fxt_stream *stream, size_t bytes)
{
	return stream->args < FXT_ARGS_MOST && (size_t)(stream->at - stream->start) + bytes <= FXT_ROOM;
}

void fxt_arg_number(struct fxt_stream *stream, enum fxt_arg_type type, uint16_t name, uint64_t value)
{
	const bool within = type == FXT_ARG_I32 || type == FXT_ARG_U32 || type == FXT_ARG_BOOL;
	const uint64_t header = (uint64_t)type | (uint64_t)name << 16;

	if (!has_room(stream, 16))
		return;
	stream->args++;
	if (within) {
		put_word(stream, header | 1u << 4 | value << 32);
		return;
	}
	put_word(stream, header | 2u << 4);
	put_word(stream, value);
}

void fxt_arg_string(struct fxt_stream *stream, uint16_t name, const char *text, size_t length)
{
	unsigned char *const from = stream->at;
	uint64_t header;
	size_t size;

	if (!has_room(stream, 16))
		return;
	stream->args++;
	stream->at += 8;
	size = put_string(stream, text, length, INLINE - 1);
	header = FXT_ARG_STRING | (uint64_t)(stream->at - from) / 8 << 4 | (uint64_t)name << 16 |
		 (uint64_t)(size ? INLINE | size : 0) << 32;
	memcpy(from, &header, sizeof(header));
}

/* Writes an argument with its name in the record itself, because records that use it are rare. */
static void put_named_arg(struct fxt_stream *stream, enum fxt_arg_type type, const char *name, uint64_t value)
{
	unsigned char *const from = stream->at;
	uint64_t header = (uint64_t)type | (uint64_t)(INLINE | strlen(name)) << 16;

	stream->args++;
	stream->at += 8;
	put_string(stream, name, strlen(name), NAME_MOST);
	if (type == FXT_ARG_I32)
		header |= value << 32;
	else
		put_word(stream, value);
	header |= (uint64_t)(stream->at - from) / 8 << 4;
	memcpy(from, &header, sizeof(header));
}

/* ---- Objects and scheduling ---- */

void fxt_object(struct fxt_stream *stream, enum fxt_object type, uint64_t id, const char *name, size_t length,
		uint64_t process)
{
	size_t size;

	begin(stream, FXT_KERNEL_OBJECT, (uint64_t)type << 16);
	stream->args_shift = 40;
	put_word(stream, id);
	size = put_string(stream, name, length, NAME_MOST);
	stream->header |= (uint64_t)(size ? INLINE | size : 0) << 24;
	if (process != 0)
		put_named_arg(stream, FXT_ARG_KOID, "process", process);
	end(stream);
}

void fxt_switch(struct fxt_stream *stream, uint64_t time, uint32_t cpu, uint32_t from, enum fxt_state state,
		bool from_idle, uint32_t to, bool to_idle)
{
	begin(stream, FXT_SCHEDULING, (uint64_t)cpu << 20 | (uint64_t)state << 36 | (uint64_t)SWITCH << 60);
	stream->args_shift = 16;
	put_word(stream, time);
	put_word(stream, from);
	put_word(stream, to);
	if (to_idle)
		put_named_arg(stream, FXT_ARG_I32, "incoming_weight", (uint32_t)FXT_IDLE);
	if (from_idle)
		put_named_arg(stream, FXT_ARG_I32, "outgoing_weight", (uint32_t)FXT_IDLE);
	end(stream);
}

void fxt_wakeup(struct fxt_stream *stream, uint64_t time, uint32_t cpu, uint32_t thread)
{
	begin(stream, FXT_SCHEDULING, (uint64_t)cpu << 20 | (uint64_t)WAKEUP << 60);
	put_word(stream, time);
	put_word(stream, thread);
	end(stream);
}

/* ---- Beginning and end of an event ---- */

static void begin_event(struct fxt_stream *stream, enum fxt_event_type type, uint64_t time, unsigned thread,
			uint16_t category)
{
	begin(stream, FXT_EVENT, (uint64_t)type << 16 | (uint64_t)thread << 24 | (uint64_t)category << 32);
	stream->args_shift = 20;
	put_word(stream, time);
}

void fxt_event_begin(struct fxt_stream *stream, enum fxt_event_type type, uint64_t time, unsigned thread,
		     uint16_t category, uint16_t name)
{
	begin_event(stream, type, time, thread, category);
	stream->header |= (uint64_t)name << 48;
}

void fxt_event_begin_named(struct fxt_stream *stream, enum fxt_event_type type, uint64_t time,
			   unsigned thread, uint16_t category, const char *name, size_t length)
{
	size_t size;

	begin_event(stream, type, time, thread, category);
	size = put_string(stream, name, length, NAME_MOST);
	stream->header |= (uint64_t)(size ? INLINE | size : 0) << 48;
}

void fxt_event_end(struct fxt_stream *stream)
{
	end(stream);
}

void fxt_event_end_with(struct fxt_stream *stream, uint64_t word)
{
	put_word(stream, word);
	end(stream);
}
