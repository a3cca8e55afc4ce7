/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reader of flattened device trees. The reader trusts the facts in the tree, but the tree may be
 * malformed: each read is checked against the size in the header. The reader stops at the first error and
 * keeps the facts that it has read before.
 */
#include "fdt.h"

#include <stddef.h>

#define FDT_MAGIC     0xd00dfeedu
#define FDT_MAX_BYTES (4u << 20)

enum fdt_token { FDT_BEGIN_NODE = 1, FDT_END_NODE, FDT_PROPERTY, FDT_NOP };

/* Byte offsets of 32-bit words in the header, and the size of the header. */
enum { FDT_OFF_TOTAL = 4, FDT_OFF_STRUCT = 8, FDT_OFF_STRINGS = 12, FDT_HEADER_BYTES = 40 };

/* Kinds of nodes. The root has depth 0, "/chosen" depth 1, and "/cpus/cpu@0" depth 2. */
enum fdt_node { NODE_OTHER, NODE_CHOSEN, NODE_MEMORY, NODE_PSCI, NODE_CPUS, NODE_CPU };

struct walk {
	const uint8_t *base;
	uint32_t size;
	uint32_t at;
	int depth;
	enum fdt_node outer; /* kind of the depth-1 ancestor of the current node */
	enum fdt_node node;  /* kind of the current node */
};

struct property {
	const char *name;
	const uint8_t *value;
	uint32_t length;
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint64_t be_cells(const uint8_t *p, uint32_t bytes)
{
	return bytes >= 8 ? (uint64_t)be32(p) << 32 | be32(p + 4) : be32(p);
}

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool starts_with(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix)
		text++, prefix++;
	return !*prefix;
}

/* Returns a string in the tree, or NULL if it is not terminated before the tree's end. */
static const char *string_at(const struct walk *walk, uint64_t offset)
{
	for (uint64_t i = offset; i < walk->size; i++)
		if (!walk->base[i])
			return (const char *)walk->base + offset;
	return NULL;
}

static bool next_word(struct walk *walk, uint32_t *word)
{
	if (walk->size - walk->at < 4)
		return false;
	*word = be32(walk->base + walk->at);
	walk->at += 4;
	return true;
}

/* Skips bytes, and padding up to the next multiple of 4. Returns false at the end of the tree. */
static bool skip(struct walk *walk, uint32_t bytes)
{
	uint64_t at = ((uint64_t)walk->at + bytes + 3) & ~UINT64_C(3);

	if (at > walk->size)
		return false;
	walk->at = (uint32_t)at;
	return true;
}

static enum fdt_node classify(const struct walk *walk, const char *name)
{
	if (walk->depth == 2)
		return walk->outer == NODE_CPUS && starts_with(name, "cpu@") ? NODE_CPU : NODE_OTHER;
	if (walk->depth != 1)
		return NODE_OTHER;
	if (equal(name, "chosen"))
		return NODE_CHOSEN;
	if (equal(name, "psci"))
		return NODE_PSCI;
	if (equal(name, "cpus"))
		return NODE_CPUS;
	return starts_with(name, "memory@") ? NODE_MEMORY : NODE_OTHER;
}

static bool enter_node(struct walk *walk)
{
	const char *name = string_at(walk, walk->at);
	uint32_t length = 0;

	if (!name)
		return false;
	while (name[length])
		length++;
	walk->depth++;
	walk->node = classify(walk, name);
	if (walk->depth == 1)
		walk->outer = walk->node;
	return skip(walk, length + 1);
}

static void leave_node(struct walk *walk)
{
	walk->depth--;
	walk->node = walk->depth == 1 ? walk->outer : NODE_OTHER;
}

static bool read_property(struct walk *walk, uint32_t strings, struct property *property)
{
	uint32_t name;

	if (!next_word(walk, &property->length) || !next_word(walk, &name))
		return false;
	property->name = string_at(walk, (uint64_t)strings + name);
	property->value = walk->base + walk->at;
	return property->name && skip(walk, property->length);
}

static bool is_text(const struct property *property)
{
	return property->length && !property->value[property->length - 1];
}

static void learn(const struct walk *walk, const struct property *property, struct fdt_facts *facts)
{
	const char *name = property->name;
	const uint8_t *value = property->value;

	if (walk->node == NODE_CHOSEN && equal(name, "bootargs") && is_text(property)) {
		facts->boot_args = (const char *)value;
	} else if (walk->node == NODE_PSCI && equal(name, "method") && is_text(property)) {
		facts->psci_uses_smc = equal((const char *)value, "smc");
	} else if (walk->node == NODE_CPUS && equal(name, "timebase-frequency") && property->length >= 4) {
		facts->timebase_hz = be32(value);
	} else if (walk->node == NODE_CPU && equal(name, "reg") && property->length >= 4) {
		if (facts->cpu_count < FDT_MAX_CPUS)
			facts->cpu_ids[facts->cpu_count++] = be_cells(value, property->length);
	} else if (walk->node == NODE_MEMORY && equal(name, "reg") && property->length >= 16 &&
		   !facts->memory_size) {
		facts->memory_base = be_cells(value, 8);
		facts->memory_size = be_cells(value + 8, 8);
	}
}

static void walk_tree(struct walk *walk, uint32_t strings, struct fdt_facts *facts)
{
	struct property property;
	uint32_t token;

	while (next_word(walk, &token)) {
		if (token == FDT_BEGIN_NODE) {
			if (!enter_node(walk))
				return;
		} else if (token == FDT_END_NODE) {
			leave_node(walk);
		} else if (token == FDT_PROPERTY) {
			if (!read_property(walk, strings, &property))
				return;
			learn(walk, &property, facts);
		} else if (token != FDT_NOP) {
			return;
		}
	}
}

bool fdt_read(const void *blob, struct fdt_facts *facts)
{
	struct walk walk = { .base = blob, .depth = -1 };

	*facts = (struct fdt_facts){ .boot_args = "" };
	if (!blob || ((uintptr_t)blob & 7) || be32(walk.base) != FDT_MAGIC)
		return false;
	walk.size = be32(walk.base + FDT_OFF_TOTAL);
	walk.at = be32(walk.base + FDT_OFF_STRUCT);
	if (walk.size < FDT_HEADER_BYTES || walk.size > FDT_MAX_BYTES || walk.at > walk.size)
		return false;
	facts->tree_size = walk.size;
	walk_tree(&walk, be32(walk.base + FDT_OFF_STRINGS), facts);
	return true;
}
