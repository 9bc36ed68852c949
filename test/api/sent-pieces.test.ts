/** The memory of the pieces of a response: freed when they have left the process, and not before. */

import { createHash, randomBytes } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { fastify } from 'fastify'
import { test } from 'tap'
import { sendPieces } from '../../api/http/stalled-response.ts'
import { waitFor } from '../support/wait-for.ts'

const pieceBytes = 3_000_000
const decoders = { identity: undefined, gzip: createGunzip, zstd: createZstdDecompress }

for (const form of ['identity', 'gzip', 'zstd'] as const) {
  test(`pieces are freed behind a client that reads now and then, which gets all of them: ${form}`, async t => {
    const shared = Buffer.from('a short piece')
    const large = Array.from({ length: 6 }, () => new Uint8Array(randomBytes(pieceBytes)))
    const hash = createHash('sha256')
    let freedBeforeLast = 0
    async function* pieces() {
      for (const [index, piece] of large.entries()) {
        hash.update(piece)
        if (index === large.length - 1) freedBeforeLast = large.filter(({ length }) => length === 0).length
        yield piece
        hash.update(shared)
        yield shared
      }
    }
    const app = fastify()
    t.teardown(() => app.close())
    app.get('/', (_request, reply) => sendPieces(reply, pieces(), { form, onFailed: error => t.fail(error.message) }))
    const address = await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await new Promise<IncomingMessage>(resolve => void get(address, resolve))
    const received = createHash('sha256')
    let count = 0
    response.on('data', () => {
      if (++count % 20 !== 0) return
      response.pause()
      setImmediate(() => response.resume())
    })
    const decoder = decoders[form]?.()
    for await (const chunk of decoder === undefined ? response : response.pipe(decoder)) received.update(chunk)
    t.equal(received.digest('hex'), hash.digest('hex'))
    await waitFor('all are freed', () => large.every(({ length }) => length === 0))
    t.ok(freedBeforeLast >= 3, `${freedBeforeLast} of the first five were freed before the last was made`)
    t.equal(shared.toString(), 'a short piece')
  })
}
