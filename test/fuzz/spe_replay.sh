# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The SPE decoder neither crashes nor hangs over samples that are intact, cut off anywhere, or changed in any
# bit.
exec build/test/asan/spe_replay --mutate test/golden/spe
