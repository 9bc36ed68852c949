/**
 * `npm run demo`: the service with eight devices, two air-quality stations and content files, until Ctrl-C. With `--cluster` it is
 * several processes, with Kafka as the journal.
 */

import { join } from 'node:path'
import { watchParent } from '../../service/parent.ts'
import { type Config, readConfig } from '../../service/settings/config.ts'
import { createAdminClient } from '../admin-client.ts'
import { runFeed } from './air-quality/feed.ts'
import { addAirStations } from './air-quality/prepare.ts'
import { airStations } from './air-quality/stations.ts'
import { startDemoCluster } from './cluster/demo-cluster.ts'
import type { History } from './history.ts'
import { createRandom, seedOf } from './noise.ts'
import { addRules, importContentFiles, importHistory, missingHistory, registerDevices } from './prepare.ts'
import { createReadings } from './readings.ts'
import { runSensor, type Sensor, type SensorOptions } from './sensors.ts'
import { type DemoService, type Started, startDemoService, visible } from './service.ts'
import { type DemoState, readDemoState, writeDemoState } from './state.ts'
import { stations } from './stations.ts'

const minuteMs = 60_000
const intervalMs = 10_000
/** The device that falls silent: how long it still is after a start, and then the last part of each hour. */
const silentAfterMs = 15 * minuteMs
const silentEveryMs = 60 * minuteMs
const silentForMs = 20 * minuteMs
const saveEveryMs = 60_000
const visibleMsMax = 120_000

const isCluster = process.argv.includes('--cluster')
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())

function say(text = ''): void {
  process.stdout.write(`${text}\n`)
}

function sensorsOf({ passwords }: DemoState, startedMs: number): Sensor[] {
  const pauses = { untilMs: Date.now() + silentAfterMs, everyMs: silentEveryMs, lastMs: silentForMs }
  return stations.map(station => {
    const { name } = station
    return {
      name,
      password: passwords[name] ?? '',
      readings: createReadings(station, startedMs),
      random: createRandom(seedOf(name)),
      pauses: 'isSilentAtTimes' in station ? pauses : undefined,
    }
  })
}

/** The data points of the stations are sent behind the start, since they are many. */
function feedsOf(state: DemoState, options: Omit<SensorOptions, 'intervalMs'>): Promise<void>[] {
  const { account, pointsUntil } = state
  if (account === undefined) return []
  return airStations.map(station => {
    const { sn } = station
    let sent = 0
    return runFeed(station, {
      ...options,
      key: account.key,
      storedUntil: pointsUntil[sn],
      onStored(until, count) {
        pointsUntil[sn] = until
        sent += count
      },
      onCaughtUp: () => say(`${sent} data points of ${sn} are stored, up to now.`),
    })
  })
}

/** One address, and the settings that the requests of the README go by. */
function showAddress({ url, admin }: Started, { account }: DemoState): void {
  const lines = ['', `Open in a browser: ${url}/`, '']
  if (account !== undefined) lines.push(`Sign in as ${account.email} with the password ${account.password}.`)
  lines.push(
    'The README has requests to try, in another terminal, behind this line:',
    `  export PORT=${new URL(admin.url).port} DATA_DIR='${admin.dataDirectory.replaceAll("'", `'\\''`)}'`,
  )
  for (const line of lines) say(line)
  say(`Eight sensors send a reading every ${intervalMs / 1000} s, two stations a point of each parameter every minute.`)
  say('Ctrl-C stops all.')
}

/** Stores the end of the history from time to time, because the demo may be killed. */
async function live(url: string, dataDirectory: string, { state, startedMs }: Begun): Promise<void> {
  const saving = setInterval(() => {
    state.filledUntilMs = Date.now()
    writeDemoState(dataDirectory, state)
  }, saveEveryMs)
  const onFault = (name: string, fault: string) => say(`  ${name}: ${fault}`)
  const options = { url, now: Date.now, signal: stop.signal, onFault }
  const sensors = sensorsOf(state, startedMs).map(sensor => runSensor(sensor, { ...options, intervalMs }))
  await Promise.all([...sensors, ...feedsOf(state, options)])
  clearInterval(saving)
  state.filledUntilMs = Date.now()
  writeDemoState(dataDirectory, state)
}

interface Begun {
  state: DemoState
  /** Time of the first start. */
  startedMs: number
  nowMs: number
  history: History
}

/** Computes the history while the databases start. */
function begin(dataDirectory: string): Begun {
  const state = readDemoState(dataDirectory)
  const nowMs = Date.now()
  const startedMs = state.startedMs ?? nowMs
  state.startedMs = startedMs
  return { state, startedMs, nowMs, history: missingHistory(state, startedMs, nowMs) }
}

async function prepare(started: Started, dataDirectory: string, { state, nowMs, history }: Begun): Promise<void> {
  const { url, admin, token } = started
  const client = createAdminClient(() => ({ url: admin.url, token }))
  const registered = await registerDevices(client, state)
  writeDemoState(dataDirectory, state)
  say(registered > 0 ? `${registered} devices were registered.` : 'The devices of the last run go on.')
  const imported = await importHistory(client, history)
  state.filledUntilMs = nowMs
  writeDemoState(dataDirectory, state)
  say(`${imported} readings of history were imported.`)
  say(`${await importContentFiles(client)} content files were imported.`)
  const added = await addAirStations(client, state)
  writeDemoState(dataDirectory, state)
  if (state.account !== undefined) await addRules(started, state.account.email)
  say(added > 0 ? `${added} air-quality stations were added.` : 'The air-quality stations of the last run go on.')
  if (!(await visible(url, visibleMsMax, stop.signal))) say('QuestDB does not show them yet; it will, in a moment.')
}

function startService(dataDirectory: string, onLine: (sentence: string) => void): DemoService {
  say('The service starts; the first time it also fetches QuestDB.')
  return startDemoService({ dataDirectory, environment: process.env, signal: stop.signal, onLine })
}

function startCluster(config: Config, folder: string, onLine: (sentence: string) => void): DemoService {
  say('Eleven processes start; the first time they also fetch QuestDB and Kafka.')
  return startDemoCluster({ config, settings: process.env, folder, brokers: 3, signal: stop.signal, onLine })
}

async function run(): Promise<void> {
  const config = readConfig(process.env)
  watchParent(config.PARENT_PID, () => stop.abort())
  const onLine = (sentence: string) => say(`  ${sentence}`)
  const dataDirectory = isCluster ? join(config.DATA_DIR, 'cluster') : config.DATA_DIR
  const service = isCluster ? startCluster(config, dataDirectory, onLine) : startService(dataDirectory, onLine)
  stop.signal.addEventListener('abort', () => void service.stop())
  // The demo ends when the service ends.
  let isStopping = false
  const ended = service.ended.then(status => {
    // The reason of a start that fails is still to be reported.
    if (stop.signal.aborted || isStopping) return
    fail(`The service has ended by itself, with status ${status}.`)
    stop.abort()
  })
  try {
    const begun = begin(dataDirectory)
    const started = await service.started
    await prepare(started, dataDirectory, begun)
    showAddress(started, begun.state)
    await live(started.url, dataDirectory, begun)
  } finally {
    isStopping = true
    await service.stop()
    await ended
  }
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

try {
  await run()
} catch (error) {
  // A stop interrupts requests, which is not an error.
  if (!stop.signal.aborted) fail(error instanceof Error ? error.message : String(error))
} finally {
  stop.abort()
}
