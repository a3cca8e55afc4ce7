/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/files.h"

#include <stdlib.h>
#include <string.h>

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
