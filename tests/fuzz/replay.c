/* replay.c - calls the entry point of a fuzzer with every file of a folder. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finding stops the program, as it stops the fuzzer; so does an empty folder. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The name that libFuzzer looks for. */
/* NOLINTNEXTLINE(readability-identifier-naming) */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTE = 1 << 20, PATH_SIZE = 4096 };

static int replay_file(const char *path, uint8_t *data)
{
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        perror(path);
        return 0;
    }
    size_t size = fread(data, 1, MOST_BYTE, stream);
    (void)fclose(stream);
    /* Told first, so that whoever reads of a finding knows the file. */
    (void)fprintf(stderr, "%s\n", path);
    return LLVMFuzzerTestOneInput(data, size) == 0;
}

static size_t replay_folder(const char *folder, uint8_t *data)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        perror(folder);
        return 0;
    }
    struct dirent *entry = readdir(entries);
    for (; entry != NULL; entry = readdir(entries)) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bool is_file = entry->d_name[0] != '.' && length > 0 && length < PATH_SIZE;
        count += is_file && replay_file(path, data) ? 1 : 0;
    }
    (void)closedir(entries);
    return count;
}

int main(int argc, char **argv)
{
    uint8_t *data = calloc(MOST_BYTE, 1);
    if (argc != 2 || data == NULL) {
        (void)fprintf(stderr, "usage: fuzz_replay FOLDER\n");
        free(data);
        return 2;
    }
    size_t count = replay_folder(argv[1], data);
    free(data);
    (void)fprintf(stderr, "%zu files\n", count);
    return count > 0 ? 0 : 1;
}
