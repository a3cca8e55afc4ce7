/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "mapped_code.h"

#include "arch.h"
#include "page.h"
#include "process.h"
#include "string.h"

/* An entry of the list: code in a file that is mapped. An entry of size 0 is free. */
struct mapped_code {
	struct ktrx_hwt_image image;
	char path[PATH_MAX];
};

#define PAGES ((VM_AREAS_MAX * sizeof(struct mapped_code) + PAGE_SIZE - 1) / PAGE_SIZE)

/*
 * Returns a free entry. There always is one, because the list has an entry for each possible area, and each
 * entry in use corresponds to at least one area.
 */
static struct mapped_code *find_free(struct mapped_code *code)
{
	while (code->image.size)
		code++;
	return code;
}

bool mapped_code_prepare(struct process *self)
{
	struct mapped_code *code = self->code ? NULL : page_alloc(PAGES);
	bool irq_on;

	if (!code)
		return self->code != NULL;
	irq_on = process_lock();
	if (!self->code) {
		self->code = code;
		code = NULL;
	}
	process_unlock(irq_on);
	if (code) /* true if another thread has allocated the list in between */
		page_free(code, PAGES);
	return true;
}

void mapped_code_add(struct process *self, const struct ktrx_hwt_image *image, const char *path)
{
	bool irq_on = process_lock();
	struct mapped_code *code = find_free(self->code);

	code->image = *image;
	string_copy(code->path, path, sizeof(code->path));
	process_unlock(irq_on);
}

/* Adds an entry for [start, end), a part of the mapping `whole` that is still mapped. */
static void keep_part(struct mapped_code *all, const struct mapped_code *whole, uint64_t start, uint64_t end)
{
	struct mapped_code *part;

	if (start >= end)
		return;
	part = find_free(all);
	*part = *whole;
	part->image.address = start;
	part->image.size = end - start;
	part->image.offset += start - whole->image.address;
}

void mapped_code_cut(struct process *self, uint64_t start, uint64_t end)
{
	bool irq_on = process_lock();

	for (unsigned i = 0; self->code && i < VM_AREAS_MAX; i++) {
		struct mapped_code whole = self->code[i];
		uint64_t from = whole.image.address, to = from + whole.image.size;

		if (whole.image.size == 0 || from >= end || start >= to)
			continue;
		self->code[i].image.size = 0;
		keep_part(self->code, &whole, from, start);
		keep_part(self->code, &whole, end, to);
	}
	process_unlock(irq_on);
}

bool mapped_code_fork(struct process *child, const struct process *parent)
{
	bool irq_on;

	if (!parent->code)
		return true;
	child->code = page_alloc(PAGES);
	if (!child->code)
		return false;
	irq_on = process_lock();
	memcpy(child->code, parent->code, VM_AREAS_MAX * sizeof(*child->code));
	process_unlock(irq_on);
	return true;
}

void mapped_code_drop(struct process *self)
{
	bool irq_on = process_lock();
	struct mapped_code *code = self->code;

	self->code = NULL;
	process_unlock(irq_on);
	if (code)
		page_free(code, PAGES);
}

bool mapped_code_get(const struct process *process, uint32_t n, struct ktrx_hwt_image *image, char *path,
		     size_t room)
{
	for (unsigned i = 0; process->code && i < VM_AREAS_MAX; i++) {
		const struct mapped_code *code = &process->code[i];

		if (code->image.size == 0 || n-- > 0)
			continue;
		*image = code->image;
		string_copy(path, code->path, room);
		return true;
	}
	return false;
}
