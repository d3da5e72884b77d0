/* reference.c - what references and their predictors are called. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/reference.h"

#include <stdlib.h>

void fulcrum_reference_free(struct fulcrum_reference *reference)
{
    if (reference == NULL) {
        return;
    }
    for (size_t i = 0; i < reference->point_count; i++) {
        free(reference->points[i].settings);
        free(reference->points[i].observations);
    }
    free(reference->points);
    free(reference->sources);
    free(reference);
}

static const struct {
    const char *name;
    const char *meaning;
} predictors[] = {
#define X(kind, name, meaning) {name, meaning},
    FULCRUM_PREDICTOR_LIST(X)
#undef X
};

const char *fulcrum_predictor_name(size_t predictor)
{
    return predictor < FULCRUM_PREDICTOR_COUNT ? predictors[predictor].name : NULL;
}

const char *fulcrum_predictor_meaning(size_t predictor)
{
    return predictor < FULCRUM_PREDICTOR_COUNT ? predictors[predictor].meaning : NULL;
}
