/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The C bindings to ns-3: what they refuse, and small runs whose answer is a formula, in both
 * forms. 1000 B take 80 ns at 100 Gb/s.
 */
#include "models/ns3/ns3c.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define RATE      INT64_C(100000000000)
#define DELAY_PS  1000000
#define BYTES     1000
#define PACKET_PS 80000

static const enum ns3c_form forms[] = {NS3C_P2P, NS3C_IP};

#define EACH_FORM for (int form = 0; form < 2; form++)

/* What callbacks have seen; assertions stay outside them, because they leave by longjmp. */
struct seen {
    int n_received, n_dropped[NS3C_N_DROPS], n_marked, n_free, n_held, n_events;
    int64_t last_ps;
    uint32_t sources[8];
    int last_device, status;
    void *last_user;
    uint32_t choice;
    bool lose;
    int64_t waiting[8];
    enum ns3c_verdict verdict;
};

static void on_receive(void *data, int device, const struct ns3c_packet *packet)
{
    struct seen *seen = data;

    seen->sources[seen->n_received++ % 8] = packet->source;
    seen->n_marked += packet->ecn == NS3C_CE;
    seen->last_ps = ns3c_now();
    seen->last_device = device;
    seen->last_user = packet->user;
}

static void on_drop(void *data, int device, const struct ns3c_packet *packet, enum ns3c_drop cause)
{
    struct seen *seen = data;

    (void)packet;
    seen->n_dropped[cause]++;
    seen->last_device = device;
}

static bool on_loss(void *data, int device, const struct ns3c_packet *packet)
{
    (void)device;
    (void)packet;
    return ((struct seen *)data)->lose;
}

static uint32_t on_choice(void *data, int node, const struct ns3c_packet *packet, uint32_t n)
{
    (void)node;
    (void)packet;
    (void)n;
    return ((struct seen *)data)->choice;
}

static enum ns3c_verdict on_admit(void *data, int device, const struct ns3c_packet *packet,
                                  int64_t waiting_bytes)
{
    struct seen *seen = data;

    (void)packet;
    if (device == 3)
        seen->waiting[seen->n_events++ % 8] = waiting_bytes;
    return device == 3 ? seen->verdict : NS3C_ACCEPT;
}

static void on_free(void *data, int device)
{
    (void)device;
    ((struct seen *)data)->n_free++;
}

static void release_later(void *data)
{
    struct seen *seen = data;

    seen->status = ns3c_release(seen->last_device);
}

static void on_hold(void *data, int device, const struct ns3c_packet *packet)
{
    struct seen *seen = data;

    (void)packet;
    seen->n_held++;
    seen->last_device = device;
    ns3c_schedule(0, release_later, seen);
}

static void on_event(void *data)
{
    ((struct seen *)data)->n_events++;
}

static void on_nested_run(void *data)
{
    ((struct seen *)data)->status = ns3c_run(INT64_MAX);
}

static void on_nested_close(void *data)
{
    ((struct seen *)data)->status = ns3c_close();
}

static enum ns3c_verdict on_admit_close(void *data, int device, const struct ns3c_packet *packet,
                                        int64_t waiting_bytes)
{
    (void)device;
    (void)packet;
    (void)waiting_bytes;
    ((struct seen *)data)->status = ns3c_close();
    return NS3C_ACCEPT;
}

static void on_stop(void *data)
{
    (void)data;
    ns3c_stop();
}

/* Hosts 0 and 1 on the switch 2: devices 0 and 2 are the hosts', 1 and 3 the switch's. */
static void open_line(enum ns3c_form form, struct seen *seen)
{
    *seen = (struct seen){.last_device = -1};
    assert_int_equal(ns3c_open(form, NULL), NS3C_DONE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ns3c_node(), i);
    for (int host = 0; host < 2; host++) {
        assert_int_equal(ns3c_link(host, 2, RATE, DELAY_PS), host);
        assert_int_equal(ns3c_address(2 * host, (uint32_t)(10 + host)), NS3C_DONE);
        assert_int_equal(ns3c_route(2, (uint32_t)(10 + host), 2 * host + 1), NS3C_DONE);
    }
    ns3c_on_receive(on_receive, seen);
    ns3c_on_drop(on_drop, seen);
}

static void send_some(int n, enum ns3c_ecn ecn)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(ns3c_send(0, 11, 49152, ecn, BYTES, NULL), NS3C_DONE);
}

static void refused(int status, int expected, const char *word)
{
    assert_int_equal(status, expected);
    if (!strstr(ns3c_error(), word))
        fail_msg("'%s' does not say '%s'", ns3c_error(), word);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void test_nothing_works_when_closed(void **state)
{
    struct ns3c_counts counts;

    (void)state;
    refused(ns3c_close(), NS3C_STATE, "no run is open");
    refused(ns3c_node(), NS3C_STATE, "ns3c_node");
    refused(ns3c_node_latency(0, 1), NS3C_STATE, "ns3c_node_latency");
    refused(ns3c_link(0, 1, RATE, 0), NS3C_STATE, "ns3c_link");
    refused(ns3c_address(0, 0), NS3C_STATE, "ns3c_address");
    refused(ns3c_device_node(0), NS3C_STATE, "ns3c_device_node");
    refused(ns3c_route(0, 0, 0), NS3C_STATE, "ns3c_route");
    refused(ns3c_route_clear(0, 0), NS3C_STATE, "ns3c_route_clear");
    refused(ns3c_on_choice(on_choice, NULL), NS3C_STATE, "ns3c_on_choice");
    refused(ns3c_queue_limit(0, 1), NS3C_STATE, "ns3c_queue_limit");
    refused(ns3c_queue_threshold(0, 1), NS3C_STATE, "ns3c_queue_threshold");
    refused(ns3c_on_admit(on_admit, NULL), NS3C_STATE, "ns3c_on_admit");
    refused(ns3c_on_loss(on_loss, NULL), NS3C_STATE, "ns3c_on_loss");
    refused(ns3c_loss_rate(0, 0.5, 1), NS3C_STATE, "ns3c_loss_rate");
    refused(ns3c_link_set(0, true), NS3C_STATE, "ns3c_link_set");
    refused(ns3c_link_rate(0, RATE), NS3C_STATE, "ns3c_link_rate");
    refused(ns3c_on_drop(on_drop, NULL), NS3C_STATE, "ns3c_on_drop");
    refused(ns3c_send(0, 0, 1, NS3C_ECT, BYTES, NULL), NS3C_STATE, "ns3c_send");
    refused(ns3c_on_receive(on_receive, NULL), NS3C_STATE, "ns3c_on_receive");
    refused(ns3c_on_free(on_free, NULL), NS3C_STATE, "ns3c_on_free");
    refused(ns3c_is_free(0), NS3C_STATE, "ns3c_is_free");
    refused(ns3c_on_hold(on_hold, NULL), NS3C_STATE, "ns3c_on_hold");
    refused(ns3c_release(0), NS3C_STATE, "ns3c_release");
    refused((int)ns3c_now(), NS3C_STATE, "ns3c_now");
    refused(ns3c_schedule(0, on_stop, NULL), NS3C_STATE, "ns3c_schedule");
    refused(ns3c_run(INT64_MAX), NS3C_STATE, "ns3c_run");
    refused(ns3c_stop(), NS3C_STATE, "ns3c_stop");
    refused(ns3c_count(0, &counts), NS3C_STATE, "ns3c_count");
    refused((int)ns3c_events(), NS3C_STATE, "ns3c_events");
}

static void test_open(void **state)
{
    (void)state;
    refused(ns3c_open((enum ns3c_form)7, NULL), NS3C_ARGUMENT, "form 7");
    refused(ns3c_open(NS3C_P2P, "ns3::NoSuchScheduler"), NS3C_ARGUMENT, "ns3::NoSuchScheduler");
    refused(ns3c_open(NS3C_P2P, "ns3::Node"), NS3C_ARGUMENT, "is no scheduler");
    assert_int_equal(ns3c_open(NS3C_P2P, "ns3::MapScheduler"), NS3C_DONE);
    refused(ns3c_open(NS3C_P2P, NULL), NS3C_STATE, "a run is open");
    refused(ns3c_open(NS3C_IP, NULL), NS3C_STATE, "one simulator");
    assert_int_equal(ns3c_close(), NS3C_DONE);
    refused(ns3c_close(), NS3C_STATE, "no run is open");
}

static void test_bad_networks(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        assert_int_equal(ns3c_open(forms[form], NULL), NS3C_DONE);
        refused(ns3c_link(0, 1, RATE, 0), NS3C_ARGUMENT, "node 0: there is none yet");
        refused(ns3c_address(0, 0), NS3C_ARGUMENT, "device 0: there is none yet");
        refused(ns3c_link_set(0, true), NS3C_ARGUMENT, "link 0: there is none yet");
        assert_int_equal(ns3c_close(), NS3C_DONE);
        open_line(forms[form], &seen);
        refused(ns3c_link(0, 3, RATE, 0), NS3C_ARGUMENT, "node 3: 0 to 2");
        refused(ns3c_link(-1, 2, RATE, 0), NS3C_ARGUMENT, "node -1");
        refused(ns3c_link(1, 1, RATE, 0), NS3C_ARGUMENT, "both ends");
        refused(ns3c_link(0, 1, 0, 0), NS3C_ARGUMENT, "rate 0");
        refused(ns3c_link(0, 1, -5, 0), NS3C_ARGUMENT, "rate -5");
        refused(ns3c_link(0, 1, RATE, -1), NS3C_ARGUMENT, "delay -1");
        refused(ns3c_link(0, 1, RATE, INT64_MIN), NS3C_ARGUMENT, "delay -9");
        refused(ns3c_address(9, 1), NS3C_ARGUMENT, "device 9");
        refused(ns3c_address(1, 1 << 24), NS3C_ARGUMENT, "address 16777216");
        refused(ns3c_address(0, 12), NS3C_ARGUMENT, "has been used");
        refused(ns3c_address(1, 11), NS3C_ARGUMENT, "has been used");
        refused(ns3c_device_node(4), NS3C_ARGUMENT, "device 4");
        refused(ns3c_route(2, 10, 0), NS3C_ARGUMENT, "not node 2's");
        refused(ns3c_route(3, 10, 1), NS3C_ARGUMENT, "node 3");
        refused(ns3c_route_clear(-1, 10), NS3C_ARGUMENT, "node -1");
        refused(ns3c_link_set(2, false), NS3C_ARGUMENT, "link 2");
        refused(ns3c_link_rate(0, 0), NS3C_ARGUMENT, "rate 0");
        assert_int_equal(ns3c_device_node(1), 2);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

static void test_bad_queues_and_packets(void **state)
{
    struct seen seen;
    struct ns3c_counts counts;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        refused(ns3c_queue_limit(1, 0), NS3C_ARGUMENT, "limit 0");
        refused(ns3c_queue_limit(7, 1000), NS3C_ARGUMENT, "device 7");
        refused(ns3c_queue_threshold(1, -1), NS3C_ARGUMENT, "threshold -1");
        refused(ns3c_loss_rate(1, 1.5, 1), NS3C_ARGUMENT, "rate 1.5");
        refused(ns3c_loss_rate(1, (double)NAN, 1), NS3C_ARGUMENT, "rate");
        refused(ns3c_loss_rate(1, 0.5, -1), NS3C_ARGUMENT, "stream -1");
        refused(ns3c_send(4, 10, 1, NS3C_ECT, BYTES, NULL), NS3C_ARGUMENT, "device 4");
        refused(ns3c_send(1, 10, 1, NS3C_ECT, BYTES, NULL), NS3C_ARGUMENT, "no address");
        refused(ns3c_send(0, 1 << 24, 1, NS3C_ECT, BYTES, NULL), NS3C_ARGUMENT, "address");
        refused(ns3c_send(0, 11, 1, (enum ns3c_ecn)3, BYTES, NULL), NS3C_ARGUMENT, "ecn 3");
        refused(ns3c_send(0, 11, 1, NS3C_ECT, form ? 29 : 1, NULL), NS3C_ARGUMENT, "size");
        refused(ns3c_send(0, 11, 1, NS3C_ECT, -1, NULL), NS3C_ARGUMENT, "size -1");
        refused(ns3c_send(0, 11, 1, NS3C_ECT, INT64_MAX, NULL), NS3C_ARGUMENT, "size");
        refused(ns3c_release(0), NS3C_ARGUMENT, "nothing is held");
        refused(ns3c_release(-3), NS3C_ARGUMENT, "device -3");
        refused(ns3c_is_free(4), NS3C_ARGUMENT, "device 4");
        refused(ns3c_count(4, &counts), NS3C_ARGUMENT, "device 4");
        refused(ns3c_count(0, NULL), NS3C_ARGUMENT, "no place");
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

static void test_bad_times(void **state)
{
    struct seen seen;

    (void)state;
    open_line(NS3C_P2P, &seen);
    refused(ns3c_schedule(-1, on_event, &seen), NS3C_ARGUMENT, "delay -1");
    refused(ns3c_schedule(0, NULL, NULL), NS3C_ARGUMENT, "no function");
    assert_int_equal(ns3c_schedule(5, on_nested_run, &seen), NS3C_DONE);
    assert_int_equal(ns3c_run(10), NS3C_DONE);
    assert_int_equal(seen.status, NS3C_STATE);
    assert_int_equal(ns3c_schedule(5, on_nested_close, &seen), NS3C_DONE);
    seen.status = 0;
    assert_int_equal(ns3c_run(20), NS3C_DONE);
    assert_int_equal(seen.status, NS3C_STATE);
    refused(ns3c_run(19), NS3C_ARGUMENT, "end 19: 20 to");
    refused(ns3c_schedule(INT64_MAX, on_event, &seen), NS3C_ARGUMENT, "delay 9");
    ns3c_on_admit(on_admit_close, &seen); /* a callback outside a run */
    seen.status = 0;
    send_some(1, NS3C_ECT);
    assert_int_equal(seen.status, NS3C_STATE);
    assert_int_equal(ns3c_close(), NS3C_DONE);
}

/* --- time ------------------------------------------------------------------------------------- */

/* Events at 5 and 10: the limit is inclusive, goes on where it ended, and stop is at once. */
static void test_run(void **state)
{
    struct seen seen;

    (void)state;
    open_line(NS3C_P2P, &seen);
    ns3c_schedule(5, on_event, &seen);
    ns3c_schedule(10, on_event, &seen);
    assert_int_equal(ns3c_run(4), NS3C_DONE);
    assert_int_equal(seen.n_events, 0);
    assert_int_equal(ns3c_now(), 4);
    assert_int_equal(ns3c_run(5), NS3C_DONE);
    assert_int_equal(seen.n_events, 1);
    ns3c_schedule(5, on_stop, NULL);
    ns3c_schedule(5, on_event, &seen); /* behind what was planned for 10 already */
    assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
    assert_int_equal(ns3c_now(), 10);
    assert_int_equal(seen.n_events, 2);
    assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
    assert_int_equal(seen.n_events, 3);
    assert_true(ns3c_events() > 4);
    assert_int_equal(ns3c_close(), NS3C_DONE);
}

/* Two links and a switch: 2 x 80 ns + 2 us, then a packet every 80 ns; the pointer arrives. */
static void test_line(void **state)
{
    struct seen seen;
    struct ns3c_counts counts;

    (void)state;
    for (int again = 0; again < 2; again++) {
        EACH_FORM
        {
            open_line(forms[form], &seen);
            assert_int_equal(ns3c_send(0, 11, 1, NS3C_ECT, BYTES, &seen), NS3C_DONE);
            assert_int_equal(ns3c_is_free(0), 0);
            send_some(9, NS3C_ECT);
            assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
            assert_int_equal(seen.n_received, 10);
            assert_int_equal(seen.last_ps, 11 * PACKET_PS + 2 * DELAY_PS);
            assert_int_equal(seen.last_device, 2);
            assert_int_equal(seen.sources[3], 10);
            assert_int_equal(ns3c_is_free(0), 1);
            assert_int_equal(ns3c_count(0, &counts), NS3C_DONE);
            assert_int_equal(counts.sent_packets, 10);
            assert_int_equal(counts.sent_bytes, 10 * BYTES);
            assert_int_equal(counts.arrived_packets, 10);
            assert_int_equal(counts.max_queue_bytes, 9 * BYTES);
            assert_int_equal(counts.wire_packets + counts.queue_packets, 0);
            assert_int_equal(ns3c_close(), NS3C_DONE);
        }
    }
}

static void test_user_pointer(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_send(0, 11, 1, NS3C_NOT_ECT, BYTES, &seen), NS3C_DONE);
        assert_int_equal(ns3c_run(PACKET_PS + DELAY_PS - 1), NS3C_DONE);
        struct ns3c_counts counts;

        assert_int_equal(ns3c_count(0, &counts), NS3C_DONE);
        assert_int_equal(counts.wire_packets, 1);
        assert_int_equal(counts.wire_bytes, BYTES);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_ptr_equal(seen.last_user, &seen);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* --- queues ----------------------------------------------------------------------------------- */

/*
 * The switch's port is ten times slower. Of 10 packets the first is sent, 3 wait, and those that
 * find 3000 B waiting do not fit; no second one leaves in the 800 ns in which all arrive.
 */
static void test_limit_and_marks(void **state)
{
    struct seen seen;
    struct ns3c_counts counts;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_link_rate(1, RATE / 10), NS3C_DONE);
        assert_int_equal(ns3c_queue_limit(3, 3 * BYTES), NS3C_DONE);
        assert_int_equal(ns3c_queue_threshold(3, 2 * BYTES), NS3C_DONE);
        send_some(10, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 4);
        assert_int_equal(seen.n_dropped[NS3C_DROP_QUEUE], 6);
        assert_int_equal(seen.n_marked, 1); /* the one that found exactly 2000 B */
        assert_int_equal(ns3c_count(3, &counts), NS3C_DONE);
        assert_int_equal(counts.marked_packets, 1);
        assert_int_equal(counts.max_queue_bytes, 3 * BYTES);
        assert_int_equal(counts.dropped_packets[NS3C_DROP_QUEUE], 6);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* A packet that can carry no mark gets none. */
static void test_not_ect(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_queue_threshold(3, 0), NS3C_DONE);
        send_some(3, NS3C_NOT_ECT);
        send_some(2, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 5);
        assert_int_equal(seen.n_marked, 2);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* What the callback sees waiting leaves out the packet in service, and its verdict is followed. */
static void test_admit(void **state)
{
    struct seen seen;
    static const enum ns3c_verdict verdicts[] = {NS3C_ACCEPT, NS3C_MARK, NS3C_REFUSE};

    (void)state;
    EACH_FORM
    {
        for (int v = 0; v < 3; v++) {
            open_line(forms[form], &seen);
            seen.verdict = verdicts[v];
            ns3c_on_admit(on_admit, &seen);
            ns3c_link_rate(1, RATE / 10);
            send_some(4, NS3C_ECT);
            assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
            assert_int_equal(seen.n_events, 4);
            assert_int_equal(seen.waiting[0], 0);
            assert_int_equal(seen.waiting[1], 0);
            assert_int_equal(seen.waiting[3], v == 2 ? 0 : 2 * BYTES);
            assert_int_equal(seen.n_marked, v == 1 ? 4 : 0);
            assert_int_equal(seen.n_received, v == 2 ? 0 : 4);
            assert_int_equal(ns3c_close(), NS3C_DONE);
        }
    }
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static void test_loss(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        seen.lose = true;
        ns3c_on_loss(on_loss, &seen);
        send_some(3, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_dropped[NS3C_DROP_LOSS], 3);
        assert_int_equal(seen.last_device, 0);
        seen.lose = false;
        assert_int_equal(ns3c_loss_rate(1, 1.0, 1), NS3C_DONE); /* the other way */
        send_some(3, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 3);
        assert_int_equal(ns3c_loss_rate(0, 1.0, 2), NS3C_DONE);
        send_some(3, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 3);
        assert_int_equal(seen.n_dropped[NS3C_DROP_LOSS], 6);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* Down: what arrives meanwhile is gone, in both directions; up: all is well. */
static void test_link_down(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        send_some(2, NS3C_ECT);
        assert_int_equal(ns3c_run(PACKET_PS + DELAY_PS), NS3C_DONE); /* the first has arrived */
        assert_int_equal(ns3c_link_set(0, false), NS3C_DONE);
        assert_int_equal(ns3c_run(2 * PACKET_PS + DELAY_PS), NS3C_DONE);
        assert_int_equal(seen.n_dropped[NS3C_DROP_DOWN], 1);
        assert_int_equal(ns3c_link_set(0, true), NS3C_DONE);
        send_some(1, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 2);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/*
 * 100 ns of latency in the switch, which an outage does not cut: of packets whose last bits arrive
 * after 1080, 1160, 1240 ns, the first and second are through when the link is down from 1160 ns
 * on. It is up again at 1170 ns, and the third had begun before.
 */
static void test_latency_and_outage(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_node_latency(2, 100000), NS3C_DONE);
        refused(ns3c_node_latency(3, 1), NS3C_ARGUMENT, "node 3");
        refused(ns3c_node_latency(2, -1), NS3C_ARGUMENT, "latency -1");
        send_some(3, NS3C_ECT);
        assert_int_equal(ns3c_run(2 * PACKET_PS + DELAY_PS), NS3C_DONE);
        assert_int_equal(ns3c_link_set(0, false), NS3C_DONE);
        assert_int_equal(ns3c_run(2 * PACKET_PS + DELAY_PS + 10000), NS3C_DONE);
        assert_int_equal(ns3c_link_set(0, true), NS3C_DONE);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 2);
        assert_int_equal(seen.n_dropped[NS3C_DROP_DOWN], 1);
        assert_int_equal(seen.last_ps, 3 * PACKET_PS + 2 * DELAY_PS + 100000);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* A packet that begins while the link is down is lost, one that begins as it comes back is not. */
static void test_begins_in_outage(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_link_set(0, false), NS3C_DONE);
        send_some(1, NS3C_ECT);
        assert_int_equal(ns3c_run(PACKET_PS), NS3C_DONE);
        send_some(1, NS3C_ECT);
        assert_int_equal(ns3c_link_set(0, true), NS3C_DONE);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_received, 1);
        assert_int_equal(seen.n_dropped[NS3C_DROP_DOWN], 1);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

static void test_no_route(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        assert_int_equal(ns3c_send(0, 99, 1, NS3C_ECT, BYTES, NULL), NS3C_DONE);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_dropped[NS3C_DROP_NO_ROUTE], 1);
        assert_int_equal(seen.last_device, 0);
        assert_int_equal(ns3c_route_clear(2, 11), NS3C_DONE);
        send_some(1, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_dropped[NS3C_DROP_NO_ROUTE], 2);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* A ring of two switches that send to each other: IP ends what goes round; devices would not. */
static void test_hops_end(void **state)
{
    struct seen seen;

    (void)state;
    open_line(NS3C_IP, &seen);
    assert_int_equal(ns3c_node(), 3);
    assert_int_equal(ns3c_link(2, 3, RATE, 0), 2);
    assert_int_equal(ns3c_route(2, 50, 4), NS3C_DONE);
    assert_int_equal(ns3c_route(3, 50, 5), NS3C_DONE);
    assert_int_equal(ns3c_send(0, 50, 1, NS3C_ECT, BYTES, NULL), NS3C_DONE);
    assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
    assert_int_equal(seen.n_dropped[NS3C_DROP_NO_ROUTE], 1);
    assert_int_equal(ns3c_close(), NS3C_DONE);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* A second switch port towards host 1: link 2, devices 4 (host) and 5 (switch). */
static void add_second_path(void)
{
    assert_int_equal(ns3c_link(1, 2, RATE, DELAY_PS), 2);
    assert_int_equal(ns3c_route(2, 11, 5), NS3C_DONE);
}

static void test_choice(void **state)
{
    struct seen seen;
    struct ns3c_counts first, second;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        add_second_path();
        for (uint16_t port = 0; port < 64; port++) /* by the hash of the bindings */
            assert_int_equal(ns3c_send(0, 11, port, NS3C_ECT, BYTES, NULL), NS3C_DONE);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(ns3c_count(3, &first) + ns3c_count(5, &second), NS3C_DONE);
        assert_int_equal(first.sent_packets + second.sent_packets, 64);
        assert_in_range(first.sent_packets, 16, 48);
        ns3c_on_choice(on_choice, &seen);
        seen.choice = 1;
        send_some(5, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(ns3c_count(3, &first), NS3C_DONE);
        assert_int_equal(first.sent_packets + second.sent_packets, 64);
        assert_int_equal(seen.n_received, 69);
        assert_int_equal(seen.last_device, 4);
        seen.choice = 2; /* there is none */
        send_some(1, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_dropped[NS3C_DROP_NO_ROUTE], 1);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

/* Held packets go on when they are released, at the same instant. */
static void test_hold(void **state)
{
    struct seen seen;

    (void)state;
    EACH_FORM
    {
        open_line(forms[form], &seen);
        ns3c_on_hold(on_hold, &seen);
        ns3c_on_free(on_free, &seen);
        send_some(3, NS3C_ECT);
        assert_int_equal(ns3c_run(INT64_MAX), NS3C_DONE);
        assert_int_equal(seen.n_held, 6);
        assert_int_equal(seen.status, NS3C_DONE);
        assert_int_equal(seen.n_received, 3);
        /* once at the host; at the switch thrice, where the next packet arrives at that instant */
        assert_int_equal(seen.n_free, 4);
        assert_int_equal(seen.last_ps, 4 * PACKET_PS + 2 * DELAY_PS);
        assert_int_equal(ns3c_close(), NS3C_DONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_works_when_closed),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_bad_networks),
        cmocka_unit_test(test_bad_queues_and_packets),
        cmocka_unit_test(test_bad_times),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_user_pointer),
        cmocka_unit_test(test_limit_and_marks),
        cmocka_unit_test(test_not_ect),
        cmocka_unit_test(test_admit),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_link_down),
        cmocka_unit_test(test_latency_and_outage),
        cmocka_unit_test(test_begins_in_outage),
        cmocka_unit_test(test_no_route),
        cmocka_unit_test(test_hops_end),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_hold),
        cmocka_unit_test(test_nothing_works_when_closed), /* nor after runs */
    };

    return cmocka_run_group_tests_name("ns3c", tests, NULL, NULL);
}
