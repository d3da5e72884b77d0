/* origin.c - where the value of each field of a design came from. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/origin.h"

#include <stdio.h>
#include <string.h>

#include "model/overlay.h"

static int is_set(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field)
{
    for (size_t i = 0; i < inputs->setting_count; i++) {
        if (inputs->settings[i].field == field) {
            return 1;
        }
    }
    return 0;
}

/* The last calibration that gave the field, NULL if none did. */
static const struct fulcrum_parameter *calibrated(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field,
    const char **from)
{
    for (size_t i = inputs->calibration_count; i-- > 0;) {
        const struct fulcrum_calibration *calibration = inputs->calibrations[i];
        const struct fulcrum_parameter *parameter =
            fulcrum_calibration_parameter(calibration, field->path);
        if (parameter != NULL &&
            fulcrum_overlay_holds(calibration, &inputs->base.machine, field->path)) {
            *from = calibration->name;
            return parameter;
        }
    }
    return NULL;
}

struct fulcrum_origin_note fulcrum_origin_of(
    const struct fulcrum_design_inputs *inputs, const struct fulcrum_field *field)
{
    struct fulcrum_origin_note note = {"default", "", ""};
    if (is_set(inputs, field)) {
        note.kind = "set";
        return note;
    }
    /* The form of the CPU curve comes with its parameters. */
    const struct fulcrum_field *asked = strcmp(field->path, "machine.cpu.curve") == 0
                                            ? fulcrum_field_find("machine.cpu.knee")
                                            : field;
    const struct fulcrum_parameter *parameter = calibrated(inputs, asked, &note.from);
    if (parameter != NULL) {
        note.kind = fulcrum_origin_name(parameter->origin);
        note.text = parameter->source;
        return note;
    }
    const struct fulcrum_source *source =
        fulcrum_sources_find(&inputs->sources, field->path);
    if (source != NULL) {
        note.kind = source->is_prior ? "prior" : "source";
        note.from = source->file;
        note.text = source->text;
    }
    return note;
}

void fulcrum_calibration_names(
    const struct fulcrum_design_inputs *inputs, char *out, size_t size)
{
    size_t used = 0;
    (void)snprintf(out, size, "none");
    for (size_t i = 0; i < inputs->calibration_count && used < size; i++) {
        int length = snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
            inputs->calibrations[i]->name);
        used += length > 0 ? (size_t)length : 0;
    }
}
