/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What earlier traces say of the order in which locks are taken, in terms of this one's locks. */
#include <stdlib.h>
#include <string.h>

#include "why/evidence_state.h"

struct translation {
	struct why_evidence *to;
	const struct why_evidence *from;
	struct keyed names; /* of this trace's locks and of those that were added: `count` is the address */
	bool same_build;
};

static int index_name(struct translation *translation, const char *name, uint64_t address)
{
	const uint64_t key[KEYED_WORDS] = { keyed_hash(name, strlen(name)) };
	struct keyed_entry *entry;
	int error = keyed_put(&translation->names, key, &entry);

	if (!error && entry)
		entry->count = address;
	return error;
}

static int index_names(struct translation *translation)
{
	const struct why_evidence *to = translation->to;
	int error = 0;

	for (uint32_t n = 0; n < to->objects && !error; n++)
		error = index_name(translation, to->object[n].name, to->object[n].address);
	return error;
}

/* A lock that this trace does not have. An odd number that no other has stands for its address. */
static int add_elsewhere(struct translation *translation, const char *name, uint64_t *address)
{
	struct why_evidence *to = translation->to;
	const uint32_t before = to->objects;
	int error;

	*address = 2 * (uint64_t)before + 1;
	error = why_object_touch(to, *address, name, strlen(name));
	if (to->objects > before)
		to->object[before].elsewhere = true;
	return error ? error : index_name(translation, name, *address);
}

/*
 * Finds the address that a lock of the earlier trace has in this one, or 0 if that is unknown. Adds a lock
 * that this trace does not have.
 */
static int translate(struct translation *translation, uint64_t lock, uint64_t *address)
{
	const char *name = why_object_name(translation->from, lock);
	const uint64_t key[KEYED_WORDS] = { keyed_hash(name, strlen(name)) };
	const struct keyed_entry *entry;

	*address = 0;
	if (!*name) {
		if (translation->same_build && !*why_object_name(translation->to, lock))
			*address = lock;
		return 0;
	}
	if (translation->same_build && strcmp(name, why_object_name(translation->to, lock)) == 0) {
		*address = lock;
		return 0;
	}
	entry = keyed_find(&translation->names, key);
	if (!entry)
		return add_elsewhere(translation, name, address);
	*address = entry->count;
	return 0;
}

static bool is_same_build(const struct ktread_info *one, const struct ktread_info *other)
{
	return one->build_id_size && one->build_id_size == other->build_id_size &&
	       memcmp(one->build_id, other->build_id, one->build_id_size) == 0;
}

/*
 * `known`: all of its locks can be told in this trace, also those that may keep it from meeting another
 * order.
 */
static int translate_order(struct translation *translation, struct why_order *order, bool *known)
{
	int error = translate(translation, order->first, &order->first);

	if (!error)
		error = translate(translation, order->then, &order->then);
	*known = order->first && order->then && order->first != order->then;
	for (uint32_t n = 0; n < WHY_OUTER && order->outer[n] && *known && !error; n++) {
		error = translate(translation, order->outer[n], &order->outer[n]);
		*known = order->outer[n] != 0;
	}
	return error;
}

static int add_orders(struct translation *translation, uint32_t number)
{
	struct why_evidence *to = translation->to;
	struct why_order *order =
		realloc(to->order, ((size_t)to->orders + translation->from->orders + 1) * sizeof(*order));
	int error = order ? 0 : KTREAD_E_MEMORY;

	if (order)
		to->order = order;
	for (uint32_t n = 0; n < translation->from->orders && !error; n++) {
		struct why_order *added = &order[to->orders];
		bool known;

		*added = translation->from->order[n];
		added->trace = number;
		if (!translation->same_build)
			added->first_pc = added->then_pc = 0;
		error = translate_order(translation, added, &known);
		to->orders += known;
	}
	return error;
}

int why_evidence_add_earlier(struct why_evidence *evidence, struct ktread *earlier, uint32_t number)
{
	struct translation translation = { .to = evidence };
	struct why_evidence *from;
	int error = why_evidence_read(&from, earlier, NULL);

	translation.from = from;
	if (!error) {
		translation.same_build = is_same_build(evidence->info, from->info);
		error = index_names(&translation);
	}
	if (!error)
		error = add_orders(&translation, number);
	keyed_free(&translation.names);
	why_evidence_free(from);
	return error;
}
