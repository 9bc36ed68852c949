/** Sends pages of the documentation, compressed where the client takes it, and the files beside them. */

import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedForms } from '../http/accept-encoding.ts'
import { pageHeaders } from '../http/security-headers.ts'
import { contentSecurityPolicy } from './docs-style.ts'

const compress = promisify(gzip)

/** It says who is signed in, so it is made for each request. */
export async function sendDocsPage(request: FastifyRequest, reply: FastifyReply, page: string): Promise<FastifyReply> {
  const isCompressed = acceptedForms(request.headers['accept-encoding']).includes('gzip')
  if (isCompressed) reply.header('content-encoding', 'gzip')
  return reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', contentSecurityPolicy)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept-encoding')
    .headers(pageHeaders)
    .send(isCompressed ? await compress(page) : page)
}

const types: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.json': 'application/json',
}

/** Nothing runs in a picture that is opened by itself. */
export async function sendDocsFile(reply: FastifyReply, file: URL): Promise<FastifyReply> {
  const bytes = await readFile(file)
  return reply
    .header('content-type', types[extname(file.pathname)] ?? 'text/plain; charset=utf-8')
    .header('content-security-policy', "default-src 'none'")
    .header('cache-control', 'public, max-age=3600')
    .send(bytes)
}
