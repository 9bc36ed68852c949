/** The settings of a managed QuestDB, as configuration text and for a comparison with the effective ones. */

import type { QuestdbAddress } from './client/questdb-address.ts'
import type { QuestdbClient, SqlRow } from './client/questdb-client.ts'
import { QuestdbError } from './client/questdb-error.ts'

export type CommitMode = 'sync' | 'nosync'

export interface ManagedQuestdb {
  address: QuestdbAddress
  httpUser: string
  httpPassword: string
  minHttpPort: number
  commitMode: CommitMode
  /** The read-only user of the PostgreSQL protocol. */
  readOnlyUser?: { name: string; password: string } | undefined
}

/**
 * By default an idle worker of QuestDB yields 7000 times before its first nap, and so takes the processor from acknowledgements
 * after each commit. With these settings the p99 of an acknowledgement at half of the peak fell from some 30 ms to some 12 ms on
 * two cores. A nap takes 1 ms, a sleep 10 ms. There are 50 naps, since with 950 the probe of each second kept a worker napping.
 */
const idleWorkerSettings = Object.fromEntries(
  ['shared', 'wal.apply', 'mat.view.refresh'].flatMap(pool => [
    [`${pool}.worker.yield.threshold`, '10'],
    [`${pool}.worker.nap.threshold`, '50'],
    [`${pool}.worker.sleep.threshold`, '100'],
  ]),
)

/**
 * QuestDB wakes these workers 100 times a second by default, a fifth of its idle load. The service has no plain views, the
 * hourly view may lag, and nothing is exported by COPY: `/exp` uses the shared workers.
 */
const rareWorkerSettings = {
  'view.compiler.worker.count': '1',
  'view.compiler.worker.sleep.threshold': '100',
  'view.compiler.worker.sleep.timeout': '100',
  'mat.view.refresh.worker.sleep.timeout': '100',
  'export.worker.sleep.threshold': '100',
  'export.worker.sleep.timeout': '100',
}

/** Reasons for the numbers: small pools suffice for few, large requests; small pages keep a small table small on disk. */
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
    // The folder does not exist, which disables the web console.
    'http.static.public.directory': 'nopublic',
    'line.tcp.enabled': 'false',
    'line.udp.enabled': 'false',
    'line.auto.create.new.tables': 'false',
    'line.auto.create.new.columns': 'false',
    'telemetry.enabled': 'false',
    'metrics.enabled': 'true',
    'query.timeout': '30s',
    'http.min.worker.count': '1',
    // Each query thread keeps one connection, and the default is 2.
    'http.export.connection.limit': '64',
    'shared.network.worker.count': '2',
    'shared.query.worker.count': '2',
    'shared.write.worker.count': '2',
    'wal.apply.worker.count': '1',
    'mat.view.refresh.worker.count': '1',
    ...idleWorkerSettings,
    ...rareWorkerSettings,
    // Rows that QuestDB has applied are on disk, which allows trimming the journal.
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

/** Errors only. Without this file QuestDB creates one that logs every commit. */
export const logSettingsText = 'writers=stdout\nw.stdout.class=io.questdb.log.LogConsoleWriter\nw.stdout.level=ERROR\n'

export interface Parameter {
  value: string
  /** Source of the value: conf, env or default. */
  source: string
}

const askTimeoutMs = 5000
const commitModePath = 'cairo.commit.mode'

/** A QuestDB that has just started may answer without rows. A forwarder that took this for no sync sent all kept records again. */
export const noCommitMode = () => new QuestdbError('NO_ANSWER', 'QuestDB does not report its commit mode')

export async function readParameters(client: QuestdbClient): Promise<ReadonlyMap<string, Parameter>> {
  const rows = await client.exec('SELECT property_path, value, value_source FROM (SHOW PARAMETERS)', askTimeoutMs)
  const parameters = new Map(
    rows.map(([key, value, source]: SqlRow) => [String(key), { value: String(value), source: String(source) }]),
  )
  if (!parameters.has(commitModePath)) throw noCommitMode()
  return parameters
}

/** Describes each setting that differs from our configuration. */
export function differences(wanted: Record<string, string>, effective: ReadonlyMap<string, Parameter>): string[] {
  return Object.entries(wanted).flatMap(([key, value]) => {
    const parameter = effective.get(key)
    if (parameter === undefined) return [`${key} is not known to it`]
    // The source reveals a misspelt or overridden key even where its value matches by chance.
    if (parameter.source !== 'conf') return [`${key} comes from its ${parameter.source}, not from its configuration`]
    // QuestDB shows passwords as stars.
    if (key.endsWith('.password') || parameter.value === value) return []
    return [`${key} is ${parameter.value}, not ${value}`]
  })
}
