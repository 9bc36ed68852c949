/**
 * Rows 9 and 26: PostgreSQL is killed, out of connections, or frozen during changes. Readings of known devices and metrics are not
 * affected.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { eachCycle, type TestBed, tenAtATime } from '../experiment.ts'
import { complainOfSilence } from './questdb.ts'

export const killPostgres = tenAtATime({}, async (bed, count) => {
  const fromMs = Date.now()
  for (let kill = 0; kill < count; kill++) {
    await sleep(300 + bed.random.below(1500))
    await bed.databases.kill('postgres')
    bed.tally.crashes++
    await bed.untilRevoked()
  }
  await complainOfSilence(bed, fromMs)
})

/** Its backends are terminated, then other clients occupy all connections. */
export const exhaustPostgres = eachCycle({}, async bed => {
  const fromMs = Date.now()
  const clients = await takeAllConnections(bed)
  await clients[0]?.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  clients.push(...(await takeAllConnections(bed)))
  await sleep(2000)
  await Promise.all(clients.map(client => client.end().catch(() => undefined)))
  await bed.untilRevoked()
  await complainOfSilence(bed, fromMs)
})

async function takeAllConnections({ databases, hooks }: TestBed): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  hooks.teardown(() => Promise.all(clients.map(client => client.end().catch(() => undefined))))
  for (;;) {
    const client = new pg.Client({ connectionString: databases.postgresUrl })
    client.on('error', () => undefined)
    try {
      await client.connect()
    } catch {
      return clients
    }
    clients.push(client)
  }
}

const changersCount = 4
/** The server has completed all requests sent before the freeze by then. */
const afterMs = 3_000

interface Change {
  what: string
  device: string
  /** True if the device exists after the change. */
  isThereAfter: boolean
  status: number
  title: string | undefined
  endedMs: number
}

/** Each change is answered while PostgreSQL is frozen. A definite rejection has no effect, then or later. */
export const changeWhileFrozen = (frozenMs = 150_000) =>
  eachCycle({}, async bed => {
    const fromMs = Date.now()
    const changes: Change[] = []
    const stopping = new AbortController()
    const changers = Array.from({ length: changersCount }, (_, index) =>
      keepChanging(bed, `${bed.devices[0]?.name}c${index}x`, changes, stopping.signal),
    )
    await sleep(1000 + bed.random.below(500))
    const thaw = freeze(bed.databases.pid('postgres'))
    bed.hooks.teardown(thaw)
    const frozenAtMs = Date.now()
    await sleep(frozenMs)
    // Each loop gets at least one answer.
    const answered = () => changes.filter(change => change.endedMs > frozenAtMs).length
    await until('changes are answered while it is frozen', () => answered() >= changersCount)
    thaw()
    stopping.abort()
    await Promise.all(changers)
    await until('PostgreSQL answers', async () => (await bed.service.admin('GET', '/devices')).status === 200)
    await complainOfEffects(bed, changes)
    await sleep(afterMs)
    await complainOfEffects(bed, changes)
    bed.tally.notes.push(notes(changes))
    await complainOfSilence(bed, fromMs)
  })

/** Adds and removes devices, alternately by the API's removal and by erasing. */
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

/** Accepted changes exist, rejected ones do not. Unknown outcomes allow both. */
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
