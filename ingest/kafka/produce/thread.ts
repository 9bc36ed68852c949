/**
 * The journal's thread for a topic: waits for a group, appends it as one record, and reports the outcome. One group is in
 * progress at a time, so the topic keeps the order of the journal.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { groupHeaderLength, sealGroup } from '../../journal/group.ts'
import { command, controlAt, type JournalThreadMessage, timesAt } from '../../journal/journal-shared.ts'
import { connectKafka, type Kafka } from '../client/connect.ts'
import type { TopicPartition } from '../client/partition.ts'
import { AppendDeadline, type AppendThreadData } from './deadline.ts'

const data: AppendThreadData = workerData
const { control, times, slots, durableEnd } = data.shared
const deadline = new AppendDeadline(data.deadline)
const connectAgainMs = 1000
const away = 'no broker of Kafka answers'

let kafka: Kafka | undefined
let partition: TopicPartition | undefined
let isStopping = false
let attempt = tryConnect()

async function tryConnect(): Promise<void> {
  try {
    kafka ??= await connectKafka(data.connection)
    // A connection opened after the stop would keep the thread alive until the broker closes it as idle.
    if (isStopping) return
    partition = await kafka.partition(data.topic)
  } catch {
    // The connection is retried.
  }
}

/** Groups are refused until a broker answers. */
async function connect(): Promise<void> {
  for (;;) {
    await attempt
    if (isStopping || partition !== undefined) return
    await sleep(connectAgainMs)
    attempt = tryConnect()
  }
}

async function commit(): Promise<JournalThreadMessage> {
  const slot = slots[control[controlAt.slot] === 0 ? 0 : 1]
  const bodyLength = control[controlAt.bodyLength] ?? 0
  const bytes = slot.subarray(0, groupHeaderLength + bodyLength)
  // Its position and the number of records before it are unknown before it is in the topic.
  sealGroup(bytes, {
    bodyLength,
    position: 0,
    firstOrdinal: 0,
    recordCount: control[controlAt.recordCount] ?? 0,
    backfillCount: control[controlAt.backfillCount] ?? 0,
    receiptUs: times[timesAt.receiptUs] ?? 0,
    lastStampUs: times[timesAt.lastStampUs] ?? 0,
  })
  // The first groups arrive while this thread connects.
  await attempt
  const appended = await (partition?.append(bytes, () => !deadline.isOver()) ?? {
    outcome: 'full' as const,
    reason: away,
  })
  if (appended.outcome === 'stored') Atomics.store(durableEnd, 0, BigInt(appended.offset + 1))
  const end = Number(Atomics.load(durableEnd, 0))
  return {
    kind: 'committed',
    outcome: appended.outcome,
    end,
    reason: appended.outcome === 'stored' ? undefined : appended.reason,
  }
}

async function run(): Promise<void> {
  for (;;) {
    await Atomics.waitAsync(control, controlAt.command, command.none).value
    const given = Atomics.exchange(control, controlAt.command, command.none)
    if (given === command.stop) break
    if (given === command.commit) parentPort?.postMessage(await commit())
  }
  isStopping = true
  await partition?.close()
  await kafka?.close()
  parentPort?.postMessage({ kind: 'stopped' } satisfies JournalThreadMessage)
  parentPort?.close()
}

// Waiting for a command does not keep a thread alive, nor does anything else while Kafka is unavailable.
parentPort?.ref()
void connect()
await run()
