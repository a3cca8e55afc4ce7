/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/chrome_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "ktread/ktread.h"

#define FEWEST 64u

/* The row's place, or the empty one where it would go. `places` is a power of two, and one is always empty. */
static struct chrome_rows_row *find(const struct chrome_rows *rows, uint32_t pid, uint64_t tid)
{
	size_t at = (size_t)((tid * UINT64_C(0x9e3779b97f4a7c15) ^ pid * UINT64_C(0xbf58476d1ce4e5b9)) >> 17);

	for (;; at++) {
		struct chrome_rows_row *row = &rows->row[at & (rows->places - 1)];

		if (!row->open.span || (row->pid == pid && row->tid == tid))
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
		if (rows->row[n].open.span)
			*find(&larger, rows->row[n].pid, rows->row[n].tid) = rows->row[n];
	free(rows->row);
	*rows = larger;
	return 0;
}

struct chrome_rows_open *chrome_rows_find(struct chrome_rows *rows, uint32_t pid, uint64_t tid, int make)
{
	struct chrome_rows_row *row;

	if (make && make_room(rows) < 0)
		return NULL;
	row = rows->places ? find(rows, pid, tid) : NULL;
	if (!row || row->open.span)
		return row ? &row->open : NULL;
	if (!make || chrome_rows_grow(&row->open) < 0)
		return NULL;
	row->pid = pid;
	row->tid = tid;
	rows->rows++;
	return &row->open;
}

int chrome_rows_grow(struct chrome_rows_open *open)
{
	struct chrome_rows_span *larger =
		base_grow(open->span, &open->room, (size_t)open->room + 1, sizeof(*larger));

	if (!larger)
		return KTREAD_E_MEMORY;
	open->span = larger;
	return 0;
}

int chrome_rows_begin(struct chrome_rows_open *open, const char *name)
{
	size_t length = base_utf8_cut(name, strlen(name), CHROME_ROWS_NAME - 1);
	struct chrome_rows_span *span;

	if (chrome_rows_begin_rendered(open, (struct chrome_piece){ .text = NULL }) < 0)
		return KTREAD_E_MEMORY;
	span = &open->span[open->depth - 1];
	memcpy(span->name, name, length);
	span->name[length] = '\0';
	return 0;
}

void chrome_rows_free(struct chrome_rows *rows)
{
	for (size_t n = 0; n < rows->places; n++)
		free(rows->row[n].open.span);
	free(rows->row);
	*rows = (struct chrome_rows){ .row = NULL };
}
