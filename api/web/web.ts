/** Serves the app of the pages with its assets and icons. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onRequestHookHandler,
} from 'fastify'
import { addMethodNotAllowed } from '../http/errors.ts'
import { pageHeaders } from '../http/response-headers.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { type Coding, type SendableBody, sendBody } from '../http/send-body.ts'
import { type FindStart, sendToStart } from './start-page.ts'

const png = 'image/png'

/** Browsers request `/favicon.ico` without a link. */
const files: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/favicon.ico', 'favicon.ico', 'image/x-icon'],
  ['/manifest.webmanifest', 'icons/manifest.webmanifest', 'application/manifest+json'],
  ['/icons/icon-192.png', 'icons/icon-192.png', png],
  ['/icons/icon-512.png', 'icons/icon-512.png', png],
  ['/icons/icon-maskable-512.png', 'icons/icon-maskable-512.png', png],
  ['/icons/touch-icon-180.png', 'icons/touch-icon-180.png', png],
]

function serveIcons(scope: FastifyInstance): void {
  for (const [path, file, type] of files) {
    const bytes = readFileSync(new URL(`../../web/theme/${file}`, import.meta.url))
    scope.get(path, (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'public, max-age=86400').send(bytes),
    )
    addMethodNotAllowed(scope, path, ['GET', 'HEAD'])
  }
}

/** Output of `web/build.ts`. */
const builtFolder = fileURLToPath(new URL('../../web/dist/', import.meta.url))

/** The only page that other sites may show in a frame. It uses no cookies. */
const embedPath = '/embed'

/** Routes of `web/`. Other paths are answered as without the pages. */
const addresses = [
  '/',
  '/compare',
  '/charts',
  '/dashboard/:id',
  '/admin',
  '/admin/*',
  '/alerts',
  '/alerts/*',
  '/device/:name',
  '/station/:sn',
  '/shared',
  embedPath,
  '/wall',
]

/** Scripts and styles are separate files, so that an injected text of a device cannot run anything. */
const policyWithin = (ancestors: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    `frame-ancestors ${ancestors}`,
  ].join('; ')
const contentSecurityPolicy = policyWithin("'none'")

const notBuilt = 'The web pages are not built: run "npm run build" and start the service again.\n'
const immutableMs = 365 * 24 * 3_600_000

interface WebOptions {
  /** Folder of the build; tests set another one. */
  folder?: string
  /** Finds the start page of the request's sender; undefined for the fleet. */
  findStart?: FindStart
  /** Sites whose pages may show a view in a frame; empty for none. */
  embedOrigins?: readonly string[]
}

export function webFamily({ folder = builtFolder, findStart, embedOrigins = [] }: WebOptions = {}): RouteFamily {
  return {
    prefix: '',
    published: [],
    register(scope) {
      serveIcons(scope)
      scope.addHook('onRequest', setHeaders)
      const pages = readBuiltPages(folder)
      const show = pages === undefined ? sendNotBuilt : pageSender(pages)
      const hooks: Record<string, onRequestAsyncHookHandler | onRequestHookHandler> = {
        ...(findStart === undefined ? {} : { '/': sendToStart(findStart) }),
        ...(embedOrigins.length === 0 ? {} : { [embedPath]: allowFrames(embedOrigins) }),
      }
      for (const url of addresses) {
        const onRequest = hooks[url]
        scope.get(url, onRequest === undefined ? {} : { onRequest }, show)
        addMethodNotAllowed(scope, url, ['GET', 'HEAD'])
      }
      if (pages !== undefined) serveAssets(scope, folder)
    },
  }
}

type Show = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>

function pageSender(pages: readonly BuiltPage[]): Show {
  return (request, reply) => {
    const [path = '/'] = request.originalUrl.split('?', 1)
    const page = pages[path.split('/').length - 2]
    if (page !== undefined) return sendBody(request, reply, page, 0, encodePage)
    reply.callNotFound()
    return reply
  }
}

function sendNotBuilt(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(503).header('content-type', 'text/plain; charset=utf-8').send(notBuilt)
}

/** Each name has the hash of its content. The compressed forms are beside the files. */
function serveAssets(scope: FastifyInstance, folder: string): void {
  scope.register(fastifyStatic, {
    root: `${folder}assets/`,
    prefix: '/assets/',
    index: false,
    decorateReply: false,
    preCompressed: true,
    immutable: true,
    maxAge: immutableMs,
  })
}

/** Other spellings of the path, such as `/embed/` and `/%65mbed`, are excluded: the app shows another page for them. */
function allowFrames(origins: readonly string[]): onRequestHookHandler {
  const policy = policyWithin(origins.join(' '))
  return (request, reply, done) => {
    if (request.originalUrl.split('?', 1)[0] === embedPath) {
      reply.header('content-security-policy', policy).removeHeader('x-frame-options')
    }
    done()
  }
}

function setHeaders(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers({
    'content-security-policy': contentSecurityPolicy,
    ...pageHeaders,
  })
  done()
}

interface BuiltPage extends SendableBody {
  readonly coded: ReadonlyMap<Coding, Buffer>
}

/** No address has more folders. */
const depthMax = 4

/**
 * The pages by the number of folders in their address; undefined without a build. The build writes links relative to
 * `/`, and `/device/porch` needs one folder more. So links stay relative and valid below any prefix that a proxy adds.
 */
function readBuiltPages(folder: string): BuiltPage[] | undefined {
  const text = readPage(folder)
  if (text === undefined) return undefined
  return Array.from({ length: depthMax + 1 }, (_, depth) => builtPage(pageAt(text, depth)))
}

function encodePage({ coded }: BuiltPage, coding: Coding): Buffer | undefined {
  return coded.get(coding)
}

function readPage(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'index.html'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function pageAt(text: string, depth: number): string {
  return depth === 0 ? text : text.replaceAll('="./', `="${'../'.repeat(depth)}`)
}

function builtPage(text: string): BuiltPage {
  const bytes = Buffer.from(text)
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return {
    bytes,
    type: 'text/html; charset=utf-8',
    coded: new Map<Coding, Buffer>([
      ['gzip', gzipSync(bytes)],
      ['br', brotliCompressSync(bytes)],
    ]),
    etags: { identity: `"${hash}"`, gzip: `"${hash}-gzip"`, br: `"${hash}-br"`, zstd: `"${hash}-zstd"` },
  }
}
