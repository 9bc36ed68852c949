/** Processes with stamps of their own on one table of classes: clocks that step, freezes, kills, lost answers. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { leasedModulus, type StampClassRows } from '../../../ingest/journal/stamp-classes.ts'
import { StampLease } from '../../../ingest/journal/stamp-lease.ts'
import { silentLog } from '../../support/databases.ts'
import { createLossyRows, type Fate } from './stamp-class-model.ts'

export interface HistoryRows extends StampClassRows {
  /** The lease of the holder is over. */
  expire(holder: string): Promise<void>
}

const processCount = 4
const secondMs = 1_000
const hourMs = 3_600_000
const startMs = Date.UTC(2026, 0, 1)

const at = fc.nat({ max: processCount - 1 })
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('answered') },
  fc.constantFrom<Fate>('lost', 'unanswered', 'late'),
)
const kind = <Kind extends string>(name: Kind) => fc.constant(name)
const steps = [-hourMs, -30 * secondMs, -200, 30 * secondMs, 90 * secondMs, hourMs]

/** `at`: which of the processes. */
const event = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('stamps'), at, count: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: kind('renew'), at, fate }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('clock'), at, byMs: fc.constantFrom(...steps) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('kill'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('stop'), at, fate }) },
  // The process goes on all the same, as one does after a freeze.
  { weight: 2, arbitrary: fc.record({ kind: kind('expire'), at }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('deliver'), at }) },
)
type HistoryEvent = typeof event extends fc.Arbitrary<infer Value> ? Value : never

export const history = fc.record({
  /** How far the highest stamp of a journal on disk, which was there before, is ahead of the clock. */
  diskAheadMs: fc.constantFrom(-hourMs, 0, hourMs),
  events: fc.array(event, { minLength: 20, maxLength: 120 }),
})
type HistoryOf = typeof history extends fc.Arbitrary<infer Value> ? Value : never

class Process {
  readonly holder = randomUUID()
  readonly lease: StampLease
  readonly #highestOf = new Map<number, number>()
  #wallMs: number
  #monotonicMs = 0

  constructor(rows: StampClassRows, wallMs: number) {
    this.#wallMs = wallMs
    const clocks = { nowUs: () => Math.floor(this.#wallMs * 1000), monotonicMs: () => this.#monotonicMs }
    this.lease = new StampLease({ rows, holder: this.holder, ...clocks, log: silentLog }, 1)
  }

  get wallMs(): number {
    return this.#wallMs
  }

  pass(ms: number): void {
    this.#wallMs += ms
    this.#monotonicMs += Math.max(0, ms)
  }

  /** The next one, if there is one; throws where it is not above the last one of its class. */
  stamp(): number | undefined {
    this.pass(0.3)
    const us = this.lease.stampers[0]?.next()
    if (us === undefined) return undefined
    const residue = us % leasedModulus
    if (residue === 0) throw new Error(`${us} is of the class of clients`)
    if (us <= (this.#highestOf.get(residue) ?? 0)) throw new Error(`${us} of class ${residue} does not rise`)
    this.#highestOf.set(residue, us)
    return us
  }
}

/** How many stamps were given out. Throws where one was given out twice, or may be one of the journal on disk. */
export async function runHistory(table: HistoryRows, { diskAheadMs, events }: HistoryOf): Promise<number> {
  let fate: Fate = 'answered'
  const { rows, deliver } = createLossyRows(table, () => fate)
  const given = new Set<number>()
  const disk = Array.from({ length: 10 }, (_, residue) => (residue % 2) * (startMs + diskAheadMs) * 1000)
  await table.raise(disk)
  const processes = Array.from({ length: processCount }, () => new Process(rows, startMs))

  async function tryTo(work: () => Promise<void>, fateOfWork: Fate): Promise<void> {
    fate = fateOfWork
    await work().catch(() => undefined)
  }

  function take(process: Process): void {
    const us = process.stamp()
    if (us === undefined) return
    if (given.has(us)) throw new Error(`${us} is given out twice`)
    if (us <= (disk[us % 10] ?? 0)) throw new Error(`${us} may be one of the journal on disk`)
    given.add(us)
  }

  async function happen(event: HistoryEvent, process: Process): Promise<void> {
    const restart = () => {
      processes[event.at] = new Process(rows, process.wallMs)
    }
    switch (event.kind) {
      case 'stamps':
        for (let left = event.count; left > 0; left--) take(process)
        return
      case 'renew':
        return await tryTo(() => process.lease.renew(), event.fate)
      case 'clock':
        return process.pass(event.byMs)
      case 'expire':
        return await table.expire(process.holder)
      case 'deliver':
        return await deliver()
      case 'stop':
        await tryTo(() => process.lease.release(), event.fate)
        return restart()
      case 'kill':
        return restart()
    }
  }

  for (const event of events) await happen(event, processes[event.at] as Process)
  return given.size
}
