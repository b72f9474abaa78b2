/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/xval/ns3_red.h"
#include <ns3/boolean.h>
#include <ns3/double.h>
#include <ns3/packet.h>
#include <ns3/queue-disc.h>
#include <ns3/red-queue-disc.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>

using namespace ns3;

namespace
{

/* A packet that counts its marks. */
class item : public QueueDiscItem
{
  public:
    item(int64_t *marks) : QueueDiscItem(Create<Packet>(1000), Address(), 0), n_marks(marks)
    {
    }
    void AddHeader() override
    {
    }
    bool Mark() override
    {
        ++*n_marks;
        return true;
    }

  private:
    int64_t *n_marks;
};

} // namespace

int64_t ns3_red_marks(uint32_t seed, double least, double most, double most_probability,
                      uint32_t waiting, uint32_t n)
{
    int64_t n_marks = 0;
    Ptr<RedQueueDisc> disc = CreateObjectWithAttributes<RedQueueDisc>(
        "MinTh", DoubleValue(least), "MaxTh", DoubleValue(most), "QW", DoubleValue(1), "LInterm",
        DoubleValue(1 / most_probability), "Gentle", BooleanValue(false), "Wait",
        BooleanValue(false), "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false),
        "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1000)));

    RngSeedManager::SetSeed(seed);
    disc->AssignStreams(1);
    disc->Initialize();
    while (disc->GetNPackets() < waiting)
        disc->Enqueue(Create<item>(&n_marks));
    n_marks = 0;
    for (uint32_t i = 0; i < n; i++) {
        disc->Enqueue(Create<item>(&n_marks));
        disc->Dequeue();
    }
    disc->Dispose();
    Simulator::Destroy();
    return n_marks;
}
