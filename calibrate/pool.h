/* pool.h - the buffers of one owner: taken one by one, freed together. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_CALIBRATE_POOL_H
#define FULCRUM_CALIBRATE_POOL_H

#include <stddef.h>

enum { FULCRUM_POOL_CAPACITY = 96 };

/* {0} is an empty pool. */
struct fulcrum_pool {
    void *items[FULCRUM_POOL_CAPACITY];
    size_t item_count;
    size_t taken_byte;
    int is_exhausted; /* 1 once memory ran out; look at it after the last take */
};

/*
 * Zeroed room for `count` elements, at least one. One allocation per buffer, so that
 * a sanitizer sees an overrun. Borrowed from the pool; NULL when memory ran out.
 */
void *fulcrum_pool_take(struct fulcrum_pool *pool, size_t count, size_t element_byte);

/* fulcrum_pool_take of floats. */
float *fulcrum_pool_take_floats(struct fulcrum_pool *pool, size_t count);

/* Frees every buffer; the pool is empty again. */
void fulcrum_pool_clear(struct fulcrum_pool *pool);

#endif
