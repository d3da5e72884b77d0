/* device_kernels.h - the kernels of network.cl and what each of them is given. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * This text is also the first part of the program that devices compile, before
 * kernels/network.cl. So it includes nothing and keeps to what C and OpenCL C share.
 */
#ifndef FULCRUM_CALIBRATE_DEVICE_KERNELS_H
#define FULCRUM_CALIBRATE_DEVICE_KERNELS_H

enum {
    FULCRUM_KERNEL_PLACES = 10,
    FULCRUM_KERNEL_COUNTS = 8,
    FULCRUM_KERNEL_NUMBERS = 6
};

/*
 * The same for all kernels, so that launching one is the same few lines for each.
 * Plain 32-bit members: the layout is the same on host and device. Places are offsets
 * into the arena in floats; which place, count and number is what stands above each
 * kernel in network.cl.
 */
struct fulcrum_kernel_arguments {
    unsigned int item_count; /* items beyond it fill up the last group: idle */
    unsigned int lane_count; /* items that share one row of a row kernel; 1 on a CPU */
    unsigned int place[FULCRUM_KERNEL_PLACES];
    unsigned int count[FULCRUM_KERNEL_COUNTS];
    float number[FULCRUM_KERNEL_NUMBERS];
};

/* Items of a group of multiply_tile, and the edge of the square it computes. */
enum { FULCRUM_TILE_ITEMS = 256, FULCRUM_TILE = 64 };

/* Rows and columns that one item of the multiply_block kernels computes. */
enum { FULCRUM_BLOCK_ROWS = 8, FULCRUM_BLOCK_COLS = 32, FULCRUM_DOT_EDGE = 4 };

/* Elements of one row of a kernel that works on an array without rows. */
enum { FULCRUM_FLAT_ROW = 4096 };

/* The entry point of a kernel is fulcrum_<name>. */
/* clang-format off */
#define FULCRUM_KERNEL_LIST(X)                             \
    X(FULCRUM_KERNEL_FILL,              fill)              \
    X(FULCRUM_KERNEL_ADD,               add)               \
    X(FULCRUM_KERNEL_COPY_ROWS,         copy_rows)         \
    X(FULCRUM_KERNEL_SUM_ROWS,          sum_rows)          \
    X(FULCRUM_KERNEL_WINDOWS_OF_BYTES,  windows_of_bytes)  \
    X(FULCRUM_KERNEL_WINDOWS,           windows)           \
    X(FULCRUM_KERNEL_ADD_WINDOWS,       add_windows)       \
    X(FULCRUM_KERNEL_ACTIVATE,          activate)          \
    X(FULCRUM_KERNEL_ACTIVATE_BACKWARD, activate_backward) \
    X(FULCRUM_KERNEL_JOIN,              join)              \
    X(FULCRUM_KERNEL_LSTM,              lstm)              \
    X(FULCRUM_KERNEL_LSTM_BACKWARD,     lstm_backward)     \
    X(FULCRUM_KERNEL_DUEL,              duel)              \
    X(FULCRUM_KERNEL_DUEL_BACKWARD,     duel_backward)     \
    X(FULCRUM_KERNEL_LARGEST,           largest)           \
    X(FULCRUM_KERNEL_TD,                td)                \
    X(FULCRUM_KERNEL_PPO,               ppo)               \
    X(FULCRUM_KERNEL_ADAM,              adam)              \
    X(FULCRUM_KERNEL_MULTIPLY_BLOCK,    multiply_block)    \
    X(FULCRUM_KERNEL_MULTIPLY_DOT,      multiply_dot)      \
    X(FULCRUM_KERNEL_MULTIPLY_TILE,     multiply_tile)
/* clang-format on */

enum fulcrum_kernel {
#define FULCRUM_KERNEL_ROW(constant, name) constant,
    FULCRUM_KERNEL_LIST(FULCRUM_KERNEL_ROW)
#undef FULCRUM_KERNEL_ROW
        FULCRUM_KERNEL_COUNT
};

#endif
