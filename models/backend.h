/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A backend plays a schedule on a graph into a sink. `native` is the product: our packet models on
 * our event heap. The configuration of all models is one struct made of named groups, each with its
 * parameter table; the application fills it from the scenario by model_groups.
 */
#ifndef WEFT_MODELS_BACKEND_H
#define WEFT_MODELS_BACKEND_H

#include "models/transport.h"
#include "sim/core/fault.h"
#include "sim/core/graph.h"
#include "sim/core/schedule.h"
#include "sim/core/sink.h"

/* [queue]: what a switch port does with a packet that has to wait. */
struct queue_config {
    int64_t kind;  /* choice: models/queue_list.c */
    int64_t limit; /* bytes waiting, without the packet in service */
    int64_t kmin, kmax, pmax;
    char *ecn_map;         /* the three by rate of a port; "": none */
    char *priorities;      /* of data, acknowledgements and control, such as 0,7,7 */
    int64_t mark_at;       /* 0 enqueue, 1 dequeue */
    int64_t mark_last_hop; /* whether switches mark on links to hosts */
};

/* [buffer]: the memory behind a switch's queues. */
struct buffer_config {
    int64_t kind;      /* 0 per_port, 1 shared */
    int64_t size;      /* bytes of a switch */
    int64_t threshold; /* 0 dynamic, 1 fixed */
    int64_t alpha;     /* ratio: a queue's limit is alpha x free */
    int64_t port_size; /* bytes a queue may hold */
};

/* [pfc]: priority flow control on every link. */
struct pfc_config {
    int64_t enable;
    char *priorities;  /* those without loss, such as 0,3 */
    int64_t threshold; /* 0 static: xoff; 1 dynamic: alpha x free */
    int64_t xoff, alpha, xon_offset;
    int64_t headroom;       /* bytes of a port and priority; 0: what its link needs */
    int64_t headroom_check; /* 0 error, 1 warn */
    int64_t response_time, quanta, refresh, frame;
};

/* [route]: the choice among equal-cost ports. */
struct route_config {
    int64_t kind;
    int64_t seeds; /* 0 per switch, 1 equal (polarisation) */
};

/* [loss]: random loss on wires. */
struct loss_config {
    int64_t rate_per_link, rate_end_to_end;
    int64_t class; /* 0 all but pfc, 1 data, 2 ack (all of 0 that is no data), 3 control, 4 pfc */
    char *tiers, *planes;
    int64_t direction;                               /* 0 both, 1 up, 2 down */
    int64_t burst_length_packets, burst_gap_packets; /* means; 0: off */
    int64_t burst_length_time, burst_gap_time;       /* means; 0: off */
    int64_t burst_loss;                              /* probability within a burst */
    char *drop_file;                                 /* CSV of packets to lose; "": none */
};

/* [faults]: how switches take links that fail. */
struct faults_config {
    char *file;               /* CSV of faults; "": none */
    int64_t convergence_time; /* from a change to new routes; PARAM_AUTO: never */
    int64_t rehash;           /* 0 modulo, 1 resilient */
    int64_t window;           /* of the sliding average by which recovery is measured */
};

/* [host]: NIC and node. */
struct host_config {
    int64_t clock_drift; /* ratio; each NIC's clock is slow by a uniform draw from 0 to this */
    int64_t node;        /* choice: models/node_list.c */
    int64_t issue_time, notify_time, reduce_rate;
    int64_t receive_rate;   /* at which each NIC port takes in what arrives; 0: at once */
    int64_t receive_buffer; /* bytes that may wait there */
    int64_t price;          /* of a host's hour, in 10^-12 of any currency */
    int64_t nic_watts;      /* of a NIC port that is switched on, in 10^-12 W */
};

/* [mtia300]: an accelerator with message engines and NICs in its package. */
struct mtia300_config {
    int64_t start;                              /* choice: how a transfer is begun */
    int64_t engines;                            /* message engines */
    int64_t element_time;                       /* an engine's controller, for each element */
    int64_t reduce_rate_alone, reduce_rate_all; /* bit/s of results of one engine */
    int64_t nic_time;                           /* a NIC's pipeline, each way */
    int64_t nic_work_requests;                  /* outstanding at a NIC */
    int64_t nic_queue_pairs;                    /* that a NIC has */
    int64_t fetch_time;                         /* a NIC's read of a work request from memory */
    int64_t hbm_rate;                           /* bit/s, reads and writes together */
    int64_t hbm_share;                          /* of collectives' traffic that reaches the HBM */
    int64_t gemm_fp8, gemm_fp16, gemm_tf32, gemm_fp32;                     /* Gflop/s */
    int64_t copy_time, cached_time, event_time, dispatch_time, start_time; /* control path */
    int64_t host_post_time;
    int64_t pe_post_time, pe_poll_time, pes;
};

/* [gpu]: an accelerator whose collectives run on its compute units. */
struct gpu_config {
    int64_t sms, collective_sms; /* streaming multiprocessors; those that a collective takes */
    int64_t tile_m, tile_n;
    int64_t gemm_fp8, gemm_fp16, gemm_tf32, gemm_fp32; /* Gflop/s of all SMs */
    int64_t hbm_rate, copy_rate;                       /* bit/s; copy: of one SM */
    int64_t staging;                                   /* copies into and out of buffers */
    int64_t launch_time, cached_time, start_time, element_time;
    int64_t proxy_time, proxy_poll_time;
    int64_t nic_attach; /* choice: pcie, memory */
    int64_t nic_time, pcie_time, pcie_rate, scale_up_time;
};

struct model_config {
    struct queue_config queue;
    struct buffer_config buffer;
    struct pfc_config pfc;
    struct route_config route;
    struct loss_config loss;
    struct faults_config faults;
    struct host_config host;
    struct mtia300_config mtia300;
    struct gpu_config gpu;
};

/* The groups of a scenario that configure models: name, table, where in model_config. */
struct model_group {
    const char *name; /* "queue", "route", ... */
    const char *summary;
    const struct param *params;
    size_t offset;
};
extern const struct model_group model_groups[]; /* ends with name == NULL */

struct backend_progress {
    int64_t now_ps, end_ps;
    uint64_t n_events;
    uint64_t n_ops_done, n_ops;
    uint64_t n_hops;
};

/* What is particular to a host of a group, [hosts:NAME]; the group's hosts share it. */
struct host_setting {
    const char *group;
    struct host_config host;                 /* in the place of [host] */
    const struct transport_profile *profile; /* of flows that ask for none; NULL: [transport] */
    int64_t planes;                          /* it uses NIC ports on planes below; 0: all */
};

struct observer;
struct recorder;
struct fabric_driver;

struct backend_run {
    const struct graph *graph;
    const struct schedule *schedule;
    const struct model_config *model;
    const struct transport_profile *profiles; /* one for each of schedule->profiles, same order */
    const struct host_setting *const *hosts;  /* by host, NULL: of no group; NULL: no groups */
    const struct fault_list *faults;          /* NULL: none */
    uint64_t seed;
    uint32_t n_threads; /* that may play it; 0: one */
    int64_t end_ps;     /* the run stops here at the latest */
    /* records of type series: at which step (0: none) and of what (models/series.h) */
    int64_t series_step_ps;
    uint32_t series_objects;
    struct observer *observer; /* of packets and operations (models/observer.h); NULL: none */
    struct recorder *recorder; /* of every reception; NULL: none */
    const char *text;          /* the resolved scenario, where the backend is elsewhere */
    /* called now and then (never between two events of an instant); false stops the run */
    bool (*progress)(void *data, const struct backend_progress *progress);
    void *progress_data;
};

enum backend_outcome {
    BACKEND_FINISHED,    /* every operation done, every flow finished */
    BACKEND_UNFINISHED,  /* end reached, or nothing left to happen, with work left; or a flow failed
                          */
    BACKEND_INTERRUPTED, /* progress() said stop; what was done is in the sink */
    BACKEND_BROKEN,      /* conservation does not hold: a defect of ours; see error */
};

struct backend_result {
    enum backend_outcome outcome;
    GPtrArray *waits; /* char *, lines "who waits for whom" when unfinished; owned by the caller */
    GPtrArray *notes; /* char *, what else should be said of the run; owned by the caller */
    uint64_t n_events, n_hops; /* a hop: one packet entering one wire */
    uint64_t n_ops_done, n_flows, n_flows_finished, n_flows_failed, n_flows_unfinished;
    int64_t end_ps;          /* the clock when the run stopped */
    int64_t delivered_bytes; /* payload, counted once */
};

struct backend_ops {
    const char *name, *summary;
    bool elsewhere; /* plays in another process, which reads run->text */
    /* FALSE with an error for input that cannot be played; otherwise the outcome is in result. */
    gboolean (*play)(const struct backend_run *run, const struct sink *sink,
                     struct backend_result *result, GError **error);
};

extern const struct backend_ops backend_native; /* packets on our event heap */

/* What every packet backend does, on what moves its clock (models/fabric.h); as play() does. */
gboolean backend_play(const struct fabric_driver *driver, const struct backend_run *run,
                      const struct sink *sink, struct backend_result *result, GError **error);

/* What configures a host: its group's, or the model's. */
const struct host_config *backend_host(const struct backend_run *run, uint32_t host);

/* Wire bytes of the largest packet that a transport of the run may send. */
int64_t backend_frame_bytes(const struct backend_run *run);

void backend_result_clear(struct backend_result *result);

/* The receiver-side time of `bytes` alone on the idle graph: the denominator of every slowdown. */
int64_t ideal_message_ps(const struct graph *graph, uint32_t src, uint32_t dst, int64_t bytes,
                         const struct transport_profile *profile);

#endif
