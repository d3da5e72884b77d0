/* network.cl - the arithmetic of the networks on a compute device. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One text for every device, after device_kernels.h: OpenCL C 1.2; PTX for CUDA
 * (-DFULCRUM_PTX); C (-DFULCRUM_PLAIN_C), one call per item, for this machine's cores
 * (device_host.c) and for tests. What differs between them is in the macros below.
 *
 * Most kernels are row kernels: `lane_count` neighbouring items share a row and take
 * its elements in turn, so that items side by side touch memory side by side. On a CPU
 * (-DFULCRUM_ONE_LANE) one item has the row to itself and its loop is vectorised. Every
 * sum is made by one item in a fixed order: no atomics, the same bits in each run.
 *
 * Whole numbers that travel through the arena (actions) are floats: they are small.
 */
#if defined(FULCRUM_PLAIN_C)

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned char uchar;
/* As wide as addresses: loops whose indices might wrap do not vectorise. */
#define uint size_t
#define GLOBAL
#define F_EXP(x)  exp_clamped(x)
#define F_SQRT(x) sqrtf(x)
#define KERNEL(name)                                                                   \
    static inline void kernel_##name(                                                  \
        float *arena, struct fulcrum_kernel_arguments arguments, uint item)
#define ITEM item

/*
 * exp without a branch or a call, so that compilers vectorise the loops around it: one
 * call of the C library per element would cost a tenth of an inference.
 * exp(x) = 2^k exp(r) with |r| <= ln(2) / 2, and Taylor's series to the seventh power,
 * whose remainder there is 5e-9 of the result.
 */
static inline float exp_clamped(float x)
{
    /* Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits. */
    const float rounder = 12582912.0F;
    /* ln(2) in two parts: the first has few bits, so that k times it is exact. */
    const float ln2_high = 0.693359375F;
    const float ln2_low = -2.12194440e-4F;
    float bounded = x < -87.0F ? -87.0F : x;
    bounded = bounded > 87.0F ? 87.0F : bounded;
    const float shifted = bounded * 1.44269504F + rounder;
    const float k = shifted - rounder;
    const float r = bounded - k * ln2_high - k * ln2_low;
    float series = 1.0F / 5040.0F;
    series = series * r + 1.0F / 720.0F;
    series = series * r + 1.0F / 120.0F;
    series = series * r + 1.0F / 24.0F;
    series = series * r + 1.0F / 6.0F;
    series = series * r + 0.5F;
    series = series * r + 1.0F;
    series = series * r + 1.0F;
    uint32_t bits = 0;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + (UINT32_C(127) << 23);
    float power = 0.0F;
    memcpy(&power, &bits, sizeof power);
    return series * power;
}

#elif defined(FULCRUM_PTX)

/* Without the device library: the approximate instructions of the processor. */
#define GLOBAL    __global
#define LOCAL     __local
#define F_EXP(x)  __nvvm_ex2_approx_f((x)*1.44269504F)
#define F_SQRT(x) __nvvm_sqrt_rn_f(x)
#define KERNEL(name)                                                                   \
    __kernel void fulcrum_##name(                                                      \
        __global float *arena, const struct fulcrum_kernel_arguments arguments)
#define GROUP      ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define LOCAL_ITEM ((uint)__nvvm_read_ptx_sreg_tid_x())
#define ITEM       (GROUP * (uint)__nvvm_read_ptx_sreg_ntid_x() + LOCAL_ITEM)
#define BARRIER()  __syncthreads()
typedef unsigned char uchar;
typedef unsigned int uint;

#else

#define GLOBAL    __global
#define LOCAL     __local
#define F_EXP(x)  exp(x)
#define F_SQRT(x) sqrt(x)
#define KERNEL(name)                                                                   \
    __kernel void fulcrum_##name(                                                      \
        __global float *arena, const struct fulcrum_kernel_arguments arguments)
#define GROUP      ((uint)get_group_id(0))
#define LOCAL_ITEM ((uint)get_local_id(0))
#define ITEM       ((uint)get_global_id(0))
#define BARRIER()  barrier(CLK_LOCAL_MEM_FENCE)

#endif

/*
 * UNROLL: sums of a product stay in registers where no loop chooses among them.
 * EACH_ALONE: no element of the loop depends on another one, whatever overlaps.
 */
#if !defined(FULCRUM_PLAIN_C)
#define UNROLL _Pragma("unroll")
#define EACH_ALONE
#elif defined(__clang__)
#define UNROLL
#define EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#define UNROLL
#define EACH_ALONE _Pragma("GCC ivdep")
#endif

#define PLACE(i)  (arena + arguments.place[i])
#define COUNT(i)  (arguments.count[i])
#define NUMBER(i) (arguments.number[i])

/* SUM_COLS: columns that one item sums side by side, from one line of the cache. */
#if defined(FULCRUM_ONE_LANE)
#define LANES    1U
#define SUM_COLS 16U
#else
#define LANES    (arguments.lane_count)
#define SUM_COLS 1U
#endif
#define ROW  (ITEM / LANES)
#define LANE (ITEM % LANES)

#define RETURN_BEYOND_ITEMS                                                            \
    if (ITEM >= arguments.item_count) {                                                \
        return;                                                                        \
    }

/* The part of an array without rows that one row of items works on. */
#define FLAT_FIRST (ROW * FULCRUM_FLAT_ROW + LANE)
#define FLAT_END   least((ROW + 1U) * FULCRUM_FLAT_ROW, COUNT(0))

static inline uint least(uint a, uint b)
{
    return a < b ? a : b;
}

static inline float magnitude(float x)
{
    return x < 0.0F ? -x : x;
}

static inline float with_sign_of(float x, float sign)
{
    return sign < 0.0F ? -x : x;
}

static inline float sigmoid(float x)
{
    return 1.0F / (1.0F + F_EXP(-x));
}

/* tanh: absolute error below 3e-7. */
static inline float squash(float x)
{
    return 2.0F / (1.0F + F_EXP(-2.0F * x)) - 1.0F;
}

/* place: to; count: elements; number: value */
KERNEL(fill)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *to = PLACE(0);
    const uint end = FLAT_END;
    for (uint i = FLAT_FIRST; i < end; i += LANES) {
        to[i] = NUMBER(0);
    }
}

/* to += from. place: to, from; count: elements */
KERNEL(add)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *to = PLACE(0);
    const GLOBAL float *from = PLACE(1);
    const uint end = FLAT_END;
    EACH_ALONE
    for (uint i = FLAT_FIRST; i < end; i += LANES) {
        to[i] += from[i];
    }
}

/*
 * The first columns of every row. A row kernel.
 * place: to, from; count: columns, floats from row to row of `to`, of `from`
 */
KERNEL(copy_rows)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *to = PLACE(0) + ROW * COUNT(1);
    const GLOBAL float *from = PLACE(1) + ROW * COUNT(2);
    for (uint i = LANE; i < COUNT(0); i += LANES) {
        to[i] = from[i];
    }
}

/*
 * Sums of columns, over segments of rows: a row of items makes one segment's sums. Sums
 * of many rows take two launches, the second over the sums of the first.
 * place: sums (segment x column), value; count: columns, rows, rows of a segment, 1 to
 * add to what is there; number: factor of the sums
 */
KERNEL(sum_rows)
{
    RETURN_BEYOND_ITEMS
    const uint cols = COUNT(0);
    const uint first = ROW * COUNT(2);
    const uint end = least(first + COUNT(2), COUNT(1));
    const GLOBAL float *value = PLACE(1);
    GLOBAL float *sums = PLACE(0) + ROW * cols;
    for (uint col = LANE * SUM_COLS; col < cols; col += LANES * SUM_COLS) {
        const uint width = least(SUM_COLS, cols - col);
        float sum[SUM_COLS] = {0.0F};
        for (uint row = first; row < end; row++) {
            for (uint i = 0; i < width; i++) {
                sum[i] += value[row * cols + col + i];
            }
        }
        for (uint i = 0; i < width; i++) {
            const float total = sum[i] * NUMBER(0);
            sums[col + i] = COUNT(3) != 0U ? sums[col + i] + total : total;
        }
    }
}

/*
 * Windows of images as rows of one matrix (im2col): image x position x (kernel y,
 * kernel x, channel). Images are height x width x channel. The row of items is one
 * kernel y of one window: its pixels stand side by side in the image.
 * place: column, image; count: height, width, channels, kernel, stride, windows across,
 * windows of an image, first byte of the first image
 */
#define WINDOW_RUN                                                                     \
    const uint run = COUNT(3) * COUNT(2);                                              \
    const uint window = ROW / COUNT(3);                                                \
    const uint position = window % COUNT(6);                                           \
    const uint y = position / COUNT(5) * COUNT(4) + ROW % COUNT(3);                    \
    const uint x = position % COUNT(5) * COUNT(4);                                     \
    const uint start = ((window / COUNT(6) * COUNT(0) + y) * COUNT(1) + x) * COUNT(2); \
    GLOBAL float *column = PLACE(0) + ROW * run;

/* Bytes become floats in [0, 1]. */
KERNEL(windows_of_bytes)
{
    RETURN_BEYOND_ITEMS
    WINDOW_RUN
    const GLOBAL uchar *image = (const GLOBAL uchar *)PLACE(1) + COUNT(7) + start;
    for (uint i = LANE; i < run; i += LANES) {
        column[i] = (float)image[i] * (1.0F / 255.0F);
    }
}

KERNEL(windows)
{
    RETURN_BEYOND_ITEMS
    WINDOW_RUN
    const GLOBAL float *image = PLACE(1) + start;
    for (uint i = LANE; i < run; i += LANES) {
        column[i] = image[i];
    }
}

/* Windows that begin after `at` - kernel, the first of them; along one edge. */
static inline uint first_window(uint at, uint kernel_edge, uint stride)
{
    return at < kernel_edge ? 0U : (at - kernel_edge) / stride + 1U;
}

/*
 * The transpose of `windows` (col2im): every pixel collects its sum from the windows
 * that hold it. The row of items is one pixel.
 * place: image, column; count: height, width, channels, kernel, stride, windows across,
 * windows of an image
 */
KERNEL(add_windows)
{
    RETURN_BEYOND_ITEMS
    const uint channels = COUNT(2);
    const uint edge = COUNT(3);
    const uint x = ROW % COUNT(1);
    const uint y = ROW / COUNT(1) % COUNT(0);
    const uint first = ROW / COUNT(1) / COUNT(0) * COUNT(6);
    const uint y_end = least(y / COUNT(4) + 1U, COUNT(6) / COUNT(5));
    const uint x_begin = first_window(x, edge, COUNT(4));
    const uint x_end = least(x / COUNT(4) + 1U, COUNT(5));
    GLOBAL float *pixel = PLACE(0) + ROW * channels;
    for (uint i = LANE; i < channels; i += LANES) {
        pixel[i] = 0.0F;
    }
    for (uint at_y = first_window(y, edge, COUNT(4)); at_y < y_end; at_y++) {
        for (uint at_x = x_begin; at_x < x_end; at_x++) {
            const uint window = first + at_y * COUNT(5) + at_x;
            const uint inside = (y - at_y * COUNT(4)) * edge + x - at_x * COUNT(4);
            const GLOBAL float *column =
                PLACE(1) + (window * edge * edge + inside) * channels;
            for (uint i = LANE; i < channels; i += LANES) {
                pixel[i] += column[i];
            }
        }
    }
}

/*
 * value = activation(value + bias). A row kernel.
 * place: value, bias; count: columns, 1 for ReLU
 */
KERNEL(activate)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *value = PLACE(0) + ROW * COUNT(0);
    const GLOBAL float *bias = PLACE(1);
    const float low = COUNT(1) != 0U ? 0.0F : -INFINITY;
    EACH_ALONE
    for (uint i = LANE; i < COUNT(0); i += LANES) {
        const float sum = value[i] + bias[i];
        value[i] = sum > low ? sum : low;
    }
}

/*
 * ReLU: the gradient of an output becomes that of the sum before it.
 * place: gradient, output; count: elements
 */
KERNEL(activate_backward)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *gradient = PLACE(0);
    const GLOBAL float *output = PLACE(1);
    const uint end = FLAT_END;
    EACH_ALONE
    for (uint i = FLAT_FIRST; i < end; i += LANES) {
        gradient[i] = output[i] > 0.0F ? gradient[i] : 0.0F;
    }
}

/*
 * Dense output, last reward, one-hot last action, side by side. A row kernel.
 * place: joined, dense, action, reward; count: columns, of them dense
 */
KERNEL(join)
{
    RETURN_BEYOND_ITEMS
    const uint dense = COUNT(1);
    GLOBAL float *joined = PLACE(0) + ROW * COUNT(0);
    const GLOBAL float *from = PLACE(1) + ROW * dense;
    const uint hot = dense + 1U + (uint)PLACE(2)[ROW];
    for (uint i = LANE; i < dense; i += LANES) {
        joined[i] = from[i];
    }
    for (uint i = dense + LANE; i < COUNT(0); i += LANES) {
        joined[i] = i == dense ? PLACE(3)[ROW] : (i == hot ? 1.0F : 0.0F);
    }
}

/*
 * From the sums of the gates (input, forget, candidate, output), which become the
 * gates, to cell and hidden state. `cell after` may be `cell before`. A row kernel.
 * place: gates, cell before, cell after, tanh of the cell, hidden; count: units
 */
KERNEL(lstm)
{
    RETURN_BEYOND_ITEMS
    const uint units = COUNT(0);
    GLOBAL float *gates = PLACE(0) + ROW * 4U * units;
    const GLOBAL float *before = PLACE(1) + ROW * units;
    GLOBAL float *after = PLACE(2) + ROW * units;
    GLOBAL float *squashed = PLACE(3) + ROW * units;
    GLOBAL float *hidden = PLACE(4) + ROW * units;
    EACH_ALONE
    for (uint i = LANE; i < units; i += LANES) {
        const float input = sigmoid(gates[i]);
        const float forget = sigmoid(gates[units + i]);
        const float candidate = squash(gates[2U * units + i]);
        const float output = sigmoid(gates[3U * units + i]);
        const float cell = forget * before[i] + input * candidate;
        const float cell_squashed = squash(cell);
        gates[i] = input;
        gates[units + i] = forget;
        gates[2U * units + i] = candidate;
        gates[3U * units + i] = output;
        after[i] = cell;
        squashed[i] = cell_squashed;
        hidden[i] = output * cell_squashed;
    }
}

/*
 * One step back: from the gradients of hidden and cell after the step to those of the
 * gates' sums and of the cell before it, which replaces the one after. A row kernel.
 * place: gradient of the sums, gates, cell before, tanh of the cell, gradient of hidden
 * without the recurrent part, the recurrent part, gradient of the cell; count: units
 */
KERNEL(lstm_backward)
{
    RETURN_BEYOND_ITEMS
    const uint units = COUNT(0);
    GLOBAL float *sums = PLACE(0) + ROW * 4U * units;
    const GLOBAL float *gates = PLACE(1) + ROW * 4U * units;
    const GLOBAL float *before = PLACE(2) + ROW * units;
    const GLOBAL float *squashed = PLACE(3) + ROW * units;
    const GLOBAL float *local_part = PLACE(4) + ROW * units;
    const GLOBAL float *recurrent = PLACE(5) + ROW * units;
    GLOBAL float *cell = PLACE(6) + ROW * units;
    EACH_ALONE
    for (uint i = LANE; i < units; i += LANES) {
        const float input = gates[i];
        const float forget = gates[units + i];
        const float candidate = gates[2U * units + i];
        const float output = gates[3U * units + i];
        const float hidden = local_part[i] + recurrent[i];
        const float total =
            cell[i] + hidden * output * (1.0F - squashed[i] * squashed[i]);
        sums[i] = total * candidate * input * (1.0F - input);
        sums[units + i] = total * before[i] * forget * (1.0F - forget);
        sums[2U * units + i] = total * input * (1.0F - candidate * candidate);
        sums[3U * units + i] = hidden * squashed[i] * output * (1.0F - output);
        cell[i] = total * forget;
    }
}

static inline float sum_of(const GLOBAL float *values, uint count)
{
    float total = 0.0F;
    for (uint i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

/* One item per row. place: q, value, advantage; count: actions */
KERNEL(duel)
{
    RETURN_BEYOND_ITEMS
    const uint actions = COUNT(0);
    const GLOBAL float *advantage = PLACE(2) + ITEM * actions;
    GLOBAL float *q = PLACE(0) + ITEM * actions;
    const float shift = PLACE(1)[ITEM] - sum_of(advantage, actions) / (float)actions;
    for (uint i = 0; i < actions; i++) {
        q[i] = advantage[i] + shift;
    }
}

/*
 * One item per row.
 * place: gradient of q, of value, of advantage; count: actions
 */
KERNEL(duel_backward)
{
    RETURN_BEYOND_ITEMS
    const uint actions = COUNT(0);
    const GLOBAL float *q = PLACE(0) + ITEM * actions;
    GLOBAL float *advantage = PLACE(2) + ITEM * actions;
    const float sum = sum_of(q, actions);
    PLACE(1)[ITEM] = sum;
    for (uint i = 0; i < actions; i++) {
        advantage[i] = q[i] - sum / (float)actions;
    }
}

static inline uint index_of_largest(const GLOBAL float *values, uint count)
{
    uint best = 0;
    for (uint i = 1; i < count; i++) {
        if (values[i] > values[best]) {
            best = i;
        }
    }
    return best;
}

/*
 * Index of the largest value of each row, the first of such. One item per row.
 * place: index, value; count: columns to look at, floats from row to row
 */
KERNEL(largest)
{
    RETURN_BEYOND_ITEMS
    PLACE(0)[ITEM] = (float)index_of_largest(PLACE(1) + ITEM * COUNT(1), COUNT(0));
}

/*
 * Kapturowski et al. (2019): sign(x) (sqrt(|x| + 1) - 1) + x / 1000, and its inverse, in
 * forms that lose nothing in float32: sqrt(x + 1) - 1 = x / (sqrt(x + 1) + 1), and so
 * for the root of the inverse.
 */
#define RESCALE_SLOPE 1e-3F

static inline float rescale(float value)
{
    const float size = magnitude(value);
    return value / (F_SQRT(size + 1.0F) + 1.0F) + RESCALE_SLOPE * value;
}

static inline float unscale(float value)
{
    const float size = magnitude(value);
    const float inner = 1.0F + 4.0F * RESCALE_SLOPE * (size + 1.0F + RESCALE_SLOPE);
    const float above = 2.0F * size / (F_SQRT(inner) + 1.0F + 2.0F * RESCALE_SLOPE);
    return with_sign_of(above * (above + 2.0F), value);
}

/*
 * The loss of R2D2: half the squared difference between the online value of the action
 * taken and its n-step double-Q target; all importance weights are one, no episode ends
 * inside. Row t x batch + i is step t of sequence i, with one step after the last that is
 * only looked ahead to. One item per row that is trained. Sets the row's gradient of the
 * mean and its part of the loss.
 * place: online, target, action, reward, gradient of online, loss of the row;
 * count: steps, batch, actions, look-ahead; number: discount
 */
KERNEL(td)
{
    RETURN_BEYOND_ITEMS
    const uint batch = COUNT(1);
    const uint actions = COUNT(2);
    const uint steps = least(COUNT(0) - ITEM / batch, COUNT(3));
    const uint ahead = (ITEM + steps * batch) * actions;
    const uint best = index_of_largest(PLACE(0) + ahead, actions);
    const uint taken = (uint)PLACE(2)[ITEM];
    GLOBAL float *gradient = PLACE(4) + ITEM * actions;
    float value = unscale(PLACE(1)[ahead + best]);
    for (uint i = steps; i > 0; i--) {
        value = PLACE(3)[ITEM + (i - 1U) * batch] + NUMBER(0) * value;
    }
    const float error = PLACE(0)[ITEM * actions + taken] - rescale(value);
    for (uint i = 0; i < actions; i++) {
        gradient[i] = i == taken ? error / (float)arguments.item_count : 0.0F;
    }
    PLACE(5)[ITEM] = 0.5F * error * error;
}

/* log(2 pi) / 2 */
#define LOG_NORMAL 0.918938533F

/*
 * The clipped loss of PPO (Schulman et al., 2017, equation 7, with the sign of a loss)
 * plus the weight times half the squared error of the value. The policy is Gaussian,
 * independent in each action; a row of the output has the means, then the value. One
 * item per sample. Sets the sample's gradient of the output, its part of the gradient of
 * log std, and its part of the loss.
 * place: output, log std, action, old log probability, advantage, target of the value,
 * gradient of the output, of log std, loss of the sample; count: actions;
 * number: clip, weight of the value
 */
KERNEL(ppo)
{
    RETURN_BEYOND_ITEMS
    const uint actions = COUNT(0);
    const float samples = (float)arguments.item_count;
    const GLOBAL float *output = PLACE(0) + ITEM * (actions + 1U);
    const GLOBAL float *log_std = PLACE(1);
    const GLOBAL float *action = PLACE(2) + ITEM * actions;
    GLOBAL float *output_gradient = PLACE(6) + ITEM * (actions + 1U);
    GLOBAL float *log_std_gradient = PLACE(7) + ITEM * actions;
    float log_probability = 0.0F;
    for (uint i = 0; i < actions; i++) {
        const float z = (action[i] - output[i]) * F_EXP(-log_std[i]);
        log_probability -= 0.5F * z * z + log_std[i] + LOG_NORMAL;
    }
    const float advantage = PLACE(4)[ITEM];
    const float ratio = F_EXP(log_probability - PLACE(3)[ITEM]);
    const float low = ratio > 1.0F - NUMBER(0) ? ratio : 1.0F - NUMBER(0);
    const float bounded = low < 1.0F + NUMBER(0) ? low : 1.0F + NUMBER(0);
    const float free_gain = ratio * advantage;
    const float clipped_gain = bounded * advantage;
    const float slope = free_gain <= clipped_gain ? -free_gain / samples : 0.0F;
    for (uint i = 0; i < actions; i++) {
        const float scale = F_EXP(-log_std[i]);
        const float z = (action[i] - output[i]) * scale;
        output_gradient[i] = slope * z * scale;
        log_std_gradient[i] = slope * (z * z - 1.0F);
    }
    const float error = output[actions] - PLACE(5)[ITEM];
    output_gradient[actions] = NUMBER(1) * error / samples;
    const float gain = free_gain < clipped_gain ? free_gain : clipped_gain;
    PLACE(8)[ITEM] = 0.5F * NUMBER(1) * error * error - gain;
}

/*
 * Adam (Kingma and Ba, 2015, algorithm 1).
 * place: parameter, gradient, mean, square; count: parameters; number: rate, epsilon (both with the corrections of bias), what the mean keeps and
 * adds, what the square keeps and adds
 */
KERNEL(adam)
{
    RETURN_BEYOND_ITEMS
    GLOBAL float *parameter = PLACE(0);
    const GLOBAL float *gradient = PLACE(1);
    GLOBAL float *mean = PLACE(2);
    GLOBAL float *square = PLACE(3);
    const uint end = FLAT_END;
    EACH_ALONE
    for (uint i = FLAT_FIRST; i < end; i += LANES) {
        const float slope = gradient[i];
        const float new_mean = NUMBER(2) * mean[i] + NUMBER(3) * slope;
        const float new_square = NUMBER(4) * square[i] + NUMBER(5) * slope * slope;
        mean[i] = new_mean;
        square[i] = new_square;
        parameter[i] -= NUMBER(0) * new_mean / (F_SQRT(new_square) + NUMBER(1));
    }
}

/*
 * Products c = a b + beta c of row-major matrices, in three forms. Element (i, k) of a
 * is a[i * a_row + k * a_term], element (k, j) of b is b[k * b_term + j * b_col]:
 * transposed operands are a matter of these steps.
 * place: a, b, c; count: rows, columns, terms, a_row, a_term, b_term, b_col;
 * number: beta
 */
#define PRODUCT                                                                        \
    const uint rows = COUNT(0);                                                        \
    const uint cols = COUNT(1);                                                        \
    const uint terms = COUNT(2);                                                       \
    const uint a_row = COUNT(3);                                                       \
    const uint a_term = COUNT(4);                                                      \
    const uint b_term = COUNT(5);                                                      \
    const uint b_col = COUNT(6);                                                       \
    const GLOBAL float *a = PLACE(0);                                                  \
    const GLOBAL float *b = PLACE(1);                                                  \
    GLOBAL float *c = PLACE(2);

/* beta is 0 or 1; with 0, what c held may be anything, NaN included. */
static inline void store_sum(GLOBAL float *to, float sum, float beta)
{
    *to = beta > 0.0F ? *to + sum : sum;
}

/* Sixteen floats side by side: what a CPU computes with one or a few instructions. */
#define STRIP 16U

#if defined(__OPENCL_VERSION__) && !defined(FULCRUM_PTX)

typedef float16 strip;

static inline strip strip_of(float value)
{
    return (strip)(value);
}

static inline strip strip_load(const GLOBAL float *from)
{
    return vload16(0, from);
}

static inline strip strip_load_first(const GLOBAL float *from, uint count)
{
    float part[STRIP];
    for (uint i = 0; i < STRIP; i++) {
        part[i] = i < count ? from[i] : 0.0F;
    }
    return vload16(0, part);
}

static inline strip strip_add_product(strip sum, strip a, strip b)
{
    return mad(a, b, sum);
}

static inline void strip_store(float *to, strip value)
{
    vstore16(value, 0, to);
}

#else

typedef struct {
    float at[STRIP];
} strip;

static inline strip strip_of(float value)
{
    strip result;
    for (uint i = 0; i < STRIP; i++) {
        result.at[i] = value;
    }
    return result;
}

static inline strip strip_load_first(const GLOBAL float *from, uint count)
{
    strip result;
    for (uint i = 0; i < STRIP; i++) {
        result.at[i] = i < count ? from[i] : 0.0F;
    }
    return result;
}

static inline strip strip_load(const GLOBAL float *from)
{
    return strip_load_first(from, STRIP);
}

static inline strip strip_add_product(strip sum, strip a, strip b)
{
    for (uint i = 0; i < STRIP; i++) {
        sum.at[i] += a.at[i] * b.at[i];
    }
    return sum;
}

static inline void strip_store(float *to, strip value)
{
    for (uint i = 0; i < STRIP; i++) {
        to[i] = value.at[i];
    }
}

#endif

/*
 * For CPUs, b_col = 1: one item has FULCRUM_BLOCK_ROWS rows of two strips in registers,
 * and each element of a meets a run of b. Rows and columns beyond the edge are computed
 * from the last one, or from zeros, and not stored.
 */
KERNEL(multiply_block)
{
    RETURN_BEYOND_ITEMS
    PRODUCT(void) b_col;
    const uint down = (rows + FULCRUM_BLOCK_ROWS - 1U) / FULCRUM_BLOCK_ROWS;
    const uint row = ITEM % down * FULCRUM_BLOCK_ROWS;
    const uint col = ITEM / down * FULCRUM_BLOCK_COLS;
    const uint width = least(FULCRUM_BLOCK_COLS, cols - col);
    const uint width0 = least(width, STRIP);
    const uint width1 = width - width0;
    strip sum0[FULCRUM_BLOCK_ROWS];
    strip sum1[FULCRUM_BLOCK_ROWS];
    uint start[FULCRUM_BLOCK_ROWS];
    UNROLL
    for (uint i = 0; i < FULCRUM_BLOCK_ROWS; i++) {
        start[i] = least(row + i, rows - 1U) * a_row;
        sum0[i] = strip_of(0.0F);
        sum1[i] = strip_of(0.0F);
    }
    for (uint k = 0; k < terms; k++) {
        const GLOBAL float *from = b + k * b_term + col;
        strip run0;
        strip run1;
        if (width == FULCRUM_BLOCK_COLS) {
            run0 = strip_load(from);
            run1 = strip_load(from + STRIP);
        } else {
            run0 = strip_load_first(from, width0);
            run1 = strip_load_first(from + STRIP, width1);
        }
        UNROLL
        for (uint i = 0; i < FULCRUM_BLOCK_ROWS; i++) {
            const strip left = strip_of(a[start[i] + k * a_term]);
            sum0[i] = strip_add_product(sum0[i], left, run0);
            sum1[i] = strip_add_product(sum1[i], left, run1);
        }
    }
    float line[FULCRUM_BLOCK_COLS];
    UNROLL
    for (uint i = 0; i < FULCRUM_BLOCK_ROWS; i++) {
        strip_store(line, sum0[i]);
        strip_store(line + STRIP, sum1[i]);
        for (uint j = 0; j < width && row + i < rows; j++) {
            store_sum(&c[(row + i) * cols + col + j], line[j], NUMBER(0));
        }
    }
}

/* One element of the next kernel: the sum of a strip, and of the terms left over. */
static inline float dot_rest(
    strip sum, const GLOBAL float *a, const GLOBAL float *b, uint count)
{
    float part[STRIP];
    float total = 0.0F;
    for (uint i = 0; i < count; i++) {
        total += a[i] * b[i];
    }
    strip_store(part, sum);
    for (uint i = 0; i < STRIP; i++) {
        total += part[i];
    }
    return total;
}

/*
 * For CPUs, a_term = b_term = 1: one item makes FULCRUM_DOT_EDGE squared dot products,
 * a strip of partial sums each, whose operands stand side by side in memory.
 */
KERNEL(multiply_dot)
{
    RETURN_BEYOND_ITEMS
    PRODUCT(void) a_term;
    (void)b_term;
    const uint across = (cols + FULCRUM_DOT_EDGE - 1U) / FULCRUM_DOT_EDGE;
    const uint row = ITEM / across * FULCRUM_DOT_EDGE;
    const uint col = ITEM % across * FULCRUM_DOT_EDGE;
    const uint whole = terms / STRIP * STRIP;
    strip sum[FULCRUM_DOT_EDGE * FULCRUM_DOT_EDGE];
    const GLOBAL float *left[FULCRUM_DOT_EDGE];
    const GLOBAL float *right[FULCRUM_DOT_EDGE];
    UNROLL
    for (uint i = 0; i < FULCRUM_DOT_EDGE; i++) {
        left[i] = a + least(row + i, rows - 1U) * a_row;
        right[i] = b + least(col + i, cols - 1U) * b_col;
    }
    UNROLL
    for (uint i = 0; i < FULCRUM_DOT_EDGE * FULCRUM_DOT_EDGE; i++) {
        sum[i] = strip_of(0.0F);
    }
    for (uint k = 0; k < whole; k += STRIP) {
        strip run[FULCRUM_DOT_EDGE];
        UNROLL
        for (uint j = 0; j < FULCRUM_DOT_EDGE; j++) {
            run[j] = strip_load(right[j] + k);
        }
        UNROLL
        for (uint i = 0; i < FULCRUM_DOT_EDGE; i++) {
            const strip factor = strip_load(left[i] + k);
            UNROLL
            for (uint j = 0; j < FULCRUM_DOT_EDGE; j++) {
                sum[i * FULCRUM_DOT_EDGE + j] =
                    strip_add_product(sum[i * FULCRUM_DOT_EDGE + j], factor, run[j]);
            }
        }
    }
    UNROLL
    for (uint i = 0; i < FULCRUM_DOT_EDGE; i++) {
        UNROLL
        for (uint j = 0; j < FULCRUM_DOT_EDGE; j++) {
            if (row + i < rows && col + j < cols) {
                const float total = dot_rest(sum[i * FULCRUM_DOT_EDGE + j],
                    left[i] + whole, right[j] + whole, terms - whole);
                store_sum(&c[(row + i) * cols + col + j], total, NUMBER(0));
            }
        }
    }
}

#if defined(FULCRUM_PLAIN_C)

/* Without groups, the first item of each does the work of all. */
KERNEL(multiply_tile)
{
    RETURN_BEYOND_ITEMS
    PRODUCT
    const uint across = (cols + FULCRUM_TILE - 1U) / FULCRUM_TILE;
    const uint group = ITEM / FULCRUM_TILE_ITEMS;
    const uint row = group / across * FULCRUM_TILE;
    const uint col = group % across * FULCRUM_TILE;
    if (ITEM % FULCRUM_TILE_ITEMS != 0U) {
        return;
    }
    for (uint i = row; i < least(row + FULCRUM_TILE, rows); i++) {
        for (uint j = col; j < least(col + FULCRUM_TILE, cols); j++) {
            float sum = 0.0F;
            for (uint k = 0; k < terms; k++) {
                sum += a[i * a_row + k * a_term] * b[k * b_term + j * b_col];
            }
            store_sum(&c[i * cols + j], sum, NUMBER(0));
        }
    }
}

#else

/* Terms of a tile in local memory at a time, and the edge of an item's sums. */
#define TILE_TERMS 16U
#define ITEM_EDGE  4U

/*
 * For GPUs: a group of FULCRUM_TILE_ITEMS makes a square of c from strips of a and b
 * that it brings to local memory together, each in the order that its matrix has in
 * memory. Always whole groups.
 */
KERNEL(multiply_tile)
{
    PRODUCT
    LOCAL float left[TILE_TERMS][FULCRUM_TILE + 1];
    LOCAL float right[TILE_TERMS][FULCRUM_TILE + 1];
    const uint across = (cols + FULCRUM_TILE - 1U) / FULCRUM_TILE;
    const uint row = GROUP / across * FULCRUM_TILE;
    const uint col = GROUP % across * FULCRUM_TILE;
    const uint at_row = LOCAL_ITEM / 16U;
    const uint at_col = LOCAL_ITEM % 16U;
    float sum[ITEM_EDGE][ITEM_EDGE];
    for (uint i = 0; i < ITEM_EDGE; i++) {
        for (uint j = 0; j < ITEM_EDGE; j++) {
            sum[i][j] = 0.0F;
        }
    }
    for (uint first = 0; first < terms; first += TILE_TERMS) {
        for (uint n = LOCAL_ITEM; n < TILE_TERMS * FULCRUM_TILE;
             n += FULCRUM_TILE_ITEMS) {
            const uint i = a_term == 1U ? n / TILE_TERMS : n % FULCRUM_TILE;
            const uint ki = a_term == 1U ? n % TILE_TERMS : n / FULCRUM_TILE;
            const uint j = b_term == 1U ? n / TILE_TERMS : n % FULCRUM_TILE;
            const uint kj = b_term == 1U ? n % TILE_TERMS : n / FULCRUM_TILE;
            const int has_left = row + i < rows && first + ki < terms;
            const int has_right = col + j < cols && first + kj < terms;
            left[ki][i] =
                has_left ? a[(row + i) * a_row + (first + ki) * a_term] : 0.0F;
            right[kj][j] =
                has_right ? b[(first + kj) * b_term + (col + j) * b_col] : 0.0F;
        }
        BARRIER();
        for (uint k = 0; k < TILE_TERMS; k++) {
            for (uint i = 0; i < ITEM_EDGE; i++) {
                const float factor = left[k][at_row + 16U * i];
                for (uint j = 0; j < ITEM_EDGE; j++) {
                    sum[i][j] += factor * right[k][at_col + 16U * j];
                }
            }
        }
        BARRIER();
    }
    for (uint i = 0; i < ITEM_EDGE; i++) {
        for (uint j = 0; j < ITEM_EDGE; j++) {
            const uint to_row = row + at_row + 16U * i;
            const uint to_col = col + at_col + 16U * j;
            if (to_row < rows && to_col < cols) {
                store_sum(&c[to_row * cols + to_col], sum[i][j], NUMBER(0));
            }
        }
    }
}

#endif
