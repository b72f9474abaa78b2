/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sim/app/fluid.h"
#include "models/cc.h"
#include "models/queue.h"
#include "sim/core/units.h"
#include <string.h>

G_DEFINE_QUARK(weft - fluid, fluid_error)

struct holder {
    struct cc_config cc;
};
static const struct param cc_table[] = {CC_PARAMS(struct holder), PARAM_END};

static gboolean refuse(GError **error, const char *text)
{
    g_set_error_literal(error, FLUID_ERROR, 1, text);
    return FALSE;
}

/* --- what the scenario says ------------------------------------------------------------------- */

/* The congestion control of a transport that has one, by the names of its parameters. */
static bool take_cc(const struct transport_profile *profile, struct cc_config *config)
{
    struct holder holder;

    for (const struct param *row = cc_table; row->name; row++) {
        const struct param *param = param_find(profile->ops->params, row->name);

        if (!param)
            return false;
        memcpy((char *)&holder + row->offset, (const char *)profile->config + param->offset,
               sizeof(int64_t));
    }
    *config = holder.cc;
    return true;
}

static int64_t number_of(const struct transport_profile *profile, const char *name)
{
    const struct param *param = param_find(profile->ops->params, name);
    int64_t value = 1;

    if (param)
        memcpy(&value, (const char *)profile->config + param->offset, sizeof value);
    return value;
}

struct incast { /* the messages of a schedule, all into one host */
    uint32_t sender, receiver, n_senders;
    const struct transport_profile *profile;
};

static gboolean find_incast(const struct experiment *experiment, struct incast *incast,
                            GError **error)
{
    const struct schedule *schedule = &experiment->schedule;
    g_autoptr(GHashTable) senders = g_hash_table_new(NULL, NULL);

    *incast = (struct incast){0};
    for (uint64_t index = 0; index < schedule->n_ops; index++) {
        struct schedule_op op;

        schedule_op(schedule, index, &op);
        if (op.kind != SCHEDULE_MESSAGE)
            continue;
        uint32_t src = schedule->rank_host[op.rank], dst = schedule->rank_host[op.peer];

        if (incast->profile && dst != incast->receiver)
            return refuse(error, "the fluid model has one bottleneck: all messages go to one host");
        incast->receiver = dst;
        incast->sender = src;
        incast->profile = hosts_profile(&experiment->hosts, src, experiment->profiles, op.profile);
        g_hash_table_add(senders, GUINT_TO_POINTER(src + 1));
    }
    incast->n_senders = g_hash_table_size(senders);
    return incast->profile != NULL || refuse(error, "there is no message");
}

static gboolean take_queue(const struct experiment *experiment, struct dcqcn_fluid *model,
                           GError **error)
{
    const struct queue_config *queue = &experiment->scenario->model.queue;

    if (strcmp(queue_list[queue->kind]->name, "red") != 0)
        return refuse(error, "[queue] kind: the fluid model has RED; red is expected");
    model->kmin_bytes = (double)queue->kmin;
    model->kmax_bytes = (double)queue->kmax;
    model->pmax = (double)queue->pmax / (double)UNITS_PPT;
    return TRUE;
}

static double seconds(int64_t ps)
{
    return (double)ps * 1e-12;
}

static gboolean take_control(const struct incast *incast, int64_t line_bps,
                             struct dcqcn_fluid *model, GError **error)
{
    struct cc_config config;
    struct cc_rule rule = {0};

    if (!take_cc(incast->profile, &config) || cc_list[config.kind] != &cc_dcqcn)
        return refuse(error, "[transport] cc: dcqcn is expected, of rocev2");
    cc_dcqcn.derive(&config, line_bps, &rule);
    model->line_bps = (double)line_bps;
    model->least_bps = (double)rule.dcqcn.min_bps;
    model->notify_s = seconds(MAX(rule.notify_interval_ps, rule.dcqcn.decrease_interval_ps));
    model->alpha_timer_s = seconds(rule.dcqcn.alpha_timer_ps);
    model->increase_timer_s = seconds(rule.dcqcn.increase_timer_ps);
    model->byte_counter_bytes = (double)rule.dcqcn.byte_counter;
    model->threshold = rule.dcqcn.threshold;
    model->ai_bps = (double)rule.dcqcn.ai_bps;
    model->gain = (double)rule.dcqcn.gain / (1 << 30);
    return model->notify_s > 0 ||
           refuse(error, "[transport] dcqcn_cnp_interval and dcqcn_decrease_interval: one of them "
                         "above 0 is expected");
}

gboolean fluid_init(struct fluid *fluid, const struct experiment *experiment, GError **error)
{
    const struct graph *graph = &experiment->graph;
    struct dcqcn_fluid *model = &fluid->model;
    struct incast incast;

    *fluid = (struct fluid){0};
    if (graph->n_planes != 1)
        return refuse(error,
                      "[topology] planes: the fluid model has one bottleneck; 1 is expected");
    if (!find_incast(experiment, &incast, error) || !take_queue(experiment, model, error))
        return FALSE;
    uint32_t out = graph_port(graph, incast.sender, 0), in = graph_port(graph, incast.receiver, 0);
    const struct transport_common *common = incast.profile->config;

    if (!take_control(&incast, graph->links[out / 2].rate_bps, model, error))
        return FALSE;
    fluid->receiver = incast.receiver;
    fluid->port = in ^ 1;
    fluid->hyper_by_timer = model->byte_counter_bytes == 0;
    model->capacity_bps = (double)graph->links[in / 2].rate_bps;
    model->n_flows = (double)(incast.n_senders * number_of(incast.profile, "queue_pairs"));
    model->packet_bytes = (double)(common->payload + common->header);
    model->delay_s = seconds(
        ideal_message_ps(graph, incast.sender, incast.receiver, common->payload, incast.profile) +
        ideal_message_ps(graph, incast.receiver, incast.sender, 1, incast.profile));
    return TRUE;
}

/* --- the packets beside it -------------------------------------------------------------------- */

struct listener {
    uint64_t port;
    GArray *steps;
};

static struct fluid_step *step_at(GArray *steps, int64_t time_ps)
{
    if (steps->len == 0 ||
        g_array_index(steps, struct fluid_step, steps->len - 1).time_ps != time_ps) {
        struct fluid_step step = {.time_ps = time_ps, .rate_least_bps = INT64_MAX};

        g_array_append_val(steps, step);
    }
    return &g_array_index(steps, struct fluid_step, steps->len - 1);
}

static void listen_to(void *data, const struct sink_series *series)
{
    struct listener *listener = data;
    struct fluid_step *step = step_at(listener->steps, series->time_ps);

    if (strcmp(series->object, "port") == 0 && series->id == listener->port &&
        strcmp(series->metric, "queue") == 0)
        step->queue_bytes = series->value;
    if (strcmp(series->object, "flow") != 0 || strcmp(series->metric, "rate") != 0)
        return;
    step->n_flows++;
    step->rate_sum_bps += series->value;
    step->rate_least_bps = MIN(step->rate_least_bps, series->value);
    step->rate_most_bps = MAX(step->rate_most_bps, series->value);
}

GArray *fluid_play(const struct fluid *fluid, const struct experiment *experiment, GError **error)
{
    static const struct sink_ops ops = {.series = listen_to};
    struct listener listener = {fluid->port, g_array_new(FALSE, FALSE, sizeof(struct fluid_step))};
    const struct sink sink = {&ops, &listener};
    struct backend_result result;
    gboolean ok = experiment_play(experiment, &sink, NULL, NULL, &result, error);

    if (ok && result.outcome == BACKEND_BROKEN)
        ok = refuse(error, "the run is broken: see weft run");
    backend_result_clear(&result);
    if (!ok)
        g_clear_pointer(&listener.steps, g_array_unref);
    return listener.steps;
}
