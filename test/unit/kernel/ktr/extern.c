/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Uses a KTR master that another file declares. */
/* clang-format off */
#include <sys/ktr.h>

#include "ktr.h"

#ifndef KTR_FORMS
#define KTR_FORMS	KTR_ALL
#endif

KTR_INFO_MASTER_EXTERN(forms);
KTR_INFO(KTR_FORMS, forms, elsewhere, 7, "elsewhere %016jx", uintmax_t offset);

void
extern_log(uint64_t offset)
{
	KTR_LOG(forms_elsewhere, (uintmax_t)offset);
	(void)offset;
}
