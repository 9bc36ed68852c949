/** Stamps of several processes on one table of classes in a real PostgreSQL. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import {
  createStampClassRows,
  leasedModulus,
  readHighestStamps,
  type StampClassRows,
} from '../../ingest/journal/stamp-classes.ts'
import { openLeasedStamps, StampLease } from '../../ingest/journal/stamp-lease.ts'
import { nowhere, recordingLog, silentLog, startDatabases } from '../support/databases.ts'
import { runs } from '../support/runs.ts'
import { waitFor } from '../support/wait-for.ts'

/** The fate of a statement: executed and answered, lost before it ran, executed without an answer, or executed much later. */
type Fate = 'answered' | 'lost' | 'unanswered' | 'late'

/** `nextFate` decides on each statement. `deliver` executes the late ones. */
function createLossyRows(rows: StampClassRows, nextFate: () => Fate) {
  const late: (() => Promise<unknown>)[] = []

  async function pass<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const fate = nextFate()
    if (fate === 'late') late.push(work)
    if (fate === 'answered' || fate === 'unanswered') {
      const answer = await work()
      if (fate === 'answered') return answer
    }
    throw new Error(fate)
  }

  const lossy: StampClassRows = {
    lease: (holder, request) => pass(() => rows.lease(holder, request)),
    release: (holder, boundsUs) => pass(() => rows.release(holder, boundsUs)),
    raise: highestUs => rows.raise(highestUs),
  }
  return {
    rows: lossy,
    async deliver() {
      for (const work of late.splice(0)) await work()
    },
  }
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

const history = fc.record({
  /** The time by which the highest stamp of an earlier journal is ahead of the clock. */
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

  /** Returns the next stamp if there is one. Throws if it is not above the last one of its class. */
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

/** Returns the number of issued stamps. Throws if one was issued twice, or may be one of the journal on disk. */
async function runHistory({ diskAheadMs, events }: HistoryOf): Promise<number> {
  let fate: Fate = 'answered'
  const { rows: lossy, deliver } = createLossyRows(rows, () => fate)
  const given = new Set<number>()
  const disk = Array.from({ length: 10 }, (_, residue) => (residue % 2) * (startMs + diskAheadMs) * 1000)
  await rows.raise(disk)
  const processes = Array.from({ length: processCount }, () => new Process(lossy, startMs))

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
      processes[event.at] = new Process(lossy, process.wallMs)
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
        return await expire(process.holder)
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

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const rows = createStampClassRows(pool)
const minuteUs = 60_000_000
const nobody = '00000000-0000-0000-0000-000000000000'

/** The lease of the holder is over. */
async function expire(holder: string): Promise<void> {
  const expired = "expires_at = clock_timestamp() - interval '1 s'"
  await pool.query(`UPDATE stamp_classes SET ${expired} WHERE holder = $1`, [holder])
}

const forget = () => pool.query('UPDATE stamp_classes SET holder = NULL, expires_at = NULL, bound_us = 0')
t.beforeEach(async () => void (await forget()))

type ClassRow = Record<'class' | 'boundUs', number> & { holder: string | null }

async function classes(): Promise<ClassRow[]> {
  const sql = 'SELECT class, holder, bound_us::float8 AS "boundUs" FROM stamp_classes ORDER BY class'
  return (await pool.query<ClassRow>(sql)).rows
}

const heldBy = async (holder: string) => (await classes()).filter(row => row.holder === holder)

/** A process whose clock the test sets. */
function openProcess(wallMs = Date.now()) {
  const clock = { us: wallMs * 1000, runMs: 0 }
  const holder = randomUUID()
  const { log, texts } = recordingLog('error')
  const lease = new StampLease({ rows, holder, nowUs: () => clock.us, monotonicMs: () => clock.runMs, log }, 2)
  const [readings, points] = lease.stampers
  if (readings === undefined || points === undefined) throw new Error('there are two')
  return { clock, holder, lease, readings, points, errors: texts }
}

async function started(wallMs?: number) {
  const process = openProcess(wallMs)
  await process.lease.renew()
  await process.lease.renew()
  return process
}

t.test('no history of processes, clocks and lost answers gives a stamp out twice', async t => {
  // The classes are few, so that the processes compete for them.
  const classes = 6
  let given = 0
  const property = fc.asyncProperty(history, async each => {
    await forget()
    const sql = "UPDATE stamp_classes SET holder = $1, expires_at = 'infinity' WHERE class > $2"
    await pool.query(sql, [nobody, classes])
    given += await runHistory(each)
  })
  await fc.assert(property, runs(25, 200))
  t.ok(given > 50, `${given} stamps`)
})

t.test('processes have separate classes and return no stamp before its claim', async t => {
  const [one, other] = [openProcess(), openProcess()]
  t.equal(one.readings.next(), undefined, 'before there are classes')
  await Promise.all([one.lease.renew(), other.lease.renew()])
  t.equal(one.readings.next(), undefined, 'before there is a bound')
  t.match(one.readings.issue?.(), /no receive timestamps are left/)
  await Promise.all([one.lease.renew(), other.lease.renew()])
  t.equal(one.readings.issue?.(), undefined)
  const stamps = [one, other].flatMap(({ readings, clock }) => {
    clock.us += 1
    return Array.from({ length: 1000 }, () => readings.next() ?? 0)
  })
  t.equal(new Set(stamps).size, 2000)
  t.ok(stamps.every(us => us % leasedModulus !== 0))
  for (const { holder } of [one, other]) t.equal((await heldBy(holder)).length, 4)
  t.ok((await heldBy(one.holder)).some(({ boundUs }) => boundUs >= (stamps[0] ?? 0)))
})

t.test('stamps end at their bound and continue when it is raised', async t => {
  const { clock, readings, points, lease, holder } = await started()
  t.ok(readings.next())
  clock.us += minuteUs + 1_000_000
  t.equal(readings.next(), undefined)
  t.ok(readings.highestUs() < clock.us, 'what was refused counts as no stamp')
  await lease.renew()
  t.ok((readings.next() ?? 0) >= clock.us)
  t.ok((points.next() ?? 0) >= clock.us, 'those of the other table with it')
  // The lease goes on for an hour after an hour.
  clock.runMs += 3_600_000
  await lease.renew()
  clock.us += 59 * minuteUs
  t.ok(readings.next())
  await lease.release()
  t.equal(readings.next(), undefined)
  const highest = Math.max(readings.highestUs(), points.highestUs())
  t.strictSame(await heldBy(holder), [])
  t.equal(Math.max(...(await classes()).map(row => row.boundUs)), highest, 'the next process goes on there')
})

t.test('classes of a process that has ended without a word are free after its lease, above its bound', async t => {
  const all = await Promise.all(Array.from({ length: 12 }, () => started()))
  const last = await started()
  t.equal((await heldBy(last.holder)).length, 1, 'the thirteenth has what is left')
  t.ok(last.readings.next())
  const none = openProcess()
  await none.lease.renew()
  t.equal(none.lease.hasClasses(), false)
  const opened = openLeasedStamps({ rows, nowUs: () => Date.now() * 1000, log: silentLog })
  await t.rejects(opened, /hold all classes of receive timestamps/)
  const [killed] = all
  if (killed === undefined) throw new Error('there are twelve')
  const before = await heldBy(killed.holder)
  await expire(killed.holder)
  await none.lease.renew()
  await none.lease.renew()
  const classesIn = (rows: ClassRow[]) => rows.map(row => row.class)
  t.strictSame(classesIn(await heldBy(none.holder)), classesIn(before))
  // It was only frozen and resumes with its claimed stamps.
  const frozen = new Set(Array.from({ length: 100 }, () => killed.readings.next()))
  const successor = Array.from({ length: 100 }, () => none.readings.next())
  t.notOk(frozen.has(undefined) || successor.includes(undefined))
  t.ok(successor.every(us => !frozen.has(us)))
  await killed.lease.renew()
  t.equal(killed.lease.hasClasses(), false)
  t.equal(killed.readings.next(), undefined)
})

t.test('processes that start at once have four classes each and keep them', async t => {
  for (let round = 0; round < 2; round++) {
    await forget()
    const all = await Promise.all(Array.from({ length: 12 }, () => started()))
    const holders = (await classes()).map(row => row.holder)
    const counts = all.map(({ holder }) => holders.filter(each => each === holder).length)
    t.strictSame(counts, Array(12).fill(4))
  }
})

t.test('a statement that comes late lowers no bound', async t => {
  const { holder, readings } = await started()
  const us = readings.next() ?? 0
  const residue = us % leasedModulus
  const request = { classesMax: 4, leaseMs: 1000, boundsUs: new Map([[residue, us - 1]]) }
  const classes = await rows.lease(holder, request)
  const [row] = classes.filter(row => row.class === residue)
  t.ok(row !== undefined && row.beforeUs === row.boundUs && row.boundUs > us)
})

t.test('a clock that is set back gets another class, else stamps run ahead', async t => {
  const { clock, readings, lease, errors } = await started()
  for (const turn of [0, 1, 2, 3]) {
    t.ok(Math.abs((readings.next() ?? 0) - clock.us) <= 1_000_000, `turn ${turn}`)
    clock.us -= 10 * minuteUs
    // Refused until the bound of that class is claimed.
    const before = readings.next()
    if (turn < 3) t.equal(before, undefined)
    await lease.renew()
  }
  const exhausted = 'all classes of stamps are ahead of the clock; timestamps stay ahead of it until it catches up'
  t.strictSame([...new Set(errors)], [exhausted])
  t.ok((readings.next() ?? 0) > clock.us + minuteUs)
})

t.test('from journals on disk and back, no stamp is given out again', async t => {
  const aheadUs = Date.now() * 1000 + 60 * minuteUs
  const disk = Array.from({ length: 10 }, (_, residue) => (residue === 3 ? aheadUs : 0))
  await rows.raise(disk)
  await rows.raise(Array<number>(10).fill(5))
  const raised = (await classes()).filter(row => row.boundUs === aheadUs).map(row => row.class)
  t.strictSame(raised, [3, 13, 23, 33, 43])
  const { readings, lease } = await started()
  for (let at = 0; at < 100; at++) readings.next()
  await lease.release()
  const highest = await readHighestStamps(pool)
  t.equal(highest.length, 10)
  t.equal(highest[3], aheadUs)
  t.equal(highest[0], 5)
  t.ok(highest.some(us => us === readings.highestUs()))
})

t.test('without PostgreSQL stamps are available up to their bound', async t => {
  let isAway = false
  let offsetUs = 0
  const breaking = createStampClassRows({
    query: (...args: unknown[]) =>
      isAway ? Promise.reject(new Error('away')) : (pool.query as (...args: unknown[]) => unknown)(...args),
  } as never)
  const warn = recordingLog('warn')
  const nowUs = () => Date.now() * 1000 + offsetUs
  const stamps = await openLeasedStamps({ rows: breaking, nowUs, log: warn.log })
  t.teardown(() => stamps.close())
  isAway = true
  t.ok(stamps.readings.next())
  offsetUs = 2 * minuteUs
  t.equal(stamps.readings.next(), undefined)
  await waitFor('the failure is logged', () => warn.texts.length > 0)
  t.match(warn.texts, [/^cannot reserve receive timestamps/])
  isAway = false
  await waitFor('a stamp is given out', () => stamps.readings.next() !== undefined)
})
