/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A JSON object a record, for programs. Records that were lost are one of their own: {"lost":17}. */
#ifndef KDUMP_JSON_H
#define KDUMP_JSON_H

#include "kdump/form.h"

extern const struct kdump_form kdump_form_json;

#endif
