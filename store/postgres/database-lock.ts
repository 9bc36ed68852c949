/**
 * A session advisory lock on a separate connection, held for the service's lifetime: exclusive for a single service, shared for
 * nodes. PostgreSQL releases it with the connection, so a lock does not stay stale for long.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'

// Any fixed number serves. This one is "baroserv" in ASCII. The lock belongs to the database, not to the server.
export const serviceLock = '7089073111460835958'

/** `exclusive` for a single service, a restore and migrations; `shared` for a node. */
export type LockMode = 'exclusive' | 'shared'

export interface DatabaseLock {
  /** Downgrades the lock to shared after the work that needed it exclusively. */
  share(): Promise<void>
  /** Releases the lock. It may be called twice. */
  close(): Promise<void>
}

interface DatabaseLockOptions {
  /** Creates an unconnected client. The name identifies its session later. */
  makeClient: (applicationName: string) => pg.Client
  mode: LockMode
  /** Called when another service took the lock after this one had lost it. */
  onLost: (error: StartError) => void
  log: Log
  probeMs?: number
}

const answerMsMax = 5_000
const retryMs = 500
/** The session of a service that was just killed may take a moment to end. */
const takeMsMax = 3_000

export async function lockDatabase(options: DatabaseLockOptions): Promise<DatabaseLock> {
  const { makeClient, onLost, log, probeMs = 5_000 } = options
  let { mode } = options
  const name = `barograph ${randomUUID()}`
  const closing = new AbortController()
  const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
  let client = await takeFirst()

  async function takeFirst(): Promise<pg.Client> {
    const deadlineMs = performance.now() + takeMsMax
    for (;;) {
      const taken = await tryTake(makeClient(name), name, mode)
      if (!(taken instanceof StartError)) return taken
      if (performance.now() > deadlineMs) throw taken
      await pause(retryMs / 2)
    }
  }

  /** Takes the lock again when its connection broke: PostgreSQL was restarted, or the network failed. */
  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      if (await answers(client)) await pauseOrEnd(client, probeMs)
      else if (!closing.signal.aborted) await retake()
    }
  }

  async function retake(): Promise<void> {
    void client.end().catch(() => undefined)
    try {
      const taken = await tryTake(makeClient(name), name, mode)
      if (taken instanceof StartError) {
        closing.abort()
        onLost(taken)
        return
      }
      client = taken
      log.info({}, 'database lock reacquired after a lost connection')
    } catch {
      // The PostgreSQL monitor logs the outage.
      await pause(retryMs)
    }
  }

  /** A broken connection ends the pause. */
  async function pauseOrEnd(used: pg.Client, ms: number): Promise<void> {
    const ended = Promise.withResolvers<void>()
    used.once('end', ended.resolve)
    await Promise.race([pause(ms), ended.promise])
    used.off('end', ended.resolve)
  }

  const watched = watch()
  return {
    async share() {
      if (mode === 'shared') return
      mode = 'shared'
      // If the connection breaks in between, the lock is taken again in the current mode.
      await ask(client, `SELECT ${takers.shared}(${serviceLock}), pg_advisory_unlock(${serviceLock})`).catch(() =>
        client.end(),
      )
    },
    async close() {
      closing.abort()
      await Promise.race([client.end().catch(() => undefined), sleep(retryMs, undefined, { ref: false })])
      await Promise.race([watched, sleep(retryMs, undefined, { ref: false })])
    },
  }
}

const takers = { exclusive: 'pg_try_advisory_lock', shared: 'pg_try_advisory_lock_shared' } as const

/** Returns the connected client, or an error that names the other service. Rejects when PostgreSQL is unavailable. */
async function tryTake(client: pg.Client, name: string, mode: LockMode): Promise<pg.Client | StartError> {
  try {
    await client.connect()
    // Keepalives detect a vanished service, such as one on a failed machine, within half a minute.
    await ask(client, 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3')
    const [taken] = await ask<{ got: boolean }>(client, `SELECT ${takers[mode]}(${serviceLock}) AS got`)
    if (taken?.got === true) return client
    const holders = await ask<Holder>(client, holdersSql)
    // After a break on our side only, PostgreSQL still regards the old session as alive.
    const ours = holders.find(holder => holder.application_name === name)
    if (ours !== undefined) await ask(client, `SELECT pg_terminate_backend(${Number(ours.pid)})`)
    await client.end()
    if (ours !== undefined) throw new Error('the lock is held by an earlier session of ours')
    return heldByOthers(client, holders, mode)
  } catch (error) {
    void client.end().catch(() => undefined)
    throw error
  }
}

interface Holder {
  pid: number
  application_name: string | null
  client_addr: string | null
  is_shared: boolean
}

/** pg_locks shows the key of a bigint lock as two halves. */
const holdersSql = `SELECT pid, application_name, host(client_addr) AS client_addr, mode = 'ShareLock' AS is_shared
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND (classid::bigint << 32) + objid::bigint = ${serviceLock}
    AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

function heldByOthers({ host, port, database }: pg.Client, holders: readonly Holder[], mode: LockMode): StartError {
  const addresses = [...new Set(holders.flatMap(({ client_addr: address }) => address ?? []))].sort()
  const from = addresses.length > 0 ? ` from ${addresses.join(', ')}` : ''
  const used = `the PostgreSQL at ${host}:${port}, database ${database}`
  const remedy = 'or set DATABASE_URL to another database.'
  if (holders.some(holder => holder.is_shared)) {
    const nodes = holders.length === 1 ? 'A node' : `${holders.length} nodes`
    const what = holders.length === 1 ? 'uses' : 'use'
    return new StartError(`${nodes} of Barograph${from} ${what} ${used}: stop all nodes first, ${remedy}`)
  }
  const alone = mode === 'shared' ? ' alone, not as a node' : ''
  return new StartError(`Another Barograph${from} uses ${used}${alone}: stop it first, ${remedy}`)
}

async function answers(client: pg.Client): Promise<boolean> {
  try {
    await ask(client, 'SELECT 1')
    return true
  } catch {
    return false
  }
}

async function ask<Row extends pg.QueryResultRow>(client: pg.Client, text: string): Promise<Row[]> {
  const { rows } = await client.query<Row>({ text, query_timeout: answerMsMax } as pg.QueryConfig)
  return rows
}

/** Upper bound of NODE_LEASE_SECONDS. */
const leaseMsMax = 60_000

/**
 * Invalidates the memory of earlier nodes. Call it while the database lock is held exclusively. A node frozen or cut off meanwhile would find no change in the feed, since
 * a service without nodes writes no rows to it. The new epoch makes it start again. It may still admit users until its lease
 * ends, so this waits for that.
 */
export async function endNodeEpoch(database: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await database.query('UPDATE feed_head SET epoch = gen_random_uuid() WHERE seq > 0 OR EXISTS (SELECT FROM nodes)')
  const { rows } = await database.query<{ ms: number | null }>(
    "SELECT date_part('epoch', max(expires_at) - clock_timestamp()) * 1000 AS ms FROM nodes",
  )
  const leftMs = Math.min(rows[0]?.ms ?? 0, leaseMsMax)
  // A timer drops the fraction of a millisecond, and may fire one millisecond early.
  if (leftMs > 0) await sleep(Math.ceil(leftMs) + 1)
}
