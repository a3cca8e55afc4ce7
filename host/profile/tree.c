/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/profile.h"

#include <stdlib.h>

#include "base/grow.h"

/*
 * Returns the child of `parent` with this id, and creates it if there is none. Returns 0 if it cannot be
 * created.
 */
static uint32_t child_of(struct profile_tree *tree, uint32_t parent, uint32_t id)
{
	struct profile_node *grown;
	uint32_t n = tree->node[parent].child, before = 0;

	for (; n; before = n, n = tree->node[n].next)
		if (tree->node[n].id == id)
			return n;
	if (tree->count >= PROFILE_NODES_MOST)
		return 0;
	grown = base_grow(tree->node, &tree->room, tree->count + 1u, sizeof(*grown));
	if (!grown)
		return 0;
	tree->node = grown;
	n = tree->count++;
	grown[n] = (struct profile_node){ .id = id, .parent = parent };
	if (before)
		grown[before].next = n;
	else
		grown[parent].child = n;
	return n;
}

void profile_tree_add(struct profile_tree *tree, const uint32_t *id, uint32_t count)
{
	uint32_t at = 0;

	if (!tree->node) {
		tree->node = base_grow(NULL, &tree->room, 64, sizeof(*tree->node));
		tree->count = tree->node ? 1 : 0;
	}
	if (!tree->node) {
		tree->cut++;
		return;
	}
	for (uint32_t n = 0; n < count; n++) {
		const uint32_t child = child_of(tree, at, id[n]);

		if (!child) {
			tree->cut++;
			break;
		}
		at = child;
	}
	tree->node[at].self++;
}

void profile_tree_sum(struct profile_tree *tree)
{
	for (uint32_t n = 0; n < tree->count; n++)
		tree->node[n].total = tree->node[n].self;
	/* A node is created after its parent, so the parent has the lower index. */
	for (uint32_t n = tree->count; n-- > 1;)
		tree->node[tree->node[n].parent].total += tree->node[n].total;
}

void profile_tree_free(struct profile_tree *tree)
{
	free(tree->node);
	*tree = (struct profile_tree){ 0 };
}

static bool is_recursive(const struct profile_tree *tree, uint32_t n)
{
	for (uint32_t above = tree->node[n].parent; above; above = tree->node[above].parent)
		if (tree->node[above].id == tree->node[n].id)
			return true;
	return false;
}

static int by_id(const void *left, const void *right)
{
	const struct profile_frame *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int by_self(const void *left, const void *right)
{
	const struct profile_frame *a = left, *b = right;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return by_id(a, b);
}

uint32_t profile_tree_frames(const struct profile_tree *tree, struct profile_frame **frames)
{
	struct profile_frame *all = tree->count > 1 ? calloc(tree->count - 1u, sizeof(*all)) : NULL;
	uint32_t count = 0;

	*frames = all;
	if (!all)
		return 0;
	for (uint32_t n = 1; n < tree->count; n++)
		all[n - 1] = (struct profile_frame){ tree->node[n].id, tree->node[n].self,
						     is_recursive(tree, n) ? 0 : tree->node[n].total };
	qsort(all, tree->count - 1u, sizeof(*all), by_id);
	for (uint32_t n = 0; n < tree->count - 1u; n++) {
		if (count && all[count - 1].id == all[n].id) {
			all[count - 1].self += all[n].self;
			all[count - 1].total += all[n].total;
		} else {
			all[count++] = all[n];
		}
	}
	qsort(all, count, sizeof(*all), by_self);
	return count;
}
