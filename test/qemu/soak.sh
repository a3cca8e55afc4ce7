# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
# Runs the stress test for a minute on each architecture. SOAK_SECONDS: seconds for each architecture instead
# of a minute.
STRESS_SECONDS=${SOAK_SECONDS:-60} exec sh test/qemu/stress.sh
