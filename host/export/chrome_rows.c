/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/chrome_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "ktread/ktread.h"

#define FEWEST 64u

/* The row's place, or the empty one where it would go. `places` is a power of two, and one is always empty. */
static struct chrome_rows_row *find(const struct chrome_rows *rows, uint32_t pid, uint64_t tid)
{
	size_t at = (size_t)((tid * UINT64_C(0x9e3779b97f4a7c15) ^ pid * UINT64_C(0xbf58476d1ce4e5b9)) >> 17);

	for (;; at++) {
		struct chrome_rows_row *row = &rows->row[at & (rows->places - 1)];

		if (!row->name || (row->pid == pid && row->tid == tid))
			return row;
	}
}

static int make_room(struct chrome_rows *rows)
{
	struct chrome_rows larger = { .places = rows->places ? 2 * rows->places : FEWEST,
				      .rows = rows->rows };

	if (rows->places && rows->rows < rows->places / 2)
		return 0;
	larger.row = calloc(larger.places, sizeof(*larger.row));
	if (!larger.row)
		return KTREAD_E_MEMORY;
	for (size_t n = 0; n < rows->places; n++)
		if (rows->row[n].name)
			*find(&larger, rows->row[n].pid, rows->row[n].tid) = rows->row[n];
	free(rows->row);
	*rows = larger;
	return 0;
}

int chrome_rows_begin(struct chrome_rows *rows, uint32_t pid, uint64_t tid, const char *name)
{
	struct chrome_rows_row *row;
	size_t length;

	if (make_room(rows) < 0)
		return KTREAD_E_MEMORY;
	row = find(rows, pid, tid);
	if (row->depth == row->room) {
		uint32_t room = row->room ? 2 * row->room : 2;
		void *larger = realloc(row->name, room * sizeof(*row->name));

		if (!larger)
			return KTREAD_E_MEMORY;
		rows->rows += !row->name;
		*row = (struct chrome_rows_row){ pid, tid, row->depth, room, larger };
	}
	length = base_utf8_cut(name, strlen(name), CHROME_ROWS_NAME - 1);
	memcpy(row->name[row->depth], name, length);
	row->name[row->depth++][length] = '\0';
	return 0;
}

const char *chrome_rows_end(struct chrome_rows *rows, uint32_t pid, uint64_t tid)
{
	struct chrome_rows_row *row = rows->places ? find(rows, pid, tid) : NULL;

	return row && row->depth ? row->name[--row->depth] : NULL;
}

const struct chrome_rows_row *chrome_rows_at(const struct chrome_rows *rows, size_t n)
{
	return n < rows->places ? &rows->row[n] : NULL;
}

void chrome_rows_free(struct chrome_rows *rows)
{
	for (size_t n = 0; n < rows->places; n++)
		free(rows->row[n].name);
	free(rows->row);
	*rows = (struct chrome_rows){ .row = NULL };
}
