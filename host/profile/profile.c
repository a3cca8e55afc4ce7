/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/profile.h"

#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "base/grow.h"
#include "capture/error.h"
#include "capture/wait.h"

/* ---- Counts of stacks ---- */

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

/* ---- The profile ---- */

#define MOST_HALTED 0.04 /* maximum fraction of the time during which samples may halt the guest */
/* weight of the last sample in the running mean of the cost of a sample */
#define SMOOTH 0.1

const char *profile_name(const struct profile *profile, uint32_t id)
{
	return id == PROFILE_ID_USER	  ? "[user]"
	       : id == PROFILE_ID_UNKNOWN ? "[unknown]"
					  : profile_names_at(profile->names, id);
}

/*
 * Returns whether cpu->caller is the return address of the innermost function, which has stored no frame.
 * This is certain on x86_64, where the call instruction names that function. On other machines, the link
 * register may have an old value: an address in the function itself, or the return address that is also in
 * the frame.
 */
static bool lacks_frame(const struct profile *profile, const struct profile_cpu *cpu)
{
	const uint32_t function = profile_names_find(profile->names, cpu->registers.pc);

	if (cpu->walk.exact || !cpu->caller || function == PROFILE_NO_NAME ||
	    profile_names_find(profile->names, cpu->caller - 1) == PROFILE_NO_NAME ||
	    (cpu->walk.places > 1 && cpu->walk.place[1] == cpu->caller))
		return false;
	if (cpu->callee)
		return profile_names_find(profile->names, cpu->callee) == function;
	return cpu->walk.machine != EM_X86_64 &&
	       profile_names_find(profile->names, cpu->caller - 1) != function;
}

static void count_kernel(struct profile *profile, const struct profile_cpu *cpu)
{
	const struct stack_walk *walk = &cpu->walk;
	uint32_t id[STACK_PLACES + 1], count = 0;
	bool known = false;

	/*
	 * The outermost function comes first. A return address is the address after the call instruction, so
	 * it may already belong to the next function.
	 */
	for (uint32_t n = walk->places; n-- > 1;)
		id[count++] = profile_names_find(profile->names, walk->place[n] - 1);
	if (lacks_frame(profile, cpu))
		id[count++] = profile_names_find(profile->names, cpu->caller - 1);
	id[count++] = profile_names_find(profile->names, walk->place[0]);
	for (uint32_t n = 0; n < count; n++)
		known |= id[n] != PROFILE_ID_UNKNOWN;
	profile->kernel++;
	profile->unnamed += !known;
	profile->ends[walk->end]++;
	profile->alone += count == 1;
	/*
	 * unknown addresses at the outer end are not callers, because they come from bytes beyond the stack
	 */
	for (uint32_t first = 0; first < count; first++) {
		if (known && id[first] == PROFILE_ID_UNKNOWN)
			continue;
		profile_tree_add(&profile->tree, id + first, count - first);
		return;
	}
}

/* Counts the sample that profile_target_sample() has read. */
static void profile_count(struct profile *profile, const struct profile_target *target)
{
	const uint32_t user = PROFILE_ID_USER;

	profile->rounds++;
	profile->cpus = profile_target_cpus(target);
	for (uint32_t n = 0; n < profile->cpus; n++) {
		const struct profile_cpu *cpu = profile_target_cpu(target, n);

		if (cpu->idle) {
			profile->idle++;
		} else if (cpu->registers.user) {
			profile->user++;
			profile_tree_add(&profile->tree, &user, 1);
		} else {
			count_kernel(profile, cpu);
		}
	}
}

void profile_free(struct profile *profile)
{
	profile_names_close(profile->names);
	profile_tree_free(&profile->tree);
}

/* ---- Sampling ---- */

/* Returns a number from 0.5 to 1.5 with mean 1. */
static double jitter(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return 0.5 + (double)(*seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Waits until `when`. Returns 1 if a signal has arrived, 0 if the time `when` was reached, or an error. */
static int wait_until(double when, int signals)
{
	struct pollfd wait = { .fd = signals, .events = POLLIN };

	for (;;) {
		const double left = when - capture_now();
		const struct timespec time = {
			.tv_sec = left > 0 ? (time_t)left : 0,
			.tv_nsec = left > 0 ? (long)((left - (double)(time_t)left) * 1e9) : 0
		};
		const int ready = ppoll(&wait, 1, &time, NULL);

		if (ready > 0)
			return 1;
		if (ready < 0 && errno != EINTR)
			return capture_fail_errno("ppoll");
		if (capture_now() >= when)
			return 0;
	}
}

int profile_run(struct profile *profile, struct profile_target *target, const struct profile_options *options)
{
	const double begin = capture_now();
	uint64_t seed = (uint64_t)(begin * 1e9) | 1;
	double cost = 0, first = 0, next = begin;
	bool paused = false;

	for (;;) {
		double now, interval = 1 / options->rate;
		int status;

		if (cost > interval * MOST_HALTED)
			interval = cost / MOST_HALTED;
		next += interval * jitter(&seed);
		now = capture_now();
		/* the host was busy: do not take extra samples to make up for missed ones */
		if (next < now)
			next = now;
		status = wait_until(next, options->signals);
		if (status)
			return status < 0 ? status : PROFILE_STOP_SIGNAL;
		if (options->seconds > 0 && capture_now() - begin >= options->seconds)
			return PROFILE_STOP_LIMIT;
		status = profile_target_sample(target);
		if (status == PROFILE_ENDED)
			return PROFILE_STOP_ENDED;
		if (status < 0)
			return wait_until(capture_now(), options->signals) == 1 ? PROFILE_STOP_SIGNAL
										: status;
		if (status == PROFILE_PAUSED) {
			profile->paused++;
			if (!paused)
				options->on_pause(options->context);
			paused = true;
			continue;
		}
		paused = false;
		profile_count(profile, target);
		now = capture_now();
		first = first > 0 ? first : now;
		profile->seconds = now - first;
		profile->halted += profile_target_pause(target);
		if (options->samples && profile->rounds >= options->samples)
			return PROFILE_STOP_LIMIT;
		cost = cost > 0 ? cost + (profile_target_pause(target) - cost) * SMOOTH
				: profile_target_pause(target);
	}
}
