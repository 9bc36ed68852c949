/** Copies files durably and returns their digests. The calls are synchronous, for a separate thread. */

import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'

export interface Content {
  bytes: number
  sha256: string
}

const pieceBytes = 256 * 1024
const zeros = Buffer.alloc(pieceBytes)

/** Reads a file without copying it. */
export function digestFile(from: string, onBytes: (count: number) => void): Content {
  return withFile(from, 'r', source => {
    return readPieces(source, Number.POSITIVE_INFINITY, piece => onBytes(piece.length))
  })
}

/** Copies the first `bytesMax` bytes to the new file `to`. QuestDB's many zero blocks become holes. */
export function copyFile(from: string, to: string, bytesMax: number, onBytes: (count: number) => void): Content {
  return withFile(from, 'r', source =>
    withFile(to, 'wx', target => {
      const content = readPieces(source, bytesMax, (piece, position) => {
        if (!piece.equals(zeros.subarray(0, piece.length))) writeAll(target, piece, position)
        onBytes(piece.length)
      })
      ftruncateSync(target, content.bytes)
      fsyncSync(target)
      return content
    }),
  )
}

function withFile<Result>(path: string, flags: 'r' | 'wx', work: (descriptor: number) => Result): Result {
  const descriptor = openSync(path, flags, 0o600)
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function readPieces(source: number, bytesMax: number, take: (piece: Buffer, position: number) => void): Content {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(pieceBytes)
  let position = 0
  while (position < bytesMax) {
    const count = readSync(source, buffer, 0, Math.min(pieceBytes, bytesMax - position), position)
    if (count === 0) break
    const piece = buffer.subarray(0, count)
    hash.update(piece)
    take(piece, position)
    position += count
  }
  return { bytes: position, sha256: hash.digest('hex') }
}

function writeAll(target: number, piece: Buffer, position: number): void {
  for (let written = 0; written < piece.length; ) {
    written += writeSync(target, piece, written, piece.length - written, position + written)
  }
}
