# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The parts of the page work without a browser: decoding, level of detail, search, flame graphs, addresses.
. test/tap.sh

if ! command -v node >/dev/null; then
	skip "the parts of the page work" "node is not installed"
	done_testing
fi
node test/viewer/unit.js
