/* fake_stream.c - queues of the stand-in driver: what they hold runs when waited for.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fake_cuda/fake_stream.h"

#include <stdlib.h>
#include <string.h>

struct fake_operation {
    struct fake_operation *next;
    void (*run)(void *data, struct fake_stream *stream);
    double work_s;
    unsigned char data[]; /* of what is to be run */
};

static int queue(struct fake_stream *stream, const struct fake_work *work)
{
    struct fake_operation *operation = calloc(1, sizeof *operation + work->size);
    if (operation == NULL) {
        return FAKE_CUDA_OUT_OF_MEMORY;
    }
    operation->run = work->run;
    operation->work_s = work->work_s;
    memcpy(operation->data, work->data, work->size);
    if (stream->last == NULL) {
        stream->first = operation;
    } else {
        stream->last->next = operation;
    }
    stream->last = operation;
    return 0;
}

/* A failing kernel writes it. */
/* NOLINTNEXTLINE(readability-non-const-parameter) */
struct fake_stream *fake_stream_new(void *context, double sm_count, int *failure)
{
    struct fake_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL) {
        *stream = (struct fake_stream){.context = context,
            .sm_count = sm_count,
            .failure = failure,
            .queue = queue};
    }
    return stream;
}

static struct fake_operation *take(struct fake_stream *stream)
{
    struct fake_operation *operation = stream->first;
    if (operation != NULL) {
        stream->first = operation->next;
        stream->last = stream->first != NULL ? stream->last : NULL;
    }
    return operation;
}

int fake_stream_run(struct fake_stream *stream)
{
    for (struct fake_operation *operation = take(stream); operation != NULL;
         operation = take(stream)) {
        if (*stream->failure == 0) {
            stream->clock_s += operation->work_s > 0.0 ? FAKE_CUDA_LAUNCH_S : 0.0;
            stream->clock_s += operation->work_s / stream->sm_count;
            operation->run(operation->data, stream);
        }
        free(operation);
    }
    return *stream->failure;
}

void fake_stream_free(struct fake_stream *stream)
{
    for (struct fake_operation *operation = take(stream); operation != NULL;
         operation = take(stream)) {
        free(operation);
    }
    free(stream);
}
