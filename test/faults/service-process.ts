/** A service process that is killed and restarted, on one port and one data directory. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../../api/admin/status-answer.ts'
import type { TestHooks } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import type { Login } from './loads.ts'

export interface ServiceProcess {
  port: number
  dataDirectory: string
  environment: Record<string, string>
  pid(): number
  start(more?: Record<string, string>): Promise<void>
  /** Starts the service without waiting for readiness. */
  launch(more?: Record<string, string>): ChildProcess
  /** Sends the signal and waits for the end: the exit code, or null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Waits until the process has exited by itself. */
  ended(what: string): Promise<void>
  /** The log since the last start. */
  output(): string
  adminToken(): string
  /** Sends a request to the admin API by its path there, or elsewhere by the whole path. */
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** The body of the response. Throws without success. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>
  /** Repeats `admin` while the status is 503: on a busy machine the lease of a node can expire before its first change. */
  adminWhenLet: ServiceProcess['admin']
  addDevices(names: readonly string[], more?: object): Promise<Login[]>
  status(): Promise<Status>
  ready(): Promise<{ code: number; status: string; reasons: string[] }>
}

export interface ServiceOptions {
  /** The folder of the source: the repository, or a broken copy. */
  source: string
  port: number
  dataDirectory: string
  environment: Record<string, string>
  words?: readonly string[] | undefined
}

const hangMs = 300_000

export function createServiceProcess(t: TestHooks, options: ServiceOptions): ServiceProcess {
  const { source, port, dataDirectory } = options
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  let exited: Promise<unknown> = Promise.resolve()
  let output = ''
  const isOver = () => child === undefined || child.exitCode !== null || child.signalCode !== null
  t.teardown(async () => {
    if (isOver()) return
    child?.kill('SIGTERM')
    await Promise.race([exited, new Promise(resolve => setTimeout(resolve, hangMs).unref())])
    child?.kill('SIGKILL')
  })

  const service: ServiceProcess = {
    port,
    dataDirectory,
    environment: options.environment,
    pid: () => child?.pid ?? 0,
    launch(more = {}) {
      output = ''
      const own = { PORT: String(port), DATA_DIR: dataDirectory, TIME_ZONE: 'UTC', FAILED_ATTEMPTS: '1000000' }
      // The service stops with an interrupted harness.
      const parent = { PARENT_PID: String(process.pid) }
      const rates = { DEVICE_RATE: '100000', DEVICE_BURST: '1000000' }
      const started = spawn(process.execPath, ['service/main.ts', ...(options.words ?? [])], {
        cwd: source,
        env: { ...process.env, ...own, ...parent, ...rates, ...service.environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A separate session, as for the databases: Linux shares a busy processor equally between sessions.
        detached: true,
      })
      child = started
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (text: Buffer) => {
          output += text.toString()
          appendFileSync(`${dataDirectory}.log`, text)
        })
      }
      exited = once(child, 'exit')
      return started
    },
    async start(more) {
      service.launch(more)
      const isListening = () => output.includes('"msg":"listening"')
      await until('the service listens', () => isListening() || isOver())
      if (!isListening()) throw new Error(`the service did not start: ${output.slice(-2000)}`)
    },
    async end(signal) {
      child?.kill(signal)
      await exited
      return child?.exitCode ?? null
    },
    ended: what => until(what, isOver),
    output: () => output,
    adminToken: () => readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim(),
    ...clientOf(url, () => service.adminToken()),
  }
  return service
}

type Client = Pick<ServiceProcess, 'admin' | 'ask' | 'adminWhenLet' | 'addDevices' | 'status' | 'ready'>

function clientOf(url: string, adminToken: () => string): Client {
  const client: Client = {
    async admin(method, path, body) {
      const headers: Record<string, string> = { authorization: `Bearer ${adminToken()}` }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const whole = path.startsWith('/api/') ? path : `/api/admin${path}`
      const response = await fetch(url + whole, { ...init, signal: AbortSignal.timeout(hangMs) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async ask(method, path, given) {
      const { status, body } = await client.admin(method, path, given)
      if (status >= 300) throw new Error(`${method} ${path} is answered ${status}: ${JSON.stringify(body)}`)
      return body
    },
    async adminWhenLet(...question) {
      let answer = await client.admin(...question)
      await until('the service changes its registry', async () => {
        if (answer.status === 503) answer = await client.admin(...question)
        return answer.status !== 503
      })
      return answer
    },
    async addDevices(names, more = {}) {
      const wanted = names.map(name => ({ name, ...more }))
      const { status, body } = await client.adminWhenLet('POST', '/devices', wanted)
      if (status !== 201) throw new Error(`no devices were made: ${status} ${JSON.stringify(body)}`)
      return (body as { device: string; password: string }[]).map(({ device, password }) => ({
        name: device,
        password,
      }))
    },
    status: async () => (await client.admin('GET', '/status')).body as Status,
    async ready() {
      const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(hangMs) })
      const body = (await response.json()) as { status: string; reasons?: string[] }
      return { code: response.status, status: body.status, reasons: body.reasons ?? [] }
    },
  }
  return client
}
