/** The settings of a managed QuestDB, as text for its configuration and for a comparison with what it really runs with. */

import type { QuestdbAddress } from './client/questdb-address.ts'
import type { QuestdbClient, SqlRow } from './client/questdb-client.ts'

export type CommitMode = 'sync' | 'nosync'

export interface ManagedQuestdb {
  address: QuestdbAddress
  httpUser: string
  httpPassword: string
  minHttpPort: number
  commitMode: CommitMode
  /** Of who may only read, over the PostgreSQL protocol. */
  readOnlyUser?: { name: string; password: string } | undefined
}

/**
 * By default an idle worker of QuestDB yields 7000 times before it naps for the first time, and so takes the processor from
 * our acknowledgements after each commit. With these the p99 of an acknowledgement at half of the peak fell
 * from some 30 ms to some 12 ms on two cores; a nap is 1 ms long, a sleep 10 ms.
 */
const idleWorkerSettings = Object.fromEntries(
  ['shared', 'wal.apply', 'mat.view.refresh'].flatMap(pool => [
    [`${pool}.worker.yield.threshold`, '10'],
    [`${pool}.worker.nap.threshold`, '50'],
    [`${pool}.worker.sleep.threshold`, '1000'],
  ]),
)

/** QuestDB wakes them 100 times a second by default, a fifth of its idle load. No plain view exists, and the hourly one may lag. */
const rareWorkerSettings = {
  'view.compiler.worker.count': '1',
  'view.compiler.worker.sleep.threshold': '100',
  'view.compiler.worker.sleep.timeout': '100',
  'mat.view.refresh.worker.sleep.timeout': '100',
}

/** Why each number: small pools are enough for few, large requests; small pages keep a small table small on disk. */
export function managedSettings(managed: ManagedQuestdb): Record<string, string> {
  const { address, httpUser, httpPassword, minHttpPort, commitMode, readOnlyUser } = managed
  return {
    // An unknown key stops the start.
    'config.validation.strict': 'true',
    'http.bind.to': `127.0.0.1:${address.http.port}`,
    'http.min.net.bind.to': `127.0.0.1:${minHttpPort}`,
    'pg.net.bind.to': `127.0.0.1:${address.pg.port}`,
    'http.user': httpUser,
    'http.password': httpPassword,
    'pg.user': address.pg.user,
    'pg.password': address.pg.password,
    ...readOnlySettings(readOnlyUser),
    // A folder that does not exist: there is no web console.
    'http.static.public.directory': 'nopublic',
    'line.tcp.enabled': 'false',
    'line.udp.enabled': 'false',
    'line.auto.create.new.tables': 'false',
    'line.auto.create.new.columns': 'false',
    'telemetry.enabled': 'false',
    'metrics.enabled': 'true',
    'query.timeout': '30s',
    'http.min.worker.count': '1',
    // Each worker thread of the queries keeps one, and the default is 2.
    'http.export.connection.limit': '64',
    'shared.network.worker.count': '2',
    'shared.query.worker.count': '2',
    'shared.write.worker.count': '2',
    'wal.apply.worker.count': '1',
    'mat.view.refresh.worker.count': '1',
    ...idleWorkerSettings,
    ...rareWorkerSettings,
    // What QuestDB has applied is on disk; the journal is trimmed by that.
    'cairo.commit.mode': commitMode,
    'cairo.writer.data.append.page.size': '1M',
    'cairo.o3.column.memory.size': '256K',
  }
}

function readOnlySettings(user: ManagedQuestdb['readOnlyUser']): Record<string, string> {
  if (user === undefined) return {}
  return { 'pg.readonly.user.enabled': 'true', 'pg.readonly.user': user.name, 'pg.readonly.password': user.password }
}

export function settingsText(settings: Record<string, string>): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
  return `# Written at each start; changes made here are lost.\n${lines.join('')}`
}

/** Errors only; without this file QuestDB makes one that logs every commit. */
export const logSettingsText = 'writers=stdout\nw.stdout.class=io.questdb.log.LogConsoleWriter\nw.stdout.level=ERROR\n'

export interface Parameter {
  value: string
  /** Where the value came from: conf, env or default. */
  source: string
}

const askTimeoutMs = 5000

export async function readParameters(client: QuestdbClient): Promise<ReadonlyMap<string, Parameter>> {
  const rows = await client.exec('SELECT property_path, value, value_source FROM (SHOW PARAMETERS)', askTimeoutMs)
  return new Map(
    rows.map(([key, value, source]: SqlRow) => [String(key), { value: String(value), source: String(source) }]),
  )
}

/** One sentence part for each setting that is not as we wrote it. */
export function differences(wanted: Record<string, string>, effective: ReadonlyMap<string, Parameter>): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const parameter = effective.get(key)
    if (parameter === undefined) return [`${key} is not known to it`]
    // A misspelt or overridden key shows by its source even where its value is the same by chance.
    if (parameter.source !== 'conf') return [`${key} comes from its ${parameter.source}, not from its configuration`]
    // QuestDB shows passwords as stars.
    if (key.endsWith('.password') || parameter.value === value) return []
    return [`${key} is ${parameter.value}, not ${value}`]
  })
}
