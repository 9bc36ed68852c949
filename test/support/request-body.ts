/** Requests to QuestDB as whole bytes. */

import type { RequestBody } from '../../ingest/forwarder/write-request.ts'

export function bodyOf(bytes: Uint8Array): RequestBody {
  return { length: bytes.length, pieces: () => [bytes] }
}

export function bytesOf(body: RequestBody): Buffer {
  const bytes = Buffer.concat(Array.from(body.pieces(), piece => Buffer.from(piece)))
  if (bytes.length !== body.length) throw new Error(`${body.length} bytes were announced, ${bytes.length} came`)
  return bytes
}
