# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
#
# The sanitized kdump over damaged process traces of every format: it ends with status 0 or 1, with no finding, and what it wrote
# is whole lines of printable text, in JSON also UTF-8. COUNT damaged copies a trace, each in one form in turn.
. test/tap.sh

count=${COUNT:-40}
kdump=$PWD/build/asan/bin/kdump
mutate=$PWD/build/test/cmd-mutate
cp test/golden/proc/*.ktrace "$tmp" && build/test/kdump-traces "$tmp" || exit 1
cd "$tmp" || exit 1
export ASAN_OPTIONS=max_allocation_size_mb=256:allocator_may_return_null=1:detect_leaks=1

form_number() { # N FILE
	format=$(expr "$2" : 'damaged-\([a-z0-9-]*\)\.')
	case $format in
	ktrx | dragonfly | freebsd*) set -- "$1" "$2" --format "$format" ;;
	*) set -- "$1" "$2" ;;
	esac
	n=$1 file=$2
	shift 2
	case $((n % 8)) in
	0) "$kdump" "$file" ;;
	1) "$kdump" --oneline "$@" "$file" ;;
	2) "$kdump" --json "$@" "$file" ;;
	3) "$kdump" --count "$file" ;;
	4) "$kdump" -AcdEHrRST -m 0 "$@" "$file" ;;
	5) "$kdump" -j -n -t csitlfpuy "$@" "$file" ;;
	6) "$kdump" --oneline --names -m 0 -TRE "$@" "$file" ;;
	7) "$kdump" --json -m 0 --table linux "$@" "$file" ;;
	esac
}

for trace in *.ktrace; do
	mkdir "damaged-$trace"
	"$mutate" "$trace" "$count" "damaged-$trace" || exit 1
	at=0
	findings=
	while [ "$at" -lt "$count" ]; do
		form_number "$at" "damaged-$trace/$at" >out 2>err
		status=$?
		printable='\11\12\40-\176'
		case $((at % 8)) in 2 | 7) printable="$printable"'\200-\377' ;; esac
		if [ "$status" -gt 1 ] || grep -q 'Sanitizer\|runtime error' err; then
			findings="$findings copy $at, status $status: $(grep -m 2 'ERROR\|runtime error' err);"
		elif [ -s out ] && [ -n "$(tail -c 1 out)" ]; then
			findings="$findings copy $at: the output ends in the middle of a line;"
		elif [ -n "$(LC_ALL=C tr -d "$printable" <out | tr '\0' x)" ]; then
			findings="$findings copy $at: a control character;"
		fi
		at=$((at + 1))
	done
	equal "$trace, $count damaged copies" "" "$findings"
done
done_testing
