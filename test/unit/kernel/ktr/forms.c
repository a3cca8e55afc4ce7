/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Uses DragonFly's macros in all their forms. */
/* clang-format off */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/ktr.h>

#include "ktr.h"

typedef unsigned int u_int;

#if !defined(KTR_FORMS)
#define KTR_FORMS	KTR_ALL
#endif
#ifndef KTR_QUIET
#define KTR_QUIET	KTR_ALL
#endif

#define FORMS_FMT	"forms %s"

KTR_INFO_MASTER(forms);
KTR_INFO(KTR_FORMS, forms, nothing, 0, "no arguments");
KTR_INFO(KTR_FORMS, forms, one, 1, FORMS_FMT, const char *name);
KTR_INFO(KTR_FORMS, forms, name, 2, "%s", char *name);
KTR_INFO(KTR_FORMS, forms, small, 3, "%d %u %d %u %c %d", int8_t a, uint8_t b, int16_t c, uint16_t d,
    char e, bool f);
KTR_INFO(KTR_FORMS, forms, words, 4, "%d %u %ld %lu %jd %ju %zu", int a, u_int b, long c, unsigned long d,
    intmax_t e, uintmax_t f, size_t g);
KTR_INFO(KTR_FORMS, forms, state, 5, "%d of %p at %p", enum ifq_state state, const struct thread *td,
    void (*hook)(int));
KTR_INFO(KTR_FORMS, forms, twelve, 31, "%d %d %d %d %d %d %d %d %d %d %d %d", int a, int b, int c, int d,
    int e, int f, int g, int h, int i, int j, int k, int l);
/*
 * The bit of an event may be any number. The first event below has the bit of an earlier event. The bit of
 * the second event does not exist in a 32-bit mask.
 */
KTR_INFO(KTR_FORMS, forms, again, 31, "again %x", unsigned flags);
KTR_INFO(KTR_FORMS, forms, beyond, 40, "beyond %x", unsigned flags);
/* This event is left out at compile time, because its first argument is 0. */
KTR_INFO(0, forms, never, 6, "never %d", int value);

char forms_copy[] = "a copy";

KTR_INFO_MASTER(quiet);
KTR_INFO(KTR_QUIET, quiet, one, 0, "quiet %d", int value);

void
forms_log(const char *name, struct thread *td)
{
	KTR_LOG(forms_nothing);
	KTR_LOG(forms_one, name);
	KTR_LOG(forms_name, forms_copy);
	KTR_LOG(forms_small, -1, 255u, -300, 65535u, 'x', true);
	KTR_LOG(forms_words, -2, 3000000000u, -4L, 5UL, (intmax_t)-6, (uintmax_t)7, sizeof(forms_copy));
	KTR_LOG(forms_state, IFQ_BUSY, td, forms_hook);
	KTR_LOG(forms_twelve, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12);
	if (td)
		KTR_LOG(forms_again, 0x10u);
	else
		KTR_LOG(forms_beyond, 0x20u);
	KTR_COND_LOG(forms_beyond, name != NULL, 0x30u);
	KTR_COND_LOG(forms_nothing, name == NULL);
	(void)name, (void)td;
}

void
forms_log_off(int *evaluated)
{
	KTR_LOG(forms_never, ++*evaluated);
	KTR_LOG(quiet_one, ++*evaluated);
	KTR_COND_LOG(quiet_one, ++*evaluated, 1);
	(void)evaluated;
}
