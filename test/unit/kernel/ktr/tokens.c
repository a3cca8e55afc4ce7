/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Trace points in the style of DragonFly's own kernel: two events of one KTR master, one of which is
 * conditional.
 */
/* clang-format off */
#include <sys/ktr.h>

#include "ktr.h"

#if !defined(KTR_TOKENS)
#define KTR_TOKENS	KTR_ALL
#endif

KTR_INFO_MASTER(tokens);
KTR_INFO(KTR_TOKENS, tokens, acquire, 0,
    "acquire %p by %p",
    struct lwkt_token *tok, struct thread *td);
KTR_INFO(KTR_TOKENS, tokens, release, 1,
    "release %p by %p",
    struct lwkt_token *tok, struct thread *td);

void
tokens_log(struct lwkt_token *tok, struct thread *curthread, int some_condition)
{
	KTR_LOG(tokens_acquire, tok, curthread);
	KTR_COND_LOG(tokens_release, some_condition, tok, curthread);
	(void)tok, (void)curthread, (void)some_condition;
}
