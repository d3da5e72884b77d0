/* test_report.c - HTML reports: sound documents, escaped texts, the same bytes. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* setenv */

#include "cli/report/report_section.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "tests/support/markup.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* A report in a folder of its own. */
struct written {
    struct scratch scratch;
    char *text;
    int exit_code;
};

enum { WORDS_MOST = 40 };

/* `line` has words with a space between them; "-o FILE -q" is added. */
static struct written write_report(const char *line)
{
    const struct fulcrum_program program = {
        .name = "fulcrum", .purpose = "", .commands = fulcrum_commands()};
    struct written out = {.scratch = scratch_new()};
    char room[2000];
    char *words[WORDS_MOST];
    int count = 0;
    const char *path = scratch_at(&out.scratch, "report.html");
    (void)snprintf(room, sizeof room, "fulcrum report %s -o %s -q", line, path);
    char *rest = NULL;
    for (char *word = strtok_r(room, " ", &rest); word != NULL && count < WORDS_MOST;
         word = strtok_r(NULL, " ", &rest)) {
        words[count++] = word;
    }
    out.exit_code = fulcrum_program_run(&program, count, words);
    out.text = scratch_read(path);
    return out;
}

static void written_free(struct written *written)
{
    free(written->text);
    scratch_free(&written->scratch);
}

static void assert_sound(const struct written *written)
{
    char fault[MARKUP_FAULT_SIZE];
    CU_ASSERT_EQUAL(written->exit_code, 0);
    CU_ASSERT(markup_is_sound(written->text, fault));
    if (fault[0] != '\0') {
        (void)printf("\n    %s\n", fault);
    }
    CU_ASSERT_EQUAL(markup_count(written->text, "nan"), 0);
    CU_ASSERT_EQUAL(markup_count(written->text, "<script"), 0);
    CU_ASSERT_EQUAL(markup_count(written->text, "url("), 0);
    CU_ASSERT_EQUAL(markup_count(written->text, "@import"), 0);
    CU_ASSERT_EQUAL(markup_count(written->text, "<?xml"), 0);
    CU_ASSERT_EQUAL(markup_count(written->text, "<h1>"), 1);
    /* Each figure has a wide and a narrow picture. */
    size_t figures = markup_count(written->text, "<figure>");
    CU_ASSERT_EQUAL(markup_count(written->text, "class=\"chart\""), 2 * figures);
}

#define V100 "-m dgx-1-inci2020 -w r2d2-atari --actors 40 --intervals 8 "

TEST(test_a_report_has_every_section_that_applies)
{
    struct written report = write_report(V100);
    assert_sound(&report);
    for (int i = 0; fulcrum_report_section_name(i) != NULL; i++) {
        char heading[80];
        const char *id = fulcrum_report_section_name(i);
        (void)snprintf(heading, sizeof heading, "<h2 id=\"%s\">", id);
        bool is_several = strcmp(id, "machines") == 0;
        CU_ASSERT_EQUAL(markup_count(report.text, heading), is_several ? 0 : 1);
    }
    CU_ASSERT_EQUAL(markup_count(report.text, "could not be worked out"), 0);
    CU_ASSERT_EQUAL(markup_count(report.text, "cannot be drawn"), 0);
    assert_part(report.text, "<h1>r2d2-atari on dgx-1-inci2020</h1>");
    assert_part(report.text, "<code>fulcrum report -m dgx-1-inci2020 -w r2d2-atari "
                             "--actors 40 --intervals 8 "
                             "-o report.html</code>");
    written_free(&report);
}

/* Every field in force is there, with its origin. */
TEST(test_inputs_are_all_there)
{
    struct written report =
        write_report(V100 "--set workload.step.mean_s=0.003 --section inputs");
    size_t count = 0;
    const struct fulcrum_field *fields = fulcrum_fields(&count);
    size_t found = 0;
    assert_sound(&report);
    for (size_t i = 0; i < count; i++) {
        char cell[120];
        (void)snprintf(cell, sizeof cell, "<code>%s</code>", fields[i].path);
        size_t times = markup_count(report.text, cell);
        CU_ASSERT(times <= 1);
        found += times;
    }
    CU_ASSERT_EQUAL(found, markup_count(report.text, "<th scope=\"row\"><code>"));
    CU_ASSERT(found > 60);
    assert_part(report.text,
        "<code>workload.step.mean_s</code></th><td>0.003\xC2\xA0s</td>"
        "<td class=\"origin-set\">set here</td>");
    assert_part(report.text, "<td class=\"origin-prior\">prior</td>");
    CU_ASSERT_PTR_NULL(strstr(report.text, "<h2 id=\"ratio\">"));
    written_free(&report);
}

TEST(test_several_machines_are_compared)
{
    struct written report =
        write_report("-m dgx-a100 -m dgx-1 -w r2d2-atari --actors 64 "
                     "--intervals none --method fast "
                     "--section machines --section time");
    assert_sound(&report);
    assert_part(report.text, "<h1>r2d2-atari on 2 machines</h1>");
    CU_ASSERT_EQUAL(markup_count(report.text, "<h3>dgx-a100</h3>"), 1);
    CU_ASSERT_EQUAL(markup_count(report.text, "<h3>dgx-1</h3>"), 1);
    assert_part(report.text, "<h2 id=\"machines\">");
    assert_part(report.text, "is ahead, with");
    CU_ASSERT_PTR_NULL(strstr(report.text, "90 %: "));
    written_free(&report);
}

/* Names from a user's files and words from the command line are text, not markup. */
TEST(test_names_are_escaped)
{
    static const char machine[] =
        "{\"kind\":\"machine\",\"name\":\"<i>a&b</i>\","
        "\"extends\":\"dgx-1-inci2020\",\"title\":\"<b>bold</b> & \\\"co\\\"\","
        "\"cpu\":{\"name\":\"<img src=x onerror=alert(1)> & 'co'\"}}";
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, "a&b<i>.json", machine);
    char line[600];
    (void)snprintf(line, sizeof line,
        "-m %s -w r2d2-atari --actors 40 --intervals none --method fast "
        "--title <u>&\"it's\"</u>\xFF --section inputs --section method",
        path);
    struct written report = write_report(line);
    assert_sound(&report);
    assert_part(report.text,
        "<h1>&lt;u&gt;&amp;&quot;it&#39;s&quot;&lt;/u&gt;\xEF\xBF\xBD</h1>");
    assert_part(report.text, "&lt;img src=x onerror=alert(1)&gt; &amp; &#39;co&#39;");
    CU_ASSERT_EQUAL(markup_count(report.text, "<img"), 0);
    CU_ASSERT_EQUAL(markup_count(report.text, "<b>"), 0);
    CU_ASSERT_EQUAL(markup_count(report.text, "<u>"), 0);
    CU_ASSERT_EQUAL(markup_count(report.text, "<i>"), 0);
    written_free(&report);
    scratch_free(&scratch);
}

TEST(test_threads_do_not_change_the_bytes)
{
    static const char line[] = V100 "--section ratio --section actors --section levers";
    CU_ASSERT_EQUAL(setenv("OMP_NUM_THREADS", "1", 1), 0);
    struct written first = write_report(line);
    CU_ASSERT_EQUAL(setenv("OMP_NUM_THREADS", "3", 1), 0);
    struct written second = write_report(line);
    assert_sound(&first);
    CU_ASSERT_STRING_EQUAL(first.text, second.text);
    CU_ASSERT(strlen(first.text) > 20000);
    written_free(&first);
    written_free(&second);
}

TEST(test_another_seed_changes_them)
{
    struct written first = write_report(V100 "--section prediction");
    struct written second =
        write_report(V100 "--section prediction --section method --seed 2");
    assert_sound(&second);
    CU_ASSERT_STRING_NOT_EQUAL(first.text, second.text);
    assert_part(second.text, "Seed 2;");
    written_free(&first);
    written_free(&second);
}

/* What a learner on cores has none of is left out. */
TEST(test_a_machine_without_gpus_has_no_sms)
{
    struct written report = write_report("-m generic-server -w ppo-mujoco-ant "
                                         "-c xeon-vm-ant-mlp --actors 8 --intervals 4 "
                                         "--method fast --set machine.accelerator=cpu "
                                         "--set machine.cpu.core_count=16 "
                                         "--set machine.cpu.thread_count=32");
    assert_sound(&report);
    CU_ASSERT_PTR_NULL(strstr(report.text, "<h2 id=\"sms\">"));
    assert_part(report.text, "<h2 id=\"ratio\">");
    assert_part(report.text, "learner cores");
    written_free(&report);
}

/* Environments on the GPU: no actors, so no sweeps over them; placements instead. */
TEST(test_environments_on_the_gpu_have_placements)
{
    struct written report =
        write_report("-m dgx-a100 -w isaac-ant --intervals none --method fast");
    assert_sound(&report);
    CU_ASSERT_PTR_NULL(strstr(report.text, "<h2 id=\"actors\">"));
    CU_ASSERT_PTR_NULL(strstr(report.text, "<h2 id=\"ratio\">"));
    assert_part(report.text, "<h2 id=\"partition\">");
    assert_part(report.text, "environments on each GPU");
    CU_ASSERT_EQUAL(markup_count(report.text, "could not be worked out"), 0);
    CU_ASSERT_EQUAL(markup_count(report.text, "cannot be drawn"), 0);
    written_free(&report);
}

TEST(test_agents_are_trajectories_that_memory_may_hold_up)
{
    struct written report =
        write_report("-m dgx-h100 -w reasoning-8b --actors 256 --set run.gpu_count=8 "
                     "--method fast --intervals 8 --section ratio");
    assert_sound(&report);
    CU_ASSERT(markup_count(report.text, "256 live trajectories on") == 1);
    CU_ASSERT(markup_count(report.text, "no room for more trajectories") == 1);
    written_free(&report);
}

TEST(test_faults_leave_no_file)
{
    static const struct {
        const char *line;
        int exit_code;
    } cases[] = {
        {"-w r2d2-atari --actors 40", 2},
        {"-m dgx-1 --actors 40", 2},
        {"-m dgx-1 -m dgx-1 -w r2d2-atari --actors 40", 2},
        {"-m dgx-0 -w r2d2-atari --actors 40", 1},
        {"-m dgx-1 -w r2d2-atari --actors -3", 2},
        {"-m dgx-1 -w r2d2-atari --actors 40 --section rato", 2},
        {"-m dgx-1 -w r2d2-atari --actors 40 --set run.actor_cuont=3", 2},
        {"-m dgx-1 -w r2d2-atari --actors 40 --set run.gpu_count=9", 1},
        {"-m dgx-1 -w r2d2-atari --actors 40 --intervals some", 2},
        {"-m dgx-1 -m dgx-2 -m dgx-a100 -m dgx-h100 -m dgx-h200 -m dgx-b200 -m this "
         "-m gb200-nvl72 -m aws-p3-16xlarge -w r2d2-atari",
            2},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct written report = write_report(cases[i].line);
        CU_ASSERT_EQUAL(report.exit_code, cases[i].exit_code);
        if (report.exit_code != cases[i].exit_code) {
            (void)printf("\n    %s\n", cases[i].line);
        }
        CU_ASSERT_EQUAL(scratch_count(&report.scratch), 0);
        written_free(&report);
    }
}
