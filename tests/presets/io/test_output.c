/* test_output.c - output files appear whole or not at all. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "presets/io/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

/* NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of a stand-in */
static int sync_count;

/* Stands in for the C library's: how often data was sent to the disk. */
/* NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming): its name */
int fsync(int __fd)
{
    sync_count++;
    return fcntl(__fd, F_GETFD) < 0 ? -1 : 0;
}
/* NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming) */

static struct fulcrum_output *open_and_write(const char *path, const char *text)
{
    struct fulcrum_output *output = NULL;
    ASSERT_OK(fulcrum_output_open(path, &output, NULL));
    CU_ASSERT(fputs(text, fulcrum_output_stream(output)) >= 0);
    return output;
}

static void assert_content(const char *path, const char *expected)
{
    char *text = scratch_read(path);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(text);
}

TEST(test_a_file_appears_on_commit_only)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_put(&scratch, "a.txt", "old");
    struct fulcrum_output *output = open_and_write(path, "new");
    (void)fflush(fulcrum_output_stream(output));
    assert_content(path, "old");
    ASSERT_OK(fulcrum_output_commit(output, NULL));
    assert_content(path, "new");
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    scratch_free(&scratch);
}

TEST(test_files_reach_the_disk_before_their_name_does)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "a.txt");
    sync_count = 0;
    ASSERT_OK(fulcrum_output_commit(open_and_write(path, "x"), NULL));
    CU_ASSERT_EQUAL(sync_count, 1);
    ASSERT_OK(fulcrum_output_commit(open_and_write("/dev/null", "x"), NULL));
    CU_ASSERT_EQUAL(sync_count, 1);
    scratch_free(&scratch);
}

TEST(test_a_text_becomes_a_file)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "a.txt");
    const char *nowhere = scratch_at(&scratch, "nowhere/a.txt");
    ASSERT_OK(fulcrum_output_text(path, "100 %s\n", NULL));
    assert_content(path, "100 %s\n");
    CU_ASSERT_EQUAL(fulcrum_output_text(nowhere, "x", NULL), FULCRUM_ERR_FILE);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    scratch_free(&scratch);
}

TEST(test_a_discarded_file_leaves_nothing)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "a.txt");
    fulcrum_output_discard(open_and_write(path, "new"));
    fulcrum_output_discard(NULL);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 0);
    scratch_free(&scratch);
}

TEST(test_two_outputs_of_one_path_do_not_mix)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "a.txt");
    struct fulcrum_output *first = open_and_write(path, "first");
    struct fulcrum_output *second = open_and_write(path, "second");
    ASSERT_OK(fulcrum_output_commit(second, NULL));
    ASSERT_OK(fulcrum_output_commit(first, NULL));
    assert_content(path, "first");
    scratch_free(&scratch);
}

static unsigned mode_of(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 ? (unsigned)there.st_mode & 0777U : 0;
}

TEST(test_modes_follow_the_umask_or_the_file_that_was_there)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "a.txt");
    mode_t before = umask(027);
    ASSERT_OK(fulcrum_output_commit(open_and_write(path, "x"), NULL));
    CU_ASSERT_EQUAL(mode_of(path), 0640);
    CU_ASSERT_EQUAL(chmod(path, 0604), 0);
    ASSERT_OK(fulcrum_output_commit(open_and_write(path, "y"), NULL));
    CU_ASSERT_EQUAL(mode_of(path), 0604);
    (void)umask(before);
    scratch_free(&scratch);
}

TEST(test_links_are_kept_and_their_targets_written)
{
    static const char *const targets[] = {"there.txt", "absent.txt"};
    struct scratch scratch = scratch_new();
    (void)scratch_put(&scratch, "there.txt", "old");
    const char *link = scratch_at(&scratch, "link.txt");
    for (size_t i = 0; i < 2; i++) {
        const char *target = scratch_at(&scratch, targets[i]);
        (void)unlink(link);
        CU_ASSERT_EQUAL_FATAL(symlink(targets[i], link), 0);
        ASSERT_OK(fulcrum_output_commit(open_and_write(link, "new"), NULL));
        struct stat there;
        CU_ASSERT_EQUAL(lstat(link, &there), 0);
        CU_ASSERT(S_ISLNK(there.st_mode));
        assert_content(target, "new");
    }
    scratch_free(&scratch);
}

TEST(test_devices_and_pipes_are_written_in_place)
{
    struct scratch scratch = scratch_new();
    const char *path = scratch_at(&scratch, "pipe");
    ASSERT_OK(fulcrum_output_commit(open_and_write("/dev/null", "x"), NULL));
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    /* Held open at both ends, so that nobody waits. */
    FILE *reader = fopen(path, "r+");
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    ASSERT_OK(fulcrum_output_commit(open_and_write(path, "line\n"), NULL));
    char line[16] = "";
    CU_ASSERT_PTR_NOT_NULL(fgets(line, sizeof line, reader));
    CU_ASSERT_STRING_EQUAL(line, "line\n");
    (void)fclose(reader);
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    scratch_free(&scratch);
}

TEST(test_a_full_device_is_a_failure)
{
    struct fulcrum_error err = {FULCRUM_OK, ""};
    if (access("/dev/full", W_OK) != 0) {
        return;
    }
    CU_ASSERT_EQUAL(fulcrum_output_commit(open_and_write("/dev/full", "x"), &err),
        FULCRUM_ERR_FILE);
    CU_ASSERT_STRING_EQUAL(
        err.detail, "/dev/full: cannot be written: No space left on device");
}

TEST(test_paths_that_cannot_be_written_fail_at_once)
{
    struct scratch scratch = scratch_new();
    const char *inside = scratch_at(&scratch, "absent/a.txt");
    const char *loop = scratch_at(&scratch, "loop");
    const char *slash = scratch_at(&scratch, "a/");
    CU_ASSERT_EQUAL_FATAL(symlink("loop", loop), 0);
    const char *const paths[] = {inside, loop, slash, scratch.folder, "", "/proc/a"};
    for (size_t i = 0; i < LENGTH(paths); i++) {
        struct fulcrum_output *output = NULL;
        struct fulcrum_error err = {FULCRUM_OK, ""};
        CU_ASSERT_EQUAL(fulcrum_output_open(paths[i], &output, &err), FULCRUM_ERR_FILE);
        CU_ASSERT_PTR_NULL(output);
        assert_part(err.detail, ": cannot be written: ");
        CU_ASSERT_EQUAL(strncmp(err.detail, paths[i], strlen(paths[i])), 0);
    }
    CU_ASSERT_EQUAL(scratch_count(&scratch), 1);
    scratch_free(&scratch);
}

TEST(test_standard_output_stays_open)
{
    static const char *const names[] = {NULL, "-", "/dev/stdout"};
    for (size_t i = 0; i < 3; i++) {
        struct fulcrum_output *output = open_and_write(names[i], "");
        CU_ASSERT_PTR_EQUAL(fulcrum_output_stream(output), stdout);
        ASSERT_OK(fulcrum_output_commit(output, NULL));
        fulcrum_output_discard(open_and_write(names[i], ""));
    }
    CU_ASSERT(fputs("", stdout) >= 0);
}

TEST(test_paths_of_one_file_are_known)
{
    struct scratch scratch = scratch_new();
    const char *there = scratch_put(&scratch, "there.txt", "old");
    const char *absent = scratch_at(&scratch, "absent.txt");
    const char *absent_too = scratch_at(&scratch, "./absent.txt");
    const char *link = scratch_at(&scratch, "link.txt");
    CU_ASSERT_EQUAL_FATAL(symlink(there, link), 0);
    CU_ASSERT(fulcrum_output_is_same(there, there));
    CU_ASSERT(fulcrum_output_is_same(link, there));
    CU_ASSERT(fulcrum_output_is_same(absent, absent_too));
    CU_ASSERT(!fulcrum_output_is_same(absent, there));
    CU_ASSERT(!fulcrum_output_is_same("-", "-"));
    CU_ASSERT(!fulcrum_output_is_same("/dev/null", "/dev/null"));
    CU_ASSERT(fulcrum_output_replaces(link, there));
    CU_ASSERT(!fulcrum_output_replaces(absent, absent_too));
    scratch_free(&scratch);
}
