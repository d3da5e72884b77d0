/* report_page.c - an HTML report: the document, its charts, its style sheet. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fulcrum_report_css.h"
#include "cli/report/report_section.h"
#include "model/try.h"

static void print_escaped(FILE *out, const char *format, va_list args)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream != NULL) {
        (void)vfprintf(stream, format, args);
        if (fclose(stream) == 0) {
            fulcrum_html_text(out, text);
        }
    }
    free(text);
}

void fulcrum_html_print(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_escaped(out, format, args);
    va_end(args);
}

void fulcrum_html_element(FILE *out, const char *tag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(out, "<%s>", tag);
    print_escaped(out, format, args);
    (void)fprintf(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
    va_end(args);
}

static void write_table(const struct fulcrum_table *table,
    struct fulcrum_report_case *machine, struct fulcrum_html_view view, FILE *out)
{
    bool has_intervals =
        machine != NULL && isfinite(fulcrum_report_output(machine, "steps_per_s").lo);
    struct fulcrum_string caption = {0};
    fulcrum_string_add(
        &caption, "%s%s", view.caption, has_intervals ? ", with 90 % intervals" : "");
    view.caption = fulcrum_string_get(&caption);
    (void)fulcrum_html_table(out, table, &view);
    fulcrum_string_clear(&caption);
}

void fulcrum_report_table(struct fulcrum_result *rows,
    struct fulcrum_report_case *machine, struct fulcrum_html_view view, FILE *out)
{
    write_table(fulcrum_result_table_of(rows, "rows"), machine, view, out);
    fulcrum_result_free(rows);
}

/* The pictures of a figure under way, and what the last one has to note. */
struct pictures {
    FILE *out;
    struct fulcrum_string notes;
};

static enum fulcrum_status draw_one(const struct fulcrum_report_figure *figure,
    struct fulcrum_result *result, struct fulcrum_extent extent,
    struct pictures *pictures, struct fulcrum_error *err)
{
    struct fulcrum_plot_job job = {
        .source = {.name = fulcrum_result_schema(result),
            .content = figure->content,
            .result = result,
            .is_lent = true},
        .plot = fulcrum_plot_find(figure->chart->name, figure->content),
        .parts = figure->parts,
        .scale = figure->scale,
    };
    struct fulcrum_canvas *canvas = NULL;
    TRY(fulcrum_canvas_new(&canvas, extent.width_pt, extent.height_pt, err));
    struct fulcrum_captions *captions = fulcrum_canvas_captions(canvas);
    captions->are_kept = true;
    enum fulcrum_status status = fulcrum_plot_draw(&job, canvas, err);
    if (status == FULCRUM_OK) {
        const char *note = captions->footnote != NULL ? captions->footnote : "";
        fulcrum_string_clear(&pictures->notes);
        /* Lines of a page are one paragraph here. */
        for (; *note != '\0'; note++) {
            fulcrum_string_append(
                &pictures->notes, *note == '\n' ? "; " : note, *note == '\n' ? 2 : 1);
        }
        status = fulcrum_canvas_write_svg(canvas, figure->label, pictures->out, err);
    }
    fulcrum_canvas_free(canvas);
    fulcrum_plot_clear(&job);
    return status;
}

/* Drawn aside first: half a figure is none. */
void fulcrum_report_draw(const struct fulcrum_report_figure *figure,
    struct fulcrum_result *result, FILE *out)
{
    /* A phone shows 390 pixels less margins, at 1.2 a point. */
    const struct fulcrum_extent extents[] = {
        {620.0, figure->height_pt}, {300.0, figure->narrow_height_pt}};
    struct fulcrum_error refusal = {FULCRUM_OK, ""};
    char *text = NULL;
    size_t size = 0;
    struct pictures pictures = {
        .out = result != NULL ? open_memstream(&text, &size) : NULL};
    if (pictures.out == NULL) {
        return;
    }
    enum fulcrum_status status = FULCRUM_OK;
    for (size_t i = 0; i < 2 && status == FULCRUM_OK; i++) {
        (void)fprintf(pictures.out, "<div class=\"%s\">\n", i == 0 ? "wide" : "narrow");
        status = draw_one(figure, result, extents[i], &pictures, &refusal);
        (void)fputs("</div>\n", pictures.out);
    }
    if (fclose(pictures.out) == 0 && status == FULCRUM_OK) {
        const char *notes = fulcrum_string_get(&pictures.notes);
        bool has_stop = notes[0] == '\0' || notes[strlen(notes) - 1] == '.';
        (void)fprintf(out, "<figure>\n%s<figcaption>", text);
        fulcrum_html_print(out, "%s.%s%s%s", figure->label,
            notes[0] != '\0' ? " Notes: " : "", notes, has_stop ? "" : ".");
        (void)fputs("</figcaption>\n</figure>\n", out);
    } else {
        fulcrum_html_element(out, "p class=\"note\"", "%s: this cannot be drawn: %s.",
            figure->label, refusal.detail);
    }
    fulcrum_string_clear(&pictures.notes);
    free(text);
}

void fulcrum_report_print_words(const struct fulcrum_argv_text *words, FILE *out)
{
    struct fulcrum_string line = {0};
    fulcrum_argv_text_line(words, &line);
    fulcrum_html_text(out, fulcrum_string_get(&line));
    fulcrum_string_clear(&line);
}

void fulcrum_report_made_with(const struct fulcrum_reply *reply, FILE *out)
{
    /* Warnings of a sweep; those of the design stand beside the prediction. */
    const char *at = reply->warnings != NULL ? reply->warnings : "";
    while (*at != '\0') {
        size_t length = strcspn(at, "\n");
        if (strncmp(at, "calibration ", strlen("calibration ")) != 0) {
            fulcrum_html_element(out, "p class=\"note\"", "%.*s.", (int)length, at);
        }
        at += length + (at[length] == '\n');
    }
    (void)fputs("<p class=\"made\">Made with <code>fulcrum ", out);
    fulcrum_report_print_words(&reply->words, out);
    (void)fputs("</code></p>\n", out);
}

bool fulcrum_report_has_answer(const struct fulcrum_reply *reply, FILE *out)
{
    if (reply->result == NULL) {
        fulcrum_html_element(out, "p class=\"note\"",
            "This could not be worked out: %s.", reply->refusal.detail);
        fulcrum_report_made_with(reply, out);
    }
    return reply->result != NULL;
}

/* Styles of charts that the style sheet's s0, s1 and so on have. */
static const size_t part_styles[] = {0, 2, 1, 7};
enum { PART_STYLES = sizeof part_styles / sizeof part_styles[0] };

bool fulcrum_report_is_wanted(
    const struct fulcrum_report_job *job, const struct fulcrum_report_section *section)
{
    bool is_wanted = job->sections.count == 0;
    for (size_t i = 0; i < job->sections.count; i++) {
        is_wanted = is_wanted || strcmp(job->sections.items[i], section->id) == 0;
    }
    return is_wanted;
}

/* A section that asked and was not answered by any question does not apply. */
static bool applies(
    const struct fulcrum_report_section *section, struct fulcrum_report_case *machine)
{
    return !fulcrum_report_asks(section) ||
           fulcrum_report_replies_of(machine, section->id)->count > 0;
}

/* Whether the section stands in this report at all. */
static bool is_written(
    const struct fulcrum_report_job *job, const struct fulcrum_report_section *section)
{
    bool any = false;
    for (size_t i = 0; i < job->case_count; i++) {
        any |= applies(section, job->cases[i]);
    }
    return any && fulcrum_report_is_wanted(job, section) &&
           (section->scope != FULCRUM_REPORT_SEVERAL || job->case_count > 1);
}

/* Text, chart, tables and command line of each answer. */
static void write_replies(const struct fulcrum_report_section *section,
    struct fulcrum_report_case *machine, FILE *out)
{
    const struct fulcrum_report_figure *figure = &section->figure;
    struct fulcrum_report_replies *replies =
        fulcrum_report_replies_of(machine, section->id);
    for (size_t i = 0; i < replies->count; i++) {
        const struct fulcrum_reply *reply = &replies->items[i];
        if (!fulcrum_report_has_answer(reply, out)) {
            return;
        }
        if (i == 0) {
            (void)fprintf(out, "<p>%s</p>\n", section->text);
        }
        if (i == 0 && figure->chart != NULL &&
            (section->is_drawn == NULL || section->is_drawn(machine))) {
            fulcrum_report_draw(figure, reply->result, out);
        }
        for (size_t k = 0;
             k < FULCRUM_REPORT_TABLES_MOST && section->tables[k].key != NULL; k++) {
            write_table(fulcrum_result_table_of(reply->result, section->tables[k].key),
                section->tables[k].is_estimate ? machine : NULL,
                section->tables[k].view, out);
        }
        fulcrum_report_made_with(reply, out);
    }
}

static void write_section(const struct fulcrum_report_job *job,
    const struct fulcrum_report_section *section, FILE *out)
{
    size_t count = section->scope == FULCRUM_REPORT_EACH ? job->case_count : 1;
    (void)fprintf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">", section->id,
        section->id);
    fulcrum_html_text(out, section->title);
    (void)fputs("</h2>\n", out);
    for (size_t i = 0; i < count; i++) {
        struct fulcrum_report_case *machine = job->cases[i];
        if (!applies(section, machine)) {
            continue;
        }
        if (count > 1) {
            fulcrum_html_element(out, "h3", "%s", machine->name);
        }
        if (section->write != NULL) {
            section->write(machine, out);
        } else {
            write_replies(section, machine, out);
        }
    }
    (void)fputs("</section>\n", out);
}

static void write_contents(const struct fulcrum_report_job *job, FILE *out)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    (void)fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (size_t i = 1; sections[i] != NULL; i++) {
        if (is_written(job, sections[i])) {
            (void)fprintf(out, "<li><a href=\"#%s\">", sections[i]->id);
            fulcrum_html_text(out, sections[i]->title);
            (void)fputs("</a></li>\n", out);
        }
    }
    (void)fputs("</ul>\n</nav>\n", out);
}

/* "r2d2-atari on dgx-a100", or on how many machines. */
static void write_title(struct fulcrum_report_job *job, FILE *out)
{
    const char *workload = fulcrum_result_text_of(job->cases[0]->point, "workload");
    if (job->title != NULL) {
        fulcrum_html_text(out, job->title);
    } else if (job->case_count == 1) {
        fulcrum_html_print(out, "%s on %s", workload, job->cases[0]->name);
    } else {
        fulcrum_html_print(out, "%s on %zu machines", workload, job->case_count);
    }
}

void fulcrum_report_document_write(struct fulcrum_report_job *job, FILE *out)
{
    const struct fulcrum_report_section *const *sections = fulcrum_report_sections();
    (void)fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width, "
                "initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<meta name=\"generator\" content=\"fulcrum " FULCRUM_VERSION "\">\n"
                /* A browser asks a server for an icon unless it is given one. */
                "<link rel=\"icon\" href=\"data:,\">\n<title>",
        out);
    write_title(job, out);
    (void)fputs("</title>\n<style>\n", out);
    (void)fwrite(fulcrum_report_css, 1, sizeof fulcrum_report_css, out);
    for (size_t k = 0; k < PART_STYLES; k++) {
        (void)fprintf(
            out, ":root{--s%zu:#%06x}\n", k, fulcrum_palette_pen(part_styles[k]).rgb);
    }
    /* A chart's colours: what stands in the picture, and what a dark screen
     * shows. */
    size_t count = 0;
    const struct fulcrum_shade *shades = fulcrum_palette_shades(&count);
    (void)fputs("@media screen and (prefers-color-scheme:dark){\n", out);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out,
            "svg.chart [fill=\"#%06x\"]{fill:#%06x}"
            "svg.chart [stroke=\"#%06x\"]{stroke:#%06x}\n",
            shades[i].rgb, shades[i].dark_rgb, shades[i].rgb, shades[i].dark_rgb);
        for (size_t k = 0; k < PART_STYLES; k++) {
            if (fulcrum_palette_pen(part_styles[k]).rgb == shades[i].rgb) {
                (void)fprintf(out, ":root{--s%zu:#%06x}\n", k, shades[i].dark_rgb);
            }
        }
    }
    (void)fputs("}\n", out);
    (void)fputs("</style>\n</head>\n<body>\n"
                "<a class=\"skip\" href=\"#content\">To the content</a>\n"
                "<header>\n<p class=\"kicker\">Fulcrum: CPU and GPU in balance</p>\n"
                "<h1>",
        out);
    write_title(job, out);
    (void)fputs("</h1>\n</header>\n<main id=\"content\">\n", out);
    sections[0]->write(job->cases[0], out);
    write_contents(job, out);
    for (size_t i = 1; sections[i] != NULL; i++) {
        if (is_written(job, sections[i])) {
            write_section(job, sections[i], out);
        }
    }
    (void)fputs("</main>\n<footer>\n<p>Written by fulcrum " FULCRUM_VERSION
                " from models, calibrations and priors: predictions, not measurements, "
                "unless it says so.</p>\n</footer>\n</body>\n</html>\n",
        out);
}
