# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Hardware trace read. An encoding whose library's headers are not here is left out (host/hwt/NAME_absent.c is in its place),
# and says so when it is asked for. The libraries themselves are loaded when they are first needed (hwt/library.h): no other
# command pays for them. libipt has no file for pkg-config, so the compiler is asked; its headers are where it looks anyway.
HWT_HAS_PT := $(shell printf '\043include <intel-pt.h>' | $(HOST_CC) -E -x c - >/dev/null 2>&1 && echo yes)
HWT_HAS_ETM4 := $(shell printf '\043include <opencsd/c_api/opencsd_c_api.h>' | $(HOST_CC) -E -x c - >/dev/null 2>&1 && echo yes)

# $(call hwt_encoding,<is its library there>,<name>): its sources.
hwt_encoding = $(or $(if $(1),$(filter-out %_absent.c,$(wildcard host/hwt/$(2)*.c))),host/hwt/$(2)_absent.c)

HWT_SRCS := $(filter-out host/hwt/pt%.c host/hwt/etm4%.c,$(wildcard host/hwt/*.c)) \
	$(call hwt_encoding,$(HWT_HAS_PT),pt) $(call hwt_encoding,$(HWT_HAS_ETM4),etm4)
KTRACE_SRCS += $(HWT_SRCS)
