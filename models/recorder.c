/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/recorder.h"
#include "models/transport.h"
#include "sim/core/random.h"

static struct reception look(const struct packet *packet, enum packet_ecn ecn, uint32_t port,
                             int64_t now_ps)
{
    bool data = packet->class == PACKET_DATA;

    return (struct reception){.time_ps = now_ps,
                              .flow = data ? packet->flow : packet->connection->key,
                              .sequence = data ? packet->sequence : packet->source_port,
                              .port = port,
                              .class = packet->class,
                              .ecn = (uint16_t)ecn};
}

static uint64_t chain(uint64_t hash, uint64_t word)
{
    return random_mix((hash ^ word) + RANDOM_GOLDEN);
}

static void add(struct recorder *recorder, const struct reception *reception)
{
    uint64_t hash = chain(recorder->hash, (uint64_t)reception->time_ps);

    hash = chain(hash, reception->flow);
    hash = chain(hash, (uint64_t)reception->class << 48 | (uint64_t)reception->ecn << 32 |
                           reception->sequence);
    recorder->hash = chain(hash, reception->port);
    if (recorder->n - recorder->window_first < recorder->window_n)
        g_array_append_val(recorder->window, *reception);
    recorder->n++;
    if (recorder->n % RECORDER_BLOCK == 0)
        g_array_append_val(recorder->blocks, recorder->hash);
}

static void arrived(struct observer *observer, uint32_t port, const struct packet *packet,
                    enum packet_ecn ecn)
{
    struct reception reception = look(packet, ecn, port, engine_now_ps(observer->engine));

    add((struct recorder *)(void *)observer, &reception);
}

void recorder_init(struct recorder *recorder, uint64_t window_first, uint64_t window_n)
{
    static const struct observer_ops ops = {.arrived = arrived};

    *recorder = (struct recorder){.observer = {.ops = &ops},
                                  .blocks = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
                                  .window_first = window_first,
                                  .window_n = window_n,
                                  .window = g_array_new(FALSE, FALSE, sizeof(struct reception))};
}

void recorder_clear(struct recorder *recorder)
{
    g_clear_pointer(&recorder->blocks, g_array_unref);
    g_clear_pointer(&recorder->window, g_array_unref);
}
