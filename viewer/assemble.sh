#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
#	viewer/assemble.sh >build/gen/page.html
#
# Prints the page. `ktrace html` replaces the line <!--data--> with the data of a trace.
set -eu
cat "$(dirname "$0")/page.html"
