/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Paths of the shim's private directory; only shim.c and shim_path.c use them. */
#ifndef CAPTURE_SHIM_PATH_H
#define CAPTURE_SHIM_PATH_H

#include <limits.h>

/* Path of the real QEMU for what was typed. 0 or CAPTURE_E_ABSENT. */
int capture_shim_real(char path[PATH_MAX], const char *directory, const char *typed);
/* Takes the shim out of this process's PATH: what QEMU starts is not our business. */
int capture_shim_leave_path(const char *directory);

#endif
