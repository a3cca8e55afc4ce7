/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Counts stacks: a tree whose root is the outermost caller. Its size is bounded. */
#ifndef PROFILE_TREE_H
#define PROFILE_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* maximum number of nodes; stacks that need more nodes are counted at the deepest node that exists */
#define PROFILE_NODES_MOST (1u << 18)

struct profile_node {
	uint32_t id;		      /* number by which the caller identifies a frame */
	uint32_t parent, child, next; /* index of the parent, a child or a sibling; 0: none */
	uint64_t self;		      /* number of samples in this frame itself */
	/* number of samples in this frame or in the frames that it called; set by profile_tree_sum() */
	uint64_t total;
};

/* An empty tree is all zeros. Node 0 is the root, which is no frame. */
struct profile_tree {
	struct profile_node *node;
	uint32_t count, room;
	/* number of samples whose stacks were cut, because the tree was full or memory was short */
	uint64_t cut;
};

/* Counts a stack. `id`: the ids of its frames, the outermost first. */
void profile_tree_add(struct profile_tree *tree, const uint32_t *id, uint32_t count);
/* Sets `total` in all nodes. */
void profile_tree_sum(struct profile_tree *tree);
void profile_tree_free(struct profile_tree *tree);

/*
 * Number of samples of a frame, wherever it is in the tree. A recursive function is counted once for each
 * sample.
 */
struct profile_frame {
	uint32_t id;
	uint64_t self, total;
};

/*
 * Lists the frames of the tree. Those with the largest number of samples in themselves come first. Requires:
 * profile_tree_sum() was called. Returns the number of frames, with *frames for the caller to free; 0 with
 * *frames NULL if memory is short or the tree is empty.
 */
uint32_t profile_tree_frames(const struct profile_tree *tree, struct profile_frame **frames);

#endif
