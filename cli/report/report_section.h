/* report_section.h - the sections of the HTML report and what they are made of. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REPORT_REPORT_SECTION_H
#define FULCRUM_CLI_REPORT_REPORT_SECTION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/output/report.h"
#include "cli/plot/plot_job.h"
#include "model/status.h"
#include "presets/io/reader.h"
#include "presets/result/result_io.h"

/* Pieces of an HTML document: escaped text, tables, whiskers. */

/* Escaped text, made as by printf; no longer than 4000 bytes. */
void fulcrum_html_print(FILE *out, const char *format, ...) FULCRUM_PRINTF(2, 3);

/*
 * Begins a table that scrolls inside its own box where it is too wide.
 *   caption   says what it shows
 *   headings  of its columns; those that begin with '#' are of numbers, and are
 *             written without it
 */
void fulcrum_html_table_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count);

/* The same, but on a phone rows become blocks: for tables whose cells are sentences. */
void fulcrum_html_stack_begin(
    FILE *out, const char *caption, const char *const *headings, size_t count);

/* Ends either. */
void fulcrum_html_table_end(FILE *out);

/* A row begins with a cell that names it. */
void fulcrum_html_row_begin(FILE *out, const char *name);
void fulcrum_html_row_end(FILE *out);
void fulcrum_html_cell(FILE *out, const char *text);
/* Flush right, never broken. */
void fulcrum_html_cell_number(FILE *out, const char *text);

/* A number with its interval below it; "" is no interval. */
void fulcrum_html_cell_value(FILE *out, const char *value, const char *range);

/* A value and its interval on a scale from `least` to `most`. */
struct fulcrum_whisker {
    double value;
    double lo; /* NAN: no interval */
    double hi;
    double least;
    double most;
    double mark; /* a line across, such as at "no change"; NAN: none */
};

/* A cell with a dot on a line; `label` says the same in words. */
void fulcrum_html_cell_whisker(
    FILE *out, const struct fulcrum_whisker *whisker, const char *label);

/* What one command of the program answers to another. */

/*
 * A command line and the JSON that came of it. {0} is a legal start: nothing was asked.
 * Its owner calls fulcrum_reply_clear.
 */
struct fulcrum_reply {
    struct fulcrum_argv_text words; /* "explore", "-m", ...: without --format */
    struct json_object *document;   /* NULL: there is none, see `refusal` */
    struct fulcrum_error refusal;   /* why; "" where nothing was asked */
    char *warnings;                 /* lines; NULL: none */
    int exit_code;                  /* that the command would have given */
    struct fulcrum_reader unheard;  /* faults of what is looked up go here */
};

/*
 * Runs the command line `reply->words`, quietly and in this process, with --format
 * json. That the command refuses or cannot do it is an answer too: document stays NULL.
 *   context  gets the exit code of a command that was stopped
 *   fails    FULCRUM_ERR_INTERRUPTED, FULCRUM_ERR_NO_MEMORY, FULCRUM_ERR_FORMAT (what
 *            it wrote cannot be read)
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_reply_ask(struct fulcrum_reply *reply,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* Leaves it empty. */
void fulcrum_reply_clear(struct fulcrum_reply *reply);

/* The document itself; no value where there is none. Borrows from the reply. */
struct fulcrum_node fulcrum_reply_root(struct fulcrum_reply *reply);

/* A number of the outermost object; NAN where there is none. */
double fulcrum_reply_number(struct fulcrum_reply *reply, const char *key);

/* A copy of a text of it, cut to `size`; "" where there is none. */
void fulcrum_reply_text(
    struct fulcrum_reply *reply, const char *key, char *out, size_t size);

/* The text of a member of any object; "" where there is none, or it is longer. */
void fulcrum_node_member_text(
    const struct fulcrum_node *object, const char *key, char *out, size_t size);

/* The number of a member of any object; NAN where there is none. */
double fulcrum_node_member_number(const struct fulcrum_node *object, const char *key);

/* Elements of an array; 0 where it is none. */
size_t fulcrum_node_count(const struct fulcrum_node *array);

/* The sections of an HTML report, and what they are written from. */

/* What one HTML report is about, and what other commands said of it. */

enum {
    FULCRUM_REPORT_MACHINES_MOST = 8,
    FULCRUM_REPORT_SECTIONS_MOST = 32,
    FULCRUM_REPORT_QUESTIONS_MOST = 16 /* of one section on one machine */
};

/* The options of a report: those of a design, but for any number of machines. */
struct fulcrum_report_settings {
    struct fulcrum_text_list machines;
    struct fulcrum_design_settings design; /* its machine is each of those in turn */
    struct fulcrum_solve_settings solve;
    const char *title;
    struct fulcrum_text_list sections; /* to be written; none: all that apply */
};

/* What one section asked about one machine. */
struct fulcrum_report_replies {
    size_t count;
    struct fulcrum_reply items[FULCRUM_REPORT_QUESTIONS_MOST];
};

/* One machine of the report. */
struct fulcrum_report_case {
    char name[180];                  /* of the machine, as its prediction has it */
    struct fulcrum_argv_text design; /* "-m", ...: the options that choose the point */
    struct fulcrum_argv_text actors; /* "--actors", N, where it was given */
    struct fulcrum_argv_text solver; /* "--method", ..., where they were given */
    struct fulcrum_report_replies sections[FULCRUM_REPORT_SECTIONS_MOST];
};

struct fulcrum_report_job {
    const struct fulcrum_report_settings *settings;
    struct fulcrum_argv_text line; /* that makes this report again, but for -o */
    size_t case_count;
    struct fulcrum_report_case *cases[FULCRUM_REPORT_MACHINES_MOST];
};

/*
 *   settings  borrowed as long as the job
 *   out       the caller frees it with fulcrum_report_job_free
 *   context   gets exit code 2 where settings do not go together
 *   fails     FULCRUM_ERR_MISSING (no machine), FULCRUM_ERR_RANGE (too many),
 *             FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_report_job_new(
    const struct fulcrum_report_settings *settings, struct fulcrum_report_job **out,
    struct fulcrum_context *context, struct fulcrum_error *err);

/* Accepts NULL. */
void fulcrum_report_job_free(struct fulcrum_report_job *job);

/* Takes the name from the prediction; "this" says what it is. */
void fulcrum_report_name(struct fulcrum_report_case *machine);

/* What a section of that name asked; `count` is 0 where there is no such section, or it
 * asked nothing. */
struct fulcrum_report_replies *fulcrum_report_replies_of(
    struct fulcrum_report_case *machine, const char *section);

/* The prediction of the point: the document of `fulcrum predict`. */
struct fulcrum_reply *fulcrum_report_predicted(struct fulcrum_report_case *machine);

/* One output of it: value, and interval where there is one (NAN else). */
struct fulcrum_report_output {
    double value;
    double lo;
    double hi;
    const char *unit; /* as people are shown it: "%" for shares */
};

struct fulcrum_report_output fulcrum_report_output_of(
    struct fulcrum_report_case *machine, const char *name);

enum { FULCRUM_REPORT_CAPTION_SIZE = 160 };

/* A caption, with ", with 90 % intervals" behind it where the prediction has them. */
const char *fulcrum_report_caption(struct fulcrum_report_case *machine,
    const char *text, char out[FULCRUM_REPORT_CAPTION_SIZE]);

/* The value of a field in force at the point; NAN where it is none, or a text. */
double fulcrum_report_field(struct fulcrum_report_case *machine, const char *path);

/* 1 where environments are simulated on the GPU, and no actors step on the CPU. */
bool fulcrum_report_is_resident(struct fulcrum_report_case *machine);

/* 1 where the learner runs on GPUs. */
bool fulcrum_report_has_gpu(struct fulcrum_report_case *machine);

enum fulcrum_report_scope {
    FULCRUM_REPORT_EACH,   /* once for each machine, under its name where several are */
    FULCRUM_REPORT_ALL,    /* once for all of them */
    FULCRUM_REPORT_SEVERAL /* the same, where there is more than one */
};

/*
 * A section asks other commands of the program, and writes what they answered: a report
 * says nothing that they do not say. To add one: a record, and a line in
 * report_section.c.
 */
struct fulcrum_report_section {
    const char *id;    /* of its heading, and what --section calls it */
    const char *title; /* the heading */
    enum fulcrum_report_scope scope;
    /*
     * Adds the words of the i-th command line to ask about a machine, without those of
     * the design; "" as first word skips it. Returns 0 where there is none any more,
     * and at once where the section does not apply. NULL: asks nothing. The prediction
     * has been asked before.
     */
    int (*ask)(
        struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words);
    /*
     * Writes HTML below the heading. `machine` is the first one where the scope is all.
     *   fails    FULCRUM_ERR_NO_MEMORY; failures of `out` are left to its owner
     */
    enum fulcrum_status (*write)(struct fulcrum_report_job *job,
        struct fulcrum_report_case *machine, FILE *out, struct fulcrum_error *err);
};

/* In the order of the report, NULL-terminated; the first one is the summary. Static. */
const struct fulcrum_report_section *const *fulcrum_report_sections(void);

/* Name of the i-th section that --section may ask for; NULL beyond the last one. */
const char *fulcrum_report_section_name(int index);

/* A chart of what a command answered. */
struct fulcrum_report_figure {
    const char *label; /* what it shows, in words */
    enum fulcrum_plot_content content;
    enum fulcrum_status (*draw)(
        struct fulcrum_plot_job *job, struct fulcrum_error *err);
    const struct fulcrum_chart *chart; /* that fulcrum_plot_lines draws */
    double height_pt;                  /* of 620 points of width */
    double narrow_height_pt;           /* of 300: what a phone shows */
    struct fulcrum_plot_breakdown_options breakdown;
};

/*
 * Writes the chart twice, wide and narrow, of which the style sheet shows one, with
 * what the chart has to note below it. What cannot be drawn says why. reply    whose
 * document is drawn
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_report_draw(
    const struct fulcrum_report_figure *figure, struct fulcrum_reply *reply, FILE *out,
    struct fulcrum_error *err);

/* A command line as a shell reads it, escaped. */
void fulcrum_report_print_words(const struct fulcrum_argv_text *words, FILE *out);

/* "Made with ...": the command line of a reply, for who wants to go on from there. */
void fulcrum_report_made_with(const struct fulcrum_reply *reply, FILE *out);

/* A paragraph that says why there is nothing; 1 where there is an answer, 0 else. */
bool fulcrum_report_has_answer(const struct fulcrum_reply *reply, FILE *out);

/* The style sheet, with the colours of charts for dark screens. */
void fulcrum_report_style(FILE *out);

/*
 * The whole document.
 *   fails    FULCRUM_ERR_NO_MEMORY
 */
FULCRUM_MUST_CHECK enum fulcrum_status fulcrum_report_document_write(
    struct fulcrum_report_job *job, FILE *out, struct fulcrum_error *err);

/* In cli/report_<id>.c, report_sweeps.c, report_whatifs.c and report_inputs.c. */
extern const struct fulcrum_report_section fulcrum_report_summary;

extern const struct fulcrum_report_section fulcrum_report_machines;

extern const struct fulcrum_report_section fulcrum_report_prediction;

extern const struct fulcrum_report_section fulcrum_report_levers;

extern const struct fulcrum_report_section fulcrum_report_ratio;

extern const struct fulcrum_report_section fulcrum_report_actors;

extern const struct fulcrum_report_section fulcrum_report_time;

extern const struct fulcrum_report_section fulcrum_report_power;

extern const struct fulcrum_report_section fulcrum_report_sms;

extern const struct fulcrum_report_section fulcrum_report_plane;

extern const struct fulcrum_report_section fulcrum_report_node;

extern const struct fulcrum_report_section fulcrum_report_memory;

extern const struct fulcrum_report_section fulcrum_report_partition;

extern const struct fulcrum_report_section fulcrum_report_cluster;

extern const struct fulcrum_report_section fulcrum_report_sensitivity;

extern const struct fulcrum_report_section fulcrum_report_accuracy;

extern const struct fulcrum_report_section fulcrum_report_calibrations;

extern const struct fulcrum_report_section fulcrum_report_inputs;

extern const struct fulcrum_report_section fulcrum_report_method;

/* Rows that a command answered, as a table of an HTML report. */

/* Where a sweep is best, in words and as a table. */

/* What one metric does along the one axis of a sweep, from the member "optima". */
struct fulcrum_report_best {
    const char *metric; /* "throughput", ... */
    char shape[32];     /* as sweep_finding.c names it */
    double at;          /* of the best point: CPU/GPU ratio, or the field's value */
    double at_lo;       /* 90 % interval of that; NAN: none */
    double at_hi;
    double from; /* within 5 % of the best from here */
    double from_lo;
    double from_hi;
    double to; /* to here */
};

enum fulcrum_report_axis { FULCRUM_REPORT_AXIS_RATIO, FULCRUM_REPORT_AXIS_FIELD };

/*
 * Reads the i-th metric; returns 0 beyond the last one, or where the sweep has no best.
 * Where there is no CPU/GPU ratio, the field stands in for it and *axis says so.
 */
int fulcrum_report_best_read(struct fulcrum_reply *sweep, size_t i,
    enum fulcrum_report_axis *axis, struct fulcrum_report_best *out);

/* "within 5 % of its best from a CPU/GPU ratio of 1.2 on (0.6 to 1.2)". */
void fulcrum_report_best_words(
    const struct fulcrum_report_best *best, const char *axis, char *out, size_t size);

/*
 * A table with a row for each metric; nothing where the sweep has no best.
 *   axis     what the axis is called: "CPU/GPU ratio"
 */
void fulcrum_report_best_table(struct fulcrum_reply *sweep,
    enum fulcrum_report_axis wanted, const char *axis, FILE *out);

/* What is shown of a row in one column. */
struct fulcrum_report_column {
    const char *key;   /* member of each row */
    const char *title; /* begins with '#' where numbers are shown */
    const char *unit;  /* SI, "%" for shares, "x" for factors; NULL: a text */
    bool has_range;    /* members KEY_lo and KEY_hi are its interval */
};

enum { FULCRUM_REPORT_COLUMNS_MOST = 8 };

struct fulcrum_report_table {
    const char *caption;
    const char *rows; /* member of the document that holds them */
    struct fulcrum_report_column columns[FULCRUM_REPORT_COLUMNS_MOST];
    size_t column_count;
    const char *where; /* rows whose text member `where` is `is`; NULL: all */
    const char *is;
    size_t rows_most; /* 0: all */
};

/* Writes the table; the first column names the rows, and of the others those in which
 * some row has something. Nothing where there are no rows. Returns how many were
 * written. */
size_t fulcrum_report_rows_write(
    const struct fulcrum_report_table *whole, struct fulcrum_reply *reply, FILE *out);

#endif
