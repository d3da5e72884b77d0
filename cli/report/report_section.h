/* report_section.h - the HTML report: what it asks other commands, and its sections. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CLI_REPORT_REPORT_SECTION_H
#define FULCRUM_CLI_REPORT_REPORT_SECTION_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/argv_text.h"
#include "cli/message.h"
#include "cli/options/options.h"
#include "cli/plot/plot_job.h"
#include "model/string.h"
#include "presets/result/quantity_text.h"

/*
 * A command line and the result that came of it. {0} is a legal start: nothing was
 * asked. Its owner calls fulcrum_reply_clear.
 */
struct fulcrum_reply {
    struct fulcrum_argv_text words; /* "explore", "-m", ...: without --format */
    struct fulcrum_result *result;  /* NULL: there is none, see `refusal` */
    struct fulcrum_error refusal;   /* why; "" where nothing was asked */
    char *warnings;                 /* lines; NULL: nothing was asked */
    int exit_code;                  /* that the command would have given */
};

/*
 * Runs the command line `reply->words`, quietly and in this process, on any thread.
 * That the command refuses or cannot do it is an answer too: the result stays NULL.
 */
void fulcrum_reply_ask(struct fulcrum_reply *reply);

/* Leaves it empty. */
void fulcrum_reply_clear(struct fulcrum_reply *reply);

enum {
    FULCRUM_REPORT_MACHINES_MOST = 8,
    FULCRUM_REPORT_SECTIONS_MOST = 32,
    FULCRUM_REPORT_QUESTIONS_MOST = 16 /* of one section on one machine */
};

/* What one section asked about one machine. */
struct fulcrum_report_replies {
    size_t count;
    struct fulcrum_reply items[FULCRUM_REPORT_QUESTIONS_MOST];
};

struct fulcrum_report_job;

/* One machine of the report. */
struct fulcrum_report_case {
    struct fulcrum_report_job *job;
    const char *preset;                 /* -m; borrowed */
    char name[180];                     /* of the machine, as its prediction has it */
    const struct fulcrum_result *point; /* of its prediction; NULL: not yet asked */
    struct fulcrum_report_replies sections[FULCRUM_REPORT_SECTIONS_MOST];
};

struct fulcrum_report_job {
    struct fulcrum_text_list sections;     /* to be written; none: all that apply */
    struct fulcrum_text_list calibrations; /* that were named */
    const char *title;                     /* NULL: workload and machine */
    double seed;
    struct fulcrum_argv_text line; /* that makes this report again, but for -o */
    size_t case_count;
    struct fulcrum_report_case *cases[FULCRUM_REPORT_MACHINES_MOST];
};

/* What a section of that name asked; `count` is 0 where it asked nothing. */
struct fulcrum_report_replies *fulcrum_report_replies_of(
    struct fulcrum_report_case *machine, const char *section);

/* What a section of that name was answered first; NULL: nothing. */
struct fulcrum_result *fulcrum_report_first(
    struct fulcrum_report_case *machine, const char *section);

/* The prediction of the point: the reply of `fulcrum predict`. */
struct fulcrum_reply *fulcrum_report_predicted(struct fulcrum_report_case *machine);

/* One output of it, with its interval where there is one (NAN else). */
struct fulcrum_cell fulcrum_report_output(
    struct fulcrum_report_case *machine, const char *name);

/* The value of a field in force at the point; NAN and "" where it is none. */
double fulcrum_report_field(struct fulcrum_report_case *machine, const char *path);
const char *fulcrum_report_field_text(
    struct fulcrum_report_case *machine, const char *path);

/* Whether environments are simulated on the GPU, and no actors step on the CPU. */
bool fulcrum_report_is_resident(struct fulcrum_report_case *machine);

/* Whether the learner runs on GPUs. */
bool fulcrum_report_has_gpu(struct fulcrum_report_case *machine);

/* Adds words, made as by printf and then split at spaces. */
void fulcrum_report_words(struct fulcrum_argv_text *words, const char *format, ...)
    FULCRUM_PRINTF(2, 3);

/* Escaped text, made as by printf. */
void fulcrum_html_print(FILE *out, const char *format, ...) FULCRUM_PRINTF(2, 3);

/* The same in an element: the tag is "li" or "p class=\"note\"". */
void fulcrum_html_element(FILE *out, const char *tag, const char *format, ...)
    FULCRUM_PRINTF(3, 4);

/*
 * The rows that were gathered as a table, with ", with 90 % intervals" behind the
 * caption where the prediction of `machine` has them (NULL: not). Frees the result.
 *   rows     with one table, "rows"
 */
void fulcrum_report_table(struct fulcrum_result *rows,
    struct fulcrum_report_case *machine, struct fulcrum_html_view view, FILE *out);

/* A chart of what a command answered. */
struct fulcrum_report_figure {
    const char *label; /* what it shows, in words */
    enum fulcrum_plot_content content;
    const struct fulcrum_chart *chart; /* NULL: none */
    double height_pt;                  /* of 620 points of width */
    double narrow_height_pt;           /* of 300: what a phone shows */
    int parts; /* of a breakdown: index of fulcrum_breakdowns, */
    int scale; /* and of enum fulcrum_row_scale */
};

/*
 * Writes the chart twice, wide and narrow, of which the style sheet shows one, with
 * what the chart has to note below it. What cannot be drawn says why; NULL is nothing.
 */
void fulcrum_report_draw(const struct fulcrum_report_figure *figure,
    struct fulcrum_result *result, FILE *out);

/* A command line as a shell reads it, escaped. */
void fulcrum_report_print_words(const struct fulcrum_argv_text *words, FILE *out);

/* "Made with ...": the command line of a reply, for who wants to go on from there. */
void fulcrum_report_made_with(const struct fulcrum_reply *reply, FILE *out);

/* A paragraph that says why there is nothing; true where there is an answer. */
bool fulcrum_report_has_answer(const struct fulcrum_reply *reply, FILE *out);

enum fulcrum_report_scope {
    FULCRUM_REPORT_EACH,   /* once for each machine, under its name where several are */
    FULCRUM_REPORT_ALL,    /* once for all of them */
    FULCRUM_REPORT_SEVERAL /* the same, where there is more than one */
};

enum { FULCRUM_REPORT_LINES_MOST = 2, FULCRUM_REPORT_TABLES_MOST = 2 };

/*
 * A section asks other commands of the program, and writes what they answered: a report
 * says nothing that they do not say. To add one: a record, and a line in
 * report_section.c. Below its heading stand, for each reply, the text, the chart, the
 * tables and the command line; or what `write` makes of it all.
 */
struct fulcrum_report_section {
    const char *id;    /* of its heading, and what --section calls it */
    const char *title; /* the heading */
    enum fulcrum_report_scope scope;
    bool (*when)(struct fulcrum_report_case *machine); /* it applies; NULL: always */
    /*
     * Command lines to ask, without the design; or what adds the words of one, or of
     * the i-th: no word skips it. They return false where there is none any more. The
     * prediction has been asked before.
     */
    const char *lines[FULCRUM_REPORT_LINES_MOST];
    bool (*ask)(struct fulcrum_report_case *machine, struct fulcrum_argv_text *words);
    bool (*ask_each)(
        struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words);
    const char *text; /* a paragraph */
    struct fulcrum_report_figure figure;
    bool (*is_drawn)(struct fulcrum_report_case *machine); /* NULL: always */
    struct {
        const char *key; /* of the result's table; NULL: none */
        struct fulcrum_html_view view;
        bool is_estimate; /* has the intervals of the prediction, if there are any */
    } tables[FULCRUM_REPORT_TABLES_MOST];
    /* `machine` is the first one where the scope is all. */
    void (*write)(struct fulcrum_report_case *machine, FILE *out);
};

/* In the order of the report, NULL-terminated; the first one is the summary. Static. */
const struct fulcrum_report_section *const *fulcrum_report_sections(void);

/* Name of the i-th section that --section may ask for; NULL beyond the last one. */
const char *fulcrum_report_section_name(int index);

/* Whether the section has questions of its own. */
bool fulcrum_report_asks(const struct fulcrum_report_section *section);

/* Adds the words of the i-th question; false where there is none any more. */
bool fulcrum_report_question(const struct fulcrum_report_section *section,
    struct fulcrum_report_case *machine, size_t i, struct fulcrum_argv_text *words);

/* Whether the section is among those that were asked for. */
bool fulcrum_report_is_wanted(
    const struct fulcrum_report_job *job, const struct fulcrum_report_section *section);

/* The whole document. */
void fulcrum_report_document_write(struct fulcrum_report_job *job, FILE *out);

/* In report_summary.c and report_point.c. */
extern const struct fulcrum_report_section fulcrum_report_summary,
    fulcrum_report_machines, fulcrum_report_levers, fulcrum_report_time,
    fulcrum_report_power, fulcrum_report_prediction, fulcrum_report_accuracy,
    fulcrum_report_calibrations, fulcrum_report_inputs, fulcrum_report_method;

/*
 * Adds where a sweep is best, "is best at a CPU/GPU ratio of 1.2 (90 %: 0.6 to 1.2)" or
 * as its shape has it; of threads where there is no ratio.
 *   optima   the table of that name of a sweep over threads, `i` its row
 */
void fulcrum_report_best_words(
    const struct fulcrum_table *optima, size_t i, struct fulcrum_string *out);

#endif
