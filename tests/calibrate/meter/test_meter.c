/* test_meter.c - power meters on trees of files like the kernel's. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* seteuid */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/meter/meter.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define CAP  "sys/class/powercap/"
#define UNIT "sys/bus/event_source/devices/power/"

struct file {
    const char *path;
    const char *text;
};

static void write_file(const struct scratch *root, const char *name, const char *text)
{
    free(scratch_write(root, name, text));
}

/* A server: two packages with memory, one core plane, the platform, an mmio twin. */
static const struct file server[] = {
    {CAP "intel-rapl:0/name", "package-0\n"},
    {CAP "intel-rapl:0/energy_uj", "1000000\n"},
    {CAP "intel-rapl:0/max_energy_range_uj", "10000000\n"},
    {CAP "intel-rapl:0:0/name", "core\n"},
    {CAP "intel-rapl:0:1/name", "dram\n"},
    {CAP "intel-rapl:0:1/energy_uj", "500\n"},
    {CAP "intel-rapl:0:1/max_energy_range_uj", "65712999613\n"},
    {CAP "intel-rapl:1/name", "package-1\n"},
    {CAP "intel-rapl:1/energy_uj", "9000000\n"},
    {CAP "intel-rapl:1/max_energy_range_uj", "10000000\n"},
    {CAP "intel-rapl:2/name", "psys\n"},
    {CAP "intel-rapl-mmio:0/name", "package-0\n"},
    {CAP "intel-rapl/enabled", "1\n"},
};

static struct scratch make_files(const struct file *files, size_t count)
{
    struct scratch root = scratch_new();
    (void)chmod(root.folder, 0755);
    for (size_t i = 0; i < count; i++) {
        write_file(&root, files[i].path, files[i].text);
    }
    return root;
}

static struct scratch make_server(void)
{
    return make_files(server, LENGTH(server));
}

static const struct fulcrum_meter *const powercap = &fulcrum_meter_powercap;
static const struct fulcrum_meter *const perf = &fulcrum_meter_perf;

static struct fulcrum_meter_state *open_powercap(const struct scratch *root)
{
    struct fulcrum_meter_state *state = NULL;
    ASSERT_OK(powercap->open(root->folder, &state, NULL));
    return state;
}

static void assert_unsupported(
    const struct fulcrum_meter *meter, const struct scratch *root, const char *detail)
{
    struct fulcrum_meter_state *state = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    CU_ASSERT_EQUAL(meter->open(root->folder, &state, &err), FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_UNSUPPORTED);
    assert_part(err.detail, detail);
    CU_ASSERT_PTR_NULL(state);
}

TEST(test_powercap_lists_packages_and_memory_once)
{
    static const struct fulcrum_meter_domain expected[] = {
        {.name = "package-0",
            .scope = FULCRUM_METER_CPU_PACKAGE,
            .most_window_s = 0.01,
            .detail = "intel-rapl:0/energy_uj"},
        {.name = "dram-0",
            .scope = FULCRUM_METER_DRAM,
            .most_window_s = 65.712999613,
            .detail = "intel-rapl:0:1/energy_uj"},
        {.name = "package-1",
            .scope = FULCRUM_METER_CPU_PACKAGE,
            .most_window_s = 0.01,
            .detail = "intel-rapl:1/energy_uj"},
    };
    struct scratch root = make_server();
    struct fulcrum_meter_state *state = open_powercap(&root);
    size_t count = 0;
    const struct fulcrum_meter_domain *domain = powercap->domains(state, &count);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_STRING_EQUAL(domain[i].name, expected[i].name);
        CU_ASSERT_EQUAL(domain[i].scope, expected[i].scope);
        assert_close("shortest", domain[i].least_window_s, 0.01, 1e-12);
        assert_close(
            "longest", domain[i].most_window_s, expected[i].most_window_s, 1e-9);
        assert_close("settles at once", domain[i].settle_s, 0, 0);
        assert_part(domain[i].detail, expected[i].detail);
    }
    powercap->close(state);
    scratch_free(&root);
}

/* From 1 J to 3.5 J; from 9 J over the wrap at 10 J to 0.25 J; twice. */
TEST(test_powercap_counts_joules_over_the_wrap)
{
    struct scratch root = make_server();
    struct fulcrum_meter_state *state = open_powercap(&root);
    double energy_j[3] = {-1, -1, -1};
    ASSERT_OK(powercap->read(state, energy_j, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_close("at open", energy_j[i], 0, 0);
    }
    write_file(&root, CAP "intel-rapl:0/energy_uj", "3500000\n");
    write_file(&root, CAP "intel-rapl:0:1/energy_uj", "1500\n");
    write_file(&root, CAP "intel-rapl:1/energy_uj", "250000\n");
    ASSERT_OK(powercap->read(state, energy_j, NULL));
    assert_close("package 0", energy_j[0], 2.5, 1e-12);
    assert_close("memory", energy_j[1], 1e-3, 1e-12);
    assert_close("package 1", energy_j[2], 1.25, 1e-12);
    write_file(&root, CAP "intel-rapl:1/energy_uj", "200000\n");
    ASSERT_OK(powercap->read(state, energy_j, NULL));
    assert_close("package 0", energy_j[0], 2.5, 1e-12);
    assert_close("package 1", energy_j[2], 1.25 + 9.95, 1e-12);
    powercap->close(state);
    scratch_free(&root);
}

TEST(test_powercap_reports_a_counter_that_goes_away)
{
    static const char *const texts[] = {"", "12a\n", "-5\n", "99999999999999999999\n"};
    struct scratch root = make_server();
    struct fulcrum_meter_state *state = open_powercap(&root);
    for (size_t i = 0; i < LENGTH(texts); i++) {
        double energy_j[3] = {7, 7, 7};
        struct fulcrum_error err = {FULCRUM_OK, ""};
        write_file(&root, CAP "intel-rapl:1/energy_uj", texts[i]);
        CU_ASSERT_EQUAL(powercap->read(state, energy_j, &err), FULCRUM_ERR_FILE);
        CU_ASSERT_EQUAL(err.status, FULCRUM_ERR_FILE);
        assert_part(err.detail, "intel-rapl:1/energy_uj");
        assert_close("unchanged", energy_j[0], 7, 0);
    }
    char *path = scratch_path(&root, CAP "intel-rapl:0/energy_uj");
    (void)remove(path);
    free(path);
    double energy_j[3];
    CU_ASSERT_EQUAL(powercap->read(state, energy_j, NULL), FULCRUM_ERR_FILE);
    powercap->close(state);
    scratch_free(&root);
}

TEST(test_powercap_says_what_is_missing)
{
    static const struct {
        struct file change;
        const char *detail;
    } cases[] = {
        {{CAP "intel-rapl:0/energy_uj", "many\n"}, "\"many\" is not a whole number"},
        {{CAP "intel-rapl:0/max_energy_range_uj", ""}, "max_energy_range_uj: empty"},
        {{CAP "intel-rapl:7/energy_uj", "1\n"}, "intel-rapl:7/name: No such file"},
        {{CAP "intel-rapl:0:1/name",
             "a name that is far longer than any name of the kernel's\n"},
            "line too long"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct scratch root = make_server();
        write_file(&root, cases[i].change.path, cases[i].change.text);
        assert_unsupported(powercap, &root, cases[i].detail);
        scratch_free(&root);
    }
}

TEST(test_meters_are_unsupported_without_files)
{
    struct scratch root = scratch_new();
    for (const struct fulcrum_meter *const *m = fulcrum_meters(); *m != NULL; m++) {
        assert_unsupported(*m, &root, root.folder);
        CU_ASSERT_PTR_NOT_NULL((*m)->summary);
        (*m)->close(NULL);
    }
    write_file(&root, CAP "dtpm/name", "x\n");
    assert_unsupported(powercap, &root, "no package to read");
    scratch_free(&root);
}

TEST(test_open_first_takes_what_works_or_explains_every_meter)
{
    struct scratch root = make_server();
    const struct fulcrum_meter *meter = NULL;
    struct fulcrum_meter_state *state = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    ASSERT_OK(fulcrum_meter_open_first(
        &meter, &state, FULCRUM_METER_CPU_PACKAGE, root.folder, &err));
    CU_ASSERT_STRING_EQUAL(meter->name, "powercap");
    meter->close(state);
    scratch_free(&root);
    state = NULL;
    CU_ASSERT_EQUAL(fulcrum_meter_open_first(
                        &meter, &state, FULCRUM_METER_CPU_PACKAGE, root.folder, &err),
        FULCRUM_ERR_UNSUPPORTED);
    assert_part(err.detail, "powercap: ");
    assert_part(err.detail, "\nperf: ");
    CU_ASSERT_PTR_NULL(state);
    /* Memory is told beside packages; nothing is opened for it alone. */
    CU_ASSERT_EQUAL(
        fulcrum_meter_open_first(&meter, &state, FULCRUM_METER_DRAM, root.folder, &err),
        FULCRUM_ERR_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(state);
}

/* Root reads everything, so root becomes nobody for a moment. */
TEST(test_powercap_names_the_remedy_for_root_only_counters)
{
    const uid_t nobody = 65534;
    struct scratch root = make_server();
    char *path = scratch_path(&root, CAP "intel-rapl:0/energy_uj");
    struct fulcrum_meter_state *state = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    (void)chmod(path, 0);
    uid_t self = geteuid();
    CU_ASSERT_EQUAL_FATAL(self == 0 ? seteuid(nobody) : 0, 0);
    enum fulcrum_status status = powercap->open(root.folder, &state, &err);
    CU_ASSERT_EQUAL_FATAL(seteuid(self), 0);
    CU_ASSERT_EQUAL(status, FULCRUM_ERR_UNSUPPORTED);
    assert_part(err.detail, path);
    assert_part(err.detail, "sudo chmod a+r");
    free(path);
    scratch_free(&root);
}

/* Joules since `open` never fall below zero. */
static void try_meter(const struct fulcrum_meter *meter)
{
    struct fulcrum_meter_state *state = NULL;
    struct fulcrum_error err = {FULCRUM_OK, ""};
    enum fulcrum_status status = meter->open("", &state, &err);
    if (status != FULCRUM_OK) {
        CU_ASSERT_EQUAL(status, FULCRUM_ERR_UNSUPPORTED);
        CU_ASSERT(strlen(err.detail) > 0);
        return;
    }
    size_t count = 0;
    double energy_j[128] = {0};
    (void)meter->domains(state, &count);
    CU_ASSERT_FATAL(count > 0 && count <= 128);
    ASSERT_OK(meter->read(state, energy_j, NULL));
    CU_ASSERT(energy_j[0] >= 0);
    meter->close(state);
}

TEST(test_meters_of_this_machine_work_or_say_why)
{
    for (const struct fulcrum_meter *const *m = fulcrum_meters(); *m != NULL; m++) {
        try_meter(*m);
    }
}

static const struct file power_unit[] = {
    {UNIT "type", "21\n"},
    {UNIT "cpumask", "0,18\n"},
    {UNIT "events/energy-pkg", "event=0x02\n"},
    {UNIT "events/energy-pkg.scale", "2.3283064365386962890625e-10\n"},
    {UNIT "events/energy-pkg.unit", "Joules\n"},
};

static struct scratch make_power_unit(void)
{
    return make_files(power_unit, LENGTH(power_unit));
}

TEST(test_perf_event_refuses_garbage)
{
    static const struct {
        struct file change;
        const char *detail;
    } cases[] = {
        {{UNIT "type", "power\n"}, "type: \"power\""},
        {{UNIT "type", "4294967296\n"}, "too large"},
        {{UNIT "events/energy-pkg", "umask=2\n"}, "is not event=<number>"},
        {{UNIT "events/energy-pkg", "event=\n"}, "is not event=<number>"},
        {{UNIT "events/energy-pkg", "event=2,umask=1\n"}, "is not event=<number>"},
        {{UNIT "events/energy-pkg.scale", "0\n"}, "is not a number above 0"},
        {{UNIT "events/energy-pkg.scale", "nan\n"}, "is not a number above 0"},
        {{UNIT "events/energy-pkg.scale", "1e-10x\n"}, "is not a number above 0"},
        {{UNIT "events/energy-pkg.unit", "mJ\n"}, "\"mJ\" is not Joules"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct scratch root = make_power_unit();
        write_file(&root, cases[i].change.path, cases[i].change.text);
        assert_unsupported(perf, &root, cases[i].detail);
        scratch_free(&root);
    }
}

/* No kernel has this unit type, whatever the tests may do. */
TEST(test_perf_is_unsupported_where_the_kernel_refuses_the_event)
{
    struct scratch root = make_power_unit();
    write_file(&root, UNIT "type", "4294967294\n");
    assert_unsupported(perf, &root, "power events: perf_event_open");
    write_file(&root, UNIT "cpumask", "0;1\n");
    assert_unsupported(perf, &root, "\"0;1\" is not a list");
    scratch_free(&root);
}

/* The first of a good list is where the kernel refuses the event. */
TEST(test_cpu_lists_are_parsed_or_refused)
{
    static const struct {
        const char *list;
        const char *detail;
    } rows[] = {{"0", "on processor 0:"}, {"18,0", "on processor 18:"},
        {"3-5", "on processor 3:"}, {"0-1,64,7", "on processor 0:"},
        {",", "not a list"}, {"0,", "not a list"}, {"a", "not a list"},
        {"1-", "not a list"}, {"-1", "not a list"}, {"5-3", "not a list"},
        {"0-64", "not a list"}, {"0 1", "not a list"}, {"9999999999", "not a list"}};
    struct scratch root = make_power_unit();
    write_file(&root, UNIT "type", "4294967294\n");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        write_file(&root, UNIT "cpumask", rows[i].list);
        assert_unsupported(perf, &root, rows[i].detail);
    }
    scratch_free(&root);
}
