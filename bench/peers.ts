/**
 * The same line protocol into other time-series databases that are installed: VictoriaMetrics and InfluxDB 1 from
 * Debian. Neither syncs acknowledged rows like we do, so the rates give an orientation, not a ranking.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../store/process/free-port.ts'
import { temporaryFolder } from '../test/support/databases.ts'
import { type BulkTarget, postAll } from './bulk-load.ts'
import { postedTable } from './ingest-formats.ts'
import { type Hooks, sleep, spread } from './measure.ts'

interface Peer {
  program: string
  start(directory: string, port: number): { words: string[]; environment?: Record<string, string> }
  /** Answers 2xx once it listens. */
  readyPath: string
  /** Requested before the first body. */
  preparePath?: string
  writePath: string
  /** The readings that it shows. */
  count(url: string): Promise<number>
}

const waitMsMax = 60_000

const peers: Record<string, Peer> = {
  VictoriaMetrics: {
    program: 'victoria-metrics',
    start: (directory, port) => ({
      words: [`-storageDataPath=${directory}`, `-httpListenAddr=127.0.0.1:${port}`, '-retentionPeriod=2'],
    }),
    readyPath: '/health',
    writePath: '/write',
    async count(url) {
      await fetch(`${url}/internal/force_flush`)
      const query = `sum(count_over_time(${postedTable}_temperature[70d]))`
      const response = await fetch(`${url}/api/v1/query?nocache=1&query=${encodeURIComponent(query)}`)
      const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } }
      return Number(data.result[0]?.value[1] ?? 0)
    },
  },
  InfluxDB: {
    program: 'influxd',
    start: (directory, port) => ({
      words: [],
      environment: {
        INFLUXDB_REPORTING_DISABLED: 'true',
        INFLUXDB_META_DIR: join(directory, 'meta'),
        INFLUXDB_DATA_DIR: join(directory, 'data'),
        INFLUXDB_DATA_WAL_DIR: join(directory, 'wal'),
        INFLUXDB_DATA_MAX_SERIES_PER_DATABASE: '0',
        INFLUXDB_DATA_MAX_VALUES_PER_TAG: '0',
        INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${port}`,
        INFLUXDB_HTTP_LOG_ENABLED: 'false',
        INFLUXDB_BIND_ADDRESS: '127.0.0.1:0',
      },
    }),
    readyPath: '/ping',
    preparePath: '/query?q=CREATE%20DATABASE%20b',
    writePath: '/write?db=b',
    async count(url) {
      const query = encodeURIComponent(`SELECT count(temperature) FROM ${postedTable}`)
      const response = await fetch(`${url}/query?db=b&q=${query}`)
      const { results } = (await response.json()) as { results: { series?: { values: number[][] }[] }[] }
      return results[0]?.series?.[0]?.values[0]?.[1] ?? 0
    },
  },
}

interface PeerPlan {
  connections: number
  /** Each run begins with an empty database. */
  runs: number
  /** Number of different rows in the bodies. */
  rows: number
}

/** Readings a second until they are shown, by peer. `not installed` marks peers that this machine lacks. */
export async function measurePeers(hooks: Hooks, bodies: readonly Buffer[], plan: PeerPlan): Promise<object> {
  const rates: Record<string, object | string> = {}
  for (const [name, peer] of Object.entries(peers)) {
    rates[name] = isInstalled(peer.program) ? await measure(hooks, peer, bodies, plan) : 'not installed'
    process.stderr.write(`${name}: ${JSON.stringify(rates[name])}\n`)
  }
  return rates
}

async function measure(hooks: Hooks, peer: Peer, bodies: readonly Buffer[], plan: PeerPlan): Promise<object> {
  const perSecond: number[] = []
  for (let run = 0; run < plan.runs; run++) {
    const { url, stop } = await start(hooks, peer)
    const { hostname, port } = new URL(url)
    const connection = { host: hostname, port: Number(port), path: peer.writePath }
    const target: BulkTarget = { connections: Array.from({ length: plan.connections }, () => connection), status: 204 }
    const startedMs = performance.now()
    await postAll(target, bodies)
    await untilShown(peer, url, plan.rows)
    perSecond.push((plan.rows * 1000) / (performance.now() - startedMs))
    await stop()
  }
  return { perSecond: spread(perSecond) }
}

async function untilShown(peer: Peer, url: string, rows: number): Promise<void> {
  const endMs = performance.now() + waitMsMax
  let count = 0
  while (performance.now() < endMs) {
    count = await peer.count(url)
    if (count >= rows) return
    await sleep(50)
  }
  throw new Error(`${peer.program} shows ${count} of ${rows} readings`)
}

async function start(hooks: Hooks, peer: Peer): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const { words, environment } = peer.start(temporaryFolder(hooks), port)
  const child = spawn(peer.program, words, { env: { ...process.env, ...environment }, stdio: 'ignore' })
  const exited = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await exited
  }
  hooks.teardown(stop)
  const url = `http://127.0.0.1:${port}`
  while (!(await answers(`${url}${peer.readyPath}`))) {
    if (child.exitCode !== null) throw new Error(`${peer.program} exited with status ${child.exitCode}`)
    await sleep(50)
  }
  if (peer.preparePath !== undefined) await fetch(`${url}${peer.preparePath}`, { method: 'POST' })
  return { url, stop }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
