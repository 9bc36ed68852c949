/**
 * A whole ingest path in virtual time: writer, recovery and forwarder on a simulated disk and a simulated network. The
 * process can be killed and the power cut at any moment; then the next process starts on what is left.
 */

import { listSegments } from '../../ingest/segments.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { createSimulatedDisk } from '../faults/simulated-disk.ts'
import { device, records, unsealed } from './journal-parts.ts'
import { type ModelProcess, startProcess } from './model-process.ts'
import { createReference } from './model-reference.ts'
import { createSimulatedNetwork } from './simulated-network.ts'
import { createSimulatedQuestdb } from './simulated-questdb.ts'
import { createVirtualTime } from './virtual-time.ts'

export interface Given {
  device: number
  /** How many seconds back the device says that it measured; undefined leaves the time to us. */
  agoS: number | undefined
}

const liveWindowUs = 20_000_000
const startUs = Date.UTC(2026, 0, 1) * 1000
/** A process takes at least this long to be there again. */
const startMs = 700
/** Clients' times are this far apart, so that they meet. */
const gridUs = 10_000_000

export type World = ReturnType<typeof createWorld>

/** `keepMs` above zero: QuestDB does not sync, and may lose even what it had applied. */
export function createWorld(seed: number, keepMs: number) {
  const random = createRandom(seed)
  const time = createVirtualTime()
  const questdb = createSimulatedQuestdb()
  const network = createSimulatedNetwork(questdb, time, random)
  const reference = createReference()
  const trouble = { clockUs: 0, diskFaultShare: 0 }
  const wrongs: string[] = []
  const nowUs = () => startUs + time.nowMs() * 1000 + trouble.clockUs
  let disk = createSimulatedDisk(random)
  let values = 0
  let process = start()

  function start(): ModelProcess {
    return startProcess({ disk: { ...disk, remove }, connect: network.connect, keepMs, nowUs, time, random })
  }

  /** A segment goes when the table shows all that it holds, and not before. */
  function remove(name: string): void {
    const [start, next] = listSegments(disk).filter(position => position >= Number.parseInt(name, 10))
    const early = reference.missing(questdb.table(), start ?? 0, next ?? process.durableEnd)
    wrongs.push(...early.map(key => `${key} was not applied when segment ${start} was removed`))
    disk.remove(name)
  }

  /** One group of readings, and what became of it. */
  function commit(given: Given[]): void {
    const { stamper, writer, durableEnd } = process
    const isLate = (timeUs: number) => timeUs < stamper.clockUs() - liveWindowUs
    const entries = given.map(({ device: number, agoS }) => {
      const timeUs = agoS === undefined ? stamper.next() : clientTime(nowUs() - agoS * 1e6)
      return { of: device(number), timeUs, backfill: agoS !== undefined && isLate(timeUs), value: ++values }
    })
    const body = Buffer.concat(entries.map(e => records(e.of, [e.value], e.timeUs, e.backfill)))
    disk.switches.fault = () => (random.chance(trouble.diskFaultShare) ? new Error('EIO') : undefined)
    const { outcome, end } = writer.commit(unsealed(body), {
      recordCount: entries.length,
      backfillCount: entries.filter(entry => entry.backfill).length,
      receiptUs: stamper.clockUs(),
      highestStampUs: stamper.highestUs(),
    })
    disk.switches.fault = () => undefined
    process.durableEnd = end
    const handed = entries.map(e => ({ key: `${e.of.symbol} ${e.timeUs}`, value: e.value, answer: outcome }))
    reference.hand(handed, durableEnd)
  }

  async function restart(after: 'kill' | 'power cut'): Promise<void> {
    process.isAlive = false
    disk = disk.restart(random, after)
    await time.advance(startMs)
    process = start()
  }

  function killQuestdb(): void {
    network.kill()
    questdb.away = true
    if (keepMs > 0 && random.chance(0.5)) questdb.lose(random.below(questdb.taken.length + 1))
  }

  return {
    ...{ time, questdb, network, trouble, commit, restart, killQuestdb },
    wrongs: () => wrongs,
    compare: () => reference.compare(questdb.table()),
    status: () => process.status,
    isApplied: () => process.status?.applied === process.durableEnd,
  }
}

const clientTime = (timeUs: number) => Math.floor(timeUs / gridUs) * gridUs
