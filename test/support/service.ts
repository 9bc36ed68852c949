/** The whole service as a separate process, started like an operator does, with functions that disturb it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { borrow } from './borrow.ts'
import type { TestHooks } from './databases.ts'
import { isRunning, serverPid, until } from './processes.ts'

const hangMs = 300_000
const root = resolve(import.meta.dirname, '..', '..')

export interface ServiceClient {
  url: string
  dataDirectory: string
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Makes a device and returns its password. */
  addDevice(name: string, more?: Record<string, unknown>): Promise<string>
  /** Imports readings as CSV by the admin API. All must be accepted. */
  import(csv: string): Promise<void>
  /** The same, whatever becomes of it. */
  postImport(csv: string): Promise<{ status: number; accepted: number; rejected: number }>
  /** Resolves when the readings that it has taken are shown, by the status, which is of this moment. */
  allShown(): Promise<void>
  /** `PUT /api/log` with the device's credentials. */
  put(device: string, password: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

export interface Service extends ServiceClient {
  child: ChildProcess
  /** Everything that it has logged. */
  output(): string
  /** The service and both databases, at once. */
  killAll(): Promise<void>
  /** Sends the signal to the service alone and waits for its end. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Settings for a test without QuestDB, whose start is the longest part of a service's: nothing listens at this address. */
export const withoutQuestdb = {
  QUESTDB_HTTP: 'http://127.0.0.1:9',
  QUESTDB_PG: 'postgresql://127.0.0.1:9/qdb',
}

/** The address of a service. */
type SharedService = Pick<ServiceClient, 'url' | 'dataDirectory'>

export interface ServiceSettings {
  /** Used again after a stop. By default the data is in a separate temporary folder. */
  dataDirectory?: string
  /** The directory is new, and not one with a PostgreSQL that has its schema. */
  isFirstStart?: boolean
  environment?: NodeJS.ProcessEnv
  /** Another way to start it than from the sources. */
  command?: [program: string, ...words: string[]]
}

/**
 * The service that a worker's test files share, with the settings of `startService`: a start takes four seconds of
 * processor time. It has the data of earlier files, so each file uses its own unique names and reads nothing else. A
 * test that needs settings, an empty service, a kill or a restart starts one.
 */
export async function sharedService(t: TestHooks): Promise<ServiceClient> {
  const shared = await borrow<SharedService>('service')
  return shared === undefined ? await startService(t) : serviceClient(shared, (_method, answer) => answer.text())
}

/** Collects less garbage while modules load, a seventh of the processor time of a start. */
const cheapStart = ['--min-semi-space-size=16']

/** Starts the service on a free port and waits until it listens. */
export async function startService(t: TestHooks, settings: ServiceSettings = {}): Promise<Service> {
  const isFirstStart = settings.isFirstStart === true || settings.environment?.['DATABASE_URL'] !== undefined
  // Loaded lazily for tests that start a service alone: the import takes most of a second.
  const { dataDirectoryPath } = await import('./databases.ts')
  const { heldText } = await import('./held-answers.ts')
  const dataDirectory = settings.dataDirectory ?? (await dataDirectoryPath(t, isFirstStart))
  const own = { PORT: '0', TIME_ZONE: 'UTC', PARENT_PID: String(process.pid) }
  const environment = { ...process.env, ...own, ...settings.environment, DATA_DIR: dataDirectory }
  const [program, ...words] = settings.command ?? [process.execPath, ...cheapStart, 'service/main.ts']
  const child = spawn(program, words, {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const exited = once(child, 'exit')
  // Its output is complete by then.
  const closed = once(child, 'close')
  const servers = () => serverPids(dataDirectory).filter(isRunning)
  const listening = () => /"url":"([^"]+)"[^\n]*"msg":"listening"/.exec(output)?.[1]
  t.teardown(async () => {
    child.kill('SIGTERM')
    await Promise.race([exited, sleep(hangMs, undefined, { ref: false })])
    child.kill('SIGKILL')
    for (const pid of servers()) process.kill(pid, 'SIGKILL')
  })
  await until('the service listens', () => listening() !== undefined || isOver(child))
  const url = listening()
  if (url === undefined) {
    await closed
    throw new Error(`the service did not start: ${output}`)
  }

  return {
    ...serviceClient({ url, dataDirectory }, heldText),
    child,
    output: () => output,
    async killAll() {
      const pids = servers()
      child.kill('SIGKILL')
      for (const pid of pids) process.kill(pid, 'SIGKILL')
      await closed
      await until('the servers are gone', () => !pids.some(isRunning))
    },
    async end(signal) {
      child.kill(signal)
      await closed
      return child.exitCode
    },
  }
}

/** A client of a listening service, with the token in its data directory. `textOf` reads an answer to a method. */
function serviceClient(
  { url, dataDirectory }: SharedService,
  textOf: (method: string, answer: Response) => Promise<string>,
): ServiceClient {
  const readToken = () => readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const admin: ServiceClient['admin'] = async (method, path, body) => {
    const token = readToken()
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${url}/api/admin${path}`, init)
    const text = await textOf(method, response)
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  const postImport: ServiceClient['postImport'] = async csv => {
    const headers = { authorization: `Bearer ${readToken()}`, 'content-type': 'text/csv' }
    const response = await fetch(`${url}/api/admin/import`, { method: 'POST', headers, body: csv })
    const { accepted, rejected } = JSON.parse(await textOf('POST', response))
    return { status: response.status, accepted, rejected }
  }

  return {
    url,
    dataDirectory,
    admin,
    addDevice: (name, more = {}) => addDeviceBy(admin, { name, ...more }),
    async import(csv) {
      const answer = await postImport(csv)
      if (answer.status !== 200 || answer.rejected !== 0) throw new Error(`not imported: ${JSON.stringify(answer)}`)
    },
    postImport,
    async allShown() {
      await until('all readings are shown', async () => {
        const { body } = await admin('GET', '/status')
        return (body as { lag: { readings: number } }).lag.readings === 0
      })
    },
    put(device, password, body, headers = {}) {
      return fetch(`${url}/api/log`, {
        method: 'PUT',
        headers: { authorization: basic(device, password), 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      })
    },
  }
}

async function addDeviceBy(admin: ServiceClient['admin'], device: { name: string }): Promise<string> {
  let answer = await admin('POST', '/devices', device)
  // A node on a slow machine may briefly lose its lease.
  await until('the node takes changes', async () => {
    if (answer.status === 503) answer = await admin('POST', '/devices', device)
    return answer.status !== 503
  })
  const { status, body } = answer
  const password = (body as { password?: unknown } | undefined)?.password
  if (typeof password !== 'string') throw new Error(`no device was added: ${status} ${JSON.stringify(body)}`)
  return password
}

/** Ended by itself, or by a signal. */
function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

export function basic(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
}

function serverPids(dataDirectory: string): number[] {
  return (['questdb', 'postgres'] as const).flatMap(server => {
    try {
      return [serverPid({ path: dataDirectory }, server)]
    } catch {
      return []
    }
  })
}
