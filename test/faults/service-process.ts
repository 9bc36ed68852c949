/** The service as a process that is killed and started again, on one port and one data directory. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../../api/admin/status-answer.ts'
import type { TestHooks } from '../support/databases.ts'
import { until } from '../support/processes.ts'

export interface ServiceProcess {
  port: number
  dataDirectory: string
  /** For the next start. */
  environment: Record<string, string>
  pid(): number
  /** Resolves when it listens. */
  start(more?: Record<string, string>): Promise<void>
  /** Starts it and hands back how it ends, however soon. */
  launch(more?: Record<string, string>): ChildProcess
  /** Sends the signal and waits for the end: the exit code, or null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Waits until it has ended by itself. */
  ended(what: string): Promise<void>
  /** What it has logged since its last start. */
  output(): string
  adminToken(): string
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** The same until the service may change its registry: on a busy machine a lease ends before anything has happened to its node. */
  adminWhenLet: ServiceProcess['admin']
  status(): Promise<Status>
  ready(): Promise<{ code: number; status: string; reasons: string[] }>
}

export interface ServiceOptions {
  /** The folder of the source: ours, or a copy that was broken on purpose. */
  source: string
  port: number
  dataDirectory: string
  environment: Record<string, string>
  /** Of the command, such as a role. */
  words?: readonly string[] | undefined
  /** Another user to run as. */
  user?: number | undefined
  /** How many files it may have open, and each of its children. */
  filesMax?: number | undefined
}

/** Of a request without an answer. */
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
      // A harness that is stopped in the middle leaves no service behind.
      const parent = { PARENT_PID: String(process.pid) }
      const rates = { DEVICE_RATE: '100000', DEVICE_BURST: '1000000' }
      const limit = options.filesMax === undefined ? [] : ['prlimit', `--nofile=${options.filesMax}`]
      const [command = '', ...parameters] = [...limit, process.execPath, 'service/main.ts', ...(options.words ?? [])]
      const started = spawn(command, parameters, {
        cwd: source,
        env: { ...process.env, ...own, ...parent, ...rates, ...service.environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A session of its own, as the databases have: Linux gives each session the same share of a busy processor.
        detached: true,
        ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
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
    async admin(method, path, body) {
      const headers: Record<string, string> = { authorization: `Bearer ${service.adminToken()}` }
      if (body !== undefined) headers['content-type'] = 'application/json'
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      const response = await fetch(`${url}/api/admin${path}`, { ...init, signal: AbortSignal.timeout(hangMs) })
      const text = await response.text()
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    },
    async adminWhenLet(...question) {
      let answer = await service.admin(...question)
      await until('the service changes its registry', async () => {
        if (answer.status === 503) answer = await service.admin(...question)
        return answer.status !== 503
      })
      return answer
    },
    status: async () => (await service.admin('GET', '/status')).body as Status,
    async ready() {
      const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(hangMs) })
      const body = (await response.json()) as { status: string; reasons?: string[] }
      return { code: response.status, status: body.status, reasons: body.reasons ?? [] }
    },
  }
  return service
}
