/** Serves the icons of the pages and the manifest for installing them as an app (W3C Web Application Manifest). */

import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { addMethodNotAllowed } from '../http/errors.ts'

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

export function serveIcons(scope: FastifyInstance): void {
  for (const [path, file, type] of files) {
    const bytes = readFileSync(new URL(`../../web/theme/${file}`, import.meta.url))
    scope.get(path, (_request, reply) =>
      reply.header('content-type', type).header('cache-control', 'public, max-age=86400').send(bytes),
    )
    addMethodNotAllowed(scope, path, ['GET', 'HEAD'])
  }
}
