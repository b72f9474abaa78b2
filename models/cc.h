/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The congestion-control seam: reads what an acknowledgement or a congestion notification says,
 * writes a window and a rate. One `struct cc` per thing that is controlled: a RoCEv2 queue pair, a
 * MetaRoCE path. The transport obeys the window and, by the host's pacing, the rate.
 * A congestion control is one cc_NAME.c; those that `transport.cc` may name have a line in
 * models/cc_list.c, in the order of the choice.
 */
#ifndef WEFT_MODELS_CC_H
#define WEFT_MODELS_CC_H

#include "sim/core/param.h"
#include <stdbool.h>
#include <stdint.h>

#define CC_ONE (INT64_C(1) << 16) /* windows are kept in 1/65536 packet */

/* What a scenario says; a member called `cc` of the configuration of a transport with CC_PARAMS. */
struct cc_config {
    int64_t kind; /* choice: models/cc_list.c */
    int64_t dcqcn_set;
    int64_t cnp_interval, cnp_bytes;
    /* each PARAM_AUTO: as the set says */
    int64_t dcqcn_alpha_timer, dcqcn_g, dcqcn_initial_alpha, dcqcn_decrease_interval;
    int64_t dcqcn_increase_timer, dcqcn_byte_counter, dcqcn_threshold;
    int64_t dcqcn_ai, dcqcn_hai, dcqcn_min_rate, dcqcn_clamp_target;
};

/* What one acknowledgement says about the packets it newly covers. */
struct cc_ack {
    int64_t now_ps;
    int64_t rtt_ps;   /* of the packet that caused it; 0: not measured */
    int64_t n_acked;  /* packets newly acknowledged */
    int64_t n_marked; /* of those that arrived since the last one, how many carried CE */
    bool was_limited; /* the window was what held the sender back */
};

/* Constants of DCQCN, see cc_dcqcn.c; times in ps. */
struct cc_dcqcn_rule {
    int64_t line_bps, min_bps, ai_bps, hai_bps;
    int64_t alpha_timer_ps, decrease_interval_ps, increase_timer_ps, byte_counter;
    uint32_t gain, initial_alpha; /* in 2^-30 */
    uint32_t threshold;
    bool clamp_target;
};

/* Limits and gains, derived once: for a connection, or for each of its NIC ports. */
struct cc_rule {
    int64_t initial, least, most; /* window, in CC_ONE */
    int64_t notify_interval_ps;   /* receiver: the least time between two notifications */
    union {
        struct {              /* aimd */
            int64_t increase; /* per round trip, in CC_ONE */
            int64_t gain;     /* of the mark average, parts per trillion */
            bool halve;       /* a mark halves instead of cutting by alpha / 2 */
            bool loss_halves;
        };
        struct cc_dcqcn_rule dcqcn;
    };
};

struct cc {
    int64_t window;   /* in CC_ONE packets */
    int64_t rate_bps; /* 0: not paced */
};

/*
 * A congestion control keeps its own state right behind its struct cc. The owner makes room: a
 * member CC_WITH_STATE(n) is a `cc` with n bytes behind it. Sizes are checked where they are used.
 */
#define CC_WITH_STATE(bytes_)                                                                      \
    struct {                                                                                       \
        struct cc cc;                                                                              \
        _Alignas(8) unsigned char cc_state[bytes_];                                                \
    }
#define CC_STATE(type_, cc_) ((type_ *)(void *)((cc_) + 1))
#define CC_STATE_BYTES       56 /* enough for any of cc_list */
#define CC_AIMD_STATE_BYTES  40

/* What takes no notice of an event leaves its function NULL; start is there always. */
struct cc_ops {
    const char *name, *summary, *source;
    /* The rule of a sender behind a NIC port of `line_bps`; rule->initial is the caller's. For
     * those that a transport chooses by name. */
    void (*derive)(const struct cc_config *config, int64_t line_bps, struct cc_rule *rule);
    void (*start)(const struct cc_rule *rule, struct cc *cc);
    void (*heard)(const struct cc_rule *rule, struct cc *cc, const struct cc_ack *ack);
    void (*lost)(const struct cc_rule *rule, struct cc *cc);    /* a packet, by a gap */
    void (*timeout)(const struct cc_rule *rule, struct cc *cc); /* nothing heard for an RTO */
    /* A congestion notification (CNP) has come. */
    void (*notified)(const struct cc_rule *rule, struct cc *cc, int64_t now_ps);
    /* A packet of `bytes` on the wire is sent now; the rate after it is that of the gap behind it.
     * There for all that write a rate. */
    void (*sent)(const struct cc_rule *rule, struct cc *cc, int64_t now_ps, int64_t bytes);
};

extern const struct cc_ops cc_fixed, cc_aimd, cc_dcqcn;
extern const struct cc_ops *const cc_list[]; /* in the order of the choice transport.cc */

/* NULL if `ops` is whole, otherwise what is missing. */
const char *cc_fault(const struct cc_ops *ops);

#define CC_PARAM(type_, struct_, name_, member_, value_, least_, most_, choices_, help_, source_)  \
    {                                                                                              \
        .name = name_, .type = PARAM_##type_, .offset = offsetof(struct_, cc.member_),             \
        .value = value_, .least = least_, .most = most_, .choices = choices_, .help = help_,       \
        .source = source_                                                                          \
    }

/*
 * The rows of cc_config. Sources: S15 the SIGCOMM 2015 paper and its authors' simulator
 * (bobzhuyb/ns3-rdma, mix/config.txt); HPCC the vendor set of HPCC's run.py and rdma-hw.cc; CX the
 * firmware defaults of ConnectX (NVIDIA DOCA, DCQCN parameters); all in SOURCES.md 3.2.
 */
#define CC_PARAMS(struct_)                                                                         \
    CC_PARAM(CHOICE, struct_, "cc", kind, "fixed", NULL, NULL, "fixed|dcqcn",                      \
             "Congestion control of a queue pair: window alone, or DCQCN's rate beside it.",       \
             "our choice: congestion control is switched on by name"),                             \
        CC_PARAM(CHOICE, struct_, "dcqcn_set", dcqcn_set, "connectx", NULL, NULL,                  \
                 "sigcomm15|hpcc|connectx",                                                        \
                 "Parameter set that fills what is left at auto below.",                           \
                 "our choice: what NICs ship with; SOURCES.md 3.2"),                               \
        CC_PARAM(TIME, struct_, "dcqcn_cnp_interval", cnp_interval, "auto", "0ps", "1s", NULL,     \
                 "Receiver: least time between two CNPs of a queue pair; 0: one for each marked "  \
                 "packet; auto: as the receiver's set says.",                                      \
                 "sigcomm15 50us (S15, 3.2); hpcc 0 (each ACK echoes); connectx 4us "              \
                 "(min_time_between_cnps, SOURCES.md 3.1 [M])"),                                   \
        CC_PARAM(BYTES, struct_, "dcqcn_cnp_bytes", cnp_bytes, "98B", "1B", "4096B", NULL,         \
                 "Wire bytes of a CNP.",                                                           \
                 "Ethernet 38, IPv4 20, UDP 8, BTH 12, reserved 16, ICRC 4 (InfiniBand A17.9.3)"), \
        CC_PARAM(TIME, struct_, "dcqcn_alpha_timer", dcqcn_alpha_timer, "auto", "1ns", "1s", NULL, \
                 "Time between two updates of alpha.",                                             \
                 "sigcomm15 55us (S15); hpcc 1us; connectx 1us (dce_tcp_rtt)"),                    \
        CC_PARAM(RATIO, struct_, "dcqcn_g", dcqcn_g, "auto", "0", "1", NULL,                       \
                 "Gain of alpha's average.",                                                       \
                 "sigcomm15 and hpcc 1/256; connectx 5/1024 (dce_tcp_g 1019)"),                    \
        CC_PARAM(RATIO, struct_, "dcqcn_initial_alpha", dcqcn_initial_alpha, "auto", "0", "1",     \
                 NULL, "Alpha at the first CNP.",                                                  \
                 "sigcomm15 and hpcc 1; connectx 1023/1024 (initial_alpha_value)"),                \
        CC_PARAM(TIME, struct_, "dcqcn_decrease_interval", dcqcn_decrease_interval, "auto", "0ps", \
                 "1s", NULL,                                                                       \
                 "Time between two looks whether a CNP came, which cut the rate; 0: each CNP "     \
                 "cuts at once.",                                                                  \
                 "sigcomm15 0 (S15, algorithm 1; the receiver sends at most one per 50us); hpcc "  \
                 "4us; connectx 4us (rate_reduce_monitor_period)"),                                \
        CC_PARAM(TIME, struct_, "dcqcn_increase_timer", dcqcn_increase_timer, "auto", "1ns",       \
                 "10s", NULL, "Time between two increases by the timer.",                          \
                 "sigcomm15 55us (S15); hpcc 300us; connectx 300us (rpg_time_reset)"),             \
        CC_PARAM(BYTES, struct_, "dcqcn_byte_counter", dcqcn_byte_counter, "auto", "0B", "1TB",    \
                 NULL, "Bytes sent between two increases by the byte counter; 0: none.",           \
                 "sigcomm15 10MB (S15); hpcc 0: not modelled there; connectx 32767B "              \
                 "(rpg_byte_reset)"),                                                              \
        CC_PARAM(NUMBER, struct_, "dcqcn_threshold", dcqcn_threshold, "auto", "0", "1000", NULL,   \
                 "F: increases of a stage that are fast recovery.",                                \
                 "sigcomm15 5 (S15); hpcc 1; connectx 1 (rpg_threshold)"),                         \
        CC_PARAM(RATE, struct_, "dcqcn_ai", dcqcn_ai, "auto", "0bps", NULL, NULL,                  \
                 "Additive increase of the target.",                                               \
                 "sigcomm15 40Mbps (S15); hpcc 5Mbps x line rate / 25G; connectx 5Mbps "           \
                 "(rpg_ai_rate)"),                                                                 \
        CC_PARAM(RATE, struct_, "dcqcn_hai", dcqcn_hai, "auto", "0bps", NULL, NULL,                \
                 "Hyper increase of the target.",                                                  \
                 "sigcomm15 200Mbps (ns3-rdma); hpcc 50Mbps x line rate / 25G; connectx 50Mbps "   \
                 "(rpg_hai_rate)"),                                                                \
        CC_PARAM(RATE, struct_, "dcqcn_min_rate", dcqcn_min_rate, "auto", "1kbps", NULL, NULL,     \
                 "Least rate.",                                                                    \
                 "sigcomm15 10Mbps (our choice: none is published); hpcc 1000Mbps; connectx "      \
                 "1Mbps (rpg_min_rate)"),                                                          \
        CC_PARAM(BOOL, struct_, "dcqcn_clamp_target", dcqcn_clamp_target, "auto", NULL, NULL,      \
                 NULL,                                                                             \
                 "Each cut sets the target; off: only if the rate was increased since the last.",  \
                 "sigcomm15 on (S15, algorithm 1); hpcc off; connectx off (clamp_tgt_rate)")

#endif
