# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The page of a trace works in Chromium: numbers, hostile names, keyboard, mouse, verdict, address, damage.
. test/tap.sh

packages=build/test/viewer
chromium=$(command -v chromium)
if [ -z "$chromium" ]; then
	skip "the page works in a browser" "chromium is not installed"
	done_testing
fi
if [ ! -d "$packages/node_modules/playwright-core" ]; then
	skip "the page works in a browser" "$(cat $packages/reason 2>/dev/null || echo "make viewer-browser was not run")"
	done_testing
fi
# make_pages: writes all files that the test needs. Exit status 10 of ktrace why means that it has found
# something wrong with the guest.
make_pages() {
	mkdir "$tmp/why" &&
		build/test/why-traces "$tmp/why" >"$tmp/log" 2>&1 &&
		build/bin/ktrace html "$tmp/why/deadlock.ktrx" -o "$tmp/real.html" &&
		build/bin/ktrace summary --json "$tmp/why/deadlock.ktrx" >"$tmp/real.json" &&
		{ build/bin/ktrace why --json "$tmp/why/deadlock.ktrx" >"$tmp/why.json" || [ $? -eq 10 ]; } &&
		node test/viewer/pages.js build/gen/page.html "$tmp"
}
if ! make_pages 2>"$tmp/err"; then
	fail "the pages can be made" "$(cat "$tmp/err")"
	done_testing
fi
HOME=$tmp timeout -k 5 $limit node test/viewer/browser.mjs "$packages" "$chromium" "$tmp" 2>"$tmp/err"
status=$?
sed 's/^/# /' "$tmp/err"
exit $status
