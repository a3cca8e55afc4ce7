# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The decoder of SPE neither crashes nor hangs over samples that are whole, cut anywhere, or changed in any bit.
exec build/test/asan/spe_replay --mutate test/golden/spe
