/** The client of the command line: one address, one token, and one sentence for each failure. */

import { z } from 'zod'
import { CommandError, messageOf } from './command-error.ts'
import { printable } from './output.ts'

export interface ServerAddress {
  /** Origin of the server, without a trailing slash: `http://127.0.0.1:8080`. */
  url: string
  /** The local admin token. */
  token: string
}

export interface AdminClient {
  /** Origin of the server, for messages. */
  url(): string
  /**
   * Sends one request to the path below its prefix and hands back the answer, whatever its status is.
   * Throws a CommandError only without an answer.
   */
  send(method: string, path: string, init?: RequestInit): Promise<Response>
  /** Requests and responses are JSON. The answer has the given shape, or a CommandError has the server's reason. */
  json<Shape>(shape: z.ZodType<Shape>, method: string, path: string, body?: unknown): Promise<Shape>
}

/** The shown parts of a refusal of the admin API (RFC 9457). */
const Problem = z.object({
  title: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
})

/** The address is asked for at the first request, because the options that name it are parsed after the commands are made. */
export function createAdminClient(findServer: () => ServerAddress, prefix = '/api/admin'): AdminClient {
  let server: ServerAddress | undefined
  const address = () => {
    server ??= findServer()
    return server
  }

  async function send(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const { url, token } = address()
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    try {
      return await fetch(`${url}${prefix}${path}`, { ...init, method, headers, redirect: 'error' })
    } catch (error) {
      throw noAnswer(url, error)
    }
  }

  async function json<Shape>(shape: z.ZodType<Shape>, method: string, path: string, body?: unknown): Promise<Shape> {
    const init = body === undefined ? {} : jsonBody(body)
    const response = await send(method, path, init)
    if (!response.ok) throw await refusal(response)
    const answer = shape.safeParse(response.status === 204 ? undefined : await readJson(response))
    if (!answer.success) throw new CommandError(`${address().url} did not respond like this version of Barograph`)
    return answer.data
  }

  return { url: () => address().url, send, json }
}

/** The sentence for an answer that is not a success, for callers of `send`. */
export async function refusal(response: Response): Promise<CommandError> {
  if (response.status === 401) {
    return new CommandError('the server rejected the admin token; use --token-file')
  }
  const problem = Problem.safeParse(await readJson(response))
  if (!problem.success) return new CommandError(`the server answered ${response.status} ${response.statusText}`.trim())
  const { title, detail, errors = [] } = problem.data
  const parts = errors.slice(0, 10).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  return new CommandError([detail ?? title, ...parts].map(printable).join('\n  '))
}

function jsonBody(body: unknown): RequestInit {
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

/** Node wraps the reason in `cause`. A refused connection means that the server does not run, which has its own remedy. */
function noAnswer(url: string, error: unknown): CommandError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ECONNREFUSED') {
    return new CommandError(`no server at ${url}; start it with npm start, or set another address with --url`)
  }
  const reason = messageOf(cause)
  return new CommandError(`no response from ${url}: ${code === '' ? reason : `${reason} (${code})`}`)
}
