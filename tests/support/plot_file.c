/* plot_file.c - a file, opened and drawn as `fulcrum plot` does it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/support/plot_file.h"

#include <math.h>
#include <stdio.h>

#include "model/try.h"
#include "tests/support/suite.h"
#include "tests/support/texts.h"

enum fulcrum_status plot_file_try(struct plot_file *out, const char *name,
    const char *text, struct fulcrum_error *err)
{
    *out = (struct plot_file){.scratch = scratch_new()};
    const char *path = text != NULL ? scratch_put(&out->scratch, name, text) : name;
    return fulcrum_plot_source_open(path, FULCRUM_PLOT_CONTENTS, &out->job.source, err);
}

void plot_file_open(struct plot_file *out, const char *name, const char *text)
{
    ASSERT_OK(plot_file_try(out, name, text, NULL));
}

static void find_chart(struct plot_file *file, const char *chart)
{
    file->job.plot = fulcrum_plot_find(chart, file->job.source.content);
    CU_ASSERT_EQUAL_FATAL(file->job.plot->content, file->job.source.content);
}

enum fulcrum_status plot_file_add(
    struct plot_file *file, const char *chart, struct fulcrum_error *err)
{
    find_chart(file, chart);
    return fulcrum_plot_prepare(&file->job, err);
}

enum fulcrum_status plot_file_draw(
    struct plot_file *file, const char *chart, struct fulcrum_error *err)
{
    double width_pt = file->job.width_pt > 0.0 ? file->job.width_pt : 900.0;
    double height_pt = file->job.height_pt > 0.0 ? file->job.height_pt : 700.0;
    find_chart(file, chart);
    fulcrum_canvas_free(file->canvas);
    ASSERT_OK(fulcrum_canvas_new(&file->canvas, width_pt, height_pt, NULL));
    return fulcrum_plot_draw(&file->job, file->canvas, err);
}

enum fulcrum_status plot_file_show(struct plot_file *out, const char *name,
    const char *text, const char *chart, struct fulcrum_error *err)
{
    plot_file_open(out, name, text);
    return plot_file_draw(out, chart, err);
}

static const struct fulcrum_result *result_of(const struct plot_file *file)
{
    return file->job.made != NULL ? file->job.made : file->job.source.result;
}

struct fulcrum_cell plot_file_cell(
    const struct plot_file *file, const char *table, size_t row, const char *key)
{
    return fulcrum_table_at(fulcrum_chart_table(result_of(file), table), row, key);
}

size_t plot_file_rows(const struct plot_file *file, const char *table)
{
    return fulcrum_table_rows(fulcrum_chart_table(result_of(file), table));
}

const char *plot_file_text(const struct plot_file *file, const char *key)
{
    const struct fulcrum_table *list = fulcrum_result_table_of(result_of(file), key);
    return list != NULL ? fulcrum_table_cell(list, 0, 0).text
                        : fulcrum_result_text_of(result_of(file), key);
}

void assert_said(const struct fulcrum_canvas *canvas, const struct said *said)
{
    for (; said->words != NULL; said++) {
        size_t count = count_texts(canvas, said->words);
        if (count != said->count) {
            (void)fprintf(stderr, "\n  '%s': %zu times", said->words, count);
        }
        CU_ASSERT_EQUAL(count, said->count);
    }
}

void plot_file_close(struct plot_file *file)
{
    fulcrum_plot_clear(&file->job);
    fulcrum_canvas_free(file->canvas);
    scratch_free(&file->scratch);
}

/* Opens a file and draws it by options. */
static enum fulcrum_status show_with(struct plot_file *out, const char *chart,
    const struct drawing *drawing, const struct fulcrum_plot_job *options,
    struct fulcrum_error *err)
{
    struct fulcrum_plot_job job = *options;
    plot_file_open(out, drawing->name, drawing->text);
    job.source = out->job.source;
    out->job = job;
    return plot_file_draw(out, chart, err);
}

void assert_drawing(const char *chart, const struct drawing *drawing,
    const struct fulcrum_plot_job *options)
{
    struct plot_file file;
    ASSERT_OK(show_with(&file, chart, drawing, options, NULL));
    assert_said(file.canvas, drawing->said);
    plot_file_close(&file);
}

void assert_drawings(const char *chart, const struct drawing *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_drawing(chart, &cases[i], &(struct fulcrum_plot_job){.parts = 0});
    }
}

void assert_refusal(const char *chart, const char *name, const struct refusal *refusal,
    const struct fulcrum_plot_job *options)
{
    struct plot_file file;
    const struct drawing drawing = {.name = name, .text = refusal->text};
    ASSERT_FAILS(show_with(&file, chart, &drawing, options, &err), refusal->status,
        refusal->part);
    plot_file_close(&file);
}

void assert_refusals(
    const char *chart, const char *name, const struct refusal *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_refusal(chart, name, &cases[i], &(struct fulcrum_plot_job){.parts = 0});
    }
}

void assert_cells(const struct plot_file *file, const char *table,
    const struct wanted *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double number = plot_file_cell(file, table, cells[i].row, cells[i].key).number;
        if (isnan(cells[i].number)) {
            CU_ASSERT(isnan(number));
        } else {
            /* 0 has no relative error. */
            assert_close(cells[i].key, number + 1.0, cells[i].number + 1.0, 1e-12);
        }
    }
}

void assert_cell_texts(const struct plot_file *file, const char *table,
    const struct wanted_text *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(
            plot_file_cell(file, table, cells[i].row, cells[i].key).text,
            cells[i].text);
    }
}
