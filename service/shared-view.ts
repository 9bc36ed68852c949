/** Shares the leader's hourly view with the other nodes by PostgreSQL and the feed of changes. */

import type pg from 'pg'
import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import type { Nodes } from '../auth/nodes/nodes.ts'
import type { Log } from '../store/log.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'
import { type SharedView, type ViewReport, watchSharedHourlyView } from '../store/questdb/shared-hourly-view.ts'

export interface SharedViewOptions extends Pick<Nodes, 'leads' | 'requireLead'> {
  pool: pg.Pool
  feed: ChangeFeed
  /** Replica of the QuestDB that has it. */
  replica: number
}

interface Row {
  valid_through: number | null
  builds: number
  suspect_build: number
}

export interface WithSharedViewOptions extends Omit<SharedViewOptions, 'replica'> {
  log: Log
  onOpen: (close: () => unknown) => void
}

/** A node's replica, whose QuestDB was opened without the hourly view. */
export async function withSharedView<Replica extends QuestdbReplica>(
  replica: Replica,
  { log, onOpen, ...nodes }: WithSharedViewOptions,
): Promise<Replica> {
  const { number, questdb } = replica
  const shared = await openSharedView({ ...nodes, replica: number })
  const isUp = () => questdb.state().state === 'up'
  const { close, ...hourlyView } = watchSharedHourlyView({ address: questdb.address, isUp, shared, log })
  onOpen(close)
  return { ...replica, questdb: { ...questdb, hourlyView } }
}

const stepMs = 4_000
const nothing: Row = { valid_through: null, builds: 0, suspect_build: -1 }

export async function openSharedView({
  pool,
  feed,
  replica,
  leads,
  requireLead,
}: SharedViewOptions): Promise<SharedView> {
  let row = nothing
  async function reload(): Promise<void> {
    const { rows } = await pool.query<Row>(readSql, [replica])
    row = rows[0] ?? nothing
  }
  async function change(text: string, values: unknown[], isAllowed = requireLead): Promise<void> {
    await feed.commit({ pool, stepMs }, async transaction => {
      await isAllowed(transaction)
      const { rowCount } = await transaction.query(text, values)
      if (rowCount === 1) feed.note(transaction, 'hourly-view')
    })
  }
  feed.onChange('hourly-view', reload)
  await reload()
  return {
    leads,
    async takeOver() {
      await reload()
      return row === nothing ? undefined : viewOf(row)
    },
    report: () => (feed.isCurrent() ? viewOf(row) : { ...viewOf(row), validThroughTxn: undefined }),
    async publish({ validThroughTxn, builds }: ViewReport) {
      await change(publishSql, [replica, validThroughTxn ?? null, builds])
      if (validThroughTxn === undefined) await feed.settle()
    },
    suspectBuild: () => row.suspect_build,
    suspect: build => change(suspectSql, [replica, build], async () => undefined),
  }
}

function viewOf({ valid_through, builds }: Row): ViewReport {
  return { validThroughTxn: valid_through ?? undefined, builds }
}

const readSql = `SELECT valid_through::float8 AS valid_through, builds::float8 AS builds, suspect_build::float8 AS suspect_build
  FROM hourly_view JOIN feed_head USING (epoch) WHERE replica = $1`

const publishSql = `INSERT INTO hourly_view AS known (replica, epoch, valid_through, builds)
  SELECT $1::int, epoch, $2::bigint, $3::bigint FROM feed_head
  ON CONFLICT (replica) DO UPDATE SET epoch = excluded.epoch, valid_through = excluded.valid_through, builds = excluded.builds,
    suspect_build = CASE WHEN known.epoch = excluded.epoch THEN known.suspect_build ELSE -1 END`

const suspectSql = `INSERT INTO hourly_view AS known (replica, epoch, suspect_build) SELECT $1::int, epoch, $2::bigint FROM feed_head
  ON CONFLICT (replica) DO UPDATE SET suspect_build = excluded.suspect_build
  WHERE known.epoch = excluded.epoch AND known.suspect_build < excluded.suspect_build`
