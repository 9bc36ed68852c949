/**
 * `script/cluster`: three brokers, two replicas of QuestDB, a PostgreSQL, two processes that take requests behind one address,
 * and two that forward, all on this machine. A process of Barograph that is killed is started again.
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../../service/settings/config.ts'
import { openDataDirectory } from '../../../store/data-directory.ts'
import type { Log } from '../../../store/log.ts'
import { type Environment, runProgram } from '../../../store/process/find-program.ts'
import { freePort } from '../../../store/process/free-port.ts'
import { openQuestdb } from '../../../store/questdb/questdb.ts'
import { sharedSecrets } from '../../../store/shared-secrets.ts'
import { openStore } from '../../../store/store.ts'
import type { DemoService, Started } from '../service.ts'
import { startBalancer } from './balancer.ts'
import { postgresUrl, questdbSettings } from './database-settings.ts'
import { startKafkaCluster } from './kafka-cluster.ts'
import { placeProcess, superviseProcess, watchReadiness } from './processes.ts'

export interface DemoClusterOptions {
  config: Config
  /** The environment that the settings came from. */
  settings: Environment
  /** Everything is in it. */
  folder: string
  /** One is enough to see the rest work. */
  brokers: 1 | 3
  signal: AbortSignal
  onLine: (sentence: string) => void
}

const root = resolve(import.meta.dirname, '..', '..', '..')
const pollMs = 500
/** The limit ends commands that hang: on a busy machine a command takes a minute. */
const commandMsMax = 300_000
/** The server of PostgreSQL may run as another user. */
const passableMode = 0o711

export function startDemoCluster(options: DemoClusterOptions): DemoService {
  const closings: (() => unknown)[] = []
  const ended = Promise.withResolvers<number>()
  async function stop(): Promise<void> {
    for (const close of closings.splice(0).reverse()) await close()
    ended.resolve(0)
  }
  return { started: start(options, close => closings.push(close)), ended: ended.promise, stop }
}

async function start(options: DemoClusterOptions, onOpen: (close: () => unknown) => void): Promise<Started> {
  const { config, settings, folder, brokers, signal, onLine } = options
  const { HOST, cacheDirectory, environment } = config
  const port = config.PORT === 0 ? await freePort() : config.PORT
  const log = sentencesOf(onLine)
  const directory = openDataDirectory(makeFolder(folder, 'databases'))
  onOpen(() => directory.close())
  const jars = { cacheDirectory, environment, signal, log }
  const kafka = await startKafkaCluster({ ...jars, folder: makeFolder(folder, 'kafka'), brokers })
  onOpen(() => kafka.stop())
  onLine(`Kafka runs: ${kafka.addresses.join(', ')}`)
  const kafkaSettings = { KAFKA_BROKERS: kafka.addresses.join(), KAFKA_REPLICATION: String(brokers) }
  // One of the processes that take requests sees to the hourly view.
  const store = await openStore({ ...jars, directory, leavesHourlyView: true })
  onOpen(() => store.close())
  const secondDirectory = openDataDirectory(makeFolder(folder, 'second-replica'))
  onOpen(() => secondDirectory.close())
  const second = await openQuestdb({ ...jars, directory: secondDirectory, leavesHourlyView: true }, signal)
  onOpen(() => second.close())
  await Promise.all([store.questdb.ready, second.ready])
  for (const name of sharedSecrets) directory.secret(name)
  const url = `http://${HOST}:${port}`
  const processes = await Promise.all(
    [1, 2].flatMap(id => [placeProcess('api', id, folder), placeProcess('forward', id, folder)]),
  )
  const shared = {
    ...passedOn(settings),
    ...questdbSettings(store.questdb.address),
    QUESTDB_REPLICAS: `2=${Object.values(questdbSettings(second.address)).join()}`,
    DATABASE_URL: postgresUrl(store.postgres),
    ...kafkaSettings,
    SECRETS_DIR: directory.secrets,
    PUBLIC_URL: config.PUBLIC_URL ?? url,
    AUTH_HOST: 'on',
    LOG_FORMAT: 'json',
    PARENT_PID: String(process.pid),
  }
  await runCommand(['kafka', 'prepare'], shared)
  for (const one of processes) onOpen(superviseProcess(one, shared, log))
  onOpen(watchReadiness(processes))
  const apis = processes.filter(({ role }) => role === 'api')
  const balancer = await startBalancer({
    host: HOST,
    port,
    ports: apis.map(({ port }) => port),
    isReady: port => apis.some(api => api.port === port && api.isReady),
  })
  onOpen(() => balancer.close())
  while (!processes.every(({ isReady }) => isReady)) await sleep(pollMs, undefined, { signal })
  for (const { name, port, running, folder } of processes) {
    onLine(`${name}: process ${running?.pid}, http://127.0.0.1:${port}, log ${folder}.log`)
  }
  const [first] = apis
  if (first === undefined) throw new Error('no process takes requests')
  return {
    url,
    admin: { url: `http://127.0.0.1:${first.port}`, dataDirectory: first.folder },
    token: readFileSync(join(first.folder, 'secrets', 'admin-token'), 'utf8').trim(),
  }
}

/** Processes of the cluster do not share these settings, or the demo sets them itself. */
const notPassedOn = /^(MQTT_PORT|TLS_.*|KAFKA_.*|QUESTDB_(?!ACCEPT).*)$/

function passedOn(settings: Environment): Environment {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !notPassedOn.test(name)))
}

function makeFolder(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true, mode: passableMode })
  return path
}

async function runCommand(words: readonly string[], environment: Environment): Promise<void> {
  const command = [join(root, 'cli', 'barograph.ts'), ...words]
  const { ok, output } = await runProgram(process.execPath, command, { environment, timeoutMs: commandMsMax })
  if (!ok) throw new Error(`barograph ${words.join(' ')} failed: ${output}`)
}

/** Splits the output of the parts into sentences. */
function sentencesOf(onLine: (sentence: string) => void): Log {
  const write = (_fields: unknown, sentence?: string) => onLine(sentence ?? '')
  return { info: write, warn: write, error: write }
}
