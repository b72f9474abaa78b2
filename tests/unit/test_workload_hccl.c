/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compiled collectives on data: every byte of a buffer is a value of its own, and the graph is run
 * element by element, lanes in an order that is drawn anew for each step, so that what is not
 * ordered by the graph happens in any order. Then the result must be what the collective means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/core/random.h"
#include "tests/unit/test_topology_common.h"
#include "workloads/hccl.h"

#define POISON INT64_MIN

struct machine {
    const struct hccl_graph *graph;
    int64_t **memory[HCCL_N_BUFFERS]; /* [buffer][rank][value] */
    uint32_t *at, *flags;
    GHashTable *arrived; /* element of a SEND -> its values */
};

static struct hccl_layout rack(uint32_t n, uint32_t n_domain, uint32_t n_up, uint32_t n_out)
{
    return (struct hccl_layout){.n_ranks = n,
                                .n_domain = n_domain,
                                .n_up = n_up,
                                .first_out = n_up,
                                .n_out = n_out,
                                .alike = n_out > 0};
}

static struct hccl_call call_of(enum hccl_kind kind, enum hccl_algorithm algorithm, int64_t bytes)
{
    return (struct hccl_call){.kind = kind,
                              .algorithm = algorithm,
                              .bytes = bytes,
                              .chunk_bytes = 7,
                              .slice_bytes = 5,
                              .direct_bytes = 64,
                              .n_engines = 4,
                              .depth = 2,
                              .sends_wait = true,
                              .writes_wait = true};
}

/* Value k of rank p's input. */
static int64_t value(uint32_t p, int64_t k)
{
    return (int64_t)(p + 1) * 1000003 + k * 17;
}

static void machine_init(struct machine *machine, const struct hccl_graph *graph, int64_t n_values)
{
    uint32_t n = graph->layout.n_ranks;

    *machine = (struct machine){.graph = graph};
    for (int b = 0; b < HCCL_N_BUFFERS; b++) {
        int64_t size = b == HCCL_SCRATCH ? graph->scratch_bytes : n_values;

        machine->memory[b] = g_new(int64_t *, n);
        for (uint32_t p = 0; p < n; p++) {
            machine->memory[b][p] = g_new(int64_t, (gsize)size + 1);
            for (int64_t k = 0; k < size; k++)
                machine->memory[b][p][k] = b == HCCL_INPUT ? value(p, k) : POISON;
        }
    }
    machine->at = g_new0(uint32_t, graph->lanes->len + 1);
    machine->flags = g_new0(uint32_t, n * graph->n_flags + 1);
    machine->arrived = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

static void machine_clear(struct machine *machine)
{
    for (int b = 0; b < HCCL_N_BUFFERS; b++) {
        for (uint32_t p = 0; p < machine->graph->layout.n_ranks; p++)
            g_free(machine->memory[b][p]);
        g_free(machine->memory[b]);
    }
    g_free(machine->at);
    g_free(machine->flags);
    g_hash_table_unref(machine->arrived);
}

static int64_t *place(const struct machine *machine, uint32_t rank, struct hccl_place where)
{
    return machine->memory[where.buffer][rank] + where.offset;
}

/* What is read must have been written. */
static void move(int64_t *to, const int64_t *from, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        assert_true(from[k] != POISON);
        to[k] = from[k];
    }
}

/* One element; false if it has to wait. */
static bool step(struct machine *machine, uint32_t rank, uint32_t index)
{
    const struct hccl_graph *graph = machine->graph;
    const struct hccl_element *e = &g_array_index(graph->elements, struct hccl_element, index);
    int64_t *values;

    switch (e->kind) {
    case SCHEDULE_WAIT:
        return machine->flags[rank * graph->n_flags + e->flag] >= e->value;
    case SCHEDULE_SET:
        machine->flags[rank * graph->n_flags + e->flag]++;
        return true;
    case SCHEDULE_WRITE:
        move(place(machine, e->peer, e->to), place(machine, rank, e->a), e->bytes);
        machine->flags[e->peer * graph->n_flags + e->flag]++;
        return true;
    case SCHEDULE_SEND:
        values = g_new(int64_t, (gsize)e->bytes);
        move(values, place(machine, rank, e->a), e->bytes);
        g_hash_table_insert(machine->arrived, GUINT_TO_POINTER(index), values);
        return true;
    case SCHEDULE_RECV:
        values = g_hash_table_lookup(machine->arrived, GUINT_TO_POINTER(e->match));
        if (values)
            move(place(machine, rank, e->to), values, e->bytes);
        return values != NULL;
    case SCHEDULE_REDUCED:
        for (int64_t k = 0; k < e->bytes; k++) {
            assert_true(place(machine, rank, e->a)[k] != POISON);
            assert_true(place(machine, rank, e->b)[k] != POISON);
            place(machine, rank, e->to)[k] =
                place(machine, rank, e->a)[k] + place(machine, rank, e->b)[k];
        }
        return true;
    default:
        move(place(machine, rank, e->to), place(machine, rank, e->a), e->bytes);
        return true;
    }
}

static void machine_run(struct machine *machine, uint64_t seed)
{
    const struct hccl_graph *graph = machine->graph;
    struct random_stream draws = random_stream(seed, RANDOM_WORKLOAD, 0);
    uint32_t n = graph->lanes->len;
    g_autofree uint32_t *order = g_new(uint32_t, n + 1);
    bool moved = true;

    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    while (moved) {
        moved = false;
        random_shuffle(&draws, order, n);
        for (uint32_t i = 0; i < n; i++) {
            const struct hccl_lane *lane = &g_array_index(graph->lanes, struct hccl_lane, order[i]);
            uint32_t *at = &machine->at[order[i]];

            if (*at < lane->n && step(machine, lane->rank, lane->first + *at)) {
                (*at)++;
                moved = true;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(machine->at[i], g_array_index(graph->lanes, struct hccl_lane, i).n);
}

/* --- what each collective means --------------------------------------------------------------- */

static void expect(const struct machine *machine)
{
    const struct hccl_graph *graph = machine->graph;
    uint32_t n = graph->layout.n_ranks;
    int64_t S = graph->call.bytes, offset, length, from, to;

    for (uint32_t p = 0; p < n; p++) {
        const int64_t *output = machine->memory[HCCL_OUTPUT][p];

        for (uint32_t q = 0; q < n; q++) {
            hccl_segment(S, n, q, &offset, &length);
            switch (graph->call.kind) {
            case HCCL_REDUCESCATTER:
                if (q != p)
                    continue;
                /* fall through */
            case HCCL_ALLREDUCE:
                for (int64_t k = offset; k < offset + length; k++) {
                    int64_t sum = 0;

                    for (uint32_t r = 0; r < n; r++)
                        sum += value(r, k);
                    assert_int_equal(output[k], sum);
                }
                break;
            case HCCL_ALLGATHER:
                for (int64_t k = 0; k < length; k++)
                    assert_int_equal(output[offset + k], value(q, k));
                break;
            case HCCL_BROADCAST:
                for (int64_t k = 0; k < S; k++)
                    assert_int_equal(output[k], value(graph->call.root, k));
                break;
            default:
                length = hccl_part(graph, q, p, &from, &to);
                for (int64_t k = 0; k < length; k++)
                    assert_int_equal(output[to + k], value(q, from + k));
                break;
            }
        }
    }
}

static void run_and_expect(const struct hccl_layout *layout, const struct hccl_call *call,
                           int64_t n_values)
{
    struct hccl_graph graph;
    struct machine machine;
    GError *error = NULL;

    if (!hccl_compile(&graph, layout, call, &error) || !hccl_check(&graph, &error))
        fail_msg("%s, %s, %u ranks, %d B: %s", hccl_kind_name(call->kind),
                 hccl_algorithm_name(call->algorithm), layout->n_ranks, (int)call->bytes,
                 error->message);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        machine_init(&machine, &graph, n_values);
        machine_run(&machine, seed);
        expect(&machine);
        machine_clear(&machine);
    }
    hccl_clear(&graph);
}

/* Sizes below, at and above the number of ranks, odd ones, with and without several chunks. */
static const int64_t sizes[] = {1, 3, 8, 61, 200};

static void sums_are_right_in_a_rack(void **state)
{
    static const enum hccl_algorithm algorithms[] = {HCCL_RING, HCCL_DIRECT, HCCL_AUTO};

    (void)state;
    for (uint32_t n = 2; n <= 9; n++)
        for (size_t a = 0; a < G_N_ELEMENTS(algorithms); a++)
            for (int kind = 0; kind < HCCL_N_KINDS; kind++)
                for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
                    struct hccl_layout layout = rack(n, n, 3, 2);
                    struct hccl_call call = call_of((enum hccl_kind)kind, algorithms[a], sizes[s]);

                    if (kind == HCCL_ALLTOALL && algorithms[a] == HCCL_RING)
                        continue;
                    call.root = n - 1;
                    run_and_expect(&layout, &call, sizes[s] * n);
                }
}

static void sums_are_right_by_recursive_doubling(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 16; n *= 2)
        for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
            struct hccl_layout layout = rack(n, n, 2, 0);
            struct hccl_call call = call_of(HCCL_ALLREDUCE, HCCL_DOUBLING, sizes[s]);

            run_and_expect(&layout, &call, sizes[s]);
            call.kind = HCCL_ALLGATHER;
            run_and_expect(&layout, &call, sizes[s]);
        }
}

static void sums_are_right_over_racks(void **state)
{
    static const uint32_t shapes[][2] = {{4, 2}, {6, 2}, {6, 3}, {8, 4}, {12, 4}, {15, 5}};
    static const enum hccl_kind kinds[] = {HCCL_ALLREDUCE, HCCL_REDUCESCATTER, HCCL_ALLGATHER};

    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
            for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
                for (int flat = 0; flat < 2; flat++) {
                    struct hccl_layout layout = rack(shapes[i][0], shapes[i][1], 3, 2);
                    struct hccl_call call =
                        call_of(kinds[k], flat ? HCCL_RING : HCCL_HIERARCHICAL, sizes[s]);

                    run_and_expect(&layout, &call, sizes[s]);
                }
}

/* Neighbours talk by scale-up, others by scale-out. */
static void expect_networks(const struct hccl_layout *layout, const struct hccl_call *call,
                            const uint32_t *rack_of)
{
    struct hccl_graph graph;

    assert_true(hccl_compile(&graph, layout, call, NULL));
    for (uint32_t i = 0; i < graph.elements->len; i++) {
        const struct hccl_element *element = &g_array_index(graph.elements, struct hccl_element, i);
        uint32_t rank = g_array_index(graph.lanes, struct hccl_lane, element->lane).rank;

        if (element->kind == SCHEDULE_SEND || element->kind == SCHEDULE_WRITE)
            assert_int_equal(element->nic < layout->n_up, rack_of[rank] == rack_of[element->peer]);
    }
    hccl_clear(&graph);
}

/* Racks with 4, 4 and 2 of their accelerators in use, and ranks that are dealt over two racks. */
static void racks_may_be_unlike(void **state)
{
    static const struct {
        uint32_t hosts[10], racks[10], n, n_domain;
    } cases[] = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2}, 10, 2},
                 {{0, 4, 1, 5, 2, 6}, {0, 1, 0, 1, 0, 1}, 6, 1}};
    struct built built;

    (void)state;
    build_kind(&built, "rack", "racks=3 accelerators=4 up_planes=2 up_nics=1 out_nics=1");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int kind = 0; kind < HCCL_BROADCAST; kind++)
            for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++) {
                struct hccl_call call = call_of((enum hccl_kind)kind, HCCL_AUTO, sizes[s]);
                struct hccl_layout layout;

                assert_true(
                    hccl_layout_init(&layout, &built.graph, cases[i].hosts, cases[i].n, NULL));
                assert_int_equal(layout.n_domain, cases[i].n_domain);
                call.networks = HCCL_SCALE_UP;
                call.direct_bytes = 8;
                run_and_expect(&layout, &call, sizes[s] * 10);
                expect_networks(&layout, &call, cases[i].racks);
                hccl_layout_clear(&layout);
            }
    built_clear(&built);
}

static void unequal_parts_arrive(void **state)
{
    static const int64_t parts[] = {3, 0, 40, 1, 2, 9, 30, 17, 0};
    struct hccl_layout layout = rack(3, 3, 2, 1);
    struct hccl_call call = call_of(HCCL_ALLTOALL, HCCL_AUTO, 43);

    (void)state;
    call.parts = parts;
    run_and_expect(&layout, &call, 200);
}

/* --- what cannot be had, and what hangs ------------------------------------------------------- */

static void refused(const struct hccl_layout *layout, enum hccl_kind kind,
                    enum hccl_algorithm algorithm, const char *part)
{
    struct hccl_call call = call_of(kind, algorithm, 100);
    struct hccl_graph graph;
    GError *error = NULL;

    assert_false(hccl_compile(&graph, layout, &call, &error));
    assert_non_null(strstr(error->message, part));
    g_error_free(error);
}

static void what_an_algorithm_cannot_do_is_refused(void **state)
{
    struct hccl_layout six = rack(6, 6, 2, 0), racks = rack(6, 3, 2, 1);

    (void)state;
    refused(&six, HCCL_ALLREDUCE, HCCL_DOUBLING, "a power of two of ranks is expected, not 6");
    refused(&racks, HCCL_BROADCAST, HCCL_DOUBLING, "not for broadcast");
    refused(&six, HCCL_ALLTOALL, HCCL_RING, "no ring");
    refused(&six, HCCL_ALLREDUCE, HCCL_HIERARCHICAL, "several racks");
    refused(&racks, HCCL_ALLTOALL, HCCL_HIERARCHICAL, "not for alltoall");
}

static void a_missing_set_is_found(void **state)
{
    struct hccl_layout layout = rack(4, 4, 2, 0);
    struct hccl_call call = call_of(HCCL_ALLREDUCE, HCCL_DIRECT, 16);
    struct hccl_graph graph;
    GError *error = NULL;

    (void)state;
    assert_true(hccl_compile(&graph, &layout, &call, NULL));
    assert_true(hccl_check(&graph, NULL));
    assert_true(hccl_omit_set(&graph, 0));
    assert_false(hccl_check(&graph, &error));
    /* the first SET of rank 0 tells its lanes that its sum is done */
    assert_non_null(strstr(error->message, "rank 0: engine"));
    assert_non_null(strstr(error->message, "waits for flag 1: 0 of 1 sets come"));
    g_error_free(error);
    assert_false(hccl_omit_set(&graph, 100000));
    hccl_clear(&graph);
}

static void a_lost_receive_is_found(void **state)
{
    struct hccl_layout layout = rack(4, 4, 2, 0);
    struct hccl_call call = call_of(HCCL_ALLREDUCE, HCCL_RING, 16);
    struct hccl_graph graph;
    GError *error = NULL;

    (void)state;
    assert_true(hccl_compile(&graph, &layout, &call, NULL));
    for (uint32_t i = 0; i < graph.elements->len; i++) {
        struct hccl_element *e = &g_array_index(graph.elements, struct hccl_element, i);

        if (e->kind == SCHEDULE_RECV) {
            e->match = UINT32_MAX;
            break;
        }
    }
    assert_false(hccl_check(&graph, &error));
    assert_non_null(strstr(error->message, "waits for a SEND of rank"));
    g_error_free(error);
    hccl_clear(&graph);
}

/* --- lowering --------------------------------------------------------------------------------- */

/* Each element is one operation of its kind; on each rank a call is enqueued and retires once. */
static void every_element_is_an_operation(void **state)
{
    struct hccl_layout layout = rack(5, 5, 2, 1);
    struct hccl_call call = call_of(HCCL_ALLREDUCE, HCCL_RING, 200);
    uint32_t n_elements[SCHEDULE_N_ELEMENTS] = {0}, n_ops[SCHEDULE_N_ELEMENTS] = {0};
    uint32_t n_kinds[SCHEDULE_RETIRE + 1] = {0};
    struct hccl_graph graph;
    struct schedule schedule;
    struct hccl_program program;

    (void)state;
    assert_true(hccl_compile(&graph, &layout, &call, NULL));
    schedule_init(&schedule, 5);
    hccl_program_init(&program, &schedule, 5, 1);
    hccl_lower(&program, &graph, SCHEDULE_NO_GROUP, 0, HCCL_LAUNCHED, NULL);
    hccl_lower(&program, &graph, SCHEDULE_NO_GROUP, 0, HCCL_CACHED, NULL);
    assert_true(schedule_finish(&schedule, 5, NULL));
    for (uint32_t i = 0; i < graph.elements->len; i++)
        n_elements[g_array_index(graph.elements, struct hccl_element, i).kind]++;
    for (uint64_t i = 0; i < schedule.n_ops; i++) {
        struct schedule_op op;

        schedule_op(&schedule, i, &op);
        n_ops[op.element]++;
        n_kinds[op.kind]++;
    }
    for (int i = SCHEDULE_NO_ELEMENT + 1; i < SCHEDULE_N_ELEMENTS; i++)
        assert_int_equal(n_ops[i], 2 * n_elements[i]);
    assert_true(n_elements[SCHEDULE_SEND] == 2 * 4 * 5 * graph.lanes->len / 5);
    assert_int_equal(n_kinds[SCHEDULE_ENQUEUE], 10);
    assert_int_equal(n_kinds[SCHEDULE_DISPATCH], 10);
    assert_int_equal(n_kinds[SCHEDULE_RETIRE], 10);
    hccl_program_clear(&program);
    schedule_clear(&schedule);
    hccl_clear(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right_in_a_rack),
        cmocka_unit_test(sums_are_right_by_recursive_doubling),
        cmocka_unit_test(sums_are_right_over_racks),
        cmocka_unit_test(racks_may_be_unlike),
        cmocka_unit_test(unequal_parts_arrive),
        cmocka_unit_test(what_an_algorithm_cannot_do_is_refused),
        cmocka_unit_test(a_missing_set_is_found),
        cmocka_unit_test(a_lost_receive_is_found),
        cmocka_unit_test(every_element_is_an_operation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
