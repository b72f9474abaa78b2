/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An accelerator whose collectives run on its compute units, as GPUs with NCCL do.
 *
 * Modelled: a collective is a kernel. The host launches it, the device begins it and gives it
 * `collective_sms` of its SMs until it retires; a matrix product is worked off in waves of tiles
 * (a small one with its inner dimension split), one tile an SM, and gets in each wave what SMs are
 * not taken then (so a product that just fitted into one wave needs two). A kernel that finds no SM
 * free waits for the end of the wave. The kernel's SMs copy or reduce what is sent, `copy_rate`
 * each; bytes for other nodes go through staging buffers, and a proxy on the host posts them to the
 * NIC and polls for their completion; the NIC is behind PCIe or beside the memory. A flag goes
 * within its work request: nothing is copied, and it does not queue behind data that the NIC has
 * yet to read. Ports of the scale-up network are stored to by the SMs themselves. The HBM is one
 * server of reads and writes.
 *
 * Left out: several matrix products at a time, kernels that stay resident, reduction in switches,
 * protocols of NCCL for short messages, clocks that fall under load.
 * Source: SOURCES.md 6 (contention), 2.4 (baseline); NCCL's structure [M].
 */
#include "models/gemm.h"
#include "models/node_task.h"
#include "models/server.h"
#include "sim/core/units.h"

#define INLINE_BYTES 64 /* that a work request has room for; our choice: flags, and no data */

enum attach { ATTACH_PCIE, ATTACH_MEMORY };

struct gpu {
    struct node node;
    const struct gpu_config *config;
    struct server hbm, copier, host, proxy, pcie_out, pcie_in;
    int64_t n_taken;                               /* SMs, by collectives */
    int64_t n_wave;                                /* SMs, by the wave that runs */
    struct node_task *kernels, **last_kernel;      /* products and computations; the first runs */
    struct node_task *launching, **last_launching; /* collectives that wait for SMs */
    uint32_t n_up_ports;
    int64_t n_elements[SCHEDULE_N_ELEMENTS];
    int64_t hbm_bytes, n_waves;
};

static struct gpu *gpu_of(struct node_task *task)
{
    return (struct gpu *)task->node;
}

static int64_t now_of(const struct gpu *gpu)
{
    return engine_now_ps(gpu->node.engine);
}

static void enter(struct gpu *gpu, enum ledger_class class)
{
    ledger_enter(gpu->node.ledger, gpu->node.host, class, now_of(gpu));
}

static void leave(struct gpu *gpu, enum ledger_class class)
{
    ledger_leave(gpu->node.ledger, gpu->node.host, class, now_of(gpu));
}

static bool to_other_node(const struct gpu *gpu, const struct schedule_op *op)
{
    return op->first_nic >= gpu->n_up_ports;
}

static bool is_inline(const struct schedule_op *op)
{
    return op->bytes <= INLINE_BYTES;
}

/* The HBM moves so many bytes; returns when. */
static int64_t hbm_traffic(struct gpu *gpu, int64_t bytes)
{
    gpu->hbm_bytes += bytes;
    return server_take(&gpu->hbm, now_of(gpu), units_transmission_ps(bytes, gpu->config->hbm_rate));
}

/* The collectives' SMs copy or reduce so many bytes; returns when. */
static int64_t copy(struct gpu *gpu, int64_t bytes)
{
    int64_t n_sms = MAX(gpu->config->collective_sms, 1);
    int64_t time_ps = units_transmission_ps(bytes, gpu->config->copy_rate * n_sms);

    return server_take(&gpu->copier, now_of(gpu), time_ps);
}

/* --- transfers -------------------------------------------------------------------------------- */

static void issued(struct node_task *task)
{
    node_task_end(task, NODE_ISSUED);
}

static void at_port(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);
    const struct gpu_config *config = gpu->config;
    int64_t wait_ps = config->scale_up_time;

    leave(gpu, LEDGER_COLLECTIVE);
    if (to_other_node(gpu, &task->op)) {
        wait_ps = config->nic_time;
        if (config->nic_attach == ATTACH_PCIE)
            wait_ps += config->pcie_time;
        /* bytes stream: only what is before them waits */
        if (config->nic_attach == ATTACH_PCIE && !is_inline(&task->op)) {
            wait_ps += MAX(gpu->pcie_out.free_ps - now_of(gpu), 0);
            server_take(&gpu->pcie_out, now_of(gpu),
                        units_transmission_ps(task->op.bytes, config->pcie_rate));
        }
    }
    node_task_at(task, now_of(gpu) + wait_ps, issued);
}

static void posted(struct node_task *task)
{
    leave(gpu_of(task), LEDGER_HOST);
    at_port(task);
}

/* What the SMs have copied is posted by the proxy if it goes to another node. */
static void copied(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);

    node_proceed(task->node, task->index, NODE_POSTED);
    if (!to_other_node(gpu, &task->op)) {
        at_port(task);
        return;
    }
    enter(gpu, LEDGER_HOST);
    node_task_at(task, server_take(&gpu->proxy, now_of(gpu), gpu->config->proxy_time), posted);
}

static int64_t issue(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct gpu *gpu = (struct gpu *)node;
    bool staged = to_other_node(gpu, op) && gpu->config->staging;
    struct node_task *task = node_task_new(node, index, op);
    int64_t bytes = op->bytes;

    gpu->n_elements[op->element]++;
    enter(gpu, LEDGER_COLLECTIVE);
    /* read once; staged: read, written, and read again by the NIC */
    node_task_at(task,
                 is_inline(op)
                     ? now_of(gpu)
                     : server_later(copy(gpu, bytes), hbm_traffic(gpu, staged ? 3 * bytes : bytes)),
                 copied);
    return NODE_LATER;
}

static void done(struct node_task *task)
{
    node_task_end(task, NODE_DONE);
}

static void polled(struct node_task *task)
{
    leave(gpu_of(task), LEDGER_HOST);
    done(task);
}

/* The last byte is in memory. From another node: the proxy sees it, the SMs copy it out. */
static void in_memory(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);
    bool staged = gpu->config->staging && !is_inline(&task->op);
    int64_t at_ps;

    if (!to_other_node(gpu, &task->op)) {
        node_task_at(task, hbm_traffic(gpu, task->op.bytes), done);
        return;
    }
    enter(gpu, LEDGER_HOST);
    at_ps = server_later(server_take(&gpu->proxy, now_of(gpu), gpu->config->proxy_poll_time),
                         hbm_traffic(gpu, staged ? 3 * task->op.bytes : task->op.bytes));
    node_task_at(task, staged ? server_later(at_ps, copy(gpu, task->op.bytes)) : at_ps, polled);
}

static int64_t notify(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct gpu *gpu = (struct gpu *)node;
    const struct gpu_config *config = gpu->config;
    int64_t at_ps = now_of(gpu) + config->scale_up_time;

    if (to_other_node(gpu, op)) {
        at_ps = now_of(gpu) + config->nic_time;
        if (config->nic_attach == ATTACH_PCIE) {
            int64_t before_ps = MAX(gpu->pcie_in.free_ps, now_of(gpu));

            server_take(&gpu->pcie_in, now_of(gpu),
                        units_transmission_ps(op->bytes, config->pcie_rate));
            at_ps += config->pcie_time + before_ps - now_of(gpu);
        }
    }
    node_task_at(node_task_new(node, index, op), at_ps, in_memory);
    return NODE_LATER;
}

/* --- the kernel of a collective --------------------------------------------------------------- */

static void element_done(struct node_task *task)
{
    leave(gpu_of(task), LEDGER_COLLECTIVE);
    done(task);
}

/* Reductions are made in the pass that sends on, so they cost memory traffic and a step. */
static void start_element(struct gpu *gpu, struct node_task *task)
{
    int64_t at_ps = now_of(gpu) + gpu->config->element_time;

    gpu->n_elements[task->op.element]++;
    enter(gpu, LEDGER_COLLECTIVE);
    if (task->op.kind == SCHEDULE_REDUCE)
        at_ps = server_later(at_ps, hbm_traffic(gpu, task->op.element == SCHEDULE_COPIED
                                                         ? 2 * task->op.bytes
                                                         : 3 * task->op.bytes));
    node_task_at(task, at_ps, element_done);
}

static void launched(struct node_task *task)
{
    leave(gpu_of(task), LEDGER_HOST);
    done(task);
}

/* Gives SMs to the collectives that wait for them, in turn. */
static void grant(struct gpu *gpu)
{
    while (gpu->launching &&
           gpu->n_taken + gpu->n_wave + gpu->config->collective_sms <= gpu->config->sms) {
        struct node_task *task = gpu->launching;

        gpu->launching = task->next;
        if (!gpu->launching)
            gpu->last_launching = &gpu->launching;
        gpu->n_taken += gpu->config->collective_sms;
        launched(task);
    }
}

static void wants_sms(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);

    task->next = NULL;
    *gpu->last_launching = task;
    gpu->last_launching = &task->next;
    grant(gpu);
}

static void start_enqueue(struct gpu *gpu, struct node_task *task)
{
    const struct gpu_config *config = gpu->config;

    enter(gpu, LEDGER_HOST);
    node_task_at(
        task,
        server_take(&gpu->host, now_of(gpu),
                    task->op.flags & SCHEDULE_CACHED ? config->cached_time : config->launch_time),
        launched);
}

static void start_dispatch(struct gpu *gpu, struct node_task *task)
{
    enter(gpu, LEDGER_HOST);
    node_task_at(task, now_of(gpu) + gpu->config->start_time, wants_sms);
}

/* --- products and computations ---------------------------------------------------------------- */

static int64_t gemm_rate(const struct gpu_config *config, uint32_t type)
{
    const int64_t rates[] = {config->gemm_fp8, config->gemm_fp16, config->gemm_fp16,
                             config->gemm_tf32, config->gemm_fp32};

    return rates[type];
}

static const struct schedule_gemm *gemm_of(const struct node_task *task)
{
    return &g_array_index(task->node->run->schedule->gemms, struct schedule_gemm, task->op.peer);
}

/* A product as the device sees it: tiles, each with `k` of the inner dimension. */
struct tiling {
    uint32_t n, k;
};

/* Where there are fewer tiles than SMs, the inner dimension is split so that all have one. */
static struct tiling tiling_of(const struct gpu *gpu, const struct schedule_gemm *gemm)
{
    const struct gpu_config *config = gpu->config;
    int64_t n = (gemm->m + config->tile_m - 1) / config->tile_m *
                ((gemm->n + config->tile_n - 1) / config->tile_n);
    int64_t split = CLAMP(config->sms / n, 1, (int64_t)gemm->k);

    return (struct tiling){(uint32_t)(n * split), (uint32_t)((gemm->k + split - 1) / split)};
}

static void run_kernel(struct gpu *gpu);
static void run_wave(struct node_task *task);

static void kernel_done(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);

    gpu->n_wave = 0;
    gpu->kernels = task->next;
    if (!gpu->kernels)
        gpu->last_kernel = &gpu->kernels;
    leave(gpu, LEDGER_COMPUTE);
    done(task);
    grant(gpu);
    run_kernel(gpu);
}

static void wave_done(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);

    gpu->n_wave = 0;
    grant(gpu);
    run_wave(task);
}

/* A tile at a time for each SM that no collective has taken. */
static void run_wave(struct node_task *task)
{
    struct gpu *gpu = gpu_of(task);
    const struct gpu_config *config = gpu->config;
    const struct schedule_gemm *gemm = gemm_of(task);
    struct tiling tiling = tiling_of(gpu, gemm);
    struct schedule_gemm tile = {(uint32_t)config->tile_m, (uint32_t)config->tile_n, tiling.k,
                                 gemm->type};
    int64_t tile_ps = gemm_ps(&tile, gemm_rate(config, gemm->type)) * config->sms, fetched_ps;
    int64_t n_free = MAX(config->sms - gpu->n_taken, 1);

    gpu->n_wave = MIN(n_free, (int64_t)task->n_left);
    gpu->n_waves++;
    task->n_left -= (uint32_t)gpu->n_wave;
    fetched_ps = hbm_traffic(gpu, gemm_bytes(gemm) * gpu->n_wave / tiling.n);
    node_task_at(task, server_later(now_of(gpu) + tile_ps, fetched_ps),
                 task->n_left > 0 ? wave_done : kernel_done);
    grant(gpu); /* what a part of a wave leaves free */
}

static void run_kernel(struct gpu *gpu)
{
    struct node_task *task = gpu->kernels;

    if (!task)
        return;
    enter(gpu, LEDGER_COMPUTE);
    if (task->op.kind == SCHEDULE_GEMM) {
        task->n_left = tiling_of(gpu, gemm_of(task)).n;
        run_wave(task);
    } else {
        node_task_at(task, now_of(gpu) + task->op.duration_ps, kernel_done);
    }
}

static void start_kernel(struct gpu *gpu, struct node_task *task)
{
    task->next = NULL;
    *gpu->last_kernel = task;
    gpu->last_kernel = &task->next;
    if (gpu->kernels == task)
        run_kernel(gpu);
}

/* --- the seam --------------------------------------------------------------------------------- */

static int64_t retire(struct gpu *gpu)
{
    gpu->n_taken -= gpu->config->collective_sms;
    grant(gpu);
    return 0;
}

static int64_t perform(struct node *node, uint64_t index, const struct schedule_op *op)
{
    struct gpu *gpu = (struct gpu *)node;

    if (op->kind == SCHEDULE_RETIRE)
        return retire(gpu);
    struct node_task *task = node_task_new(node, index, op);

    switch (op->kind) {
    case SCHEDULE_COMPUTE:
    case SCHEDULE_GEMM:
        start_kernel(gpu, task);
        break;
    case SCHEDULE_ENQUEUE:
        start_enqueue(gpu, task);
        break;
    case SCHEDULE_DISPATCH:
        start_dispatch(gpu, task);
        break;
    default:
        start_element(gpu, task);
        break;
    }
    return NODE_LATER;
}

/* Ports on the planes of the scale-up network come first. */
static void gpu_open(struct node *node)
{
    struct gpu *gpu = (struct gpu *)node;
    const struct graph *graph = node->run->graph;
    uint32_t n_ports = graph_n_ports(graph, node->host);

    gpu->config = &node->run->model->gpu;
    while (gpu->n_up_ports < n_ports &&
           graph->links[graph_port(graph, node->host, gpu->n_up_ports) / 2].plane <
               graph->n_scale_up_planes)
        gpu->n_up_ports++;
    gpu->last_kernel = &gpu->kernels;
    gpu->last_launching = &gpu->launching;
}

static const char *const totals[] = {"sends",      "writes", "receives",  "waits", "sets",
                                     "reductions", "copies", "hbm_bytes", "waves", NULL};

static void report(const struct node *node, int64_t *sums)
{
    const struct gpu *gpu = (const struct gpu *)node;

    for (int i = SCHEDULE_NO_ELEMENT + 1; i < SCHEDULE_N_ELEMENTS; i++)
        sums[i - 1] += gpu->n_elements[i];
    sums[SCHEDULE_N_ELEMENTS - 1] += gpu->hbm_bytes;
    sums[SCHEDULE_N_ELEMENTS] += gpu->n_waves;
}

const struct node_ops node_gpu = {
    .name = "gpu",
    .summary = "Collectives on the compute units, a proxy on the host, NICs behind PCIe: a GPU.",
    .source = "SOURCES.md 6 and 2.4; NCCL's structure",
    .size = sizeof(struct gpu),
    .accounts = true,
    .posts = true,
    .open = gpu_open,
    .issue = issue,
    .perform = perform,
    .notify = notify,
    .totals = totals,
    .report = report,
};
