/* shared_library.c - libraries of others, opened at run time where they are there. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "calibrate/shared_library.h"

#include "model/try.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RTLD_NODELETE is no part of POSIX; where there is none the library is never closed.
 */
#ifdef RTLD_NODELETE
#define KEEP_MAPPED RTLD_NODELETE
#else
#define KEEP_MAPPED 0
#endif

static void *open_one(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | KEEP_MAPPED);
}

/* What the loader says of the failure just met, on one line. */
static const char *reason(void)
{
    const char *text = dlerror();
    return text != NULL ? text : "no reason told";
}

/* A library that is there and does not load has a reason worth telling. */
static bool is_absence(const char *text)
{
    return strstr(text, "No such file") != NULL;
}

static enum fulcrum_status open_standard(
    void **out, const char *const *names, struct fulcrum_error *err)
{
    char why[400] = "";
    for (const char *const *name = names; *name != NULL; name++) {
        void *library = open_one(*name);
        if (library != NULL) {
            *out = library;
            return FULCRUM_OK;
        }
        const char *text = reason();
        if (why[0] == '\0' && !is_absence(text)) {
            (void)snprintf(why, sizeof why, "%s", text);
        }
    }
    return why[0] != '\0'
               ? fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s", why)
               : fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s not found", names[0]);
}

enum fulcrum_status fulcrum_shared_library_open(void **out, const char *variable,
    const char *const *names, struct fulcrum_error *err)
{
    const char *path = getenv(variable);
    if (path == NULL || path[0] == '\0') {
        return open_standard(out, names, err);
    }
    void *library = open_one(path);
    if (library == NULL) {
        const char *text = reason();
        return fulcrum_fail(err, FULCRUM_ERR_UNSUPPORTED, "%s = %s: %s", variable, path,
            is_absence(text) ? "not found" : text);
    }
    *out = library;
    return FULCRUM_OK;
}

void fulcrum_shared_library_close(void *library)
{
    if (library != NULL && KEEP_MAPPED != 0) {
        (void)dlclose(library);
    }
}

enum fulcrum_status fulcrum_shared_library_bind(void *library, void *table,
    const struct fulcrum_symbol *symbols, size_t count, struct fulcrum_error *err)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        FAIL_IF(address == NULL && !symbols[i].is_optional, err,
            FULCRUM_ERR_UNSUPPORTED, "the library has no function %s", symbols[i].name);
        /* ISO C has no cast from an object pointer to a function pointer. */
        memcpy((char *)table + symbols[i].offset, &address, sizeof address);
    }
    return FULCRUM_OK;
}
