# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The reader library.
KTREAD_SRCS += $(wildcard host/ktread/*.c)
