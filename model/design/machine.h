/* machine.h - what a machine is made of, as far as the model needs it. */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FULCRUM_MODEL_DESIGN_MACHINE_H
#define FULCRUM_MODEL_DESIGN_MACHINE_H

enum fulcrum_accelerator {
    FULCRUM_ACCELERATOR_GPU,
    FULCRUM_ACCELERATOR_CPU /* no GPU: the learner runs on learner_core_count cores */
};

/*
 * One row a field: place, member, kind, least, most, value when not given (NAN: none),
 * unit, meaning. Place and member are its path in files and on the command line. Kinds:
 * NUMBER, COUNT (a whole number), TEXT, WORD (a short text), or the set of names that a
 * choice is made from. Members of structs are made of their rows.
 */
#define FULCRUM_MEMBER(place, member, kind, ...) FULCRUM_MEMBER_##kind(member)
#define FULCRUM_MEMBER_NUMBER(member)            double member;
#define FULCRUM_MEMBER_COUNT(member)             double member;
#define FULCRUM_MEMBER_TEXT(member)              char member[96];
#define FULCRUM_MEMBER_WORD(member)              char member[32];
/* Of the enum that is called so. */
#define FULCRUM_MEMBER_CURVE(member)         int member;
#define FULCRUM_MEMBER_LAW(member)           int member;
#define FULCRUM_MEMBER_FAMILY(member)        int member;
#define FULCRUM_MEMBER_COUPLING(member)      int member;
#define FULCRUM_MEMBER_DEVICE(member)        int member;
#define FULCRUM_MEMBER_POLICY(member)        int member;
#define FULCRUM_MEMBER_ALLREDUCE(member)     int member;
#define FULCRUM_MEMBER_BATCH_SCALING(member) int member;

/* clang-format off */
#define FULCRUM_CPU_FIELDS(X) \
    X(machine.cpu, name,                TEXT,   0, 0,    0,    "",      "processor model") \
    X(machine.cpu, socket_count,        COUNT,  1, 1024, NAN,  "",      "processor sockets") \
    X(machine.cpu, core_count,          COUNT,  1, 1e6,  NAN,  "",      "physical cores") \
    X(machine.cpu, thread_count,        COUNT,  1, 4e6,  NAN,  "",      "hardware threads") \
    X(machine.cpu, memory_byte,         NUMBER, 1e6, 1e17, NAN, "byte", "main memory") \
    X(machine.cpu, clock_hz,            NUMBER, 1e7, 1e11, NAN, "Hz",   "base clock") \
    X(machine.cpu, single_thread_speed_rel, NUMBER, 0.01, 100, NAN, "", "speed of one thread relative to a Xeon E5-2698 v4") \
    X(machine.cpu, canary_s,            NUMBER, 1e-9, 1e3, NAN, "s",    "a fixed loop on one core, as calibrate and measure time it: its speed at the time") \
    X(machine.cpu, step_canary_s,       NUMBER, 1e-9, 1e4, NAN, "s",    "a step of the environment alone, timed as canary_s is: how fast steps are at the time") \
    X(machine.cpu, batch_canary_s,      NUMBER, 1e-9, 1e4, NAN, "s",    "a batch of 8 observations, timed as canary_s is: how fast a learner on cores is at the time") \
    X(machine.cpu, curve,               CURVE, 0, 3,    0,    "",      "form of c(n), actors on threads") \
    X(machine.cpu, smt_yield_frac,      NUMBER, 0, 1,    NAN,  "",      "work that a core's second thread adds") \
    X(machine.cpu, turbo_frac,          NUMBER, 0, 1,    0,    "",      "extra clock of an otherwise idle CPU") \
    X(machine.cpu, oversubscription_frac, NUMBER, 0, 10, 0,    "",      "loss once actors exceed threads") \
    X(machine.cpu, slice_s,             NUMBER, 0, 1,    0,    "s",     "time after which an actor gives way to others that wait for a thread; 0: at the end of its step") \
    X(machine.cpu, serial_frac,         NUMBER, 0, 1,    0.003, "",     "serial share of a step (saturating curves)") \
    X(machine.cpu, knee,                NUMBER, 0.5, 50, 2.1,  "",      "sharpness of the knee (saturating curves)") \
    X(machine.cpu, cap_per_core,        NUMBER, 0.01, 100, 1.25, "",    "ceiling per core (saturating curves)") \
    X(machine.cpu, cross_socket_frac,   NUMBER, 0.01, 1, 1,    "",      "yield of unpinned threads across sockets (saturating curves)") \
    X(machine.cpu, core_tdp_w,          NUMBER, 0.1, 1000, NAN, "W",    "rated power of the processors over their cores; watts that are not given follow from it") \
    X(machine.cpu, idle_tdp_frac,       NUMBER, 0, 1,    NAN,  "",      "power of processors that idle over their rated power") \
    X(machine.cpu, load_tdp_frac,       NUMBER, 0, 4,    NAN,  "",      "power of processors with every thread busy, and of what rises with them, over the rated power") \
    X(machine.cpu, idle_w,              NUMBER, 0, 1e5,  NAN,  "W",     "processors with every core asleep") \
    X(machine.cpu, core_idle_w,         NUMBER, 0, 1000, NAN,  "W",     "one powered core, idle") \
    X(machine.cpu, core_dynamic_w,      NUMBER, 0, 1000, NAN,  "W",     "one busy core, on top of idle") \
    X(machine.cpu, smt_power_frac,      NUMBER, 0, 1,    0.15, "",      "extra dynamic power of a core's second thread")

#define FULCRUM_GPU_FIELDS(X) \
    X(machine.gpu, name,                TEXT,   0, 0,    0,    "",      "GPU model") \
    X(machine.gpu, count,               COUNT,  0, 1e5,  NAN,  "",      "GPUs installed") \
    X(machine.gpu, sm_count,            COUNT,  1, 1e4,  NAN,  "",      "streaming multiprocessors of one GPU") \
    X(machine.gpu, clock_hz,            NUMBER, 1e7, 1e11, NAN, "Hz",   "SM clock under load") \
    X(machine.gpu, flop_per_sm_cycle,   NUMBER, 1, 1e6,  NAN,  "",      "math rate per SM and clock in the precision used") \
    X(machine.gpu, dram_byte_per_s,     NUMBER, 1e6, 1e15, NAN, "byte/s", "memory bandwidth") \
    X(machine.gpu, llc_byte,            NUMBER, 1e3, 1e13, NAN, "byte", "last-level cache") \
    X(machine.gpu, memory_byte,         NUMBER, 1e6, 1e15, NAN, "byte", "memory") \
    X(machine.gpu, latency_rel,         NUMBER, 1e-6, 1e3, 1,  "",      "latencies that GPU time waits for, beside those of other GPUs") \
    X(machine.gpu, sm_loss_rel,         NUMBER, 1e-6, 1e3, 1,  "",      "time lost to partly filled SMs, beside other GPUs") \
    X(machine.gpu, launch_rel,          NUMBER, 1e-6, 1e3, 1,  "",      "time of kernel launches, beside other GPUs") \
    X(machine.gpu, tdp_w,               NUMBER, 1, 1e5,  NAN,  "W",     "rated power of one GPU") \
    X(machine.gpu, idle_w,              NUMBER, 0, 1e5,  NAN,  "W",     "one idle GPU") \
    X(machine.gpu, floor_w,             NUMBER, 0, 1e5,  NAN,  "W",     "added by any activity") \
    X(machine.gpu, dynamic_w,           NUMBER, 0, 1e5,  NAN,  "W",     "added when every SM is active") \
    X(machine.gpu, power_exponent,      NUMBER, 0.1, 5,  1,    "",      "exponent of SM activity in dynamic power")

#define FULCRUM_LINK_FIELDS(X) \
    X(machine.link, host_byte_per_s,    NUMBER, 1e3, 1e18, NAN, "byte/s", "between the processor and one GPU, one direction, each GPU by itself") \
    X(machine.link, peer_byte_per_s,    NUMBER, 1e3, 1e15, NAN, "byte/s", "out of one GPU to those beside it, one direction; unknown: its transfers take no time") \
    X(machine.link, peer_latency_s,     NUMBER, 0, 10,   0,    "s",     "one message between GPUs of a machine") \
    X(machine.link, network_byte_per_s, NUMBER, 1e3, 1e15, NAN, "byte/s", "out of the whole machine to others, one direction") \
    X(machine.link, network_latency_s,  NUMBER, 0, 10,   0,    "s",     "one message between machines")

#define FULCRUM_MACHINE_FIELDS(X) \
    X(machine, accelerator,             ACCELERATOR, 0, 1,    0,    "",      "gpu, or cpu where the learner runs on cores") \
    X(machine, learner_core_count,      COUNT,  0, 4096, 1,    "",      "cores given to a CPU learner; 0: none, it runs while actors wait, on their cores") \
    FULCRUM_CPU_FIELDS(X) \
    FULCRUM_GPU_FIELDS(X) \
    FULCRUM_LINK_FIELDS(X) \
    X(machine, rest_w,                  NUMBER, 0, 1e6,  NAN,  "W",     "fans, memory, disks, network, boards") \
    X(machine, rest_tdp_frac,           NUMBER, 0, 100,  NAN,  "",      "the same over the rated power of the processors: gives rest_w where that is not given") \
    X(machine, psu_efficiency_frac,     NUMBER, 0.1, 1,  NAN,  "",      "power supplies: output over input") \
    X(machine, rated_w,                 NUMBER, 1, 1e7,  NAN,  "W",     "rated power of the machine") \
    X(machine, rack_unit_count,         NUMBER, 0.1, 1e5, NAN, "",      "height in a rack, in units of 44.45 mm") \
    X(machine, price,                   NUMBER, 0, 1e12, NAN,  "",      "to buy the machine, in a currency of your own: no preset has one")
/* clang-format on */

/* Counts are over the whole machine. */
struct fulcrum_cpu {
    FULCRUM_CPU_FIELDS(FULCRUM_MEMBER)
};

/* Per GPU but for count. */
struct fulcrum_gpu {
    FULCRUM_GPU_FIELDS(FULCRUM_MEMBER)
};

/*
 * Links, one direction. The peers of a GPU are the others of its machine; the network
 * joins machines, with all adapters of one machine together.
 */
struct fulcrum_link {
    FULCRUM_LINK_FIELDS(FULCRUM_MEMBER)
};

struct fulcrum_machine {
    char name[64];
    char title[160];
    int accelerator; /* enum fulcrum_accelerator */
    double learner_core_count;
    struct fulcrum_cpu cpu;
    struct fulcrum_gpu gpu;
    struct fulcrum_link link;
    double rest_w;
    double rest_tdp_frac;
    double psu_efficiency_frac;
    double rated_w;
    double rack_unit_count;
    double price;
};

#endif
