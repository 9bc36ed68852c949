/** The placement of readings as it is in PostgreSQL, in memory: looked up again from time to time, since shards are added meanwhile. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Lease } from '../auth/nodes/lease.ts'
import { readPlacement } from '../ingest/kafka/placement-rows.ts'
import { shardCountOf } from '../placement/added-shard.ts'
import { epochAheadMs } from '../placement/next-epoch.ts'
import type { Placement } from '../placement/placement.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'

export interface PlacementWatch {
  current(): Placement
  /**
   * Of the readings up to this time, milliseconds: without the epochs that begin later, from the first one on that names a shard which this
   * process does not know. No reading is there yet.
   */
  until(timeMs: number): Placement
  /** Why nothing may be placed: an epoch may have begun that is not known here. */
  refusal(): string | undefined
  /** The same where this process knows shard 1 alone, and some of the readings of this time, milliseconds, are of others. */
  othersFrom(timeMs: number): string | undefined
  /** What is to be done before an epoch begins. */
  issue(): string | undefined
  close(): Promise<void>
}

export interface PlacementWatchOptions {
  postgres: Store['postgres']
  /** Shards that this process knows. */
  shardCount: number
  log: Log
  wallMs?: () => number
}

/** Half of what an epoch is committed ahead. */
const knownForMsMax = epochAheadMs / 2
const lookEveryMs = 10_000

export async function watchPlacement(options: PlacementWatchOptions): Promise<PlacementWatch> {
  const { postgres, shardCount, log, wallMs } = options
  const closing = new AbortController()
  const lease = new Lease(knownForMsMax, wallMs)
  const firstRead = lease.begin()
  let placement = await readPlacement(postgres)
  firstRead()
  let othersFromUs = unknownStart(placement, 1)
  let unknownFromUs = unknownStart(placement, shardCount)
  let known = before(placement, unknownFromUs)
  let told: string | undefined

  const issue = () => issueOf(shardCountOf(placement), shardCount)

  function tell(): void {
    const found = issue()
    if (found !== undefined && found !== told) log.error({ shards: shardCount }, found)
    told = found
  }

  async function look(): Promise<void> {
    const read = lease.begin()
    try {
      placement = await readPlacement(postgres)
      othersFromUs = unknownStart(placement, 1)
      unknownFromUs = unknownStart(placement, shardCount)
      known = before(placement, unknownFromUs)
      read()
      tell()
    } catch (error) {
      log.warn({ err: error }, 'the placement of readings cannot be looked up, retrying')
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await sleep(lookEveryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      if (closing.signal.aborted) return
      await look()
    }
  }

  tell()
  const running = run()
  return {
    current: () => placement,
    until: timeMs => (timeMs * 1000 < unknownFromUs ? known : placement),
    refusal() {
      if (lease.isValid()) return undefined
      return 'the placement of readings could not be looked up in PostgreSQL for half an hour'
    },
    othersFrom(timeMs) {
      // Asked before each reading is taken.
      if (timeMs * 1000 < othersFromUs) return undefined
      return issueOf(shardCountOf(placement.filter(({ fromUs }) => fromUs <= timeMs * 1000)), 1)
    },
    issue,
    async close() {
      closing.abort()
      await running
    },
  }
}

/** With journals on disk there is one QuestDB: of the readings on others nothing would be seen, and nothing would say so. */
export async function assertOneShard(postgres: Store['postgres']): Promise<void> {
  const count = shardCountOf(await readPlacement(postgres))
  if (count === 1) return
  throw new StartError(
    `The readings are on ${count} shards, and journals on disk have one QuestDB: set KAFKA_BROKERS and QUESTDB_SHARDS as before, ` +
      'or stop all processes and bring them into one by barograph shards merge (docs/scaling.md).',
  )
}

/** With journals on disk the dead letters of the topics, which stay in PostgreSQL, are not listed. */
export async function warnOfTopicLetters(postgres: Store['postgres'], log: Pick<Log, 'warn'>): Promise<void> {
  const { rows } = await postgres.query<{ count: number }>('SELECT count(*)::int AS count FROM shard_dead_letters')
  const letters = rows[0]?.count ?? 0
  if (letters === 0) return
  log.warn({ letters }, 'there are dead letters of Kafka topics, which are listed with KAFKA_BROKERS only')
}

/** From when on the first `known` shards have not all readings; Infinity for never. Microseconds. */
function unknownStart(placement: Placement, known: number): number {
  return placement.find(epoch => shardCountOf([epoch]) > known)?.fromUs ?? Number.POSITIVE_INFINITY
}

function before(placement: Placement, endUs: number): Placement {
  return placement.filter(({ fromUs }) => fromUs < endUs)
}

function issueOf(placed: number, known: number): string | undefined {
  if (placed <= known) return undefined
  return `there are ${placed} shards, and QUESTDB_SHARDS of this process names those up to ${known}: set it and start it again`
}
