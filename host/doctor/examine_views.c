/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "analyze/wellknown.h"
#include "doctor/examine.h"

#define GROUP 16u

/* The type of a view's event; NULL: the kernel declares none. */
static const struct ktread_type *type_of(const struct facts *facts, const struct view *view)
{
	const char *dot = strchr(view->event, '.');
	char group[GROUP];

	snprintf(group, sizeof(group), "%.*s", (int)(dot - view->event), view->event);
	return ktread_type_find(facts->trace, group, dot + 1);
}

/* Declared twice, say in a header, an event has several types; any of them counts. */
static bool fired(const struct facts *facts, const struct ktread_type *type)
{
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *other =
			facts_fired(facts, id) ? ktread_type(facts->trace, id) : NULL;

		if (other && strcmp(other->group, type->group) == 0 && strcmp(other->name, type->name) == 0)
			return true;
	}
	return false;
}

/* Whether viewers understand the event: it has the fields that they need. */
static bool understood(const struct facts *facts, const struct ktread_type *type)
{
	return wellknown_bind(facts->known, type)->kind != WELLKNOWN_OTHER;
}

/* True if it is lit. */
static bool examine_event(struct doctor_report *report, const struct facts *facts, const struct view *view)
{
	const struct ktread_type *type = type_of(facts, view);

	if (!type)
		doctor_say_view(report, DOCTOR_DARK, view, "%s", view->lights);
	else if (!understood(facts, type))
		doctor_say_view(report, DOCTOR_WRONG, view,
				"%s lacks a field that viewers look for: doc/events.md has its name",
				view->event);
	else if (fired(facts, type))
		return true;
	else if (!(type->wanted & KTRX_STATE_RECORD))
		doctor_say(report, DOCTOR_NOTE, view->name, "%s is switched off", view->event);
	else
		doctor_say(report, DOCTOR_NOTE, view->name, "%s is declared and did not fire here",
			   view->event);
	return false;
}

/* Of a fact that the trace does not show: is it missing, or had it no need to come up? */
static enum doctor_mark mark_of(const struct patient *patient, const struct view *view)
{
	switch (view->bits) {
	case VIEW_PANIC:
	case VIEW_CALLERS:
	case VIEW_EXIT:
		return DOCTOR_NOTE;
	case VIEW_CPUS:
		return patient->cpus < 2 ? DOCTOR_OK : DOCTOR_DARK;
	case VIEW_IDLE:
		return patient->facts->lit & VIEW_MODES ? DOCTOR_NOTE : DOCTOR_DARK;
	default:
		return DOCTOR_DARK;
	}
}

static bool examine_fact(struct doctor_report *report, const struct patient *patient, const struct view *view)
{
	if (patient->facts->lit & view->bits)
		return true;
	switch (mark_of(patient, view)) {
	case DOCTOR_NOTE:
		doctor_say_view(report, DOCTOR_NOTE, view, "did not come up in this run: %s", view->lights);
		break;
	case DOCTOR_DARK:
		doctor_say_view(report, DOCTOR_DARK, view, "%s", view->lights);
		break;
	default:
		break;
	}
	return false;
}

/*
 * A linker that drops what nothing calls leaves a hook's function only where the kernel has a call of it. Others leave
 * all of them, so that it tells nothing of a kernel that was seen to call none.
 */
static bool may_be_called(const struct patient *patient, const struct view *view)
{
	return patient->facts->hooks && patient->has_kernel && patient->kernel.hooks & view->bits;
}

static bool examine_hook(struct doctor_report *report, const struct patient *patient, const struct view *view)
{
	if (patient->facts->hooks & view->bits)
		return true;
	if (may_be_called(patient, view))
		doctor_say_view(report, DOCTOR_NOTE, view, "linked in, and not called in this run: %s",
				view->lights);
	else
		doctor_say_view(report, DOCTOR_DARK, view, "%s", view->lights);
	return false;
}

static bool examine_view(struct doctor_report *report, const struct patient *patient, const struct view *view)
{
	switch (view->sign) {
	case VIEW_BY_EVENT:
		return examine_event(report, patient->facts, view);
	case VIEW_BY_FACT:
		return examine_fact(report, patient, view);
	case VIEW_BY_HOOK:
		return examine_hook(report, patient, view);
	default:
		return false;
	}
}

void examine_views(struct doctor_report *report, const struct patient *patient)
{
	char lit[DOCTOR_TEXT] = "";
	size_t at = 0;

	for (uint32_t n = 0; n < views_count; n++)
		if (examine_view(report, patient, &views[n]) && at < sizeof(lit))
			at += (size_t)snprintf(lit + at, sizeof(lit) - at, "%s%s", at ? ", " : "",
					       views[n].name);
	if (at)
		doctor_say(report, DOCTOR_OK, "lit", "%s", lit);
}
