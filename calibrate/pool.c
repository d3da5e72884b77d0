/* pool.c - the buffers of one owner: taken one by one, freed together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/pool.h"

#include <assert.h>
#include <stdlib.h>

void *fulcrum_pool_take(struct fulcrum_pool *pool, size_t count, size_t element_byte)
{
    assert(pool->item_count < FULCRUM_POOL_CAPACITY);
    void *item = calloc(count > 0 ? count : 1, element_byte);
    if (item == NULL) {
        pool->is_exhausted = 1;
        return NULL;
    }
    pool->items[pool->item_count] = item;
    pool->item_count++;
    pool->taken_byte += count * element_byte;
    return item;
}

float *fulcrum_pool_take_floats(struct fulcrum_pool *pool, size_t count)
{
    return fulcrum_pool_take(pool, count, sizeof(float));
}

void fulcrum_pool_clear(struct fulcrum_pool *pool)
{
    for (size_t i = 0; i < pool->item_count; i++) {
        free(pool->items[i]);
    }
    *pool = (struct fulcrum_pool){.item_count = 0};
}
