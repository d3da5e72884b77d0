#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# accuracy_moved.sh PROGRAM: changes one constant of a preset at a time by 10 % and fails
# unless `validate` notices each: it must exit with 1 and name what has moved.
set -u
program=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$(dirname "$0")/.." || exit 1
failed=0

# scaled FILE LINE: the file with the number of that line made 10 % larger.
scaled() {
    awk -v line="$2" 'NR == line {
        match($0, /: *[0-9.eE+-]+/)
        value = substr($0, RSTART + 1, RLENGTH - 1)
        $0 = substr($0, 1, RSTART) sprintf(" %.17g", 1.1 * value) \
            substr($0, RSTART + RLENGTH)
    } { print }' "$1"
}

# value_line FILE PATH: where the value of a calibration's parameter stands.
value_line() {
    awk -v path="\"$2\"" 'index($0, "\"path\": " path) { found = 1 }
        found && /"value":/ { print NR; exit }' "$1"
}

# expect_noticed KIND NAME WHAT LINE EXPECTED: a change on that line moves a prediction
# of the reference EXPECTED.
expect_noticed() {
    file=presets/$1/$2.json
    rm -rf "$work/presets"
    mkdir -p "$work/presets/$1"
    scaled "$file" "$4" >"$work/presets/$1/$2.json"
    if [ -z "$4" ] || cmp -s "$file" "$work/presets/$1/$2.json"; then
        printf '%s: %s was not found\n' "$file" "$3"
        failed=1
        return
    fi
    # shellcheck disable=SC2086 # no name: every reference, and designs
    FULCRUM_PRESETS=$work/presets "$program" validate ${6-$5} --quiet \
        >/dev/null 2>"$work/messages"
    code=$?
    if [ "$code" -eq 1 ] && grep -q "warning: $5: .*: moved by" "$work/messages"; then
        printf '%s of %s: noticed, %s\n' "$3" "$2" \
            "$(grep 'checks failed' "$work/messages")"
    else
        printf '%s of %s: exit %d, and %s is not said to have moved\n' \
            "$3" "$2" "$code" "$5"
        cat "$work/messages"
        failed=1
    fi
}

# expect_parameter_noticed CALIBRATION PATH EXPECTED
expect_parameter_noticed() {
    expect_noticed calibrations "$1" "$2" \
        "$(value_line "presets/calibrations/$1.json" "$2")" "$3"
}

expect_parameter_noticed v100-inci2020 workload.host.per_item_s inci2020-fig3-text
expect_parameter_noticed xeon-vm-ant-mlp workload.step.mean_s pipeline-ant-mlp
expect_parameter_noticed v100-prior workload.training.train_step_s inci2020-fig4-text
expect_parameter_noticed v100-prior workload.step.mean_s inci2020-fig3-further-text
expect_noticed machines dgx-1 idle_w \
    "$(grep -n '"idle_w": 40' presets/machines/dgx-1.json | cut -d: -f1)" \
    inci2020-fig3-power-text
expect_noticed machines dgx-a100 floor_w \
    "$(grep -n '"floor_w":' presets/machines/dgx-a100.json | cut -d: -f1 | head -1)" \
    dgx-a100 ''
exit "$failed"
