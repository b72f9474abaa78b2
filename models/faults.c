/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/faults.h"
#include "models/fabric.h"
#include "models/host.h"
#include "sim/core/units.h"

/* --- what arrives --------------------------------------------------------------------------- */

/* The rate at which the packet was sent whose transmission ended at `end_ps`. */
static int64_t rate_at(const struct port *port, int64_t end_ps)
{
    const GArray *rates = port->rare->loss->faults->rates;
    guint low = 0, high = rates->len; /* the first whose last transmission ended no earlier */

    while (low < high) {
        guint middle = (low + high) / 2;

        if (g_array_index(rates, struct fault_rate, middle).last_ps < end_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rates->len ? g_array_index(rates, struct fault_rate, low).rate_bps
                            : port->rate_bps;
}

/* When the packet's first bit left, its last having left at `end_ps`. */
static int64_t start_ps(const struct port *port, const struct wire_slot *slot, int64_t end_ps)
{
    int64_t ps = units_transmission_ps(slot->bytes, rate_at(port, end_ps));

    return end_ps - ps - (int64_t)((__int128)ps * port->rare->drift_ppt / UNITS_PPT);
}

/* Outages do not overlap, so the last that began before the packet was over is the one to ask. */
static bool was_down(const struct port *port, const struct wire_slot *slot)
{
    const struct port_faults *faults = port->rare->loss->faults;
    int64_t over_ps = slot->arrive_ps - faults->latency_ps;
    uint32_t low = 0, high = faults->n_outages;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (faults->outages[middle].down_ps < over_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 &&
           faults->outages[low - 1].up_ps > start_ps(port, slot, slot->arrive_ps - port->delay_ps);
}

enum sink_drop faults_lose(struct fabric *fabric, struct port *port, const struct wire_slot *slot)
{
    struct port_faults *faults = port->rare->loss->faults;
    enum sink_drop cause = SINK_N_DROPS;

    if (faults->others_classes >> slot->class & 1)
        cause = faults->others(fabric, port, slot);
    if (cause == SINK_N_DROPS && faults->loss_threshold &&
        faults->loss_classes >> slot->class & 1 &&
        random_next(&faults->losses) < faults->loss_threshold)
        cause = SINK_DROP_LOSS;
    return cause;
}

static enum sink_drop lose_by_fault(struct fabric *fabric, struct port *port,
                                    const struct wire_slot *slot)
{
    return was_down(port, slot) ? SINK_DROP_LINK_DOWN : faults_lose(fabric, port, slot);
}

/* --- changes -------------------------------------------------------------------------------- */

static void change_rate(struct fabric *fabric, struct port *port, int64_t rate_bps)
{
    struct port *landing = fabric_landing(fabric, port->number);
    struct fault_rate before = {0, port->rate_bps};

    before.last_ps = fabric->form->set_rate(fabric, port, rate_bps);
    landing->rate_bps = rate_bps;
    g_array_append_val(landing->rare->loss->faults->rates, before);
    if (port->from_host)
        host_set_rate(&fabric->engine, port->number, rate_bps);
}

static void change(struct fabric *fabric, const struct fault_step *step)
{
    if (fabric->driver->set_link && (step->change == FAULT_DOWN || step->change == FAULT_UP))
        fabric->driver->set_link(fabric, step->link, step->change == FAULT_UP);
    for (uint32_t end = 0; end < 2; end++) {
        struct port *port = &fabric->ports[2 * step->link + end];

        if (step->change == FAULT_RATE)
            change_rate(fabric, port, step->value);
        if ((step->change == FAULT_DOWN || step->change == FAULT_UP) && port->from_host)
            host_set_link(&fabric->engine, port->number, step->change == FAULT_DOWN);
        if (step->change == FAULT_LOSS)
            fabric_landing(fabric, port->number)->rare->loss->faults->loss_threshold =
                random_threshold(step->value);
    }
}

static const struct fault_step *step_at(const struct faults *faults, guint index)
{
    return &g_array_index(faults->steps, struct fault_step, index);
}

/* When the switches know of a step; INT64_MAX: never. */
static int64_t known_ps(const struct faults *faults, guint index)
{
    int64_t time_ps = step_at(faults, index)->time_ps;

    return faults->convergence_ps == PARAM_AUTO || time_ps > INT64_MAX - faults->convergence_ps
               ? INT64_MAX
               : time_ps + faults->convergence_ps;
}

/* The next step of which switches will hear, from faults->routed on. */
static void skip_to_routed(struct faults *faults)
{
    while (faults->routed < faults->steps->len &&
           step_at(faults, faults->routed)->change != FAULT_DOWN &&
           step_at(faults, faults->routed)->change != FAULT_UP)
        faults->routed++;
}

static void converge(struct fabric *fabric)
{
    struct faults *faults = &fabric->faults;
    g_autoptr(GArray) links = g_array_new(FALSE, FALSE, sizeof(uint32_t));

    skip_to_routed(faults);
    while (faults->routed < faults->steps->len &&
           known_ps(faults, faults->routed) <= fabric->engine.events.now_ps) {
        const struct fault_step *step = step_at(faults, faults->routed++);

        faults->dead[step->link] = step->change == FAULT_DOWN;
        g_array_append_val(links, step->link);
        skip_to_routed(faults);
    }
    if (links->len == 0)
        return;
    route_update(&fabric->route, faults->plan, faults->dead, (const uint32_t *)(void *)links->data,
                 links->len, faults->resilient);
    if (fabric->driver->rerouted)
        fabric->driver->rerouted(fabric);
}

static void plan_next(struct fabric *fabric)
{
    struct faults *faults = &fabric->faults;
    int64_t next_ps = INT64_MAX;

    if (faults->done < faults->steps->len)
        next_ps = step_at(faults, faults->done)->time_ps;
    if (faults->routed < faults->steps->len)
        next_ps = MIN(next_ps, known_ps(faults, faults->routed));
    faults->next_ps = next_ps;
    if (next_ps < INT64_MAX)
        event_schedule(&fabric->engine.events, &faults->event, next_ps);
}

static void happens(struct event_queue *queue, struct event *event)
{
    struct fabric *fabric = (struct fabric *)(void *)queue;
    struct faults *faults = &fabric->faults;

    (void)event;
    while (faults->done < faults->steps->len &&
           step_at(faults, faults->done)->time_ps <= queue->now_ps)
        change(fabric, step_at(faults, faults->done++));
    converge(fabric);
    plan_next(fabric);
}

/* --- setting up ----------------------------------------------------------------------------- */

/* Outages of each link, one link after the other; `first` says where those of a link begin. */
static void collect_outages(struct faults *faults, uint32_t n_links, uint32_t *first)
{
    g_autofree uint32_t *next = g_new(uint32_t, n_links + 1);

    for (guint i = 0; i < faults->steps->len; i++)
        first[step_at(faults, i)->link + 1] += step_at(faults, i)->change == FAULT_DOWN;
    for (uint32_t l = 0; l < n_links; l++)
        next[l] = first[l + 1] += first[l];
    for (uint32_t l = n_links; l > 0; l--)
        next[l] = first[l];
    next[0] = 0;
    g_array_set_size(faults->outages, first[n_links]);
    for (guint i = 0; i < faults->steps->len; i++) {
        const struct fault_step *step = step_at(faults, i);
        struct fault_outage *outages = (struct fault_outage *)(void *)faults->outages->data;

        if (step->change == FAULT_DOWN)
            outages[next[step->link]++] = (struct fault_outage){step->time_ps, INT64_MAX};
        if (step->change == FAULT_UP)
            outages[next[step->link] - 1].up_ps = step->time_ps;
    }
}

/* The port is asked of every packet from now on. */
static void touch(struct fabric *fabric, struct port *port, const struct fault_outage *outages,
                  uint32_t n_outages)
{
    const struct graph *graph = fabric->engine.graph;
    struct port_faults *faults = g_new0(struct port_faults, 1);
    struct port_rare *rare = port_rare(port);

    faults->outages = outages;
    faults->n_outages = n_outages;
    faults->latency_ps = port->delay_ps - graph->links[port->number / 2].delay_ps;
    faults->rates = g_array_new(FALSE, FALSE, sizeof(struct fault_rate));
    faults->loss_classes = loss_classes(&fabric->model->loss);
    faults->losses = random_stream(fabric->engine.seed, RANDOM_FAULT, port->number);
    faults->others = rare->lose;
    faults->others_classes = port->loss_classes;
    if (!rare->loss)
        rare->loss = g_new0(struct port_loss, 1);
    rare->loss->faults = faults;
    rare->lose = lose_by_fault;
    port->loss_classes = (1 << PACKET_N_CLASSES) - 1;
}

static void touch_all(struct fabric *fabric)
{
    struct faults *faults = &fabric->faults;
    uint32_t n_links = fabric->engine.graph->n_links;
    g_autofree uint32_t *first = g_new0(uint32_t, n_links + 1);

    collect_outages(faults, n_links, first);
    for (guint i = 0; i < faults->steps->len; i++) {
        const struct fault_outage *outages = (struct fault_outage *)(void *)faults->outages->data;
        uint32_t l = step_at(faults, i)->link;

        if (port_faults(&fabric->ports[2 * l]))
            continue;
        for (uint32_t end = 0; end < 2; end++)
            touch(fabric, &fabric->ports[2 * l + end], outages + first[l], first[l + 1] - first[l]);
    }
}

gboolean faults_init(struct fabric *fabric, GError **error)
{
    const struct backend_run *run = fabric->run;
    struct faults *faults = &fabric->faults;

    if (!run->faults || run->faults->faults->len == 0)
        return TRUE;
    faults->steps = fault_list_resolve(run->faults, run->graph, run->end_ps, error);
    if (!faults->steps)
        return FALSE;
    faults->convergence_ps = run->model->faults.convergence_time;
    faults->resilient = run->model->faults.rehash == 1;
    faults->dead = g_new0(uint8_t, run->graph->n_links + 1);
    faults->outages = g_array_new(FALSE, TRUE, sizeof(struct fault_outage));
    faults->plan = g_new0(struct route, 1);
    route_init(faults->plan, run->graph);
    touch_all(fabric);
    event_init(&faults->event, happens, EVENT_CLASS_TRANSMIT | fabric->n_ports);
    skip_to_routed(faults);
    plan_next(fabric);
    return TRUE;
}

void faults_clear(struct fabric *fabric)
{
    struct faults *faults = &fabric->faults;

    for (uint32_t number = 0; faults->steps && fabric->ports && number < fabric->n_ports;
         number++) {
        struct port_faults *touched = port_faults(&fabric->ports[number]);

        if (touched)
            g_array_unref(touched->rates);
        g_free(touched);
    }
    if (faults->plan)
        route_clear(faults->plan);
    g_clear_pointer(&faults->plan, g_free);
    g_clear_pointer(&faults->dead, g_free);
    g_clear_pointer(&faults->outages, g_array_unref);
    g_clear_pointer(&faults->steps, g_array_unref);
}

const struct route *faults_plan(const struct fabric *fabric)
{
    return fabric->faults.plan ? fabric->faults.plan : &fabric->route;
}
