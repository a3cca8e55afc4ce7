/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "findings/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void finding_say(char text[FINDING_LINE], const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(text, FINDING_LINE, format, values);
	va_end(values);
}

void finding_evidence(struct finding *finding, const char *format, ...)
{
	va_list values;

	if (finding->lines == FINDING_LINES)
		return;
	va_start(values, format);
	vsnprintf(finding->evidence[finding->lines++], FINDING_LINE, format, values);
	va_end(values);
}

void findings_add(struct findings *findings, enum finding_mark mark, const char *kind, const char *format,
		  ...)
{
	struct finding *grown =
		base_grow(findings->finding, &findings->room, (size_t)findings->count + 1, sizeof(*grown));
	va_list values;

	if (!grown) {
		findings->failed = true;
		return;
	}
	findings->finding = grown;
	grown += findings->count++;
	*grown = (struct finding){ .kind = kind, .mark = mark };
	grown->certain = mark == FINDING_OK	? FINDING_CERTAIN
			 : mark == FINDING_NOTE ? FINDING_POSSIBLE
						: FINDING_LIKELY;
	findings->marks[mark]++;
	va_start(values, format);
	vsnprintf(grown->what, FINDING_LINE, format, values);
	va_end(values);
}

/* NULL if it may not be the one that is meant. */
static struct finding *last_of(const struct findings *findings)
{
	return findings->count && !findings->failed ? &findings->finding[findings->count - 1] : NULL;
}

void findings_advise(struct findings *findings, const char *where, const char *format, ...)
{
	struct finding *finding = last_of(findings);
	va_list values;

	if (!finding)
		return;
	finding_say(finding->where, "%s", where);
	va_start(values, format);
	vsnprintf(finding->advice, FINDING_LINE, format, values);
	va_end(values);
}

void findings_set_certain(struct findings *findings, enum finding_certainty certain)
{
	struct finding *finding = last_of(findings);

	if (finding)
		finding->certain = certain;
}

void findings_free(struct findings *findings)
{
	free(findings->finding);
	memset(findings, 0, sizeof(*findings));
}
