/* scratch.c - a folder of its own for each test that needs files, or a stream. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "tests/support/scratch.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/suite.h"

struct scratch_path {
    char *path;
    struct scratch_path *next;
};

struct scratch scratch_new(void)
{
    struct scratch scratch = {.paths = NULL};
    const char *parent = getenv("TMPDIR");
    (void)snprintf(scratch.folder, sizeof scratch.folder, "%.150s/fulcrum-test-XXXXXX",
        parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(scratch.folder) == NULL) {
        perror(scratch.folder);
        exit(EXIT_FAILURE);
    }
    return scratch;
}

static int remove_one(
    const char *path, const struct stat *there, int type, struct FTW *place)
{
    (void)there;
    (void)type;
    (void)place;
    return remove(path);
}

void scratch_free(const struct scratch *scratch)
{
    (void)nftw(scratch->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    for (struct scratch_path *path = scratch->paths, *next = NULL; path != NULL;
         path = next) {
        next = path->next;
        free(path->path);
        free(path);
    }
}

char *scratch_path(const struct scratch *scratch, const char *file)
{
    size_t size = strlen(scratch->folder) + strlen(file) + 2;
    char *path = calloc(size, 1);
    if (path == NULL) {
        exit(EXIT_FAILURE);
    }
    (void)snprintf(path, size, "%s/%s", scratch->folder, file);
    return path;
}

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
}

char *scratch_write(const struct scratch *scratch, const char *file, const char *text)
{
    char *path = scratch_path(scratch, file);
    make_folders(path);
    FILE *stream = fopen(path, "w");
    if (stream == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    (void)fputs(text, stream);
    (void)fclose(stream);
    return path;
}

static const char *keep(struct scratch *scratch, char *path)
{
    struct scratch_path *kept = calloc(1, sizeof *kept);
    if (kept == NULL) {
        exit(EXIT_FAILURE);
    }
    kept->path = path;
    kept->next = scratch->paths;
    scratch->paths = kept;
    return path;
}

const char *scratch_at(struct scratch *scratch, const char *file)
{
    return keep(scratch, scratch_path(scratch, file));
}

const char *scratch_put(struct scratch *scratch, const char *file, const char *text)
{
    return keep(scratch, scratch_write(scratch, file, text));
}

enum { ROOM = 1 << 20 };

static char *text_room(void)
{
    char *text = calloc(ROOM, 1);
    if (text == NULL) {
        exit(EXIT_FAILURE);
    }
    return text;
}

char *scratch_read(const char *path)
{
    char *text = text_room();
    FILE *stream = fopen(path, "r");
    if (stream != NULL) {
        (void)fread(text, 1, ROOM - 1, stream);
        (void)fclose(stream);
    }
    return text;
}

size_t scratch_count(const struct scratch *scratch)
{
    size_t count = 0;
    DIR *listing = opendir(scratch->folder);
    while (listing != NULL && readdir(listing) != NULL) {
        count++;
    }
    if (listing != NULL) {
        (void)closedir(listing);
    }
    /* Without "." and "..". */
    return count >= 2 ? count - 2 : 0;
}

FILE *stream_new(void)
{
    FILE *stream = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    return stream;
}

char *stream_text(FILE *stream)
{
    char *text = text_room();
    rewind(stream);
    (void)fread(text, 1, ROOM - 1, stream);
    CU_ASSERT_EQUAL(fclose(stream), 0);
    return text;
}
