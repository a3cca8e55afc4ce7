# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
SCRIPT_TESTS += test/lint/runnable.sh test/lint/rooms.sh test/lint/docs.sh test/lint/names.sh test/lint/form.sh test/lint/kernel_files.sh test/lint/manual.sh test/lint/commands.sh test/lint/messages.sh test/lint/words.sh test/lint/viewer.sh
CHECK_NEEDS += build/lib/libktread.a build/bin/ktrace
