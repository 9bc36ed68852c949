/**
 * Frees the pieces of a response when they have been sent. Their memory lies outside the heap: left to V8, every 30 MB of it start a
 * collection of the whole heap of the main thread, which costs more than all else that this thread does for them.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'

/** A shorter one may lie in memory that it shares with others. */
const ownBytesMin = 64 * 1024

interface TakenPiece {
  readonly piece: Uint8Array
  /** Bytes of the response up to its end. */
  readonly endBytes: number
}

export class SentPieces {
  readonly #unsent: TakenPiece[] = []
  #takenBytes = 0

  /** One that a stream has taken all of. */
  add(piece: Uint8Array): void {
    this.#takenBytes += piece.length
    if (piece.length >= ownBytesMin) this.#unsent.push({ piece, endBytes: this.#takenBytes })
  }

  /** Of what was taken, all but the last `unsentBytes` have left the process. */
  free(unsentBytes: number): void {
    while (this.#unsent.length > 0) {
      const { piece, endBytes } = this.#unsent[0] as TakenPiece
      if (endBytes > this.#takenBytes - unsentBytes) return
      this.#unsent.shift()
      detachBuffers([piece])
    }
  }
}
