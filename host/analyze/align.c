/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Aligns clocks. Offsets of clocks are kept at nodes, which are one window of time apart, and are
 * interpolated linearly between nodes. The bounds of a window apply to the nodes at both of its ends. The
 * set of solutions is convex: any offset between two solutions is a solution as well.
 */
#include "analyze/align.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "ktrx/v2.h"

#define WINDOWS	  512u
#define WINDOW_US 50000u
#define GRAIN_US  40u /* precision, in microseconds, of the estimated offsets of clocks */
/* after the estimates were applied: maximum time from an effect to its cause, if the effect comes first */
#define SLACK_US      2000u
#define NEAR_SLACK_US 160u /* the maximum for pairs made with CAUSES_NEAREST */
/* time that the result leaves between a cause and its effect, unless the bounds require a shorter time */
#define ROOM_US	   5u
#define LOOKS_MOST 64u /* maximum number of estimates in one reading of the trace */
/* number of passes, at the beginning, that fit a straight line through the nodes of each clock */
#define STRAIGHT_PASSES 2u
#define PASSES		8u
#define UNKNOWN		INT64_MAX
/* if a clock's stated error is at least this large, it sets no limit, so that sums cannot overflow */
#define LIMIT_MOST (UINT64_C(1) << 60)
/* frequency that is assumed if the trace's frequency is unknown */
#define USUAL_HZ 1000000000u

/* An estimate of the offsets of all CPUs at one time. In names, an estimate is called a look. */
struct look {
	uint64_t stamp;
	int64_t forward[COARSE_CPUS];
};

struct align {
	struct ktread *trace;
	struct align_report *report;
	struct wellknown_table known;
	uint32_t cpus;
	uint64_t frequency;
	uint64_t first, last; /* first and last timestamp of the trace */
	uint32_t nodes;
	int64_t *offset; /* offset of a CPU's clock at a node; the index is node * cpus + cpu */
	/* 1 if the element of `offset` with the same index is known, 0 if it has to be interpolated */
	uint8_t *solved;
	struct bounds window, both;
	uint32_t at; /* index of the window of time that is being read */
	struct look look[LOOKS_MOST];
	uint32_t looks;
	uint64_t looks_apart;
	uint64_t given_up;   /* number of contradictory bounds that the current reading has ignored */
	enum causes_way way; /* current way of pairing; starts with CAUSES_IN_TURN */
	/* true if CAUSES_NEAREST found much nearer causes than CAUSES_IN_TURN while offsets were estimated */
	bool nearer;
	struct causes_count count; /* counts of pairs in the last reading */
	/*
	 * counts of pairs for each way of pairing. `look_by`: counts of the newest search for estimates;
	 * `before`: counts of the first search
	 */
	struct causes_count look_by[CAUSES_WAYS], before[CAUSES_WAYS];
};

/* Stages of estimating how far apart clocks are. A larger range needs more time for a reliable estimate. */
static const struct stage {
	uint32_t reach_us, grain_us, apart_us;
} stages[] = {
	{ 100000, 1000, 4000000 },
	{ 4000, 200, 500000 },
	{ 800, GRAIN_US, 1000000 },
};
#define STAGES (sizeof(stages) / sizeof(stages[0]))

static uint64_t microseconds(const struct align *align, uint64_t amount)
{
	return (uint64_t)((unsigned __int128)align->frequency * amount / 1000000) + 1;
}

/* ---- First estimates of offsets ------------------------------------------------------------------ */

/* Ends one estimate. If LOOKS_MOST estimates are stored already, first drops every second stored estimate. */
static void take_look(struct align *align, struct coarse *coarse, uint64_t stamp)
{
	if (align->looks == LOOKS_MOST) {
		for (uint32_t i = 0; i < LOOKS_MOST / 2; i++)
			align->look[i] = align->look[2 * i];
		align->looks /= 2;
		align->looks_apart *= 2;
	}
	align->look[align->looks].stamp = stamp;
	coarse_solve(coarse, align->look[align->looks++].forward);
}

/*
 * Reads the trace and counts effects that come before their cause, for each way of pairing. If `coarse` is
 * not NULL, also estimates the offsets.
 */
static int look_through(struct align *align, struct coarse *coarse, uint64_t reach)
{
	struct causes *causes[CAUSES_WAYS];
	struct causes_pair pair[CAUSES_PAIRS];
	const struct ktread_event *event;
	uint64_t begun = ktread_first_stamp(align->trace);
	bool looking = coarse;
	int status = 1;

	align->last = begun;
	align->looks = 0;
	for (int way = 0; way < CAUSES_WAYS; way++) {
		causes[way] = causes_create(align->trace, (enum causes_way)way, reach);
		align->look_by[way] = (struct causes_count){ 0 };
		if (!causes[way])
			status = KTREAD_E_MEMORY;
	}
	while (status > 0 && (status = ktread_next(align->trace, &event)) > 0) {
		const struct wellknown *known = wellknown_of(&align->known, event);

		for (int way = 0; way < CAUSES_WAYS; way++)
			causes_count(&align->look_by[way], align->trace, pair,
				     causes_event(causes[way], event, known, pair));
		if (coarse && event->stamp - begun > align->looks_apart) {
			if (looking)
				take_look(align, coarse, begun + (align->last - begun) / 2);
			begun = event->stamp;
			looking = true;
		}
		if (looking && !coarse_event(coarse, event, known)) {
			take_look(align, coarse, begun + (event->stamp - begun) / 2);
			looking = false;
		}
		if (event->stamp > align->last)
			align->last = event->stamp;
	}
	if (looking)
		take_look(align, coarse, begun + (align->last - begun) / 2);
	for (int way = 0; way < CAUSES_WAYS; way++)
		causes_destroy(causes[way]);
	align->count = align->look_by[align->way];
	return status;
}

/*
 * Returns true if, according to an estimate, the clock of some CPU differs from CPU 0's clock by more than
 * `most` ticks.
 */
static bool is_far_apart(const struct align *align, int64_t most)
{
	for (uint32_t i = 0; i < align->looks; i++)
		for (uint32_t cpu = 0; cpu < align->cpus; cpu++) {
			int64_t forward = align->look[i].forward[cpu];

			if (forward != UNKNOWN && (forward > most || forward < -most))
				return true;
		}
	return false;
}

/* ---- Nodes: offsets at certain times ------------------------------------------------------------- */

static uint64_t node_stamp(const struct align *align, uint32_t node)
{
	return align->first + node * align->report->window;
}

static int make_nodes(struct align *align)
{
	uint64_t span = align->last - align->first, window = microseconds(align, WINDOW_US);

	if (window < span / WINDOWS + 1)
		window = span / WINDOWS + 1;
	align->report->window = window;
	align->nodes = (uint32_t)(span / window) + 2;
	align->offset = calloc((size_t)align->nodes * align->cpus, sizeof(*align->offset));
	align->solved = calloc((size_t)align->nodes * align->cpus, 1);
	return align->offset && align->solved ? 0 : KTREAD_E_MEMORY;
}

/* Interpolates the offsets of a CPU's unsolved nodes between its solved nodes. */
static void fill_between(struct align *align, uint32_t cpu)
{
	drift_fill(align->offset + cpu, align->solved + cpu, align->nodes, align->cpus);
}

static uint32_t nearest_node(const struct align *align, uint64_t stamp)
{
	uint64_t node = stamp < align->first ? 0 : (stamp - align->first) / align->report->window;

	return node < align->nodes ? (uint32_t)node : align->nodes - 1;
}

/*
 * Returns the maximum number of ticks by which a node may move a clock in either direction: the clock's
 * stated error, or BOUNDS_NONE if the clock has none. Offsets are linear between nodes, so the limit is the
 * smallest error of the clock at any time between the previous node and the next node. The error is smallest
 * in the middle of the time in which clocks were measured, and grows from there in both directions.
 */
static int64_t limit_at(const struct align *align, uint32_t node, uint32_t cpu)
{
	const struct ktread_info *info = ktread_info(align->trace);
	const uint64_t from = node_stamp(align, node ? node - 1 : 0), to = node_stamp(align, node + 1);
	uint64_t nearest = info->clock_from / 2 + info->clock_to / 2, error;

	if (nearest < from)
		nearest = from;
	else if (nearest > to)
		nearest = to;
	error = order_error_at(align->trace, cpu, nearest);
	return error < LIMIT_MOST ? (int64_t)error : BOUNDS_NONE;
}

static void keep_within_errors(struct align *align)
{
	for (uint32_t node = 0; node < align->nodes; node++)
		for (uint32_t cpu = 0; cpu < align->cpus; cpu++) {
			int64_t *offset = &align->offset[(size_t)node * align->cpus + cpu];
			int64_t limit = limit_at(align, node, cpu);

			if (*offset > limit)
				*offset = limit;
			else if (*offset < -limit)
				*offset = -limit;
		}
}

/*
 * Adds each estimate's offset to the offset of the node nearest in time, unless that node is solved already.
 */
static void use_looks(struct align *align, uint32_t cpu, uint64_t grain)
{
	struct drift drift = { .count = 0 };

	for (uint32_t i = 0; i < align->looks; i++) {
		size_t at = (size_t)nearest_node(align, align->look[i].stamp) * align->cpus + cpu;

		if (align->look[i].forward[cpu] == UNKNOWN || align->solved[at])
			continue;
		align->offset[at] += align->look[i].forward[cpu];
		align->solved[at] = 1;
		drift_add(&drift, (double)(at / align->cpus), (double)align->offset[at]);
	}
	if (drift_fit(&drift, (double)grain))
		for (uint32_t node = 0; node < align->nodes; node++)
			align->offset[(size_t)node * align->cpus + cpu] = (int64_t)drift_at(&drift, node);
	else
		fill_between(align, cpu);
	for (uint32_t node = 0; node < align->nodes; node++)
		align->solved[(size_t)node * align->cpus + cpu] = 0;
}

/*
 * Passes a CPU's offsets to the trace reader. Skips the times at which the corrected timestamp would be below
 * 0.
 */
static int apply_to(struct align *align, uint32_t cpu, struct ktread_clock_point *point)
{
	uint32_t count = 0;

	for (uint32_t node = 0; node < align->nodes; node++) {
		int64_t offset = align->offset[(size_t)node * align->cpus + cpu];
		uint64_t stamp = node_stamp(align, node);

		if (offset <= 0 || (uint64_t)offset <= stamp)
			point[count++] = (struct ktread_clock_point){ stamp - (uint64_t)offset, offset };
	}
	return ktread_align(align->trace, cpu, point, count);
}

static int apply(struct align *align)
{
	struct ktread_clock_point *point = malloc(align->nodes * sizeof(*point));
	int status = point ? 0 : KTREAD_E_MEMORY;

	keep_within_errors(align);
	for (uint32_t cpu = 0; cpu < align->cpus && status == 0; cpu++)
		status = apply_to(align, cpu, point);
	free(point);
	return status < 0 ? status : ktread_rewind(align->trace);
}

static size_t offsets_size(const struct align *align)
{
	return (size_t)align->nodes * align->cpus * sizeof(*align->offset);
}

/* Restores earlier offsets, and applies them. */
static int take_back(struct align *align, const int64_t *offset)
{
	memcpy(align->offset, offset, offsets_size(align));
	return apply(align);
}

/* ---- Moving effects after their causes ------------------------------------------------------------ */

static int solve_node(struct align *align, uint32_t node)
{
	int64_t room = (int64_t)microseconds(align, ROOM_US);
	int64_t *forward = malloc(align->cpus * sizeof(*forward));

	if (!forward)
		return KTREAD_E_MEMORY;
	for (uint32_t cpu = 0; cpu < align->cpus; cpu++) {
		int64_t limit = limit_at(align, node, cpu);
		int64_t offset = align->offset[(size_t)node * align->cpus + cpu];

		if (limit != BOUNDS_NONE)
			bounds_limit(&align->both, cpu, limit + offset, limit - offset);
	}
	align->given_up += bounds_solve(&align->both, room, forward);
	for (uint32_t cpu = 0; cpu < align->cpus; cpu++) {
		size_t at = (size_t)node * align->cpus + cpu;

		if (forward[cpu] == BOUNDS_NONE)
			continue;
		align->offset[at] += forward[cpu];
		align->solved[at] = 1;
	}
	free(forward);
	return 0;
}

/*
 * Adds the bounds of the current window to the nodes at both ends of that window. Then the node at the
 * window's beginning has all its bounds, and is solved.
 */
static int close_window(struct align *align)
{
	int status;

	bounds_merge(&align->both, &align->window);
	status = solve_node(align, align->at++);
	bounds_clear(&align->both);
	bounds_merge(&align->both, &align->window);
	bounds_clear(&align->window);
	return status;
}

static int take_pairs(struct align *align, const struct causes_pair *pair, uint32_t pairs, uint64_t stamp)
{
	uint64_t window = stamp < align->first ? 0 : (stamp - align->first) / align->report->window;
	int status = 0;

	while (align->at < window && align->at + 2 < align->nodes && status == 0)
		status = close_window(align);
	for (uint32_t i = 0; i < pairs; i++)
		bounds_add(&align->window, pair[i].from, pair[i].to,
			   (int64_t)(pair[i].effect - pair[i].cause));
	causes_count(&align->count, align->trace, pair, pairs);
	return status;
}

/* Reads the trace with the current alignment, and computes the correction that is still needed. */
static int read_once(struct align *align, uint64_t slack)
{
	struct causes *causes = causes_create(align->trace, align->way, slack);
	struct causes_pair pair[CAUSES_PAIRS];
	const struct ktread_event *event;
	int status = causes ? 1 : KTREAD_E_MEMORY;

	bounds_clear(&align->window);
	bounds_clear(&align->both);
	align->at = 0;
	align->count = (struct causes_count){ 0 };
	align->given_up = 0;
	while (status > 0 && (status = ktread_next(align->trace, &event)) > 0) {
		uint32_t pairs = causes_event(causes, event, wellknown_of(&align->known, event), pair);

		if (pairs > 0 && take_pairs(align, pair, pairs, event->stamp) < 0)
			status = KTREAD_E_MEMORY;
	}
	causes_destroy(causes);
	while (status == 0 && align->at < align->nodes)
		status = close_window(align);
	return status;
}

/*
 * Clocks usually drift evenly. If a CPU's solved nodes are near a straight line, moves all its nodes onto
 * the line; otherwise interpolates between solved nodes.
 */
static void straighten(struct align *align, uint32_t cpu)
{
	struct drift drift = { .count = 0 };
	uint32_t apart = align->nodes / DRIFT_POINTS + 1;

	for (uint32_t node = 0; node < align->nodes; node += apart)
		if (align->solved[(size_t)node * align->cpus + cpu])
			drift_add(&drift, (double)node,
				  (double)align->offset[(size_t)node * align->cpus + cpu]);
	if (!drift_fit(&drift, (double)microseconds(align, GRAIN_US))) {
		fill_between(align, cpu);
		return;
	}
	for (uint32_t node = 0; node < align->nodes; node++)
		align->offset[(size_t)node * align->cpus + cpu] = (int64_t)drift_at(&drift, node);
}

/*
 * Returns true if effects are not much farther from their causes now than when `before` was counted. With
 * CAUSES_IN_TURN, always returns true, because distances are a sign of wrong clocks only with CAUSES_NEAREST.
 */
static bool is_as_near(const struct align *align, const struct causes_count *before)
{
	return align->way == CAUSES_IN_TURN || !causes_nearer(before, &align->count);
}

/*
 * Moves clocks in several passes. The offsets of the best pass are kept, because contradictory bounds may
 * make the offsets worse from one pass to the next.
 */
static int refine(struct align *align, struct causes_count *best_count)
{
	int64_t *applied = malloc(offsets_size(align)), *best = malloc(offsets_size(align));
	struct causes_count fewest = { .early = UINT64_MAX, .beyond = UINT64_MAX }, first = { 0 };
	const uint32_t slack_us = align->way == CAUSES_NEAREST ? NEAR_SLACK_US : SLACK_US;
	int status = applied && best ? 0 : KTREAD_E_MEMORY;

	for (uint32_t pass = 0; pass < PASSES && fewest.early > 0 && status == 0; pass++) {
		memcpy(applied, align->offset, offsets_size(align));
		status = read_once(align, microseconds(align, slack_us));
		if (pass == 0)
			first = align->count;
		if (causes_fewer(&align->count, &fewest) && is_as_near(align, &first)) {
			fewest = align->count;
			align->report->given_up = align->given_up;
			memcpy(best, applied, offsets_size(align));
		}
		for (uint32_t cpu = 0; cpu < align->cpus && status == 0; cpu++)
			pass < STRAIGHT_PASSES ? straighten(align, cpu) : fill_between(align, cpu);
		if (status == 0)
			status = apply(align);
	}
	if (status == 0)
		status = take_back(align, best);
	*best_count = fewest;
	free(applied);
	free(best);
	return status;
}

/*
 * Refines with CAUSES_IN_TURN. If CAUSES_NEAREST finds much nearer causes, the kernel may not record some
 * causes, which makes later pairs of CAUSES_IN_TURN wrong. In this case refines with CAUSES_NEAREST as well,
 * and keeps the second result if its causes are still much nearer.
 */
static int refine_both(struct align *align)
{
	int64_t *start = malloc(offsets_size(align)), *in_turn = malloc(offsets_size(align));
	struct causes_count by[CAUSES_WAYS];
	int status = start && in_turn ? 0 : KTREAD_E_MEMORY;

	if (status == 0) {
		memcpy(start, align->offset, offsets_size(align));
		status = refine(align, &by[CAUSES_IN_TURN]);
	}
	if (status == 0 && align->nearer) {
		memcpy(in_turn, align->offset, offsets_size(align));
		align->way = CAUSES_NEAREST;
		status = take_back(align, start);
		if (status == 0)
			status = refine(align, &by[CAUSES_NEAREST]);
		if (status == 0 && !causes_nearer(&by[CAUSES_NEAREST], &by[CAUSES_IN_TURN])) {
			align->way = CAUSES_IN_TURN;
			status = take_back(align, in_turn);
		}
	}
	free(start);
	free(in_turn);
	return status;
}

/*
 * Moves the clocks by the estimated offsets. An estimate may be wrong, because two events may repeatedly have
 * the same distance for another reason. So undoes the move, unless it reduces the sum of the ticks by which
 * effects come before their causes. Does not compare the number of early effects: estimates are not precise,
 * so even after a good move, many effects may come slightly before their causes.
 */
static int try_looks(struct align *align, uint64_t reach, uint64_t grain)
{
	uint64_t before = align->count.ticks;
	int64_t *offset = malloc(offsets_size(align));
	int status;

	if (!offset)
		return KTREAD_E_MEMORY;
	memcpy(offset, align->offset, offsets_size(align));
	for (uint32_t cpu = 0; cpu < align->cpus; cpu++)
		use_looks(align, cpu, grain);
	status = apply(align);
	if (status == 0)
		status = look_through(align, NULL, reach);
	if (status == 0)
		status =
			align->count.ticks >= before ? take_back(align, offset) : ktread_rewind(align->trace);
	free(offset);
	return status;
}

static int look(struct align *align, const struct stage *stage)
{
	uint64_t reach = microseconds(align, stage->reach_us), grain = microseconds(align, stage->grain_us);
	struct coarse *coarse = NULL;
	int status;

	align->looks_apart = microseconds(align, stage->apart_us);
	if (align->cpus <= COARSE_CPUS) {
		coarse = coarse_create(align->cpus, reach, grain);
		if (!coarse)
			return KTREAD_E_MEMORY;
	}
	status = look_through(align, coarse, reach);
	coarse_destroy(coarse);
	if (status == 0)
		status = ktread_rewind(align->trace);
	if (status == 0 && stage == stages) {
		memcpy(align->before, align->look_by, sizeof(align->before));
		status = make_nodes(align);
	}
	if (status < 0 || align->count.early == 0)
		return status;
	if (!is_far_apart(align, 2 * (int64_t)grain)) {
		align->nearer |=
			causes_nearer(&align->look_by[CAUSES_NEAREST], &align->look_by[CAUSES_IN_TURN]);
		return 0;
	}
	return try_looks(align, reach, grain);
}

/*
 * Counts the effects that come before their causes, in the same way as before the alignment. If their number
 * has not decreased, undoes the alignment.
 */
static int keep_the_better(struct align *align)
{
	int status = look_through(align, NULL, microseconds(align, stages[0].reach_us));

	if (status == 0 && !causes_fewer(&align->count, &align->before[align->way])) {
		align->report->kept = 1;
		for (uint32_t cpu = 0; cpu < align->cpus && status == 0; cpu++)
			status = ktread_align(align->trace, cpu, NULL, 0);
	}
	return status < 0 ? status : ktread_rewind(align->trace);
}

static int solve(struct align *align)
{
	int status = look(align, &stages[0]);

	if (status < 0 || align->before[CAUSES_IN_TURN].early == 0)
		return status;
	for (size_t i = 1; i < STAGES && status == 0; i++)
		status = look(align, &stages[i]);
	if (status == 0)
		status = refine_both(align);
	return status < 0 ? status : keep_the_better(align);
}

int align_clocks(struct ktread *trace, struct align_report *report)
{
	const struct ktread_info *info = ktread_info(trace);
	struct align *align;
	int status;

	*report = (struct align_report){ 0 };
	if (info->records_only || info->cpus > ALIGN_CPUS_MAX || info->cpus == 0)
		return KTREAD_E_UNSUPPORTED;
	align = calloc(1, sizeof(*align));
	if (!align)
		return KTREAD_E_MEMORY;
	align->trace = trace;
	align->report = report;
	align->cpus = info->cpus;
	align->frequency = info->frequency ? info->frequency : USUAL_HZ;
	status = bounds_init(&align->window, align->cpus);
	if (status == 0)
		status = bounds_init(&align->both, align->cpus);
	align->first = ktread_first_stamp(trace);
	if (status == 0)
		status = solve(align);
	report->pairs = align->count.pairs;
	report->before = align->before[align->way].early;
	report->after = align->count.early;
	bounds_free(&align->window);
	bounds_free(&align->both);
	free(align->offset);
	free(align->solved);
	free(align);
	return status;
}
