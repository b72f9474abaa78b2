/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns-3 from C: two hosts send 100 packets each to a third through a switch, whose port to it marks
 * from 20 kB on. Installed by make install, it is built by
 *   gcc -std=c11 ns3c_example.c -lns3c -lns3-point-to-point -lns3-internet -lns3-traffic-control \
 *       -lns3-network -lns3-core -lstdc++
 */
#include <inttypes.h>
#include <ns3c.h>
#include <stdio.h>

enum { PACKETS = 100, BYTES = 4178 };

struct tally {
    int n_received, n_marked;
    int64_t last_ps;
};

static void received(void *data, int device, const struct ns3c_packet *packet)
{
    struct tally *tally = data;

    (void)device;
    tally->n_received++;
    tally->n_marked += packet->ecn == NS3C_CE;
    tally->last_ps = ns3c_now();
}

static int wrong(void)
{
    fprintf(stderr, "%s\n", ns3c_error());
    return 1;
}

int main(void)
{
    struct tally tally = {0};
    struct ns3c_counts counts;

    if (ns3c_open(NS3C_IP, NULL) < 0)
        return wrong();
    for (int i = 0; i < 4; i++) /* nodes 0 to 2 are hosts, 3 is the switch */
        ns3c_node();
    for (int host = 0; host < 3; host++) { /* 400 Gb/s, 500 ns; device 2 x host is the host's */
        ns3c_link(host, 3, INT64_C(400000000000), 500000);
        ns3c_address(2 * host, (uint32_t)host);
        ns3c_route(3, (uint32_t)host, 2 * host + 1);
    }
    ns3c_queue_threshold(5, 20000);
    ns3c_on_receive(received, &tally);
    for (int i = 0; i < 2 * PACKETS; i++)
        if (ns3c_send(2 * (i % 2), 2, 49152, NS3C_ECT, BYTES, NULL) < 0)
            return wrong();
    if (ns3c_run(INT64_MAX) < 0 || ns3c_count(5, &counts) < 0)
        return wrong();
    printf("%d received, the last after %" PRId64 " ps; %d marked, at most %" PRId64 " B waiting\n",
           tally.n_received, tally.last_ps, tally.n_marked, counts.max_queue_bytes);
    return ns3c_close() < 0 ? wrong() : 0;
}
