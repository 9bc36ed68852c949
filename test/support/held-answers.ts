/** Holds every answer of a server to the published contract: its status, its media type and its shape. */

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import type { PublishedOperation } from '../../api/docs/contract.ts'
import { createContractChecker } from './contract.ts'
import type { TestHooks } from './databases.ts'
import { published } from './published.ts'

interface SentAnswer {
  method: string
  url: string
  status: number
  headers: Record<string, unknown>
  body: Buffer
}

const { fault } = createContractChecker(published)

const templates = Object.entries(published.paths).map(([path, operations]) => ({
  steps: path.split('/'),
  parameters: path.split('{').length - 1,
  operations,
}))
// A path without parameters before one that has any.
templates.sort((a, b) => a.parameters - b.parameters)

/** The operation of a requested path. Returns undefined for unpublished and undecodable ones. */
function operationOf(method: string, url: string): PublishedOperation | undefined {
  const [path = ''] = url.split('?')
  if (!isDecodable(path)) return undefined
  const steps = path.split('/')
  const matches = (wanted: readonly string[]) =>
    wanted.length === steps.length &&
    wanted.every((step, index) => (step.startsWith('{') ? steps[index] !== '' : step === steps[index]))
  return templates.find(template => matches(template.steps))?.operations[method.toLowerCase()]
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Throws for an answer that differs from the contract. */
export function holdAnswer(answer: SentAnswer): void {
  const wrong = faultOf(answer)
  if (wrong !== undefined) throw new Error(wrong)
}

/** The text of an answer to `fetch`, which is held to the contract. */
export async function heldText(method: string, response: Response): Promise<string> {
  const { status, url, headers } = response
  const body = Buffer.from(await response.arrayBuffer())
  // It comes decoded.
  const { 'content-encoding': _, ...rest } = Object.fromEntries(headers)
  const { pathname, search } = new URL(url)
  holdAnswer({ method, url: `${pathname}${search}`, status, headers: rest, body })
  return body.toString()
}

/** The violation of the contract, or undefined for a valid or unpublished answer. */
function faultOf({ method, url, status, headers, body }: SentAnswer): string | undefined {
  const operation = operationOf(method === 'HEAD' ? 'GET' : method, url)
  // The way to a path with a slash at its end, which is another one.
  if (operation === undefined || status === 308) return undefined
  if (method === 'HEAD' && status === 405) return undefined
  const response = operation.responses[String(status)]
  const place = `${method} ${url} ${status}`
  const text = body.subarray(0, 300).toString()
  if (response === undefined) return `${place} is not in the contract: ${text}`
  if (method === 'HEAD') return undefined
  if (response.content === undefined) return body.length === 0 ? undefined : `${place} has a body: ${text}`
  const type = String(headers['content-type'] ?? '').split(';')[0] ?? ''
  const wrong = fault(response.content, type, contentOf(type, decoded(headers['content-encoding'], body)))
  return wrong === undefined ? undefined : `${place}: ${wrong}: ${text}`
}

function decoded(coding: unknown, body: Buffer): Buffer {
  if (coding === 'gzip') return gunzipSync(body)
  if (coding === 'zstd') return zstdDecompressSync(body)
  return coding === 'br' ? brotliDecompressSync(body) : body
}

function contentOf(type: string, body: Buffer): unknown {
  return /[/+]json$/.test(type) ? JSON.parse(body.toString()) : body.toString()
}

/** Must be called before the server is ready. An answer that differs fails the test. */
export function holdToContract(t: TestHooks, app: FastifyInstance): void {
  app.addHook('onRequest', ({ method, originalUrl: url }, { raw }, done) => {
    record(raw, (headers, body) => {
      const wrong = faultOf({ method, url, status: raw.statusCode, headers, body })
      if (wrong !== undefined) t.fail?.(wrong)
    })
    done()
  })
}

/** Passes the written bytes on once the response is complete. */
function record(response: ServerResponse, onEnd: (headers: OutgoingHttpHeaders, body: Buffer) => void): void {
  const headers: OutgoingHttpHeaders = {}
  const chunks: Buffer[] = []
  // The end of some responses is a write.
  let isInside = false

  function tap(method: 'writeHead' | 'write' | 'end', keep: (...words: unknown[]) => void): void {
    const send = response[method]
    const tapped = (...words: unknown[]): unknown => {
      const isOutermost = !isInside
      if (isOutermost) keep(...words)
      isInside = true
      const result = Reflect.apply(send as never, response, words)
      if (isOutermost) isInside = false
      return result
    }
    Object.assign(response, { [method]: tapped })
  }

  function keepBody(chunk: unknown, coding: unknown): void {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk, coding as BufferEncoding))
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
  }

  // The headers given to writeHead are missing in the response.
  tap('writeHead', (_status, ...words) => Object.assign(headers, words.at(-1)))
  tap('write', keepBody)
  tap('end', keepBody)
  response.once('finish', () => onEnd({ ...response.getHeaders(), ...headers }, Buffer.concat(chunks)))
}
