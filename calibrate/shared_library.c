/* shared_library.c - libraries of others, opened at run time where they are there. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "calibrate/shared_library.h"

#include "model/try.h"

#include <dlfcn.h>
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

#define WHY_SIZE 2000

/*
 * The first that loads. `why` is what the loader says, on one line, of the first one
 * that is there and does not; "" where all are absent.
 */
static void *open_first(const char *const *names, char why[WHY_SIZE])
{
    void *library = NULL;
    why[0] = '\0';
    for (size_t i = 0; library == NULL && names[i] != NULL; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | KEEP_MAPPED);
        const char *told = library == NULL ? dlerror() : "";
        const char *text = told != NULL ? told : "no reason told";
        if (why[0] == '\0' && strstr(text, "No such file") == NULL) {
            (void)snprintf(why, WHY_SIZE, "%s", text);
        }
    }
    return library;
}

enum fulcrum_status fulcrum_shared_library_open(void **out, const char *variable,
    const char *const *names, struct fulcrum_error *err)
{
    char why[WHY_SIZE];
    const char *const told[] = {getenv(variable), NULL};
    bool is_told = told[0] != NULL && told[0][0] != '\0';
    void *library = open_first(is_told ? told : names, why);
    FAIL_IF(library == NULL && is_told, err, FULCRUM_ERR_UNSUPPORTED, "%s = %s: %s",
        variable, told[0], why[0] != '\0' ? why : "not found");
    FAIL_IF(library == NULL, err, FULCRUM_ERR_UNSUPPORTED, "%s%s",
        why[0] != '\0' ? why : names[0], why[0] != '\0' ? "" : " not found");
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
