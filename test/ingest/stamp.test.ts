import { test } from 'tap'
import { openDisk } from '../../ingest/journal/disk.ts'
import { createStamper, type StampState } from '../../ingest/journal/stamp.ts'
import { openStamper, readStamps } from '../../ingest/journal/stamp-file.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { recordingLog, temporaryFolder } from '../support/databases.ts'

const secondUs = 1_000_000
const hourUs = 3600 * secondUs
const startUs = Date.UTC(2026, 0, 1) * 1000
const unknown: StampState = { residue: undefined, highestUs: Array<number>(10).fill(0) }

/** A stamper whose clock goes on by a millisecond with each stamp and is set by the test. */
function createRig(options: Partial<Parameters<typeof createStamper>[0]> = {}) {
  const clock = { us: startUs }
  const saved: StampState[] = []
  const given: number[] = []
  const exhausted: number[] = []
  const stamper = createStamper({
    nowUs: () => clock.us,
    state: unknown,
    save: state => {
      saved.push({ ...state, highestUs: [...state.highestUs] })
      return true
    },
    onExhausted: us => exhausted.push(us),
    ...options,
  })
  /** Returns this many stamps, and the largest distance from the clock. */
  function give(count: number): number {
    let farthest = 0
    for (let index = 0; index < count; index++) {
      clock.us += 1000
      const stamp = stamper.next()
      farthest = Math.max(farthest, Math.abs(stamp - clock.us))
      given.push(stamp)
    }
    return farthest
  }
  return { clock, saved, given, exhausted, give }
}

test('stamps rise with the clock and over a small correction', async t => {
  const { clock, given, give, saved } = createRig()
  give(50)
  clock.us -= 900_000
  t.ok(give(2000) <= secondUs)
  const isRising = given.every((stamp, index) => index === 0 || stamp > (given[index - 1] as number))
  t.ok(isRising && given.every(stamp => stamp % 1000 !== 0))
  t.equal(saved.length, 1)
})

test('a clock that is set to and fro takes the same two classes', async t => {
  const { clock, given, give, exhausted } = createRig()
  for (let turn = 0; turn < 100; turn++) {
    clock.us += turn % 2 === 0 ? hourUs : -hourUs
    t.ok(give(20) <= 10 * secondUs)
  }
  t.equal(new Set(given).size, given.length)
  t.equal(new Set(given.map(stamp => stamp % 10)).size, 2)
  t.strictSame(exhausted, [])
})

test('a clock set back more often than there are classes is logged without duplicate stamps', async t => {
  const { clock, given, give, exhausted } = createRig()
  for (let turn = 0; turn < 20; turn++) {
    give(20)
    clock.us -= hourUs
  }
  t.ok(exhausted.length > 5, `logged ${exhausted.length} times`)
  t.equal(new Set(given).size, given.length)
  clock.us = startUs + hourUs
  t.ok(give(20) <= secondUs, 'it follows again')
})

test('a class is used only once that is durable, with unique stamps until then', async t => {
  let mayBeSaved = true
  const { clock, given, give } = createRig({ save: () => mayBeSaved })
  give(20)
  clock.us += hourUs
  give(20)
  clock.us -= hourUs
  mayBeSaved = false
  t.ok(give(3000) > 3000 * secondUs, 'ahead')
  mayBeSaved = true
  give(1)
  clock.us += 2 * secondUs
  t.ok(give(3000) <= secondUs, 'it follows')
  t.equal(new Set(given).size, given.length)
})

test('a journal without the file has stamps of any class', async t => {
  const disk = openDisk(temporaryFolder(t))
  t.strictSame(readStamps(disk, startUs), { residue: undefined, highestUs: Array<number>(10).fill(startUs) })
  disk.replace('stamps', Buffer.from('{"version":1,"residue":3,"highestUs":[0]}'))
  t.equal(readStamps(disk, startUs).residue, undefined, 'nor does one with a file that is no such file')
})

test('a disk that cannot be written does not prevent a start', async t => {
  const { log, texts } = recordingLog('warn')
  function replace(): never {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const disk = { ...openDisk(temporaryFolder(t)), replace }
  const stamper = openStamper({ disk, lastStampUs: 0, nowUs: () => startUs, log })
  t.ok(stamper.next() >= startUs)
  t.match(texts, [/cannot follow the clock/])
})

test('steps of the clock are counted, unlike corrections and the passing of time', async t => {
  let ms = 1000
  let monotonicMs = 0
  const steps: number[] = []
  const clock = createWallClock({ nowMs: () => ms, monotonicMs: () => monotonicMs, onStep: byUs => steps.push(byUs) })
  const pass = (wallMs: number, byMs: number) => {
    ms += wallMs
    monotonicMs += byMs
    return clock.nowUs()
  }
  t.equal(pass(5000, 5000.25), 6_000_250)
  pass(3_600_000, 3_600_000)
  pass(-900, 0)
  t.strictSame([steps, clock.steps()], [[], 0])
  pass(3_600_000, 0)
  t.equal(pass(-3_600_000, 10) % 1000, 0)
  t.strictSame([steps, clock.steps()], [[3_600_000_000, -3_600_010_000], 2])
})

test('stamps continue above other processes, in a class that the clock has passed if possible', async t => {
  const clock = { us: startUs }
  const saved: StampState[] = []
  const save = (state: StampState) => saved.push(state) > 0
  const stamper = createStamper({ nowUs: () => clock.us, state: unknown, save, onExhausted: () => undefined })
  const used = stamper.next() % 10
  stamper.raise(Array<number>(10).fill(0))
  t.equal(stamper.next() % 10, used, 'nothing is above')
  stamper.raise(Array.from({ length: 10 }, (_, residue) => (residue === used ? startUs + hourUs : 0)))
  clock.us += 1000
  const next = stamper.next()
  t.not(next % 10, used)
  t.ok(Math.abs(next - clock.us) <= secondUs)
  t.equal(saved.at(-1)?.highestUs[used], startUs + hourUs)
  stamper.raise(Array<number>(10).fill(startUs + 2 * hourUs))
  t.ok(stamper.next() > startUs + 2 * hourUs)
})
