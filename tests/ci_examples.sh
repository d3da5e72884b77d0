#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# ci_examples.sh PROGRAM: runs the `fulcrum validate` command of each job file in docs/ci
# as it stands there, in a repository as docs/ci.md describes it. It must pass, write what
# the job uploads, and fail once the calibration has changed.
set -u
program=$(cd "$(dirname "$1")" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset FULCRUM_PRESETS
PATH=$program:$PATH
failed=0

fail() {
    printf '%s\n' "$*"
    failed=1
}

# command_in FILE OPTION: the `fulcrum validate` command with that option, lines continued
# by backslashes included.
command_in() {
    awk -v option="$2 " '
        /^ *fulcrum validate / { text = "" ; inside = 1 }
        inside { text = text $0 "\n" }
        inside && !/\\$/ {
            inside = 0
            if (index(text, option)) { printf "%s", text; exit }
        }' "$1"
}

# with_step_mean FACTOR: the calibration with a step that takes so many times as long.
with_step_mean() {
    awk -v factor="$1" '/"path": "workload.step.mean_s"/ { found = 1 }
        found && /"value":/ {
            sub(/[0-9.e+-]+,/, sprintf("%.17g,", factor * ($2 + 0)))
            found = 0
        } { print }' "$source/presets/calibrations/v100-inci2020.json" \
        >fulcrum/calibration.json
}

# run_job FILE EXPECTED: the command of a job file ends with that exit code.
run_job() {
    rm -f accuracy.xml accuracy.md
    command_in "$source/docs/ci/$1" --junit >command.sh
    [ -s command.sh ] || fail "docs/ci/$1: no 'fulcrum validate' with --junit in it"
    sh -e command.sh >sets.txt 2>messages.txt
    code=$?
    if [ "$code" -ne "$2" ]; then
        fail "docs/ci/$1: exit $code, $2 expected"
        cat messages.txt
    fi
    grep -q '<testcase' accuracy.xml || fail "docs/ci/$1: no test case in accuracy.xml"
    grep -q '^| my-box | v100-inci2020 ' accuracy.md ||
        fail "docs/ci/$1: my-box is not in accuracy.md"
}

mkdir -p "$work/fulcrum/references"
cd "$work" || exit 1
sed 's/"name": "inci2020-fig3-text"/"name": "my-box"/' \
    "$source/presets/references/inci2020-fig3-text.json" >fulcrum/references/my-box.json
with_step_mean 1

command_in "$source/docs/ci.md" --save-baseline >command.sh
[ -s command.sh ] || fail "docs/ci.md: no 'fulcrum validate' with --save-baseline in it"
sh -e command.sh >sets.txt 2>messages.txt || fail 'docs/ci.md: the command that stores predictions fails'
[ -s fulcrum/baseline.json ] || fail 'docs/ci.md: no baseline was stored'

for job in github-actions.yml gitlab-ci.yml; do
    with_step_mean 1
    run_job "$job" 0
    with_step_mean 1.3
    run_job "$job" 1
    grep -q 'my-box: .*: moved by' messages.txt ||
        fail "docs/ci/$job: the prediction that moved is not named"
    grep -q '<failure' accuracy.xml || fail "docs/ci/$job: accuracy.xml has no failure"
done

# The page shows the command of the job files.
for job in github-actions.yml gitlab-ci.yml; do
    command_in "$source/docs/ci/$job" --junit | sed 's/^ *//' >of-job.txt
    command_in "$source/docs/ci.md" --junit | sed 's/^ *//' >of-page.txt
    diff -u of-page.txt of-job.txt || fail "docs/ci.md shows another command than docs/ci/$job"
done
exit "$failed"
