/**
 * Row 26: PostgreSQL is frozen in the middle of changes of devices. Each change is answered while it is frozen, and what
 * was refused with certainty has no effect, then or later.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import type { Tally } from '../tally.ts'
import { complainOfSilence } from './questdb.ts'

const frozenMsUsual = 150_000
const changersCount = 4
/** Whatever a frozen server has been sent it has done by then. */
const afterMs = 3_000

interface Change {
  what: string
  device: string
  /** Whether the device is there if the change was made. */
  isThereAfter: boolean
  status: number
  title: string | undefined
  endedMs: number
}

export async function changeWhileFrozen(
  harness: Harness,
  tally: Tally,
  seed: number,
  cycles: number,
  frozenMs = frozenMsUsual,
): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally }, async bed => {
      const fromMs = Date.now()
      const changes: Change[] = []
      const stopping = new AbortController()
      const changers = Array.from({ length: changersCount }, (_, index) =>
        keepChanging(bed, `c${seed + cycle}x${index}x`, changes, stopping.signal),
      )
      await sleep(1000 + bed.random.below(500))
      const thaw = freeze(bed.databases.pid('postgres'))
      bed.hooks.teardown(thaw)
      const frozenAtMs = Date.now()
      await sleep(frozenMs)
      // One at least of each of those that are under way.
      const answered = () => changes.filter(change => change.endedMs > frozenAtMs).length
      await until('changes are answered while it is frozen', () => answered() >= changersCount)
      thaw()
      stopping.abort()
      await Promise.all(changers)
      await until('PostgreSQL answers', async () => (await bed.service.admin('GET', '/devices')).status === 200)
      await complainOfEffects(bed, changes)
      await sleep(afterMs)
      await complainOfEffects(bed, changes)
      tally.notes.push(notes(changes))
      await complainOfSilence(bed, fromMs)
    })
  }
}

/** Adds and removes devices of its own: by the API's removal and by erasing in turns. */
async function keepChanging(bed: TestBed, prefix: string, changes: Change[], signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    const device = `${prefix}${round}`
    const added = await change(bed, 'POST', '/devices', { name: device })
    changes.push({ what: 'add', device, isThereAfter: true, ...added })
    if (added.status !== 201) continue
    const isErase = round % 3 === 2
    const removed = isErase
      ? await change(bed, 'POST', `/devices/${device}/erase`)
      : await change(bed, 'DELETE', `/devices/${device}`)
    changes.push({ what: isErase ? 'erase' : 'remove', device, isThereAfter: false, ...removed })
  }
}

async function change({ service }: TestBed, method: string, path: string, body?: unknown) {
  const { status, body: answer } = await service.admin(method, path, body)
  return { status, title: (answer as { title?: string } | undefined)?.title, endedMs: Date.now() }
}

/** What was made is there, what was refused is not; where the outcome was unknown both are right. */
async function complainOfEffects({ service, tally }: TestBed, changes: readonly Change[]): Promise<void> {
  const last = new Map(changes.map(change => [change.device, change]))
  for (const { what, device, isThereAfter, status, title } of last.values()) {
    if (title === 'outcome unknown') continue
    const isThere = (await service.admin('GET', `/devices/${device}`)).status === 200
    const wasMade = status < 300
    if (isThere === (wasMade === isThereAfter)) continue
    tally.problems.push(`${device} is ${isThere ? '' : 'not '}there though its ${what} was answered ${status} ${title}`)
  }
}

function notes(changes: readonly Change[]): string {
  const count = (title: string | undefined) => changes.filter(change => change.title === title).length
  return `changes: ${count(undefined)} made, ${count('database unavailable')} refused, ${count('outcome unknown')} unknown`
}
