/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ns3c.h on ns-3: what its classes are asked to do by callbacks of C. Ours are a channel with a
 * delay for each direction, an error model, a queue that marks, a packet tag, and for IP a routing
 * protocol and a layer 4; everything else is ns-3's own.
 *
 * The one place of weft with writable data at file scope: ns-3's simulator is one per process.
 */
#include "models/ns3/ns3c.h"
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <memory>
#include <ns3/arp-l3-protocol.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/error-model.h>
#include <ns3/icmpv4-l4-protocol.h>
#include <ns3/ip-l4-protocol.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-routing-protocol.h>
#include <ns3/node.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/ppp-header.h>
#include <ns3/scheduler.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/traffic-control-layer.h>
#include <ns3/udp-header.h>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t MOST_ADDRESS = 1 << 24;
constexpr uint32_t FIRST_ADDRESS = 10u << 24; /* 10.0.0.0 */
constexpr uint16_t ROCE_PORT = 4791;
constexpr uint16_t ETHERTYPE_IP = 0x0800;
constexpr uint8_t LAYER_4 = 17;
constexpr uint8_t MOST_HOPS = 255;
constexpr int64_t PPP_BYTES = 2, IP_BYTES = 20, UDP_BYTES = 8;
constexpr int64_t MOST_PACKET = 1 << 30, MOST_IP_PACKET = 65535;
constexpr int64_t MOST_RATE = INT64_C(1000000000000000), MOST_DELAY = INT64_C(1000000000000000),
                  MOST_TIME = INT64_MAX / 2;
constexpr int64_t NO_LIMIT = UINT32_MAX;

class wire_channel;
class marking_queue;
class wire_errors;

/* A packet on a wire. */
struct crossing {
    int64_t begin, over; /* first bit left, last bit there */
    bool cut;            /* the link was down in between */
};

/* A device and the direction in which it sends. */
struct direction {
    int node = 0, peer = 0;
    Ptr<PointToPointNetDevice> device;
    Ptr<marking_queue> queue;
    Ptr<RateErrorModel> rate_loss;
    std::deque<crossing> wire; /* in the order of sending, which is that of arriving */
    Ptr<Packet> held;          /* of those it has sent, at the other end */
    bool held_cut = false;
    bool busy = false, has_address = false;
    uint32_t address = 0;
    int64_t mark_bytes = -1; /* without a callback; below 0: never */
    ns3c_counts counts = {};
};

struct node_state {
    Ptr<Node> node;
    int64_t latency = 0;
    std::unordered_map<uint32_t, std::vector<int>> routes; /* by address */
};

struct session {
    ns3c_form form = NS3C_P2P;
    std::vector<node_state> nodes;
    std::deque<direction> directions;        /* two a link; they keep their places */
    std::deque<bool> up;                     /* by link */
    std::unordered_map<uint32_t, int> owner; /* address -> node */
    EventId limit;                           /* ends the run */
    int arriving = -1;                       /* direction of the packet that a node is handling */

    ns3c_choose *choose = nullptr;
    ns3c_admit *admit = nullptr;
    ns3c_lose *lose = nullptr;
    ns3c_dropped *dropped = nullptr;
    ns3c_received *received = nullptr;
    ns3c_freed *freed = nullptr;
    ns3c_held *held = nullptr;
    void *choose_data = nullptr, *admit_data = nullptr, *lose_data = nullptr;
    void *dropped_data = nullptr, *received_data = nullptr, *freed_data = nullptr;
    void *held_data = nullptr;
};

std::unique_ptr<session> run;
bool resolution_set;
int depth; /* entries under way: a callback may enter again */
char error_text[256];

/* By identifiers that have been checked. */
direction &at(int number)
{
    return run->directions[static_cast<size_t>(number)];
}

node_state &node_at(int number)
{
    return run->nodes[static_cast<size_t>(number)];
}

bool &link_up(int number)
{
    return run->up[static_cast<size_t>(number)];
}

/* --- faults of the caller --------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) int fail(int status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(error_text, sizeof error_text, format, list);
    va_end(list);
    return status;
}

/* Every entry: nothing that ns-3 throws passes into C. */
template <class Body> int64_t guarded(const char *name, Body body)
{
    struct entry {
        entry()
        {
            depth++;
        }
        ~entry()
        {
            depth--;
        }
    } entered;

    if (!run)
        return fail(NS3C_STATE, "%s: no run is open", name);
    try {
        return body();
    } catch (const std::exception &exception) {
        return fail(NS3C_FAILED, "%s: %s", name, exception.what());
    } catch (...) {
        return fail(NS3C_FAILED, "%s: ns-3 threw something", name);
    }
}

int refuse_range(const char *name, const char *what, int64_t value, int64_t least, int64_t most)
{
    return fail(NS3C_ARGUMENT, "%s: %s %lld: %lld to %lld is expected", name, what,
                static_cast<long long>(value), static_cast<long long>(least),
                static_cast<long long>(most));
}

int check_range(const char *name, const char *what, int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most ? NS3C_DONE
                                           : refuse_range(name, what, value, least, most);
}

int check_id(const char *name, const char *what, int value, size_t n)
{
    if (n == 0)
        return fail(NS3C_ARGUMENT, "%s: %s %d: there is none yet", name, what, value);
    return check_range(name, what, value, 0, static_cast<int64_t>(n) - 1);
}

int check_device(const char *name, int device)
{
    return check_id(name, "device", device, run->directions.size());
}

int check_address(const char *name, uint32_t address)
{
    return check_range(name, "address", address, 0, MOST_ADDRESS - 1);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* What a packet carries through ns-3. In the IP form addresses, port and ECN are headers as well,
 * and nodes go by these. */
class carried_tag : public Tag
{
  public:
    ns3c_packet packet = {};

    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("ns3c::carried_tag").SetParent<Tag>().AddConstructor<carried_tag>();
        return id;
    }
    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }
    uint32_t GetSerializedSize() const override
    {
        return 19;
    }
    void Serialize(TagBuffer buffer) const override
    {
        buffer.WriteU64(reinterpret_cast<uintptr_t>(packet.user));
        buffer.WriteU32(packet.source);
        buffer.WriteU32(packet.destination);
        buffer.WriteU16(packet.source_port);
        buffer.WriteU8(static_cast<uint8_t>(packet.ecn));
    }
    void Deserialize(TagBuffer buffer) override
    {
        packet.user = reinterpret_cast<void *>(static_cast<uintptr_t>(buffer.ReadU64()));
        packet.source = buffer.ReadU32();
        packet.destination = buffer.ReadU32();
        packet.source_port = buffer.ReadU16();
        packet.ecn = buffer.ReadU8();
    }
    void Print(std::ostream &) const override
    {
    }
};

Ipv4Address ip_address(uint32_t address)
{
    return Ipv4Address(FIRST_ADDRESS | address);
}

ns3c_ecn ecn_of(Ipv4Header::EcnType ecn)
{
    return ecn == Ipv4Header::ECN_CE       ? NS3C_CE
           : ecn == Ipv4Header::ECN_NotECT ? NS3C_NOT_ECT
                                           : NS3C_ECT;
}

/* Of a packet as devices and wires see it, PPP outermost. False: it is none of ours (ICMP). */
bool describe(const Ptr<const Packet> &whole, ns3c_packet *packet)
{
    carried_tag tag;

    if (!whole->PeekPacketTag(tag))
        return false;
    *packet = tag.packet;
    packet->bytes = whole->GetSize();
    if (run->form == NS3C_IP) {
        Ptr<Packet> copy = whole->Copy();
        PppHeader ppp;
        Ipv4Header ip;

        copy->RemoveHeader(ppp);
        copy->PeekHeader(ip);
        packet->ecn = static_cast<uint16_t>(ecn_of(ip.GetEcn()));
    }
    return true;
}

/* Of one that IP holds in its hands: the headers have the word. */
bool describe_ip(const Ptr<const Packet> &payload, const Ipv4Header &ip, const UdpHeader &udp,
                 int64_t bytes, ns3c_packet *packet)
{
    carried_tag tag;

    if (!payload->PeekPacketTag(tag))
        return false;
    *packet = {tag.packet.user,
               ip.GetSource().Get() - FIRST_ADDRESS,
               ip.GetDestination().Get() - FIRST_ADDRESS,
               udp.GetSourcePort(),
               static_cast<uint16_t>(ecn_of(ip.GetEcn())),
               bytes};
    return true;
}

void mark_packet(const Ptr<Packet> &whole)
{
    if (run->form == NS3C_IP) {
        PppHeader ppp;
        Ipv4Header ip;

        whole->RemoveHeader(ppp);
        whole->RemoveHeader(ip);
        ip.SetEcn(Ipv4Header::ECN_CE);
        whole->AddHeader(ip);
        whole->AddHeader(ppp);
    } else {
        carried_tag tag;

        whole->PeekPacketTag(tag);
        tag.packet.ecn = NS3C_CE;
        whole->ReplacePacketTag(tag);
    }
}

void drop(int device, const ns3c_packet &packet, ns3c_drop cause)
{
    at(device).counts.dropped_packets[cause]++;
    if (run->dropped)
        run->dropped(run->dropped_data, device, &packet, cause);
}

/* --- ns-3's classes, ours --------------------------------------------------------------------- */

/* Backlog and limit are DropTailQueue's. */
class marking_queue : public DropTailQueue<Packet>
{
  public:
    int number = 0;

    bool Enqueue(Ptr<Packet> whole) override
    {
        direction &to = at(number);
        ns3c_packet packet;

        if (!describe(whole, &packet)) /* IP's own, such as ICMP */
            return DropTailQueue<Packet>::Enqueue(whole);
        bool fits = !(GetCurrentSize() + whole > GetMaxSize());
        ns3c_verdict verdict = fits ? judge(to, packet) : NS3C_REFUSE;

        if (verdict == NS3C_MARK && packet.ecn != NS3C_NOT_ECT) {
            mark_packet(whole);
            to.counts.marked_packets++;
        }
        if (verdict == NS3C_REFUSE) {
            DropBeforeEnqueue(whole);
            drop(number, packet, NS3C_DROP_QUEUE);
            return false;
        }
        DropTailQueue<Packet>::Enqueue(whole);
        if (to.busy && GetNBytes() > to.counts.max_queue_bytes)
            to.counts.max_queue_bytes = GetNBytes();
        return true;
    }

  private:
    ns3c_verdict judge(const direction &to, const ns3c_packet &packet) const
    {
        int64_t waiting = GetNBytes();

        if (run->admit)
            return run->admit(run->admit_data, number, &packet, waiting);
        return to.mark_bytes >= 0 && waiting >= to.mark_bytes ? NS3C_MARK : NS3C_ACCEPT;
    }
};

/* Sits in the receiving device; `number` is the direction in which the packet came. */
class wire_errors : public ErrorModel
{
  public:
    int number = 0;

  private:
    bool DoCorrupt(Ptr<Packet> whole) override
    {
        ns3c_packet packet;
        ns3c_drop cause = NS3C_DROP_LOSS;
        bool ours = describe(whole, &packet), lost = false;
        const Ptr<RateErrorModel> &rate = at(number).rate_loss;

        if (at(number).held_cut) {
            cause = NS3C_DROP_DOWN;
            lost = true;
        } else {
            lost = (ours && run->lose && run->lose(run->lose_data, number, &packet)) ||
                   (rate && rate->IsCorrupt(whole));
        }
        if (lost && ours)
            drop(number, packet, cause);
        return lost;
    }
    void DoReset() override
    {
    }
};

/* Adds the latency of the node behind; knows when its link was down; holds what has arrived. */
class wire_channel : public PointToPointChannel
{
  public:
    int first = 0; /* direction of the device attached first */

    bool TransmitStart(Ptr<const Packet> whole, Ptr<PointToPointNetDevice> source,
                       Time duration) override
    {
        int number = first + (source == GetSource(0) ? 0 : 1);
        direction &from = at(number);
        int64_t now = Simulator::Now().GetTimeStep();
        Time cross = duration + GetDelay();
        Time latency = PicoSeconds(static_cast<uint64_t>(node_at(from.peer).latency));

        from.wire.push_back({now, now + cross.GetTimeStep(), !link_up(number / 2)});
        Simulator::ScheduleWithContext(static_cast<uint32_t>(from.peer), cross + latency,
                                       &wire_channel::arrive, this, number, whole->Copy());
        return true;
    }

    static void receive(int number)
    {
        direction &from = at(number);
        Ptr<Packet> whole = from.held;

        from.counts.arrived_packets++;
        from.counts.wire_packets--;
        from.counts.wire_bytes -= whole->GetSize();
        from.held = nullptr;
        run->arriving = number;
        at(number ^ 1).device->Receive(whole);
        run->arriving = -1;
    }

  private:
    void arrive(int number, Ptr<Packet> whole)
    {
        direction &from = at(number);
        ns3c_packet packet;

        from.held = whole;
        from.held_cut = from.wire.front().cut;
        from.wire.pop_front();
        if (run->held && describe(whole, &packet))
            run->held(run->held_data, number, &packet);
        else
            receive(number);
    }
};

/* What is over at the instant of the change has made it, and what begins then has not been cut. */
void set_link(int link, bool up)
{
    int64_t now = Simulator::Now().GetTimeStep();

    link_up(link) = up;
    for (int number : {2 * link, 2 * link + 1})
        for (crossing &packet : at(number).wire) {
            if (!up && packet.over > now)
                packet.cut = true;
            if (up && packet.begin == now)
                packet.cut = false;
        }
}

void transmission_begins(int number, Ptr<const Packet> whole)
{
    direction &from = at(number);

    from.busy = true;
    from.counts.sent_packets++;
    from.counts.sent_bytes += whole->GetSize();
    from.counts.wire_packets++;
    from.counts.wire_bytes += whole->GetSize();
}

void transmission_ends(int number, Ptr<const Packet>)
{
    direction &from = at(number);

    from.busy = false;
    if (run->freed && from.queue->GetNPackets() == 0)
        run->freed(run->freed_data, number);
}

/* --- forwarding ------------------------------------------------------------------------------- */

/* SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014). */
uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint32_t default_choice(int node, const ns3c_packet &packet, uint32_t n)
{
    uint64_t hash = mix(static_cast<uint64_t>(node) << 32 | packet.source_port);

    hash = mix(hash ^ (static_cast<uint64_t>(packet.source) << 32 | packet.destination));
    return static_cast<uint32_t>(hash % n);
}

/* The device by which the node sends it on; below 0: it has no way there. */
int choose_device(int node, const ns3c_packet &packet)
{
    const auto &routes = node_at(node).routes;
    auto found = routes.find(packet.destination);
    uint32_t n = found == routes.end() ? 0 : static_cast<uint32_t>(found->second.size());
    uint32_t choice = 0;

    if (n > 1)
        choice = run->choose ? run->choose(run->choose_data, node, &packet, n)
                             : default_choice(node, packet, n);
    return choice < n ? found->second[choice] : -1;
}

bool is_for(int node, uint32_t address)
{
    auto owner = run->owner.find(address);

    return owner != run->owner.end() && owner->second == node;
}

void deliver(int device, const ns3c_packet &packet)
{
    if (run->received)
        run->received(run->received_data, device, &packet);
}

/* Form P2P: what a node does with a packet from one of its devices, PPP taken off. */
bool forward(int device, Ptr<NetDevice>, Ptr<const Packet> payload, uint16_t, const Address &)
{
    int node = at(device).node;
    carried_tag tag;

    payload->PeekPacketTag(tag);
    tag.packet.bytes = payload->GetSize() + PPP_BYTES;
    if (is_for(node, tag.packet.destination)) {
        deliver(device, tag.packet);
        return true;
    }
    int out = choose_device(node, tag.packet);

    if (out < 0) {
        drop(device ^ 1, tag.packet, NS3C_DROP_NO_ROUTE);
        return true;
    }
    const Ptr<PointToPointNetDevice> &to = at(out).device;

    to->Send(payload->Copy(), to->GetBroadcast(), ETHERTYPE_IP);
    return true;
}

/* Form IP: the tables of ns3c_route() as a routing protocol. */
class table_routing : public Ipv4RoutingProtocol
{
  public:
    int number = 0; /* of the node */

    static Ptr<Ipv4Route> route_by(int device, uint32_t source, uint32_t destination)
    {
        Ptr<Ipv4Route> route = Create<Ipv4Route>();

        route->SetSource(ip_address(source));
        route->SetDestination(ip_address(destination));
        route->SetGateway(ip_address(destination));
        route->SetOutputDevice(at(device).device);
        return route;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header &, Ptr<NetDevice>,
                               Socket::SocketErrno &error) override
    {
        error = Socket::ERROR_NOROUTETOHOST; /* packets of ours bring their route */
        return nullptr;
    }

    bool RouteInput(Ptr<const Packet> payload, const Ipv4Header &ip, Ptr<const NetDevice> device,
                    UnicastForwardCallback send_on, MulticastForwardCallback,
                    LocalDeliverCallback take, ErrorCallback) override
    {
        UdpHeader udp;
        ns3c_packet packet;

        payload->PeekHeader(udp);
        if (!describe_ip(payload, ip, udp, payload->GetSize() + IP_BYTES + PPP_BYTES, &packet))
            return false;
        if (is_for(number, packet.destination)) {
            take(payload, ip, static_cast<uint32_t>(stack->GetInterfaceForDevice(device)));
            return true;
        }
        int out = choose_device(number, packet);

        if (out < 0)
            drop(run->arriving, packet, NS3C_DROP_NO_ROUTE);
        else
            send_on(route_by(out, packet.source, packet.destination), payload, ip);
        return true;
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        stack = ipv4;
    }
    void NotifyInterfaceUp(uint32_t) override
    {
    }
    void NotifyInterfaceDown(uint32_t) override
    {
    }
    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }
    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }
    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    void DoDispose() override
    {
        stack = nullptr;
        Ipv4RoutingProtocol::DoDispose();
    }
    Ptr<Ipv4> stack;
};

/* Form IP: hands what has arrived to the caller. */
class layer_4 : public IpL4Protocol
{
  public:
    int GetProtocolNumber() const override
    {
        return LAYER_4;
    }
    RxStatus Receive(Ptr<Packet> payload, const Ipv4Header &ip, Ptr<Ipv4Interface>) override
    {
        UdpHeader udp;
        ns3c_packet packet;
        int64_t bytes = payload->GetSize() + IP_BYTES + PPP_BYTES;

        payload->RemoveHeader(udp);
        if (!describe_ip(payload, ip, udp, bytes, &packet))
            return RX_ENDPOINT_UNREACH;
        deliver(run->arriving ^ 1, packet);
        return RX_OK;
    }
    RxStatus Receive(Ptr<Packet>, const Ipv6Header &, Ptr<Ipv6Interface>) override
    {
        return RX_ENDPOINT_UNREACH;
    }
    void SetDownTarget(DownTargetCallback) override
    {
    }
    void SetDownTarget6(DownTargetCallback6) override
    {
    }
    DownTargetCallback GetDownTarget() const override
    {
        return DownTargetCallback();
    }
    DownTargetCallback6 GetDownTarget6() const override
    {
        return DownTargetCallback6();
    }
};

/* Dropped by IP itself, such as one that has made too many hops. */
void ip_dropped(const Ipv4Header &, Ptr<const Packet> payload, Ipv4L3Protocol::DropReason,
                Ptr<Ipv4>, uint32_t)
{
    carried_tag tag;

    if (run->arriving >= 0 && payload->PeekPacketTag(tag))
        drop(run->arriving, tag.packet, NS3C_DROP_NO_ROUTE);
}

void install_ip(int number)
{
    const Ptr<Node> &node = node_at(number).node;
    Ptr<ArpL3Protocol> arp = CreateObject<ArpL3Protocol>();
    Ptr<Ipv4L3Protocol> ip = CreateObject<Ipv4L3Protocol>();
    Ptr<TrafficControlLayer> control = CreateObject<TrafficControlLayer>();
    Ptr<table_routing> routing = CreateObject<table_routing>();

    node->AggregateObject(arp);
    node->AggregateObject(ip);
    node->AggregateObject(CreateObject<Icmpv4L4Protocol>());
    node->AggregateObject(control);
    arp->SetTrafficControl(control);
    ip->SetDefaultTtl(MOST_HOPS);
    ip->TraceConnectWithoutContext("Drop", MakeCallback(&ip_dropped));
    routing->number = number;
    ip->SetRoutingProtocol(routing);
    ip->Insert(CreateObject<layer_4>());
}

/* --- building --------------------------------------------------------------------------------- */

void add_direction(int node, int peer, int64_t rate, const Ptr<wire_channel> &channel)
{
    int number = static_cast<int>(run->directions.size());
    direction added;

    added.node = node;
    added.peer = peer;
    added.device = CreateObject<PointToPointNetDevice>();
    added.queue = CreateObject<marking_queue>();
    added.queue->number = number;
    added.queue->SetMaxSize(QueueSize(QueueSizeUnit::BYTES, NO_LIMIT));
    added.device->SetDataRate(DataRate(static_cast<uint64_t>(rate)));
    added.device->SetMtu(UINT16_MAX);
    added.device->SetQueue(added.queue);
    added.device->SetAddress(Mac48Address::Allocate());
    node_at(node).node->AddDevice(added.device);
    added.device->Attach(channel);
    added.device->TraceConnectWithoutContext("PhyTxBegin",
                                             MakeBoundCallback(&transmission_begins, number));
    added.device->TraceConnectWithoutContext("PhyTxEnd",
                                             MakeBoundCallback(&transmission_ends, number));
    Ptr<wire_errors> errors = CreateObject<wire_errors>();

    errors->number = number ^ 1;
    added.device->SetReceiveErrorModel(errors);
    if (run->form == NS3C_IP) {
        Ptr<Ipv4> ip = node_at(node).node->GetObject<Ipv4>();

        ip->SetUp(ip->AddInterface(added.device));
    } else {
        added.device->SetReceiveCallback(MakeBoundCallback(&forward, number));
    }
    run->directions.push_back(added);
}

int add_link(int a, int b, int64_t rate, int64_t delay)
{
    Ptr<wire_channel> channel = CreateObject<wire_channel>();

    channel->first = static_cast<int>(run->directions.size());
    channel->SetAttribute("Delay", TimeValue(PicoSeconds(static_cast<uint64_t>(delay))));
    add_direction(a, b, rate, channel);
    add_direction(b, a, rate, channel);
    run->up.push_back(true);
    return static_cast<int>(run->up.size()) - 1;
}

void send_ip(int device, const carried_tag &tag, const Ptr<Packet> &packet)
{
    const direction &from = at(device);
    static const Ipv4Header::EcnType codes[] = {Ipv4Header::ECN_NotECT, Ipv4Header::ECN_ECT0,
                                                Ipv4Header::ECN_CE};
    UdpHeader udp;
    SocketIpTosTag tos;

    udp.SetSourcePort(tag.packet.source_port);
    udp.SetDestinationPort(ROCE_PORT);
    packet->AddHeader(udp);
    tos.SetTos(static_cast<uint8_t>(codes[tag.packet.ecn]));
    packet->AddPacketTag(tos);
    node_at(from.node).node->GetObject<Ipv4>()->Send(
        packet, ip_address(from.address), ip_address(tag.packet.destination), LAYER_4,
        table_routing::route_by(device, from.address, tag.packet.destination));
}

/* The run's last instant has begun: goes behind all that happens in it, then ends the run. */
void end_run(uint64_t n_before)
{
    uint64_t n_events = Simulator::GetEventCount();

    if (n_events == n_before + 1)
        Simulator::Stop();
    else
        run->limit = Simulator::ScheduleNow(&end_run, n_events);
}

} // namespace

/* --- the entries ------------------------------------------------------------------------------ */

#define RETURN_IF(call_)                                                                           \
    do {                                                                                           \
        int status_ = call_;                                                                       \
        if (status_ != NS3C_DONE)                                                                  \
            return status_;                                                                        \
    } while (0)

extern "C" {

const char *ns3c_error(void)
{
    return error_text;
}

int ns3c_open(enum ns3c_form form, const char *scheduler)
{
    const char *name = scheduler ? scheduler : "ns3::PriorityQueueScheduler";
    TypeId type;
    ObjectFactory factory;

    if (run)
        return fail(NS3C_STATE, "ns3c_open: a run is open; ns-3 has one simulator per process");
    if (form != NS3C_P2P && form != NS3C_IP)
        return fail(NS3C_ARGUMENT, "ns3c_open: form %d: NS3C_P2P or NS3C_IP is expected",
                    static_cast<int>(form));
    try {
        if (!resolution_set) {
            Time::SetResolution(Time::PS);
            resolution_set = true;
        }
        if (!TypeId::LookupByNameFailSafe(name, &type) || !type.IsChildOf(Scheduler::GetTypeId()))
            return fail(NS3C_ARGUMENT, "ns3c_open: '%s' is no scheduler of ns-3", name);
        factory.SetTypeId(type);
        Simulator::SetScheduler(factory);
        run = std::make_unique<session>();
        run->form = form;
    } catch (const std::exception &exception) {
        return fail(NS3C_FAILED, "ns3c_open: %s", exception.what());
    }
    return NS3C_DONE;
}

int ns3c_close(void)
{
    return static_cast<int>(guarded("ns3c_close", [] {
        if (depth > 1)
            return fail(NS3C_STATE, "ns3c_close: not from a callback");
        Simulator::Destroy();
        run.reset();
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_node(void)
{
    return static_cast<int>(guarded("ns3c_node", [] {
        int number = static_cast<int>(run->nodes.size());

        run->nodes.push_back({CreateObject<Node>(), 0, {}});
        if (run->form == NS3C_IP)
            install_ip(number);
        return number;
    }));
}

int ns3c_node_latency(int node, int64_t latency_ps)
{
    return static_cast<int>(guarded("ns3c_node_latency", [=] {
        RETURN_IF(check_id("ns3c_node_latency", "node", node, run->nodes.size()));
        RETURN_IF(check_range("ns3c_node_latency", "latency", latency_ps, 0, MOST_DELAY));
        node_at(node).latency = latency_ps;
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_link(int a, int b, int64_t rate_bps, int64_t delay_ps)
{
    return static_cast<int>(guarded("ns3c_link", [=] {
        RETURN_IF(check_id("ns3c_link", "node", a, run->nodes.size()));
        RETURN_IF(check_id("ns3c_link", "node", b, run->nodes.size()));
        if (a == b)
            return fail(NS3C_ARGUMENT, "ns3c_link: node %d cannot be both ends", a);
        RETURN_IF(check_range("ns3c_link", "rate", rate_bps, 1, MOST_RATE));
        RETURN_IF(check_range("ns3c_link", "delay", delay_ps, 0, MOST_DELAY));
        return add_link(a, b, rate_bps, delay_ps);
    }));
}

int ns3c_address(int device, uint32_t address)
{
    return static_cast<int>(guarded("ns3c_address", [=] {
        RETURN_IF(check_device("ns3c_address", device));
        RETURN_IF(check_address("ns3c_address", address));
        direction &own = at(device);

        if (own.has_address || run->owner.count(address))
            return fail(NS3C_ARGUMENT, "ns3c_address: device %d or address %u has been used",
                        device, address);
        own.has_address = true;
        own.address = address;
        run->owner[address] = own.node;
        if (run->form == NS3C_IP) {
            Ptr<Ipv4> ip = node_at(own.node).node->GetObject<Ipv4>();

            ip->AddAddress(static_cast<uint32_t>(ip->GetInterfaceForDevice(own.device)),
                           Ipv4InterfaceAddress(ip_address(address), Ipv4Mask::GetOnes()));
        }
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_device_node(int device)
{
    return static_cast<int>(guarded("ns3c_device_node", [=] {
        RETURN_IF(check_device("ns3c_device_node", device));
        return at(device).node;
    }));
}

int ns3c_route(int node, uint32_t address, int device)
{
    return static_cast<int>(guarded("ns3c_route", [=] {
        RETURN_IF(check_id("ns3c_route", "node", node, run->nodes.size()));
        RETURN_IF(check_address("ns3c_route", address));
        RETURN_IF(check_device("ns3c_route", device));
        if (at(device).node != node)
            return fail(NS3C_ARGUMENT, "ns3c_route: device %d is not node %d's", device, node);
        node_at(node).routes[address].push_back(device);
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_route_clear(int node, uint32_t address)
{
    return static_cast<int>(guarded("ns3c_route_clear", [=] {
        RETURN_IF(check_id("ns3c_route_clear", "node", node, run->nodes.size()));
        node_at(node).routes.erase(address);
        return static_cast<int>(NS3C_DONE);
    }));
}

#define CALLBACK(function_, type_, member_)                                                        \
    int function_(type_ *callback, void *data)                                                     \
    {                                                                                              \
        return static_cast<int>(guarded(#function_, [=] {                                          \
            run->member_ = callback;                                                               \
            run->member_##_data = data;                                                            \
            return static_cast<int>(NS3C_DONE);                                                    \
        }));                                                                                       \
    }

CALLBACK(ns3c_on_choice, ns3c_choose, choose)
CALLBACK(ns3c_on_admit, ns3c_admit, admit)
CALLBACK(ns3c_on_loss, ns3c_lose, lose)
CALLBACK(ns3c_on_drop, ns3c_dropped, dropped)
CALLBACK(ns3c_on_receive, ns3c_received, received)
CALLBACK(ns3c_on_free, ns3c_freed, freed)
CALLBACK(ns3c_on_hold, ns3c_held, held)

int ns3c_queue_limit(int device, int64_t bytes)
{
    return static_cast<int>(guarded("ns3c_queue_limit", [=] {
        RETURN_IF(check_device("ns3c_queue_limit", device));
        RETURN_IF(check_range("ns3c_queue_limit", "limit", bytes, 1, NO_LIMIT));
        const Ptr<marking_queue> &queue = at(device).queue;

        if (queue->GetNBytes() > bytes)
            return fail(NS3C_STATE, "ns3c_queue_limit: more is waiting at device %d", device);
        queue->SetMaxSize(QueueSize(QueueSizeUnit::BYTES, static_cast<uint32_t>(bytes)));
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_queue_threshold(int device, int64_t bytes)
{
    return static_cast<int>(guarded("ns3c_queue_threshold", [=] {
        RETURN_IF(check_device("ns3c_queue_threshold", device));
        RETURN_IF(check_range("ns3c_queue_threshold", "threshold", bytes, 0, NO_LIMIT));
        at(device).mark_bytes = bytes;
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_loss_rate(int device, double rate, int64_t stream)
{
    return static_cast<int>(guarded("ns3c_loss_rate", [=] {
        RETURN_IF(check_device("ns3c_loss_rate", device));
        if (!(rate >= 0 && rate <= 1))
            return fail(NS3C_ARGUMENT, "ns3c_loss_rate: rate %g: 0 to 1 is expected", rate);
        RETURN_IF(check_range("ns3c_loss_rate", "stream", stream, 0, INT64_MAX / 2));
        Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();

        model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        model->SetRate(rate);
        model->AssignStreams(stream);
        at(device).rate_loss = model;
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_link_set(int link, bool up)
{
    return static_cast<int>(guarded("ns3c_link_set", [=] {
        RETURN_IF(check_id("ns3c_link_set", "link", link, run->up.size()));
        set_link(link, up);
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_link_rate(int link, int64_t rate_bps)
{
    return static_cast<int>(guarded("ns3c_link_rate", [=] {
        RETURN_IF(check_id("ns3c_link_rate", "link", link, run->up.size()));
        RETURN_IF(check_range("ns3c_link_rate", "rate", rate_bps, 1, MOST_RATE));
        for (int device : {2 * link, 2 * link + 1})
            at(device).device->SetDataRate(DataRate(static_cast<uint64_t>(rate_bps)));
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_send(int device, uint32_t destination, uint16_t source_port, enum ns3c_ecn ecn,
              int64_t bytes, void *user)
{
    return static_cast<int>(guarded("ns3c_send", [=] {
        RETURN_IF(check_device("ns3c_send", device));
        RETURN_IF(check_address("ns3c_send", destination));
        RETURN_IF(check_range("ns3c_send", "ecn", ecn, NS3C_NOT_ECT, NS3C_CE));
        const direction &from = at(device);
        bool ip = run->form == NS3C_IP;
        int64_t headers = ip ? PPP_BYTES + IP_BYTES + UDP_BYTES : PPP_BYTES;

        RETURN_IF(check_range("ns3c_send", "size", bytes, headers,
                              ip ? MOST_IP_PACKET + PPP_BYTES : MOST_PACKET));
        if (!from.has_address)
            return fail(NS3C_ARGUMENT, "ns3c_send: device %d has no address", device);
        Ptr<Packet> packet = Create<Packet>(static_cast<uint32_t>(bytes - headers));
        carried_tag tag;

        tag.packet = {user, from.address, destination, source_port, static_cast<uint16_t>(ecn), 0};
        packet->AddPacketTag(tag);
        if (ip)
            send_ip(device, tag, packet);
        else
            from.device->Send(packet, from.device->GetBroadcast(), ETHERTYPE_IP);
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_is_free(int device)
{
    return static_cast<int>(guarded("ns3c_is_free", [=] {
        RETURN_IF(check_device("ns3c_is_free", device));
        return at(device).busy ? 0 : 1;
    }));
}

int ns3c_release(int device)
{
    return static_cast<int>(guarded("ns3c_release", [=] {
        RETURN_IF(check_device("ns3c_release", device));
        if (!at(device).held)
            return fail(NS3C_ARGUMENT, "ns3c_release: nothing is held behind device %d", device);
        wire_channel::receive(device);
        return static_cast<int>(NS3C_DONE);
    }));
}

int64_t ns3c_now(void)
{
    return guarded("ns3c_now", [] { return Simulator::Now().GetTimeStep(); });
}

int ns3c_schedule(int64_t delay_ps, ns3c_event *event, void *data)
{
    return static_cast<int>(guarded("ns3c_schedule", [=] {
        RETURN_IF(check_range("ns3c_schedule", "delay", delay_ps, 0,
                              MOST_TIME - Simulator::Now().GetTimeStep()));
        if (!event)
            return fail(NS3C_ARGUMENT, "ns3c_schedule: no function");
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(delay_ps)), [=] { event(data); });
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_run(int64_t until_ps)
{
    return static_cast<int>(guarded("ns3c_run", [=] {
        int64_t now = Simulator::Now().GetTimeStep();

        if (depth > 1)
            return fail(NS3C_STATE, "ns3c_run: not from a callback");
        RETURN_IF(check_range("ns3c_run", "end", until_ps, now, INT64_MAX));
        if (until_ps < INT64_MAX)
            run->limit = Simulator::Schedule(TimeStep(static_cast<uint64_t>(until_ps - now)),
                                             &end_run, UINT64_MAX - 1);
        Simulator::Run();
        run->limit.Cancel();
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_stop(void)
{
    return static_cast<int>(guarded("ns3c_stop", [] {
        Simulator::Stop();
        return static_cast<int>(NS3C_DONE);
    }));
}

int ns3c_count(int device, struct ns3c_counts *counts)
{
    return static_cast<int>(guarded("ns3c_count", [=] {
        RETURN_IF(check_device("ns3c_count", device));
        if (!counts)
            return fail(NS3C_ARGUMENT, "ns3c_count: no place for the counts");
        *counts = at(device).counts;
        counts->queue_packets = at(device).queue->GetNPackets();
        counts->queue_bytes = at(device).queue->GetNBytes();
        return static_cast<int>(NS3C_DONE);
    }));
}

int64_t ns3c_events(void)
{
    return guarded("ns3c_events", [] { return static_cast<int64_t>(Simulator::GetEventCount()); });
}

} /* extern "C" */
