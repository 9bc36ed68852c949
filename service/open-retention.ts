/** Opens expiry of readings and their archive by the settings, with separate connections to each QuestDB. */

import { join } from 'node:path'
import { noFeed } from '../auth/nodes/change-feed.ts'
import type { Ingest } from '../ingest/ingest.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import { bug } from '../store/limits/bug.ts'
import type { Log } from '../store/log.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import { type Archive, createArchive } from './lifecycle/archive/archive.ts'
import { type ArchiveTarget, openBucket, openFolder } from './lifecycle/archive/archive-target.ts'
import type { AcceptedFrom } from './lifecycle/retention/horizon.ts'
import { openRetention, type Retention } from './lifecycle/retention/retention.ts'
import { createRetentionNodes } from './lifecycle/retention/retention-nodes.ts'
import type { ServiceNodes } from './open-nodes.ts'
import type { ServiceReplica } from './replicas.ts'
import type { Config } from './settings/config.ts'

interface RetentionParts {
  directory: DataDirectory
  store: Pick<Store, 'postgres'>
  replicas: readonly ServiceReplica[]
  ingest: Pick<Ingest, 'endOfAll'>
  acceptedFrom: AcceptedFrom
  clockMs: Clock
  nodes: Pick<ServiceNodes, 'feed' | 'leads'>
}

const minuteMs = 60_000
const checkEveryMs = minuteMs
const execTimeoutMs = 60_000
/** Shorter for nodes, since a node without PostgreSQL receives no notifications of expired days. */
const nodeCheckEveryMs = 20_000
const knownMs = 45_000
/** Bounds the time of an import between check and journal, and the error of a clock. */
const marginMs = 60 * minuteMs

export function openServiceRetention(
  config: Config,
  log: Log,
  parts: RetentionParts,
): { archive: Archive; retention: Retention } {
  const { store, ingest, acceptedFrom, clockMs } = parts
  const replicas = parts.replicas.map(replica => ({ ...replica, isLost: () => replica.readings.lost() !== undefined }))
  const { feed, leads } = parts.nodes
  const closing = new AbortController()
  const archive = createArchive({
    target: targetOf(config, closing.signal),
    pool: store.postgres,
    replicas,
    directory: join(parts.directory.path, 'archive-spool'),
    reserveBytes: config.JOURNAL_RESERVE,
    leads,
  })
  const nodes = feed === noFeed ? undefined : createRetentionNodes({ pool: store.postgres, feed, leads })
  const clients = replicas.map(({ questdb }) => createQuestdbClient(questdb.address.http))
  const retention = openRetention({
    days: config.RETENTION_DAYS,
    acceptedFrom,
    replicas: replicas.map((replica, at) => {
      const client = clients[at] as (typeof clients)[number]
      const { number } = replica
      return {
        ...replica,
        readings: { ...replica.readings, endOfAll: ingest.endOfAll },
        exec: sql => client.exec(sql, execTimeoutMs),
        archive: archive.isOn
          ? { keep: ms => archive.keep(number, ms), holds: ms => archive.holds(number, ms) }
          : undefined,
      }
    }),
    nowMs: clockMs,
    nodes,
    log,
    timing: {
      checkEveryMs: nodes === undefined ? checkEveryMs : nodeCheckEveryMs,
      knownMs,
      marginMs,
      graceMs: config.QUERY_TIMEOUT_SECONDS * 1000 + minuteMs,
    },
  })
  async function close(): Promise<void> {
    for (const client of clients) client.close()
    // Aborts the archive's work for retention.
    archive.close()
    closing.abort()
    await retention.close()
  }
  return { archive, retention: { ...retention, close } }
}

function targetOf(config: Config, signal: AbortSignal): ArchiveTarget | undefined {
  const { ARCHIVE_URL: url, ARCHIVE_S3_REGION: region, ARCHIVE_S3_KEY_ID: keyId, ARCHIVE_S3_SECRET: secret } = config
  if (url?.protocol !== 's3:') return url && openFolder(url)
  if (keyId === undefined || secret === undefined) throw bug('the settings have no keys of the archive')
  const endpoint = config.ARCHIVE_S3_ENDPOINT ?? `https://s3.${region}.amazonaws.com`
  return openBucket({ url, endpoint, region, keyId, secret, signal })
}
