/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records the memory to which the arguments of a system call point: paths, data that the program passes, and
 * data that the kernel fills in. The table of Linux's calls (share/tables) describes the arguments. Each
 * record contains the number of its argument.
 */
#include "record/tracer.h"

#include <limits.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "calls/tables.h"
#include "record/registers.h"

/*
 * maximum number of bytes recorded from one address; longer contents are truncated, and the record gets the
 * flag KTRX_PROC_CUT
 */
#define BYTES_MOST   4096u
#define STRINGS_MOST 512u
#define IOVECS_MOST  16u
#define CONTROL_MOST 1024u /* maximum number of bytes of control messages recorded from one message */
#define FDS_MOST     1024u /* maximum number of descriptors recorded of one set of select() */

static uint32_t flags_of(unsigned argument, bool cut)
{
	return (argument + 1) << KTRX_PROC_ARGUMENT_SHIFT | (cut ? KTRX_PROC_CUT : 0);
}

static void put_structure(struct record_thread *thread, unsigned argument, const char *name,
			  const void *bytes, size_t size, bool cut)
{
	record_put(thread, KTRX_PROC_STRUCT, flags_of(argument, cut), name, strlen(name) + 1, bytes, size);
}

void record_put_paths(struct record_thread *thread, const struct calls_call *call)
{
	char path[PATH_MAX];

	for (unsigned n = 0; n < call->arguments; n++) {
		const enum calls_base base = call->argument[n].type->base;
		const uint64_t address = thread->argument[n];
		ssize_t length;

		if ((base != CALLS_PATH && base != CALLS_STR) || address == 0)
			continue;
		length = record_memory_string(thread->tid, address, path, sizeof(path));
		if (length >= 0 && base == CALLS_STR)
			put_structure(thread, n, "str", path, (size_t)length, length == sizeof(path));
		else if (length >= 0)
			record_put(thread, KTRX_PROC_NAMEI, flags_of(n, length == sizeof(path)), path,
				   (size_t)length, NULL, 0);
	}
}

#define PAGE 4096u

/* A window: a copy of a part of the program's memory that begins at a page boundary. */
struct window {
	uint64_t address;
	size_t size;
	char bytes[PAGE + BYTES_MOST];
};

#define WINDOWS 3u

/*
 * Copies of several parts of the program's memory. The lists that a program passes to a call, and the strings
 * in these lists, are usually in a few parts of memory, for example on the stack and in the heap. The
 * recorder reads lists and strings in any order.
 */
struct windows {
	struct window of[WINDOWS];
	unsigned next; /* index of the window into which the next part of memory will be copied */
};

static struct window *find_window(struct windows *windows, uint64_t address)
{
	for (unsigned n = 0; n < WINDOWS; n++)
		if (address - windows->of[n].address < windows->of[n].size)
			return &windows->of[n];
	return NULL;
}

/*
 * Moves the window `next` to the page of `address`, and reads the memory there. Returns the window, or NULL
 * if nothing can be read at `address`.
 */
static struct window *move_window(const struct record_thread *thread, struct windows *windows,
				  uint64_t address)
{
	struct window *window = &windows->of[windows->next];

	windows->next = (windows->next + 1) % WINDOWS;
	window->address = address - address % PAGE;
	window->size = record_memory_read(thread->tid, window->address, window->bytes, sizeof(window->bytes));
	return address - window->address < window->size ? window : NULL;
}

/* Returns a pointer to the NUL that ends the string at `address`; NULL if the NUL is not in the window. */
static const char *find_end(const struct window *window, uint64_t address)
{
	const uint64_t at = address - window->address;

	return memchr(window->bytes + at, 0, window->size - at);
}

/*
 * Returns the string at `address`, in a window. Sets *length to its length without the NUL. If the NUL is not
 * in the window, *length is the number of bytes up to the end of the window. Returns NULL if nothing can be
 * read at `address`.
 */
static const char *find_string(const struct record_thread *thread, struct windows *windows, uint64_t address,
			       size_t *length)
{
	struct window *window = find_window(windows, address);
	const char *end = window ? find_end(window, address) : NULL;

	if (!end) {
		window = move_window(thread, windows, address);
		if (!window)
			return NULL;
		end = find_end(window, address);
	}
	*length = (size_t)((end ? end : window->bytes + window->size) - window->bytes) -
		  (size_t)(address - window->address);
	return window->bytes + (address - window->address);
}

/* Reads an integer of the size of the program's machine word. Returns false if it cannot be read. */
static bool find_word(const struct record_thread *thread, struct windows *windows, uint64_t address,
		      uint64_t *word)
{
	const size_t width = record_address_size(thread->abi);
	struct window *window = find_window(windows, address);

	if (!window || window->size - (address - window->address) < width)
		window = move_window(thread, windows, address);
	if (!window || window->size - (address - window->address) < width)
		return false;
	*word = 0;
	memcpy(word, window->bytes + (address - window->address), width);
	return true;
}

/* Records the strings of a list, one after another, each with its NUL. */
static void put_strings(struct record_thread *thread, unsigned argument, const char *name,
			struct windows *windows)
{
	uint64_t at = thread->argument[argument], address = 1;
	char text[BYTES_MOST];
	size_t used = 0;

	for (unsigned n = 0; n < STRINGS_MOST; n++, at += record_address_size(thread->abi)) {
		const char *string;
		size_t length;

		if (!find_word(thread, windows, at, &address) || address == 0)
			break;
		string = find_string(thread, windows, address, &length);
		if (!string || used + length + 1 > sizeof(text))
			break;
		memcpy(text + used, string, length);
		used += length;
		text[used++] = '\0';
	}
	put_structure(thread, argument, name, text, used, address != 0);
}

/*
 * Returns the number of values that an argument points to. The table of calls states where the call contains
 * this number. If the number comes from the program, it is not checked here.
 */
static uint64_t count_of(const struct record_thread *thread, const struct calls_argument *argument,
			 int64_t result)
{
	uint32_t size = 0;

	switch (argument->counted) {
	case CALLS_COUNT_NUMBER:
		return argument->count;
	case CALLS_COUNT_ARGUMENT:
		return (uint32_t)thread->argument[argument->count];
	case CALLS_COUNT_AT:
		record_memory_read(thread->tid, thread->argument[argument->count], &size, sizeof(size));
		return size;
	case CALLS_COUNT_RESULT:
		return result > 0 ? (uint64_t)result : 0;
	default:
		return 1;
	}
}

static void put_array(struct record_thread *thread, unsigned argument, const char *name, uint32_t size,
		      const void *bytes, size_t read, bool cut)
{
	struct {
		struct ktrx_proc_struct_array head;
		char name[CALLS_NAME + 1];
	} array = { .head = { .element_size = size, .count = (uint32_t)(read / size) } };

	memcpy(array.name, name, strlen(name));
	record_put(thread, KTRX_PROC_STRUCT_ARRAY, flags_of(argument, cut), &array,
		   sizeof(array.head) + strlen(name) + 1, bytes, read / size * size);
}

/* Looks up each descriptor that the kernel has just created, and records the path of its file. */
static void put_new_descriptors(struct record_thread *thread, const uint8_t *bytes, size_t size)
{
	int32_t fd;

	for (size_t n = 0; n + sizeof(fd) <= size; n += sizeof(fd)) {
		memcpy(&fd, bytes + n, sizeof(fd));
		record_descriptor_is_new(thread, fd);
	}
}

static void put_descriptors_of_set(struct record_thread *thread, const uint8_t *bytes, size_t size)
{
	for (size_t n = 0; n < 8 * size; n++)
		if (bytes[n / 8] >> n % 8 & 1)
			record_put_descriptor(thread, (int32_t)n);
}

/* For each descriptor in a field of these structs, records what the descriptor refers to. */
static void put_descriptors_of(struct record_thread *thread, const struct calls_layout *layout,
			       const uint8_t *bytes, size_t size)
{
	for (unsigned field = 0; field < layout->fields; field++)
		for (size_t n = layout->field[field].offset; layout->field[field].type->base == CALLS_FD;
		     n += layout->size) {
			int32_t fd;

			if (n + sizeof(fd) > size)
				break;
			memcpy(&fd, bytes + n, sizeof(fd));
			record_put_descriptor(thread, fd);
		}
}

/*
 * Records what each descriptor in an argument refers to. Must be called before the argument itself is
 * recorded.
 */
static void put_descriptors_in(struct record_thread *thread, const struct calls_type *type,
			       const struct calls_layout *layout, const uint8_t *bytes, size_t size,
			       bool filled)
{
	if (filled && type->base == CALLS_FD)
		put_new_descriptors(thread, bytes, size);
	else if (!filled && type->base == CALLS_FDSET && strcmp(type->name, "fdset") == 0)
		put_descriptors_of_set(thread, bytes, size);
	else if (!filled && layout && layout->descriptors)
		put_descriptors_of(thread, layout, bytes, size);
}

/*
 * Records an argument that points to no values. If the values would be structs, records an array of 0
 * elements; otherwise, records 0 bytes.
 */
static void put_nothing(struct record_thread *thread, unsigned number, const struct calls_type *type,
			uint32_t size)
{
	if (type->base == CALLS_STRUCTURE && size > 0)
		put_array(thread, number, type->name, size, NULL, 0, false);
	else
		put_structure(thread, number, type->name, NULL, 0, false);
}

static void put_values(struct record_thread *thread, unsigned number, const struct calls_argument *argument,
		       int64_t result, bool filled)
{
	const struct calls_type *type = argument->type;
	const struct calls_layout *layout = type->layout;
	uint32_t size = calls_table_type_size(record_table(thread->abi), type);
	uint64_t count = count_of(thread, argument, result), wanted;
	_Alignas(8) uint8_t bytes[BYTES_MOST];
	size_t read;

	if (type->base == CALLS_FDSET) {
		size = sizeof(uint64_t);
		if (strcmp(type->name, "cpuset") == 0)
			count *= 8;
		count = ((count < FDS_MOST ? count : FDS_MOST) + 63) / 64;
	}
	if (argument->counted == CALLS_COUNT_RESULT && count == 0)
		put_nothing(thread, number, type, size);
	if (size == 0 || count == 0)
		return;
	/*
	 * a socket's address may be shorter than its struct: `count` is the address's size in bytes, which an
	 * argument of the call contains
	 */
	if (layout && strcmp(type->name, "sockaddr") == 0)
		size = 1;
	wanted = count > UINT32_MAX / size ? UINT32_MAX : count * size;
	read = record_memory_read(thread->tid, thread->argument[number], bytes,
				  wanted < sizeof(bytes) ? (size_t)wanted : sizeof(bytes));
	/*
	 * Record nothing if not even one value can be read, because in this case, the kernel cannot read a
	 * value either.
	 */
	if (read == 0 || (read < size && size <= sizeof(bytes)))
		return;
	put_descriptors_in(thread, type, layout, bytes, read, filled);
	if (argument->counted == CALLS_COUNT_ONE || size == 1 || type->base == CALLS_FDSET)
		put_structure(thread, number, type->name, bytes, read, read < wanted);
	else
		put_array(thread, number, type->name, size, bytes, read, read < wanted);
}

/* the sixth argument of pselect6() points to two words: the address and the size of a signal set */
static void put_set_and_size(struct record_thread *thread, unsigned number)
{
	uint64_t word[2], set;

	if (record_memory_words(thread->tid, thread->argument[number], record_address_size(thread->abi), word,
				2) == 2 &&
	    record_memory_read(thread->tid, word[0], &set, sizeof(set)) == sizeof(set))
		put_structure(thread, number, "sigset", &set, sizeof(set), false);
}

void record_put_arguments(struct record_thread *thread, unsigned access, int64_t result)
{
	struct calls_arguments arguments;
	struct windows windows;
	struct calls_one one;

	if (!record_table(thread->abi))
		return;
	windows.next = 0;
	for (unsigned n = 0; n < WINDOWS; n++)
		windows.of[n].address = windows.of[n].size = 0;
	calls_arguments_begin(&arguments, record_table(thread->abi), (uint32_t)thread->number,
			      thread->argument, 6, false);
	while (calls_arguments_next(&arguments, &one)) {
		if (!one.pointer || !(one.pointer->access & access) || one.value == 0)
			continue;
		if (one.pointer->type->base == CALLS_STRINGS)
			put_strings(thread, one.number, one.pointer->type->name, &windows);
		else if (one.pointer->type->base == CALLS_SIGSET &&
			 strcmp(one.pointer->type->name, "sigset_arg") == 0)
			put_set_and_size(thread, one.number);
		else
			put_values(thread, one.number, one.pointer, result, access == CALLS_FILLED);
	}
}

/*
 * Records control messages. Each control message consists of a head and data. The data is padded to a
 * multiple of a machine word. The head contains the size (a machine word), the level and the type (both int).
 */
static void put_control(struct record_thread *thread, unsigned argument, const struct record_message *message,
			bool received)
{
	const size_t width = record_address_size(thread->abi), head = width + 2 * sizeof(int32_t);
	const size_t wanted = message->control_size < CONTROL_MOST ? message->control_size : CONTROL_MOST;
	uint8_t bytes[CONTROL_MOST];
	const size_t read = record_memory_read(thread->tid, message->control, bytes, wanted);
	size_t size;

	for (size_t n = 0; n + head <= read; n += (size + width - 1) / width * width) {
		int32_t kind[2];

		memcpy(kind, bytes + n + width, sizeof(kind));
		size = 0;
		memcpy(&size, bytes + n, width);
		if (size < head || size > read - n)
			break;
		if (kind[0] != SOL_SOCKET || kind[1] != SCM_RIGHTS)
			continue;
		for (size_t at = head; at + sizeof(int32_t) <= size; at += sizeof(int32_t)) {
			int32_t fd;

			memcpy(&fd, bytes + n + at, sizeof(fd));
			if (received)
				record_descriptor_is_new(thread, fd);
			else
				record_put_descriptor(thread, fd);
		}
	}
	if (read > 0)
		put_structure(thread, argument, "control", bytes, read, read < message->control_size);
}

void record_put_message(struct record_thread *thread, unsigned argument, uint64_t at, bool received)
{
	const uint32_t width = record_address_size(thread->abi);
	struct iovec piece[IOVECS_MOST];
	struct sockaddr_storage address;
	struct record_message message;
	size_t read;

	if (!record_memory_message(thread->tid, at, width, &message))
		return;
	if (message.name && message.name_size > 0 && message.name_size <= sizeof(address)) {
		read = record_memory_read(thread->tid, message.name, &address, message.name_size);
		if (read > 0)
			put_structure(thread, argument, "sockaddr", &address, read, false);
	}
	if (message.iovecs > IOVECS_MOST)
		message.iovecs = IOVECS_MOST;
	read = record_memory_read(thread->tid, message.iovec, piece, (size_t)message.iovecs * 2 * width);
	if (read > 0)
		put_array(thread, argument, "iovec", 2 * width, piece, read, false);
	if (message.control && message.control_size > 0)
		put_control(thread, argument, &message, received);
}

void record_put_mask(struct record_thread *thread)
{
	uint64_t mask;

	if (ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask) == 0)
		put_structure(thread, 0, "restored", &mask, sizeof(mask), false);
}
