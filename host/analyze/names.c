/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names of locks, queues and interrupts ---- */

/*
 * Upper bits of the key of an interrupt. Interrupt numbers are small, so the key is never the address of a
 * lock.
 */
#define INTERRUPT (UINT64_C(0xfff) << 52)

/* Returns whether the event is about a lock, a queue or an interrupt, and stores its key. */
static bool key_of(const struct ktread_event *event, const struct wellknown *known, uint64_t *key)
{
	switch (known->kind) {
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
	case WELLKNOWN_LOCK_RELEASE:
	case WELLKNOWN_LOCK_FAIL:
	case WELLKNOWN_BLOCK:
	case WELLKNOWN_WAKE_QUEUE:
	case WELLKNOWN_WAKE_NOBODY:
		return wellknown_number(known, event, WELLKNOWN_OBJECT, key) && *key != 0;
	case WELLKNOWN_IRQ_ENTER:
	case WELLKNOWN_IRQ_EXIT:
	case WELLKNOWN_IRQ_EOI:
		if (!wellknown_number(known, event, WELLKNOWN_NUMBER, key) || *key > UINT32_MAX)
			return false;
		*key |= INTERRUPT;
		return true;
	default:
		return false;
	}
}

struct object_name object_names_event(struct object_names *names, const struct ktread_event *event,
				      const struct wellknown *known)
{
	struct object_name name = { NULL, 0 };
	struct ktread_value recorded;
	uint64_t key, n;

	if (!key_of(event, known, &key))
		return name;
	n = key * UINT64_C(0x9e3779b97f4a7c15) >> 55;
	if (wellknown_string(known, event, WELLKNOWN_NAME, &recorded) && recorded.length > 0) {
		names->entry[n].key = key;
		names->entry[n].length =
			(uint8_t)(recorded.length < OBJECT_NAMES_MOST ? recorded.length : OBJECT_NAMES_MOST);
		memcpy(names->entry[n].name, recorded.string, names->entry[n].length);
	} else if (names->entry[n].length > 0 && names->entry[n].key == key) {
		name.bytes = names->entry[n].name;
		name.length = names->entry[n].length;
	}
	return name;
}

/* ---- Names of spans ---- */

static size_t put(char *text, size_t length, const char *bytes, size_t count)
{
	if (count > SPAN_NAMES_RECORDED)
		count = SPAN_NAMES_RECORDED;
	if (count > SPAN_NAMES_MOST - length)
		count = SPAN_NAMES_MOST - length;
	memcpy(text + length, bytes, count);
	return length + count;
}

size_t span_name_call(const struct ktread *trace, uint64_t number, char *text)
{
	const char *name = number <= UINT32_MAX ? ktread_syscall_name(trace, (uint32_t)number) : NULL;

	if (name)
		return put(text, 0, name, strlen(name));
	return (size_t)snprintf(text, SPAN_NAMES_MOST, "syscall_%llu", (unsigned long long)number);
}

size_t span_name_interrupt(uint64_t number, char *text)
{
	return (size_t)snprintf(text, SPAN_NAMES_MOST, "irq %llu", (unsigned long long)number);
}

static size_t name_interrupt(const struct spans_span *span, char *text)
{
	return span->has_key ? span_name_interrupt(span->key, text) : put(text, 0, "irq", strlen("irq"));
}

/*
 * Writes a span's name. `recorded`: the name in the event that begins the span; NULL if the event has none.
 */
static size_t name_lock(struct span_names *names, const struct spans_span *span,
			const struct ktread_value *recorded, char *text)
{
	struct span_names_lock *lock = &names->lock[span->key * UINT64_C(0x9e3779b97f4a7c15) >> 55];
	size_t length = 0;

	if (recorded) {
		lock->key = span->key;
		lock->length = (uint8_t)(recorded->length < sizeof(lock->name) ? recorded->length
									       : sizeof(lock->name));
		memcpy(lock->name, recorded->string, lock->length);
	}
	if (span->kind == WELLKNOWN_LOCK_CONTEND)
		length = put(text, length, "wait ", strlen("wait "));
	if (lock->length > 0 && lock->key == span->key)
		return put(text, length, lock->name, lock->length);
	return length + (size_t)snprintf(text + length, SPAN_NAMES_MOST - length, "%#llx",
					 (unsigned long long)span->key);
}

size_t span_name(struct span_names *names, const struct ktread *trace, const struct spans_span *span,
		 const struct ktread_event *event, const struct wellknown *known, char *text)
{
	struct ktread_value value;
	const bool named = wellknown_string(known, event, WELLKNOWN_NAME, &value);

	switch (span->kind) {
	case WELLKNOWN_LOCK_CONTEND:
	case WELLKNOWN_LOCK_ACQUIRE:
		return name_lock(names, span, named ? &value : NULL, text);
	case WELLKNOWN_SYSCALL_ENTER:
		return named ? put(text, 0, value.string, value.length)
			     : span_name_call(trace, span->key, text);
	case WELLKNOWN_IRQ_ENTER:
		return named ? put(text, 0, value.string, value.length) : name_interrupt(span, text);
	default:
		return named ? put(text, 0, value.string, value.length)
			     : put(text, 0, "page fault", strlen("page fault"));
	}
}

/* ---- Paths of files ---- */

struct entry {
	uint64_t key;	/* number of the open file, or of the inode */
	uint64_t inode; /* inode of a file; 0: not recorded */
	uint64_t era;	/* value of files->era when the path became known */
	uint16_t length;
	uint8_t kind; /* enum kind */
	char path[FILES_PATH];
};

enum kind { NOTHING, FILE_ENTRY, INODE_ENTRY };

struct files {
	const struct ktread *trace;
	struct entry entry[FILES_KEPT];
	/* number of times that slots were lost so far; entries of earlier eras are invalid */
	uint64_t era;
	/* number of rings whose beginning is lost and from which no event has been read yet */
	uint32_t waiting;
	/*
	 * indexed by ring: true if the ring's beginning is not lost, or if an event of the ring has been read
	 */
	bool *begun;
};

_Static_assert(FILES_KEPT == UINT64_C(1) << (64 - 55), "a place for every hash");

static struct entry *place(struct files *files, enum kind kind, uint64_t key)
{
	return &files->entry[(key ^ (uint64_t)kind << 56) * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}

static struct entry *find(struct files *files, enum kind kind, uint64_t key)
{
	struct entry *entry = place(files, kind, key);

	return key != 0 && entry->kind == kind && entry->key == key && entry->era == files->era ? entry
												: NULL;
}

static void forget(struct files *files, enum kind kind, uint64_t key)
{
	struct entry *entry = find(files, kind, key);

	if (entry)
		entry->kind = NOTHING;
}

static void keep(struct files *files, enum kind kind, uint64_t key, uint64_t inode,
		 const struct ktread_value *path)
{
	struct entry *entry = place(files, kind, key);

	forget(files, kind, key);
	if (key == 0 || path->cut || path->length == 0 || path->length > FILES_PATH)
		return;
	entry->key = key;
	entry->inode = inode;
	entry->era = files->era;
	entry->length = path->length;
	entry->kind = (uint8_t)kind;
	memcpy(entry->path, path->string, path->length);
}

int files_create(struct files **result, const struct ktread *trace)
{
	uint32_t rings = ktread_info(trace)->rings;
	struct files *files;

	*result = NULL;
	if (ktread_is_narrowed(trace) || (!wellknown_declared(trace, WELLKNOWN_FILE_OPEN) &&
					  !wellknown_declared(trace, WELLKNOWN_FILE_LOOKUP)))
		return 0;
	files = calloc(1, sizeof(*files));
	if (files)
		files->begun = calloc((size_t)rings + 1, sizeof(*files->begun));
	if (!files || !files->begun) {
		files_destroy(files);
		return KTREAD_E_MEMORY;
	}
	files->trace = trace;
	for (uint32_t n = 0; n < rings; n++) {
		files->begun[n] = ktread_ring(trace, n)->overwritten == 0;
		files->waiting += !files->begun[n];
	}
	*result = files;
	return 0;
}

void files_destroy(struct files *files)
{
	if (!files)
		return;
	free(files->begun);
	free(files);
}

static void learn(struct files *files, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t file = 0, inode = 0, result = 0;
	struct ktread_value path;

	wellknown_number(known, event, WELLKNOWN_OBJECT, &file);
	wellknown_number(known, event, WELLKNOWN_INODE, &inode);
	wellknown_number(known, event, WELLKNOWN_RESULT, &result);
	if ((int64_t)result < 0 || !wellknown_string(known, event, WELLKNOWN_NAME, &path))
		return;
	keep(files, INODE_ENTRY, inode, inode, &path);
	if (known->kind == WELLKNOWN_FILE_OPEN)
		keep(files, FILE_ENTRY, file, inode, &path);
}

static struct files_path path_of(struct files *files, const struct ktread_event *event,
				 const struct wellknown *known)
{
	uint64_t file = 0, inode = 0;
	bool has_inode = wellknown_number(known, event, WELLKNOWN_INODE, &inode);
	struct entry *entry;

	wellknown_number(known, event, WELLKNOWN_OBJECT, &file);
	entry = find(files, FILE_ENTRY, file);
	/* If the inode of the event differs from that of the entry, the file number was reused. */
	if (entry && has_inode && entry->inode != inode)
		entry = NULL;
	if (known->kind == WELLKNOWN_FILE_CLOSE)
		forget(files, FILE_ENTRY, file);
	if (!entry)
		entry = find(files, INODE_ENTRY, inode);
	return entry ? (struct files_path){ entry->path, entry->length } : (struct files_path){ NULL, 0 };
}

static void note_loss(struct files *files, const struct ktread_event *event)
{
	if (!files->begun[event->ring]) {
		files->begun[event->ring] = true;
		files->waiting--;
	}
	files->era++;
}

struct files_path files_take(struct files *files, const struct ktread_event *event,
			     const struct wellknown *known)
{
	if (__builtin_expect(event->lost > 0 || !files->begun[event->ring], 0))
		note_loss(files, event);
	if (files->waiting == 0) {
		switch (known->kind) {
		case WELLKNOWN_FILE_OPEN:
		case WELLKNOWN_FILE_LOOKUP:
			learn(files, event, known);
			break;
		case WELLKNOWN_FILE_READ:
		case WELLKNOWN_FILE_WRITE:
		case WELLKNOWN_FILE_CLOSE:
			return path_of(files, event, known);
		default:
			break;
		}
	}
	return (struct files_path){ NULL, 0 };
}
