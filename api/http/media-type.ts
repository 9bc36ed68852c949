/** Parses the media type of a body without its parameters. */

import type { FastifyRequest } from 'fastify'

export function mediaTypeOf(request: FastifyRequest): string {
  const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';')
  return mediaType.trim().toLowerCase()
}
