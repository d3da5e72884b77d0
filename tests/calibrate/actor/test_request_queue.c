/* test_request_queue.c - requests are taken in their order, answered once, and nobody
 * is left behind when the desk closes.
 */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/actor/request_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "calibrate/stopwatch.h"
#include "tests/support/suite.h"

/* Long enough for a thread to come to its wait, short beside the suite. */
#define SETTLE_S 0.02

enum { SEATS = 8, ROUNDS = 2000, THREADS_MOST = 8 };

static struct fulcrum_request_queue *new_desk(size_t seat_count)
{
    struct fulcrum_request_queue *desk = NULL;
    ASSERT_OK(fulcrum_request_queue_new(&desk, seat_count, NULL));
    return desk;
}

static void hand_in_all(
    struct fulcrum_request_queue *desk, const size_t *seats, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT(fulcrum_request_queue_hand_in(desk, seats[i]));
    }
}

static void await_all(struct fulcrum_request_queue *desk, size_t count)
{
    for (size_t seat = 0; seat < count; seat++) {
        CU_ASSERT(fulcrum_request_queue_await(desk, seat));
    }
}

static void assert_seats(const size_t *found, const size_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(found[i], expected[i]);
    }
}

TEST(test_requests_are_taken_in_the_order_of_their_arrival)
{
    static const size_t order[] = {5, 0, 7, 2, 1};
    struct fulcrum_request_queue *desk = new_desk(SEATS);
    size_t taken[SEATS];
    hand_in_all(desk, order, 5);
    CU_ASSERT_EQUAL_FATAL(fulcrum_request_queue_collect(desk, 1, SEATS, taken), 5);
    assert_seats(taken, order, 5);
    fulcrum_request_queue_free(desk);
}

/* Two of three are taken; one of them asks again, and comes behind the third. */
static void assert_turn(struct fulcrum_request_queue *desk)
{
    static const size_t order[] = {2, 0, 1};
    static const size_t rest[] = {1, 2};
    size_t taken[3];
    hand_in_all(desk, order, 3);
    CU_ASSERT_EQUAL_FATAL(fulcrum_request_queue_collect(desk, 1, 2, taken), 2);
    assert_seats(taken, order, 2);
    fulcrum_request_queue_answer(desk, taken, 2);
    CU_ASSERT(fulcrum_request_queue_await(desk, 2));
    CU_ASSERT(fulcrum_request_queue_hand_in(desk, 2));
    CU_ASSERT_EQUAL_FATAL(fulcrum_request_queue_collect(desk, 2, 3, taken), 2);
    assert_seats(taken, rest, 2);
    fulcrum_request_queue_answer(desk, taken, 2);
    await_all(desk, 3);
}

/* What a batch has no room for keeps its place, also around the end of the ring. */
TEST(test_the_rest_of_a_batch_keeps_its_place)
{
    struct fulcrum_request_queue *desk = new_desk(3);
    for (size_t turn = 0; turn < 5; turn++) {
        assert_turn(desk);
    }
    fulcrum_request_queue_free(desk);
}

/* A server beside the test's thread, which is the actors. */
struct server {
    struct fulcrum_request_queue *desk;
    size_t least;
    size_t most;
    size_t seats[SEATS];
    size_t count; /* read once the thread has ended */
    atomic_int is_done;
    pthread_t thread;
};

static void *collect_once(void *argument)
{
    struct server *server = argument;
    server->count = fulcrum_request_queue_collect(
        server->desk, server->least, server->most, server->seats);
    atomic_store(&server->is_done, 1);
    return NULL;
}

static void start(struct server *server)
{
    atomic_init(&server->is_done, 0);
    CU_ASSERT_EQUAL_FATAL(
        pthread_create(&server->thread, NULL, collect_once, server), 0);
}

TEST(test_the_server_sleeps_until_the_least_are_there)
{
    struct server server = {.desk = new_desk(SEATS), .least = 3, .most = SEATS};
    static const size_t order[] = {4, 6, 3};
    start(&server);
    for (size_t i = 0; i < 3; i++) {
        fulcrum_sleep_s(SETTLE_S);
        CU_ASSERT_FALSE(atomic_load(&server.is_done));
        CU_ASSERT(fulcrum_request_queue_hand_in(server.desk, order[i]));
    }
    (void)pthread_join(server.thread, NULL);
    CU_ASSERT_EQUAL_FATAL(server.count, 3);
    assert_seats(server.seats, order, 3);
    fulcrum_request_queue_free(server.desk);
}

TEST(test_requests_that_are_enough_already_need_no_wake_up)
{
    struct server server = {.desk = new_desk(SEATS), .least = 2, .most = 2};
    static const size_t order[] = {1, 2, 3, 4};
    hand_in_all(server.desk, order, 4);
    start(&server);
    (void)pthread_join(server.thread, NULL);
    CU_ASSERT_EQUAL(server.count, 2);
    assert_seats(server.seats, order, 2);
    fulcrum_request_queue_free(server.desk);
}

/* An actor that asks once and tells what it was told. */
struct guest {
    struct fulcrum_request_queue *desk;
    size_t seat;
    bool was_answered;
    pthread_t thread;
};

static void *ask_once(void *argument)
{
    struct guest *guest = argument;
    guest->was_answered = fulcrum_request_queue_hand_in(guest->desk, guest->seat) &&
                          fulcrum_request_queue_await(guest->desk, guest->seat);
    return NULL;
}

TEST(test_an_answer_reaches_its_own_seat_alone)
{
    struct fulcrum_request_queue *desk = new_desk(2);
    struct guest guests[2] = {{.desk = desk, .seat = 0}, {.desk = desk, .seat = 1}};
    size_t taken[2];
    for (size_t i = 0; i < 2; i++) {
        (void)pthread_create(&guests[i].thread, NULL, ask_once, &guests[i]);
    }
    CU_ASSERT_EQUAL(fulcrum_request_queue_collect(desk, 2, 2, taken), 2);
    static const size_t second = 1;
    fulcrum_request_queue_answer(desk, &second, 1);
    (void)pthread_join(guests[1].thread, NULL);
    CU_ASSERT(guests[1].was_answered);
    fulcrum_request_queue_close(
        desk); /* the other one is sent home without an answer */
    (void)pthread_join(guests[0].thread, NULL);
    CU_ASSERT_FALSE(guests[0].was_answered);
    fulcrum_request_queue_free(desk);
}

TEST(test_closing_sends_everybody_home)
{
    struct server server = {.desk = new_desk(SEATS), .least = SEATS, .most = SEATS};
    struct guest guests[SEATS - 1];
    start(&server);
    for (size_t i = 0; i < SEATS - 1; i++) {
        guests[i] = (struct guest){.desk = server.desk, .seat = i, .was_answered = 1};
        (void)pthread_create(&guests[i].thread, NULL, ask_once, &guests[i]);
    }
    fulcrum_sleep_s(SETTLE_S);
    CU_ASSERT_FALSE(atomic_load(&server.is_done));
    fulcrum_request_queue_close(server.desk);
    fulcrum_request_queue_close(server.desk);
    (void)pthread_join(server.thread, NULL);
    CU_ASSERT_EQUAL(server.count, 0);
    for (size_t i = 0; i < SEATS - 1; i++) {
        (void)pthread_join(guests[i].thread, NULL);
        CU_ASSERT_FALSE(guests[i].was_answered);
    }
    fulcrum_request_queue_free(server.desk);
}

TEST(test_a_closed_desk_takes_and_gives_nothing)
{
    struct fulcrum_request_queue *desk = new_desk(2);
    size_t taken[2];
    CU_ASSERT(fulcrum_request_queue_hand_in(desk, 0));
    fulcrum_request_queue_close(desk);
    CU_ASSERT_FALSE(fulcrum_request_queue_hand_in(desk, 1));
    CU_ASSERT_FALSE(fulcrum_request_queue_await(desk, 0));
    CU_ASSERT_EQUAL(fulcrum_request_queue_collect(desk, 1, 2, taken), 0);
    fulcrum_request_queue_free(desk);
    fulcrum_request_queue_free(NULL);
}

/* An actor that asks again and again; `number` is its message and the server's
 * answer. */
struct regular {
    struct fulcrum_request_queue *desk;
    size_t seat;
    size_t number; /* not atomic: the desk itself has to order the two sides */
    size_t answered_count;
    pthread_t thread;
};

static void *ask_often(void *argument)
{
    struct regular *regular = argument;
    for (size_t i = 0; i < ROUNDS; i++) {
        regular->number = 2 * i;
        if (!fulcrum_request_queue_hand_in(regular->desk, regular->seat) ||
            !fulcrum_request_queue_await(regular->desk, regular->seat)) {
            break;
        }
        regular->answered_count += regular->number == 2 * i + 1;
    }
    return NULL;
}

/* Serves until every round of every thread is over; returns the largest batch. */
static size_t serve_regulars(struct fulcrum_request_queue *desk,
    struct regular *regulars, size_t count, size_t most)
{
    size_t served = 0;
    size_t largest = 0;
    size_t seats[THREADS_MOST];
    while (served < count * ROUNDS) {
        size_t batch = fulcrum_request_queue_collect(desk, 1, most, seats);
        for (size_t i = 0; i < batch; i++) {
            regulars[seats[i]].number++;
        }
        fulcrum_request_queue_answer(desk, seats, batch);
        served += batch;
        largest = batch > largest ? batch : largest;
    }
    return largest;
}

static void assert_many_threads_are_served(size_t count, size_t most)
{
    struct fulcrum_request_queue *desk = new_desk(count);
    struct regular regulars[THREADS_MOST];
    for (size_t i = 0; i < count; i++) {
        regulars[i] = (struct regular){.desk = desk, .seat = i};
        (void)pthread_create(&regulars[i].thread, NULL, ask_often, &regulars[i]);
    }
    size_t largest = serve_regulars(desk, regulars, count, most);
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(regulars[i].thread, NULL);
        CU_ASSERT_EQUAL(regulars[i].answered_count, ROUNDS);
    }
    CU_ASSERT(largest >= 1 && largest <= most);
    fulcrum_request_queue_free(desk);
}

TEST(test_every_request_of_many_threads_is_answered_once)
{
    assert_many_threads_are_served(1, 1);
    assert_many_threads_are_served(4, 4);
    assert_many_threads_are_served(THREADS_MOST, 3);
}
