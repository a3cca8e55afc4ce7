# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# Addresses of requests to the server of `ktrace open` neither crash the parser nor get past its checks, if they are
# intact, cut off or changed.
build/test/asan/serve_replay --truncate test/golden/serve
