/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An accelerator with message engines and NICs in its package, as Meta's MTIA 300.
 *
 * Modelled: message engines, each a controller that handles one element after the other and a unit
 * that reduces next to the memory, the faster the fewer engines reduce; NICs with a pipeline each
 * way and a limit of outstanding work requests; the HBM as one server of reads and writes, to which
 * messages (read where they leave, written where they arrive), reductions (two reads, a write),
 * copies, work requests and matrix products go; the grid of processing elements (PEs), one kernel
 * after the other, a matrix product as slices whose operands are fetched one slice ahead; the
 * control path, host - control processor - engine; and four ways in which a transfer is begun:
 *
 *   host       the host posts it, after an event has told it of what it depends on
 *   engine     an engine posts it by the ordinary doorbell: the NIC reads the request from the HBM
 *   express    the write of the request is the doorbell: nothing is read
 *   pe_direct  a PE posts it by an express doorbell and polls a counter that an engine keeps
 *
 * An engine may have several lanes (sequences of elements); what waits does not hold its
 * controller. A NIC has so many queue pairs, one for each host at the other end, both directions,
 * of each transport profile (times the transport's own `queue_pairs`); as it has no cache of more,
 * a schedule that needs more is refused. Left out: the network on chip, last-level cache other than
 * as a share of traffic that never reaches the HBM, completion queues that overflow,
 * receiver-not-ready.
 * Source: MTIA 300, ISCA 2026; HCCL, arXiv 2608.00358 (SOURCES.md 2.1, 2.2, 2.4, 2.6).
 */
#include "models/gemm.h"
#include "models/node_task.h"
#include "models/server.h"
#include "models/transport.h"
#include "sim/core/random.h"
#include "sim/core/units.h"
#include <string.h>

#define REQUEST_BYTES 64  /* a work request in its ring */
#define GEMM_SLICES   64  /* of a matrix product; our choice: some microseconds each */
#define MOST_ENGINES  256 /* that an operation can name */

enum start { START_HOST, START_ENGINE, START_EXPRESS, START_PE_DIRECT };

struct nic {
    int64_t n_outstanding;
    struct node_task *first, **last; /* messages that wait for a work request */
};

struct mtia300 {
    struct node node;
    const struct mtia300_config *config;
    struct server controllers[MOST_ENGINES], reducers[MOST_ENGINES];
    uint32_t n_reducing; /* reductions under way */
    struct server hbm, host, dispatcher, pes;
    struct node_task *kernels, **last_kernel; /* of the PE grid; the first one runs */
    uint32_t n_nics;
    struct nic *nics;
    int64_t n_elements[SCHEDULE_N_ELEMENTS];
    int64_t hbm_read_bytes, hbm_written_bytes, n_requests_waited;
};

static struct mtia300 *mtia_of(struct node_task *task)
{
    return (struct mtia300 *)task->node;
}

static int64_t now_of(const struct mtia300 *mtia)
{
    return engine_now_ps(mtia->node.engine);
}

static uint32_t engine_of_element(const struct mtia300 *mtia, uint32_t number)
{
    return number % (uint32_t)mtia->config->engines;
}

/* A transfer that a PE begins: by the mode, or a tile that has just made its bytes. */
static bool by_pe(const struct mtia300 *mtia, const struct schedule_op *op)
{
    return mtia->config->start == START_PE_DIRECT || (op->flags & SCHEDULE_FUSED);
}

static void enter(struct mtia300 *mtia, enum ledger_class class)
{
    ledger_enter(mtia->node.ledger, mtia->node.host, class, now_of(mtia));
}

static void leave(struct mtia300 *mtia, enum ledger_class class)
{
    ledger_leave(mtia->node.ledger, mtia->node.host, class, now_of(mtia));
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Traffic of a collective to the HBM; returns when it is done. */
static int64_t hbm_traffic(struct mtia300 *mtia, int64_t read_bytes, int64_t written_bytes)
{
    const struct mtia300_config *config = mtia->config;
    int64_t bytes = read_bytes + written_bytes;

    mtia->hbm_read_bytes += read_bytes;
    mtia->hbm_written_bytes += written_bytes;
    bytes = (int64_t)((__int128)bytes * config->hbm_share / UNITS_PPT);
    return server_take(&mtia->hbm, now_of(mtia), units_transmission_ps(bytes, config->hbm_rate));
}

/* The same where the bytes stream through: when the first of them is there. */
static int64_t hbm_stream(struct mtia300 *mtia, int64_t read_bytes, int64_t written_bytes)
{
    int64_t before_ps = MAX(mtia->hbm.free_ps, now_of(mtia));

    hbm_traffic(mtia, read_bytes, written_bytes);
    return before_ps;
}

/* --- transfers -------------------------------------------------------------------------------- */

static void issued(struct node_task *task)
{
    node_task_end(task, NODE_ISSUED);
}

static void take_request(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    mtia->nics[task->op.first_nic % mtia->n_nics].n_outstanding++;
    node_task_at(task, now_of(mtia) + mtia->config->nic_time, issued);
}

/* The request is at the NIC: its data begin to flow unless it has too many already. */
static void at_nic(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);
    struct nic *nic = &mtia->nics[task->op.first_nic % mtia->n_nics];

    leave(mtia, LEDGER_COLLECTIVE);
    if (nic->n_outstanding < mtia->config->nic_work_requests) {
        take_request(task);
        return;
    }
    mtia->n_requests_waited++;
    task->next = NULL;
    *nic->last = task;
    nic->last = &task->next;
}

static void read_data(struct node_task *task)
{
    node_task_at(task, hbm_stream(mtia_of(task), task->op.bytes, 0), at_nic);
}

/* The ordinary doorbell: the NIC reads the request from its ring in the HBM. */
static void fetch_request(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    node_task_at(task, hbm_stream(mtia, REQUEST_BYTES, 0) + mtia->config->fetch_time, read_data);
}

/* The controller is done with it; the request goes on. */
static void request_posted(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    node_proceed(task->node, task->index, NODE_POSTED);
    if (mtia->config->start == START_EXPRESS)
        read_data(task);
    else
        fetch_request(task);
}

/* A PE's time for posting is lost to what it computes. */
static void post_by_pe(struct mtia300 *mtia)
{
    const struct mtia300_config *config = mtia->config;

    server_take(&mtia->pes, now_of(mtia), config->pe_post_time / config->pes);
}

static int64_t issue(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct mtia300 *mtia = (struct mtia300 *)node;
    const struct mtia300_config *config = mtia->config;
    struct server *controller = &mtia->controllers[engine_of_element(mtia, op->engine)];
    struct node_task *task = node_task_new(node, index, op);
    int64_t now_ps = now_of(mtia);

    mtia->n_elements[op->element]++;
    enter(mtia, LEDGER_COLLECTIVE);
    if (by_pe(mtia, op)) { /* others post what follows at the same time */
        post_by_pe(mtia);
        node_proceed(node, index, NODE_POSTED);
        node_task_at(task, now_ps + config->pe_post_time, read_data);
    } else if (config->start == START_HOST) {
        node_task_at(task, server_take(&mtia->host, now_ps, config->host_post_time),
                     request_posted);
    } else {
        node_task_at(task, server_take(controller, now_ps, config->element_time), request_posted);
    }
    return NODE_LATER;
}

static void sent(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct mtia300 *mtia = (struct mtia300 *)node;
    struct nic *nic = &mtia->nics[op->first_nic % mtia->n_nics];
    struct node_task *task = nic->first;

    (void)index;
    nic->n_outstanding--;
    if (!task)
        return;
    nic->first = task->next;
    if (!nic->first)
        nic->last = &nic->first;
    take_request(task);
}

/* --- arrivals --------------------------------------------------------------------------------- */

static void done(struct node_task *task)
{
    node_task_end(task, NODE_DONE);
}

static void write_data(struct node_task *task)
{
    node_task_at(task, hbm_stream(mtia_of(task), 0, task->op.bytes), done);
}

static int64_t notify(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct mtia300 *mtia = (struct mtia300 *)node;

    node_task_at(node_task_new(node, index, op), now_of(mtia) + mtia->config->nic_time, write_data);
    return NODE_LATER;
}

/* --- elements that stay here ------------------------------------------------------------------ */

static void collective_done(struct node_task *task)
{
    leave(mtia_of(task), LEDGER_COLLECTIVE);
    done(task);
}

static void reduced(struct node_task *task)
{
    mtia_of(task)->n_reducing--;
    collective_done(task);
}

/* Rate of an engine's reductions: less, in equal steps, for each other that reduces. */
static int64_t reduce_rate(const struct mtia300 *mtia)
{
    const struct mtia300_config *config = mtia->config;
    int64_t others = MIN((int64_t)mtia->n_reducing, config->engines - 1);

    if (config->engines == 1)
        return config->reduce_rate_alone;
    return config->reduce_rate_alone -
           (config->reduce_rate_alone - config->reduce_rate_all) * others / (config->engines - 1);
}

/* The controller has handed it to the unit next to memory: two operands and a result, or a copy. */
static void reduce(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);
    struct server *reducer = &mtia->reducers[engine_of_element(mtia, task->op.engine)];
    int64_t n_reads = task->op.element == SCHEDULE_COPIED ? 1 : 2;
    int64_t time_ps = units_transmission_ps(task->op.bytes, reduce_rate(mtia));

    mtia->n_reducing++;
    node_task_at(task,
                 server_later(server_take(reducer, now_of(mtia), time_ps),
                              hbm_traffic(mtia, n_reads * task->op.bytes, task->op.bytes)),
                 reduced);
}

/* Of one's own flags the host and the PEs know without being told. */
static void start_element(struct mtia300 *mtia, struct node_task *task)
{
    const struct mtia300_config *config = mtia->config;
    struct server *controller = &mtia->controllers[engine_of_element(mtia, task->op.engine)];
    bool is_remote = task->op.peer != task->op.rank;

    mtia->n_elements[task->op.element]++;
    enter(mtia, LEDGER_COLLECTIVE);
    if (task->op.kind == SCHEDULE_REDUCE && config->start == START_PE_DIRECT)
        reduce(task);
    else if (task->op.kind == SCHEDULE_REDUCE)
        node_task_at(task, server_take(controller, now_of(mtia), config->element_time), reduce);
    else if (config->start == START_HOST)
        node_task_at(task, now_of(mtia) + (is_remote ? config->event_time : 0), collective_done);
    else if (config->start == START_PE_DIRECT)
        node_task_at(task, now_of(mtia) + (is_remote ? config->pe_poll_time : 0), collective_done);
    else
        node_task_at(task, server_take(controller, now_of(mtia), config->element_time),
                     collective_done);
}

/* --- the control path ------------------------------------------------------------------------- */

static void host_done(struct node_task *task)
{
    leave(mtia_of(task), LEDGER_HOST);
    done(task);
}

static void start_enqueue(struct mtia300 *mtia, struct node_task *task)
{
    const struct mtia300_config *config = mtia->config;
    int64_t time_ps = task->op.flags & SCHEDULE_CACHED ? config->cached_time : config->copy_time;

    enter(mtia, LEDGER_HOST);
    node_task_at(task,
                 config->start == START_PE_DIRECT ? now_of(mtia)
                                                  : server_take(&mtia->host, now_of(mtia), time_ps),
                 host_done);
}

static void dispatched(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    node_task_at(task, now_of(mtia) + mtia->config->start_time, host_done);
}

static void dispatch(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    node_task_at(task, server_take(&mtia->dispatcher, now_of(mtia), mtia->config->dispatch_time),
                 dispatched);
}

/* The control processor hears of it by an event; a PE needs nobody. */
static void start_dispatch(struct mtia300 *mtia, struct node_task *task)
{
    enter(mtia, LEDGER_HOST);
    if (mtia->config->start == START_PE_DIRECT)
        host_done(task);
    else
        node_task_at(task, now_of(mtia) + mtia->config->event_time, dispatch);
}

/* --- the PE grid ------------------------------------------------------------------------------ */

static int64_t gemm_rate(const struct mtia300_config *config, uint32_t type)
{
    const int64_t rates[] = {config->gemm_fp8, config->gemm_fp16, config->gemm_fp16,
                             config->gemm_tf32, config->gemm_fp32};

    return rates[type];
}

static const struct schedule_gemm *gemm_of(const struct node_task *task)
{
    return &g_array_index(task->node->run->schedule->gemms, struct schedule_gemm, task->op.peer);
}

static void run_kernel(struct mtia300 *mtia);

static void kernel_done(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);

    mtia->kernels = task->next;
    if (!mtia->kernels)
        mtia->last_kernel = &mtia->kernels;
    leave(mtia, LEDGER_COMPUTE);
    done(task);
    run_kernel(mtia);
}

/* One slice: computes on what was fetched before, while the next slice's operands are fetched. */
static void run_slice(struct node_task *task)
{
    struct mtia300 *mtia = mtia_of(task);
    const struct schedule_gemm *gemm = gemm_of(task);
    int64_t compute_ps = gemm_ps(gemm, gemm_rate(mtia->config, gemm->type)),
            bytes = gemm_bytes(gemm), fetched_ps;
    int64_t slice = GEMM_SLICES - task->n_left--;

    compute_ps = compute_ps * (slice + 1) / GEMM_SLICES - compute_ps * slice / GEMM_SLICES;
    fetched_ps = server_take(&mtia->hbm, now_of(mtia),
                             units_transmission_ps(bytes / GEMM_SLICES, mtia->config->hbm_rate));
    node_task_at(task, server_later(server_take(&mtia->pes, now_of(mtia), compute_ps), fetched_ps),
                 task->n_left > 0 ? run_slice : kernel_done);
}

static void run_kernel(struct mtia300 *mtia)
{
    struct node_task *task = mtia->kernels;

    if (!task)
        return;
    enter(mtia, LEDGER_COMPUTE);
    task->n_left = GEMM_SLICES;
    if (task->op.kind == SCHEDULE_GEMM)
        run_slice(task);
    else
        node_task_at(task, server_take(&mtia->pes, now_of(mtia), task->op.duration_ps),
                     kernel_done);
}

static void start_kernel(struct mtia300 *mtia, struct node_task *task)
{
    task->next = NULL;
    *mtia->last_kernel = task;
    mtia->last_kernel = &task->next;
    if (mtia->kernels == task)
        run_kernel(mtia);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

/* Of each connection and NIC port. */
static int64_t queue_pairs_of(const struct transport_profile *profile)
{
    const struct param *param = param_find(profile->ops->params, "queue_pairs");

    return param ? *(const int64_t *)(const void *)((const char *)profile->config + param->offset)
                 : 1;
}

struct ends { /* what a queue pair joins, seen from one of its hosts */
    uint32_t host, peer, profile, nic;
};

static guint ends_hash(gconstpointer key)
{
    const struct ends *ends = key;

    return (guint)random_mix(((uint64_t)ends->host << 32 | ends->peer) ^
                             (uint64_t)ends->profile << 16 ^ (uint64_t)ends->nic << 48);
}

static gboolean ends_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(struct ends)) == 0;
}

struct pairs {
    const struct backend_run *run;
    GHashTable *known; /* struct ends */
    int64_t *counts;   /* by host port */
};

/* Counts what is new; FALSE if the NIC has no more. */
static gboolean take_pair(const struct pairs *pairs, const struct ends *ends, GError **error)
{
    const struct backend_run *run = pairs->run;
    int64_t most = run->model->mtia300.nic_queue_pairs;
    int64_t *count = &pairs->counts[graph_port(run->graph, ends->host, ends->nic)];

    if (g_hash_table_contains(pairs->known, ends))
        return TRUE;
    g_hash_table_add(pairs->known, g_memdup2(ends, sizeof *ends));
    *count += queue_pairs_of(&run->profiles[ends->profile]);
    if (*count <= most)
        return TRUE;
    g_set_error(error, PARAM_ERROR, PARAM_ERROR_VALUE,
                "[mtia300] nic_queue_pairs = %" G_GINT64_FORMAT
                ": host %u needs more on its NIC port %u, one for each host that it talks to there "
                "and each of transport.queue_pairs; fewer peers, or more queue pairs, are expected",
                most, ends->host, ends->nic);
    return FALSE;
}

/* Of a message: those of each NIC port that it may use, at both ends. */
static gboolean take_pairs(const struct pairs *pairs, const struct schedule_op *op, GError **error)
{
    const struct schedule *schedule = pairs->run->schedule;
    uint32_t src = schedule->rank_host[op->rank], dst = schedule->rank_host[op->peer];
    uint32_t n_ports =
        MIN(graph_n_ports(pairs->run->graph, src), graph_n_ports(pairs->run->graph, dst));
    uint32_t end = op->n_nics > 0 ? MIN(n_ports, (uint32_t)op->first_nic + op->n_nics) : n_ports;

    for (uint32_t nic = op->first_nic; nic < end; nic++)
        if (!take_pair(pairs, &(struct ends){src, dst, op->profile, nic}, error) ||
            !take_pair(pairs, &(struct ends){dst, src, op->profile, nic}, error))
            return FALSE;
    return TRUE;
}

static gboolean check(const struct backend_run *run, GError **error)
{
    g_autoptr(GHashTable) known = g_hash_table_new_full(ends_hash, ends_equal, g_free, NULL);
    g_autofree int64_t *counts = g_new0(int64_t, 2 * (gsize)run->graph->n_links + 1);
    const struct pairs pairs = {run, known, counts};
    struct schedule_op op;

    for (uint64_t index = 0; index < run->schedule->n_ops; index++) {
        schedule_op(run->schedule, index, &op);
        if (op.kind == SCHEDULE_MESSAGE && !take_pairs(&pairs, &op, error))
            return FALSE;
    }
    return TRUE;
}

/* --- the seam --------------------------------------------------------------------------------- */

static int64_t perform(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct mtia300 *mtia = (struct mtia300 *)node;

    if (op->kind == SCHEDULE_RETIRE)
        return 0;
    struct node_task *task = node_task_new(node, index, op);

    switch (op->kind) {
    case SCHEDULE_COMPUTE:
    case SCHEDULE_GEMM:
        start_kernel(mtia, task);
        break;
    case SCHEDULE_ENQUEUE:
        start_enqueue(mtia, task);
        break;
    case SCHEDULE_DISPATCH:
        start_dispatch(mtia, task);
        break;
    default:
        start_element(mtia, task);
        break;
    }
    return NODE_LATER;
}

static void mtia300_open(struct node *node)
{
    struct mtia300 *mtia = (struct mtia300 *)node;

    mtia->config = &node->run->model->mtia300;
    mtia->n_nics = graph_n_ports(node->run->graph, node->host);
    mtia->nics = g_new0(struct nic, mtia->n_nics + 1);
    for (uint32_t i = 0; i < mtia->n_nics; i++)
        mtia->nics[i].last = &mtia->nics[i].first;
    mtia->last_kernel = &mtia->kernels;
}

static void mtia300_close(struct node *node)
{
    g_free(((struct mtia300 *)node)->nics);
}

static const char *const totals[] = {
    "sends",  "writes",         "receives",          "waits",           "sets", "reductions",
    "copies", "hbm_read_bytes", "hbm_written_bytes", "requests_waited", NULL};

static void report(const struct node *node, int64_t *sums)
{
    const struct mtia300 *mtia = (const struct mtia300 *)node;

    for (int i = SCHEDULE_NO_ELEMENT + 1; i < SCHEDULE_N_ELEMENTS; i++)
        sums[i - 1] += mtia->n_elements[i];
    sums[SCHEDULE_N_ELEMENTS - 1] += mtia->hbm_read_bytes;
    sums[SCHEDULE_N_ELEMENTS] += mtia->hbm_written_bytes;
    sums[SCHEDULE_N_ELEMENTS + 1] += mtia->n_requests_waited;
}

const struct node_ops node_mtia300 = {
    .name = "mtia300",
    .summary = "Message engines, near-memory reduction and NICs in the package: MTIA 300.",
    .source = "MTIA 300, ISCA 2026; HCCL, arXiv 2608.00358",
    .size = sizeof(struct mtia300),
    .accounts = true,
    .posts = true,
    .check = check,
    .open = mtia300_open,
    .close = mtia300_close,
    .issue = issue,
    .perform = perform,
    .notify = notify,
    .sent = sent,
    .totals = totals,
    .report = report,
};
