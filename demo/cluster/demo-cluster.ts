/**
 * `script/cluster`: three brokers, a QuestDB, a PostgreSQL, two processes that take requests behind one address, and two
 * that forward, all on this machine. A process of Barograph that is killed is started again.
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectKafka } from '../../ingest/kafka/connect.ts'
import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import type { Config } from '../../settings/config.ts'
import { kafkaSettings } from '../../settings/kafka.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import type { Log } from '../../store/log.ts'
import { sharedSecrets } from '../../store/shared-secrets.ts'
import { openStore } from '../../store/store.ts'
import type { DemoService, Started } from '../service.ts'
import { startBalancer } from './balancer.ts'
import { postgresUrl, questdbSettings } from './database-settings.ts'
import { startKafkaCluster } from './kafka-cluster.ts'
import { placeProcess, superviseProcess, watchReadiness } from './processes.ts'

export interface DemoClusterOptions {
  config: Config
  /** Everything is in it. */
  folder: string
  signal: AbortSignal
  onLine: (sentence: string) => void
}

const pollMs = 500
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
  const { config, folder, signal, onLine } = options
  const { HOST, PORT, cacheDirectory, environment } = config
  const log = sentencesOf(onLine)
  const directory = openDataDirectory(makeFolder(folder, 'databases'))
  onOpen(() => directory.close())
  const jars = { cacheDirectory, environment, signal, log }
  const kafka = await startKafkaCluster({ ...jars, folder: makeFolder(folder, 'kafka'), brokers: 3 })
  onOpen(() => kafka.stop())
  onLine(`Kafka runs: ${kafka.addresses.join(', ')}`)
  await prepareTopics({ ...config, KAFKA_BROKERS: [...kafka.addresses] })
  // The process that takes requests sees to the hourly view.
  const store = await openStore({ ...jars, directory, leavesHourlyView: true })
  onOpen(() => store.close())
  await store.questdb.ready
  for (const name of sharedSecrets) directory.secret(name)
  const url = `http://${HOST}:${PORT}`
  const processes = await Promise.all(
    [1, 2].flatMap(id => [placeProcess('api', id, folder), placeProcess('forward', id, folder)]),
  )
  const shared = {
    ...environment,
    ...questdbSettings(store.questdb.address),
    DATABASE_URL: postgresUrl(store.postgres),
    KAFKA_BROKERS: kafka.addresses.join(),
    SECRETS_DIR: directory.secrets,
    PUBLIC_URL: url,
    AUTH_HOST: 'on',
    LOG_FORMAT: 'json',
    PARENT_PID: String(process.pid),
  }
  for (const one of processes) onOpen(superviseProcess(one, shared, log))
  onOpen(watchReadiness(processes))
  const apis = processes.filter(({ role }) => role === 'api')
  const balancer = await startBalancer({
    host: HOST,
    port: PORT,
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

function makeFolder(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true, mode: passableMode })
  return path
}

async function prepareTopics(config: Config): Promise<void> {
  const settings = kafkaSettings(config)
  if (settings === undefined) throw new Error('no brokers are set')
  const { connection, requirements, topicPrefix } = settings
  const kafka = await connectKafka(connection)
  try {
    for (const topic of Object.values(topicsOf(topicPrefix, 1))) {
      await prepareTopic(kafka.admin, topic, { requirements, apply: true })
    }
  } finally {
    await kafka.close()
  }
}

/** What the parts log, a sentence at a time. */
function sentencesOf(onLine: (sentence: string) => void): Log {
  const write = (_fields: unknown, sentence?: string) => onLine(sentence ?? '')
  return { info: write, warn: write, error: write }
}
