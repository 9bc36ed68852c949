/** Thrown when bytes are no packet, or one that must not be sent to us. The connection is of no use then. */

import type { CloseReason } from './close-reasons.ts'

export class PacketError extends Error {
  readonly reason: CloseReason

  constructor(reason: CloseReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
