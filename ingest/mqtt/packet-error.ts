/** Thrown for invalid bytes, or for a packet that a client must not send. The connection is then unusable. */

import type { CloseReason } from './close-reasons.ts'

export class PacketError extends Error {
  readonly reason: CloseReason

  constructor(reason: CloseReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
