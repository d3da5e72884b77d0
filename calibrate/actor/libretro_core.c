/* libretro_core.c - console emulators loaded from shared objects, one copy each. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A core keeps its console in global variables, so one loaded library is one console.
 * The loader recognises a library by its inode: each environment therefore loads a
 * nameless copy of the file, which is as private as a process of its own and steps
 * within the same thread. Files are checked before the loader maps them, since a
 * truncated one would end the program with SIGBUS.
 */
#define _POSIX_C_SOURCE 200809L

#include "calibrate/actor/libretro_core.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/shared_library.h"
#include "model/try.h"

#define LIBRETRO_API_VERSION 1U

/* No console's cartridge or core is larger; a disc image is no cartridge. */
#define FILE_BYTE_MAX ((off_t)256 << 20)

#if UINTPTR_MAX > 0xFFFFFFFFU
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#endif

/* The first match of a pattern such as /usr/lib/?/libretro/x.so. */
static enum fulcrum_status find_installed(
    char *path, size_t path_byte, const char *name, struct fulcrum_error *err)
{
    const char *folders[] = {getenv("LIBRETRO_DIRECTORY"), "/usr/lib/*/libretro",
        "/usr/lib/libretro", "/usr/local/lib/libretro", "/usr/local/lib/*/libretro"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char pattern[4096];
        glob_t found;
        int length = snprintf(pattern, sizeof pattern, "%s/%s_libretro.so",
            folders[i] != NULL ? folders[i] : "", name);
        if (folders[i] == NULL || (size_t)length >= sizeof pattern ||
            glob(pattern, 0, NULL, &found) != 0) {
            continue;
        }
        int got = snprintf(path, path_byte, "%s", found.gl_pathv[0]);
        globfree(&found);
        if (got >= 0 && (size_t)got < path_byte) {
            return FULCRUM_OK;
        }
    }
    return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED,
        "no core \"%s\": looked for %s_libretro.so in $LIBRETRO_DIRECTORY, "
        "/usr/lib/*/libretro, /usr/lib/libretro and /usr/local/lib/libretro (on "
        "Debian: apt install libretro-%s); a core elsewhere is given by its path",
        name, name, name);
}

enum fulcrum_status fulcrum_libretro_find(
    char *path, size_t path_byte, const char *name, struct fulcrum_error *err)
{
    if (strchr(name, '/') == NULL) {
        return find_installed(path, path_byte, name, err);
    }
    FAIL_IF(strlen(name) >= path_byte, err, FULCRUM_ERR_RANGE,
        "the path of a core is %zu bytes long, more than %zu", strlen(name),
        path_byte - 1);
    memcpy(path, name, strlen(name) + 1);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_libretro_file_read(struct fulcrum_libretro_file *out,
    const char *path, const char *what, struct fulcrum_error *err)
{
    struct stat info;
    FAIL_IF(stat(path, &info) != 0, err, FULCRUM_ERR_FILE, "%s \"%s\": %s", what, path,
        strerror(errno));
    FAIL_IF(!S_ISREG(info.st_mode), err, FULCRUM_ERR_FILE,
        "%s \"%s\" is not a regular file", what, path);
    FAIL_IF(info.st_size <= 0 || info.st_size > FILE_BYTE_MAX, err, FULCRUM_ERR_FORMAT,
        "%s \"%s\" has %lld bytes, expected 1 to %lld", what, path,
        (long long)info.st_size, (long long)FILE_BYTE_MAX);
    size_t size_byte = (size_t)info.st_size;
    assert(size_byte > 0);
    uint8_t *bytes = calloc(size_byte, 1);
    TRY_MEMORY(bytes, err, "%s \"%s\"", what, path);
    FILE *file = fopen(path, "rb");
    size_t got_byte = file != NULL ? fread(bytes, 1, size_byte, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (got_byte != size_byte) {
        free(bytes);
        return fulcrum_fail(
            err, FULCRUM_ERR_FILE, "%s \"%s\" cannot be read", what, path);
    }
    out->bytes = bytes;
    out->size_byte = size_byte;
    return FULCRUM_OK;
}

void fulcrum_libretro_file_free(struct fulcrum_libretro_file *file)
{
    free(file->bytes);
    *file = (struct fulcrum_libretro_file){NULL, 0};
}

/* The segments that the loader would map, checked against the end of the file. */
static int segments_are_whole(
    const struct fulcrum_libretro_file *image, const elf_header *header)
{
    size_t table_byte = (size_t)header->e_phnum * sizeof(elf_segment);
    if (header->e_phentsize != sizeof(elf_segment) ||
        header->e_phoff > image->size_byte ||
        table_byte > image->size_byte - header->e_phoff) {
        return 0;
    }
    for (size_t i = 0; i < header->e_phnum; i++) {
        elf_segment segment;
        memcpy(&segment, image->bytes + header->e_phoff + i * sizeof segment,
            sizeof segment);
        if (segment.p_offset > image->size_byte ||
            segment.p_filesz > image->size_byte - segment.p_offset) {
            return 0;
        }
    }
    return 1;
}

/*
 * dlopen refuses what is no shared object, but trusts the sizes in one that is: a
 * truncated download would end the program with a bus error.
 */
static enum fulcrum_status check_image(const struct fulcrum_libretro_file *image,
    const char *path, struct fulcrum_error *err)
{
    elf_header header;
    FAIL_IF(
        image->size_byte < sizeof header || memcmp(image->bytes, ELFMAG, SELFMAG) != 0,
        err, FULCRUM_ERR_FORMAT, "core \"%s\" is not a shared object (no ELF header)",
        path);
    memcpy(&header, image->bytes, sizeof header);
    FAIL_IF(header.e_type != ET_DYN, err, FULCRUM_ERR_FORMAT,
        "core \"%s\" is not a shared object (ELF type %u)", path,
        (unsigned)header.e_type);
    FAIL_IF(!segments_are_whole(image, &header), err, FULCRUM_ERR_FORMAT,
        "core \"%s\" is truncated, or made for another kind of machine", path);
    return FULCRUM_OK;
}

/* The loader tells libraries apart by their inode, so a new file is a new instance. */
static enum fulcrum_status load_copy(void **out,
    const struct fulcrum_libretro_file *image, const char *path,
    struct fulcrum_error *err)
{
    const char *folder = getenv("TMPDIR");
    char copy[4096];
    int length = snprintf(copy, sizeof copy, "%s/fulcrum-core-XXXXXX",
        folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    int file = length > 0 && (size_t)length < sizeof copy ? mkstemp(copy) : -1;
    FAIL_IF(file < 0, err, FULCRUM_ERR_FILE,
        "no temporary file for a copy of the core in $TMPDIR or /tmp: %s",
        strerror(errno));
    FILE *stream = fdopen(file, "wb");
    int written = stream != NULL &&
                  fwrite(image->bytes, 1, image->size_byte, stream) == image->size_byte;
    written = (stream != NULL ? fclose(stream) : close(file)) == 0 && written;
    void *library = written ? dlopen(copy, RTLD_NOW | RTLD_LOCAL) : NULL;
    (void)unlink(copy);
    FAIL_IF(!written, err, FULCRUM_ERR_FILE,
        "a copy of the core \"%s\" does not fit in \"%s\": %s", path, copy,
        strerror(errno));
    FAIL_IF(library == NULL, err, FULCRUM_ERR_FORMAT, "core \"%s\" does not load: %s",
        path, dlerror());
    *out = library;
    return FULCRUM_OK;
}

static enum fulcrum_status bind_calls(
    struct fulcrum_libretro_core *core, const char *path, struct fulcrum_error *err)
{
#define ROW(member)                                                                    \
    {                                                                                  \
        "retro_" #member, offsetof(struct fulcrum_libretro_core, member), false        \
    }
    static const struct fulcrum_symbol rows[] = {ROW(api_version), ROW(init),
        ROW(deinit), ROW(set_environment), ROW(set_video_refresh),
        ROW(set_audio_sample), ROW(set_audio_sample_batch), ROW(set_input_poll),
        ROW(set_input_state), ROW(get_system_info), ROW(get_system_av_info),
        ROW(set_controller_port_device), ROW(reset), ROW(run), ROW(serialize_size),
        ROW(serialize), ROW(unserialize), ROW(load_game), ROW(unload_game)};
#undef ROW
    struct fulcrum_error why = {FULCRUM_OK, ""};
    FAIL_IF(fulcrum_shared_library_bind(core->library, core, rows,
                sizeof rows / sizeof rows[0], &why) != FULCRUM_OK,
        err, FULCRUM_ERR_FORMAT, "\"%s\" is not a libretro core: %s", path, why.detail);
    FAIL_IF(core->api_version() != LIBRETRO_API_VERSION, err, FULCRUM_ERR_FORMAT,
        "core \"%s\" speaks libretro version %u, expected %u", path,
        core->api_version(), LIBRETRO_API_VERSION);
    return FULCRUM_OK;
}

enum fulcrum_status fulcrum_libretro_core_open(struct fulcrum_libretro_core *out,
    const struct fulcrum_libretro_file *image, const char *path,
    struct fulcrum_error *err)
{
    struct fulcrum_libretro_core core = {0};
    TRY(check_image(image, path, err));
    TRY(load_copy(&core.library, image, path, err));
    enum fulcrum_status status = bind_calls(&core, path, err);
    if (status != FULCRUM_OK) {
        fulcrum_libretro_core_close(&core);
        return status;
    }
    *out = core;
    return FULCRUM_OK;
}

void fulcrum_libretro_core_close(struct fulcrum_libretro_core *core)
{
    if (core->library != NULL) {
        (void)dlclose(core->library);
    }
    *core = (struct fulcrum_libretro_core){0};
}
